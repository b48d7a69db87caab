"""What a tool is: declared once, as data. MCP schemas, help and docs are derived from the declaration.

Owns the check of arguments: whatever a model sends is either a clean mapping or a UsageError that names the
argument; and how a failure is told to a model. Knows no tool and no protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from hindbrain.base.errors import Ambiguous, HindbrainError, NoteChanged, UsageError
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

Kind: TypeAlias = Literal["string", "integer", "number", "boolean", "array"]
Effect: TypeAlias = Literal["read", "add", "change", "remove", "send"]
Arguments: TypeAlias = Mapping[str, Any]  # checked: only declared names, values of the declared kind

_MAX_BYTES = 1_000_000  # of one text
_SHOWN_HASH = 16  # hex digits; what a model is shown it pays for, and 64 bits tell versions of a note apart
_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of texts",
}
_ADVICE = {
    "fix": "Fix the arguments and try again.",
    "again": "Try again in a moment.",
    "stop": "Stop and tell the user.",
}


class Param(NamedTuple):
    """One argument. An optional text that is empty, and a value that is null, counts as not given."""

    name: str
    kind: Kind
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()  # of a string, or of the items of an array (whose items are strings)
    minimum: float | None = None
    maximum: float | None = None
    also: tuple[str, ...] = ()  # spellings that other hosts use; accepted, not declared
    declared: bool = True  # False: only accepted, since every word of a schema is paid for
    exact: bool = False  # of an array: its items as they are sent, empty ones too


class Declared(Protocol):
    """What arguments are checked against: any tool's name and parameters."""

    @property
    def name(self) -> str: ...

    @property
    def params(self) -> tuple[Param, ...]: ...


class ToolResult(NamedTuple):
    """Text for the model first; the same as data for programs."""

    text: str
    data: Mapping[str, Any]


class Tool(NamedTuple):
    """One verb."""

    name: str
    doc: str
    params: tuple[Param, ...]
    effect: Effect
    handler: Callable[[Memory, Arguments], ToolResult]


def input_schema(tool: Declared) -> dict[str, Any]:
    """The JSON schema of the arguments, as short as it can be said."""
    shown = [param for param in tool.params if param.declared]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {param.name: _property(param) for param in shown},
    }
    required = [param.name for param in shown if param.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def _property(param: Param) -> dict[str, Any]:
    found: dict[str, Any] = {"type": param.kind}
    if param.kind == "array":
        found["items"] = {"type": "string"}
    if param.choices:
        (found["items"] if param.kind == "array" else found)["enum"] = list(param.choices)
    limits = {"minimum": param.minimum, "maximum": param.maximum}
    found |= {name: limit for name, limit in limits.items() if limit is not None}
    if param.doc:
        found["description"] = param.doc
    return found


def listed_tool(tool: Tool) -> dict[str, Any]:
    """A tool as hosts list it to a model: what every session pays for."""
    return {"name": tool.name, "description": tool.doc, "inputSchema": input_schema(tool)}


def check_arguments(tool: Declared, args: Mapping[str, Any] | None) -> Arguments:
    """Raises UsageError for what is unknown, missing, or not what was declared."""
    given: Mapping[str, Any] = {} if args is None else args
    if not isinstance(given, Mapping):
        raise UsageError(f"{tool.name} takes named arguments, not {type(args).__name__}")
    known = {name: param for param in tool.params for name in (param.name, *param.also)}
    checked: dict[str, Any] = {}
    for name, value in given.items():
        param = known.get(name)
        if param is None:
            raise UsageError(_unknown(tool, str(name), list(known)))
        if param.name in checked:
            raise UsageError(f"{tool.name}: {param.name!r} is given twice, once as {name!r}; give it once")
        if value is None or (value in ("", []) and not param.required):
            continue
        checked[param.name] = _checked(tool, param, value)
    missing = [param.name for param in tool.params if param.required and param.name not in checked]
    if missing:
        raise UsageError(f"{tool.name} needs {' and '.join(map(repr, missing))}")
    return checked


def _unknown(tool: Declared, name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, 1, 0.5)
    declared = ", ".join(param.name for param in tool.params if param.declared) or "no arguments"
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {declared}"
    return f"{tool.name} has no argument {_shown(name)}; {hint}"


def _checked(tool: Declared, param: Param, value: Any) -> Any:
    read = _read_exact_list if param.exact else _READERS[param.kind]
    clean = read(value)
    if clean is None:
        what = _KINDS[param.kind]
        raise UsageError(f"{tool.name}: {param.name!r} must be {what}, not {_shown(value)}")
    if isinstance(clean, str):
        clean = _checked_text(tool, param, clean)
    elif isinstance(clean, list):
        clean = tuple(_checked_text(tool, param, item) for item in clean)
    else:
        _check_limits(tool, param, clean)
    return clean


def _checked_text(tool: Declared, param: Param, text: str) -> str:
    name = f"{tool.name}: {param.name!r}"
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise UsageError(f"{name} holds half a character (a lone surrogate); send valid Unicode") from None
    if "\0" in text:
        raise UsageError(f"{name} holds a NUL character; send text")
    if size > _MAX_BYTES:
        raise UsageError(
            f"{name} is {size:,} bytes long; at most {_MAX_BYTES:,} are taken at once: send parts"
        )
    if param.required and not text.strip():
        raise UsageError(f"{name} is empty; give it")
    if param.choices:
        folded = text.strip().lower()
        if folded not in param.choices:
            raise UsageError(f"{name} must be one of {', '.join(param.choices)}, not {_shown(text)}")
        return folded
    return text


def _check_limits(tool: Declared, param: Param, value: float) -> None:
    low, high = param.minimum, param.maximum
    if (low is None or value >= low) and (high is None or value <= high):
        return
    limits = (
        f"from {low:g} to {high:g}"
        if low is not None and high is not None
        else (f"{low:g} or more" if low is not None else f"{high:g} or less")
    )
    raise UsageError(f"{tool.name}: {param.name!r} must be {limits}, not {value}")


def _read_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _read_integer(value: Any) -> int | None:
    """Models send "5" and 5.0 for 5; nothing else that is not a whole number is taken for one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        digits = value.strip().removeprefix("-")
        return int(value) if digits.isascii() and digits.isdecimal() and len(digits) <= 18 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def _read_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    # NaN differs from itself; an infinity differs from what is left of it.
    return number if number - number == 0 else None


def _read_boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _read_list(value: Any) -> list[str] | None:
    """A list; also one that was sent as text, in JSON or with commas, as some hosts do."""
    if isinstance(value, str):
        value = _list_in(value)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return None
    return [item for item in value if item.strip()]


def _read_exact_list(value: Any) -> list[str] | None:
    """A list, or one in JSON; commas are left alone."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _list_in(value)
    is_list = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return list(value) if is_list else None


def _list_in(text: str) -> Any:
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",")]
    from json import loads

    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "string": _read_text,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "array": _read_list,
}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def call(memory: Memory, tool: Tool, args: Mapping[str, Any] | None) -> ToolResult:
    """Check the arguments and do it. Errors stay exceptions; an edge tells them with `failure_text`."""
    with action(tool.name, via="tool"):
        return tool.handler(memory, check_arguments(tool, args))


def short_hash(digest: str) -> str:
    """The part of a note's hash that a model is shown, and sends back."""
    return digest[:_SHOWN_HASH]


def failure_text(error: Exception) -> str:
    """What went wrong and what to do about it, for a model. A bug shows nothing of its inside."""
    if not isinstance(error, HindbrainError):
        return f"error (internal): {type(error).__name__} inside Hindbrain. {_ADVICE['stop']}"
    message = str(error).rstrip(" .")
    parts = [f"error ({error.code}): {message}{'' if message.endswith(('?', '!')) else '.'}"]
    if isinstance(error, NoteChanged) and error.current_hash:
        parts.append(f"Current hash: {short_hash(error.current_hash)}.")
    if isinstance(error, Ambiguous):
        unsaid = [name for name in error.candidates if name not in message]
        if unsaid:
            parts.append(f"Candidates: {', '.join(unsaid)}.")
    parts.append(_ADVICE[error.advice])
    return " ".join(parts)
