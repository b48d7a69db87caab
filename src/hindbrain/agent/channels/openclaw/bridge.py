"""The first way to OpenClaw: its gateway's WebSocket. It knows a message again by its key, for minutes."""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.agent.channels.openclaw.gateway import Gateway
from hindbrain.agent.channels.openclaw.history import MOST_CHARS, Target, incoming


class OpenClawBridge:
    def __init__(self, name: str, gateway: Gateway, target: Target) -> None:
        self._name = name
        self._gateway = gateway
        self.target = target

    @property
    def name(self) -> str:
        return self._name

    def send(self, message: Outgoing) -> str:
        params = {
            "channel": self.target.channel,
            "to": message.to or self.target.to,
            "message": message.text,
            "idempotencyKey": message.key,
        }
        with self._gateway.connected() as connection:
            answer = connection.request("send", params)
        if "queued" in answer:
            return f"queued by OpenClaw, which could not deliver it yet: {answer['queued']}"
        return str(answer.get("messageId") or message.key)

    def check(self, limit: int) -> list[Incoming]:
        params = {"sessionKey": self.target.session, "limit": limit, "maxChars": MOST_CHARS}
        with self._gateway.connected() as connection:
            answer = connection.request("chat.history", params)
        return incoming(self.name, answer.get("messages"), self.target)

    def taken(self, messages: Sequence[Incoming]) -> None:
        """The session keeps them: nothing to do."""
