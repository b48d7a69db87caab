"""The present: what was done last and what is open, and the last five runs of the last seven days.

A run that leaves these moves to the daily summary, below the actions of its day, unless the summary links it
already; the summary is written before the line goes. The task log has all of it, so that a short line with
a link is enough there. A line that its owner changed stays; one that they deleted moves nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.pages.sections import section_at, with_section
from hindbrain.learn.recording.daily_lines import summary
from hindbrain.learn.recording.entries import ids_in
from hindbrain.learn.recording.places import FIRST, first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import block_id, clock_of, day_of, outcome, run_link, stamp
from hindbrain.memory.policy.provenance import lowest
from hindbrain.memory.timeline import RECENT_DAYS, RECENT_RUNS, day_text
from hindbrain.vault.lines import NoteLines

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page

WINDOW_S = RECENT_DAYS * 86_400.0
OPEN_S = 7 * 86_400.0  # a failure that nobody took up again for so long is no longer open
MOST_OPEN = 5
_LOOKED_AT = 200  # runs
ACTIONS = "Actions of"  # begins a heading of the summary
STATUS, RECENT = "Last run", f"Last {RECENT_DAYS} days"
# What the note said while the window had two hours.
_FORMER = {
    "## Last 2 hours": f"## {RECENT}",
    "What was done in the last two hours, the newest last.": FIRST["recent"],
}
_CLOCK_ONLY = re.compile(r"\[\d\d:\d\d\] ")
_WORDS = {"failed": "failed", "stuck": "stuck", "cancelled": "cancelled", "success": "success"}
_NUMBERED = re.compile(r"\s*\d{1,9}[.)]\s+(.*\S)\s+\^(r-[A-Za-z0-9-]+)\s*")


def still_open(episodes: Sequence[Episode]) -> list[Episode]:
    """What failed or was cancelled lately and was not done since, the newest first. Oldest episodes first."""
    if not episodes:
        return []
    since = max(one.ended for one in episodes) - OPEN_S
    found: list[Episode] = []
    later: set[frozenset[str]] = set()  # words of commands that were given since
    for episode in reversed(episodes[-_LOOKED_AT:]):
        if episode.ended < since or episode.outcome == "unknown":
            continue
        words = frozenset(episode.command.casefold().split())
        # Said again, perhaps with more words: what became of that is what counts.
        again = any(words <= other for other in later)
        if not again and (episode.failed or episode.outcome == "cancelled"):
            found.append(episode)
        later.add(words)
    return found[:MOST_OPEN]


class Current:
    def __init__(self, desk: Desk, screen: Screen) -> None:
        self._desk = desk
        self._screen = screen

    def put_status(self, episodes: Sequence[Episode]) -> None:
        """Say what was done last, how it ended, when, and what is open."""
        if not episodes:
            return
        path = self._desk.path("status")
        page = self._desk.find(path)
        first = first_text(self._desk, "status")
        note_is = note_source(page.data if page is not None else first, path)
        lines = self._status_lines(episodes, note_is)
        # What the note says while there is nothing to say; ours, whoever made the note.
        empty = {line for line in first.decode().split("\n") if line.startswith("Nothing has been recorded")}

        def change(now: Page | None) -> bytes | None:
            data = first if now is None else now.data
            after = with_section(
                _without(data, empty, path), STATUS, lines,
                ours=lambda line: self._desk.own.is_ours(path, line), path=path,
            )  # fmt: skip
            return None if now is not None and after == now.data else after

        self._desk.edit(path, change, ours=[f"## {STATUS}", *lines, *empty])

    def _status_lines(self, episodes: Sequence[Episode], note_is: str) -> list[str]:
        last = max(episodes, key=lambda one: (one.ended, one.run))
        command = self._screen.command(last)
        lines = [
            f"- **Last active:** {stamp(last.ended)}",
            f'- **Last command:** "{command.text}"{source_mark(command.source, note_is)}',
            f"- **Last outcome:** {outcome(last)}",
        ]
        if (told := summary(last, self._screen)).text:
            name = "Reason" if last.reason and last.outcome != "success" else "Result"
            lines.append(f"- **{name}:** {told.text}{source_mark(told.source, note_is)}")
        for one in still_open(episodes):
            told = self._screen.command(one)
            mark = source_mark(told.source, note_is)
            lines.append(f'- **Open:** "{told.text}" ({_WORDS[one.outcome]} {day_of(one.ended)}){mark}')
        return lines

    def roll(self, fresh: Sequence[Episode], episodes: Sequence[Episode], now: float) -> None:
        """Add what was done lately, and move what is no longer recent to the summary of its day."""
        known = {block_id(one.run): one for one in episodes}
        path = self._desk.path("recent")
        page = self._desk.find(path)
        recent = sorted((one for one in fresh if now - one.ended < WINDOW_S), key=lambda one: one.ended)
        if page is None and not recent:
            return
        first = first_text(self._desk, "recent")
        note_is = note_source(page.data if page is not None else first, path)
        new = {block_id(one.run): self._recent_text(one, note_is) for one in recent[-RECENT_RUNS:]}

        def ours(line: str) -> bool:
            return self._desk.own.is_ours(path, line)

        def listed(data: bytes) -> dict[str, str]:
            """What the note is to say, by run."""
            there = {
                name: _with_day(text, known[name].started)
                for name, text in _listed(data, ours).items()
                if name in known and now - known[name].ended < WINDOW_S
            }
            there |= {name: text for name, text in new.items() if name not in ids_in(data)}
            last = sorted(there, key=lambda name: known[name].ended)[-RECENT_RUNS:]
            return {name: there[name] for name in last}

        data = _renamed(first if page is None else page.data, path)
        kept = listed(data)
        self._summarise({name for name in _listed(data, ours) if name not in kept}, known)

        def change(page: Page | None) -> bytes | None:
            data = _renamed(first if page is None else page.data, path)
            told = [f"{at}. {text} ^{name}" for at, (name, text) in enumerate(listed(data).items(), 1)]
            self._desk.own.note(path, [f"## {RECENT}", *told])
            after = with_section(data, RECENT, told, ours=ours, path=path)
            return None if page is not None and after == page.data else after

        self._desk.edit(path, change)

    def _recent_text(self, episode: Episode, note_is: str) -> str:
        command = self._screen.command(episode)
        word = _WORDS.get(episode.outcome, episode.outcome)
        came_of_it = summary(episode, self._screen)
        mark = source_mark(lowest((command.source, came_of_it.source)), note_is)
        told = f" — {came_of_it.text}" if came_of_it.text else ""
        return f"[{_when(episode.started)}] {command.text} ({word}){told}{mark}"

    def _summarise(self, fallen: Collection[str], known: Mapping[str, Episode]) -> None:
        """Put runs below the actions of their days, in a short line with a link to the task log."""
        gone = [known[name] for name in fallen if name in known]
        if not gone:
            return
        path = self._desk.path("summary")
        page = self._desk.find(path)
        first = first_text(self._desk, "summary")
        note_is = note_source(first if page is None else page.data, path)
        days: dict[str, dict[str, str]] = {}
        for one in sorted(gone, key=lambda one: one.started):
            days.setdefault(day_of(one.started), {})[block_id(one.run)] = self._action(one, note_is)

        def change(page: Page | None) -> bytes | None:
            before = data = first if page is None else page.data
            for day, lines in sorted(days.items()):
                left = [line for name, line in lines.items() if f"#^{name}|".encode() not in data]
                data = _with_items(data, f"{ACTIONS} {day}", left, path) if left else data
            return None if data == before else data

        heads = [f"## {ACTIONS} {day}" for day in days]
        self._desk.edit(
            path, change, ours=[*heads, *(line for day in days.values() for line in day.values())]
        )

    def _action(self, episode: Episode, note_is: str) -> str:
        command = self._screen.command(episode)
        word = _WORDS.get(episode.outcome, episode.outcome)
        link = run_link(self._desk.path("task_log"), episode, clock_of(episode.started))
        return f"- {command.text} ({word}, {link}){source_mark(command.source, note_is)}"


def _when(at: float) -> str:
    """`Thu 12 Nov 14:30`"""
    return f"{day_text(day_of(at))} {clock_of(at)}"


def _with_day(text: str, started: float) -> str:
    """A line that was written with the time alone, with its day."""
    return _CLOCK_ONLY.sub(f"[{_when(started)}] ", text, count=1) if _CLOCK_ONLY.match(text) else text


def _renamed(data: bytes, path: str) -> bytes:
    """The note with the present words in place of those for two hours."""
    note = NoteLines(data, path)
    for at, text in enumerate(note.texts):
        if text in _FORMER:
            note.replace(at, _FORMER[text])
    return note.data()


def _with_items(data: bytes, heading: str, lines: Sequence[str], path: str) -> bytes:
    """The note with list items at the end of a section, which is made where it is missing."""
    from hindbrain.memory.notes.section_end import appended_below

    if section_at(data, heading) is not None:
        return appended_below(data, heading, lines, path=path)
    return with_section(data, heading, lines, ours=lambda _: False, path=path)


def _listed(data: bytes, ours: Callable[[str], bool]) -> dict[str, str]:
    """Our numbered lines of the recent actions: block id and text."""
    found = section_at(data, RECENT)
    if found is None:
        return {}
    texts = NoteLines(data).texts[found[0] : found[1]]
    return {match[2]: match[1] for line in texts if (match := _NUMBERED.fullmatch(line)) and ours(line)}


def _without(data: bytes, lines: set[str], path: str) -> bytes:
    note = NoteLines(data, path)
    for at in reversed(range(len(note.texts))):
        if note.texts[at] in lines:
            blank = at + 1 < len(note.texts) and not note.texts[at + 1].strip()
            note.remove(at, at + 1 + blank)
    return note.data()
