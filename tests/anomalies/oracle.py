"""The one judge of every fault test: what must hold of a vault afterwards (I1 to I7).

Works on plain files only, so that it can't share a mistake with the code that it judges. Each function raises
AssertionError with the thing that was lost; tests keep their own log of what was acknowledged.
"""

import hashlib
import os
import stat
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

TEMP_PREFIX = ".hindbrain-tmp-"


@dataclass(frozen=True, slots=True)
class Ack:
    """A write that returned. `data` None: the note was deleted."""

    path: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """An operation that a test asked for, and what it was told: "ok", or an error's code; "" for nothing."""

    what: str
    told: str
    done: bool  # whether its effect is there


@dataclass(frozen=True, slots=True)
class FileState:
    digest: str
    mode: int


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def snapshot(root: Path, *, without: Collection[Path] = ()) -> dict[str, FileState]:
    """Every file below `root` by its name on disk, with its bytes and its mode."""
    found = {}
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = [name for name in folders if here / name not in without]
        for name in names:
            path = here / name
            if path in without or path.is_symlink():
                continue
            found[path.relative_to(root).as_posix()] = FileState(
                sha(path.read_bytes()), stat.S_IMODE(path.stat().st_mode)
            )
    return found


def kept_blobs(state: Path) -> dict[str, bytes]:
    """All bytes that the revisions keep."""
    blobs = state / "revisions" / "blobs"
    if not blobs.is_dir():
        return {}
    return {blob.name: zlib.decompress(blob.read_bytes()) for blob in blobs.iterdir() if len(blob.name) == 64}


def conflict_copies(root: Path) -> list[Path]:
    return [path for path in root.rglob("* (conflict *") if path.is_file()]


def acknowledged_writes_are_there(root: Path, state: Path, acks: Iterable[Ack]) -> None:
    """I1: in the note, a conflict copy or a revision, or superseded by a later acknowledged one."""
    last = {ack.path: ack for ack in acks}
    places = {sha(path.read_bytes()) for path in conflict_copies(root)} | set(kept_blobs(state))
    for ack in last.values():
        note = root / ack.path
        if ack.data is None:
            assert not note.exists(), f"I1: {ack.path!r} was deleted, acknowledged, and is there"
            continue
        there = note.is_file() and note.read_bytes() == ack.data
        assert there or sha(ack.data) in places, f"I1: the acknowledged write of {ack.path!r} is nowhere"


def notes_are_whole(root: Path, versions: Mapping[str, Collection[bytes | None]]) -> None:
    """I2: each note is one of the versions that somebody wrote; None stands for its absence."""
    for path, allowed in versions.items():
        note = root / path
        data = note.read_bytes() if note.is_file() else None
        assert data in allowed, f"I2: {path!r} is torn or mixed: {data!r:.200}"


def others_are_identical(
    before: Mapping[str, FileState], after: Mapping[str, FileState], *, touched: Collection[str]
) -> None:
    """I3: bytes, mode and name form of whatever we were not asked to touch."""
    for path in set(before) | set(after):
        if path not in touched:
            assert before.get(path) == after.get(path), f"I3: {path!r} changed"


def index_equals_vault(
    vault: Collection[tuple[str, str]],
    index: Collection[tuple[str, str]],
    *,
    chunks: Collection[str] = (),
    full_text: Collection[str] = (),
    vectors: Collection[str] = (),
    pending: Collection[str] = (),
) -> None:
    """I4: the set of (path, hash); a full-text row per chunk; a vector per chunk, or marked pending."""
    assert set(index) == set(vault), f"I4: index and vault differ in {sorted(set(index) ^ set(vault))[:5]}"
    assert set(full_text) == set(chunks), "I4: chunks and full text differ"
    assert set(vectors) | set(pending) == set(chunks), "I4: chunks without a vector and not pending"


def nothing_outside_changed(before: Mapping[str, FileState], after: Mapping[str, FileState]) -> None:
    """I5: pass snapshots taken `without` the vault and the state folder."""
    assert before == after, f"I5: changed outside: {sorted(set(before.items()) ^ set(after.items()))[:5]}"


def nothing_is_left_over(root: Path, state: Path, *, pids: Iterable[int] = ()) -> None:
    """I6: no temp file, no held lock, no process."""
    temps = [path for path in root.rglob("*") if path.name.startswith(TEMP_PREFIX)]
    temps += [path for path in state.rglob("*") if path.name.startswith("tmp-")]
    assert not temps, f"I6: left over: {temps}"
    assert lock_is_free(state / "write.lock"), "I6: the lock is held"
    for pid in pids:
        assert not _alive(pid), f"I6: process {pid} lives on"


def everything_was_reported(outcomes: Iterable[Outcome]) -> None:
    """I7: each operation got an answer, and "ok" means done."""
    for outcome in outcomes:
        assert outcome.told, f"I7: {outcome.what!r} was answered by nothing"
        assert outcome.told != "ok" or outcome.done, f"I7: {outcome.what!r} was told ok and is not there"
        assert outcome.told != "write_failed" or not outcome.done, f"I7: {outcome.what!r} failed and is there"


def lock_is_free(path: Path) -> bool:
    if os.name == "nt" or not path.exists():
        return True
    import fcntl

    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
