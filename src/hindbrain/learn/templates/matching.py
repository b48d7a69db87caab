"""Which templates fit a command, and their steps with what the command says filled in. Pure.

    score = 0.5 likeness + 0.3 trigger + 0.1 app + 0.1 success rate

each 0..1; a template without a trigger is judged by the others alone, scaled up. What fills a slot counts
for nothing on either side: "cancel the lesson" is no "schedule the lesson". A command that is surely of
another template's kind is not for this one, also where the other one is not offered; nor is one to which a
single run is nearer than all commands of the template: what was done there says more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import tells, vectors_of, words_of
from hindbrain.learn.templates.slots import fill, looks_of, without_slots
from hindbrain.learn.templates.template import Step, Template
from hindbrain.learn.templates.trigger import fires

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder

LIKENESS, TRIGGER, APP, SUCCESS = 0.5, 0.3, 0.1, 0.1  # what each is worth; together 1
FITS = 0.6  # a score from which on a template is worth being shown
FITS_ALONE = 0.7  # where it has no trigger to agree
LEAST_ALIKE = 0.35  # whatever the trigger says: a word in common is no task in common
LEAST_SUCCESS = 0.5  # of its last ten runs, with one success and one failure added
MOST_FAILING = 2  # runs in a row that did its steps and failed: then it is not offered
NEARER = 0.05  # by which another template's commands must be more alike to take a command away from one
ROUNDING = 0.01  # by which a single run must be more alike than all commands of a template to be told instead
SURELY = 0.75  # the likeness from which on a command is of another template's kind beyond doubt
MISFIT = 0.7  # of the likeness is left where a part of the command has no slot, or a slot no part
_UNKNOWN_APP = 0.5  # when the command's application, or the template's, is not known
_LAST = 10  # runs that `Template.recent` is about
_MOST = 3
_SLOT = re.compile(r"\{(\w+)\}")


def match_templates(
    command: str,
    templates: Sequence[Template],
    embedder: Embedder | None,
    *,
    app: str = "",
    nearest_run: float = 0.0,
) -> list[tuple[Template, float]]:
    """Those that fit, the best first, with their scores 0..1; at most three."""
    return TemplateMatcher(templates, embedder).match(command, app=app, nearest_run=nearest_run)


class TemplateMatcher:
    """`match_templates` for many commands: what the templates' own commands mean is looked up once."""

    def __init__(self, templates: Sequence[Template], embedder: Embedder | None) -> None:
        self._templates = [t for t in templates if t.steps]
        self._embedder = embedder
        texts: list[str] = []
        self._owners: list[int] = []
        for number, template in enumerate(self._templates):
            known = template.commands or (_SLOT.sub(" <said> ", template.title),)
            texts += [_bare(text, template) for text in known]
            self._owners += [number] * len(known)
        self._vectors = vectors_of(texts, embedder)
        self._looks: list[set[str]] = [set() for _ in self._templates]  # that are left when slots are filled
        self._words: list[set[str]] = [set() for _ in self._templates]  # that are not what fills slots
        for owner, text in zip(self._owners, texts, strict=True):
            self._looks[owner] |= {kind for kind, _ in looks_of(text)}
            self._words[owner] |= set(filter(tells, words_of(text)))

    def match(self, command: str, *, app: str = "", nearest_run: float = 0.0) -> list[tuple[Template, float]]:
        """`nearest_run`: how alike the nearest command is that a single run did well."""
        if not command.strip() or not self._templates:
            return []
        bare = [_bare(command, template) for template in self._templates]
        near = self._nearest(bare)
        likeness = [value * self._fit(at, bare[at], command) for at, value in enumerate(near)]
        scored = []
        for at, template in enumerate(self._templates):
            value = score(template, command, likeness[at], app=app)
            fits = likeness[at] >= LEAST_ALIKE and value >= (FITS if template.trigger else FITS_ALONE)
            told_better = nearest_run - near[at] > ROUNDING
            if (
                fits
                and not told_better
                and works(template)
                and not self._is_anothers(at, command, likeness, app)
            ):
                scored.append((template, round(value, 4)))
        scored.sort(key=lambda pair: (-pair[1], -pair[0].runs, pair[0].name))
        return scored[:_MOST]

    def _nearest(self, bare: Sequence[str]) -> list[float]:
        """How alike the command is to the nearest of each template's commands, slots aside; 0..1."""
        row = {text: number for number, text in enumerate(dict.fromkeys(bare))}
        vectors = vectors_of(list(row), self._embedder)
        best = [0.0] * len(self._templates)
        for owner, known in zip(self._owners, self._vectors, strict=True):
            best[owner] = max(best[owner], min(1.0, float(known @ vectors[row[bare[owner]]])))
        return best

    def _is_anothers(self, at: int, command: str, likeness: Sequence[float], app: str) -> bool:
        """Is the command nearer to another template, or as near with a word that only the other one has?"""
        template = self._templates[at]
        strange = set(filter(tells, words_of(_bare(command, template)))) - self._words[at]
        for other, rival in enumerate(self._templates):
            elsewhere = app and rival.app and rival.app.casefold() != app.casefold()
            if other == at or elsewhere or rival.shape == template.shape or likeness[other] < SURELY:
                continue
            ahead = likeness[other] - likeness[at]
            if ahead > NEARER or (ahead >= 0 and strange & self._words[other]):
                return True
        return False

    def _fit(self, at: int, bare: str, command: str) -> float:
        """1, or less where the command brings a path, an address, ... that no slot takes, or lacks one."""
        brought = {kind for kind, _ in looks_of(bare)} - self._looks[at]
        slots = self._templates[at].slots
        lacking = {slot.kind for slot in slots if slot.in_command and slot.kind and not fill(slot, command)}
        return MISFIT ** len(brought | lacking)


def score(template: Template, command: str, likeness: float, *, app: str = "") -> float:
    """0..1."""
    rest = LIKENESS * likeness + APP * _same_app(template, command, app) + SUCCESS * success_now(template)
    if not template.trigger:
        return rest / (1 - TRIGGER)
    return rest + TRIGGER * fires(template.trigger, command)


def works(template: Template) -> bool:
    """Is it worth being offered, by how runs with it went of late?"""
    return template.failing < MOST_FAILING and success_now(template) >= LEAST_SUCCESS


def success_now(template: Template) -> float:
    """Of the last ten runs, with one success and one failure added: three of three prove little."""
    count = min(template.runs, _LAST) if template.recent >= 0 else template.runs
    rate = template.recent if template.recent >= 0 else template.success_rate
    return (rate * count + 1) / (count + 2)


def filled(template: Template, command: str) -> tuple[Step, ...]:
    """The steps, with slots filled from the command where they can be; the others stay as they are."""
    said = _without_app(command, template.app)
    values = {slot.name: fill(slot, said, template.commands) for slot in template.slots}
    return tuple(
        step._replace(arguments=tuple((key, _with(value, values)) for key, value in step.arguments))
        for step in template.steps
    )


def _bare(command: str, template: Template) -> str:
    """The command without what fills the template's slots."""
    return without_slots(_without_app(command, template.app), template.slots, template.commands)


def _without_app(command: str, app: str) -> str:
    """ "play Heroes with Spotify" is to play Heroes: where it is done is no part of what."""
    if not app or app.casefold() not in command.casefold():
        return command
    return re.sub(rf"\s+(?:in|on|with|using|via)\s+{re.escape(app)}\s*$", "", command, flags=re.IGNORECASE)


def _with(text: str, values: dict[str, str]) -> str:
    return _SLOT.sub(lambda match: values.get(match[1]) or match[0], text)


def _same_app(template: Template, command: str, app: str) -> float:
    if not template.app:
        return _UNKNOWN_APP
    if app:
        return float(app.casefold() == template.app.casefold())
    return 1.0 if template.app.casefold() in command.casefold() else _UNKNOWN_APP
