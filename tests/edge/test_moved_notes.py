"""A note that its owner moves, renames or splits keeps its part: nothing in it is lost or refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.vault.layout import LAYOUTS, load_layout
from workbench import Vault

FACT = "Prefers oat milk in coffee"
OTHER = "Likes the window seat on trains"


def move(root: Path, old: str, new: str) -> None:
    (root / new).parent.mkdir(parents=True, exist_ok=True)
    (root / old).rename(root / new)


def remember(cli: Cli, text: str, *options: str) -> dict[str, str]:
    ran = cli("remember", text, "--category", "preference", "--importance", "0.9", "--json", *options)
    assert ran.code == 0, ran.err + ran.out
    data: dict[str, str] = ran.data
    return data


def recalled(cli: Cli, topic: str) -> list[str]:
    return [found["id"] for found in cli("recall", topic, "--json").data["memories"]]


def tombstones(root: Path) -> int:
    file = root / ".hindbrain" / "tombstones.jsonl"
    return file.read_text(encoding="utf-8").count('"exact"') if file.exists() else 0


def notes_of_type(root: Path, kind: str) -> list[str]:
    return sorted(
        file.relative_to(root).as_posix()
        for file in root.rglob("*.md")
        if f"\ntype: {kind}\n" in file.read_text(encoding="utf-8")
    )


@pytest.fixture(params=LAYOUTS)
def arranged(request: pytest.FixtureRequest, vault: Vault, cli: Cli) -> Vault:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n")
    for folder in ("Projects", "Areas", "Resources", "Archive"):
        vault.write(f"{folder}/About.md", f"# {folder}\n")
    assert cli("init", "--layout", request.param).code == 0
    assert cli("sync").code == 0
    return vault


@pytest.mark.promise("P27")
def test_memories_follow_their_note(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    first = remember(cli, FACT)
    second = remember(cli, OTHER)
    usual, moved = first["path"], "Elsewhere/About me.md"
    move(root, usual, moved)

    third = remember(cli, "Wants invoices as PDF")
    assert third["path"] == moved, "a new memory of the kind goes to the note that holds the others"
    assert not (root / usual).exists()
    assert recalled(cli, "oat milk coffee")[0] == first["id"]
    assert remember(cli, FACT, "--source", "agent")["action"] == "merge"
    assert tombstones(root) == 0

    assert cli("sync").code == 0
    assert recalled(cli, "which milk in coffee")[0] == first["id"]
    newer = remember(cli, "Prefers soy milk in coffee")
    assert newer["path"] == moved
    assert cli("forget", second["id"]).code == 0
    assert OTHER not in (root / moved).read_text(encoding="utf-8")
    assert tombstones(root) == 1, "what was forgotten by name still is"

    move(root, moved, usual)  # and back
    assert remember(cli, "Reads on paper")["path"] == usual
    assert not (root / moved).exists()
    assert recalled(cli, "invoices")[0] == third["id"]
    assert tombstones(root) == 1


@pytest.mark.promise("P27")
def test_memories_that_were_cut_into_another_note_stay(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    first = remember(cli, FACT)
    second = remember(cli, OTHER)
    note = root / first["path"]
    lines = note.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = [line for line in lines if first["id"] in line]
    note.write_text("".join(line for line in lines if line not in cut), encoding="utf-8")
    mine = "# Food\n\n- just a list item of mine\n"
    arranged.write("Notes/Food.md", mine + "".join(cut))

    assert recalled(cli, "oat milk coffee")[0] == first["id"]
    assert tombstones(root) == 0
    assert remember(cli, FACT, "--source", "agent")["id"] == first["id"]
    assert recalled(cli, "window seat trains")[0] == second["id"]
    assert set(recalled(cli, "a list item of mine")) <= {first["id"], second["id"]}
    assert cli("forget", first["id"]).code == 0
    assert (root / "Notes/Food.md").read_text(encoding="utf-8") == mine


@pytest.mark.promise("P27")
def test_tasks_follow_their_note(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    first = cli("task", "add", "Fix the boat", "--json").data["tasks"][0]
    usual, moved = first["path"], "Work/To do.md"
    move(root, usual, moved)
    second = cli("task", "add", "Paint the boat", "--json").data["tasks"][0]
    assert second["path"] == moved
    assert cli("init", "--layout", load_layout(root).name).code == 0
    assert notes_of_type(root, "tasks") == [moved]
    assert cli("task", "done", first["id"]).code == 0
    assert [task["id"] for task in cli("task", "list", "--json").data["tasks"]] == [second["id"]]
    move(root, moved, usual)
    assert cli("task", "start", second["id"], "--json").data["tasks"][0]["path"] == usual
    assert notes_of_type(root, "tasks") == [usual]


@pytest.mark.promise("P27")
def test_tasks_that_were_cut_into_another_note_stay(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    first = cli("task", "add", "Fix the boat", "--json").data["tasks"][0]
    second = cli("task", "add", "Paint the boat", "--json").data["tasks"][0]
    note = root / first["path"]
    lines = note.read_text(encoding="utf-8").splitlines(keepends=True)
    cut = [line for line in lines if first["id"] in line]
    note.write_text("".join(line for line in lines if line not in cut), encoding="utf-8")
    (root / "Boat.md").write_text("# Boat\n\n- [ ] my own box\n" + "".join(cut), encoding="utf-8")
    shown = {task["id"]: task["path"] for task in cli("task", "list", "--json").data["tasks"]}
    assert shown == {first["id"]: "Boat.md", second["id"]: second["path"]}
    assert cli("task", "done", first["id"], "--json").data["tasks"][0]["path"] == "Boat.md"
    assert "- [x] **Fix the boat**" in (root / "Boat.md").read_text(encoding="utf-8")
    assert "- [ ] my own box" in (root / "Boat.md").read_text(encoding="utf-8")


@pytest.mark.promise("P27")
def test_other_notes_of_a_role_are_followed(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    (inbox,) = notes_of_type(root, "inbox")
    move(root, inbox, "Read me first.md")
    held = cli("remember", "The office moves in May", "--source", "web", "--json")
    assert held.data["action"] == "held"
    assert "The office moves in May" in (root / "Read me first.md").read_text(encoding="utf-8")
    assert not (root / inbox).exists()
    assert cli("daily", "--add", "Met Ada").code == 0
    for day in notes_of_type(root, "daily"):
        move(root, day, "Journal/Today.md")
        assert cli("daily", "--add", "Met Bob").code == 0
        assert "Met Bob" in (root / "Journal/Today.md").read_text(encoding="utf-8")
        assert not (root / day).exists()


def hook(root: Path, event: str, **payload: str) -> str:
    host = host_named("claude-code")
    called = host.event(event) if host else None
    assert host is not None and called is not None
    doing = Doing(host, called, time.monotonic())
    answer = doing.answer(lambda: json.dumps({"session_id": "s1", "cwd": str(root), **payload}).encode())
    assert not doing.note, doing.note
    return answer.text


@pytest.mark.promise("P27")
def test_hooks_read_notes_where_they_were_moved(
    arranged: Vault, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = arranged.root
    memory = remember(cli, FACT)["path"]
    tasks = cli("task", "add", "Fix the boat", "--json").data["tasks"][0]["path"]
    (profile,) = notes_of_type(root, "profile")
    with (root / profile).open("a", encoding="utf-8") as file:
        file.write("\n- Lives in Lisbon\n")
    for number, path in enumerate((memory, tasks, profile)):
        move(root, path, f"Mine/{number}.md")
    said = hook(root, "session-start", source="startup")
    assert "Lives in Lisbon" in said and "Fix the boat" in said and FACT in said
    other = hook(root, "user-prompt-submit", prompt="Which milk do I take in my coffee?", session_id="s2")
    assert FACT in other
    assert not any((root / path).exists() for path in (memory, tasks, profile))
    assert tombstones(root) == 0


def test_a_vault_from_another_machine_is_not_given_its_notes_twice(
    arranged: Vault, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = arranged.root
    first = cli("task", "add", "Fix the boat", "--json").data["tasks"][0]
    move(root, first["path"], "Work/To do.md")
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "other"))
    assert [task["id"] for task in cli("task", "list", "--json").data["tasks"]] == [first["id"]]
    assert cli("init", "--layout", load_layout(root).name).code == 0
    assert notes_of_type(root, "tasks") == ["Work/To do.md"]


def test_a_note_that_was_gone_and_is_made_again_is_followed(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    usual = cli("task", "add", "Fix the boat", "--json").data["tasks"][0]["path"]
    (root / usual).unlink()
    assert cli("task", "list", "--json").data["tasks"] == []
    cli("task", "add", "Paint the boat")
    move(root, usual, "Work/To do.md")
    assert cli("task", "add", "Sell the boat", "--json").data["tasks"][0]["path"] == "Work/To do.md"


def test_a_memory_that_is_nowhere_counts_as_deleted(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    first = remember(cli, FACT)
    remember(cli, OTHER)
    note = root / first["path"]
    lines = note.read_text(encoding="utf-8").splitlines(keepends=True)
    note.write_text("".join(line for line in lines if first["id"] not in line), encoding="utf-8")
    ran = cli("remember", FACT, "--category", "preference", "--source", "agent", "--json")
    assert ran.error == "refused"
    assert tombstones(root) == 1


def test_a_note_that_left_the_vault_says_nothing(arranged: Vault, cli: Cli, tmp_path: Path) -> None:
    root = arranged.root
    first = remember(cli, FACT)
    (root / first["path"]).rename(tmp_path / "outside.md")
    again = remember(cli, OTHER)
    assert again["path"] == first["path"]
    assert first["id"] not in recalled(cli, "oat milk coffee")
    assert tombstones(root) == 0, "a note that is made anew in its place does not make it a deletion"
    (tmp_path / "outside.md").rename(root / "Back.md")
    assert cli("sync").code == 0
    assert recalled(cli, "oat milk coffee")[0] == first["id"]
    assert recalled(cli, "window seat trains")[0] == again["id"]
    assert tombstones(root) == 0


def test_a_note_of_the_owner_is_never_taken_for_one_of_ours(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    mine = "---\ntype: tasks\n---\n# My own list\n\n- [ ] water the plants\n"
    arranged.write("Garden.md", mine)
    cli("sync")
    (usual,) = [path for path in notes_of_type(root, "tasks") if path != "Garden.md"]
    (root / usual).unlink()
    assert cli("task", "add", "Fix the boat", "--json").data["tasks"][0]["path"] == usual
    assert (root / "Garden.md").read_text(encoding="utf-8") == mine


def test_doctor_names_a_role_whose_note_is_gone_or_claimed_twice(arranged: Vault, cli: Cli) -> None:
    root = arranged.root
    cli("task", "add", "Fix the boat")
    (usual,) = notes_of_type(root, "tasks")

    def finding() -> dict[str, str]:
        found = {one["name"]: one for one in cli("doctor", "--json").data["findings"]}
        one: dict[str, str] = found["roles"]
        return one

    assert finding()["state"] == "ok"
    text = (root / usual).read_text(encoding="utf-8")
    (root / usual).unlink()
    gone = finding()
    assert gone["state"] == "doubtful" and usual in gone["detail"]
    arranged.write("A.md", text)
    arranged.write("B.md", text)
    twice = finding()
    assert twice["state"] == "doubtful" and "A.md" in twice["detail"] and "B.md" in twice["detail"]
    arranged.write(usual, text)
    assert finding()["state"] == "ok", "the layout's own place wins"


def test_doctor_sees_a_moved_note_before_any_other_command(cli: Cli, vault: Vault) -> None:
    assert cli("init", "--layout", "obsidian").code == 0
    usual = cli("task", "add", "Oil the mast", "--json").data["tasks"][0]["path"]
    cli("sync")
    move(vault.root, usual, "Elsewhere/Todo.md")
    findings = {one["name"]: one for one in cli("doctor", "--json").data["findings"]}
    assert "Elsewhere/Todo.md" in findings["roles"]["detail"]
    assert findings["roles"]["state"] == "ok"
