"""What a consolidation changes, known before it is changed: so that it can be proved, or taken back.

A marker file in the state folder names each change before it is made; whoever is killed leaves it, and the
next consolidation proves or takes back what that one did. Only changes that were announced so count:
what people and other programs write meanwhile is neither blamed nor undone.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, WriteFailed
from hindbrain.base.files import AppendLog, make_folder, sync_folder
from hindbrain.learn.consolidation.proof import Change
from hindbrain.vault.hashing import ABSENT, content_hash

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.vault.revisions import Revision
    from hindbrain.vault.write import VaultWriter, Written

MARKER = "consolidating.jsonl"
_EVERY_REVISION = 1 << 40


class Announced(NamedTuple):
    """A change that somebody was about to make; hashes of the note before and after it."""

    path: str
    before: str
    after: str


class LeftOver(NamedTuple):
    """What a consolidation that was killed had announced."""

    began: float  # seconds since the epoch
    announced: tuple[Announced, ...]
    vouching: tuple[str, ...] = ()
    logs: Mapping[str, int] = MappingProxyType({})  # how long logs of learning were, in bytes


class Watch:
    """Of one consolidation. A `Watcher` of notebooks."""

    def __init__(self, state: Path, clock: Clock) -> None:
        self._file = state / MARKER
        self._clock = clock
        self._log: AppendLog | None = None  # open from the first change on
        self.revisions: list[str] = []  # ids of the changes that were made, in their order
        self.logs: Mapping[str, int] = {}  # how long logs of learning were before the first step
        self.vouching: list[str] = []  # notes that hold already what was to be put there

    def vouch(self, path: str) -> None:
        """This note was there before and holds what was to be put there."""
        self._tell({"vouching": path})
        self.vouching.append(path)

    def writing(self, path: str, before_hash: str, after_hash: str) -> None:
        self._tell({"path": path, "before": before_hash, "after": after_hash})

    def written(self, written: Written) -> None:
        self.revisions.append(written.revision_id)

    def left_over(self) -> LeftOver | None:
        """None when no consolidation was killed."""
        try:
            lines = self._file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WriteFailed(f"{str(self._file)!r} can't be read ({error.strerror}); try again") from error
        began, announced, vouching, logs = 0.0, list[Announced](), list[str](), dict[str, int]()
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, LookupError):  # torn: that change was not begun
                told = json.loads(line)
                if "began" in told:
                    began = float(told["began"])
                    logs |= {str(name): int(size) for name, size in told.get("logs", {}).items()}
                elif "vouching" in told:
                    vouching.append(str(told["vouching"]))
                else:
                    announced.append(Announced(str(told["path"]), str(told["before"]), str(told["after"])))
        return LeftOver(began, tuple(announced), tuple(vouching), logs)

    def end(self) -> None:
        """All of it is proved, or taken back."""
        self.close()
        self.revisions.clear()
        self.vouching.clear()
        with contextlib.suppress(OSError):  # then it is proved once more, which changes nothing
            self._file.unlink(missing_ok=True)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _tell(self, told: dict[str, object]) -> None:
        """In the system's hands when this returns: a kill loses none of it. A power cut may lose the last
        lines; then it is the order of each step, copy before removal, that keeps every line."""
        try:
            if self._log is not None:
                self._log.append(_line(told))
                return
            make_folder(self._file.parent)
            self._log = self._begun(_line(told))
        except OSError as error:
            raise WriteFailed(
                f"{str(self._file)!r} can't be written ({error.strerror}); nothing was changed"
            ) from error

    def _begun(self, first: bytes) -> AppendLog:
        log = AppendLog(self._file)
        try:
            log.append(_line({"began": self._clock.now(), "logs": dict(self.logs)}) + first)
            log.sync()
            sync_folder(self._file.parent)
        except BaseException:
            log.close()
            raise
        return log


def _line(told: Mapping[str, object]) -> bytes:
    return json.dumps(told, ensure_ascii=True).encode("ascii") + b"\n"


def revisions_named(writer: VaultWriter, ids: Sequence[str]) -> list[Revision]:
    """The changes with these ids, in the order in which they were made."""
    wanted = set(ids)
    return [one for one in reversed(writer.history(limit=_EVERY_REVISION)) if one.id in wanted]


def revisions_left(writer: VaultWriter, left: LeftOver) -> list[Revision]:
    """The changes that a killed consolidation had announced and that were made, in their order."""
    wanted = Counter(left.announced)
    found: list[Revision] = []
    for one in writer.history(limit=_EVERY_REVISION):
        key = Announced(one.path, one.before_hash, one.after_hash)
        if wanted[key] > 0 and one.when >= left.began - 1:
            wanted[key] -= 1
            found.append(one)
    return found[::-1]


def changes_of(writer: VaultWriter, revisions: Sequence[Revision]) -> list[Change]:
    def kept(digest: str) -> bytes | None:
        return None if digest == ABSENT else writer.kept(digest)

    return [Change(one.path, kept(one.before_hash), kept(one.after_hash)) for one in revisions]


def take_back(
    writer: VaultWriter, revisions: Sequence[Revision], now: Callable[[str], bytes | None]
) -> list[str]:
    """Undo these changes, the last first, by force none. Returns what could not be taken back, and why."""
    problems: list[str] = []
    for one in reversed(revisions):
        data = now(one.path)
        if (ABSENT if data is None else content_hash(data)) == one.before_hash:
            continue  # undone before, by a rollback that was killed
        try:
            writer.undo(one.id)
        except HindbrainError as error:
            problems.append(f"{one.path}: {error} ({one.id})")
    return problems
