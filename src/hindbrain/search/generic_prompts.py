"""Prompts that no vault needs to answer: coding tasks, turns of a coding session, general tasks, small talk.

They ship as `generic_prompts.tsv`, several hundred in some 25 languages. Which words they are made of says
what counts little in a prompt; what a vault's search finds for them says what a chance match looks like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
    text = files(__package__).joinpath("generic_prompts.tsv").read_text(encoding="utf-8")
    return tuple(GenericPrompt(*line.split("\t", 1)) for line in text.splitlines() if line)


def generic_count(word: str, own: int = 0) -> int:
    """In how many generic prompts a word stands; `own` of them do not count."""
    return max(_counts().get(stem(word), 0) - own, _TALK_COUNT if word in SMALL_TALK else 0)


@cache
def _counts() -> Mapping[str, int]:
    return Counter(
        word for prompt in generic_prompts() for word in {*map(stem, understand_terms(prompt.text).words)}
    )
