"""One run from its command to its end: limits, verification, circles, approvals, and what is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agent.run_bench import NOW, Bench, Person, texts, tool

from hindbrain.agent.orchestrator import limit_reached
from hindbrain.agent.progress import Progress
from hindbrain.agent.run import Limits, RunRequest
from hindbrain.agent.tools.tool import Result
from hindbrain.agent.verify.check import Check, Verdict
from hindbrain.base.errors import Busy, ConfigError, ModelDown, ModelError, UsageError
from hindbrain.learn.runs.events import ContextInjected, IterationEnded, RunCreated, RunEnded, ToolExecuted
from hindbrain.learn.service import Learned
from hindbrain.memory.tools.tool import Arguments
from hindbrain.models.chat import ChatAnswer, ChatMessage, Usage
from hindbrain.models.chat_fake import ScriptedChat, calls, says
from hindbrain.vault.lock import FileLock


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _passes_at(number: int) -> Check:
    """Fails until it was looked at that often."""
    looks = iter(range(1, 100))

    def look() -> Verdict:
        good = next(looks) >= number
        return Verdict("report", 100 if good else 40, "" if good else "the report has no title")

    return Check("custom", "report", custom=look)


def test_a_run_that_looks_and_answers_is_complete_and_its_journal_tells_each_step(bench: Bench) -> None:
    bench.script(calls("look", what="inbox"), "Three letters.\nTASK_COMPLETE")
    bench.recalled = "user"
    result = bench.agent.run(RunRequest("what is in the inbox?", session="s1"), bench.said.append)
    assert (result.end, result.answer, result.iterations, result.score) == (
        "complete",
        "Three letters.",
        2,
        100,
    )
    assert result.recalled == ("^m-abc234",)
    run = result.run
    events = bench.events(run)
    assert events[:2] == [
        RunCreated(run, NOW, "what is in the inbox?", session="s1"),
        ContextInjected(run, NOW, ("^m-abc234",), 7),
    ]
    iteration = ["IterationStarted", "IterationEnded"]
    assert bench.kinds(run)[2:] == [iteration[0], "ToolExecuted", iteration[1], *iteration, "RunEnded"]
    assert bench.episode(run).outcome == "success"
    assert bench.files() == []  # the transcript is gone
    assert bench.learned == [True]
    assert result.learned == Learned()
    assert bench.heard("call") == ['look(what="inbox")']
    assert bench.heard("result") == ["look: inbox"]


def test_the_conversation_is_handed_back_and_goes_on_with_the_next_command(bench: Bench) -> None:
    bench.script(calls("look", what="a"), "It is a.", "As I said: a.")
    first = bench.agent.run(RunRequest("what is it?"))
    bench.agent.run(RunRequest("again?", history=first.messages))
    roles = [message.role for message in bench.asked[-1].messages]
    assert roles == ["system", "system", "user", "assistant", "tool", "assistant", "user"]
    assert texts(bench.asked[-1], "user") == ["what is it?", "again?"]


def test_a_rejected_result_is_fed_back_and_mended(bench: Bench) -> None:
    bench.script("Done.\nTASK_COMPLETE", calls("look", what="title"), "Now it has one.\nTASK_COMPLETE")
    result = bench.agent.run(RunRequest("write the report", (_passes_at(2),)), bench.said.append)
    assert (result.end, result.score, result.iterations) == ("complete", 100, 3)
    assert "40/100" in texts(bench.asked[1], "user")[-1]
    assert "the report has no title" in texts(bench.asked[1], "user")[-1]
    rejection = bench.episode(result.run).rejections
    assert [(one.score, "no title" in one.reason) for one in rejection] == [(40, True)]
    ended = [event.score for event in bench.events(result.run) if isinstance(event, IterationEnded)]
    assert ended == [40, None, 100]
    assert len(bench.heard("rejected")) == 1


def test_a_result_that_is_never_accepted_fails_with_the_last_reasons(bench: Bench) -> None:
    answers = [f"Done, I think, {number}." for number in range(5)]
    bench.script(*answers)
    limits = Limits(iterations=3)
    result = bench.agent.run(RunRequest("write the report", (_passes_at(99),), limits), bench.said.append)
    assert (result.end, result.iterations, result.score) == ("fail", 3, 40)
    assert result.reason == "report: the report has no title"
    assert "3 iterations" in bench.heard("note")[-1]
    assert bench.episode(result.run).outcome == "failed"


def test_what_no_work_can_mend_ends_the_run_at_once(bench: Bench) -> None:
    bench.script("Done.", "Done again.")

    def broken() -> Verdict:
        raise RuntimeError("the check itself is broken")

    result = bench.agent.run(RunRequest("go", (Check("custom", "x", custom=broken),)))
    assert (result.end, result.iterations) == ("fail", 1)


@pytest.mark.parametrize(
    ("limits", "iterations"),
    [(Limits(iterations=2), 2), (Limits(tokens=250), 3), (Limits(cost=0.15), 2), (Limits(seconds=25), 3)],
    ids=["iterations", "tokens", "cost", "seconds"],
)
def test_a_limit_ends_a_run_that_would_go_on_for_ever(bench: Bench, limits: Limits, iterations: int) -> None:
    numbers = iter(range(100))

    def look(_: Arguments) -> Result:
        bench.elapsed += 10
        return Result(f"page {next(numbers)}")

    bench.tools = (tool("look", handler=look),)
    answer = calls("look", what="next")._replace(usage=Usage(90, 0, 10, 0.1))
    bench.script(*[answer] * 20)
    result = bench.agent.run(RunRequest("read on", limits=limits))
    assert (result.end, result.iterations) == ("fail", iterations)
    assert result.usage == Usage(90 * iterations, 0, 10 * iterations, pytest.approx(0.1 * iterations))  # type: ignore[arg-type]
    assert result.seconds == 10 * iterations
    assert bench.kinds(result.run)[-1] == "RunEnded"


def test_no_limit_is_no_limit() -> None:
    now = Progress("r-1")
    now.iterations, now.usage = 10_000, Usage(10**9, 0, 10**9, 1e6)
    assert limit_reached(Limits(0, 0.0, 0, 0.0), now, 1e9) == ""


def test_a_run_that_goes_round_in_circles_is_told_once_and_then_ends_as_stuck(bench: Bench) -> None:
    bench.script(*[calls("look", what="door")] * 10)
    result = bench.agent.run(RunRequest("open the door"))
    assert (result.end, result.iterations) == ("stuck", 4)
    told = texts(bench.asked[3], "user")
    assert len(told) == 2
    assert "`look` 3 times" in told[-1]
    assert bench.episode(result.run).outcome == "stuck"


def test_who_heeds_the_advice_is_not_stuck(bench: Bench) -> None:
    bench.script(*[calls("look", what="door")] * 3, calls("look", what="key"), "It is open.")
    assert bench.agent.run(RunRequest("open the door")).end == "complete"


def test_the_same_words_rejected_for_the_same_reason_again_and_again_are_a_circle(bench: Bench) -> None:
    bench.script(*["Done."] * 10)
    result = bench.agent.run(RunRequest("write", (_passes_at(99),)))
    assert (result.end, result.iterations) == ("stuck", 4)


def test_a_cut_answer_and_a_silent_one_are_asked_for_again(bench: Bench) -> None:
    bench.script(ChatAnswer("It begins with", stop="length"), ChatAnswer(""), "Short.")
    result = bench.agent.run(RunRequest("tell"))
    assert (result.end, result.answer, result.iterations) == ("complete", "Short.", 3)
    assert len(texts(bench.asked[2], "user")) == 3


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ModelDown("nobody answers at 127.0.0.1"), "unknown"),
        (ModelError("no"), "unknown"),
        (ChatAnswer("I won't.", stop="refused"), "failed"),
    ],
    ids=["down", "error", "refused"],
)
def test_a_model_that_will_not_answer_fails_the_run_and_only_its_own_refusal_is_learned_from(
    bench: Bench, answer: ChatAnswer | Exception, outcome: str
) -> None:
    bench.script(calls("look", what="a"), answer)
    result = bench.agent.run(RunRequest("go"))
    assert result.end == "fail"
    assert result.reason
    assert [type(event).__name__ for event in bench.events(result.run)].count("ToolExecuted") == 1
    ended = bench.events(result.run)[-1]
    assert isinstance(ended, RunEnded) and ended.reason == result.reason
    assert bench.episode(result.run).outcome == outcome
    assert bench.learned == [outcome == "failed"], "a service that is down is not asked once more"


def test_a_cancelled_run_is_recorded_as_such_and_its_conversation_can_go_on(bench: Bench) -> None:
    wanted = True

    def stop(args: Arguments) -> Result:
        nonlocal wanted
        wanted = False
        return Result("stopped")

    bench.tools = (tool("stop", handler=stop), tool("write", "act"))
    bench.script(says("", calls("stop", what="now"), calls("write", what="never")), "What next?")
    result = bench.agent.run(RunRequest("go"), cancelled=lambda: not wanted)
    assert result.end == "cancelled"
    assert bench.episode(result.run).outcome == "cancelled"
    assert bench.learned == [] and result.learned is None, "whoever cancels wants to go"
    assert [event.name for event in bench.events(result.run) if isinstance(event, ToolExecuted)] == ["stop"]
    wanted = True
    bench.agent.run(RunRequest("and now?", history=result.messages), cancelled=lambda: not wanted)
    answered = [message.call for message in bench.asked[-1].messages if message.role == "tool"]
    called = [call.id for message in bench.asked[-1].messages for call in message.calls]
    assert answered == called


def test_what_is_cancelled_while_it_ends_well_is_learned_from_later(bench: Bench) -> None:
    cancelled = False

    def look() -> Verdict:
        nonlocal cancelled
        cancelled = True
        return Verdict("late", 100)

    bench.script("Hello.")
    check = Check("custom", "late", custom=look)
    result = bench.agent.run(RunRequest("go", (check,)), cancelled=lambda: cancelled)
    assert (result.end, result.learned, bench.learned) == ("complete", None, [])


def test_what_a_judge_takes_is_counted_and_kept_for_a_resume(bench: Bench) -> None:
    bench.script(ChatAnswer("Done.", usage=Usage(90, 0, 10, 0.1)))
    bench.judge = ScriptedChat([ChatAnswer('{"score": 95, "reason": ""}', usage=Usage(40, 0, 5, 0.01))])
    result = bench.agent.run(RunRequest("go", judged=True))
    assert (result.end, result.score) == ("complete", 95)
    assert result.usage == Usage(130, 0, 15, pytest.approx(0.11))  # type: ignore[arg-type]


def test_a_text_in_a_call_can_not_pass_for_an_argument_more(bench: Bench) -> None:
    bench.script(calls("look", what='a", where="b\nc'), "Done.")
    bench.agent.run(RunRequest("go"), bench.said.append)
    assert bench.heard("call") == ['look(what="a\\", where=\\"b\\nc")']


def test_our_own_mistake_is_raised_and_the_run_has_an_end(bench: Bench) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    bench.script("Hello.")
    with pytest.raises(ZeroDivisionError):
        bench.agent.run(RunRequest("go"), broken)
    (run,) = [episode.run for episode in bench.runs.episodes()]
    end = bench.events(run)[-1]
    assert isinstance(end, RunEnded)
    assert (end.end, end.reason) == ("fail", "ZeroDivisionError")
    assert bench.files() == []


def test_ctrl_c_ends_a_run_as_cancelled(bench: Bench) -> None:
    def interrupted(_: object) -> ChatAnswer:
        raise KeyboardInterrupt

    bench.script(interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench.agent.run(RunRequest("go"))
    assert [episode.outcome for episode in bench.runs.episodes()] == ["cancelled"]


def test_learning_that_fails_changes_nothing_of_the_result(bench: Bench) -> None:
    def fail() -> Learned:
        raise Busy("another process learns")

    bench.learn = fail
    bench.script("Hello.")
    result = bench.agent.run(RunRequest("greet"), bench.said.append)
    assert (result.end, result.learned) == ("complete", None)
    assert "another process learns" in bench.heard("note")[-1]


def test_only_one_run_goes_on_in_a_vault(bench: Bench) -> None:
    bench.script("Hello.")
    with FileLock(bench.state / "agent" / "run.lock").held(0), pytest.raises(Busy):
        bench.agent.run(RunRequest("greet"))
    assert bench.agent.run(RunRequest("greet")).ok


def test_without_a_chat_model_it_is_said_how_to_name_one(bench: Bench) -> None:
    bench.chat = None
    with pytest.raises(ConfigError, match=r"chat\.provider.*chat\.model"):
        bench.agent.run(RunRequest("go"))
    with pytest.raises(ConfigError):
        bench.agent.check()
    assert bench.runs.unfinished() == []


def test_an_empty_command_is_no_run(bench: Bench) -> None:
    with pytest.raises(UsageError):
        bench.agent.run(RunRequest("  "))


def test_equal_commands_at_the_same_instant_are_two_runs(bench: Bench) -> None:
    bench.script("a", "b")
    runs = {bench.agent.run(RunRequest("go")).run for _ in range(2)}
    assert len(runs) == 2


# Approvals


def test_what_acts_after_recalled_text_needs_a_person_and_is_done_once_allowed(bench: Bench) -> None:
    bench.recalled = "import"
    bench.script(calls("write", what="x"), "Done.")
    person = Person("allow")
    result = bench.agent.run(RunRequest("write x"), bench.said.append, person)
    assert result.end == "complete"
    assert [(asked.tool, asked.arguments, asked.run) for asked in person.asked] == [
        ("write", {"what": "x"}, result.run)
    ]
    assert bench.heard("approval") == ['write(what="x")']


def test_what_a_person_denies_is_not_done_and_stands_in_no_journal(bench: Bench) -> None:
    bench.recalled = "user"
    done: list[str] = []
    bench.tools = (tool("write", "act", lambda args: Result(str(done.append(args["what"])))),)  # type: ignore[func-returns-value]
    bench.script(calls("write", what="x"), "I was not allowed to.")
    result = bench.agent.run(RunRequest("go"), approver=Person("deny"))
    assert result.end == "complete"
    assert done == []
    assert "ToolExecuted" not in bench.kinds(result.run)
    assert bench.asked[1].messages[-1].failed


def test_who_allows_a_tool_for_the_run_is_not_asked_again(bench: Bench) -> None:
    bench.recalled = "user"
    bench.script(calls("write", what="x"), calls("write", what="y"), "Done.")
    person = Person("run")
    assert bench.agent.run(RunRequest("go"), approver=person).end == "complete"
    assert len(person.asked) == 1


def test_a_tool_that_was_allowed_with_the_command_is_not_asked_about(bench: Bench) -> None:
    bench.recalled = "user"
    bench.script(calls("write", what="x"), "Done.")
    person = Person()
    assert bench.agent.run(RunRequest("go", allowed=("write",)), approver=person).end == "complete"
    assert person.asked == []


def test_an_answer_of_an_earlier_conversation_taints_the_next_command(bench: Bench) -> None:
    bench.script(calls("write", what="x"), "Done.")
    history = (ChatMessage("user", "hi"), ChatMessage("assistant", "write x, it says"))
    person = Person("deny")
    bench.agent.run(RunRequest("go", history=history), approver=person)
    assert len(person.asked) == 1


def test_a_tool_that_does_not_exist_is_no_deed_of_the_run(bench: Bench) -> None:
    """Else it would be learned as a step of those that worked."""
    bench.script(calls("nowhere"), "I can't.")
    result = bench.agent.run(RunRequest("go"))
    assert "ToolExecuted" not in bench.kinds(result.run)


# What a run says of itself


def _failing(_: Arguments) -> Result:
    return Result("there is no printer", failed=True)


@pytest.mark.parametrize(
    "answer",
    ["I could not print the invoice: there is no printer.", "I wasn't able to print it; I give up.",
     "Sorry, I can't open the file.", "The upload failed to start."],
)  # fmt: skip
def test_who_says_that_it_could_not_is_no_success(bench: Bench, answer: str) -> None:
    bench.script(f"{answer}\nTASK_COMPLETE")
    result = bench.agent.run(RunRequest("print the invoice"))
    assert result.answer == answer
    assert bench.episode(result.run).outcome == "unknown"


@pytest.mark.parametrize(
    "answer", ["I can't find any mistake in it.", "All 14 tests pass. I could not ask for more."]
)
def test_other_words_with_not_are_no_giving_up(bench: Bench, answer: str) -> None:
    bench.script(f"{answer}\nTASK_COMPLETE")
    assert bench.episode(bench.agent.run(RunRequest("check the report")).run).outcome == "success"


def test_a_last_call_that_failed_proves_nothing(bench: Bench) -> None:
    bench.tools = (tool("print", "act", _failing), tool("look"))
    bench.script(calls("print", what="invoice"), "The invoice is printed.\nTASK_COMPLETE")
    assert bench.episode(bench.agent.run(RunRequest("print it", allowed=("print",))).run).outcome == "unknown"
    bench.script(calls("print", what="invoice"), "I could not print it: no printer.\nTASK_COMPLETE")
    failed = bench.episode(bench.agent.run(RunRequest("print it", allowed=("print",))).run)
    assert (failed.outcome, failed.reason) == ("failed", "I could not print it: no printer.")
    bench.script(calls("print", what="it"), calls("look", what="tray"), "It lies in the tray.\nTASK_COMPLETE")
    assert bench.episode(bench.agent.run(RunRequest("print it", allowed=("print",))).run).outcome == "success"


@pytest.mark.parametrize(("chosen", "outcome"), [("finish", "success"), ("look", "unknown")])
def test_a_model_that_is_led_says_by_its_choice_that_it_is_done(
    bench: Bench, chosen: str, outcome: str
) -> None:
    look = ('{"thought": "I look.", "action": "look"}', '{"what": "inbox"}')
    # To look a second time at the same is taken for the end, and is not its word that all is done.
    again = ('{"thought": "", "action": "finish"}',) if chosen == "finish" else look
    bench.chat = ScriptedChat([*look, *again, "Three letters."], calls_tools=False)
    result = bench.agent.run(RunRequest("what is in the inbox?"))
    assert result.answer == "Three letters."
    assert bench.episode(result.run).outcome == outcome


def test_checks_that_pass_count_more_than_words(bench: Bench) -> None:
    bench.script("I could not do it in one go, but the report is there.\nTASK_COMPLETE")
    result = bench.agent.run(RunRequest("write the report", (_passes_at(1),)))
    assert bench.episode(result.run).outcome == "success"
