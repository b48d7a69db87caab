"""What a run's transcript is made of: one value for each thing that happened, and the JSON of its line.

    {"type":"answered","at":1763286000.1,"spent":4.2,"answer":{"text":"I look.","calls":[...]}}

Values and pure functions. A picture is a file of its own, and the line has its name. What is callable is left
out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from hindbrain.agent.run import RunRequest
from hindbrain.agent.safety.approval import Decision
from hindbrain.agent.tools.tool import Result
from hindbrain.agent.verify.check import Check
from hindbrain.models.chat import ChatAnswer, Image, Usage


class Begun(NamedTuple):
    """A command, as it was given."""

    request: RunRequest
    at: float = 0.0  # seconds since the epoch
    spent: float = 0.0  # seconds that the run has taken so far, without pauses


class Prepared(NamedTuple):
    """What the model is told before the command."""

    stable: str  # the part of the system's words that is the same in every run
    changing: str  # the rest: the date, what was recalled
    recalled: tuple[str, ...] = ()  # ids and paths of what memory entered the prompt
    tokens: int = 0  # that the memory takes
    heard: str = ""  # whose word that is, at the least; "" when nothing was recalled
    checks: tuple[Check, ...] = ()  # of the skills that fit
    at: float = 0.0
    spent: float = 0.0
    screen: tuple[Image, ...] = ()  # as it is when the command comes; () without desktop tools


class Opened(NamedTuple):
    """An iteration begins."""

    number: int  # from 1
    at: float = 0.0
    spent: float = 0.0


class Answered(NamedTuple):
    """What the model said."""

    answer: ChatAnswer
    at: float = 0.0
    spent: float = 0.0


class Decided(NamedTuple):
    """A person's word for a call."""

    call: str
    digest: str  # of the call as it was shown
    decision: Decision
    grant: str = ""  # what it allows for the rest of the run
    at: float = 0.0
    spent: float = 0.0


class Started(NamedTuple):
    """A call that may change something is about to be carried out."""

    call: str
    at: float = 0.0
    spent: float = 0.0


class Returned(NamedTuple):
    """What a call came to."""

    call: str
    result: Result
    refused: bool = False  # it was not carried out, since it may not be
    at: float = 0.0
    spent: float = 0.0


class Judged(NamedTuple):
    """The model said that it was done: is it so?"""

    passed: bool
    score: int | None = None
    reasons: tuple[str, ...] = ()
    feedback: str = ""  # what the model is told when it is not
    mendable: bool = True  # more work could change it
    usage: Usage = Usage()  # that a judge took
    by_default: bool = False  # nothing was to be checked: the default verification, which rejects nothing
    at: float = 0.0
    spent: float = 0.0


class Advised(NamedTuple):
    """Something that the model is told so that it goes on better."""

    text: str
    at: float = 0.0
    spent: float = 0.0


class Closed(NamedTuple):
    """An iteration is over."""

    at: float = 0.0
    spent: float = 0.0


class Ended(NamedTuple):
    """The run is over, and its iteration with it."""

    end: Literal["complete", "fail", "stuck", "cancelled"]
    reason: str = ""
    blameless: bool = False  # the model's service failed: it says nothing of how the work was done
    unproven: bool = False  # it says that it is done, and something speaks against it: it teaches nothing
    at: float = 0.0
    spent: float = 0.0


Entry: TypeAlias = (
    Begun | Prepared | Opened | Answered | Decided | Started | Returned | Judged | Advised | Closed | Ended
)
_KINDS: Mapping[str, type[Entry]] = {
    kind.__name__.lower(): kind
    for kind in (
        Begun, Prepared, Opened, Answered, Decided, Started, Returned, Judged, Advised, Closed, Ended
    )
}  # fmt: skip


def as_json(entry: Entry) -> dict[str, Any]:
    """The entry's line; pictures by the names of their files, see `images_in`."""
    return {"type": type(entry).__name__.lower(), **_told(entry)}


def entry_of(told: object, load: Callable[[str], bytes]) -> Entry | None:
    """What a line says; None for what this version does not know. `load` gives a picture's bytes."""
    kind = _KINDS.get(str(told.get("type"))) if isinstance(told, dict) else None
    if kind is None:
        return None
    try:
        entry: Entry = _made(kind, told, load)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
    return entry


def images_in(value: object) -> list[Image]:
    """All pictures in an entry, wherever they stand."""
    if isinstance(value, Image):
        return [value]
    inner = value if isinstance(value, tuple) else ()
    return [image for one in inner for image in images_in(one)]


def image_name(image: Image) -> str:
    """Of its file: the same picture is kept once."""
    kind = "".join(letter for letter in image.kind.rpartition("/")[2] if letter.isalnum())[:8] or "bin"
    return f"{hashlib.sha256(image.data).hexdigest()[:24]}.{kind}"


def _told(value: Any) -> Any:
    if isinstance(value, Image):
        return {"file": image_name(value), "kind": value.kind}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        usual: Mapping[str, Any] = getattr(value, "_field_defaults", {})
        fields = zip(value._fields, value, strict=True)
        return {
            name: _told(inner)
            for name, inner in fields
            if not callable(inner) and (name not in usual or inner != usual[name])
        }
    if isinstance(value, Mapping):
        return {str(name): _told(inner) for name, inner in value.items()}
    return [_told(inner) for inner in value] if isinstance(value, tuple | list) else value


def _made(kind: Any, told: Any, load: Callable[[str], bytes]) -> Any:
    """The value of a type of ours that JSON tells. Raises TypeError, ValueError for what is none."""
    if kind is Image:
        return Image(load(told["file"]), told["kind"])
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = _hints(kind)
        return kind(
            **{name: _made(hint, told[name], load) for name, hint in hints.items() if name in told}
        )  # fmt: skip
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        values = [_made(inner, one, load) for one in told]
        # A picture that is gone costs the conversation no more than itself.
        return tuple(one for one in values if not (isinstance(one, Image) and not one.data))
    if get_origin(kind) in (Union, UnionType) and told is not None:
        return _made(next(one for one in get_args(kind) if one is not type(None)), told, load)
    if kind in (str, int, float, bool) and not isinstance(told, (int, float) if kind is float else kind):
        raise TypeError(f"{told!r} is not {kind.__name__}")
    return told


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
