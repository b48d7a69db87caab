"""What counts as used, of what entered a prompt: the judging itself, and hosts whose window keeps nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.messages import Message
from hindbrain.context.receipts import Entered, Receipt, Receipts, Use
from hindbrain.context.turn import SessionKey
from hindbrain.context.used import judge
from workbench import Vault

LINE = "The spare key of the workshop hangs behind the old barometer in the hall"


def receipt(at: float, *, host: str = "claude-code", prompt: str = "", delivered: bool = True) -> Receipt:
    entered = (Entered("relevant", "Places/Workshop.md", 3, 3),)
    return Receipt(f"r{at}", at, host, "s", "turn", prompt, "", entered=entered, delivered=delivered)


def said(text: str, at: float = 0.0) -> Message:
    return Message("assistant", text, at=at)


def uses(receipts: Sequence[Receipt], *messages: Message, text: str = LINE) -> dict[str, tuple[Use, ...]]:
    return {one.id: found for one, found in judge(receipts, messages, lambda _: text)}


def test_five_telling_words_in_a_row_are_a_quote_and_four_are_none() -> None:
    assert uses([receipt(1)], said("the spare key, workshop, hangs behind the old thing")) == {
        "r1": (Use(0, ("quoted",)),)
    }
    assert uses([receipt(1)], said("the spare key of the workshop hangs somewhere")) == {}


def test_words_of_a_script_without_blanks_are_its_signs() -> None:
    line = "番茄切块之前先用开水烫一下"
    assert uses([receipt(1)], said("外婆说：番茄切块之前先用开水烫一下。"), text=line)
    assert not uses([receipt(1)], said("番茄炒蛋很好吃"), text=line)


def test_what_was_said_before_it_entered_did_not_use_it() -> None:
    assert uses([receipt(10)], said(LINE, at=9)) == {}
    assert uses([receipt(10)], said(LINE, at=11))


def test_what_never_reached_the_host_was_not_used() -> None:
    assert uses([receipt(1, delivered=False)], said(LINE)) == {}


def test_openclaw_has_only_the_last_in_its_window_and_claude_code_all() -> None:
    later = said(LINE, at=30)
    assert set(uses([receipt(10), receipt(20)], later)) == {"r10", "r20"}
    windowless = [receipt(10, host="openclaw"), receipt(20, host="openclaw")]
    assert set(uses(windowless, later)) == {"r20"}
    assert set(uses(windowless, said(LINE, at=15))) == {"r10"}


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("It is in Places/Workshop.md.", True),
        ("See /home/noor/vault/Places/Workshop.md", True),
        ("See [[Workshop#Keys]]", True),
        ("See Workshop.md", True),
        ("The workshop is closed", False),
        ("See Old/Workshop.md", False),
        ("See MyWorkshop.md", False),
    ],
)
def test_a_note_is_named_by_its_path_link_or_file_name(answer: str, named: bool) -> None:
    assert bool(uses([receipt(1)], said(answer))) is named


@pytest.mark.parametrize(
    ("text", "command", "ran"),
    [
        ("Run `heron cert renew --staging` then.", "heron cert renew --staging && make deploy", True),
        ("Run `heron cert renew` then.", "cd /x; heron cert renew --now", True),
        ("$ heron cert renew", "heron   cert renew", True),
        ("heron cert renew helps when it has expired", "heron cert renew", True),
        ("Run `make` then.", "make", False),
        ("Run `heron cert renew` then.", "heron cert show", False),
        ("the heron certificates", "heron cert", False),
    ],
)
def test_a_command_of_the_text_in_a_tool_call_was_run(text: str, command: str, ran: bool) -> None:
    assert bool(uses([receipt(1)], Message("assistant", command, tool="Bash"), text=text)) is ran


def test_what_a_host_without_a_transcript_hands_over_is_judged_too(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    vault.write("Places/Workshop.md", f"# Workshop\n\n{LINE}.\n")
    session = SessionKey("openclaw", "agent:main:main", keeps=False)
    with closing(build_app(load_config(), vault.root, warm=False)) as app:
        app.sync()
        prompt = "where is the spare key of the workshop?"
        assert app.context.turn(session, prompt).text
        now = app.clock.now() + 1
        messages = [Message("user", prompt, id="u1", at=now), Message("assistant", LINE, id="a1", at=now + 1)]
        app.context.said(session, messages)
        app.context.catch_up(deadline_s=30)
        [found] = Receipts(app.state).read()
    assert [one.used for one in found.entered] == [("quoted",)]
