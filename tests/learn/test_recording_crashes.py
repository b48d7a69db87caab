"""A crash at any place of a recording: a second call gives the notes of one that was left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from recording_runs import CHROME, Book, do, run

from hindbrain.app import App
from hindbrain.learn.pages.desk import Desk
from hindbrain.learn.recording.recorder import Recorder
from hindbrain.learn.runs.episode import Episode
from hindbrain.memory.notes.notebook import Change, Notebook, Page
from hindbrain.memory.notes.own_lines import OwnLines
from hindbrain.vault.write import Written
from workbench import Vault


class Crash(BaseException):
    """The process dies here."""


@dataclass
class Dying:
    """Counts what is made durable, and dies before the n-th, or right behind it."""

    at: int
    behind: bool
    count: int = 0

    def __call__(self) -> Iterator[None]:
        self.count += 1
        dies = self.count == self.at
        if dies and not self.behind:
            raise Crash
        yield
        if dies:
            raise Crash


@dataclass
class DyingNotes:
    notes: Notebook
    dying: Dying

    def find(self, path: str) -> Page | None:
        return self.notes.find(path)

    def edit(self, path: str, change: Change) -> Written | None:
        written: Written | None = None
        for _ in self.dying():
            written = self.notes.edit(path, change)
        return written

    def delete(self, path: str, *, expected_hash: str) -> Written:
        return self.notes.delete(path, expected_hash=expected_hash)


@dataclass
class DyingBook(Book):
    dying: Dying = field(default_factory=lambda: Dying(0, False))

    def recorder(self) -> Recorder:
        def log(name: str, line: str) -> None:
            for _ in self.dying():
                self.app.writer.append_state_line(name, line)

        memory = self.app.memory
        own = OwnLines(self.vault.root, log)
        notes = DyingNotes(memory.notebook, self.dying)
        desk = Desk(self.vault.root, notes, memory.layout, own, memory.today)
        return Recorder(desk, memory, self.app.clock, log, live=5)


def runs(more: int = 0) -> list[Episode]:
    failing = (CHROME[0], do("click", "bookmark bar", app="Chrome", ok=False, said="nothing there"))
    told: list[Episode] = []
    for n in range(12 + more):
        ok = n % 3 > 0
        told.append(
            run(
                n, f"Open page{n}.com{' in Chrome' if ok else ''}", "success" if ok else "failed",
                ago=(12 - n) * 100, iterations=3, score=90 if ok else 40, app="Chrome",
                actions=CHROME if ok else failing, reason="" if ok else "It was not there",
            )
        )  # fmt: skip
    return told


def notes_of(book: Book) -> dict[str, bytes]:
    book.app.memory.settle(idle=True)
    return {path: data for path, data in book.files().items() if path.endswith(".md")}


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("told", [0, 8])
def test_a_second_call_finishes_what_a_crash_left(
    told: int, behind: bool, tmp_path: Path, make_app: Callable[..., App]
) -> None:
    def make(name: str, dying: Dying) -> DyingBook:
        root = tmp_path / name / "vault"
        (root / ".obsidian").mkdir(parents=True)
        book = DyingBook(Vault(root), make_app(root))
        book.record(*runs()[:told])
        book.dying = dying
        return book

    whole = make("whole", Dying(0, behind))
    assert not whole.record(*runs()).problems
    expected, steps = notes_of(whole), whole.dying.count
    assert steps > 15 and any("Archive" in path for path in expected)
    for at in range(1, steps + 1):
        book = make(f"crash-{at}", Dying(at, behind))
        with pytest.raises(Crash):
            book.record(*runs())
        assert not book.record(*runs()).problems
        assert notes_of(book) == expected, f"after a crash at step {at}"
        before = book.files()
        book.record(*runs())
        assert book.files() == before


def test_runs_that_came_meanwhile_are_told_as_well(tmp_path: Path, make_app: Callable[..., App]) -> None:
    ids = {f"^r-{n:04d}" for n in range(15)}
    for at in range(1, 18, 2):
        root = tmp_path / str(at) / "vault"
        (root / ".obsidian").mkdir(parents=True)
        book = DyingBook(Vault(root), make_app(root), Dying(at, True))
        with pytest.raises(Crash):
            book.record(*runs())
        assert not book.record(*runs(3)).problems
        log = "".join(data.decode() for path, data in notes_of(book).items() if "Task Log" in path)
        assert all(log.count(name) == 1 for name in ids)
