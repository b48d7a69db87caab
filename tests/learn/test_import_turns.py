"""A conversation becomes runs, and how each ended is told by what was done last and said next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.context.messages import Message
from hindbrain.learn.importing.prompts import accepts, corrects, goes_on, only_praises, rephrases
from hindbrain.learn.importing.turns import INTERRUPTED, runs_of
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.events import RunCreated, RunEnded, parse_line
from hindbrain.learn.runs.folding import fold
from hindbrain.learn.runs.journal import line_of

ASKED = "Fix the login test in the web app"


def user(text: str, at: float = 0.0, id: str = "") -> Message:
    return Message("user", text, at=at, id=id)


def says(text: str, at: float = 0.0) -> Message:
    return Message("assistant", text, at=at)


def call(text: str, tool: str = "Bash", id: str = "c1", at: float = 0.0) -> Message:
    return Message("assistant", text, tool, id, at=at)


def result(text: str, tool: str = "Bash", id: str = "c1", failed: bool = False, at: float = 0.0) -> Message:
    return Message("tool", text, tool, id, failed, at=at)


def episodes(*messages: Message) -> list[Episode]:
    folded = [fold(run) for run in runs_of(messages, host="claude-code", session="s1")]
    assert all(folded)
    return [episode for episode in folded if episode is not None]


PASSED = (call("pytest -q"), result("3 passed"), says("Done."))
FAILED = (call("pytest -q"), result("Exit code 1\nE   AssertionError: no login", failed=True))


def test_a_run_is_a_prompt_and_all_that_follows_until_the_next():
    first, second = episodes(
        user(ASKED, 100.0), call("cat a.py", id="a"), result("x", id="a"), call("ls", id="b"),
        call("pwd", id="c"), result("y", id="b"), result("z", id="c", at=130.0), says("Done.", 140.0),
        user("Describe the release process", 500.0), says("It is so.", 510.0),
    )  # fmt: skip
    assert (first.command, first.started, first.ended) == (ASKED, 100.0, 140.0)
    assert [action.shown for action in first.actions] == ["cat a.py", "ls", "pwd"]
    assert first.iterations == 2  # turns with calls: two calls were made at once
    assert (second.command, second.actions, second.iterations) == ("Describe the release process", (), 0)
    assert (first.host, first.session, first.source) == ("claude-code", "s1", "tool")


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("no, that's wrong", "failed"),
        ("that didn’t work", "failed"),
        ("Still failing: AssertionError", "failed"),
        ("It still doesn't compile", "failed"),
        ("you forgot the other file", "failed"),
        ("不对", "failed"),
        ("thanks!", "success"),
        ("Perfect, now add docs", "success"),
        ("ok great. Next: the footer", "success"),
        ("works now", "success"),
        ("commit it", "success"),
        ("Great, but it still fails on Windows", "failed"),
        ("Nice, but make the button blue", "unknown"),
        ("no problem, what about the footer", "unknown"),
        ("Cool down the server room", "unknown"),
        ("Write a function that doesn't work on empty lists", "unknown"),
        ("Add a retry for hosts that still fail", "unknown"),
        ('Add a button "try again"', "unknown"),
        ("I ran it and it crashes", "failed"),
        ("Add a footer", "unknown"),
    ],
)
def test_the_next_prompt_decides(said, outcome):
    assert (
        episodes(user(ASKED), call("vim a.py"), result("ok"), says("Done."), user(said))[0].outcome == outcome
    )


def test_a_correction_is_the_reason():
    first, second = episodes(user(ASKED), says("Done."), user("still failing"), *PASSED)
    assert (first.outcome, first.reason) == ("failed", "still failing")
    # Too short to be a command of its own, it is about the one before.
    assert second.command == ASKED


def test_no_is_an_answer_where_the_agent_asked():
    asked = episodes(user(ASKED), says("Shall I also change the footer?"), user("No, leave it and add docs"))
    assert asked[0].outcome == "unknown"
    told = episodes(user(ASKED), says("I changed the footer."), user("No, leave it and add docs"))
    assert told[0].outcome == "failed"


def test_moving_on_after_a_passing_test_is_success_and_after_a_failing_one_is_not():
    assert episodes(user(ASKED), *PASSED, user("Add a footer"))[0].outcome == "success"
    assert episodes(user(ASKED), *FAILED, says("Hm."), user("Add a footer"))[0].outcome == "unknown"
    assert episodes(user(ASKED), *FAILED, *PASSED, user("Add a footer"))[0].outcome == "success"
    edited = (*FAILED, call('{"file_path":"a.py"}', "Edit"), result("ok", "Edit"), says("Done."))
    assert episodes(user(ASKED), *edited, user("Add a footer"))[0].outcome == "unknown"


def test_an_agent_that_gives_up_after_a_failure_has_failed():
    gave_up = episodes(user(ASKED), *FAILED, says("I could not get the test to pass."))[0]
    assert (gave_up.outcome, gave_up.reason) == ("failed", "AssertionError: no login")
    assert not gave_up.actions[0].ok
    assert "no login" in gave_up.actions[0].said
    other = (call("git stash"), result("ok"), says("I could not get it to pass."))
    assert episodes(user(ASKED), *FAILED, *other)[0].outcome == "failed"
    edit = (call('{"file_path":"a.py"}', "Edit"), result("Error: no such text", "Edit", failed=True))
    assert episodes(user(ASKED), *edit, says("I can't change it."))[0].reason == "Error: no such text"
    assert episodes(user(ASKED), *PASSED, says("I could not find a second bug."))[0].outcome == "unknown"
    assert episodes(user(ASKED), *FAILED, says("All done."))[0].outcome == "unknown"


def test_nothing_decides_the_last_run_but_itself():
    assert episodes(user(ASKED), *PASSED)[0].outcome == "unknown"


def test_interrupted_is_cancelled_unless_it_goes_on():
    mark = Message("system", f"{INTERRUPTED}]")
    stopped = episodes(user(ASKED), call("sleep 9"), mark, user("Use the other file"), says("Done."))
    assert stopped[0].outcome == "cancelled"
    assert stopped[1].outcome == "unknown"
    refused = result("The user doesn't want to proceed with this tool use.", failed=True)
    assert episodes(user(ASKED), call("rm -r x"), refused)[0].outcome == "cancelled"
    otherwise = episodes(user(ASKED), call("rm -r x"), refused, says("Then I leave it."), user("thanks"))
    assert otherwise[0].outcome == "success"
    on = episodes(user(ASKED), call("sleep 9"), mark, user("continue"), *PASSED, user("thanks"))
    assert [(run.command, run.outcome) for run in on] == [(ASKED, "success")]


def test_asking_again_within_two_minutes_is_a_failure():
    again = "Fix the login test in our web app"
    soon = episodes(user(ASKED, 100.0), says("Done.", 110.0), user(again, 200.0))
    late = episodes(user(ASKED, 100.0), says("Done.", 110.0), user(again, 900.0))
    other = episodes(user("Fix test 12 of the web app", 100.0), user("Fix test 14 of the web app", 110.0))
    assert [run[0].outcome for run in (soon, late, other)] == ["failed", "unknown", "unknown"]


def test_praise_and_yes_are_no_runs():
    assert [
        run.command for run in episodes(user(ASKED), *PASSED, user("Thanks a lot!"), says("Welcome."))
    ] == [ASKED]
    assert len(episodes(user(ASKED), says("Shall I?"), user("yes, go ahead"), *PASSED)) == 1
    assert episodes(user("continue"), says("With what?")) == []


def test_our_own_tools_are_left_out():
    ours = "mcp__hindbrain__recall"
    run = episodes(
        user(ASKED), call('{"topic":"x"}', ours, "m"), result("", ours, "m"), call("ls"), result("a")
    )[0]  # fmt: skip
    assert [action.name for action in run.actions] == ["Bash"]
    assert run.iterations == 1


def test_a_tool_that_answers_with_an_error_has_failed_whatever_the_log_says():
    run = episodes(
        user("Book a flight"), call('{"to":"SEA"}', "book_flight"), result("Error: no seats", "book_flight"),
        says("Sorry, I cannot book it."),
    )[0]  # fmt: skip
    assert (run.outcome, run.reason, run.actions[0].ok) == ("failed", "Error: no seats", False)
    assert run.actions[0].arguments == (("to", "SEA"),)


@pytest.mark.parametrize(
    "printed",
    [
        "Traceback (most recent call last):", "=== 1 failed, 2 passed ===", "=== 2 errors ===",
        "error: no such thing",
        "npm ERR! missing", "npm error missing", "fatal: no repository", "make: *** [all] Error 1",
        "bash: foo: command not found", "Tests:  2 failed, 3 passed", "FAIL src/a.ts", "BUILD FAILED in 3s",
        "ValueError: x", "KeyException: x", "test result: FAILED. 1 passed",
    ],
)  # fmt: skip
def test_a_pipe_hides_an_exit_code_and_what_was_printed_tells(printed):
    piped = call("pytest -q 2>&1 | tail -20")
    assert not episodes(user(ASKED), piped, result(f"some lines\n{printed}\nmore"))[0].actions[0].ok
    assert episodes(user(ASKED), piped, result("some lines\n3 passed"))[0].actions[0].ok


def test_results_are_paired_by_id_and_without_one_in_order():
    by_id = episodes(
        user(ASKED), call("a", id="1"), call("b", id="2"), result("Error", id="2", failed=True),
        result("x", id="1"),
    )[0]  # fmt: skip
    assert [action.ok for action in by_id.actions] == [True, False]
    plain = episodes(user(ASKED), call("a", id=""), call("b", id=""), result("bad", id="", failed=True))[0]
    assert [action.ok for action in plain.actions] == [False, True]


def test_a_run_has_the_same_id_whenever_it_is_read():
    told = (user(ASKED, 100.0, "m1"), *PASSED, user("Add a footer", 900.0, "m2"), says("Done."))
    ids = [run[0].run for run in runs_of(told, host="codex", session="s")]
    assert ids == [run[0].run for run in runs_of((*told, user("More", 990.0)), host="codex", session="s")][:2]
    assert ids != [run[0].run for run in runs_of(told, host="codex", session="t")]
    assert [run[0].run for run in runs_of(told[4:], host="codex", session="s")] == ids[1:]


def test_the_same_words_twice_are_two_runs():
    runs = runs_of(
        (user("Run it now please"), says("Ok."), user("Run it now please"), says("Ok.")), host="x", session=""
    )
    assert len({run[0].run for run in runs}) == 2


def test_secrets_and_long_prompts_do_not_enter():
    key = "ghp_" + "Zx7Qm2Lp9Rt4Vb6Nc8Kd1Wf3Yh5Jg0Sa2Ue4"
    run = runs_of((user(f"Push with {key} " + "word " * 400), says("Done.")), host="x", session="")[0]
    created = run[0]
    assert isinstance(created, RunCreated)
    assert key not in created.command
    assert len(created.command) <= 300


_TEXTS = st.sampled_from(
    ["", "yes", "thanks", "no, wrong", "still failing", ASKED, "Add a footer", "pytest -q", "Error: x", "{",
     "\ud800", "?"]
) | st.text(max_size=30)  # fmt: skip
_MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        _TEXTS,
        st.sampled_from(["", "Bash", "Edit", "book", "mcp__hindbrain__recall"]),
        st.sampled_from(["", "1", "2"]),
        st.booleans(),
        at=st.sampled_from([0.0, 100.0, 2e9, 9e20, -5.0]),
    ),
    max_size=14,
)


@given(_MESSAGES)
def test_whatever_was_said_every_run_is_whole_and_can_be_journalled(messages):
    runs = runs_of(messages, host="own", session="s")
    assert len({run[0].run for run in runs}) == len(runs)
    for run in runs:
        assert isinstance(run[0], RunCreated)
        assert run[0].command
        assert isinstance(run[-1], RunEnded)
        assert len({event.run for event in run}) == 1
        assert all(parse_line(line_of(event)) is not None for event in run)
    assert runs == runs_of(messages, host="own", session="s")


@given(st.text(max_size=400))
def test_words_are_judged_in_any_text(text):
    for judged in (accepts, corrects, goes_on, only_praises):
        judged(text)
    assert not rephrases(text, text)
