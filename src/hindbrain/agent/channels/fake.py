"""A channel whose other end is a list: for tests, and for whoever builds on channels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.base.errors import ChannelDown


class FakeChannel:
    """Keeps what is sent, gives what was said, and fails as it is told to."""

    def __init__(self, name: str = "phone", said: Iterable[str] = ()) -> None:
        self.name = name
        self.sent: list[Outgoing] = []
        self.messages = [Incoming(f"{n}", name, "42", text, float(n)) for n, text in enumerate(said)]
        self.fails: Exception | None = None
        self.chokes_on = ""  # a text that it can't carry

    def send(self, message: Outgoing) -> str:
        if self.fails is not None:
            raise self.fails
        if message.text == self.chokes_on:
            raise ChannelDown(f"{self.name!r} chokes on that")
        self.sent.append(message)
        return f"id-{len(self.sent)}"

    def texts(self) -> list[str]:
        return [message.text for message in self.sent]

    def check(self, limit: int) -> list[Incoming]:
        if self.fails is not None:
            raise self.fails
        return self.messages[-limit:]

    def taken(self, messages: Sequence[Incoming]) -> None:
        """It keeps them, as a chat does."""
