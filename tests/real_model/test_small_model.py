"""What asks a model works with a real one. It knows little; so what counts is form, bounds and no loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.learn.lesson_runs import in_order, missed, worked

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Cancelled
from hindbrain.context.flush.flusher import Flusher
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey
from hindbrain.learn.lessons.finding import find_lessons
from hindbrain.learn.lessons.phrasing import phrase
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatModel, ChatRequest, ToolSpec, Watch
from hindbrain.models.schema_steps import with_tools
from hindbrain.models.structured import ask_for, problems
from workbench import Vault

pytestmark = pytest.mark.model

FRANCE = ChatRequest(
    (
        ChatMessage("system", "Answer the question in one short sentence."),
        ChatMessage("user", "What is the capital of France?"),
    ),
    max_tokens=40,
)
PLACE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "country": {"type": "string", "maxLength": 40},
        "sure": {"type": "boolean"},
    },
    "required": ["city", "country", "sure"],
    "additionalProperties": False,
}
TEXTS = (
    "I live in Utrecht in the Netherlands.",
    "Ada moved to Paris, France.",
    "Bob is from Lima, Peru.",
    "We met in Rome.",
    "Nobody knows where it is.",
)
TALK = (
    Message("user", "I prefer pytest over unittest."),
    Message("assistant", "Noted."),
    Message("user", "I live in Utrecht. We decided to use Go instead of Java."),
    Message("assistant", "Go it is."),
)


class Brief:
    """The model, cut short: when it repeats itself it does so to the last token that it is given."""

    calls_tools = False

    def __init__(self, chat: ChatModel) -> None:
        self.name = chat.name
        self._chat = chat
        self.answers: list[ChatAnswer] = []

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        self.answers.append(self._chat.answer(request._replace(max_tokens=300), watch))
        return self.answers[-1]


def test_it_answers(real_chat: ChatModel) -> None:
    answer = real_chat.answer(FRANCE)
    assert "Paris" in answer.text and answer.stop == "end"
    assert 0 < answer.usage.made <= 40 and answer.usage.sent > 10


def test_it_answers_piece_by_piece_and_can_be_cut_off(real_chat: ChatModel) -> None:
    heard: list[str] = []
    answer = real_chat.answer(FRANCE, Watch(heard.append))
    assert len(heard) > 2 and "".join(heard) == answer.text
    heard.clear()
    with pytest.raises(Cancelled):
        real_chat.answer(FRANCE, Watch(heard.append, lambda: len(heard) >= 2))
    assert len(heard) == 2


@pytest.mark.parametrize("text", TEXTS)
def test_structured_answers_follow_their_schema(real_chat: ChatModel, text: str) -> None:
    asked = [
        ChatMessage("system", "Answer with the place that the text names, as JSON."),
        ChatMessage("user", text),
    ]
    value = ask_for(real_chat, asked, PLACE, max_tokens=120)
    assert not list(problems(value, PLACE))


def test_led_by_steps_it_calls_a_tool_and_comes_to_an_end(real_chat: ChatModel) -> None:
    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = (ToolSpec("read_file", "Read a file of the workspace.", path),)
    said = [ChatMessage("system", "You help Ada."), ChatMessage("user", "Read the file notes.txt")]
    called = []
    for _ in range(6):
        answer = with_tools(real_chat).answer(ChatRequest(tuple(said), tools, max_tokens=120))
        said.append(ChatMessage("assistant", answer.text, calls=answer.calls))
        if not answer.calls:
            break
        (call,) = answer.calls
        called.append((call.name, dict(call.arguments)))
        said.append(ChatMessage("tool", "Buy milk and bread.", call=call.id, tool=call.name))
    assert called[0] == ("read_file", {"path": "notes.txt"})
    assert said[-1].text and not said[-1].calls


def test_a_flush_with_it_loses_nothing_that_the_rules_find(
    real_chat: ChatModel, vault: Vault, make_app: Callable[..., App], clock: FakeClock
) -> None:
    memory = make_app(vault.root).memory
    chat = Brief(real_chat)
    flushed = Flusher(memory, lambda: chat, clock).flush(TALK, SessionKey("own", "one"))
    assert flushed.durable and len(chat.answers) == 1
    assert flushed.notices or chat.answers[0].stop == "end"  # an answer that was cut is told of
    kept = {item.text for item in memory.book.items()}
    assert {
        "User lives in Utrecht", "User prefers pytest over unittest", "We decided to use Go instead of Java",
    } <= kept  # fmt: skip
    said = " ".join(message.text for message in TALK).lower()
    for text in kept:  # what it adds was said
        assert all(word in said for word in text.lower().split() if word not in ("user", "lives", "prefers"))


def test_a_lesson_gets_its_words_or_keeps_the_rule_s(real_chat: ChatModel) -> None:
    failed, went_well = missed(0, 2, 4), worked(1, 3, 5)
    (lesson,) = find_lessons(in_order(failed, went_well), None)
    sentence = phrase(lesson, failed, went_well, real_chat)
    assert len(sentence) <= 300 and "\n" not in sentence
