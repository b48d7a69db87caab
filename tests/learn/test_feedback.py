"""Feedback as a vault sees it: a derived file that moves ranking, and that can be deleted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.index.usage import Access
from hindbrain.learn.feedback.feedback import RETURNS, Feedback, recalls_of
from hindbrain.learn.runs.episode import Episode
from hindbrain.search.adjustments import FEEDBACK, Adjustments
from hindbrain.search.query import SearchQuery
from hindbrain.vault.items.item import MemoryItem
from workbench import NOW, Vault

COMMAND = "send the weekly report to Ada"


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> Iterator[App]:
    (vault.root / ".hindbrain").mkdir()
    app = make_app(vault.root)
    yield app
    app.close()


@pytest.fixture
def feedback(app: App) -> Feedback:
    return Feedback(app.memory, app.state, app.clock, lambda: app.writer)


def _runs(*injected: str) -> list[Episode]:
    """Six failed without it, six went well with it."""
    return [
        Episode(
            f"r-{at:04}", COMMAND, "success" if at >= 6 else "failed", NOW - 9e4 + at, NOW - 9e4 + at + 1,
            injected=injected if at >= 6 else (), tokens=40 if at >= 6 else 0,
        )
        for at in range(12)
    ]  # fmt: skip


def _told(app: App) -> dict[str, dict[str, dict[str, object]]]:
    read: dict[str, dict[str, dict[str, object]]] = json.loads((app.state / FEEDBACK).read_bytes())
    return read


def _remember(app: App, text: str, category: str = "preference") -> str:
    return app.memory.remember(text, category=category, source="user", strategy="immediate").id


def test_a_memory_that_helped_counts_for_more_and_the_file_says_why(app: App, feedback: Feedback) -> None:
    helped = _remember(app, "Reports go out as PDF")
    other = _remember(app, "Meetings are on Mondays")
    made = feedback.bring_up_to_date(_runs(f"^{helped}"))
    assert (made.items, made.notes, made.changed) == (1, 0, True)
    row = _told(app)["items"][helped]
    assert row["change"] == row["parts"]["runs"] > 0  # type: ignore[index]
    assert other not in _told(app)["items"]
    assert json.loads((app.state / RETURNS).read_bytes())["returns"][helped]["tokens"] == 240


def test_the_same_runs_write_nothing_again(app: App, feedback: Feedback) -> None:
    runs = _runs(f"^{_remember(app, 'Reports go out as PDF')}")
    feedback.bring_up_to_date(runs)
    before = (app.state / FEEDBACK).stat()
    assert not feedback.bring_up_to_date(runs).changed
    assert (app.state / FEEDBACK).stat().st_mtime_ns == before.st_mtime_ns
    assert [file.name for file in app.state.glob(f"{FEEDBACK}*")] == [FEEDBACK]


def test_a_file_that_can_not_be_written_is_a_problem_and_no_failure(app: App, feedback: Feedback) -> None:
    helped = _remember(app, "Reports go out as PDF")
    (app.state / FEEDBACK).mkdir()
    assert feedback.bring_up_to_date(_runs(f"^{helped}")).problem
    assert app.memory.recall("reports").memories[0].feedback == 0.0
    assert not list(app.state.glob("*.tmp"))


def test_no_note_is_touched(app: App, feedback: Feedback, vault: Vault) -> None:
    helped = _remember(app, "Reports go out as PDF")
    before = {path: path.read_bytes() for path in vault.root.rglob("*.md")}
    feedback.bring_up_to_date(_runs(f"^{helped}"))
    assert {path: path.read_bytes() for path in vault.root.rglob("*.md")} == before


def test_recall_puts_what_helped_first_and_says_so_until_the_file_is_deleted(
    app: App, feedback: Feedback
) -> None:
    first = _remember(app, "Likes tea in the morning")
    helped = _remember(app, "Reports go out as PDF")
    asked = "my preferences"
    plain = [one.item.id for one in app.memory.recall(asked).memories]
    lower = plain[-1]
    feedback.bring_up_to_date(_runs(f"^{lower}"))
    moved = app.memory.recall(asked).memories
    assert {one.item.id for one in moved} == {first, helped}
    assert moved[0].item.id == lower
    assert moved[0].feedback > 0 == moved[1].feedback
    (app.state / FEEDBACK).unlink()
    after = app.memory.recall(asked).memories
    assert [one.item.id for one in after] == plain
    assert not any(one.feedback for one in after)


def test_search_ranks_by_it_and_explains_it(app: App, vault: Vault, feedback: Feedback) -> None:
    text = "# {}\n\nThe weekly report is written on Fridays.\n"
    vault.write("A.md", text.format("Alpha"))
    vault.write("B.md", text.format("Gamma"))
    app.sync()
    query = SearchQuery("weekly report Fridays", unit="note", mode="keyword")
    plain = app.search(query).hits
    last = plain[-1].path
    feedback.bring_up_to_date(_runs(last))
    moved = app.search(query).hits
    assert [hit.path for hit in moved] == [hit.path for hit in reversed(plain)]
    assert moved[0].why["feedback"] > 0
    assert moved[0].why["importance"] == plain[0].why["importance"]
    assert "feedback" not in moved[1].why
    (app.state / FEEDBACK).unlink()
    assert app.search(query).hits == plain


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[1]",
        b"[" * 100_000,
        b'{"v": 2, "items": {"m-a": {"change": 0.1}}}',
        b'{"v": 1, "items": {"m-a": {"change": "much"}, "m-b": 7, "m-c": {"change": NaN}}, "notes": []}',
    ],
)
def test_a_damaged_file_moves_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FEEDBACK).write_bytes(data)
    read = Adjustments(tmp_path)
    read.refresh()
    assert (read.items, read.notes) == ({}, {})


def test_a_file_that_says_more_than_is_allowed_is_held_to_it(tmp_path: Path) -> None:
    (tmp_path / FEEDBACK).write_text(
        '{"v": 1, "notes": {"A.md": {"change": 5, "parts": {"runs": 5}}}}', encoding="utf-8"
    )
    read = Adjustments(tmp_path)
    read.refresh()
    assert read.notes["A.md"].change == 0.2


def test_what_a_person_puts_right_or_leaves_counts_for_them(
    app: App, feedback: Feedback, vault: Vault
) -> None:
    changed = _remember(app, "Reports go out as PDF")
    kept = _remember(app, "Meetings are on Mondays")
    feedback.bring_up_to_date([])
    assert _told(app)["items"] == {}  # our own writes are no edits
    path = app.memory.book.find(changed).path
    vault.edit(path, "Reports go out as PDF", "Reports go out as plain text")
    feedback.bring_up_to_date([])
    assert _told(app)["items"][changed]["parts"] == {"edited": 0.1}
    assert _told(app)["items"][kept]["parts"] == {"kept": 0.02}
    _remember(app, "Coffee is black")  # our own write after theirs
    feedback.bring_up_to_date([])
    assert _told(app)["items"][changed]["parts"] == {"edited": 0.1}
    assert len(_told(app)["items"]) == 2


def test_what_answered_questions_counts_and_fades(clock: FakeClock) -> None:
    items = [
        MemoryItem("m-a", "Reports go out as PDF", path="Memory/fact.md"),
        MemoryItem("m-b", "Ada sails a boat", path="Memory/fact.md"),
    ]
    day = 86_400.0
    accesses = [
        Access("Memory/fact.md", NOW, "how do reports go out?"),
        Access("Memory/fact.md", NOW - 90 * day, "reports as PDF"),
        Access("Memory/fact.md", NOW, ""),
        Access("Other.md", NOW, "reports"),
    ]
    assert recalls_of(items, accesses, now=clock.now()) == pytest.approx({"m-a": 1.5})
