"""Text logs: `Thought:`, `Action:` and `Observation:`, or a prompt with what was typed and what came back.

Pure: lines in, a course out.
"""

from __future__ import annotations

import re

from hindbrain.context.capture.tool_calls import runs_command
from hindbrain.learn.importing.steps import (
    LAST_DEEDS,
    NO_DEEDS,
    Course,
    Step,
    arguments_of,
    call_of,
    exit_said,
    unquoted,
)
from hindbrain.learn.runs.journal import text_of

_LABEL = re.compile(
    r"(?i)\s{0,3}\**(thought|think|action input|action|act|observation|obs|final answer|answer|question|task"
    r"|query|goal|instruction|status|score|reward|final reward|success|outcome|result|reason|error"
    r"|exit ?code)\**[ \t]*#?\d{0,4}\**[ \t]*:\**[ \t]*(.*)"
)
_ASKED = frozenset(("question", "task", "query", "goal", "instruction"))
FIELDS = frozenset((
    "status", "score", "reward", "final reward", "success", "outcome", "result", "reason", "error",
))  # fmt: skip
_PROMPT = re.compile(r"(?:[\w.-]{1,40}@[\w.-]{1,60}:\S{0,100})?([>$]) (\S.*)")
_TASK_IS = re.compile(r"(?i)your task is to:?\s*(\S.*)")


def course_of_text(text: str, *, shell: bool = False) -> Course:
    """`Thought:`, `Action:` and `Observation:`; or a prompt with what was typed, and what came back."""
    reading = TextReading(shell=shell)
    for line in text.splitlines():
        reading.take(line)
    return reading.course()


def tells_actions(text: str) -> bool:
    """Is it a log of actions, and not any text?"""
    found = course_of_text(text)
    return bool(found.steps) and (bool(found.asked) or len(found.steps) > 1)


class TextReading:
    """A text that is being read, line by line."""

    def __init__(self, *, shell: bool = False) -> None:
        self._shell = shell
        self._asked: list[str] = []
        self._steps: list[Step] = []
        self._said: list[str] = []
        self._answer: list[str] = []
        self._fields: dict[str, str] = {}
        self._result: list[str] = []
        self._state = ""  # which of them the next plain line belongs to
        self._after_blank = True

    @property
    def is_begun(self) -> bool:
        return bool(self._steps or self._answer)

    def take(self, line: str) -> None:
        if prompt := _PROMPT.fullmatch(line.rstrip()):
            self._typed(prompt[1], prompt[2].strip())
        elif (labelled := _LABEL.fullmatch(line.rstrip())) and not self._is_output(labelled[1].casefold()):
            self._labelled(labelled[1].casefold(), labelled[2].strip())
        elif task := _TASK_IS.search(line):
            self._asked = [task[1].strip()]
        elif self._state == "result":
            if self._result or line.strip():
                self._result.append(line.rstrip())
        elif line.strip() and self._state in ("asked", "said", "answer"):
            {"asked": self._asked, "said": self._said, "answer": self._answer}[self._state].append(
                line.strip()
            )
        elif line.strip() and self._state == "input":
            self._add_input(line.rstrip())
        self._after_blank = not line.strip()

    def _is_output(self, label: str) -> bool:
        """Does a line with a label belong to what a command printed?"""
        return self._state == "result" and label in _ASKED and not self._after_blank

    def _typed(self, mark: str, typed: str) -> None:
        if typed.casefold().startswith(("think:", "entering new", "finished chain")):
            self._close()
            self._state = ""
            return
        self._do(typed, shell=self._shell or mark == "$")
        self._state = "result"

    def _labelled(self, label: str, value: str) -> None:
        if label.replace(" ", "") == "exitcode":
            if value.split()[:1] and value.split()[0].lstrip("-").isdigit() and self._steps:
                self._close()
                self._steps[-1] = self._steps[-1]._replace(ok=int(value.split()[0]) == 0)
            self._state = ""
        elif label in FIELDS and not (label == "error" and self._state == "result"):
            self._close()
            self._fields[label], self._state = value, ""
        elif label == "error":
            self._result.append(f"Error: {value}")
        elif label in ("action", "act"):
            self._do(value, shell=self._shell)
            self._state = "input"
        elif label == "action input":
            self._add_input(value)
            self._state = "input"
        elif label in ("observation", "obs"):
            self._result, self._state = [value] if value else [], "result"
        else:
            self._close()
            lists = {
                "thought": self._said,
                "think": self._said,
                "final answer": self._answer,
                "answer": self._answer,
            }
            if label in _ASKED:
                self._asked = []
            lists.get(label, self._asked).extend([value] if value else [])
            self._state = {
                "thought": "said",
                "think": "said",
                "final answer": "answer",
                "answer": "answer",
            }.get(label, "asked")

    def _do(self, action: str, *, shell: bool) -> None:
        self._close()
        self._fields.clear()  # what was told before the end is no more than output
        tool, arguments = call_of(action, shell=shell) if action else ("", {})
        if tool.casefold() in ("finish", "answer", "final_answer"):
            self._answer = [text_of(value) for value in arguments.values()]
        elif tool and tool.casefold() not in NO_DEEDS:
            self._steps.append(Step(tool, arguments))
            if tool.casefold() not in LAST_DEEDS:
                self._said.clear()

    def _add_input(self, value: str) -> None:
        if not value or not self._steps or value.startswith("```"):
            return
        step = self._steps[-1]
        before = step.arguments.get("input")
        told = arguments_of(f"{before}\n{value}" if before else value)
        if told.keys() == {"input"}:
            told = {"input": unquoted(str(told["input"]))}
        key = "command" if runs_command(step.tool) and told.keys() == {"input"} else ""
        self._steps[-1] = step._replace(arguments={key: told["input"]} if key else told)

    def _close(self) -> None:
        """The last step has its result."""
        result = "\n".join(self._result).strip()
        if self._result and self._steps:
            ok = self._steps[-1].ok if self._steps[-1].ok is not None else exit_said(result)
            self._steps[-1] = self._steps[-1]._replace(result=result, ok=ok)
        self._result = []

    def course(self) -> Course:
        self._close()
        steps = tuple(step for step in self._steps if step.tool.casefold() not in NO_DEEDS)
        return Course(
            " ".join(self._asked),
            steps,
            tuple(self._said),
            " ".join(self._answer).strip(),
            dict(self._fields),
        )
