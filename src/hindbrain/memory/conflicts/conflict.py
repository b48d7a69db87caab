"""What becomes of a new memory beside those that are there: merged, related, superseding, or new.

A similarity above 0.9 merges and above 0.7 relates, whatever embedder is in use: each embedder's cosine is
brought to that scale by a calibration (`benchmarks/conflicts.py` makes it). However similar two texts are,
they are merged only when one of them says all that the other says: a lost fact is worse than two lines.
Knows nothing of files, and fails to words alone when the embedder fails.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.memory.conflicts.contradiction import contradicts
from hindbrain.memory.conflicts.sameness import fuller_of, why_apart
from hindbrain.memory.conflicts.statement import MAX_CHARS, Statement, read_statement
from hindbrain.vault.items.item_text import unlinked

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder, Vectors
    from hindbrain.vault.items.item import MemoryItem

MERGE = 0.9
RELATED = 0.7
_USER = re.compile(r"^(?:the )?(?:user|owner)(?:['’]s)?\s+")
_MAX_VECTORS = 4096  # kept: the same memories are candidates again and again
_PAUSE_S = 300.0  # after a failure; somebody waits for every memory to be acknowledged


class Decision(NamedTuple):
    """What to do with a new memory."""

    action: Literal["new", "merge", "related", "supersede"]
    other: MemoryItem | None  # the memory that it merges with, relates to or replaces; None when new
    similarity: float  # 0..1, calibrated: above 0.9 the same, above 0.7 on the same matter
    why: str  # a few words for a person


class Calibration(NamedTuple):
    """Where the cosine of an embedder, mixed with the share of common words, means "related" and "same"."""

    words: float  # the weight of common words, 0..1; the cosine has the rest
    related: float
    same: float


# By the embedder's name; fitted by benchmarks/conflicts.py. An unknown one is taken for a transformer, whose
# bare cosine has the reference's thresholds.
CALIBRATIONS = {"builtin/l2-supercat-256": Calibration(words=0.25, related=0.33, same=0.82)}
UNKNOWN = Calibration(words=0.0, related=RELATED, same=MERGE)
WORDS_ALONE = Calibration(words=1.0, related=0.33, same=0.99)


class ConflictJudge:
    def __init__(
        self, embedder: Callable[[], Embedder | None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`embedder` is asked at each judgement, so that it is loaded when needed; None: words alone."""
        self._embedder = embedder
        self._clock = clock
        self._vectors: dict[tuple[str, str], Vectors] = {}  # by embedder and text
        self._paused_until = 0.0

    def judge(self, text: str, candidates: Sequence[MemoryItem]) -> Decision:
        """Compare `text` with the candidates that still hold: the nearest that says the same, else the
        nearest that it contradicts, else the nearest on the same matter."""
        living = [item for item in candidates if not item.superseded and item.text.strip()]
        if not living or not text.strip():
            return Decision("new", None, 0.0, "nothing to compare with")
        for item in living:
            if says_same_words(item.text, text):  # whatever the rules below make of such words
                return Decision("merge", item, 1.0, "says the same")
        new = read_statement(unlinked(text))
        olds = [read_statement(unlinked(item.text)) for item in living]
        near = self._similarities(new, olds)
        ranked = sorted(range(len(living)), key=lambda at: (-near[at], at))
        disputed = {at: reason for at in ranked if (reason := contradicts(olds[at], new))}
        for at in ranked:
            if near[at] > MERGE and at not in disputed and not why_apart(olds[at], new):
                return Decision("merge", living[at], near[at], "says the same")
        for at, reason in disputed.items():
            return Decision("supersede", living[at], near[at], reason)
        best = ranked[0]
        if near[best] > RELATED:
            reason = why_apart(olds[best], new) or "on the same matter"
            return Decision("related", living[best], near[best], reason)
        return Decision("new", None, near[best], "nothing alike")

    def _similarities(self, new: Statement, olds: Sequence[Statement]) -> list[float]:
        embedder = self._embedder() if self._clock() >= self._paused_until else None
        calibration = WORDS_ALONE if embedder is None else CALIBRATIONS.get(embedder.name, UNKNOWN)
        cosines = [0.0] * len(olds)
        if embedder is not None:
            try:
                cosines = self._cosines(embedder, new.text, [old.text for old in olds])
            except HindbrainError:  # a model's failure never costs a memory
                self._paused_until = self._clock() + _PAUSE_S
                calibration = WORDS_ALONE
        return [similarity(old, new, cosine, calibration) for old, cosine in zip(olds, cosines, strict=True)]

    def _cosines(self, embedder: Embedder, text: str, others: Sequence[str]) -> list[float]:
        if len(self._vectors) > _MAX_VECTORS:
            self._vectors.clear()
        keys = [(embedder.name, embedded(each)) for each in (text, *others)]
        unknown = list(dict.fromkeys(key for key in keys if key not in self._vectors))
        if unknown:
            made = embedder.embed_documents([each for _, each in unknown])
            self._vectors.update(zip(unknown, made, strict=True))
        mine = self._vectors[keys[0]]
        return [float(mine @ self._vectors[key]) for key in keys[1:]]


def embedded(text: str) -> str:
    """What is embedded of a memory: "User likes tea" and "Likes tea" give one vector."""
    return _USER.sub("", text[:MAX_CHARS].casefold(), count=1) or text[:MAX_CHARS]


def similarity(old: Statement, new: Statement, cosine: float, calibration: Calibration) -> float:
    """How alike two statements are, 0..1, on the scale on which 0.9 is "the same" and 0.7 "related"."""
    mixed = calibration.words * common_words(old, new) + (1 - calibration.words) * cosine
    value = min(1.0, max(0.0, mixed))
    points = ((0.0, 0.0), (calibration.related, RELATED), (calibration.same, MERGE), (1.0, 1.0))
    for (low, to_low), (high, to_high) in pairwise(points):
        if value <= high:
            return to_low + (to_high - to_low) * (value - low) / (high - low)
    return 1.0


def common_words(old: Statement, new: Statement) -> float:
    """The share of the shorter one's words that the longer one has too, 0..1."""
    one, other = set(old.words), set(new.words)
    return len(one & other) / max(1, min(len(one), len(other)))


def merged_text(old: str, new: str) -> str:
    """The one of two texts that says more; the newer where both say as much. For what `judge` merges.

    The same words stay as they are: the older ones may have been linked.
    """
    if says_same_words(old, new):
        return old
    older, newer = read_statement(old), read_statement(new)
    return old if fuller_of(older, newer)[0] is older else new


def adds_nothing(known: str, text: str) -> bool:
    """Whether `known` says all that `text` says. For what `judge` merges."""
    return set(read_statement(unlinked(text)).words) <= set(read_statement(unlinked(known)).words)


def says_same_words(one: str, other: str) -> bool:
    """Whether two texts read the same, whatever is linked in them."""
    return _words_of(one) == _words_of(other)


def _words_of(text: str) -> list[str]:
    """As a reader sees them: `[[Projects/Falcon|Falcon]]` is "falcon"."""
    return re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", text).casefold().split()
