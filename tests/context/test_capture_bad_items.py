"""One bad event, cursor or session is set aside and told; everything else goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.context.test_capture import TALK, Desk

from hindbrain.context.capture import cursors, spool
from hindbrain.context.capture.catching_up import Capture
from hindbrain.context.capture.cursors import Cursors
from hindbrain.context.capture.heard import FOLDER as HEARD
from hindbrain.context.capture.heard import add_heard
from hindbrain.context.capture.places import ASIDE
from hindbrain.context.capture.troubles import FILE, read_troubles
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey
from hindbrain.edge.conversation_state import waiting_state, waiting_text

HALF = "\ud83d"
BAD_PATHS = ["a\0b.jsonl", f"{HALF}.jsonl", "x" * 100_000, "/dev/null", "/", "\0"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def assert_good_is_captured(desk: Desk) -> None:
    """A session that begins now is captured whole, and so is what it says later."""
    before = len(desk.listener.texts)
    for stop in (4, 8):
        desk.tell("good", transcript=str(desk.write("good.jsonl", TALK[:stop])))
        desk.catch_up()
    assert desk.listener.texts[before:] == [f"fact number {n}" for n in range(1, 9)]


def put(desk: Desk, found: object) -> None:
    """An event as a file, whatever it holds."""
    folder = desk.state / spool.FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{len(list(folder.iterdir())):020d}-bad.json"
    (folder / name).write_text(json.dumps(found), encoding="utf-8")


@pytest.mark.promise("P14")
@pytest.mark.parametrize("path", BAD_PATHS)
@pytest.mark.parametrize("field", ["transcript", "cwd", "session", "prompt", "host"])
def test_a_bad_text_in_one_event_stops_no_other_session(desk, field, path):
    put(desk, {"event": "stop", "host": "claude-code", "session": "bad", field: path})
    for _ in range(3):
        desk.catch_up()
    assert_good_is_captured(desk)


@pytest.mark.promise("P14")
@pytest.mark.parametrize("value", [10**400, float("nan"), float("inf"), -1e300, "x", [], {}, True, None])
@pytest.mark.parametrize("field", ["at", "messages", "transcript", "session", "event", "prompt"])
def test_a_field_of_the_wrong_kind_stops_no_other_session(desk, field, value):
    put(desk, {"event": "stop", "host": "claude-code", "session": "bad", "prompt": "hello", field: value})
    for _ in range(3):
        desk.catch_up()
    assert_good_is_captured(desk)


def _folder(path: Path) -> None:
    path.mkdir()


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def _numbers(path: Path) -> None:
    line = dict.fromkeys(cursors.Cursor._fields, "")
    bad = {"host": "codex", "ids": [], "offset": float("inf"), "at": 10**400, "tries": 0}
    path.write_text(json.dumps(line | bad), encoding="utf-8")


def _path_of_nothing(path: Path) -> None:
    Cursors(path.parent.parent).save(
        cursors.Cursor(SessionKey("codex", "old"), transcript="a\0b", at=1.0, failures={"open": 7})
    )


@pytest.mark.promise("P14")
@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.parametrize("damage", [_folder, _dangling, _numbers, _path_of_nothing])
def test_a_cursor_that_can_not_be_read_stops_no_other_session(desk: Desk, damage: Callable[[Path], None]):
    folder = desk.state / cursors.FOLDER
    folder.mkdir(parents=True)
    damage(folder / f"{'0' * 20}.jsonl")
    assert_good_is_captured(desk)


@pytest.mark.promise("P29")
def test_a_session_that_fails_again_and_again_is_set_aside_and_told(desk, monkeypatch):
    whole = Capture._session

    def failing(capture: Capture, key: SessionKey, *args: Any) -> object:
        if key.id == "bad":
            raise TypeError("no such thing")
        return whole(capture, key, *args)

    monkeypatch.setattr(Capture, "_session", failing)
    desk.tell("bad", transcript="/none", prompt="the password is hunter2secret99")
    for _ in range(catching_up_tries()):
        caught = desk.catch_up()
    assert not caught.more and len(caught.problems) == 1
    assert spool.count_waiting(desk.state) == 0
    (kept,) = (desk.state / ASIDE).iterdir()
    assert json.loads(kept.read_bytes())["events"][0]["session"] == "bad"
    assert b"hunter2" not in kept.read_bytes()
    waiting = waiting_state(desk.state)
    assert waiting["aside"] == 1 and waiting["troubles"] and waiting_text(waiting)
    assert_good_is_captured(desk)
    assert desk.catch_up().problems == ()


def catching_up_tries() -> int:
    from hindbrain.context.capture import catching_up

    return catching_up._MOST_TRIES


@pytest.mark.promise("P14")
def test_a_disk_that_fails_sets_nothing_aside(desk, monkeypatch):
    def failing(*_: object) -> object:
        raise OSError(28, "no space left")

    with monkeypatch.context() as full:
        full.setattr(Capture, "_session", failing)
        desk.tell("s1", transcript=str(desk.write("t.jsonl", TALK)))
        for _ in range(2 * catching_up_tries()):
            assert desk.catch_up().more
    desk.catch_up()
    assert len(desk.listener.texts) == len(TALK)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_what_was_heard_is_added_beside_files_that_can_not_be_looked_at(tmp_path):
    (tmp_path / HEARD).mkdir()
    (tmp_path / HEARD / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    add_heard(tmp_path, SessionKey("own", "s"), [Message("user", "hello")], cwd="", now=0.0)
    assert len([file for file in (tmp_path / HEARD).iterdir() if file.is_file()]) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", '{"at": 1e999, "problems": 5}', f'{{"at": {10**400}, "problems": []}}']
)
def test_troubles_that_can_not_be_read_are_one(tmp_path, text):
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert read_troubles(tmp_path) is not None


TEXT = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(BAD_PATHS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
KINDS = st.sampled_from(["stop", "prompt", "session-end", "session-start", "said", "tool-failed", "message"])


@pytest.mark.promise("P14")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    events=st.lists(
        st.fixed_dictionaries(
            {"event": KINDS | JSON, "session": st.just("bad") | JSON, "host": st.just("codex") | JSON},
            optional={
                name: JSON for name in spool.Event._fields if name not in ("id", "event", "session", "host")
            },
        )
        | JSON,
        max_size=4,
    )
)
def test_whatever_lies_in_the_spool_a_good_session_is_captured(tmp_path_factory, events):
    desk = Desk(tmp_path_factory.mktemp("fuzz"))
    for event in events:
        put(desk, event)
    for _ in range(2):
        desk.catch_up()
    desk.listener.heard.clear()
    assert_good_is_captured(desk)
