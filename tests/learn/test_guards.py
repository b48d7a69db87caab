"""Guards: an owner's lesson that puts a tool call before a person, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.app import App
from hindbrain.learn.lessons.guards import GUARDS, Heeded, call_digest, guards_of, heeded, read_guards, stop
from hindbrain.learn.runs.episode import Action, Episode
from workbench import NOW, Vault

FORCE = {"command": "git push origin main --force"}
NOTE = '---\ntype: lesson\nguard: "Bash: git push .*--force"\n---\n# Never force a push to main\n'


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    return make_app(vault.root)


def test_a_note_of_an_owner_becomes_a_guard_when_something_is_learned(app: App, vault: Vault) -> None:
    vault.write("Rules/Push.md", NOTE)
    app.sync()
    assert app.learning.learn().problems == ()
    guard = stop(app.state, "bash", FORCE, at=NOW)
    assert guard is not None and guard.id == "Rules/Push.md" and "force a push" in guard.reason
    assert stop(app.state, "Bash", {"command": "git push origin main"}, at=NOW) is None
    assert stop(app.state, "Read", FORCE, at=NOW) is None


def test_a_guard_that_its_owner_takes_away_is_gone(app: App, vault: Vault) -> None:
    vault.write("Rules/Push.md", NOTE)
    app.sync()
    app.learning.learn()
    vault.write("Rules/Push.md", "# Never force a push to main\n", at=NOW)
    app.sync()
    app.learning.learn()
    assert read_guards(app.state) == []


def test_what_an_agent_wrote_guards_nothing_and_what_can_t_be_checked_is_told(app: App, vault: Vault) -> None:
    vault.write("Rules/Agent.md", NOTE.replace("type: lesson", "type: lesson\nsource: agent"))
    vault.write("Rules/Broken.md", NOTE.replace("git push .*--force", "(["))
    app.sync()
    problems = app.learning.learn().problems
    assert len(problems) == 1 and "Rules/Broken.md" in problems[0]
    assert read_guards(app.state) == []


def test_it_is_counted_whether_the_agent_went_ahead(tmp_path: Path) -> None:
    (tmp_path / GUARDS).write_text('[{"id": "^l-1", "tool": "*", "pattern": "rm -rf"}]', encoding="utf-8")
    for at in (NOW, NOW + 7_200):
        assert stop(tmp_path, "Bash", {"command": "rm -rf build"}, at=at) is not None
    did = Action("Bash", (("command", "rm -rf build"),))
    run = Episode("r-1", "clean up", "success", NOW + 60, NOW + 90, actions=(did,))
    assert heeded(tmp_path, [run]) == {"^l-1": Heeded(asked=2, went_ahead=1)}
    assert heeded(tmp_path, [run])["^l-1"].heeded == 1


def test_a_call_is_known_again_in_a_journal_that_has_cut_it() -> None:
    long = "x" * 5_000
    cut = dict(Action("Write", (("text", long[:299] + "…"),)).arguments)
    assert call_digest("Write", {"text": long}) == call_digest("write", cut)


def test_damaged_files_stop_nobody(tmp_path: Path) -> None:
    (tmp_path / GUARDS).write_bytes(b"\xff{")
    assert stop(tmp_path, "Bash", FORCE, at=NOW) is None
    assert guards_of([], []) == ([], [])
