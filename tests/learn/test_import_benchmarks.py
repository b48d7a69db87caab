"""Runs of tau-bench and of Reflexion's ALFWorld: what was done and how it ended, and never the answers."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.context.messages import Message
from hindbrain.learn.importing.alfworld import runs_of_alfworld, task_of
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.requests import wanted
from hindbrain.learn.importing.tau import runs_of_tau
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.events import Event, to_line
from hindbrain.learn.runs.folding import fold_all

SAMPLES = Path(__file__).parent / "samples"
AIRLINE = SAMPLES / "tau" / "gpt-4o-airline.json"


def folded(*runs: list[Event]) -> list[Episode]:
    return list(fold_all(event for run in runs for event in run))


def tau(path: Path) -> list[Episode]:
    return folded(*runs_of_tau(Log(path)))


def alfworld(folder: Path) -> list[Episode]:
    files = sorted(folder.glob("env_results_trial_*.json"))
    return [episode for file in files for episode in folded(*runs_of_alfworld(Log(file)))]


# --- tau-bench


def test_a_reward_is_an_outcome_and_the_last_tool_error_the_reason():
    runs = {run.session: run for run in tau(AIRLINE)}
    won, lost = runs["airline-12/0"], runs["airline-0/0"]
    assert (won.outcome, won.score, won.reason) == ("success", 100, "")
    assert (lost.outcome, lost.score) == ("failed", 0)
    assert lost.reason == "Error: payment amount does not add up, total price is 305, but paid 255"
    assert (won.host, won.app, won.source) == ("tau-bench", "airline", "import")
    assert won.actions[0].name == "get_user_details"
    assert dict(won.actions[0].arguments) == {"user_id": "amelia_sanchez_4739"}
    assert won.iterations == len(won.actions)


def test_the_command_is_what_the_customer_said_they_want():
    runs = {run.session: run.command for run in tau(AIRLINE)}
    assert runs["airline-12/0"] == "I need to cancel my flights from MCO to CLT and get a refund, please."
    said = [
        Message("user", "Hi there!"),
        Message("assistant", "How can I help?"),
        Message("user", "My user ID is ada_1. I want to cancel two reservations. Can you help with that?"),
        Message("assistant", "", "get_user_details"),
        Message("user", "I also want a refund."),
    ]
    assert wanted(said) == "I want to cancel two reservations."
    assert len(wanted([Message("user", "I want " + "very " * 200)])) <= 300


def test_the_hidden_instruction_and_the_right_actions_never_enter_a_run(tmp_path):
    records = json.loads(AIRLINE.read_text(encoding="utf-8"))
    for record in records:
        record["info"] = {"task": {"instruction": "the hidden wish", "actions": [{"name": "right_action"}]}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    runs = list(runs_of_tau(Log(path)))
    lines = "\n".join(to_line(event) for run in runs for event in run)
    assert len(runs) == len(records)
    assert "hidden wish" not in lines
    assert "right_action" not in lines


def test_few_shot_conversations_are_runs_of_which_little_is_known():
    runs = tau(SAMPLES / "tau" / "MockAirlineDomainEnv-few_shot.jsonl")
    assert runs[0].command == "I need to cancel my flights from MCO to CLT, please."
    assert [(action.name, action.ok) for action in runs[0].actions] == [("unknown", False), ("unknown", True)]
    assert {run.outcome for run in runs} == {"unknown"}
    assert runs[0].app == "airline"


def test_a_renamed_copy_has_the_same_runs_in_the_same_order(tmp_path):
    copy = tmp_path / "x.json"
    shutil.copy(AIRLINE, copy)
    assert [run.run for run in tau(copy)] == [run.run for run in tau(AIRLINE)]


def test_what_is_no_run_is_named(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"traj": [], "reward": "high"}, 3, json.loads(AIRLINE.read_text(encoding="utf-8"))[0]]),
        encoding="utf-8",
    )
    log = Log(path)
    assert len(list(runs_of_tau(log))) == 1
    assert [problem.split(": ")[0] for problem in log.problems] == ["a.json:1", "a.json:2"]


def test_the_whole_of_tau_bench(unpacked: Callable[[str], Path]):
    folder = unpacked("runs_tau_bench")
    runs = tau(next(folder.rglob("gpt-4o-airline.json")))
    assert Counter(run.outcome for run in runs) == {"success": 84, "failed": 116}
    assert len({run.run for run in runs}) == 200
    assert all(run.command for run in runs)
    assert sum(len(run.actions) for run in runs) == 1164
    assert len({run.session.partition("/")[0] for run in runs}) == 50
    shown = [run for file in sorted(folder.rglob("*few_shot.jsonl")) for run in tau(file)]
    assert Counter(run.app for run in shown) == {"airline": 19, "retail": 69}


# --- ALFWorld


def test_an_environment_that_has_succeeded_is_not_tried_again():
    tried = {run.session: run.outcome for run in alfworld(SAMPLES / "tiny_run_logs")}
    assert tried == {
        "env_0/0": "success",
        "env_2/0": "failed", "env_2/1": "success",
        "env_4/0": "failed", "env_4/1": "failed", "env_4/2": "failed", "env_4/3": "success",
        "env_22/0": "failed", "env_22/1": "failed", "env_22/2": "failed", "env_22/3": "failed",
    }  # fmt: skip


def test_the_reason_is_the_reflection_written_after_that_trial():
    runs = {run.session: run for run in alfworld(SAMPLES / "tiny_run_logs")}
    assert runs["env_22/0"].reason.startswith(
        "I was stuck in a loop in which I continually tried to put the tomato"
    )
    assert "without opening it. I should have opened drawer 3" in runs["env_22/1"].reason
    assert (runs["env_2/1"].reason, runs["env_2/1"].score) == ("", 100)
    assert (runs["env_2/1"].host, runs["env_2/1"].app) == ("alfworld-tiny", "alfworld")
    assert not runs["env_2/0"].actions


def test_all_trials_of_an_environment_have_one_command():
    runs = {run.session: run.command for run in alfworld(SAMPLES / "tiny_run_logs")}
    # Only the second reflection tells the plan.
    assert runs["env_22/0"] == runs["env_22/3"] == "find a tomato, cool it with fridge, put it in microwave"
    assert runs["env_0/0"] == "env_0"  # no reflection, so no known task


@pytest.mark.parametrize(
    ("reflection", "task"),
    [
        ("my plan was to find a mug then cool it with fridge then put it in coffeemachine. However, x",
         "find a mug, cool it with fridge, put it in coffeemachine"),
        ("my plan was to find a bowl then clean it. However, the task says to put it in cabinet. I x",
         "find a bowl, clean it, put it in cabinet"),
        ("I should have taken apple 1, then heated it with microwave 1, then put it in garbagecan 1.",
         "find apple, heat it with microwave, put it in garbagecan"),
        ("I should have taken pan 1 from x 1, then gone to sinkbasin 1 and cleaned it, then gone on.",
         "find pan, clean it with sinkbasin"),
        ("I will try harder.", ""),
    ],
)  # fmt: skip
def test_a_task_is_made_of_what_a_reflection_names(reflection, task):
    assert task_of([reflection]) == task


def test_a_trial_is_read_alone_as_far_as_it_tells(tmp_path):
    shutil.copy(SAMPLES / "tiny_run_logs" / "env_results_trial_3.json", tmp_path)
    # env_0 and env_2 have fewer reflections than trials, so they had succeeded before.
    assert {run.session for run in alfworld(tmp_path)} == {"env_4/3", "env_22/3"}


def test_a_file_that_does_not_say_its_trial_is_refused(tmp_path):
    path = tmp_path / "results.json"
    shutil.copy(SAMPLES / "tiny_run_logs" / "env_results_trial_3.json", path)
    with pytest.raises(UsageError):
        list(runs_of_alfworld(Log(path)))


def test_trials_follow_each_other_in_time_whatever_the_files_say(tmp_path):
    folder = tmp_path / "x_run_logs"
    shutil.copytree(SAMPLES / "tiny_run_logs", folder, copy_function=shutil.copy)
    (folder / "env_results_trial_0.json").touch()
    runs = alfworld(folder)
    assert [run.session for run in sorted(runs, key=lambda run: run.ended)] == [run.session for run in runs]


def test_the_whole_of_alfworld(unpacked: Callable[[str], Path]):
    root = next(unpacked("runs_alfworld").rglob("base_run_logs")).parent
    base, reflexion = alfworld(root / "base_run_logs"), alfworld(root / "reflexion_run_logs")
    assert Counter(run.outcome for run in base) == {"success": 101, "failed": 263}
    assert Counter(run.outcome for run in reflexion) == {"success": 134, "failed": 200}
    assert all(run.reason for run in reflexion if run.failed)
    assert {run.host for run in base + reflexion} == {"alfworld-base", "alfworld-reflexion"}
    assert len({run.run for run in base + reflexion}) == 698
    known = {run.session.partition("/")[0] for run in reflexion if not run.command.startswith("env_")}
    assert len(known) == 50  # every environment that failed once
