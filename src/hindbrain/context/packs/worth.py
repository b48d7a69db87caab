"""Is what was found worth its tokens? How likely it is that the vault has something to say to a prompt. Pure.

A search always finds something. What tells an answer from the nearest neighbour is how sure the best hit is,
and how many of the prompt's words stand together in one passage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hindbrain.search.hit import Hit

# A logistic curve, fitted on LoCoMo: questions about a conversation against questions about another one and
# small talk. `python -m benchmarks.abstention` prints what it is worth, there and on LongMemEval.
_INTERCEPT = 0.43
_CONFIDENCE = 1.84
_TOGETHER = 1.65
_MOST_TOGETHER = 3  # words: a long prompt shares that many with any long passage
_LOOKED_AT = 5  # hits, the surest


def worth_of(hits: Sequence[Hit]) -> float:
    """0..1, comparable between prompts; 0 without hits."""
    if not hits:
        return 0.0
    surest = sorted(hits, key=lambda hit: -hit.confidence)[:_LOOKED_AT]
    best = min(max(surest[0].confidence, 1e-6), 1 - 1e-6)
    together = min(_MOST_TOGETHER, max(len(set(hit.terms)) for hit in surest))
    strength = _INTERCEPT + _CONFIDENCE * math.log(best / (1 - best)) + _TOGETHER * together
    return 1 / (1 + math.exp(-strength))
