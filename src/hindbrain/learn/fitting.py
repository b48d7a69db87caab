"""What earlier runs say about a command: the nearest cases, and what was made of them.

A case is an entry of a note: a run that went well, a failure, a correction. A lesson stands for the failures
that it was learned from, a template for its successes: neither is found where none of its cases would be.
Reads the notes when one of them has changed and answers from memory until then, since a prompt waits for it.
A note that can't be read costs what it says, and a problem names it. Writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hindbrain.base.errors import HindbrainError
from hindbrain.base.plural import plural
from hindbrain.context.packs.learned import Match, Matches
from hindbrain.index.spoken import spoken
from hindbrain.learn.cases import FAILED, WORKED, Cases, Text, command_text, reason_text
from hindbrain.learn.lessons.lesson_note import NotedLesson
from hindbrain.learn.templates.template import Step, Template
from hindbrain.learn.told import Told, told_in
from hindbrain.memory.answers import PastRun, PastRuns

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.skills.skill import Skill
    from hindbrain.memory.relevance import BestRelevance
    from hindbrain.models.embedder import Embedder

_ROLES = ("lessons", "templates", "skills", "issues", "corrections", "task_log")
_MOST_FAILURES, _MOST_RUNS = 3, 2
_MOST_ENTRIES = 400  # of a note, the newest
# Likeness from which on a lesson or a template fits, and a template whose trigger fires.
_RULE, _BY_TRIGGER = 0.4, 0.3
_BESIDE = 0.5  # of the likeness of the nearest failure: what is less alike says nothing beside it
_SLOT = re.compile(r"\{\w+\}")
_CODE = re.compile(r"`([^`]+)`")
_DENIES = re.compile(r"(?i)\b(?:not|never|avoid\w*|without|instead of|rather than)\b|n['’]t\b")

FailedCase: TypeAlias = "Told | NotedLesson"
GoodCase: TypeAlias = "Told | Template"


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
        templates, runs = self._successes(index, command, app)
        return Matches(
            tuple(self._failures(index, command, app)), templates,
            tuple(self._skills(index.known.skills, command)), runs,
            self._answers(index, command), index.known.problems,
        )  # fmt: skip

    def _failures(self, index: _Index, command: str, app: str) -> Iterator[Match]:
        """The nearest failures, one of each run; what a lesson says of one is told instead."""
        told: set[str] = set()
        count, best = 0, 0.0
        for found, score in index.failures.nearest(command, FAILED):
            best = best or score
            if score < _BESIDE * best:
                continue
            lesson = index.lessons.get(found.lesson) if isinstance(found, Told) else found
            if lesson is not None and score >= _RULE and _same_app(lesson.lesson.app, app):
                match, names = _lesson(lesson, score), [lesson.lesson.id]
            elif isinstance(found, Told):
                match, names = _entry(found, score), [found.gist, *filter(None, [found.moment])]
            else:
                continue
            if told.isdisjoint(names):
                yield match
                count += 1
            told.update(names)
            if count == _MOST_FAILURES:
                return

    def _successes(
        self, index: _Index, command: str, app: str
    ) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
        """The template of the nearest run that went well; else that run, and the next one."""
        from hindbrain.learn.templates.trigger import fires
        from hindbrain.learn.templates.using import works

        runs: dict[str, Match] = {}
        for found, score in index.successes.nearest(command, _BY_TRIGGER):
            template = index.templates.get(found.id.removeprefix("^")) if isinstance(found, Told) else found
            if template is not None and works(template) and _same_app(template.app, app) and not runs:
                fits = score >= _RULE or fires(template.trigger, command)
                if fits and (match := self._template(template, score)) is not None:
                    return (match,), ()
            if isinstance(found, Told) and score >= WORKED and len(runs) < _MOST_RUNS:
                runs.setdefault(found.gist, _entry(found, score))
        return (), tuple(runs.values())

    def _answers(self, index: _Index, prompt: str) -> tuple[Match, ...]:
        from hindbrain.learn.run_answers import answering

        near = answering(prompt, index.known.runs[-_MOST_ENTRIES:], self._relevance())
        return tuple(_entry(told, score)._replace(text=_only_answer(told.text)) for told, score in near)

    def past_runs(self, topic: str) -> PastRuns:
        """Runs whose answers somebody who asks may mean."""
        from hindbrain.learn.run_answers import answering

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

    def _template(self, template: Template, score: float) -> Match | None:
        from hindbrain.learn.templates.template_note import shown_span

        try:
            page = self._desk.find(template.path)
        except HindbrainError:  # it was read a moment ago; the next look names it
            page = None
        if page is None:
            return None
        span = shown_span(page.data)
        lines = filter(str.strip, page.text.splitlines()[span.first - 1 : span.last])
        facts = f"success {template.success_rate:.0%} of {plural(template.runs, 'run')}"
        return Match(
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


class _Index:
    """What the notes say, ready to be compared with."""

    def __init__(self, known: Known, embedder: Embedder | None) -> None:
        self.known = known
        live = [noted for noted in known.lessons if noted.lesson.state != "retired"]
        self.lessons = {noted.lesson.id: noted for noted in live}
        self.templates = _by_run(known.templates)
        runs = [run for run in known.runs if run.went_well][-_MOST_ENTRIES:]
        # Among equals the one that stands later is told first: what helped, then what a person put right.
        worth = sorted(known.issues[-_MOST_ENTRIES:], key=lambda told: (told.is_fixed, told.corrects))
        self.failures = Cases[FailedCase]([*worth, *live], _of_failure, embedder)
        self.successes = Cases[GoodCase]([*runs, *known.templates], _of_success, embedder)


def _by_run(templates: Sequence[Template]) -> Mapping[str, Template]:
    """The templates by the runs that they were made from, as these are called in notes."""
    from hindbrain.learn.recording.wording import block_id

    return {block_id(run): template for template in templates for run in template.evidence}


def _of_failure(failure: FailedCase) -> list[Text]:
    if isinstance(failure, NotedLesson):
        lesson = failure.lesson
        reasons = [reason_text(lesson.reason)] if lesson.reason else []
        return [*map(command_text, lesson.commands or (lesson.text,)), *reasons]
    reasons = [reason_text(failure.reason)] if failure.reason else []
    return [command_text(failure.commands[0], _wish(failure)), *reasons]


def _of_success(success: GoodCase) -> list[Text]:
    if isinstance(success, Told):
        return [command_text(success.commands[0], _wish(success))]
    from hindbrain.learn.templates.slots import without_slots

    commands = success.commands
    if not commands:
        return [command_text(_SLOT.sub(" ", success.title))]
    return [command_text(one, without_slots(one, success.slots, commands)) for one in commands]


def _wish(told: Told) -> str:
    """The command without the values that its calls were given."""
    from hindbrain.learn.templates.steps import is_opening, without_values
    from hindbrain.learn.templates.template_note import read_step

    steps = [read_step(call) for call in told.calls if "(" in call and not is_opening(call)]
    return without_values(told.commands[0], [argument for step in steps for argument in step.arguments])


def _same_app(one: str, other: str) -> bool:
    return not one or not other or one.casefold() == other.casefold()


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
