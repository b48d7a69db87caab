"""Which of the cues that come with a memory are stored with it.

A cue only helps to find a memory, so a bad one is left out and the memory is stored without it: no secret, no
order to a model, nothing that the owner forgot, nothing that says nothing. The caller hears what and why.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hindbrain.memory.answers import LeftOutCue
from hindbrain.memory.policy.hidden_text import strip_hidden
from hindbrain.memory.policy.own_output import strip_own_output
from hindbrain.memory.policy.tripwire import reads_like_instruction
from hindbrain.vault.items.item import LONGEST_CUE, MOST_CUES, join_cues

_MOST_OFFERED = 4 * MOST_CUES  # that are looked at
_LONGEST_OFFERED = MOST_CUES * (LONGEST_CUE + 2)  # characters: one text may hold them all, with commas
AT_MOST = f"at most {MOST_CUES}"


class ChosenCues(NamedTuple):
    """The cues that are stored, as a line can hold them, and the others."""

    kept: tuple[str, ...] = ()
    left_out: tuple[LeftOutCue, ...] = ()


def choose_cues(offered: Sequence[str], *, source: str, is_forgotten: Callable[[str], bool]) -> ChosenCues:
    """Choose those of `source` that may be stored."""
    of_owner = source == "user"
    allowed: list[str] = []
    left_out: list[LeftOutCue] = []
    for at, text in enumerate(offered):
        shown, hides = strip_hidden(text)
        if why := AT_MOST if at >= _MOST_OFFERED else _fault(text, shown, hides=hides and not of_owner):
            left_out.append(_left_out(shown, why))
            continue
        for cue in filter(str.strip, shown.split(",")):
            if not of_owner and is_forgotten(cue):
                left_out.append(_left_out(cue, "the user has it forgotten"))
            else:
                allowed.append(cue)
    # Together, too: a secret or an order may come in pieces.
    whole = ", ".join(allowed)
    if _has_secret(whole) or (not of_owner and reads_like_instruction(whole.replace(",", ""))):
        why = "together they read like a secret or an instruction"
        return ChosenCues((), (*left_out, _left_out(whole, why)))
    chosen = _as_stored(allowed)
    return chosen._replace(left_out=(*left_out, *chosen.left_out))


def _fault(text: str, shown: str, *, hides: bool) -> str:
    """Why nothing of a text is taken; "" when there is no reason."""
    if len(text) > _LONGEST_OFFERED:
        return "too long"
    if strip_own_output(text).found:
        return "it quotes Hindbrain"
    if hides:
        return "it has hidden characters"
    return "a secret" if _has_secret(shown) else ""


def _as_stored(allowed: Iterable[str]) -> ChosenCues:
    """Each once whatever its case, with words in it, and at most MOST_CUES."""
    kept: dict[str, str] = {}
    left_out: list[LeftOutCue] = []
    for given in allowed:
        cue = next(iter(join_cues([given])), "")
        if not cue or not _says_something(cue):
            is_long = len(" ".join(given.split())) > LONGEST_CUE
            left_out.append(_left_out(given, f"over {LONGEST_CUE} characters" if is_long else "says nothing"))
        elif cue.casefold() in kept:
            left_out.append(_left_out(given, "given twice"))
        elif len(kept) == MOST_CUES:
            left_out.append(_left_out(given, AT_MOST))
        else:
            kept[cue.casefold()] = cue
    return ChosenCues(tuple(kept.values()), tuple(left_out))


def _left_out(cue: str, why: str) -> LeftOutCue:
    from hindbrain.base.secrets import redact

    shown = " ".join(redact(cue[:_LONGEST_OFFERED])[0].split())
    return LeftOutCue(shown if len(shown) <= LONGEST_CUE else f"{shown[: LONGEST_CUE - 1]}…", why)


def _has_secret(text: str) -> bool:
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    return bool(redact(text)[1])


def _says_something(cue: str) -> bool:
    from hindbrain.memory.items.word_index import words_of
    from hindbrain.search.terms import STOP_WORDS

    return bool(words_of(cue) - STOP_WORDS)
