"""The tools with which an agent writes to its owner, and reads what was written to it.

They are called after OpenClaw, and work for every channel that is configured, whatever its kind.
"""

from __future__ import annotations

import json
import uuid

from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.agent.channels.outbox import Delivery, Outbox
from hindbrain.agent.channels.unread import Looked, Unread
from hindbrain.agent.tools.tool import ActionTool, Result
from hindbrain.base.clock import Clock, local_time
from hindbrain.memory.tools.tool import Arguments, Param

_DEFAULT = "default"
_LIMIT = 10
_MOST = 50


def message_tools(outbox: Outbox, unread: Unread, clock: Clock) -> tuple[ActionTool, ...]:
    """None where no channel is configured."""
    names = tuple(outbox.channels)
    if not names:
        return ()
    send = ActionTool(
        "openclaw_send",
        "Send a message to the user or to a channel. Use it to reach the user when they are not at the "
        "keyboard: to deliver results, or to notify. They get it on their phone (Telegram, WhatsApp, ...).",
        (
            Param("message", "string", "The text to send.", required=True),
            Param(
                "channel",
                "string",
                f"Target channel. Default: the user's primary one, {names[0]!r}.",
                choices=(*names, _DEFAULT),
            ),
        ),
        "act",
        lambda arguments: _send(outbox, clock, arguments),
        shown=lambda arguments: f"send to {arguments['channel']}: {arguments['message']}",
        settled=lambda arguments: {**arguments, "channel": _channel(arguments, names)},
    )
    check = ActionTool(
        "openclaw_check",
        "Check for new messages on the channels: what was not read yet, from Telegram, WhatsApp and others. "
        "Use it to see whether the user has sent further instructions or context.",
        (
            Param("channel", "string", "Check this channel only. Omit to check all.", choices=names),
            Param("limit", "integer", "Most messages to return. Default: 10.", minimum=1, maximum=_MOST),
        ),
        "read",
        lambda arguments: _check(unread, arguments),
    )
    return send, check


def _channel(arguments: Arguments, names: tuple[str, ...]) -> str:
    asked = str(arguments.get("channel", _DEFAULT))
    return names[0] if asked == _DEFAULT and _DEFAULT not in names else asked


def _send(outbox: Outbox, clock: Clock, arguments: Arguments) -> Result:
    channel = _channel(arguments, tuple(outbox.channels))
    message = Outgoing(f"hindbrain-{uuid.uuid4()}", channel, arguments["message"], at=clock.now())
    delivery = outbox.send(message)
    return Result(_told(delivery), failed=delivery.state == "undeliverable")


def _told(delivery: Delivery) -> str:
    channel = delivery.message.channel
    if delivery.state == "sent":
        return f"Sent to {channel} (id {delivery.id})."
    if delivery.state == "undeliverable":
        return f"Not sent to {channel}, and it won't be: {delivery.why}"
    return f"Not sent to {channel} yet: {delivery.why}. It is kept, and sent as soon as that has passed."


def _check(unread: Unread, arguments: Arguments) -> Result:
    looked = unread.take(arguments.get("limit", _LIMIT), arguments.get("channel", ""))
    # A message is somebody else's word, whoever it seems to be from.
    return Result(_listed(looked), failed=bool(looked.failed) and not looked.messages, source="import")


def _listed(looked: Looked) -> str:
    lines = [_line(message) for message in looked.messages]
    if looked.left:
        lines.append(f"{looked.left} more are unread; check again to see them.")
    lines += [f"{name} could not be checked: {why}" for name, why in looked.failed]
    return "\n".join(lines) or "No new messages."


def _line(message: Incoming) -> str:
    when = f", {local_time(message.at):%Y-%m-%d %H:%M}" if message.at else ""
    # As JSON, so that a message with line breaks can't look like two.
    said = json.dumps(message.text, ensure_ascii=False)
    return f"{message.channel}, from {json.dumps(message.sender, ensure_ascii=False)}{when}: {said}"
