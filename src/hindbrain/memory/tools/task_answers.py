"""Tasks as answers: one line each, with the citation that also names the task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.memory.tools.note_answers import MOST_CHARS
from hindbrain.memory.tools.tool import ToolResult

if TYPE_CHECKING:
    from hindbrain.memory.tasks.task_line import TaskItem

_MOST_OF_ONE = 300  # characters of a task's details


def task_answer(deed: str, task: TaskItem, *, hint: str = "") -> ToolResult:
    """What a change made of a task."""
    lines = [f"Task {deed}: {_line(task)}", *([hint] if hint else [])]
    if task.removed:
        lines.append(f"Stored without what is secret, since notes keep none: {', '.join(task.removed)}.")
    return ToolResult("\n".join(lines), {"task": _data(task), "removed": list(task.removed)})


def tasks_answer(status: str, tasks: Sequence[TaskItem]) -> ToolResult:
    kind = "open" if not status else "" if status == "all" else status
    what = f"{kind} task".strip()
    head = f"{plural(len(tasks), what)}:" if tasks else f"No {what}s."
    return ToolResult("\n".join([head, *_listed(tasks)]), {"tasks": [_data(task) for task in tasks]})


def _listed(tasks: Sequence[TaskItem]) -> Iterator[str]:
    left = MOST_CHARS
    for number, task in enumerate(tasks):
        lines = [f"- {_line(task)}", *_details(task)]
        left -= sum(map(len, lines)) + len(lines)
        if left < 0:
            yield f"… {len(tasks) - number} more left out; ask for one status or project"
            return
        yield from lines


def _line(task: TaskItem) -> str:
    said = [
        task.status,
        task.priority if task.priority != "medium" else "",
        f"#{task.project}" if task.project else "",
        f"due {task.due}" if task.due else "",
    ]
    return f"{task.title} ({', '.join(filter(None, said))}) {task.citation}"


def _details(task: TaskItem) -> list[str]:
    text = task.details.strip("\n")
    if len(text) > _MOST_OF_ONE:
        text = f"{text[:_MOST_OF_ONE]}…"
    return [f"    {line.strip()}" for line in text.split("\n") if line.strip()]


def _data(task: TaskItem) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "status": task.status,
        "priority": task.priority,
        "project": task.project,
        "details": task.details,
        "line": task.line,
        "citation": task.citation,
        **({"source": task.source} if task.source else {}),
    }
