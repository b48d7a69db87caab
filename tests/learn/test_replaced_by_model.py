"""What a chat model makes of related memories: an older one is struck for good reason only, never lost."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.learn.consolidating import consolidator, make_own

from hindbrain.app import App
from hindbrain.base.errors import ModelDown
from hindbrain.learn.consolidation.consolidator import Consolidated
from hindbrain.learn.consolidation.steps import Parts
from hindbrain.models.chat_fake import Scripted, ScriptedChat
from workbench import Vault

OLD = "Cycles to the office in Lund each working day"
NEW = "The Lund office was given up, and each working day is spent at home"
YES = json.dumps({"replaced": True, "quote": "Cycles to the office"})
NO = json.dumps({"replaced": False, "quote": ""})


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    make_own(vault.root)
    return make_app(vault.root, embedding_provider="none")


def related(app: App, *, old: str = "agent", new: str = "agent") -> tuple[str, str]:
    """Two memories that the rules leave side by side."""
    older = app.memory.remember(OLD, source=old, strategy="immediate")
    newer = app.memory.remember(NEW, source=new, strategy="immediate")
    assert newer.action == "related"
    return older.id, newer.id


def asked(app: App, *answers: Scripted) -> tuple[Consolidated, ScriptedChat]:
    chat = ScriptedChat(answers)
    return consolidator(app, Parts(chat=lambda: chat)).consolidate(), chat


def superseded(app: App) -> dict[str, str]:
    return {item.id: item.superseded for item in app.memory.book.items() if item.superseded}


@pytest.mark.promise("P12")
def test_what_the_model_finds_replaced_is_struck_through_and_linked(app: App) -> None:
    older, newer = related(app)
    done, chat = asked(app, YES)
    assert superseded(app) == {older: newer}
    assert (done.superseded, done.proof.holds, done.problems) == (1, True, ())
    sent = json.loads(chat.asked[0].messages[1].text)
    assert sent == {"older": OLD, "newer": NEW}


def test_a_pair_is_asked_about_once(app: App) -> None:
    related(app)
    asked(app, NO)
    done, chat = asked(app, YES)
    assert (chat.asked, done.superseded) == ([], 0)
    assert superseded(app) == {}


@pytest.mark.promise("P12")
@pytest.mark.parametrize(
    "answer",
    [
        NO, "", "yes", "[]", "null", '{"replaced": true}', YES[:-5],
        '{"replaced": "true", "quote": "Cycles"}',
        json.dumps({"replaced": True, "quote": "Drives to the office"}),
        json.dumps({"replaced": True, "quote": ""}),
        json.dumps({"replaced": True, "quote": "each working day"}),
        ModelDown("gone"), ValueError("a bug of the adapter"),
    ],
)  # fmt: skip
def test_whatever_else_a_model_does_both_memories_stay(app: App, answer: Scripted) -> None:
    related(app)
    asked(app, answer)
    assert superseded(app) == {}
    assert {item.text for item in app.memory.book.items()} == {OLD, NEW}


def test_a_model_that_was_down_is_asked_again(app: App) -> None:
    older, newer = related(app)
    done, _ = asked(app, ModelDown("gone"))
    assert done.problems
    asked(app, YES)
    assert superseded(app) == {older: newer}


@pytest.mark.promise("P18")
def test_the_owner_s_word_is_not_struck_for_an_agent_s_whatever_a_model_says(app: App) -> None:
    related(app, old="user", new="agent")
    _, chat = asked(app, YES)
    assert chat.asked == [] and superseded(app) == {}


def test_a_dry_run_asks_no_model(app: App) -> None:
    related(app)
    chat = ScriptedChat([YES])
    consolidator(app, Parts(chat=lambda: chat)).consolidate(dry_run=True)
    assert chat.asked == [] and superseded(app) == {}
