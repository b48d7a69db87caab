"""The page-out ledger: what is in a window, whoever serves the session, whatever happens to its file."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.context.packs.pack import Excerpt, FilledSlot, Pack
from hindbrain.context.purging import purge_conversations
from hindbrain.context.topic.ledger import PageLedger
from hindbrain.context.topic.ledger_file import KEPT_DAYS, MOST_SESSIONS, ledger_name, prune
from hindbrain.context.topic.pages import KEPT_PROMPTS, Standing, ids_of
from hindbrain.context.turn import SessionKey

KEEPS = SessionKey("claude-code", "6f1c", keeps=True)
REPLACES = SessionKey("own", "6f1c", keeps=False)
SECRET_NOTE = "the dentist is in Basel"


def pack(*ids: str) -> Pack:
    excerpts = tuple(
        Excerpt(f"{id_}.md", id_, SECRET_NOTE, first_line=1, last_line=2, passages=(id_,), tokens=10)
        for id_ in ids
    )
    return Pack("turn", "q", 1_000, (FilledSlot("relevant", 1_000, 0, excerpts),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions"


@pytest.fixture
def opened(folder: Path) -> Callable[[SessionKey], PageLedger]:
    """Another process, as far as a ledger can tell."""
    return lambda session: PageLedger(folder, session, FakeClock())


Opened = Callable[[SessionKey], PageLedger]


def the_file(folder: Path) -> Path:
    return next(folder.glob("*.ledger.jsonl"))


# The window


def test_what_was_injected_is_in_the_window_for_every_process(opened: Opened) -> None:
    first, second = opened(KEEPS), opened(KEEPS)
    first.note_prompt("budget")
    assert first.inject(pack("a", "b")).new == 2
    assert second.in_window() == {"a", "b"} == first.in_window()
    second.inject(pack("c"))
    assert first.in_window() == {"a", "b", "c"}


def test_sessions_do_not_see_each_other(opened: Opened) -> None:
    opened(KEEPS).inject(pack("a"))
    assert opened(KEEPS._replace(id="other")).in_window() == frozenset()
    assert opened(KEEPS._replace(host="codex")).in_window() == frozenset()


def test_what_is_in_the_window_already_is_told(opened: Opened) -> None:
    ledger = opened(KEEPS)
    ledger.inject(pack("a"))
    again = ledger.inject(pack("a", "b"))
    assert (again.new, again.repeated) == (1, 1)
    assert ledger.status().injected == 2


def test_a_compaction_empties_the_window_and_what_comes_back_is_a_return(opened: Opened) -> None:
    ledger = opened(KEEPS)
    ledger.inject(pack("a", "b"))
    ledger.on_compacted()
    assert ledger.in_window() == frozenset()
    assert ledger.inject(pack("a", "c")).returned == 1
    status = opened(KEEPS).status()
    assert (status.injected, status.released, status.returned, status.pages, status.cycle) == (4, 2, 1, 2, 1)


def test_clearing_forgets_the_conversation_too(opened: Opened) -> None:
    ledger = opened(KEEPS)
    ledger.note_prompt("budget")
    ledger.inject(pack("a"))
    ledger.on_cleared()
    assert ledger.in_window() == frozenset()
    assert ledger.recent_messages() == ()


def test_a_host_that_keeps_lets_nothing_go(opened: Opened) -> None:
    ledger = opened(KEEPS)
    ledger.inject(pack("a"))
    ledger.note_prompt("another matter", shifted=True)
    assert ledger.replace(pack("b"), "shift") == 0
    assert ledger.in_window() == {"a"}


def test_a_host_that_replaces_has_only_what_the_new_pack_holds(opened: Opened) -> None:
    ledger = opened(REPLACES)
    ledger.inject(pack("a", "b"))
    assert ledger.replace(pack("b", "c"), "expired") == 1
    ledger.inject(pack("b", "c"))
    assert ledger.in_window() == {"b", "c"}
    assert ledger.inject(pack("a")).returned == 1


def test_an_excerpt_without_passages_is_known_by_its_text(opened: Opened) -> None:
    loose = Excerpt("", "Inbox", "call the plumber")
    ledger = opened(KEEPS)
    ledger.inject(Pack("turn", "q", 100, (FilledSlot("recent", 100, 0, (loose,)),)))
    assert set(ids_of(loose)) == ledger.in_window()
    assert "plumber" not in next(iter(ledger.in_window()))


def test_a_flush_counts_for_its_cycle(opened: Opened) -> None:
    ledger = opened(KEEPS)
    assert not ledger.status().flushed
    ledger.on_flushed()
    assert opened(KEEPS).status().flushed
    ledger.on_compacted()
    assert not opened(KEEPS).status().flushed


# Prompts


def test_the_prompts_of_the_running_topic_are_told_to_the_next_process(opened: Opened) -> None:
    ledger = opened(KEEPS)
    ledger.note_prompt("my grocery budget")
    ledger.note_prompt("my vacation in Japan", shifted=True)
    ledger.note_prompt("which flights?")
    assert [message.text for message in opened(KEEPS).recent_messages()] == [
        "my vacation in Japan",
        "which flights?",
    ]


def test_only_the_last_prompts_are_kept_cut_and_without_secrets(opened: Opened, folder: Path) -> None:
    ledger = opened(KEEPS)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    ledger.note_prompt(f"why is {token} refused?")
    ledger.note_prompt("long " * 100_000)
    assert token not in the_file(folder).read_text("utf-8")
    assert the_file(folder).stat().st_size < 2_000
    for number in range(9):
        ledger.note_prompt(f"prompt {number}")
    assert len(ledger.recent_messages()) == KEPT_PROMPTS


def test_no_note_text_is_written(opened: Opened, folder: Path) -> None:
    opened(KEEPS).inject(pack("a"))
    assert SECRET_NOTE not in the_file(folder).read_text("utf-8")


# The file


@pytest.mark.skipif(os.name == "nt", reason="Windows has no mode bits")
def test_nobody_else_can_read_it(opened: Opened, folder: Path) -> None:
    opened(KEEPS).note_prompt("budget")
    assert stat.S_IMODE(the_file(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_torn_last_line_costs_only_itself(opened: Opened, folder: Path) -> None:
    opened(KEEPS).inject(pack("a"))
    with the_file(folder).open("ab") as file:
        file.write(b'\n{"event":"injected","pages":[{"ids":["torn"')
    ledger = opened(KEEPS)
    assert ledger.in_window() == {"a"}
    ledger.inject(pack("b"))
    assert opened(KEEPS).in_window() == {"a", "b"} == ledger.in_window()
    assert ledger.notices == ()


@pytest.mark.parametrize(
    "garbage", [b"\x00\xff garbage\n" * 9, b"[1,2]\n" * 9, b"[" * 100_000 + b"\n" * 2, b"{}\n" * 9]
)
def test_a_damaged_file_is_an_empty_ledger_that_goes_on(opened: Opened, folder: Path, garbage: bytes) -> None:
    opened(KEEPS).inject(pack("a"))
    the_file(folder).write_bytes(garbage)
    ledger = opened(KEEPS)
    assert ledger.in_window() == frozenset()
    ledger.inject(pack("b"))
    assert opened(KEEPS).in_window() == {"b"}


def test_many_damaged_lines_are_told_to_the_person(opened: Opened, folder: Path) -> None:
    opened(KEEPS).inject(pack("a"))
    with the_file(folder).open("ab") as file:
        file.write(b"garbage\n" * 9)
    ledger = opened(KEEPS)
    assert ledger.in_window() == {"a"}
    assert len(ledger.notices) == 1


def test_a_ledger_that_cant_be_written_still_knows_its_window(
    opened: Opened, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(KEEPS)
    ledger.inject(pack("a"))

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hindbrain.context.topic.ledger_file.os.write", full)
    ledger.note_prompt("budget")
    ledger.inject(pack("b"))
    assert ledger.in_window() == {"a", "b"}
    assert len(ledger.notices) == 1


def test_a_ledger_that_cant_be_read_is_an_empty_one_with_a_notice(folder: Path, opened: Opened) -> None:
    (folder / ledger_name(KEEPS.host, KEEPS.id)).mkdir(parents=True)  # a folder in its place
    ledger = opened(KEEPS)
    assert ledger.in_window() == frozenset()
    ledger.note_prompt("budget")
    ledger.inject(pack("a"))
    assert ledger.in_window() == {"a"}
    assert len(ledger.notices) == 1


def test_a_state_folder_that_vanishes_takes_nothing_that_this_process_knows(
    opened: Opened, folder: Path
) -> None:
    ledger = opened(KEEPS)
    ledger.inject(pack("a"))
    the_file(folder).unlink()
    assert ledger.in_window() == {"a"}


def test_a_long_session_stays_small_and_forgets_nothing_of_its_window(opened: Opened, folder: Path) -> None:
    ledger, onlooker = PageLedger(folder, KEEPS, FakeClock(), most_bytes=4_000), opened(KEEPS)
    for number in range(120):
        ledger.note_prompt(f"prompt {number} about {'x' * 30}", shifted=number == 118)
        ledger.inject(pack(f"p{number}"))
        if number % 10 == 0:
            assert len(onlooker.in_window()) == number + 1
        if number == 60:
            ledger.on_compacted()
            ledger.inject(pack(*(f"p{old}" for old in range(61))))
    assert len(opened(KEEPS).in_window()) == len(onlooker.in_window()) == len(ledger.in_window()) == 120
    assert opened(KEEPS).status() == ledger.status() == onlooker.status()
    assert ledger.status().turns == 120
    assert ledger.status().returned == 61
    assert len(ledger.recent_messages()) == 2
    lines = the_file(folder).read_text("utf-8").count('"prompt"')
    assert lines < 60


@pytest.mark.promise("P22")
def test_a_process_that_knew_a_prompt_does_not_bring_it_back_after_a_purge(
    opened: Opened, folder: Path
) -> None:
    ledger = PageLedger(folder, KEEPS, FakeClock(), most_bytes=800)
    ledger.note_prompt("where is the Zyxelmoor keypad")
    ledger.inject(pack("a"))
    assert purge_conversations(folder.parent, lambda text: "Zyxelmoor" in text) == 1
    for number in range(4):  # a summary of what it knows takes the file's place
        ledger.note_prompt(f"{number} loaves {'of bread ' * 20}")
    assert b"summary" in the_file(folder).read_bytes()
    assert b"Zyxelmoor" not in the_file(folder).read_bytes()
    assert ledger.in_window() == {"a"} == opened(KEEPS).in_window()
    assert ledger.notices == ()


def test_old_sessions_go_and_the_rest_stays(folder: Path, opened: Opened) -> None:
    clock = FakeClock()
    for number in range(3):
        opened(KEEPS._replace(id=f"old{number}")).note_prompt("x")
    for path in folder.glob("*.ledger.jsonl"):
        os.utime(path, (clock.now() - (KEPT_DAYS + 1) * 86_400,) * 2)
    (folder / "cursor.json").write_text("{}", encoding="utf-8")
    os.utime(folder / "cursor.json", (0, 0))
    PageLedger(folder, KEEPS._replace(id="same day"), clock).note_prompt("x")
    assert len(list(folder.glob("*.ledger.jsonl"))) == 4  # once a day is enough
    clock.advance(86_400)
    PageLedger(folder, KEEPS, clock).note_prompt("x")
    kept = {path.name for path in folder.iterdir()}
    names = {ledger_name(host, id_) for host, id_, _ in (KEEPS, KEEPS._replace(id="same day"))}
    assert kept == {"cursor.json", "pruned", *names}


def test_beyond_the_most_sessions_the_oldest_go(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(MOST_SESSIONS + 3):
        path = folder / f"own-{number:04}.ledger.jsonl"
        path.touch()
        os.utime(path, (1_000 + number, 1_000 + number))
    assert prune(folder, 1_000.0) == 3
    assert not (folder / "own-0002.ledger.jsonl").exists()
    assert (folder / "own-0003.ledger.jsonl").exists()


@pytest.mark.parametrize(
    "session", ["", "../../etc/passwd", "a" * 5_000, "x\0y", "nul", "ünï\ud800", "C:\\x"]
)
def test_any_session_name_makes_a_plain_file_name(session: str, folder: Path) -> None:
    for host in ("claude-code", "../x", ""):
        name = ledger_name(host, session)
        assert name == Path(name).name
        assert len(name) < 100
        assert name.isascii()


# Two processes


def _served(folder: Path, who: int, count: int) -> None:
    ledger = PageLedger(folder, KEEPS, FakeClock(), most_bytes=3_000)  # summaries are made in between
    for number in range(count):
        ledger.note_prompt(f"prompt {who} {number}")
        ledger.inject(pack(f"{who}-{number}"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_processes_that_serve_one_session_lose_nothing(folder: Path, opened: Opened) -> None:
    context = multiprocessing.get_context("fork")
    count = 40
    served = [context.Process(target=_served, args=(folder, who, count)) for who in range(3)]
    for process in served:
        process.start()
    for process in served:
        process.join(60)
        assert process.exitcode == 0
    ledger = opened(KEEPS)
    assert ledger.in_window() == {f"{who}-{number}" for who in range(3) for number in range(count)}
    assert ledger.status().turns == 3 * count
    assert not list(folder.glob("*.tmp"))


@pytest.mark.skipif(sys.platform == "win32", reason="an open file keeps its name there")
@pytest.mark.parametrize("call", ["open", "write"])
def test_what_is_appended_while_another_process_summarises_is_seen_once(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The summary comes between the opening and the writing, or between the writing and the look after it."""
    ledger, other = opened(KEEPS), opened(KEEPS)
    ledger.note_prompt("first")
    assert other.status().turns == 1
    real = getattr(os, call)
    meanwhile = [other._summarise]

    def interrupted(*args: Any) -> Any:
        done = real(*args)
        if meanwhile and (call == "write" or args[1] & os.O_APPEND):
            meanwhile.pop()()
        return done

    monkeypatch.setattr(os, call, interrupted)
    ledger.note_prompt("second")
    monkeypatch.undo()
    assert not meanwhile
    assert ledger.status().turns == other.status().turns == opened(KEEPS).status().turns == 2
    assert [message.text for message in opened(KEEPS).recent_messages()] == ["first", "second"]


# Any events


_IDS = st.sampled_from("abcdef")
_STEP: st.SearchStrategy[tuple[str, list[str]]] = st.one_of(
    st.tuples(st.just("inject"), st.lists(_IDS, max_size=3)),
    st.tuples(st.just("release"), st.lists(_IDS, max_size=3)),
    st.tuples(st.just("prompt"), st.just([])),
    st.tuples(st.just("compact"), st.just([])),
    st.tuples(st.just("summary"), st.just([])),
)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(_STEP, max_size=25))
def test_the_window_is_what_was_put_in_and_not_let_go(
    steps: list[tuple[str, list[str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    ledger = PageLedger(tmp_path_factory.mktemp("sessions"), REPLACES, FakeClock())
    window: set[str] = set()
    for name, ids in steps:
        if name == "inject":
            ledger.inject(pack(*dict.fromkeys(ids)))
            window |= set(ids)
        elif name == "release":
            assert ledger.release(ids, "shift") == len([id_ for id_ in dict.fromkeys(ids) if id_ in window])
            window -= set(ids)
        elif name == "prompt":
            ledger.note_prompt("x")
        elif name == "compact":
            ledger.on_compacted()
            window.clear()
        else:
            ledger._summarise()
        assert ledger.in_window() == window
        assert ledger.status().pages == len(window)


_JSON = st.sampled_from(
    [None, True, -1, 2.5, "", "a", [], ["a", 1], [["a", 0, True], "b"], {}, {"a": "b"}, {"a": None},
     [{"ids": ["a"], "tokens": 3}], [{"ids": "a", "tokens": "b"}], [1, 2, None, "x", 5, 6, 7, 8]]
)  # fmt: skip
_EVENT = st.fixed_dictionaries(
    {"event": st.sampled_from(["injected", "released", "wanted", "prompt", "summary", "flushed", "cleared"])},
    optional=dict.fromkeys(
        ("ids", "pages", "text", "at", "why", "turn", "living", "gone", "prompts", "counts", "cycle", "seen",
         "id", "shifted"),
        _JSON,
    ),
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(_EVENT, max_size=6))
def test_events_of_any_shape_are_survived(events: list[dict[str, object]]) -> None:
    standing = Standing()
    standing.take(json.loads(json.dumps(events)))
    standing.status()
    again = Standing()
    again.take([json.loads(json.dumps(standing.summary()))])
    assert set(again.living) == set(standing.living)
