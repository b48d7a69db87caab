"""Kinds of tasks: runs whose commands are alike, and a few words for what they have in common. Pure.

Commands that differ only in what a run filled in, addresses, numbers and quoted texts are one kind at once;
the others by likeness.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.alike import grouped, masked, vectors_of
from hindbrain.learn.recording.wording import plain
from hindbrain.learn.wishes import wish_of

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode

_MOST_EXAMPLE = 120  # characters
ALIKE = 0.6  # likeness to the mean of a kind, from words alone
_PLURALS = {
    "<url>": "websites", "<email>": "mail addresses", "<path>": "files", "<id>": "ids", "<n>": "numbers",
}  # fmt: skip
_MOST_COMMAND = 2_000  # characters that are looked at
_FILLED = re.compile(r"\{[^{}]{1,60}\}")
_PART = re.compile(r"<[a-z]+>")
_POLITE = re.compile(r"^(?:please|can you|could you|hey|hi|hello)[ ,]+", re.IGNORECASE)
_PLAIN_KIND = re.compile(r"[a-z]+(?: (?:[a-z]+|<[a-z]+>)){0,4}")


class Kind(NamedTuple):
    """Alike commands and their runs, oldest first."""

    typical: str  # the most frequent form: lower case, masked, without what `bare` takes out
    runs: tuple[Episode, ...]
    same: int = 0  # runs whose command has exactly that form


def kinds_of(
    episodes: Sequence[Episode],
    bare: Callable[[str], str] = str,
    *,
    alike: float = ALIKE,
    same_verb: bool = False,
) -> list[Kind]:
    """The kinds, by their first run. `bare` takes out of a command what must not count.

    `same_verb`: commands of one kind begin with the same word, which says what to do.
    """
    forms: dict[str, list[int]] = {}
    for at, episode in enumerate(episodes):
        wish = wish_of(episode._replace(command=bare(episode.command[:_MOST_COMMAND])))
        form = masked(_FILLED.sub("<text>", _POLITE.sub("", wish))).lower().strip(" .!?")
        forms.setdefault(form, []).append(at)
    # What is nothing but an address or an id names no kind of task.
    names = [form for form in forms if any(map(str.isalpha, _PART.sub("", form)))]
    if not names:
        return []
    found: list[Kind] = []
    for group in _groups(names, alike, same_verb):
        members = sorted(at for one in group for at in forms[names[one]])
        counts = Counter({names[one]: len(forms[names[one]]) for one in group})
        typical = min(counts, key=lambda form: (-counts[form], len(form), form))
        found.append(Kind(typical, tuple(episodes[at] for at in members), counts[typical]))
    return found


def _groups(forms: Sequence[str], alike: float, same_verb: bool) -> list[list[int]]:
    if not same_verb:
        return grouped(vectors_of(forms, None), alike)
    by_verb: dict[str, list[int]] = {}
    for at, form in enumerate(forms):
        by_verb.setdefault(form.split(maxsplit=1)[0], []).append(at)
    found: list[list[int]] = []
    for places in by_verb.values():
        vectors = vectors_of([forms[at] for at in places], None)
        found += [[places[at] for at in group] for group in grouped(vectors, alike)]
    return sorted(found)


def in_words(kind: Kind) -> str:
    """What the runs are for: `to open websites`, else `for tasks like "send Ada an email about lunch"`."""
    speaks_for_all = 2 * kind.same > len(kind.runs)
    if speaks_for_all and _PLAIN_KIND.fullmatch(kind.typical) and "<text>" not in kind.typical:
        return "to " + " ".join(_PLURALS.get(word, word) for word in kind.typical.split())
    shortest = min((one.command for one in kind.runs), key=lambda command: (len(command), command))
    return f'for tasks like "{plain(shortest, _MOST_EXAMPLE)}"'
