"""Whose word a text is: trust as an order, and how it is handed on. It never rises.

A text that repeats what came from less trusted hands is theirs, whoever offers it again. Pure; the caller
looks up what the vault holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from hindbrain.vault.origin import SOURCES

THIRD_PARTY = ("web", "import")
_RANK = {"user": 0, "agent": 1, "tool": 2, "web": 3, "import": 3}  # the last two are equally little trusted
_LEAST = "import"
_SHINGLE = 5  # words
_SHARE = 0.6  # of either text's shingles in the other: it is a repetition
_COPIED = 8  # words in a row that nobody says twice by chance
_SHORT_SHARE = 0.8  # of a short text's words
_FEWEST_WORDS = 3  # fewer words than that are everybody's
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


class Heard(NamedTuple):
    """Something the vault holds already, and whose word that is."""

    text: str
    source: str


def trust_rank(source: str) -> int:
    """0 is the owner's word. What is not known is trusted least."""
    return _RANK.get(source, _RANK[_LEAST])


def lowest(sources: Iterable[str]) -> str:
    """The least trusted of them; "import" when there is none, since nobody vouches for it."""
    known = [source if source in SOURCES else _LEAST for source in sources]
    return max(known, key=trust_rank) if known else _LEAST


def agent_claim(source: str) -> str:
    """What an agent may say of a text's source: its own word at most, never its owner's."""
    return lowest(("agent", source)) if source else "agent"


def inherited(text: str, source: str, heard: Iterable[Heard]) -> str:
    """The source of `text` once it is seen what it repeats. A person's own word stays a person's."""
    if source == "user":
        return source
    less = [item for item in heard if trust_rank(item.source) > trust_rank(source)]
    return lowest([source, *(item.source for item in less if repeats(text, item.text))])


def repeats(text: str, known: str) -> bool:
    """Does `text` say again what `known` says? By shared runs of words; short texts by containment."""
    mine, theirs = _words(text), _words(known)
    if len(mine) < _FEWEST_WORDS or not theirs:
        return bool(mine) and mine == theirs
    if _contains(mine, theirs) or (len(theirs) >= _SHINGLE and _contains(theirs, mine)):
        return True
    if _shingles(mine, _COPIED) & _shingles(theirs, _COPIED):
        return True
    if len(mine) < 2 * _SHINGLE:
        # Too short for runs of words: nearly all of its words, unless the other is long enough to hold any.
        alike = len(set(mine) & set(theirs)) >= _SHORT_SHARE * len(set(mine))
        return alike and len(theirs) <= 3 * len(mine)
    shared = len(_shingles(mine) & _shingles(theirs))
    return shared > 0 and shared >= _SHARE * min(len(_shingles(mine)), len(_shingles(theirs)))


def _words(text: str) -> list[str]:
    # Languages written without spaces: each letter counts as a word.
    spaced = _UNSPACED.sub(lambda match: f" {match[0]} ", text.casefold())
    return _WORD.findall(spaced)


def _shingles(words: list[str], length: int = _SHINGLE) -> set[tuple[str, ...]]:
    """All runs of that many words; none in a shorter text."""
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def _contains(part: list[str], whole: list[str]) -> bool:
    """Do the words of `part` stand in `whole`, in this order and without a gap?"""
    return f" {' '.join(part)} " in f" {' '.join(whole)} "
