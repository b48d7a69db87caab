"""Where agents' new notes go, and what Obsidian's own settings decide: through the tools and the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from hindbrain.search.query import SearchQuery
from hindbrain.vault.layout import LAYOUTS, built_in, render_layout
from hindbrain.vault.obsidian import ObsidianSettings, format_day, read_obsidian
from workbench import Vault

MakeApp = Callable[..., App]


def _layout(vault: Vault, name: str = "obsidian", folder: str = "Agent") -> None:
    vault.write(".hindbrain/layout.toml", render_layout(built_in(name, folder)))


def _written(app: App, path: str, tool: str = "vault_write") -> str:
    return str(call(app.memory, tool_named(tool), {"path": path, "content": "Words.\n"}).data["path"])


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_day_goes_to_the_layout_s_place_and_begins_as_a_day(
    vault: Vault, make_app: MakeApp, name: str
) -> None:
    vault.write("Notes/Tea.md", "# Tea\n")
    _layout(vault, name)
    app = make_app(vault.root)
    path = _written(app, "Daily/2026-05-14.md", "vault_append")
    assert path == app.layout.path("daily", date="2026-05-14") and path.startswith("Agent/")
    assert "# Daily Log: 2026-05-14\n" in (vault.root / path).read_text(encoding="utf-8")
    assert _written(app, "Journal/2026-05-13.md") == app.layout.path("daily", date="2026-05-13")
    assert sorted(found.name for found in vault.root.iterdir()) == [
        ".hindbrain",
        ".obsidian",
        "Agent",
        "Notes",
    ]


def test_projects_go_where_projects_are(vault: Vault, make_app: MakeApp) -> None:
    vault.write("1-Projects/Garden.md", "# Garden\n")
    vault.write("2-Areas/Home.md", "# Home\n")
    _layout(vault)
    app = make_app(vault.root)
    assert _written(app, "Projects/Boat.md") == "1-Projects/Boat.md"
    assert _written(app, "areas/Boat/Mast.md") == "2-Areas/Boat/Mast.md"
    assert _written(app, "1-Projects/Mast.md") == "1-Projects/Mast.md"
    assert _written(app, "Resources/Knots.md") == "Agent/Resources/Knots.md", (
        "nothing of the root's is like it"
    )
    assert _written(app, "Contacts/Ada.md") == "Agent/Contacts/Ada.md"
    assert _written(app, "Recipes/Bread.md") == "Recipes/Bread.md", "what was asked for"


def test_a_folder_of_the_owner_s_is_used_as_it_is(vault: Vault, make_app: MakeApp) -> None:
    vault.write("Daily/2026-05-01.md", "# A day\n")
    vault.write("Projects/Garden.md", "# Garden\n")
    _layout(vault)
    app = make_app(vault.root)
    assert _written(app, "Daily/2026-05-14.md") == "Daily/2026-05-14.md"
    assert _written(app, "projects/Boat.md") == "Projects/Boat.md"


def _settings(vault: Vault, app: Any = None, daily: Any = None, periodic: Any = None) -> None:
    files = {"app.json": app, "daily-notes.json": daily, "plugins/periodic-notes/data.json": periodic}
    for name, value in files.items():
        if value is not None:
            vault.write(f".obsidian/{name}", json.dumps(value))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("YYYY-MM-DD", "Journal/2026-05-14.md"),
        ("YYYY/MM/DD", "Journal/2026/05/14.md"),
        ("DD-MM-YYYY", "Journal/14-05-2026.md"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "Journal/2026/05-May/2026-05-14-Thursday.md"),
        ("dddd, MMMM Do YYYY", "Journal/Thursday, May 14th 2026.md"),
        ("[Log] D.M.YY", "Journal/Log 14.5.26.md"),
    ],
)
def test_the_owner_s_daily_notes_are_days_in_whatever_format(
    vault: Vault, make_app: MakeApp, pattern: str, path: str
) -> None:
    _settings(vault, daily={"folder": "Journal", "format": pattern, "template": "Templates/Day"})
    _layout(vault)
    vault.write(path, "Sailed to the island with Ada.\n")
    vault.write("Journal/Plan.md", "What did we do yesterday? Nothing.\n")
    app = make_app(vault.root)
    app.sync()
    hits = app.search(SearchQuery("what did we do yesterday?")).hits
    assert [hit.path for hit in hits] == [path]
    assert "island" in app.context.rendered(app.context.pack("what did we do yesterday?"))


def test_excluded_files_are_left_out_but_never_the_agent_s(vault: Vault, make_app: MakeApp) -> None:
    filters = ["Private/", "Dra", "/\\.excalidraw\\.md$/", "Agent/", "/(a+)+$/", "", 7, "/[/"]
    _settings(vault, {"userIgnoreFilters": filters})
    _layout(vault)
    for path in ("Private/Diary.md", "Drafts/One.md", "Map.excalidraw.md", "Public/Private/Tea.md"):
        vault.write(path, f"# Zebra\n\nThe zebra of {path} stands here.\n")
    app = make_app(vault.root, warm=True)
    app.memory.remember("The zebra is called Zora", source="user")
    app.memory.settle(idle=True)
    app.sync()
    found = {hit.path for hit in app.search(SearchQuery("zebra", k=20)).hits}
    assert found == {"Public/Private/Tea.md", "Agent/Memory/fact.md"}
    _settings(vault, {"userIgnoreFilters": []})
    vault.write(".obsidian/app.json", "{}", at=1_778_840_000.0)
    app.sync()
    assert "Private/Diary.md" in {hit.path for hit in app.search(SearchQuery("zebra", k=20)).hits}


def test_new_notes_without_a_folder_go_where_obsidian_makes_them(vault: Vault, make_app: MakeApp) -> None:
    _settings(vault, {"newFileLocation": "folder", "newFileFolderPath": "Inbox"})
    _layout(vault, folder="")
    app = make_app(vault.root)
    assert _written(app, "Bread.md") == "Inbox/Bread.md"
    _settings(vault, {"newFileLocation": "root", "newFileFolderPath": "Inbox"})
    assert _written(app, "Butter.md") == "Butter.md"
    _settings(vault, {"newFileLocation": "folder", "newFileFolderPath": "../out"})
    assert _written(app, "Cheese.md") == "Cheese.md", "not outside"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
_KEYS = ("folder", "format", "daily", "enabled", "userIgnoreFilters", "newFileLocation", "newFileFolderPath")


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.binary(max_size=80)
    | st.dictionaries(st.sampled_from(_KEYS), _JSON).map(lambda v: json.dumps(v).encode())
)
def test_whatever_stands_in_obsidian_s_files_is_read_or_not_set(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    root = tmp_path_factory.getbasetemp() / "hostile"
    for name in ("app.json", "daily-notes.json", "plugins/periodic-notes/data.json"):
        (root / ".obsidian" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / ".obsidian" / name).write_bytes(data)
    found = read_obsidian(root)
    for path in (found.daily_note(date(2026, 5, 14)), found.daily_folder, found.new_note_folder):
        assert (root / path).resolve().is_relative_to(root.resolve())


def test_a_format_that_says_more_than_a_day_is_not_read() -> None:
    assert format_day("YYYY-MM-DD HHmm", date(2026, 5, 14)) == ""
    assert format_day("gggg-[W]ww", date(2026, 5, 14)) == ""
    assert ObsidianSettings("Days", "YYYY/YYYY-MM-DD").daily_template == "Days/{year}/{date}.md"
    assert ObsidianSettings("Days", "DD-MM-YYYY").daily_template == ""
