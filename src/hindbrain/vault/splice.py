"""One property of a note changed, every other byte as it was: bytes in, bytes out.

Pure. The lines of the property are replaced and no others, so order, comments, quotes and line ends of the
rest stay. What comes out is read back before it is returned; where the frontmatter can't be read without
doubt, nothing is changed and VaultError says which line to mend. Knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from hindbrain.base.errors import UsageError, VaultError
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Property
from hindbrain.vault.scalars import read_quoted, unfinished_flow
from hindbrain.vault.yaml_text import HIDDEN, flow_list, key_text, scalar_text

Value: TypeAlias = str | Sequence[str] | bool | float

_TAG_KEYS = ("tags", "tag")
_COMMA_KEYS = (*_TAG_KEYS, "aliases", "alias")  # whose plain text is a list to Obsidian, cut at commas
_NOTHING = ("", "null", "~")
_ITEM_INDENT = "  "  # as Obsidian writes lists
_MOST_PROBLEMS = 20  # what read_frontmatter reports at most: from here on there may be others
_COMMENT = re.compile(r"\s+#.*$")
_BLOCK_HEADER = re.compile(r"[|>][+\-0-9]{0,2}$")
_ITEM = re.compile(r"(\s*)-(?:\s|$)")


def set_property(data: bytes, key: str, value: Value) -> bytes:
    """Give the property `key` another value, or add it as the last one; make the frontmatter when needed.

    A list keeps the style it has in the note. A number or truth value is written bare, and text that looks
    like one in quotes.
    """
    note = _Editable(data)
    wanted = _as_read(value)
    name = note.spelling(key)
    if name is None:
        note.add(_property_lines(f"{note.key_indent}{key_text(key)}:", value, ()))
        return note.checked(key, wanted)
    if isinstance(value, (str, list, tuple)) and note.properties.get(name) == wanted:
        return data
    lines = note.texts_of(name)
    head, comment = _split_head(lines[0])
    new = _property_lines(head, value, lines)
    if comment:
        new[0] = f"{new[0]}{comment}"
    note.replace(name, [*new, *_kept_comments(lines)])
    return note.checked(name, wanted)


def remove_property(data: bytes, key: str) -> bytes:
    """Take the property's lines away. The two `---` stay; without the property, so does everything."""
    note = _Editable(data)
    name = note.spelling(key)
    if name is None:
        return data
    note.replace(name, [])
    return note.checked(name, None)


def add_to_list(data: bytes, key: str, values: Sequence[str]) -> bytes:
    """Add what is missing to a list property, in the style that the note has; single text becomes a list."""
    note = _Editable(data)
    name = note.spelling(key)
    old = note.properties.get(name, "") if name is not None else ""
    if isinstance(old, dict):
        raise VaultError(f"the property {key!r} holds properties of its own; nothing can be added to it")
    items = _items_of(key, old)
    known = {_same(key, item) for item in items}
    new = [value for value in dict.fromkeys(values) if _same(key, value) not in known]
    if not new:
        return data
    if name is None:
        return set_property(data, key, new)
    lines = note.texts_of(name)
    if isinstance(old, list):
        note.replace(name, _extended(lines, new, flow=_is_flow(lines)))
        return note.checked(name, [*old, *new])
    # As comma text, only what is read back as it is: a tag with a blank would be two.
    if key.lower() in _COMMA_KEYS and "," in old and all(_items_of(key, value) == [value] for value in new):
        return set_property(data, name, f"{old.rstrip().rstrip(',')}, {', '.join(new)}")
    return set_property(data, name, [*items, *new])


class _Editable:
    """A note whose frontmatter can be changed without doubt. VaultError when it can't."""

    def __init__(self, data: bytes) -> None:
        self.lines = NoteLines(data)
        self.front = read_frontmatter(self.lines.texts or [""])
        self.properties: dict[str, Property] = dict(self.front.properties)
        for problem in self.front.problems:
            if problem.code != "frontmatter_duplicate_key" or len(self.front.problems) >= _MOST_PROBLEMS:
                raise _unsafe(problem.line, problem.message)
        if self._is_flow_map():
            raise _unsafe(2, "the frontmatter is written in braces; write `key: value` lines")
        first = min((first for first, _ in self.front.spans.values()), default=0)
        line = self.lines.texts[first - 1] if first else ""
        self.key_indent = line[: len(line) - len(line.lstrip())]

    def spelling(self, key: str) -> str | None:
        """The key as the note writes it; None when the note has no such property."""
        _check_key(key)
        spans = self.front.spans
        name = key if key in spans else next((n for n in spans if n.lower() == key.lower()), None)
        if name is not None:
            first, last = spans[name]
            for problem in self.front.problems:
                if first <= problem.line <= last:
                    raise _unsafe(problem.line, problem.message)
        return name

    def texts_of(self, name: str) -> list[str]:
        first, last = self.front.spans[name]
        return self.lines.texts[first - 1 : last]

    def add(self, new: list[str]) -> None:
        """Behind the last property; with the two `---` when the note has no frontmatter."""
        if self.front.first_line:
            self.lines.insert(self.front.last_line - 1, new)
        else:
            self.lines.insert(0, ["---", *new, "---"])

    def replace(self, name: str, new: list[str]) -> None:
        """Lines that stay keep their own ends, also where the ends of a note are mixed."""
        first, last = self.front.spans[name]
        old = self.lines.texts[first - 1 : last]
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        both = min(len(old), len(new))
        for i in range(same, both):
            self.lines.replace(first - 1 + i, new[i])
        if len(new) > both:
            self.lines.insert(first - 1 + both, new[both:])
        else:
            self.lines.remove(first - 1 + both, last)

    def checked(self, key: str, value: Property | None) -> bytes:
        """The changed bytes, once they were read back and say what they should."""
        data = self.lines.data()
        expected = {name: old for name, old in self.properties.items() if name != key or value is not None}
        if value is not None:
            expected[key] = value
        after = read_frontmatter(NoteLines(data).texts)
        new_problem = next((p for p in after.problems if p.code != "frontmatter_duplicate_key"), None)
        if new_problem is not None and new_problem.code == "frontmatter_too_large":
            raise UsageError(f"the property {key!r} would make the frontmatter too long; nothing was changed")
        if new_problem is not None or dict(after.properties) != expected or not after.first_line:
            # A name that is new here and does not read back is the caller's; else the note is to blame.
            wrong = VaultError if key in self.properties else UsageError
            raise wrong(f"{key!r} can't be written so that it reads back the same; nothing was changed")
        return data

    def _is_flow_map(self) -> bool:
        texts = self.lines.texts
        if not texts or texts[0].rstrip() != "---":
            return False
        inside = (line.strip() for line in texts[1:])
        first = next((line for line in inside if line and line[0] != "#"), "")
        return first.startswith("{") and not first.startswith("{{")


def _check_key(key: str) -> None:
    if not key or key != key.strip() or key == "<<" or HIDDEN.search(key):
        raise UsageError(f"{key!r} can't be a property's name; use a word such as 'status'")


def _unsafe(line: int, message: str) -> VaultError:
    return VaultError(f"line {line} of the frontmatter needs mending first: {message}; nothing was changed")


def _as_read(value: Value) -> Property:
    """What `read_frontmatter` shall say of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return scalar_text(value)
    return list(value)


def _property_lines(head: str, value: Value, old: Sequence[str]) -> list[str]:
    """The lines of a property, from `head`, its key and colon; a list in the style of the `old` lines."""
    if isinstance(value, (str, bool, int, float)):
        return [f"{head} {scalar_text(value)}"]
    if not value or (old and _is_flow(old)):
        return [f"{head} {flow_list(value)}"]
    return [head, *_item_lines(_item_indent(old, head), value)]


def _item_lines(indent: str, values: Sequence[str]) -> list[str]:
    return [f"{indent}- {scalar_text(value)}" for value in values]


def _item_indent(old: Sequence[str], head: str) -> str:
    found = next((match[1] for line in old[1:] if (match := _ITEM.match(line))), None)
    return found if found is not None else head[: len(head) - len(head.lstrip())] + _ITEM_INDENT


def _split_head(line: str) -> tuple[str, str]:
    """Cut a property's first line: the key with its colon, and the comment behind the value ("" if none)."""
    start = len(line) - len(line.lstrip())
    at = start
    if line[start] in "\"'":
        rest = read_quoted(line[start:])[1]
        at = len(line.rstrip()) - len(rest)
    at = line.find(":", at)
    while line[at + 1 : at + 2] not in ("", " ", "\t"):
        at = line.find(":", at + 1)
    return line[: at + 1], _comment_behind(line[at + 1 :])


def _comment_behind(rest: str) -> str:
    """The comment that follows the value on the key's line, with the space before it."""
    value = rest.strip()
    if "#" not in value:
        return ""
    if value[0] in "\"'":
        quoted, after = read_quoted(value)
        return f" {after}" if quoted is not None and after.startswith("#") else ""
    if value[0] in "[{":
        end = _closing_bracket(value)
        return value[end + 1 :] if end >= 0 and value[end + 1 :].lstrip().startswith("#") else ""
    if value[0] == "#":
        return f" {value}"
    match = _COMMENT.search(value)
    first = value.split(None, 1)[0]
    # In a block scalar a "#" behind the header is a comment, too; the lines below are replaced anyway.
    return match[0] if match and (not _BLOCK_HEADER.match(first) or value[len(first) :] == match[0]) else ""


def _kept_comments(lines: Sequence[str]) -> list[str]:
    """Comments between the items of a plain block list: its owner's words, and no part of its values."""
    items = [line for line in lines[1:] if line.strip() and not line.lstrip().startswith("#")]
    if not items or not all(_ITEM.match(line) and _BLOCK_HEADER.search(line) is None for line in items):
        return []
    return [line for line in lines[1:] if line.lstrip().startswith("#")]


def _is_flow(lines: Sequence[str]) -> bool:
    value = lines[0][len(_split_head(lines[0])[0]) :].lstrip()
    return value.startswith("[") and not value.startswith("[[")


def _extended(lines: list[str], new: Sequence[str], *, flow: bool) -> list[str]:
    if not flow:
        return [*lines, *_item_lines(_item_indent(lines, lines[0]), new)]
    text = "\n".join(lines)
    start = len(_split_head(lines[0])[0])
    end = start + _closing_bracket(text[start:])
    last = len(text[:end].rstrip()) - 1
    comma = {"[": "", ",": " "}.get(text[last], ", ")
    inside = flow_list(new)[1:-1]
    return (text[: last + 1] + comma + inside + text[last + 1 :]).split("\n")


def _closing_bracket(text: str) -> int:
    """Where the flow collection that `text` begins with ends; -1 when it does not."""
    at = text.find("]")
    while at >= 0:
        if unfinished_flow(text[: at + 1].replace("\n", " ")).open == 0:
            return at
        at = text.find("]", at + 1)
    return -1


def _items_of(key: str, old: str | list[str]) -> list[str]:
    if isinstance(old, list):
        return old
    if old.strip() in _NOTHING:
        return []
    if key.lower() in _TAG_KEYS:
        return old.replace(",", " ").split()
    if key.lower() in _COMMA_KEYS:
        return [part.strip() for part in old.split(",") if part.strip()]
    return [old]


def _same(key: str, item: str) -> str:
    """Equal for two items that are one to Obsidian: tags have no case, and their "#" is left out."""
    return item.strip().lstrip("#").strip("/").casefold() if key.lower() in _TAG_KEYS else item
