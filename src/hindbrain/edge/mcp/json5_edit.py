"""The edits of `json_edit`, on JSON5 as people write it for OpenClaw: {names: 'without double quotes'}.

The text is read as the JSON that means the same, the edit is made there, and the one stretch that it changed
is carried over. What the result says is compared with what the edit wanted. Pure.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hindbrain.edge.mcp import json_edit
from hindbrain.edge.mcp.json_edit import NotEditable

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\])*"|' r"'(?:\\.|[^'\\])*'", re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w$]*|[$_][\w$]*")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)")
_CONSTANTS = ("true", "false", "null")
_NAMES = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*:", re.DOTALL)  # what follows a member's name
_EXPECTED = {  # in words that hold for JSON5 as well
    "Expecting property name enclosed in double quotes": "the name of a member is missing",
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
}
_ESCAPE = re.compile(r'\\(?:\r\n|x[0-9a-fA-F]{2}|.)|"', re.DOTALL)
_ESCAPES = {"'": "'", "v": "\\u000b", "0": "\\u0000", "\n": "", "\r\n": "", "\u2028": "", "\u2029": ""}


class _Piece(NamedTuple):
    """A stretch of the text and of the JSON that means the same; their lengths differ."""

    start: int
    end: int
    there: int  # where it begins in the JSON
    text: str  # as it stands in the JSON


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    return _carried_over(text, lambda plain: json_edit.set_member(plain, path, value))


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    return _carried_over(text, lambda plain: json_edit.append_item(plain, path, value))


def remove_item(text: str, path: Sequence[str], index: int) -> str:
    return _carried_over(text, lambda plain: json_edit.remove_item(plain, path, index))


def remove_member(text: str, path: Sequence[str]) -> str:
    return _carried_over(text, lambda plain: json_edit.remove_member(plain, path))


def read_members(text: str) -> dict[str, Any]:
    plain, pieces = as_json(text)
    try:
        return json_edit.read_members(plain)
    except NotEditable as error:
        wrong = error.__cause__
        if not isinstance(wrong, json.JSONDecodeError):
            raise
        begin = len(plain) - len(plain.removeprefix("\ufeff"))
        before = text[: _here(pieces, wrong.pos + begin)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        what = _EXPECTED.get(wrong.msg, wrong.msg)
        raise NotEditable(f"it is not valid JSON5: {what} at line {line}, column {column}") from wrong


def as_json(text: str) -> tuple[str, list[_Piece]]:
    """The JSON that means the same, comments and trailing commas and all, and where the two differ."""
    made: list[str] = []
    pieces: list[_Piece] = []
    at = length = 0
    while at < len(text):
        found = _COMMENT.match(text, at) or _STRING.match(text, at)
        if found:
            whole, new = found[0], found[0] if found[0].startswith("/") else _quoted(found[0])
        elif found := _WORD.match(text, at):
            whole, new = found[0], _word(text, found[0], found.end())
        elif found := _NUMBER.match(text, at):
            whole, new = found[0], _number(found[0])
        else:
            whole = new = text[at]
        if new != whole:
            pieces.append(_Piece(at, at + len(whole), length, new))
        made.append(new)
        at += len(whole)
        length += len(new)
    return "".join(made), pieces


def _word(text: str, word: str, end: int) -> str:
    if _NAMES.match(text, end):
        return json.dumps(word, ensure_ascii=False)
    if word not in _CONSTANTS:
        raise NotEditable(f"it is not valid JSON5: {word!r} stands there without quotes")
    return word


def _quoted(string: str) -> str:
    """A JSON string, from one of either quotes."""
    return f'"{_ESCAPE.sub(_escape, string[1:-1])}"'


def _escape(found: re.Match[str]) -> str:
    what = found[0].removeprefix("\\")
    if what == '"':
        return '\\"'
    if what in _ESCAPES:
        return _ESCAPES[what]
    if what[0] == "x":
        return f"\\u00{what[1:]}"
    return found[0] if not what or what in "\\/bfnrtu" else what


def _number(word: str) -> str:
    bare = word.lstrip("+")
    if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", bare):
        return bare
    try:
        return str(int(bare, 16)) if "x" in bare.lower() else repr(float(bare))
    except ValueError:
        raise NotEditable(f"it holds {word!r}, which is no number") from None


def _carried_over(text: str, edit: Callable[[str], str]) -> str:
    plain, pieces = as_json(text)
    after = edit(plain)
    if not pieces or after == plain:
        return after if not pieces else text
    start = _common(plain, after)
    tail = _common(plain[start:][::-1], after[start:][::-1])
    start, end = _whole(pieces, start, len(plain) - tail)
    made = after[start : len(after) - (len(plain) - end)]
    result = text[: _here(pieces, start)] + made + text[_here(pieces, end) :]
    if read_members(result) != json_edit.read_members(after):
        raise NotEditable("it is written in a form that can't be edited in place")
    return result


def _common(one: str, other: str) -> int:
    """How many characters they share at their beginning."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _whole(pieces: Sequence[_Piece], start: int, end: int) -> tuple[int, int]:
    """The same stretch of the JSON, widened so that it cuts through no piece."""
    for piece in pieces:
        stop = piece.there + len(piece.text)
        if piece.there < start < stop:
            start = piece.there
        if piece.there < end < stop:
            end = stop
    return start, end


def _here(pieces: Sequence[_Piece], there: int) -> int:
    """Where a place of the JSON, outside of pieces, is in the text."""
    index = bisect.bisect_right(pieces, there, key=lambda piece: piece.there) - 1
    if index < 0:
        return there
    piece = pieces[index]
    return piece.start if there == piece.there else piece.end + there - (piece.there + len(piece.text))
