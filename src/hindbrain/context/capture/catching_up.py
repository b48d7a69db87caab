"""Catching up: what was said in any host since the last time is read, and what matters of it is stored.

Owns the order that loses nothing: read a piece, store what it says, then move the cursor, then drop the
events that told of it. A process that dies in between leaves work that is done again; doing it twice stores
nothing twice. What can't be stored for a reason of its own is set aside after some tries, and said so; a full
disk or a busy vault is waited out. One process at a time, and finding another one at it is no error.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, HindbrainError, WriteFailed
from hindbrain.base.passed_time import passed_time
from hindbrain.base.plural import plural
from hindbrain.context.capture import spool
from hindbrain.context.capture.belonging import is_for
from hindbrain.context.capture.cursors import Cursor, Cursors, place_at, short_id, still_there
from hindbrain.context.capture.events import by_session, ids_of, in_parts, last_time, last_told
from hindbrain.context.capture.failures import FailureTracker
from hindbrain.context.capture.fixes import Fixes
from hindbrain.context.capture.heard import add_heard
from hindbrain.context.capture.keeping import (
    Keeper,
    Keeps,
    NotStored,
    Outcome,
    log_session,
    project_of,
    set_aside,
    set_events_aside,
    without_secrets,
)
from hindbrain.context.capture.places import LOCK
from hindbrain.context.capture.prompts import digest, pair_events, pair_record, waiting_prompts
from hindbrain.context.capture.transcripts.blocks import HASH_ID
from hindbrain.context.capture.transcripts.reading import read_transcript
from hindbrain.context.capture.troubles import note_troubles
from hindbrain.context.messages import Message
from hindbrain.context.receipts import Entered, Receipts
from hindbrain.context.turn import OWN, SessionKey
from hindbrain.context.used import judge
from hindbrain.vault.lock import FileLock
from hindbrain.vault.paths import NotePath, read_note

if TYPE_CHECKING:
    from hindbrain.context.capture.spool import Event
    from hindbrain.memory.service import Memory

_PIECE_BYTES = 100_000  # of a transcript, captured at once in some 0.2 s; in between it may be stopped
_QUIET_S = 600.0  # a transcript that grew and then rested so long has lost its Stop
_MOST_TRIES = 5
_UNIQUE = 20  # characters of an id that no other session has by chance
_MOST_RECEIPTS = 200  # of a session, the newest: what was injected long ago is hardly used now
_MOST_SAID = 2_000  # characters of the agent's last words
_END = "session-end"
_CALM = frozenset(("busy", "write_failed", "write_unknown", "conflict"))  # the piece is not to blame


class CaughtUp(NamedTuple):
    """What a catching up did."""

    sessions: int = 0  # that had something new
    messages: int = 0
    stored: int = 0  # memories, fixes among them
    held: int = 0  # in the inbox, for a person
    fixes: int = 0  # of failures, stored or held
    problems: tuple[str, ...] = ()
    not_stored: tuple[NotStored, ...] = ()  # fixes, each with the reason
    tasks: int = 0  # new ones, of what a person asked to be reminded of
    more: bool = False  # the time was up, or another process is at it: something may be left


class _PieceFailed(Exception):
    """A piece could not be stored; how often that was tried stands in its cursor."""


class Capture:
    """For one thread; several processes may each have one."""

    def __init__(
        self,
        memory: Memory,
        flusher: Keeps,
        state: Path,
        clock: Clock,
        *,
        own: Keeps | None = None,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """`own`: keeps what was said to our own agent; None: `flusher` does."""
        self._memory = memory
        fixes = Fixes(lambda: memory, state, clock)
        self._keeper = Keeper(memory, flusher, fixes)
        self._own_keeper = Keeper(memory, own, fixes) if own is not None else self._keeper
        self._state = state
        self._clock = clock
        self._ticks = ticks
        self._cursors = Cursors(state)
        self._receipts = Receipts(state)
        self._lock = FileLock(state / LOCK)
        self._elsewhere: tuple[SessionKey, frozenset[str]] | None = (
            None  # ids captured in all sessions but one
        )
        self._vaults: dict[str, bool] = {}  # folders, and whether what is said there is for this vault

    def catch_up(self, *, deadline_s: float, host: str = "") -> CaughtUp:
        """Capture what is new, for about `deadline_s`. Raises nothing that a host could do about.

        `host`: only what its events tell; "" for all hosts, and for records that grew without an event.
        """
        until = self._ticks() + deadline_s
        try:
            with self._lock.held(0):
                caught = self._catch_up(until, host)
                worked = bool(caught.messages)
                note_troubles(self._state, caught.problems, now=self._clock.now(), worked=worked)
                return caught
        except Busy:
            return CaughtUp(more=True)
        except WriteFailed as error:
            return CaughtUp(problems=(str(error),), more=True)

    def _catch_up(self, until: float, host: str) -> CaughtUp:
        waiting = spool.read_events(self._state)
        self._elsewhere = None
        total = Outcome()
        if waiting.unreadable:
            total = Outcome(
                problems=(f"{plural(waiting.unreadable, 'spooled event')} can't be read; kept as *.bad",)
            )
        told = [one for one in by_session(waiting.events) if host in ("", one[0].host)]
        forgotten = [] if host else self._forgotten({key for key, _ in told})
        sessions, more = 0, False
        for number, (key, events) in enumerate((*told, *forgotten)):
            if number and self._ticks() >= until:  # at least one each time, however short the time
                more = True
                break
            outcome = self._guarded(key, events, until)
            total, sessions = total.plus(outcome), sessions + bool(outcome.messages)
            more = more or not outcome.done
        if total.fixes:
            with contextlib.suppress(HindbrainError):  # they are durable; the next settling brings them there
                self._memory.flush(timeout_s=0)
        return CaughtUp(
            sessions, total.messages, total.stored, total.held, total.fixes,
            tuple(dict.fromkeys(total.problems)), total.not_stored, total.tasks, more,
        )  # fmt: skip

    def _guarded(self, key: SessionKey, events: Sequence[Event], until: float) -> Outcome:
        """One session; what goes wrong with it stops no other."""
        try:
            waiting = waiting_prompts(events, now=self._clock.now())
            events = [event for event in events if event.id not in waiting]
            outcome = self._session(key, events, until)
            if outcome.done:
                outcome = outcome.plus(Outcome(problems=self._log(key, events)))
                spool.drop_events(self._state, events)
            return outcome
        except Exception as error:  # noqa: BLE001  it is in the report, and stays to be done for a while
            told = f"session {key.id!r} of {key.host}: {str(error) or type(error).__name__}"
            waited_out = isinstance(error, HindbrainError | OSError | _PieceFailed)
            if waited_out or not events or self._tried(key) < _MOST_TRIES:
                return Outcome(problems=(told,), done=False)
            return self._quarantined(key, events, told)

    def _tried(self, key: SessionKey) -> int:
        """How often the session has failed by now, for a reason of its own."""
        try:
            cursor = self._cursors.load(key)
            cursor = cursor._replace(tries=cursor.tries + 1, at=self._clock.now())
            self._cursors.save(cursor)
        except OSError:
            return 0  # the disk is to blame
        except Exception:  # noqa: BLE001  not even that can be noted of it
            return _MOST_TRIES
        return cursor.tries

    def _quarantined(self, key: SessionKey, events: Sequence[Event], told: str) -> Outcome:
        """Set the events of a session aside, so that they are neither tried for ever nor lost."""
        name = f"{short_id(key.id)}-{short_id(events[0].id)}"
        try:
            kept = set_events_aside(self._state, name, events, told)
            spool.drop_events(self._state, events)
        except OSError as error:
            return Outcome(problems=(told, str(error)), done=False)
        return Outcome(problems=(f"{plural(len(events), 'event')} set aside in {kept!r}: {told}",))

    def _log(self, key: SessionKey, events: Sequence[Event]) -> tuple[str, ...]:
        """Log a session in the note of its day, if it left something; returns what went wrong.

        Also where nothing new was kept: a kill may have come between keeping and logging. Our own agent's
        runs have lines of their own there.
        """
        if key.host == OWN:
            return ()
        ended = max((event.at for event in events if event.event == _END), default=0.0)
        cursor = self._cursors.load(key)
        if not cursor.kept:
            return ()
        try:
            log_session(self._memory, cursor.began, ended, project=project_of(cursor.cwd), host=key.host)
        except HindbrainError as error:
            if error.code in _CALM:
                raise
            return (f"the session was not noted in the note of its day: {error}",)
        if ended:
            self._cursors.save(cursor._replace(began=0.0, kept=0, ids=frozenset()))
        return ()

    def _session(self, key: SessionKey, events: Sequence[Event], until: float) -> Outcome:
        cursor = self._cursors.load(key)
        path = last_told(events, "transcript") or cursor.transcript
        cursor = cursor._replace(cwd=last_told(events, "cwd") or cursor.cwd, transcript=path)
        total = Outcome()
        if os.path.exists(path):  # noqa: PTH110  Path.exists fails for some names
            if not still_there(cursor):
                cursor = cursor._replace(offset=0, head="", tail="", anew=True)
            more = True
            while more:
                outcome, cursor, more = self._piece(cursor)
                total = total.plus(outcome)
                if not outcome.done:
                    return total
                if more and self._ticks() >= until:
                    return total._replace(done=False)
        return total.plus(self._told(cursor, events, until))

    def _piece(self, cursor: Cursor) -> tuple[Outcome, Cursor, bool]:
        """Capture one piece of a transcript, and move the cursor past it."""
        path = Path(cursor.transcript)
        read = read_transcript(
            path, host=cursor.session.host, start=cursor.offset, most_bytes=_PIECE_BYTES, wanted=self._is_ours
        )
        again = cursor.anew or read.whole
        new = [
            message
            for message in read.messages
            if not _is_known(message, cursor, again) and not self._is_copied(message, cursor.session)
        ]
        if read.stop == cursor.offset and not new:
            if not cursor.at:  # nothing yet, or not readable now: it is looked at again when it has grown
                self._cursors.save(cursor._replace(at=self._clock.now()))
            return Outcome(problems=read.problems), cursor, False
        place = place_at(path, read.stop)
        told = pair_record(cursor.pairs, new, now=self._clock.now())
        moved = cursor._replace(
            offset=read.stop, head=place.head, tail=place.tail, tries=0, anew=cursor.anew and read.more,
            pairs=told.pairs,
        )  # fmt: skip
        outcome, moved = self._store(cursor, moved, told.messages, told.silent, name=str(cursor.offset))
        return outcome.plus(Outcome(problems=read.problems)), moved, read.more

    def _told(self, cursor: Cursor, events: Sequence[Event], until: float) -> Outcome:
        """What events say and no record does: their host keeps none, or it did not come that far."""
        total, worked = Outcome(), False
        recorded = bool(cursor.transcript)
        for part in in_parts(events, _PIECE_BYTES):
            told = pair_events(cursor.pairs, part, recorded=recorded, known=cursor.knows)
            messages = {message.id: message for message in told.messages}
            unknown = [message for message in messages.values() if not cursor.knows(message.id)]
            new = [message for message in unknown if not self._is_copied(message, cursor.session)]
            heard = {message.id for message in new}
            passed = [*told.silent, *(given for event in part for given in ids_of(event))]
            silent = [given for given in passed if given not in heard and not cursor.knows(given)]
            moved = cursor._replace(pairs=told.pairs, tries=0, until=last_time(part) or cursor.until)
            is_known = not recorded or cursor.at
            if not new and not silent and told.pairs == cursor.pairs and is_known:
                continue  # captured before, when the time was up; or the record has it all
            if worked and self._ticks() >= until:
                return total._replace(done=False)
            if new and recorded and digest(Message("assistant", cursor.said)) != told.answer:
                cursor = cursor._replace(said="")  # a "yes" would answer to words that no record has
            name = short_id(new[0].id) if new else ""
            outcome, cursor = self._store(cursor, moved, new, silent, name=name)
            total, worked = total.plus(outcome), True
            if cursor.session.host != OWN and any(event.messages for event in part):
                add_heard(self._state, cursor.session, new, cwd=cursor.cwd, now=self._clock.now())
        return total

    def _store(
        self, cursor: Cursor, moved: Cursor, new: Sequence[Message], silent: Iterable[str] = (), *, name: str
    ) -> tuple[Outcome, Cursor]:
        """Store what a piece says, then say that it is captured; `cursor` is where it stood before.

        `silent`: ids of messages that need no storing. `name`: of the piece, should it be set aside.
        """
        keeper = self._own_keeper if cursor.session.host == OWN else self._keeper
        tracker = FailureTracker(cursor.failures)
        fixes = tracker.feed(new)
        outcome = Outcome(len(new))
        try:
            outcome = outcome.plus(
                keeper.keep(
                    new, cursor.session, fixes, before=cursor.said, cwd=cursor.cwd, attempts=tracker.attempts
                )
            )
        except Exception as error:
            # Whatever it is, it must not keep all that comes later from being captured.
            code = error.code if isinstance(error, HindbrainError) else "internal"
            if code in _CALM or isinstance(error, OSError):
                raise
            if cursor.tries + 1 < _MOST_TRIES:
                self._cursors.save(cursor._replace(tries=cursor.tries + 1, at=self._clock.now()))
                raise _PieceFailed(str(error) or type(error).__name__) from error
            piece = f"{short_id(cursor.session.id)}-{name}"
            kept = set_aside(self._state, piece, cursor.session, new, code)
            outcome = outcome.plus(
                Outcome(problems=(f"{plural(len(new), 'message')} set aside in {kept!r}: {error}",))
            )
        said = next(
            (one.text for one in reversed(new) if one.role == "assistant" and not one.tool), cursor.said
        )
        moved = moved._replace(
            failures=without_secrets(tracker.state()),
            said=without_secrets(said[:_MOST_SAID]),
            at=self._clock.now(),
            began=cursor.began or next((one.at for one in new if one.at), self._clock.now()),
            kept=cursor.kept + outcome.kept,
        )
        ids = [*(message.id for message in new if message.id), *silent]
        self._cursors.save(moved, ids)
        self._note_use(cursor.session, new)
        return outcome, moved._replace(ids=moved.ids | {short_id(given) for given in ids})

    def _note_use(self, session: SessionKey, new: Sequence[Message]) -> None:
        """Note on the receipts of the session what the agent has used of them. Losing that costs a figure."""
        if not any(message.role == "assistant" for message in new):
            return
        with contextlib.suppress(OSError):
            receipts = self._receipts.of_session(session)[-_MOST_RECEIPTS:]
            for receipt, uses in judge(receipts, new, cache(self._text_of)):
                self._receipts.note_used(receipt, uses, self._clock.now())

    def _text_of(self, one: Entered) -> str:
        """What an excerpt says now; "" where that can't be told any more."""
        try:
            if one.memory:
                return self._memory.book.find(one.memory).text
            note = read_note(self._memory.root, NotePath(one.path)) if one.path else b""
        except (HindbrainError, OSError):
            return ""
        lines = note.decode("utf-8", "replace").splitlines()
        return "\n".join(lines[one.first_line - 1 : one.last_line] if one.first_line else lines)

    def _forgotten(self, told: set[SessionKey]) -> list[tuple[SessionKey, list[Event]]]:
        """Sessions whose transcript grew past the cursor and then rested: nobody told that they ended."""
        found: list[tuple[SessionKey, list[Event]]] = []
        for cursor in self._known_cursors():
            if not cursor.transcript or cursor.session in told:
                continue
            with contextlib.suppress(OSError, ValueError):  # gone, or no name of a file
                stamp = Path(cursor.transcript).stat()
                if stamp.st_size != cursor.offset and self._clock.now() - stamp.st_mtime > _QUIET_S:
                    found.append((cursor.session, []))
        return found

    def _known_cursors(self) -> list[Cursor]:
        return self._cursors.known(now=passed_time(self._state, self._clock))

    def _is_copied(self, message: Message, session: SessionKey) -> bool:
        """Was it captured in another session, which this one goes on from? Hosts copy what was said there."""
        if len(message.id) < _UNIQUE or message.id.startswith(HASH_ID):
            return False  # no id that is unique beyond its session
        if self._elsewhere is None or self._elsewhere[0] != session:
            others = [one for one in self._known_cursors() if one.session != session]
            ids = (one.ids for one in others if one.session.host == session.host)
            self._elsewhere = (session, frozenset().union(*ids))
        return short_id(message.id) in self._elsewhere[1]

    def _is_ours(self, cwd: str) -> bool:
        """What is said inside another vault is for that one."""
        if cwd not in self._vaults:
            self._vaults[cwd] = is_for(self._memory.root, cwd)
        return self._vaults[cwd]


def _is_known(message: Message, cursor: Cursor, anew: bool) -> bool:
    """Was it captured before? An id made from words is believed only where a file is read anew."""
    if not message.id or (message.id.startswith(HASH_ID) and not anew):
        return False
    return cursor.knows(message.id)
