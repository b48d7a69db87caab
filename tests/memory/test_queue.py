"""What is acknowledged waits in a file that no crash and no other process takes it from."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hindbrain.base.errors import Busy, WriteFailed
from hindbrain.memory.storage.queue import Waiting, WriteQueue


def waiting(number: int, **other: object) -> Waiting:
    return Waiting(f"m-{number}", f"fact {number}", 100.0 + number)._replace(**other)  # type: ignore[arg-type]


def ids(entries: list[Waiting]) -> list[str]:
    return [entry.id for entry in entries]


@pytest.fixture
def queue(tmp_path: Path) -> WriteQueue:
    return WriteQueue(tmp_path / "state")


def test_what_was_added_is_there_for_every_process(queue: WriteQueue, tmp_path: Path) -> None:
    entry = waiting(1, text="naïve\n漢字 \u2028", tags=("a", "b"), importance=0.25, strategy="deferred")
    queue.add(entry, waiting(2))
    assert WriteQueue(tmp_path / "state").pending() == [entry, waiting(2)]


def test_what_is_done_is_gone_and_the_rest_stays(queue: WriteQueue, tmp_path: Path) -> None:
    queue.add(*map(waiting, range(4)))
    with queue.flushing(0) as taken:
        assert ids(taken.waiting) == ["m-0", "m-1", "m-2", "m-3"]
        taken.done(["m-0", "m-2"])
    queue.add(waiting(4))
    assert ids(queue.pending()) == ids(WriteQueue(tmp_path / "state").pending()) == ["m-1", "m-3", "m-4"]
    with queue.flushing(0) as taken:
        taken.done(ids(taken.waiting))
    assert queue.pending() == []
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["queue.lock"]


def test_a_flush_that_fails_leaves_everything(queue: WriteQueue) -> None:
    queue.add(waiting(1))
    with pytest.raises(RuntimeError), queue.flushing(0):
        raise RuntimeError
    assert ids(queue.pending()) == ["m-1"]


def test_what_is_added_during_a_flush_waits_for_the_next(queue: WriteQueue, tmp_path: Path) -> None:
    other = WriteQueue(tmp_path / "state")
    queue.add(waiting(1))
    with queue.flushing(0) as taken:
        other.add(waiting(2))
        assert ids(other.pending()) == ["m-1", "m-2"]
        taken.done(["m-1", "m-2"])
    assert ids(other.pending()) == ids(queue.pending()) == ["m-2"]


def test_only_one_flushes_at_a_time(queue: WriteQueue, tmp_path: Path) -> None:
    queue.add(waiting(1))
    with queue.flushing(0), pytest.raises(Busy), WriteQueue(tmp_path / "state").flushing(0):
        pass


def test_a_line_that_a_crash_tore_costs_no_other_and_is_kept(queue: WriteQueue, tmp_path: Path) -> None:
    queue.add(waiting(1))
    file = tmp_path / "state" / "queue.jsonl"
    file.write_bytes(file.read_bytes() + b'\n{"id": "m-2", "te')
    assert ids(queue.pending()) == ["m-1"]
    assert queue.unreadable == 1
    queue.add(waiting(3))
    assert ids(queue.pending()) == ["m-1", "m-3"]
    with queue.flushing(0) as taken:
        taken.done(ids(taken.waiting))
    assert (queue.pending(), queue.unreadable, taken.problem) == ([], 1, "")
    assert b'"m-2"' in (tmp_path / "state" / "queue-unreadable.jsonl").read_bytes()


@pytest.mark.parametrize(
    "line", [b"[]", b"null", b'{"id": "m-2"}', b"\xff\xfe", b'{"id":1,"text":2,"at":"x"}']
)
def test_damaged_lines_are_counted_and_not_applied(queue: WriteQueue, tmp_path: Path, line: bytes) -> None:
    queue.add(waiting(1))
    file = tmp_path / "state" / "queue.jsonl"
    file.write_bytes(line + b"\n" + file.read_bytes())
    assert ids(queue.pending()) == ["m-1"]
    assert queue.unreadable == 1
    with queue.flushing(0) as taken:
        taken.done(ids(taken.waiting))
    assert "queue-unreadable.jsonl" in taken.problem


def test_a_line_that_lands_in_a_file_without_its_name_is_written_again(
    queue: WriteQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flusher renames the file between a writer's opening and its writing."""
    queue.add(waiting(1))
    write = os.write
    flusher = WriteQueue(tmp_path / "state")

    def slow_write(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", write)
        with flusher.flushing(0) as taken:
            taken.done(ids(taken.waiting))
        return write(fd, data)

    monkeypatch.setattr(os, "write", slow_write)
    queue.add(waiting(2))
    assert ids(flusher.pending()) == ids(queue.pending()) == ["m-2"]


def test_half_a_write_is_told_and_harms_nobody(
    queue: WriteQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[: len(data) // 2]))
    with pytest.raises(WriteFailed):
        queue.add(waiting(1))
    monkeypatch.undo()
    queue.add(waiting(2))
    assert ids(WriteQueue(tmp_path / "state").pending()) == ["m-2"]


@pytest.mark.promise("P2")
def test_a_write_that_was_cut_short_once_is_repeated_and_leaves_no_damage(
    queue: WriteQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def short(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", write)
        return write(fd, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", short)
    queue.add(waiting(1), waiting(2), waiting(3))
    assert (ids(queue.pending()), queue.unreadable) == (["m-1", "m-2", "m-3"], 0)
    with queue.flushing(0) as taken:
        taken.done(ids(taken.waiting))
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["queue.lock"]


@pytest.mark.promise("P29")
def test_a_queue_that_can_not_be_shortened_is_told_and_keeps_everything(
    queue: WriteQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(waiting(1), waiting(2))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with queue.flushing(0) as taken:
        taken.done(["m-1"])
        monkeypatch.setattr(os, "write", full)
    monkeypatch.undo()
    assert "No space left" in taken.problem
    assert ids(queue.pending()) == ["m-1", "m-2"]
    with queue.flushing(0) as taken:
        taken.done(["m-1"])
    assert (taken.problem, ids(queue.pending())) == ("", ["m-2"])


def test_a_folder_that_takes_no_file_is_an_error_and_not_an_ack(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")
    with pytest.raises(WriteFailed):
        WriteQueue(tmp_path / "state").add(waiting(1))


def test_lines_are_plain_json_that_other_programs_can_read(queue: WriteQueue, tmp_path: Path) -> None:
    queue.add(waiting(1, text="a\nb"))
    (line,) = (tmp_path / "state" / "queue.jsonl").read_text(encoding="utf-8").split()[:1] or [""]
    assert (
        json.loads((tmp_path / "state" / "queue.jsonl").read_text(encoding="utf-8").strip())["text"] == "a\nb"
    )
    assert line


def test_a_new_file_under_an_old_name_and_number_is_read_from_its_beginning(tmp_path: Path) -> None:
    """The number of a deleted file goes to the next one, and its name is used again, too."""
    one, other = WriteQueue(tmp_path), WriteQueue(tmp_path)
    lost: set[str] = set()
    for round_ in range(20):
        first, second = (f"m-{round_:04}{n:04}" for n in (1, 2))
        one.add(Waiting(first, "text", 1.0))
        with one.flushing(1) as taken:
            other.pending()  # has read what the first one is about to delete
            taken.done(entry.id for entry in taken.waiting)
        one.add(Waiting(second, "longer text", 2.0))
        one.add(Waiting(f"{second}x", "text", 3.0))
        with other.flushing(1) as taken:
            lost |= {second, f"{second}x"} - {entry.id for entry in taken.waiting}
            taken.done(entry.id for entry in taken.waiting)
    assert not lost
