"""Which skills fit a command. Pure; precision first: a skill that does not fit costs room and trust.

score = 0.95                    its trigger fires
        0.9                     the command says its name
        likeness                of the command and its name with its description, weighted by how rare
                                their common words are among the skills
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import vectors_of, words_of
from hindbrain.learn.skills.skill import Skill
from hindbrain.learn.templates.trigger import fires

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder

BY_TRIGGER, BY_NAME = 0.95, 0.9
FITS = 0.4
_MEANING = 0.4  # of the likeness; the words that they share have the rest
_MOST = 3


def match_skills(
    command: str, skills: Sequence[Skill], embedder: Embedder | None
) -> list[tuple[Skill, float]]:
    """Those that fit, the best first, with their scores 0..1; at most three."""
    if not command.strip() or not skills:
        return []
    said = set(_content(command))
    told = [set(_content(f"{skill.name} {skill.description}")) for skill in skills]
    holds = Counter(word for words in told for word in words)
    vectors = vectors_of([command, *(f"{skill.name}. {skill.description}" for skill in skills)], embedder)
    meant = vectors[1:] @ vectors[0]
    found = []
    for skill, words, alike in zip(skills, told, meant, strict=True):
        value = _MEANING * max(0.0, float(alike)) + (1 - _MEANING) * _shared(said, words, holds, len(skills))
        if fires(skill.trigger, command):
            value = BY_TRIGGER
        elif _is_named(skill, command):
            value = max(value, BY_NAME)
        if value >= FITS:
            found.append((skill, round(min(1.0, value), 4)))
    found.sort(key=lambda pair: (-pair[1], pair[0].name))
    return found[:_MOST]


def _shared(said: set[str], told: set[str], holds: Counter[str], count: int) -> float:
    """Of what the command says, the share that the skill says too; a word of few skills counts more."""
    weights = {word: math.log(1 + (count + 1) / (1 + holds[word])) for word in said}
    whole = sum(weights.values())
    return sum(weights[word] for word in said & told) / whole if whole else 0.0


def _is_named(skill: Skill, command: str) -> bool:
    """Does the command say all words of its name, two at least or one long one?"""
    name = _content(skill.name.replace("-", " ").replace("_", " "))
    said = set(words_of(command))
    return bool(name) and (len(name) > 1 or len(name[0]) > 5) and said.issuperset(name)


def _content(text: str) -> list[str]:
    from hindbrain.learn.alike import _PLAIN

    return [word for word in words_of(text) if word not in _PLAIN and len(word) > 1 and word[0] != "<"]
