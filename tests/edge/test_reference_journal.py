"""The journal of the reference documents, imported as it is, and their examples of learning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli
from workbench import Vault

# Memory system design, 2.2: the entry of the task log.
COMMAND = "Open Chrome and go to github.com"
KEY_ACTIONS = "open_application(Chrome), click(URL bar), type_text(github.com), press_key(return)"
# 4.1: three failures.
FAILURES = (
    ("Open Chrome and go to github", 45, "Wrong element clicked, ended up on bookmark bar"),
    ("Navigate to github.com in Chrome", 38, "URL bar not focused, typed into page"),
    ("Go to github", 52, "Clicked address bar but missed, hit tab bar"),
)
START = datetime(2026, 2, 20, 14, 30, tzinfo=UTC).timestamp()
BY_KEY = ("open_application(Chrome)", "press_key(cmd+l)", "type_text(github.com)", "press_key(return)")
BY_CLICK = ("open_application(Chrome)", "click(URL bar)", "type_text(github.com)", "press_key(return)")


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Journal:
    """Lines of `~/.omniagent/runs/<runId>/journal.jsonl`."""

    def __init__(self, folder: Path, run: str, at: float = START) -> None:
        self.path = folder / run / "journal.jsonl"
        self.run, self.at = run, at
        self.lines: list[str] = []

    def add(self, kind: str, after: float = 0.0, **more: Any) -> Journal:
        self.at += after
        line = {"type": kind, "runId": self.run, "timestamp": stamp(self.at), **more}
        self.lines.append(json.dumps(line))
        return self

    def iteration(self, number: int, *calls: str, **end: Any) -> Journal:
        for call in calls:
            self.add("tool.executed", 2, tool=call, result="ok")
        return self.add("iteration.end", 3, iteration=number, **end)

    def write(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        return self.path


def failed(folder: Path, number: int, at: float) -> Journal:
    command, score, reason = FAILURES[number]
    journal = Journal(folder, f"run-{number}", at).add("run.created", command=command)
    journal.iteration(1, *BY_CLICK, score=score, reason=reason)
    return journal.add("run.fail", 1, score=score, reason=reason)


def succeeded(folder: Path, run: str, command: str, at: float, calls: Sequence[str] = BY_KEY) -> Journal:
    journal = Journal(folder, run, at).add("run.created", command=command)
    return journal.iteration(1, *calls, score=92).add("run.complete", 1, score=92)


def note(vault: Vault, name: str) -> str:
    return next(vault.root.rglob(f"{name}.md")).read_text("utf-8")


def test_the_entry_of_the_task_log_comes_from_the_journal(cli: Cli, vault: Vault, tmp_path: Path) -> None:
    journal = Journal(tmp_path, "A1B2").add("run.created", command=COMMAND)
    for number, call in enumerate(KEY_ACTIONS.split(", "), start=1):
        journal.iteration(number, call)
    journal.add("run.complete", 25, score=92, summary="github.com is open in Chrome")
    done = cli("runs", "import", str(journal.write()), "--json")
    assert (done.code, done.data["by_outcome"], done.data["problems"]) == (0, {"success": 1}, [])
    assert cli("learn").code == 0
    log = note(vault, "Task Log")
    assert "## 2026-02-20T14:30:00Z" in log
    for line in (
        f'- **Command:** "{COMMAND}"', "- **Outcome:** Success (score: 92)", "- **Iterations:** 4",
        f"- **Key actions:** {KEY_ACTIONS}", "- **Duration:** 45s",
        "- **Result:** github.com is open in Chrome",
    ):  # fmt: skip
        assert line in log


def test_a_rejection_is_told_with_its_score_and_the_actions_that_led_there(cli: Cli, tmp_path: Path) -> None:
    journal = Journal(tmp_path, "r-1").add("run.created", command=FAILURES[0][0])
    journal.iteration(1, *BY_CLICK, score=45, reason=FAILURES[0][2])
    journal.iteration(2, *BY_KEY[1:], score=92).add("run.complete", 1)
    cli("runs", "import", str(journal.write()))
    run = cli("runs", "show", "r-1", "--json").data["run"]
    assert run["rejections"] == [{"reason": FAILURES[0][2], "score": 45, "after": 4}]
    assert (run["outcome"], run["score"], run["iterations"], run["actions"]) == ("success", 92, 2, 7)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [("run.complete", "success"), ("run.fail", "failed"), ("run.stuck", "stuck")],
)
def test_each_end_is_an_outcome(cli: Cli, tmp_path: Path, end: str, outcome: str) -> None:
    journal = Journal(tmp_path, "r-1").add("run.created", command=COMMAND).iteration(1, *BY_CLICK)
    journal.add(end, 1, reason="URL bar not focused, typed into page")
    cli("runs", "import", str(journal.write()))
    run = cli("runs", "show", "r-1", "--json").data["run"]
    assert run["outcome"] == outcome
    assert run["reason"] == ("" if outcome == "success" else "URL bar not focused, typed into page")


def test_lines_with_other_names_for_the_same_things(cli: Cli, tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"event": "run.created", "ts": 793_290_600.5, "data": {"command": COMMAND}},  # seconds since 2001
        {"event": "tool.executed", "ts": 793_290_601, "data": {"toolName": "click", "input": {"x": 640},
                                                               "success": False, "result": "missed"}},
        {"event": "iteration.end", "ts": 793_290_602, "data": {"verification": {"score": 38, "passed": False,
                                                               "reason": "URL bar not focused"}}},
        {"event": "run.stuck", "ts": 793_290_645.5, "data": {"reason": "no progress"}},
    ]  # fmt: skip
    path = tmp_path / "B7" / "journal.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert cli("runs", "import", str(path)).code == 0
    name = cli("runs", "list", "--json").data["runs"][0]["id"]
    run = cli("runs", "show", name, "--json").data["run"]
    assert (run["outcome"], run["reason"], run["ended"] - run["started"]) == ("stuck", "no progress", 45)
    assert run["rejections"] == [{"reason": "URL bar not focused", "score": 38, "after": 1}]
    assert (run["steps"][0]["ok"], run["steps"][0]["said"]) == (False, "missed")
    assert datetime.fromtimestamp(run["started"], UTC).year == 2026


def test_damage_costs_its_lines_and_names_them(cli: Cli, tmp_path: Path) -> None:
    journal = failed(tmp_path, 0, START)
    journal.lines[1:1] = ["{not json", '{"type": "screenshot.captured", "runId": "run-0"}', '"text"']
    done = cli("runs", "import", str(journal.write()), "--json")
    assert done.data["by_outcome"] == {"failed": 1}
    assert [problem.split(": ")[0] for problem in done.data["problems"]] == [
        "journal.jsonl:2", "journal.jsonl:3", "journal.jsonl:4",
    ]  # fmt: skip


def test_a_journal_that_was_cut_in_its_last_line_gives_a_run_of_unknown_end(cli: Cli, tmp_path: Path) -> None:
    journal = failed(tmp_path, 0, START)
    journal.lines[-1] = journal.lines[-1][:30]
    done = cli("runs", "import", str(journal.write()), "--json")
    assert done.data["by_outcome"] == {"unknown": 1}
    assert len(done.data["problems"]) == 2


def test_a_run_that_still_goes_on_is_left_for_later(cli: Cli, tmp_path: Path) -> None:
    journal = failed(tmp_path, 0, START)
    end = journal.lines.pop()
    assert cli("runs", "import", str(journal.write())).code == 1
    assert cli("runs", "list", "--json").data["runs"] == []
    journal.lines.append(end)
    assert cli("runs", "import", str(journal.write()), "--json").data["by_outcome"] == {"failed": 1}


# --- 4.1, 4.2, 4.3


def test_verification_rejections_become_entries_with_command_score_reason_and_actions(
    cli: Cli, vault: Vault, tmp_path: Path
) -> None:
    for number in range(3):
        failed(tmp_path, number, START + 3_600 * number).write()
    assert cli("runs", "import", str(tmp_path), "--json").data["by_outcome"] == {"failed": 3}
    assert cli("learn").code == 0
    issues = note(vault, "Known Issues")
    for command, score, reason in FAILURES:
        assert f'- **Command:** "{command}"' in issues
        assert f"- **Score:** {score}/100" in issues
        assert f"- **Reason:** {reason}" in issues
    assert issues.count("- **Lesson:**") == 3
    assert "click(URL bar)" in issues
    for number, (command, _, _) in enumerate(FAILURES):
        succeeded(tmp_path, f"good-{number}", command, START + 86_400 + 3_600 * number).write()
    cli("runs", "import", str(tmp_path))
    assert cli("learn").code == 0
    pack = cli("context", FAILURES[0][0], "--preset", "agent").out
    assert FAILURES[0][2] in pack and "press_key(cmd+l)" in pack


def test_a_command_retried_within_two_minutes_of_a_failure_is_a_correction(
    cli: Cli, vault: Vault, tmp_path: Path
) -> None:
    first = failed(tmp_path, 2, START)
    first.write()
    succeeded(tmp_path, "second", FAILURES[1][0], first.at + 119).write()
    succeeded(tmp_path, "third", "Open Chrome and go to github", first.at + 4_000).write()
    cli("runs", "import", str(tmp_path))
    assert cli("learn").code == 0
    corrections = note(vault, "Corrections")
    assert '- **Original:** "Go to github"' in corrections
    assert '- **Corrected:** "Navigate to github.com in Chrome"' in corrections
    assert corrections.count("**Original:**") == 1


def test_a_rejection_fixed_within_the_run_comes_first_for_a_like_command(
    cli: Cli, vault: Vault, tmp_path: Path
) -> None:
    command, score, reason = FAILURES[0]
    fixed = Journal(tmp_path, "fixed").add("run.created", command=command)
    fixed.iteration(1, *BY_CLICK, score=score, reason=reason).iteration(2, *BY_KEY[1:], score=92)
    fixed.add("run.complete", 1).write()
    plain = Journal(tmp_path, "plain", START + 3_600).add("run.created", command=command)
    plain.iteration(1, "open_application(Chrome)").add("run.fail", 1, reason="no network").write()
    put_right = "Open Chrome and go to github.com/suede"
    succeeded(tmp_path, "again", put_right, plain.at + 60).write()
    cli("runs", "import", str(tmp_path))
    assert cli("learn").code == 0
    issues = note(vault, "Known Issues")
    assert f"- **Score:** {score}/100\n- **Reason:** {reason}" in issues
    assert "by `press_key(cmd+l)` instead of `click(" in issues
    pack = cli("context", command, "--preset", "agent", "--json").data["pack"]
    (lessons,) = [slot["excerpts"] for slot in pack["slots"] if slot["name"] == "lessons"]
    told = [excerpt["text"] for excerpt in lessons]
    assert reason in told[0] and "press_key(cmd+l)" in told[0]
    assert put_right in "".join(told[1:]) and "no network" in "".join(told[1:])


def test_three_successes_of_one_kind_with_a_score_of_80_make_a_template(
    cli: Cli, vault: Vault, tmp_path: Path
) -> None:
    sites = ("github.com", "python.org", "debian.org")
    for number, site in enumerate(sites[:2]):
        calls = [call.replace("github.com", site) for call in BY_KEY]
        at = START + 3_600 * number
        succeeded(tmp_path, f"run-{number}", f"Open Chrome and go to {site}", at, calls).write()
    cli("runs", "import", str(tmp_path))
    cli("learn")
    assert cli("templates", "--json").data["templates"] == []
    calls = [call.replace("github.com", sites[2]) for call in BY_KEY]
    succeeded(tmp_path, "run-2", f"Open Chrome and go to {sites[2]}", START + 7_200, calls).write()
    cli("runs", "import", str(tmp_path))
    assert cli("learn").code == 0
    (template,) = cli("templates", "--json").data["templates"]
    assert template["success_rate"] == 1.0
    shown = cli("templates", "show", template["name"], "--for", "Open Chrome and go to kernel.org").out
    assert "type_text(kernel.org)" in shown
