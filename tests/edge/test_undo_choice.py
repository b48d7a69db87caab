"""What undo and redo take when no id is given, what they say when they can't, and what the list shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.capture.spool import append_event
from hindbrain.edge.daemon.verbs import answer
from hindbrain.edge.serving.serving import Serving
from hindbrain.vault.actions import action
from hindbrain.vault.write import VaultWriter
from workbench import Vault


def listed(cli: Cli) -> list[dict[str, object]]:
    actions: list[dict[str, object]] = cli("undo", "--list", "--json").data["actions"]
    return actions


@pytest.mark.promise("P9")
def test_a_change_that_was_edited_by_hand_says_how_to_go_on(cli: Cli, made: Vault) -> None:
    assert cli("task", "add", "Fix the boat").code == 0
    path = cli("remember", "Prefers oat milk", "--importance", "0.9", "--json").data["path"]
    made.edit(path, "oat milk", "soy milk")
    last, before = [str(one["id"]) for one in listed(cli)[:2]]
    error = cli("undo").err
    assert f"remember ({last})" in error and "by hand" in error and path in error
    assert f"hindbrain undo --force {last}" in error and "whole note" in error
    assert f"hindbrain undo {before}" in error and "(task)" in error
    assert "later changes first" not in error and "hash" not in error
    assert cli("undo", before).code == 0
    assert cli("task", "list", "--json").data["tasks"] == []
    assert cli("undo", "--force", last).code == 0
    assert not (made.root / path).exists() or "soy" not in (made.root / path).read_text("utf-8")
    assert cli("redo", last).code == 0
    assert "soy milk" in (made.root / path).read_text("utf-8"), "what was edited is kept"


@pytest.mark.promise("P9")
def test_redo_brings_back_nothing_stale_and_undo_takes_it_back(cli: Cli, made: Vault) -> None:
    assert cli("task", "add", "Fix the boat").code == 0
    undone = cli("undo", "--json").data["action"]
    assert cli("daily", "--add", "Met Ada").code == 0
    stale = cli("redo", "--json")
    assert stale.error == "not_found"
    assert f"hindbrain redo {undone}" in stale.data["error"]["message"]
    assert cli("task", "list", "--json").data["tasks"] == []
    assert cli("redo", undone).code == 0
    assert cli("undo", "--json").data["action"] == undone, "the redo was last"
    assert cli("task", "list", "--json").data["tasks"] == []
    assert "Met Ada" in cli("daily").out
    assert cli("redo", "--json").data["action"] == undone
    assert cli("undo").code == 0 and cli("undo").code == 0
    assert "Met Ada" not in cli("daily").out


@pytest.mark.promise("P9")
def test_plain_undo_leaves_background_work_alone(cli: Cli, made: Vault, writer: VaultWriter) -> None:
    assert cli("task", "add", "Fix the boat").code == 0
    with writer, action("conversation kept", via="background"):
        writer.append_note("Tea.md", b"Kept.\n")
    kept = str(listed(cli)[0]["id"])
    ran = cli("undo")
    assert ran.code == 0 and cli("task", "list", "--json").data["tasks"] == []
    assert "conversation kept" in ran.err and f"hindbrain undo {kept}" in ran.err
    assert "Kept." in (made.root / "Tea.md").read_text("utf-8")
    assert cli("redo").code == 0, "background work makes no redo stale"
    while cli("undo").code == 0:
        pass
    nothing = cli("undo", "--json")
    assert nothing.error == "not_found" and "undo --list" in nothing.data["error"]["message"]
    assert "Kept." in (made.root / "Tea.md").read_text("utf-8")
    assert cli("undo", kept).code == 0
    assert "Kept." not in (made.root / "Tea.md").read_text("utf-8")


@pytest.mark.promise("P9")
def test_the_list_says_what_was_changed_and_by_whom(cli: Cli, made: Vault, writer: VaultWriter) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    path = cli("remember", "Prefers oat milk", "--importance", "0.9", "--json").data["path"]
    with writer:
        writer.append_note("Tea.md", f"The token is {secret}\n".encode())
    unnamed, remembered = listed(cli)[:2]
    assert remembered["via"] == "command" and remembered["by"] == "remember"
    shown = cli("undo", "--list").out
    assert "remember (command)" in shown
    assert f"{path}: + Prefers oat milk\n" in shown, "the words, without our fields"
    assert secret not in shown and secret not in cli("undo", "--list", "--json").out
    assert unnamed["by"] == "append", "no action is without a name"
    assert cli("forget", "oat milk", "--yes").code == 0
    assert f"{path}: - Prefers oat milk\n" in cli("undo", "--list", "--limit", "1").out
    every = cli("undo", "--list", "--limit", "0", "--json").data["actions"]
    assert len(every) == len(listed(cli))
    assert cli("history", "--limit", "0", "--json").code == 0
    assert cli("undo", "--list", "--limit", "-1", "--json").error == "usage"


@pytest.mark.promise("P9")
@pytest.mark.parametrize("door", ["command", "daemon", "chores"])
def test_a_kept_conversation_has_the_same_name_everywhere(
    cli: Cli, made: Vault, tmp_path: Path, door: str
) -> None:
    state = Path(cli("status", "--json").data["vault"]["state"])
    record = tmp_path / "record.jsonl"
    said = {"role": "user", "content": "I always prefer pytest over unittest."}
    record.write_text(json.dumps(said) + "\n", encoding="utf-8")
    append_event(state, {"event": "stop", "host": "own", "session": "s", "transcript": str(record)})
    if door == "command":
        assert cli("hook", "settle").code == 0
    else:
        serving = Serving(lambda: build_app(load_config(), made.root, warm=False), keep=False)
        if door == "daemon":
            serving.submit(lambda app: answer(app, "settle", {"deadline_s": 5.0})).result(timeout=30)
        else:
            serving.submit(lambda app: app.context.catch_up(deadline_s=5.0)).result(timeout=30)
        serving.submit(lambda app: app.memory.settle(idle=True)).result(timeout=30)
        serving.close()
    kept = [one for one in listed(cli) if one["by"] != "init"]
    assert kept and {(one["by"], one["via"]) for one in kept} == {("conversation kept", "background")}


def test_an_unknown_id_points_to_the_list(cli: Cli, made: Vault) -> None:
    ran = cli("undo", "zzz", "--json")
    assert ran.error == "not_found" and "hindbrain undo --list" in ran.data["error"]["message"]


def test_history_takes_a_note_by_its_name(cli: Cli, made: Vault) -> None:
    path = cli(
        "remember", "Ada's number is 555", "--category", "contact", "--importance", "0.9", "--json"
    ).data["path"]
    for name in ("contact", "Contact", path, path.removesuffix(".md")):
        assert {one["path"] for one in cli("history", name, "--json").data["revisions"]} == {path}, name
    assert cli("history", "Tea", "--json").data["revisions"] == [], "it is there, and was not changed"
    assert cli("history", "nope.md", "--json").error == "not_found"
    assert cli("undo").code == 0
    assert not (made.root / path).exists()
    for name in (path, "contact"):
        assert len(cli("history", name, "--json").data["revisions"]) == 2, "a note that is gone has a history"


@pytest.mark.promise("P9")
def test_undo_removes_folders_that_its_action_made(cli: Cli, made: Vault, writer: VaultWriter) -> None:
    (made.root / "Mine").mkdir()
    with writer, action("note", via="command"):
        writer.create_note("New/Deep/One.md", b"one\n")
        writer.create_note("New/Two.md", b"two\n")
        writer.create_note("Mine/Three.md", b"three\n")
    assert cli("undo").code == 0
    assert not (made.root / "New").exists()
    assert (made.root / "Mine").is_dir(), "the action did not make it"
    assert cli("redo").code == 0
    assert (made.root / "New" / "Deep" / "One.md").read_bytes() == b"one\n"
    (made.root / "New" / "mine.txt").write_bytes(b"mine")
    assert cli("undo").code == 0
    assert (made.root / "New" / "mine.txt").exists()
    assert not (made.root / "New" / "Deep").exists()
