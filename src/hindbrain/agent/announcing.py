"""Tells the owner's channels and addresses what has happened; what is to be told survives on disk.

One small file for each event and target, so a receiver that is down costs no room: while one message is under
way, or the last one went out less than a minute ago, all that happens is added up and told together. What is
under way is in an outbox: the owner's for a channel, with its quiet hours, and one of our own for addresses.
Noting an event waits for no network. Values only, so any thread and any process may do either.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.agent import events
from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.agent.channels.outbox import FOLDER, Delivery, Outbox
from hindbrain.base.errors import HindbrainError
from hindbrain.vault.lock import FileLock

if TYPE_CHECKING:
    from hindbrain.agent.channels.posting import Post
    from hindbrain.agent.events import Figures
    from hindbrain.agent.policy_file import AgentPolicy
    from hindbrain.base.clock import Clock

APART_S = 60.0  # at least, between two messages about one event to one target
HELD_S = 300.0  # at most, that an event waits for the rest of it: an embedder may never come back
LOOK_S = 30.0  # between two tries to tell what waits
_POSTS = "posts"  # the outbox for addresses
_POST_S = 5.0  # for a receiver to answer
_NONE: Figures = {}
_TURN_S = 2.0  # for another process that notes something


class Waiting(NamedTuple):
    """What one target is to be told of one event: what waits, what is under way, and how that fares."""

    event: str
    target: str
    figures: Figures = _NONE  # of what waits; {} when nothing does
    times: int = 0  # that it happened since the last message
    at: float = 0.0  # when it happened last; seconds since the epoch, as all times here
    due: float = 0.0  # not told before
    key: str = ""  # of the message that is under way; "" for none
    text: str = ""  # of that message
    told: float = 0.0  # when the last message arrived, or was given up
    why: str = ""  # the message that is under way has not arrived, or the last one was given up
    dropped: int = 0  # messages that were given up since one arrived


class Announcing:
    """For one vault, with what the owner's file says now."""

    def __init__(self, state: Path, vault: Path, policy: AgentPolicy, clock: Clock) -> None:
        self._state = state
        self._vault = vault
        self._policy = policy
        self._clock = clock
        self._files = KeptFiles(state, "agent", "events")
        self._noting = FileLock(state / "agent" / "events.lock")
        self._sending = FileLock(state / "agent" / "events-sending.lock")

    def note(self, event: str, figures: Figures, *, ready: bool = True) -> None:
        """It has happened; durable when this returns. Not `ready`: more of it is to come, in a moment.

        Without figures nothing happened: what waits is ready, then.
        """
        now = self._clock.now()
        for target in self._policy.events.get(event, ()):
            with self._turn():
                before = self._read(_name(event, target)) or Waiting(event, target)
                if figures or before.figures:
                    self._put(_noted(before, figures, now, ready=ready))

    def send(self) -> float:
        """Tell what is due. Returns the seconds until it is worth to look again.

        Busy when another process does so. What fails is kept in the file, tried again, and in `problems`.
        """
        with self._sending.held(0):
            for name in self._files.names():
                taken = self._taken(name)
                if taken is None or not taken.key:
                    continue
                if self._is_wanted(taken):
                    self._deliver(name, taken)
                else:
                    folder = _POSTS if events.is_address(taken.target) else FOLDER
                    Outbox(self._state, {}, self._clock, folder=folder).dismiss(taken.key)
        return self._next_look_s()

    def give_up_waiting(self, seconds: float) -> None:
        """Whoever sends will not see the end of it: nobody answered for so long. It is tried again."""
        now, why = self._clock.now(), f"no answer within {seconds:g} s"
        for one in self._all():
            if not one.why and (one.key or (one.figures and _is_due(one, now))):
                self._change(_name(one.event, one.target), partial(_failed, why))

    def problems(self) -> list[str]:
        """A line for each target that could not be told, without what an address may keep secret."""
        return [_problem(one) for one in self._all() if one.why]

    def waiting(self) -> int:
        """Messages that are under way, or will be."""
        return sum(bool(one.key) + bool(one.figures) for one in self._all())

    def _taken(self, name: str) -> Waiting | None:
        """What waits becomes the message that is under way, when it is due and no other one is."""
        with self._turn():
            one = self._read(name)
            if one is None:
                return None
            if not self._is_wanted(one):
                self._files.drop(name)
                return one
            if one.key or not one.figures or not _is_due(one, self._clock.now()):
                return one
            key = f"{one.event}-{uuid.uuid4()}"
            taken = one._replace(figures={}, times=0, key=key, text=self._worded(one, key))
            self._put(taken)
            return taken

    def _is_wanted(self, one: Waiting) -> bool:
        """Or has its owner taken the receiver out of the file?"""
        return one.target in self._policy.events.get(one.event, ())

    def _worded(self, one: Waiting, key: str) -> str:
        if not events.is_address(one.target):
            return events.line(one.event, one.figures, self._vault, times=one.times)
        posted = events.payload(one.event, one.figures, self._vault, times=one.times, at=one.at, key=key)
        return json.dumps(posted)

    def _deliver(self, name: str, one: Waiting) -> None:
        """Without the turn: whoever notes something meanwhile waits for no network."""
        message = Outgoing(one.key, one.target, one.text, at=one.at)
        try:
            outbox = self._outbox_for(one.target)
            delivery = outbox.send(message)
        except HindbrainError as error:
            self._change(name, partial(_failed, str(error)))
            return
        self._change(name, partial(_after, delivery, self._clock.now()))
        if delivery.state != "waiting":
            outbox.dismiss(one.key)  # its file here knows the rest; at one a minute they would be many

    def _outbox_for(self, target: str) -> Outbox:
        """Raises ConfigError, as for a token that can't be read."""
        if events.is_address(target):
            from hindbrain.agent.channels.posting import Post

            channel = _Address(target, Post(target, target, timeout_s=_POST_S, who="[events]"))
            return Outbox(self._state, {target: channel}, self._clock, folder=_POSTS)
        from hindbrain.agent.channels.tables import make_channels, quiet_hours

        tables = {target: self._policy.channels[target]}
        channels = make_channels(tables, self._state, self._clock)
        return Outbox(self._state, channels, self._clock, quiet_hours(tables))

    def _change(self, name: str, change: Callable[[Waiting], Waiting]) -> None:
        with self._turn():
            now = self._read(name)
            if now is not None:
                self._put(change(now))

    def _next_look_s(self) -> float:
        now = self._clock.now()
        due_s = [one.due - now for one in self._all() if one.figures and not one.key]
        return min([LOOK_S, *(wait_s for wait_s in due_s if wait_s > 0)])

    def _turn(self) -> AbstractContextManager[None]:
        return self._noting.held(_TURN_S)

    def _all(self) -> list[Waiting]:
        return [one for name in self._files.names() if (one := self._read(name)) is not None]

    def _read(self, name: str) -> Waiting | None:
        """None also for what is no such file; what comes next replaces it."""
        try:
            found = self._files.read(name)
            return None if found is None else _from_json(found)
        except ValueError:
            return None

    def _put(self, one: Waiting) -> None:
        self._files.put(_name(one.event, one.target), {**one._asdict(), "figures": dict(one.figures)})


class _Address:
    """A channel whose messages are JSON, posted to one address as they are."""

    def __init__(self, name: str, post: Post) -> None:
        self.name = name
        self._post = post

    def send(self, message: Outgoing) -> str:
        self._post.send(json.loads(message.text))
        return message.key

    def check(self, limit: int) -> list[Incoming]:  # noqa: ARG002  nobody writes to us here
        return []

    def taken(self, messages: Sequence[Incoming]) -> None:
        """There are none."""


def _noted(before: Waiting, figures: Figures, now: float, *, ready: bool) -> Waiting:
    # A clock that was set back must not keep us silent until it is as late again.
    earliest = max(now, min(before.told, now) + APART_S if before.told else now)
    if ready:
        due = earliest
    else:
        due = min(before.due, now + HELD_S) if before.figures else now + HELD_S
    return before._replace(
        figures=events.joined(before.figures, figures),
        times=before.times + bool(figures),
        at=now if figures else before.at,
        due=due,
    )


def _is_due(one: Waiting, now: float) -> bool:
    return one.due <= now or one.due > now + HELD_S


def _after(delivery: Delivery, now: float, one: Waiting) -> Waiting:
    """How it stands after a try."""
    if delivery.message.key != one.key:
        return one
    if delivery.state == "waiting":
        # Not tried yet means that the owner wants quiet, or that somebody else is sending: no trouble.
        return one._replace(why=delivery.why if delivery.tries else "")
    over = one._replace(key="", text="", told=now, due=max(one.due, now + APART_S))
    if delivery.state == "sent":
        return over._replace(why="", dropped=0)
    return over._replace(why=delivery.why, dropped=one.dropped + 1)


def _failed(why: str, one: Waiting) -> Waiting:
    return one._replace(why=why)


def _problem(one: Waiting) -> str:
    from hindbrain.models.http import authority

    target = authority(one.target) if events.is_address(one.target) else one.target
    dropped = f" ({one.dropped} given up)" if one.dropped else ""
    return f"{one.event!r} is not told to {target!r}{dropped}: {one.why}"


def _name(event: str, target: str) -> str:
    return hashlib.sha256(f"{event}\n{target}".encode()).hexdigest()[:40]


def _from_json(found: dict[str, Any]) -> Waiting:
    """ValueError for what is none."""
    defaults = Waiting("", "")
    for name, usual in defaults._asdict().items():
        value = found.get(name)
        if not (isinstance(value, type(usual)) or (isinstance(usual, float) and type(value) is int)):
            raise ValueError(f"{name} is not what it must be")
    if not all(isinstance(count, int) for count in found["figures"].values()):
        raise ValueError("a figure is no number")
    return Waiting(**{name: found[name] for name in defaults._fields})
