"""The model's window in a run: what is sent fits, also into a smaller one, and what lasts is kept first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agent.run_bench import Bench, texts, tool

from hindbrain.agent.agent import Agent
from hindbrain.agent.progress import OURS
from hindbrain.agent.room import Talk
from hindbrain.agent.run import Limits, RunRequest, RunResult
from hindbrain.agent.safety.taint import Taint
from hindbrain.agent.tools.tool import Result
from hindbrain.agent.verify.check import parse_check
from hindbrain.app import App
from hindbrain.base.errors import ModelError, WriteFailed
from hindbrain.context.tokens import count_tokens
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatRequest, Watch
from hindbrain.models.chat_fake import ScriptedChat, calls
from hindbrain.models.chat_manner import too_long
from workbench import Vault

MakeApp = Callable[..., App]

SMALL = Limits(window=3_000)
SUMMED_UP = "The person asked about a long book; the river came to the mill."
CHATTER = [
    message
    for at in range(60)
    for message in (
        ChatMessage("user", f"And what about chapter {at} of that very long book of yours, in a few words?"),
        ChatMessage("assistant", f"Chapter {at} tells at great length how the river came to the mill. " * 3),
    )
]
SAID = (
    ChatMessage("user", "I prefer pytest over unittest. I live in Utrecht."),
    ChatMessage("assistant", "Good to know."),
    *CHATTER,
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class Narrow:
    """Speaks of the river, and refuses what is longer than its window, as llama.cpp does."""

    name = "narrow"
    calls_tools = True

    def __init__(self, window: int) -> None:
        self.window = window
        self.sent: list[int] = []
        self.asked: list[ChatRequest] = []

    def answer(self, request: ChatRequest, _: Watch = NOBODY) -> ChatAnswer:
        tokens = sum(count_tokens(message.text) for message in request.messages) + request.max_tokens
        tokens += sum(count_tokens(json.dumps(spec)) for spec in request.tools)
        if request.tools:  # else it is asked for a summary
            self.sent.append(tokens)
            self.asked.append(request)
        if tokens > self.window:
            said = f"request ({tokens} tokens) exceeds the available context size ({self.window} tokens)"
            raise ModelError(f"'127.0.0.1' answered HTTP 400: {said}", status=400, said=said)
        return ChatAnswer("It comes to the mill.")


# How services say that a request is too long


@pytest.mark.parametrize(
    "said",
    [
        '{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it",'
        '"type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        '{"error":{"message":"Your input exceeds the context window of this model.",'
        '"code":"context_length_exceeded"}}',
        "Input tokens exceed the configured limit of 272000 tokens. Please reduce the length of your input.",
        '{"type":"error","error":{"type":"invalid_request_error",'
        '"message":"prompt is too long: 208310 tokens > 200000 maximum"}}',
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000",
        "The input token count (314175) exceeds the maximum number of tokens allowed (131072).",
        "Requested tokens (2285) exceed context window of 2048",
        "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
        "Input is too long for requested model.",
    ],
)
def test_each_service_says_it_in_its_own_words(said: str) -> None:
    assert too_long(ModelError("refused", status=400, said=said))


@pytest.mark.parametrize(
    "said",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        "Invalid schema for response_format: context is required",
        "model 'x' not found, try pulling it first", "",
    ],
)  # fmt: skip
def test_another_refusal_is_not_taken_for_it(said: str) -> None:
    assert not too_long(ModelError("refused", status=400, said=said))


# A window that turns out to be smaller


def test_a_request_that_was_too_long_is_sent_again_in_half_the_window(bench: Bench) -> None:
    chat = bench.chat = Narrow(6_000)
    limits = Limits(window=32_000)
    result = bench.agent.run(RunRequest("go on", limits=limits, history=SAID * 4), bench.said.append)
    assert (result.end, result.answer, result.iterations) == ("complete", "It comes to the mill.", 1)
    assert chat.sent == sorted(chat.sent, reverse=True)
    narrowed = [said.data["window"] for said in bench.said if "window" in said.data]
    assert narrowed == [16_000, 8_000, 4_000]
    assert bench.kinds(result.run).count("IterationStarted") == 1


def test_a_window_of_no_use_ends_the_run_and_says_what_the_service_said(bench: Bench) -> None:
    chat = bench.chat = Narrow(10)
    result = bench.agent.run(RunRequest("go on", limits=Limits(window=8_000), history=SAID))
    assert result.end == "fail"
    assert "available context size" in result.reason
    assert len(chat.sent) == 3  # 8,000, 4,000, 2,000


def test_what_was_recalled_gives_way_to_the_command(vault: Vault, make_app: MakeApp, tmp_path: Path) -> None:
    for number in range(20):
        vault.write(
            f"River {number}.md", f"# River {number}\n\nThe river mill {number}. " + "It flows. " * 60
        )
    app = make_app(vault.root)
    app.sync()
    chat = Narrow(4_600)
    app.chat = chat
    result = app.agent.run(RunRequest("tell of the river mill", workspace=str(tmp_path)))
    assert result.recalled
    assert result.end == "complete"
    assert [len(texts(request, "system")) for request in (chat.asked[0], chat.asked[-1])] == [2, 1]


def test_an_answer_has_the_room_that_is_left(bench: Bench) -> None:
    chat = bench.chat = Narrow(3_000)
    assert bench.agent.run(RunRequest("go on", limits=SMALL, history=SAID)).end == "complete"
    assert len(chat.sent) == 1
    bench.script("Yes.")
    bench.agent.run(RunRequest("go on"))
    assert bench.asked[0].max_tokens == 8_192


def test_a_small_window_gets_a_small_memory(vault: Vault, make_app: MakeApp, tmp_path: Path) -> None:
    for number in range(20):
        vault.write(
            f"River {number}.md", f"# River {number}\n\nThe river mill {number}. " + "It flows. " * 60
        )
    app = make_app(vault.root)
    app.sync()
    recalled = []
    for limits in (Limits(), Limits(window=2_048)):
        chat = ScriptedChat(["It flows."])
        app.chat = chat
        request = RunRequest("tell of the river mill", limits=limits, workspace=str(tmp_path))
        assert app.agent.run(request).end == "complete"
        recalled.append(count_tokens(texts(chat.asked[0], "system")[1]))
    assert recalled[0] > 900 > 600 > recalled[1] > 100


# What lasts is kept before it is condensed


def _told(app: App, *, history: tuple[ChatMessage, ...] = SAID, limits: Limits = SMALL) -> RunResult:
    request = RunRequest("and the last one?", limits=limits, history=history, session="evening")
    return app.agent.run(request)


def _scripted(app: App, *answers: object) -> ScriptedChat:
    chat = ScriptedChat(answers)  # type: ignore[arg-type]
    app.chat = chat
    return chat


def _kept(app: App) -> set[str]:
    return {item.text for item in app.memory.book.items()}


def test_what_the_owner_said_long_ago_is_in_the_vault_when_it_is_condensed(
    vault: Vault, make_app: MakeApp
) -> None:
    app = make_app(vault.root)
    chat = _scripted(app, "NO_REPLY", SUMMED_UP, "It ends well.")
    result = _told(app)
    assert (result.end, result.answer) == ("complete", "It ends well.")
    assert {"User prefers pytest over unittest", "User lives in Utrecht"} <= _kept(app)
    assert any(
        "pytest over unittest" in path.read_text(encoding="utf-8") for path in vault.root.rglob("*.md")
    )
    assert not any("pytest over unittest" in text for text in texts(chat.asked[-1], "user"))
    assert any(SUMMED_UP in text for text in texts(chat.asked[-1], "system"))


def test_it_is_kept_once_for_all_commands_of_a_conversation(vault: Vault, make_app: MakeApp) -> None:
    app = make_app(vault.root)
    chat = _scripted(app, "NO_REPLY", SUMMED_UP, calls("vault_list"), "It ends well.", "As I said.")
    first = _told(app)
    assert first.end == "complete"
    assert _told(app, history=first.messages).answer == "As I said."
    assert len(chat.asked) == 5  # and it was summed up once


def test_half_a_window_later_it_is_kept_again(vault: Vault, make_app: MakeApp) -> None:
    app = make_app(vault.root)
    chat = _scripted(app, "NO_REPLY", SUMMED_UP, "It ends well.", "NO_REPLY", SUMMED_UP, "As I said.")
    later = (ChatMessage("user", "I work at Zebra Press."), *CHATTER)
    history = (*_told(app).messages, *later)
    assert "User works at Zebra Press" not in _kept(app)
    assert _told(app, history=(*history, ChatMessage("assistant", "So it is. " * 400))).ok
    assert "User works at Zebra Press" in _kept(app)
    assert chat.answers == []


def test_a_short_conversation_is_left_alone(vault: Vault, make_app: MakeApp) -> None:
    app = make_app(vault.root)
    chat = _scripted(app, "It ends well.")
    assert _told(app, history=SAID[:4]).ok
    assert len(chat.asked) == 1
    assert not _kept(app)


def test_without_memory_nothing_is_kept(vault: Vault, make_app: MakeApp) -> None:
    app = make_app(vault.root)
    chat = _scripted(app, SUMMED_UP, "It ends well.")
    assert app.agent.run(RunRequest("and then?", limits=SMALL, history=SAID, preset="")).ok
    assert len(chat.asked) == 2
    assert not _kept(app)


@pytest.mark.parametrize("error", [WriteFailed("the disk is full"), RuntimeError("a bug")])
def test_what_can_not_be_kept_does_not_change_the_run(bench: Bench, error: Exception) -> None:
    def fail(_: Talk) -> list[str]:
        raise error

    bench.keep = fail
    bench.script(*[calls("look", what=str(at)) for at in range(3)], "It ends well.")
    result = bench.agent.run(RunRequest("go on", limits=SMALL, history=SAID), bench.said.append)
    assert (result.end, result.answer) == ("complete", "It ends well.")
    assert len(bench.heard("note")) == 1


def test_a_long_run_without_a_conversation_has_nothing_to_keep(bench: Bench) -> None:
    talks: list[Talk] = []
    bench.keep = lambda talk: talks.append(talk) or []  # type: ignore[func-returns-value]
    bench.tools = (tool("read", handler=lambda args: Result(f"{args['what']}: " + "many words " * 300)),)
    bench.script(*[calls("read", what=str(at)) for at in range(8)], "Read.")
    assert bench.agent.run(RunRequest("read it all", limits=SMALL)).ok
    assert talks == []


def test_what_checks_found_does_not_pass_for_the_owners_word(bench: Bench) -> None:
    """A check quotes what a program prints, in a user's place."""
    (bench.workspace / "a.txt").write_text("x", encoding="utf-8")
    bench.script("Done.", "Done, really.", "Give up?", "I give up.", "x", "x")
    checks = (parse_check("text: a.txt: I live in Berlin"),)
    first = bench.agent.run(RunRequest("write it", checks))
    ours = [message for message in first.messages if message.role == "user" and message.tool]
    assert ours and all(message.tool == OURS for message in ours)
    assert any("I live in Berlin" in message.text for message in ours)
    assert Taint().after(ours).level == "tool"
    talks: list[Talk] = []
    bench.keep = lambda talk: talks.append(talk) or []  # type: ignore[func-returns-value]
    bench.script("Yes.")
    bench.agent.run(RunRequest("and now?", limits=SMALL, history=(*first.messages, *SAID)))
    (talk,) = talks
    assert not any("Berlin" in message.text for message in talk.messages)
    assert next(message.text for message in talk.messages if message.role == "user") == "write it"


def test_a_run_that_is_taken_up_again_has_its_window(bench: Bench) -> None:
    bench.script(calls("look", what="a"), calls("write", what="b"), "Done.")
    result = bench.agent.run(RunRequest("go on", limits=SMALL, history=SAID))
    assert result.end == "waiting"
    agent: Agent = bench.agent
    agent.answer(agent.waiting()[0].id, "allow")
    chat = bench.chat = Narrow(3_000)
    assert agent.resume(result.run).end == "complete"
    assert len(chat.sent) == 1
