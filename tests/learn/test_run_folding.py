"""From events to episodes: what a run's journal says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.runs.episode import Action, Episode, Rejection
from hindbrain.learn.runs.events import (
    ContextInjected,
    Event,
    IterationEnded,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
)
from hindbrain.learn.runs.folding import Folding, fold, fold_all

AT = 1_763_286_000.0


def call(tool: str, at: float = AT, *, ok: bool = True, said: str = "", app: str = "", **given: Any) -> Event:
    return ToolExecuted("r", at, tool, given, ok, said=said, app=app)


def folded(*between: Event, end: str = "complete", app: str = "", **ended: Any) -> Episode:
    events = [RunCreated("r", AT, "do it", app=app), *between, RunEnded("r", AT + 45, end, **ended)]  # type: ignore[arg-type]
    episode = fold(events)
    assert episode is not None
    return episode


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("complete", "success"),
        ("fail", "failed"),
        ("stuck", "stuck"),
        ("cancelled", "cancelled"),
        ("unknown", "unknown"),
    ],
)
def test_the_end_tells_the_outcome(end: str, outcome: str) -> None:
    episode = folded(end=end)
    assert (episode.outcome, episode.seconds) == (outcome, 45)


def test_a_run_without_its_beginning_or_its_end_is_no_episode() -> None:
    begun = RunCreated("r", AT, "do it")
    assert fold([begun, call("click")]) is None
    assert fold([call("click"), RunEnded("r", AT, "complete")]) is None
    assert fold([]) is None


def test_the_score_is_that_of_the_last_verification() -> None:
    rejected = VerificationRejected("r", AT, "not yet", 40)
    assert folded(rejected).score == 40
    assert folded(rejected, IterationEnded("r", AT, 1, 70), IterationEnded("r", AT, 2)).score == 70
    assert folded(IterationEnded("r", AT, 1, 70), score=92).score == 92
    assert folded(score=250).score == 100
    assert folded().score is None


def test_iterations_are_counted_by_their_begin_else_by_when_the_agent_acted() -> None:
    started = [IterationStarted("r", AT, 1), call("a"), call("b", AT + 1), IterationStarted("r", AT, 2)]
    assert folded(*started).iterations == 2
    assert folded(IterationEnded("r", AT, 1), call("a"), call("b", AT + 1)).iterations == 1
    together = [call("a", AT + 1), call("b", AT + 1), call("c", AT + 2)]
    assert folded(*together).iterations == 2
    timeless = [call("a"), call("b"), call("c")]
    assert folded(*timeless).iterations == 3
    assert folded().iterations == 0


def test_an_application_that_is_opened_is_in_front_from_then_on() -> None:
    episode = folded(
        call("take_screenshot"),
        call("open_application", name="Mail"),
        call("click", x=1),
        call("openApp", name="Google Chrome"),
        call("click", x=2),
        call("type_text", text="hi"),
        call("launch_application", name="Broken", ok=False, said="no such app"),
    )
    assert [action.app for action in episode.actions] == [
        "", "Mail", "Mail", "Google Chrome", "Google Chrome", "Google Chrome", "Google Chrome",
    ]  # fmt: skip
    assert episode.app == "Google Chrome"


def test_the_application_that_the_run_or_the_event_names_is_believed_first() -> None:
    assert folded(call("open_app", name="Mail"), app="Notes").app == "Notes"
    episode = folded(call("open_app", name="Mail"), call("click", app="Finder"), call("click"))
    assert [action.app for action in episode.actions] == ["Mail", "Finder", "Finder"]
    assert folded(call("open_app", name="Mail"), call("click", app="Finder")).app == "Mail"  # came first
    assert folded(call("click")).app == ""


def test_actions_carry_their_arguments_as_text_in_the_order_of_the_call() -> None:
    episode = folded(
        call("press_key", key="l", command=True, times=2, none=None, to=[{"a": 1}]),
        call("click", ok=False, said="no such element"),
        call("click", said="well done"),
    )
    assert episode.actions == (
        Action(
            "press_key",
            (("key", "l"), ("command", "true"), ("times", "2"), ("none", "null"), ("to", '[{"a":1}]')),
        ),
        Action("click", ok=False, said="no such element"),
        Action("click"),
    )
    assert episode.actions[0].shown == 'press_key(l, command: true, times: 2, none: null, to: [{"a":1}])'


def test_equal_observations_in_a_row_stay_actions() -> None:
    assert len(folded(call("take_screenshot"), call("take_screenshot")).actions) == 2


def test_the_reason_is_the_ends_else_the_last_rejections() -> None:
    rejections = [
        call("a"),
        VerificationRejected("r", AT, "wrong page", 20),
        call("b"),
        call("c"),
        VerificationRejected("r", AT, "no mail sent"),
    ]
    failed = folded(*rejections, end="fail")
    assert failed.reason == "no mail sent"
    assert failed.rejections == (Rejection("wrong page", 20, 1), Rejection("no mail sent", None, 3))
    assert folded(*rejections, end="fail", reason="gave up").reason == "gave up"
    assert folded(*rejections).reason == ""


def test_what_memory_was_injected_is_known_once_each_with_its_cost() -> None:
    injected = [
        ContextInjected("r", AT, ("^m-1", "^l-2"), 300),
        ContextInjected("r", AT, ("^l-2", "^m-3"), 50),
    ]
    episode = folded(*injected)
    assert (episode.injected, episode.tokens) == (("^m-1", "^l-2", "^m-3"), 350)


@pytest.mark.promise("P18")
@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("tool", "tool"),
        ("user", "tool"),
        ("agent", "tool"),
        ("web", "web"),
        ("import", "import"),
        ("?", "import"),
    ],
)
def test_a_journal_can_not_raise_the_trust_of_its_run(said: str, source: str) -> None:
    episode = fold([RunCreated("r", AT, "x", source=said), RunEnded("r", AT, "complete")])
    assert episode is not None and episode.source == source


def test_what_comes_after_the_end_and_a_second_beginning_are_passed_over() -> None:
    events = [
        RunCreated("r", AT, "first"),
        call("a"),
        RunCreated("r", AT + 1, "again"),
        RunEnded("r", AT + 2, "fail"),
        call("b"),
        RunEnded("r", AT + 3, "complete"),
    ]
    assert [(found.command, found.outcome, len(found.actions)) for found in fold_all(events)] == [
        ("first", "failed", 1)
    ]


def test_a_run_that_never_stops_does_not_fill_memory() -> None:
    long = folded(*(call("click", AT + number) for number in range(5_000)))
    assert len(long.actions) == 2_000
    assert long.iterations == 5_000
    many = folded(*(VerificationRejected("r", AT, f"no {number}") for number in range(500)), end="fail")
    assert len(many.rejections) == 200
    assert many.reason == "no 499"


@given(
    st.lists(st.lists(st.sampled_from(["open_app", "click", "reject", "score"]), max_size=6), max_size=5),
    st.randoms(use_true_random=False),
)
def test_runs_that_are_interleaved_are_folded_as_each_by_itself(plans: list[list[str]], dice: Any) -> None:
    runs = [_planned(f"r-{number}", plan) for number, plan in enumerate(plans)]
    alone = {episode.run: episode for run in runs for episode in [fold(run)] if episode is not None}
    waiting = [list(run) for run in runs]
    mixed: list[Event] = []
    while any(waiting):
        mixed.append(dice.choice([queue for queue in waiting if queue]).pop(0))
    together = {episode.run: episode for episode in fold_all(mixed)}
    assert together == alone
    assert len(alone) == len(runs)


def _planned(run: str, plan: Sequence[str]) -> list[Event]:
    made: dict[str, Event] = {
        "open_app": ToolExecuted(run, AT, "open_app", {"name": f"App of {run}"}),
        "click": ToolExecuted(run, AT + 1, "click", {"x": 1}),
        "reject": VerificationRejected(run, AT, f"no, {run}", 10),
        "score": IterationEnded(run, AT, 1, 90),
    }
    return [RunCreated(run, AT, run), *(made[step] for step in plan), RunEnded(run, AT + 9, "complete")]


def test_only_runs_that_go_on_are_held() -> None:
    folding = Folding()
    for number in range(100):
        folding.add(RunCreated(f"r-{number}", AT, "x"))
        if number % 10:
            folding.add(RunEnded(f"r-{number}", AT, "complete"))
    assert [created.run for created in folding.unfinished()] == [
        f"r-{number}" for number in range(0, 100, 10)
    ]
