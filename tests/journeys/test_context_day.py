"""A day with an agent that has our hooks: what it is told, what is kept of it, what its next session knows.

Real commands, real hooks in processes of their own, real files; once with the daemon and once without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.main import main

_NOTES = {
    "Boat.md": "# Boat\n\nThe mast of the boat needs varnish before June.\n",
    "Bread.md": "# Bread\n\nThe sourdough starter is fed the evening before baking.\n",
    "Harbour.md": "# Harbour\n\nThe harbour office opens at eight, except on Sundays.\n",
}
_BOAT, _BREAD = "When must the mast of the boat be varnished?", "When do I feed the sourdough starter?"
_KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
_ERROR = "Exit code 2\nERROR: failed to solve: quokka-base: connection reset by peer"
_TALK = (
    (
        "user",
        "I prefer pytest over unittest. We decided to use Caddy instead of nginx because it is simpler.",
    ),
    ("user", f"TODO: renew the TLS certificate before 1 December. The key is {_KEY}."),
    ("call", "make deploy"),
    ("failed", _ERROR),
    ("call", "docker login quokka.example.org && make deploy"),
    ("done", "deployed"),
    ("assistant", "I suggest using Redis for sessions."),
    ("user", "yes"),
)


_HOOK = "from hindbrain.edge.hooks.main import main; main()"


class Day:
    """One machine: a vault, a project beside it, and an agent host that calls us."""

    def __init__(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.vault, self.project, self.state = place / "notes", place / "project", place / "state"
        self._capsys = capsys

    def run(self, *words: str, code: int = 0) -> str:
        self._capsys.readouterr()
        assert main(words) == code, f"{words}: {self._capsys.readouterr()}"
        return self._capsys.readouterr().out

    def data(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code))

    def hook(self, event: str, session: str, **told: object) -> str:
        """Call the hook as Claude Code does; returns what it injects."""
        payload = {"session_id": session, "transcript_path": str(self.record(session)), **told}
        ran = subprocess.run(
            [sys.executable, "-c", _HOOK, "claude-code", event],
            input=json.dumps({**payload, "cwd": str(self.project)}).encode(),
            capture_output=True, cwd=self.project, timeout=60, check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b"")
        return str(json.loads(ran.stdout).get("hookSpecificOutput", {}).get("additionalContext", ""))

    def ask(self, session: str, prompt: str) -> str:
        return self.hook("user-prompt-submit", session, prompt=prompt)

    def fail(self, session: str) -> str:
        call = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}, "error": _ERROR}
        return self.hook("post-tool-use-failure", session, **call)

    def record(self, session: str) -> Path:
        return self.project.parent / "records" / f"{session}.jsonl"

    def say(self, session: str, *talk: tuple[str, str]) -> None:
        """What the host writes down of a conversation."""
        file = self.record(session)
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            for number, (kind, text) in enumerate(talk):
                out.write(json.dumps(self._line(session, number, kind, text)) + "\n")

    def _line(self, session: str, number: int, kind: str, text: str) -> dict[str, object]:
        role = "assistant" if kind in ("assistant", "call") else "user"
        content: object = text
        if kind == "call":
            content = [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}]
        elif kind in ("failed", "done"):
            result = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": text}
            content = [{**result, "is_error": kind == "failed"}]
        return {
            "type": role,
            "uuid": f"{session}-{number:012d}-aaaa-bbbb",
            "timestamp": "2026-05-15T09:00:00.000Z",
            "sessionId": session,
            "cwd": str(self.project),
            "message": {"role": role, "content": content},
        }

    def settle(self) -> None:
        """All that was said is kept: by the daemon, if it is quicker."""
        assert not self.data("hook", "settle")["more"]
        assert self.data("hook")["waiting"] == 0

    def text_of(self, note: str) -> str:
        return (self.vault / note).read_text(encoding="utf-8")

    def holding(self, word: str) -> list[str]:
        """Files of the vault and of the state that hold a word; a daemon may remove some meanwhile."""
        found = []
        for top in (self.vault, self.state):
            for folder, _, names in os.walk(top):
                for name in names:
                    file = Path(folder, name)
                    with suppress(FileNotFoundError):
                        if file.is_file() and word.lower().encode() in file.read_bytes().lower():
                            found.append(str(file))
        return found


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Day]:
    for name in [name for name in os.environ if name.startswith(("HINDBRAIN_", "CLAUDE", "CODEX"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "HINDBRAIN_CONFIG": "config.toml", "HINDBRAIN_STATE_FOLDER": "state", "HOME": "home",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    made = Day(tmp_path, capsys)
    for folder in (made.vault, made.project / ".git", tmp_path / "home"):
        folder.mkdir(parents=True)
    for name, text in _NOTES.items():
        (made.vault / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(made.vault)
    made.run("init", "--layout", "obsidian")
    made.run("sync")
    made.run("config", "vault.path", str(made.vault))
    yield made
    made.run("up", "stop")


@pytest.fixture(params=["by itself", "with a daemon"])
def machine(request: pytest.FixtureRequest, day: Day) -> Day:
    if request.param == "with a daemon":
        assert day.data("up")["answers"]
    return day


def test_what_was_said_in_one_session_is_known_in_the_next(machine: Day) -> None:
    day = machine
    day.hook("session-start", "one", source="startup")
    assert "needs varnish before June" in day.ask("one", _BOAT)
    assert day.ask("one", _BOAT) == ""  # it is in the window
    assert day.fail("one") == ""  # nothing is known of it
    day.say("one", *_TALK)
    day.hook("stop", "one", last_assistant_message="ok")
    day.hook("session-end", "one", reason="other")
    day.settle()

    assert "- User prefers pytest over unittest " in day.text_of("Agent/Memory/preference.md")
    assert "Caddy instead of nginx" in day.text_of("Agent/Decisions/Decision Log.md")
    assert "Renew the TLS certificate before 1 December" in day.text_of("Agent/Memory/action.md")
    assert "docker login quokka.example.org" in day.text_of("Agent/Memory/issue.md")
    (note,) = (day.vault / "Agent" / "Sessions").glob("*.md")
    assert "## Decisions\n\n- We decided to use Caddy" in note.read_text(encoding="utf-8")
    assert [held["text"] for held in day.data("inbox")["waiting"]] == ["Decided: use Redis for sessions"]
    assert day.holding(_KEY) == []  # masked before anything was written
    assert {name: day.text_of(name) for name in _NOTES} == _NOTES

    day.run("sync")  # a daemon or a watcher does it by itself
    assert "prefers pytest over unittest" in day.hook("session-start", "two", source="startup")
    assert "Caddy instead of nginx" in day.ask("two", "Do we use Caddy or nginx?")
    assert "docker login quokka.example.org" in day.fail("two")
    calls = [call["outcome"] for call in day.data("hook", "log")["calls"]]
    assert len(calls) == 9 and not {"failed", "late"} & set(calls)


def test_a_change_of_topic_brings_its_notes_and_a_compaction_brings_them_again(machine: Day) -> None:
    day = machine
    day.hook("session-start", "one", source="startup")
    assert "varnish" in day.ask("one", _BOAT)
    day.say("one", ("user", _BOAT), ("assistant", "Before June."))
    turned = day.ask("one", _BREAD)
    assert "evening before baking" in turned and "varnish" not in turned
    day.say("one", ("user", _BREAD), ("assistant", "The evening before."))
    day.hook("pre-compact", "one", trigger="auto")
    again = day.hook("session-start", "one", source="compact")
    assert "evening before baking" in again and "varnish" not in again
    assert "varnish" in day.ask("one", _BOAT)  # it was in the window before, and is not any more


@pytest.mark.promise("P22")
def test_what_is_purged_is_nowhere_and_is_not_learned_again(day: Day) -> None:
    secret = ("user", "Remember that my sister Quokkalina lives in Graz. We decided to use Zig instead of C.")
    day.say("one", secret)
    day.ask("one", secret[1])
    day.hook("stop", "one", last_assistant_message="ok")
    day.settle()
    (found,) = [one for one in day.data("recall", "Quokkalina")["memories"] if "Graz" in one["text"]]
    assert len(day.holding("quokkalina")) > 2
    purged = day.data("forget", found["id"], "--purge")
    assert purged["complete"] and purged["elsewhere"] == []
    assert day.holding("quokkalina") == []
    day.hook("stop", "one", last_assistant_message="ok")
    day.settle()
    assert day.holding("quokkalina") == []
    assert "Zig instead of C" in day.text_of("Agent/Decisions/Decision Log.md")  # what else was said stays
    assert day.data("doctor")["healthy"]


@pytest.mark.promise("P22")
def test_a_question_about_what_is_purged_is_nowhere_either(machine: Day) -> None:
    day = machine
    day.run("remember", "The Zyxelmoor keypad is behind the boiler in the cellar")
    assert "behind the boiler" in day.ask("claude", "where is the Zyxelmoor keypad")
    day.ask("claude", "and what do Zyxelmoors cost, keypad or not?")
    day.hook("stop", "claude", last_assistant_message="A Zyxelmoor costs forty.")
    day.ask("claude", _BREAD)
    assert len(day.holding("zyxelmoor")) > 3
    assert day.data("forget", "Zyxelmoor", "--purge", "--yes")["complete"]
    assert day.holding("zyxelmoor") == []
    day.ask("claude", _BOAT)
    day.data("hook", "settle")
    assert day.holding("zyxelmoor") == []
    assert _BREAD in [one["prompt"] for one in day.data("context", "--last", "99")["receipts"]]


def test_a_session_whose_daemon_dies_goes_on(day: Day) -> None:
    import signal

    pid = day.data("up")["pid"]
    for number in range(20):  # a hook does not wait for a daemon that is busy: it does the work itself
        session = f"session {number}"
        assert "varnish" in day.ask(session, _BOAT)
        if day.data("hook", "log")["calls"][-1]["by"] == "daemon":
            break
    os.kill(pid, signal.SIGKILL)
    assert "evening before baking" in day.ask(session, _BREAD)
    assert [call["by"] for call in day.data("hook", "log")["calls"]][-2:] == ["daemon", "self"]
    assert day.data("up", "status")["running"] is False
