"""Changes one member or one item of a JSON text by its lines; every other byte stays. Pure.

Takes JSON with comments and trailing commas too. What comes out is read again and compared: an edit that
would change anything else is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_SPACE = " \t\r\n"


class NotEditable(Exception):
    """The text is no JSON object, or of a form that can't be edited in place."""


class _Entry(NamedTuple):
    """A member of an object or an item of an array, and where it stands."""

    name: str  # "" of an item
    start: int  # of the name, or of the item
    value: int  # where its value begins
    end: int


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with the member at `path` set; missing objects on the way are made. "" counts as {}."""
    body = text.removeprefix("\ufeff")
    if not body.strip(_SPACE):
        nested = value
        for name in reversed(path):
            nested = {name: nested}
        return json.dumps(nested, indent=2, ensure_ascii=False) + "\n"
    plain, _ = _blanked(body)
    want = _parse(plain)
    if _put(want, path, value):
        return text
    return _compared(text, _edit(body, path, value), want)


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` added to the array at `path`, which is made where it is missing."""
    found = _found(read_members(text), path)
    if found is None or found == []:
        return set_member(text, path, [value])
    if not isinstance(found, list):
        raise NotEditable(f"{path[-1]!r} in it is not a list")
    body = text.removeprefix("\ufeff")
    plain, commented = _blanked(body)
    start = _start_of(plain, path)
    spans = [(entry.value, entry.end) for entry in _entries(plain, start)]
    one_line = "\n" not in body[start : spans[-1][1]]

    def write(indent: str) -> str:
        return json.dumps(value, ensure_ascii=False) if one_line else _render(value, indent, body)

    after = _insert(body, commented, start, spans, write)
    return _checked(text, after, path, [*found, value])


def remove_item(text: str, path: Sequence[str], index: int) -> str:
    """`text` without that item of the array at `path`; an array that is empty then stays as []."""
    found = _found(read_members(text), path)
    if not isinstance(found, list) or not 0 <= index < len(found):
        raise NotEditable(f"there is no item {index} in {'.'.join(path)!r}")
    body = text.removeprefix("\ufeff")
    after = _without(body, _start_of(_blanked(body)[0], path), index)
    return _checked(text, after, path, found[:index] + found[index + 1 :])


def remove_member(text: str, path: Sequence[str]) -> str:
    """`text` without the member at `path`; nothing happens when there is none."""
    members = read_members(text)
    outer = _found(members, path[:-1])
    if not isinstance(outer, dict) or path[-1] not in outer:
        return text
    body = text.removeprefix("\ufeff")
    plain, _ = _blanked(body)
    start = _start_of(plain, path[:-1])
    index = [entry.name for entry in _entries(plain, start)].index(path[-1])
    after = _without(body, start, index)
    del outer[path[-1]]
    return _compared(text, after, members)


def read_members(text: str) -> dict[str, Any]:
    """The object that `text` holds; {} when it is empty."""
    body = text.removeprefix("\ufeff")
    return _parse(_blanked(body)[0]) if body.strip(_SPACE) else {}


def _checked(text: str, after: str, path: Sequence[str], value: Any) -> str:
    want = read_members(text)
    _put(want, path, value)
    return _compared(text, after, want)


def _compared(text: str, after: str, want: dict[str, Any]) -> str:
    if _parse(_blanked(after)[0]) != want:
        raise NotEditable("it is written in a form that can't be edited in place")
    return text[: len(text) - len(text.removeprefix("\ufeff"))] + after


def _found(members: Any, path: Sequence[str]) -> Any:
    for name in path:
        members = members.get(name) if isinstance(members, dict) else None
    return members


def _start_of(plain: str, path: Sequence[str]) -> int:
    """Where the object or array at `path` opens; it is there."""
    start = len(plain) - len(plain.lstrip(_SPACE))
    for name in path:
        start = next(entry.value for entry in reversed(_entries(plain, start)) if entry.name == name)
    return start


def _parse(plain: str) -> dict[str, Any]:
    try:
        found = json.loads(plain, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise NotEditable(f"it is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise NotEditable("it holds no JSON object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _put(root: dict[str, Any], path: Sequence[str], value: Any) -> bool:
    """Set it in the parsed value. True when it was so already."""
    for name in path[:-1]:
        below = root.setdefault(name, {})
        if not isinstance(below, dict):
            raise NotEditable(f"{name!r} in it is not an object")
        root = below
    if path[-1] in root and root[path[-1]] == value:
        return True
    root[path[-1]] = value
    return False


def _edit(body: str, path: Sequence[str], value: Any) -> str:
    plain, commented = _blanked(body)
    start = len(plain) - len(plain.lstrip(_SPACE))
    for depth, name in enumerate(path):
        entries = _entries(plain, start)
        held = next((entry for entry in reversed(entries) if entry.name == name), None)
        if held is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            spans = [(entry.value, entry.end) for entry in entries]
            write = _member_writer(name, value, body)
            return _insert(body, commented, start, spans, write)
        if depth == len(path) - 1:
            indent = _indent_at(body, held.value)
            return body[: held.value] + _render(value, indent, body) + body[held.end :]
        start = held.value
    raise AssertionError("unreachable: a path has a name")


def _entries(plain: str, start: int) -> list[_Entry]:
    """The members of the object, or the items of the array, that opens at `start`."""
    decoder = json.JSONDecoder()
    is_object = plain[start] == "{"
    found: list[_Entry] = []
    at = _skip(plain, start + 1)
    while plain[at] not in "}]":
        name, begin = "", at
        if is_object:
            name, at = scanstring(plain, at + 1)
            at = _skip(plain, _skip(plain, at) + 1)
        _, end = decoder.raw_decode(plain, at)
        found.append(_Entry(name, begin, at, end))
        at = _skip(plain, end)
        if plain[at] == ",":
            at = _skip(plain, at + 1)
    return found


def _insert(
    body: str,
    commented: str,
    start: int,
    spans: Sequence[tuple[int, int]],  # of the values that are there
    write: Callable[[str], str],  # the new entry, at an indent
) -> str:
    """A new entry, after the last one; what is said beside that one stays beside it."""
    newline = "\r\n" if "\r\n" in body else "\n"
    if not spans:
        outer = _indent_at(body, start)
        inner = outer + _step(body)
        written = f"{newline}{inner}{write(inner)}"
        close = _skip(commented, start + 1)
        tail = (
            body[start + 1 :] if "\n" in body[start + 1 : close] else f"{newline}{outer}{body[start + 1 :]}"
        )
        return body[: start + 1] + written + tail
    last_start, end = spans[-1]
    indent = _indent_at(body, last_start)
    line_end = _line_end(commented, end)
    end_of_comma = _skip(commented, end) + 1
    has_comma = commented[end_of_comma - 1] == ","
    if has_comma:
        line_end = max(line_end, _line_end(commented, end_of_comma))
    comma = "" if has_comma else ","
    one_line = "\n" not in body[start:end]
    if one_line:
        rest = body[end_of_comma if has_comma else end :]
        return f"{body[:end]}, {write('')}{rest}"
    written = f"{newline}{indent}{write(indent)}"
    return body[:end] + comma + body[end:line_end] + written + body[line_end:]


def _without(body: str, start: int, index: int) -> str:
    """Without one entry of what opens at `start`, its comma, and the space that it took; comments stay."""
    plain, commented = _blanked(body)
    entries = _entries(plain, start)
    gone = entries[index]
    if index + 1 < len(entries):
        following = entries[index + 1].start
        between = body[gone.end : following]
        if between == commented[gone.end : following]:
            return body[: gone.start] + body[following:]
        comma = commented.index(",", gone.end)
        return body[: gone.start] + body[gone.end : comma] + body[comma + 1 :]
    before = body[: gone.start].rstrip(_SPACE)
    if index == 0:
        close = _skip(commented, gone.end)
        tidy = before == body[: start + 1] and body[gone.end : close].strip(_SPACE) == ""
        return before + body[close:] if tidy else before + body[gone.end :]
    comma = commented.rindex(",", 0, gone.start)
    return body[:comma] + body[comma + 1 : len(before)] + body[gone.end :]


def _member_writer(name: str, value: Any, body: str) -> Callable[[str], str]:
    return lambda indent: _member(name, value, indent, body)


def _member(name: str, value: Any, indent: str, body: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: {_render(value, indent, body)}"


def _render(value: Any, indent: str, body: str) -> str:
    lines = json.dumps(value, indent=_step(body), ensure_ascii=False).split("\n")
    return ("\r\n" if "\r\n" in body else "\n").join([lines[0], *(indent + line for line in lines[1:])])


def _step(body: str) -> str:
    """How far the file indents: what its first indented line has."""
    for line in body.splitlines():
        inner = line.lstrip(" \t")
        if inner and inner != line:
            return line[: len(line) - len(inner)]
    return "  "


def _indent_at(body: str, at: int) -> str:
    line = body[body.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(commented: str, at: int) -> int:
    """The end of the line, where nothing but space and comments follows on it; else `at` itself."""
    found = commented.find("\n", at)
    found = len(commented) if found < 0 else found
    if commented[at:found].strip(_SPACE + ","):
        return at
    return found - 1 if commented[found - 1 : found] == "\r" and found > at else found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _blanked(body: str) -> tuple[str, str]:
    """`body` without comments and trailing commas, and without comments alone; both of the same length."""
    kept = list(body)
    at = 0
    while at < len(body):
        if body[at] == '"':
            at = _string_end(body, at)
        elif body.startswith(("//", "/*"), at):
            end = _comment_end(body, at)
            kept[at:end] = [char if char in "\r\n" else " " for char in body[at:end]]
            at = end
        else:
            at += 1
    commented = "".join(kept)
    return _without_trailing_commas(commented), commented


def _without_trailing_commas(text: str) -> str:
    kept = list(text)
    at = 0
    while at < len(text):
        if text[at] == '"':
            at = _string_end(text, at)
            continue
        if text[at] == "," and text[_skip(text, at + 1) : _skip(text, at + 1) + 1] in ("}", "]"):
            kept[at] = " "
        at += 1
    return "".join(kept)


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _comment_end(text: str, at: int) -> int:
    end = text.find("\n" if text[at + 1] == "/" else "*/", at + 2)
    if end < 0:
        return len(text)
    return end if text[at + 1] == "/" else end + 2
