"""The second way to OpenClaw: HTTP, where only that is open to us.

Its address is the gateway's own, where the tools `message` and `sessions_history` are called, or the one of
its hook (.../hooks/agent), by which OpenClaw's agent is told what to say. Neither knows a key: a message that
was taken, and whose answer was lost, goes out twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.agent.channels.openclaw.history import Target, incoming
from hindbrain.agent.channels.posting import Post
from hindbrain.base.errors import ChannelDown, ConfigError

HOOK = "/hooks/agent"
_TOOLS = "/tools/invoke"


class OpenClawHttp:
    def __init__(self, name: str, post: Post, target: Target) -> None:
        self._name = name
        self._post = post
        self.target = target
        self._is_hook = post.url.endswith(HOOK)

    @property
    def name(self) -> str:
        return self._name

    def send(self, message: Outgoing) -> str:
        to = message.to or self.target.to
        if self._is_hook:
            return self._send_by_hook(message, to)
        args = {"channel": self.target.channel, "target": to, "message": message.text}
        details = self._call({"tool": "message", "action": "send", "args": args})
        return str(details.get("messageId") or message.key)

    def check(self, limit: int) -> list[Incoming]:
        if self._is_hook:
            raise ConfigError(
                f"messages can't be read over the hook of the channel {self.name!r}; set `address` to the "
                "gateway's own (ws://127.0.0.1:18789)"
            )
        args = {"sessionKey": self.target.session, "limit": limit}
        details = self._call({"tool": "sessions_history", "args": args})
        return incoming(self.name, details.get("messages"), self.target)

    def taken(self, messages: Sequence[Incoming]) -> None:
        """The session keeps them: nothing to do."""

    def _send_by_hook(self, message: Outgoing, to: str) -> str:
        answer = self._post.send(
            {
                "message": f"Say this to the owner, word for word:\n\n{message.text}",
                "name": "Hindbrain",
                "deliver": True,
                "channel": self.target.channel,
                "to": to,
            }
        )
        if not isinstance(answer, dict) or answer.get("ok") is not True:
            raise ChannelDown(f"the hook of the channel {self.name!r} did not take the message; try again")
        return str(answer.get("runId") or message.key)

    def _call(self, call: Mapping[str, object]) -> Mapping[str, Any]:
        """What the tool says of its result."""
        answer = self._post.send(call, _TOOLS)
        result = answer.get("result") if isinstance(answer, dict) and answer.get("ok") is True else None
        if not isinstance(result, dict):
            raise ChannelDown(f"OpenClaw did not say what became of {call['tool']!r} on {self.name!r}")
        details = result.get("details")
        return details if isinstance(details, dict) else _told(result.get("content"))


def _told(content: object) -> Mapping[str, Any]:
    """The result as the tool writes it for a model: JSON in a block of text."""
    for block in content if isinstance(content, list) else []:
        try:
            found = json.loads(block["text"])
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return {}
