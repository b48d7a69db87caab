"""P27: notes, memories and tasks stay the same ones under whatever name and wherever their file is.

Notes are renamed, moved between folders, changed in case and in Unicode form, swapped and passed on in
chains, the notes of the layout with memories and tasks among them. The content never changes, so the index,
the memory and the task list must not change either, except for the paths.
"""

from __future__ import annotations

import random
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path, PurePosixPath

import pytest
from tests.anomalies.test_follow_anomalies import Following

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from index_oracle import assert_sound, index_content, rows
from workbench import Bench, Vault

pytestmark = pytest.mark.promise("P27")

FACTS = (
    ("Prefers oat milk in coffee", "preference"),
    ("Likes the window seat on trains", "preference"),
    ("The boat is called Zoë and lies in Łódź", "fact"),
    ("Ada answers for the invoices", "relationship"),
    ("Chose PostgreSQL for the ledger because of its constraints", "decision"),
    ("Never deploys on a Friday", "pattern"),
)
TASKS = ("Fix the boat", "Paint the boat", "Répondre à Zoë")
# No name is in any case or form equal to another one, so that each file system has room for all of them.
STEMS = (
    "Café", "naïve plan", "Ångström", "한국어 노트", "日本語", "Über uns", "Tea", "résumé", "Ideas", "ﬁnal Ⅳ",
)  # fmt: skip
FOLDERS = ("", "Work", "Work/Été", "Privé", "日記", "Work/Été/Ñandú")
Step = Callable[["Storm"], None]


def composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def other_form(name: str) -> str:
    """The name in the other Unicode form; the same name when it has only one."""
    decomposed = unicodedata.normalize("NFD", name)
    return decomposed if name != decomposed else composed(name)


class Storm:
    """Renames the notes of a vault as a person and their tools do."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self._chance = random.Random(seed)
        self._number = 0

    def notes(self) -> list[str]:
        """Paths as they stand on disk, in an order that does not depend on the disk."""
        files = (file.relative_to(self.root) for file in self.root.rglob("*.md"))
        return sorted(file.as_posix() for file in files if not file.parts[0].startswith("."))

    def content(self) -> dict[str, bytes]:
        return {composed(path): (self.root / path).read_bytes() for path in self.notes()}

    def step(self) -> None:
        self._chance.choice(_STEPS)(self)

    def _note(self) -> PurePosixPath:
        return PurePosixPath(self._chance.choice(self.notes()))

    def _new_name(self) -> str:
        self._number += 1
        return self._in_some_form(f"{self._chance.choice(STEMS)} {self._number}.md")

    def _some_folder(self) -> Path:
        """A folder as it stands on disk, in whatever form and case; made when there is none."""
        place = self.root
        for part in PurePosixPath(self._chance.choice(FOLDERS)).parts:
            same = [file for file in place.iterdir() if composed(file.name).casefold() == part.casefold()]
            place = same[0] if same else place / self._in_some_form(part)
            place.mkdir(exist_ok=True)
        return place

    def _in_some_form(self, text: str) -> str:
        return other_form(text) if self._chance.random() < 0.5 else text

    # What is done: by hand, or by the hundred by a sync tool

    def rename(self) -> None:
        note = self.root / self._note()
        note.rename(note.with_name(self._new_name()))

    def move(self) -> None:
        note = self.root / self._note()
        note.rename(self._some_folder() / self._new_name())

    def flip_form(self) -> None:
        note = self.root / self._note()
        note.rename(note.with_name(other_form(note.name)))

    def flip_case(self) -> None:
        note = self.root / self._note()
        flipped = note.stem.swapcase()
        if len(flipped) == len(note.stem):  # a ligature in capitals is another name
            note.rename(note.with_name(flipped + note.suffix))

    def flip_folder(self) -> None:
        """Give a folder another form or another case."""
        folder = self.root / self._note().parent
        if folder != self.root:
            flipped = other_form(folder.name) if self._chance.random() < 0.5 else folder.name.swapcase()
            folder.rename(folder.with_name(flipped))

    def swap(self) -> None:
        first, second = (self.root / note for note in self._chance.sample(self.notes(), 2))
        spare = self.root / ".obsidian" / "spare"
        first.rename(spare)
        second.rename(first)
        spare.rename(second)

    def pass_on(self) -> None:
        """Give each note of a chain the name of the next one, and the last one a new name."""
        chain = [self.root / note for note in self._chance.sample(self.notes(), self._chance.randint(2, 4))]
        names = [*chain, self._some_folder() / self._new_name()]
        for old, new in reversed(list(pairwise(names))):
            old.rename(new)


_STEPS: tuple[Step, ...] = (
    Storm.rename, Storm.move, Storm.flip_form, Storm.flip_case, Storm.flip_folder, Storm.swap,
    Storm.pass_on,
)  # fmt: skip


class Known:
    """What there was before the storm: notes by content, memories and tasks by id."""

    def __init__(self, bench: Bench, memories: Mapping[str, str], tasks: Mapping[str, str]) -> None:
        self._bench = bench
        self.memories = memories  # id -> fact
        self.tasks = tasks  # id -> title
        self._contents = self._hashes()

    def _hashes(self) -> Counter[str]:
        return Counter(index_content(self._bench.app.index_path).values())

    def check_index(self, storm: Storm) -> None:
        """Each note once, under the name that it has now; each id once."""
        report = self._bench.sync()
        assert report.clean and not report.failed and not report.skipped, report.missing
        index = self._bench.app.index_path
        assert index_content(index).keys() == storm.content().keys()
        assert self._hashes() == self._contents
        ids = Counter(id_ for (id_,) in rows(index, "SELECT id FROM block"))
        assert {id_: ids[id_] for id_ in (*self.memories, *self.tasks)} == dict.fromkeys(
            (*self.memories, *self.tasks), 1
        )

    def check_doors(self, app: App) -> None:
        """Memories and tasks once each, and the same ones when they are told again."""
        memory = app.memory
        assert memory.notice_deleted() == []
        found = Counter(item.id for item in memory.book.items())
        assert found == dict.fromkeys(self.memories, 1)
        listed = Counter(task.id for task in memory.tasks.list(status="all"))
        assert listed == dict.fromkeys(self.tasks, 1)
        stones = app.root / ".hindbrain" / "tombstones.jsonl"
        assert not stones.exists() or b'"exact"' not in stones.read_bytes()
        assert memory.status().problems == ()

    def check_told_again(self, app: App, storm: Storm) -> None:
        """What is known already is neither stored a second time nor refused; nothing is written."""
        before = storm.content()
        for id_, fact in self.memories.items():
            told = app.memory.remember(fact, category=dict(FACTS)[fact], importance=0.9, source="agent")
            assert (told.id, told.action) == (id_, "merge"), told
        for id_, title in self.tasks.items():
            made = app.memory.tasks.create(title)
            assert (made.task.id, made.is_new) == (id_, False), made
        after = storm.content()
        assert after.keys() == before.keys(), after.keys() ^ before.keys()


@pytest.fixture
def bench(place: Path) -> Iterator[Bench]:
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    made = Bench(Vault(root), _app(place), None)
    yield made
    made.app.close()


def _app(place: Path) -> App:
    environ = {"HINDBRAIN_STATE_FOLDER": str(place / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": "none"}
    return build_app(load_config(environ, place / "none.toml"), place / "vault")


def _filled(bench: Bench, notes: int) -> Known:
    app = bench.app
    app.writer.put_state_file("layout.toml", b'base = "obsidian"\nfolder = "Agent"\n')
    for number in range(notes):
        name = f"{STEMS[number % len(STEMS)]} n{number}.md"
        bench.vault.write(name, f"# Note {number}\n\nText {number}.\n")
    memories = {
        app.memory.remember(fact, category=category, importance=0.9, source="user").id: fact
        for fact, category in FACTS
    }
    tasks = {app.memory.tasks.create(title).task.id: title for title in TASKS}
    assert bench.sync().clean
    return Known(bench, memories, tasks)


def _rage(bench: Bench, place: Path, steps: int, seed: int, notes: int = 30) -> int:
    """Renames, a few or many at a time, each time with a look through all doors; returns how many."""
    known = _filled(bench, notes)
    storm, chance, done = Storm(bench.vault.root, seed), random.Random(seed), 0
    contents = Counter(storm.content().values())
    while done < steps:
        for _ in range(chance.choice((1, 1, 2, 5, 20, 60))):
            storm.step()
            done += 1
        assert Counter(storm.content().values()) == contents  # of the test itself: nothing was overwritten
        if chance.random() < 0.5:  # the index does not know yet
            known.check_doors(bench.app)
        known.check_index(storm)
        known.check_doors(bench.app)
        if chance.random() < 0.2:
            other = _app(place)  # another process
            known.check_doors(other)
            known.check_told_again(other, storm)
            other.close()
            assert bench.sync().clean
            contents = Counter(storm.content().values())
            known = Known(bench, known.memories, known.tasks)
    assert_sound(bench.app.index_path)
    return done


def test_a_storm_of_renames_makes_no_duplicate_and_loses_nothing(bench: Bench, place: Path) -> None:
    assert _rage(bench, place, 120, seed=8) >= 120


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_10_000_renames_make_no_duplicate_and_lose_nothing(bench: Bench, place: Path, seed: int) -> None:
    assert _rage(bench, place, 2_500, seed=10 + seed, notes=60) >= 2_500


def test_a_watcher_follows_a_storm_of_renames(place: Path) -> None:
    with Following(place) as following:
        root = following.root
        for number, stem in enumerate(STEMS * 2):
            (root / f"{stem} n{number}.md").write_text(f"# {number}\n", encoding="utf-8")
        following.wait_until_equal()
        storm = Storm(root, seed=3)
        for _ in range(4):
            for _ in range(15):
                storm.step()
            following.wait_until_equal()
        hashes = Counter(following.indexed().values())
        assert hashes == dict.fromkeys(hashes, 1) and len(hashes) == 2 * len(STEMS)


# What the storm has found, each by itself


def test_notes_that_take_over_each_others_names_are_moved_and_not_deleted(bench: Bench) -> None:
    for number in range(10):
        bench.vault.write(f"a{number}.md", f"first {number}\n")
        bench.vault.write(f"b{number}.md", f"second {number}\n")
    assert bench.sync().clean
    for number in range(10):
        bench.vault.rename(f"b{number}.md", f"c{number}.md")
        bench.vault.rename(f"a{number}.md", f"b{number}.md")
    report = bench.sync()
    assert report.clean and not report.missing.deleted
    assert index_content(bench.app.index_path).keys() == {f"{x}{n}.md" for x in "bc" for n in range(10)}


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names have one form or are kept apart there")
def test_tasks_in_a_note_with_a_decomposed_name_are_found(bench: Bench) -> None:
    known = _filled(bench, 3)
    bench.vault.rename("Agent/Active Tasks.md", unicodedata.normalize("NFD", "Été/Tâches.md"))
    known.check_doors(bench.app)
    bench.sync()
    known.check_doors(bench.app)
    assert bench.app.memory.tasks.create(TASKS[0]).is_new is False


def test_tasks_in_the_place_of_a_memory_note_are_no_memories(bench: Bench) -> None:
    known = _filled(bench, 3)
    (place,) = {item.path for item in bench.app.memory.book.items() if item.text == FACTS[0][0]}
    bench.vault.rename(place, "Mine.md")
    bench.vault.rename("Agent/Active Tasks.md", place)
    known.check_doors(bench.app)
    bench.sync()
    known.check_doors(bench.app)
