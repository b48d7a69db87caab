"""What a caller sends by name: checked once, against what is declared. Knows neither verbs nor routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from hindbrain.base.errors import UsageError

if TYPE_CHECKING:
    from hindbrain.context.messages import Message

Arguments: TypeAlias = Mapping[str, Any]  # checked: only declared names, values of the declared kind

_KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "text": ("a text", lambda value: isinstance(value, str)),
    "number": (
        "a number that is not negative",
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9,
    ),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "texts": (
        "a list of texts",
        lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    ),
    "messages": (
        "a list of messages",
        lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    ),
}


def checked_fields(
    what: str, needs: Mapping[str, str], may: Mapping[str, str], given: Mapping[str, object]
) -> Arguments:
    """The arguments of `what`, if each is declared (name to kind) and those in `needs` are there.

    Raises UsageError.
    """
    kinds = {**needs, **may}
    if unknown := sorted(set(given) - set(kinds)):
        takes = ", ".join(kinds) or "none"
        raise UsageError(f"{what} has no argument {unknown[0]!r}; it takes: {takes}")
    for name, value in given.items():
        kind, fits = _KINDS[kinds[name]]
        if not fits(value):
            raise UsageError(f"{what}: {name!r} must be {kind}, not {type(value).__name__}")
    if missing := [name for name in needs if name not in given]:
        raise UsageError(f"{what} needs {' and '.join(map(repr, missing))}")
    return given


def parse_message(item: Mapping[str, Any]) -> Message:
    """One message of a conversation, as its fields are named in `Message`."""
    from hindbrain.context.messages import Message, Role

    defaults = Message("user", "")._asdict()
    if unknown := sorted(set(item) - set(defaults)):
        raise UsageError(f"a message has no field {unknown[0]!r}; it has: {', '.join(defaults)}")
    for name, value in item.items():
        wanted = type(defaults[name])
        if not (isinstance(value, wanted) or (wanted is float and type(value) is int)):
            raise UsageError(f"a message's {name!r} must be {wanted.__name__}, not {type(value).__name__}")
    if item.get("role") not in get_args(Role):
        raise UsageError(f"a message's role must be one of {', '.join(get_args(Role))}")
    return Message(**{**defaults, **item})
