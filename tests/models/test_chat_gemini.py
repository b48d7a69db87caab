"""What is sent to Gemini, and what only its answers have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chat_recordings import CLOCK, WEATHER, gemini_says
from chat_service import ChatService, plain, serve_chat, stream
from loopback_service import FakeTime

from hindbrain.base.errors import ModelDown
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
from hindbrain.models.chat_gemini import payload
from hindbrain.models.chat_manner import Manner

MODEL = "gemini-3-flash"
ASK = ChatRequest((ChatMessage("system", "Be short."), ChatMessage("user", "Hello?")), max_tokens=50)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (ToolSpec("get_weather", "The weather of a city.", CITY),)
PICTURE = Image(b"\x89PNG", "image/png")
PICTURE_PART = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}


@pytest.fixture
def service() -> Iterator[ChatService]:
    yield from serve_chat()


@pytest.fixture
def chat(service: ChatService, fake_time: FakeTime) -> ChatModel:
    chat = make_chat(ChatSettings("gemini", MODEL, service.url, 5.0), {}, timing=fake_time.timing())
    assert chat is not None
    return chat


def test_the_whole_request(chat: ChatModel, service: ChatService) -> None:
    service.next = [gemini_says("Hi.")]
    chat.answer(ASK._replace(tools=TOOLS))
    assert service.asked[0].payload == {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "contents": [{"role": "user", "parts": [{"text": "Hello?"}]}],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "get_weather",
                        "description": "The weather of a city.",
                        "parametersJsonSchema": CITY,
                    }
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 50},
    }


def test_calls_and_their_results_go_back_by_turns() -> None:
    calls = (ToolCall("a", "look", {"at": 1}), ToolCall("made-1", "wait", {}, "{broken"))
    messages = (
        ChatMessage("user", "What is it?", images=(PICTURE,)),
        ChatMessage("assistant", "I look.", calls=calls),
        ChatMessage("tool", "A door.", images=(PICTURE,), call="a"),
        ChatMessage("tool", "no such place", call="made-1", tool="wait", failed=True),
        ChatMessage("user", ""),
    )
    assert payload("gemini-2.5-flash", ChatRequest(messages), Manner())["contents"] == [
        {"role": "user", "parts": [{"text": "What is it?"}, PICTURE_PART]},
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "look", "args": {"at": 1}, "id": "a"}},
                {"functionCall": {"name": "wait", "args": {"unreadable": "{broken"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "look", "response": {"output": "A door."}, "id": "a"}},
                {"functionResponse": {"name": "wait", "response": {"error": "no such place"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "What the tools saw:"}, PICTURE_PART]},
        {"role": "user", "parts": [{"text": "(empty)"}]},
    ]


def test_a_signature_goes_back_where_it_came_from(chat: ChatModel, service: ChatService) -> None:
    service.next = [gemini_says(calls=[WEATHER, CLOCK], signature="c2lnbmVk")]
    answer = chat.answer(ASK)
    after = ChatRequest((*ASK.messages, ChatMessage("assistant", calls=answer.calls)))

    def signatures(model: str) -> list[str | None]:
        contents = payload(model, after, Manner())["contents"]
        assert isinstance(contents, list)
        return [part.get("thoughtSignature") for part in contents[-1]["parts"]]

    assert signatures(MODEL) == ["c2lnbmVk", None]
    assert signatures("gemini-2.5-pro") == [None, None]  # another model's is of no use, and it wants none
    assert signatures("gemini-4-pro") == ["skip_thought_signature_validator", None]


def test_thoughts_are_not_said(chat: ChatModel, service: ChatService) -> None:
    service.next = [gemini_says("Hi.")]
    assert chat.answer(ASK).text == "Hi."


def test_a_schema_goes_along_then_any_json_then_words(chat: ChatModel, service: ChatService) -> None:
    refused = plain({"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}, 400)
    service.next = [refused, refused, gemini_says("{}")]
    assert chat.answer(ASK._replace(schema=CITY)).text == "{}"
    asked = [seen.payload["generationConfig"] for seen in service.asked]
    json_kind = {"maxOutputTokens": 50, "responseMimeType": "application/json"}
    assert asked == [json_kind | {"responseJsonSchema": CITY}, json_kind, {"maxOutputTokens": 50}]


def test_a_question_that_is_blocked_is_refused(chat: ChatModel, service: ChatService) -> None:
    service.next = [stream({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}})]
    assert chat.answer(ASK).stop == "refused"


def test_a_call_that_the_model_got_wrong_is_asked_for_again(chat: ChatModel, service: ChatService) -> None:
    wrong = gemini_says(reason="MALFORMED_FUNCTION_CALL")
    service.next = [wrong, gemini_says(calls=[WEATHER]), wrong, wrong]
    assert chat.answer(ASK).stop == "calls"
    with pytest.raises(ModelDown):
        chat.answer(ASK)


def test_a_model_s_name_can_t_lead_elsewhere(service: ChatService, fake_time: FakeTime) -> None:
    service.next = [gemini_says("Hi.")]
    chat = make_chat(ChatSettings("gemini", "models/a/../b?x", service.url), {}, timing=fake_time.timing())
    assert chat is not None
    chat.answer(ASK)
    assert service.asked[0].path == "/v1beta/models/a%2F..%2Fb%3Fx:streamGenerateContent?alt=sse"
