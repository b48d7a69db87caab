"""Scalars and flow collections of the YAML subset that frontmatter uses: text in, text out.

Pure. Knows nothing of lines or properties. No scalar is ever turned into a number, a truth value or a date.
"""

import re
from dataclasses import dataclass

from hindbrain.vault.note import Property

_COMMENT = re.compile(r"\s#")
_SINGLE = re.compile(r"'((?:[^']|'')*+)'")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SINGLE_END = re.compile(r"(?:[^']|'')*+'")
_DOUBLE_END = re.compile(r'(?:[^"\\]|\\.)*+"')
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = dict(zip("ntr0bfvae", "\n\t\r\0\b\f\v\a\x1b", strict=True))
_FLOW_MARK = re.compile(r"[\[\]{}\"',:]|\s#")
_FLOW_WORD = re.compile(r"(?:[^,\[\]{}:]|:(?![\s,\[\]{}]|$))*+")
_SPACE = re.compile(r"\s*+")


class FlowError(ValueError):
    """A flow collection that can't be read; `kind` completes the problem code."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def plain_text(text: str) -> str:
    """A plain scalar without its comment."""
    if text.startswith("#"):
        return ""
    if "#" in text and (match := _COMMENT.search(text)):
        text = text[: match.start()]
    return text.rstrip()


def read_quoted(text: str) -> tuple[str | None, str]:
    """Read the quoted scalar that `text` begins with: it and what follows; (None, "") when not closed."""
    match = (_SINGLE if text[0] == "'" else _DOUBLE).match(text)
    if not match:
        return None, ""
    value = match[1].replace("''", "'") if text[0] == "'" else match[1]
    if text[0] == '"' and "\\" in value:
        value = _ESCAPE.sub(_unescape, value)
    return value, text[match.end() :].strip()


def closes_quote(text: str, quote: str) -> bool:
    """Say whether a string opened with `quote` ends in `text`, a line of its inside."""
    return (_SINGLE_END if quote == "'" else _DOUBLE_END).match(text) is not None


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        # A surrogate or a number beyond Unicode can't be stored as text: keep what was written.
        return match[0] if code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
    return _ESCAPED.get(match[4], match[4])


@dataclass(frozen=True, slots=True)
class FlowBalance:
    """How far a flow collection that goes on over several lines is open."""

    open: int  # brackets not closed yet; 0 and less when it is complete
    quote: str  # the quote a string was opened with, "" outside strings


def unfinished_flow(text: str, before: FlowBalance = FlowBalance(0, "")) -> FlowBalance:  # noqa: B008
    """Count the brackets of one more line."""
    depth, quote = before.open, before.quote
    for match in _FLOW_MARK.finditer(text):
        mark = match[0]
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'" and (match.start() == 0 or text[match.start() - 1] in " \t,[{:"):
            quote = mark
        elif mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
    return FlowBalance(depth, quote)


def read_flow(text: str, max_depth: int) -> Property:
    """Read `[a, "b"]` or `{a: b}`. A collection inside a list stays the text that it is."""
    value, end = _collection(text, 0, max_depth)
    rest = text[end:].strip()
    if rest and not rest.startswith("#"):
        raise FlowError("malformed", "text follows the closing bracket")
    return value


def _collection(text: str, at: int, depth: int) -> tuple[Property, int]:
    if depth <= 0:
        raise FlowError("too_deep", "brackets nest too deep; the value is kept as text")
    return _flow_list(text, at + 1, depth) if text[at] == "[" else _flow_map(text, at + 1, depth)


def _flow_list(text: str, at: int, depth: int) -> tuple[list[str], int]:
    items: list[str] = []
    while True:
        at = _skip_space(text, at)
        if text[at] == "]":
            return items, at + 1
        value, end = _flow_value(text, at, depth)
        items.append(value if isinstance(value, str) else text[at:end])
        at = _after_comma(text, end, "]")


def _flow_map(text: str, at: int, depth: int) -> tuple[dict[str, Property], int]:
    entries: dict[str, Property] = {}
    while True:
        at = _skip_space(text, at)
        if text[at] == "}":
            return entries, at + 1
        key, at = _flow_value(text, at, depth)
        if not isinstance(key, str):
            raise FlowError("malformed", "a key in braces is no text")
        at = _skip_space(text, at)
        if key == "<<":
            raise FlowError("refused", "merge keys are not read; write the properties out")
        value: Property = ""
        if text[at] == ":":
            at = _skip_space(text, at + 1)
            if text[at] not in ",}":
                value, at = _flow_value(text, at, depth)
        entries[key] = value
        at = _after_comma(text, at, "}")


def _flow_value(text: str, at: int, depth: int) -> tuple[Property, int]:
    first = text[at]
    if text.startswith("{{", at) and (end := text.find("}}", at)) > 0:  # a template's place holder is text
        return text[at : end + 2], end + 2
    if first in "[{":
        return _collection(text, at, depth - 1)
    if first in "\"'":
        match = (_SINGLE if first == "'" else _DOUBLE).match(text, at)
        if not match:
            raise FlowError("malformed", "a quoted value in brackets is not closed")
        return read_quoted(match[0])[0] or "", match.end()
    word = _FLOW_WORD.match(text, at)
    if not word or word.end() == at:
        raise FlowError("malformed", "a value in brackets is missing")
    if first in "&*!" and len(word[0].strip()) > 1:
        raise FlowError("refused", "anchors, aliases and tags are not read; write the value out")
    return word[0].strip(), word.end()


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    at = match.end() if match else at
    if at >= len(text):
        raise FlowError("malformed", "a bracket is not closed")
    return at


def _after_comma(text: str, at: int, closing: str) -> int:
    at = _skip_space(text, at)
    if text[at] == ",":
        return at + 1
    if text[at] == closing:
        return at
    raise FlowError("malformed", "a comma or a closing bracket is missing")
