"""Fifty questions about a vault, derived from its own aliases, headings and links; the same at each run.

Nobody chose them: they are drawn with a fixed seed, and only notes and words that stand for one note alone
are taken. Knows nothing of any search.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.wikilinks import hidden_links
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, parse_note

Kind: TypeAlias = Literal["alias", "heading", "link"]

_SEED = 20_240_517
SHARES: Mapping[Kind, int] = {"alias": 17, "heading": 17, "link": 16}
_ASKED: Mapping[Kind, tuple[str, ...]] = {
    "alias": (
        "What do my notes say about {}?",
        "Remind me what {} was about.",
        "Where did I write about {}?",
    ),
    "heading": (
        "What did I note on {}?",
        "What do I know about {}?",
        "Can you find what I wrote on {}?",
    ),
    "link": (
        "Which note belongs to this: {}",
        "What is meant here: {}",
        "I wrote this, what did I refer to? {}",
    ),
}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])")
_MARKUP = re.compile(r"[*_`=~]+|\$[^$]*\$|\[\^[^\]]*\]|<[^>]*>|\[!\w+\][-+]?")
_BRACKETS = re.compile(r"\[\[([^\[\]|]*\|)?([^\[\]]*)\]\]|\[([^\[\]]*)\]\([^()]*\)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_HOLLOW = frozenset(_WORD.findall(
    "an and are as at be by can do for from get has have how in into is it its my no not of on or our see so "
    "that the their this to use using via was we what when where which who why will with you your"
))  # fmt: skip
_MIN_HEADING, _MIN_SENTENCE, _MAX_SENTENCE = 2, 6, 40  # words that mean something


@dataclass(frozen=True, slots=True)
class Question:
    kind: Kind
    text: str
    gold: str  # path of the one note that answers it
    source: str = ""  # path of the note that the words were taken from, and that is left out of a ranking


def derive(vault: Path, shares: Mapping[Kind, int] = SHARES) -> list[Question]:
    """So many of each kind, no note asked for twice."""
    paths = sorted(path.relative_to(vault).as_posix() for path in vault.rglob("*.md") if _shown(vault, path))
    notes = {path: _parsed(vault / path) for path in paths}
    found = {
        "alias": list(_aliases(notes)),
        "heading": list(_headings(notes)),
        "link": list(_links(vault, paths)),
    }
    chance = random.Random(_SEED)
    questions: list[Question] = []
    asked_for: set[str] = set()
    for kind, many in shares.items():
        candidates = found[kind]
        chance.shuffle(candidates)
        for words, gold, source in candidates:
            if sum(question.kind == kind for question in questions) == many:
                break
            if gold not in asked_for:
                asked_for.add(gold)
                phrase = _ASKED[kind][len(questions) % len(_ASKED[kind])]
                questions.append(Question(kind, _asked(words, phrase), gold, source))
    return questions


Candidate: TypeAlias = tuple[str, str, str]  # words, the note that answers, the note that they stand in


def _shown(vault: Path, path: Path) -> bool:
    return not any(part.startswith(".") for part in path.relative_to(vault).parts)


def _parsed(path: Path) -> Note:
    return parse_note(decode_note(path.read_bytes())[0], stem=path.stem)


def _aliases(notes: Mapping[str, Note]) -> Iterator[Candidate]:
    """Other names than the one of the file, which one note has alone. Old paths count by their last part."""
    named = [
        (alias.rpartition("/")[2].strip(), path) for path, note in notes.items() for alias in note.aliases
    ]
    many = Counter(plain(alias) for alias, _ in dict.fromkeys(named))
    names = {plain(Path(path).stem) for path in notes} | {plain(note.title) for note in notes.values()}
    for alias, path in named:
        if many[plain(alias)] == 1 and plain(alias) not in names and len(alias) > 2:
            yield alias, path, ""


def _headings(notes: Mapping[str, Note]) -> Iterator[Candidate]:
    """Headings that stand in one note alone and mean something without it."""
    every = [(readable(heading.text), path) for path, note in notes.items() for heading in note.headings]
    many = Counter(plain(text) for text, _ in every)
    for text, path in every:
        if many[plain(text)] == 1 and len(meaning(text)) >= _MIN_HEADING:
            yield text, path, ""


def _links(vault: Path, paths: Sequence[str]) -> Iterator[Candidate]:
    """Sentences whose link was taken out; the note it led to is the answer."""
    for link in hidden_links(vault, paths):
        words = readable(link.query)
        if len(_SENTENCE_END.split(words)) == 1 and _MIN_SENTENCE <= len(meaning(words)) <= _MAX_SENTENCE:
            yield words, link.target, link.source


def readable(text: str) -> str:
    """Text without markup, as somebody would type it."""
    shown = _MARKUP.sub("", _BRACKETS.sub(lambda match: match[2] or match[3] or "", text))
    return re.sub(r"\s+([.,;:!?)])", r"\1", " ".join(shown.split())).strip(" :,-→")


def plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def meaning(text: str) -> list[str]:
    """The words of a text that carry something."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _HOLLOW]


def _asked(words: str, phrase: str) -> str:
    """A heading or a sentence that is a question already is asked as it stands."""
    return words if words.endswith("?") else phrase.format(words)
