"""Chat models of every service: what comes back, what is shown meanwhile, and what goes wrong."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from chat_recordings import ALL, CLOCK, WEATHER, Recordings
from chat_service import ChatService, Played, plain, serve_chat, stream
from hypothesis import given
from hypothesis import strategies as st
from loopback_service import FakeTime

from hindbrain.base.errors import Cancelled, ConfigError, ModelDown, ModelError
from hindbrain.models.chat import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatSettings,
    ToolSpec,
    Usage,
    Watch,
    make_chat,
    priced,
)
from hindbrain.models.chat_remote import RemoteChat
from hindbrain.models.chat_services import SERVICES
from hindbrain.models.http import HttpClient

KEY = "sk-very-secret-0123456789"
ASK = ChatRequest((ChatMessage("system", "Be short."), ChatMessage("user", "Hello?")))
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (ToolSpec("get_weather", "The weather of a city.", CITY),)
Made = Callable[..., ChatModel]


@pytest.fixture
def service() -> Iterator[ChatService]:
    yield from serve_chat()


@pytest.fixture(params=ALL, ids=lambda recorded: recorded.provider)
def recorded(request: pytest.FixtureRequest) -> Recordings:
    return request.param


@pytest.fixture
def make(service: ChatService, fake_time: FakeTime, recorded: Recordings) -> Made:
    def made(timeout_s: float = 5.0, retries: int = 1, keys: dict[str, str] | None = None) -> ChatModel:
        settings = ChatSettings(recorded.provider, recorded.model, service.url, timeout_s, retries)
        chat = make_chat(settings, keys or {}, timing=fake_time.timing())
        assert chat is not None
        return chat

    return made


@pytest.fixture
def chat(make: Made) -> ChatModel:
    return make()


class Onlooker:
    """Writes down what it hears, and wants no more after so many pieces."""

    def __init__(self, enough: int = 1_000) -> None:
        self.heard: list[str] = []
        self.threads: set[int] = set()
        self.watch = Watch(self._hear, lambda: len(self.heard) >= enough)

    def _hear(self, text: str) -> None:
        self.heard.append(text)
        self.threads.add(threading.get_ident())


def test_an_answer_comes_in_pieces_and_whole(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says("Good ", "mor", "ning.")]
    onlooker = Onlooker()
    answer = chat.answer(ASK, onlooker.watch)
    assert onlooker.heard == ["Good ", "mor", "ning."]
    assert onlooker.threads == {threading.get_ident()}
    assert (answer.text, answer.calls, answer.stop) == ("Good morning.", (), "end")
    assert service.asked[0].path == recorded.path


def test_what_an_answer_took_is_told_with_what_was_in_the_cache(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says("Hi.")]
    assert chat.answer(ASK).usage == Usage(*recorded.usage)


def test_a_server_that_does_not_stream_is_understood(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says_plainly("Hi.")]
    onlooker = Onlooker()
    answer = chat.answer(ASK, onlooker.watch)
    assert (answer.text, answer.stop, answer.usage) == ("Hi.", "end", Usage(*recorded.usage))
    assert onlooker.heard == ["Hi."]


def test_a_stream_under_another_name_is_understood(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    played = recorded.says("Hi.")
    service.next = [Played(played.pieces, headers={"Content-Type": "text/plain"})]
    assert chat.answer(ASK).text == "Hi."


def test_a_stream_cut_anywhere_by_the_network_is_the_same_stream(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    body = b"".join(recorded.says("Grüße, ", "你好.", calls=[WEATHER], reason=recorded.called).pieces)
    for length in (1, 7, 64):
        pieces = [body[at : at + length] for at in range(0, len(body), length)]
        service.next = [Played(pieces)]
        answer = chat.answer(ASK)
        assert answer.text == "Grüße, 你好."
        assert [(call.name, call.arguments) for call in answer.calls] == [WEATHER]


def test_two_calls_at_once_come_with_their_arguments_and_own_ids(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says("Let me look.", calls=[WEATHER, CLOCK], reason=recorded.called)]
    answer = chat.answer(ASK._replace(tools=TOOLS))
    assert [(call.name, call.arguments, call.unreadable) for call in answer.calls] == [
        (*WEATHER, ""),
        (*CLOCK, ""),
    ]
    assert len({call.id for call in answer.calls}) == 2
    assert answer.stop == "calls"
    assert answer.text == "Let me look."


def test_an_id_that_the_conversation_has_already_is_given_anew(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says(calls=[WEATHER], reason=recorded.called) for _ in range(2)]
    first = chat.answer(ASK)
    before = (*ASK.messages, ChatMessage("assistant", calls=first.calls))
    second = chat.answer(ChatRequest((*before, ChatMessage("tool", "sun", call=first.calls[0].id))))
    assert first.calls[0].id != second.calls[0].id


@pytest.mark.parametrize(("word", "stop"), [("length", "length"), ("refused", "refused"), ("end", "end")])
def test_reasons_to_stop_have_one_name(
    chat: ChatModel, service: ChatService, recorded: Recordings, word: str, stop: str
) -> None:
    service.next = [recorded.says("I", reason=getattr(recorded, word))]
    answer = chat.answer(ASK)
    assert (answer.stop, answer.text) == (stop, "I")


def test_a_reason_that_is_not_known_ends_an_answer_and_is_an_error_without_one(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says("Hi.", reason="brand_new"), recorded.says(reason="brand_new")]
    assert chat.answer(ASK).stop == "end"
    with pytest.raises(ModelError) as raised:
        chat.answer(ASK)
    assert raised.value.code == "model"


def test_a_cut_call_is_no_call_to_make(chat: ChatModel, service: ChatService, recorded: Recordings) -> None:
    service.next = [recorded.says(calls=[WEATHER], reason=recorded.length)]
    assert chat.answer(ASK).stop == "length"


def test_thoughts_that_took_all_tokens_get_room_once_and_from_then_on(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says(reason=recorded.length), recorded.says("42"), recorded.says("43")]
    assert chat.answer(ASK).text == "42"
    assert chat.answer(ASK).text == "43"
    allowed = [_allowed(asked.payload) for asked in service.asked]
    assert allowed[0] == 1024 < allowed[1] == allowed[2]


def test_room_that_is_refused_is_not_asked_for_again(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    cut = recorded.says(reason=recorded.length)
    service.next = [cut, plain({"error": "too many"}, 400), cut, cut]
    assert chat.answer(ASK).stop == "length"
    assert chat.answer(ASK).stop == "length"
    assert [_allowed(asked.payload) for asked in service.asked[2:]] == [1024, 1024]


def _allowed(payload: dict[str, object]) -> int:
    inner = payload.get("generationConfig", payload)
    assert isinstance(inner, dict)
    return int(inner.get("maxOutputTokens") or inner.get("max_tokens") or 0)


# Faults


def test_a_busy_service_is_asked_again_after_the_time_it_names(
    chat: ChatModel, service: ChatService, recorded: Recordings, fake_time: FakeTime
) -> None:
    service.next = [plain({"error": {"message": "slow down"}}, 429, Retry_After="7"), recorded.says("Hi.")]
    assert chat.answer(ASK).text == "Hi."
    assert sum(fake_time.waits) == 7.0


def test_an_error_that_passes_is_tried_again(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    service.next = [plain({"error": {"message": "oops"}}, 500), recorded.says("Hi.")]
    assert chat.answer(ASK).text == "Hi."


@pytest.mark.promise("P13")
def test_an_error_that_stays_is_a_model_that_is_down(make: Made, service: ChatService) -> None:
    service.next = [plain({"error": {"message": "oops"}}, 500) for _ in range(3)]
    with pytest.raises(ModelDown) as raised:
        make(retries=2).answer(ASK)
    assert raised.value.status == 500
    assert len(service.asked) == 3


@pytest.mark.promise("P13")
def test_nobody_listening_is_down(closed_url: str, fake_time: FakeTime, recorded: Recordings) -> None:
    settings = ChatSettings(recorded.provider, recorded.model, closed_url, 1.0)
    chat = make_chat(settings, {}, timing=fake_time.timing())
    assert chat is not None
    with pytest.raises(ModelDown):
        chat.answer(ASK)


@pytest.mark.parametrize("end", ["whole", "cut"])
def test_a_stream_that_ends_early_is_asked_for_again_while_nothing_was_said(
    chat: ChatModel, service: ChatService, recorded: Recordings, end: str
) -> None:
    begun = recorded.says("Hi.").pieces[:1]
    service.next = [Played(begun, end=end), recorded.says("Hi.")]  # type: ignore[arg-type]
    assert chat.answer(ASK).text == "Hi."
    assert len(service.asked) == 2


@pytest.mark.parametrize("end", ["whole", "cut"])
def test_what_was_shown_is_not_said_twice_by_asking_again(
    chat: ChatModel, service: ChatService, recorded: Recordings, end: str
) -> None:
    pieces = list(recorded.says("Half an ", "answer").pieces)
    first = next(at for at, piece in enumerate(pieces) if b"Half an " in piece)
    service.next = [Played(pieces[: first + 1], end=end), recorded.says("Other.")]  # type: ignore[arg-type]
    onlooker = Onlooker()
    with pytest.raises(ModelDown):
        chat.answer(ASK, onlooker.watch)
    assert onlooker.heard == ["Half an "]
    assert len(service.asked) == 1


def test_a_connection_lost_after_the_end_costs_nothing(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    pieces = recorded.says("Hi.").pieces
    last = -2 if recorded.provider == "openai" else len(pieces)  # before the figures and the last word
    service.next = [Played(pieces[:last], end="cut")]
    assert chat.answer(ASK).text == "Hi."


@pytest.mark.promise("P13")
@pytest.mark.parametrize("end", ["silent", "mute"])
def test_silence_is_a_model_that_is_down_and_the_time_is_named(
    make: Made, service: ChatService, recorded: Recordings, end: str
) -> None:
    service.next = [Played(recorded.says("x").pieces[:1], end=end)]  # type: ignore[arg-type]
    with pytest.raises(ModelDown, match=r"0\.2 s"):
        make(timeout_s=0.2, retries=0).answer(ASK)
    assert service.hung_up.wait(5)


@pytest.mark.parametrize(
    "body", [b'data: {"choi\n\n', b"data: \xff\n\n", b"data: " + b"[" * 100_000 + b"\n\n"]
)
def test_an_event_that_is_no_json_is_an_error(make: Made, service: ChatService, body: bytes) -> None:
    service.next = [Played([body])]
    with pytest.raises(ModelError) as raised:
        make().answer(ASK)
    assert raised.value.code == "model"


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"<html>hello</html>",
        {},
        [],
        7,
        {"choices": 7},
        {"choices": []},
        {"choices": [{"delta": None}]},
        {"choices": [{"message": {"content": {"text": "Hi."}}}]},
        {"choices": [{"message": {"content": None}}]},
        {"type": "message"},
        {"candidates": [7]},
    ],
)
def test_an_answer_of_another_shape_is_an_error(chat: ChatModel, service: ChatService, told: object) -> None:
    service.next = [plain(told)]
    with pytest.raises(ModelError) as raised:
        chat.answer(ASK)
    assert raised.value.code == "model"
    assert len(service.asked) == 1


def test_more_than_any_answer_needs_is_not_read(
    chat: ChatModel, service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.models.stream._MAX_ANSWER_BYTES", 1000)
    service.next = [Played([b": a comment that goes on\n\n" * 10] * 10, end="silent")]
    with pytest.raises(ModelError):
        chat.answer(ASK)
    assert service.hung_up.wait(5)


@pytest.mark.promise("P25")
def test_a_redirect_is_not_followed(chat: ChatModel, service: ChatService, recorded: Recordings) -> None:
    service.next = [plain({}, 307, Location=service.url + "/elsewhere"), recorded.says("Hi.")]
    with pytest.raises(ModelError):
        chat.answer(ASK)
    assert len(service.asked) == 1


def test_an_error_in_the_middle_of_a_stream_is_told_apart(
    chat: ChatModel, service: ChatService, recorded: Recordings
) -> None:
    passing = {"type": "error", "error": {"type": "overloaded_error", "code": 503, "message": "Overloaded"}}
    final = {"type": "error", "error": {"type": "invalid_request_error", "code": 403, "message": "No."}}
    service.next = [stream(passing), recorded.says("Hi."), stream(final)]
    assert chat.answer(ASK).text == "Hi."
    with pytest.raises(ModelError) as raised:
        chat.answer(ASK)
    assert (raised.value.code, raised.value.status) == ("model", 403)


# Cancelling


@pytest.mark.parametrize("end", ["silent", "mute"])
def test_an_answer_that_is_awaited_can_be_cancelled_and_the_connection_is_closed(
    make: Made, service: ChatService, end: str
) -> None:
    service.next = [Played([], end=end)]  # type: ignore[arg-type]
    with pytest.raises(Cancelled):
        make(timeout_s=60.0).answer(ASK, Watch(cancelled=lambda: bool(service.asked)))
    assert service.hung_up.wait(5)
    assert len(service.asked) == 1


def test_an_answer_can_be_cancelled_in_the_middle(
    make: Made, service: ChatService, recorded: Recordings
) -> None:
    played = recorded.says("one ", "two ", "three")
    service.next = [Played([b"".join(played.pieces[:-1])], end="silent")]
    onlooker = Onlooker(enough=1)
    with pytest.raises(Cancelled):
        make(timeout_s=60.0).answer(ASK, onlooker.watch)
    assert onlooker.heard == ["one "]
    assert service.hung_up.wait(5)


def test_waiting_for_a_busy_service_can_be_cancelled(
    chat: ChatModel, service: ChatService, fake_time: FakeTime
) -> None:
    service.next = [plain({}, 429, Retry_After="20")]
    with pytest.raises(Cancelled):
        chat.answer(ASK, Watch(cancelled=lambda: sum(fake_time.waits) >= 3))
    assert sum(fake_time.waits) == 3
    assert len(service.asked) == 1


# Whatever comes

_SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
_ODD = _SIMPLE | st.lists(_SIMPLE, max_size=2) | st.dictionaries(st.text(max_size=3), _SIMPLE, max_size=2)


@pytest.mark.parametrize("recorded", ALL, ids=lambda recorded: recorded.provider)
@given(place=st.integers(0, 10_000), odd=_ODD, at_once=st.booleans())
def test_an_answer_with_anything_in_any_place_is_an_answer_or_a_model_s_error(
    recorded: Recordings, place: int, odd: object, at_once: bool
) -> None:
    pieces = recorded.says("Hi.", calls=[WEATHER, CLOCK], reason=recorded.called).pieces
    told = [json.loads(piece.partition(b"data: ")[2]) for piece in pieces if b"[DONE]" not in piece]
    places = list(_places(told))
    inside, key = places[place % len(places)]
    inside[key] = odd
    events = [json.dumps(one).encode() for one in told]
    body = json.dumps(told).encode() if at_once else b"".join(b"data: %b\n\n" % event for event in events)
    answering = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    settings = ChatSettings(recorded.provider, recorded.model, "http://127.0.0.1:9", max_retries=0)
    chat = RemoteChat(SERVICES[recorded.provider], settings, HttpClient(transport=answering))
    try:
        answer = chat.answer(ASK)
    except ModelError:
        return
    assert isinstance(answer.text, str)
    assert all(isinstance(call.arguments, dict) and call.id for call in answer.calls)
    assert math.isfinite(answer.usage.cost)


def _places(told: Any) -> Iterator[tuple[Any, Any]]:
    """Everywhere in JSON where a value stands."""
    keys = range(len(told)) if isinstance(told, list) else told if isinstance(told, dict) else ()
    for key in keys:
        yield told, key
        yield from _places(told[key])


# Keys and settings


def test_a_key_for_the_address_goes_there_in_the_service_s_own_header(
    make: Made, service: ChatService, recorded: Recordings
) -> None:
    service.next = [recorded.says("Hi."), recorded.says("Hi.")]
    make(keys={recorded.key_name: KEY}).answer(ASK)
    make(keys={recorded.key_name: KEY, "HINDBRAIN_CHAT_KEY": "local-key"}).answer(ASK)
    assert KEY not in str(service.asked)
    assert recorded.key_header not in service.asked[0].headers
    assert service.asked[1].headers[recorded.key_header].removeprefix("Bearer ") == "local-key"


@pytest.mark.promise("P21")
def test_a_service_that_echoes_the_key_does_not_put_it_into_an_error(
    make: Made, service: ChatService
) -> None:
    echo = {"type": "error", "error": {"message": f"bad key {KEY}", "type": "authentication_error"}}
    service.next = [plain(echo, 401), stream(echo), plain(echo, 500), plain(echo, 500)]
    chat = make(keys={"HINDBRAIN_CHAT_KEY": KEY})
    for _ in range(3):
        with pytest.raises(ModelError) as raised:
            chat.answer(ASK)
        assert KEY not in f"{raised.value} {raised.value.said}"


def test_without_a_provider_there_is_no_model_whatever_keys_there_are() -> None:
    assert make_chat(ChatSettings(model="gpt"), {"OPENAI_API_KEY": KEY, "HINDBRAIN_CHAT_KEY": KEY}) is None


@pytest.mark.parametrize(
    "settings",
    [
        ChatSettings("nobody", "m"),
        ChatSettings("openai", ""),
        ChatSettings("openai", "m"),  # its own address, and no key
        ChatSettings("anthropic", "m"),
        ChatSettings("gemini", "m"),
        ChatSettings("openai", "m", "https://user:pass@example.org"),
        ChatSettings("ollama", "m", timeout_s=0),
    ],
)
def test_settings_that_can_t_work_are_refused_before_anything_is_sent(settings: ChatSettings) -> None:
    with pytest.raises(ConfigError):
        make_chat(settings, {})


def test_either_name_of_gemini_s_key_is_found() -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        assert make_chat(ChatSettings("gemini", "gemini-3-flash"), {name: KEY}) is not None


def test_what_a_service_does_not_price_is_priced_by_the_owner_s_table() -> None:
    usage = Usage(sent=2_000_000, made=500_000)
    assert priced(usage, 0.15, 0.6).cost == pytest.approx(0.6)
    assert priced(usage._replace(cost=0.02), 0.15, 0.6).cost == 0.02
