"""How runs go, in figures. Values only; `counting` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.context.topic.ledger import Injections
from hindbrain.learn.feedback.returns import Return

# week: a period for each calendar week. runs: as many runs in each, where weeks would be too few or too many.
By: TypeAlias = Literal["week", "runs"]
MetricName: TypeAlias = Literal[
    "repeated_failures", "known_task_iterations", "preference_adherence", "template_success", "relevance"
]


class Counts(NamedTuple):
    """Some runs."""

    runs: int = 0
    well: int = 0  # went well
    ill: int = 0  # failed or stuck; the rest was cancelled, or nobody knows
    repeats: int = 0  # failures that are like an earlier one
    iterations: float = 0.0  # mean of the runs that count them; 0 when none does
    known: int = 0  # runs of a kind that was seen before
    known_iterations: float = 0.0  # mean of those; 0 when there are none

    @property
    def success(self) -> float | None:
        """The share that went well of those that went well or did not; None when there are none."""
        judged = self.well + self.ill
        return self.well / judged if judged else None

    @property
    def repeated(self) -> float | None:
        """The share of the runs, judged as above, that failed as an earlier one had."""
        judged = self.well + self.ill
        return self.repeats / judged if judged else None


class Period(NamedTuple):
    """The runs of some time. A week without runs is a period, too."""

    start: float  # seconds since the epoch
    stop: float
    counts: Counts


class LessonFigures(NamedTuple):
    active: int = 0
    escalated: int = 0
    retired: int = 0
    heeded: int = 0  # runs that kept to a lesson and went well
    in_vain: int = 0  # runs that kept to one and failed all the same


class TemplateFigures(NamedTuple):
    templates: int = 0
    runs: int = 0  # that followed one
    well: int = 0


class MemoryFigures(NamedTuple):
    """What memory cost, and what it returned."""

    items: int = 0  # memories, lessons, templates, skills and notes that were ever injected
    tokens: int = 0
    with_memory: Counts = Counts()
    without: Counts = Counts()
    lift: float = 0.0  # -1..1: like for like, see learn/feedback/returns
    compared: float = 0.0  # runs that this is known from
    best: tuple[tuple[str, Return], ...] = ()  # those that runs went best with
    worst: tuple[tuple[str, Return], ...] = ()  # those that runs went worse with, the worst first


class SlotFigures(NamedTuple):
    """What one slot of the packs put into prompts."""

    slot: str
    injections: int = 0  # events at which it put something in
    excerpts: int = 0
    lines: int = 0
    tokens: int = 0  # of the excerpts
    used: int = 0  # excerpts that are known to have been used, see learn/stats/slots

    @property
    def used_share(self) -> float:
        return self.used / self.excerpts if self.excerpts else 0.0


class SlotStats(NamedTuple):
    """What the receipts tell, which go back about 2,000 events."""

    since: float = 0.0  # seconds since the epoch: of the oldest receipt; 0 when there is none
    prompts: int = 0
    empty: int = 0  # prompts into which nothing was put
    slots: tuple[SlotFigures, ...] = ()


class Metric(NamedTuple):
    """One success metric of the reference, see learn/stats/metrics."""

    name: MetricName
    unit: Literal["share", "iterations"]  # a share is 0..1
    target: str  # of the reference, in words
    by: Literal["task", "template", "slot"]  # what is compared with its like
    now: float | None = None  # None: too little is known
    before: float | None = None  # None: there is nothing like it to compare with
    groups: int = 0  # kinds of task, templates or slots that are compared
    now_count: int = 0  # runs, or excerpts, that `now` is made from
    before_count: int = 0
    why: str = ""  # why a figure is missing; "" when none is


class Stats(NamedTuple):
    days: int = 0  # that were looked at; 0: all there are
    all: Counts = Counts()
    first_time: Counts = Counts()  # runs of a kind that was not seen before
    kinds: int = 0  # of commands
    by: By = "runs"
    periods: tuple[Period, ...] = ()  # oldest first
    lessons: LessonFigures = LessonFigures()
    templates: TemplateFigures = TemplateFigures()
    memory: MemoryFigures = MemoryFigures()
    background: Mapping[str, int] = {}  # tokens that background work spent, by purpose
    hosts: Injections = Injections()  # what hooks and plugins put into prompts, of the last 30 days at most
    slots: SlotStats = SlotStats()
    metrics: tuple[Metric, ...] = ()
