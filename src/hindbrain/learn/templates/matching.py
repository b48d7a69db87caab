"""Which templates fit a command, and their steps with what the command says filled in. Pure.

    score = 0.5 likeness + 0.3 trigger + 0.1 app + 0.1 success rate

each 0..1; a template without a trigger is judged by the others alone, scaled up. What fills a slot counts
for nothing on either side: "cancel the lesson" is no "schedule the lesson". Knows nothing of notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import vectors_of
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
MISFIT = 0.7  # of the likeness is left where a part of the command has no slot, or a slot no part
_UNKNOWN_APP = 0.5  # when the command's application, or the template's, is not known
_LAST = 10  # runs that `Template.recent` is about
_MOST = 3
_SLOT = re.compile(r"\{(\w+)\}")


def match_templates(
    command: str, templates: Sequence[Template], embedder: Embedder | None, *, app: str = ""
) -> list[tuple[Template, float]]:
    """Those that fit, the best first, with their scores 0..1; at most three."""
    return TemplateMatcher(templates, embedder).match(command, app=app)


class TemplateMatcher:
    """`match_templates` for many commands: what the templates' own commands mean is looked up once."""

    def __init__(self, templates: Sequence[Template], embedder: Embedder | None) -> None:
        self._templates = [t for t in templates if t.steps and success_now(t) >= LEAST_SUCCESS]
        self._embedder = embedder
        texts: list[str] = []
        self._owners: list[int] = []
        for number, template in enumerate(self._templates):
            known = template.commands or (_SLOT.sub(" <said> ", template.title),)
            texts += [without_slots(text, template.slots) for text in known]
            self._owners += [number] * len(known)
        self._vectors = vectors_of(texts, embedder)
        self._looks: list[set[str]] = [set() for _ in self._templates]  # that are left when slots are filled
        for owner, text in zip(self._owners, texts, strict=True):
            self._looks[owner] |= {kind for kind, _ in looks_of(text)}

    def match(self, command: str, *, app: str = "") -> list[tuple[Template, float]]:
        if not command.strip() or not self._templates:
            return []
        scored = []
        for template, likeness in zip(self._templates, self.likeness(command), strict=True):
            value = score(template, command, likeness, app=app)
            if likeness >= LEAST_ALIKE and value >= (FITS if template.trigger else FITS_ALONE):
                scored.append((template, round(value, 4)))
        scored.sort(key=lambda pair: (-pair[1], -pair[0].runs, pair[0].name))
        return scored[:_MOST]

    def likeness(self, command: str) -> list[float]:
        """How alike the command is to the nearest of each template's commands, slots aside; 0..1."""
        bare = [without_slots(command, template.slots) for template in self._templates]
        row = {text: number for number, text in enumerate(dict.fromkeys(bare))}
        vectors = vectors_of(list(row), self._embedder)
        best = [0.0] * len(self._templates)
        for owner, known in zip(self._owners, self._vectors, strict=True):
            best[owner] = max(best[owner], min(1.0, float(known @ vectors[row[bare[owner]]])))
        return [value * self._fit(at, bare[at], command) for at, value in enumerate(best)]

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


def success_now(template: Template) -> float:
    """Of the last ten runs, with one success and one failure added: three of three prove little."""
    count = min(template.runs, _LAST) if template.recent >= 0 else template.runs
    rate = template.recent if template.recent >= 0 else template.success_rate
    return (rate * count + 1) / (count + 2)


def filled(template: Template, command: str) -> tuple[Step, ...]:
    """The steps, with slots filled from the command where they can be; the others stay as they are."""
    values = {slot.name: fill(slot, command) for slot in template.slots}
    return tuple(
        step._replace(arguments=tuple((key, _with(value, values)) for key, value in step.arguments))
        for step in template.steps
    )


def _with(text: str, values: dict[str, str]) -> str:
    return _SLOT.sub(lambda match: values.get(match[1]) or match[0], text)


def _same_app(template: Template, command: str, app: str) -> float:
    if not template.app:
        return _UNKNOWN_APP
    if app:
        return float(app.casefold() == template.app.casefold())
    return 1.0 if template.app.casefold() in command.casefold() else _UNKNOWN_APP
