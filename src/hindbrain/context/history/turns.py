"""How the messages of a conversation hang together: rounds of work, and calls with their results. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindbrain.context.messages import Message


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return where turns begin: at what the user says, and where an agent goes on after a tool's answer.

    An agent that works alone has many turns for one request; else nothing of its work would ever be old.
    """
    return [
        index
        for index, message in enumerate(messages)
        if index == 0
        or (message.role == "user" and messages[index - 1].role != "user")
        or (message.role == "assistant" and messages[index - 1].role == "tool")
    ]


def recent_from(messages: Sequence[Message], turns: int) -> int:
    """Return the index of the first message of the last `turns` turns; 0 when there are not more."""
    if turns <= 0:
        return len(messages)
    starts = turn_starts(messages)
    return starts[-turns] if len(starts) >= turns else 0


def partners(messages: Sequence[Message]) -> dict[int, frozenset[int]]:
    """Return for each call or result the messages that it must not be parted from.

    Paired by the host's id; where it gives none, a result belongs to the oldest open call of its tool.
    """
    groups: dict[str, set[int]] = {}
    open_calls: list[int] = []
    for index, message in enumerate(messages):
        if message.call:
            groups.setdefault(message.call, set()).add(index)
        elif message.role == "assistant" and message.tool:
            open_calls.append(index)
        elif message.role == "tool":
            call = next((at for at in open_calls if messages[at].tool == message.tool), None)
            if call is not None:
                open_calls.remove(call)
                groups[f"\0{call}"] = {call, index}
    return {index: frozenset(group) for group in groups.values() if len(group) > 1 for index in group}


def with_partners(indices: Iterable[int], pairs: dict[int, frozenset[int]]) -> set[int]:
    """Return the messages, and those that they must not be parted from."""
    chosen = set(indices)
    return chosen.union(*(pairs[index] for index in chosen if index in pairs))
