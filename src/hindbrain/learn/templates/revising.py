"""A template's note with what changed about it, and nothing else. Pure: bytes in, bytes out.

Owns which part of the note each change touches; whether there is a change, and whose the steps are, is the
book's to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hindbrain.base.plural import plural
from hindbrain.learn.pages.sections import section_at, with_section
from hindbrain.learn.templates import template_note
from hindbrain.learn.templates.records import line_digest
from hindbrain.learn.templates.template import Step, Template
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.splice import set_property

_MOST_EARLIER = 10  # versions that a note lists
_FIGURES = (
    "confidence", "avg_iterations", "success_rate", "recent_success", template_note.FAILING, "runs",
)  # fmt: skip


class Revision(NamedTuple):
    """What a note shall say from now on."""

    path: str
    use: Template  # whose figures it has
    trigger: str | None = None  # None: as it is
    steps: tuple[Step, ...] | None = None  # a new version; None: as they are
    suggested: Template | None = None  # whose steps are only suggested
    listed: Template | None = None  # whose slots, commands and evidence it lists
    said: frozenset[str] = frozenset()  # digests of lines that we listed before


class Revised(NamedTuple):
    data: bytes
    lines: list[str]  # that are ours


class Surroundings(NamedTuple):
    ours: Callable[[str], bool]  # is a line of the note ours?
    task_log: str  # the path of the note with the runs
    day: str  # YYYY-MM-DD


def revised(data: bytes, revision: Revision, around: Surroundings) -> Revised:
    """The note after the revision; the same bytes where it changes nothing."""
    lines: list[str] = []
    after = _with_figures(data, revision)
    if revision.steps is not None:
        after = _with_steps(after, revision.steps, around, lines)
    if revision.suggested is not None:
        after = _with_list(after, template_note.SUGGESTED, [suggestion(revision.suggested)], around, lines)
    if revision.listed is not None:
        for heading, listed in template_note.sections(revision.listed, task_log=around.task_log):
            if heading != template_note.SLOTS or revision.steps is not None:
                kept = _not_deleted(listed, after, revision.said)
                after = _with_list(after, heading, kept, around, lines)
    if after != data:
        after = set_property(after, "updated", around.day)
        before = set(NoteLines(data).texts)
        # The figures are ours, too: unless that is noted, a proof takes them for somebody's.
        lines += [line for line in _front(after) if line not in before]
    return Revised(after, lines)


def suggestion(template: Template) -> str:
    runs = plural(template.successes, "run")
    return f"- {runs} that went well did: {template_note.in_one_line(template.steps)}"


def listed_lines(template: Template, task_log: str) -> list[str]:
    return [line for _, lines in template_note.sections(template, task_log=task_log) for line in lines]


def _with_figures(data: bytes, revision: Revision) -> bytes:
    told = template_note.figures(revision.use)
    if template_note.FAILING in read_frontmatter(NoteLines(data).texts).properties:
        told.setdefault(template_note.FAILING, 0)
    for key in (key for key in _FIGURES if key in told):
        data = set_property(data, key, told[key])
    return data if revision.trigger is None else set_property(data, "trigger", revision.trigger)


def _with_steps(data: bytes, steps: Sequence[Step], around: Surroundings, ours: list[str]) -> bytes:
    """The new steps in the place of the old ones, which go to the earlier versions."""
    old = template_note.parse(data, "")
    version = old.version if old is not None else 1
    lines = NoteLines(data)
    span = template_note.steps_span(parse_note(decode_note(data)[0], stem=""))
    there = lines.texts[span.first - 1 : span.last]
    theirs = [line for line in there if line.strip() and not around.ours(line)]
    new = template_note.step_lines(steps)
    ours += new
    lines.remove(span.first - 1, span.last)
    lines.insert(span.first - 1, [*new, *([""] if theirs else []), *theirs])
    data = set_property(lines.data(), "version", version + 1)
    told = template_note.in_one_line(old.steps) if old is not None else ""
    earlier = f"- Version {version}, until {around.day}: {told}"
    before = [line for line in _section(data, template_note.EARLIER) if line.strip() and around.ours(line)]
    return _with_list(data, template_note.EARLIER, [earlier, *before][:_MOST_EARLIER], around, ours)


def _with_list(
    data: bytes, heading: str, lines: Sequence[str], around: Surroundings, ours: list[str]
) -> bytes:
    ours += [f"## {heading}", *lines]
    return with_section(data, heading, lines, ours=around.ours, path="the template")


def _not_deleted(lines: Sequence[str], data: bytes, said: frozenset[str]) -> list[str]:
    """Without lines that we wrote before and that are not there now: their owner took them away."""
    there = {line_digest(line) for line in NoteLines(data).texts}
    return [line for line in lines if line_digest(line) in there or line_digest(line) not in said]


def _section(data: bytes, heading: str) -> list[str]:
    place = section_at(data, heading)
    return NoteLines(data).texts[slice(*place)] if place is not None else []


def _front(data: bytes) -> list[str]:
    texts = NoteLines(data).texts
    return texts[: read_frontmatter(texts).last_line]
