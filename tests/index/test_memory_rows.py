"""A memory is a row of the index: made from its line, wherever the note stands, with its own day and kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hindbrain.app import App
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.record import make_record
from hindbrain.index.store import IndexStore
from hindbrain.search.filters import _without
from hindbrain.search.query import Filters, SearchQuery
from hindbrain.vault.layout import LAYOUTS
from hindbrain.vault.parse import parse_note
from workbench import Vault


def rows(app: App) -> list[tuple[Any, ...]]:
    store = IndexStore(app.index_path)
    try:
        return sorted(
            (path, m.line, m.id, m.kind, m.created, m.importance, m.source, m.tags, m.cues, m.day, m.state)
            for path, m in store.all_memories()
        )
    finally:
        store.close()


def told(app: App) -> list[tuple[Any, ...]]:
    """What the memory itself reads from the notes."""
    return sorted(
        (
            item.path, item.line, item.id, item.category, item.created, item.importance, item.source,
            "\n".join(item.tags), "\n".join(item.cues), item.day_note,
            "superseded" if item.superseded else "live",
        )
        for item in app.memory.book.items()
        if item.id
    )  # fmt: skip


@pytest.fixture
def filled(vault: Vault, make_app: Callable[..., App]) -> Callable[[str], App]:
    def make(layout: str) -> App:
        vault.write("Boat.md", "# Boat\n\nThe mast needs varnish.\n")
        app = make_app(vault.root, layout=layout)
        now: dict[str, Any] = {"strategy": "immediate", "source": "user"}
        app.memory.remember("Prefers dark mode", category="preference", tags=["ui"], cues=["theme"], **now)
        app.memory.remember("Anna Berg works at Nordlys", category="contact", importance=0.9, **now)
        app.memory.remember("Chose SQLite for the index", category="decision", created="2026-01-05", **now)
        app.memory.remember("Favourite editor is vim", **now)
        app.memory.remember("Favourite editor is emacs", **now)
        app.memory.remember(
            "Met Ada at the pier", created="2026-01-02", day_note="Daily/2026-01-02", tags=["people"], **now
        )
        app.sync()
        return app

    return make


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_rows_are_what_the_notes_say_in_every_layout(filled: Callable[[str], App], layout: str) -> None:
    app = filled(layout)
    assert len(rows(app)) == 6
    assert rows(app) == told(app)
    assert "Daily/2026-01-02" in {row[9] for row in rows(app)}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_follow_edits_moves_deletions_and_a_rebuild(
    filled: Callable[[str], App], vault: Vault, layout: str
) -> None:
    app = filled(layout)
    first = app.memory.book.items()[0]
    vault.edit(first.path, first.text, "Something else entirely")
    app.sync()
    assert rows(app) == told(app)
    line = next(text for text in (vault.root / first.path).read_text("utf-8").split("\n") if first.id in text)
    vault.edit(first.path, line + "\n", "", at=1_800_000_000.0)
    vault.write("Own/Kept.md", f"# Kept\n\n## Facts\n\n{line}\n")
    app.sync()
    moved = [row for row in rows(app) if row[2] == first.id]
    assert [(row[0], row[1]) for row in moved] == [("Own/Kept.md", 5)]
    before = rows(app)
    app.rebuild()
    assert rows(app) == before
    vault.remove("Own/Kept.md")
    app.sync()
    assert first.id not in {row[2] for row in rows(app)}


def test_a_deleted_note_leaves_nothing_behind(filled: Callable[[str], App], vault: Vault) -> None:
    app = filled("obsidian")
    for path in {item.path for item in app.memory.book.items()}:
        vault.remove(path)
    app.sync(confirm=True)
    store = IndexStore(app.index_path)
    for table in ("memory", "memory_passage", "memory_tag"):
        assert store.select(f"SELECT * FROM {table}") == []
    store.close()


def test_a_memory_in_an_archive_is_archived() -> None:
    line = "- Prefers dark mode [created:: 2026-02-20] ^m-7f3k2a9d"
    note = parse_note(f"# Memory\n\n{line}\n", stem="fact")
    (row,) = make_record("Agent/Archive/Memory/fact.md", note, ChunkSettings()).memories
    assert (row.state, row.kind) == ("archived", "fact")


@pytest.mark.parametrize("created", ["2026-99-99", "2026-02-30", "soon", ""])
def test_a_day_that_is_none_is_unknown(created: str) -> None:
    note = parse_note(f"- Prefers dark mode [created:: {created}] ^m-7f3k2a9d\n", stem="fact")
    (row,) = make_record("fact.md", note, ChunkSettings()).memories
    assert row.created == ""


def test_a_long_memory_has_all_its_passages_and_what_stands_below_it() -> None:
    long = "- " + "The boat sails on. " * 100 + "^m-7f3k2a9d"
    text = f"# Log\n\n{long}\n  - also said: The boat is sailing all the time, day and night\n- Other thing\n"
    record = make_record("fact.md", parse_note(text, stem="fact"), ChunkSettings())
    (row,), cut = record.memories, record.passages
    held = {line for at in row.passages for line in (cut[at].first_line, cut[at].last_line)}
    assert len(row.passages) > 2 and {3, 4} <= held <= {1, 3, 4}


def test_tasks_and_lines_in_code_are_no_memories() -> None:
    text = "# A\n\n- [ ] Varnish ^t-7f3k2a9d\n\n```\n- not one ^m-7f3k2a9d\n```\n"
    assert make_record("a.md", parse_note(text, stem="a"), ChunkSettings()).memories == ()


def test_a_hundred_thousand_memories_are_taken_out_in_one_pass() -> None:
    memories = list(range(2, 200_002, 2))
    assert len(list(_without([(1, 200_000)], memories))) == 100_000
    assert list(_without([(1, 3), (10, 4)], [2, 10, 13])) == [(1, 1), (3, 1), (11, 2)]


def test_a_filter_asks_as_often_in_many_memories_as_in_few(
    vault: Vault, make_app: Callable[..., App], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    select = IndexStore._all

    def counted(store: IndexStore, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return select(store, sql, values)

    monkeypatch.setattr(IndexStore, "_all", counted)
    counts: list[int] = []
    for many in (50, 500):
        lines = (f"- Thing {n} is kept [created:: 2026-01-{n % 28 + 1:02}] ^m-{n:08x}" for n in range(many))
        vault.write("Kept.md", "# Kept\n\n" + "\n".join(lines) + "\n", at=1_700_000_000.0 + many)
        app = make_app(vault.root)
        app.sync()
        asked.clear()
        app.search(SearchQuery("thing", filters=Filters(since="2026-01-20")))
        counts.append(len(asked))
        app.close()
    assert counts[0] == counts[1] > 0
