"""Prompts that no vault needs to answer: coding tasks, turns of a coding session, general tasks, small talk.

They ship as `generic_prompts.tsv`, several hundred, mostly English with some of 25 languages, and as
`generic_prompts_by_language.tsv`, a list for each of 14 languages. Which words they are made of says
what counts little in a prompt; what a vault's search finds for them says what a chance match looks like.

A prompt is compared with the lists of its own language: an agent's hook reads no word of the others.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from hindbrain.search.telling import SMALL_TALK, stem
from hindbrain.search.terms import understand_terms

_TALK_COUNT = 3  # of prompts in which a word of small talk stands at least


class GenericPrompt(NamedTuple):
    kind: str  # coding, agent, general, talk, or greeting (also thanks; not English)
    text: str


@cache
def generic_prompts() -> tuple[GenericPrompt, ...]:
    """Those that every prompt is compared with."""
    lines = _shipped("generic_prompts.tsv").decode("utf-8").splitlines()
    return tuple(GenericPrompt(*line.split("\t", 1)) for line in lines if line)


@cache
def prompts_in(language: str) -> tuple[GenericPrompt, ...]:
    """The list of one language, by its code; none where no list ships. None of them is in the common list."""
    return _by_language("generic_prompts_by_language.tsv", language)


@cache
def unseen_prompts(language: str) -> tuple[GenericPrompt, ...]:
    """Generic prompts of one language that nothing is compared with: with them the gate is measured."""
    return _by_language("unseen_prompts.tsv", language)


def generic_count(word: str, own: int = 0, languages: Sequence[str] = ()) -> int:
    """In how many generic prompts a word stands, the lists of `languages` included; `own` do not count."""
    root = stem(word)
    count = _counts().get(root, 0) + sum(_counts_in(language).get(root, 0) for language in languages)
    return max(count - own, _TALK_COUNT if word in SMALL_TALK else 0)


@cache
def prompts_checksum() -> str:
    """Of all prompts that something is compared with."""
    both = _shipped("generic_prompts.tsv") + _shipped("generic_prompts_by_language.tsv")
    return f"{zlib.crc32(both):08x}"


@cache
def _shipped(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()


def _by_language(name: str, language: str) -> tuple[GenericPrompt, ...]:
    lines = _shipped(name).decode("utf-8").splitlines()
    rows = (line.split("\t", 2) for line in lines if line.startswith(f"{language}\t"))
    return tuple(GenericPrompt(kind, text) for _, kind, text in rows)


@cache
def _counts() -> Mapping[str, int]:
    return _count(generic_prompts())


@cache
def _counts_in(language: str) -> Mapping[str, int]:
    return _count(prompts_in(language))


def _count(prompts: Iterable[GenericPrompt]) -> Mapping[str, int]:
    return Counter(word for prompt in prompts for word in {*map(stem, understand_terms(prompt.text).words)})
