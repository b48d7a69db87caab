"""Past runs that answer a prompt: "which flight did you find?" finds the run that found one.

A run is judged as a memory is, by what was asked for and what came of it, so that it holds for any owner and
encoder how close is close enough. Pure but for the encoder. Knows nothing of notes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.learn.told import Told
    from hindbrain.memory.relevance import BestRelevance

_MOST = 3
_STEEP = 10.0  # of the curve from a margin to a score


def answering(prompt: str, runs: Sequence[Told], relevance: BestRelevance) -> list[tuple[Told, float]]:
    """The runs whose answer a prompt asks for, the best first, each with a score from 0 to 1."""
    told = [run for run in runs if run.answer]
    items = [
        MemoryItem(run.id, f"{run.commands[0]} — {run.answer}", path=run.path, line=run.first_line)
        for run in told
    ]
    by_line = {run.first_line: run for run in told}
    fits = relevance.rank(prompt, items, asked=_is_question(prompt), version=tuple(items))
    close = [fit for fit in fits if fit.close][:_MOST]
    return [(by_line[fit.item.line], 1 / (1 + math.exp(-_STEEP * fit.margin))) for fit in close]


def _is_question(prompt: str) -> bool:
    """Few words are no reason to doubt a question."""
    return prompt.rstrip(" \n)\"'").endswith(("?", "？", "؟"))
