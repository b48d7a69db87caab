"""`hindbrain init` with layouts: what it makes, and above all what it leaves alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.vault.layout import LAYOUTS, built_in, load_layout
from hindbrain.vault.parse import parse_note
from workbench import Vault


def traces(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file with its bytes and its time."""
    return {
        str(file.relative_to(root)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_new_vault_is_made_and_making_it_again_changes_nothing(cli: Cli, tmp_path: Path, name: str) -> None:
    root = tmp_path / "new"
    made = cli.bare("init", str(root), "--layout", name, "--json").data
    folder = "Areas/Agent" if name == "para" else ""
    assert made["layout"] == {"name": name, "folder": folder}
    assert all((root / path).is_file() for path in made["created"])
    before = traces(root)
    for words in (["--layout", name], [], ["--layout", name, "--sync"]):
        again = cli.bare("init", str(root), *words, "--json").data
        assert (again["created"], again["made"], again["id"]) == ([], False, made["id"])
        assert traces(root) == before


@pytest.mark.promise("P5")
@pytest.mark.parametrize("name", LAYOUTS)
def test_in_a_vault_with_notes_only_one_folder_is_added(cli: Cli, notes: Vault, name: str) -> None:
    before = traces(notes.root)
    made = cli("init", "--layout", name, "--json").data
    after = traces(notes.root)
    assert {path: after[path] for path in before} == before
    folder = made["layout"]["folder"]
    own = {path for path in set(after) - set(before) if not path.startswith(".hindbrain")}
    assert own and all(Path(path).as_posix().startswith(f"{folder}/") for path in own)
    cli("init", "--layout", name)
    assert traces(notes.root) == after


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_was_made_is_read_without_a_problem_and_all_links_lead_somewhere(
    cli: Cli, notes: Vault, name: str
) -> None:
    for path in cli("init", "--layout", name, "--json").data["created"]:
        note = parse_note((notes.root / path).read_text(encoding="utf-8"), stem="")
        assert not note.problems
        assert all((notes.root / f"{link.target}.md").is_file() for link in note.links)
    assert cli("sync").code == 0
    assert cli("lint", "--json").code == 0


def test_a_note_that_is_there_is_never_written_over(cli: Cli, notes: Vault) -> None:
    notes.write("Agent/User Profile.md", b"\xef\xbb\xbfmine\r\n\xff")
    made = cli("init", "--layout", "obsidian", "--json").data
    assert made["kept"] == ["Agent/User Profile.md"]
    assert (notes.root / "Agent/User Profile.md").read_bytes() == b"\xef\xbb\xbfmine\r\n\xff"


def test_without_a_layout_a_vault_with_notes_gets_no_note(cli: Cli, notes: Vault) -> None:
    made = cli("init", "--json").data
    assert (made["created"], made["layout"]) == ([], {"name": "obsidian", "folder": "Agent"})
    assert not (notes.root / "Agent").exists()
    assert load_layout(notes.root) == built_in("obsidian", "Agent")
    assert cli("init", "--layout", "obsidian", "--json").data["created"]


def test_an_empty_folder_becomes_a_vault_with_its_first_notes(cli: Cli, vault: Vault) -> None:
    (vault.root / ".git").mkdir()
    made = cli("init", "--json").data
    assert made["layout"] == {"name": "obsidian", "folder": ""}
    assert "Home.md" in made["created"]


def test_a_para_vault_is_seen_as_one(cli: Cli, vault: Vault) -> None:
    for folder in ("1-Projects", "2-Areas", "3-Resources"):
        vault.write(f"{folder}/x.md", "x")
    assert cli("init", "--json").data["layout"] == {"name": "para", "folder": "2-Areas/Agent"}


def test_another_layout_is_refused_where_notes_would_be_left_behind(cli: Cli, notes: Vault) -> None:
    cli("init", "--layout", "obsidian")
    before = traces(notes.root)
    for words in (("--layout", "brain"), ("--folder", "AI")):
        ran = cli("init", *words, "--json")
        assert (ran.code, ran.error) == (2, "usage")
        assert "tasks: Agent/Active Tasks.md -> " in ran.data["error"]["message"]
    assert traces(notes.root) == before


def test_a_layout_without_a_note_yet_is_changed_at_once(cli: Cli, notes: Vault) -> None:
    cli("init")
    assert cli("init", "--layout", "brain", "--json").data["layout"]["name"] == "brain"


def test_another_layout_is_told_and_nothing_is_moved(cli: Cli, notes: Vault) -> None:
    cli("init", "--layout", "obsidian")
    before = traces(notes.root)
    made = cli("init", "--layout", "brain", "--switch", "--json").data
    after = traces(notes.root)
    assert "Agent/tasks/active-tasks.md" in made["created"]
    assert any(line.startswith("tasks: ") for line in made["moved"])
    for path, trace in before.items():
        assert after[path] == trace or path.endswith("layout.toml")
    assert load_layout(notes.root).name == "brain"
    assert cli("init", "--json").data["layout"]["name"] == "brain"


def test_the_folder_can_be_chosen_and_stays(cli: Cli, notes: Vault) -> None:
    assert cli("init", "--folder", "AI/Memory/", "--json").data["layout"]["folder"] == "AI/Memory"
    made = cli("init", "--layout", "obsidian", "--json").data
    assert "AI/Memory/Home.md" in made["created"]
    assert cli("init", "--json").data["layout"]["folder"] == "AI/Memory"


@pytest.mark.parametrize("folder", ["../out", ".obsidian/x", "/abs", "a/../../b", "CON", "a#b"])
def test_a_folder_that_is_none_is_refused_before_anything_is_written(
    cli: Cli, notes: Vault, folder: str
) -> None:
    before = traces(notes.root)
    ran = cli("init", "--folder", folder, "--json")
    # "/abs" means the folder "abs" of the vault.
    assert ran.code != 0 and ran.error in ("unsafe_path", "usage") if folder != "/abs" else ran.code == 0
    if ran.code:
        assert traces(notes.root) == before


def test_an_owner_s_own_layout_is_kept_in_the_vault_as_written(
    cli: Cli, notes: Vault, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(
        b'# my places\nbase = "obsidian"\n[roles]\ntasks = "Todo.md"\n[start]\ntasks = "# Todo\\n"\n'
    )
    made = cli("init", "--layout", str(file), "--json").data
    assert "Agent/Todo.md" in made["created"]
    kept = (notes.root / ".hindbrain/layout.toml").read_bytes()
    assert kept == b'folder = "Agent"\n' + file.read_bytes()
    before = traces(notes.root)
    assert cli("init", "--layout", str(file)).code == 0
    assert cli("init").code == 0
    assert traces(notes.root) == before
    assert (notes.root / "Agent/Todo.md").read_text(encoding="utf-8") == "# Todo\n"


def test_a_layout_that_is_not_there_is_told_with_one_that_is(cli: Cli, notes: Vault) -> None:
    far = cli("init", "--layout", "nope", "--json").data["error"]["message"]
    assert "did you mean" not in far and all(name in far for name in LAYOUTS)
    near = cli("init", "--layout", "obsidan", "--json").data["error"]["message"]
    assert "did you mean 'obsidian'?" in near


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_first_notes_name_the_folder_that_the_days_go_to(cli: Cli, tmp_path: Path, name: str) -> None:
    root = tmp_path / "new"
    made = cli.bare("init", str(root), "--layout", name, "--json").data
    texts = "".join((root / path).read_text(encoding="utf-8") for path in made["created"])
    path = cli("daily", "--add", "Rowed", "--json", vault=root).data["path"]
    assert f"`{path.rpartition('/')[0]}/`" in texts


def test_mistakes_in_layouts_are_told_before_anything_is_written(
    cli: Cli, notes: Vault, tmp_path: Path
) -> None:
    before = traces(notes.root)
    bad = tmp_path / "bad.toml"
    bad.write_text('base = "obsidian"\n[roles]\ntasks = "../x.md"\n', encoding="utf-8")
    fixed = tmp_path / "fixed.toml"
    fixed.write_text('base = "obsidian"\nfolder = "A"\n', encoding="utf-8")
    assert cli("init", "--layout", str(bad), "--json").error == "config"
    assert cli("init", "--layout", "obsidan", "--json").error == "usage"
    assert cli("init", "--layout", str(tmp_path / "no.toml"), "--json").error == "not_found"
    assert cli("init", "--layout", str(fixed), "--folder", "B", "--json").error == "usage"
    assert traces(notes.root) == before


def test_a_stored_layout_that_is_broken_is_an_error_and_stays(cli: Cli, notes: Vault) -> None:
    notes.write(".hindbrain/layout.toml", "base = [")
    before = traces(notes.root)
    assert cli("init", "--json").error == "config"
    assert traces(notes.root) == before


def test_a_name_that_some_system_takes_for_another_is_told_and_the_rest_is_made(
    cli: Cli, notes: Vault
) -> None:
    notes.write("Agent/inbox.md", "mine")
    if (notes.root / "Agent/Inbox.md").exists():
        pytest.skip("this system does not tell the two names apart")
    ran = cli("init", "--layout", "obsidian", "--json")
    assert ran.code == 1
    assert [failure["path"] for failure in ran.data["failed"]] == ["Agent/Inbox.md"]
    assert "Agent/Home.md" in ran.data["created"]
    assert (notes.root / "Agent/inbox.md").read_text(encoding="utf-8") == "mine"


def test_a_path_that_does_not_exist_is_made_only_for_a_new_vault(cli: Cli, tmp_path: Path) -> None:
    assert cli.bare("init", str(tmp_path / "no"), "--json").error == "not_found"
    assert not (tmp_path / "no").exists()
    assert cli.bare("init", str(tmp_path / "no/deep"), "--layout", "obsidian", "--json").error == "not_found"
    assert not (tmp_path / "no").exists()


def test_a_mistake_leaves_no_empty_folder(cli: Cli, tmp_path: Path) -> None:
    root = tmp_path / "new"
    assert cli.bare("init", str(root), "--layout", "obsidan", "--json").error == "usage"
    assert (
        cli.bare("init", str(root), "--layout", "brain", "--folder", "../x", "--json").error == "unsafe_path"
    )
    assert not root.exists()


# OpenClaw


@pytest.fixture
def openclaw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home as OpenClaw leaves it."""
    home = tmp_path / ".openclaw"
    files = {
        "openclaw.json": "{}",
        "config/agents.yaml": "agents: []",
        "memory/index.db": "SQLite format 3\0",
        "memory/cache.json": "{}",
        "memory/MEMORY.md": "# Agent Memory\n\n## User Preferences\n\n- Likes tea\n",
        "memory/SOUL.md": "# Agent Soul\n",
        "memory/daily/2025-01-16.md": "# Daily Log: 2025-01-16\n\nFixed the turnips.\n",
        "memory/2025-01-15.md": "# 2025-01-15\n\nBought a zeppelin.\n",
        "sessions/s.json": "{}",
    }
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    monkeypatch.setenv("OPENCLAW_HOME", str(home))
    return home


def test_openclaw_s_home_is_opened_as_it_is(cli: Cli, openclaw: Path) -> None:
    before = traces(openclaw)
    made = cli.bare("init", "--layout", "openclaw", "--sync", "--json").data
    assert (made["vault"], made["created"]) == (str(openclaw), [])
    assert made["layout"] == {"name": "openclaw", "folder": ""}
    after = traces(openclaw)
    assert {path: after[path] for path in before} == before
    assert all(path.startswith(".hindbrain") for path in set(after) - set(before))
    cli.bare("init", "--layout", "openclaw")
    assert traces(openclaw) == after
    for word, path in (("turnips", "memory/daily/2025-01-16.md"), ("zeppelin", "memory/2025-01-15.md")):
        hits = cli("search", word, "--keyword", "--json", vault=openclaw).data["hits"]
        assert [hit["path"] for hit in hits] == [path]
    assert cli("status", "--json", vault=openclaw).data["index"]["notes"] == 4


def test_a_workspace_of_openclaw_is_found_in_its_home(cli: Cli, tmp_path: Path, monkeypatch) -> None:
    home = tmp_path / "oc"
    for name in ("AGENTS.md", "SOUL.md", "USER.md"):
        (home / "workspace").mkdir(parents=True, exist_ok=True)
        (home / "workspace" / name).write_text("# x\n", encoding="utf-8")
    monkeypatch.setenv("OPENCLAW_HOME", str(home))
    made = cli.bare("init", "--layout", "openclaw", "--json").data
    assert (made["created"], made["layout"]["folder"]) == ([], "workspace")


def test_without_a_variable_openclaw_lives_in_the_home_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENCLAW_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    made = cli.bare("init", "--layout", "openclaw", "--json").data
    assert made["vault"] == str(tmp_path / ".openclaw")
    assert "MEMORY.md" in made["created"]


def test_a_vault_that_is_the_agent_s_shares_the_owner_s_daily_notes(cli: Cli, vault: Vault) -> None:
    vault.write(".obsidian/daily-notes.json", '{"folder": "Journal", "format": "YYYY/YYYY-MM-DD"}')
    assert cli("init").code == 0
    path = cli("daily", "--add", "Sailed to the island", "--json").data["path"]
    assert re.fullmatch(r"Journal/\d{4}/\d{4}-\d\d-\d\d\.md", path)


def test_beside_notes_of_the_owner_s_the_agent_has_its_own_days(cli: Cli, notes: Vault) -> None:
    notes.write(".obsidian/daily-notes.json", '{"folder": "Journal"}')
    assert cli("init").code == 0
    assert cli("daily", "--add", "Sailed to the island", "--json").data["path"].startswith("Agent/Daily/")


def test_a_folder_that_is_not_there_is_named_with_the_way_to_make_it(cli: Cli, tmp_path: Path) -> None:
    ran = cli.bare("init", str(tmp_path / "no" / "such folder"))
    assert ran.code == 1 and "does not exist" in ran.err
    assert f"mkdir -p '{tmp_path / 'no' / 'such folder'}'" in ran.err


def test_inside_a_vault_openclaw_s_layout_needs_a_path(
    cli: Cli, openclaw: Path, notes: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes.root / "Projects")
    before = traces(openclaw), traces(notes.root)
    assert cli.bare("init", "--layout", "openclaw", "--json").error == "usage"
    assert (traces(openclaw), traces(notes.root)) == before
    assert cli.bare("init", str(openclaw), "--layout", "openclaw", "--json").data["vault"] == str(openclaw)
    made = cli.bare("init", str(notes.root), "--layout", "openclaw", "--json").data
    assert made["vault"] == str(notes.root)


def test_who_stands_in_openclaw_s_folder_means_it(
    cli: Cli, openclaw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.bare("init", "--layout", "openclaw")
    monkeypatch.chdir(openclaw)
    made = cli.bare("init", "--layout", "openclaw", "--json")
    assert made.data["vault"] == str(openclaw) and str(openclaw) in made.err


def test_undo_and_redo_of_a_switch_take_the_layout_with_them(cli: Cli, notes: Vault) -> None:
    cli("init", "--layout", "obsidian")
    file = notes.root / ".hindbrain" / "layout.toml"
    notes_before, layout_before = set(notes.root.rglob("*.md")), file.read_bytes()
    cli("init", "--layout", "brain", "--switch")
    assert cli("undo").code == 0
    assert (set(notes.root.rglob("*.md")), file.read_bytes()) == (notes_before, layout_before)
    assert cli("redo").code == 0
    assert load_layout(notes.root).name == "brain"


def test_undo_of_a_switch_leaves_a_layout_that_its_owner_has_edited(cli: Cli, notes: Vault) -> None:
    cli("init", "--layout", "obsidian")
    cli("init", "--layout", "brain", "--switch")
    file = notes.root / ".hindbrain" / "layout.toml"
    file.write_text(file.read_text("utf-8") + "# mine\n", encoding="utf-8")
    assert cli("undo").code == 0
    assert file.read_text("utf-8").endswith("# mine\n")


@pytest.mark.parametrize("folder", ["", "Agent", "AI/Memory"])
def test_the_home_note_names_every_folder_where_it_is(cli: Cli, notes: Vault, folder: str) -> None:
    chosen = ["--folder", folder] if folder else []
    if not folder:
        shutil.rmtree(notes.root)
        notes.root.mkdir()
        (notes.root / ".git").mkdir()
    assert cli("init", "--layout", "obsidian", *chosen).code == 0
    home = (notes.root / folder / "Home.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([^`]+)/`", home))
    layout = load_layout(notes.root)
    learning = layout.path("lessons").rpartition("/")[0]
    roles = ("memory", "daily", "projects", "contacts", "skills", "apps")
    assert named == {learning, *(layout.folder_of(role) for role in roles)}
    assert all(name.startswith(f"{folder}/" if folder else "") for name in named)
