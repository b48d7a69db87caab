"""From episodes to figures. Pure: the same runs give the same figures, and nothing is asked of a model.

A failure is a repeat, and a task is known, in the light of everything before it, also of what lies before
the days that are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.feedback.returns import Return, ids_of, returns
from hindbrain.learn.stats.figures import Counts, LessonFigures, MemoryFigures, Stats, TemplateFigures
from hindbrain.learn.stats.metrics import success_metrics
from hindbrain.learn.stats.periods import periods_of
from hindbrain.learn.stats.seen import Seen, seen_of

if TYPE_CHECKING:
    from hindbrain.context.receipts import Receipt
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.learn.templates.template import Template

_DAY_S = 86_400.0
_MOST_NAMED = 3  # of the memories that runs went better with, and of the others
_TELLING = 0.05  # of a lift; below, little is known


def stats_of(
    episodes: Sequence[Episode],
    *,
    days: int = 0,
    now: float = 0.0,
    lessons: Iterable[Lesson] = (),
    templates: Iterable[Template] = (),
    background: Mapping[str, int] | None = None,
    preferences: Mapping[str, str] | None = None,
    receipts: Iterable[Receipt] = (),
) -> Stats:
    """`episodes` oldest first. `days`: only runs that ended in the last so many before `now`; 0 is all.

    `preferences`: the texts of memories that are preferences, by id.
    """
    since = now - days * _DAY_S if days else 0.0
    templates = list(templates)
    ever = seen_of(episodes)
    seen = [run for run in ever if run.episode.ended >= since]
    by, periods = periods_of([run.episode.ended for run in seen])
    return Stats(
        days=days,
        all=counts_of(seen),
        first_time=counts_of([run for run in seen if not run.known]),
        kinds=len({run.kind for run in seen}),
        by=by,
        periods=tuple(period._replace(counts=counts_of(seen[rows])) for period, rows in periods),
        lessons=_lesson_figures(lessons),
        templates=_template_figures(templates),
        memory=memory_figures(seen),
        background=dict(background or {}),
        metrics=success_metrics(
            ever, since=since, templates=templates, preferences=preferences, receipts=receipts
        ),
    )


def counts_of(seen: Sequence[Seen]) -> Counts:
    judged = [run for run in seen if run.episode.outcome != "unknown"]
    return Counts(
        runs=len(seen),
        well=sum(run.episode.outcome == "success" for run in seen),
        ill=sum(run.episode.failed for run in seen),
        repeats=sum(run.repeat for run in seen),
        iterations=_mean(run.episode.iterations for run in judged),
        known=sum(run.known for run in seen),
        known_iterations=_mean(run.episode.iterations for run in judged if run.known),
    )


def memory_figures(seen: Sequence[Seen]) -> MemoryFigures:
    episodes, kinds = [run.episode for run in seen], [run.kind for run in seen]
    accounts = returns(episodes, kinds)
    # All memories as if they were one: how runs with any of them go beside runs of their kind with none.
    marked = [e._replace(injected=("any",)) if ids_of(e) else e for e in episodes]
    whole = returns(marked, kinds).get("any", Return())
    ranked = sorted(accounts.items(), key=lambda row: (-row[1].lift, row[0]))
    return MemoryFigures(
        items=len(accounts),
        tokens=sum(episode.tokens for episode in episodes if ids_of(episode)),
        with_memory=counts_of([run for run in seen if ids_of(run.episode)]),
        without=counts_of([run for run in seen if not ids_of(run.episode)]),
        lift=whole.lift,
        compared=whole.compared,
        best=tuple(row for row in ranked if row[1].lift >= _TELLING)[:_MOST_NAMED],
        worst=tuple(row for row in reversed(ranked) if row[1].lift <= -_TELLING)[:_MOST_NAMED],
    )


def _lesson_figures(lessons: Iterable[Lesson]) -> LessonFigures:
    known = list(lessons)
    states = [lesson.state for lesson in known]
    return LessonFigures(
        active=states.count("active"),
        escalated=states.count("escalated"),
        retired=states.count("retired"),
        heeded=sum(lesson.heeded for lesson in known),
        in_vain=sum(lesson.in_vain for lesson in known),
    )


def _template_figures(templates: Iterable[Template]) -> TemplateFigures:
    known = list(templates)
    return TemplateFigures(len(known), sum(one.runs for one in known), sum(one.successes for one in known))


def _mean(counts: Iterable[int]) -> float:
    """Of those that count at all: an import that knows no iterations has 0."""
    told = [count for count in counts if count > 0]
    return sum(told) / len(told) if told else 0.0
