"""JSON out of a model: found in its answer, held against a schema, asked for again when it is wrong.

Finding and checking are pure. Of JSON schema this knows: type, enum, properties, required,
additionalProperties, items, minItems, maxItems, minimum, maximum, minLength and maxLength; other words of a
schema are advice for the model alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from hindbrain.base.errors import ModelError
from hindbrain.models.chat import ChatMessage, ChatRequest, whole_or_cut

if TYPE_CHECKING:
    from hindbrain.models.chat import ChatModel

_MOST_NAMED = 5  # what a model is told at once; it mends one thing after the other anyway
_MOST_SHOWN = 2_000  # characters of a wrong answer that are shown to its model again
_FENCED = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_OPENS = re.compile(r"[{\[]")
_TOO_LONG = "the answer was cut off before it was whole: make it shorter"


def ask_for(
    chat: ChatModel,
    messages: Sequence[ChatMessage],
    schema: Mapping[str, Any],
    *,
    max_tokens: int,
    tries: int = 2,
    check: Callable[[Any], str] | None = None,
) -> Any:
    """The value that the model answers with, as the schema has it.

    `check` says what else is wrong with it; "" is nothing. A wrong answer is asked for again, with what was
    wrong. ModelError when the last try is wrong too, and whatever the model raises at once.
    """
    wrong = ""
    asked = list(messages)
    for _ in range(max(1, tries)):
        answer = whole_or_cut(chat, ChatRequest(tuple(asked), schema=schema, max_tokens=max_tokens))
        value, wrong = _read(answer.text, schema, check)
        if answer.stop == "length":
            wrong = _TOO_LONG
        if not wrong:
            return value
        asked = [*messages, *_again(answer.text, wrong, schema)]
    raise ModelError(f"{chat.name!r} did not answer as asked: {wrong}")


def json_in(text: str) -> Any:
    """The one JSON value of an answer, with a code fence or prose around it or not.

    ModelError when there is none, when it is not whole, or when there are several.
    """
    try:
        return _parsed(text)
    except ValueError:
        pass
    fenced = [match[1] for match in _FENCED.finditer(text)]
    places = fenced if len(fenced) == 1 else [text]
    opening = _OPENS.search(places[0])
    if opening is None:
        raise ModelError(f"the model's answer of {len(text)} characters holds no JSON")
    try:
        # Only from the first bracket: a later one would be a piece of what is broken.
        value, end = _DECODER.raw_decode(places[0], opening.start())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"the model's answer of {len(text)} characters is no whole JSON") from error
    if _OPENS.search(places[0], end):
        raise ModelError("the model's answer holds more than one JSON value")
    return value


def problems(value: Any, schema: Mapping[str, Any], at: str = "$") -> Iterator[str]:
    """What of the value is not as the schema has it, each with its place: "$.facts[2].day is missing"."""
    wanted = schema.get("type")
    kinds = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{at} must be of type {' or '.join(kinds)}, not {_shown(value)}"
        return
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        yield f"{at} must be one of {_shown(schema['enum'], 200)}, not {_shown(value)}"
    if isinstance(value, str):
        yield from _size(len(value), schema, at, "Length", "characters")
    elif isinstance(value, dict):
        yield from _of_object(value, schema, at)
    elif isinstance(value, list):
        yield from _size(len(value), schema, at, "Items", "items")
        for index, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{at}[{index}]")
    elif _is(value, "number"):
        yield from _limits(value, schema, at)


def _read(text: str, schema: Mapping[str, Any], check: Callable[[Any], str] | None) -> tuple[Any, str]:
    """The value, and what is wrong with it."""
    try:
        value = json_in(text)
    except ModelError as error:
        return None, str(error)
    found = list(problems(value, schema))
    if not found and check is not None:
        return value, check(value)
    return value, "; ".join(found[:_MOST_NAMED])


def _again(answer: str, wrong: str, schema: Mapping[str, Any]) -> tuple[ChatMessage, ChatMessage]:
    told = json.dumps(schema, ensure_ascii=False)
    order = "Answer again, with JSON alone that follows this schema:"
    return (
        ChatMessage("assistant", answer[:_MOST_SHOWN] or "(nothing)"),
        ChatMessage("user", f"That answer can't be used: {wrong}.\n{order}\n{told}"),
    )


def _of_object(value: Mapping[str, Any], schema: Mapping[str, Any], at: str) -> Iterator[str]:
    known: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}.{name} is missing"
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        place = f"{at}.{name[:60]}"
        if name in known:
            yield from problems(item, known[name], place)
        elif others is False:
            yield f"{place} is not asked for"
        elif isinstance(others, Mapping):
            yield from problems(item, others, place)


def _size(size: int, schema: Mapping[str, Any], at: str, what: str, unit: str) -> Iterator[str]:
    low, high = schema.get(f"min{what}", 0), schema.get(f"max{what}", size)
    if size < low:
        yield f"{at} has {size} {unit}; it must have at least {low}"
    if size > high:
        yield f"{at} has {size} {unit}; it may have at most {high}"


def _limits(value: float, schema: Mapping[str, Any], at: str) -> Iterator[str]:
    if value < schema.get("minimum", value):
        yield f"{at} is {value}; it must be at least {schema['minimum']}"
    if value > schema.get("maximum", value):
        yield f"{at} is {value}; it may be at most {schema['maximum']}"


def _is(value: Any, kind: str) -> bool:
    if kind == "integer":
        return _is(value, "number") and value == int(value)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, _TYPES[kind])


def _same(value: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _shown(value: Any, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}..."


def _parsed(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError(f"{digits} is beyond every number")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_TYPES: Mapping[str, type] = {
    "string": str,
    "object": dict,
    "array": list,
    "boolean": bool,
    "null": type(None),
}
