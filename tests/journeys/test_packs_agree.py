"""A pack never warns of a call that it also says to make: journals and notes that would make it so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from journey_doors import CommandLine

from hindbrain.learn.runs.events import Event, RunCreated, RunEnded, ToolExecuted, to_line

DAY_S = 86_400.0
START = 1_780_000_000.0
PACKAGES = ("web", "admin", "shop", "mail")
BUILD = "run the tests and build the cart service"
NEVER = "Never run `npm test` when you run the tests and build a service"
DEPLOY = "deploy the site to staging"


def _run(
    command: str, calls: Sequence[str], day: float, *, failed: str = "", session: str = "", ok: bool = True
) -> list[Event]:
    """A run of shell calls. `failed`: why it did; `ok`: whether the calls themselves went well."""
    at = START + day * DAY_S
    run = f"r-{at:.0f}"
    events: list[Event] = [RunCreated(run, at, command, session=session)]
    events += [
        ToolExecuted(run, at + place, "Bash", {"command": call}, ok, said="" if ok else failed)
        for place, call in enumerate(calls, start=1)
    ]
    return [*events, RunEnded(run, at + 20, "fail" if failed else "complete", 10 if failed else 95, failed)]


def _builds() -> list[list[Event]]:
    calls = ("npm ci", "npm test", "npm run build")
    return [
        _run(f"run the tests and build the {name} service", calls, day)
        for day, name in enumerate(("billing", "search", "login", "report"), start=20)
    ]


def _learn(hb: CommandLine, runs: Sequence[Sequence[Event]], lessons: str = "") -> None:
    hb("init", "--layout", "obsidian")
    journal = hb.root.parent / "journal.jsonl"
    journal.write_text("".join(to_line(event) + "\n" for run in runs for event in run), encoding="utf-8")
    if runs:
        hb("runs", "import", str(journal), "--format", "journal")
        hb("learn")
    if lessons:
        note = hb.root / "Learning" / "Lessons.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        before = note.read_text(encoding="utf-8") if note.exists() else "# Lessons\n"
        note.write_text(f"{before}\n- {lessons}\n", encoding="utf-8")
    hb("sync")


def _pack(
    hb: CommandLine, command: str, preset: str = "agent"
) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """What each slot says, and what was left out as a contradiction: (slot, note)."""
    told: dict[str, Any] = hb.data("context", command, "--preset", preset)
    slots = {
        slot["name"]: "\n".join(one["text"] for one in slot["excerpts"]) for slot in told["pack"]["slots"]
    }
    left_out = {
        (one["slot"], one["place"].rpartition("/")[2].partition(".md")[0])
        for one in told["left_out"]
        if one["reason"] == "contradicts"
    }
    return slots, left_out


def test_a_call_that_similar_runs_made_with_success_is_not_forbidden(hb: CommandLine) -> None:
    broken = [
        _run(
            f"run the tests of the {name} package", ["npm test"], day, failed="sh: jest: not found", ok=False
        )
        for day, name in enumerate(PACKAGES)
    ]
    other = [
        _run(f"run the tests of the {name} package", ["pnpm test"], day)
        for day, name in enumerate(PACKAGES, start=5)
    ]
    repaired = [
        _run(f"run the tests of the {name} package and build it", ["npm ci", "npm test"], day)
        for day, name in enumerate(PACKAGES, start=10)
    ]
    _learn(hb, [*broken, *other, *repaired])
    slots, left_out = _pack(hb, "run the tests of the web package and build it")
    assert "2. `npm test`" in slots["template"]
    assert "jest: not found" in slots["lessons"]
    assert "do not `npm test`" not in slots["lessons"]
    assert not left_out


@pytest.mark.parametrize("failure_is_newer", [False, True])
def test_the_newer_of_a_failure_and_a_success_with_the_same_calls_stays(
    hb: CommandLine, failure_is_newer: bool
) -> None:
    calls = ("make build", "make deploy")
    days = (1, 0) if failure_is_newer else (0, 1)
    failure = _run(DEPLOY, calls, days[0], failed="the host refused the upload")
    success = _run(f"{DEPLOY} now", calls, days[1])
    _learn(hb, [failure, success] if days[0] < days[1] else [success, failure])
    slots, left_out = _pack(hb, DEPLOY)
    assert ("the host refused" in slots["lessons"]) is failure_is_newer
    assert ("make deploy" in slots["relevant"]) is not failure_is_newer
    assert left_out == {("relevant", "Task Log") if failure_is_newer else ("lessons", "Known Issues")}


def test_a_failure_and_a_success_with_other_calls_are_both_told(hb: CommandLine) -> None:
    failure = _run(DEPLOY, ["make build", "make deploy"], 0, failed="the host refused the upload")
    _learn(hb, [failure, _run(f"{DEPLOY} now", ["make build", "make check", "make deploy"], 1)])
    slots, left_out = _pack(hb, DEPLOY)
    assert "the host refused" in slots["lessons"]
    assert "make check" in slots["relevant"]
    assert not left_out


def test_a_command_that_was_corrected_is_not_shown_as_one_that_went_well(hb: CommandLine) -> None:
    _learn(
        hb,
        [
            _run(DEPLOY, ["make stage"], 0),
            _run(DEPLOY, ["make up"], 1, failed="wrong host", session="a"),
            _run("deploy the docs site to staging with rsync", ["rsync site"], 1 + 40 / DAY_S, session="a"),
        ],
    )
    slots, left_out = _pack(hb, DEPLOY)
    assert "**Corrected:**" in slots["lessons"]
    assert "make stage" not in slots["relevant"] and "rsync site" in slots["relevant"]
    assert left_out == {("relevant", "Task Log")}


@pytest.mark.parametrize("preset", ["agent", "turn"])
def test_an_owners_lesson_wins_over_a_template(hb: CommandLine, preset: str) -> None:
    _learn(hb, _builds(), lessons=NEVER)
    slots, left_out = _pack(hb, BUILD, preset)
    assert "Never run" in slots["lessons"]
    assert not slots["template"]
    assert ("template", "Run the tests and build the login service") in left_out
    assert "npm test" not in slots["relevant"]


@pytest.mark.parametrize(("seen", "stays"), [(2, "template"), (9, "lessons")])
def test_between_what_was_learned_the_side_of_more_runs_stays(hb: CommandLine, seen: int, stays: str) -> None:
    fields = f"[seen:: {seen}] [source:: import]"
    lesson = f"For services that run the tests and build: do not `Bash(npm test)` {fields}"
    _learn(hb, _builds(), lessons=lesson)
    slots, left_out = _pack(hb, BUILD)
    assert bool(slots["template"]) is (stays == "template")
    assert bool(slots["lessons"]) is (stays == "lessons")
    assert {slot for slot, _ in left_out} == {"template", "lessons"} - {stays}


def test_a_skill_that_is_left_out_does_not_come_back_by_the_search(hb: CommandLine) -> None:
    _learn(hb, [], lessons=NEVER)
    skill = hb.root / "Skills" / "Build a service.md"
    skill.parent.mkdir(exist_ok=True)
    skill.write_text(
        "---\ndescription: run the tests and build a service\n---\n# Build a service\n\n"
        "1. Run `npm ci`\n2. Run `npm test`\n",
        encoding="utf-8",
    )
    hb("sync")
    slots, left_out = _pack(hb, BUILD)
    assert "Never run" in slots["lessons"]
    assert not slots["template"] and "npm test" not in slots["relevant"]
    assert left_out == {("template", "Build a service")}


def test_the_explanation_says_why_it_was_left_out(hb: CommandLine) -> None:
    from hindbrain.edge.pack_text import REASONS

    _learn(hb, _builds(), lessons=NEVER)
    assert REASONS["contradicts"] in hb("context", BUILD, "--preset", "agent", "--explain").out
