"""`task_*`: the tasks that outlive a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.memory.tools.recall_tools import CLAIMS
from hindbrain.memory.tools.tool import Arguments, Param, Tool, ToolResult

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

STATUSES = ("todo", "in_progress", "blocked", "done", "cancelled")
PRIORITIES = ("high", "medium", "low")


def _create(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.task_answers import task_answer

    created = memory.tasks.create(
        args["title"],
        details=args.get("details", ""),
        priority=args.get("priority", "medium"),
        project=args.get("project", ""),
        source=args.get("source", "agent"),
    )
    if created.is_new:
        return task_answer("created", created.task)
    return task_answer(
        "exists", created.task, hint="Open already, so nothing was added; task_update adds notes."
    )


def _update(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.task_answers import task_answer

    return task_answer(
        "updated",
        memory.tasks.update(
            args["title"],
            status=args["status"],
            notes=args.get("notes", ""),
            source=args.get("source", "agent"),
        ),
    )


def _list(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.task_answers import tasks_answer

    status = args.get("status", "")
    return tasks_answer(status, memory.tasks.list(status=status, project=args.get("project", "")))


TASK_TOOLS: tuple[Tool, ...] = (
    Tool(
        "task_create",
        "Add a task that must outlive this session.",
        (
            Param("title", "string", "", required=True),
            Param("details", "string", ""),
            Param("priority", "string", "", choices=PRIORITIES),
            Param("project", "string", ""),
            Param("source", "string", "", choices=CLAIMS, declared=False),
        ),
        "add",
        _create,
    ),
    Tool(
        "task_update",
        "Change a task's status when work on it begins, stops or ends.",
        (
            Param("title", "string", "Title or ^id", required=True),
            Param("status", "string", "", required=True, choices=STATUSES),
            Param("notes", "string", "Added below the task"),
            Param("source", "string", "", choices=CLAIMS, declared=False),
        ),
        "change",
        _update,
    ),
    Tool(
        "task_list",
        "List tasks; look at the start of a session.",
        (
            Param("status", "string", "Default: all that are open", choices=("all", *STATUSES)),
            Param("project", "string", ""),
        ),
        "read",
        _list,
    ),
)
