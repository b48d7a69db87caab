"""What was said to us and not taken yet. What was taken is on disk, so nothing is given twice.

Knows channels by their Protocol alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.agent.channels.channel import Channel, Incoming
from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.base.errors import ConfigError, HindbrainError, UsageError
from hindbrain.vault.lock import FileLock

_LOOK_BACK = 200  # messages that a channel is asked for; more between two looks are not seen
_REMEMBERED = 2_000  # ids of each channel; well above what it is asked for
_TURN_S = 10.0


class Looked(NamedTuple):
    """What a look found. A channel that could not be looked at is not one without messages."""

    messages: tuple[Incoming, ...]  # oldest first
    left: int = 0  # more of them, beyond the limit; they come with the next look
    failed: tuple[tuple[str, str], ...] = ()  # (channel, why)


class Unread:
    """Who has seen what, for all channels."""

    def __init__(self, state: Path, channels: Mapping[str, Channel], *, reader: str = "") -> None:
        """`reader`: one who reads beside the agent, and takes nothing away from it."""
        self.channels = channels
        self._reader = reader
        name = f"seen-{reader}" if reader else "seen"
        self._files = KeptFiles(state, "agent", name)
        self._lock = FileLock(state / "agent" / f"{name}.lock")

    def unread(self, limit: int, channel: str = "") -> Looked:
        """Look, and mark nothing: they are given again until they are marked with `mark`."""
        if channel and channel not in self.channels:
            known = ", ".join(self.channels) or "none"
            raise UsageError(f"there is no channel {channel!r}; there are: {known}")
        found: list[Incoming] = []
        failed: list[tuple[str, str]] = []
        for name in [channel] if channel else list(self.channels):
            try:
                found += self._new_of(self.channels[name])
            except HindbrainError as error:
                failed.append((name, str(error)))
        found.sort(key=lambda message: message.at)
        return Looked(tuple(found[:limit]), max(0, len(found) - limit), tuple(failed))

    def take(self, limit: int, channel: str = "") -> Looked:
        """Look, and mark what is given: two who take at once share the messages between them."""
        with self._lock.held(_TURN_S):
            looked = self.unread(limit, channel)
            self._mark(looked.messages)
        return looked

    def mark(self, messages: Iterable[Incoming]) -> None:
        """They were dealt with; durable when this returns."""
        with self._lock.held(_TURN_S):
            self._mark(messages)

    def _new_of(self, channel: Channel) -> list[Incoming]:
        given = channel.check(_LOOK_BACK)
        seen = set(self._seen(channel.name))
        old = [message for message in given if message.id in seen]
        if old and not self._reader:
            channel.taken(old)  # a kill between marking and this left them there
        return [message for message in given if message.id not in seen]

    def _mark(self, messages: Iterable[Incoming]) -> None:
        by_channel: dict[str, list[Incoming]] = {}
        for message in messages:
            by_channel.setdefault(message.channel, []).append(message)
        for name, ours in by_channel.items():
            ids = dict.fromkeys([*self._seen(name), *(message.id for message in ours)])
            self._files.put(name, {"ids": list(ids)[-_REMEMBERED:]})
            if name in self.channels and not self._reader:
                self.channels[name].taken(ours)

    def _seen(self, name: str) -> Sequence[str]:
        try:
            kept = self._files.read(name)
            return [] if kept is None else [str(one) for one in kept["ids"]]
        except (ValueError, KeyError, TypeError) as error:
            # To start anew would give old messages again, and one of them may be a command.
            raise ConfigError(
                f"{str(self._files.path / name)!r} no longer says which messages of {name!r} were taken; "
                "move the file away to have all of them again"
            ) from error
