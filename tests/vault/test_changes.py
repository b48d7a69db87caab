"""What the watcher makes of file-system events: real files, the native watcher, stubs for its faults."""

import os
import threading
from typing import Any

import pytest

from hindbrain.vault.changes import VaultChanges
from hindbrain.vault.event_paths import Changes, FileEvent, judge_events
from hindbrain.vault.ignore import make_rules
from hindbrain.vault.path_rules import NotePath

DEADLINE_S = 20.0
RESCAN = Changes(rescan=True)


@pytest.fixture
def vault(tmp_path):
    root = tmp_path / "vault"
    (root / "Projects").mkdir(parents=True)
    (root / "Projects" / "plan.md").write_text("plan", encoding="utf-8")
    (root / "home.md").write_text("home", encoding="utf-8")
    return root


def judged(root, *events, exclude=()):
    top = os.path.realpath(root)
    found = [FileEvent(kind, f"{top}{os.sep}{path}") for kind, path in events]
    return judge_events(top, make_rules(exclude), found)


class Watching:
    """The batches of a watcher that runs in a thread, and a way to wait for them."""

    def __init__(self, root, **options):
        self.said: list[str] = []
        self.seen: list[Any] = []
        self.stop = threading.Event()
        self.changed = threading.Condition()
        options = {"debounce_ms": 100, "say": self.said.append, **options}
        self.changes = VaultChanges(root, make_rules(), **options)
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        for batch in self.changes.batches(self.stop):
            with self.changed:
                self.seen.append(batch)
                self.changed.notify_all()

    def __enter__(self):
        self.thread.start()
        self.wait(lambda seen: seen)
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(DEADLINE_S)
        assert not self.thread.is_alive()

    def wait(self, condition, since=0):
        with self.changed:
            assert self.changed.wait_for(lambda: condition(self.seen[since:]), DEADLINE_S), self.seen
            return self.seen[since:]

    def wait_for_path(self, path, since=0):
        return self.wait(lambda seen: any(path in batch.paths for batch in seen), since)

    def wait_for_rescan(self, since):
        return self.wait(lambda seen: any(batch.rescan for batch in seen), since)


# --- what an event means


def test_an_edited_note_is_named_by_its_path(vault):
    assert judged(vault, ("modified", "Projects/plan.md")) == Changes(
        frozenset({NotePath("Projects/plan.md")})
    )


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/workspace.json",
        ".hindbrain/log.jsonl",
        ".git/refs/x.md",
        ".trash/old.md",
        "Projects/.hindbrain-tmp-0011",
        "Projects/plan.md~",
        "Projects/.plan.md.swp",
        "node_modules/a/readme.md",
        "Templates/daily.md",
    ],
)
def test_private_folders_and_temporary_files_are_passed_over(vault, path):
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_text("x", encoding="utf-8")
    assert not judged(vault, ("added", path))
    (vault / path).unlink()
    assert not judged(vault, ("deleted", path))


def test_what_the_owner_excluded_is_passed_over(vault):
    (vault / "Archive").mkdir()
    (vault / "Archive" / "old.md").write_text("x", encoding="utf-8")
    (vault / "drawing.excalidraw.md").write_text("x", encoding="utf-8")
    exclude = ("Archive", "*.excalidraw.md")
    assert not judged(vault, ("modified", "Archive/old.md"), exclude=exclude)
    assert not judged(vault, ("modified", "drawing.excalidraw.md"), exclude=exclude)


def test_ignore_files_of_every_folder_above_hold(vault):
    (vault / ".gitignore").write_text("*.md\n!keep.md\n", encoding="utf-8")
    (vault / "Projects" / ".obsidianignore").write_text("keep.md\n", encoding="utf-8")
    (vault / "keep.md").write_text("x", encoding="utf-8")
    (vault / "Projects" / "keep.md").write_text("x", encoding="utf-8")
    found = judged(vault, ("modified", "home.md"), ("modified", "keep.md"), ("modified", "Projects/keep.md"))
    assert found == Changes(frozenset({NotePath("keep.md")}))


def test_a_changed_ignore_file_asks_for_a_scan(vault):
    assert judged(vault, ("deleted", "Projects/.gitignore")).rescan


@pytest.mark.parametrize(
    "event", [("deleted", "home.md.gone.md"), ("deleted", "Folder"), ("deleted", "v1.0")]
)
def test_what_vanished_asks_for_a_scan(vault, event):
    assert judged(vault, event).rescan


def test_a_new_folder_asks_for_a_scan_and_says_so(vault):
    (vault / "New").mkdir()
    assert judged(vault, ("added", "New")) == Changes(rescan=True, new_folders=True)


def test_attachments_do_not_matter(vault):
    (vault / "photo.png").write_bytes(b"x")
    assert not judged(vault, ("added", "photo.png"), ("modified", "photo.png"))


@pytest.mark.skipif(os.name == "nt", reason="makes symlinks and hard links")
def test_links_are_left_to_the_scan(vault):
    (vault / "link.md").symlink_to("home.md")
    (vault / "way").symlink_to("Projects")
    os.link(vault / "home.md", vault / "twin.md")
    for path in ("link.md", "way", "way/plan.md", "twin.md", "home.md"):
        assert judged(vault, ("modified", path)) == RESCAN, path


def test_copies_and_other_unicode_forms_are_left_to_the_scan(vault):
    for name in ("home (conflict 2026-01-01 101010).md", "e\u0301.md"):
        (vault / name).write_text("x", encoding="utf-8")
        assert judged(vault, ("added", name)) == RESCAN, name


def test_very_many_notes_become_one_scan(vault):
    events = []
    for number in range(501):
        (vault / f"n{number}.md").write_text("x", encoding="utf-8")
        events.append(("added", f"n{number}.md"))
    assert not judged(vault, *events[:500]).rescan
    assert judged(vault, *events).rescan


# --- the native watcher


def test_the_first_batch_asks_for_a_scan(vault):
    with Watching(vault) as watching:
        assert watching.seen[0].rescan
        assert watching.changes.mode == "events"


def test_an_edit_an_atomic_save_and_a_touch_are_seen(vault):
    note = vault / "home.md"
    with Watching(vault) as watching:
        note.write_text("in place", encoding="utf-8")
        watching.wait_for_path("home.md")
        at = len(watching.seen)
        (vault / ".home.tmp").write_text("saved", encoding="utf-8")
        (vault / ".home.tmp").replace(note)
        watching.wait_for_path("home.md", at)
        at = len(watching.seen)
        os.utime(note, (1, 1))
        watching.wait_for_path("home.md", at)


def test_a_deletion_a_renamed_folder_and_a_case_only_rename_ask_for_a_scan(vault):
    with Watching(vault) as watching:
        for change in (
            lambda: (vault / "Projects").rename(vault / "Work"),
            lambda: (vault / "home.md").rename(vault / "Home.md"),
            lambda: (vault / "Home.md").unlink(),
        ):
            at = len(watching.seen)
            change()
            watching.wait_for_rescan(at)


@pytest.mark.promise("P7")
def test_a_burst_comes_as_one_or_two_batches(vault):
    with Watching(vault, debounce_ms=300) as watching:
        for number in range(2_000):
            (vault / f"burst-{number}.md").write_text(f"note {number}", encoding="utf-8")
        (vault / "last.md").write_text("x", encoding="utf-8")
        watching.wait(lambda seen: any(batch for batch in seen), 1)
        at = len(watching.seen)
        watching.wait(lambda seen: len(seen) >= 2 and not seen[-1] and not seen[-2], at)
        assert sum(bool(batch) for batch in watching.seen[1:]) <= 2


def test_noise_in_private_folders_does_not_keep_a_note_waiting(vault):
    (vault / ".git").mkdir()
    over = threading.Event()

    def make_noise():
        number = 0
        while not over.wait(0.01):
            number += 1
            (vault / ".git" / f"object-{number % 50}").write_text("x", encoding="utf-8")

    noise = threading.Thread(target=make_noise)
    with Watching(vault) as watching:
        noise.start()
        try:
            (vault / "home.md").write_text("among noise", encoding="utf-8")
            seen = watching.wait_for_path("home.md", 1)
        finally:
            over.set()
            noise.join()
        assert not any(batch.rescan for batch in seen)


def test_a_root_that_goes_and_comes_back_is_watched_again(vault):
    away = vault.with_name("away")
    with Watching(vault) as watching:
        at = len(watching.seen)
        vault.rename(away)
        watching.wait_for_rescan(at)
        watching.wait(lambda seen: seen and not seen[-1], at)
        at = len(watching.seen)
        vault.mkdir()  # another folder under the same name
        watching.wait_for_rescan(at)
        at = len(watching.seen)
        (vault / "new.md").write_text("x", encoding="utf-8")
        watching.wait(lambda seen: any("new.md" in batch.paths or batch.rescan for batch in seen), at)


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="the system refuses such names")
def test_a_name_that_is_not_unicode_does_not_end_the_watch(vault):
    with Watching(vault) as watching:
        at = len(watching.seen)
        with open(os.fsencode(vault) + b"/\xff.md", "w", encoding="utf-8") as file:
            file.write("x")
        watching.wait_for_rescan(at)
        at = len(watching.seen)
        (vault / "home.md").write_text("still seen", encoding="utf-8")
        watching.wait_for_path("home.md", at)


def test_it_stops_promptly_in_both_modes(vault):
    for options in ({}, {"poll_s": 10 * DEADLINE_S, "open_events": out_of_watches}):
        with Watching(vault, **options):
            pass  # leaving it asserts that the thread ended


# --- when events fail


def out_of_watches(top, stop):
    raise OSError("OS file watch limit reached")
    yield []


@pytest.mark.promise("P7")
def test_it_looks_by_itself_when_the_watch_limit_is_reached(vault):
    with Watching(vault, open_events=out_of_watches, poll_s=0.05) as watching:
        watching.wait(lambda seen: len(seen) > 2)
        assert watching.changes.mode == "polling"
        assert len(watching.said) == 1
        assert "limit" in watching.said[0]
        (vault / "home.md").write_text("a longer text than before", encoding="utf-8")
        watching.wait_for_path("home.md")
        at = len(watching.seen)
        (vault / "home.md").unlink()
        watching.wait_for_rescan(at)
        at = len(watching.seen)
        (vault / ".gitignore").write_text("Projects\n", encoding="utf-8")
        watching.wait_for_rescan(at)


def test_a_watcher_that_keeps_breaking_is_given_up(vault):
    opened = []

    def broken(top, stop):
        opened.append(top)
        yield []
        raise RuntimeError("internal error")

    with Watching(vault, open_events=broken, poll_s=0.05) as watching:
        watching.wait(lambda seen: any(not batch for batch in seen))
        assert watching.changes.mode == "polling"
        assert len(opened) == 5
        assert len(watching.said) == 1


def test_distrust_turns_to_looking_once(vault):
    with Watching(vault, poll_s=0.05) as watching:
        watching.changes.distrust("nothing was told")
        watching.changes.distrust("nothing was told")
        (vault / "home.md").write_text("a longer text than before", encoding="utf-8")
        watching.wait_for_path("home.md")
        assert watching.changes.mode == "polling"
        assert len(watching.said) == 1
