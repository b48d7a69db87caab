"""Every tool, called as a host calls it: what it answers, and what it leaves in the vault."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hindbrain.app import App
from hindbrain.base.errors import (
    Ambiguous,
    HindbrainError,
    IndexMissing,
    NoteChanged,
    NotFound,
    Refused,
    UnsafePath,
    UsageError,
)
from hindbrain.memory.tools import TOOLS, tool_named
from hindbrain.memory.tools.tool import ToolResult, call, failure_text
from workbench import Vault

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xL3rU6"
Use = Callable[..., ToolResult]


def user_of(app: App) -> Use:
    def use(name: str, **args: Any) -> ToolResult:
        result = call(app.memory, tool_named(name), args)
        json.dumps(result.data)  # whatever is answered can be sent
        return result

    return use


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> Iterator[App]:
    vault.write("Projects/Garden.md", "# Garden plan\n\n## Beds\n\n- carrots\n\n## Water\n\nEvery evening.\n")
    app = make_app(vault.root)
    app.writer.put_state_file("layout.toml", b'base = "obsidian"\nfolder = "Agent"\n')
    app.sync()
    yield app
    app.close()


@pytest.fixture
def use(app: App) -> Use:
    return user_of(app)


# Notes


def test_a_read_ends_with_the_hash_that_a_write_takes(use: Use, vault: Vault) -> None:
    answer = use("vault_read", path="Garden plan")
    *_, place, last = answer.text.split("\n")
    assert last == f"hash: {answer.data['hash']}" and len(answer.data["hash"]) == 16
    assert "Projects/Garden.md" in place and "1-9 of 9" in place
    text = answer.data["text"].replace("Every evening", "Every morning")
    written = use("vault_write", path="Projects/Garden.md", content=text, hash=answer.data["hash"])
    assert written.data["did"] == "replaced"
    assert (vault.root / "Projects/Garden.md").read_text(encoding="utf-8").endswith("Every morning.\n")


def test_a_long_note_is_read_in_pieces(use: Use, vault: Vault) -> None:
    lines = [f"line {i} " + "x" * 50 for i in range(1, 951)]
    vault.write("Long.md", "\n".join(lines) + "\n")
    seen: list[str] = []
    start: int | None = 1
    while start is not None:
        answer = use("vault_read", path="Long.md", line_start=start)
        assert len(answer.text) < 8_500
        seen += answer.data["text"].split("\n")
        start = answer.data.get("next_line")
        assert start is None or f"line_start={start}" in answer.text
    assert seen == lines


def test_a_line_that_is_too_long_is_cut_and_said_so(use: Use, vault: Vault) -> None:
    vault.write("Wide.md", "y" * 20_000 + "\nend\n")
    answer = use("vault_read", path="Wide.md")
    assert len(answer.text) < 8_500 and "12,000 more" in answer.text
    assert answer.data["next_line"] == 2


def test_broken_frontmatter_is_shown_said_and_kept(use: Use, vault: Vault) -> None:
    old = "---\ntags: [open\nsource: web\n---\ntext\n"
    vault.write("Broken.md", old)
    answer = use("vault_read", path="Broken.md")
    assert answer.data["text"] == old.removesuffix("\n") and answer.data["problems"]
    use("vault_append", path="Broken.md", content="- more")
    assert (vault.root / "Broken.md").read_text(encoding="utf-8") == old + "\n- more\n"


def test_a_million_bytes_are_written_and_appended(use: Use, vault: Vault) -> None:
    content = ("word " * 19 + "end\n") * 10_100
    assert 990_000 < len(content) <= 1_000_000
    use("vault_write", path="Big.md", content="---\ntype: big\n---\n" + content[:900_000])
    use("vault_append", path="Big.md", content=content)
    assert (vault.root / "Agent/Big.md").read_text(encoding="utf-8").endswith(content)
    with pytest.raises(UsageError):
        use("vault_append", path="Big.md", content=content * 2)


def test_a_conflict_names_the_hash_to_go_on_with(use: Use, vault: Vault) -> None:
    seen = use("vault_read", path="Projects/Garden.md").data["hash"]
    vault.edit("Projects/Garden.md", "- carrots", "- leeks")
    with pytest.raises(NoteChanged) as caught:
        use("vault_write", path="Projects/Garden.md", content="# Mine\n", hash=seen)
    text = failure_text(caught.value)
    now = use("vault_read", path="Projects/Garden.md").data["hash"]
    assert now in text and text.startswith("error (conflict)") and "merge" in text


def test_secrets_are_told_in_the_answer(use: Use, vault: Vault) -> None:
    for answer in (
        use("vault_write", path="A.md", content=f"key {TOKEN}"),
        use("vault_append", path="A.md", content=f"key {TOKEN}"),
        use("task_create", title=f"Rotate {TOKEN}", details=f"is {TOKEN}"),
        use("task_update", title="Rotate", status="done", notes=f"was {TOKEN}"),
        use("remember", fact=f"The key of the shop is {TOKEN}.", importance=1),
    ):
        assert "github token" in answer.text and TOKEN not in answer.text
        assert answer.data["removed"] == ["github token"]
    assert not [path for path in vault.root.rglob("*.md") if TOKEN in path.read_text(encoding="utf-8")]


def test_search_cites_and_a_folder_that_is_not_there_is_an_error(use: Use) -> None:
    answer = use("vault_search", query="water the garden", directory="Projects", limit=3)
    assert "[[Projects/Garden" in answer.text and answer.data["hits"][0]["path"] == "Projects/Garden.md"
    assert re.search(r"lines? \d", answer.text)
    with pytest.raises(NotFound):
        use("vault_search", query="water", directory="Nope")


def test_nothing_found_and_could_not_look_are_different(
    use: Use, vault: Vault, make_app: Callable[..., App]
) -> None:
    (vault.root / "Empty").mkdir()
    assert use("vault_search", query="zebra", directory="Empty").data["hits"] == []
    fresh = make_app(vault.root, state_folder=str(vault.root.with_name("other state")))
    with pytest.raises(IndexMissing) as caught:
        user_of(fresh)("vault_search", query="water")
    assert "index_missing" in failure_text(caught.value)


def test_what_was_just_written_is_found(use: Use) -> None:
    use("vault_append", path="Log.md", content="The xylophone is in the attic.")
    assert use("vault_search", query="xylophone").data["hits"][0]["path"] == "Agent/Log.md"


def test_a_listing_has_folders_first_and_notes_with_their_day(use: Use, vault: Vault) -> None:
    vault.write("Tea.md", "x")
    lines = use("vault_list").text.split("\n")
    assert lines[1:] == ["Projects/", "Tea.md  2026-05-15"]
    for number in range(250):
        vault.write(f"Many/{number}.md", "x")
    answer = use("vault_list", directory="Many")
    assert len(answer.data["notes"]) == 200 and answer.data["left_out"] == 50


@pytest.mark.promise("P3")
def test_writers_at_the_same_time_lose_nothing(vault: Vault, app: App, make_app: Callable[..., App]) -> None:
    def work(number: int) -> None:
        mine = make_app(vault.root)
        use = user_of(mine)
        try:
            for step in range(5):
                heading = {"heading": "Beds"} if step % 2 else {}
                use(
                    "vault_append",
                    path="Projects/Garden.md",
                    content=f"- w{number}-{step}\n  - sub",
                    **heading,
                )
        except HindbrainError as error:
            failures.append(error)
        finally:
            mine.close()

    failures: list[HindbrainError] = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    text = (vault.root / "Projects/Garden.md").read_text(encoding="utf-8")
    assert all(text.count(f"- w{number}-{step}\n  - sub\n") == 1 for number in range(4) for step in range(5))
    assert (
        text.startswith("# Garden plan\n\n## Beds\n\n- carrots\n- w")
        and "## Water\n\nEvery evening.\n" in text
    )


# Tasks


def test_tasks_are_made_changed_and_listed(use: Use) -> None:
    made = use("task_create", title="Water the beds", details="Rain water", priority="high", project="garden")
    assert made.data["task"]["citation"] in made.text
    use("task_create", title="Water the lawn")
    with pytest.raises(Ambiguous) as caught:
        use("task_update", title="water", status="done")
    assert len(caught.value.candidates) == 2
    done = use("task_update", title=made.data["task"]["id"], status="done", notes="Went well")
    assert done.data["task"]["status"] == "done"
    assert [task["title"] for task in use("task_list").data["tasks"]] == ["Water the lawn"]
    assert len(use("task_list", status="all").data["tasks"]) == 2
    assert use("task_list", status="blocked").data["tasks"] == []
    with pytest.raises(NotFound):
        use("task_update", title="Fly to the moon", status="done")


# Memories


def test_a_memory_is_cited_recalled_corrected_and_forgotten(use: Use) -> None:
    made = use("remember", fact="The user prefers green tea.", category="preference", importance=0.9)
    assert made.data["citation"] in made.text and made.data["source"] == "agent"
    found = use("recall", topic="green tea")
    assert found.data["memories"][0]["id"] == made.data["id"] and made.data["citation"] in found.text
    changed = use("memory_update", memory_id=made.data["citation"], content="The user prefers black tea.")
    assert "black tea" in changed.text
    use("memory_forget", memory_id=f"^{made.data['id']}")
    assert not [m for m in use("recall", topic="tea").data["memories"] if m["id"] == made.data["id"]]
    with pytest.raises(NotFound):
        use("memory_forget", memory_id=made.data["id"])
    with pytest.raises(Refused):
        use("remember", fact="The user prefers black tea.")


def test_what_waits_is_recalled_and_said_to_wait(use: Use) -> None:
    made = use("remember", fact="The water meter is read in March.")
    assert made.data["action"] == "queued"
    found = use("recall", topic="water meter").data["memories"][0]
    assert (found["id"], found["pending"]) == (made.data["id"], True)


@pytest.mark.promise("P18")
def test_third_party_text_waits_and_is_not_found_meanwhile(use: Use) -> None:
    held = use("remember", fact="The bank's new telephone number is 555.", source="web")
    assert held.data["action"] == "held" and "inbox" in held.text
    for name, args in (
        ("recall", {"topic": "telephone number of the bank"}),
        ("vault_search", {"query": "telephone number of the bank"}),
        ("memory_search", {"query": "telephone number of the bank"}),
    ):
        assert "555" not in use(name, **args).text


@pytest.mark.promise("P19")
@pytest.mark.parametrize(
    "path", ["AGENTS.md", "Agent/Inbox.md", "Inbox.md", "Agent/Skills/x.md", ".obsidian/a.md"]
)
def test_no_tool_writes_what_is_not_for_tools(use: Use, vault: Vault, path: str) -> None:
    use("remember", fact="Buy now.", source="web")  # makes the inbox note
    before = {file: file.read_bytes() for file in vault.root.rglob("*.md")}
    for name, args in (("vault_write", {"content": "x"}), ("vault_append", {"content": "- [x] x"})):
        with pytest.raises((Refused, UnsafePath)):
            use(name, path=path, **args)
    assert {file: file.read_bytes() for file in vault.root.rglob("*.md")} == before


def test_kinds_of_memory_are_places_of_the_layout(use: Use, vault: Vault, app: App) -> None:
    vault.write("Agent/Daily/2026-05-14.md", "# Daily\n\nBought a kettle.\n")
    vault.write("Agent/Daily/2026-01-02.md", "# Daily\n\nBought an old kettle.\n")
    vault.write("Agent/User Profile.md", "# User Profile\n\nOwns a red kettle.\n")
    vault.write("Kitchen.md", "# Kitchen\n\nThe kettle stands left.\n")
    app.sync()
    use("remember", fact="The user prefers a steel kettle.", category="preference", importance=1)

    def paths(**args: Any) -> set[str]:
        return {hit["path"] for hit in use("memory_search", query="kettle", **args).data["results"]}

    daily = {"Agent/Daily/2026-05-14.md", "Agent/Daily/2026-01-02.md"}
    preference = "Agent/Memory/preference.md"
    assert paths(memory_types=["episodic"]) == daily
    assert paths(memory_types="semantic") == {"Agent/User Profile.md", preference}
    assert paths(memory_types=["preference"]) == {preference}
    assert paths(memory_types=["procedural"]) == set()
    assert paths(memory_types=["episodic", "preference"]) == {*daily, preference}
    assert paths(memory_types=["episodic"], time_range_days=7) == {"Agent/Daily/2026-05-14.md"}
    assert "Kitchen.md" in paths() and "Kitchen.md" in paths(corpus="all")
    assert "Kitchen.md" not in paths(corpus="memory") and paths(corpus="sessions") == daily
    assert len(paths(maxResults=1)) == 1
    assert paths(minScore=1.0) == set()


def test_kinds_that_share_a_folder_are_told_apart(vault: Vault, make_app: Callable[..., App]) -> None:
    vault.write("memory/MEMORY.md", "# Memory\n\n- The kettle is red.\n")
    vault.write("memory/2026-05-14.md", "# Daily\n\nBought a kettle.\n")
    vault.write("memory/daily/2026-05-13.md", "# Daily\n\nLooked at a kettle.\n")
    app = make_app(vault.root)
    app.writer.put_state_file("layout.toml", b'base = "openclaw"\n[roles]\nmemory = "memory/MEMORY.md"\n')
    app.sync()
    use = user_of(app)
    found = use("memory_search", query="kettle", memory_types=["episodic"]).data["results"]
    assert {hit["path"] for hit in found} == {"memory/2026-05-14.md", "memory/daily/2026-05-13.md"}
    found = use("memory_search", query="kettle", memory_types=["semantic"]).data["results"]
    assert {hit["path"] for hit in found} == {"memory/MEMORY.md"}
    app.close()


def test_a_memory_that_is_found_is_cited_by_its_id(use: Use) -> None:
    made = use("memory_write", content="Ada sails the Wave.", category="contact", importance=1, tags=["boat"])
    (first, *_) = use("memory_search", query="Ada sails", memory_types=["semantic"]).data["results"]
    assert first["citation"] == made.data["citation"]
    assert (first["startLine"], first["path"]) != (0, "")


def test_lines_are_got_as_openclaw_expects_them(use: Use) -> None:
    got = use("memory_get", path="Projects/Garden.md", **{"from": 3, "lines": 2}).data
    assert got == {"status": "ok", "text": "## Beds\n", "path": "Projects/Garden.md", "from": 3, "lines": 2}
    assert use("memory_get", path="Nope.md").data == {"status": "not_found", "text": "", "path": "Nope.md"}
    read = use("memory_read", file_path="Projects/Garden.md", line_start=9)
    assert read.data["text"] == "Every evening."


def test_long_lines_of_openclaw_say_where_to_go_on(use: Use, vault: Vault) -> None:
    vault.write("Long.md", "x" * 99 + "\n" + ("y" * 99 + "\n") * 200)
    got = use("memory_get", path="Long.md").data
    assert got["truncated"] and got["nextFrom"] == got["lines"] + 1


def test_the_status_counts_what_there_is(use: Use) -> None:
    use("remember", fact="The user prefers green tea.", category="preference", importance=0.9)
    data = use("memory_status").data
    assert data["counts"] == {"preference": 1} or data["counts"]["preference"] == 1
    assert data["layout"] == "obsidian" and data["index"] == "ready"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_argument_that_no_tool_has_is_refused_by_name(use: Use, tool: Any) -> None:
    with pytest.raises(UsageError, match="'colour'"):
        use(tool.name, colour="red")


@pytest.mark.promise("P15")
@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "a/../../x.md", ".hindbrain/layout.toml"])
def test_no_tool_leaves_the_vault(use: Use, path: str) -> None:
    for name, args in (
        ("vault_read", {"path": path}),
        ("vault_write", {"path": path, "content": "x"}),
        ("vault_append", {"path": path, "content": "x"}),
        ("vault_list", {"directory": path}),
        ("vault_search", {"query": "x", "directory": path}),
        ("memory_read", {"file_path": path}),
    ):
        with pytest.raises(HindbrainError) as caught:
            use(name, **args)
        assert caught.value.code in ("unsafe_path", "not_found", "refused", "usage")


def test_a_task_that_is_open_already_is_told_and_not_added(use: Use) -> None:
    made = use("task_create", title="Varnish the mast", priority="high")
    again = use("task_create", title="varnish the mast", details="two coats")
    assert "already" in again.text and "task_update" in again.text
    assert again.data["task"] == made.data["task"]
    assert len(use("task_list").data["tasks"]) == 1
