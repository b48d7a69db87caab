"""Runs of any agent, found by the shape of their records: written after the forms of public sets of runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.learn.importing.importing import sniff
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.records import runs_of_records, runs_of_text
from hindbrain.learn.importing.steps import call_of
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.events import to_line
from hindbrain.learn.runs.folding import fold_all

SECRET = "the right answer 4711"  # what no run may learn


def written(path: Path, value: object) -> Path:
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    path.write_text(text, encoding="utf-8")
    return path


def runs(path: Path) -> list[Episode]:
    format = sniff(path)
    assert format in ("trajectory", "text"), f"told as {format!r}"
    log = Log(path)
    found = list(runs_of_text(log) if format == "text" else runs_of_records(log))
    assert not log.problems
    assert not any(SECRET in to_line(event) for run in found for event in run)
    return list(fold_all(event for run in found for event in run))


def one(tmp_path: Path, value: object, name: str = "log.json") -> Episode:
    (run,) = runs(written(tmp_path / name, value))
    assert run.source == "import"
    return run


def shown(run: Episode) -> list[str]:
    return [("" if action.ok else "!") + action.shown for action in run.actions]


# --- bash episodes with scores


BASH: dict[str, Any] = {
    "environment": "ic_bash",
    "dataset": "./data/nl2bash/fs_4.json",
    "task_id": 3,
    "query": 'Extract host name part from "http://www.google.com"',
    "turn_history": {
        "actions": ["echo a | awk -f[/:] '{print $4}'", "echo a | awk -F[/:] '{print $4}'"],
        "observations": ["awk: cannot open [/:] (No such file or directory)\n", "www.google.com\n"],
        "rewards": [0.67, 1.0],
        "valid_action": [False, True],
    },
    "info": {"reward": {"file_diff": 0.33}, "eval_obs": SECRET, "answer_similarity": 1.0},
    "summary": {"max_reward": 1.0, "turns_taken": 2, "turns_max": 10},
}


def test_a_table_of_bash_episodes_with_lists_side_by_side(tmp_path: Path) -> None:
    lost = {**BASH, "task_id": 4, "query": "Print the tree", "summary": {"max_reward": 0.67}}
    first, second = runs(written(tmp_path / "a.json", {"0": BASH, "1": lost}))
    assert (first.command, first.outcome, first.score) == (BASH["query"], "success", 100)
    assert shown(first) == [
        "!echo a | awk -f[/:] '{print $4}'",
        "echo a | awk -F[/:] '{print $4}'",
    ]
    assert first.actions[0].said.startswith("awk: cannot open")
    assert (second.outcome, second.score, second.app) == ("failed", 67, "ic_bash")


def test_a_table_below_a_heading_and_actions_in_brackets(tmp_path: Path) -> None:
    episode = {
        **BASH,
        "turn_history": {
            "thoughts": ["I can use uname.", "Look.", "I can submit."],
            "actions": ["execute[uname -r]", "ls x/", "submit"],
            "observations": ["5.15\n", "Error executing query: no bash code", "5.15\n"],
            "valid_action": [True, True, True],
        },
    }
    run = one(tmp_path, {"meta": {"env": "bash", "seed": None}, "logs": {"0": episode}})
    assert shown(run) == ["uname -r", "ls x/", "submit()"]
    assert run.answer == "I can submit."


def test_commands_with_exit_codes(tmp_path: Path) -> None:
    record = {
        "task": "count the files",
        "gold": SECRET,
        "commands": [
            {"cmd": "lss", "stdout": "", "stderr": "lss: not there", "exit_code": 127},
            {"cmd": "ls | wc -l", "stdout": "12\n", "exit_code": 0},
        ],
        "score": 0.9,
        "answer": SECRET,  # beside a judgement it may be the right one
    }
    run = one(tmp_path, record)
    assert shown(run) == ["!lss", "ls | wc -l"]
    assert (run.outcome, run.score, run.actions[0].said) == ("success", 90, "lss: not there")
    assert run.answer == "12"  # what the last command printed


def test_one_line_commands_with_a_judgement(tmp_path: Path) -> None:
    lines = [
        {"nl": "list all text files", "prediction": "find . -name '*.txt'", "gold": SECRET, "correct": True},
        {"nl": "show the kernel", "prediction": "uname -x", "gold": SECRET, "correct": False},
    ]
    path = written(tmp_path / "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    found = runs(path)
    assert [(run.command, run.outcome) for run in found] == [
        ("list all text files", "success"), ("show the kernel", "failed"),
    ]  # fmt: skip
    assert shown(found[0]) == ["find . -name '*.txt'"]


def test_the_right_actions_beside_those_that_were_done_are_not_taken(tmp_path: Path) -> None:
    right = [{"name": "cancel", "arguments": {"id": SECRET}}] * 3
    done = [{"action": "look", "observation": "a room"}]
    record = {"task": "find the way", "actions": right, "trajectory": done, "gold_actions": right}
    assert shown(one(tmp_path, record)) == ["look()"]


def test_an_answer_with_a_judgement_is_a_run_without_steps(tmp_path: Path) -> None:
    record = {"question": "Capital of France?", "prediction": "Lyon", "answer": SECRET, "is_correct": False}
    run = one(tmp_path, [record])
    assert (run.command, run.outcome, run.answer, run.actions) == ("Capital of France?", "failed", "Lyon", ())


# --- failed runs of several agents


def test_several_agents_of_which_one_runs_code(tmp_path: Path) -> None:
    record = {
        "is_correct": False,
        "question": "How many addresses are even-numbered?",
        "question_ID": "x-1",
        "level": "2",
        "ground_truth": SECRET,
        "history": [
            {"content": "You are given: How many ...", "role": "assistant", "name": "Excel_Expert"},
            {"content": "I compute.\n```python\nprint(4)\n```", "role": "assistant", "name": "Excel_Expert"},
            {"content": "exitcode: 1 (execution failed)\nCode output: NameError", "role": "user",
             "name": "Computer_terminal"},
            {"content": "The answer is 4. TERMINATE", "role": "user", "name": "Verifier"},
        ],
        "mistake_agent": "Excel_Expert",
        "mistake_step": "0",
        "mistake_reason": SECRET,
        "system_prompt": {"Excel_Expert": "## Your role\nExcel expert."},
    }  # fmt: skip
    run = one(tmp_path, record)
    assert (run.command, run.outcome, run.session) == (record["question"], "failed", "x-1")
    assert shown(run) == [
        "Excel_Expert(You are given: How many ...)", "!python(print(4))",
        "Verifier(The answer is 4. TERMINATE)",
    ]  # fmt: skip
    assert run.reason.startswith("exitcode: 1")
    assert "The answer is 4" in run.answer


def test_agents_that_are_told_by_their_roles(tmp_path: Path) -> None:
    record = {
        "is_corrected": False,
        "question": "What homework was assigned?",
        "groundtruth": SECRET,
        "history": [
            {"content": "Hi, I was out sick. What homework was assigned?", "role": "human"},
            {"content": "Initial plan: open the file", "role": "Orchestrator (thought)"},
            {"content": "Please open the file.", "role": "Orchestrator (-> FileSurfer)"},
            {"content": "Address: file:///x.mp3", "role": "FileSurfer"},
            {"content": "FINAL ANSWER: pages 5-7", "role": "Orchestrator (termination condition)"},
        ],
        "mistake_agent": "FileSurfer",
        "mistake_step": "3",
        "mistake_reason": SECRET,
    }
    run = one(tmp_path, record)
    assert run.outcome == "failed"
    assert shown(run)[1] == "FileSurfer(Address: file:///x.mp3)"
    assert run.answer == "pages 5-7"


# --- coding agents


def test_steps_with_action_observation_and_thought(tmp_path: Path) -> None:
    issue = (
        "We're currently solving the following issue within our repository. Here's the issue text:\nISSUE:\n"
        "TimeDelta serialization is wrong\n\n\nINSTRUCTIONS:\nNow, you're going to solve this issue."
    )
    record = {
        "environment": "swe_main",
        "trajectory": [
            {"action": "ls -F\n", "observation": "a.py\n", "thought": "Look around.",
             "response": "Look around.", "state": "{}"},
            {"action": "python a.py\n", "observation": "Traceback (most recent call last):\nTypeError: x",
             "thought": "Reproduce it.", "response": "Reproduce it."},
            {"action": "submit\n", "observation": "diff --git a/a.py", "thought": "Done."},
        ],
        "history": [
            {"role": "system", "content": "SETTING: You are a programmer."},
            {"role": "user", "content": "Here is a demonstration", "is_demo": True},
            {"role": "user", "content": issue},
        ],
        "info": {"exit_status": "submitted", "submission": "diff", "model_stats": {"api_calls": 3}},
    }  # fmt: skip
    run = one(tmp_path, record, "x.traj")
    assert run.command == "TimeDelta serialization is wrong"
    assert shown(run) == ["ls -F", "!python a.py", "submit()"]
    assert run.outcome == "unknown"  # it was handed in; nobody says that it is right
    stopped = one(tmp_path, record | {"info": {"exit_status": "exit_cost"}}, "y.traj")
    assert (stopped.outcome, stopped.reason) == ("stuck", "exit_cost")
    judged = one(tmp_path, record | {"info": {"exit_status": "submitted", "resolved": True}}, "z.traj")
    assert judged.outcome == "success"


@pytest.mark.parametrize("paired", [False, True])
def test_events_of_actions_and_observations(tmp_path: Path, paired: bool) -> None:
    events: list[Any] = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it"}, "message": "Fix it",
         "timestamp": "2025-01-01T10:00:00"},
        {"id": 1, "source": "agent", "action": "run", "message": "Running command: pytest",
         "args": {"command": "pytest -q", "thought": "Run the tests."}},
        {"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "1 failed",
         "extras": {"command": "pytest -q", "metadata": {"exit_code": 1}}},
        {"id": 3, "source": "agent", "action": "edit", "args": {"path": "/a.py", "thought": ""}},
        {"id": 4, "source": "agent", "cause": 3, "observation": "edit", "content": "edited", "extras": {}},
        {"id": 5, "source": "agent", "action": "finish", "args": {"outputs": {"content": "Fixed a.py."}}},
        {"id": 6, "source": "environment", "observation": "agent_state_changed", "content": "", "extras": {}},
    ]  # fmt: skip
    record = {
        "instance_id": "conan-io__conan-123",
        "instance": {
            "problem_statement": "Conan fails on empty files",
            "patch": SECRET,
            "test_patch": SECRET,
        },
        "history": [events[1:3], events[3:5], [events[5], events[6]]] if paired else events,
        "test_result": {"git_patch": "diff", "report": {"resolved": False}},
    }
    run = one(tmp_path, record)
    assert (run.command, run.outcome) == ("Conan fails on empty files", "failed")
    assert shown(run) == ["!pytest -q", "edit(/a.py)"]
    assert run.answer == "Fixed a.py."
    assert run.reason == "1 failed"


def test_events_of_one_run_as_lines(tmp_path: Path) -> None:
    lines = [
        {"action": "run", "args": {"command": "cat tests/test_urls.py"}, "message": "Let me look"},
        {"observation": "run", "content": "no such file", "extras": {"exit_code": 1}},
        {"action": "run", "args": {"command": "ls tests"}, "task": "Fix the URL resolver"},
        {"observation": "run", "content": "test_url.py", "extras": {"exit_code": 0}},
    ]
    path = written(tmp_path / "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    (run,) = runs(path)
    assert run.command == "Fix the URL resolver"
    assert shown(run) == ["!cat tests/test_urls.py", "ls tests"]


@pytest.mark.parametrize("form", ["chat", "sharegpt"])
def test_commands_in_the_text_of_messages(tmp_path: Path, form: str) -> None:
    told = [
        ("user", "<pr_description>\nDates are printed wrong\n</pr_description>\nMore rules follow."),
        ("assistant", "THOUGHT: look\n\n```bash\nls\n```"),
        ("user", "<returncode>0</returncode>\n<output>a.py</output>"),
        ("assistant", "Run it.\n```bash\npython a.py\n```"),
        ("user", "<returncode>1</returncode>\n<output>ValueError: day</output>"),
        ("assistant", "Nothing more to do."),
    ]
    if form == "chat":
        record: dict[str, Any] = {
            "instance_id": "x__y-1", "resolved": False, "exit_status": "Submitted",
            "messages": [{"role": role, "content": text} for role, text in told],
        }  # fmt: skip
    else:
        names = {"user": "human", "assistant": "gpt"}
        record = {
            "id": "x__y-1", "target": False, "eval_logs": SECRET,
            "conversations": [{"from": names[role], "value": text} for role, text in told],
        }  # fmt: skip
    run = one(tmp_path, record)
    assert (run.command, run.outcome) == ("Dates are printed wrong", "failed")
    assert shown(run) == ["ls", "!python a.py"]
    assert run.answer == "Nothing more to do."


def test_messages_with_calls_and_a_judgement_are_one_run(tmp_path: Path) -> None:
    record = {
        "messages": [
            {"role": "user", "content": "Book a flight to Seattle"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "k1", "function": {"name": "book", "arguments": '{"to": "SEA"}'}}]},
            {"role": "tool", "tool_call_id": "k1", "content": "Error: no seats"},
            {"role": "user", "content": "Then take the train"},
            {"role": "assistant", "content": "I booked the train at 9:40."},
        ],
        "reward_info": {"reward": 0.0, "nl_assertions": SECRET},
        "termination_reason": "agent_stop",
    }  # fmt: skip
    run = one(tmp_path, {"simulations": [record], "tasks": [{"evaluation_criteria": {"actions": [
        {"name": "cancel", "arguments": {"why": SECRET}}]}}]})  # fmt: skip
    assert (run.command, run.outcome, run.score) == ("Book a flight to Seattle", "failed", 0)
    assert shown(run) == ["!book(SEA)"]
    assert run.answer == "I booked the train at 9:40."


def test_calls_whose_results_tell_no_exit_code(tmp_path: Path) -> None:
    def step(name: str, arguments: dict[str, str], result: str) -> list[dict[str, Any]]:
        call = {"id": name, "function": {"name": name, "arguments": json.dumps(arguments)}}
        return [
            {"role": "assistant", "content": f"I use {name}.", "action": name, "tool_calls": [call]},
            {"role": "tool", "content": result, "tool_call_ids": [name]},
        ]

    history = [
        {"role": "user", "content": "Here's the issue text:\nISSUE:\nInvalid syntax\n\nINSTRUCTIONS:\nNow"},
        *step("find_file", {"file_name": "x"}, "Found 1 match"),
        *step("bash", {"command": "python x"}, "Traceback (most recent call last):\nSyntaxError: bad"),
    ]
    run = one(tmp_path, {"history": history}, "x.traj")
    assert run.command == "Invalid syntax"
    assert shown(run) == ["find_file(x)", "!python x"]
    assert (run.outcome, run.answer) == ("unknown", "")


def test_a_list_kept_as_json_in_a_text(tmp_path: Path) -> None:
    steps = json.dumps([{"tool": "print", "input": {"what": "it"}, "output": "Error: no printer"}])
    run = one(tmp_path, {"prompt": "Print the page", "steps": steps, "mistake_step": 0})
    assert (run.command, shown(run), run.outcome) == ("Print the page", ["!print(it)"], "failed")
    assert run.reason == "Error: no printer"


def test_anthropic_blocks_with_a_judgement(tmp_path: Path) -> None:
    record = {
        "task": "Book a flight to Seattle",
        "success": True,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Book a flight to Seattle"}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "book", "input": {"to": "SEA"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "booked"}]},
        ],
    }  # fmt: skip
    run = one(tmp_path, record)
    assert (run.outcome, shown(run)) == ("success", ["book(SEA)"])


@pytest.mark.parametrize(
    "step",
    [
        {"tool": "search", "input": {"q": "cats"}, "output": "3 hits"},
        {"tool_name": "search", "tool_input": '{"q": "cats"}', "observation": "3 hits"},
        {"action": "search", "action_input": {"q": "cats"}, "observation": "3 hits"},
        {"tool_call": {"name": "search", "parameters": {"q": "cats"}}, "tool_result": {"output": "3 hits"}},
        {"action": {"name": "search", "arguments": {"q": "cats"}}, "result": "3 hits"},
        {"name": "search", "arguments": {"q": "cats"}, "result": "3 hits", "success": True},
        {"type": "tool_call", "data": {"toolName": "search", "arguments": {"q": "cats"}}},
    ],
)
def test_a_step_under_the_usual_names(tmp_path: Path, step: dict[str, Any]) -> None:
    run = one(tmp_path, {"goal": "find cats", "steps": [step], "outcome": {"success": True}})
    assert (run.command, run.outcome, shown(run)) == ("find cats", "success", ["search(cats)"])


@pytest.mark.parametrize(
    ("said", "outcome", "score"),
    [
        ({"success": True}, "success", None),
        ({"success": "false"}, "failed", None),
        ({"is_correct": False, "score": 0.4}, "failed", 40),
        ({"resolved": 1}, "success", None),
        ({"reward": 1.0}, "success", 100),
        ({"reward": 0.5}, "failed", 50),
        ({"score": 85}, "success", 85),
        ({"result": {"score": "0.2"}}, "failed", 20),
        ({"status": "failed", "error": "no network"}, "failed", None),
        ({"status": "timeout"}, "stuck", None),
        ({"outcome": "cancelled"}, "cancelled", None),
        ({"status": "completed"}, "unknown", None),
        ({"finish_reason": "stop"}, "unknown", None),
        ({"ground_truth": "true", "label": 1}, "unknown", None),
        ({}, "unknown", None),
    ],
)
def test_an_outcome_is_what_the_record_says(
    tmp_path: Path, said: dict[str, Any], outcome: str, score: int | None
) -> None:
    run = one(tmp_path, {"task": "find cats", "steps": [{"tool": "search", "input": "cats"}], **said})
    assert (run.outcome, run.score) == (outcome, score)
    assert run.reason == said.get("error", said.get("status", "") if outcome == "stuck" else "")


def test_several_calls_in_a_step_and_a_name_for_a_task(tmp_path: Path) -> None:
    record = {
        "agent_name": "coder",
        "task": "17",
        "question": "Which capital?",
        "true_answer": SECRET,
        "prediction": "Lyon",
        "intermediate_steps": [
            {"step": 1, "tool_calls": [{"name": "search", "arguments": {"q": "capital"}},
                                       {"name": "visit", "arguments": {"url": "x"}}],
             "observations": "Error: 403"},
            {"step": 2, "tool_calls": [{"name": "final_answer", "arguments": {"answer": "Lyon"}}]},
        ],
    }  # fmt: skip
    run = one(tmp_path, [record])
    assert (run.command, run.host, run.answer) == ("Which capital?", "coder", "Lyon")
    assert shown(run) == ["search(capital)", "!visit(x)"]


def test_pairs_of_a_call_and_its_result(tmp_path: Path) -> None:
    steps = [[{"tool": "weather", "tool_input": {"city": "Oslo"}, "log": "Invoking"}, "Sunny"]]
    run = one(tmp_path, {"input": "What is the weather?", "output": "Sunny.", "intermediate_steps": steps})
    assert (shown(run), run.answer, run.outcome) == (["weather(Oslo)"], "Sunny.", "unknown")


def test_a_run_one_level_down(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "You act like a person. Now, my problem is:\n\ncount the logs"},
        {"role": "agent", "content": "Think: count\n\nAct: bash\n\n```bash\nls /var/log | wc -l\n```"},
        {"role": "user", "content": "The output of the OS:\n\n12"},
        {"role": "agent", "content": "Think: done\n\nAct: answer(12)"},
    ]
    output = {"index": 3, "status": "completed", "result": {"result": True}, "history": history}
    run = one(tmp_path, json.dumps({"index": 3, "error": None, "output": output}), "runs.jsonl")
    assert (run.command, run.outcome, run.session) == ("count the logs", "success", "3")
    assert (shown(run), run.answer) == (["ls /var/log | wc -l"], "12")


def test_steps_without_a_task_are_named(tmp_path: Path) -> None:
    lines = [{"step_num": at, "action": "pyautogui.click(640,60)", "reward": 0} for at in (1, 2)]
    log = Log(written(tmp_path / "a.jsonl", "".join(json.dumps(line) + "\n" for line in lines)))
    assert list(runs_of_records(log)) == []
    assert log.problems[0].startswith("a.jsonl:1: steps without a task")


# --- text


REACT = """\
Question: Which magazine was started first?
Thought 1: I need to search Arthur's Magazine.
Action 1: Search[Arthur's Magazine]
Observation 1: Arthur's Magazine (1844-1846) was an American periodical.
Thought 2: Next, the other one.
Action 2: Search[First for Women]
Observation 2: Could not find First for Women.
Action 3: Finish[Arthur's Magazine]

Question: Who wrote it?
Thought: I should look.
Action: lookup
Action Input: {"name": "Edgar"}
Observation: Error: no such page
Thought: I now know the final answer
Final Answer: Edgar Allan Poe,
in 1844.
"""


def test_react_text(tmp_path: Path) -> None:
    first, second = runs(written(tmp_path / "react.txt", REACT))
    assert first.command == "Which magazine was started first?"
    assert shown(first) == ["Search(Arthur's Magazine)", "Search(First for Women)"]
    assert (first.answer, first.outcome) == ("Arthur's Magazine", "unknown")
    assert (second.command, shown(second)) == ("Who wrote it?", ["!lookup(Edgar)"])
    assert second.answer == "Edgar Allan Poe, in 1844."


def test_a_game_with_its_replies(tmp_path: Path) -> None:
    text = """\
#####################################

Environment #0:
You are in the middle of a room. Looking quickly around you, you see a cabinet 1.
Your task is to: put some spraybottle on toilet.
> think: I need to find a spraybottle.
OK.
> go to cabinet 1
On the cabinet 1, you see a cloth 1.
> take spraybottle 1 from cabinet 1
Nothing happens.
STATUS: FAIL

#####################################

Environment #1:
You are in the middle of a room.
Your task is to: clean some mug.
> go to sinkbasin 1
You see a mug 1.

STATUS: OK
"""
    first, second = runs(written(tmp_path / "trial_0.log", text))
    assert (first.command, first.outcome) == ("put some spraybottle on toilet.", "failed")
    assert shown(first) == ["go(to cabinet 1)", "!take(spraybottle 1 from cabinet 1)"]
    assert first.reason == "Nothing happens."
    assert (second.command, second.outcome) == ("clean some mug.", "success")


def test_bash_episodes_as_text(tmp_path: Path) -> None:
    text = """\
Task: count the files in src

$ ls src | wc -l
Task: this line is what a file says
12
exit code: 0
$ lss src
bash: lss: command not found
[exit code: 127]
$ cat missing
cat: missing: No such file or directory
Score: 0.4

Task: show the date
$ date
Mon
Score: 1.0
"""
    first, second = runs(written(tmp_path / "episodes.txt", text))
    assert first.command == "count the files in src"
    assert shown(first) == ["ls src | wc -l", "!lss src", "!cat missing"]
    assert (first.outcome, first.score) == ("failed", 40)
    assert (second.command, second.outcome, second.score) == ("show the date", "success", 100)


def test_react_text_inside_a_record(tmp_path: Path) -> None:
    run = one(tmp_path, {"trajectory": REACT.split("\n\n")[0], "is_correct": True, "answer": SECRET})
    assert (run.command, run.outcome) == ("Which magazine was started first?", "success")
    assert (len(run.actions), run.answer) == (2, "Arthur's Magazine")


@pytest.mark.parametrize(
    "text",
    [
        "Dear Bob,\n\n> you wrote this\n\nI agree.\n",
        "Install it:\n\n$ pip install x\n",
        "Question: is this a log?\nAnswer: no\n",
        "# Notes\n\n- Action: call the bank\n",
    ],
)
def test_any_other_text_is_no_log(tmp_path: Path, text: str) -> None:
    assert sniff(written(tmp_path / "a.txt", text)) == ""


# --- the same run once, and damage


def test_a_copy_has_the_same_runs(tmp_path: Path) -> None:
    first = runs(written(tmp_path / "a.json", {"0": BASH}))
    again = runs(written(tmp_path / "b.jsonl", json.dumps(BASH) + "\n" + json.dumps({**BASH, "task_id": 9})))
    assert [run.run for run in first] == [again[0].run] != [again[1].run]


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", json.dumps(BASH) + '\n{"theme": "dark"}\n{broken\n')
    log = Log(path)
    assert len(list(runs_of_records(log))) == 1
    assert [problem.split(": ")[0] for problem in log.problems] == ["a.jsonl:2", "a.jsonl:3"]


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ("open_application(Chrome)", ("open_application", {"application": "Chrome"})),
        ('press_key("n", command: true)', ("press_key", {"key": "n", "command": "true"})),
        ("click(640, 60)", ("click", {"target": "640, 60"})),
        ("click(id=3)", ("click", {"id": "3"})),
        ("open[https://x.org/a, b]", ("open", {"input": "https://x.org/a, b"})),
        ("search[Dune: Part Two]", ("search", {"input": "Dune: Part Two"})),
        ("search[cats, dogs]", ("search", {"input": "cats, dogs"})),
        ('{"name": "search", "arguments": {"q": "x"}}', ("search", {"q": "x"})),
        ("go to cabinet 1", ("go", {"input": "to cabinet 1"})),
        ("look", ("look", {})),
    ],
)
def test_a_call_from_its_text(action: str, call: tuple[str, dict[str, str]]) -> None:
    assert call_of(action) == call
