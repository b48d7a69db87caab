"""Mentions of notes become wikilinks to them: the first mention of each, where it is surely one.

Pure. Rather a link too few than one too many: whole words only, in the case of the name, in paragraphs and
list items, never in code, links, addresses, headings, quotes, tables, fields, tags or block ids. A name that
two notes answer to is left alone. With the added brackets taken away, the text is what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hindbrain.vault.blocks import BlockReader
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.inline import mask
from hindbrain.vault.line_shapes import indent_of, item_content

_LEAST_LETTERS = 4  # of a name of one word
_WORD = re.compile(r"\w+")
_UNLINKABLE = re.compile(r"[\[\]|#^\n]")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|#]*)[^\[\]]*\]\]")
_CODE = re.compile(r"(?<!`)(`+)(?!`)\s+\1(?!`)")  # once its inside has been blanked out
# Blanked out in this order: links of both kinds, anything else in brackets, addresses, tags, HTML, block ids.
_NO_TEXT = (
    re.compile(r"!?\[\[[^\[\]]*\]\]"),
    re.compile(r"!?\[[^\[\]]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"),
    re.compile(r"\[[^\[\]]*\](?:\[[^\[\]]*\])?"),
    re.compile(r"\b[A-Za-z][A-Za-z0-9+.\-]{1,15}:\S+"),
    re.compile(r"\S*(?:www\.|@|://)\S*"),
    re.compile(r"(?<!\S)#\S+"),
    re.compile(r"</?[A-Za-z][^<>]*>"),
    re.compile(r"(?<!\S)\^[A-Za-z0-9\-]+\s*$"),
)


_JOINS = frozenset("-_/\\.@&=~+'\u2019")  # before a word: it is a part of something longer


class NoteName(NamedTuple):
    """A name that a note answers to: its title, an alias, its file name."""

    name: str
    path: str  # vault-relative


class _Target(NamedTuple):
    name: str
    path: str
    link: str  # what stands between the brackets


def link_known(text: str, table: NameTable, *, own: str = "") -> str:
    """`own` is the path of the note the text is for: it is not linked to itself."""
    lines = text.split("\n")
    linked = table.linked_in(text)
    for at, shown in _open_lines(text, lines):
        places = [
            (start, target)
            for start, target in _mentions(shown, table)
            if target.path != own and lines[at].startswith(target.name, start)
        ]
        for start, target in reversed(_first_of_each(places, linked)):
            stop = start + len(target.name)
            lines[at] = f"{lines[at][:start]}[[{target.link}]]{lines[at][stop:]}"
    return "\n".join(lines)


class NameTable:
    """The names that may be linked, by their first word, the longest first."""

    def __init__(self, names: Iterable[NoteName]) -> None:
        known = list(dict.fromkeys(names))
        answer: dict[str, set[str]] = {}
        stems: dict[str, set[str]] = {}
        for name, path in known:
            answer.setdefault(name.casefold(), set()).add(path)
            stems.setdefault(_stem(path).casefold(), set()).add(path)
        self._paths = {name: next(iter(paths)) for name, paths in answer.items() if len(paths) == 1}
        self._paths |= {path.removesuffix(".md").casefold(): path for _, path in known}
        self.by_word: dict[str, list[_Target]] = {}
        for name, path in known:
            first = _WORD.match(name)
            if first and len(answer[name.casefold()]) == 1 and _is_telling(name):
                stem = _stem(path)
                short = stem if len(stems[stem.casefold()]) == 1 else path.removesuffix(".md")
                if not _UNLINKABLE.search(short):
                    link = name if name == short else f"{short}|{name}"
                    self.by_word.setdefault(first[0], []).append(_Target(name, path, link))
        for targets in self.by_word.values():
            targets.sort(key=lambda target: -len(target.name))

    def linked_in(self, text: str) -> set[str]:
        """The notes that the text links to already."""
        found = (match[1].strip().removesuffix(".md").casefold() for match in _WIKILINK.finditer(text))
        return {self._paths[name] for name in found if name in self._paths}


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _is_telling(name: str) -> bool:
    """Is a mention of the name surely one of the note? A single small word is in every second sentence."""
    if name != name.strip() or _UNLINKABLE.search(name):
        return False
    if len(name.split()) == 1 and name.isascii() and name == name.lower() and not any(map(str.isdigit, name)):
        return False
    letters = sum(map(str.isalpha, name))
    return letters >= _LEAST_LETTERS or (len(name.split()) > 1 and letters >= 2)


def _open_lines(text: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines where a mention may stand, each with all that is no plain text blanked out at equal length."""
    reader = BlockReader(text, lines)
    reader.read(read_frontmatter(lines).last_line)
    for block in reader.blocks:
        if block.kind not in ("paragraph", "item"):
            continue
        shown = [(at, _plain(lines[at])) for at in range(block.first_line - 1, block.last_line)]
        # What opens on one line and closes on another is not understood here: leave such a block alone.
        if not any(sign in line for _, line in shown for sign in ("`", "[", "]", "%%", "$$", "<!--", "-->")):
            yield from shown


def _plain(line: str) -> str:
    body = indent_of(line)[1]
    content = item_content(body)
    start = len(line) - len(body) + content if content else len(line) - len(body)
    shown = " " * start + mask(line)[start:]
    shown = _CODE.sub(lambda match: " " * len(match[0]), shown)
    if "::" in shown and not re.search(r"\[[^\[\]]*::", shown):
        return " " * len(line)  # `key:: value`
    for pattern in _NO_TEXT:
        shown = pattern.sub(lambda match: " " * len(match[0]), shown)
    return shown


def _mentions(shown: str, table: NameTable) -> list[tuple[int, _Target]]:
    found: list[tuple[int, _Target]] = []
    done = 0
    for word in _WORD.finditer(shown):
        if word.start() < done or shown[word.start() - 1 : word.start()] in _JOINS:
            continue
        for target in table.by_word.get(word[0], ()):
            stop = word.start() + len(target.name)
            if shown.startswith(target.name, word.start()) and not _goes_on(shown, stop):
                found.append((word.start(), target))
                done = stop
                break
    return found


def _goes_on(shown: str, stop: int) -> bool:
    """Does the word go on? A hyphen or an apostrophe with a letter behind it belongs to the word, too."""
    if stop >= len(shown):
        return False
    after = shown[stop : stop + 2]
    return bool(_WORD.match(after)) or (after[0] in "-_/\\" and len(after) == 2 and after[1].isalnum())


def _first_of_each(places: Sequence[tuple[int, _Target]], linked: set[str]) -> list[tuple[int, _Target]]:
    """The first mention of each note; `linked` learns of them."""
    chosen: list[tuple[int, _Target]] = []
    for start, target in places:
        if target.path not in linked:
            linked.add(target.path)
            chosen.append((start, target))
    return chosen
