"""When agents were at work in this vault: `agent-sessions.jsonl`, in the vault and in its state folder.

A session is live from its first event until its end, or until 30 minutes after its last event. Each copy of
the file is believed by itself: an agent that empties one of them, or writes an end into it, is still live by
the other. Knows nothing of the inbox.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import AppendLog, make_folder, replace_file
from hindbrain.base.json_lines import as_object

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

SESSIONS_LOG = "agent-sessions.jsonl"
LIVE_S = 30 * 60.0  # after the last event
_NOTED_S = 5 * 60.0  # events closer together are not written down
_SKEW_S = 1.0  # clocks of file systems are coarser than ours
_MOST_BYTES = 500_000  # that are read, from the end; some ten thousand events


class Sighting(NamedTuple):
    """An event of an agent's session."""

    session: str  # "claude-code 7f3k2a"
    at: float  # seconds since the epoch
    ended: bool = False


def live_session(sightings: Iterable[Sighting], at: float) -> str:
    """The session that was live at that time; "" for none. The sightings of a session are in order."""
    for session, begin, until in _spans(sightings):
        if begin - _SKEW_S <= at <= until + _SKEW_S:
            return session
    return ""


def _spans(sightings: Iterable[Sighting]) -> Iterator[tuple[str, float, float]]:
    """When each session was live, from and until. One that comes back after its end is live again."""
    live: dict[str, tuple[float, float]] = {}
    for session, at, ended in sightings:
        begin, until = live.pop(session, (at, at))
        if at > until:
            yield session, begin, until
            begin = at
        if ended:
            yield session, begin, at
        else:
            live[session] = (begin, at + LIVE_S + _NOTED_S)
    for session, (begin, until) in live.items():
        yield session, begin, until


class AgentSessions:
    """Of one vault. Never raises: what can't be written or read in one place is in the other."""

    def __init__(self, root: Path, state: Path, writer: Callable[[], VaultWriter], clock: Clock) -> None:
        self._in_vault = root / ".hindbrain" / SESSIONS_LOG
        self._in_state = state / SESSIONS_LOG
        self._writer = writer
        self._clock = clock
        self._noted: dict[str, float] = {}  # when this process wrote a session down

    def note(self, session: str, *, ended: bool = False) -> None:
        """An agent's session is at work now, or ends now."""
        now = self._clock.now()
        if not ended and 0 <= now - self._noted_at(session) < _NOTED_S:
            return
        self._noted[session] = 0.0 if ended else now
        line = _line(Sighting(session, now, ended))
        with suppress(OSError):
            make_folder(self._in_state.parent)
            _append(self._in_state, line)
        with suppress(OSError, HindbrainError):
            if self._in_vault.parent.is_dir():
                self._writer().append_state_line(SESSIONS_LOG, line, durable=False)
                if self._in_vault.stat().st_size > _MOST_BYTES:
                    self._writer().edit_state_file(SESSIONS_LOG, _newer_half)

    def end(self, session: str) -> None:
        """End a session that this process has noted, if it has."""
        if self._noted.get(session):
            self.note(session, ended=True)

    def live_at(self, at: float) -> str:
        """The session that was live at that time, by either file; "" for none."""
        files = (self._in_state, self._in_vault)
        return next((live for file in files if (live := live_session(_read(file), at))), "")

    def _noted_at(self, session: str) -> float:
        """When it was written down last, in both files; 0 when it is not there, or has ended."""
        if (known := self._noted.get(session)) is not None:
            return known
        last = []
        for file in (self._in_state, self._in_vault):
            if file.parent.is_dir():
                found = [seen for seen in _read(file) if seen.session == session]
                last.append(found[-1].at if found and not found[-1].ended else 0.0)
        return min(last, default=0.0)


def _append(file: Path, line: str) -> None:
    with AppendLog(file) as log:
        log.append(f"{line}\n".encode("ascii"))
        size = log.size
    if size > _MOST_BYTES:
        replace_file(file, _newer_half(file.read_bytes()), durable=False)


def _newer_half(data: bytes) -> bytes:
    return data[len(data) // 2 :].partition(b"\n")[2]


def _read(file: Path) -> list[Sighting]:
    try:
        with file.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _MOST_BYTES))
            lines = log.read(_MOST_BYTES).split(b"\n")
    except OSError:
        return []
    return [seen for line in lines if line and (seen := _parsed(line)) is not None]


def _parsed(line: bytes) -> Sighting | None:
    told = as_object(line)
    if told is None:
        return None
    session, at = told.get("session"), told.get("at")
    if not isinstance(session, str) or isinstance(at, bool) or not isinstance(at, int | float):
        return None
    return Sighting(session, at, told.get("ended") is True)


def _line(seen: Sighting) -> str:
    told: dict[str, object] = {"session": seen.session, "at": round(seen.at, 3)}
    return json.dumps(told | {"ended": True} if seen.ended else told, separators=(",", ":"))
