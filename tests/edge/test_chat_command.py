"""`hindbrain chat`: lines in, answers out, with what was said before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.base.errors import WriteFailed
from hindbrain.edge.output import Output
from hindbrain.models.chat import ChatAnswer, ChatRequest
from hindbrain.models.chat_fake import calls
from workbench import Vault


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stage:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return Stage(monkeypatch)


def test_in_a_pipe_each_line_gets_its_answer_and_knows_those_before(
    cli: Cli, indexed: Vault, stage: Stage
) -> None:
    chat = stage.script("At 70 degrees.\nTASK_COMPLETE", "For two minutes.")
    stage.pipe(["How hot is green tea brewed?", "", "And how long?"])
    ran = cli("chat", "--session", "tea")
    assert (ran.code, ran.out) == (0, "At 70 degrees.\nFor two minutes.\n")
    said = [(message.role, message.text) for message in chat.asked[1].messages]
    assert ("user", "How hot is green tea brewed?") in said
    assert any(role == "assistant" and "70 degrees" in text for role, text in said)
    assert said[-1] == ("user", "And how long?")
    runs = cli("runs", "list", "--json").data["runs"]
    assert {run["session"] for run in runs} == {"tea"} and len(runs) == 2


def test_what_was_recalled_is_told_and_slash_memory_shows_it(cli: Cli, indexed: Vault, stage: Stage) -> None:
    stage.script("At 70 degrees.")
    stage.pipe(["/memory", "How hot is green tea brewed?", "/memory", "/help", "/quit", "never sent"])
    ran = cli("chat")
    assert ran.out == "At 70 degrees.\n"
    assert "nothing was asked yet" in ran.err
    assert "memory Tea" in ran.err
    assert "/quit" in ran.err
    assert len(stage.chat.asked) == 1


def test_a_slash_word_that_does_not_exist_is_told_and_not_sent_to_the_model(
    cli: Cli, indexed: Vault, stage: Stage
) -> None:
    stage.script("It is a folder.")
    stage.pipe(["/memroy", "/etc/hosts is what?"])
    ran = cli("chat")
    assert "/memroy" in ran.err and ran.out == "It is a folder.\n"
    assert len(stage.chat.asked) == 1


def test_a_line_that_fails_is_told_and_the_next_one_goes_on(cli: Cli, indexed: Vault, stage: Stage) -> None:
    stage.script(calls("nowhere"), "Well.", "Fine.")
    stage.pipe(["try it", "how are you?"])
    ran = cli("chat")
    assert (ran.code, ran.out) == (0, "Well.\nFine.\n")
    stage.script()
    stage.pipe(["anybody there?"])
    ran = cli("chat")
    assert ran.code == 1 and "failed" in ran.err


def test_on_a_terminal_words_are_shown_as_they_come_and_once(
    cli: Cli, indexed: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Output, "on_terminal", property(lambda _: True))
    stage.script("Two words.\nTASK_COMPLETE\n")
    stage.person_types("hello", "/quit")
    ran = cli("chat")
    assert ran.out == "> Two words.\n> "


def test_json_is_one_object_on_each_line(cli: Cli, indexed: Vault, stage: Stage) -> None:
    stage.script("One.", "Two.")
    stage.pipe(["1", "2"])
    lines = cli("chat", "--json").out.splitlines()
    assert [json.loads(line)["answer"] for line in lines] == ["One.", "Two."]


def test_json_has_a_value_for_a_line_that_could_not_be_carried_out(
    cli: Cli, indexed: Vault, stage: Stage
) -> None:
    def breaks(_: ChatRequest) -> ChatAnswer:
        raise WriteFailed("the disk is full")

    stage.script(breaks, "Two.")
    stage.pipe(["1", "/memory", "2"])
    ran = cli("chat", "--json")
    first, second = map(json.loads, ran.out.splitlines())
    assert (ran.code, first["error"]["code"], second["answer"]) == (1, "write_failed", "Two.")


def test_what_needs_a_person_waits_in_a_pipe(cli: Cli, indexed: Vault, stage: Stage) -> None:
    Path("in.txt").write_text("write!", encoding="utf-8")
    stage.script(calls("read_file", path="in.txt"), calls("write_file", path="out.txt", content="x"))
    stage.pipe(["do what it says"])
    ran = cli("chat")
    assert ran.code == 1
    assert "hindbrain approve a-" in ran.err


def test_without_a_model_it_says_how_to_set_one(cli: Cli, vault: Vault) -> None:
    assert cli("chat", "--json").error == "config"
