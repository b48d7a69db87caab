"""Which note a link means, and who links to whom: the links of the index, resolved as Obsidian does.

A target is looked for as a path of the vault (of the linking note, where it says "./" or is a Markdown link),
then by file name: in the folder of the linking note, else the one with the shortest path. Obsidian keeps an
alias as [[File|alias]] and does not resolve [[alias]]; here it does, last of all, and `how` says so. Case
does not matter. Files that are no notes (images, PDFs) are attachments: no links between notes, and never
reported as broken. In a Logseq graph a page needs no file: a reference to one that nobody has written yet is
no broken link either, unless its name differs from that of a page by signs and spaces alone.

Derived from the index alone, so as fresh as the index is.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.index.names import link_key

if TYPE_CHECKING:
    from hindbrain.index.store import IndexStore

How: TypeAlias = Literal["self", "path", "name", "folder", "shortest", "alias", "attachment", "page", "none"]
Fault: TypeAlias = Literal["no_note", "no_heading", "no_block"]

_ENDINGS = """
    3gp avif base bmp c canvas cpp css csv doc docx epub excalidraw flac gif gz h htm html ico ipynb jpeg jpg
    js json jsx key m4a mkv mov mp3 mp4 odp ods odt ogg ogv pdf png ppt pptx py rs rtf sh svg tar tex tif
    tiff toml ts tsx txt wav webm webp xls xlsx xml yaml yml zip
"""
_ATTACHMENTS = frozenset(_ENDINGS.split())
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_ANCHOR_SIGNS = 400  # characters of a heading that are compared


class Resolved(NamedTuple):
    """What a target means."""

    path: str  # vault-relative; "" when it is no note
    how: How
    candidates: tuple[str, ...] = ()  # all notes of that name, where there are several; the chosen one first

    @property
    def is_ambiguous(self) -> bool:
        """Does the name alone not tell which note is meant?"""
        return self.how in ("shortest", "alias") and len(self.candidates) > 1


class LinkLine(NamedTuple):
    """One link, where it stands."""

    path: str  # of the note that it stands in
    line: int  # 1-based
    target: str  # as written, with heading or block; "" for the note itself
    shown: str  # the text that a reader sees instead; "" when none
    embed: bool
    to: Resolved
    text: str = ""  # of the line


class BrokenLink(NamedTuple):
    """A link that leads nowhere."""

    link: LinkLine
    reason: Fault


class _NoteRow(NamedTuple):
    id: int
    path: str
    title: str
    aliases: str
    headers: str


class _LinkRow(NamedTuple):
    note_id: int
    target: str
    heading: str
    block: str
    alias: str
    embed: int
    line: int


_LINK_SQL = "SELECT note_id, target, heading, block, alias, embed, line FROM link"


class LinkGraph:
    """The links of one moment: make a new one when the index has changed."""

    def __init__(self, store: IndexStore, files: Iterable[str] = ()) -> None:
        """`files`: vault-relative paths of files and folders on disk. Without them, what the index leaves out
        (templates, hidden folders) is not known, and a link to it looks broken."""
        self._store = store
        self._files = files

    def resolve(self, target: str, from_path: str = "") -> Resolved:
        """Which note `target` means in the note at `from_path`. A heading or block in it is left aside."""
        written = _folded(target.partition("#")[0])
        if not written:
            return Resolved(from_path, "self") if from_path else Resolved("", "none")
        key = _without_ending(written)
        relative = _folded(posixpath.join(posixpath.dirname(from_path), written))
        beside = _without_ending(posixpath.normpath(relative))
        if written.startswith(("./", "../")):
            return self._at(beside) or self._no_note(written)
        # [text](note.md) is relative to its note; a wikilink seldom has the ending.
        places = (beside, key.lstrip("/")) if key != written else (key.lstrip("/"),)
        for place in places:
            if found := self._at(place):
                return found
        return self._by_name(key.strip("/"), from_path) or self._by_alias(written) or self._no_note(written)

    def backlinks(self, path: str) -> list[LinkLine]:
        """The links of other notes that lead to the note at `path`, each with its line."""
        note = self._by_path.get(_without_ending(_folded(path)))
        if note is None:
            return []
        keys = {link_key(name) for name in (note.path, *note.aliases.split("\n"))}
        marks = ", ".join("?" * len(keys))
        rows = self._links(f"WHERE target_key IN ({marks}) AND note_id <> ?", (*sorted(keys), note.id))
        found = [link for link in self._lines(rows) if link.to.path == note.path]
        return self.with_text(found)

    def outgoing(self, path: str) -> list[LinkLine]:
        """The links of the note at `path` to other notes, whether they lead somewhere or not."""
        note = self._by_path.get(_without_ending(_folded(path)))
        if note is None:
            return []
        links = self._lines(self._links("WHERE note_id = ?", (note.id,)))
        return self.with_text([link for link in links if link.to.how not in ("self", "attachment", "page")])

    def broken(self) -> list[BrokenLink]:
        """Every link whose note, heading or block is not there, by path and line."""
        found = [(link, self.fault_of(link)) for link in self._all_lines]
        return [BrokenLink(link, fault) for link, fault in found if fault is not None]

    def ambiguous(self) -> list[LinkLine]:
        """Every link whose name several notes have, none of them in its folder."""
        return [link for link in self._all_lines if link.to.is_ambiguous]

    def orphans(self) -> list[str]:
        """Paths of the notes that no other note links to and that link to no other note."""
        linked = {path for pair in self.edges for path in pair}
        return [note.path for note in self._notes if note.path not in linked]

    @cached_property
    def edges(self) -> frozenset[tuple[str, str]]:
        """(from, to) for every two notes of which one links to the other."""
        return frozenset(
            (link.path, link.to.path)
            for link in self._all_lines
            if link.to.path and link.to.path != link.path
        )

    def nearest(self, target: str) -> str:
        """The path of the note whose name is most like a target that leads nowhere; "" when none is."""
        from difflib import get_close_matches

        name = _squashed(_without_ending(_folded(target.partition("#")[0])).rpartition("/")[2])
        if not name:
            return ""
        known = self._by_squashed
        if name in known:
            return known[name]
        alike = get_close_matches(name, known, 1, 0.84)
        # Another day or version is no misspelling.
        return known[alike[0]] if alike and _digits(alike[0]) == _digits(name) else ""

    def _at(self, place: str) -> Resolved | None:
        note = self._by_path.get(place)
        return Resolved(note.path, "path") if note else None

    def _by_name(self, key: str, from_path: str) -> Resolved | None:
        ending = "/" + key
        named = [
            note.path
            for note in self._by_stem.get(key.rpartition("/")[2], ())
            if ("/" + _without_ending(_folded(note.path))).endswith(ending)
        ]
        if len(named) < 2:
            return Resolved(named[0], "name") if named else None
        folder = posixpath.dirname(from_path)
        here = [path for path in named if posixpath.dirname(path) == folder] if from_path else []
        named.sort(key=lambda path: (path not in here, len(path), path))
        return Resolved(named[0], "folder" if here else "shortest", tuple(named))

    def _by_alias(self, written: str) -> Resolved | None:
        named = sorted(self._by_alias_name.get(written, ()), key=lambda path: (len(path), path))
        return Resolved(named[0], "alias", tuple(named) if len(named) > 1 else ()) if named else None

    def _no_note(self, written: str) -> Resolved:
        ending = posixpath.splitext(written)[1].removeprefix(".")
        place = _without_ending(written).strip("./")
        is_file = (
            ending in _ATTACHMENTS or place in self._on_disk or place.rpartition("/")[2] in self._on_disk
        )
        if is_file or not self._is_logseq or _without_ending(written) != written or written.startswith("."):
            return Resolved("", "attachment" if is_file else "none")
        return Resolved("", "none" if _squashed(written) in self._by_squashed else "page")

    @cached_property
    def _is_logseq(self) -> bool:
        return str(self._store.meta("recipe")).endswith(":logseq")

    @cached_property
    def _on_disk(self) -> frozenset[str]:
        """Folded paths, and the last parts of those of files, without ".md"."""
        paths = [_without_ending(_folded(path)).strip("/") for path in self._files]
        return frozenset((*paths, *(path.rpartition("/")[2] for path in paths)))

    def fault_of(self, link: LinkLine) -> Fault | None:
        """Why a link leads nowhere; None when it leads somewhere."""
        if link.to.how in ("attachment", "page"):
            return None
        if _without_ending(_folded(link.to.path)) not in self._by_path:
            return "no_note"
        lacks = self.lacks(link.to.path, link.target.partition("#")[2])
        return ("no_block" if lacks == "block" else "no_heading") if lacks else None

    def lacks(self, path: str, anchor: str) -> Literal["", "heading", "block"]:
        """What of `anchor` ("Heading", "^block") the note at `path` does not have; "" when it has it."""
        note = self._by_path.get(_without_ending(_folded(path)))
        anchor = anchor.strip()
        if note is None or not anchor:
            return ""
        if anchor.startswith("^"):
            return "" if anchor[1:].casefold() in self._blocks(note) else "block"
        wanted = _squashed(anchor.rpartition("#")[2])
        return "heading" if wanted and wanted not in self._headings(note) else ""

    def _headings(self, note: _NoteRow) -> frozenset[str]:
        if note.id not in self._known_headings:
            self._known_headings[note.id] = frozenset(map(_squashed, note.headers.split("\n")))
        return self._known_headings[note.id]

    def _blocks(self, note: _NoteRow) -> frozenset[str]:
        if note.id not in self._known_blocks:
            # Not only those that the parser takes: an id without a space before it is followed by Obsidian.
            found = _BLOCK_ID.findall(self._store.text_of(note.id))
            self._known_blocks[note.id] = frozenset(map(str.casefold, found))
        return self._known_blocks[note.id]

    def _links(self, where: str = "", values: Sequence[str | int] = ()) -> list[_LinkRow]:
        rows = self._store.select(f"{_LINK_SQL} {where} ORDER BY note_id, ordinal", values)
        return [_LinkRow._make(row) for row in rows]

    def _lines(self, rows: Iterable[_LinkRow]) -> list[LinkLine]:
        found = []
        for row in rows:
            note = self._by_id.get(row.note_id)
            if note is not None:
                anchor = f"#^{row.block}" if row.block else f"#{row.heading}" if row.heading else ""
                to = self.resolve(row.target, note.path)
                found.append(
                    LinkLine(note.path, row.line, row.target + anchor, row.alias, bool(row.embed), to)
                )
        return sorted(found, key=lambda link: (link.path, link.line))

    def with_text(self, links: Sequence[LinkLine]) -> list[LinkLine]:
        """The same links, each with the text of its line."""
        from hindbrain.vault.parse import split_lines

        texts: dict[str, Sequence[str]] = {}
        for path in {link.path for link in links}:
            texts[path] = split_lines(self._store.text_of(self._by_path[_without_ending(_folded(path))].id))
        return [
            link._replace(text=texts[link.path][link.line - 1].strip())
            if link.line <= len(texts[link.path])
            else link
            for link in links
        ]

    @cached_property
    def _all_lines(self) -> list[LinkLine]:
        return self._lines(self._links())

    @cached_property
    def _notes(self) -> list[_NoteRow]:
        sql = "SELECT id, path, title, aliases, headers FROM note ORDER BY path"
        return [_NoteRow._make(row) for row in self._store.select(sql)]

    @cached_property
    def _by_id(self) -> dict[int, _NoteRow]:
        return {note.id: note for note in self._notes}

    @cached_property
    def _by_path(self) -> dict[str, _NoteRow]:
        return {_without_ending(_folded(note.path)): note for note in self._notes}

    @cached_property
    def _by_stem(self) -> dict[str, list[_NoteRow]]:
        found = defaultdict(list)
        for folded, note in self._by_path.items():
            found[folded.rpartition("/")[2]].append(note)
        return found

    @cached_property
    def _by_alias_name(self) -> dict[str, set[str]]:
        found = defaultdict(set)
        for note in self._notes:
            for alias in filter(None, note.aliases.split("\n")):
                found[_folded(alias)].add(note.path)
        return found

    @cached_property
    def _by_squashed(self) -> dict[str, str]:
        """Names without signs and spaces: titles and aliases too, file names before them."""
        names: dict[str, str] = {}
        for note in self._notes:
            for name in (note.title, *note.aliases.split("\n")):
                names.setdefault(_squashed(name), note.path)
        names |= {_squashed(folded.rpartition("/")[2]): note.path for folded, note in self._by_path.items()}
        names.pop("", None)
        return names

    @cached_property
    def _known_headings(self) -> dict[int, frozenset[str]]:
        return {}

    @cached_property
    def _known_blocks(self) -> dict[int, frozenset[str]]:
        return {}


def _folded(name: str) -> str:
    """Names differ neither by case nor by normal form nor by the slash of another system."""
    return unicodedata.normalize("NFC", name.strip().replace("\\", "/")).casefold()


def _without_ending(folded: str) -> str:
    return folded.removesuffix(".md").removesuffix(".markdown")


def _squashed(text: str) -> str:
    """Letters and digits alone: "What's new?" and the slug "whats-new" are one heading."""
    return "".join(filter(str.isalnum, _folded(text[:_ANCHOR_SIGNS])))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
