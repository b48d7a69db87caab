"""A whole flush: from messages to memories, the inbox, the session's note and the line of the day."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Busy, ConfigError, HindbrainError, ModelDown, WriteFailed
from hindbrain.context.flush.flusher import Flushed, Flusher
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey
from hindbrain.memory.service import Memory
from hindbrain.models.chat import ChatModel
from hindbrain.models.chat_fake import ScriptedChat
from workbench import Vault

SESSION = SessionKey("claude-code", "s-1")
TALK = [
    Message("user", "I prefer pytest over unittest. We decided to use Go instead of Java."),
    Message("assistant", "Noted."),
    Message("user", "In this repo we always use fetch. I live in Utrecht, by the way."),
]

Flush = Callable[..., Flushed]


@pytest.fixture
def memory(vault: Vault, make_app: Callable[..., App]) -> Memory:
    return make_app(vault.root).memory


@pytest.fixture
def flush(memory: Memory, clock: FakeClock) -> Flush:
    def flush(
        messages: Sequence[Message] = TALK,
        *,
        chat: ChatModel | None = None,
        daily: bool = False,
        session: SessionKey = SESSION,
        project: str = "",
    ) -> Flushed:
        flusher = Flusher(memory, lambda: chat, clock, daily=daily)
        return flusher.flush(messages, session, project=project)

    return flush


def texts(memory: Memory) -> list[str]:
    return sorted(item.text for item in memory.book.items())


def waiting(memory: Memory) -> list[str]:
    return [proposal.text for proposal in memory.inbox.pending()]


SURE = ["User lives in Utrecht", "User prefers pytest over unittest", "We decided to use Go instead of Java"]


def test_sure_finds_are_stored_and_doubtful_ones_wait(memory: Memory, flush: Flush) -> None:
    flushed = flush()
    assert flushed.durable and flushed.by == "rules" and flushed.notices == ()
    assert texts(memory) == SURE
    assert [held.text for held in flushed.held] == waiting(memory) == ["In this repo we always use fetch"]


def test_what_was_heard_unattended_is_the_agent_s_word(memory: Memory, flush: Flush) -> None:
    flush()
    assert {item.source for item in memory.book.items()} == {"agent"}
    assert {item.tags for item in memory.book.items()} == {("agent/memory", "auto-generated")}
    assert {proposal.source for proposal in memory.inbox.pending()} == {"agent"}


def test_flushing_the_same_messages_again_stores_nothing_twice(
    vault: Vault, memory: Memory, flush: Flush
) -> None:
    flush(daily=True)
    before = {path: path.read_bytes() for path in vault.root.rglob("*.md")}
    again = flush(daily=True)
    assert {path: path.read_bytes() for path in vault.root.rglob("*.md")} == before
    assert again.durable and {answer.action for answer in again.stored} == {"merge"}


def test_a_change_of_mind_told_twice_ends_as_it_did(memory: Memory, flush: Flush) -> None:
    talk = [Message("user", "I prefer tea."), Message("user", "I prefer coffee over tea now.")]
    flush(talk)
    once = texts(memory)
    flush(talk)
    assert texts(memory) == once


def test_a_link_in_a_stored_line_survives_the_next_flush(
    vault: Vault, make_app: Callable[..., App], clock: FakeClock
) -> None:
    vault.write("PostgreSQL.md", "# PostgreSQL\n")
    app = make_app(vault.root)
    app.sync()
    flusher = Flusher(app.memory, lambda: None, clock)
    for _ in range(2):
        flusher.flush([Message("user", "We decided to use PostgreSQL.")], SESSION)
    assert [item.text for item in app.memory.book.items()] == ["We decided to use [[PostgreSQL]]"]


def test_the_project_s_name_makes_a_find_sure(memory: Memory, flush: Flush) -> None:
    flush([Message("user", "In this repo we use Fetch for requests.")], project="harbor")
    assert texts(memory) == ["In the repo harbor we use Fetch for requests"]


def test_secrets_do_not_reach_memory_inbox_or_note(vault: Vault, memory: Memory, flush: Flush) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8" * 5
    flush([Message("user", f"Remember that the key for Harbor is {key}. We decided to use {key} for Go.")])
    everything = b"".join(path.read_bytes() for path in vault.root.rglob("*") if path.is_file())
    state = b"".join(path.read_bytes() for path in memory.state.rglob("*") if path.is_file())
    assert key.encode() not in everything + state


def test_what_its_owner_forgot_is_not_learned_again(memory: Memory, flush: Flush) -> None:
    flush()
    memory.forget(next(item.id for item in memory.book.items() if "Utrecht" in item.text))
    again = flush()
    assert "User lives in Utrecht" not in texts(memory)
    assert [dropped.text for dropped in again.dropped] == ["User lives in Utrecht"]


@pytest.mark.parametrize("decision", ["accept", "refuse"])
def test_what_a_person_decided_in_the_inbox_is_not_asked_again(
    memory: Memory, flush: Flush, decision: str
) -> None:
    flush()
    getattr(memory.inbox, decision)(memory.inbox.pending()[0].id)
    again = flush()
    assert waiting(memory) == [] and again.held == ()
    assert [dropped.text for dropped in again.dropped] == ["In this repo we always use fetch"]


# The note and the day


def test_a_decision_is_worth_a_note_and_a_line_of_the_day(vault: Vault, flush: Flush) -> None:
    flushed = flush(daily=True)
    assert "- We decided to use Go instead of Java" in (vault.root / flushed.note).read_text("utf-8")
    day = (vault.root / "Agent/Daily/2026-05-15.md").read_text("utf-8")
    assert day.count(f"[[{flushed.note.removesuffix('.md')}|") == 1


def test_a_single_fact_is_no_note_and_three_of_one_session_are(vault: Vault, flush: Flush) -> None:
    said = ["I live in Utrecht.", "I'm allergic to peanuts.", "My name is Priya Raman."]
    notes = [flush([Message("user", text)]).note for text in said]
    assert notes[:2] == ["", ""]
    text = (vault.root / notes[2]).read_text("utf-8")
    assert text.count("\n- ") == 3


def test_what_waits_for_a_person_is_not_in_the_note(vault: Vault, flush: Flush) -> None:
    assert "fetch" not in (vault.root / flush().note).read_text("utf-8")


def test_nothing_said_nothing_written(vault: Vault, memory: Memory, flush: Flush) -> None:
    assert flush([]) == Flushed()
    assert flush([Message("user", "Thanks, that works!")]) == Flushed()
    assert list(vault.root.rglob("*.md")) == []


# With a model


def answer(*items: dict[str, object]) -> str:
    return json.dumps({"memories": items})


def test_the_model_words_and_finds_more_and_takes_nothing_away(memory: Memory, flush: Flush) -> None:
    chat = ScriptedChat([
        answer({
            "category": "preference",
            "content": "User prefers pytest over unittest",
            "importance": 0.9,
            "evidence": "I prefer pytest over unittest",
        })
    ])  # fmt: skip
    flushed = flush(chat=chat)
    assert flushed.by == "model" and flushed.notices == ()
    assert texts(memory) == SURE
    assert waiting(memory) == []  # what is doubtful was the model's to decide
    assert [dropped.text for dropped in flushed.dropped] == ["In this repo we always use fetch"]


def test_no_reply_adds_nothing(memory: Memory, flush: Flush) -> None:
    flushed = flush(chat=ScriptedChat(["NO_REPLY"]))
    assert flushed.by == "model" and flushed.notices == ()
    assert texts(memory) == SURE


def test_a_model_that_fails_costs_a_notice(memory: Memory, flush: Flush) -> None:
    flushed = flush(chat=ScriptedChat([]))
    assert flushed.by == "rules" and len(flushed.notices) == 1 and flushed.durable
    assert texts(memory) == SURE and waiting(memory) == ["In this repo we always use fetch"]


def test_a_model_that_was_down_is_left_alone_for_a_while(memory: Memory, clock: FakeClock) -> None:
    chat = ScriptedChat([ModelDown("away"), "NO_REPLY"])
    flusher = Flusher(memory, lambda: chat, clock)
    by = []
    for wait_s in (0, 60, 300):
        clock.advance(wait_s)
        by.append(flusher.flush(TALK, SESSION).by)
    assert by == ["rules", "rules", "model"] and len(chat.asked) == 2


def test_settings_that_name_no_usable_model_cost_a_notice(memory: Memory, clock: FakeClock) -> None:
    def broken() -> ChatModel | None:
        raise ConfigError("no model is named; set chat.model")

    flushed = Flusher(memory, broken, clock).flush(TALK, SESSION)
    assert texts(memory) == SURE and len(flushed.notices) == 1


def test_a_model_is_not_asked_about_nothing(flush: Flush) -> None:
    chat = ScriptedChat([])
    flush([Message("tool", "I prefer tabs.", tool="x"), Message("assistant", "Done.")], chat=chat)
    assert chat.asked == []


# Failures on the way


@pytest.mark.parametrize("error", [Busy("locked"), WriteFailed("full"), OSError(28, "No space left")])
def test_a_memory_that_can_t_be_written_is_left_to_do_and_the_others_are_stored(
    memory: Memory, flush: Flush, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    remember = memory.remember

    def failing(text: str, **more: object) -> object:
        if "Utrecht" in text:
            raise error
        return remember(text, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(memory, "remember", failing)
    flushed = flush()
    assert not flushed.durable and flushed.error is error
    assert [(one.what, one.text) for one in flushed.undone] == [("memory", "User lives in Utrecht")]
    assert flushed.notices
    assert texts(memory) == SURE[1:]
    monkeypatch.undo()
    assert flush().durable
    assert texts(memory) == SURE


@pytest.mark.parametrize("part", ["note", "daily", "inbox"])
def test_a_later_step_that_fails_leaves_the_memories_and_is_done_the_next_time(
    vault: Vault, memory: Memory, flush: Flush, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def failing(*_: object, **__: object) -> object:
        raise WriteFailed("the disk is full")

    if part == "note":
        monkeypatch.setattr("hindbrain.context.flush.flusher.write_session_note", failing)
    else:
        owner = memory.daily if part == "daily" else memory.inbox
        monkeypatch.setattr(owner, "add_line" if part == "daily" else "hold", failing)
    flushed = flush(daily=True)
    assert [one.what for one in flushed.undone] == [part]
    assert isinstance(flushed.error, HindbrainError) and flushed.error.code == "write_failed"
    assert texts(memory) == SURE
    monkeypatch.undo()
    again = flush(daily=True)
    assert again.durable and again.note and waiting(memory) == ["In this repo we always use fetch"]
    assert "[[Agent/Sessions/" in (vault.root / "Agent/Daily/2026-05-15.md").read_text("utf-8")


def test_memories_are_durable_while_another_process_writes_notes(
    memory: Memory, flush: Flush, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(**_: object) -> object:
        raise Busy("another process writes")

    monkeypatch.setattr(memory, "flush", busy)
    flushed = flush()
    assert flushed.durable
    assert sorted(one.text for one in memory.queue.pending()) == SURE
