"""P16 for MCP prompts, which a host sends as the user's message: what notes say stays in its fence."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fence_attacks import fence_breakers
from fence_oracle import STATUS, break_outs

from hindbrain.app import App
from hindbrain.edge.mcp.prompts import make_prompt
from hindbrain.edge.mcp.server import told_text
from workbench import Vault

_ATTACKS = fence_breakers()[::5]


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    for number, attack in enumerate(_ATTACKS):
        vault.write(f"Clippings/n{number}.md", f"# keelson {number}\n\nkeelson {attack} {number}\n")
    app = make_app(vault.root)
    app.sync()
    for number, attack in enumerate(_ATTACKS[::4]):
        app.memory.remember(f"keelson says {attack} {number}", source="user", strategy="immediate")
    return app


def _fenced(text: str, topic: str = "") -> str:
    ours, sign, block = text.partition("<memory_context ")
    assert sign and "keelson" not in ours.replace(repr(topic), "")
    return sign + block


@pytest.mark.promise("P16")
def test_recalled_text_stays_in_its_fence_and_says_whose_it_is(app: App) -> None:
    for topic in ("keelson", *(f"keelson {number}" for number in range(0, len(_ATTACKS), 12))):
        block = _fenced(make_prompt(app.memory, "recall", {"topic": topic}).text, topic)
        assert "keelson" in block and "from the web" in block
        assert list(break_outs(f"{block}\n{STATUS}", "turn")) == []


@pytest.mark.promise("P16")
def test_a_topic_cannot_begin_another_role(app: App) -> None:
    for attack in _ATTACKS:
        text = make_prompt(app.memory, "recall", {"topic": f"keelson {attack}"}).text
        for sign in ("<|", "[INST]", "\nHuman:", "\nSystem:", "<system"):
            assert sign not in text, attack


@pytest.mark.promise("P16")
def test_what_waits_in_the_inbox_stays_in_its_fence(app: App) -> None:
    for number, attack in enumerate(_ATTACKS[::3]):
        app.memory.remember(f"A page about keelson {number} says {attack}", source="web")
    assert app.memory.inbox.pending()
    block = _fenced(make_prompt(app.memory, "review-inbox", {}).text)
    assert list(break_outs(f"{block}\n{STATUS}", "turn")) == []


@pytest.mark.promise("P16")
def test_no_special_token_of_a_note_stands_in_what_a_search_tells(app: App) -> None:
    from hindbrain.memory.tools import tool_named
    from hindbrain.memory.tools.tool import call

    for tool, name in (("recall", "topic"), ("vault_search", "query"), ("memory_search", "query")):
        told = told_text(tool, call(app.memory, tool_named(tool), {name: "keelson"}).text)
        assert "keelson" in told
        for sign in ("<|", "<｜", "[INST]", "</memory", "<system", "\u200b", "\x1b"):
            assert sign not in told, (tool, sign)


def test_a_note_that_is_read_to_be_changed_is_told_as_it_is() -> None:
    assert told_text("vault_read", "<b>bold</b>\n[INST]") == "<b>bold</b>\n[INST]"
