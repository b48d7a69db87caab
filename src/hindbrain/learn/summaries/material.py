"""What there is to say about a day or a week: its runs, its memories, the tasks that were done, its lessons.

Gathers facts, each with a link to where it stands. Pure; what runs brought is not screened yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.recording.wording import clock_of, day_of, run_link
from hindbrain.vault.items.item_text import escape, fold

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.tasks.task_line import TaskItem
    from hindbrain.vault.items.item import MemoryItem

_LONGEST = 300  # characters of one fact
_THIRD_FAILURE = 2  # the place of the failure, among a lesson's evidence, that made it a lesson


class RunTold(NamedTuple):
    """One run, and where it is told."""

    episode: Episode
    link: str  # opens the task log, shows the time


class Fact(NamedTuple):
    """A memory, a task or a lesson."""

    text: str  # as it may stand in a list item
    link: str
    source: str = "user"
    importance: float = 0.5
    category: str = ""


class Material(NamedTuple):
    """Of one day, or of several."""

    runs: tuple[RunTold, ...] = ()
    decisions: tuple[Fact, ...] = ()
    memories: tuple[Fact, ...] = ()  # other than decisions
    done: tuple[Fact, ...] = ()
    lessons: tuple[Fact, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(self)

    def plus(self, other: Material) -> Material:
        return Material(
            self.runs + other.runs,
            self.decisions + other.decisions,
            self.memories + other.memories,
            self.done + other.done,
            self.lessons + other.lessons,
        )


def gather(
    days: Iterable[str],
    episodes: Sequence[Episode],
    items: Sequence[MemoryItem],
    tasks: Sequence[TaskItem],
    lessons: Sequence[Lesson],
    desk: Desk,
) -> dict[str, Material]:
    """By day (YYYY-MM-DD, the owner's), those days of `days` on which something happened."""
    wanted = frozenset(days)
    log = desk.path("task_log")
    found: dict[str, list[Material]] = defaultdict(list)
    for episode in episodes:
        if (day := day_of(episode.ended)) in wanted:
            found[day].append(Material(runs=(_run(episode, log),)))
    for item in items:
        if item.created in wanted and not item.superseded and item.id:
            fact = _memory(item)
            kept = Material(decisions=(fact,)) if item.category == "decision" else Material(memories=(fact,))
            found[item.created].append(kept)
    for task in tasks:
        if task.status == "done" and task.completed in wanted:
            found[task.completed].append(Material(done=(_task(task),)))
    place = desk.path("lessons", name="Lessons")
    ends = {episode.run: episode.ended for episode in episodes}
    for lesson in lessons:
        if (day := learned_on(lesson, ends)) in wanted:
            found[day].append(Material(lessons=(_lesson(lesson, place),)))
    return {day: joined(parts) for day, parts in found.items()}


def learned_on(lesson: Lesson, ends: Mapping[str, float]) -> str:
    """The day of the failure that made it a lesson; "" for one that its owner typed, or of runs long gone."""
    known = sorted(ends[run] for run in lesson.evidence if run in ends)
    if lesson.source == "user" or not known or lesson.state == "retired":
        return ""
    return day_of(known[min(_THIRD_FAILURE, len(known) - 1)])


def joined(parts: Iterable[Material]) -> Material:
    return reduce(Material.plus, parts, Material())


def _run(episode: Episode, log: str) -> RunTold:
    return RunTold(episode, run_link(log, episode, clock_of(episode.ended)))


def _memory(item: MemoryItem) -> Fact:
    return Fact(_text(item.text), _link(item.path, item.id), item.source, item.importance, item.category)


def _task(task: TaskItem) -> Fact:
    return Fact(_text(task.title), _link(task.path, task.id))


def _lesson(lesson: Lesson, place: str) -> Fact:
    return Fact(_text(lesson.text), _link(place, lesson.id), lesson.source)


def _text(text: str) -> str:
    from hindbrain.base.secrets import redact

    folded = fold(redact(text)[0])
    if len(folded) > _LONGEST:
        folded = folded[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"
    return escape(folded)


def _link(path: str, block: str, shown: str = "") -> str:
    note = path.removesuffix(".md")
    target = f"{note}#^{block}" if block else note
    return f"[[{target}|{shown or note.rpartition('/')[2]}]]"
