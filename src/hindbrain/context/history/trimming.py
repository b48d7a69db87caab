"""Old tool results made shorter, then cleared; old screenshots dropped. The conversation itself stays.

Pure: messages in, messages out. Knows nothing of summaries (compaction.py) and of what a message is about:
who can tell gives `relevance`, and what lies far from the current topic goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hindbrain.base.errors import UsageError
from hindbrain.context.history.cost import history_tokens, message_tokens
from hindbrain.context.history.turns import recent_from
from hindbrain.context.messages import Message
from hindbrain.context.tokens import TokenCounter

SCREENSHOT_REMOVED = "[screenshot removed]"
_CLEARED = "[tool result cleared: "
_LEFT_OUT = "[… {} characters left out …]"


@dataclass(frozen=True, slots=True)
class TrimRules:
    """From where on and how much is trimmed."""

    soft_from: float = 0.3  # share of the window that is used
    hard_from: float = 0.5
    longest: int = 4_000  # characters that a tool result may have and stay whole
    keep_recent: int = 3  # turns that are never touched
    keep_screenshots: int = 5  # turns


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The messages, as many as before and in the same order, and what was done to which."""

    messages: tuple[Message, ...]
    before: int  # tokens
    after: int
    shortened: tuple[int, ...] = ()  # indices
    cleared: tuple[int, ...] = ()
    screenshots: tuple[int, ...] = ()


def trim(
    messages: Sequence[Message],
    window: int,
    *,
    counter: TokenCounter,
    relevance: Sequence[float] = (),
    rules: TrimRules | None = None,
) -> Trimmed:
    """Drop old screenshots; shorten, then clear old tool results until the window (tokens) has room."""
    rules = rules or TrimRules()
    now, screenshots = drop_screenshots(messages, after=rules.keep_screenshots)
    before, used = history_tokens(messages, counter), history_tokens(now, counter)
    order = _trim_order(now, relevance, rules.keep_recent)

    def make_room(limit: float, change: Callable[[Message], Message]) -> tuple[int, ...]:
        nonlocal used
        changed = []
        for index in order:
            if used < limit:
                break
            smaller = change(now[index])
            saved = message_tokens(now[index], counter) - message_tokens(smaller, counter)
            if saved > 0:
                now[index], used = smaller, used - saved
                changed.append(index)
        return tuple(sorted(changed))

    shortened = make_room(rules.soft_from * window, lambda message: soft_trim(message, rules.longest))
    cleared = make_room(rules.hard_from * window, hard_clear)
    shortened = tuple(index for index in shortened if index not in cleared)
    return Trimmed(tuple(now), before, used, shortened, cleared, screenshots)


def priorities(messages: Sequence[Message], relevance: Sequence[float] = ()) -> tuple[float, ...]:
    """Return how soon each message is to be trimmed; higher is sooner.

    Older is sooner. What is far from the current topic (`relevance` 0..1, one for each message; none: all are
    near) comes before what is near, and a failure comes after every success: who forgets one makes it again.
    """
    if relevance and len(relevance) != len(messages):
        raise UsageError(f"{len(messages)} messages and {len(relevance)} relevances; give one for each")
    count = max(1, len(messages))
    near = relevance or (1.0,) * len(messages)
    return tuple(
        (1 - index / count) + 2 * (1 - min(1.0, max(0.0, near[index]))) - 4 * message.failed
        for index, message in enumerate(messages)
    )


def soft_trim(message: Message, longest: int) -> Message:
    """Keep head and tail of a long result, whole lines where it has any, and say how much is missing."""
    text = message.text
    if len(text) <= longest:
        return message
    room = max(0, longest - len(_LEFT_OUT.format(len(text))) - 2)
    head = _whole_lines(text, room // 2).rstrip("\n")
    tail = _whole_lines(text[::-1], room - room // 2)[::-1].lstrip("\n")
    left_out = _LEFT_OUT.format(len(text) - len(head) - len(tail))
    short = "\n".join(part for part in (head, left_out, tail) if part)
    return message._replace(text=short) if len(short) < len(text) else message


def hard_clear(message: Message) -> Message:
    """Put a line in the place of a result. What is shorter than the line stays."""
    tool = message.tool or "a tool"
    cleared = f"{_CLEARED}{len(message.text)} characters of {tool}; run it again if needed]"
    if message.text.startswith(_CLEARED) or len(message.text) <= len(cleared):
        return message
    return message._replace(text=cleared)


def drop_screenshots(messages: Sequence[Message], *, after: int = 5) -> tuple[list[Message], tuple[int, ...]]:
    """Return the messages without the images of turns before the last `after`, and which they were."""
    recent = recent_from(messages, after)
    kept, dropped = list(messages), []
    for index, message in enumerate(messages[:recent]):
        if message.images and not message.critical:
            text = "\n".join(filter(None, [message.text, *[SCREENSHOT_REMOVED] * message.images]))
            kept[index] = message._replace(text=text, images=0)
            dropped.append(index)
    return kept, tuple(dropped)


def _trim_order(messages: Sequence[Message], relevance: Sequence[float], keep_recent: int) -> list[int]:
    """Results that may be trimmed, the first to go first."""
    rank = priorities(messages, relevance)
    recent = recent_from(messages, keep_recent)
    old = [i for i in range(recent) if messages[i].role == "tool" and not messages[i].critical]
    return sorted(old, key=lambda index: (-rank[index], index))


def _whole_lines(text: str, room: int) -> str:
    """As many lines from the start as have room; of a text without short lines, so many characters."""
    cut = text[:room]
    if text[room : room + 1] == "\n":
        return cut
    end = cut.rfind("\n")
    return cut[: end + 1] if end >= room // 4 else cut
