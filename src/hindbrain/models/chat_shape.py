"""What is alike in the shapes of all chat services: the two halves of one, and how a stranger's word is read.

Values and pure functions. Each service's own shape is in its own module; who sends it is `chat_remote`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hindbrain.base.errors import ModelError
from hindbrain.models.chat import ChatAnswer, ChatMessage, ChatRequest, Image, Stop, ToolCall
from hindbrain.models.chat_manner import Format, Manner
from hindbrain.models.http import RETRY_STATUS

EMPTY = "(empty)"  # services refuse a message without a word
MADE_ID = "made-"  # ids of calls that came without one
_OVERLOADED = frozenset({
    "api_error", "overloaded_error", "rate_limit_error", "rate_limit_exceeded", "server_error",
})  # fmt: skip


class ServiceFailed(Exception):
    """A service broke off. Its words may hold anything, a key too: they are for whoever can clean them."""

    def __init__(self, said: str, status: int = 0, passes: bool = False) -> None:
        super().__init__("the service broke off")
        self.said = said
        self.status = status
        self.passes = passes  # asked again, it may go well


class Fold(Protocol):
    """One answer as it comes in. Pure. `take` may raise any error of shape (KeyError, TypeError, ...), and
    ServiceFailed."""

    ended: bool  # the answer is whole
    done: bool  # and nothing follows

    def take(self, data: Mapping[str, Any]) -> str:
        """One event; returns the text that it adds."""
        ...

    def answer(self) -> ChatAnswer: ...


class Shape(NamedTuple):
    """How one kind of service is asked, and how it answers."""

    path: Callable[[str], str]  # of a model, below the service's address
    payload: Callable[[str, ChatRequest, Manner], dict[str, object]]
    fold: Callable[[str], Fold]  # for a model
    formats: tuple[Format, ...] = ("schema", "object", "plain")  # from the strictest


def whole(text: str) -> str:
    """Without half characters, which JSON can't carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def base64_of(image: Image) -> str:
    return base64.b64encode(image.data).decode("ascii")


def without_system(messages: Sequence[ChatMessage]) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """What comes first and is the system's, and the rest; a system's word in the middle is a user's there."""
    at = next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))
    rest = [m._replace(role="user") if m.role == "system" else m for m in messages[at:]]
    return list(messages[:at]), rest


def read_call(id: object, name: object, arguments: object, sealed: str = "") -> ToolCall:
    """A call whose arguments came as text or as an object; no text at all is no arguments."""
    if isinstance(arguments, str):
        try:
            read = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            read = None
    else:
        read = {} if arguments is None else arguments
    if isinstance(read, dict):
        return ToolCall(str(id), str(name), read, sealed=sealed)
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(id), str(name), {}, raw, sealed)


def numbered(answer: ChatAnswer, messages: Sequence[ChatMessage]) -> ChatAnswer:
    """With an id for each call that none before it has, in this answer or in the conversation."""
    taken = {call.id for message in messages for call in message.calls}
    calls = []
    for call in answer.calls:
        id, number = call.id, len(taken)
        while not id or id in taken:
            number += 1
            id = f"{MADE_ID}{number}"
        taken.add(id)
        calls.append(call._replace(id=id))
    return answer._replace(calls=tuple(calls))


def ended(reason: object, stops: Mapping[str, Stop], answer: ChatAnswer) -> ChatAnswer:
    """With its stop. ModelError when a service stops for a reason that we do not know, and says nothing."""
    stop = stops.get(str(reason))
    if stop in ("length", "refused"):
        return answer._replace(stop=stop)
    if answer.calls:
        return answer._replace(stop="calls")
    if stop is None and not answer.text:
        raise ModelError(f"the model said nothing, and stopped for the reason {reason!r}")
    return answer._replace(stop="end")


def count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def part(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = usage.get(name)
    return value if isinstance(value, Mapping) else {}


def failure(error: object) -> ServiceFailed:
    """What a service says in the place of an answer, or in the middle of one."""
    told = error if isinstance(error, Mapping) else {}
    code = told.get("code")
    status = code if isinstance(code, int) else 0
    passes = status in RETRY_STATUS or told.get("type") in _OVERLOADED
    return ServiceFailed(str(told.get("message") or error), status, passes)


def seal(service: str, model: str, content: object) -> str:
    return json.dumps({"service": service, "model": model, "content": content})


def unsealed(call: ToolCall, service: str, model: str) -> Any:
    """What that model sealed; None for what another one did: it would be refused."""
    try:
        found = json.loads(call.sealed) if call.sealed else {}
    except ValueError:
        return None
    mine = isinstance(found, dict) and (found.get("service"), found.get("model")) == (service, model)
    return found.get("content") if mine else None
