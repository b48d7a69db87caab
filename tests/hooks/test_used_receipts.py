"""After the answer a receipt knows what of it was used: through hooks, transcript and commands."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main
from workbench import Vault

PORT = "which port has the kite server?"


class Talk:
    """A session of Claude Code: each turn goes through the hooks, and is written down as the host does it."""

    def __init__(self, vault: Vault, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.vault = vault
        self.transcript = folder / "talk.jsonl"
        self._capsys = capsys
        self._count = 0

    def hook(self, name: str, **payload: object) -> str:
        host = host_named("claude-code")
        event = host.event(name) if host is not None else None
        assert host is not None and event is not None
        sent = {
            "session_id": "s1", "hook_event_name": event.there, "cwd": str(self.vault.root),
            "transcript_path": str(self.transcript), **payload,
        }  # fmt: skip
        doing = Doing(host, event, time.monotonic())
        answer = doing.answer(lambda: json.dumps(sent).encode())
        doing.finish(answer)
        assert not doing.note, doing.note
        return answer.text

    def turn(self, prompt: str, *answers: str, command: str = "") -> None:
        """One prompt, the agent's answers and a command that it ran, to the end of the background's work."""
        self.hook("user-prompt-submit", prompt=prompt)
        self._write("user", prompt)
        if command:
            call = {"type": "tool_use", "id": f"t{self._count}", "name": "Bash"}
            self._write("assistant", [{**call, "input": {"command": command}}])
        for answer in answers:
            self._write("assistant", [{"type": "text", "text": answer}])
        self.hook("stop", last_assistant_message=answers[-1] if answers else "")
        assert main(["hook", "settle", "--vault", str(self.vault.root)]) == 0

    def _write(self, role: str, content: object) -> None:
        self._count += 1
        # The host writes a message down when it is complete, a while after the prompt was answered by us.
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + (role == "assistant")))
        line = {
            "type": role, "uuid": f"u{self._count:03}-0000-0000-0000-000000000000", "timestamp": stamp,
            "cwd": str(self.vault.root), "sessionId": "s1", "message": {"role": role, "content": content},
        }  # fmt: skip
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def last(self, many: int = 1) -> list[dict[str, Any]]:
        shown = self.shown("context", "--last", str(many), "--json", data=True)
        found: list[dict[str, Any]] = shown["receipts"]
        return found

    def used(self) -> dict[str, list[str]]:
        """Of the last receipt: path of the note to the ways in which its excerpt was used."""
        return {one["path"]: one["used"] for one in self.last()[0]["entered"]}

    def shown(self, *words: str, data: bool = False) -> Any:
        self._capsys.readouterr()
        assert main([words[0], "--vault", str(self.vault.root), *words[1:]]) == 0
        out = self._capsys.readouterr().out
        return json.loads(out) if data else out

    @property
    def receipts(self) -> str:
        [file] = Path(self.transcript.parent / "state").rglob("receipts.jsonl")
        return file.read_text(encoding="utf-8")


@pytest.fixture
def talk(synced: Vault, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Talk:
    return Talk(synced, tmp_path, capsys)


def test_an_answer_that_quotes_a_line_has_used_its_note(talk: Talk) -> None:
    talk.turn(PORT, "By your note the kite server runs on port 7421, and that is all it says.")

    assert talk.used() == {"Kite.md": ["quoted"]}
    assert "quoted in an answer" in talk.shown("context", "--last")


def test_an_answer_that_names_the_file_has_used_its_note(talk: Talk) -> None:
    talk.turn(PORT, "It is 7421 (see Kite.md).")

    assert talk.used() == {"Kite.md": ["named"]}


def test_a_note_is_named_by_a_link_and_not_by_a_word_like_others(talk: Talk) -> None:
    talk.turn(PORT, "A kite flies best in a steady wind.")
    assert talk.used() == {"Kite.md": []}

    talk.turn("how long does chicken broth simmer?", "Three hours, as [[Broth]] has it.")
    assert talk.used() == {"Broth.md": ["named"]}


def test_a_name_of_several_words_counts_as_it_is_and_a_date_does_not(talk: Talk) -> None:
    talk.vault.write("Boat/Mast repair.md", "# Mast\n\nOakum and tar close the crack below the crosstrees.\n")
    talk.vault.write("2026-03-02.md", "Bought oakum for the crosstrees at the chandler.\n")
    talk.shown("sync")
    talk.turn("what do I need oakum for, at the crosstrees?", "For the mast repair, bought on 2026-03-02.")

    assert talk.used() == {"Boat/Mast repair.md": ["named"], "2026-03-02.md": []}


def test_a_command_of_a_note_that_was_run_has_been_used(talk: Talk) -> None:
    talk.turn(PORT, "Done.", command="cd /srv && kitectl reload")

    assert talk.used() == {"Kite.md": ["run"]}
    assert "its command was run" in talk.shown("context", "--last")


def test_a_command_of_its_own_is_none_of_the_note(talk: Talk) -> None:
    talk.turn(PORT, "Done.", command="systemctl reload")

    assert talk.used() == {"Kite.md": []}


def test_what_the_person_said_first_proves_nothing(talk: Talk) -> None:
    said = "is it true that the kite server runs on port 7421? my Kite.md says so, run kitectl reload if not"
    talk.turn(said, "Yes, the kite server runs on port 7421 (Kite.md).", command="kitectl reload")

    assert talk.used() == {"Kite.md": []}


def test_an_answer_without_any_of_it_has_used_nothing_that_is_known(talk: Talk) -> None:
    talk.turn(PORT, "I would look into the settings of the server.")

    assert talk.used() == {"Kite.md": []}
    assert '"event":"used"' not in talk.receipts


def test_a_later_answer_may_use_what_the_window_still_holds(talk: Talk) -> None:
    talk.turn(PORT, "7421.")
    assert talk.used() == {"Kite.md": []}

    talk.turn("go on then", "Reloading.", command="kitectl reload")

    first = talk.last(2)[-1]
    assert [(one["path"], one["used"]) for one in first["entered"]] == [("Kite.md", ["run"])]


def test_the_same_use_is_noted_once(talk: Talk) -> None:
    for _ in range(2):
        talk.turn(PORT, "By your note the kite server runs on port 7421.")

    assert talk.receipts.count('"event":"used"') == 1


def test_what_is_kept_of_a_use_are_places_and_ids(talk: Talk) -> None:
    talk.turn(PORT, "By Kite.md the kite server runs on port 7421.", command="kitectl reload")

    [line] = [json.loads(line) for line in talk.receipts.splitlines() if '"event":"used"' in line]
    [receipt] = talk.last()
    assert line.pop("at") > 0
    assert line == {
        "event": "used", "host": "claude-code", "session": "s1", "receipt": receipt["id"],
        "used": [{"entry": 0, "ways": ["quoted", "named", "run"]}],
    }  # fmt: skip
    assert "7421" not in talk.receipts and "kitectl" not in talk.receipts


def test_stats_tell_what_was_used(talk: Talk) -> None:
    talk.turn(PORT, "By your note the kite server runs on port 7421.", command="kitectl reload")
    talk.turn("how long does chicken broth simmer?", "Quite long.")

    [relevant] = talk.shown("stats", "--json", data=True)["answers"]
    assert relevant == {"slot": "relevant", "excerpts": 2, "used": 1, "quoted": 1, "named": 0, "run": 1}
    assert "1 of 2 excerpts (50%): 1 quoted, 1 whose command was run" in talk.shown("stats")


def test_the_line_of_a_memory_is_quoted_like_a_note(talk: Talk) -> None:
    fact = "The greenhouse heater trips whenever the kettle boils beside it"
    talk.shown("remember", fact, "--category", "fact")
    talk.turn("what about the greenhouse heater?", "Your greenhouse heater trips whenever the kettle boils.")

    assert ["quoted"] in [one["used"] for one in talk.last()[0]["entered"]]
