"""The five success metrics of the reference, each compared like for like. Pure.

What is counted belongs to a group: a kind of task, a template or a slot. Only groups that occur in both
periods are compared, and the earlier period is weighed by what the later one holds of each group, so that a
change of the mix is no gain and no loss. The periods are halves of what is counted, except where the metric
names its own: first runs of a kind against later ones, the first ten uses of a template against the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hindbrain.learn.repeating import NAMELESS
from hindbrain.learn.stats.adherence import adherence
from hindbrain.learn.stats.figures import Metric
from hindbrain.learn.stats.slots import uses_by_receipt
from hindbrain.learn.templates.using import uses_of

if TYPE_CHECKING:
    from hindbrain.context.receipts import Receipt
    from hindbrain.learn.stats.seen import Seen
    from hindbrain.learn.templates.template import Template

LEAST_NOW = 5  # fewer jump between 0 and 100 %
LEAST_BEFORE = 3
FIRST_RUNS = 3  # of a kind: from the fourth on its task is known
FIRST_USES = 10  # of a template: the reference judges it after these


class Counted(NamedTuple):
    """One run, use or excerpt."""

    group: int | str
    value: float


Periods: TypeAlias = tuple[Sequence[Counted], Sequence[Counted]]  # before, now


def success_metrics(
    seen: Sequence[Seen],
    *,
    since: float = 0.0,
    templates: Iterable[Template] = (),
    preferences: Mapping[str, str] | None = None,
    receipts: Iterable[Receipt] = (),
) -> tuple[Metric, ...]:
    """`seen`: all runs, oldest first; those that ended before `since` count only as what came before.

    `preferences`: the text of each memory that is a preference, by id.
    """
    templates = list(templates)
    return (
        _repeated_failures(seen, since),
        _known_iterations(seen, since),
        _preference_adherence(seen, since, preferences or {}),
        _template_success(seen, since, templates),
        _relevance(seen, since, templates, receipts),
    )


def _repeated_failures(seen: Sequence[Seen], since: float) -> Metric:
    """Of runs whose kind had failed before, against its last failure alone.

    A first failure repeats nothing, and the more failures lie behind a run, the likelier it is like one of
    them: counting all would show a rise where nothing has changed.
    """
    counted = [
        Counted(run.kind, run.as_last)
        for run in seen
        if run.as_last is not None and _is_judged(run) and run.episode.ended >= since and run.kind != NAMELESS
    ]
    metric = Metric("repeated_failures", "share", "none", "task")
    few = "too few runs of kinds that failed before"
    return _compared(metric, _halves(counted), few, "too few runs of the same kinds before")


def _known_iterations(seen: Sequence[Seen], since: float) -> Metric:
    """Failed runs count as well: what they cost was spent."""
    told = [run for run in seen if _is_judged(run) and run.episode.iterations and run.kind != NAMELESS]
    before = [Counted(run.kind, run.episode.iterations) for run in told if run.earlier < FIRST_RUNS]
    now = [
        Counted(run.kind, run.episode.iterations)
        for run in told
        if run.earlier >= FIRST_RUNS and run.episode.ended >= since
    ]
    metric = Metric("known_task_iterations", "iterations", "fewer than before", "task")
    few = f"too few runs with iterations after {FIRST_RUNS} of their kind"
    return _compared(metric, (before, now), few, "too few first runs with iterations")


def _preference_adherence(seen: Sequence[Seen], since: float, preferences: Mapping[str, str]) -> Metric:
    kinds = {run.episode.run: run.kind for run in seen}
    counted = [
        Counted(kinds[episode.run], kept)
        for episode, kept in adherence([run.episode for run in seen], preferences)
        if episode.ended >= since
    ]
    metric = Metric("preference_adherence", "share", "all", "task")
    few = "too few runs with a preference left open"
    return _compared(metric, _halves(counted), few, "too few runs of the same kinds before")


def _template_success(seen: Sequence[Seen], since: float, templates: Sequence[Template]) -> Metric:
    before: list[Counted] = []
    now: list[Counted] = []
    for template, uses in zip(templates, uses_of(templates, [run.episode for run in seen]), strict=True):
        group = template.path or template.name
        before += [Counted(group, use.good) for use in uses[:FIRST_USES]]
        now += [Counted(group, use.good) for use in uses[FIRST_USES:] if use.episode.ended >= since]
    metric = Metric("template_success", "share", "over 85%", "template")
    return _compared(metric, (before, now), f"too few runs after {FIRST_USES} uses", "")


def _relevance(
    seen: Sequence[Seen], since: float, templates: Sequence[Template], receipts: Iterable[Receipt]
) -> Metric:
    """Halves of the prompts, so that the excerpts of one prompt stay together."""
    told = [
        [Counted(slot, used) for slot, used in uses]
        for receipt, uses in uses_by_receipt(
            sorted(receipts, key=lambda one: one.at), [run.episode for run in seen], templates, since=since
        )
        if uses
    ]
    middle = len(told) // 2
    before, now = ([one for uses in part for one in uses] for part in (told[:middle], told[middle:]))
    metric = Metric("relevance", "share", "over 80%", "slot")
    return _compared(metric, (before, now), "too few excerpts injected", "too few of the same slots before")


def _is_judged(run: Seen) -> bool:
    return run.episode.outcome == "success" or run.episode.failed


def _halves(counted: Sequence[Counted]) -> Periods:
    middle = len(counted) // 2
    return counted[:middle], counted[middle:]


def _compared(metric: Metric, periods: Periods, few: str, alone: str) -> Metric:
    """With its figures. `few`: why there are none; `alone`: why there is nothing to compare with."""
    before, now = periods
    if len(now) < LEAST_NOW:
        return metric._replace(why=few)
    groups = {one.group for one in before} & {one.group for one in now}
    old = [one for one in before if one.group in groups]
    new = [one for one in now if one.group in groups]
    if len(new) < LEAST_NOW or len(old) < LEAST_BEFORE:
        return metric._replace(now=_mean(now), now_count=len(now), why=alone)
    return metric._replace(
        now=_mean(new), before=_in_the_mix_of(new, old),
        groups=len(groups), now_count=len(new), before_count=len(old),
    )  # fmt: skip


def _in_the_mix_of(new: Sequence[Counted], old: Sequence[Counted]) -> float:
    """The mean of `old`, each group weighed by how often it occurs in `new`."""
    values: defaultdict[int | str, list[float]] = defaultdict(list)
    for one in old:
        values[one.group].append(one.value)
    means = {group: sum(found) / len(found) for group, found in values.items()}
    return sum(means[one.group] for one in new) / len(new)


def _mean(counted: Sequence[Counted]) -> float:
    return sum(one.value for one in counted) / len(counted)
