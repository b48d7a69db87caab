"""What a record says of its run beside the steps: the task, how it ended, why, and the answer.

Pure. Only the names below are looked at, so the right answers and the labels that a benchmark keeps beside
its runs never enter one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from hindbrain.context.capture.transcripts.blocks import mapping, texts
from hindbrain.learn.importing.logs import Record
from hindbrain.learn.importing.outcomes import first_line
from hindbrain.learn.importing.prompts import command_of
from hindbrain.learn.importing.steps import SHELL, Course, Step, failed
from hindbrain.learn.runs.episode import GOOD_SCORE
from hindbrain.learn.runs.events import End
from hindbrain.learn.runs.gist import last_telling

_LONGEST_PROMPT = 20_000  # characters in which a task is looked for
_COMMANDS = (
    "command", "task", "instruction", "question", "query", "goal", "objective", "problem_statement", "intent",
    "task_description", "task_instruction", "user_request", "request", "issue", "nl", "prompt", "input",
)  # fmt: skip
_ABOUT = ("task", "instance", "sample", "input", "item", "stimulus", "data")
_ENDINGS = (
    "result", "results", "summary", "info", "outcome", "metrics", "report", "evaluation", "test_result",
    "reward_info", "final", "verdict", "score", "metadata",
)  # fmt: skip
_YES_OR_NO = (
    "resolved", "is_resolved", "success", "is_success", "successful", "succeeded", "task_success",
    "is_correct", "is_corrected", "correct", "passed", "pass", "solved", "won", "goal_achieved", "target",
)  # fmt: skip
_BLAMED = ("mistake_step", "mistake_agent")  # who marked a mistake in a run knows that it failed
_REWARDS = ("reward", "final_reward", "max_reward", "total_reward", "final reward")
_SCORES = ("score", "final_score", "grade")
_WORDS = ("outcome", "status", "final_status", "result", "verdict")
_STOPS = ("exit_status", "termination_reason", "termination", "stop_reason", "finish_reason", "exit_reason")
_GOOD = frozenset((
    "success", "succeeded", "successful", "passed", "pass", "ok", "solved", "resolved", "correct", "won",
    "true", "yes",
))  # fmt: skip
_BAD = frozenset((
    "fail", "failed", "failure", "incorrect", "unresolved", "unsolved", "wrong", "lost", "false", "no",
    "error", "errored", "exit_error", "crashed",
))  # fmt: skip
_STUCK = re.compile(
    r"(?i)stuck|limit|max_?(?:turn|step|iter|round)|time_?d?_?out|exit_(?:cost|context)|too_many"
)
_CANCELLED = re.compile(r"(?i)cancel|abort|interrupt|stopped_by")
_DONE = frozenset(("complete", "completed", "done", "finished"))
_REASONS = (
    "reason", "failure_reason", "fail_reason", "error", "error_message", "exception", "feedback",
    "reflection",
)  # fmt: skip
_JUDGED = (
    "ground_truth",
    "groundtruth",
    "gold",
    "expected",
    "is_correct",
    "correct",
    "mistake_step",
    "em",
    "f1",
)
# A task inside the words that wrap it: what an agent was told besides is not what it was asked.
_WRAPPED = re.compile(
    r"<(issue_description|pr_description|issue|task|task_description|problem_statement|question)>\s*(.*?)\s*</\1>"
    r"|(?:^|\n)(?:ISSUE|TASK|PROBLEM|QUESTION):[ \t]*\n?(.*?)(?=\n\s*\n|\nINSTRUCTIONS|\Z)"
    r"|(?i:your task is to|my problem is):\s*([^\n]+)",
    re.DOTALL,
)
ANSWERS = (
    "final_answer", "prediction", "predicted_answer", "model_answer", "agent_answer", "final_response",
    "final_output", "response", "output", "completion",
)  # fmt: skip


def command_in(record: Record) -> str:
    levels = (record, *(mapping(record.get(key)) for key in _ABOUT))
    found = [
        value.strip() for level in levels for key in _COMMANDS if isinstance(value := level.get(key), str)
    ]
    # One word is a task's name more often than a task.
    best = next((value for value in found if " " in value), "")
    return task_in(best or next((value for value in found if any(map(str.isalpha, value))), ""))


def task_in(text: str) -> str:
    """The task in a prompt, in one line."""
    if not text.strip():
        return ""
    text = text[:_LONGEST_PROMPT]
    found = _WRAPPED.search(text)
    inner = next((part for part in (found[2], found[3], found[4]) if part), "") if found else ""
    return command_of(inner or text) or first_line(inner or text)


def _levels(record: Record) -> Iterator[Record]:
    """The record and what it holds about its end, two levels down."""
    yield record
    for key in _ENDINGS:
        inner = mapping(record.get(key))
        if inner:
            yield inner
            yield from (deeper for name in _ENDINGS if (deeper := mapping(inner.get(name))))


def judged(record: Record) -> tuple[End, int | None]:
    """How it ended, and its score of 100."""
    levels = list(_levels(record))
    reward, score = _number(levels, _REWARDS), _number(levels, _SCORES)
    told = next((value for value in (reward, score) if value is not None), None)
    hundred = None if told is None else round(max(0.0, min(100.0, told if told > 1 else 100 * told)))
    flags = chain(
        (_yes(level.get(key)) for level in levels for key in _YES_OR_NO),
        (level["result"] for level in levels if isinstance(level.get("result"), bool)),
    )
    said = next((flag for flag in flags if flag is not None), None)
    if said is not None:
        return ("complete" if said else "fail"), hundred
    if reward is not None:  # anything but all of it is a task that was not done
        return ("complete" if hundred == 100 else "fail"), hundred
    if (end := _worded(levels)) is not None:
        return end, hundred
    if hundred is not None:
        return ("complete" if hundred >= GOOD_SCORE else "fail"), hundred
    return ("fail" if any(key in record for key in _BLAMED) else "unknown"), None


def _yes(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return value == 1
    word = texts(value).strip().casefold()
    return True if word in ("true", "yes", "1") else False if word in ("false", "no", "0") else None


def _number(levels: Sequence[Record], keys: Sequence[str]) -> float | None:
    for level in levels:
        for key in keys:
            value = level.get(key)
            if isinstance(value, str):
                try:
                    value = float(value.partition("/")[0].strip().rstrip("%"))
                except ValueError:
                    continue
            if isinstance(value, int | float) and not isinstance(value, bool) and -1e6 < value <= 100:
                return float(value)
    return None


def _worded(levels: Sequence[Record]) -> End | None:
    for level in levels:
        for key in (*_WORDS, *_STOPS):
            word = texts(level.get(key)).strip().casefold()
            if not word or len(word) > 60:
                continue
            if word in _GOOD and key in _WORDS:
                return "complete"
            if word in _DONE and key == "outcome":  # elsewhere it may only mean that it is over
                return "complete"
            if word in _BAD:
                return "fail"
            if _STUCK.search(word):
                return "stuck"
            if _CANCELLED.search(word):
                return "cancelled"
    return None


def reason_of(record: Record, end: End, steps: Sequence[Step]) -> str:
    if end in ("complete", "unknown"):
        return ""
    for level in _levels(record):
        for key in (*_REASONS, *_STOPS, *(("status",) if end == "stuck" else ())):
            if told := first_line(texts(level.get(key))):
                return told
    broken = [step for step in steps if failed(step) and step.result]
    return first_line(broken[-1].result) if broken else ""


def answer_of(record: Record, course: Course, end: End) -> str:
    """The agent's own: a field `answer` beside a judgement is the right one, and not taken."""
    keys = (*ANSWERS, *(() if any(key in record for key in _JUDGED) else ("answer",)))
    told = next((text for key in keys if (text := texts(record.get(key)).strip())), "")
    told = course.answer or told or last_telling(course.said)
    last = course.steps[-1] if course.steps else None
    if told or end != "complete" or last is None or last.tool not in (SHELL, "submit") or failed(last):
        return told
    return last.result.strip()  # of an agent that only runs commands: what the last one printed
