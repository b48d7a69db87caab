"""Sets or removes one key of a TOML text by editing its line; every other byte stays. Pure.

What comes out is parsed again and compared: an edit that would change anything else is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from hindbrain.base.config import Value
from hindbrain.base.errors import ConfigError

_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?$")
_ANY_SECTION = re.compile(r"\s*\[")
_STRING_OR_COMMENT = re.compile(r'''"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\])*"|'{3}.*?'{3}|'[^']*'|#''')
_LONGEST_VALUE = 200  # lines


def set_key(text: str, name: str, value: Value) -> str:
    """The text with `section.key` set. ConfigError when the file is too unusual to be edited by line."""
    section, _, key = name.partition(".")
    plain = list(value) if isinstance(value, tuple) else value
    want = _tables(text)
    want.setdefault(section, {})[key] = plain
    written = f"{key} = {_as_toml(value)}"
    return _first_right(_settings_of(text, section, key, written), want, name)


def unset_key(text: str, name: str) -> str:
    """The text without `section.key`; unchanged when it is not there."""
    section, _, key = name.partition(".")
    want = _tables(text)
    if key not in want.get(section, {}):
        return text
    del want[section][key]
    if f"[{section}]" not in text.replace(" ", "") and not want[section]:
        del want[section]
    return _first_right(_settings_of(text, section, key, None), want, name)


def _settings_of(text: str, section: str, key: str, written: str | None) -> list[str]:
    """Every text that might be the right one: the value may stretch over several lines."""
    lines = text.splitlines(keepends=True)
    at = _find(lines, section, key)
    if at is not None:
        start, dotted = at
        line = None if written is None else (f"{section}.{written}" if dotted else written)
        return [
            _replaced(lines, start, stop, line)
            for stop in range(start + 1, min(len(lines), start + _LONGEST_VALUE) + 1)
        ]
    if written is None:
        return []
    head = _find_section(lines, section)
    if head is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return [f"{text}{gap}[{section}]\n{written}\n"]
    before = lines[: head + 1]
    if not before[-1].endswith("\n"):
        before[-1] += "\n"
    return ["".join([*before, written + "\n", *lines[head + 1 :]])]


def _replaced(lines: list[str], start: int, stop: int, line: str | None) -> str:
    if line is None:
        return "".join(lines[:start] + lines[stop:])
    end = "\r\n" if lines[stop - 1].endswith("\r\n") else "\n"
    return "".join(
        [
            *lines[:start],
            _indent(lines[start]) + line + _comment(lines[stop - 1] if stop - start == 1 else "") + end,
            *lines[stop:],
        ]
    )


def _find(lines: list[str], section: str, key: str) -> tuple[int, bool] | None:
    """Where the key stands, and whether it is written `section.key` above all sections."""
    inside: str | None = None
    for i, line in enumerate(lines):
        match = _SECTION.match(line)
        if match or _ANY_SECTION.match(line):
            # A line that begins with "[" may also be inside a list; the comparison afterwards tells.
            inside = match[1] if match else "?"
        elif inside == section and re.match(rf"\s*{re.escape(key)}\s*=", line):
            return i, False
        elif inside is None and re.match(rf"\s*{re.escape(section)}\s*\.\s*{re.escape(key)}\s*=", line):
            return i, True
    return None


def _find_section(lines: list[str], section: str) -> int | None:
    return next(
        (i for i, line in enumerate(lines) if (match := _SECTION.match(line)) and match[1] == section), None
    )


def _comment(line: str) -> str:
    """The comment at the end of a `key = value` line, with the space before it."""
    line = line.rstrip("\r\n")
    for match in _STRING_OR_COMMENT.finditer(line):
        if match[0] == "#":
            return line[len(line[: match.start()].rstrip()) :]
    return ""


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _first_right(candidates: list[str], want: dict[str, Any], name: str) -> str:
    for text in candidates:
        try:
            if tomllib.loads(text) == want:
                return text
        except tomllib.TOMLDecodeError:
            continue
    raise ConfigError(
        f"{name} is written in a form that can't be edited by line; change it in the file by hand"
    )


def _tables(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the settings are not valid TOML: {error}; mend the file first") from error


def _as_toml(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_as_toml, value))}]"
    # JSON strings are TOML strings, but for a delete character.
    return (
        json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        if isinstance(value, str)
        else repr(value)
    )
