"""Figures of runs: what counts as a success, as the same failure again, as a task that is known."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.repeating import kind_numbers, repeats
from hindbrain.learn.runs.episode import Episode, Outcome
from hindbrain.learn.stats.counting import stats_of
from hindbrain.learn.stats.periods import periods_of
from hindbrain.learn.templates.template import Template
from workbench import NOW

_DAY_S = 86_400.0
_OUTCOMES: tuple[Outcome, ...] = ("success", "failed", "stuck", "cancelled", "unknown")


def _run(number: int, command: str, outcome: Outcome = "success", **more: Any) -> Episode:
    at = NOW + number * 60.0
    return Episode(f"r-{number:04}", command, outcome, at, at + 30)._replace(**more)


def test_success_is_a_share_of_the_runs_that_ended_one_way_or_the_other() -> None:
    outcomes: tuple[Outcome, ...] = ("success", "success", "failed", "stuck", "cancelled", "unknown")
    stats = stats_of([_run(at, f"task {at}", outcome) for at, outcome in enumerate(outcomes)])
    assert (stats.all.runs, stats.all.well, stats.all.ill) == (6, 2, 2)
    assert stats.all.success == 0.5


def test_the_same_failure_again_has_a_like_command_and_a_like_reason() -> None:
    site, again = "open github.com in Chrome", "open gitlab.com in Chrome, please"
    runs = [
        _run(0, site, "failed", reason="the URL bar was not found after 30 s"),
        _run(1, again, "failed", reason="the URL bar was not found after 45 s"),  # again
        _run(2, site, "failed", reason="Chrome crashed"),  # another reason
        _run(3, "send Ada a mail", "failed", reason="the URL bar was not found after 30 s"),  # another task
        _run(4, site, "success", reason="the URL bar was not found after 30 s"),  # no failure
        _run(5, site, "stuck", reason="Chrome crashed again"),  # again
        _run(6, site, "failed"),  # says not why
        _run(7, site, "failed"),  # again, as far as anybody knows
        _run(8, "open the settings of Chrome", "failed"),  # another task, and says not why
    ]
    assert repeats(runs) == [1, 5, 7]
    assert stats_of(runs).all.repeats == 3


def test_a_task_is_known_from_its_second_run_on() -> None:
    runs = [
        _run(0, "open github.com in Chrome", iterations=9),
        _run(1, "send Ada a mail about the boat", iterations=7),
        _run(2, "open example.org in Chrome", iterations=3),
        _run(3, "open gitlab.com in Chrome", iterations=5),
        _run(4, "open gitlab.com in Chrome"),  # an import that counts no iterations
    ]
    stats = stats_of(runs)
    assert (stats.kinds, stats.all.known) == (2, 3)
    assert stats.all.iterations == 6.0
    assert (stats.first_time.iterations, stats.all.known_iterations) == (8.0, 4.0)


def test_days_leave_runs_out_and_not_what_they_taught() -> None:
    old = _run(0, "open github.com", "failed", reason="not found")
    new = _run(1, "open github.com", "failed", reason="not found")
    old = old._replace(started=NOW - 9 * _DAY_S, ended=NOW - 9 * _DAY_S)
    stats = stats_of([old, new], days=7, now=NOW + 3600)
    assert (stats.days, stats.all.runs, stats.all.repeats, stats.all.known) == (7, 1, 1, 1)


def test_what_was_learned_is_counted_as_it_stands() -> None:
    lessons = [
        Lesson("l-a", "a", (), heeded=3, in_vain=1),
        Lesson("l-b", "b", (), state="escalated"),
        Lesson("l-c", "c", (), state="retired", heeded=2),
    ]
    templates = [Template("a", "A", "", (), runs=4, successes=3), Template("b", "B", "", ())]
    stats = stats_of([], lessons=lessons, templates=templates, background={"lessons": 120})
    assert stats.lessons == (1, 1, 1, 5, 1)
    assert stats.templates == (2, 4, 3)
    assert stats.background == {"lessons": 120}


def test_memory_is_compared_like_for_like() -> None:
    runs = [_run(at, "open github.com in Chrome", "failed") for at in range(6)]
    runs += [
        _run(10 + at, "open github.com in Chrome", injected=("^m-a", "Skills/B.md"), tokens=100)
        for at in range(6)
    ]
    memory = stats_of(runs).memory
    assert (memory.items, memory.tokens) == (2, 600)
    assert (memory.with_memory.success, memory.without.success) == (1.0, 0.0)
    assert memory.lift > 0.3
    assert [name for name, _ in memory.best] == ["Skills/B.md", "m-a"]
    assert memory.worst == ()


def test_weeks_are_calendar_weeks_and_an_empty_one_is_shown() -> None:
    monday = datetime(2026, 5, 4).timestamp()
    ends = [monday + days * _DAY_S + 3600 for days in (0, 6, 7, 22, 35)]
    by, found = periods_of(ends)
    assert by == "week"
    assert [rows.stop - rows.start for _, rows in found] == [2, 1, 0, 1, 0, 1]
    assert found[0][0].start == monday


@given(st.lists(st.floats(0, 4e9), max_size=120).map(sorted))
def test_every_run_is_in_one_period(ends: list[float]) -> None:
    _, found = periods_of(ends)
    rows = [at for _, part in found for at in range(part.start, part.stop)]
    assert rows == list(range(len(ends)))
    assert all(
        period.start <= ends[at] <= period.stop for period, part in found for at in range(len(ends))[part]
    )
    assert len(found) <= 26


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["open a page", "open the page", "mail Ada", ""]),
            st.sampled_from(_OUTCOMES),
            st.sampled_from(["", "not found", "no answer at all"]),
        ),
        max_size=20,
    )
)
def test_the_figures_of_periods_add_up_to_those_of_all(told: list[tuple[str, Outcome, str]]) -> None:
    runs = [_run(at, *one[:2], reason=one[2]) for at, one in enumerate(told)]
    stats = stats_of(runs)
    for name in ("runs", "well", "ill", "repeats", "known"):
        assert sum(getattr(one.counts, name) for one in stats.periods) == getattr(stats.all, name)
    assert stats.all.repeats <= max(0, stats.all.ill - 1)
    assert stats.all.known == stats.all.runs - stats.kinds


def test_later_commands_change_no_earlier_kind() -> None:
    commands = ["open github.com", "mail Ada", "open example.org now", "plan the week", "mail Bob"]
    runs = [_run(at, command) for at, command in enumerate(commands)]
    assert kind_numbers(runs)[:3] == kind_numbers(runs[:3])
    assert kind_numbers([]) == []


def test_the_order_in_which_runs_are_given_does_not_matter() -> None:
    runs = [_run(at, "open github.com", "failed", reason="not found") for at in range(4)]
    assert stats_of(runs[::-1]) == stats_of(runs)


@pytest.mark.parametrize("text", ["", " ", "🙂", "x" * 10_000, "\ud800"])
def test_any_command_can_be_counted(text: str) -> None:
    assert stats_of([_run(0, text, "failed"), _run(1, text, "failed")]).all.runs == 2
