"""Which runs kept to a preference that stood in their prompt. Pure.

A journal says what entered the prompt, what was asked, what a verification refused and what a person said
next. It does not say what the agent thought. So a run keeps to its preferences unless somebody objected for
one of them: a rejection that names what is preferred, or a correction within two minutes that does. Runs
whose command names it prove nothing and are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

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


def adherence(episodes: Sequence[Episode], preferences: Mapping[str, str]) -> Iterator[tuple[Episode, bool]]:
    """The runs that a preference mattered to, oldest first, and whether they kept to all of theirs."""
    names = {id_.removeprefix("^"): _names(text) for id_, text in preferences.items()}
    if not names:
        return
    added = {one.original.run: " ".join(one.added) for one in corrections(episodes)}
    for episode in episodes:
        said = _words(episode.command)
        chosen = [names.get(id_, frozenset()) for id_ in ids_of(episode)]
        if left_open := [one for one in chosen if one and not one & said]:
            objections = [added.get(episode.run, ""), *(one.reason for one in episode.rejections)]
            yield episode, frozenset().union(*left_open).isdisjoint(_words(" ".join(objections)))


def _names(text: str) -> frozenset[str]:
    """What is preferred: the words with a capital letter; without any, the first that says something."""
    words = _WORD.findall(_COUNTS.sub("", text))
    telling = [word for word in words if word.casefold() not in STOP_WORDS | _VERBS]
    names = [word for word in telling if word != words[0] and word != word.lower()]
    return frozenset(word.casefold() for word in names or telling[:1])


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
