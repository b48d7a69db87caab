"""Chat models: which one the settings mean, what is sent, and what counts as an answer."""

from __future__ import annotations

from typing import Any

import pytest
from loopback_service import Answer, FakeTime, Service

from hindbrain.base.errors import ConfigError, ModelDown, ModelError
from hindbrain.models.chat import ChatMessage, ChatModel, ChatSettings, make_chat
from hindbrain.models.chat_fake import ScriptedChat

KEY = "sk-very-secret-0123456789"
ASK = [ChatMessage("system", "Be short."), ChatMessage("user", "Hello?")]
SCHEMA = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}


def said(text: Any, **more: Any) -> Answer:
    return Answer(body={"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, **more}]})


@pytest.fixture
def chat(service: Service, fake_time: FakeTime) -> ChatModel:
    settings = ChatSettings("openai", "small", service.url, timeout_s=5.0)
    made = make_chat(settings, {}, timing=fake_time.timing())
    assert made is not None
    return made


def test_the_conversation_is_sent_and_the_text_comes_back(chat: ChatModel, service: Service) -> None:
    service.next = [said("Hi.")]
    assert chat.complete(ASK, max_tokens=50) == "Hi."
    seen = service.seen[0]
    assert seen.path == "/v1/chat/completions"
    assert seen.payload["model"] == "small"
    assert seen.payload["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Hello?"},
    ]
    assert seen.payload["max_tokens"] == 50
    assert "response_format" not in seen.payload


def test_a_schema_is_asked_for_then_any_json_then_plain_text(chat: ChatModel, service: Service) -> None:
    service.next = [Answer(400, {"error": "no json_schema"}), Answer(422, {"error": "no json"}), said("{}")]
    assert chat.complete(ASK, schema=SCHEMA) == "{}"
    kinds = [seen.payload.get("response_format", {}).get("type", "plain") for seen in service.seen]
    assert kinds == ["json_schema", "json_object", "plain"]


def test_what_a_server_can_t_do_is_not_asked_again(chat: ChatModel, service: Service) -> None:
    service.next = [Answer(400, {}), said("{}"), said("{}")]
    chat.complete(ASK, schema=SCHEMA)
    chat.complete(ASK, schema=SCHEMA)
    assert service.seen[-1].payload["response_format"] == {"type": "json_object"}
    assert len(service.seen) == 3


def test_a_wrong_key_is_no_reason_to_ask_in_another_format(chat: ChatModel, service: Service) -> None:
    service.next = [Answer(401, {})]
    with pytest.raises(ModelError) as raised:
        chat.complete(ASK, schema=SCHEMA)
    assert raised.value.status == 401
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body={}),
        Answer(body=[]),
        Answer(body={"choices": []}),
        Answer(body={"choices": [{"message": None}]}),
        said(None),
        said({"text": "Hi."}),
        said("half an ans", finish_reason="length"),
        Answer(body={"choices": [{"message": {"content": None, "refusal": "I can't."}}]}),
    ],
)
def test_an_answer_of_another_shape_a_cut_one_and_a_refusal_are_errors(
    chat: ChatModel, service: Service, answer: Answer
) -> None:
    service.next = [answer]
    with pytest.raises(ModelError) as raised:
        chat.complete(ASK)
    assert raised.value.code == "model"


def test_a_service_that_is_away_is_down(closed_url: str, fake_time: FakeTime) -> None:
    settings = ChatSettings("openai", "small", closed_url, timeout_s=1.0)
    chat = make_chat(settings, {}, timing=fake_time.timing())
    assert chat is not None
    with pytest.raises(ModelDown) as raised:
        chat.complete(ASK)
    assert raised.value.code == "model_down"


def test_a_service_that_is_overloaded_is_asked_again_once(
    chat: ChatModel, service: Service, fake_time: FakeTime
) -> None:
    service.next = [Answer(503, {}), said("Hi.")]
    assert chat.complete(ASK) == "Hi."
    assert len(fake_time.waits) == 1


def test_half_characters_do_not_stop_a_request(chat: ChatModel, service: Service) -> None:
    service.next = [said("Hi.")]
    assert chat.complete([ChatMessage("user", "a\ud800b")]) == "Hi."


def test_without_a_provider_there_is_no_model_whatever_keys_there_are() -> None:
    assert make_chat(ChatSettings(model="gpt"), {"OPENAI_API_KEY": KEY, "HINDBRAIN_CHAT_KEY": KEY}) is None


@pytest.mark.parametrize(
    "settings",
    [
        ChatSettings("nobody", "m"),
        ChatSettings("openai", ""),
        ChatSettings("openai", "m"),  # its own address, and no key
        ChatSettings("openai", "m", "https://user:pass@example.org"),
        ChatSettings("ollama", "m", timeout_s=0),
    ],
)
def test_settings_that_can_t_work_are_refused_before_anything_is_sent(settings: ChatSettings) -> None:
    with pytest.raises(ConfigError):
        make_chat(settings, {})


def test_the_key_of_a_provider_goes_to_its_own_address_only(service: Service) -> None:
    service.next = [said("Hi."), said("Hi.")]
    keys = {"OPENAI_API_KEY": KEY}
    elsewhere = make_chat(ChatSettings("openai", "m", service.url), keys)
    own = make_chat(ChatSettings("openai", "m", service.url), {**keys, "HINDBRAIN_CHAT_KEY": "local-key"})
    assert elsewhere is not None and own is not None
    elsewhere.complete(ASK)
    own.complete(ASK)
    assert "authorization" not in service.seen[0].headers
    assert service.seen[1].headers["authorization"] == "Bearer local-key"


def test_ollama_needs_no_key_and_is_asked_on_this_machine(service: Service) -> None:
    service.next = [said("Hi.")]
    chat = make_chat(ChatSettings("ollama", "qwen3", service.url + "/api"), {})
    assert chat is not None
    chat.complete(ASK)
    assert service.seen[0].path == "/v1/chat/completions"
    assert make_chat(ChatSettings("ollama", "qwen3"), {}).name == "ollama/qwen3"  # type: ignore[union-attr]


def test_the_scripted_model_says_its_lines_and_is_down_after_the_last() -> None:
    chat = ScriptedChat(["one", ModelError("no")])
    assert chat.complete(ASK) == "one"
    with pytest.raises(ModelError):
        chat.complete(ASK)
    with pytest.raises(ModelDown):
        chat.complete(ASK)
    assert chat.asked[0] == tuple(ASK)
