"""What consolidation leans on: given ids, watchers of a notebook, removal of our own files, drafts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.learn.consolidating import desk_of, everything_below

from hindbrain.app import App
from hindbrain.base.errors import WriteFailed
from hindbrain.learn.pages.drafts import draft_of, drafts_on
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.write import Written
from workbench import Vault

MakeApp = Callable[..., App]


@pytest.fixture
def app(vault: Vault, make_app: MakeApp) -> App:
    return make_app(vault.root, embedding_provider="none")


def test_a_memory_with_a_given_id_is_stored_once(app: App) -> None:
    for _ in range(2):
        app.memory.remember("Ada lives in Lund", source="agent", given_id="m-0000000a", importance=0.9)
    assert [item.id for item in app.memory.book.items()] == ["m-0000000a"]


def test_a_proposal_with_a_given_id_waits_under_it(app: App) -> None:
    held = app.memory.remember("The office moved to Kungsgatan 4", source="web", given_id="m-0000000a")
    assert held.id == "p-0000000a"


class Watcher:
    def __init__(self, refuse: bool = False) -> None:
        self.told: list[tuple[str, str, str]] = []
        self.done: list[Written] = []
        self.refuse = refuse

    def writing(self, path: str, before_hash: str, after_hash: str) -> None:
        self.told.append((path, before_hash, after_hash))
        if self.refuse:
            raise WriteFailed("no")

    def written(self, written: Written) -> None:
        self.done.append(written)


def test_a_watcher_hears_of_every_change_before_and_after_it(app: App) -> None:
    notebook = app.memory.notebook
    notebook.watcher = watcher = Watcher()
    notebook.edit("a.md", lambda _: b"one\n")
    notebook.edit("a.md", lambda _: b"two\n")
    notebook.edit("a.md", lambda _: None)
    notebook.delete("a.md", expected_hash=content_hash(b"two\n"))
    one, two = content_hash(b"one\n"), content_hash(b"two\n")
    assert watcher.told == [("a.md", ABSENT, one), ("a.md", one, two), ("a.md", two, ABSENT)]
    made = [revision.id for revision in reversed(app.writer.history())]
    assert [written.revision_id for written in watcher.done] == made


def test_what_a_watcher_refuses_is_not_written(app: App) -> None:
    app.memory.notebook.watcher = Watcher(refuse=True)
    with pytest.raises(WriteFailed):
        app.memory.notebook.edit("a.md", lambda _: b"one\n")
    assert not (app.root / "a.md").exists()


def test_one_of_our_files_is_removed_only_while_it_holds_what_is_expected(app: App) -> None:
    app.writer.put_state_file("runs/r-a/journal.jsonl", b"one\n")
    assert not app.writer.remove_state_file("runs/r-a/journal.jsonl", expected_hash=content_hash(b"other\n"))
    assert (app.root / ".hindbrain/runs/r-a/journal.jsonl").exists()
    assert app.writer.remove_state_file("runs/r-a/journal.jsonl", expected_hash=content_hash(b"one\n"))
    assert (app.root / ".hindbrain").is_dir()
    assert not (app.root / ".hindbrain/runs").exists()
    assert not app.writer.remove_state_file("runs/r-a/journal.jsonl", expected_hash=content_hash(b"one\n"))


def test_a_draft_of_a_desk_writes_nothing_and_shows_a_move_as_one(app: App) -> None:
    (app.root / "a.md").write_bytes(b"one\n")
    (app.root / "b.md").write_bytes(b"two\n")
    before = everything_below(app.root)
    desk = draft_of(desk_of(app))
    desk.edit("c.md", lambda _: b"one\n")
    desk.notes.delete("a.md", expected_hash=content_hash(b"one\n"))
    desk.put_section("b.md", "Ours", ["- three"])
    drafts = drafts_on(desk)
    assert drafts is not None
    drafts.say("+ remember: four")
    assert everything_below(app.root) == before
    shown = drafts.diff().split("\n")
    assert shown[:2] == ["+ remember: four", "rename a.md -> c.md"]
    assert "+- three" in shown
    assert not any(line.startswith("-one") for line in shown)
    assert drafts_on(desk_of(app)) is None
