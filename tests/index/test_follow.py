"""The loop that keeps an index in step with its vault, driven batch by batch in a time of its own."""

import json
import os
import subprocess
import sys
import threading

import pytest

from hindbrain.base.clock import FakeClock, SystemClock
from hindbrain.base.errors import Busy, EmbedderDown
from hindbrain.index.follow import Follower, read_heartbeat
from hindbrain.index.heartbeat import HEARTBEAT_FILE, Beating, Heartbeat
from hindbrain.index.hidden_edits import HiddenEdits
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.store import IndexStore
from hindbrain.index.sync import Syncer
from hindbrain.models.fake import FakeEmbedder
from hindbrain.vault.event_paths import Changes
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.ignore import make_rules

TICK = Changes()
SCAN = Changes(rescan=True)


def edited(*paths):
    return Changes(frozenset(paths))


class Script:
    """Batches that a test wrote down, with things to do before each; then the end."""

    def __init__(self, *steps):
        self.steps = steps
        self.mode = "events"
        self.events_fault = ""
        self.distrusted = []

    def batches(self, _stop):
        for step in self.steps:
            if callable(step):
                step()
            else:
                yield step

    def distrust(self, reason):
        self.mode = "polling"
        self.distrusted.append(reason)


class Bench:
    """A vault, an index, and a follower over a script."""

    def __init__(self, tmp_path):
        self.root = tmp_path / "vault"
        self.state = tmp_path / "state"
        self.root.mkdir()
        (self.root / ".obsidian").mkdir()
        self.seconds = 1_000.0
        self.embedder = FakeEmbedder(16)
        self.factory = lambda: self.embedder
        self.syncer = Syncer(
            self.root, self.state, make_rules(), ChunkSettings(), SystemClock(), lock_timeout_s=0
        )
        self.events = []
        self.during = []  # heartbeats, read when an event is told

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def wait(self, seconds):
        def advance():
            self.seconds += seconds

        return advance

    def run(self, *steps, stop=None):
        script = Script(*steps)
        hidden = HiddenEdits(self.root, self.syncer.index_path, SystemClock())
        Follower(
            self.syncer, script, hidden, lambda: self.factory(), self.state, SystemClock(),  # type: ignore[arg-type]
            rescan_s=60, on_event=self._heard, monotonic=lambda: self.seconds,
        ).run(stop or threading.Event())  # fmt: skip
        return script

    def _heard(self, event):
        self.events.append(event)
        self.during.append(json.loads((self.state / HEARTBEAT_FILE).read_text(encoding="utf-8")))

    def kinds(self):
        return [event.kind for event in self.events]

    def codes(self):
        return [event.code for event in self.events if event.code]

    def indexed(self):
        store = IndexStore(self.syncer.index_path)
        try:
            return {path: note.hash for path, note in store.known_notes().items()}
        finally:
            store.close()

    def expected(self):
        return {
            file.relative_to(self.root).as_posix(): content_hash(file.read_bytes())
            for file in self.root.rglob("*.md")
        }


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


# --- what it does


def test_it_begins_with_a_whole_sync_and_then_embeds(bench):
    bench.write("a.md", "alpha")
    bench.run(SCAN, TICK)
    assert bench.kinds() == ["started", "synced", "embedded", "stopped"], bench.events
    assert bench.indexed() == bench.expected()
    assert bench.events[2].report.pending == 0


def test_an_edited_note_is_taken_in_without_a_scan(bench):
    bench.write("a.md", "alpha")
    bench.run(SCAN, TICK, lambda: bench.write("a.md", "beta"), edited("a.md"), TICK)
    assert [event.report.files for event in bench.events if event.kind == "synced"] == [1, 1]
    assert bench.indexed() == bench.expected()
    assert [text.splitlines()[-1] for text in bench.embedder.texts()] == ["alpha", "beta"]


def test_a_deletion_is_taken_in_by_a_scan(bench):
    bench.write("a.md", "alpha")
    bench.write("b.md", "beta")
    bench.run(SCAN, (bench.root / "b.md").unlink, SCAN)
    assert set(bench.indexed()) == {"a.md"}


def test_a_new_folder_is_looked_at_once_more(bench):
    bench.run(
        SCAN,
        TICK,
        Changes(rescan=True, new_folders=True),
        lambda: bench.write("New/late.md", "no event was told of it"),
        bench.wait(2),
        TICK,
    )
    assert bench.indexed() == bench.expected()


def test_a_vanished_note_is_settled_by_a_scan_soon_after(bench):
    bench.write("a.md", "alpha")
    bench.write("b.md", "beta")
    bench.run(SCAN, TICK, (bench.root / "a.md").unlink, edited("a.md"), bench.wait(1), TICK)
    assert set(bench.indexed()) == {"b.md"}


def test_it_stops_within_a_sync(bench):
    for number in range(600):
        bench.write(f"n{number}.md", f"note {number}")
    stop = threading.Event()
    readings, taken = bench.syncer._readings, []

    def read_and_stop(*args):
        for results in readings(*args):
            taken.extend(results)
            stop.set()
            yield results

    bench.syncer._readings = read_and_stop
    bench.run(SCAN, TICK, stop=stop)
    assert 0 < len(taken) < 600
    assert len(bench.indexed()) == len(taken)  # what was committed stays
    assert bench.kinds()[-1] == "stopped"


# --- what goes wrong


def test_a_busy_index_is_reported_once_and_tried_again(bench):
    bench.write("a.md", "alpha")
    with bench.syncer._lock.held(0):
        bench.run(SCAN, TICK, bench.wait(2), TICK)
    assert bench.codes() == ["busy"]
    assert bench.during[-1]["last_error"]
    with bench.syncer._lock.held(0):
        pass
    bench.events.clear()
    held = bench.syncer._lock.held(0)
    held.__enter__()
    bench.run(SCAN, lambda: held.__exit__(None, None, None), TICK, bench.wait(1), TICK, TICK)
    assert bench.kinds() == ["started", "error", "synced", "resumed", "embedded", "stopped"]
    assert bench.during[-1]["last_error"] == ""
    assert bench.indexed() == bench.expected()


def test_a_dead_embedder_delays_no_text_and_is_left_alone_for_a_while(bench):
    bench.embedder.fail("down")
    bench.write("a.md", "alpha")
    bench.run(SCAN, TICK, lambda: bench.write("b.md", "beta"), edited("b.md"), TICK, TICK)
    assert bench.indexed() == bench.expected()
    assert len(bench.embedder.calls) == 1
    assert bench.kinds().count("error") == 1
    assert bench.during[-1]["pending"] == 2
    assert bench.during[-1]["last_error"]


def test_an_embedder_that_comes_back_gets_what_was_left(bench):
    bench.embedder.fail("down")
    bench.write("a.md", "alpha")
    bench.run(SCAN, TICK, bench.embedder.recover, bench.wait(15), TICK)
    assert bench.kinds()[-3:] == ["embedded", "resumed", "stopped"]
    assert bench.during[-1]["pending"] == 0


def test_an_embedder_that_can_not_even_be_made_is_reported(bench):
    def fails():
        raise EmbedderDown("no such server")

    bench.factory = fails
    bench.write("a.md", "alpha")
    bench.run(SCAN, TICK)
    assert bench.codes() == ["embedder_down"]
    assert bench.indexed() == bench.expected()


def test_an_unexpected_failure_does_not_end_the_loop(bench):
    bench.write("a.md", "alpha")
    sync = bench.syncer.sync
    failures = [OSError(28, "No space left on device"), MemoryError()]

    def failing(*args, **kwargs):
        if failures:
            raise failures.pop()
        return sync(*args, **kwargs)

    bench.syncer.sync = failing
    bench.run(SCAN, bench.wait(5), TICK, bench.wait(5), TICK)
    assert bench.codes() == ["internal", "internal"]
    assert bench.indexed() == bench.expected()


@pytest.mark.promise("P8")
def test_a_vault_that_is_gone_freezes_and_goes_on_when_it_is_back(bench):
    bench.write("a.md", "alpha")
    away = bench.root.with_name("away")
    before = {}

    def come_back():
        before.update(bench.indexed())
        away.rename(bench.root)
        bench.write("b.md", "beta")

    bench.run(
        SCAN, TICK, lambda: bench.root.rename(away), SCAN, bench.wait(5), TICK, come_back, bench.wait(5), SCAN
    )
    assert set(before) == {"a.md"}
    assert bench.kinds().count("frozen") == 1
    assert bench.kinds()[-3:] == ["synced", "resumed", "stopped"]
    assert bench.indexed() == bench.expected()


@pytest.mark.promise("P8")
def test_an_empty_mount_point_freezes(bench):
    bench.write("a.md", "alpha")

    def unmount():
        bench.root.rename(bench.root.with_name("away"))
        bench.root.mkdir()

    bench.run(SCAN, TICK, unmount, SCAN, bench.wait(100), TICK)
    assert set(bench.indexed()) == {"a.md"}
    assert "frozen" in bench.kinds()
    assert bench.during[-1]["last_error"]


@pytest.mark.promise("P8")
def test_too_many_deletions_freeze_and_are_told_once(bench):
    for number in range(20):
        bench.write(f"n{number}.md", "x")

    def delete_many():
        for number in range(10):
            (bench.root / f"n{number}.md").unlink()

    bench.run(SCAN, TICK, delete_many, SCAN, bench.wait(60), TICK)
    assert len(bench.indexed()) == 20
    assert bench.kinds().count("frozen") == 1


# --- looking again


@pytest.mark.promise("P7")
def test_what_no_event_told_is_found_by_the_next_look(bench):
    bench.write("a.md", "alpha")

    def drift():
        bench.write("a.md", "alpha, changed")
        bench.write("b.md", "beta")

    bench.run(SCAN, TICK, drift, TICK, bench.wait(55), TICK)
    assert bench.indexed() == bench.expected()


@pytest.mark.promise("P7")
@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no change time; a part is read again each look")
def test_an_edit_that_keeps_size_and_time_is_found_by_the_next_look(bench):
    bench.write("a.md", "alpha")
    os.utime(bench.root / "a.md", (1_600_000_000, 1_600_000_000))

    def forge():
        bench.write("a.md", "ALPHA")
        os.utime(bench.root / "a.md", (1_600_000_000, 1_600_000_000))

    bench.run(SCAN, TICK, forge, bench.wait(55), TICK)
    assert bench.indexed() == bench.expected()


def test_reading_goes_round_the_vault_where_no_change_time_tells(bench, monkeypatch):
    monkeypatch.setattr("hindbrain.index.hidden_edits._is_touched", lambda *_: False)
    for number in range(100):
        bench.write(f"n{number:03}.md", "alpha")
        os.utime(bench.root / f"n{number:03}.md", (1_600_000_000, 1_600_000_000))
    bench.syncer.sync(None)
    for number in (0, 57, 99):
        bench.write(f"n{number:03}.md", "ALPHA")
    hidden = HiddenEdits(bench.root, bench.syncer.index_path, SystemClock())
    found = set().union(*(hidden.find() for _ in range(60)))
    assert found == {"n000.md", "n057.md", "n099.md"}


def test_a_note_whose_rights_changed_is_read_once_more_and_not_for_ever(bench, monkeypatch):
    clock = FakeClock()
    bench.write("a.md", "alpha")
    bench.syncer.sync(None)
    status = (bench.root / "a.md").stat()
    clock.advance(status.st_ctime - clock.now() + 60)
    hidden = HiddenEdits(bench.root, bench.syncer.index_path, clock)
    reads = []
    monkeypatch.setattr(HiddenEdits, "_next_part", lambda *_: frozenset())
    differs = HiddenEdits._differs
    monkeypatch.setattr(
        HiddenEdits,
        "_differs",
        lambda self, path, note: reads.append(path) or differs(self, path, note),  # type: ignore[func-returns-value]
    )
    for _ in range(3):
        assert hidden.find() == frozenset()
    assert reads == ["a.md"]  # its change time is within two seconds of the reading


@pytest.mark.promise("P7")
def test_a_dead_watcher_is_noticed(bench):
    def drift():
        bench.write(f"n{bench.seconds}.md", "no event was told of it")

    missed = (drift, bench.wait(55), TICK, TICK)
    script = bench.run(SCAN, TICK, bench.wait(55), TICK, *missed, *missed)
    assert len(script.distrusted) == 1
    assert bench.indexed() == bench.expected()


def test_an_event_that_comes_late_is_no_miss(bench):
    def drift():
        bench.write(f"n{bench.seconds}.md", "found by the look, told right after")

    late = (drift, bench.wait(55), TICK, SCAN)
    script = bench.run(SCAN, TICK, bench.wait(55), TICK, *late, *late, *late)
    assert script.distrusted == []


# --- the sign of life


def test_the_heartbeat_is_there_while_it_runs_and_gone_afterwards(bench):
    bench.write("a.md", "alpha")
    bench.run(SCAN, TICK)
    assert {"pid", "beat_at", "since", "mode", "last_sync_at", "last_error", "pending"} <= bench.during[
        0
    ].keys()
    assert bench.during[0]["pid"] == os.getpid()
    assert bench.during[0]["mode"] == "events"
    assert read_heartbeat(bench.state, SystemClock().now()) is None
    assert {file.name for file in bench.state.iterdir()} <= {
        "index.db", "index.lock", "watch.lock", "embeddings.db",
    }  # fmt: skip


def test_it_beats_by_itself_while_a_sync_takes_long(bench):
    clock, beats = FakeClock(), threading.Semaphore(0)

    def now():
        beats.release()
        return Heartbeat(os.getpid(), clock.now(), clock.now(), "events")

    with Beating(bench.state, clock, now, every_s=0.01):
        for _ in range(5):
            assert beats.acquire(timeout=20)


def test_a_heartbeat_is_alive_then_stale_then_dead(bench):
    bench.state.mkdir()
    beat = {"pid": os.getpid(), "beat_at": 1_000.0, "since": 900.0, "mode": "polling", "pending": 3}
    file = bench.state / HEARTBEAT_FILE
    file.write_text(json.dumps(beat), encoding="utf-8")
    alive = read_heartbeat(bench.state, 1_030.0)
    assert alive is not None and alive.alive and alive.heartbeat is not None
    assert (alive.heartbeat.mode, alive.heartbeat.pending) == ("polling", 3)
    stale = read_heartbeat(bench.state, 1_031.0)
    assert stale is not None and not stale.alive
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    file.write_text(json.dumps({**beat, "pid": ended.pid}), encoding="utf-8")
    if os.name != "nt":
        dead = read_heartbeat(bench.state, 1_000.0)
        assert dead is not None and not dead.alive


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": "x"}', '{"pid": 1}', "\udcff"])
def test_a_broken_heartbeat_is_none(bench, text):
    bench.state.mkdir()
    (bench.state / HEARTBEAT_FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    assert read_heartbeat(bench.state, 0.0) is None


def test_a_second_watcher_is_refused(bench):
    def start_another():
        with pytest.raises(Busy):
            Bench.run(bench, SCAN)

    bench.run(SCAN, start_another, TICK)
    assert bench.kinds().count("started") == 1
