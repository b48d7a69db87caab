"""Retention: the newest 200 entries stay in the task log; older ones move whole and leave a pattern."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording_runs import CHROME, Book, do, run

from hindbrain.app import App
from hindbrain.learn.recording.entries import New, entries_of, with_entries, with_newest, without_oldest
from hindbrain.learn.recording.patterns import find_patterns
from hindbrain.learn.runs.episode import Episode
from hindbrain.vault.lines import NoteLines
from workbench import NOW, Vault

DAY = 86_400


@pytest.fixture
def book(vault: Vault, make_app: Callable[..., App]) -> Book:
    return Book(vault, make_app(vault.root))


def pages(count: int, *, every: float = 600, first: int = 0) -> list[Episode]:
    """Runs that open pages, oldest first."""
    return [
        run(first + i, f"Open page{i}.com in Chrome", ago=(count - i) * every, iterations=3, score=90,
            actions=CHROME)
        for i in range(count)
    ]  # fmt: skip


def test_the_newest_stay_and_the_others_are_in_the_archive_of_their_month(book: Book) -> None:
    runs = pages(300, every=DAY / 3)
    recorded = book.record(*runs)
    assert recorded.runs == 300 and recorded.archived == 100 and not recorded.problems
    log = book.text("task_log")
    assert log.count("\n## ") == 200 and "^r-0099" not in log and "^r-0100" in log
    months = [book.text("archive", name=f"Task Log 2026-0{month}") for month in (2, 3)]
    assert months[0].startswith("---\ntype: archive\n") and "source: tool" in months[0]
    archived = [name for text in months for name in sorted(f"r-{n:04d}" for n in range(300)) if name in text]
    assert archived == [f"r-{n:04d}" for n in range(100)]
    assert all("## 2026-02" not in text for text in (log, months[1]))


def test_patterns_tell_what_left_the_log(book: Book) -> None:
    odd = run(900, "Water the plants", ago=400 * DAY)
    slow = [
        run(910 + i, f"Open slow{i}.com in Chrome", "failed", ago=300 * DAY, iterations=9) for i in range(4)
    ]
    book.record(odd, *slow, *pages(216))
    assert book.body("patterns").partition("## Kinds of tasks\n")[2] == (
        '\n- "open \\<url> in chrome": 20 runs, 80 % went well, 4.2 iterations on average; best: '
        "open_application({target}), click(URL bar), type_text({target}), press_key(return) "
        f"[source:: tool] ^{find_patterns(slow)[0].id}\n"
    )


def test_a_pattern_is_three_runs_and_names_the_way_that_works_most_often() -> None:
    fast = (do("press_key", "l", command="true"), do("type_text", "x"))
    runs = [run(i, f"Go to site{i}.org", iterations=2, actions=fast) for i in range(3)]
    runs += [run(5, "Go to site9.org", iterations=1, actions=(do("click", "URL bar"),))]
    runs += [run(6, "Go to site8.org", "stuck", iterations=20)]
    (pattern,) = find_patterns(runs)
    assert (pattern.runs, pattern.successes, pattern.iterations) == (5, 4, 5.4)
    assert pattern.best == "press_key(l, command: true), type_text(x)"
    assert find_patterns(runs[:2]) == []


def test_entries_of_the_owner_move_whole_and_their_text_between_entries_stays(
    book: Book, vault: Vault
) -> None:
    path = book.desk().path("task_log")
    mine = "## 2020-01-01 my own run\n- **Command:** by hand\n  and how\n"
    vault.write(path, f"# Log\n\nWelcome.\n\n{mine}\nBetween the years.\n\n## Remarks\n\nKeep me.\n")
    book.record(*pages(20))
    edited = book.text("task_log").replace('"Open page3.com in Chrome"', '"Open **page3.com**" (mine)')
    vault.write(path, edited)
    runs = [*pages(20), *(one._replace(run=f"r-9{n:03d}", started=NOW - 50, ended=NOW - 5)
            for n, one in enumerate(pages(210)))]  # fmt: skip
    assert book.record(*runs).archived == 31
    log, old = book.text("task_log"), book.text("archive", name="Task Log 2020-01")
    assert old.endswith(f"\n\n{mine}")
    assert "Welcome." in log and "Between the years." in log and "## Remarks\n\nKeep me.\n" in log
    assert '"Open **page3.com**" (mine)' in book.text("archive", name="Task Log 2026-05")
    assert "by hand" not in log


def test_runs_that_are_imported_late_stand_at_their_place_in_time(book: Book) -> None:
    new = pages(30)
    book.record(*new)
    old = [run(800 + i, f"Old task {i}", ago=90 * DAY - i) for i in range(250)]
    assert book.record(*old, *new).archived == 80
    log = book.text("task_log")
    assert all(f"^r-{n:04d}" in log for n in range(30))
    times = [line for line in log.split("\n") if line.startswith("## ")]
    assert times == sorted(times) and len(times) == 200


def test_runs_that_are_older_than_a_full_log_go_to_the_archive_at_once(book: Book) -> None:
    new = pages(200)
    book.record(*new)
    log = book.text("task_log")
    old = [run(800 + i, f"Old task {i}", ago=90 * DAY - i) for i in range(30)]
    recorded = book.record(*old, *new)
    assert (recorded.runs, recorded.archived) == (30, 30)
    assert book.text("task_log") == log
    months = [path for path in book.files() if "Task Log 2026" in path]
    assert sum(book.files()[path].count(b"Old task") for path in months) == 30


def test_of_thousands_at_once_only_the_last_days_get_daily_lines(book: Book) -> None:
    few = [run(5000 + i, f"Old task {i}", ago=200 * DAY - 60 * i) for i in range(3)]
    book.record(*few)
    assert len(_days(book)) == 1  # as it was lived
    many = [run(i, f"Open page{i}.com", ago=(1100 - i) * DAY / 10) for i in range(1100)]
    assert book.record(*few, *many).runs == 1100
    days = _days(book)
    newest = max(days)
    assert 30 <= len(days) - 1 <= 32 and few[0].run.encode() in days[min(days)]
    assert many[-1].run.encode() in days[newest] and not any(
        many[0].run.encode() in one for one in days.values()
    )
    before = book.files()
    book.record(*few, *many)
    assert book.files() == before


def _days(book: Book) -> dict[str, bytes]:
    return {path: data for path, data in book.files().items() if "Daily/" in path}


def test_the_log_is_not_trimmed_for_every_run(book: Book) -> None:
    runs = pages(230)
    assert book.record(*runs[:220]).archived == 0
    assert book.record(*runs[:221]).archived == 21
    assert book.record(*runs).archived == 0


def test_entries_keep_their_bytes_and_line_ends(book: Book, vault: Vault) -> None:
    path = book.desk().path("task_log")
    entry = b"## 2021-03-04T05:06:07Z\r\n- **Command:** caf\xe9 \xff\r\n\r\n"
    vault.write(path, b"# Log\r\n\r\n" + entry)
    book.record(*pages(221))
    archive = (vault.root / book.desk().path("archive", name="Task Log 2021-03")).read_bytes()
    assert archive.endswith(b"\n\n" + entry.removesuffix(b"\r\n"))
    assert b"\xff" not in (vault.root / path).read_bytes()


_LINES = st.lists(
    st.sampled_from([
        "## 2026-01-01T00:00:00Z", "## 2026-02-01T00:00:00Z", "## 2025-12-01", "# Log", "## Other",
        "### Deep", "- an item ^r-1", "- an item", "text", "", "", "```", "  more",
        "## 2026-01-01T00:00:00Z\r",
    ]),
    max_size=30,
)  # fmt: skip


@given(_LINES, st.integers(0, 3))
@settings(max_examples=300)
def test_no_line_is_lost_whatever_the_log_looks_like(lines: list[str], most: int) -> None:
    data = "\n".join(lines).encode()
    kept = without_oldest(data, most, "log.md")
    moved = [line for one in kept.moved for line in NoteLines(one.block).texts]
    left = NoteLines(kept.data).texts
    assert sorted(filter(str.strip, [*left, *moved])) == sorted(filter(str.strip, NoteLines(data).texts))
    assert len(entries_of(NoteLines(kept.data), kept.data)) <= max(most, 0) or not kept.moved


@given(_LINES, st.lists(st.integers(0, 40), max_size=5, unique=True))
@settings(max_examples=300)
def test_new_entries_leave_every_other_line_in_its_order(lines: list[str], days: list[int]) -> None:
    data = "\n".join(lines).encode()
    new = sorted(
        New(time, f"r-new{day}", (f"## {time}", f"- x ^r-new{day}"))
        for day in days
        if (time := f"2026-01-{day % 28 + 1:02d}T00:00:00Z")
    )
    after = NoteLines(with_entries(data, new, "log.md")).texts
    ours = [line for one in new for line in one.lines]
    rest = [line for line in after if line.strip()]
    for line in ours:
        rest.remove(line)
    assert sorted(rest) == sorted(line for line in NoteLines(data).texts if line.strip())
    assert sum("^r-new" in line for line in after) == len(new)


@given(_LINES, st.lists(st.integers(0, 60), max_size=8, unique=True), st.integers(1, 4), st.integers(0, 2))
@settings(max_examples=500)
def test_what_passes_through_the_log_leaves_it_as_if_it_had_stood_there(
    lines: list[str], days: list[int], most: int, slack: int
) -> None:
    data = "\n".join(lines).encode()
    new = sorted(
        New(time, f"r-new{day}", (f"## {time}", f"- x ^r-new{day}"))
        for day in days
        if (time := f"2026-0{1 + day // 28}-{day % 28 + 1:02d}T00:00:00Z")
    )
    slow = without_oldest(with_entries(data, new, "log.md"), most, "log.md", slack=slack)
    if not slow.ids.issuperset(one.id for one in new):
        return  # code is not closed: nothing can be added
    quick = with_newest(data, new, most, "log.md", slack=slack)
    assert quick.ids >= {one.id for one in new}
    assert NoteLines(quick.data).texts == NoteLines(slow.data).texts
    assert sorted(one.block.split() for one in quick.moved) == sorted(one.block.split() for one in slow.moved)
    assert [one.time[:19] for one in quick.moved] == [one.time[:19] for one in slow.moved]
