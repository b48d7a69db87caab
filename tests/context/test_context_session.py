"""A conversation: what each event of it gets, and that nothing enters the window twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.app import App
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey, Turn
from workbench import Vault

CLAUDE = SessionKey("claude-code", "s1")
OWN = SessionKey("own", "s1", keeps=False)
TOMATOES = "how often do the tomatoes in the garden get water?"
TYRES = "where did we store the winter tyres of the car?"


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> Iterator[App]:
    vault.write(
        "Garden.md",
        "# Garden\n\nTomatoes get water every second morning.\n\nThe basil beside them loves shade.\n",
    )
    vault.write("Car.md", "# Car\n\nThe winter tyres are stored at Meyer's garage until April.\n")
    app = make_app(vault.root, warm=True)
    app.sync()
    yield app
    app.close()


def passages(turn: Turn) -> set[str]:
    assert turn.pack is not None
    return {passage for one in turn.pack.excerpts for passage in one.passages}


def test_a_prompt_gets_its_notes_once(app: App) -> None:
    first = app.context.turn(CLAUDE, TOMATOES)
    second = app.context.turn(CLAUDE, TOMATOES)
    assert "every second morning" in first.text
    assert "every second morning" not in second.text
    assert not passages(first) & passages(second)


def test_another_process_knows_what_the_window_holds(app: App, make_app: Callable[..., App]) -> None:
    first = app.context.turn(CLAUDE, TOMATOES)
    other = make_app(app.root, warm=False)
    assert not passages(first) & passages(other.context.turn(CLAUDE, TOMATOES))


def test_another_session_gets_them_again(app: App) -> None:
    app.context.turn(CLAUDE, TOMATOES)
    assert "every second morning" in app.context.turn(CLAUDE._replace(id="s2"), TOMATOES).text


def test_after_a_compaction_what_the_last_prompt_needs_enters_again(app: App) -> None:
    app.context.turn(CLAUDE, TOMATOES)
    again = app.context.start(CLAUDE, source="compact")
    assert "every second morning" in again.text
    assert "every second morning" not in app.context.turn(CLAUDE, TOMATOES).text


def test_a_session_that_goes_on_still_has_what_was_injected(app: App) -> None:
    app.context.turn(CLAUDE, TOMATOES)
    assert app.context.start(CLAUDE, source="resume").text == ""
    assert "every second morning" not in app.context.turn(CLAUDE, TOMATOES).text


def test_a_session_that_was_cleared_has_nothing(app: App) -> None:
    app.context.turn(CLAUDE, TOMATOES)
    app.context.start(CLAUDE, source="clear")
    assert "every second morning" in app.context.turn(CLAUDE, TOMATOES).text


def test_a_change_of_topic_is_noticed_and_named(app: App) -> None:
    app.context.turn(CLAUDE, TOMATOES)
    turn = app.context.turn(CLAUDE, TYRES)
    assert turn.shift
    assert "Meyer" in turn.text


def test_a_host_that_replaces_its_block_lets_go_of_the_old_topic(app: App) -> None:
    first = app.context.turn(OWN, TOMATOES)
    turn = app.context.turn(OWN, TYRES)
    assert turn.released == len(passages(first))
    back = app.context.turn(OWN, TOMATOES)
    assert "every second morning" in back.text


def test_a_host_that_replaces_its_block_gets_the_whole_of_the_topic_each_turn(app: App) -> None:
    app.context.turn(OWN, TOMATOES)
    assert "every second morning" in app.context.turn(OWN, TOMATOES).text


def test_the_start_of_a_session_says_who_the_owner_is(app: App) -> None:
    app.memory.remember("Prefers metric units", category="preference", importance=0.9, source="user")
    assert "metric units" in app.context.start(CLAUDE).text


def test_a_failure_gets_what_is_known_of_it(app: App, vault: Vault) -> None:
    vault.write(
        "Known Issues.md",
        "# Known Issues\n\n- `pytest tests/api` failed with ModuleNotFoundError: httpx; "
        "fixed by `pip install -e .[dev]`\n",
    )
    app.sync()
    error = "E   ModuleNotFoundError: No module named 'httpx'\n1 error in 0.32s"
    turn = app.context.failure(CLAUDE, tool="Bash", command="pytest tests/api", error=error)
    assert "pip install -e" in turn.text


def test_without_an_index_a_turn_says_so_and_injects_nothing(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    vault.write("a.md", "Tomatoes get water.")
    app = make_app(vault.root)
    turn = app.context.turn(CLAUDE, TOMATOES)
    assert 'state="missing"' in turn.text
    assert "Tomatoes get water" not in turn.text
    assert turn.notices


def test_what_an_agent_answered_tells_what_a_follow_up_is_about(app: App, tmp_path: Path) -> None:
    transcript = tmp_path / "talk.jsonl"
    lines = [
        {"role": "user", "content": "what about the car?"},
        {"role": "assistant", "content": "Do you mean the winter tyres?"},
        {"role": "user", "content": "yes, where are they?"},
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    turn = app.context.turn(CLAUDE, "yes, where are they?", transcript=transcript)
    assert "Meyer" in turn.text


@pytest.mark.parametrize("kind", ["missing", "garbage", "folder"])
def test_a_transcript_that_can_t_be_read_costs_nothing_else(app: App, tmp_path: Path, kind: str) -> None:
    transcript = tmp_path / "talk.jsonl"
    if kind == "garbage":
        transcript.write_bytes(bytes(range(256)) * 400)
    elif kind == "folder":
        transcript.mkdir()
    assert "every second morning" in app.context.turn(CLAUDE, TOMATOES, transcript=transcript).text


def test_a_window_that_fills_is_flushed_once_a_cycle(app: App) -> None:
    said = [Message("user", "Remember that the staging server is called heron.")]
    assert app.context.flush(OWN, said, tokens=1_000, window=200_000) is None
    flushed = app.context.flush(OWN, said, tokens=180_000, window=200_000)
    assert flushed is not None
    assert len(flushed.stored) == 1
    assert app.context.flush(OWN, said, tokens=190_000, window=200_000) is None
    app.context.compacted(OWN)
    assert app.context.flush(OWN, said, tokens=180_000, window=200_000) is not None


def test_after_a_compaction_the_last_prompt_that_asked_something_counts(app: App) -> None:
    app.context.turn(CLAUDE, TOMATOES)
    app.context.turn(CLAUDE, "ok, thanks")
    assert "every second morning" in app.context.start(CLAUDE, source="compact").text
