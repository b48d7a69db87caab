"""Sets keys of one table of a TOML text by editing their lines; every other byte stays. Pure.

What comes out is parsed again and compared: an edit that would change anything else is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

_LONGEST_VALUE = 100  # lines
_HEADER = re.compile(r"\s*\[.*\]\s*(?:#.*)?$")


class NotEditable(Exception):
    """The text is no TOML, or the table is written in a form that can't be edited by line."""


def set_table(text: str, path: Sequence[str], values: dict[str, str | list[str]]) -> str:
    """`text` with these keys set in the table at `path` (plain names); other keys of it stay."""
    tables = _tables(text)
    table: dict[str, Any] = tables
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise NotEditable(f"{name!r} in it is not a table")
    for key, value in reversed(values.items()):  # each goes below the header, so the first one comes first
        if table.get(key) == value:
            continue
        table[key] = value
        text = _first_right(_candidates(text, path, key, f"{key} = {_as_toml(value)}"), tables, values)
    return text


def remove_table(text: str, path: Sequence[str]) -> str:
    """`text` without the table at `path` and the tables below it; the same text when there is none."""
    want = _tables(text)
    above = [want]
    for name in path[:-1]:
        inner = above[-1].get(name)
        above.append(inner if isinstance(inner, dict) else {})
    if path[-1] not in above[-1]:
        return text
    del above[-1][path[-1]]
    lines = text.splitlines(keepends=True)
    heads = [i for i, line in enumerate(lines) if _HEADER.match(line.rstrip("\r\n"))]
    for head, stop in reversed([*pairwise([*heads, len(lines)])]):
        if _header(lines[head : head + 1], path, below=True) is not None:
            while stop > head + 1 and not lines[stop - 1].split("#")[0].strip():
                stop -= 1  # what stands between two tables belongs to the next one
            start = head - 1 if head and not lines[head - 1].strip() else head
            del lines[start:stop]
    after = "".join(lines)
    # A table that holds nothing may be missing: its header may have been the one that went.
    if _without_empty(_tables(after)) != _without_empty(want):
        raise NotEditable(f"{'.'.join(path)} in it can't be taken out by line")
    return after


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: held for key, inner in value.items() if (held := _without_empty(inner)) != {}}


def _candidates(text: str, path: Sequence[str], key: str, written: str) -> list[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    head = _header(lines, path)
    if head is None:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        return [f"{text}{gap}[{'.'.join(path)}]{newline}{written}{newline}"]
    at = _key_line(lines, head, key)
    if at is None:
        before = lines[: head + 1]
        if not before[-1].endswith("\n"):
            before[-1] += newline
        return ["".join([*before, written + newline, *lines[head + 1 :]])]
    last = min(len(lines), at + _LONGEST_VALUE)
    return ["".join([*lines[:at], written + newline, *lines[stop:]]) for stop in range(at + 1, last + 1)]


def _header(lines: list[str], path: Sequence[str], *, below: bool = False) -> int | None:
    """The line of the table's header. `below`: a table inside it counts, too."""
    names = r"\s*\.\s*".join(
        rf"""(?:{re.escape(name)}|"{re.escape(name)}"|'{re.escape(name)}')""" for name in path
    )
    more = r"(?:\s*\..*)?" if below else ""
    pattern = re.compile(rf"\s*\[\s*{names}{more}\s*\]\s*(?:#.*)?$")
    return next((i for i, line in enumerate(lines) if pattern.match(line.rstrip("\r\n"))), None)


def _key_line(lines: list[str], head: int, key: str) -> int | None:
    for i in range(head + 1, len(lines)):
        if re.match(r"\s*\[[^\[\]]*\]\s*(?:#.*)?$", lines[i].rstrip("\r\n")):
            return None
        if re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", lines[i]):
            return i
    return None


def _first_right(candidates: list[str], tables: dict[str, Any], values: Mapping[str, Any]) -> str:
    """The first text that holds what is wanted; keys that are still to be set may be missing in it."""
    for text in candidates:
        try:
            if tomllib.loads(text) == tables:
                return text
        except tomllib.TOMLDecodeError:
            continue
    raise NotEditable(f"{', '.join(values)} in it can't be edited by line")


def _tables(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is not valid TOML: {error}") from error


def _as_toml(value: str | list[str]) -> str:
    # JSON strings are TOML strings, but for a delete character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
