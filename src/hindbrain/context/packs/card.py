"""What is worth knowing whatever is asked: the owner's card, open tasks, what happened last.

Reads the notes that play these roles in the layout; a note that is missing or can't be read costs its lines,
and a notice says so. Lines that a template left empty are no knowledge. What is read is cut to whole lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.context.packs.pack import Excerpt
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.memory.items.item import MemoryItem
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory

_CARD_ROLES = (
    "identity",
    "profile",
    "memory",
)  # the first two wherever they are; memory where it is one note
_PREFERENCES = 12
_PINNED = 0.8  # importance from which a memory belongs to the card when the profile says nothing
_DAYS_BACK = 3
_TASKS = 12
# "- Preferred name:" and "- **Time zone**:" with nothing behind: a template's question, not an answer.
_UNANSWERED = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*)?[^:：]{1,60}[:：](?:\*\*)?\s*(?:<[^>]*>|\[[^\]]*\])?\s*$")
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s")
_MARKS = " -*+\t|:`"  # of lists, tables and rules


class Read(NamedTuple):
    """Lines for a slot, the most important first, and what could not be read."""

    excerpts: tuple[Excerpt, ...]
    notices: tuple[str, ...] = ()


def core_card(memory: Memory, fits: Callable[[Sequence[str]], Sequence[str]]) -> Read:
    """Who the owner is: what the profile says, then preferences, then whatever is most important."""
    excerpts, notices = _profile(memory, fits)
    known = " ".join(one.text.lower() for one in excerpts)
    told = [item for item in _standing(memory) if item.text.lower() not in known]
    wanted = [item for item in told if item.category == "preference"][:_PREFERENCES]
    if not excerpts:  # a minimal identity, from what was remembered
        wanted += [item for item in told if item.category != "preference" and item.importance >= _PINNED]
    lines = fits([f"- {item.text}" for item in wanted])
    return Read((*excerpts, *_memories(wanted[: len(lines)], "preference")), notices)


def open_tasks(memory: Memory, fits: Callable[[Sequence[str]], Sequence[str]]) -> Read:
    try:
        tasks = memory.tasks.list()
    except HindbrainError as error:
        return Read((), (f"tasks can't be read ({error.code})",))
    still_open = [task for task in tasks[:_TASKS] if task.status not in ("done", "cancelled")]
    kept = fits(
        [f"- {task.title}" + (f" ({task.status})" if task.status != "todo" else "") for task in still_open]
    )
    if not kept:
        return Read(())
    source = lowest(task.source or "user" for task in still_open[: len(kept)])
    return Read((Excerpt(memory.tasks.path, "Open tasks", "\n".join(kept), source=source, why="open tasks"),))


def what_happened(memory: Memory, fits: Callable[[Sequence[str]], Sequence[str]]) -> Read:
    """The last lines of the last days, and of the notes that hold the present state."""
    found: list[Excerpt] = []
    notices: list[str] = []
    today = date.fromisoformat(memory.today())
    paths = [memory.daily.path(today - timedelta(days=back)) for back in range(_DAYS_BACK)]
    if memory.layout.has("recent"):
        paths.insert(0, memory.layout.path("recent"))
    for path in paths:
        lines = _lines_of(memory, path, notices)
        kept = fits(list(reversed(lines)))  # the latest first
        if kept:
            text = "\n".join(reversed(kept))
            found.append(Excerpt(path, "", text, date=_day_of(path), source="agent", why="latest"))
            break
    return Read(tuple(found), tuple(notices))


def _profile(
    memory: Memory, fits: Callable[[Sequence[str]], Sequence[str]]
) -> tuple[list[Excerpt], tuple[str, ...]]:
    found: list[Excerpt] = []
    notices: list[str] = []
    spent: list[str] = []
    for role in _CARD_ROLES:
        if not memory.layout.has(role) or not memory.layout.is_single(role):
            continue
        path = memory.layout.path(role)
        lines = _lines_of(memory, path, notices)
        kept = list(fits([*spent, *lines])[len(spent) :])
        if kept:
            spent += kept
            found.append(Excerpt(path, "", "\n".join(kept), why="pinned"))
    return found, tuple(notices)


def _standing(memory: Memory) -> list[MemoryItem]:
    items = [item for item in memory.book.items() if not item.superseded]
    items.sort(key=lambda item: (-item.importance, item.created, item.id))
    return items


def _memories(items: Iterable[MemoryItem], why: str) -> list[Excerpt]:
    return [
        Excerpt(
            item.path, "", f"- {item.text}", date=item.created, first_line=item.line, last_line=item.line,
            source=item.source, grade="line", why=why,
        )
        for item in items
    ]  # fmt: skip


def _lines_of(memory: Memory, path: str, notices: list[str]) -> list[str]:
    try:
        page = memory.notebook.find(path)
    except HindbrainError as error:
        notices.append(f"{path!r} can't be read ({error.code})")
        return []
    if page is None:
        return []
    template = memory.layout.start.get(memory.layout.role_of(path), "")
    return _telling_lines(page, frozenset(map(str.strip, template.split("\n"))))


def _telling_lines(page: Page, template: frozenset[str]) -> list[str]:
    """The lines that say something: no properties, headings, empty questions, comments or struck lines, and
    none that the layout's own first text has."""
    from hindbrain.index.spoken import spoken
    from hindbrain.vault.frontmatter import read_frontmatter
    from hindbrain.vault.parse import split_lines

    lines = [line.rstrip("\r\n") for line in split_lines(page.text)] or [""]
    text = _COMMENT.sub("", "\n".join(lines[read_frontmatter(lines).last_line :]))
    return [
        said
        for line in text.split("\n")
        if (said := spoken(line).rstrip()).strip(_MARKS)
        and said.strip() not in template
        and not _HEADING.match(said)
        and not _UNANSWERED.fullmatch(said)
        and not said.lstrip(_MARKS).startswith("~~")
    ]


def _day_of(path: str) -> str:
    found = re.search(r"\d{4}-\d\d-\d\d", path)
    return found[0] if found else ""
