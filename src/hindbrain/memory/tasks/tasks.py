"""The tasks of a vault: made, changed and listed, in the note that plays the role `tasks`.

A task that its owner has cut into another note is known by its id (`^t-...`) and changed there. Each change
is made on what the note holds at that moment, so that others may write beside it.
Knows nothing of tools and commands.
"""

from __future__ import annotations

import contextlib
import re
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.memory.policy.provenance import lowest
from hindbrain.memory.tasks.task_line import (
    OPEN,
    PRIORITIES,
    STATUSES,
    TaskItem,
    clean_title,
    project_tag,
)
from hindbrain.memory.tasks.task_names import find_task, find_twin
from hindbrain.memory.tasks.task_note import TaskLines, read_tasks, with_change, with_due_day, with_new_task
from hindbrain.vault.items.item import new_id
from hindbrain.vault.moved_notes import is_put_away
from hindbrain.vault.origin import SOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.base.clock import Clock
    from hindbrain.memory.notes.notebook import Notebook, Page
    from hindbrain.memory.policy.policy import Policy
    from hindbrain.vault.layout import Layout

__all__ = ["PRIORITIES", "STATUSES", "TaskItem", "Tasks"]

TaskList: TypeAlias = list[TaskItem]  # a method is called `list`
TaskPaths: TypeAlias = list[str]
TaskLinesList: TypeAlias = list[TaskLines]
_NO_DAY = "9999-99-99"  # after every day
_MAX_DETAILS = 50_000  # characters
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEADING = re.compile(r"#{1,6}(?=[ \t]|$)")
# What would begin a list item, a check box, a quote, code or a heading.
_STRUCTURE = re.compile(r"[-*+#>`~|=\[]|[0-9]{1,9}(?=[.)](?:\s|$))")


class Created(NamedTuple):
    """A task that was asked for."""

    task: TaskItem
    is_new: bool  # False: it was open already, and nothing was written


class Tasks:
    def __init__(
        self, notebook: Notebook, layout: Layout, clock: Clock, policy: Policy | None = None
    ) -> None:
        """`policy` says whose words a task repeats that is not the owner's."""
        self._notebook = notebook
        self._layout = layout
        self._clock = clock
        self._policy = policy

    @property
    def path(self) -> str:
        return self._layout.path("tasks")

    def create(
        self,
        title: str,
        *,
        details: str = "",
        priority: str = "medium",
        project: str = "",
        source: str = "",
        due: str = "",
    ) -> Created:
        """Add a task, without secrets; durable when this returns.

        A task that is open already with the same title and project is returned as it is: a twin would make
        every later update by title ambiguous. It only gets the day it is `due` (YYYY-MM-DD), if it has none.
        `source`: whose word it is, where that is not the owner's; less trusted words that it repeats make it
        theirs.
        UsageError for a title, a priority or a day that is none.
        """
        (title, details, project), removed = _without_secrets(title, details, project)
        task = TaskItem(
            id="",
            title=clean_title(title),
            priority=_one_of("priority", priority or "medium", PRIORITIES),
            project=project_tag(project),
            path=self.path,
            source=self._trust(source, title, details, project),
            due=_day(due),
        )
        below = _detail_lines(details)
        if twin := find_twin(self._read(), task):
            return Created(self.add_due(twin.task, due), is_new=False)
        made = Created(task, is_new=True)

        def change(page: Page | None) -> bytes | None:
            nonlocal made
            data = self._first_text() if page is None else page.data
            if twin := find_twin(read_tasks(data, self.path), task):
                made = Created(twin.task, is_new=False)
                return None
            data, added = with_new_task(data, task._replace(id=_unused_id(data)), below, self.path)
            made = Created(added._replace(removed=removed), is_new=True)
            return data

        self._notebook.edit_at_once(self.path, change)
        return made

    def add_due(self, task: TaskItem, due: str) -> TaskItem:
        """Write the day it is due (YYYY-MM-DD) where its line names none; nothing for ""."""
        if not due or task.due:
            return task

        def change(page: Page | None) -> bytes | None:
            nonlocal task
            tasks = read_tasks(b"" if page is None else page.data, task.path)
            found = next((one for one in tasks if one.task.handle == task.handle), None)
            if page is None or found is None or found.task.due:
                return None
            data, task = with_due_day(page.data, found, due)
            return data

        self._notebook.edit_at_once(task.path, change)
        return task

    def update(
        self, name_or_id: str, *, status: str, notes: str = "", source: str = "", on: str = ""
    ) -> TaskItem:
        """Give a task another status and add notes below it, without secrets.

        `source`: whose word the notes are, where that is not the owner's. `on`: the day it was done, if not
        today.
        Nothing is written when it is so already.
        NotFound names the nearest titles, Ambiguous the candidates.
        """
        wanted = _one_of("status", status, STATUSES)
        today = _day(on) or self._today()
        (notes,), removed = _without_secrets(notes)
        lines = _note_lines(notes, today, self._trust(source, notes) if notes.strip() else "")
        changed = find_task(self._read(), name_or_id, self.path).task
        path = changed.path

        def change(page: Page | None) -> bytes | None:
            nonlocal changed
            data = b"" if page is None else page.data
            # Found again, in what the note holds now.
            tasks = read_tasks(data, path)
            found = find_task(tasks if path == self.path else _with_ids(tasks), name_or_id, path)
            changed = found.task
            if changed.status == wanted and not lines:
                return None
            data, changed = with_change(data, found, wanted, lines, today)
            return data

        self._notebook.edit_at_once(path, change)
        return changed._replace(removed=removed)

    def list(self, *, status: str = "", project: str = "") -> TaskList:
        """The tasks by priority, then by the day they are due, then in the order of the note.

        `status`: "" for those that are open, "all", or one of them.
        """
        if status not in ("", "all"):
            _one_of("status", status, ("all", *STATUSES))
        tag = project_tag(project).casefold()
        tasks = [
            found.task
            for found in self._read()
            if (status == "all" or found.task.status in ((status,) if status else OPEN))
            and (not tag or f"{found.task.project.casefold()}/".startswith(f"{tag}/"))
        ]
        return sorted(tasks, key=lambda task: (PRIORITIES.index(task.priority), task.due or _NO_DAY))

    def find(self, name_or_id: str) -> TaskItem:
        return find_task(self._read(), name_or_id, self.path).task

    def _read(self) -> Sequence[TaskLines]:
        """Those of the note, then those with an id of ours that stand elsewhere."""
        path = self.path
        page = self._notebook.find(path)
        found = [] if page is None else read_tasks(page.data, path)
        known = {one.task.id for one in found}
        for other in self._other_notes(path):
            with contextlib.suppress(HindbrainError):
                more = _with_ids(read_tasks(self._notebook.read(other).data, other))
                found += [one for one in more if one.task.id not in known]
                known.update(one.task.id for one in more)
        return found

    def _other_notes(self, path: str) -> TaskPaths:
        moved = self._layout.moved
        paths = moved.notes_with("t", beside=path) if moved is not None else []
        return [other for other in paths if not is_put_away(self._layout, other)]

    def _trust(self, source: str, *texts: str) -> str:
        """Whose word the texts are together; "" for the owner's."""
        if not source:
            return ""
        source = _one_of("source", source, SOURCES)
        if self._policy is None:
            return source
        return lowest(self._policy.trust_of(text, source=source) for text in texts)

    def _today(self) -> str:
        return self._clock.today().isoformat()

    def _first_text(self) -> bytes:
        return self._layout.first_text("tasks", today=self._today()).encode()


def _with_ids(tasks: Sequence[TaskLines]) -> TaskLinesList:
    """Those that were made here: in another note, a box without an id is its owner's."""
    return [found for found in tasks if found.task.id.startswith("t-")]


def _one_of(what: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        raise UsageError(f"{given!r} is no {what} of a task; it is one of {', '.join(known)}")
    return given


def _day(given: str) -> str:
    try:
        return date.fromisoformat(given).isoformat() if given else ""
    except ValueError:
        raise UsageError(f"{given!r} is no day; write it as 2026-06-01") from None


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


def _note_lines(notes: str, today: str, source: str) -> Sequence[str]:
    """A remark as one list item below the task; nothing in it begins an item of its own."""
    if len(notes) > _MAX_DETAILS:
        raise UsageError(f"the notes have {len(notes)} characters; at most {_MAX_DETAILS}, use a note")
    lines = [line.strip() for line in re.split(r"[\r\n\u2028\u2029]+", _CONTROL.sub("", notes))]
    kept = [_escaped(line, _STRUCTURE) for line in lines if line]
    if not kept:
        return []
    kept[-1] += f" ({today})" + (f" [source:: {source}]" if source else "")
    return [f"- {kept[0]}", *(f"  {line}" for line in kept[1:])]


def _escaped(line: str, pattern: re.Pattern[str]) -> str:
    bare = line.lstrip()
    match = pattern.match(bare)
    if match is None:
        return line
    at = len(line) - len(bare) + (match.end() if bare[0].isdigit() else 0)
    return f"{line[:at]}\\{line[at:]}"


def _without_secrets(*texts: str) -> tuple[list[str], tuple[str, ...]]:
    """The texts, and the kinds of secrets that were taken out of them."""
    from hindbrain.base.secrets import redact

    cleaned = [redact(text) for text in texts]
    return [text for text, _ in cleaned], tuple(dict.fromkeys(kind for _, kinds in cleaned for kind in kinds))
