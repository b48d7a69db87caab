"""A note's frontmatter: which lines it takes, what they say, and where each property stands.

Pure. A small reader for the YAML that people write as Obsidian properties, not a YAML loader: every scalar
stays the text its owner wrote, and anchors, aliases, tags and merge keys are refused. Knows nothing of note
bodies and changes nothing; `spans` lets an editor replace a property by its lines.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hindbrain.vault.note import Problem, Property
from hindbrain.vault.scalars import (
    FlowError,
    closes_quote,
    plain_text,
    read_flow,
    read_quoted,
    unfinished_flow,
)

MAX_CHARS = 64 * 1024
MAX_DEPTH = 8
_MAX_PROBLEMS = 20  # enough for its owner to see that the frontmatter needs mending
_REFUSED = "anchors, aliases and tags are not read; write the value out"

_KEY_LINE = re.compile(r"[^\s#\-\[{:][^:]{0,200}:(?:\s|$)")
_BLOCK_SCALAR = re.compile(r"([|>])([+\-]?)([1-9]?)([+\-]?)(?:\s+#.*)?$")
_REFUSED_START = re.compile(r"[&*!](?=\S)|!$")
_REFUSED_INSIDE = re.compile(r"(?:[-:,\[{]\s)\s*[&*!][^\s,\]}]|(?:^|[\s{,])<<\s*:")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    properties: Mapping[str, Property]
    spans: Mapping[str, tuple[int, int]]  # top-level key -> its first and last line, 1-based, inclusive
    first_line: int  # of the opening `---`: 1, or 0 when there is no frontmatter
    last_line: int  # of the closing line, or 0
    problems: tuple[Problem, ...]


NO_FRONTMATTER = Frontmatter({}, {}, 0, 0, ())


def read_frontmatter(lines: list[str]) -> Frontmatter:
    """Read the frontmatter of a note given as lines without their ends."""
    if not lines[0].startswith("---") or lines[0].rstrip() != "---":
        return NO_FRONTMATTER
    last = _closing_line(lines)
    if last < 0:
        return _unterminated(lines)
    inside = lines[1:last]
    if sum(map(len, inside)) + len(inside) > MAX_CHARS:
        message = f"the frontmatter is longer than {MAX_CHARS} characters and was not read; make it shorter"
        return Frontmatter({}, {}, 1, last + 1, (Problem("frontmatter_too_large", message, 1),))
    if not any(_looks_like_yaml(line) for line in inside) and any(map(str.strip, inside)):
        return NO_FRONTMATTER  # prose between two rules
    reader = _Reader(inside)
    properties = reader.read_all()
    return Frontmatter(properties, reader.spans, 1, last + 1, tuple(reader.problems))


def _closing_line(lines: list[str]) -> int:
    for i in range(1, len(lines)):
        line = lines[i]
        if line[:3] in ("---", "...") and line.rstrip() in ("---", "..."):
            return i
    return -1


def _unterminated(lines: list[str]) -> Frontmatter:
    following = next((line for line in lines[1:20] if line.strip()), "")
    if not _KEY_LINE.match(following):
        return NO_FRONTMATTER
    message = "the frontmatter has no closing '---' line and is read as text; add one"
    return Frontmatter({}, {}, 0, 0, (Problem("frontmatter_unterminated", message, 1),))


def _looks_like_yaml(line: str) -> bool:
    return line.lstrip()[:2] in ("- ", "#", "# ", "{") or _KEY_LINE.match(line.strip()) is not None


@dataclass(slots=True)
class _Reader:
    """Walks once over the lines between the two `---`. A position is 0-based; the note's line is two more."""

    lines: list[str]
    at: int = 0  # the next line to read
    end: int = 0  # behind the last line that was content, and not a comment before the next key
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def read_all(self) -> dict[str, Property]:
        first = self._next_content()
        if first is not None and first.lstrip()[:2] in ("- ", "-"):
            self._report("malformed", "the frontmatter is a list; write `key: value` lines", self.at)
            return {}
        if first is not None and first[0] == "{" and not first.startswith("{{"):
            value = self._read_flow(first.strip(), -1, 0)
            return value if isinstance(value, dict) else {}
        properties: dict[str, Property] = {}
        while (line := self._next_content()) is not None:
            if properties:
                self._report("malformed", "a key is indented less than the keys before it", self.at)
            properties.update(self._read_map(self._indent(line), 0))
        return properties

    # Lines

    def _next_content(self) -> str | None:
        """Skip blank lines and comments; return the line then reached, None at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            text = line.lstrip()
            if text and text[0] != "#":
                return line
            self.at += 1
        return None

    def _indent(self, line: str) -> int:
        width = len(line) - len(line.lstrip())
        if "\t" in line[:width]:
            self._report("malformed", "a tab indents a line; use spaces", self.at)
        return width

    def _report(self, kind: str, message: str, at: int) -> None:
        line = at + 2
        known = any(problem.line == line for problem in self.problems)
        if not known and len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(f"frontmatter_{kind}", message, line))

    # Maps and lists

    def _read_map(self, indent: int, depth: int) -> dict[str, Property]:
        result: dict[str, Property] = {}
        while (line := self._next_content()) is not None:
            width = self._indent(line)
            if width < indent:
                break
            start = self.at
            key, rest = _split_key(line.strip())
            self.at = self.end = start + 1
            if width > indent or key is None:
                self._report("malformed", "the line is no `key: value`", start)
                continue
            value = self._read_value(rest, indent, depth)
            if key == "<<":
                self._report("refused", "merge keys are not read; write the properties out", start)
                continue
            if key in result:
                self._report("duplicate_key", f"the key {key!r} is given twice; the last one counts", start)
            if value is not None:
                result[key] = value
            if depth == 0:
                self.spans[key] = (start + 2, self.end + 1)
        return result

    def _read_value(self, rest: str, indent: int, depth: int) -> Property | None:
        """Read what follows `key:`; None when it was refused."""
        if not rest or rest[0] == "#":
            return self._read_nested(indent, depth)
        if _REFUSED_START.match(rest):
            self._report("refused", _REFUSED, self.at - 1)
            self._skip_deeper(indent)
            return None
        return self._read_scalar(rest, indent, depth)

    def _read_nested(self, indent: int, depth: int) -> Property | None:
        start = self.at
        line = self._next_content()
        if line is None:
            self.at = start
            return ""
        width = self._indent(line)
        text = line.strip()
        is_list = text == "-" or text.startswith("- ")
        if width < indent or (width == indent and not is_list):
            self.at = start  # comments before the next key are not part of this one
            return ""
        if depth + 1 >= MAX_DEPTH:
            message = f"properties nest deeper than {MAX_DEPTH}; what is below is not read"
            self._report("too_deep", message, self.at)
            self._skip_deeper(indent)
            return None
        if is_list:
            return self._read_list(width, depth + 1)
        if _split_key(text)[0] is not None:
            return self._read_map(width, depth + 1)
        self.at += 1
        return self._read_scalar(text, indent, depth + 1)

    def _read_list(self, indent: int, depth: int) -> list[str]:
        items: list[str] = []
        while (line := self._next_content()) is not None:
            text = line.strip()
            if self._indent(line) != indent or not (text == "-" or text.startswith("- ")):
                break
            start = self.at
            self.at = self.end = start + 1
            item = self._read_item(text[1:].strip(), indent, depth)
            if item is not None:
                items.append(item)
        return items

    def _read_item(self, text: str, indent: int, depth: int) -> str | None:
        start = self.at - 1
        if text.startswith("#"):
            text = ""
        if _REFUSED_START.match(text):
            self._report("refused", _REFUSED, start)
            self._skip_deeper(indent)
            return None
        nested = not text or text == "-" or text.startswith("- ") or _is_map_item(text)
        if not nested:
            value = self._read_scalar(text, indent, depth)
            return value if isinstance(value, str) else self._as_written(text, start)
        self._skip_deeper(indent)
        return self._as_written(text, start)

    def _as_written(self, text: str, start: int) -> str:
        """The text of an item that is a map or a list, without the indentation its lines share."""
        rest = [line for line in self.lines[start + 1 : self.at] if line.strip()]
        margin = min((len(line) - len(line.lstrip()) for line in rest), default=0)
        written = "\n".join([text] * bool(text) + [line[margin:].rstrip() for line in rest])
        if _REFUSED_INSIDE.search(written):
            self._report("refused", _REFUSED, start)
        return written

    def _skip_deeper(self, indent: int) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip():
                if len(line) - len(line.lstrip()) <= indent:
                    return
                self.end = self.at + 1
            self.at += 1

    # Scalars; the line that holds `text` has been passed already

    def _read_scalar(self, text: str, indent: int, depth: int) -> Property:
        first = text[0]
        value: Property
        if first in "|>" and (header := _BLOCK_SCALAR.match(text)):
            value = self._read_block_scalar(header, indent)
        elif first in "\"'":
            value = self._read_quoted(text, indent)
        elif first in "[{" and not text.startswith(("{{", "[[")):
            value = self._read_flow(text, indent, depth)
        else:
            value = self._read_plain(text, indent)
        self.end = self.at
        return value

    def _read_plain(self, text: str, indent: int) -> str:
        start = self.at - 1
        parts = [plain_text(text)]
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and self._indent(line) <= indent:
                break
            parts.append(plain_text(line.strip()))
            self.at += 1
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
            self.at -= 1
        if text[0] in "@`%" or text.startswith(("- ", "? ")):
            self._report("malformed", f"a value begins with {text[0]!r}; put it in quotes", start)
        elif text[0] not in "{[" and any(": " in part or part.endswith(":") for part in parts):
            self._report("malformed", "a value holds ': '; put it in quotes", start)
        return _fold(parts)

    def _read_block_scalar(self, header: re.Match[str], indent: int) -> str:
        start = self.at
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
                break
            self.at += 1
        while self.at > start and not self.lines[self.at - 1].strip():
            self.at -= 1
        inside = self.lines[start : self.at]
        margin = min((len(line) - len(line.lstrip(" ")) for line in inside if line.strip()), default=0)
        if header[3]:
            margin = max(indent, 0) + int(header[3])
        cut = [line[margin:] for line in inside]
        return "\n".join(cut) if header[1] == "|" else _fold(cut)

    def _read_quoted(self, text: str, indent: int) -> str:
        start = self.at - 1
        parts = [text]
        closed = closes_quote(text[1:], text[0])
        while not closed and self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            self.at += 1
            parts.append(line.strip())
            closed = closes_quote(line, text[0])
        value, rest = read_quoted(_fold(parts)) if closed else (None, "")
        if value is not None and (not rest or rest.startswith("#")):
            return value
        self._report("malformed", "a quoted value is not closed, or text follows it", start)
        return _fold(parts)

    def _read_flow(self, text: str, indent: int, depth: int) -> Property:
        start = self.at - 1 if indent >= 0 else self.at
        if indent < 0:
            self.at += 1
        parts = [text]
        balance = unfinished_flow(text)
        while balance.open and self.at < len(self.lines):
            line = self.lines[self.at]
            stripped = line.strip()
            if stripped and len(line) - len(line.lstrip()) <= indent and stripped[0] not in "]}":
                break
            self.at += 1
            parts.append(stripped)
            balance = unfinished_flow(stripped, balance)
        whole = " ".join(parts)
        try:
            return read_flow(whole, MAX_DEPTH - min(depth, MAX_DEPTH - 1))
        except FlowError as error:
            self._report(error.kind, str(error), start)
            return whole


def _split_key(text: str) -> tuple[str | None, str]:
    """Cut `key: rest`; (None, "") when `text` has no key."""
    if text[0] in "\"'":
        value, rest = read_quoted(text)
        rest = rest.lstrip()
        if value is None or rest[:1] != ":" or rest[1:2] not in ("", " ", "\t"):
            return None, ""
        return value, rest[1:].strip()
    at = text.find(":")
    while at >= 0:
        if text[at + 1 : at + 2] in ("", " ", "\t"):
            key = text[:at].rstrip()
            return (key, text[at + 1 :].strip()) if key and key[0] not in "[{&*!|>%@`?" else (None, "")
        at = text.find(":", at + 1)
    return None, ""


def _is_map_item(text: str) -> bool:
    return text[0] not in "\"'[{|>" and _split_key(text)[0] is not None


def _fold(parts: list[str]) -> str:
    """Join lines as YAML folds them: a line end is a space, an empty line is a line end."""
    out: list[str] = []
    for part in parts:
        if not part:
            out.append("\n")
        elif out and out[-1] != "\n":
            out += (" ", part)
        else:
            out.append(part)
    return "".join(out)
