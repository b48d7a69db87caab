"""When a conversation turns to something else: topics of messages, and how near two topics are.

A topic is what the last messages were about, the newest counting most. Where there is an embedder, topics
are compared by words and by meaning; else by words alone, which needs no index, no numpy and no model. How
near is near depends on who measures: see `CALIBRATIONS`, and docs/decisions/0012-topic-drift.md.

Knows nothing of sessions, files or what is injected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.base.segment import unsegmented_run
from hindbrain.context.messages import Message
from hindbrain.context.topic.said import what_was_said
from hindbrain.models.embedder import Embedder, has_pieces
from hindbrain.search.telling import SMALL_TALK, SMALL_TALK_WEIGHT, Telling, telling_words
from hindbrain.search.terms import STOP_WORDS

if TYPE_CHECKING:
    from hindbrain.models.embedder import Vectors

MOST_PROMPTS = 3  # of which a topic is made
FEWEST_WORDS = 3  # that a message must say before it can be about something else
USER_DECAY = 0.5  # with each newer prompt
REPLY_WEIGHT = 0.5  # of what was answered in between; it decays with the prompt that it answers
_STOP_WEIGHT = 0.05  # of a stop word in a vector
_EMBEDDED_CHARS = 2_000
_EMBEDDED_WORDS = 200
_KEPT_VECTORS = 64
_LABEL_WORDS = 2
_READINGS_WITHOUT = 20  # after an embedder failed: a prompt must not wait for a dead service each time


class Calibration(NamedTuple):
    """How similarity is measured with an embedder, and below which one the topic has changed."""

    words: float  # 0..1: the share of common words, the rest is the cosine of the vectors
    threshold: float


WORDS_ALONE = Calibration(words=1.0, threshold=0.04)
UNKNOWN = Calibration(words=0.0, threshold=0.3)  # the reference's, for transformers
CALIBRATIONS: Mapping[str, Calibration] = {
    "builtin/l2-supercat-256": Calibration(words=0.5, threshold=0.12),
}


class Topic(NamedTuple):
    """What some messages are about."""

    words: Mapping[str, float] = {}  # stem -> weight; of length 1
    shown: Mapping[str, str] = {}  # stem -> a word to show
    vector: Vectors | None = None  # of length 1; None: no embedder, or it failed
    embedder: str = ""  # whose vector it is
    said: int = 0  # words beyond small talk


class Drift(NamedTuple):
    """How far a message is from what was talked about."""

    similarity: float  # 0..1, comparable only between topics of one embedder
    shifted: bool
    label: str = ""  # "budget -> vacation planning"; "" when it did not shift
    threshold: float = 0.0


def judge_drift(
    before: Topic, now: Topic, calibration: Calibration | None = None, *, threshold: float = 0.0
) -> Drift:
    """Compare a message (`now`) with the topic before it. What says nothing never is a shift.

    `threshold`: the owner's; 0: the calibration's.
    """
    known = calibration or calibration_for(before, now)
    near = similarity(before, now, known)
    limit = threshold or known.threshold
    shifted = bool(before.words) and now.said >= FEWEST_WORDS and near < limit
    return Drift(near, shifted, label(before, now) if shifted else "", limit)


def calibration_for(before: Topic, now: Topic) -> Calibration:
    if before.vector is None or now.vector is None or before.embedder != now.embedder:
        return WORDS_ALONE
    return CALIBRATIONS.get(now.embedder, UNKNOWN)


def similarity(before: Topic, now: Topic, calibration: Calibration | None = None) -> float:
    """0: nothing in common, 1: the same."""
    share = (calibration or calibration_for(before, now)).words
    words = sum(weight * before.words.get(stem, 0.0) for stem, weight in now.words.items())
    if share == 1.0 or before.vector is None or now.vector is None:
        return min(1.0, words)
    cosine = float(before.vector @ now.vector)
    return max(0.0, min(1.0, share * words + (1.0 - share) * cosine))


def label(before: Topic, now: Topic) -> str:
    """Name both topics by their most telling words, those that they do not share."""
    return f"{_named(before, now.words) or 'before'} -> {_named(now, before.words) or 'something else'}"


def _named(topic: Topic, other: Mapping[str, float]) -> str:
    best = sorted(
        (stem for stem, word in topic.shown.items() if stem not in other and not any(map(str.isdigit, word))),
        key=lambda stem: (-round(topic.words[stem], 6), -min(len(stem), 9)),
    )[:_LABEL_WORDS]
    return " ".join(word for stem, word in topic.shown.items() if stem in best)


class TopicReader:
    """Makes topics of messages. Keeps the vectors of the last few, so that a turn embeds only what is new."""

    def __init__(self, embedder: Callable[[], Embedder | None] = lambda: None) -> None:
        """`embedder` is called at first need."""
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        self._without = 0  # readings for which the embedder is left alone

    def prompt(self, text: str) -> Topic:
        """What one prompt is about."""
        return self.talk([Message("user", text)])

    def talk(self, messages: Iterable[Message]) -> Topic:
        """What a conversation is about, by its last prompts and what was answered to them."""
        parts = _parts(messages)
        if not parts:
            return Topic()
        words, shown = _mixed([(telling, weight) for _, telling, weight in parts])
        vector, name = self._vector([(text, weight) for text, _, weight in parts])
        return Topic(words, shown, vector, name, said=sum(telling.said for _, telling, _ in parts))

    def _vector(self, parts: Sequence[tuple[str, float]]) -> tuple[Vectors | None, str]:
        if self._without:
            self._without -= 1
            return None, ""
        try:
            embedder = self._embedder()
            if embedder is None or not _is_read_by(embedder, [text for text, _ in parts]):
                return None, ""
            mean = _mean([(self._embedded(embedder, text), weight) for text, weight in parts])
            return (mean, embedder.name) if mean is not None else (None, "")
        except HindbrainError:
            # Not a failure of the turn: words tell as well, and `search` says that the embedder is down.
            self._without = _READINGS_WITHOUT
            return None, ""

    def _embedded(self, embedder: Embedder, text: str) -> Vectors:
        key = f"{embedder.name}\n{text}"
        found = self._vectors.pop(key, None)
        if found is None:
            found = _embed(embedder, text)
        self._vectors[key] = found  # the last used one comes last
        if len(self._vectors) > _KEPT_VECTORS:
            del self._vectors[next(iter(self._vectors))]
        return found


def _parts(messages: Iterable[Message]) -> list[tuple[str, Telling, float]]:
    """The messages that make the topic, with their weights; tools and systems do not choose topics."""
    parts: list[tuple[str, Telling, float]] = []
    prompts, weight = 0, 1.0
    for message in reversed(list(messages)):
        if message.role not in ("user", "assistant") or (message.role == "assistant" and message.tool):
            continue
        text = what_was_said(message.text)[:_EMBEDDED_CHARS]
        telling = telling_words(text)
        if not telling.weights:
            continue
        is_prompt = message.role == "user"
        parts.append((text, telling, weight if is_prompt else weight * REPLY_WEIGHT))
        if is_prompt:
            prompts, weight = prompts + 1, weight * USER_DECAY
        if prompts == MOST_PROMPTS:
            break
    return parts[::-1]


def _mixed(parts: Sequence[tuple[Telling, float]]) -> tuple[dict[str, float], dict[str, str]]:
    """The decayed sum of the messages' words, each message and the whole of length 1."""
    words: dict[str, float] = {}
    shown: dict[str, str] = {}
    for telling, weight in parts:
        length = math.sqrt(sum(own * own for own in telling.weights.values()))
        for stem, own in telling.weights.items():
            words[stem] = words.get(stem, 0.0) + weight * own / length
            shown.setdefault(stem, telling.shown[stem])
    length = math.sqrt(sum(own * own for own in words.values())) or 1.0
    return {stem: own / length for stem, own in words.items()}, shown


def _embed(embedder: Embedder, text: str) -> Vectors:
    if not has_pieces(embedder):
        return embedder.embed_query(text)
    from hindbrain.models.static import words_of

    return embedder.embed_weighted((word, _weight(word)) for word in words_of(text)[:_EMBEDDED_WORDS])


def _weight(word: str) -> float:
    folded = word.lower()
    return _STOP_WEIGHT if folded in STOP_WORDS else SMALL_TALK_WEIGHT if folded in SMALL_TALK else 1.0


def _is_read_by(embedder: Embedder, texts: Sequence[str]) -> bool:
    """An embedder that sums pieces knows single signs of Chinese or Thai, and little of words."""
    if not has_pieces(embedder) or all(map(str.isascii, texts)):
        return True
    unknown = sum(len(run) for text in texts for run in unsegmented_run().findall(text))
    return 2 * unknown < sum(1 for text in texts for char in text if char.isalnum())


def _mean(parts: Sequence[tuple[Vectors, float]]) -> Vectors | None:
    """The weighted mean of vectors, of length 1; None when there is nothing in it."""
    import numpy as np

    vectors, weights = zip(*parts, strict=True)
    mean: Vectors = np.asarray(weights, dtype=np.float32) @ np.stack(vectors)
    length = float(np.linalg.norm(mean))
    return mean / length if length else None
