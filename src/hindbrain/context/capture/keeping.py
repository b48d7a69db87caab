"""Keeping what a piece of a conversation says: its memories by the flusher, its fixes as known issues.

Owns what a fix is stored as, and what lies on the disk between two captures: never a secret. Knows nothing of
transcripts and cursors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, cast

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import make_folder, replace_file
from hindbrain.context.capture.failures import Attempt, Fix
from hindbrain.context.capture.fix_text import fix_line, importance_of
from hindbrain.context.capture.places import ASIDE
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey

if TYPE_CHECKING:
    from hindbrain.context.capture.fixes import Fixes
    from hindbrain.context.capture.spool import Event
    from hindbrain.context.flush.flusher import Flushed
    from hindbrain.memory.service import Memory

FIX_TAGS = ("fix",)


class Keeps(Protocol):
    """What keeps the memories of a conversation: `flush.flusher.Flusher`, or a stand-in for it."""

    def flush(self, messages: Sequence[Message], session: SessionKey, *, project: str = "") -> Flushed: ...


class NotStored(NamedTuple):
    """A fix that was found and not stored."""

    text: str
    why: str


class Outcome(NamedTuple):
    """What became of a piece, or of several."""

    messages: int = 0
    stored: int = 0
    held: int = 0
    fixes: int = 0  # stored or held
    problems: tuple[str, ...] = ()
    done: bool = True  # nothing of this session is left
    not_stored: tuple[NotStored, ...] = ()  # fixes
    tasks: int = 0  # new ones, of what a person asked to be reminded of

    @property
    def kept(self) -> int:
        return self.stored + self.held + self.tasks

    def plus(self, other: Outcome) -> Outcome:
        return Outcome(
            self.messages + other.messages, self.stored + other.stored, self.held + other.held,
            self.fixes + other.fixes, (*self.problems, *other.problems), other.done,
            (*self.not_stored, *other.not_stored), self.tasks + other.tasks,
        )  # fmt: skip


class Keeper:
    """For one thread, as the memory is."""

    def __init__(self, memory: Memory, flusher: Keeps, fixes: Fixes) -> None:
        self._memory = memory
        self._flusher = flusher
        self._fixes = fixes

    def keep(
        self,
        said: Sequence[Message],
        session: SessionKey,
        fixes: Sequence[Fix],
        *,
        before: str,
        cwd: str,
        attempts: Sequence[Attempt] = (),
    ) -> Outcome:
        """Store what was said and what was solved; durable when this returns. Raises what hindered it.

        `before` are the agent's last words of the piece before: a person may answer to them.
        """
        spoken = [message for message in said if message.role != "system"]
        outcome = Outcome()
        if any(message.role in ("user", "assistant") and not message.tool for message in spoken):
            context = [Message("assistant", before)] if before else []
            flushed = self._flusher.flush([*context, *spoken], session, project=project_of(cwd))
            if flushed.error is not None:
                raise flushed.error
            stored = sum(answer.action != "merge" for answer in flushed.stored)
            outcome = Outcome(
                stored=stored, held=len(flushed.held), problems=flushed.notices, tasks=len(flushed.tasks)
            )
        return outcome.plus(self.keep_fixes(session, fixes, attempts))

    def keep_fixes(self, session: SessionKey, fixes: Sequence[Fix], attempts: Sequence[Attempt]) -> Outcome:
        """Judge the known fixes by what was tried, and store the new ones; raises as `keep` does."""
        self._fixes.judge(session, attempts)
        outcome = Outcome()
        for fix in fixes:
            outcome = outcome.plus(self._remember(fix))
        return outcome

    def _remember(self, fix: Fix) -> Outcome:
        """A failure and its cure, as a known issue. It quotes a tool's output, so it is a tool's word."""
        line = fix_line(fix)
        if self._fixes.is_known(fix):
            return Outcome(not_stored=(NotStored(line, "the same fix of the same error is known"),))
        try:
            answer = self._memory.remember(
                line, category="issue", importance=importance_of(fix), source="tool", tags=FIX_TAGS,
                strategy="conditional",
            )  # fmt: skip
        except HindbrainError as error:
            if error.code in ("refused", "usage"):  # the owner does not want it, or it is no fact
                return Outcome(not_stored=(NotStored(line, str(error)),))
            raise
        if answer.action == "dropped":
            known = f": {answer.other.citation}" if answer.other is not None else ""
            return Outcome(not_stored=(NotStored(answer.text, "; ".join(answer.reasons) + known),))
        held = answer.action == "held"
        new = answer.action not in ("held", "merge")
        return Outcome(stored=int(new), held=int(held), fixes=int(new or held))


def log_session(memory: Memory, began: float, ended: float, *, project: str, host: str) -> None:
    """Log a session in the note of its day; `ended` is 0 while it goes on.

    Tasks in progress, tasks due by the next day and to-dos that were heard on that day remain for tomorrow.
    """
    from hindbrain.memory.daily.daily import OpenNote, Session
    from hindbrain.vault.items.item_text import escape

    day = memory.clock.local(ended or began).date().isoformat()
    next_day = (memory.clock.local(ended or began).date() + timedelta(days=1)).isoformat()
    tasks = memory.tasks.list(status="all") if ended else []
    remaining = [
        OpenNote(escape(task.title), task.source or "user")
        for task in tasks
        if task.status in ("in_progress", "blocked") or (task.status == "todo" and "" < task.due <= next_day)
    ]
    if ended:
        remaining += [
            OpenNote(escape(item.text), item.source)
            for item in memory.book.items()
            if item.category == "action" and item.created == day and not item.superseded
        ]
    settled = [escape(task.title) for task in tasks if task.status in ("done", "cancelled")]
    context = f"{project} ({host})" if project else host
    memory.daily.log_session(Session(began, ended, context), remaining=remaining, settled=settled)


def set_aside(state: Path, name: str, session: SessionKey, messages: Sequence[Message], code: str) -> str:
    """Keep what can't be stored where a person can look at it; returns the path."""
    told = [without_secrets(message._asdict()) for message in messages]
    return _put_aside(state, name, {"session": session._asdict(), "error": code, "messages": told})


def set_events_aside(state: Path, name: str, events: Sequence[Event], why: str) -> str:
    """Keep events that nothing could be made of where a person can look at them; returns the path."""
    told = [without_secrets(event._asdict()) for event in events]
    return _put_aside(state, name, {"error": without_secrets(why), "events": told})


def _put_aside(state: Path, name: str, kept: Mapping[str, object]) -> str:
    folder = state / ASIDE
    make_folder(folder)
    path = folder / f"{name}.json"
    replace_file(path, json.dumps(kept, ensure_ascii=True).encode("ascii"))
    return str(path)


_Plain = TypeVar("_Plain")


def without_secrets(value: _Plain) -> _Plain:
    """Plain values as they may lie on a disk for months."""
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    if isinstance(value, str):
        return cast(_Plain, redact(value)[0])
    if isinstance(value, dict):
        return cast(_Plain, {key: without_secrets(inner) for key, inner in value.items()})
    return (
        cast(_Plain, [without_secrets(inner) for inner in value])
        if isinstance(value, list | tuple)
        else value
    )


def project_of(cwd: str) -> str:
    """The name of the repository in which a conversation was held; "" outside of one."""
    folder = Path(cwd) if cwd else None
    if folder is None or not folder.is_absolute():
        return ""
    # Not Path.exists, which fails for a folder that may not be looked into.
    found = (one.name for one in (folder, *folder.parents) if os.path.exists(one / ".git"))  # noqa: PTH110
    return next(found, "")
