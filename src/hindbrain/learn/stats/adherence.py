"""Which runs kept to a preference that stood in their prompt. Pure.

A journal says what entered the prompt, what was asked, what a verification refused and what a person said
next. It does not say what the agent thought. So a run keeps to its preferences unless somebody objected for
one of them: a rejection that names it, or a correction within two minutes that adds a word of it. Runs whose
command names the choice itself prove nothing and are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.feedback.returns import ids_of
from hindbrain.learn.recording.corrections import corrections
from hindbrain.search.terms import STOP_WORDS

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode

_WORD = re.compile(r"[^\W_]+")
_COUNTS = re.compile(r"\s*\([^()]*\)\s*$")  # "(5 of 6 runs)" of what was learned from runs
# They say that something is preferred, not what.
_VERBS = frozenset({
    "prefer", "prefers", "preferred", "like", "likes", "use", "uses", "using", "want", "wants", "choose",
    "chooses", "always", "never", "rather", "instead", "user", "owner", "over",
})  # fmt: skip


class Choice(NamedTuple):
    """What a preference says, in words."""

    names: frozenset[str]  # a command with one of them leaves nothing open
    words: frozenset[str]  # an objection with one of them is about this preference


def adherence(episodes: Sequence[Episode], preferences: Mapping[str, str]) -> Iterator[tuple[Episode, bool]]:
    """The runs that a preference mattered to, oldest first, and whether they kept to all of theirs."""
    choices = {id_.removeprefix("^"): _choice(text) for id_, text in preferences.items()}
    if not choices:
        return
    added = {
        one.original.run: frozenset(word for text in one.added for word in _words(text))
        for one in corrections(episodes)
    }
    for episode in episodes:
        said = frozenset(_words(episode.command))
        left_open = [
            choice
            for id_ in ids_of(episode)
            if (choice := choices.get(id_)) is not None and choice.names and not choice.names & said
        ]
        if left_open:
            objected = added.get(episode.run, frozenset()) | _rejected_for(episode)
            yield episode, not any(choice.words & (objected - said) for choice in left_open)


def _rejected_for(episode: Episode) -> frozenset[str]:
    return frozenset(word for rejection in episode.rejections for word in _words(rejection.reason))


def _choice(text: str) -> Choice:
    """Names are words with a capital letter; where there are none, the first word that says something."""
    words = [
        word
        for word in _WORD.findall(_COUNTS.sub("", text))
        if word.casefold() not in STOP_WORDS and word.casefold() not in _VERBS
    ]
    first = _WORD.search(text)
    opening = first.group() if first is not None else ""
    names = [word for word in words if word != opening and word != word.lower()] or words[:1]
    return Choice(frozenset(map(str.casefold, names)), frozenset(map(str.casefold, words)))


def _words(text: str) -> Iterator[str]:
    return (word.casefold() for word in _WORD.findall(text))
