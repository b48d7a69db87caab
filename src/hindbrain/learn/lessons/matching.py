"""Which lessons fit a new command. Pure but for the embedder; precise first: a wrong lesson costs trust.

    score = 0.7 nearest command + 0.3 mean of the three nearest, and 0.25 for words that the reason shares

A lesson fits from 0.5 on, or from 0.4 when one of its commands shares two telling words with the new one
(or all, where it has fewer), and its application is not another one; beside the best, only those count that
fit nearly as well. A lesson that a person typed has no commands: it fits by the words of its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import parts_of, rarity_of, tells, vectors_of, words_of
from hindbrain.learn.lessons.clusters import SAME_THING

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.models.embedder import Embedder

SURE = 0.5  # from which on likeness alone is enough
LEAST = 0.4  # down to which one fits that shares two telling words with the new command, or all that it has
BESIDE = 0.75  # of the best score: one task can go wrong in several ways, each with a lesson
UNSEEN = 0.5  # rarity of a word that no lesson has: what a command fills in is mostly new
_NEAREST = 0.7
_REASON = 0.25
_SHARED = 2  # telling words


def match_lessons(
    command: str, lessons: Sequence[Lesson], embedder: Embedder | None, *, app: str = "", most: int = 3
) -> list[tuple[Lesson, float]]:
    """The lessons that fit, the best first, each with a score from 0 to 1; retired ones never do."""
    fitting = [lesson for lesson in lessons if lesson.state != "retired" and _same_app(lesson.app, app)]
    if not fitting or not command.strip():
        return []
    texts = [text for lesson in fitting for text in lesson.commands or (lesson.text,)]
    rarity = dict.fromkeys(words_of(command), UNSEEN) | rarity_of(texts)
    near = _nearness(command, texts, rarity, embedder)
    scored: list[tuple[Lesson, float]] = []
    at = 0
    for lesson in fitting:
        count = len(lesson.commands) or 1
        some = sorted(near[at : at + count], reverse=True)
        at += count
        score = _NEAREST * some[0] + (1 - _NEAREST) * sum(some[:3]) / len(some[:3])
        if lesson.commands:
            score += _REASON * _overlap(command, lesson.reason, rarity)
        else:
            score = max(score, _overlap(command, lesson.text, rarity))
        scored.append((lesson, round(min(1.0, score), 4)))
    # Among equals the one that is trusted more, then the one that has always stood first.
    scored.sort(key=lambda pair: (-pair[1], -pair[0].confidence))
    fits = [pair for pair in scored if pair[1] >= SURE or _shares_words(command, pair[0])]
    return [pair for pair in fits[:most] if pair[1] >= max(LEAST, BESIDE * fits[0][1])]


def _shares_words(command: str, lesson: Lesson) -> bool:
    """ "open the garage" is not about "open <url> in Chrome", though "play Heroes" is about "play {text}"."""
    mine = set(words_of(command))
    others = [{word for word in words_of(text) if tells(word)} for text in lesson.commands]
    return any(words and len(mine & words) >= min(_SHARED, len(words)) for words in others)


def _nearness(
    command: str, texts: Sequence[str], rarity: Mapping[str, float], embedder: Embedder | None
) -> list[float]:
    rows = vectors_of([command, *texts], embedder, rarity=rarity)
    mine = parts_of(command)
    near = [float(likeness) for likeness in rows[1:] @ rows[0]]
    return [
        one + SAME_THING * (1 - one) if mine and mine & parts_of(text) else one
        for one, text in zip(near, texts, strict=True)
    ]


def _overlap(command: str, text: str, rarity: Mapping[str, float]) -> float:
    """How much of the shorter one's telling words the other has, 0..1; 0 for fewer than two words."""
    mine = {word for word in words_of(command) if tells(word)}
    theirs = {word for word in words_of(text) if tells(word)}
    shared = mine & theirs
    if len(shared) < _SHARED:
        return 0.0
    least = min(sum(rarity.get(word, 1.0) for word in words) for words in (mine, theirs))
    return sum(rarity.get(word, 1.0) for word in shared) / least


def _same_app(one: str, other: str) -> bool:
    return not one or not other or one.casefold() == other.casefold()
