"""Everything but embedding and phrasing works with every provider down, slow or wrong (P13).

The services are real HTTP servers on the loopback that misbehave: for embeddings and for chat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faulty_provider import FAULTS, HANGS, REFUSES, Faulty
from hindbrain.app import App
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey
from hindbrain.memory.tools import TOOLS
from hindbrain.memory.tools.tool import call
from hindbrain.models.chat import ChatSettings, make_chat
from workbench import Vault


@pytest.fixture(params=[*FAULTS, HANGS, REFUSES])
def service(request: pytest.FixtureRequest) -> Iterator[Faulty]:
    faulty = Faulty(request.param)
    yield faulty
    faulty.close()


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App], service: Faulty) -> Iterator[App]:
    vault.write("Garden.md", "# Garden\n\nTomatoes get water every second morning.\n")
    app = make_app(
        vault.root,
        warm=True,
        embedding_provider="openai",
        embedding_base_url=service.url,
        embedding_model="test",
        embedding_max_retries="0",
        embedding_timeout_s="0.3",
    )
    chat = ChatSettings("openai", "test", service.url, timeout_s=0.3, max_retries=0)
    vars(app)["chat"] = make_chat(chat, {})
    # Words come first, and whatever the embedder does, they are there.
    report = app.sync()
    assert report.indexed == 1
    yield app
    app.close()


@pytest.mark.promise("P13")
def test_every_tool_answers(app: App) -> None:
    answers = _use_every_tool(app)
    assert set(answers) == {tool.name for tool in TOOLS}
    assert "every second morning" in answers["vault_search"]
    assert "every second morning" in answers["recall"]
    assert "blue" in answers["memory_search"]


@pytest.mark.promise("P13")
def test_a_prompt_gets_its_notes_by_words(app: App) -> None:
    turn = app.context.turn(SessionKey("claude-code", "s1"), "how often do the tomatoes get water?")
    assert "every second morning" in turn.text


@pytest.mark.promise("P13")
def test_what_a_conversation_decided_is_kept_by_rules(app: App) -> None:
    from hindbrain.context.flush.flusher import Flusher

    flusher = Flusher(app.memory, lambda: app.chat, app.clock, daily=False)
    said = [
        Message("user", "Remember that the staging server is called heron."),
        Message("assistant", "Noted."),
    ]
    flushed = flusher.flush(said, SessionKey("claude-code", "s1"))
    app.memory.settle(idle=True)
    kept = "\n".join(file.read_text(encoding="utf-8") for file in Path(app.root).rglob("*.md"))
    assert "heron" in kept
    assert flushed.notices  # that the model could not be used is said


@pytest.mark.promise("P28")
def test_a_service_that_hangs_is_waited_for_once(vault: Vault, make_app: Callable[..., App]) -> None:
    service = Faulty(HANGS)
    try:
        vault.write("Garden.md", "# Garden\n\nTomatoes get water every second morning.\n")
        app = make_app(
            vault.root, warm=True, embedding_provider="openai", embedding_base_url=service.url,
            embedding_model="test", embedding_max_retries="0", embedding_timeout_s="0.3",
        )  # fmt: skip
        app.sync(vectors=False)
        before = service.asked
        for number in range(20):
            session = SessionKey("claude-code", f"s{number}")
            assert "every second morning" in app.context.turn(session, "do the tomatoes get water?").text
        assert service.asked - before <= 1
    finally:
        service.close()


def _use_every_tool(app: App) -> dict[str, str]:
    by_name = {tool.name: tool for tool in TOOLS}
    answers: dict[str, str] = {}

    def use(name: str, **arguments: object) -> str:
        answers[name] = call(app.memory, by_name[name], arguments).text
        return answers[name]

    use("remember", fact="The front door is painted blue", importance=0.9)
    use("memory_write", content="The shed key hangs behind the clock", importance=0.9)
    items = {item.text: item.id for item in app.memory.book.items()}
    use("memory_update", memory_id=items["The shed key hangs behind the clock"], importance=0.95)
    use("recall", topic="tomatoes water")
    use("vault_search", query="tomatoes water")
    use("memory_search", query="front door blue")
    use("vault_write", path="Plan.md", content="# Plan\n\nDig.\n")
    use("vault_append", path="Plan.md", content="Sow.")
    use("vault_read", path="Plan.md")
    use("vault_list")
    use("memory_read", file_path="Garden.md")
    use("memory_get", path="Garden.md")
    use("task_create", title="Buy soil")
    use("task_update", title="Buy soil", status="done")
    use("task_list")
    use("memory_forget", memory_id=items["The front door is painted blue"])
    use("memory_status")
    return answers
