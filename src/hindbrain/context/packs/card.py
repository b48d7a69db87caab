"""What is worth knowing whatever is asked: the owner's card, open tasks, what happened last.

Reads the notes that play these roles in the layout; a note that is missing or can't be read costs its lines,
and a notice says so. What is read is cut to whole lines, each with the headings it stands under.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.context.packs.attribution import Quoted, attribution
from hindbrain.context.packs.note_lines import (
    Above,
    Line,
    Room,
    line_key,
    line_keys,
    new_lines,
    note_text,
    pick_lines,
    text_of,
)
from hindbrain.context.packs.pack import Excerpt
from hindbrain.context.packs.times import recent_lines
from hindbrain.memory.daily.daily import NOTES_BACK
from hindbrain.memory.daily.daily_note import TOMORROW, without_sessions
from hindbrain.memory.policy.note_trust import source_of
from hindbrain.memory.policy.provenance import lowest
from hindbrain.memory.policy.source_marks import sources_in
from hindbrain.memory.tasks.task_line import OPEN, read_task
from hindbrain.memory.tasks.task_note import read_tasks
from hindbrain.memory.timeline import RECENT_DAYS, recent_runs
from hindbrain.vault.discover import is_logseq
from hindbrain.vault.logseq import journal_note
from hindbrain.vault.logseq import open_tasks as marked_tasks
from hindbrain.vault.parse import parse_note

if TYPE_CHECKING:
    from hindbrain.memory.answers import Timeline
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory
    from hindbrain.memory.tasks.task_line import TaskItem
    from hindbrain.vault.items.item import MemoryItem

_CARD_ROLES = ("profile", "memory")  # memory only where it is one note; `identity` is the agent's
# What is known about the owner, and what always holds; fixes and actions enter when a prompt needs them.
_ABOUT_OWNER = ("preference", "decision", "fact", "contact", "relationship", "project", "pattern")
_PINNED = 0.8  # importance from which a memory enters whatever is asked
_DAYS_BACK = 3
_TASKS = 12
_SOON_DAYS = 7
_PRIORITIES = ("high", "medium", "low")
_NEVER_DUE = "9999"
_ACTION = re.compile(
    r"(\s*\d{1,9}[.)]\s+)\[(?:\d{4}-\d\d-\d\d |[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2} )?(\d{1,2}:\d\d)\]"
)
_RUN_LINE = re.compile(r"\s*[-*+] \[\d{1,2}:\d\d[^\]]*\] `\w+` ")
# What the status says of failed runs: told to who asks what is open, and where a command is like theirs.
_OPEN_RUN = re.compile(r"\s*[-*+] \*\*Open:\*\* .*\(\w+ \d{4}-\d\d-\d\d\)")
# With what it says of the last run, which stands among the recent runs.
_LAST_RUN = re.compile(
    rf"\s*[-*+] \*\*(?:Last active|Last command|Last outcome|Result|Reason):\*\*|{_OPEN_RUN.pattern}"
)
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_RUN = re.compile(r"\^r-(\d{8}-\d{6})-")


class Read(NamedTuple):
    """Lines for a slot, the most important first, and what could not be read."""

    excerpts: tuple[Excerpt, ...]
    notices: tuple[str, ...] = ()


def core_card(memory: Memory, room: Room, *, whole: bool) -> Read:
    """Who the owner is: what the profile says, then what is remembered, the most important first.

    `whole`: everything that is remembered, as far as there is room; else preferences and what is pinned,
    since what a prompt needs beyond these has a slot of its own.
    """
    notices: list[str] = []
    excerpts = [
        found
        for role in _CARD_ROLES
        if memory.layout.has(role) and memory.layout.is_single(role)
        for found in _quoted(
            memory, memory.layout.path(role), room, notices, Excerpt("", "", "", why="pinned")
        )
    ]
    known = " ".join(one.text.lower() for one in excerpts)
    wanted = [
        item
        for item in _about_owner(memory)
        if (whole or item.category == "preference" or item.importance >= _PINNED)
        and item.text.lower() not in known
    ]
    return Read((*excerpts, *memory_lines(memory, wanted, room)), tuple(notices))


def open_tasks(memory: Memory, room: Room, *, most: int = _TASKS, for_now: bool = False) -> Read:
    """The open tasks with what an agent needs to update them: high priority first, then due, then oldest.

    `for_now`: first those in progress, then those due within a week, then high priority, then the newest.
    """
    try:
        tasks = memory.tasks.list()
    except HindbrainError as error:
        return Read((), (f"tasks can't be read ({error.code})",))
    if for_now:
        soon = (memory.clock.today() + timedelta(days=_SOON_DAYS)).isoformat()
        tasks = sorted(tasks, key=partial(_urgency, soon=soon))
    else:
        tasks = sorted(tasks, key=lambda task: (_PRIORITIES.index(task.priority), task.due or _NEVER_DUE))
    empty = Excerpt(memory.tasks.path, "Open tasks", "", why="open tasks")
    kept: list[TaskItem] = []
    tasks = [task for task in tasks if _task_keys(task)[0] not in room.held]
    for task in tasks[:most]:
        if not room.pay([*([] if kept else [_head(empty)]), task_text(task)]):
            break
        kept.append(task)
    if not kept:
        return Read(())
    text = "\n".join(map(task_text, kept))
    source = lowest(task.source or "user" for task in kept)
    keys = tuple(key for task in kept for key in _task_keys(task))
    return Read((empty._replace(text=text, source=source, keys=keys),))


def _urgency(task: TaskItem, *, soon: str) -> tuple[bool, str, int, str, int]:
    """The smaller, the sooner it is worth a line."""
    due_soon = task.due if "" < task.due <= soon else _NEVER_DUE
    priority = _PRIORITIES.index(task.priority)
    return (task.status != "in_progress", due_soon, priority, task.due or _NEVER_DUE, -task.line)


def what_is_worked_on(memory: Memory, room: Room) -> Read:
    """What the note of the present state says; of the last run only where no day tells of it."""
    notices: list[str] = []
    about = Excerpt("", "", "", source="agent", why="status")
    path = memory.layout.path("status")
    silent = _LAST_RUN if recent_runs(memory).entries else _OPEN_RUN
    return Read(tuple(_quoted(memory, path, room, notices, about, silent=silent)), tuple(notices))


def _task_keys(task: TaskItem) -> tuple[str, str]:
    """As it is shown here, which differs when its state does; and as its line in the note says."""
    above = ((0, f"# {task.section}"),) if task.section else ()
    return line_key(task.path, task_text(task)), line_key(task.path, task.title, above)


def open_boxes(memory: Memory, room: Room, *, with_tomorrow: bool, known: Iterable[str] = ()) -> Read:
    """Open check boxes of memories and of the last days, each text once, and the notes for today.
    `known`: texts that are told already.

    In a Logseq graph the markers of its tasks count as boxes.
    """
    notices: list[str] = []
    found: list[Excerpt] = []
    seen = _titles_of_tasks(memory).union(known)
    for path in _own_notes(memory, notices):
        page = _page(memory, path, notices)
        boxes = {} if page is None else _boxes(memory, page)
        if page is None or not boxes:
            continue
        note = note_text(page.text, memory.layout.first_lines(path))
        lines = []
        for line in note.lines:
            title = boxes[line.number].title if line.number in boxes else ""
            if title and title not in seen:
                seen.add(title)
                lines.append(line)
        empty = Excerpt(path, "", "", date=_day(memory, path), why="open boxes")
        picked = pick_lines(new_lines(path, lines, room), room, _head(empty))
        source = lowest(boxes[line.number].source or "user" for line in picked)
        found += _excerpt(empty._replace(source=source), picked)
    if with_tomorrow:
        found += _notes_for_today(memory, room, notices, known=seen)
    return Read(tuple(found), tuple(notices))


def _titles_of_tasks(memory: Memory) -> set[str]:
    try:
        return {task.title for task in memory.tasks.list(status="all")}
    except HindbrainError:  # the slot of the tasks says so
        return set()


def _own_notes(memory: Memory, notices: list[str]) -> list[str]:
    """The notes of memories, and the daily notes of the last days, the newest first."""
    layout, today = memory.layout, memory.clock.today()
    try:
        paths: list[str] = [*layout.notes_of("memory", memory.root)]
    except HindbrainError as error:
        notices.append(f"memories can't be read ({error.code})")
        paths = []
    days = [today - timedelta(days=back) for back in range(NOTES_BACK + 1)]
    is_graph = is_logseq(memory.root)
    for day in days:
        paths += [*layout.paths("daily", date=day.isoformat()), *([journal_note(day)] if is_graph else [])]
    return [path for path in dict.fromkeys(paths) if path != memory.tasks.path]


class _Box(NamedTuple):
    title: str
    source: str = ""  # whose word it is, where that is not the owner's


def _boxes(memory: Memory, page: Page) -> dict[int, _Box]:
    """What is to be done, by line."""
    tasks = [one.task for one in read_tasks(page.data, page.path) if one.task.status in OPEN]
    boxes = {task.line: _Box(task.title, task.source) for task in tasks}
    if is_logseq(memory.root):
        marked = marked_tasks(parse_note(page.text, stem=""))
        boxes |= {line: _Box(text) for line, text in marked.items()}
    return boxes


def task_text(task: TaskItem) -> str:
    """`- Renew the passport (high, in_progress, due 2026-06-01) ^t-7f3k2a9d`"""
    said = [
        task.priority if task.priority != "medium" else "",
        task.status if task.status != "todo" else "",
        f"due {task.due}" if task.due else "",
    ]
    about = ", ".join(filter(None, said))
    return f"- {task.title}" + (f" ({about})" if about else "") + (f" ^{task.id}" if task.id else "")


def what_happened(memory: Memory, room: Room) -> Read:
    """Notes for today, the last runs of seven days, what else the last day tells, and the present state.

    The runs are read from the notes of their days, so that they are recent when they are read; where no day
    tells a run, the note of recent actions is asked.
    """
    notices: list[str] = []
    about = Excerpt("", "", "", source="agent", why="latest")
    notes = _notes_for_today(memory, room, notices)
    lately = recent_runs(memory)
    notices += lately.problems
    runs = recent_lines(lately.entries, room, _place_of(memory, lately))
    last = _last_day(memory, room, notices, about)
    state = _quoted(
        memory, memory.layout.path("status"), room, notices, about, silent=_LAST_RUN if runs else _OPEN_RUN
    )
    if not runs and last is None:
        runs = _recent_actions(memory, room, notices, about)
    return Read((*notes, *runs, *state, *(last or ())), tuple(dict.fromkeys(notices)))


def _place_of(memory: Memory, lately: Timeline) -> str:
    """The note of recent actions, where it is; else that of the last run."""
    path = memory.layout.path("recent")
    if memory.notebook.has(path):
        return path
    return lately.entries[-1].path if lately.entries else ""


def _last_day(memory: Memory, room: Room, notices: list[str], about: Excerpt) -> list[Excerpt] | None:
    """The end of the last day that says something, without its runs; None when no day says anything."""
    today = memory.clock.today()
    for back in range(_DAYS_BACK):
        day = today - timedelta(days=back)
        note = _read_note(memory, memory.daily.path(day), notices)
        if note is not None and note.lines:
            other = tuple(line for line in note.lines if not _RUN_LINE.match(line.text))
            if not other:
                return []
            return _quote(note._replace(lines=other), room, about._replace(date=day.isoformat()), latest=True)
    return None


def _recent_actions(memory: Memory, room: Room, notices: list[str], about: Excerpt) -> list[Excerpt]:
    """The recent actions of seven days, with their days as far as these are known."""
    path = memory.layout.path("recent")
    page = _page(memory, path, notices)
    if page is None:
        return []
    since = (memory.clock.today() - timedelta(days=RECENT_DAYS)).isoformat()
    dated = "\n".join(_with_day(line, memory) for line in page.text.split("\n"))
    lines = [_below_a_day(line) for line in note_text(dated).lines if _ACTION.match(line.text)]
    lines = [line for line in lines if not (day := _day_of_action(line)) or day >= since]
    empty = about._replace(path=path)
    picked = pick_lines(reversed(new_lines(path, lines, room)), room, _head(empty))
    return _excerpt(empty, picked)


def _with_day(line: str, memory: Memory) -> str:
    """`1. [2026-05-14 14:30] ...` where the run's id tells the day; else the line as it is written."""
    action, run = _ACTION.match(line), _RUN.search(line)
    if action is None or run is None:
        return line
    try:
        began = datetime.strptime(run[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:  # digits that are no moment
        return line
    day = memory.clock.local(began.timestamp()).date().isoformat()
    return f"{action[1]}[{day} {action[2]}]{line[action.end() :]}"


def _day_of_action(line: Line) -> str:
    """As the line or a heading over it says; "" when neither does."""
    texts = (line.text, *(text for _, text in line.above))
    return next((found[0] for text in texts if (found := _DAY.search(text))), "")


def _below_a_day(line: Line) -> Line:
    """With the headings that name a day; "Last 7 days" may no longer be true when it is read."""
    return line._replace(above=tuple(above for above in line.above if _DAY.search(above[1])))


def _quoted(
    memory: Memory,
    path: str,
    room: Room,
    notices: list[str],
    about: Excerpt,
    silent: re.Pattern[str] | None = None,
) -> list[Excerpt]:
    """What a note says, as far as there is room. `silent`: lines that say what stands elsewhere."""
    note = _read_note(memory, path, notices)
    if note is not None and silent is not None:
        note = note._replace(lines=tuple(line for line in note.lines if not silent.match(line.text)))
    return [] if note is None else _quote(note, room, about)


class _ReadNote(NamedTuple):
    path: str
    title: str
    lines: tuple[Line, ...]
    source: str  # whose word the note is as a whole


def _read_note(memory: Memory, path: str, notices: list[str]) -> _ReadNote | None:
    page = _page(memory, path, notices)
    if page is None:
        return None
    is_day = memory.layout.role_of(path) == "daily"
    if is_day:
        page = replace(page, data=without_sessions(page.data))
    note = note_text(page.text, memory.layout.first_lines(path))
    title = "" if is_day else note.title  # a day's title is its date
    return _ReadNote(path, title, note.lines, source_of(path, page.text))


def _quote(note: _ReadNote, room: Room, about: Excerpt, *, latest: bool = False) -> list[Excerpt]:
    """As many lines as there is room for; `latest`: of its end rather than of its beginning."""
    empty = about._replace(path=note.path, title=note.title, source=lowest((about.source, note.source)))
    lines = new_lines(note.path, note.lines, room)
    picked = pick_lines(reversed(lines) if latest else lines, room, _head(empty), skip=latest)
    parted: dict[str, list[Line]] = {}
    for line in picked:
        parted.setdefault(_source_of(line, empty.source), []).append(line)
    return [one for source, own in parted.items() for one in _excerpt(empty._replace(source=source), own)]


def _source_of(line: Line, otherwise: str) -> str:
    """The least trusted source that a line, or an item that it stands below, names."""
    told = [found for _, text in (*line.above, (0, line.text)) for found in sources_in(text)]
    return lowest((otherwise, *told))


def _excerpt(empty: Excerpt, picked: Sequence[Line]) -> list[Excerpt]:
    keys = line_keys(empty.path, picked)
    return [empty._replace(text=text_of(picked), keys=keys)] if picked else []


def _notes_for_today(
    memory: Memory, room: Room, notices: list[str], known: Container[str] = ()
) -> list[Excerpt]:
    """What the last day left for the next one, without what is done by now and what is `known`."""
    from hindbrain.vault.items.item_line import read_line

    try:
        path, lines = memory.daily.notes_for_today()
        tasks = memory.tasks.list(status="all")
    except HindbrainError as error:
        notices.append(f"notes for today can't be read ({error.code})")
        return []
    done = {task.title for task in tasks if task.status in ("done", "cancelled")}
    lines = [line for line in lines if (box := read_task(line)) is None or box.status in OPEN]
    items = [item for item in map(read_line, lines) if item.text and not item.struck]
    left = [item for item in items if item.text not in done and item.text not in known]
    source = lowest(item.value("source") or "user" for item in left)
    empty = Excerpt(path, TOMORROW, "", date=_day(memory, path), source=source, why=TOMORROW.lower())
    new = new_lines(path, (Line(at, f"- {item.text}") for at, item in enumerate(left)), room)
    return _excerpt(empty, pick_lines(new, room, _head(empty)))


def _day(memory: Memory, path: str) -> str:
    """Of a daily note."""
    return memory.layout.names_of(path).get("date", "")


def _head(excerpt: Excerpt) -> str:
    return attribution(Quoted((excerpt,)))


def _about_owner(memory: Memory) -> list[MemoryItem]:
    """What holds about the owner, of the owner's word or an agent's; the most important and newest first."""
    items = [
        item
        for item in memory.book.items()
        if not item.superseded and item.category in _ABOUT_OWNER and item.source in ("user", "agent")
    ]
    items.sort(key=lambda item: (item.created, item.id), reverse=True)
    items.sort(key=lambda item: (-item.importance, _ABOUT_OWNER.index(item.category)))
    return items


def memory_lines(memory: Memory, items: Iterable[MemoryItem], room: Room) -> list[Excerpt]:
    """One line a memory, as far as there is room and it is not held yet."""
    kept: list[Excerpt] = []
    shown: set[tuple[str, object]] = set()
    over = cache(partial(_over_lines, memory))
    for item in items:
        above = over(item.path).get(item.line, ())
        excerpt = Excerpt(
            item.path, "", f"- {item.text}", date=item.created, first_line=item.line, last_line=item.line,
            source=item.source, grade="line", why="preference", above=above, after=above,
            keys=(line_key(item.path, item.text, above),), memory=item.id,
        )  # fmt: skip
        if not room.held.isdisjoint(excerpt.keys):
            continue
        dated = f"{excerpt.text} ({item.created})"  # as it is shown among others of another day
        new = {(item.path, item.source): _head(excerpt)} | {(item.path, at): text for at, text in above}
        if not room.pay([*(line for key, line in new.items() if key not in shown), dated]):
            break
        shown.update(new)
        kept.append(excerpt)
    return kept


def _over_lines(memory: Memory, path: str) -> Mapping[int, Above]:
    page = _page(memory, path, [])
    return _above_lines(page.text) if page is not None else {}


@lru_cache(maxsize=4)  # a note of many memories takes a while, and every prompt asks
def _above_lines(text: str) -> Mapping[int, Above]:
    return {line.number: line.above for line in note_text(text).lines}


def _page(memory: Memory, path: str, notices: list[str]) -> Page | None:
    try:
        return memory.notebook.find(path)
    except HindbrainError as error:
        notices.append(f"{path!r} can't be read ({error.code})")
        return None
