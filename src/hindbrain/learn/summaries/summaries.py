"""The summary note: a section for each day and week that is over, the newest first.

What a section says is a function of what is known of its time; it is written anew only when that changed.
Lines of anybody else stay. A section or a line of ours that its owner took out or changed does not come back:
the log in `.hindbrain/` says what once stood there, and is written after the note, so that a crash in between
is no deletion.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from hindbrain.base.json_lines import read_objects
from hindbrain.learn.pages.drafts import drafts_on
from hindbrain.learn.pages.sections import section_at, with_section
from hindbrain.learn.recording.current import ACTIONS
from hindbrain.learn.recording.places import first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import harmless
from hindbrain.learn.summaries.by_model import sentence_about
from hindbrain.learn.summaries.dated import sections_of, week_of, with_new_section
from hindbrain.learn.summaries.material import Material, gather, joined
from hindbrain.learn.summaries.wording import in_short, is_in_short, summarise_day, summarise_week
from hindbrain.vault.lines import NoteLines

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel

SUMMARIES = "summaries.jsonl"
_DAYS = 35  # back from today: five weeks; what is older was summarised, or will not be missed
_DIGITS = 16
_NOTHING = Material()
_RUN = re.compile(r"#?\^(r-[A-Za-z0-9-]+)")


class Summaries:
    """For one thread."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        chat: Callable[[], ChatModel | None],
        log: Callable[[str, str], None],
    ) -> None:
        """`log` adds a line to one of our files in the vault, durably; of a dry run it does nothing."""
        self._desk = desk
        self._memory = memory
        self._chat = chat
        self._log = log
        self._parsed: tuple[str, dict[str, list[str]]] | None = None  # a hash of the note, and its sections

    def bring_up_to_date(self, episodes: Sequence[Episode], lessons: Sequence[Lesson] = ()) -> int:
        """Write what is missing or changed; returns how many sections. `episodes` oldest first."""
        today = date.fromisoformat(self._desk.today())
        days = [today - timedelta(days=back) for back in range(_DAYS, 0, -1)]
        screen = Screen(self._memory.policy)
        told = gather(
            [day.isoformat() for day in days], episodes, self._memory.book.items(),
            self._memory.tasks.list(status="done"), lessons, self._desk,
        )  # fmt: skip
        trust = self._note_source()
        written = 0
        for day in days:
            name = day.isoformat()
            written += self._bring(name, summarise_day(told.get(name, _NOTHING), screen, note_source=trust))
        for monday in (day for day in days if day.weekday() == 0 and day + timedelta(days=6) < today):
            week = [(monday + timedelta(days=n)).isoformat() for n in range(7)]
            whole = joined(told[day] for day in week if day in told)
            there = [day for day in week if self._stands(day) is not None]
            lines = summarise_week(whole, screen, there, self._path, note_source=trust)
            written += self._bring(week_of(monday), lines)
        return written

    def _bring(self, heading: str, wanted: Sequence[str]) -> bool:
        """Let the section say this; did it not?"""
        stands = self._stands(heading)
        once = self._known.get(heading)
        if stands is None and (once is not None or not wanted):
            return False  # its owner took it out, or there is nothing to say
        if stands is not None and self._memory.book.problems:
            return False  # a note of memories can't be read: what is missing may be there
        there = {line.strip() for line in stands or () if line.strip()}
        lines = [line for line in wanted if line in there or _digest(line) not in (once or ())]
        if stands is not None and not self._is_behind(lines, there):
            self._note_stands(heading, lines)
            return False
        lines = [*self._in_short(lines), *lines]
        self._put(heading, lines)
        self._note_stands(heading, lines, gone=there - set(lines))
        return True

    def _in_short(self, lines: Sequence[str]) -> list[str]:
        """What a model makes of the lines; [] without one, and when it can't be believed or stored.

        A dry run spends nothing.
        """
        chat = self._chat() if lines and drafts_on(self._desk) is None else None
        said = sentence_about(lines, chat) if chat is not None else ""
        if not said:
            return []
        verdict = self._memory.policy.judge(said, source="tool")
        if verdict.action != "accept":
            return []
        return [in_short(harmless(verdict.text)) + source_mark(verdict.source, self._note_source())]

    def _is_behind(self, lines: Sequence[str], there: set[str]) -> bool:
        """Does something not stand there that should, or something of ours that should not?"""
        ours = {line for line in there if self._desk.own.is_ours(self._path, line)}
        kept = {line for line in ours if is_in_short(line)} if lines else set()
        return not (set(lines) <= there and ours - kept <= set(lines))

    def _put(self, heading: str, lines: Sequence[str]) -> None:
        path = self._path
        first = first_text(self._desk, "summary")

        def change(page: Page | None) -> bytes | None:
            data = first if page is None else page.data
            after = with_new_section(data, heading, lines, path) if lines else None
            if after is None:
                after = with_section(
                    data, heading, lines, ours=lambda line: self._desk.own.is_ours(path, line), path=path
                )
            after = self._without_actions(after, heading, lines)
            return None if page is not None and after == page.data else after

        self._desk.edit(path, change, ours=[f"## {heading}", *lines, *first.decode().split("\n")])

    def _without_actions(self, data: bytes, day: str, lines: Sequence[str]) -> bytes:
        """The note without what stands below the actions of the day of runs that these lines link."""
        heading, path = f"{ACTIONS} {day}", self._path
        found = section_at(data, heading)
        if found is None:
            return data

        def ours(line: str) -> bool:
            return self._desk.own.is_ours(path, line)

        linked = {run for line in lines for run in _RUN.findall(line)}
        there = [line for line in NoteLines(data, path).texts[found[0] : found[1]] if ours(line)]
        left = [line for line in there if line.strip() and linked.isdisjoint(_RUN.findall(line))]
        return data if len(left) == len(there) else with_section(data, heading, left, ours=ours, path=path)

    def _note_stands(self, heading: str, lines: Sequence[str], gone: Iterable[str] = ()) -> None:
        """Remember what stands there now, so that its absence tells something later; and what we took out
        ourselves, so that its absence does not."""
        known = self._known.get(heading)
        fresh = [digest for digest in map(_digest, lines) if digest not in (known or ())]
        taken = sorted(digest for digest in map(_digest, gone) if digest in (known or ()))
        if fresh or taken or known is None:
            told: dict[str, object] = {"section": heading, "lines": fresh, "gone": taken}
            self._log(SUMMARIES, json.dumps(told))
            _take(told, self._known)

    def _stands(self, heading: str) -> list[str] | None:
        """The lines of a section; None when there is none. The note is parsed once for each of its states."""
        page = self._desk.find(self._path)
        if page is None:
            return None
        if self._parsed is None or self._parsed[0] != page.hash:
            self._parsed = page.hash, sections_of(page.data)
        return self._parsed[1].get(heading.casefold())

    def _note_source(self) -> str:
        page = self._desk.find(self._path)
        data = first_text(self._desk, "summary") if page is None else page.data
        return note_source(data, self._path)

    @property
    def _path(self) -> str:
        return self._desk.path("summary")

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        """By section: digests of the lines of ours that once stood there."""
        known: dict[str, set[str]] = {}
        for told in read_objects(self._desk.root / ".hindbrain" / SUMMARIES):
            _take(told, known)
        return known


def take_from_summaries(desk: Desk, holds: Callable[[str], bool]) -> int:
    """Take out our lines that tell what must be forgotten; returns how many notes were changed."""
    path = desk.path("summary")

    def change(page: Page | None) -> bytes | None:
        if page is None:
            return None
        note = NoteLines(page.data, path)
        for at in reversed(range(len(note.texts))):
            if desk.own.is_ours(path, note.texts[at]) and holds(note.texts[at]):
                note.remove(at, at + 1)
        after = note.data()
        return None if after == page.data else after

    return int(desk.edit(path, change) is not None)


def _digest(line: str) -> str:
    return hashlib.sha256(" ".join(line.split()).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _take(told: dict[str, object], known: dict[str, set[str]]) -> None:
    """A line that can't be read (a crash cut it) tells nothing: what stood there may come back once."""
    section, digests, gone = told.get("section"), told.get("lines"), told.get("gone")
    if isinstance(section, str) and isinstance(digests, list) and isinstance(gone, list):
        left = (known.pop(section, set()) | set(map(str, digests))) - set(map(str, gone))
        # A section of which we took out everything ourselves may come back.
        if left or not gone:
            known[section] = left
