"""What hooks leave behind for people: one line per call in `hooks.log`, and what a session was told already.

Both lie in the state folder and hold no word of a conversation. Nothing here raises: a hook that can't write
its log still answers.
"""

from __future__ import annotations

import os
import time

from hindbrain.base.files import AppendLog, create_empty, make_folder
from hindbrain.edge.daemon.quick_json import dumps, loads

TYPE_CHECKING = False  # typing.TYPE_CHECKING
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LOG_FILE = "hooks.log"
TOLD_FOLDER = "hooks-told"
_MOST_BYTES = 500_000  # of the log; one older one is kept beside it
_MOST_TOLD = 3  # different things a session
_KEPT_S = 7 * 86_400


class Call:
    """One call of a hook, as the log has it."""

    __slots__ = ("at", "by", "chars", "event", "host", "ms", "note", "outcome", "session")

    def __init__(
        self, host: str, event: str, session: str = "", outcome: str = "ok", *, by: str = "", ms: int = 0,
        chars: int = 0, note: str = "", at: float = 0.0,
    ) -> None:  # fmt: skip
        self.host = host
        self.event = event
        self.session = session  # its beginning
        self.outcome = outcome  # ok, nothing, asked, kept, failed, late
        self.by = by  # daemon, self; "" when neither was needed
        self.ms = ms
        self.chars = chars  # that were injected
        self.note = note  # what failed: a code and a message, never a text of the conversation
        self.at = at  # seconds since the epoch

    def _asdict(self) -> dict[str, str | int | float]:
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = ("host", "event", "session", "outcome", "by", "ms", "chars", "note", "at")


def write_down(state: str | Path, call: Call) -> bool:
    """Add a line to the log. False when it could not be written."""
    fields = call._asdict() | {"at": round(call.at or time.time(), 3), "session": call.session[:12]}
    line = dumps({name: value for name, value in fields.items() if value}, ascii_only=True) + "\n"
    path = os.path.join(state, LOG_FILE)  # noqa: PTH118
    try:
        make_folder(state)
        with AppendLog(path) as log:
            log.append(line.encode("ascii"))
            size = log.size
        if size > _MOST_BYTES:
            os.replace(path, f"{path}.1")  # noqa: PTH105
    except (OSError, ValueError):
        return False
    return True


def read_calls(state: Path) -> list[Call]:
    """What the log has, the oldest first; lines that make no sense are left out."""
    calls: list[Call] = []
    for name in (f"{LOG_FILE}.1", LOG_FILE):
        try:
            data = (state / name).read_bytes()
        except OSError:
            continue
        calls += [call for line in data.splitlines() if (call := _parsed(line)) is not None]
    return calls


def _parsed(line: bytes) -> Call | None:
    try:
        found = loads(line)
        fields = {name: found[name] for name in _FIELDS if name in found}
        call = Call(**fields)
    except (ValueError, TypeError, RecursionError):
        return None
    texts = (call.host, call.event, call.session, call.outcome, call.by, call.note)
    numbers = (call.ms, call.chars, call.at)
    is_whole = all(isinstance(text, str) for text in texts) and all(map(_is_number, numbers))
    return call if is_whole else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and -1e11 < value < 1e11


def not_told_yet(state: str | Path, session: str, notices: Iterable[str]) -> str:
    """Those of `notices` that this session's person has not been told, as one text; from now on they have.

    Numbers in a notice do not make it another one. Where the state folder can't be written, the folder for
    temporary files remembers it.
    """
    fresh: list[str] = []
    for notice in notices:
        plain = "".join(char for char in notice if not char.isdigit())
        if plain.strip() and not _was_told(state, session, plain):
            fresh.append(notice)
    return " ".join(dict.fromkeys(fresh))


def _was_told(state: str | Path, session: str, notice: str) -> bool:
    """Mark it; True when it was marked, when the session was told enough, or when it can't be remembered."""
    import hashlib

    prefix = hashlib.blake2b(session.encode("utf-8", "replace"), digest_size=8).hexdigest()
    name = f"{prefix}-{hashlib.blake2b(notice.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
    for folder in _folders(state):
        try:
            make_folder(folder)
            known = [entry for entry in os.listdir(folder) if entry.startswith(prefix)]  # noqa: PTH208
            if name in known or len(known) >= _MOST_TOLD:
                return True
            return not create_empty(os.path.join(folder, name))  # noqa: PTH118
        except OSError:
            continue
    return True


def _folders(state: str | Path) -> Iterable[str]:
    yield os.path.join(state, TOLD_FOLDER)  # noqa: PTH118
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    yield os.path.join(tempfile.gettempdir(), f"hindbrain-{user}-told")  # noqa: PTH118


def forget_old_sessions(state: Path) -> None:
    """Take away what sessions of last week were told."""
    try:
        entries = list(os.scandir(os.path.join(state, TOLD_FOLDER)))  # noqa: PTH118
    except OSError:
        return
    for entry in entries:
        try:
            if time.time() - entry.stat().st_mtime > _KEPT_S:
                os.unlink(entry.path)  # noqa: PTH108
        except OSError:  # another hook took it away
            continue
