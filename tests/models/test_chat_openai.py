"""What is sent to OpenAI and to servers that speak its shape, and their ways of answering."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from chat_recordings import OPENAI_USAGE, WEATHER, openai_says
from chat_service import ChatService, Played, plain, serve_chat, stream
from loopback_service import FakeTime

from hindbrain.base.errors import ModelError
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
from hindbrain.models.chat_manner import Manner
from hindbrain.models.chat_openai import OPENAI_LACKS, is_closed, payload

ASK = ChatRequest((ChatMessage("system", "Be short."), ChatMessage("user", "Hello?")), max_tokens=50)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (ToolSpec("get_weather", "The weather of a city.", CITY),)
SCHEMA = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
PICTURE = Image(b"\x89PNG", "image/png")
PICTURE_URL = "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()


@pytest.fixture
def service() -> Iterator[ChatService]:
    yield from serve_chat()


@pytest.fixture
def chat(service: ChatService, fake_time: FakeTime) -> ChatModel:
    return made("openai", service.url, fake_time)


def made(provider: str, url: str, fake_time: FakeTime) -> ChatModel:
    chat = make_chat(ChatSettings(provider, "small", url, 5.0), {}, timing=fake_time.timing())
    assert chat is not None
    return chat


def test_the_whole_request(chat: ChatModel, service: ChatService) -> None:
    service.next = [openai_says("Hi.")]
    chat.answer(ASK._replace(tools=TOOLS))
    assert service.asked[0].payload == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 50,
        "temperature": 0,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "The weather of a city.",
                    "parameters": CITY,
                },
            }
        ],
    }


def test_openai_itself_is_asked_in_its_newer_words() -> None:
    sent = payload("gpt-5", ASK, Manner(without=OPENAI_LACKS))
    assert sent["max_completion_tokens"] == 50
    assert "max_tokens" not in sent and "temperature" not in sent


def test_calls_their_results_and_pictures_go_back_in_order() -> None:
    calls = (ToolCall("a", "look", {"at": "ä"}), ToolCall("b", "look", {}, "{broken"))
    messages = (
        ChatMessage("system", "One."),
        ChatMessage("system", "Two."),
        ChatMessage("user", "What is it?", images=(PICTURE,)),
        ChatMessage("assistant", "I look.", calls=calls),
        ChatMessage("tool", "A door.", images=(PICTURE,), call="a", tool="look"),
        ChatMessage("tool", "no such place", call="b", tool="look", failed=True),
        ChatMessage("system", "Mind the time."),
    )
    assert payload("small", ChatRequest(messages), Manner())["messages"] == [
        {"role": "system", "content": "One.\n\nTwo."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": PICTURE_URL}},
            ],
        },
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"at": "\\u00e4"}'},
                },
                {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{broken"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "A door."},
        {"role": "tool", "tool_call_id": "b", "content": "error: no such place"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What the tools saw:"},
                {"type": "image_url", "image_url": {"url": PICTURE_URL}},
            ],
        },
        {"role": "user", "content": "Mind the time."},
    ]


def test_half_characters_do_not_stop_a_request(chat: ChatModel, service: ChatService) -> None:
    service.next = [openai_says("Hi.")]
    assert chat.answer(ChatRequest((ChatMessage("user", "a\ud800b"),))).text == "Hi."


@pytest.mark.parametrize("arguments", ["[1, 2]", "{'city': 'Oslo'}", '{"city": "Os', "null", "[" * 100_000])
def test_arguments_that_are_no_json_object_are_unreadable(
    chat: ChatModel, service: ChatService, arguments: str
) -> None:
    service.next = [_calling({"index": 0, "id": "x", "function": {"name": "look", "arguments": arguments}})]
    (call,) = chat.answer(ASK).calls
    assert (call.name, call.arguments, call.unreadable) == ("look", {}, arguments)


@pytest.mark.parametrize("arguments", ["", " ", "{}", None, {}])
def test_no_arguments_are_no_fault(chat: ChatModel, service: ChatService, arguments: object) -> None:
    service.next = [_calling({"index": 0, "id": "x", "function": {"name": "look", "arguments": arguments}})]
    (call,) = chat.answer(ASK).calls
    assert (call.arguments, call.unreadable) == ({}, "")


def test_servers_without_indexes_or_ids_are_understood(chat: ChatModel, service: ChatService) -> None:
    look = {"name": "look", "arguments": '{"at": 1}'}
    wait = {"name": "wait", "arguments": {"for": 2}}
    service.next = [
        _calling({"index": 0, "id": "x", "function": look}, {"index": 0, "id": "y", "function": wait}),
        _calling({"function": look}, {"function": wait}),
    ]
    for _ in range(2):
        calls = chat.answer(ASK).calls
        assert [(call.name, call.arguments) for call in calls] == [("look", {"at": 1}), ("wait", {"for": 2})]
        assert len({call.id for call in calls}) == 2
        assert all(call.id for call in calls)


def _calling(*pieces: dict[str, Any]) -> Played:
    delta = {"choices": [{"index": 0, "delta": {"tool_calls": list(pieces)}, "finish_reason": None}]}
    return stream(delta, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, done=True)


def test_a_refusal_in_words_is_a_refusal(chat: ChatModel, service: ChatService) -> None:
    chunks = [{"choices": [{"delta": {"refusal": text}, "finish_reason": None}]} for text in ("I ", "can't.")]
    service.next = [stream(*chunks, {"choices": [{"delta": {}, "finish_reason": "stop"}]}, done=True)]
    answer = chat.answer(ASK)
    assert (answer.stop, answer.text) == ("refused", "I can't.")


def test_what_it_cost_is_taken_from_a_service_that_says_so(chat: ChatModel, service: ChatService) -> None:
    service.next = [openai_says("Hi.", usage={**OPENAI_USAGE, "cost": 0.00492})]
    service.next[0].pieces = [b": OPENROUTER PROCESSING\n\n", *service.next[0].pieces]
    assert chat.answer(ASK).usage.cost == 0.00492


def test_figures_that_are_none_count_as_nothing(chat: ChatModel, service: ChatService) -> None:
    odd = {"prompt_tokens": "many", "completion_tokens": -3, "prompt_tokens_details": 7, "cost": None}
    service.next = [openai_says("Hi.", usage=odd)]
    assert chat.answer(ASK).usage.tokens == 0


# Servers that do not take everything


def _kinds(service: ChatService) -> list[str]:
    return [asked.payload.get("response_format", {}).get("type", "plain") for asked in service.asked]


def test_a_schema_is_asked_for_then_any_json_then_plain_text(chat: ChatModel, service: ChatService) -> None:
    service.next = [plain({"error": "no"}, 400), plain({"error": "no"}, 422), openai_says("{}")]
    assert chat.answer(ASK._replace(schema=SCHEMA)).text == "{}"
    assert _kinds(service) == ["json_schema", "json_object", "plain"]
    told = [str(asked.payload["messages"][-1]["content"]) for asked in service.asked]
    assert ['"items"' in text for text in told] == [False, True, True]  # where no schema goes, words do


def test_what_a_server_can_t_do_is_not_asked_again(chat: ChatModel, service: ChatService) -> None:
    service.next = [plain({}, 400), openai_says("{}"), openai_says("{}")]
    for _ in range(2):
        chat.answer(ASK._replace(schema=SCHEMA))
    assert _kinds(service) == ["json_schema", "json_object", "json_object"]


def test_a_request_that_is_refused_in_every_format_teaches_nothing(
    chat: ChatModel, service: ChatService
) -> None:
    service.next = [*[plain({"error": "context too long"}, 400)] * 3, openai_says("{}")]
    with pytest.raises(ModelError):
        chat.answer(ASK._replace(schema=SCHEMA))
    chat.answer(ASK._replace(schema=SCHEMA))
    assert _kinds(service)[-1] == "json_schema"


def test_a_wrong_key_is_no_reason_to_ask_in_another_format(chat: ChatModel, service: ChatService) -> None:
    service.next = [plain({}, 401)]
    with pytest.raises(ModelError) as raised:
        chat.answer(ASK._replace(schema=SCHEMA))
    assert raised.value.status == 401
    assert len(service.asked) == 1


def test_a_parameter_that_a_server_names_is_left_out_from_then_on(
    chat: ChatModel, service: ChatService
) -> None:
    refused = {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model."}}
    extra = {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}
    service.next = [plain(refused, 400), plain(extra, 422), openai_says("Hi."), openai_says("Hi.")]
    chat.answer(ASK)
    chat.answer(ASK)
    for asked in service.asked[2:]:
        assert asked.payload["max_completion_tokens"] == 50
        assert "max_tokens" not in asked.payload and "stream_options" not in asked.payload


def test_strict_is_asked_only_of_schemas_that_leave_nothing_open() -> None:
    closed = {**CITY, "additionalProperties": False}
    assert is_closed(closed)
    assert not is_closed(CITY)
    assert not is_closed({**closed, "required": []})
    assert not is_closed({"type": "array", "items": CITY})
    assert is_closed({"type": "array", "items": closed})


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"error": {"message": "registry.ollama.ai/library/gemma3:4b does not support tools"}}),
        (
            500,
            {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}},
        ),
        (400, {"message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'}),
        (404, {"error": {"message": "No endpoints found that support tool use."}}),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"]}]}),
        (501, {"error": "tools are not supported"}),
    ],
)
@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_server_that_refuses_tools_is_known_for_it(
    provider: str, service: ChatService, fake_time: FakeTime, status: int, said: object
) -> None:
    chat = made(provider, service.url, fake_time)
    service.next = [plain(said, status)] * 2
    assert chat.calls_tools
    with pytest.raises(ModelError) as raised:
        chat.answer(ASK._replace(tools=TOOLS))
    assert raised.value.status == status
    assert raised.value.code == "model"
    assert not chat.calls_tools


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"error": {"message": "the request exceeds the available context size"}}),
        (401, {"error": "tools"}),
    ],
)
def test_another_refusal_says_nothing_about_tools(
    chat: ChatModel, service: ChatService, status: int, said: object
) -> None:
    service.next = [plain(said, status)]
    with pytest.raises(ModelError):
        chat.answer(ASK._replace(tools=TOOLS))
    assert chat.calls_tools


@pytest.mark.parametrize(
    ("props", "calls"),
    [
        ({"chat_template": "{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}"}, False),
        ({"chat_template": "{% if tools %}{{ tools | tojson }}{% endif %}"}, True),
        ({"chat_template": ""}, True),
        ([], True),
        (None, True),  # no llama.cpp
    ],
)
def test_a_llama_cpp_whose_template_has_no_place_for_tools_calls_none(
    service: ChatService, fake_time: FakeTime, props: object, calls: bool
) -> None:
    service.props = props
    assert made("openai", service.url, fake_time).calls_tools is calls


def test_ollama_needs_no_key_and_is_asked_on_this_machine(service: ChatService, fake_time: FakeTime) -> None:
    service.next = [openai_says("Hi.", calls=[WEATHER])]
    chat = made("ollama", service.url + "/api", fake_time)
    assert chat.answer(ASK).stop == "calls"  # whatever reason it gives
    assert service.asked[0].path == "/v1/chat/completions"
    own = make_chat(ChatSettings("ollama", "qwen3"), {})
    assert own is not None and own.name == "ollama/qwen3"
