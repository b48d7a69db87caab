"""Questions about a vault whose answers are known, made from its own notes without a model.

link      the paragraph around a wikilink without the link; the answer is the note that it leads to
heading   the text of a heading that no other note has; the answer is its note
alias     an alias that no other note has; the answer is its note
memory    the words of a memory without its rarest one, or one of its cues; the answer is that memory

Pure. Knows nothing of files, of the index, or of how a question is asked.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from hindbrain.base.segment import searchable, unsegmented_run
from hindbrain.index.names import name_key
from hindbrain.search.terms import STOP_WORDS
from hindbrain.vault.inline import without_links

if TYPE_CHECKING:
    from hindbrain.vault.items.item import MemoryItem
    from hindbrain.vault.note import Note

Kind: TypeAlias = Literal["link", "heading", "alias", "memory"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_FEWEST_WORDS = 4  # of a paragraph or a heading that is asked for
_FEWEST_SIGNS = 8  # in a script without spaces
_FEWEST_LEFT = 2  # words of a memory without its rarest one
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]|#\n]*)(#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_LINE_START = re.compile(r"^\s*(?:>\s*)*(?:[-*+]\s+(?:\[.\]\s+)?|\d+[.)]\s+|#+\s+)?", re.MULTILINE)
_UNSEGMENTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"\w+")
_QUOTATION_MARKS = re.compile(r"[\"“”„«»「」『』]")  # a question in them asks for the very words


@dataclass(frozen=True, slots=True)
class Question:
    kind: Kind
    query: str
    target: str  # the path of the note that answers it; of a memory "path:line"
    source: str = ""  # the path of a note that does not count, since it holds the question; "" for none


class NoteNames(NamedTuple):
    """What a note is called, and its headings."""

    path: str
    title: str
    aliases: tuple[str, ...]
    headings: tuple[str, ...]


# Links


def link_names(aliases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The names of each note: path before file name before alias; what two notes share is no name."""
    by_path = {_folded(path): path for path in aliases}
    by_file = _unshared((_folded(path.rpartition("/")[2]), path) for path in aliases)
    by_alias = _unshared((_folded(alias), path) for path, own in aliases.items() for alias in own)
    return {**by_alias, **by_file, **by_path}


def hidden_links(path: str, note: Note, names: Mapping[str, str]) -> Iterator[Question]:
    """Each link of a note that leads to another one and has enough words around it."""
    # The parser knows what is only code.
    real = {(link.line, link.target) for link in note.links if not link.embed}
    for block in note.blocks:
        if block.kind not in ("paragraph", "item", "quote"):
            continue
        text = "\n".join(note.lines[block.first_line - 1 : block.last_line])
        for match in _WIKILINK.finditer(text):
            target = names.get(_folded(match[2]), path)
            line = block.first_line + text.count("\n", 0, match.start())
            if match[1] or (line, match[2].strip()) not in real or target == path:
                continue
            query = without_link(text, target, names)
            if is_enough(query):
                yield Question("link", query, target, path)


def without_link(text: str, target: str, names: Mapping[str, str]) -> str:
    """The text as a reader sees it, without any link to the note at `target`."""

    def visible(match: re.Match[str]) -> str:
        if match[1] or names.get(_folded(match[2])) == target:
            return " "
        return match[4] or match[2].rpartition("/")[2]

    shown = _MARKDOWN_LINK.sub(r"\1", _WIKILINK.sub(visible, _LINE_START.sub("", text)))
    return " ".join(shown.split())


def is_enough(query: str) -> bool:
    """Is there something left to go by?"""
    unsegmented = len(_UNSEGMENTED.findall(query))
    return unsegmented >= _FEWEST_SIGNS or len(_WORD.findall(query)) >= _FEWEST_WORDS


# Names and headings


def heading_questions(notes: Sequence[NoteNames]) -> list[Question]:
    """Headings that one note alone has. One that only repeats its note's title is none."""
    pairs = (
        (text, note.path)
        for note in notes
        for text in map(without_links, note.headings)
        if is_enough(text) and name_key(text) != name_key(note.title)
    )
    return [Question("heading", text, path) for text, path in of_one_note(pairs)]


def alias_questions(notes: Sequence[NoteNames]) -> list[Question]:
    """Aliases that one note alone has, and that are no other note's name."""
    files = {name_key(_file_name(note.path)) for note in notes}
    pairs = ((alias, note.path) for note in notes for alias in note.aliases)
    return [
        Question("alias", alias, path) for alias, path in of_one_note(pairs) if name_key(alias) not in files
    ]


def of_one_note(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The (text, path) whose words no other pair has, in whatever order."""
    found = [(text, path, _any_order(text)) for text, path in dict.fromkeys(pairs)]
    held = Counter(key for _, _, key in found)
    return [(text, path) for text, path, key in found if key and held[key] == 1]


# Memories


def memory_questions(memories: Sequence[MemoryItem], chance: random.Random) -> list[Question]:
    counts = Counter(word for item in memories for word in set(_words(item.text)))
    pairs = []
    for item in memories:
        use_cue = bool(item.cues) and chance.random() < 0.5
        text = chance.choice(item.cues) if use_cue else without_rarest(item.text, counts)
        if text:
            pairs.append((text, f"{item.path}:{item.line}"))
    return [Question("memory", text, place) for text, place in of_one_note(pairs)]


def without_rarest(text: str, counts: Mapping[str, int]) -> str:
    """The text without the word that the fewest memories hold; "" where too little is left."""
    words = [word for word in _words(text) if word not in STOP_WORDS]
    if not words:
        return ""
    rarest = min(words, key=lambda word: (counts.get(word, 0), -len(word), word))
    inside = unsegmented_run().fullmatch(rarest) is not None
    pattern = re.escape(rarest) if inside else rf"(?<!\w){re.escape(rarest)}(?!\w)"
    said = _QUOTATION_MARKS.sub(" ", text)
    left = " ".join(re.sub(pattern, " ", said, flags=re.IGNORECASE).split())
    return left if len(set(_words(left)) - STOP_WORDS) >= _FEWEST_LEFT else ""


# Choosing


def one_a_note(questions: Sequence[Question], most: int, chance: random.Random) -> list[Question]:
    """At most `most`, in an order of chance, and one of each note: a long list must not decide."""
    shuffled = chance.sample(questions, len(questions))
    return list({question.target: question for question in reversed(shuffled)}.values())[::-1][:most]


def share_out(found: Mapping[Kind, Sequence[Question]], most: int) -> list[Question]:
    """`most` questions, as many of each kind as there are; what one kind lacks goes to the others."""
    taken: dict[Kind, int] = dict.fromkeys(KINDS, 0)
    left = most
    while left and (open_kinds := [kind for kind in KINDS if taken[kind] < len(found.get(kind, ()))]):
        for kind in open_kinds[:left]:
            taken[kind] += 1
            left -= 1
    return [question for kind in KINDS for question in found.get(kind, ())[: taken[kind]]]


def _words(text: str) -> list[str]:
    """Folded; of scripts without spaces, pairs of signs."""
    return _WORD.findall(searchable(text).casefold())


def _any_order(text: str) -> str:
    return " ".join(sorted(name_key(text).split()))


def _file_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _folded(name: str) -> str:
    return name.strip().strip("/").removesuffix(".md").casefold()


def _unshared(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in pairs:
        found[name].add(path)
    return {name: next(iter(paths)) for name, paths in found.items() if len(paths) == 1}
