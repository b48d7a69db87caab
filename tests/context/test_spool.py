"""An event is durable before its hook returns, is seen until it was dealt with, and never half."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hindbrain.context.capture import spool
from hindbrain.context.capture.cursors import Cursor, Cursors, place_at, still_there
from hindbrain.context.capture.spool import append_event, count_waiting, drop_events, read_events
from hindbrain.context.turn import SessionKey


def event(number: int = 0, **fields: object) -> dict[str, object]:
    return {"event": "stop", "host": "claude-code", "session": f"s{number}", "at": 1.0, **fields}


def test_events_come_back_in_their_order_until_they_are_dropped(tmp_path):
    for number in range(20):
        append_event(tmp_path, event(number, transcript="/t.jsonl", cwd="/x"))
    waiting = read_events(tmp_path)
    assert [one.session for one in waiting.events] == [f"s{number}" for number in range(20)]
    assert count_waiting(tmp_path) == 20
    assert read_events(tmp_path) == waiting
    drop_events(tmp_path, waiting.events[:5])
    drop_events(tmp_path, waiting.events[:5])
    assert read_events(tmp_path).events[0].session == "s5"
    assert read_events(tmp_path / "nowhere") == spool.Spooled(())


def test_what_a_host_gives_is_kept_and_the_rest_is_not(tmp_path):
    append_event(tmp_path, event(prompt="Grüße 🙂", last_assistant_message="yes", other={"a": 1}, tool=None))
    [one] = read_events(tmp_path).events
    assert (one.prompt, one.answer, one.tool, one.at) == ("Grüße 🙂", "yes", "", 1.0)


def test_a_prompt_of_five_megabytes_is_kept_whole(tmp_path):
    prompt = "words " * 900_000
    append_event(tmp_path, event(prompt=prompt))
    assert read_events(tmp_path).events[0].prompt == prompt


def test_half_a_character_is_no_obstacle(tmp_path):
    append_event(tmp_path, event(prompt="a\ud83d b\x00"))
    assert len(read_events(tmp_path).events) == 1


@pytest.mark.parametrize("failing", ["write", "fsync", "replace", "open"])
def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch, failing):
    append_event(tmp_path, event(1))

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched:
        patched.setattr(os, failing, full)
        with pytest.raises(OSError):
            append_event(tmp_path, event(2))
    assert [one.session for one in read_events(tmp_path).events] == ["s1"]
    assert len(list((tmp_path / spool.FOLDER).iterdir())) == 1


def test_half_a_write_is_a_failure(tmp_path, monkeypatch):
    real = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda fd, data: real(fd, data[: len(data) // 2]))
        with pytest.raises(OSError):
            append_event(tmp_path, event(2))
    assert list((tmp_path / spool.FOLDER).iterdir()) == []


def test_what_is_no_event_is_set_aside_and_counted_once(tmp_path):
    append_event(tmp_path, event(1))
    folder = tmp_path / spool.FOLDER
    for number, data in enumerate(
        (b"", b"\xff\x00", b"[]", b'{"event": "stop"}', b"[" * 100_000, b'{"at": "x"}')
    ):
        (folder / f"{number:020d}-bad.json").write_bytes(data)
    (folder / "half.tmp").write_bytes(b'{"ev')
    waiting = read_events(tmp_path)
    assert [one.session for one in waiting.events] == ["s1"]
    assert waiting.unreadable == 6
    assert read_events(tmp_path).unreadable == 0
    assert len(list(folder.glob("*.bad"))) == 6


def test_many_at_once_lose_nothing(tmp_path):
    def write(worker: int) -> None:
        for number in range(25):
            append_event(tmp_path, event(session=f"{worker}-{number}"))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in threads):
        found = read_events(tmp_path).events
        drop_events(tmp_path, found)
        seen += len(found)
    for thread in threads:
        thread.join()
    assert seen + len(read_events(tmp_path).events) == 200


def test_the_hook_client_imports_nothing_heavy_with_it():
    code = "import sys; import hindbrain.context.capture.spool; print(chr(10).join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout.split()
    ours = {name for name in loaded if name.startswith("hindbrain")}
    assert ours <= {
        "hindbrain", "hindbrain.context", "hindbrain.context.capture", "hindbrain.context.capture.spool",
        "hindbrain.base", "hindbrain.base.files",
    }  # fmt: skip
    assert not {"hashlib", "shlex", "datetime", "asyncio", "apsw", "numpy", "subprocess"} & set(loaded)


# Cursors


KEY = SessionKey("codex", "../../etc/passwd")


def test_a_cursor_comes_back_as_it_was(tmp_path):
    cursors = Cursors(tmp_path)
    cursor = Cursor(KEY, "/t.jsonl", "/x", 12, "h", "t", 5.0, "so it is", {"open": []}, 2, True)
    cursors.save(cursor, ["a", "b"])
    cursors.save(cursor._replace(offset=20), ["c"])
    for found in (cursors.load(KEY), Cursors(tmp_path).load(KEY)):
        assert found._replace(ids=frozenset()) == cursor._replace(offset=20)
        assert len(found.ids) == 3
    assert cursors.load(SessionKey("codex", "other")) == Cursor(SessionKey("codex", "other"))
    assert [path.parent for path in tmp_path.rglob("*.jsonl")] == [tmp_path / "captured"]


def test_a_torn_line_leaves_the_one_before_it(tmp_path):
    cursors = Cursors(tmp_path)
    cursors.save(Cursor(KEY, "/t", offset=10))
    cursors.save(Cursor(KEY, "/t", offset=20))
    [path] = (tmp_path / "captured").iterdir()
    whole = path.read_bytes()
    for cut in range(len(whole) // 2 + 2, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        assert Cursors(tmp_path).load(KEY).offset == 10
    # and what is added afterwards is read.
    Cursors(tmp_path).save(Cursor(KEY, "/t", offset=30))
    assert Cursors(tmp_path).load(KEY).offset == 30


def test_a_long_session_does_not_grow_its_cursor_without_end(tmp_path):
    cursors = Cursors(tmp_path)
    cursor = Cursor(KEY, "/t")
    for number in range(60):
        cursor = cursors.load(KEY)._replace(offset=number, said="x" * 2_000)
        cursors.save(cursor, [f"{number}-{n}" for n in range(700)])
    [path] = (tmp_path / "captured").iterdir()
    assert path.stat().st_size < 1_200_000
    assert cursors.load(KEY).offset == 59


def test_cursors_are_kept_for_ninety_days(tmp_path):
    cursors = Cursors(tmp_path)
    cursors.save(Cursor(KEY, "/old", at=1_000_000.0))
    cursors.save(Cursor(SessionKey("codex", "new"), "/new", at=1_000_000.0 + 80 * 86_400))
    assert [one.transcript for one in cursors.known(now=1_000_000.0 + 89 * 86_400)] == ["/new", "/old"]
    assert [one.transcript for one in cursors.known(now=1_000_000.0 + 91 * 86_400)] == ["/new"]
    assert len(list((tmp_path / "captured").iterdir())) == 1


def test_a_place_is_known_by_the_bytes_before_it(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\ntwo\nthree\n")
    place = place_at(path, 8)
    cursor = Cursor(KEY, str(path), offset=8, head=place.head, tail=place.tail)
    assert still_there(cursor)
    path.write_bytes(b"one\ntwo\nfour\nfive\n")
    assert still_there(cursor)
    path.write_bytes(b"ein\ntwo\nthree\n")
    assert not still_there(cursor)
    path.write_bytes(b"one\n")
    assert not still_there(cursor)
    # A copy is the same place, whatever its number.
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"one\ntwo\nthree\nfour\n")
    assert still_there(cursor._replace(transcript=str(copy)))


def test_state_files_are_the_owners_alone(tmp_path):
    if os.name == "nt":
        pytest.skip("rights are kept otherwise there")
    append_event(tmp_path, event(1))
    Cursors(tmp_path).save(Cursor(KEY, "/t"))
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_json_on_disk_is_plain(tmp_path):
    append_event(tmp_path, event(1, prompt="Grüße"))
    [path] = (tmp_path / spool.FOLDER).iterdir()
    assert isinstance(json.loads(Path(path).read_text(encoding="ascii")), dict)
