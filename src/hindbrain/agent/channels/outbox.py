"""What is to be sent: on disk before the first try, until a channel took it or its owner was told it won't.

One file for each message, under the hash of its key: a second message with the same key is the same message,
also after it went out. Knows channels by their Protocol alone. A kill at any point loses nothing that `send`
took; what was sent and not yet noted as sent goes out again under the same key.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from hindbrain.agent.channels.channel import Channel, Outgoing
from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.agent.channels.quiet import QuietHours
from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, HindbrainError, Refused, UsageError
from hindbrain.vault.lock import FileLock

State: TypeAlias = Literal["waiting", "sent", "undeliverable"]

FOLDER = "outbox"
_FIRST_WAIT_S = 30.0
_LONGEST_WAIT_S = 3_600.0
_GIVEN_UP_S = 7 * 86_400.0  # after that a message is undeliverable; and one that was sent is forgotten
_FAILURES = 2  # of one channel in one flush: more would only wait; fewer, and one bad message holds up all
_TURN_S = 30.0  # how long a message waits for another process that is sending


class Delivery(NamedTuple):
    """How a message fares."""

    message: Outgoing  # of one that was sent long ago without its text
    state: State
    id: str = ""  # the channel's own, once it was sent
    why: str = ""  # it waits, or can't be delivered
    tries: int = 0
    next: float = 0.0  # when it is tried again; 0: at the next occasion
    urgent: bool = False
    queued: float = 0.0  # since when it is here; seconds since the epoch


class Flushed(NamedTuple):
    """What a flush came to: every message that it tried or gave up on."""

    deliveries: tuple[Delivery, ...] = ()
    unreadable: tuple[str, ...] = ()  # files that hold no message; they are kept beside as *.bad

    @property
    def undeliverable(self) -> tuple[Delivery, ...]:
        return tuple(delivery for delivery in self.deliveries if delivery.state == "undeliverable")


class Outbox:
    """The one queue of everything that goes out, for all channels. `folder`: another queue, kept apart."""

    def __init__(
        self,
        state: Path,
        channels: Mapping[str, Channel],
        clock: Clock,
        quiet: Mapping[str, QuietHours] | None = None,
        *,
        folder: str = FOLDER,
    ) -> None:
        self.channels = channels
        self._clock = clock
        self._quiet = quiet or {}
        self._files = KeptFiles(state, "agent", folder)
        self._lock = FileLock(state / "agent" / f"{folder}.lock")

    def send(self, message: Outgoing, *, urgent: bool = False) -> Delivery:
        """Take it, durably, and try to send it, with what waits for the same channel before it.

        Urgent: also in quiet hours. UsageError: there is no such channel. WriteFailed: it was not taken.
        """
        if message.channel not in self.channels:
            known = ", ".join(self.channels) or "none"
            raise UsageError(f"there is no channel {message.channel!r}; there are: {known}")
        if not message.key or not message.text.strip():
            raise UsageError("a message needs a key and a text")
        now = self._clock.now()
        taken = Delivery(message, "waiting", urgent=urgent, queued=now)
        name = _name(message.key)
        self._files.put_new(name, _as_json(taken))
        try:
            self._flush(now, message.channel, _TURN_S)
        except Busy:
            return taken._replace(why="another process is sending")
        return self._read(name) or taken

    def flush(self, now: float | None = None) -> Flushed:
        """Try what is due. Busy when another process does so."""
        return self._flush(self._clock.now() if now is None else now, "", 0.0)

    def waiting(self) -> list[Delivery]:
        """The oldest first."""
        return self._all("waiting")

    def undeliverable(self) -> list[Delivery]:
        """What was given up, until its owner dismisses it."""
        return self._all("undeliverable")

    def dismiss(self, key: str) -> None:
        """Forget a message that can't be delivered, or that waits and is no longer wanted."""
        with self._lock.held(_TURN_S):
            self._files.drop(_name(key))

    def _flush(self, now: float, only: str, turn_s: float) -> Flushed:
        """`only`: the messages of this channel; "" is all."""
        tried: list[Delivery] = []
        failures: Counter[str] = Counter()
        with self._lock.held(turn_s):
            deliveries, unreadable = self._load()
            for delivery in deliveries:
                channel = delivery.message.channel
                if delivery.state == "sent" and now - delivery.queued > _GIVEN_UP_S:
                    self._files.drop(_name(delivery.message.key))
                if delivery.state != "waiting" or failures[channel] >= _FAILURES or only not in ("", channel):
                    continue
                after = self._try(delivery, now)
                if after != delivery:
                    self._files.put(_name(after.message.key), _as_json(after))
                    tried.append(after)
                failures[channel] += after.tries > delivery.tries and after.state != "sent"
            self._files.sweep(now)
        return Flushed(tuple(tried), unreadable)

    def _try(self, delivery: Delivery, now: float) -> Delivery:
        """The delivery as it is afterwards; unchanged when it is not its turn."""
        channel = self.channels.get(delivery.message.channel)
        old = now - delivery.queued > _GIVEN_UP_S
        if channel is None:
            why = f"there is no channel {delivery.message.channel!r} any more"
            return delivery._replace(state="undeliverable" if old else "waiting", why=why)
        quiet = self._quiet.get(channel.name)
        ends_at = quiet.ends_at(now) if quiet and not delivery.urgent else 0.0
        if ends_at:
            return delivery._replace(why="it is quiet there now", next=ends_at)
        # A wait that is longer than the longest was set by a clock that was wrong, or by quiet hours.
        if delivery.tries and now < delivery.next <= now + _LONGEST_WAIT_S:
            return delivery
        try:
            sent = channel.send(delivery.message)
        except Refused as error:
            return delivery._replace(state="undeliverable", why=str(error), tries=delivery.tries + 1)
        except HindbrainError as error:
            wait_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(delivery.tries, 20))
            return delivery._replace(
                state="undeliverable" if old else "waiting",
                why=str(error), tries=delivery.tries + 1, next=now + wait_s,
            )  # fmt: skip
        return delivery._replace(state="sent", id=sent, why="", next=0.0, tries=delivery.tries + 1)

    def _load(self) -> tuple[list[Delivery], tuple[str, ...]]:
        found: list[Delivery] = []
        unreadable: list[str] = []
        for name in self._files.names():
            try:
                delivery = self._read(name)
            except ValueError:
                self._files.set_aside(name)
                unreadable.append(name)
                continue
            if delivery is not None:
                found.append(delivery)
        return sorted(found, key=lambda one: (one.queued, one.message.at, one.message.key)), tuple(unreadable)

    def _all(self, state: State) -> list[Delivery]:
        found: list[Delivery] = []
        for name in self._files.names():
            try:
                delivery = self._read(name)
            except ValueError:
                continue  # the next flush sets it aside, and says so
            if delivery is not None and delivery.state == state:
                found.append(delivery)
        return sorted(found, key=lambda one: (one.queued, one.message.at, one.message.key))

    def _read(self, name: str) -> Delivery | None:
        found = self._files.read(name)
        return None if found is None else _from_json(found)


def problems(deliveries: Iterable[Delivery]) -> list[str]:
    """A line for a person for each message that did not go out."""
    return [
        f"to {delivery.message.channel!r}: {delivery.why} ({delivery.state}, tries: {delivery.tries}): "
        f"{' '.join(delivery.message.text.split())[:80]!r}"
        for delivery in deliveries
        if delivery.state != "sent"
    ]


def _name(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _as_json(delivery: Delivery) -> dict[str, object]:
    message = delivery.message._asdict()
    if delivery.state == "sent":
        message["text"] = ""  # the key is enough to know it again
    return {**delivery._asdict(), "message": message}


def _from_json(found: dict[str, Any]) -> Delivery:
    """ValueError for what is no delivery."""
    try:
        message = Outgoing(**found.pop("message"))
        delivery = Delivery(message, **found)
    except (KeyError, TypeError) as error:
        raise ValueError("not a message of the outbox") from error
    if delivery.state not in ("waiting", "sent", "undeliverable") or not isinstance(message.key, str):
        raise ValueError("not a message of the outbox")
    return delivery
