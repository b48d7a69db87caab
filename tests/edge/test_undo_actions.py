"""An undo takes back a whole action, the next one the action before it, and a redo brings them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.edge.serving.serving import Serving
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from hindbrain.vault.actions import action
from hindbrain.vault.write import VaultWriter
from workbench import Vault


def notes(root: Path) -> dict[str, bytes]:
    """Every note with its bytes."""
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*.md")}


@pytest.mark.promise("P9")
def test_undo_goes_further_back_each_time_and_redo_forward(cli: Cli, made: Vault) -> None:
    states = [notes(made.root)]
    for words in (
        ("remember", "Prefers oat milk in coffee", "--category", "preference", "--importance", "0.9"),
        ("task", "add", "Fix the boat"),
        ("daily", "--add", "Met Ada"),
        ("remember", "Prefers soy milk in coffee", "--category", "preference", "--importance", "0.9"),
    ):
        assert cli(*words).code == 0
        states.append(notes(made.root))
    for state in reversed(states[:-1]):
        assert cli("undo").code == 0
        assert notes(made.root) == state
    for state in states[1:]:
        assert cli("redo").code == 0
        assert notes(made.root) == state
    assert cli("redo", "--json").error == "not_found"
    assert cli("undo").code == 0
    assert notes(made.root) == states[-2], "what was redone can be undone again"


def test_the_list_shows_a_new_fact_with_the_one_that_it_replaced(cli: Cli, made: Vault) -> None:
    cli("remember", "Favourite editor is vim")
    cli("remember", "Favourite editor is ed")
    (change,) = cli("undo", "--list", "--json").data["actions"][0]["changes"]
    assert change["text"].startswith("+ Favourite editor is ed")
    assert "Favourite editor is vim" in change["text"]


@pytest.mark.promise("P9")
def test_an_action_of_several_notes_is_one_undo(cli: Cli, made: Vault, writer: VaultWriter) -> None:
    before = notes(made.root)
    with writer, action("learn"):
        writer.append_note("Tea.md", b"One.\n")
        writer.create_note("New.md", b"new\n")
        writer.append_note("Tea.md", b"Two.\n")
        writer.append_note("New.md", b"more\n")
    after = notes(made.root)
    listed = cli("undo", "--list", "--json").data["actions"][0]
    assert listed["by"] == "learn" and not listed["undone"]
    assert [change["path"] for change in listed["changes"]] == ["Tea.md", "New.md", "Tea.md", "New.md"]
    assert {row["action"] for row in cli("history", "--limit", "4", "--json").data["revisions"]} == {
        listed["id"]
    }
    done = cli("undo", "--json").data
    assert done["action"] == listed["id"] and {note["path"] for note in done["notes"]} == {"Tea.md", "New.md"}
    assert notes(made.root) == before
    assert cli("undo", "--list", "--json").data["actions"][0]["undone"]
    assert cli("redo").code == 0
    assert notes(made.root) == after


@pytest.mark.promise("P9")
def test_what_cannot_be_taken_back_is_named_and_the_rest_is(
    cli: Cli, made: Vault, writer: VaultWriter
) -> None:
    with writer, action("learn"):
        writer.append_note("Tea.md", b"One.\nTwo.\n")
        writer.create_note("New.md", b"new\n")
    made.edit("New.md", "new", "new, by hand")
    made.edit("Tea.md", "Green tea", "Black tea")  # elsewhere in the note: it stays
    ran = cli("undo", "--json")
    assert ran.code == 1
    assert [note["path"] for note in ran.data["notes"]] == ["Tea.md"]
    assert [(one["path"], one["code"]) for one in ran.data["failed"]] == [("New.md", "conflict")]
    assert notes(made.root)["Tea.md"].decode() == "# Tea\n\nBlack tea is brewed at 70 degrees.\n"
    assert notes(made.root)["New.md"].decode() == "new, by hand\n"
    assert cli("undo", ran.data["failed"][0]["change"], "--force").code == 0
    assert not (made.root / "New.md").exists()
    assert cli("redo").code == 0
    assert notes(made.root)["New.md"].decode() == "new, by hand\n"


@pytest.mark.promise("P9")
def test_a_new_action_after_an_undo_loses_nothing(cli: Cli, made: Vault) -> None:
    cli("task", "add", "Fix the boat")
    undone = cli("undo", "--json").data["action"]
    cli("daily", "--add", "Met Ada")
    assert cli("undo", undone, "--json").error == "not_found", "it is undone already"
    assert cli("redo", undone).code == 0
    assert [task["title"] for task in cli("task", "list", "--json").data["tasks"]] == ["Fix the boat"]
    assert cli("undo", undone).code == 0, "any action by its id"
    assert cli("task", "list", "--json").data["tasks"] == []
    assert "Met Ada" in cli("daily").out


@pytest.mark.promise("P9")
def test_an_undone_memory_is_neither_recalled_nor_refused_and_comes_back(cli: Cli, made: Vault) -> None:
    fact = "Prefers oat milk in coffee"
    words = ("remember", fact, "--category", "preference", "--importance", "0.9", "--json")
    first = cli(*words).data["id"]

    def recalled() -> list[str]:
        return [one["id"] for one in cli("recall", "oat milk coffee", "--json").data["memories"]]

    assert recalled() == [first]
    assert cli("undo").code == 0
    assert recalled() == []
    assert cli("search", "oat milk", "--keyword", "--json").data["hits"] == []
    assert cli("redo").code == 0
    assert recalled() == [first]
    assert cli("undo").code == 0
    again = cli(*words, "--source", "agent")
    assert again.code == 0, "an undo is no wish never to hear of it again"
    assert again.data["action"] == "new"
    assert cli("forget", again.data["id"]).code == 0
    assert cli(*words, "--source", "agent").error == "refused"
    assert cli("undo").code == 0  # of the forgetting
    assert recalled() == [again.data["id"]]
    assert cli(*words, "--source", "agent").code == 0


def test_each_change_of_an_old_log_is_an_action(cli: Cli, made: Vault, writer: VaultWriter) -> None:
    before = notes(made.root)
    with writer:
        writer.append_note("Tea.md", b"One.\n")
        middle = notes(made.root)
        writer.append_note("Tea.md", b"Two.\n")
    assert cli("undo").code == 0
    assert notes(made.root) == middle
    assert cli("undo").code == 0
    assert notes(made.root) == before


@pytest.mark.promise("P9", "P27")
def test_a_change_is_taken_back_in_a_note_that_was_moved(cli: Cli, made: Vault) -> None:
    words = ("remember", "Prefers oat milk", "--category", "preference", "--importance", "0.9")
    assert cli(*words).code == 0
    task = cli("task", "add", "Fix the boat", "--json").data["tasks"][0]
    assert cli("note", "append", "Tea", "Steep for two minutes.").code == 0
    (made.root / "Mine").mkdir()
    (made.root / task["path"]).rename(made.root / "Mine" / "To do.md")
    (made.root / "Tea.md").rename(made.root / "Mine" / "Green tea.md")
    assert cli("sync").code == 0
    after = notes(made.root)
    assert cli("undo", "--json").data["notes"][0]["path"] == "Mine/Green tea.md"
    assert cli("undo", "--json").data["notes"][0]["path"] == "Mine/To do.md"
    assert "Steep" not in notes(made.root)["Mine/Green tea.md"].decode()
    assert "Fix the boat" not in notes(made.root)["Mine/To do.md"].decode()
    assert cli("redo").code == 0 and cli("redo").code == 0
    assert notes(made.root) == after


@pytest.mark.promise("P9")
def test_each_call_of_a_tool_is_an_action(cli: Cli, made: Vault) -> None:
    serving = Serving(lambda: build_app(load_config(), made.root, warm=False), keep=False)

    def use(tool: str, **arguments: object) -> None:
        serving.submit(lambda app: call(app.memory, tool_named(tool), arguments)).result(timeout=30)

    before = notes(made.root)
    use("remember", fact="Prefers oat milk in coffee", category="preference", importance=0.9)
    first = notes(made.root)
    # Written to two notes: the new line, and the old one that it replaces.
    use("remember", fact="Prefers soy milk, not oat milk, in coffee", category="fact", importance=0.9)
    use("task_create", title="Fix the boat")
    serving.close()
    listed = [one["by"] for one in cli("undo", "--list", "--json").data["actions"][:3]]
    assert listed == ["task_create", "remember", "remember"]
    assert cli("undo").code == 0 and cli("undo").code == 0
    assert notes(made.root) == first
    assert cli("undo").code == 0
    assert notes(made.root) == before
