"""Layouts: roles to paths and back, on real folders; first notes that read well and link to one another."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import ConfigError, NoteUnreadable, UnsafePath, UsageError
from hindbrain.vault.first_notes import single_notes
from hindbrain.vault.layout import (
    LAYOUTS,
    ROLES,
    Layout,
    built_in,
    default_folder,
    detect,
    load_layout,
    parse_layout,
    recognise,
    render_layout,
)
from hindbrain.vault.layout_table import DEFAULT_PLACES
from hindbrain.vault.parse import parse_note
from workbench import Vault

TODAY = "2026-05-15"
_NAMES = {"date": TODAY, "category": "fact", "name": "Ada"}


def first_notes(layout: Layout) -> dict[str, str]:
    """Every note that a role has or may get, with its first text."""
    return {
        layout.path(role, **_NAMES): layout.first_text(role, today=TODAY, **_NAMES) for role in layout.roles
    }


@pytest.mark.parametrize("folder", ["", "Agent", "02 - Areas/Agent"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_first_notes_are_clean_and_every_link_leads_to_one_of_them(name: str, folder: str) -> None:
    layout = built_in(name, folder)
    notes = first_notes(layout)
    for path, text in notes.items():
        note = parse_note(text, stem=path)
        assert not note.problems, path
        assert note.title and text.endswith("\n"), path
        assert not note.tasks, path  # an example must not become a task
        assert "{" not in text, path
        for link in note.links:
            assert f"{link.target}.md" in notes, (path, link)


@pytest.mark.parametrize("name", LAYOUTS)
def test_first_notes_that_hold_memories_begin_without_a_list(name: str) -> None:
    layout = built_in(name)
    for category in ("preference", "fact", "contact", "project", "pattern"):
        path = layout.path("memory", category=category)
        text = layout.first_text(layout.role_of(path), today=TODAY, category=category)
        assert not [block for block in parse_note(text, stem="").blocks if block.kind == "item"], path


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_hub_links_to_every_single_note(name: str) -> None:
    layout = built_in(name, "Agent")
    hub = "home" if layout.has("home") else "agents"
    linked = {f"{link.target}.md" for link in parse_note(layout.first_text(hub, today=TODAY), stem="").links}
    assert linked == {path for role, path in single_notes(layout) if role != hub}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_path_tells_its_role_and_what_fills_it(name: str) -> None:
    layout = built_in(name, "Agent")
    for role in layout.roles:
        path = layout.path(role, **(_NAMES | {"category": "issue"}))
        assert layout.role_of(path) == role
        assert path.startswith("Agent/")
        assert path.startswith(f"{layout.folder_of(role)}/")
        assert set(layout.names_of(path)) == set() if layout.is_single(role) else layout.names_of(path)
    assert layout.role_of("Projects/Boat.md") == ""
    assert layout.role_of("Agent/Elsewhere/deep/x.md") == ""


@pytest.mark.parametrize("table", [*(f"base = '{name}'\n" for name in LAYOUTS), "[roles]\ninbox = 'In.md'\n"])
def test_every_role_that_a_verb_needs_has_a_place_of_its_own_in_every_layout(table: str) -> None:
    layout = parse_layout(table.encode(), "own.toml")
    places = {role: layout.path(role, **_NAMES) for role in DEFAULT_PLACES}
    assert len(set(places.values())) == len(places)
    for role, path in places.items():
        assert layout.has(role) and layout.role_of(path) == role and layout.places_of(role)
        layout.first_text(role, today=TODAY, **_NAMES)


def test_roles_that_a_layout_lacks_and_names_that_are_none_are_refused() -> None:
    layout = built_in("openclaw")
    assert not layout.has("locations")
    with pytest.raises(UsageError):
        layout.path("locations")
    with pytest.raises(UsageError):
        built_in("obsidian").path("taks")
    with pytest.raises(UsageError):
        built_in("obsidian").path("daily")
    for date in ("2026-5-1", "../x", "today"):
        with pytest.raises(UsageError):
            built_in("obsidian").path("daily", date=date)
    with pytest.raises(UsageError):
        built_in("nowhere")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "..", "CON", "x\0y", "x:y", "trailing.md ", ""])
def test_no_name_leads_a_note_astray(name: str) -> None:
    layout = built_in("obsidian", "Agent")
    try:
        path = layout.path("contacts", name=name)
    except (UsageError, UnsafePath):
        return
    assert path.startswith("Agent/Contacts/") and path.count("/") == 2


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20))
def test_whatever_a_person_is_called_their_note_lies_in_the_contacts(name: str) -> None:
    layout = built_in("obsidian", "Agent")
    try:
        path = layout.path("contacts", name=name)
    except (UsageError, UnsafePath):
        return
    assert layout.role_of(path) == "contacts"
    assert path.rpartition("/")[0] == "Agent/Contacts"


def test_notes_of_a_role_are_found_on_disk(vault: Vault) -> None:
    layout = built_in("obsidian", "Agent")
    assert layout.notes_of("daily", vault.root) == []
    for path in ("Daily/2026-05-15.md", "Daily/2026-05-14.md", "Daily/notes.md", "Daily/2026-05-13.txt"):
        vault.write(f"Agent/{path}", "x")
    vault.write("Agent/Memory/fact.md", "x")
    (vault.root / "Agent/Memory/folder.md").mkdir()
    assert layout.notes_of("daily", vault.root) == ["Agent/Daily/2026-05-14.md", "Agent/Daily/2026-05-15.md"]
    assert layout.notes_of("memory", vault.root) == ["Agent/Memory/fact.md"]
    assert layout.notes_of("tasks", vault.root) == []


def test_notes_are_not_looked_for_outside_the_vault(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "fact.md").write_text("x", encoding="utf-8")
    (vault.root / "Agent").mkdir()
    (vault.root / "Agent/Memory").symlink_to(outside, target_is_directory=True)
    assert built_in("obsidian", "Agent").notes_of("memory", vault.root) == []


def test_a_folder_that_cannot_be_looked_into_is_not_an_empty_one(vault: Vault) -> None:
    import os

    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root may look everywhere")
    folder = vault.write("Agent/Memory/fact.md", "x").parent
    folder.chmod(0)
    try:
        with pytest.raises(NoteUnreadable):
            built_in("obsidian", "Agent").notes_of("memory", vault.root)
    finally:
        folder.chmod(0o755)


def test_memories_of_some_categories_stand_in_the_note_of_a_role(vault: Vault) -> None:
    layout = built_in("brain")
    assert layout.path("memory", category="preference") == "identity/preferences.md"
    assert layout.path("memory", category="fact") == "knowledge/memory/fact.md"
    assert layout.category_of("identity/preferences.md") == "preference"
    assert layout.category_of("knowledge/memory/fact.md") == "fact"
    assert layout.category_of("learning/failures.md") == ""
    vault.write("identity/preferences.md", "x")
    vault.write("knowledge/memory/fact.md", "x")
    assert layout.notes_of("memory", vault.root) == ["identity/preferences.md", "knowledge/memory/fact.md"]
    assert built_in("openclaw").category_of("MEMORY.md") == ""


def test_a_dated_note_is_a_day_even_where_categories_are_kept() -> None:
    table = """
folder = "A"
[roles]
memory = "M/{category}.md"
daily = "M/{date}.md"
inbox = "M/in.md"
profile = "P.md"
tasks = "T.md"
"""
    layout = parse_layout(table.encode(), "own.toml")
    assert layout.role_of("A/M/2026-05-15.md") == "daily"
    assert layout.role_of("A/M/fact.md") == "memory"
    assert layout.role_of("A/M/in.md") == "inbox"


def test_days_may_lie_in_folders_of_years_and_months(vault: Vault) -> None:
    layout = parse_layout(
        b'base = "obsidian"\nfolder = ""\n[roles]\ndaily = "Log/{year}/{month}/{date}.md"\n', "own"
    )
    assert layout.path("daily", date=TODAY) == "Log/2026/05/2026-05-15.md"
    assert layout.folder_of("daily") == "Log"
    vault.write("Log/2026/05/2026-05-15.md", "x")
    vault.write("Log/2026/x/2026-05-15.md", "x")
    assert layout.notes_of("daily", vault.root) == ["Log/2026/05/2026-05-15.md"]


def test_a_table_that_is_written_in_another_unicode_form_means_the_same(vault: Vault) -> None:
    text = 'base = "obsidian"\nfolder = "Ago\u0301"\n[roles]\ntasks = "Tare\u0301s.md"\n'
    layout = parse_layout(text.encode(), "own.toml")
    assert layout.role_of("Ag\u00f3/Tar\u00e9s.md") == layout.role_of("Ago\u0301/Tare\u0301s.md") == "tasks"
    vault.write("Ag\u00f3/Tar\u00e9s.md", "x")
    assert layout.notes_of("tasks", vault.root) == ["Ag\u00f3/Tar\u00e9s.md"]


def test_a_note_of_two_categories_has_no_single_one() -> None:
    text = 'base = "brain"\n[categories]\nrelationship = "contacts"\n'
    assert parse_layout(text.encode(), "own.toml").category_of("knowledge/contacts.md") == ""


# What a vault looks like


def test_an_unknown_vault_gets_one_folder_and_keeps_it_when_notes_come(vault: Vault) -> None:
    assert (detect(vault.root).name, detect(vault.root).folder) == ("obsidian", "Agent")
    layout = detect(vault.root)
    for path, text in first_notes(layout).items():
        vault.write(path, text)
        assert detect(vault.root) == layout


@pytest.mark.parametrize("name", ["obsidian", "brain", "openclaw"])
def test_a_vault_that_is_all_a_layout_is_known_again(vault: Vault, name: str) -> None:
    for path, text in first_notes(built_in(name)).items():
        vault.write(path, text)
    found = load_layout(vault.root)
    assert (found.name, found.folder) == (name, "")


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["1-Projects", "2-Areas", "3-Resources", "4-Archive"], "2-Areas/Agent"),
        (["01 - Projects", "02 - Areas", "03 - Resources"], "02 - Areas/Agent"),
        (["Projects", "Resources", "Archive"], "Areas/Agent"),
        (["Vault/Projects", "Vault/Areas", "Vault/Archive"], "Vault/Areas/Agent"),
    ],
)
def test_in_a_para_vault_the_agent_is_an_area(vault: Vault, folders: list[str], expected: str) -> None:
    for folder in folders:
        vault.write(f"{folder}/x.md", "x")
    found = load_layout(vault.root)
    assert (found.name, found.folder) == ("para", expected)
    assert default_folder("para", vault.root) == expected


def test_a_note_called_user_is_no_sign_of_openclaw(vault: Vault) -> None:
    vault.write("User.md", "x")
    vault.write("Memory.md", "x")
    assert recognise("openclaw", vault.root) is None


@pytest.mark.parametrize(
    ("files", "memory", "daily"),
    [
        (
            ["memory/MEMORY.md", "memory/daily/2025-01-15.md"],
            "memory/MEMORY.md",
            "memory/daily/2026-05-15.md",
        ),
        (["memory/MEMORY.md", "memory/2025-01-15.md"], "memory/MEMORY.md", "memory/2026-05-15.md"),
        (["MEMORY.md", "SOUL.md", "memory/2025-01-15.md"], "MEMORY.md", "memory/2026-05-15.md"),
        (["workspace/USER.md", "workspace/SOUL.md"], "workspace/MEMORY.md", "workspace/memory/2026-05-15.md"),
    ],
)
def test_openclaw_folders_are_opened_in_the_form_they_have(
    vault: Vault, files: list[str], memory: str, daily: str
) -> None:
    for file in files:
        vault.write(file, "x")
    layout = load_layout(vault.root)
    assert layout.name == "openclaw"
    assert layout.path("memory", category="fact") == memory
    assert layout.path("daily", date=TODAY) == daily


def test_both_kinds_of_days_of_openclaw_are_read(vault: Vault) -> None:
    for path in ("memory/MEMORY.md", "memory/2025-01-15.md", "memory/daily/2025-01-16.md"):
        vault.write(path, "x")
    layout = load_layout(vault.root)
    assert layout.notes_of("daily", vault.root) == ["memory/2025-01-15.md", "memory/daily/2025-01-16.md"]
    assert layout.role_of("memory/2025-01-15.md") == "daily"
    assert layout.paths("daily", date=TODAY) == ("memory/daily/2026-05-15.md", "memory/2026-05-15.md")


# What an owner may write


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_survives_being_written_out(vault: Vault, name: str) -> None:
    layout = built_in(name, "Agent")
    assert parse_layout(render_layout(layout), "x") == layout
    vault.write(".hindbrain/layout.toml", render_layout(layout))
    assert set(load_layout(vault.root).roles) == set(layout.roles)


def test_an_owner_changes_some_roles_and_keeps_the_rest() -> None:
    text = (
        b'\xef\xbb\xbfbase = "obsidian"\r\nfolder = "AI"\r\n[roles]\r\ntasks = "Todo.md"\r\nissues = ""\r\n'
    )
    layout = parse_layout(text, "own.toml")
    assert layout.path("tasks") == "AI/Todo.md"
    assert layout.path("profile") == "AI/User Profile.md"
    assert "issues" not in layout.roles
    assert layout.path("issues") == "AI/Known Issues.md"  # for a verb that needs one
    home = layout.first_text("home", today=TODAY)
    assert "[[AI/Todo|Todo]]" in home and "issues" not in home


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("base = 'obsidian'\n[roles]\ntaks = 'x.md'", "roles.taks"),
        ("base = 'obsidian'\nfolders = 'x'", "folders"),
        ("base = 'obsidan'", "base"),
        ("base = 3", "base"),
        ("base = 'obsidian'\n[[forms]]\nneeds = 1", "forms"),
        ("base = 'obsidian'\nfolder = '../out'", "folder"),
        ("base = 'obsidian'\nfolder = '.obsidian'", "folder"),
        ("base = 'obsidian'\nfolder = 'a#b'", "folder"),
        ("base = 'obsidian'\n[roles]\ntasks = '../../x.md'", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\ntasks = '/etc/x.md'", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\ntasks = '.git/x.md'", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\ntasks = 'x.txt'", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\ntasks = 'x{name}.md'", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\ntasks = 3", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\ndaily = 'Day.md'", "roles.daily"),
        ("base = 'obsidian'\n[roles]\ndaily = '{date}/{date}.md'", "roles.daily"),
        ("base = 'obsidian'\n[roles]\nmemory = 'M/{topic}.md'", "roles.memory"),
        ("base = 'obsidian'\n[roles]\nmemory = ''", "roles.memory"),
        ("base = 'obsidian'\n[roles]\ntasks = 'home.md'", "roles.tasks"),
        ("base = 'obsidian'\n[roles]\nprojects = 'P/{name}.md'\ncontacts = 'p/{name}.md'", "roles.contacts"),
        ("base = 'obsidian'\n[categories]\nfact = 'projects'", "categories.fact"),
        ("base = 'obsidian'\n[start]\nhom = 'x'", "start.hom"),
        ("base = 'obsidian'\n[start]\nhome = '{nothing}'", "start.home"),
        ("base = 'obsidian'\n[roles]\nskills = 'Skills.md'", "roles.skills"),
        ("[roles]\ndecisions = 'known issues.md'", "roles.issues"),
        ("base = 'obsidian'\nroles = 3", "roles"),
        ("base = ", ""),
        ("base = '\udcff'", ""),
    ],
)
def test_a_table_that_is_wrong_is_an_error_that_names_file_and_key(text: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_layout(text.encode("utf-8", "surrogateescape"), "own.toml")
    assert "own.toml" in str(caught.value) and key in str(caught.value)


def test_a_stored_table_that_cannot_be_used_is_no_reason_to_guess(vault: Vault) -> None:
    vault.write(".hindbrain/layout.toml", "base = [")
    with pytest.raises(ConfigError):
        load_layout(vault.root)
    (vault.root / ".hindbrain/layout.toml").unlink()
    (vault.root / ".hindbrain/layout.toml").mkdir()
    with pytest.raises(ConfigError):
        load_layout(vault.root)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_layout_or_a_config_error(data: bytes) -> None:
    with contextlib.suppress(ConfigError):
        parse_layout(b'base = "obsidian"\n' + data, "own.toml")


def test_roles_of_the_built_in_layouts_are_known() -> None:
    used = {role for name in LAYOUTS for role in built_in(name).roles}
    assert used <= set(ROLES)
