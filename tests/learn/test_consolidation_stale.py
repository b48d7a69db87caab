"""Memories that nobody used for a season: which they are, and how they move without being forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.learn.consolidating import consolidator, day, make_own, notes_of

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.index.usage import Access
from hindbrain.learn.consolidation.stale import Uses, find_stale, uses_of
from hindbrain.search.query import SearchQuery
from hindbrain.vault.items.item import STRUCK, MemoryItem
from workbench import NOW, Vault

MakeApp = Callable[..., App]
DAY_S = 86_400
NOTE = """\
---
type: memory
category: fact
---
# Memory: fact

- I typed this myself
- The office plant is a ficus [importance:: 0.4] [source:: agent] [created:: {old}] ^m-00000001
  - it stands in the hall
  and wants water
- The rent is due in May [importance:: 0.4] [source:: agent] [created:: {new}] ^m-00000002
- Anna is allergic to nuts [importance:: 0.8] [source:: agent] [created:: {old}] ^m-00000003
- The lift is slow [importance:: 0.4] [source:: user] [created:: {old}] ^m-00000004
- Approved by hand [importance:: 0.4] [source:: web] [created:: {old}] [approved:: {old}] ^m-00000005
"""


def item(**fields: object) -> MemoryItem:
    base = MemoryItem(
        "m-00000001", "The plant is a ficus", "fact", 0.4, "agent", day(100), path="Memory/fact.md"
    )
    return base._replace(**fields)  # type: ignore[arg-type]


def is_stale(one: MemoryItem, uses: Uses | None = None, *others: MemoryItem) -> bool:
    found = find_stale([one, *others], uses or Uses({}, {}), now=NOW)
    return one in [stale.item for stale in found]


def test_an_unimportant_memory_is_stale_after_90_days_without_use() -> None:
    assert is_stale(item(created=day(91)))
    assert not is_stale(item(created=day(90)))


def test_importance_holds_a_memory_for_longer() -> None:
    assert not is_stale(item(importance=0.7, created=day(120)))
    assert is_stale(item(importance=0.7, created=day(160)))
    assert not is_stale(item(importance=0.8, created=day(3_000)))


@pytest.mark.parametrize(
    "kept",
    [{"source": "user"}, {"id": ""}, {"id": "t-00000001"}, {"created": ""}],
)
def test_what_is_a_persons_or_of_unknown_age_is_never_stale(kept: dict[str, str]) -> None:
    assert not is_stale(item(**kept))


def test_what_replaced_another_memory_stays_and_what_was_replaced_may_go() -> None:
    old = item(id="m-00000009", superseded="m-00000001")
    assert not is_stale(item(), None, old)
    assert is_stale(old, None, item())
    assert is_stale(item(superseded=STRUCK))


def test_use_is_being_injected_or_asked_for() -> None:
    lately = NOW - 10 * DAY_S
    assert not is_stale(item(), uses_of([], [(lately, ["^m-00000001"])]))
    assert not is_stale(item(), uses_of([], [(lately, ["[[Memory/fact#^m-00000001"])]))
    assert is_stale(item(), uses_of([], [(lately, ["^m-00000002"])]))
    assert not is_stale(item(), uses_of([Access("Memory/fact.md", lately, "which plant is it")], []))
    assert not is_stale(item(), uses_of([Access("Memory/fact.md", lately, "")], []))
    assert is_stale(item(), uses_of([Access("Memory/fact.md", lately, "when is the rent due")], []))
    assert is_stale(item(), uses_of([Access("Memory/other.md", lately, "plant")], []))
    # Recall showed it for a cue: none of its own words was asked for.
    shown = Access("Memory/fact.md", lately, "greenery", ("m-00000001",))
    assert not is_stale(item(), uses_of([shown], []))
    assert is_stale(item(id="m-00000002"), uses_of([shown], []))


def test_feedback_may_hold_or_let_go() -> None:
    kept = find_stale([item(created=day(95))], Uses({}, {}), now=NOW, adjustment=lambda _: 0.2)
    assert kept == []


@pytest.fixture
def app(vault: Vault, make_app: MakeApp) -> App:
    make_own(vault.root)
    vault.write("Memory/fact.md", NOTE.format(old=day(100), new=day(20)))
    (vault.root / ".hindbrain").mkdir(exist_ok=True)  # as after the first memory: settling makes no folder
    app = make_app(vault.root)
    app.memory.settle(idle=True)
    return app


def ids(app: App) -> list[str]:
    return [one.id for one in app.memory.book.items()]


def test_stale_lines_move_with_what_is_below_them_and_all_others_stay(app: App, vault: Vault) -> None:
    before = (vault.root / "Memory/fact.md").read_text(encoding="utf-8").split("\n")
    done = consolidator(app).consolidate()
    assert done.stale == 1
    assert done.proof.holds
    after = (vault.root / "Memory/fact.md").read_text(encoding="utf-8").split("\n")
    archived = (vault.root / "Archive/Memory/fact.md").read_text(encoding="utf-8").split("\n")
    gone = [line for line in before if line not in after]
    assert gone == before[7:10]
    assert archived[-4:-1] == gone
    assert [line for line in before if line in after] == after


def test_a_memory_with_another_one_below_it_stays(app: App, vault: Vault) -> None:
    below = "  - [[Anna]] gave it to me [source:: user] ^m-0000000a\n"
    vault.edit("Memory/fact.md", "  - it stands in the hall\n", below)
    assert consolidator(app).consolidate().stale == 0
    assert below in (vault.root / "Memory/fact.md").read_text(encoding="utf-8")


def test_a_line_goes_into_the_archive_with_its_cues(app: App, vault: Vault) -> None:
    note = "Memory/fact.md"
    text = (vault.root / note).read_text(encoding="utf-8")
    vault.write(note, text.replace(" ^m-00000001", " [cues:: greenery, office] ^m-00000001"))
    consolidator(app).consolidate()
    (archived,) = [one for one in app.memory.archived.items() if one.id == "m-00000001"]
    assert archived.cues == ("greenery", "office")


def test_what_was_archived_is_not_taken_for_deleted(app: App, make_app: MakeApp) -> None:
    consolidator(app).consolidate()
    again = make_app(app.root)
    assert again.memory.settle(idle=True).deleted == ()
    assert not again.memory.tombstones.covers("The office plant is a ficus")
    again.memory.remember("The office plant is a ficus", source="agent", importance=0.9)
    assert "The office plant is a ficus" in [one.text for one in again.memory.book.items()]


def test_who_deletes_a_line_in_the_archive_has_deleted_it(app: App, make_app: MakeApp) -> None:
    consolidator(app).consolidate()
    make_app(app.root).memory.settle(idle=True)
    note = app.root / "Archive/Memory/fact.md"
    note.write_text("".join(line for line in note.open() if "ficus" not in line), encoding="utf-8")
    assert make_app(app.root).memory.settle(idle=True).deleted == ("m-00000001",)


def test_search_finds_what_was_archived_and_recall_does_not_show_it(app: App) -> None:
    consolidator(app).consolidate()
    app.sync()
    found = app.memory.search(SearchQuery("office plant ficus"))
    assert "Archive/Memory/fact.md" in [hit.path for hit in found.hits]
    recalled = app.memory.recall("office plant ficus")
    assert "m-00000001" not in [one.item.id for one in recalled.memories]
    assert "Archive/Memory/fact.md" not in [hit.path for hit in recalled.passages]


def test_a_memory_that_its_owner_brings_back_stays(app: App, make_app: MakeApp) -> None:
    consolidator(app).consolidate()
    archive, note = app.root / "Archive/Memory/fact.md", app.root / "Memory/fact.md"
    line = next(line for line in archive.read_text(encoding="utf-8").split("\n") if "ficus" in line)
    archive.write_text(archive.read_text(encoding="utf-8").replace(line + "\n", ""), encoding="utf-8")
    note.write_text(note.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    again = make_app(app.root)
    assert consolidator(again).consolidate().stale == 0
    assert "m-00000001" in ids(again)


def test_a_second_time_changes_nothing(app: App) -> None:
    consolidator(app).consolidate()
    before = notes_of(app.root)
    consolidator(app).consolidate()
    assert notes_of(app.root) == before


def test_what_was_archived_can_be_forgotten_for_good(app: App) -> None:
    consolidator(app).consolidate()
    app.purge("m-00000001")
    assert not any(b"ficus" in data for data in notes_of(app.root).values())


def test_a_memory_that_is_used_meanwhile_is_kept(app: App, clock: FakeClock) -> None:
    app.record_access("Memory/fact.md", "office plant")
    assert consolidator(app).consolidate().stale == 0
