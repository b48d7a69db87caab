"""Questions about time are answered with the runs of that time, at every door and in every layout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# `benchmarks` is no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import day_questions
from journey_doors import CommandLine, Doors, hook

from hindbrain.app import App
from hindbrain.base.clock import SystemClock
from hindbrain.edge.main import main
from hindbrain.memory.timeline import asked_time
from hindbrain.vault.layout import LAYOUTS, load_layout

RUNS = day_questions.read_runs()
YESTERDAY = {"27", "28", "29"}
OPEN = {"28", "19", "15", "11", "6", "t1", "t2"}


@pytest.fixture
def layout() -> str:
    return "obsidian"


@pytest.fixture
def worked(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """Three weeks of runs; the clock of every door stands at the end of them."""
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "builtin")
    monkeypatch.setattr(SystemClock, "now", lambda _: day_questions.moment(day_questions.NOW))
    (tmp_path / "vault").mkdir()
    assert main(["init", str(tmp_path / "vault"), "--layout", layout]) == 0
    with day_questions.worked(tmp_path, RUNS) as app:
        yield app


def shown(text: str) -> set[str]:
    return day_questions.shown(RUNS, text)


@pytest.fixture
def doors(worked: App, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Doors]:
    found = Doors(CommandLine(worked.root, capsys), tmp_path)
    yield found
    found.close()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_door_tells_what_was_done_yesterday_and_what_is_open(worked: App, doors: Doors) -> None:
    for question, wanted in (("what did we do yesterday?", YESTERDAY), ("what is still open?", OPEN)):
        told = {
            "recall": doors.hb("recall", question).out,
            "recall --json": json.dumps(doors.cli("recall", question)["timeline"], ensure_ascii=False),
            "mcp": json.dumps(doors.mcp("recall", topic=question)["timeline"], ensure_ascii=False),
            "context": doors.hb("context", question).out,
            "hook": hook(worked.root, "user-prompt-submit", session_id=question, prompt=question),
        }
        for door, text in told.items():
            assert shown(text) == wanted, (door, text)
            if question == "what did we do yesterday?":
                assert "2026-11-17" in text and "TT-Line at 6:00 for 74 EUR" in text, (door, text)
        assert shown(doors.hb("context", question, "--preset", "agent").out) >= wanted


def test_a_run_is_told_once_in_the_order_of_time(worked: App, doors: Doors) -> None:
    commands = [run.command for run in RUNS[16:24]]  # of last week
    for text in (
        doors.hb("recall", "what did we do last week?").out,
        doors.hb("context", "what did we do last week?").out,
        hook(worked.root, "user-prompt-submit", prompt="what did we do last week?"),
    ):
        assert [text.count(command) for command in commands] == [1] * len(commands), text
        assert sorted(commands, key=text.index) == commands
        assert "Session" not in text and "Retry" not in text


def test_recall_of_a_topic_tells_a_run_once(worked: App, doors: Doors) -> None:
    """Neither the start of the day's session nor what it left for tomorrow tells it again."""
    for topic, command in (
        ("ferry to Trelleborg", "find the cheapest ferry to Trelleborg"),
        ("berth in Ystad", "book a berth in Ystad for June"),
        ("receipts of October", "scan the receipts of October"),
        ("mailing list", "migrate the mailing list to the new server"),
    ):
        found = doors.cli("recall", topic)
        hits = [
            hit["text"]
            for hit in found["passages"]
            if worked.layout.role_of(hit["path"]) != "templates"  # which list commands as examples
        ]
        told = [text for text in (*(run["command"] for run in found["runs"]), *hits) if command in text]
        assert len(told) == 1, (topic, told)
        assert "**Context**" not in told[0] and "Retry" not in told[0]


def test_failures_are_open_until_they_work_and_the_newest_come_first(worked: App, doors: Doors) -> None:
    left = [entry["text"] for entry in doors.cli("recall", "what is still open?")["timeline"]["entries"][2:]]
    assert left == [RUNS[at].command for at in (27, 18, 14, 10, 5)]
    assert "sync the calendar" not in doors.hb("context", "what is still open?").out  # failed, then worked


def test_a_day_without_runs_says_so(worked: App, doors: Doors) -> None:
    for question in ("what did we do on November 7?", "was haben wir am 2026-11-07 gemacht?"):
        assert doors.cli("recall", question)["timeline"]["entries"] == []
        assert "Nothing is recorded for 2026-11-07" in doors.hb("context", question).out
        assert "Nothing is recorded for 2026-11-07" in doors.hb("recall", question).err


def test_what_a_person_wrote_and_decided_that_day_is_part_of_it(worked: App, doors: Doors) -> None:
    path = worked.root / load_layout(worked.root).path("daily", date="2026-11-17")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("## Events\n", "## Events\n- [12:15] Lunch with Mara\n"), encoding="utf-8")
    doors.cli("remember", "The club meets on Tuesdays at eight", "--category", "decision")
    told = doors.cli("recall", "what happened yesterday and today?")["timeline"]["entries"]
    texts = [entry["text"] for entry in told]
    assert texts.index(RUNS[26].command) < texts.index("Lunch with Mara") < texts.index(RUNS[27].command)
    assert texts[-1] == "The club meets on Tuesdays at eight" and told[-1]["kind"] == "decision"


def test_other_questions_get_no_timeline(worked: App, doors: Doors) -> None:
    for prompt in (
        "see you tomorrow",
        "what did Ada say about the boat yesterday?",
        "when is the next ferry?",
        "what is open source?",
    ):
        assert doors.cli("recall", prompt)["timeline"] is None, prompt
        assert "Nothing is recorded" not in doors.hb("context", prompt).out


def test_the_questions_of_the_benchmark(worked: App) -> None:
    """Built-in search, all 60 questions."""
    wrong = []
    for question in day_questions.read_questions():
        timeline = asked_time(worked.memory, question.text)
        told = "\n".join(f"{one.text} {one.answer}" for one in timeline.entries) if timeline else ""
        if shown(told) != question.wanted:
            wrong.append((question, told))
    assert not wrong
