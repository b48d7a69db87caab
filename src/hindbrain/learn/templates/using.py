"""How well a template works: the runs that followed it, and how they ended. Pure.

A run followed a template when it was in its prompt, or when the command is of its kind and at least 0.9 of
the steps occur in one of its attempts, in order. An
attempt that was rejected and that followed it is a failure of the template, however the run ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from hindbrain.learn.alike import vectors_of
from hindbrain.learn.runs.episode import Action, Episode
from hindbrain.learn.templates.slots import plain
from hindbrain.learn.templates.steps import as_step
from hindbrain.learn.templates.template import Step, Template
from hindbrain.learn.templates.trigger import fires

FOLLOWED = 0.9
RECENT = 10  # runs that tell how well it works now
LEAST_SUCCESS = 0.5  # of its last ten runs, with one success and one failure added
MOST_FAILING = 2  # runs in a row that did its steps and failed: then it is not offered
ALIKE = 0.5  # in words: a command that is of the template's kind
_MOST_EPISODES = 5_000  # the newest
_SLOT = re.compile(r"\{\w+\}")
_QUOTES = "\"'“”"


class Attempt(NamedTuple):
    """What a run did until somebody looked at it."""

    actions: tuple[Action, ...]
    names: frozenset[str]
    good: bool


class Use(NamedTuple):
    """A run that followed a template."""

    good: bool
    episode: Episode
    whole: bool  # it did every step


def with_use(template: Template, episodes: Sequence[Episode]) -> Template:
    """The template with its figures from these episodes."""
    return with_uses([template], episodes)[0]


def with_uses(templates: Sequence[Template], episodes: Sequence[Episode]) -> list[Template]:
    """As `with_use`, for many at once. Figures of a template that no run followed stay as they are."""
    return [
        _with_figures(template, used) if used else template
        for template, used in zip(templates, uses_of(templates, episodes), strict=True)
    ]


def uses_of(templates: Sequence[Template], episodes: Sequence[Episode]) -> list[list[Use]]:
    """For each template the runs that followed it, in the order of the episodes."""
    ended = [e for e in episodes[-_MOST_EPISODES:] if e.outcome == "success" or e.failed]
    if not templates or not ended:
        return [[] for _ in templates]
    said = vectors_of([episode.command for episode in ended], None)
    attempts = [attempts_of(episode) for episode in ended]
    out = []
    for template in templates:
        near = (said @ vectors_of(template.commands or (template.title,), None).T).max(axis=1)
        out.append(
            [
                use
                for episode, tried, likeness in zip(ended, attempts, near, strict=True)
                if (use := _use(template, episode, tried, float(likeness))) is not None
            ]
        )
    return out


def works(template: Template) -> bool:
    """Is it worth being offered, by how runs with it went of late?"""
    return template.failing < MOST_FAILING and success_now(template) >= LEAST_SUCCESS


def success_now(template: Template) -> float:
    """Of the last ten runs, with one success and one failure added: three of three prove little."""
    count = min(template.runs, RECENT) if template.recent >= 0 else template.runs
    rate = template.recent if template.recent >= 0 else template.success_rate
    return (rate * count + 1) / (count + 2)


def attempts_of(episode: Episode) -> list[Attempt]:
    """What was done up to each rejection, and after the last one; the whole run where that is not known."""
    cuts = sorted({rejection.after for rejection in episode.rejections if rejection.after > 0})
    parts = [tuple(map(as_step, episode.actions[a:b])) for a, b in pairwise([0, *cuts, len(episode.actions)])]
    whole = [Attempt(part, frozenset(action.name for action in part), False) for part in parts if part]
    if whole and episode.outcome == "success" and parts[-1]:
        whole[-1] = whole[-1]._replace(good=True)
    return whole


def coverage(template: Template, actions: Sequence[Action]) -> float:
    """Of the template's steps, the share that these actions do, in order; 0..1."""
    best = [0.0] * (len(actions) + 1)
    for step in reversed(template.steps):
        row = [0.0] * (len(actions) + 1)
        for j in range(len(actions) - 1, -1, -1):
            row[j] = max(best[j], row[j + 1], best[j + 1] + does(actions[j], step))
        best = row
    return best[0] / len(template.steps) if template.steps else 0.0


def does(action: Action, step: Step) -> bool:
    """Is the action that step? Slots stand for anything; other arguments of the step must be the same."""
    if action.name != step.action:
        return False
    given = dict(action.arguments)
    first = action.arguments[0][1] if action.arguments else ""
    return all(
        _fits(plain(given.get(key, "") if key or number else first), value)
        for number, (key, value) in enumerate(step.arguments)
    )


def was_followed(template: Template, episode: Episode) -> bool:
    """Did an attempt of the run do at least 0.9 of the steps, in order?"""
    return any(_follows(template, attempt) for attempt in attempts_of(episode))


def _follows(template: Template, attempt: Attempt) -> bool:
    return _may_cover(template, attempt) and coverage(template, attempt.actions) >= FOLLOWED


def _use(template: Template, episode: Episode, attempts: Sequence[Attempt], likeness: float) -> Use | None:
    """How a run that followed it went; None when it did not follow it."""
    injected = bool(template.path) and template.path in episode.injected
    is_evidence = episode.run in template.evidence
    if injected or is_evidence or likeness >= ALIKE or fires(template.trigger, episode.command):
        for attempt in attempts:  # the first that followed it: the next one had learned from it
            if _follows(template, attempt):
                return Use(attempt.good, episode, _did_all(template, attempt))
    return Use(episode.outcome == "success", episode, False) if injected or is_evidence else None


def _did_all(template: Template, attempt: Attempt) -> bool:
    """Did it do each step? Else its end says nothing about these very steps."""
    return coverage(template, attempt.actions) == 1.0


def _may_cover(template: Template, attempt: Attempt) -> bool:
    there = sum(step.action in attempt.names for step in template.steps)
    return there >= FOLLOWED * len(template.steps)


def _with_figures(template: Template, used: Sequence[Use]) -> Template:
    went_well = [use.episode for use in used if use.good]
    iterations = [episode.iterations for episode in went_well if episode.iterations]
    mean = round(sum(iterations) / len(iterations), 1) if iterations else template.avg_iterations
    last = used[-RECENT:]
    recent = round(sum(use.good for use in last) / len(last), 2)
    latest = [use.good for use in used if use.whole]
    failing = len(latest) - max((at for at, good in enumerate(latest, start=1) if good), default=0)
    return template._replace(
        runs=len(used), successes=len(went_well), avg_iterations=mean, recent=recent, failing=failing
    )


def _fits(given: str, wanted: str) -> bool:
    if "{" not in wanted:
        return given.strip(_QUOTES).casefold() == wanted.strip(_QUOTES).casefold()
    return _pattern(wanted).fullmatch(given) is not None


@lru_cache(maxsize=2_048)
def _pattern(wanted: str) -> re.Pattern[str]:
    """Literal texts with anything between them; no more than a few gaps, so that time stays short."""
    parts = [re.escape(part) for part in _SLOT.split(wanted.strip(_QUOTES))]
    joined = ".*".join(parts) if len(parts) <= 4 else f"{parts[0]}.*{parts[-1]}"
    return re.compile(joined, re.IGNORECASE | re.DOTALL)
