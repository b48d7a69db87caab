"""What a person tells our own agent is captured as hooks capture what they tell another one."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture.places import LOCK
from hindbrain.context.capture.spool import count_waiting
from hindbrain.context.messages import Message
from hindbrain.context.turn import OWN, SessionKey
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.models.chat import ChatAnswer, ChatRequest
from hindbrain.models.chat_fake import Scripted, calls
from hindbrain.vault.lock import FileLock
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


def _by_hook(cli: Cli, tmp_path: Path, stage: Stage, said: Sequence[str]) -> None:
    """As Claude Code tells each prompt and its end, with a record of the conversation."""
    session, record = str(uuid.uuid4()), tmp_path / "record.jsonl"
    for prompt in said:
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


def _by_chat(cli: Cli, tmp_path: Path, stage: Stage, said: Sequence[str]) -> None:
    chat = stage.script(*["Well.\nTASK_COMPLETE"] * len(said))
    stage.pipe(said)
    assert cli("chat").code == 0
    assert len(chat.asked) == len(said)  # the capture asks no model


def _by_run(cli: Cli, tmp_path: Path, stage: Stage, said: Sequence[str]) -> None:
    for command in said:
        chat = stage.script("Well.\nTASK_COMPLETE")
        stage.nobody()
        assert cli("run", command).code == 0
        assert len(chat.asked) == 1


Door = Callable[[Cli, Path, Stage, Sequence[str]], None]
DOORS = (_by_hook, _by_chat, _by_run)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_stores_the_same(door: Door, cli: Cli, made: Vault, stage: Stage, tmp_path: Path) -> None:
    door(cli, tmp_path, stage, (*LASTING, *PASSING))
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


def test_what_was_said_is_stored_though_the_run_dies(cli: Cli, made: Vault, stage: Stage) -> None:
    def dies(_: ChatRequest) -> ChatAnswer:
        raise KeyboardInterrupt

    stage.script(dies)
    stage.nobody()
    assert cli("run", "I always want metric units.").code != 0
    assert [text for text, *_ in _memories(cli.root)] == ["User always wants metric units"]


def test_what_could_not_be_stored_waits_for_the_next_capture(cli: Cli, made: Vault, stage: Stage) -> None:
    state = build_app(load_config(), cli.root, warm=False).state
    stage.script("Well.\nTASK_COMPLETE", "Well.\nTASK_COMPLETE")
    stage.nobody()
    with FileLock(state / LOCK).held(0):  # another process captures
        assert cli("run", "I always want metric units.").code == 0
    assert count_waiting(state) == 1 and _memories(cli.root) == []
    assert cli("run", "List the files of this folder.").code == 0
    assert [text for text, *_ in _memories(cli.root)] == ["User always wants metric units"]
    assert count_waiting(state) == 0


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
    ((text, category, source),) = _memories(cli.root)
    assert (text, category) == ("Decided: use PostgreSQL for the bills", "decision")
    assert source in ("agent", "tool")  # never the person's: the record of the run before tells the same


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


# Reminders


def _tasks(cli: Cli, status: str = "all") -> list[tuple[str, str, str, str]]:
    found = cli("task", "list", "--status", status, "--json").data["tasks"]
    return [(one["title"], one["due"], one["status"], one["source"]) for one in found]


@pytest.mark.parametrize("door", DOORS)
def test_a_reminder_is_a_task_with_its_day_and_neither_memory_nor_run(
    door: Door, cli: Cli, made: Vault, stage: Stage, tmp_path: Path
) -> None:
    tomorrow = (date.today() + timedelta(days=1)).isoformat()
    said = (
        "Remind me to call Sarah about the lease tomorrow.",
        "Erinnere mich daran, Milch zu kaufen",
        "Remind me how to rebase a branch.",
    )
    door(cli, tmp_path, stage, said)
    door(cli, tmp_path, stage, said)
    assert sorted(_tasks(cli)) == [
        ("Call Sarah about the lease", tomorrow, "todo", "agent"),
        ("Milch kaufen", "", "todo", "agent"),
    ]
    assert _memories(cli.root) == []
    assert cli("learn").code == 0
    app = build_app(load_config(), cli.root, warm=False)
    log = (cli.root / app.layout.path("task_log")).read_text("utf-8") if door is not _by_hook else ""
    assert "Sarah" not in log and "Milch" not in log


def test_a_reminder_that_the_agent_has_noted_in_its_own_words_is_one_task(
    cli: Cli, made: Vault, stage: Stage
) -> None:
    stage.script(calls("task_create", title="Call Sarah tomorrow"), "Noted.\nTASK_COMPLETE")
    stage.nobody()
    assert cli("run", "Remind me to call Sarah tomorrow").code == 0
    (task,) = _tasks(cli)
    assert task[:2] == ("Call Sarah", (date.today() + timedelta(days=1)).isoformat())


def test_a_reminder_that_was_done_does_not_come_back_with_the_same_words_of_a_session(
    cli: Cli, made: Vault, stage: Stage
) -> None:
    app = build_app(load_config(), cli.root, warm=False)
    said = [Message("user", "Remind me to call Sarah")]  # before it is condensed, without its time
    session = SessionKey(OWN, "tea")
    assert app.context.flush(session, said, tokens=100, window=100) is not None
    assert cli("task", "done", "Call Sarah").code == 0
    app.context.compacted(session)
    assert app.context.flush(session, said, tokens=100, window=100) is not None
    assert [task[2] for task in _tasks(cli)] == ["done"]


# Runs that do a task


def _run(cli: Cli, stage: Stage, command: str, *answers: Scripted) -> int:
    stage.script(*(answers or ("It is renewed.\nTASK_COMPLETE",)))
    stage.nobody()
    return cli("run", command).code


@pytest.mark.parametrize(
    "command", ["renew my passport", "Please renew the passport!", "Can you renew the passport?"]
)
def test_a_run_that_does_an_open_task_marks_it_with_the_day(
    command: str, cli: Cli, made: Vault, stage: Stage
) -> None:
    assert cli("task", "add", "Renew the passport").code == 0
    assert cli("task", "add", "Renew the lease").code == 0
    stage.script("It is renewed.\nTASK_COMPLETE")
    stage.nobody()
    ran = cli("run", command)
    assert ran.code == 0 and "task done: Renew the passport" in ran.err
    assert {task[0]: task[2] for task in _tasks(cli)} == {
        "Renew the passport": "done",
        "Renew the lease": "todo",
    }
    line = next(line for line in _task_note(cli).split("\n") if "passport" in line)
    assert f"- [x] **Renew the passport** [completion:: {date.today().isoformat()}]" in line


def test_the_mark_is_taken_back_by_undo_and_not_made_again(cli: Cli, made: Vault, stage: Stage) -> None:
    cli("task", "add", "Renew the passport")
    before = _task_note(cli)
    assert _run(cli, stage, "renew the passport") == 0
    assert _task_note(cli) != before
    assert cli("undo").code == 0
    assert _task_note(cli) == before
    assert cli("learn").code == 0
    assert _task_note(cli) == before


@pytest.mark.parametrize(
    "command",
    [
        "Did I renew the passport?",
        "How do I renew the passport",
        "Do not renew the passport",
        "Renew the passport of Ada",
        "Plan how to renew the passport",
        "Remind me to renew the passport",
        "renew",
    ],
)
def test_a_run_that_may_mean_something_else_leaves_the_task_open(
    command: str, cli: Cli, made: Vault, stage: Stage
) -> None:
    cli("task", "add", "Renew the passport")
    assert _run(cli, stage, command) == 0
    assert [task[2] for task in _tasks(cli)] == ["todo"]


@pytest.mark.parametrize(
    "answers",
    [
        (calls("read_file", path="nowhere.txt"), "I could not renew it: there is no form."),
        (calls("read_file", path="nowhere.txt"), "It is renewed.\nTASK_COMPLETE"),
        ("I could not renew it: there is no form.",),
        (calls("task_create", title="Renew the passport"), "Noted.\nTASK_COMPLETE"),
    ],
)
def test_a_run_that_failed_or_proves_nothing_leaves_the_task_open(
    answers: tuple[Scripted, ...], cli: Cli, made: Vault, stage: Stage
) -> None:
    cli("task", "add", "Renew the passport")
    _run(cli, stage, "renew the passport", *answers)
    assert [task[2] for task in _tasks(cli)] == ["todo"]


def test_of_two_tasks_that_say_the_same_none_is_marked(cli: Cli, made: Vault, stage: Stage) -> None:
    cli("task", "add", "Renew the passport", "--project", "travel")
    cli("task", "add", "Renew my passport")
    assert _run(cli, stage, "renew the passport") == 0
    assert [task[2] for task in _tasks(cli)] == ["todo", "todo"]


def _task_note(cli: Cli) -> str:
    app = build_app(load_config(), cli.root, warm=False)
    return (cli.root / app.memory.tasks.path).read_text("utf-8")
