"""The journal of a run: an event is one line, and a line tells the event again; without secrets, and cut."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.learn.runs.events import (
    ContextInjected,
    Event,
    IterationEnded,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
    parse_line,
    to_line,
)
from hindbrain.learn.runs.journal import (
    RunJournal,
    digest_of,
    executed,
    kept,
    line_of,
    new_run_id,
    said_by,
    shortened,
)

AT = 1_763_286_000.25
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"  # in two, so that no scanner stumbles over it

texts = st.text(max_size=40)
times = st.floats(min_value=0, max_value=4e9, allow_nan=False)
scores = st.none() | st.integers(0, 100)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(RunCreated, run=st.just("r-1"), at=times, command=texts, session=texts, app=texts),
    st.builds(
        ContextInjected,
        run=st.just("r-1"),
        at=times,
        items=st.lists(texts, max_size=3).map(tuple),
        tokens=st.integers(0, 9_999),
    ),
    st.builds(IterationStarted, run=st.just("r-1"), at=times, number=st.integers(1, 99)),
    st.builds(
        ToolExecuted,
        run=st.just("r-1"),
        at=times,
        name=texts,
        arguments=st.dictionaries(texts, json_values, max_size=4),
        ok=st.booleans(),
        said=texts,
        app=texts,
    ),
    st.builds(IterationEnded, run=st.just("r-1"), at=times, number=st.integers(1, 99), score=scores),
    st.builds(VerificationRejected, run=st.just("r-1"), at=times, reason=texts, score=scores),
    st.builds(
        RunEnded,
        run=st.just("r-1"),
        at=times,
        end=st.sampled_from(["complete", "fail", "stuck", "cancelled", "unknown"]),
        score=scores,
        reason=texts,
    ),
)


@given(events)
def test_a_line_tells_the_event_that_was_kept(event: Event) -> None:
    line = line_of(event)
    assert "\n" not in line and "\r" not in line
    assert parse_line(line) == kept(event)
    assert parse_line(line.encode()) == kept(event)


@given(events)
def test_what_is_kept_once_is_kept_the_same_way_again(event: Event) -> None:
    assert kept(kept(event)) == kept(event)


@given(events, st.data())
def test_a_torn_line_is_not_believed(event: Event, data: st.DataObject) -> None:
    line = line_of(event).encode()
    stop = data.draw(st.integers(0, len(line) - 1))
    assert parse_line(line[:stop]) is None
    assert parse_line(line[:stop] + b"\0" * (len(line) - stop)) is None


@pytest.mark.parametrize(
    "line",
    [
        '{"v":2,"run":"r","at":1,"type":"run.complete"}',
        '{"v":"1","run":"r","at":1,"type":"run.complete"}',
        '{"v":1,"run":"r","at":1,"type":"run.paused"}',
        '{"v":1,"run":"r","at":1,"type":"complete"}',
        '{"v":1,"run":"r","at":NaN,"type":"run.complete"}',
        '{"v":1,"run":"r","at":-1,"type":"run.complete"}',
        '{"v":1,"run":"r","at":1763286000250,"type":"run.complete"}',
        '{"v":1,"run":"r","at":true,"type":"run.complete"}',
        '{"v":1,"run":7,"at":1,"type":"run.complete"}',
        '{"v":1,"run":"r","at":1,"type":"run.created"}',
        '{"v":1,"run":"r","at":1,"type":"tool.executed","name":"click","arguments":["x"]}',
        '{"v":1,"run":"r","at":1,"type":"context.injected","items":[1]}',
        "[1]",
        "7",
        "",
        '{"v":1,' * 3_000,
        b"\xff\xfe{}",
    ],
)
def test_what_is_no_event_of_this_version_is_passed_over(line: str | bytes) -> None:
    assert parse_line(line) is None


def test_fields_of_a_later_writer_and_a_byte_order_mark_do_no_harm() -> None:
    line = '\ufeff{"v":1,"run":"r","at":1,"type":"run.complete","mood":"good"}'
    assert parse_line(line) == RunEnded("r", 1, "complete")


def test_half_a_character_neither_stops_the_writer_nor_reaches_a_reader() -> None:
    event = RunCreated("r", AT, "say \ud83d")
    assert parse_line(line_of(event)) == RunCreated("r", AT, "say ?")
    assert parse_line(r'{"v":1,"run":"r","at":1,"type":"run.fail","reason":"\uD83D"}') == RunEnded(
        "r", 1, "fail", reason="?"
    )
    whole = r'{"v":1,"run":"r","at":1,"type":"run.fail","reason":"\ud83d\ude00"}'
    assert parse_line(whole) == RunEnded("r", 1, "fail", reason="😀")


def test_the_journal_adds_one_line_to_the_runs_own_file() -> None:
    added: list[tuple[str, str]] = []

    def append(file: str, line: str, /, *, durable: bool) -> None:
        assert durable
        added.append((file, line))

    journal = RunJournal("r-1", append)
    journal.add(RunEnded("r-1", AT, "complete", 92))
    assert added == [
        (
            "runs/r-1/journal.jsonl",
            '{"v":1,"type":"run.complete","run":"r-1","at":1763286000.25,"score":92}',
        )
    ]
    with pytest.raises(UsageError):
        journal.add(RunEnded("r-2", AT, "complete"))
    with pytest.raises(UsageError):
        journal.add(RunEnded("r-1", AT * 1_000, "complete"))
    with pytest.raises(UsageError):
        journal.add(RunEnded("r-1", float("nan"), "complete"))
    assert len(added) == 1


def test_ids_sort_by_time_and_the_same_run_has_the_same_id() -> None:
    first = new_run_id("Open Chrome", AT)
    assert re.fullmatch(r"r-20251116-094000-[a-z0-9]{4}", first)
    assert first == new_run_id("Open Chrome", AT)
    assert first != new_run_id("Open Mail", AT)
    assert first != new_run_id("Open Chrome", AT + 0.5)
    assert first < new_run_id("Open Chrome", AT + 1)


@pytest.mark.parametrize(
    "event",
    [
        RunCreated("r", AT, f"push with {TOKEN} please"),
        ToolExecuted("r", AT, "bash", {"command": f"curl -H 'Authorization: Bearer {TOKEN}' x"}),
        ToolExecuted("r", AT, "login", {"user": "ada", "password": "tr0ub4dor&3"}),
        ToolExecuted("r", AT, "call", {"headers": {"deep": [{"token": TOKEN}]}}),
        ToolExecuted("r", AT, "bash", {"command": "x"}, ok=False, said=f"denied: {TOKEN}"),
        ToolExecuted("r", AT, "bash", {"text": "a" * 290 + " " + TOKEN}),  # cut in the middle of it
        VerificationRejected("r", AT, f"it shows {TOKEN}"),
        VerificationRejected("r", AT, "it shows " + "a " * 485 + TOKEN),  # cut in the middle of it, too
        RunEnded("r", AT, "fail", reason=f"the key {TOKEN} is wrong"),
    ],
)
def test_no_secret_enters_a_journal(event: Event) -> None:
    line = line_of(event)
    assert TOKEN[:12] not in line
    assert "tr0ub4dor" not in line
    assert parse_line(line) is not None


def test_long_arguments_are_cut_and_small_ones_keep_their_type() -> None:
    given = {
        "x": 120,
        "flag": True,
        "none": None,
        "to": ["ada"],
        "text": "y" * 5_000,
        "deep": {"z": "z" * 400},
    }
    short = shortened(given)
    assert {key: short[key] for key in ("x", "flag", "none", "to")} == {
        "x": 120, "flag": True, "none": None, "to": ["ada"],
    }  # fmt: skip
    assert len(short["text"]) == 300 and short["text"].endswith("…")
    assert isinstance(short["deep"], str) and len(short["deep"]) == 300


def test_of_many_arguments_twenty_are_kept_and_the_rest_is_counted() -> None:
    short = shortened({f"a{number}": number for number in range(27)})
    assert len(short) == 21
    assert short["…"] == "7 more"


def test_what_json_can_not_hold_is_kept_as_text() -> None:
    ring: list[object] = []
    ring.append(ring)
    given = {"nan": float("nan"), "set": {1}, "ring": ring, "bytes": b"x", "keys": {(1, 2): 3}}
    line = line_of(ToolExecuted("r", AT, "odd", given))
    json.loads(line, parse_constant=lambda name: pytest.fail(name))
    assert isinstance(parse_line(line), ToolExecuted)


def test_a_call_that_failed_keeps_its_first_words_and_every_call_the_digest() -> None:
    good = executed("r", AT, "read", {"path": "a"}, "much text")
    bad = executed("r", AT, "read", {"path": "a"}, "no  such\nfile" + "!" * 500, ok=False)
    assert good.said == "" and good.digest == digest_of("much text") and len(good.digest) == 16
    assert bad.said.startswith("no such file!!!") and len(bad.said) == 300
    assert digest_of({"a": 1}) == digest_of('{"a":1}') != digest_of({"a": 2})
    assert digest_of("") == ""
    assert said_by(b"\xffoops") == "\ufffdoops"


def test_to_line_leaves_out_what_goes_without_saying() -> None:
    assert json.loads(to_line(RunCreated("r", 1.0, "go"))) == {
        "v": 1, "type": "run.created", "run": "r", "at": 1.0, "command": "go",
    }  # fmt: skip
