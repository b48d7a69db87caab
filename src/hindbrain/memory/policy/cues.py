"""Which of the cues that come with a memory are stored with it.

A cue only helps to find a memory, so a bad one is left out and the memory is stored without it: no secret, no
order to a model, nothing that the owner forgot, nothing that says nothing. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hindbrain.memory.policy.hidden_text import strip_hidden
from hindbrain.memory.policy.own_output import strip_own_output
from hindbrain.memory.policy.tripwire import reads_like_instruction
from hindbrain.vault.items.item import LONGEST_CUE, MOST_CUES, join_cues

_MOST_OFFERED = 4 * MOST_CUES  # that are looked at
_LONGEST_OFFERED = MOST_CUES * (LONGEST_CUE + 2)  # characters: one text may hold them all, with commas


def allowed_cues(
    offered: Sequence[str], *, source: str, is_forgotten: Callable[[str], bool]
) -> tuple[str, ...]:
    """The cues of `source` that may be stored, as a line can hold them."""
    of_owner = source == "user"
    kept: list[str] = []
    for text in offered[:_MOST_OFFERED]:
        if len(text) > _LONGEST_OFFERED or strip_own_output(text).found:
            continue
        shown, hides = strip_hidden(text)
        if (hides and not of_owner) or _has_secret(shown):
            continue
        kept += [cue for cue in shown.split(",") if of_owner or not is_forgotten(cue)]
    # Together, too: a secret or an order may come in pieces.
    whole = ", ".join(kept)
    if _has_secret(whole) or (not of_owner and reads_like_instruction(whole.replace(",", ""))):
        return ()
    return join_cues([cue for cue in kept if _says_something(cue)])


def _has_secret(text: str) -> bool:
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    return bool(redact(text)[1])


def _says_something(cue: str) -> bool:
    from hindbrain.memory.items.word_index import words_of
    from hindbrain.search.terms import STOP_WORDS

    return bool(words_of(cue) - STOP_WORDS)
