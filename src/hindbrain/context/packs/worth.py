"""Is what was found worth its tokens? How likely it is that the vault has something to say to a prompt. Pure.

A search always finds something. What tells an answer from the nearest neighbour is how sure the best hit is,
how many of the prompt's words stand together in one passage, and whether a name of the prompt is among them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from hindbrain.search.hit import Hit

# A logistic curve, fitted on LoCoMo: questions about a conversation against questions about another one and
# small talk. `python -m benchmarks.abstention` prints what it is worth, there and on LongMemEval.
_INTERCEPT = 0.43
_CONFIDENCE = 1.84
_TOGETHER = 1.65
_NAMED = 2.0  # fitted it would be 5.5, but there every question names one of two people
_MOST_TOGETHER = 3  # words: a long prompt shares that many with any long passage
_LOOKED_AT = 5  # hits, the surest


def worth_of(hits: Sequence[Hit], names: Sequence[str] = ()) -> float:
    """0..1, comparable between prompts; 0 without hits. `names`: what the prompt calls by name."""
    if not hits:
        return 0.0
    surest = sorted(hits, key=lambda hit: -hit.confidence)[:_LOOKED_AT]
    best = min(max(surest[0].confidence, 1e-6), 1 - 1e-6)
    together = min(_MOST_TOGETHER, max(len(set(hit.terms)) for hit in surest))
    strength = _INTERCEPT + _CONFIDENCE * math.log(best / (1 - best)) + _TOGETHER * together
    if _words_of(names).intersection(term.lower() for hit in surest for term in hit.terms):
        strength += _NAMED
    return 1 / (1 + math.exp(-strength))


def _words_of(names: Sequence[str]) -> set[str]:
    return {word for name in names for word in re.findall(r"[^\W\d_]{3,}", name.lower())}
