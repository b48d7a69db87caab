"""What is sent to Anthropic, and what only its answers have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chat_recordings import CLOCK, WEATHER, anthropic_says
from chat_service import ChatService, plain, serve_chat
from loopback_service import FakeTime

from hindbrain.models.chat import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatSettings,
    Image,
    ToolCall,
    ToolSpec,
    make_chat,
)
from hindbrain.models.chat_anthropic import closed, payload
from hindbrain.models.chat_manner import Manner

MODEL = "claude-sonnet-5-5"
ASK = ChatRequest((ChatMessage("system", "Be short."), ChatMessage("user", "Hello?")), max_tokens=50)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (ToolSpec("get_weather", "The weather of a city.", CITY),)
PICTURE = Image(b"\x89PNG", "image/png")
PICTURE_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}
KEPT = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
def service() -> Iterator[ChatService]:
    yield from serve_chat()


@pytest.fixture
def chat(service: ChatService, fake_time: FakeTime) -> ChatModel:
    chat = make_chat(ChatSettings("anthropic", MODEL, service.url, 5.0), {}, timing=fake_time.timing())
    assert chat is not None
    return chat


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def test_the_whole_request(chat: ChatModel, service: ChatService) -> None:
    service.next = [anthropic_says("Hi.")]
    chat.answer(ASK._replace(tools=TOOLS))
    assert service.asked[0].headers["anthropic-version"] == "2023-06-01"
    assert service.asked[0].payload == {
        "model": MODEL,
        "max_tokens": 50,
        "stream": True,
        "system": [text("Be short.")],
        "messages": [{"role": "user", "content": [text("Hello?")]}],
        "tools": [
            {"name": "get_weather", "description": "The weather of a city.", "input_schema": CITY},
        ],
    }


def test_calls_and_their_results_go_back_by_turns() -> None:
    calls = (ToolCall("a.1", "look", {"at": 1}), ToolCall("b", "look", {}, "{broken"))
    messages = (
        ChatMessage("user", "What is it?", images=(PICTURE,)),
        ChatMessage("assistant", "I look.", calls=calls),
        ChatMessage("tool", "A door.", images=(PICTURE,), call="a.1", tool="look"),
        ChatMessage("tool", "no such place", call="b", tool="look", failed=True),
        ChatMessage("user", "Well?"),
        ChatMessage("assistant", " "),
    )
    assert payload(MODEL, ChatRequest(messages), Manner())["messages"] == [
        {"role": "user", "content": [PICTURE_BLOCK, text("What is it?")]},
        {
            "role": "assistant",
            "content": [
                text("I look."),
                {"type": "tool_use", "id": "a_1", "name": "look", "input": {"at": 1}},
                {"type": "tool_use", "id": "b", "name": "look", "input": {"unreadable": "{broken"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a_1", "content": [text("A door."), PICTURE_BLOCK]},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [text("no such place")],
                    "is_error": True,
                },
                text("Well?"),
            ],
        },
        {"role": "assistant", "content": [text("(empty)")]},
    ]


def test_what_stays_is_marked_to_be_kept_ready_at_four_places_at_most() -> None:
    turns = [ChatMessage("user" if at % 2 else "assistant", f"{at}", stable=True) for at in range(1, 7)]
    request = ChatRequest((ChatMessage("system", "s", stable=True), *turns))
    sent = payload(MODEL, request, Manner())
    assert sent["system"] == [text("s") | KEPT]
    messages = sent["messages"]
    assert isinstance(messages, list)
    marked = [turn["content"][-1]["text"] for turn in messages if "cache_control" in turn["content"][-1]]
    assert marked == ["4", "5", "6"]


def test_without_a_mark_nothing_is_kept() -> None:
    assert "cache_control" not in str(payload(MODEL, ASK, Manner()))


def test_thoughts_before_a_call_come_back_with_it_to_the_same_model_only(
    chat: ChatModel, service: ChatService
) -> None:
    service.next = [anthropic_says("So.", calls=[WEATHER, CLOCK], reason="tool_use", thoughts="Hm.")]
    answer = chat.answer(ASK)
    assert answer.text == "So."
    after = ChatRequest((*ASK.messages, ChatMessage("assistant", answer.text, calls=answer.calls)))

    def kinds(model: str) -> list[str]:
        sent = payload(model, after, Manner())["messages"]
        assert isinstance(sent, list)
        return [block["type"] for block in sent[-1]["content"]]

    assert kinds(MODEL) == ["thinking", "text", "tool_use", "tool_use"]
    assert kinds("claude-haiku-4-5") == ["text", "tool_use", "tool_use"]
    sent = payload(MODEL, after, Manner())["messages"]
    assert isinstance(sent, list)
    assert sent[-1]["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}


def test_a_schema_goes_along_in_the_form_that_is_taken(chat: ChatModel, service: ChatService) -> None:
    service.next = [anthropic_says('{"city": "Oslo"}')]
    limited = {
        **CITY,
        "properties": {"city": {"type": "string", "maxLength": 9}, "minimum": {"type": "null"}},
    }
    assert chat.answer(ASK._replace(schema=limited)).text == '{"city": "Oslo"}'
    assert service.asked[0].payload["output_config"]["format"] == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "minimum": {"type": "null"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    }
    open_on_purpose = {"type": "object", "additionalProperties": True}
    assert closed(open_on_purpose) == open_on_purpose


def test_an_older_model_without_schemas_is_told_in_words(chat: ChatModel, service: ChatService) -> None:
    service.next = [plain({"type": "error", "error": {"message": "no"}}, 400), anthropic_says("{}")]
    chat.answer(ASK._replace(schema=CITY))
    assert "output_config" not in service.asked[1].payload
    assert '"city"' in service.asked[1].payload["messages"][-1]["content"][0]["text"]


@pytest.mark.parametrize("reason", ["model_context_window_exceeded", "max_tokens"])
def test_a_full_window_is_a_cut_answer(chat: ChatModel, service: ChatService, reason: str) -> None:
    service.next = [anthropic_says("Hi", reason=reason)]
    assert chat.answer(ASK).stop == "length"
