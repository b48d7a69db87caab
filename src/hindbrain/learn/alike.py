"""How alike commands are: by their words and by their meaning, as one dot product.

A command's vector is its words, hashed, beside its embedding; what differs from run to run (addresses,
numbers, quoted texts) counts little. Pure but for the embedder that it is given; works without one.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Embedder

_BUCKETS = 512
_MEANING = 0.5  # of the likeness; the words have the rest
_MEANING_BESIDE_RARE = 0.3  # words that count by what they tell leave less to the meaning
_PLAIN = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "do", "for", "from", "have", "hi",
    "hello", "hey", "help", "i", "i'd", "i'm", "if", "in", "is", "it", "like", "me", "my", "need", "of",
    "on", "or", "please", "some", "that", "the", "then", "there", "this", "to", "up", "us", "want", "was",
    "we", "will", "with", "would", "you", "your",
})  # fmt: skip
_PLAIN_WEIGHT, _PART_WEIGHT = 0.15, 0.4
# What one run fills in where another has something else.
_PARTS = (
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"), " <email> "),
    (
        re.compile(r"https?://\S+|\bwww\.\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co)\b\S*"),
        " <url> ",
    ),
    (
        re.compile(r"\{\w{1,40}\}|\"[^\"\n]{1,200}\"|'[^'\n]{2,200}'(?!\w)|“[^”\n]{1,200}”|`[^`\n]{1,200}`"),
        " <text> ",
    ),
    (re.compile(r"(?<!\w)(?:~|\.{1,2})?/[\w./~-]+|\b[A-Za-z]:\\\S+"), " <path> "),
    (re.compile(r"\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]{4,}\b"), " <id> "),
    (re.compile(r"\b\d[\d.,:]*\b"), " <n> "),
)
_KNOWN = 16_384  # commands whose words are kept: each is compared several times, one pass after the other
_WORD = re.compile(r"<\w+>|[^\W_]+(?:'[a-z]+)?")


@lru_cache(maxsize=_KNOWN)
def masked(command: str) -> str:
    """The command with what varies as `<url>`, `<email>`, `<text>`, `<path>`, `<id>` or `<n>`."""
    for pattern, name in _PARTS:
        command = pattern.sub(name, command)
    return " ".join(command.split())


def words_of(command: str) -> list[str]:
    """The words that count, as they are compared; a masked part is one word."""
    return list(_words(masked(command)))


def parts_of(command: str) -> frozenset[str]:
    """What `masked` takes out, in lower case: two commands that share one are about the same thing."""
    found: list[str] = []
    for pattern, name in _PARTS:
        if name != " <n> ":  # a number alone tells nothing
            found += pattern.findall(command)
            command = pattern.sub(name, command)
    return frozenset(part.lower().strip("\"'`“”.,;:!?") for part in found if not part.startswith("{"))


def tells(word: str) -> bool:
    """Is it a word of its own, neither one of those that every sentence has nor a masked part?"""
    return not word.startswith("<") and word not in _PLAIN


def rarity_of(texts: Sequence[str]) -> dict[str, float]:
    """How much each word tells here, 0..1: a word of every text tells little, one of few tells all."""
    seen = Counter(word for text in texts for word in set(words_of(text)))
    most = math.log(1 + len(texts))
    return {word: math.log(1 + len(texts) / count) / most for word, count in seen.items()} if seen else {}


def vectors_of(
    commands: Sequence[str], embedder: Embedder | None, *, rarity: Mapping[str, float] | None = None
) -> NDArray[np.float32]:
    """One row of length 1 for each command; the dot product of two is how alike they are, 0..1 or so.

    `rarity` (see `rarity_of`) lets words count by what they tell; a word that is not in it counts fully.
    """
    import numpy as np

    said = np.zeros((len(commands), _BUCKETS), dtype=np.float32)
    plain = [masked(command) for command in commands]
    for row, command in zip(said, plain, strict=True):
        for word in _words(command):
            told = 1.0 if rarity is None else rarity.get(word, 1.0) ** 2
            row[zlib.crc32(word.encode()) % _BUCKETS] += _weight(word) * told
    said = _normalised(np.sqrt(said))
    if embedder is None or not commands:
        return said
    meant = _normalised(np.asarray(embedder.embed_documents(plain), dtype=np.float32))
    share = _MEANING if rarity is None else _MEANING_BESIDE_RARE
    return np.hstack((np.sqrt(1 - share) * said, np.sqrt(share) * meant)).astype(np.float32)


def grouped(vectors: NDArray[np.float32], least: float) -> list[list[int]]:
    """The rows in groups of those that are alike, in the order of their first; each row is in one group.

    A row joins the group whose mean is nearest, when that is at least `least` alike. Takes rows in their
    order, so that what comes later never changes the groups of what came before.
    """
    import numpy as np

    groups: list[list[int]] = []
    sums = np.zeros((len(vectors), vectors.shape[1] if len(vectors) else 0), dtype=np.float32)
    lengths = np.ones(len(vectors), dtype=np.float32)
    for i, vector in enumerate(vectors):
        if groups:
            near = (sums[: len(groups)] @ vector) / lengths[: len(groups)]
            best = int(near.argmax())
            if near[best] >= least:
                groups[best].append(i)
                sums[best] += vector
                lengths[best] = max(float(np.linalg.norm(sums[best])), 1e-9)
                continue
        sums[len(groups)] = vector
        lengths[len(groups)] = max(float(np.linalg.norm(vector)), 1e-9)
        groups.append([i])
    return groups


@lru_cache(maxsize=_KNOWN)
def _words(plain: str) -> tuple[str, ...]:
    return tuple([_stem(word) for word in _WORD.findall(plain.lower())])


def _weight(word: str) -> float:
    if word.startswith("<"):
        return _PART_WEIGHT
    return _PLAIN_WEIGHT if word in _PLAIN else 1.0


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def _normalised(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    normalised: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return normalised
