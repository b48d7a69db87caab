"""A way to reach the owner, and to be reached. Values and one Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Incoming(NamedTuple):
    """A message that somebody sent."""

    id: str  # the channel's own; never twice
    channel: str
    sender: str
    text: str
    at: float = 0.0  # seconds since the epoch


class Outgoing(NamedTuple):
    """A message that is to be sent, once: `key` makes a second try the same message."""

    key: str
    channel: str
    text: str
    to: str = ""  # "" is the owner
    at: float = 0.0


class Channel(Protocol):
    """One way.

    ChannelDown: a failure that may pass; what is to be sent waits in the outbox. ConfigError: the owner has
    to put something right first. Refused: this message will never go out this way.
    """

    @property
    def name(self) -> str: ...

    def send(self, message: Outgoing) -> str:
        """Send it and return the channel's id for it. Sending the same key again sends nothing new."""
        ...

    def check(self, limit: int) -> list[Incoming]:
        """The latest messages, oldest first; that each is given once is up to whoever asks (unread.py)."""
        ...

    def taken(self, messages: Sequence[Incoming]) -> None:
        """They are dealt with, and it is on disk that they are: the channel need not give them again."""
        ...
