"""Sets one member of a JSON text by inserting or replacing its lines; every other byte stays. Pure.

Takes JSON with comments and trailing commas too. What comes out is read again and compared: an edit that
would change anything else is refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_SPACE = " \t\r\n"


class NotEditable(Exception):
    """The text is no JSON object, or of a form that can't be edited in place."""


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
    after = _edit(body, path, value)
    if _parse(_blanked(after)[0]) != want:
        raise NotEditable("it is written in a form that can't be edited in place")
    return text[: len(text) - len(body)] + after


def read_members(text: str) -> dict[str, Any]:
    """The object that `text` holds; {} when it is empty."""
    body = text.removeprefix("\ufeff")
    return _parse(_blanked(body)[0]) if body.strip(_SPACE) else {}


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
        members = _members(plain, start)
        if name not in members:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(body, commented, start, members, name, value)
        span = members[name]
        if depth == len(path) - 1:
            indent = _indent_at(body, span[0])
            return body[: span[0]] + _render(value, indent, body) + body[span[1] :]
        start = span[0]
    raise AssertionError("unreachable: a path has a name")


def _members(plain: str, start: int) -> dict[str, tuple[int, int]]:
    """Where the value of each member of the object at `start` begins and ends; the last of equal names."""
    decoder = json.JSONDecoder()
    found: dict[str, tuple[int, int]] = {}
    at = _skip(plain, start + 1)
    while plain[at] != "}":
        name, at = scanstring(plain, at + 1)
        at = _skip(plain, _skip(plain, at) + 1)
        _, end = decoder.raw_decode(plain, at)
        found[name] = (at, end)
        at = _skip(plain, end)
        if plain[at] == ",":
            at = _skip(plain, at + 1)
    return found


def _insert(
    body: str, commented: str, start: int, members: dict[str, tuple[int, int]], name: str, value: Any
) -> str:
    """A new member, after the last one; what is said beside that one stays beside it."""
    newline = "\r\n" if "\r\n" in body else "\n"
    if not members:
        outer = _indent_at(body, start)
        inner = outer + _step(body)
        written = f"{newline}{inner}{_member(name, value, inner, body)}"
        close = _skip(commented, start + 1)
        tail = (
            body[start + 1 :] if "\n" in body[start + 1 : close] else f"{newline}{outer}{body[start + 1 :]}"
        )
        return body[: start + 1] + written + tail
    last_start, end = list(members.values())[-1]
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
        return f"{body[:end]}, {_member(name, value, '', body)}{rest}"
    written = f"{newline}{indent}{_member(name, value, indent, body)}"
    return body[:end] + comma + body[end:line_end] + written + body[line_end:]


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
