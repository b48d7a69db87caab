"""Past runs that answer a prompt: "which flight did you find?" finds the run that found one.

A run is judged as a memory is: by what was asked for, and by that together with what came of it. So the bar
holds for any owner and encoder. Pure but for the encoder. Knows nothing of notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.learn.told import Told
    from hindbrain.memory.relevance import BestRelevance

_MOST = 3
_GUESS = -0.25  # margin from which on who asks is shown a run


def answering(
    prompt: str, runs: Sequence[Told], relevance: BestRelevance, *, asked: bool = False
) -> list[tuple[Told, float]]:
    """The runs whose answer a prompt asks for, the best first, each with a score from 0 to 1.

    `asked`: somebody asks for what is known, and is shown what is near, too. Else only a question gets one:
    for a command it is told how such commands went.
    """
    if not (asked or _is_question(prompt)):
        return []
    told = {run.first_line: run for run in runs if run.answer}
    items = [
        MemoryItem(run.id, command, path=run.path, line=line, cues=(f"{command} — {run.answer}",))
        for line, run in told.items()
        for command in run.commands[:1]
    ]
    from hindbrain.memory.relevance import confidence_of, near

    fits = relevance.rank(prompt, items, asked=True, version=tuple(items))
    shown = near(fits, _GUESS) if asked else [fit for fit in fits if fit.close]
    return [(told[fit.item.line], confidence_of(fit.margin)) for fit in shown[:_MOST]]


def _is_question(prompt: str) -> bool:
    return prompt.rstrip(" \n)\"'").endswith(("?", "？", "؟"))
