"""The system prompt, put together from parts: what stays the same first, so that prompt caches hold.

Reads the parts from the package, and nothing else. A part is there only when its tools are. What comes from
notes is either fenced already (the recalled memory), passes the fence here (names), or is the owner's own
instruction (`owner_notes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from hindbrain.agent.run import COMPLETION_TOKEN
from hindbrain.context.packs.fence import fence_line

_SCREEN = frozenset({
    "take_screenshot", "click", "right_click", "move_mouse", "drag", "scroll", "type_text", "press_key",
    "open_application", "run_applescript",
})  # fmt: skip
_FILES = ("read_file", "write_file", "list_files")
_LOOKUP = ("recall", "vault_search")
_KEEPING = ("remember", "vault_write")
_TASKS = ("task_list", "task_create", "task_update")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SLOT = re.compile(r"\{([a-z_]+)\}")
_LONGEST = 200  # of a name or a path
_NOBODY = "the user"
_NOTHING = "(Nothing was recalled for this command.)"


class PromptParts(NamedTuple):
    """What a prompt is made from."""

    tools: frozenset[str]  # names of those that are offered
    user: str = ""  # name; "" when it is not known
    since: str = ""  # YYYY-MM-DD of the first session; "" when it is not known
    now: datetime | None = None  # as the clock on the owner's wall shows it
    tz: str = ""  # for people: "Europe/Berlin"
    memory: str = ""  # the recalled pack, rendered and fenced
    skills: tuple[str, ...] = ()  # names of those that are in it
    channels: tuple[str, ...] = ()  # names
    workspace: str = ""
    owner: str = ""  # what the owner wrote for the agent, in notes that no tool writes
    command_token: str = COMPLETION_TOKEN


class SystemPrompt(NamedTuple):
    stable: str  # the same for the same owner and tools: no date in it, and nothing recalled
    changing: str  # "" when there is nothing to tell


def system_prompt(parts: PromptParts) -> SystemPrompt:
    values = _values(parts)
    told = (_SLOT.sub(lambda slot: values[slot[1]], _part(name)) for name in _chosen(parts))
    return SystemPrompt("\n\n".join(told), "\n\n".join(_changing(parts)))


def _chosen(parts: PromptParts) -> Iterable[str]:
    """Which parts, in their order."""
    tools = parts.tools
    yield "who"
    if parts.owner:
        yield "owner"
    if parts.memory or _offered(tools, _LOOKUP):
        yield "memory"
    if _offered(tools, _LOOKUP) and _offered(tools, _KEEPING):
        yield "memory_use"
    if _offered(tools, _TASKS):
        yield "tasks"
    if {"openclaw_send", "openclaw_check"} <= tools:
        yield "communication"
    if _offered(tools, _FILES):
        yield "files"
    if "run_shell_command" in tools:
        yield "shell"
    if tools & _SCREEN:
        yield "screen"
    yield "safety"
    if tools & _SCREEN:
        yield "screen_safety"
    yield "ending"


def _values(parts: PromptParts) -> Mapping[str, str]:
    user = _line(parts.user) or _NOBODY
    since = _line(parts.since)
    return {
        "user": user,
        "user_first": user[0].upper() + user[1:],
        "since": f", since {since}" if since else "",
        "lookup": " or ".join(_offered(parts.tools, _LOOKUP)),
        "keeping": " or ".join(_offered(parts.tools, _KEEPING)),
        "tasks": ", ".join(_offered(parts.tools, _TASKS)),
        "file_tools": ", ".join(_offered(parts.tools, _FILES)),
        "channels": ", ".join(map(_line, parts.channels)) or "default",
        "owner": parts.owner,
        "workspace": _line(parts.workspace) or "the current folder",
        "command_token": parts.command_token,
    }


def _changing(parts: PromptParts) -> Iterable[str]:
    if parts.now is not None:
        zone = f" ({_line(parts.tz)})" if parts.tz else ""
        yield f"## Now\n\nIt is {_DAYS[parts.now.weekday()]}, {parts.now:%Y-%m-%d %H:%M}{zone}."
    if parts.memory or _offered(parts.tools, _LOOKUP):
        yield f"## Recalled memory\n\n{parts.memory or _NOTHING}"
    if parts.skills:
        yield f"Skills among it: {', '.join(map(_line, parts.skills))}. They fit the command; use them."


def _offered(tools: frozenset[str], names: Iterable[str]) -> list[str]:
    """Those of the names that are offered, as they stand in a prompt."""
    return [f"`{name}`" for name in names if name in tools]


def _line(text: str) -> str:
    return fence_line(text, limit=_LONGEST)


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath("parts", f"{name}.md").read_text(encoding="utf-8").strip()
