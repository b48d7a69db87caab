"""One iteration: what the model is sent, what becomes of its calls, and how it is known to be done."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.run_bench import Bench, Person, texts, tool

from hindbrain.agent.loop import says_done
from hindbrain.agent.messages import from_messages, to_messages, within
from hindbrain.agent.run import Limits, RunRequest, without_token
from hindbrain.agent.tools.tool import Result
from hindbrain.base.errors import ModelError, NotFound, UsageError
from hindbrain.context.history.window import ContextWindow, budget_of
from hindbrain.context.tokens import EstimatedTokens
from hindbrain.memory.tools.tool import Arguments
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatRequest, Image, ToolCall, Watch
from hindbrain.models.chat_fake import ScriptedChat, calls, says


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def results(request: ChatRequest) -> list[tuple[str, bool]]:
    return [(message.text, message.failed) for message in request.messages if message.role == "tool"]


# What is sent


def test_the_model_is_sent_the_system_the_command_and_the_tools(bench: Bench) -> None:
    bench.script("Hello.")
    bench.agent.run(RunRequest("greet me"))
    (request,) = bench.asked
    assert [(message.role, message.text, message.stable) for message in request.messages] == [
        ("system", "You are a test.", True),
        ("system", "It is noon.", False),
        ("user", "greet me", False),
    ]
    assert [spec.name for spec in request.tools] == ["look", "write"]


def test_the_answer_is_told_piece_by_piece(bench: Bench) -> None:
    bench.script("Hello to you.")
    bench.agent.run(RunRequest("greet me"), bench.said.append)
    assert len(bench.heard("text")) == 3
    assert "".join(bench.heard("text")) == "Hello to you."


def test_screenshots_of_more_than_five_iterations_ago_are_not_sent_again(bench: Bench) -> None:
    numbers = iter(range(100))
    bench.tools = (tool("look", handler=lambda _: Result("seen", images=(Image(b"png%d" % next(numbers)),))),)
    bench.script(*[calls("look", what="screen")] * 8, "Enough.")
    bench.agent.run(RunRequest("watch"))
    shown = [message for message in bench.asked[-1].messages if message.role == "tool"]
    assert [len(message.images) for message in shown] == [0, 0, 0, 1, 1, 1, 1, 1]
    assert shown[0].text == "seen\n[screenshot removed]"
    assert shown[-1].images == (Image(b"png7"),)


def test_a_long_run_stays_within_the_window_and_keeps_its_command(bench: Bench) -> None:
    limits = Limits(window=4_000)
    numbers = iter(range(1000))
    bench.tools = (tool("read", handler=lambda _: Result(f"page {next(numbers)}: " + "many words " * 150)),)
    bench.script(*[calls("read", what="on")] * 20, "Enough.")
    assert bench.agent.run(RunRequest("read the whole book", limits=limits)).end == "complete"
    window = ContextWindow(budget_of(limits.window), EstimatedTokens())
    for request in bench.asked:
        assert window.count(to_messages(request.messages)) <= window.budget.input
        assert "read the whole book" in texts(request, "user")
        called = [call.id for message in request.messages for call in message.calls]
        assert called == [message.call for message in request.messages if message.role == "tool"]
    assert "page 19" in bench.asked[-1].messages[-1].text


def test_a_command_that_does_not_fit_at_all_fails_and_says_so(bench: Bench) -> None:
    bench.script("never asked")
    result = bench.agent.run(RunRequest("word " * 3_000, limits=Limits(window=2_000)))
    assert result.end == "fail"
    assert "shorter command" in result.reason
    assert bench.asked == []


class NoTools(ScriptedChat):
    """A server that finds out at the first request that it knows no tools."""

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        if request.tools:
            self.calls_tools = False
            raise ModelError("tools are not supported", status=400)
        return super().answer(request, watch)


def test_a_model_that_turns_out_to_know_no_tools_is_led_step_by_step(bench: Bench) -> None:
    bench.chat = NoTools(['{"thought": "easy", "action": "finish"}', "Hello."])
    result = bench.agent.run(RunRequest("greet me"))
    assert (result.end, result.answer) == ("complete", "Hello.")
    assert all(not request.tools for request in bench.asked)


# Calls


def test_a_failing_tool_is_a_result_and_the_run_goes_on(bench: Bench) -> None:
    def broken(_: Arguments) -> Result:
        raise ZeroDivisionError

    def missing(_: Arguments) -> Result:
        raise NotFound("there is no page 'x'")

    bench.tools = (tool("broken", handler=broken), tool("missing", handler=missing))
    bench.script(calls("broken", what="a"), calls("missing", what="b"), "Both failed.")
    result = bench.agent.run(RunRequest("go"))
    assert result.end == "complete"
    assert [failed for _, failed in results(bench.asked[-1])] == [True, True]
    assert "not_found" in results(bench.asked[-1])[1][0]
    assert [action.ok for action in bench.episode(result.run).actions] == [False, False]


def test_a_wrong_call_is_a_result_that_says_what_to_mend(bench: Bench) -> None:
    unreadable = ChatAnswer(calls=(ToolCall("z", "look", {}, '{"what": '),))
    bench.script(calls("peek", what="a"), calls("look", where="b"), unreadable, "I give up.")
    bench.agent.run(RunRequest("go"))
    told = results(bench.asked[-1])
    assert [failed for _, failed in told] == [True, True, True]
    assert "'peek'" in told[0][0]
    assert "look, write" in told[0][0]
    assert "'where'" in told[1][0]
    assert "JSON" in told[2][0]


def test_calls_of_one_answer_that_only_read_run_side_by_side(bench: Bench) -> None:
    meeting = threading.Barrier(3, timeout=10)

    def wait(args: Arguments) -> Result:
        meeting.wait()  # comes back only when all three are there
        return Result(str(args["what"]))

    bench.tools = (tool("read", handler=wait, side_by_side=True),)
    bench.script(says("", *[calls("read", what=name) for name in "abc"]), "Read.")
    bench.agent.run(RunRequest("go"))
    assert results(bench.asked[-1]) == [("a", False), ("b", False), ("c", False)]


@pytest.mark.parametrize("other", ["keep", "read"], ids=["one that keeps", "one that must be alone"])
def test_calls_run_one_after_the_other_when_one_of_them_must(bench: Bench, other: str) -> None:
    order: list[str] = []
    at_work = threading.Lock()

    def note(args: Arguments) -> Result:
        assert at_work.acquire(blocking=False)
        order.append(args["what"])
        at_work.release()
        return Result("", failed=threading.current_thread() is not threading.main_thread())

    bench.tools = (tool("read", handler=note, side_by_side=True), tool("other", other, note))
    bench.script(
        says("", calls("read", what="1"), calls("other", what="2"), calls("read", what="3")), "Done."
    )
    bench.agent.run(RunRequest("go"))
    assert order == ["1", "2", "3"]
    assert not any(failed for _, failed in results(bench.asked[-1]))


def test_ids_that_a_server_uses_again_are_told_apart(bench: Bench) -> None:
    again = ChatAnswer(
        calls=(ToolCall("call_0", "look", {"what": "a"}), ToolCall("call_0", "look", {"what": "b"}))
    )
    bench.script(again, again._replace(calls=again.calls[::-1]), "Done.")
    bench.agent.run(RunRequest("go"))
    last = bench.asked[-1].messages
    ids = [call.id for message in last for call in message.calls]
    assert len(set(ids)) == 4
    told = {message.call: message.text for message in last if message.role == "tool"}
    wanted = {call.id: f"look: {call.arguments['what']}" for message in last for call in message.calls}
    assert told == wanted


def test_a_person_is_shown_the_call_as_it_would_be_carried_out(bench: Bench) -> None:
    bench.tools = (
        tool("write", "act")._replace(
            settled=lambda args: {**args, "where": "/tmp"},
            shown=lambda args: f"{args['what']} in {args['where']}",
        ),
    )
    bench.recalled = "web"
    bench.script(calls("write", what="x"), "Done.")
    person = Person("allow")
    bench.agent.run(RunRequest("go"), approver=person)
    assert person.asked[0].shown == "x in /tmp"
    assert person.asked[0].arguments == {"what": "x", "where": "/tmp"}


# Being done


@pytest.mark.parametrize(
    ("text", "done", "rest"),
    [
        ("All is well.\nTASK_COMPLETE", True, "All is well."),
        ("  TASK_COMPLETE  \nBye.", True, "Bye."),
        ("I shall write TASK_COMPLETE when I am done.", False, "I shall write TASK_COMPLETE when I am done."),
        ("", False, ""),
    ],
)
def test_the_token_counts_on_a_line_of_its_own(text: str, done: bool, rest: str) -> None:
    assert says_done(text) == done
    assert without_token(text) == rest


def test_the_token_beside_calls_counts_when_they_have_succeeded(bench: Bench) -> None:
    bench.script(says("Looking.\nTASK_COMPLETE", calls("look", what="a")), "never asked")
    assert bench.agent.run(RunRequest("go")).iterations == 1


def test_the_token_beside_a_call_that_fails_does_not_count(bench: Bench) -> None:
    bench.script(says("Done.\nTASK_COMPLETE", calls("peek", what="a")), "It failed.")
    result = bench.agent.run(RunRequest("go"))
    assert (result.iterations, result.answer) == (2, "It failed.")


# The window's form of a conversation


CALLS = st.lists(
    st.builds(
        ToolCall,
        st.just(""),
        st.sampled_from("ab"),
        st.dictionaries(st.text(max_size=3), st.text(max_size=3)),
    ),
    max_size=3,
)


@st.composite
def conversations(draw: st.DrawFn) -> list[ChatMessage]:
    found = [ChatMessage("system", "be good", stable=True), ChatMessage("user", draw(st.text()))]
    for number in range(draw(st.integers(0, 5))):
        made = [call._replace(id=f"{number}-{at}") for at, call in enumerate(draw(CALLS))]
        found.append(ChatMessage("assistant", draw(st.text()), calls=tuple(made)))
        found += [
            ChatMessage("tool", draw(st.text()), (Image(b"x"),), call=call.id, tool=call.name)
            for call in made
        ]
    return found


@given(conversations())
def test_a_conversation_that_fits_is_sent_as_it_is(messages: list[ChatMessage]) -> None:
    assert from_messages(to_messages(messages), messages) == messages


@settings(deadline=None)  # the first example reads the tables of words
@given(conversations(), st.integers(40, 400))
def test_whatever_is_left_out_each_call_keeps_its_result(messages: list[ChatMessage], extra: int) -> None:
    window = ContextWindow(budget_of(1_000 + extra), EstimatedTokens())
    long = [
        message._replace(text=message.text + " word" * 300) if message.role == "tool" else message
        for message in messages
    ]
    try:
        sent = within(window, long, command=1).messages
    except UsageError:
        return
    called = [call.id for message in sent for call in message.calls]
    assert called == [message.call for message in sent if message.role == "tool"]
    assert long[1].text in [message.text for message in sent if message.role == "user"]
