"""Importing into a vault: each run once, damage named, nothing held in memory that need not be."""

from __future__ import annotations

import gzip
import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.learn.importing import logs
from hindbrain.learn.importing.importing import FORMATS, import_runs, sniff
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.runs.events import RunCreated, RunEnded, ToolExecuted, to_line
from hindbrain.learn.runs.store import RunStore
from workbench import Vault

TESTS = Path(__file__).parents[1]
SAMPLES = Path(__file__).parent / "samples"
CLAUDE = TESTS / "hosts" / "recorded" / "claude-code" / "transcript-conversation.jsonl"


@pytest.fixture
def store(vault: Vault, make_app: Callable[..., App]) -> Iterator[RunStore]:
    app = make_app(vault.root)
    yield RunStore(vault.root, app.state, lambda: app.writer)
    app.close()


def journal(*runs: str, at: float = 1_700_000_000.0) -> str:
    events = [
        event
        for run in runs
        for event in (
            RunCreated(run, at, f"Do {run}", source="user"),
            ToolExecuted(run, at + 1, "click", {"on": "Save"}),
            RunEnded(run, at + 2, "complete", 90),
        )
    ]
    return "".join(to_line(event) + "\n" for event in events)


def test_what_was_imported_is_in_the_vault_and_counted_by_outcome(store, vault):
    done = import_runs(store, [SAMPLES / "tau" / "gpt-4o-airline.json"])
    assert (done.runs, done.known, done.problems) == (3, 0, ())
    assert done.by_outcome == {"success": 1, "failed": 2}
    assert {episode.session for episode in store.episodes()} == {"airline-12/0", "airline-0/0", "airline-3/2"}
    assert [file.name for file in (vault.root / ".hindbrain/runs/imported").iterdir()] == ["tau-bench.jsonl"]


def test_importing_again_adds_nothing_nor_does_a_copy_under_another_name(store, tmp_path):
    first = import_runs(store, [CLAUDE])
    shutil.copy(CLAUDE, tmp_path / "copy.jsonl")
    with gzip.open(tmp_path / "packed.jsonl.gz", "wb") as packed:
        packed.write(CLAUDE.read_bytes())
    for path in (CLAUDE, tmp_path / "copy.jsonl", tmp_path / "packed.jsonl.gz"):
        again = import_runs(store, [path], format="claude-code")
        assert (again.runs, again.events, again.known) == (0, 0, first.runs)
    assert len(store.episodes()) == first.runs


def test_a_folder_of_logs_of_several_formats(store, tmp_path):
    shutil.copytree(SAMPLES, tmp_path / "logs")
    shutil.copy(CLAUDE, tmp_path / "logs" / "session.jsonl")
    (tmp_path / "logs" / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    done = import_runs(store, [tmp_path / "logs"])
    hosts = {episode.host for episode in store.episodes()}
    assert hosts == {"tau-bench", "alfworld-tiny", "claude-code"}
    assert done.runs == len(store.episodes())
    assert any("settings.json" in problem for problem in done.problems)


def test_our_own_journals_of_another_vault(store, tmp_path):
    path = tmp_path / "journal.jsonl"
    first, second = journal("r-1").splitlines(), journal("r-2").splitlines()
    woven = [line for pair in zip(first, second, strict=True) for line in pair]
    path.write_text("\n".join(woven), encoding="utf-8")  # the last line has no end
    done = import_runs(store, [path])
    assert (done.runs, done.events) == (2, 6)
    run = store.episode("r-1")
    assert (run.command, run.score, run.outcome) == ("Do r-1", 90, "success")
    assert run.source == "import"  # whatever the file says


def test_an_id_that_is_no_fit_name_becomes_one(store, tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(journal("../../etc/passwd"), encoding="utf-8")
    import_runs(store, [path])
    assert store.episodes()[0].run.startswith("r-")


def test_damage_is_named_and_costs_only_itself(store, tmp_path):
    lines = journal("r-1", "r-2").splitlines()
    path = tmp_path / "journal.jsonl"
    path.write_text(
        "\n".join([*lines[:3], "{not json", '{"type":"run.created"}', "[]", *lines[3:], lines[0][:40]]),
        encoding="utf-8",
    )
    done = import_runs(store, [path])
    assert done.runs == 2
    assert [problem.split(": ")[0] for problem in done.problems[:3]] == [
        "journal.jsonl:4", "journal.jsonl:5", "journal.jsonl:6",
    ]  # fmt: skip
    assert "1 more" in done.problems[3]


def test_a_line_that_is_too_long_is_named_and_passed_over(store, tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "LONGEST", 5_000)
    path = tmp_path / "journal.jsonl"
    path.write_text(journal("r-1") + "x" * 200_000 + "\n" + journal("r-2"), encoding="utf-8")
    done = import_runs(store, [path])
    assert done.runs == 2
    assert [problem.split(": ")[0] for problem in done.problems] == ["journal.jsonl:4"]


def test_a_run_without_an_end_is_named_and_left_out(store, tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(journal("r-1") + "\n".join(journal("r-2").splitlines()[:2]), encoding="utf-8")
    done = import_runs(store, [path])
    assert done.runs == 1
    assert "'r-2'" in done.problems[0]


def test_a_damaged_list_gives_what_was_whole(store, tmp_path):
    path = tmp_path / "airline.json"
    whole = (SAMPLES / "tau" / "gpt-4o-airline.json").read_text(encoding="utf-8")
    path.write_text(whole[: len(whole) * 2 // 3], encoding="utf-8")
    done = import_runs(store, [path])
    assert done.runs >= 1
    assert done.problems


@pytest.mark.parametrize("text", ["", "\n\n", "[]", "{}", "hello", '{"a": 1}\n{"b": 2}', "[1, 2"])
def test_a_file_whose_format_cant_be_told_is_an_error_that_lists_the_formats(store, tmp_path, text):
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    assert sniff(path) == ""
    with pytest.raises(UsageError) as error:
        import_runs(store, [path])
    assert all(name in str(error.value) for name in (*FORMATS, "--mapping"))


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("mapped", "reflexion")])
def test_a_file_without_any_run_is_an_error_that_says_what_was_found(store, tmp_path, format):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n', encoding="utf-8")
    with pytest.raises(NotFound) as error:
        import_runs(store, [path], format=format)
    assert "x.jsonl" in str(error.value)
    assert store.episodes() == []


def test_wrong_arguments(store, tmp_path):
    with pytest.raises(NotFound):
        import_runs(store, [tmp_path / "gone.jsonl"])
    mistakes: list[dict[str, Any]] = [
        {"format": "word"},
        {"format": "mapped"},
        {"format": "codex", "mapping": {}},
        {"mapping": {}},
    ]
    for wrong in mistakes:
        with pytest.raises(UsageError):
            import_runs(store, [CLAUDE], **wrong)
    with pytest.raises(NotFound):
        import_runs(store, [tmp_path])


def test_a_mapping_makes_runs_of_any_log(store, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"task": "Open it", "status": "done"}) + "\n", encoding="utf-8")
    done = import_runs(store, [path], mapping={"run": {"command": "task", "outcome": "status"}})
    assert done.by_outcome == {"success": 1}
    assert store.episodes()[0].host == "mapped"


def test_a_dry_run_writes_nothing(vault, make_app):
    app = make_app(vault.root)
    dry = RunStore(vault.root, app.state, lambda: app.writer, dry_run=True)
    assert import_runs(dry, [CLAUDE]).runs > 0
    assert not (vault.root / ".hindbrain" / "runs").exists()
    app.close()


@pytest.mark.parametrize("shape", ["lines", "list"])
def test_a_long_log_is_not_held_in_memory(tmp_path, shape):
    record = {"text": "x" * 2_000}
    path = tmp_path / "long.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write("[" if shape == "list" else "")
        for number in range(10_000):
            ending = "\n" if shape == "lines" else "," if number < 9_999 else "]"
            file.write(json.dumps(record) + ending)
    log = Log(path)
    tracemalloc.start()
    count = sum(1 for _ in log.records())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, log.left_out) == (10_000, 0)
    assert path.stat().st_size > 20_000_000
    assert peak < 3_000_000


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type", "message", "role", "content", "messages", "traj", "reward", "run", "payload",
                    "task", "steps", "action", "actions", "observation", "tool_calls", "from", "value",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    records=st.lists(_VALUES, max_size=6),
    shape=st.sampled_from(["lines", "list"]),
    format=st.sampled_from([name for name in FORMATS if name not in ("mapped", "reflexion")]),
)
def test_no_log_whatever_is_in_it_is_more_than_no_run(store, tmp_path, records, shape, format):
    path = tmp_path / "any.json"
    told = [json.dumps(record) for record in records]
    path.write_text(f"[{','.join(told)}]" if shape == "list" else "\n".join(told), encoding="utf-8")
    sniff(path)
    try:
        import_runs(store, [path], format=format)
    except NotFound:
        return


@pytest.mark.promise("P14")
def test_a_log_that_its_reader_fails_on_is_named_and_the_others_are_imported(store, tmp_path, monkeypatch):
    from hindbrain.learn.importing import importing

    whole = importing.runs_of_journal

    def failing(log: Log) -> Iterator[list[Any]]:
        if log.path.name == "b.jsonl":
            raise KeyError("surprise")
        yield from whole(log)

    monkeypatch.setattr(importing, "runs_of_journal", failing)
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text(journal(f"run-{name}"), encoding="utf-8")
    done = import_runs(store, [tmp_path], format="journal")
    assert done.runs == 2
    assert any("b.jsonl" in problem for problem in done.problems)


@pytest.mark.promise("P14")
def test_a_conversation_that_nothing_can_be_learned_of_stops_no_other(store, tmp_path, vault, monkeypatch):
    from hindbrain.context.capture.cursors import Cursor, Cursors
    from hindbrain.context.turn import SessionKey
    from hindbrain.learn.importing import captured

    state = tmp_path / "captured-state"
    for number, name in enumerate(("bad", "good")):
        shutil.copy(CLAUDE, tmp_path / f"{name}.jsonl")
        key = SessionKey("claude-code", name)
        Cursors(state).save(Cursor(key, transcript=str(tmp_path / f"{name}.jsonl"), at=9e9 - number))
    whole = captured.runs_of_transcript

    def failing(log: Log, host: str) -> Iterator[list[Any]]:
        if log.path.name == "bad.jsonl":
            raise KeyError("surprise")
        yield from whole(log, host)

    monkeypatch.setattr(captured, "runs_of_transcript", failing)
    taken = captured.take_captured(store, vault.root, state, now=9e9, named=lambda _: ())
    assert taken.runs > 0
    assert any("bad.jsonl" in problem for problem in taken.problems)
