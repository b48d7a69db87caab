"""Checks decide whether a result is accepted; a judge can only lower what they say."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.verify.check import Check, Verdict, parse_check
from hindbrain.agent.verify.checks import Senses
from hindbrain.agent.verify.engine import VerificationEngine, Verified, conclude, feedback
from hindbrain.agent.verify.judge import Judge, Step
from hindbrain.models.chat_fake import ScriptedChat

COMMAND = "Write hello to a.txt"


def verified(folder: Path, *forms: str, judge: ScriptedChat | None = None) -> Verified:
    engine = VerificationEngine(Senses(folder), Judge(judge) if judge else None)
    return engine.verify([parse_check(form) for form in forms], COMMAND, "Done.", [Step("write_file", True)])


def test_the_score_is_the_share_of_checks_that_hold(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    forms = ["file: a.txt", "text: a.txt: hello", "text: a.txt: bye", "file: b.txt"]
    assert verified(tmp_path, *forms[:2])[:2] == (100, True)
    found = verified(tmp_path, *forms)
    assert found[:2] == (50, False)
    assert [verdict.score for verdict in found.verdicts] == [100, 100, 0, 0]
    assert [reason.split(": ")[1] for reason in found.reasons] == ["a.txt", "b.txt"]


def test_many_checks_that_hold_do_not_outvote_one_that_does_not(tmp_path: Path) -> None:
    forms = [f"file: {number}.txt" for number in range(10)]
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text("x", encoding="utf-8")
    assert verified(tmp_path, *forms)[:2] == (90, False)


def test_the_same_check_counts_once(tmp_path: Path) -> None:
    assert len(verified(tmp_path, "file: a.txt", "file: a.txt").verdicts) == 1


def test_without_checks_and_judge_nothing_is_verified(tmp_path: Path) -> None:
    assert verified(tmp_path) == Verified(None, True)


def test_what_can_not_be_looked_at_has_not_passed_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    found = verified(tmp_path, "file: a.txt", "screen: Saved")
    assert found[:2] == (50, False)
    assert len(found.reasons) == 1 and "could not be looked at" in found.reasons[0]
    assert not found.mendable, "no work would change that"
    assert verified(tmp_path, "file: b.txt", "screen: Saved").mendable


def test_a_judge_lowers_what_the_checks_say(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    low = verified(tmp_path, "file: a.txt", judge=ScriptedChat(['{"score": 30, "reason": "wrong file"}']))
    assert low[:2] == (30, False) and low.reasons == ("judge: wrong file",)
    high = verified(tmp_path, "file: a.txt", judge=ScriptedChat(['{"score": 90, "reason": ""}']))
    assert high[:2] == (90, True)


def test_a_judge_is_not_asked_about_what_checks_reject(tmp_path: Path) -> None:
    chat = ScriptedChat(['{"score": 100, "reason": ""}'])
    assert verified(tmp_path, "file: a.txt", judge=chat)[:2] == (0, False)
    assert chat.asked == []


def test_a_judge_alone_decides_where_there_are_no_checks(tmp_path: Path) -> None:
    assert verified(tmp_path, judge=ScriptedChat(['{"score": 95, "reason": ""}']))[:2] == (95, True)
    assert verified(tmp_path, judge=ScriptedChat(['{"score": 20, "reason": "no"}']))[:2] == (20, False)


def test_a_judge_that_does_not_answer_changes_nothing_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    checked = verified(tmp_path, "file: a.txt", judge=ScriptedChat(["babble", "babble"]))
    assert checked[:2] == (100, True) and len(checked.reasons) == 1
    alone = verified(tmp_path, judge=ScriptedChat(["babble", "babble"]))
    assert alone.score is None, "not a pass of its own: nothing was verified"
    assert len(alone.reasons) == 1


def test_custom_checks_count_by_their_own_score(tmp_path: Path) -> None:
    half = Check("custom", "half", custom=lambda: Verdict("half", 60, "not yet"))
    engine = VerificationEngine(Senses(tmp_path), threshold=60)
    assert engine.verify([half], COMMAND, "Done.")[:2] == (60, True)
    assert VerificationEngine(Senses(tmp_path)).verify([half], COMMAND, "Done.")[:2] == (60, False)


VERDICTS = st.builds(Verdict, st.just("x"), st.integers(0, 100), st.just("why"), st.booleans())


@given(st.lists(VERDICTS, max_size=8), VERDICTS)
def test_a_judge_never_raises_a_score_or_a_decision(checks: list[Verdict], judge: Verdict) -> None:
    without, with_judge = conclude(checks, None), conclude(checks, judge)
    assert without.passed or not with_judge.passed
    if without.score is not None:
        assert with_judge.score is not None and with_judge.score <= without.score
    if with_judge.passed:
        assert all(check.known and check.score >= 80 for check in checks)


def test_feedback_tells_the_score_the_threshold_and_each_reason(tmp_path: Path) -> None:
    found = verified(tmp_path, "file: a.txt", "screen: Saved")
    told = feedback(found)
    assert "0/100" in told and "80" in told
    assert all(reason in told for reason in found.reasons)
