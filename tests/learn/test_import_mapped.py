"""Logs of any shape enter by a mapping; one that does not fit is told which key, and what was there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.mapped import runs_of_mapped
from hindbrain.learn.importing.mapping import found_at, parse_mapping
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.folding import fold_all

MAPPING = """
host = "deskbot"
best_score = 1.0

[run]
id = "trace.id"
command = "input.task"
at = "started"
ended = "finished"
session = "trace.session"
outcome = "result.status"
score = "result.score"
reason = "result.error"

[events]
steps = "turns[].calls[]"
name = "tool"
arguments = "input"
result = "output"
error = "error"
at = "time"

[outcome]
complete = ["finished"]
fail = ["gave_up"]
"""
RECORD = {
    "trace": {"id": "t-1", "session": "monday"},
    "input": {"task": "Open the report"},
    "started": "2026-05-15T09:00:00Z",
    "finished": 1_778_835_660,
    "turns": [
        {"calls": [{"tool": "open", "input": {"file": "report.md"}, "output": "ok", "time": 1_778_835_605}]},
        {"calls": [{"tool": "click", "input": "Save", "error": "no such button"}]},
    ],
    "result": {"status": "gave_up", "score": 0.4, "error": "no button to save"},
}


def runs(path: Path, mapping: str, *records: object) -> tuple[list[Episode], tuple[str, ...]]:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    log = Log(path)
    found = runs_of_mapped(log, parse_mapping(tomllib.loads(mapping)))
    return list(fold_all(event for run in found for event in run)), log.problems


def test_a_record_with_its_steps(tmp_path):
    (run,), problems = runs(tmp_path / "a.jsonl", MAPPING, RECORD)
    assert problems == ()
    assert (run.command, run.host, run.session) == ("Open the report", "deskbot", "monday")
    assert (run.outcome, run.score, run.reason) == ("failed", 40, "no button to save")
    assert (run.started, run.ended, run.source) == (1_778_835_600.0, 1_778_835_660.0, "import")
    assert [(a.name, a.arguments, a.ok, a.said) for a in run.actions] == [
        ("open", (("file", "report.md"),), True, ""),
        ("click", (("input", "Save"),), False, "no such button"),
    ]


def test_each_line_a_step(tmp_path):
    mapping = (
        '[run]\nid = "run"\ncommand = "task"\noutcome = "end"\n'
        '[events]\nname = "tool"\nok = "ok"\nresult = "out"'
    )
    steps = [
        {"run": 1, "task": "Open it", "end": "done"},
        {"run": 1, "tool": "open", "arguments": '{"file": "a"}', "ok": True},
        {"run": 1, "tool": "save", "ok": False, "out": "disk full"},
        {"run": 1, "end": "timeout"},
        {"run": 2, "task": "Close it", "end": True},
    ]
    (first, second), problems = runs(tmp_path / "a.jsonl", mapping, *steps)
    assert [(a.name, a.ok, a.said) for a in first.actions] == [
        ("open", True, ""),
        ("save", False, "disk full"),
    ]
    assert first.actions[0].arguments == (("file", "a"),)
    assert (first.outcome, second.outcome, second.actions) == ("stuck", "success", ())
    assert problems == ()


def test_a_score_alone_decides_where_no_outcome_is_mapped(tmp_path):
    mapping = '[run]\ncommand = "task"\nscore = "score"'
    found, _ = runs(tmp_path / "a.jsonl", mapping, *({"task": f"Do {n}", "score": n} for n in (79, 80, 300)))
    assert [(run.outcome, run.score) for run in found] == [("failed", 79), ("success", 80), ("success", 100)]


def test_a_word_that_is_not_known_is_unknown(tmp_path):
    found, _ = runs(
        tmp_path / "a.jsonl", '[run]\ncommand = "c"\noutcome = "o"', {"c": "Do it", "o": "perhaps"}
    )
    assert found[0].outcome == "unknown"


def test_what_a_record_lacks_is_named_with_its_key(tmp_path):
    found, problems = runs(tmp_path / "a.jsonl", MAPPING, {"trace": 1, "prompt": "x"}, RECORD)
    assert len(found) == 1
    assert problems[0].startswith("a.jsonl:1: ")
    for word in ("[run] command", "'input.task'", "'trace', 'prompt'"):
        assert word in problems[0]


@pytest.mark.parametrize(
    ("mapping", "named"),
    [
        ("[run]\nid = 'x'", "command"),
        ("[run]\ncommand = 'x'\ncomand = 'y'", "'command'"),
        ("[run]\ncommand = 3", "[run] command = 3"),
        ("[run]\ncommand = 'a..b'", "'a..b'"),
        ("[run]\ncommand = 'a'\n[outcome]\ncomplete = 'yes'", "[outcome] complete"),
        ("[run]\ncommand = 'a'\n[outcome]\nwon = ['yes']", "'won'"),
        ("[run]\ncommand = 'a'\n[events]\nname = 'n'", "id"),
        ("best_score = 0\n[run]\ncommand = 'a'", "best_score"),
        ("run = 1", "[run]"),
    ],
)
def test_a_wrong_mapping_names_the_key(mapping, named):
    with pytest.raises(UsageError) as error:
        parse_mapping(tomllib.loads(mapping))
    assert named in str(error.value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON, st.lists(st.sampled_from(["a", "b", "c", "a[]", "b[]"]), min_size=1, max_size=3))
def test_a_path_leads_somewhere_or_nowhere_in_any_value(value, parts):
    found = list(found_at(value, ".".join(parts)))
    if not any(part.endswith("[]") for part in parts):
        assert len(found) <= 1
