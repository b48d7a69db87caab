"""The lessons as the notes say now, and how the notes are brought in line with what was found.

New lessons are added, our own words and fields are kept up to date, whatever a person wrote or changed stays,
and what they deleted or struck through never comes back. `.hindbrain/lessons.jsonl` remembers which lessons
were written and which are dead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.lessons.lesson_log import LessonLog, basis_of
from hindbrain.learn.lessons.lesson_note import NotedLesson, below_of, fields_of, head_of, parse_lessons
from hindbrain.learn.lessons.note_change import Wanted, changed_note, marks_of
from hindbrain.learn.recording.places import first_text
from hindbrain.memory.policy.policy import MAX_CHARS

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.policy.policy import Policy

_WHOLE_NOTE = 3  # as many lessons gone with none left: somebody saves the note right now, perhaps


class LessonsWritten(NamedTuple):
    """Ids of lessons, by what was done."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # a person has edited the sentence: it stays as they want it
    dropped: tuple[str, ...] = ()  # deleted or struck through by a person: never again
    held: tuple[str, ...] = ()  # the text of the runs reads like an order to an agent, and stays out


class LessonBook:
    """For one thread.

    `screen` gives a text as it may stand in a note, "" when it may not; `phrase` words a lesson anew (see
    `phrasing`), "" leaves the rule's own words.
    """

    def __init__(
        self,
        desk: Desk,
        log: Callable[[str, str], None],
        *,
        screen: Callable[[str], str] = str,
        phrase: Callable[[Lesson], str] | None = None,
    ) -> None:
        self._desk = desk
        self._screen = screen
        self._phrase = phrase
        self._log = LessonLog(desk.root, log)

    def lessons(self) -> list[Lesson]:
        """As the notes say now, those that a person typed included; without those that are struck through."""
        return [noted.lesson for noted in self.noted() if not noted.struck]

    def noted(self) -> list[NotedLesson]:
        """As `lessons`, each with its place, and with those that are struck through."""
        pages = [page for path in self._paths() if (page := self._desk.find(path)) is not None]
        return [noted for page in pages for noted in parse_lessons(page.data, str(page.path))]

    def bring_up_to(self, found: Sequence[Lesson]) -> LessonsWritten:
        """Bring the notes in line with `found`. To do it again changes nothing."""
        noted = self.noted()
        dropped = self._notice_deleted(noted)
        own = {one.lesson.id: one for one in noted if not one.struck}
        result = _Result()
        wanted: list[Wanted] = []
        for lesson in found:
            lesson = _known_as(lesson, own, {other.id for other in found})
            if lesson.id in dropped or self._log.is_dead(lesson):
                result.dropped.append(lesson.id)
                continue
            if lesson.id not in own and lesson.state == "retired":
                continue  # nobody was ever told it
            ready = self._ready(lesson, own.get(lesson.id))
            if ready is None:
                result.held.append(lesson.id)
                continue
            wanted.append(self._wanted(ready))
        self._write(wanted, own, result)
        return result.written()

    def _ready(self, lesson: Lesson, there: NotedLesson | None) -> Lesson | None:
        """The lesson as it may be written; None when it may not."""
        commands = tuple(clean for command in lesson.commands if (clean := self._screen(command)))
        reason = self._screen(lesson.reason) if lesson.reason else ""
        text = self._screen(lesson.text)
        if not text or not commands:
            return None
        lesson = lesson._replace(text=text, commands=commands, reason=reason)
        if there is not None and self._log.phrased(lesson.id) == basis_of(lesson):
            return lesson._replace(text=there.lesson.text)
        words = self._phrase(lesson) if self._phrase is not None and lesson.state != "retired" else ""
        if words and (words := self._screen(words)):
            self._log.note_phrased(lesson)
            return lesson._replace(text=words)
        return lesson

    def _wanted(self, lesson: Lesson) -> Wanted:
        log = self._desk.path("task_log").removesuffix(".md")
        return Wanted(lesson, head_of(lesson), tuple(below_of(lesson, log)), tuple(fields_of(lesson)))

    def _write(self, wanted: Sequence[Wanted], own: dict[str, NotedLesson], result: _Result) -> None:
        home = self._home()
        by_path: dict[str, list[Wanted]] = {}
        for one in wanted:
            there = own.get(one.lesson.id)
            by_path.setdefault(there.path if there else home, []).append(one)
        for path, some in by_path.items():
            ours = [line for one in some for line in (one.head, *one.below, *marks_of(one))]
            known = {one.lesson.id for one in some if self._is_edited(path, one, own.get(one.lesson.id))}
            self._desk.edit(path, partial(self._change, path, some), ours=[*ours, "## Lessons", "## Retired"])
            result.take(self._desk.find(path), some, own, known)
        self._log.note_written(result.seen(wanted))

    def _change(self, path: str, wanted: Sequence[Wanted], page: Page | None) -> bytes | None:
        if page is None and not wanted:
            return None
        before = page.data if page is not None else first_text(self._desk, "lessons", name="Lessons")
        after = changed_note(before, path, wanted, lambda line: self._desk.own.is_ours(path, line))
        return None if page is not None and after == before else after

    def _is_edited(self, path: str, one: Wanted, there: NotedLesson | None) -> bool:
        return there is not None and not self._desk.own.is_ours(path, f"^{one.lesson.id} {there.lesson.text}")

    def _notice_deleted(self, noted: Sequence[NotedLesson]) -> set[str]:
        """Ids that a person deleted or struck through, by now or before."""
        there = {one.lesson.id for one in noted if not one.struck}
        self._log.note_back(there)
        struck = {one.lesson.id for one in noted if one.struck}
        gone = self._log.alive() - there - struck
        page_there = self._desk.find(self._home()) is not None
        emptied = len(gone) >= _WHOLE_NOTE and not there and not struck
        self._log.note_dead(sorted(struck | (gone if page_there and not emptied else set())))
        return self._log.dead()

    def _home(self) -> str:
        """Where new lessons go."""
        if self._desk.is_single("lessons"):
            return self._desk.path("lessons")
        return self._desk.path("lessons", name="Lessons")

    def _paths(self) -> list[str]:
        """Where lessons are read: their own notes, and where the layout says so the log of failures."""
        if self._desk.is_single("lessons"):
            return list(self._desk.layout.paths("lessons"))
        return self._desk.paths("lessons")


class _Result:
    def __init__(self) -> None:
        self.added: list[str] = []
        self.changed: list[str] = []
        self.retired: list[str] = []
        self.kept: list[str] = []
        self.dropped: list[str] = []
        self.held: list[str] = []
        self._there: set[str] = set()

    def take(
        self, page: Page | None, some: Sequence[Wanted], own: dict[str, NotedLesson], edited: set[str]
    ) -> None:
        now = {one.lesson.id: one for one in parse_lessons(page.data, str(page.path))} if page else {}
        self._there |= set(now)
        for wanted in some:
            id_ = wanted.lesson.id
            before, after = own.get(id_), now.get(id_)
            if after is None:
                continue
            if before is None:
                self.added.append(id_)
            elif before.lesson.state != "retired" and after.lesson.state == "retired":
                self.retired.append(id_)
            elif before.lesson != after.lesson:
                self.changed.append(id_)
            if before is not None and id_ in edited:
                self.kept.append(id_)

    def seen(self, wanted: Sequence[Wanted]) -> list[Lesson]:
        """Those that stand in a note now."""
        return [one.lesson for one in wanted if one.lesson.id in self._there]

    def written(self) -> LessonsWritten:
        return LessonsWritten(
            tuple(self.added),
            tuple(self.changed),
            tuple(self.retired),
            tuple(self.kept),
            tuple(self.dropped),
            tuple(self.held),
        )


def _known_as(lesson: Lesson, own: dict[str, NotedLesson], found: set[str]) -> Lesson:
    """The lesson under the id that it has in the notes: its first failure may be too old to be seen now."""
    if lesson.id in own:
        return lesson
    runs = set(lesson.evidence)
    for id_, noted in own.items():
        if id_ not in found and runs.intersection(noted.lesson.evidence):
            return lesson._replace(id=id_)
    return lesson


def screen_of(policy: Policy) -> Callable[[str], str]:
    """The `screen` of a book: secrets out, "" for what reads like an order or was forgotten by its owner.

    Judged as a tool's word: a lesson of imported runs says so in its source, and need not wait for a person.
    """

    def screen(text: str) -> str:
        verdict = policy.judge(text[:MAX_CHARS], source="tool")
        return verdict.text if verdict.action == "accept" else ""

    return screen
