"""The tasks of a vault: made, changed and listed, in the note that plays the role `tasks`.

Each change is made on what the note holds at that moment, so that others may write beside it.
Knows nothing of tools and commands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from hindbrain.base.errors import UsageError
from hindbrain.memory.daily.daily import local_time
from hindbrain.memory.items.item import new_id
from hindbrain.memory.tasks.task_line import (
    OPEN,
    PRIORITIES,
    STATUSES,
    TaskItem,
    clean_title,
    project_tag,
)
from hindbrain.memory.tasks.task_names import find_task
from hindbrain.memory.tasks.task_note import TaskLines, read_tasks, with_change, with_new_task
from hindbrain.vault.origin import SOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.base.clock import Clock
    from hindbrain.memory.notes.notebook import Notebook, Page
    from hindbrain.vault.layout import Layout

__all__ = ["PRIORITIES", "STATUSES", "TaskItem", "Tasks"]

TaskList: TypeAlias = list[TaskItem]  # a method is called `list`
_MAX_DETAILS = 50_000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
# What would begin a list item, a check box, a quote, code or a heading.
_STRUCTURE = re.compile(r"[-*+#>`~|=\[]|[0-9]{1,9}(?=[.)](?:\s|$))")


class Tasks:
    def __init__(self, notebook: Notebook, layout: Layout, clock: Clock) -> None:
        self._notebook = notebook
        self._layout = layout
        self._clock = clock

    @property
    def path(self) -> str:
        return self._layout.path("tasks")

    def create(
        self, title: str, *, details: str = "", priority: str = "medium", project: str = "", source: str = ""
    ) -> TaskItem:
        """Add a task; durable when this returns. UsageError for a title or a priority that is none.

        `source`: whose word it is, where that is not the owner's.
        """
        task = TaskItem(
            id="",
            title=clean_title(title),
            priority=_one_of("priority", priority or "medium", PRIORITIES),
            project=project_tag(project),
            path=self.path,
            source=_one_of("source", source, SOURCES) if source else "",
        )
        below = _detail_lines(details)
        made = task

        def change(page: Page | None) -> bytes:
            nonlocal made
            data = self._first_text() if page is None else page.data
            data, made = with_new_task(data, task._replace(id=_unused_id(data)), below, self.path)
            return data

        self._notebook.edit(self.path, change)
        return made

    def update(self, name_or_id: str, *, status: str, notes: str = "") -> TaskItem:
        """Give a task another status and add notes below it. Nothing is written when it is so already.

        NotFound names the nearest titles, Ambiguous the candidates.
        """
        wanted = _one_of("status", status, STATUSES)
        today = self._today()
        lines = _note_lines(notes, today)
        changed = TaskItem("", "")

        def change(page: Page | None) -> bytes | None:
            nonlocal changed
            data = b"" if page is None else page.data
            found = find_task(read_tasks(data, self.path), name_or_id, self.path)
            changed = found.task
            if changed.status == wanted and not lines:
                return None
            data, changed = with_change(data, found, wanted, lines, today)
            return data

        self._notebook.edit(self.path, change)
        return changed

    def list(self, *, status: str = "", project: str = "") -> TaskList:
        """The tasks in the order of the note. `status`: "" for those that are open, "all", or one of them."""
        if status not in ("", "all"):
            _one_of("status", status, ("all", *STATUSES))
        tag = project_tag(project).casefold()
        return [
            found.task
            for found in self._read()
            if (status == "all" or found.task.status in ((status,) if status else OPEN))
            and (not tag or f"{found.task.project.casefold()}/".startswith(f"{tag}/"))
        ]

    def find(self, name_or_id: str) -> TaskItem:
        return find_task(self._read(), name_or_id, self.path).task

    def _read(self) -> Sequence[TaskLines]:
        page = self._notebook.find(self.path)
        return [] if page is None else read_tasks(page.data, self.path)

    def _today(self) -> str:
        return local_time(self._clock.now()).date().isoformat()

    def _first_text(self) -> bytes:
        return self._layout.first_text("tasks", today=self._today()).encode()


def _one_of(what: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        raise UsageError(f"{given!r} is no {what} of a task; it is one of {', '.join(known)}")
    return given


def _unused_id(data: bytes) -> str:
    while f"^{(fresh := new_id('t'))}".encode() in data:
        pass
    return fresh


def _detail_lines(details: str) -> Sequence[str]:
    """The lines below a new task. Lists and code stay; a heading would cut the note's sections."""
    if len(details) > _MAX_DETAILS:
        raise UsageError(f"the details have {len(details)} characters; at most {_MAX_DETAILS}, use a note")
    lines = _CONTROL.sub("", details).replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    kept = [line.rstrip() for line in lines] if details.strip() else []
    return [_escaped(line, _HEADING) for line in kept]


def _note_lines(notes: str, today: str) -> Sequence[str]:
    """A remark as one list item below the task; nothing in it begins an item of its own."""
    if len(notes) > _MAX_DETAILS:
        raise UsageError(f"the notes have {len(notes)} characters; at most {_MAX_DETAILS}, use a note")
    lines = [line.strip() for line in re.split(r"[\r\n\u2028\u2029]+", _CONTROL.sub("", notes))]
    kept = [_escaped(line, _STRUCTURE) for line in lines if line]
    if not kept:
        return []
    kept[-1] += f" ({today})"
    return [f"- {kept[0]}", *(f"  {line}" for line in kept[1:])]


def _escaped(line: str, pattern: re.Pattern[str]) -> str:
    bare = line.lstrip()
    match = pattern.match(bare)
    if match is None:
        return line
    at = len(line) - len(bare) + (match.end() if bare[0].isdigit() else 0)
    return f"{line[:at]}\\{line[at:]}"
