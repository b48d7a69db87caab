"""The success metrics as a table of text: the same cells on a terminal and in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.base.plural import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hindbrain.learn.stats.figures import Metric

TITLE = "Success metrics"
HEAD = ("", "now", "before", "target", "like for like")
_LABELS = {
    "repeated_failures": "repeated failures",
    "known_task_iterations": "known tasks, iterations",
    "preference_adherence": "preference adherence",
    "template_success": "templates after 10 uses",
    "relevance": "relevance of injected",
}
_GROUPS = {"task": "kind", "template": "template", "slot": "slot"}
_NOTHING = "-"


def metric_cells(metrics: Sequence[Metric]) -> tuple[tuple[str, ...], ...]:
    """The head, then a row for each; () without metrics."""
    if not metrics:
        return ()
    rows = [
        (_LABELS[one.name], _figure(one, one.now), _figure(one, one.before), one.target, _basis(one))
        for one in metrics
    ]
    return (HEAD, *rows)


def table_lines(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(padded)}".rstrip()


def _figure(metric: Metric, value: float | None) -> str:
    if value is None:
        return _NOTHING
    return f"{value:.0%}" if metric.unit == "share" else f"{value:.1f}"


def _basis(metric: Metric) -> str:
    """What the figures are made from, or why one is missing."""
    unit = "excerpt" if metric.by == "slot" else "run"
    if metric.before is None:
        return f"{plural(metric.now_count, unit)}; {metric.why}" if metric.now_count else metric.why
    groups = plural(metric.groups, _GROUPS[metric.by])
    return f"{plural(metric.now_count, unit)} against {metric.before_count}, {groups}"
