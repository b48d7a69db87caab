"""Every reading command answers from what is on disk now, or says what it has not looked at."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from command_runs import Cli
from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.edge.daemon.verbs import answer
from hindbrain.index.heartbeat import Beating, Heartbeat
from hindbrain.index.progress import Progress
from hindbrain.index.store import IndexStore
from hindbrain.search.query import SearchQuery
from hindbrain.vault.lock import FileLock
from workbench import Vault


def paths_found(cli: Cli, *words: str) -> list[str]:
    return [hit["path"] for hit in cli("search", *words, "--keyword", "--json").data["hits"]]


def codes(notices: list[str]) -> list[str]:
    return [notice.partition(":")[0] for notice in notices]


def test_a_search_sees_new_edited_moved_and_deleted_notes(cli: Cli, indexed: Vault) -> None:
    indexed.write("New/Zeppelin.md", "# Zeppelin\n\nThe zeppelin lands at Friedrichshafen.\n")
    indexed.edit("Tea.md", "70 degrees", "eighty celsius")
    indexed.rename("Archive/plan.md", "Archive/turnips.md")
    indexed.remove("Daily/2026-03-02.md")

    assert paths_found(cli, "zeppelin") == ["New/Zeppelin.md"]
    tea = cli("search", "green tea brewed", "--keyword", "--json").data
    assert tea["hits"][0]["text"].endswith("brewed at eighty celsius.")
    assert tea["notices"] == []
    assert paths_found(cli, "turnips everywhere") == ["Archive/turnips.md"]
    assert "Daily/2026-03-02.md" not in paths_found(cli, "met Ada about the boat")


def test_a_new_note_is_found_by_meaning_too(cli: Cli, indexed: Vault) -> None:
    indexed.write("Sail.md", "# Sail\n\nOur small yacht needs a new mainsail.\n")

    found = cli("search", "sailing boat equipment", "--semantic", "--json").data

    assert found["hits"][0]["path"] == "Sail.md"
    assert found["notices"] == []


@pytest.mark.parametrize("command", [["recall", "zeppelin"], ["context", "where does the zeppelin land?"]])
def test_memories_and_packs_see_a_note_that_was_just_made(
    cli: Cli, indexed: Vault, command: list[str]
) -> None:
    indexed.write("Zeppelin.md", "# Zeppelin\n\nThe zeppelin lands at Friedrichshafen.\n")

    assert "Friedrichshafen" in cli(*command).out


def test_links_see_a_note_that_was_just_made(cli: Cli, indexed: Vault) -> None:
    indexed.write("Cup.md", "A cup of [[Tea]].\n")

    assert [link["path"] for link in cli("links", "Tea", "--json").data["backlinks"]] == ["Cup.md"]


def test_a_pack_never_holds_the_old_and_the_new_form_of_a_line(cli: Cli, vault: Vault) -> None:
    cli("init")
    cli("remember", "The boat club meets on Tuesdays.", "--category", "fact")
    note = next(file for file in vault.root.rglob("*.md") if "boat club meets" in file.read_text("utf-8"))
    cli("sync")

    note.write_text(note.read_text("utf-8").replace("on Tuesdays", "on Fridays"), "utf-8")
    told = cli("context", "when does the boat club meet?").out

    assert "on Fridays" in told
    assert "on Tuesdays" not in told


def test_templates_and_ignored_files_stay_left_out(cli: Cli, indexed: Vault) -> None:
    indexed.write("Templates/zeppelin.md", "zeppelin template\n")
    indexed.write(".gitignore", "drafts/\n*.tmp.md\n")
    indexed.write("drafts/zeppelin.md", "zeppelin draft\n")
    indexed.write("zeppelin.tmp.md", "zeppelin scratch\n")

    assert paths_found(cli, "zeppelin") == []


def test_an_answer_says_what_could_not_be_taken_in(cli: Cli, indexed: Vault, tmp_path: Path) -> None:
    indexed.write("Zeppelin.md", "# Zeppelin\n\nThe zeppelin lands.\n")
    (lock,) = (tmp_path / "state").glob("*/index.lock")

    with FileLock(lock).held(0):
        ran = cli("search", "tea", "--json")

    assert ran.data["hits"]
    assert codes(ran.data["notices"]) == ["index_behind"]
    assert "1 " in ran.data["notices"][0] and "hindbrain sync" in ran.data["notices"][0]


def test_many_missing_notes_are_kept_and_said(cli: Cli, indexed: Vault) -> None:
    for number in range(6):
        indexed.write(f"Old/{number}.md", f"walrus {number}\n")
    cli("sync")
    for number in range(6):
        indexed.remove(f"Old/{number}.md")

    ran = cli("search", "walrus", "--keyword", "--json")

    assert codes(ran.data["notices"]) == ["index_behind"]
    assert len(ran.data["hits"]) == 6  # as before: only their owner says that so many were deleted


def test_nothing_is_written_when_nothing_changed(cli: Cli, indexed: Vault, tmp_path: Path) -> None:
    (index,) = (tmp_path / "state").glob("*/index.db")
    (indexed.root / os.fsdecode(b"bad\xff.md")).write_text("no name for a note\n", "utf-8")
    indexed.write("Tea (conflicted copy 2026-05-01).md", "Tea again.\n")
    time.sleep(0.03)  # later than the tick of the file system's clock in which these were written
    cli("sync")
    paths_found(cli, "tea")
    before = generation(index)

    assert paths_found(cli, "tea") == ["Tea.md"]
    assert generation(index) == before


def generation(index: Path) -> int:
    with closing(IndexStore(index)) as store:
        return store.generation()


class Killed(BaseException):
    """The process ends here, whatever it was doing."""


def killed_while(app: App, phase: str, at_least: int) -> None:
    def listen(progress: Progress) -> None:
        if progress.phase == phase and progress.done >= at_least:
            raise Killed

    with pytest.raises(Killed):
        app.sync(listen)
    app.close()


@pytest.fixture
def half_indexed(vault: Vault, tmp_path: Path) -> Vault:
    """A vault whose first index was cut short after 250 of 301 notes."""

    for number in range(300):
        vault.write(f"n{number:03}.md", f"# Note {number}\n\nWalrus number {number}.\n")
    vault.write("zz.md", "# Zeppelin\n\nThe zeppelin lands.\n")
    killed_while(build_app(load_config(), vault.root, warm=False), "text", 250)
    return vault


def test_an_interrupted_first_index_is_finished_by_the_next_search(cli: Cli, half_indexed: Vault) -> None:
    ran = cli("search", "zeppelin", "--keyword", "--no-sync", "--json")
    assert codes(ran.data["notices"]) == ["index_incomplete"]
    assert "250 of 301" in ran.data["notices"][0]

    ran = cli("search", "zeppelin", "--json")

    assert [hit["path"] for hit in ran.data["hits"]][:1] == ["zz.md"]
    assert ran.data["notices"] == []
    assert cli("status", "--json").data["index"]["notes"] == 301


def test_an_index_that_was_killed_before_its_vectors_never_blames_another_embedder(
    cli: Cli, notes: Vault
) -> None:
    assert cli("sync", "--no-vectors").code == 0

    kept = cli("search", "tea", "--no-sync", "--json").data
    assert codes(kept["notices"]) == ["vectors_pending"]

    finished = cli("search", "tea", "--json").data
    assert (finished["notices"], finished["mode"]) == ([], "hybrid")


def test_no_message_asks_for_vectors_that_a_daemon_is_making(cli: Cli, notes: Vault) -> None:
    assert cli("sync", "--no-vectors").code == 0
    with closing(build_app(load_config(), notes.root)) as app:
        app.takes_in = False  # as in a daemon: its watcher does

        def told(busy_since: float, error: str = "") -> tuple[list[str], list[str]]:
            now = app.clock.now()
            beat = Heartbeat(os.getpid(), now, now, "events", now, error, 9, busy_since)
            with Beating(app.state, app.clock, lambda: beat):
                turn = answer(
                    app, "turn", {"host": "claude-code", "session": f"{now}", "prompt": "green tea"}
                )
                return codes(cast(list[str], turn["notices"])), codes(
                    list(app.search(SearchQuery("tea")).notices)
                )

        now = app.clock.now()
        assert told(now - 20) == ([], ["vectors_coming"])
        assert told(now - 3_600) == (["vectors_pending"], ["vectors_pending"])  # it hangs
        assert told(0.0, "embedder: no key") == (["vectors_pending"], ["vectors_pending"])
        assert codes(list(app.search(SearchQuery("tea")).notices)) == ["vectors_pending"]


def test_vectors_of_another_embedder_are_named_when_that_is_true(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import apsw

    (index,) = (tmp_path / "state").glob("*/index.db")
    db = apsw.Connection(str(index))
    db.execute("UPDATE meta SET value = 'openai:small' WHERE key = 'embedder'")
    db.close()

    ran = cli("search", "tea", "--no-sync", "--json")

    assert codes(ran.data["notices"]) == ["vectors_of_another_embedder"]


def test_vectors_that_a_quick_look_left_out_are_made_by_the_next_search_by_meaning(
    cli: Cli, indexed: Vault
) -> None:
    indexed.write("Sail.md", "# Sail\n\nOur small yacht needs a new mainsail.\n")
    assert paths_found(cli, "mainsail") == ["Sail.md"]  # by words: no vector is made

    ran = cli("search", "sailing boat equipment", "--semantic", "--json")

    assert (ran.data["hits"][0]["path"], ran.data["notices"], ran.err) == ("Sail.md", [], "")


def test_an_index_made_with_other_settings_is_made_again(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_CHUNK_TOKENS", "400")

    as_it_is = cli("search", "tea", "--keyword", "--no-sync", "--json").data
    assert codes(as_it_is["notices"]) == ["index_outdated"]
    assert as_it_is["hits"]

    again = cli("search", "tea", "--keyword", "--json")
    assert again.data["notices"] == []
    assert "indexing" in again.err
    assert "indexing" not in cli("search", "tea", "--keyword").err
