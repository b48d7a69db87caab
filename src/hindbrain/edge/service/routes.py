"""What plugins can ask for: one table of routes, each with its fields, its time and what answers it.

Knows neither sockets nor threads. `docs/service.md` describes each route.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import UsageError
from hindbrain.edge.arguments import Arguments, checked_fields
from hindbrain.edge.service import answers
from hindbrain.memory.tools.tool import Param, check_arguments
from hindbrain.vault.items.category import CATEGORIES

if TYPE_CHECKING:
    from hindbrain.app import App

# "memory": where the warm index is; "intake": plain files, never behind a search or a first index.
Lane: TypeAlias = Literal["memory", "intake"]

_EVENTS = ("session-start", "compacted", "reset", "session-end")
USUAL_BYTES = 1_000_000
_LARGE_BYTES = (
    8_000_000  # a log that was pasted; what was said in a turn, tool results included; a flush file
)


class Route(NamedTuple):
    """`check` raises UsageError; what it returns is what `do` gets."""

    check: Callable[[Mapping[str, object]], Arguments]
    do: Callable[[App, Arguments], answers.Result]
    patience_s: float
    lane: Lane = "memory"
    most_bytes: int = USUAL_BYTES
    method: str = "POST"
    needs_vault: bool = True  # False: also while the vault is away, once it was open


class _Fields(NamedTuple):
    name: str
    params: tuple[Param, ...]


_SAVED = _Fields(
    "save",
    (
        Param("text", "string", "", required=True),
        Param("category", "string", "", choices=CATEGORIES),
        Param("importance", "number", "", minimum=0, maximum=1),
        Param("tags", "array", ""),
        Param("cues", "array", ""),
        Param("replaces", "string", ""),
    ),
)


def _as_tool(route: str, name: str) -> Callable[[Mapping[str, object]], Arguments]:
    """The arguments of a tool. What is wrong is told of the route and its fields, as they were sent."""

    def check(given: Mapping[str, object]) -> Arguments:
        from hindbrain.memory.tools import tool_named

        params = {_as_sent(param, given): param for param in tool_named(name).params}
        found = check_arguments(_Fields(route, tuple(params)), given)
        ours = {sent.name: param.name for sent, param in params.items()}
        return {ours[field]: value for field, value in found.items()}

    return check


def _as_sent(param: Param, given: Mapping[str, object]) -> Param:
    """Under the name that whoever asks uses; one that was not sent, under the name that hosts use."""
    names = (*param.also[:1], param.name, *param.also[1:])
    sent = [name for name in names if name in given] or names[:1]
    return param._replace(name=sent[0], also=tuple(sent[1:]), declared=True)


def _fields(
    name: str, needs: Mapping[str, str], may: Mapping[str, str] | None = None
) -> Callable[[Mapping[str, object]], Arguments]:
    def check(given: Mapping[str, object]) -> Arguments:
        found = checked_fields(name, needs, may or {}, given)
        for field in ("session", "event", "path"):
            if field in needs and not found[field].strip():
                raise UsageError(f"{name}: {field!r} is empty; give it")
        if "event" in found and found["event"] not in _EVENTS:
            raise UsageError(f"{name}: 'event' must be one of {', '.join(_EVENTS)}")
        for item in (*found.get("messages", ()), *found.get("recent", ())):
            answers.message_of(item)
        return found

    return check


ROUTES: Mapping[str, Route] = {
    "status": Route(_fields("status", {}), answers.status, 2.0, "intake", method="GET"),
    "search": Route(_as_tool("search", "memory_search"), answers.search, 3.0),
    "read": Route(_as_tool("read", "memory_get"), answers.read, 3.0),
    "save": Route(lambda given: check_arguments(_SAVED, given), answers.save, 3.0),
    "context": Route(
        _fields("context", {"session": "text", "message": "text"}, {"recent": "messages", "tool": "text"}),
        answers.context,
        1.5,
        most_bytes=_LARGE_BYTES,
    ),
    "card": Route(_fields("card", {}), answers.card, 1.5),
    "said": Route(
        _fields("said", {"session": "text", "messages": "messages"}, {"workspace": "text"}),
        answers.said,
        2.0,
        "intake",
        _LARGE_BYTES,
        needs_vault=False,
    ),
    "event": Route(
        _fields("event", {"session": "text", "event": "text"}, {"reason": "text", "workspace": "text"}),
        answers.event,
        1.0,
        "intake",
    ),
    "flush-plan": Route(
        _fields("flush-plan", {}, {"workspace": "text", "preserveLocal": "flag"}),
        answers.flush_plan,
        1.5,
        "intake",
    ),
    "flushed": Route(
        _fields("flushed", {"session": "text", "path": "text", "text": "text"}),
        answers.flushed,
        3.0,
        "intake",
        _LARGE_BYTES,
    ),
}
