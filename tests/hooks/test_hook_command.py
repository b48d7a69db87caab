"""`hindbrain hook` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.hooks.hosts import HOSTS
from hindbrain.edge.hooks.journal import LOG_FILE, Call, not_told_yet, read_calls, write_down
from hindbrain.edge.main import main


def _said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["hook", *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_dry_run_shows_the_change_and_makes_none(
    surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _said(capsys, "install", "claude-code", "--dry-run")["files"][0]
    assert file["changed"] and not file["written"] and "SessionStart" in file["diff"]
    assert not Path(file["file"]).exists()


@pytest.mark.parametrize("host", [host.name for host in HOSTS])
def test_what_is_installed_is_shown_and_can_be_taken_out(
    host: str, surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _said(capsys, "install", host)["files"][0]["written"]
    assert not _said(capsys, "install", host)["files"][0]["changed"]
    rows = {row["host"]: row["settings"] for row in _said(capsys, "status")["hosts"]}
    assert [(row["installed"], row["current"]) for row in rows[host]] == [(True, True), (False, False)]
    assert _said(capsys, "uninstall", host)["files"][0]["written"]
    rows = {row["host"]: row["settings"] for row in _said(capsys, "status")["hosts"]}
    assert [row["installed"] for row in rows[host]] == [False, False]


def test_a_person_is_told_what_is_left_to_do(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        "/hooks" in _said(capsys, "install", "codex")["afterwards"]
    )  # untrusted hooks are skipped in silence


def test_hooks_beside_the_plugin_are_warned_about(
    surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"hindbrain@hindbrain": true}}', encoding="utf-8")
    assert _said(capsys, "install", "claude-code")["plugin_too"]


@pytest.mark.promise("P29")
def test_failures_and_what_waits_are_shown(
    synced: Any, surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.capture.spool import append_event

    write_down(surroundings, Call("codex", "stop", "s", "kept"))
    write_down(surroundings, Call("codex", "stop", "s", "failed", note="disk: full"))
    write_down(surroundings, Call("codex", "stop", "s", "ok"))
    state = build_app(load_config(), synced.root, warm=False).state
    append_event(state, {"event": "stop", "host": "codex", "session": "s"})
    found = _said(capsys, "status", "--vault", str(synced.root))
    assert (found["calls_today"], found["failures_today"], found["waiting"]) == (3, 1, 1)
    assert found["last_failure"]["note"] == "disk: full" and found["daemon"] is False
    assert [call["outcome"] for call in _said(capsys, "log")["calls"]] == ["kept", "failed", "ok"]


def test_what_waits_is_settled(synced: Any, surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.capture.spool import append_event, count_waiting

    state = build_app(load_config(), synced.root, warm=False).state
    said = {"prompt": "I prefer tabs over spaces in Makefiles, always.", "answer": "Noted."}
    append_event(
        state, {"event": "stop", "host": "opencode", "session": "s", "cwd": str(synced.root), **said}
    )
    found = _said(capsys, "settle", "--vault", str(synced.root))
    assert found["messages"] and found["stored"] + found["held"] and not found["problems"]
    assert count_waiting(state) == 0


def test_what_a_person_asks_to_be_remembered_is_stored_in_their_language(
    synced: Any, surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.capture.spool import append_event

    app = build_app(load_config(), synced.root, warm=False)
    asked = (
        "Merk dir bitte, dass ich jeden Donnerstag im Homeoffice bin",
        "覚えておいて：私は猫アレルギーです",
        "Erinnerst du dich, dass ich gegen Katzen allergisch bin?",
        "Я живу в Перми. Забудь это.",
    )
    for session, prompt in enumerate(asked):
        event = {"event": "stop", "host": "opencode", "session": f"s{session}", "cwd": str(synced.root)}
        append_event(app.state, {**event, "prompt": prompt, "answer": "OK."})
    found = _said(capsys, "settle", "--vault", str(synced.root))
    assert (found["stored"], found["held"], found["problems"]) == (2, 0, [])
    stored = {item.text for item in app.memory.book.items()}
    assert {"Ich bin jeden Donnerstag im Homeoffice", "私は猫アレルギーです"} <= stored


@pytest.mark.promise("P12")
def test_a_fix_that_is_not_stored_is_named_with_its_reason(
    synced: Any, surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.capture.spool import append_event

    state = build_app(load_config(), synced.root, warm=False).state

    def fixed(session: str, command: str, output: str, cure: str) -> None:
        steps = (("tool-failed", command, output), ("tool-ok", cure, "ok"), ("tool-ok", command, "ok"))
        for number, (event, ran, told) in enumerate(steps):
            tool = {"tool": "Shell", "command": ran, "output": told, "at": number}
            append_event(state, {"event": event, "host": "cursor", "session": session, **tool})

    fixed("a", "npm test", "sh: jest: not found", "npm ci")
    fixed("b", "npm test", "sh: vitest: not found", "npm ci")
    found = _said(capsys, "settle", "--vault", str(synced.root))
    assert (found["stored"], found["fixes"], found["not_stored"]) == (2, 2, [])

    fixed("c", "npm test", "sh: jest: not found", "npm ci")
    found = _said(capsys, "settle", "--vault", str(synced.root))
    assert (found["stored"], found["fixes"]) == (0, 0)
    [left] = found["not_stored"]
    assert "jest" in left["text"] and left["why"]

    fixed("d", "npm test", "sh: jest: not found", "npm ci")
    assert main(["hook", "settle", "--vault", str(synced.root)]) == 0
    assert "jest" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["instal"],
        ["install"],
        ["install", "clod"],
        ["status", "codex"],
        ["log", "--dry-run"],
        ["settle", "--seconds", "0"],
    ],
)
def test_mistakes_are_named(words: list[str], surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _said(capsys, *words, code=2)["error"]["code"] == "usage"


def test_the_texts_for_people_are_shown(
    synced: Any, surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["status"],
        ["log"],
        ["install", "codex"],
        ["install", "codex"],
        ["settle", "--vault", str(synced.root)],
    ):
        assert main(["hook", *words]) == 0
        assert capsys.readouterr().out.strip()


# The log


def test_the_log_stays_small(surroundings: Path) -> None:
    call = Call("codex", "stop", "s", note="x" * 300)
    for _ in range(3_000):
        assert write_down(surroundings, call)
    sizes = [file.stat().st_size for file in surroundings.glob(f"{LOG_FILE}*")]
    assert len(sizes) == 2 and max(sizes) < 600_000


def test_lines_of_the_log_that_make_no_sense_are_left_out(surroundings: Path) -> None:
    write_down(surroundings, Call("codex", "stop"))
    with open(surroundings / LOG_FILE, "ab") as file:
        file.write(b'garbage\n{"host": "x"}\n[]\n\xff\n{"host": "gemini", "event": "st')
    assert [call.host for call in read_calls(surroundings)] == ["codex"]


def test_a_notice_is_told_once_a_session_whatever_its_numbers(surroundings: Path) -> None:
    surroundings.mkdir()
    assert not_told_yet(surroundings, "a", ["150 of 700 notes"]) == "150 of 700 notes"
    assert not_told_yet(surroundings, "a", ["160 of 700 notes"]) == ""
    assert not_told_yet(surroundings, "b", ["160 of 700 notes"]) != ""
    told = [not_told_yet(surroundings, "c", [f"notice {letter}"]) for letter in "uvwxyz"]
    assert sum(map(bool, told)) == 3  # enough for one session


def test_the_log_holds_no_word_of_a_conversation(synced: Any, surroundings: Path) -> None:
    import time

    from hindbrain.edge.hooks.doing import Doing

    for host in HOSTS:
        for event in host.events:
            doing = Doing(host, event, time.monotonic())
            data = {
                "session_id": "s",
                "cwd": str(synced.root),
                "prompt": "my secret plan",
                "error": "my secret plan",
                "last_assistant_message": "my secret plan",
                "tool_input": {"command": "echo my secret plan"},
            }
            sent = json.dumps(data).encode()
            doing.finish(doing.answer(lambda sent=sent: sent))  # type: ignore[misc]
    assert "secret" not in (surroundings / LOG_FILE).read_text(encoding="utf-8")
