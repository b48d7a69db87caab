"""What a memory cost and returned: judged beside runs of the same kind that did without it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.feedback.adjusting import BOUND, Facts, adjusted, change_of
from hindbrain.learn.feedback.returns import returns
from hindbrain.learn.runs.episode import Episode, Outcome

EASY, HARD = "open the calendar in the browser", "reconcile the quarterly ledger with invoices"
_OUTCOMES: tuple[Outcome, ...] = ("success", "failed", "stuck", "cancelled", "unknown")


def _run(number: int, command: str, outcome: Outcome, *injected: str, tokens: int = 0) -> Episode:
    return Episode(
        f"r-{number:04}",
        command,
        outcome,
        number * 60.0,
        number * 60.0 + 30,
        injected=injected,
        tokens=tokens,
    )


def _runs(command: str, outcomes: str, *injected: str, start: int = 0) -> list[Episode]:
    """One run for each letter: s went well, f failed."""
    return [
        _run(start + at, command, "success" if letter == "s" else "failed", *injected)
        for at, letter in enumerate(outcomes)
    ]


def test_the_bill_counts_every_run_and_shares_out_its_tokens() -> None:
    episodes = [
        _run(1, EASY, "success", "^m-aaaa", "m-bbbb", tokens=101),
        _run(2, EASY, "cancelled", "^m-aaaa", tokens=50),
    ]
    found = returns(episodes)
    assert (found["m-aaaa"].injected, found["m-aaaa"].tokens) == (2, 101)
    assert (found["m-bbbb"].injected, found["m-bbbb"].tokens) == (1, 50)
    assert (found["m-aaaa"].well, found["m-aaaa"].ill) == (1, 0)
    assert found["m-aaaa"].last == episodes[1].ended


def test_a_memory_that_is_put_into_hard_tasks_is_not_blamed_for_their_failures() -> None:
    hard = _runs(HARD, "ffffff") + _runs(HARD, "fffff", "^m-hard", start=10)
    easy = _runs(EASY, "ssssss", start=20)
    assert returns(hard + easy)["m-hard"].lift == 0.0


def test_a_memory_that_is_put_into_easy_tasks_earns_nothing_by_their_success() -> None:
    episodes = _runs(EASY, "ssssss") + _runs(EASY, "sssss", "^m-easy", start=10)
    assert returns(episodes)["m-easy"].lift == 0.0


def test_a_memory_that_turns_failures_into_successes_is_worth_something() -> None:
    helped = returns(_runs(HARD, "ffffff") + _runs(HARD, "sssss", "^m-help", start=10))["m-help"]
    once = returns(_runs(HARD, "ffffff") + _runs(HARD, "s", "^m-help", start=10))["m-help"]
    assert helped.lift > once.lift > 0.1
    harmed = returns(_runs(HARD, "ssssss") + _runs(HARD, "fffff", "^m-harm", start=10))["m-harm"]
    assert harmed.lift == -helped.lift


def test_without_a_run_to_compare_with_nothing_is_said() -> None:
    alone = returns(_runs(HARD, "fffff", "^m-always") + _runs(EASY, "sssss", start=10))["m-always"]
    assert (alone.lift, alone.compared, alone.ill) == (0.0, 0.0, 5)


def test_the_log_of_a_stranger_says_nothing_about_a_memory() -> None:
    forged = [run._replace(source="import") for run in _runs(HARD, "sssss", "^m-evil", start=10)]
    assert returns(_runs(HARD, "ffffff") + forged) == {}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([EASY, HARD, "mail Ada about the boat"]),
            st.sampled_from(_OUTCOMES),
            st.lists(st.sampled_from(["^m-a", "m-a", "^l-b", "Skills/C.md"]), max_size=3),
            st.integers(0, 500),
        ),
        max_size=25,
    )
)
def test_every_token_is_billed_once_and_no_lift_leaves_its_range(
    told: list[tuple[str, Outcome, list[str], int]],
) -> None:
    episodes = [
        _run(at, command, outcome, *ids, tokens=tokens if ids else 0)
        for at, (command, outcome, ids, tokens) in enumerate(told)
    ]
    found = returns(episodes)
    assert sum(account.tokens for account in found.values()) == sum(one.tokens for one in episodes)
    assert all(-1.0 < account.lift < 1.0 for account in found.values())
    assert all(account.well + account.ill <= account.injected for account in found.values())


_FACTS = st.builds(
    Facts,
    lift=st.floats(-1, 1),
    recalled=st.floats(0, 1e6),
    edited=st.booleans(),
    kept=st.integers(0, 1000),
)


@given(st.floats(0, 1), _FACTS)
def test_an_importance_moves_by_a_fifth_at_most_and_its_parts_say_why(base: float, facts: Facts) -> None:
    found = adjusted(base, facts)
    assert 0.0 <= found.value <= 1.0
    assert abs(found.value - base) <= 0.2 + 1e-9
    assert found.value == pytest.approx(base + sum(part for _, part in found.parts), abs=1e-3)
    assert all(part for _, part in found.parts)


@given(_FACTS)
def test_what_is_kept_of_a_change_adds_up(facts: Facts) -> None:
    change, parts = change_of(facts)
    assert abs(change) <= 0.2
    assert change == pytest.approx(sum(part for _, part in parts), abs=1e-9)


def test_nothing_known_moves_nothing() -> None:
    assert adjusted(0.7, Facts()) == (0.7, ())


def test_each_fact_adds_what_is_published() -> None:
    assert adjusted(0.5, Facts(lift=0.2)).parts == (("runs", 0.06),)
    assert adjusted(0.5, Facts(lift=-1.0)).parts == (("runs", -0.15),)
    assert adjusted(0.5, Facts(edited=True)).value == 0.6
    assert adjusted(0.5, Facts(kept=9)).parts == (("kept", 0.04),)
    assert adjusted(0.5, Facts(recalled=1e9)).parts == (("recalled", 0.05),)
    assert dict(adjusted(0.5, Facts(1.0, 1e9, True, 9)).parts)[BOUND] == -0.14
