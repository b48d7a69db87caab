"""User corrections: a person put an agent right by saying the same thing otherwise, right after it failed.

`corrections` is pure. A correction is a command that begins at most two minutes after a run of the same
session (or host, where sessions are not known) failed, was stuck or was cancelled, that is like the first
one, and that changes its words: an address, a number or a quoted text, too, though likeness does not see
these. The same words again are a retry, and the third thing in the same place ("run the tests of alpha", "of
beta", "of gamma") makes all of them items of a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.alike import vectors_of
from hindbrain.learn.recording.entries import New, with_entries
from hindbrain.learn.recording.places import first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import item_id, outcome, stamp

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page

WITHIN_S = 120.0
_LIST = 3  # different things in one place of a command
_MOST_WORDS = 30  # of a command that are looked at
LEAST = 0.35  # likeness of the two commands
# Words that make no other command of it.
POLITE = frozenset({"please", "again", "now", "just", "ok", "okay", "hey", "try", "retry", "pls"})
_PUT_RIGHT = ("failed", "stuck", "cancelled")
_WORD = re.compile(r"\S+")
# A site by its name: who said "github" first and says "github.com" now means the same thing.
_SITE = re.compile(
    r"\b(?:https?://)?(?:www\.)?([\w-]{3,})\.(?:com|org|net|io|dev|app|ai|co)\b(?:/\S*)?", re.IGNORECASE
)
_EDGES = " \t\"'.,;:!?()[]{}“”‘’`"


class Correction(NamedTuple):
    """What was said first and what instead."""

    original: Episode
    corrected: Episode
    likeness: float  # 0..1
    added: tuple[str, ...]  # words, in their order
    removed: tuple[str, ...]

    @property
    def id(self) -> str:
        return item_id("c", self.original.run, self.corrected.run)


def corrections(episodes: Sequence[Episode]) -> list[Correction]:
    """The corrections among these runs, oldest first."""
    pairs = _pairs(episodes)
    if not pairs:
        return []
    commands = [one.command for pair in pairs for one in pair]
    vectors = vectors_of(commands, None)
    by_name = vectors_of([_SITE.sub(r"\1", command) for command in commands], None)
    found: list[Correction] = []
    lists = _lists(episodes)
    for at, (first, second) in enumerate(pairs):
        if _is_next_item(first, second, lists):
            continue
        likeness = max(float(rows[2 * at] @ rows[2 * at + 1]) for rows in (vectors, by_name))
        added = _missing(second.command, first.command)
        removed = _missing(first.command, second.command)
        if likeness >= LEAST and not POLITE.issuperset(word.casefold() for word in (*added, *removed)):
            found.append(Correction(first, second, likeness, added, removed))
    return found


def _pairs(episodes: Sequence[Episode]) -> list[tuple[Episode, Episode]]:
    """Each run that was put right perhaps, and what was asked for next where it was asked."""
    pairs: list[tuple[Episode, Episode]] = []
    before: dict[tuple[str, str], Episode] = {}  # the last run of each session
    for episode in sorted(episodes, key=lambda one: (one.started, one.run)):
        place = (episode.host, episode.session)
        last = before.get(place)
        if last is not None and last.outcome in _PUT_RIGHT:
            # A run that was cancelled may say so a moment after the next one began.
            waited = episode.started - last.ended
            if -5.0 <= waited <= WITHIN_S:
                pairs.append((last, episode))
        before[place] = episode
    return pairs


Frame = tuple[str, str, tuple[str, ...], tuple[str, ...]]  # host, session, and the words around one place


def _lists(episodes: Sequence[Episode]) -> dict[Frame, set[str]]:
    """What stood in each place of the commands of a session."""
    found: dict[Frame, set[str]] = {}
    for episode in episodes:
        for frame, item in _frames(episode):
            found.setdefault(frame, set()).add(item)
    return found


def _frames(episode: Episode) -> list[tuple[Frame, str]]:
    words = [word.strip(_EDGES).casefold() for word in _WORD.findall(episode.command)][:_MOST_WORDS]
    return [
        ((episode.host, episode.session, tuple(words[:at]), tuple(words[at + 1 :])), word)
        for at, word in enumerate(words)
    ]


def _is_next_item(first: Episode, second: Episode, lists: Mapping[Frame, set[str]]) -> bool:
    shared = {frame for frame, _ in _frames(first)}.intersection(frame for frame, _ in _frames(second))
    return any(len(lists[frame]) >= _LIST for frame in shared)


def _missing(text: str, other: str) -> tuple[str, ...]:
    """The words of `text` that `other` does not have, in their order, each once."""
    known = {word.strip(_EDGES).casefold() for word in _WORD.findall(other)}
    words = (word.strip(_EDGES) for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in words if word and word.casefold() not in known))


def correction_entry(correction: Correction, screen: Screen, note_is: str) -> New:
    first, second = screen.command(correction.original), screen.command(correction.corrected)
    changed = [f"{what} {words}" for what, words in (
        ("added", _words(correction.added, screen, correction.corrected.source)),
        ("removed", _words(correction.removed, screen, correction.original.source)),
    ) if words]  # fmt: skip
    time = stamp(correction.corrected.started)
    lines = [
        f"## {time}",
        f'- **Original:** "{first.text}"{source_mark(first.source, note_is)} ^{correction.id}',
        f'- **Corrected:** "{second.text}"{source_mark(second.source, note_is)}',
        f"- **Changed:** {'; '.join(changed)}{source_mark(second.source, note_is)}",
        f"- **Outcome:** {outcome(correction.original)}, then {outcome(correction.corrected)}",
    ]
    return New(time, correction.id, tuple(lines))


def _words(words: Sequence[str], screen: Screen, source: str) -> str:
    return screen.told(", ".join(words), 120, source).text


class CorrectionNote:
    def __init__(self, desk: Desk, screen: Screen) -> None:
        self._desk = desk
        self._screen = screen

    def add(self, found: Sequence[Correction]) -> int:
        """Tell these; returns how many were not told yet. One write."""
        if not found:
            return 0
        path = self._desk.path("corrections")
        page = self._desk.find(path)
        first = first_text(self._desk, "corrections")
        note_is = note_source(page.data if page is not None else first, path)
        new = sorted(correction_entry(one, self._screen, note_is) for one in found)

        def change(now: Page | None) -> bytes | None:
            before = first if now is None else now.data
            after = with_entries(before, new, path)
            return None if after == before else after

        written = self._desk.edit(path, change, ours=[line for one in new for line in one.lines])
        return len(new) if written is not None else 0
