"""Transcripts of agent hosts, as the hosts write them, become runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.sniffing import sniff
from hindbrain.learn.importing.transcripts import runs_of_transcript
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.folding import fold

TESTS = Path(__file__).parents[1]
RECORDED = TESTS / "hosts" / "recorded"
SAMPLES = TESTS / "context" / "transcripts"


def episodes(path: Path, host: str) -> list[Episode]:
    folded = [fold(run) for run in runs_of_transcript(Log(path), host)]
    return [episode for episode in folded if episode is not None]


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def said(
    text: str | Sequence[Mapping[str, object]], uuid: str, role: str = "user", **more: Any
) -> dict[str, object]:
    return {"type": role, "uuid": uuid, "sessionId": "s", "message": {"role": role, "content": text}, **more}


def test_a_recorded_conversation_of_claude_code():
    runs = episodes(RECORDED / "claude-code" / "transcript-conversation.jsonl", "claude-code")
    first = runs[0]
    assert first.command.startswith("Add a lint target to the Makefile.")
    assert [(action.name, action.ok) for action in first.actions] == [
        ("Bash", True),
        ("Bash", False),
        ("Bash", True),
    ]
    assert "No rule to make target" in first.actions[1].said
    # `make lint` failed, was mended and passed; then the person went on to something else.
    assert (first.outcome, first.iterations, first.app) == ("success", 3, "project")
    assert first.session == "00000000-0000-4000-8000-000000000001"
    assert not any("Recorded context" in run.command for run in runs)


def test_a_recorded_conversation_of_codex():
    first = episodes(RECORDED / "codex" / "transcript-conversation.jsonl", "codex")[0]
    assert first.command.startswith("Add a lint target to the Makefile.")
    assert (first.outcome, len(first.actions), first.app) == ("success", 3, "project")


@pytest.mark.parametrize("host", ["claude-code", "codex", "openclaw"])
def test_the_host_is_told_by_the_file(host):
    assert sniff(SAMPLES / f"{host.removesuffix('-code')}.jsonl") == host


def test_reminders_and_slash_commands_are_no_commands():
    commands = [run.command for run in episodes(SAMPLES / "claude.jsonl", "claude-code")]
    assert commands[:2] == ["We use SQLite for the cache.", "the failing test"]


def test_a_run_that_waits_for_its_answer_is_left_for_the_next_import(tmp_path):
    call = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]
    path = written(tmp_path / "a.jsonl", said("List the files", "u1"), said(call, "u2", "assistant"))
    assert episodes(path, "claude-code") == []
    answer = [{"type": "text", "text": "There are none."}]
    written(
        path, said("List the files", "u1"), said(call, "u2", "assistant"), said(answer, "u3", "assistant")
    )
    assert [run.command for run in episodes(path, "claude-code")] == ["List the files"]


def test_an_interrupted_run_of_claude_code_and_the_words_beside_the_mark(tmp_path):
    mark = {"type": "text", "text": "[Request interrupted by user]"}
    path = written(
        tmp_path / "a.jsonl", said("Rename the router module", "u1"), said("On it.", "u2", "assistant"),
        said([mark, {"type": "text", "text": "keep the old name"}], "u3"), said("Kept.", "u4", "assistant"),
    )  # fmt: skip
    runs = episodes(path, "claude-code")
    assert [(run.command, run.outcome) for run in runs] == [
        ("Rename the router module", "cancelled"),
        ("keep the old name", "unknown"),
    ]


def test_an_interrupted_run_of_codex_and_of_openclaw(tmp_path):
    def item(**payload: object) -> dict[str, object]:
        return {"timestamp": "2026-05-15T09:00:02Z", "type": "response_item", "payload": payload}

    asked = item(type="message", role="user", content=[{"type": "input_text", "text": "Run the tests"}])
    aborted = {"type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}}
    codex = written(tmp_path / "c.jsonl", {"type": "session_meta", "payload": {"id": "s"}}, asked, aborted)
    assert [run.outcome for run in episodes(codex, "codex")] == ["cancelled"]

    def message(id: str, role: str, **more: object) -> dict[str, object]:
        return {"type": "message", "id": id, "message": {"role": role, **more}}

    text = [{"type": "text", "text": "Water the plants"}]
    claw = written(
        tmp_path / "o.jsonl", {"type": "session", "id": "s5", "cwd": "/home/ada/garden"},
        message("1", "user", content=text), message("2", "assistant", content=[], stopReason="aborted"),
    )  # fmt: skip
    run = episodes(claw, "openclaw")[0]
    assert (run.outcome, run.session, run.app) == ("cancelled", "s5", "garden")


def test_a_copied_and_renamed_transcript_has_the_same_runs(tmp_path):
    source = RECORDED / "claude-code" / "transcript-conversation.jsonl"
    copy = tmp_path / "other name.jsonl"
    shutil.copy(source, copy)
    assert [run.run for run in episodes(copy, "claude-code")] == [
        run.run for run in episodes(source, "claude-code")
    ]


def test_a_resumed_session_tells_its_old_runs_under_their_old_ids(tmp_path):
    first, second = "11111111-2222-4333-8444-555555555555", "66666666-2222-4333-8444-555555555555"
    asked = said("List the files", first, timestamp="2026-05-15T09:00:01Z")
    old = written(tmp_path / "old.jsonl", asked, said("None.", second, "assistant"))
    new = written(
        tmp_path / "new.jsonl",
        asked | {"sessionId": "s2"},
        said("None.", second, "assistant", sessionId="s2"),
    )
    assert [run.run for run in episodes(old, "claude-code")] == [
        run.run for run in episodes(new, "claude-code")
    ]


def test_a_run_is_of_the_session_and_the_project_in_which_it_began(tmp_path):
    def at(session: str, project: str) -> dict[str, Any]:
        return {"sessionId": session, "cwd": f"/home/ada/{project}"}

    first, second = at("one", "app"), at("two", "site")
    path = written(
        tmp_path / "a.jsonl",
        said("List the files", "u1", **first), said("None.", "u2", "assistant", **first),
        said("List the pages", "u3", **second), said("None.", "u4", "assistant", **second),
    )  # fmt: skip
    assert [(run.session, run.app) for run in episodes(path, "claude-code")] == [
        ("one", "app"),
        ("two", "site"),
    ]


def test_records_of_any_shape_cost_only_themselves(tmp_path):
    path = written(
        tmp_path / "a.jsonl", said("List the files", "u1"), {"type": "user", "message": 3, "timestamp": {}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": [], "name": {}}]}}, [1], "x",
        said("None.", "u2", "assistant"),
    )  # fmt: skip
    log = Log(path)
    assert [run[0].run for run in runs_of_transcript(log, "claude-code")]
    assert log.left_out >= 2
