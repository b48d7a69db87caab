"""What background work may spend on a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import ModelDown
from hindbrain.context.tokens import count_tokens
from hindbrain.learn.consolidation.budget import TOKENS, BudgetedChat, TokenLedger
from hindbrain.models.chat import ChatAnswer, ChatMessage, ChatRequest, Usage
from hindbrain.models.chat_fake import ScriptedChat

QUESTION = "What of this shall be remembered?"
ASKED = ChatRequest((ChatMessage("user", QUESTION),))


def test_tokens_are_counted_by_day_and_purpose(tmp_path: Path, clock: FakeClock) -> None:
    ledger = TokenLedger(tmp_path, clock)
    chat = BudgetedChat(ScriptedChat(["an answer", "another"]), ledger, 1_000, "lessons")
    chat.answer(ASKED)
    spent = count_tokens(QUESTION) + count_tokens("an answer")
    assert ledger.by_purpose() == {"lessons": spent}
    assert ledger.spent() == spent
    clock.advance(86_400)
    assert ledger.spent() == 0
    chat.answer(ASKED)
    assert list(ledger.by_day()) == ["2026-05-15", "2026-05-16"]


def test_a_spent_budget_is_a_model_that_is_down_until_tomorrow(tmp_path: Path, clock: FakeClock) -> None:
    ledger = TokenLedger(tmp_path, clock)
    model = ScriptedChat(["first", "second"])
    chat = BudgetedChat(model, ledger, 12, "summaries")
    assert chat.answer(ASKED).text == "first"
    with pytest.raises(ModelDown):
        chat.answer(ASKED)
    assert len(model.asked) == 1
    clock.advance(86_400)
    assert chat.answer(ASKED).text == "second"


def test_processes_share_one_budget(tmp_path: Path, clock: FakeClock) -> None:
    BudgetedChat(ScriptedChat(["x"]), TokenLedger(tmp_path, clock), 12, "one").answer(ASKED)
    with pytest.raises(ModelDown):
        BudgetedChat(ScriptedChat(["x"]), TokenLedger(tmp_path, clock), 12, "two").answer(ASKED)


def test_what_a_failed_request_cost_is_counted(tmp_path: Path, clock: FakeClock) -> None:
    ledger = TokenLedger(tmp_path, clock)
    with pytest.raises(ModelDown):
        BudgetedChat(ScriptedChat(), ledger, 1_000, "lessons").answer(ASKED)
    assert ledger.spent() == count_tokens(QUESTION)


def test_thoughts_that_nobody_sees_are_counted_as_the_service_tells_them(
    tmp_path: Path, clock: FakeClock
) -> None:
    ledger = TokenLedger(tmp_path, clock)
    thought = ScriptedChat([ChatAnswer("Yes.", usage=Usage(sent=9, made=700))])
    BudgetedChat(thought, ledger, 1_000, "lessons").answer(ASKED)
    assert ledger.spent() == count_tokens(QUESTION) + 700


def test_no_budget_asks_nobody(tmp_path: Path, clock: FakeClock) -> None:
    model = ScriptedChat(["x"])
    with pytest.raises(ModelDown):
        BudgetedChat(model, TokenLedger(tmp_path, clock), 0, "x").answer(ASKED)
    assert model.asked == []


def test_a_damaged_ledger_counts_what_can_be_read(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / TOKENS).write_bytes(b'{"day":"2026-05-15","for":"x","tokens":7}\n{"day":"20\nnull\n')
    assert TokenLedger(tmp_path, clock).spent() == 7
