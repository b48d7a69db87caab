"""`hindbrain task`: add, list and change the tasks that agents and their owner share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, GREEN, RED, YELLOW, Output, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.memory.tasks.tasks import TaskItem, Tasks

# What a person types, and the status it gives.
_CHANGES = {
    "done": "done",
    "start": "in_progress",
    "block": "blocked",
    "cancel": "cancelled",
    "reopen": "todo",
}
_ACTIONS = ("list", "add", *_CHANGES)
_OPTIONS_OF = {"list": ("status", "project"), "add": ("details", "priority", "project")}
_BOX = {"todo": "[ ]", "in_progress": "[/]", "blocked": "[ ]", "done": "[x]", "cancelled": "[-]"}
_COLOUR = {"in_progress": YELLOW, "blocked": RED, "done": GREEN}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", default="list", choices=_ACTIONS, help="what to do; else list")
    parser.add_argument(
        "words", nargs="*", metavar="TITLE", help="of a new task; title or id of one that is there"
    )
    parser.add_argument("--details", help="add: what is to be done, in detail")
    parser.add_argument("--priority", choices=("high", "medium", "low"), help="add: medium unless given")
    parser.add_argument("--project", metavar="NAME", help="add, list: a tag")
    parser.add_argument(
        "--status",
        choices=("all", "todo", "in_progress", "blocked", "done", "cancelled"),
        help="list: only these; else all that are open",
    )
    parser.add_argument(
        "--note", metavar="TEXT", help="done, start, block, cancel, reopen: a line below the task"
    )


def run(args: Namespace, out: Output) -> int:
    _check(args)
    with closing(open_app(args)) as app:
        tasks = app.memory.tasks
        if args.action == "list":
            listed = tasks.list(status=args.status or "", project=args.project or "")
            _show_all(listed, args, out, app.clock.today().isoformat())
        else:
            task, is_new = _change(tasks, args, "agent" if app.started_by() else "")
            _show_one(task, args, out, app.clock.today().isoformat(), existed=not is_new)
    return 0


def _check(args: Namespace) -> None:
    """argparse can't say that an option goes with one action only."""
    allowed = _OPTIONS_OF.get(args.action, ("note",))
    for name in ("details", "priority", "project", "status", "note"):
        if getattr(args, name) is not None and name not in allowed:
            raise UsageError(f"hindbrain task {args.action} takes no --{name}; see hindbrain task --help")
    if args.action == "list" and args.words:
        raise UsageError(f"hindbrain task list takes no {args.words[0]!r}; see hindbrain task --help")
    if args.action != "list" and not args.words:
        what = "a title" if args.action == "add" else "the title or the id of a task"
        raise UsageError(f"hindbrain task {args.action} needs {what}")


def _change(tasks: Tasks, args: Namespace, source: str) -> tuple[TaskItem, bool]:
    """The task, and whether something was made or changed."""
    name = " ".join(args.words)
    if args.action == "add":
        return tasks.create(
            name, details=args.details or "", priority=args.priority or "medium", project=args.project or "",
            source=source,
        )  # fmt: skip
    return tasks.update(name, status=_CHANGES[args.action], notes=args.note or ""), True


def _show_one(task: TaskItem, args: Namespace, out: Output, today: str, *, existed: bool) -> None:
    if out.json:
        out.data(
            {
                "action": args.action,
                "existed": existed,
                "tasks": [_data(task)],
                "removed": list(task.removed),
            }
        )
        return
    out.line(_line(task, out, today))
    if task.removed:
        out.warn(f"stored without what is secret, since notes keep none: {', '.join(task.removed)}")
    already = "is open already, nothing was added: " if existed else ""
    out.say(f"{already}in {safe(task.path)}, line {task.line}")


def _show_all(tasks: Sequence[TaskItem], args: Namespace, out: Output, today: str) -> None:
    if out.json:
        listed = [_data(task) for task in tasks]
        out.data({"action": args.action, "existed": False, "tasks": listed, "removed": []})
        return
    for task in tasks:
        out.line(_line(task, out, today))
    if not tasks:
        what = f"{args.status} tasks" if args.status not in (None, "all") else "tasks"
        out.say(f"no {what}" + (f" of {safe(args.project)!r}" if args.project else ""))


def _line(task: TaskItem, out: Output, today: str) -> str:
    box = out.paint(_BOX[task.status], _COLOUR.get(task.status, BOLD))
    about = [task.priority] if task.priority != "medium" else []
    about += [f"#{task.project}"] if task.project else []
    about += [f"due {task.due}"] if task.due else []
    about += [f"done {task.completed}"] if task.completed else []
    about += [f"^{task.id}" if task.id else f"line {task.line}"]
    title = out.paint(safe(task.title), BOLD) if task.priority == "high" else safe(task.title)
    if task.status == "blocked":  # the box is empty, as it is in the note
        title += out.paint(" (blocked)", RED)
    if task.due and task.due < today and task.status not in ("done", "cancelled"):
        title += out.paint(" (overdue)", RED)
    return f"{box} {title}  {out.paint(safe(' '.join(about)), DIM)}"


def _data(task: TaskItem) -> dict[str, Any]:
    return {key: value for key, value in task._asdict().items() if key != "removed"}
