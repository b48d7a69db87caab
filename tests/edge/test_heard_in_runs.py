"""What a person tells our own agent is captured as hooks capture what they tell another one."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture.spool import count_waiting
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.models.chat import ChatAnswer, ChatRequest
from hindbrain.models.chat_fake import calls
from workbench import Vault

LASTING = (
    "I always want metric units.",
    "Our office is in Lyon.",
    "We decided to use PostgreSQL for the billing service.",
    "Please remember that my sister Ada is allergic to peanuts.",
)
PASSING = (
    "How hot is green tea brewed?",
    "thanks!",
    "List the files of this folder.",
    "Suppose we had an office in Rome.",
)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stage:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return Stage(monkeypatch)


def _memories(root: Path) -> list[tuple[str, str, str]]:
    """Text, category and source of each, as another process reads them."""
    items = build_app(load_config(), root, warm=False).memory.book.items()
    return sorted((item.text, item.category, item.source) for item in items)


def _by_hook(cli: Cli, tmp_path: Path, stage: Stage) -> None:
    """As Claude Code tells each prompt and its end, with a record of the conversation."""
    session, record = str(uuid.uuid4()), tmp_path / "record.jsonl"
    for prompt in (*LASTING, *PASSING):
        payload = {"session_id": session, "cwd": str(cli.root), "transcript_path": str(record)}
        _call_hook("user-prompt-submit", payload | {"prompt": prompt})
        lines = [("user", prompt), ("assistant", [{"type": "text", "text": "Well."}])]
        told = [
            {"type": role, "uuid": str(uuid.uuid4()), "sessionId": session, "cwd": str(cli.root),
             "message": {"role": role, "content": content}}
            for role, content in lines
        ]  # fmt: skip
        with record.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in told)
        _call_hook("stop", payload)
    assert cli("hook", "settle").code == 0


def _call_hook(name: str, payload: dict[str, str]) -> None:
    host = host_named("claude-code")
    event = host.event(name) if host else None
    assert host is not None and event is not None
    doing = Doing(host, event, time.monotonic())
    doing.answer(lambda: json.dumps(payload).encode())
    assert not doing.note, doing.note


def _by_chat(cli: Cli, tmp_path: Path, stage: Stage) -> None:
    chat = stage.script(*["Well.\nTASK_COMPLETE"] * 8)
    stage.pipe([*LASTING, *PASSING])
    assert cli("chat").code == 0
    assert len(chat.asked) == 8  # the capture asks no model


def _by_run(cli: Cli, tmp_path: Path, stage: Stage) -> None:
    for command in (*LASTING, *PASSING):
        chat = stage.script("Well.\nTASK_COMPLETE")
        stage.nobody()
        assert cli("run", command).code == 0
        assert len(chat.asked) == 1


Door = Callable[[Cli, Path, Stage], None]


@pytest.mark.parametrize("door", [_by_hook, _by_chat, _by_run])
def test_every_door_stores_the_same(door: Door, cli: Cli, made: Vault, stage: Stage, tmp_path: Path) -> None:
    door(cli, tmp_path, stage)
    assert _memories(cli.root) == [
        ("Our office is in Lyon", "fact", "agent"),
        ("User always wants metric units", "preference", "agent"),
        ("User's sister Ada is allergic to peanuts", "contact", "agent"),
        ("We decided to use PostgreSQL for the billing service", "decision", "agent"),
    ]


def test_each_command_is_one_run_however_it_is_captured(cli: Cli, made: Vault, stage: Stage) -> None:
    stage.script(*["Well.\nTASK_COMPLETE"] * 3)
    stage.pipe(["I always want metric units.", "List the files.", "How hot is green tea brewed?"])
    assert cli("chat", "--session", "tea").code == 0
    assert cli("hook", "settle").code == 0 and cli("learn").code == 0
    assert len(cli("runs", "list", "--json").data["runs"]) == 3


def test_what_was_said_before_the_process_died_is_stored_by_the_next_one(
    cli: Cli, made: Vault, stage: Stage
) -> None:
    def dies(_: ChatRequest) -> ChatAnswer:
        raise KeyboardInterrupt

    stage.script(dies)
    stage.nobody()
    assert cli("run", "I always want metric units.").code != 0
    app = build_app(load_config(), cli.root, warm=False)
    assert count_waiting(app.state) == 1 and _memories(cli.root) == []
    stage.script("Well.\nTASK_COMPLETE")
    assert cli("run", "List the files of this folder.").code == 0
    assert [text for text, *_ in _memories(cli.root)] == ["User always wants metric units"]
    assert count_waiting(app.state) == 0


def test_words_of_the_agent_and_of_its_tools_are_not_the_person_s(
    cli: Cli, made: Vault, stage: Stage
) -> None:
    Path("in.txt").write_text("I always want imperial units.", encoding="utf-8")
    stage.script(calls("read_file", path="in.txt"), "I always want tea.\nTASK_COMPLETE")
    stage.pipe(["What does in.txt say?", "thanks!"])
    cli("chat")
    assert _memories(cli.root) == []


def test_what_another_agent_types_is_no_person_s_word(
    cli: Cli, made: Vault, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    stage.script("Well.\nTASK_COMPLETE")
    stage.nobody()
    assert cli("run", "I always want metric units.").code == 0
    assert cli("hook", "settle").code == 0
    assert _memories(cli.root) == []


def test_a_run_without_memory_stores_nothing(cli: Cli, made: Vault, stage: Stage) -> None:
    stage.script("Well.\nTASK_COMPLETE")
    stage.nobody()
    assert cli("run", "--no-memory", "I always want metric units.").code == 0
    assert cli("hook", "settle").code == 0
    assert _memories(cli.root) == []


def test_a_yes_agrees_to_what_the_agent_proposed_in_the_turn_before(
    cli: Cli, made: Vault, stage: Stage
) -> None:
    stage.script("I suggest using PostgreSQL for the bills.\nTASK_COMPLETE", "Good.\nTASK_COMPLETE")
    stage.pipe(["Which database?", "Yes, let's do that."])
    cli("chat")
    assert [(text, source) for text, _, source in _memories(cli.root)] == [
        ("Decided: use PostgreSQL for the bills", "agent")
    ]


@pytest.mark.parametrize("words", [["chat"], ["run", "List the files."], ["run", "--listen"]])
def test_an_unknown_preset_is_refused_with_those_there_are(
    words: list[str], cli: Cli, made: Vault, stage: Stage, tmp_path: Path
) -> None:
    own = tmp_path / "settings" / "presets" / "brief.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[slots]]\nname = "core"\ntokens = 100\n', encoding="utf-8")
    chat = stage.script("Well.\nTASK_COMPLETE")
    stage.pipe(["hello"])
    ran = cli(*words, "--preset", "breif")
    assert ran.code == 1 and "turn, compact, agent, full, start, card, brief" in ran.err
    assert chat.asked == []


def test_the_preset_decides_what_enters_the_prompt(cli: Cli, made: Vault, stage: Stage) -> None:
    def recalled(*words: str) -> bool:
        chat = stage.script("Well.\nTASK_COMPLETE")
        stage.pipe(["How hot is green tea brewed?"])
        assert cli(*words).code == 0
        return any("70 degrees" in message.text for message in chat.asked[0].messages)

    question = "How hot is green tea brewed?"
    assert recalled("run", question) and recalled("chat")
    assert recalled("run", "--preset", "compact", question) and recalled("chat", "--preset", "compact")
    assert not recalled("run", "--preset", "card", question)
    assert not recalled("chat", "--preset", "card")
    assert cli("run", "--preset", "agent", "--no-memory", question).code == 2
