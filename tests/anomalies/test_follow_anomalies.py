"""A real watcher over real files, while editors, renames and failures do their worst.

The oracle is I4: the set of (path, hash) in the index is that of the vault. Waits are for conditions, with a
deadline far beyond what is needed.
"""

import os
import random
import shutil
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.index.follow import Follower, read_heartbeat
from hindbrain.index.hidden_edits import HiddenEdits
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.store import IndexStore
from hindbrain.index.sync import Syncer
from hindbrain.models.fake import FakeEmbedder
from hindbrain.vault.changes import VaultChanges
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.ignore import make_rules

DEADLINE_S = 40.0
POLL_S = 0.02  # between two looks of the test at the index

pytestmark = pytest.mark.promise("P7")


class Following:
    """A follower in a thread."""

    def __init__(self, place, *, rescan_s=3600.0, embedder=None, **options):
        self.root, self.state = place / "vault", place / "state"
        self.root.mkdir(exist_ok=True)
        (self.root / ".obsidian").mkdir(exist_ok=True)
        self.events, self.heard = [], threading.Condition()
        self.stop = threading.Event()
        clock, rules = SystemClock(), make_rules()
        self.syncer = Syncer(self.root, self.state, rules, ChunkSettings(), clock)
        self.changes = VaultChanges(self.root, rules, say=lambda _: None, **{"debounce_ms": 50, **options})
        hidden = HiddenEdits(self.root, self.syncer.index_path, clock)
        follower = Follower(
            self.syncer, self.changes, hidden, lambda: embedder, self.state, clock,
            rescan_s=rescan_s, on_event=self._hear,
        )  # fmt: skip
        self.thread = threading.Thread(target=follower.run, args=(self.stop,), daemon=True)

    def _hear(self, event):
        with self.heard:
            self.events.append(event)
            self.heard.notify_all()

    def __enter__(self):
        self.thread.start()
        self.wait_for_event("synced", "checked", "frozen")
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(DEADLINE_S)
        assert not self.thread.is_alive()
        assert read_heartbeat(self.state, SystemClock().now()) is None  # I6

    def wait_for_event(self, *kinds):
        with self.heard:
            assert self.heard.wait_for(
                lambda: any(event.kind in kinds for event in self.events), DEADLINE_S
            ), self.events

    def wait_until_equal(self):
        def equal():
            return self.indexed() == in_vault(self.root)

        self.wait_until(equal)

    def wait_until(self, condition):
        tries = threading.Event()
        for _ in range(int(DEADLINE_S / POLL_S)):
            if condition():
                return
            tries.wait(POLL_S)
        pytest.fail(f"not within {DEADLINE_S} s; last events: {self.events[-5:]}")

    def indexed(self):
        store = IndexStore(self.syncer.index_path)
        try:
            return {path: note.hash for path, note in store.known_notes().items()}
        finally:
            store.close()

    def syncs(self):
        return [event for event in self.events if event.kind == "synced"]


def in_vault(root):
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(".md") and not name.startswith("."):
                file = Path(folder, name)
                path = unicodedata.normalize("NFC", file.relative_to(root).as_posix())
                found[path] = content_hash(file.read_bytes())
    return found


def fill(root, count, folder="Notes"):
    (root / folder).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (root / folder / f"note {number}.md").write_text(
            f"# Note {number}\n\nText of {number}.\n", encoding="utf-8"
        )


def save_atomically(file, text):
    temp = file.with_name(f".{file.name}.tmp")
    temp.write_text(text, encoding="utf-8")
    temp.replace(file)


def save_by_truncating(file, text):
    with open(file, "w", encoding="utf-8") as note:
        note.flush()
        note.write(text)


def save_as_vim(file, text):
    backup = file.with_name(file.name + "~")
    file.rename(backup)
    file.write_text(text, encoding="utf-8")
    backup.unlink()


@pytest.mark.parametrize("save", [save_atomically, save_by_truncating, save_as_vim])
def test_every_way_to_save_ends_in_the_index(place, save):
    fill(place / "vault", 20)
    with Following(place, embedder=FakeEmbedder(16)) as following:
        for number in range(3):
            save(following.root / "Notes" / f"note {number}.md", f"saved in some way, {number}")
            following.wait_until_equal()


def test_renames_of_every_kind_end_in_the_index(place):
    fill(place / "vault", 30)
    root = place / "vault"
    with Following(place) as following:
        for change in (
            lambda: (root / "Notes").rename(root / "Moved"),
            lambda: (root / "Moved").rename(root / "moved"),
            lambda: (root / "moved" / "note 1.md").rename(root / "moved" / "Note 1.md"),
            lambda: (root / "moved" / "note 2.md").rename(root / "moved" / "Cafe\u0301.md"),
            lambda: (root / "moved" / "note 3.md").rename(root / "moved" / "out.txt"),
            lambda: (root / "moved" / "out.txt").rename(root / "back.md"),
            lambda: (root / "moved" / "note 4.md").unlink(),
        ):
            change()
            following.wait_until_equal()
        assert "moved/Caf\u00e9.md" in following.indexed()


def test_a_tree_copied_in_at_once_is_found_whole(place):
    tree = place / "tree"
    for number in range(40):
        fill(tree, 5, f"a/{number % 7}/b{number}/c")
    with Following(place) as following:
        shutil.copytree(tree, following.root / "Copied")
        following.wait_until_equal()
        assert len(following.indexed()) == 200


def test_a_burst_of_2000_changes_takes_few_syncs(place):
    fill(place / "vault", 2_000)
    with Following(place, debounce_ms=300) as following:
        before = len(following.syncs())
        for number in range(2_000):
            (following.root / "Notes" / f"note {number}.md").write_text(f"changed {number}", encoding="utf-8")
        following.wait_until_equal()
        assert len(following.syncs()) - before <= 2


def test_a_storm_of_random_changes_ends_in_the_index(place):
    fill(place / "vault", 40)
    rng = random.Random(7)
    root = place / "vault"
    with Following(place) as following:
        for step in range(150):
            notes = sorted(root.rglob("*.md"))
            note = rng.choice(notes)
            action = rng.choice(("edit", "atomic", "truncate", "new", "move", "folder"))
            if action == "edit":
                note.write_text(f"step {step}", encoding="utf-8")
            elif action == "atomic":
                save_atomically(note, f"step {step}")
            elif action == "truncate":
                save_by_truncating(note, f"step {step}")
            elif action == "new":
                fill(root, 2, f"New {step}")
            elif action == "move":
                note.rename(note.with_name(f"moved {step}.md"))
            else:
                note.parent.rename(note.parent.with_name(f"Folder {step}"))
        following.wait_until_equal()


def dropped(top, stop):
    """A native watcher that hears nothing."""
    while not stop.wait(0.02):
        yield []


def test_with_a_dead_watcher_the_next_look_finds_the_change(place):
    fill(place / "vault", 20)
    with Following(place, rescan_s=0.2, open_events=dropped) as following:
        for number in range(10):  # two are enough, unless one look finds two of them
            (following.root / "Notes" / f"note {number}.md").write_text("nobody told", encoding="utf-8")
            following.wait_until_equal()
            if following.changes.mode == "polling":
                break
        following.wait_until(lambda: following.changes.mode == "polling")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no change time")
def test_with_a_dead_watcher_even_a_forged_time_is_found(place):
    fill(place / "vault", 20)
    note = place / "vault" / "Notes" / "note 5.md"
    os.utime(note, (1_600_000_000, 1_600_000_000))
    with Following(place, rescan_s=0.2, open_events=dropped) as following:
        text = note.read_text(encoding="utf-8")
        note.write_text(text.upper(), encoding="utf-8")
        os.utime(note, (1_600_000_000, 1_600_000_000))
        following.wait_until_equal()


@pytest.mark.promise("P8")
def test_a_vault_that_is_unmounted_keeps_its_index_and_goes_on(place):
    fill(place / "vault", 20)
    away = place / "away"
    with Following(place) as following:
        whole = following.indexed()
        following.root.rename(away)
        following.wait_for_event("frozen")
        assert following.indexed() == whole
        beat = read_heartbeat(following.state, SystemClock().now())
        assert beat is not None and beat.alive
        (away / "Notes" / "note 1.md").write_text("changed while it was away", encoding="utf-8")
        away.rename(following.root)
        following.wait_until_equal()
        following.wait_for_event("resumed")
        (following.root / "Notes" / "note 2.md").write_text("changed after it came back", encoding="utf-8")
        following.wait_until_equal()


_LIMITED = """
import sys, threading
from pathlib import Path
from hindbrain.vault.changes import VaultChanges
from hindbrain.vault.ignore import make_rules
Path("/proc/sys/user/max_inotify_watches").write_text("20")
said, stop = [], threading.Event()
changes = VaultChanges(Path(sys.argv[1]), make_rules(), say=said.append, poll_s=0.05)
note = Path(sys.argv[1]) / "f0" / "new.md"
for count, batch in enumerate(changes.batches(stop)):
    note.write_text("x" * count)
    if "f0/new.md" in batch.paths:
        stop.set()
print(changes.mode, len(said))
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="needs namespaces")
def test_a_real_watch_limit_turns_to_looking(place):
    for number in range(60):
        (place / "vault" / f"f{number}").mkdir(parents=True)
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", _LIMITED, str(place / "vault")]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=DEADLINE_S, check=False, encoding="utf-8"
    )
    if done.returncode and ("unshare" in done.stderr or "max_inotify" in done.stderr):
        pytest.skip("this system allows no user namespace with a limit of its own")
    assert done.stdout.split() == ["polling", "1"], done.stderr
