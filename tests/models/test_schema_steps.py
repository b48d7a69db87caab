"""A model that can't call tools is led: which tool, then its arguments, and plain words at the end."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from hindbrain.base.errors import Cancelled, ModelDown, ModelError
from hindbrain.models.chat import (
    ChatAnswer,
    ChatMessage,
    ChatRequest,
    Image,
    ToolCall,
    ToolSpec,
    Usage,
    Watch,
)
from hindbrain.models.chat_fake import ScriptedChat, calls
from hindbrain.models.schema_steps import SchemaSteps, with_tools
from hindbrain.models.structured import problems

READ = ToolSpec(
    "read_file",
    "Read a file. Of a long one the beginning.",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "which one"}, "line": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
LIST = ToolSpec(
    "list_files", "List a folder.", {"type": "object", "properties": {"path": {"type": "string"}}}
)
LOOK = ToolSpec("take_screenshot", "Take a picture of the screen.", {"type": "object", "properties": {}})
TOOLS = (READ, LIST, LOOK)
SYSTEM, TASK = ChatMessage("system", "You are kind."), ChatMessage("user", "What is in a.txt?")
START = ChatRequest((SYSTEM, TASK), TOOLS, max_tokens=500)


def step(action: str, thought: str = "so be it") -> str:
    return json.dumps({"thought": thought, "action": action})


def used(text: str, sent: int, made: int) -> ChatAnswer:
    return ChatAnswer(text, usage=Usage(sent, made=made))


def later(text: str = "hello", *, failed: bool = False) -> ChatRequest:
    """After a.txt was read."""
    call = ToolCall("step-1", "read_file", {"path": "a.txt"})
    result = ChatMessage("tool", text, call="step-1", tool="read_file", failed=failed)
    return START._replace(messages=(SYSTEM, TASK, ChatMessage("assistant", "I look", calls=(call,)), result))


def test_a_step_becomes_a_call_that_fits_its_tool() -> None:
    chat = ScriptedChat(
        [used(step("read_file"), 100, 10), used('{"path": "a.txt"}', 120, 5)], calls_tools=False
    )
    heard: list[str] = []
    answer = SchemaSteps(chat).answer(START, Watch(heard.append))
    (call,) = answer.calls
    assert (call.name, call.arguments, bool(call.id)) == ("read_file", {"path": "a.txt"}, True)
    assert answer.stop == "calls" and answer.usage == Usage(220, made=15)
    assert answer.text == "".join(heard) == "so be it"  # no JSON is told to whoever looks on
    which, what = chat.asked
    assert not which.tools and not what.tools
    assert which.schema is not None and not list(problems(json.loads(step("finish")), which.schema))
    assert list(problems(json.loads(step("rm")), which.schema))
    assert what.schema is not None and set(what.schema["properties"]) == {"path"}  # type: ignore[call-overload]


def test_the_tools_are_told_shortly_and_the_task_stands_last() -> None:
    chat = ScriptedChat([step("take_screenshot")])
    SchemaSteps(chat).answer(START)
    told = chat.asked[0].messages
    assert told[0].text.startswith("You are kind.")
    assert "- read_file: Read a file.\n" in told[0].text and "- finish:" in told[0].text
    assert TASK.text in told[-1].text and told[-1].role == "user"
    roles = [message.role for message in told]
    assert all(one != other for one, other in pairwise(roles))


def test_each_call_has_its_own_id() -> None:
    chat = ScriptedChat([step("take_screenshot")] * 20)
    ids = [SchemaSteps(chat).answer(START).calls[0].id for _ in range(20)]
    assert len(set(ids)) == 20


def test_a_tool_that_requires_nothing_is_asked_for_all_it_has_and_one_without_arguments_for_none() -> None:
    chat = ScriptedChat([step("list_files"), "{}", step("take_screenshot")])
    steps = SchemaSteps(chat)
    assert steps.answer(START).calls[0].arguments == {}
    assert steps.answer(START).calls[0].name == "take_screenshot"
    assert len(chat.asked) == 3


def test_to_finish_is_answered_in_plain_words_that_are_streamed() -> None:
    chat = ScriptedChat([used(step("finish"), 50, 5), used("It says hello.", 60, 6)])
    heard: list[str] = []
    answer = SchemaSteps(chat).answer(later(), Watch(heard.append))
    assert answer == ChatAnswer("It says hello.", stop="finished", usage=Usage(110, made=11))
    assert "".join(heard) == "It says hello." and len(heard) > 1
    last = chat.asked[1]
    assert last.schema is None and "hello" in last.messages[-1].text and TASK.text in last.messages[-1].text


def test_earlier_calls_and_results_are_told_as_plain_turns() -> None:
    chat = ScriptedChat([step("take_screenshot")] * 2)
    SchemaSteps(chat).answer(later())
    SchemaSteps(chat).answer(later("no such file", failed=True))
    for asked in chat.asked:
        assert {message.role for message in asked.messages} == {"system", "user", "assistant"}
        assert not any(message.calls or message.call or message.tool for message in asked.messages)
    went_well, failed = (asked.messages[-1].text for asked in chat.asked)
    assert went_well.startswith("Result of read_file:\nhello") and failed.startswith("read_file failed:")
    assert '"a.txt"' in chat.asked[0].messages[-2].text


def test_pictures_of_tools_stay() -> None:
    image = Image(b"png")
    *before, result = later().messages
    chat = ScriptedChat([step("take_screenshot")])
    SchemaSteps(chat).answer(START._replace(messages=(*before, result._replace(images=(image,)))))
    assert chat.asked[0].messages[-1].images == (image,)


def test_doing_again_at_once_what_went_well_is_to_finish() -> None:
    again = [step("read_file"), '{"path": "a.txt"}']
    assert SchemaSteps(ScriptedChat([*again, "It says hello."])).answer(later()).text == "It says hello."
    assert (
        SchemaSteps(ScriptedChat(again)).answer(later(failed=True)).calls
    )  # a failure is worth a second try
    other = [step("read_file"), '{"path": "b.txt"}']
    assert SchemaSteps(ScriptedChat(other)).answer(later()).calls


def test_arguments_that_stay_wrong_are_an_unreadable_call() -> None:
    (call,) = SchemaSteps(ScriptedChat([step("read_file"), "a.txt", '{"file": 1}'])).answer(START).calls
    assert call.name == "read_file" and call.arguments == {} and "$.path is missing" in call.unreadable


def test_a_model_that_comes_to_no_step_is_an_error_after_three_tries() -> None:
    chat = ScriptedChat(["Let me think."] * 9)
    with pytest.raises(ModelError):
        SchemaSteps(chat).answer(START)
    assert len(chat.asked) == 3


def test_a_model_that_goes_away_between_the_questions_is_down() -> None:
    with pytest.raises(ModelDown):
        SchemaSteps(ScriptedChat([step("read_file")])).answer(START)


def test_a_step_can_be_cancelled() -> None:
    with pytest.raises(Cancelled):
        SchemaSteps(ScriptedChat([step("read_file")])).answer(START, Watch(cancelled=lambda: True))


def test_without_tools_it_is_the_model_itself() -> None:
    chat = ScriptedChat(["hi"])
    request = later()._replace(tools=(), schema={"type": "object"})
    assert SchemaSteps(chat).answer(request).text == "hi"
    assert chat.asked[0].schema == {"type": "object"}
    assert [message.role for message in chat.asked[0].messages] == ["system", "user", "assistant", "user"]


# Which models are led


def test_a_model_that_calls_tools_is_left_alone() -> None:
    chat = ScriptedChat([calls("read_file", path="a.txt")])
    assert with_tools(chat).answer(START).calls[0].arguments == {"path": "a.txt"}
    assert chat.asked == [START]


def test_a_model_that_does_not_is_led() -> None:
    chat = ScriptedChat([step("take_screenshot")], calls_tools=False)
    assert with_tools(chat).answer(START).calls[0].name == "take_screenshot"


def test_a_server_that_turns_out_not_to_know_tools_is_led_from_then_on() -> None:
    def refuse(request: ChatRequest) -> ChatAnswer:
        chat.calls_tools = False
        raise ModelError("HTTP 400", status=400)

    chat = ScriptedChat([refuse, step("take_screenshot"), step("take_screenshot")])
    led = with_tools(chat)
    assert [led.answer(START).calls[0].name for _ in range(2)] == ["take_screenshot"] * 2
    assert [bool(asked.tools) for asked in chat.asked] == [True, False, False]


@pytest.mark.parametrize("error", [ModelError("HTTP 401", status=401), ModelDown("away")])
def test_other_failures_are_failures(error: ModelError) -> None:
    with pytest.raises(type(error)):
        with_tools(ScriptedChat([error])).answer(START)
