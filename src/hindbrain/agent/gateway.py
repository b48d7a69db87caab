"""Commands that wait for their turn: one run at a time in a vault, in the order in which they came.

A command that came over a channel or over HTTP is a file before it is acknowledged, and stays one until its
end is known: a process that dies in between loses none, and none is begun a second time without a look at
what became of the first. A person at a terminal waits in line themselves. Knows nothing of how a run is done.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, UsageError
from hindbrain.vault.lock import FileLock

FOLDER = "agent"
RUN_LOCK = "run.lock"  # held by the run itself
_TURN_LOCK = "turn.lock"
_QUEUE_LOCK = "queue.lock"
_ID = re.compile(r"q-(\d{14})-([0-9a-f]{12})")
_LONGEST = 100_000  # characters of a command
_KEPT_S = 7 * 86_400.0  # that an end can be asked for
_QUEUEING_S = 10.0
_GLANCE_S = 0.5  # a wait in line, before looking whether it is still wanted
_IDLE_S = 0.5
_AFTER_ONE_S = 0.05  # somebody who stands in line gets the turn before the next of ours


class Ticket(NamedTuple):
    """A command that waits. Tickets sort by when they came."""

    id: str  # q-01763286000123-7f3a2c90b1d4
    text: str
    via: str = "http"  # or the channel's name
    sender: str = ""
    # The conversation it is part of: what follows a failure in the same one may put it right.
    session: str = ""
    at: float = 0.0  # seconds since the epoch
    begun: float = 0.0  # when its turn came; 0.0 while none of it can have been done


class CommandGateway:
    """For any number of threads and processes."""

    def __init__(self, state: Path, clock: Clock) -> None:
        self._folder = state / FOLDER
        self._clock = clock
        self._waiting = KeptFiles(state, FOLDER, "queue")
        self._begun = KeptFiles(state, FOLDER, "begun")
        self._ends = KeptFiles(state, FOLDER, "ends")

    # Whoever has a command

    def submit(self, text: str, via: str, sender: str = "", session: str = "", *, key: str = "") -> Ticket:
        """Durable when this returns. `key`: the same one again, within a week, is the same command.

        UsageError for what is no command; WriteFailed.
        """
        if not text.strip():
            raise UsageError("the command is empty; say what is to be done")
        if len(text) > _LONGEST:
            raise UsageError(f"the command has {len(text):,} characters; at most {_LONGEST:,} are taken")
        session = session or (f"{via}:{sender}" if sender else via)
        with FileLock(self._folder / _QUEUE_LOCK).held(_QUEUEING_S):
            mark = _mark(f"{via}\n{key}") if key else os.urandom(6).hex()
            known = next((name for name in self._known() if name.endswith(mark)), "")
            id_ = known or f"q-{self._next_number():014d}-{mark}"
            ticket = Ticket(id_, text, via, sender, session, self._clock.now())
            if not known:
                self._waiting.put_new(ticket.id, ticket._asdict())
        return ticket

    def waiting(self) -> list[Ticket]:
        """What has not begun, the next one first."""
        return _tickets(self._waiting)

    def withdraw(self, id_: str) -> bool:
        """Take back what has not begun; False when it is too late, or was never there."""
        return bool(_ID.fullmatch(id_)) and self._waiting.drop(id_)

    def state_of(self, id_: str) -> str:
        """waiting, running, done, or "" for what is not known."""
        if not _ID.fullmatch(id_):
            return ""
        done = (self._ends, "done")
        # It may move on while we look, so its end is looked for twice.
        for files, state in (done, (self._waiting, "waiting"), (self._begun, "running"), done):
            if files.has(id_):
                return state
        return ""

    def end_of(self, id_: str) -> Mapping[str, Any] | None:
        """What was said of it at its end; kept for a week."""
        return _read(self._ends, id_) if _ID.fullmatch(id_) else None

    # Whoever carries commands out

    @contextlib.contextmanager
    def turn(
        self, *, wait: bool = True, told: Callable[[], None] = lambda: None, until: Callable[[], bool]
    ) -> Iterator[bool]:
        """The vault is ours for one run; False: `until` said that it is no longer wanted.

        `told` is called once when somebody else is at it. Without `wait`, that is Busy.
        """
        with contextlib.ExitStack() as held:
            ours = self._stand(held, 0.0)
            free = ours and self._is_free(0.0)
            if not free and not wait:
                raise Busy("another run goes on in this vault; try again when it is over")
            if not free:
                told()
            while not free and not until():
                # Two locks: the run takes its own, while whoever called it goes on holding the turn.
                ours = ours or self._stand(held, _GLANCE_S)
                free = ours and self._is_free(_GLANCE_S)
            yield free

    def work(
        self,
        run_one: Callable[[Ticket], Mapping[str, Any]],
        until: Callable[[], bool],
        *,
        pause: Callable[[float], object] | None = None,
    ) -> int:
        """Carry out what waits, and what comes, until `until`; returns how many. One after the other.

        `run_one` says how it ended: what `end_of` tells. What it raises, the worker raises; the ticket
        stays begun.
        """
        wait = pause or threading.Event().wait
        done = 0
        while not until():
            if not self._waiting.names():
                wait(_IDLE_S)
                continue
            with self.turn(until=until) as ours:
                ticket = self.take_next() if ours else None
                if ticket is not None:
                    self.finish(ticket, run_one(ticket))
                    done += 1
            wait(_AFTER_ONE_S)
        return done

    def take_next(self) -> Ticket | None:
        """The next command, which counts as begun from now on. Whoever asks has the turn."""
        for ticket in self.waiting():
            if self._waiting.move(ticket.id, self._begun):  # else it was withdrawn meanwhile
                # By this its run is known among others of the same words.
                ticket = ticket._replace(begun=self._clock.now())
                self._begun.put(ticket.id, ticket._asdict())
                return ticket
        return None

    def finish(self, ticket: Ticket, end: Mapping[str, Any]) -> None:
        """Its end is known, and kept before it leaves the queue. A later end replaces an earlier one.

        What waits for its owner stays begun: whoever works here next goes on with it.
        """
        self._ends.put(ticket.id, {"id": ticket.id, "command": ticket.text, "at": self._clock.now(), **end})
        if not _is_waiting(end):
            self._begun.drop(ticket.id)
        oldest = int((self._clock.now() - _KEPT_S) * 1000)
        for name in self._ends.names():
            if (match := _ID.fullmatch(name)) and int(match[1]) < oldest:
                self._ends.drop(name)

    def interrupted(self) -> list[Ticket]:
        """What had begun, or waited for its owner, when its process ended. Whoever asks has the turn."""
        found = []
        for ticket in _tickets(self._begun):
            end = self.end_of(ticket.id)
            if end is None or _is_waiting(end):
                found.append(ticket)
            else:  # its end was kept just before
                self._begun.drop(ticket.id)
        return found

    def put_back(self, ticket: Ticket) -> None:
        """It had not come to anything: it waits again, in its old place."""
        self._begun.put(ticket.id, ticket._replace(begun=0.0)._asdict())
        self._begun.move(ticket.id, self._waiting)

    # Locks and files

    def _stand(self, held: contextlib.ExitStack, wait_s: float) -> bool:
        try:
            held.enter_context(FileLock(self._folder / _TURN_LOCK).held(wait_s))
        except Busy:
            return False
        return True

    def _is_free(self, wait_s: float) -> bool:
        """Does no run go on that did not ask for a turn, as one that is resumed by a program?"""
        try:
            with FileLock(self._folder / RUN_LOCK).held(wait_s):
                return True
        except Busy:
            return False

    def _next_number(self) -> int:
        """Behind all that are there, also when the clock is set back."""
        numbers = [int(match[1]) for name in self._known() if (match := _ID.fullmatch(name))]
        return max(int(self._clock.now() * 1000), max(numbers, default=0) + 1)

    def _known(self) -> list[str]:
        return [name for files in (self._waiting, self._begun, self._ends) for name in files.names()]


def _mark(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _tickets(files: KeptFiles) -> list[Ticket]:
    found = (_read(files, name) for name in files.names() if _ID.fullmatch(name))
    return [_ticket(told) for told in found if told is not None]


def _read(files: KeptFiles, id_: str) -> dict[str, Any] | None:
    try:
        return files.read(id_)
    except ValueError:  # a disk's fault: kept beside, so that the others go on
        files.set_aside(id_)
        return None


def _ticket(told: Mapping[str, Any]) -> Ticket:
    texts = {name: str(told.get(name, "")) for name in ("id", "text", "via", "sender", "session")}
    return Ticket(**texts, at=_time(told.get("at")), begun=_time(told.get("begun")))


def _time(told: object) -> float:
    return float(told) if isinstance(told, int | float) else 0.0


def _is_waiting(end: Mapping[str, Any]) -> bool:
    return end.get("end") == "waiting"
