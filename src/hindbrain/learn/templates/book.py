"""The notes of templates, brought in line with what runs show; what a person changed or deleted stays so.

A template has a note of its own. Its steps are replaced by better ones only while they are ours, and the
earlier ones stay in the note; steps that a person changed are kept, and ours are suggested below. Figures in
the frontmatter follow the runs in any case. All writing goes through the desk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, VaultError
from hindbrain.learn.templates import template_note
from hindbrain.learn.templates.judging import allowed, redacted, why_not
from hindbrain.learn.templates.promoting import steps_digest
from hindbrain.learn.templates.records import Records, are_kin, shared_runs
from hindbrain.learn.templates.revising import Revision, Surroundings, listed_lines, revised
from hindbrain.learn.templates.template import Template
from hindbrain.learn.templates.trigger import trigger_problem
from hindbrain.learn.templates.using import with_uses

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.policy.policy import Policy

NEW_RUNS = 3  # that a new version needs: a step that half of the runs do would come and go


class TemplatesWritten(NamedTuple):
    """What became of each template: paths of notes, titles where there is none."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # a new version
    updated: tuple[str, ...] = ()  # figures, commands or evidence only
    kept: tuple[str, ...] = ()  # a person changed the steps: ours are at most suggested
    dropped: tuple[str, ...] = ()  # the owner deleted the note: never again
    left_out: tuple[tuple[str, str], ...] = ()  # (title, why): its text must not enter a note
    problems: tuple[str, ...] = ()  # notes that could not be read or changed


@dataclass(slots=True)
class _Told:
    """`TemplatesWritten` while it is made."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def done(self) -> TemplatesWritten:
        return TemplatesWritten(
            tuple(self.added), tuple(self.changed), tuple(self.updated), tuple(self.kept),
            tuple(self.dropped), tuple(self.left_out), tuple(self.problems),
        )  # fmt: skip


class TemplateBook:
    """For one thread. `log` is `VaultWriter.append_state_line`, or does nothing in a dry run."""

    def __init__(self, desk: Desk, log: Callable[[str, str], None], policy: Policy) -> None:
        self._desk = desk
        self._log = log
        self._policy = policy
        self.problems: list[str] = []  # of the last reading: notes that could not be read, and bad triggers

    def templates(self) -> list[Template]:
        """As the notes say now, in the order of their paths; a person's own are among them."""
        self.problems = []
        found = []
        for path in self._desk.paths("templates"):
            try:
                page = self._desk.find(path)
            except VaultError as error:
                self.problems.append(f"{path}: {error}")
                continue
            template = template_note.parse(page.data, path) if page is not None else None
            if template is None:
                continue
            if problem := trigger_problem(template.trigger):
                self.problems.append(f"{path}: {problem}")
            found.append(template)
        return found

    def bring_up_to(self, found: Sequence[Template], episodes: Sequence[Episode] = ()) -> TemplatesWritten:
        """Add, change and update notes; with `episodes`, figures count the runs that followed each."""
        notes = self.templates()
        told = _Told(problems=list(self.problems))
        records = Records(self._desk.root, self._log)
        pairs = _paired(found, notes)
        placed = [
            redacted(template)._replace(path="" if at is None else notes[at].path)
            for template, at in zip(found, pairs, strict=True)
        ]
        used = with_uses([*placed, *notes], episodes)
        fresh, followed = used[: len(found)], used[len(found) :]
        for template, at in zip(fresh, pairs, strict=True):
            if at is None:
                self._add(template, records, told)
            else:
                self._renew(template, notes[at], followed[at], records, told)
        for at, (note, use) in enumerate(zip(notes, followed, strict=True)):
            if at not in pairs and use != note:
                told.updated += [note.path] * self._write(Revision(note.path, use), told)
        return told.done()

    def _add(self, template: Template, records: Records, told: _Told) -> None:
        if any(record.done for record in records.kin(template)):
            told.dropped.append(template.title)
            return
        if why := why_not(template, self._policy):
            told.left_out.append((template.title, why))
            return
        new = self._named(template._replace(commands=allowed(template.commands, self._policy)))
        log = self._desk.path("task_log")
        text = template_note.render(new, task_log=log, day=self._desk.today())
        records.begin(new)
        self._desk.edit(new.path, lambda page: text.encode() if page is None else None, ours=text.split("\n"))
        records.finish(new, listed_lines(new, log))
        told.added.append(new.path)

    def _renew(
        self, template: Template, note: Template, use: Template, records: Records, told: _Told
    ) -> None:
        """Bring the note of a template to what was found for it."""
        known = records.kin(template)
        written = [record for record in known if record.steps == steps_digest(note.steps)]
        differs = template.shape != note.shape
        if not written:
            told.kept.append(note.path)
            suggest = differs and steps_digest(template.steps) not in {record.suggested for record in known}
            self._suggest(template if suggest else None, note, use, records, told)
            return
        better = differs and abs(template.runs - written[0].made_of) >= NEW_RUNS
        if better and (why := why_not(template, self._policy)):
            told.left_out.append((template.title, why))
            return
        fresh = [command for command in template.commands if command not in note.commands]
        barred = set(fresh) - set(allowed(fresh, self._policy))
        new = template._replace(commands=tuple(c for c in template.commands if c not in barred))
        said = frozenset[str]().union(*(record.lines for record in known))
        trigger = template.trigger if note.trigger in {record.trigger for record in known} else note.trigger
        revision = Revision(note.path, template, trigger, new.steps if better else None, None, new, said)
        says = (new if better else note._replace(evidence=new.evidence, runs=written[0].made_of))._replace(
            trigger=trigger
        )
        if better:
            records.begin(says)
        if self._write(revision, told):
            (told.changed if better else told.updated).append(note.path)
            records.finish(says, listed_lines(new, self._desk.path("task_log")))

    def _suggest(
        self, template: Template | None, note: Template, use: Template, records: Records, told: _Told
    ) -> None:
        """What runs do now, below the steps that a person changed; once, and never over theirs."""
        if template is not None and (why := why_not(template, self._policy)):
            told.left_out.append((template.title, why))
            template = None
        written = self._write(Revision(note.path, use, suggested=template), told)
        if written and template is not None:
            # Their steps are not ours now: the record is of the suggestion only.
            records.finish(note._replace(steps=()), (), suggested=steps_digest(template.steps))

    def _write(self, revision: Revision, told: _Told) -> bool:
        """Change the note; False where nothing changes."""
        path = revision.path
        around = Surroundings(
            lambda line: self._desk.own.is_ours(path, line), self._desk.path("task_log"), self._desk.today()
        )
        try:
            page = self._desk.find(path)
            first = revised(page.data, revision, around) if page is not None else None
            if page is None or first is None or first.data == page.data:
                return False
            self._desk.edit(path, lambda page: _changed(page, revision, around), ours=first.lines)
        except HindbrainError as error:
            told.problems.append(f"{path}: {error}")
            return False
        return True

    def _named(self, template: Template) -> Template:
        """With a path that no other note has."""
        for number in range(1, 1_000):
            name = template.name if number == 1 else f"{template.name} {number}"
            path = self._desk.path("templates", name=name)
            if self._desk.find(path) is None:
                return template._replace(name=name, path=path)
        raise VaultError(f"no free name for the template {template.title!r}; rename notes of that name")


def _changed(page: Page | None, revision: Revision, around: Surroundings) -> bytes | None:
    if page is None:
        return None
    data = revised(page.data, revision, around).data
    return None if data == page.data else data


def _paired(found: Sequence[Template], notes: Sequence[Template]) -> list[int | None]:
    """For each template that was found, the note that it belongs to; each note is taken once."""
    pairs = sorted(
        (-shared_runs(template, note), at, place)
        for at, template in enumerate(found)
        for place, note in enumerate(notes)
        if are_kin(template, note)
    )
    chosen: list[int | None] = [None] * len(found)
    for _, at, place in pairs:
        if chosen[at] is None and place not in chosen:
            chosen[at] = place
    return chosen
