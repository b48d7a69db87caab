"""What was learned that fits a command: lessons, templates, skills, and what single runs have told.

Reads the notes when one of them has changed and answers from memory until then, since a prompt waits for it.
A note that can't be read costs what it says, and a problem names it. Writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.base.plural import plural
from hindbrain.context.packs.learned import Match, Matches
from hindbrain.index.spoken import spoken
from hindbrain.learn.told import Told, told_in
from hindbrain.memory.answers import PastRun, PastRuns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.lessons.lesson_note import NotedLesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.skills.skill import Skill
    from hindbrain.learn.templates.template import Step, Template
    from hindbrain.memory.relevance import BestRelevance
    from hindbrain.models.embedder import Embedder

_ROLES = ("lessons", "templates", "skills", "issues", "corrections", "task_log")
# Likeness from which on what a single run told is worth telling: where nothing better is known, sooner.
_ALIKE, ALIKE_ALONE = 0.6, 0.45
_MOST_ISSUES, _MOST_RUNS = 3, 2  # one run's story is weaker than a lesson
_MOST_ENTRIES = 400  # of a note, the newest
_CODE = re.compile(r"`([^`]+)`")
_DENIES = re.compile(r"(?i)\b(?:not|never|avoid\w*|without|instead of|rather than)\b|n['’]t\b")


class Known(NamedTuple):
    """What the notes say."""

    lessons: Sequence[NotedLesson]
    templates: Sequence[Template]
    skills: Sequence[Skill]
    issues: Sequence[Told]  # corrections among them
    runs: Sequence[Told]
    problems: tuple[str, ...]


class Fitting:
    """For one thread. `read` gives what the notes say now."""

    def __init__(
        self,
        desk: Desk,
        embedder: Callable[[], Embedder | None],
        read: Callable[[], Known],
        relevance: Callable[[], BestRelevance],
    ) -> None:
        self._desk = desk
        self._relevance = relevance
        self._embedder = embedder
        self._read = read
        self._seen: tuple[object, ...] = ()

    def matches(self, command: str, apps: Sequence[str] = ()) -> Matches:
        """What fits; nothing for an empty command."""
        if not command.strip():
            return Matches()
        index = self._index()
        app = apps[0] if len(apps) == 1 else ""
        lessons = self._lessons(index, command, app)
        near = self._told(index.good_runs, command, ALIKE_ALONE, _MOST_RUNS)
        templates = tuple(self._templates(index, command, app, near[0].score if near else 0.0))
        skills = tuple(self._skills(index.known.skills, command))
        least = _ALIKE if templates or skills else ALIKE_ALONE
        room = max(0, _MOST_ISSUES - len(lessons))
        covered = {noted.lesson.id for noted, _ in lessons}
        issues = self._told(index.issues, command, least, room, covered)
        runs = tuple(run for run in near if run.score >= least)
        found = (*(_lesson(noted, score) for noted, score in lessons), *issues)
        return Matches(found, templates, skills, runs, self._answers(index, command), index.known.problems)

    def _answers(self, index: _Index, prompt: str) -> tuple[Match, ...]:
        from hindbrain.learn.cases import answering

        near = answering(prompt, index.known.runs[-_MOST_ENTRIES:], self._relevance())
        return tuple(_entry(told, score)._replace(text=_only_answer(told.text)) for told, score in near)

    def past_runs(self, topic: str) -> PastRuns:
        """Runs whose answers somebody who asks may mean."""
        from hindbrain.learn.cases import answering

        known = self._index().known
        found = answering(topic, known.runs[-_MOST_ENTRIES:], self._relevance(), asked=True)
        runs = tuple(
            PastRun(
                told.id.removeprefix("^"), told.commands[0], told.answer, told.date, told.path,
                told.first_line, told.source, told.went_well,
            )
            for told, _ in found
        )  # fmt: skip
        return PastRuns(runs, known.problems)

    def _index(self) -> _Index:
        """What the notes say, read again when one of them has another stamp."""
        seen = tuple(self._stamps())
        if seen != self._seen or "_made" not in self.__dict__:
            self.__dict__.pop("_made", None)
            self._seen = seen
        return self._made

    @cached_property
    def _made(self) -> _Index:
        return _Index(self._read(), self._embedder())

    def _stamps(self) -> Iterator[object]:
        for role in _ROLES:
            try:
                paths = self._desk.paths(role) if not self._desk.is_single(role) else [self._desk.path(role)]
            except HindbrainError as error:
                yield str(error)
                continue
            for path in paths:
                try:
                    stat = os.stat(self._desk.root / path)  # noqa: PTH116  quicker, and a prompt waits
                    yield (path, stat.st_mtime_ns, stat.st_size)
                except OSError:
                    yield (path, 0, 0)

    def _lessons(self, index: _Index, command: str, app: str) -> list[tuple[NotedLesson, float]]:
        from hindbrain.learn.lessons.matching import match_lessons

        by_id = {noted.lesson.id: noted for noted in index.known.lessons}
        found = match_lessons(
            command, [noted.lesson for noted in index.known.lessons], self._embedder(), app=app
        )
        return [(by_id[lesson.id], score) for lesson, score in found]

    def _templates(self, index: _Index, command: str, app: str, nearest_run: float) -> Iterator[Match]:
        from hindbrain.learn.templates.template_note import shown_span

        for template, score in index.templates.match(command, app=app, nearest_run=nearest_run):
            try:
                page = self._desk.find(template.path)
            except HindbrainError:  # it was read a moment ago; the next look names it
                page = None
            if page is None:
                continue
            span = shown_span(page.data)
            lines = filter(str.strip, page.text.splitlines()[span.first - 1 : span.last])
            facts = f"success {template.success_rate:.0%} of {plural(template.runs, 'run')}"
            yield Match(
                template.path, template.path, template.title, "\n".join(lines), span.first, span.last, score,
                template.source, why=facts, do=calls_of(template.steps), time=template.updated,
                evidence=2 * template.successes - template.runs,
            )  # fmt: skip

    def _skills(self, skills: Sequence[Skill], command: str) -> Iterator[Match]:
        from hindbrain.learn.skills.matching import match_skills
        from hindbrain.learn.templates.template_note import read_steps

        if not skills:
            return
        for skill, score in match_skills(command, skills, self._embedder()):
            last = skill.first_line + skill.text.count("\n")
            yield Match(
                skill.path, skill.path, skill.name, skill.text, skill.first_line, last, score, skill.source,
                skill.updated, do=calls_of(read_steps(skill.text)), time=skill.updated,
            )  # fmt: skip

    def _told(
        self, entries: _Entries, command: str, least: float, most: int, covered: Container[str] = ()
    ) -> list[Match]:
        """`covered`: lessons that say it already."""
        found: list[Match] = []
        said: set[str] = set()
        for told, score in entries.nearest(command, self._embedder(), least):
            if len(said) < most and told.gist not in said and not (told.lesson and told.lesson in covered):
                said.add(told.gist)
                found.append(_entry(told, score))
        return found


class _Index:
    """What the notes say, ready to be compared with."""

    def __init__(self, known: Known, embedder: Embedder | None) -> None:
        from hindbrain.learn.templates.matching import TemplateMatcher

        self.known = known
        self.templates = TemplateMatcher(known.templates, embedder)
        self.issues = _Entries(known.issues, embedder)
        self.good_runs = _Entries([run for run in known.runs if run.went_well], embedder)


class _Entries:
    def __init__(self, entries: Sequence[Told], embedder: Embedder | None) -> None:
        self._entries = entries[-_MOST_ENTRIES:]
        self._embedder = embedder

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        from hindbrain.learn.alike import vectors_of

        return vectors_of([told.commands[0] for told in self._entries], self._embedder)

    def nearest(self, command: str, embedder: Embedder | None, least: float) -> Iterator[tuple[Told, float]]:
        """Those that are alike enough, the best first; among equals the newest."""
        if not self._entries:
            return
        from hindbrain.learn.alike import vectors_of

        near = self._vectors @ vectors_of([command], embedder)[0]
        for at in sorted(range(len(near)), key=lambda at: (-round(float(near[at]), 3), -at)):
            if near[at] < least:
                return
            yield self._entries[at], round(min(1.0, float(near[at])), 4)


def _only_answer(text: str) -> str:
    """Of an entry what was asked for and what came of it."""
    return "\n".join(line for line in text.split("\n") if not line.startswith("- **Key actions:**"))


def read_entries(desk: Desk, role: str, problems: list[str]) -> list[Told]:
    """The entries of a role's note; [] when it is not there or can't be read, which `problems` tells."""
    try:
        page = desk.find(desk.path(role))
    except HindbrainError as error:
        problems.append(str(error))
        return []
    if page is None:
        return []
    found = told_in(page.data, str(page.path))
    if role == "issues" and page.path in desk.layout.places_of("lessons"):
        return [told for told in found if told.date]  # the list items there are lessons, and read as such
    return found


def _entry(told: Told, score: float) -> Match:
    match = Match(
        told.id or f"{told.path}:{told.first_line}", told.path, "", told.text, told.first_line,
        told.last_line, score, told.source, told.date, f"command {score:.2f}", evidence=told.seen,
        time=told.time,
    )  # fmt: skip
    if told.corrects:
        return match._replace(taken_back=told.commands[0], went_well=told.commands[1:])
    if told.went_well:
        return match._replace(do=told.calls, went_well=told.commands)
    return match._replace(failed=told.calls)


def calls_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """The calls that steps say to make; of a step in words, what it has in backticks."""
    calls: list[str] = []
    for step in steps:
        if step.is_call:
            calls.append(step.shown)
        elif not _DENIES.search(step.action):
            calls += _CODE.findall(step.action)
    return tuple(calls)


def _lesson(noted: NotedLesson, score: float) -> Match:
    lesson = noted.lesson
    why = f"command {score:.2f}, confidence {lesson.confidence:.2f}, seen {plural(lesson.failures, 'time')}"
    # Where it applies was just judged, and what is known of its figures is for people.
    text = "\n".join(
        line for line in spoken(noted.text).split("\n") if not line.lstrip().startswith("- when:")
    )
    return Match(
        f"^{lesson.id}",
        noted.path,
        "",
        text,
        noted.first_line,
        noted.last_line,
        score,
        lesson.source,
        why=why,
        do=tuple(filter(None, (lesson.prefer, lesson.before))),
        avoid=(lesson.avoid,) if lesson.avoid else (),
        evidence=lesson.failures + lesson.heeded - lesson.in_vain,
    )
