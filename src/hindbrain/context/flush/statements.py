"""What an agent wrote down before its window was compacted, statement by statement. Pure.

A flush file is Markdown that a model typed: bullets below headings, now and then a paragraph, a table or a
piece of code. Each becomes one line that says by itself what it is about: a heading that tells, or the line
above that ends with a colon, goes in front. Knows nothing of notes and policies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from hindbrain.context.flush.sentences import split_sentences
from hindbrain.memory.items.typed_text import without_mark
from hindbrain.vault.items.item_text import fold, unlinked
from hindbrain.vault.line_shapes import indent_of
from hindbrain.vault.note import Block
from hindbrain.vault.parse import parse_note, split_lines

_LONGEST = 1_000  # characters of one statement; what is longer is taken apart by sentences
_KINDS = {
    "decision": "Decision", "decisions": "Decision", "decided": "Decision", "agreed": "Decision",
    "preference": "Preference", "preferences": "Preference",
    "to do": "To do", "todo": "To do", "todos": "To do", "task": "To do", "tasks": "To do",
    "open tasks": "To do", "open task": "To do", "open items": "To do", "next steps": "To do",
    "action items": "To do", "fact": "", "facts": "", "note": "",
}  # fmt: skip
# Headings made of such words, dates and times say nothing that their lines would need.
_PLAIN_WORDS = frozenset((
    "a", "agent", "am", "and", "at", "auto", "compaction", "context", "conversation", "conversations",
    "daily", "day", "durable", "entries", "entry", "events", "facts", "flush", "for", "from", "general",
    "info", "information", "items", "journal", "key", "learned", "log", "memories", "memory", "misc",
    "miscellaneous", "new", "note", "notes", "of", "on", "other", "pm", "points", "pre", "recent",
    "session", "sessions", "stored", "summary", "the", "things", "to", "today", "update", "updates", "user",
    "utc",
))  # fmt: skip
_NAMED = re.compile(r"^(?:\*\*|__)?([A-Za-z][A-Za-z ]{2,20}?)(?:\*\*|__)?\s*:(?:\*\*|__)?\s+(?=\S)")
_CHECKBOX = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+\[(.)\](?:\s|$)")
_WORDS = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"^\s*(?:>\s?)+")
_ROW = re.compile(r"[\s|:\-]*")
_STRUCK = re.compile(r"~~.*~~")
_SILENT = re.compile(r"\W*NO_REPLY\W*|\W*", re.IGNORECASE)


class Statement(NamedTuple):
    text: str  # one line
    kind: str = ""  # Decision, Preference, To do, Done; "" for what is simply so

    @property
    def digest(self) -> str:
        """The same for the same words, whatever has been linked in them since."""
        told = fold(unlinked(self.text)).casefold()
        return blake2b(told.encode("utf-8", "replace"), digest_size=8).hexdigest()


def statements_of(text: str) -> list[Statement]:
    """In the order of the file, each once."""
    note = parse_note(text, stem="")
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    found: dict[str, Statement] = {}
    above: list[tuple[int, str]] = []  # indents and words of the items around the one that is read
    for block in note.blocks:
        told = lines[block.first_line - 1 : block.last_line]
        indent = indent_of(told[0])[0] if told else 0
        above = [one for one in above if block.kind == "item" and one[0] < indent]
        for said, kind in _told(block, told):
            label = next((words for _, words in reversed(above) if words.endswith(":")), "")
            for one in _whole(said, kind, label.rstrip(": "), block):
                found.setdefault(one.digest, one)
        if block.kind == "item":
            above.append((indent, fold(without_mark("\n".join(told)))))
    return list(found.values())


def _told(block: Block, lines: list[str]) -> Iterator[tuple[str, str]]:
    """The words of a block and the kind that its form tells."""
    if block.kind == "item":
        box = _CHECKBOX.match(lines[0])
        kind = "" if box is None else "To do" if box[1] == " " else "Done"
        yield fold(without_mark("\n".join(lines))), kind
    elif block.kind == "paragraph":
        yield fold(" ".join(lines)), ""
    elif block.kind == "quote":
        yield fold(" ".join(_QUOTED.sub("", line) for line in lines)), ""
    elif block.kind == "table":
        for row in lines:
            if not _ROW.fullmatch(row):
                yield " | ".join(fold(cell) for cell in row.strip().strip("|").split("|")), ""
    elif block.kind == "code":
        code = fold(" ".join(line for line in lines if not line.lstrip().startswith(("```", "~~~"))))
        yield f"`{code}`" if code and "`" not in code else code, ""
    elif block.kind == "html":
        yield fold(" ".join(lines)), ""


def _whole(said: str, kind: str, label: str, block: Block) -> Iterator[Statement]:
    """A statement with all that it needs to be understood alone; nothing for one that says nothing."""
    if said.endswith(":") and block.kind in ("item", "paragraph"):
        return  # of what stands below it
    if _SILENT.fullmatch(said) or _STRUCK.fullmatch(said):
        return
    named = _NAMED.match(said)
    if named and named[1].casefold() in _KINDS:
        said, kind = said[named.end() :], _KINDS[named[1].casefold()] or kind
    for words in (label, fold(block.headings[-1]) if block.headings else ""):
        plain = words.strip("*_ ").casefold()
        if plain in _KINDS:
            kind = kind or _KINDS[plain]
        elif words and not _says_nothing(words):
            said = f"{words}: {said}"
    yield from (Statement(part, kind) for part in _in_parts(said))


def _says_nothing(heading: str) -> bool:
    return all(word in _PLAIN_WORDS for word in _WORDS.findall(heading.casefold()))


def _in_parts(said: str) -> Iterator[str]:
    if len(said) <= _LONGEST:
        yield said
        return
    part = ""
    for sentence in split_sentences(said):
        for at in range(0, len(sentence.text), _LONGEST):
            piece = sentence.text[at : at + _LONGEST]
            if part and len(part) + len(piece) >= _LONGEST:
                yield part
                part = ""
            part = f"{part} {piece}".strip()
    if part:
        yield part
