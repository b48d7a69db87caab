"""One task on one line, as Obsidian shows it, and as people type it:

    - [ ] **Renew the passport** [priority:: high] #travel ^t-7f3k2a9d

Owns how such a line is read, written and given another status. What a person typed by hand is understood
(no id, no bold, `[high]`, `(in_progress)`, signs of the Tasks plugin) and stays as it is. Pure; knows nothing
of notes.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.memory.items.typed_text import without_mark
from hindbrain.vault.inline import mask_code
from hindbrain.vault.items.item_text import fold, unescape
from hindbrain.vault.origin import SOURCES

STATUSES = ("todo", "in_progress", "blocked", "done", "cancelled")
PRIORITIES = ("high", "medium", "low")
OPEN = ("todo", "in_progress", "blocked")
MAX_TITLE = 500  # characters; what is longer belongs into the details

_BOX = {"todo": " ", "in_progress": "/", "blocked": " ", "done": "x", "cancelled": "-"}
_STATUS_OF_BOX = {"/": "in_progress", "x": "done", "X": "done", "-": "cancelled"}
_PUNCTUATION = frozenset(string.punctuation)
_TASK = re.compile(r"([\s>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)\[(.)\](?=[ \t])(.*)", re.DOTALL)
_ID = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9\-]+)[ \t]*$")
_FIELD = re.compile(r"\[([A-Za-z][\w \-]{0,30})::([^\[\]]*)\]|\(([A-Za-z][\w \-]{0,30})::([^()]*)\)")
_SUFFIX = re.compile(r"(?:^|(?<=\s))\((todo|in_progress|in progress|blocked|done|cancelled)\)")
_TYPED_PRIORITY = re.compile(r"(?<![\[!\w])\[(high|medium|low)\](?![\](:])", re.IGNORECASE)
_SIGNS = {"🔺": "high", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "low"}
_SIGN = re.compile("[🔺⏫🔼🔽⏬]\ufe0f?")
_DATED = re.compile("[📅⏳🛫➕✅❌]\ufe0f?\\s*([0-9]{4}-[0-9]{2}-[0-9]{2})")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TAG = re.compile(r"(?:^|(?<=\s))#([\d/\-]*+[^\W\d][\w/\-]*+)")  # not of digits alone
_NOT_IN_TAG = re.compile(r"[^\w/\-]+")


class TaskItem(NamedTuple):
    """What a task says, and where it stands."""

    id: str  # "t-7f3k2a9d"; "" for a line that a person wrote without one
    title: str
    status: str = "todo"  # one of STATUSES
    priority: str = "medium"  # one of PRIORITIES
    project: str = ""  # a tag without "#"
    details: str = ""  # the lines below it, notes included
    completed: str = ""  # YYYY-MM-DD, or "" when the line does not say
    section: str = ""  # the heading above it; "" when none
    path: str = ""
    line: int = 0  # 1-based
    source: str = ""  # whose word it is, where the line says so
    due: str = ""  # YYYY-MM-DD, or "" when the line does not say
    removed: tuple[str, ...] = ()  # kinds of secrets that were taken out of what was just written

    @property
    def citation(self) -> str:
        note = self.path.removesuffix(".md")
        return f"[[{note}#^{self.id}]]" if self.id else f"[[{note}]]"

    @property
    def handle(self) -> str:
        """What names this task and no other."""
        return f"^{self.id}" if self.id else f"{self.title} (line {self.line})"


def clean_title(title: str) -> str:
    """One line of text. UsageError when nothing is left, or too much."""
    text = fold(without_mark(title))
    if not text:
        raise UsageError("a task needs a title; say in a few words what is to be done")
    if len(text) > MAX_TITLE:
        raise UsageError(
            f"the title {text[:40]!r}... has {len(text)} characters, {MAX_TITLE} at most; "
            "put the rest into the details"
        )
    return text


def project_tag(project: str) -> str:
    """A project's name as a tag that Obsidian reads; "" for no project."""
    name = fold(project).lstrip("#")
    if not name:
        return ""
    tag = re.sub(r"-{2,}", "-", _NOT_IN_TAG.sub("-", name)).strip("-/")
    if not tag:
        raise UsageError(f"the project {project!r} has no letter that can stand in a tag; give another name")
    return tag if _TAG.fullmatch(f"#{tag}") else f"project-{tag}"


def render_task(task: TaskItem) -> str:
    """The line of a new task."""
    parts = [f"- [{_BOX[task.status]}] **{_escaped(task.title)}**"]
    if task.priority != "medium":  # which a line without the field has
        parts.append(f"[priority:: {task.priority}]")
    if task.status == "blocked":
        parts.append("[status:: blocked]")
    if task.due:
        parts.append(f"[due:: {task.due}]")
    if task.completed:
        parts.append(f"[completion:: {task.completed}]")
    if task.project:
        parts.append(f"#{task.project}")
    if task.source:
        parts.append(f"[source:: {task.source}]")
    parts.append(f"^{task.id}")
    return " ".join(parts)


@lru_cache(maxsize=8192)  # a note of tasks is read again at each change, and most of its lines are the same
def read_task(line: str) -> TaskItem | None:
    """None when the line holds no check box, or nothing behind it. A line in code is not told from others."""
    match = _TASK.match(line)
    if match is None:
        return None
    bold, rest = _split_bold(match[3].strip())
    shown = mask_code(rest)
    found_id = _ID.search(shown)
    fields = _fields(shown)
    priority = _priority(shown, fields)
    tag = _TAG.search(_without(_FIELD, shown))
    dated = {found[0][0]: found[1] for found in _DATED.finditer(shown)}
    title = fold(" ".join(part for part in (bold, _words(rest)) if part))
    if not title:
        return None
    return TaskItem(
        id=found_id[1] if found_id else "",
        title=title,
        status=_status(match[2], fields, shown),
        priority=priority,
        project=fields.get("project", "").lstrip("#") or (tag[1] if tag else ""),
        completed=fields.get("completion", "") or dated.get("✅", ""),
        source=source if (source := fields.get("source", "").lower()) in SOURCES else "",
        due=found[0] if (found := _DAY.match(fields.get("due", ""))) else dated.get("📅", ""),
    )


def with_status(line: str, status: str, today: str) -> str:
    """The same line with another status; every other sign of it stays."""
    match = _TASK.match(line)
    if match is None:
        raise ValueError(f"no task: {line!r}")
    lead, text = match[1], match[3]
    bold_stop = len(text) - len(_after_bold(text))
    head, tail = text[:bold_stop], text[bold_stop:]
    kept_date = _fields(mask_code(tail)).get("completion", "") if status == "done" else ""
    tail = _cut(tail, lambda found: _key(found) in ("status", "completion"), _FIELD)
    tail = _cut(tail, lambda _: True, _SUFFIX)
    if status == "blocked":
        tail = _added(tail, "[status:: blocked]")
    elif status == "done":
        tail = _added(tail, f"[completion:: {kept_date or today}]")
    return f"{lead}[{_BOX[status]}]{head}{tail}"


def with_due(line: str, due: str) -> str:
    """The same line with the day it is due, where it names none."""
    task, match = read_task(line), _TASK.match(line)
    if task is None or match is None or task.due:
        return line
    bold_stop = len(match[3]) - len(_after_bold(match[3]))
    return line[: match.start(3) + bold_stop] + _added(match[3][bold_stop:], f"[due:: {due}]")


def indent_below(line: str) -> str:
    """What stands before a line that belongs to the task on `line`."""
    match = _TASK.match(line)
    lead = match[1] if match else "  "
    quote = lead.rpartition(">")
    mark = quote[2] if quote[1] else lead
    bare = len(mark) - len(mark.lstrip())
    before = lead[: len(lead) - len(mark)] + mark[:bare]
    return before + " " * len(mark[bare:].expandtabs(4))


def _escaped(title: str) -> str:
    """The title as it must stand between double stars; nothing is escaped in code spans."""
    shown = mask_code(title)
    out: list[str] = []
    for i, char in enumerate(title):
        if shown[i] == char and _means_more(title, i):
            out.append("\\")
        out.append(char)
    return "".join(out)


def _means_more(text: str, i: int) -> bool:
    """Would the character end the bold text, or open a comment or math that hides what follows?"""
    char = text[i]
    if char == "\\":
        return i + 1 == len(text) or text[i + 1] in _PUNCTUATION
    if char in "$%":
        return text[i - 1 : i] == char
    if char == "!":
        return text[i - 1 : i] == "<" and text[i + 1 : i + 3] == "--"
    return char == "*"


def _split_bold(text: str) -> tuple[str, str]:
    """The title between double stars at the start ("" when there is none), and what follows."""
    rest = _after_bold(text)
    if len(rest) == len(text):
        return "", text
    raw = text[: len(text) - len(rest)].strip()[2:-2]
    return unescape(raw, mask_code(raw)), rest


def _after_bold(text: str) -> str:
    """What follows the bold text at the start; all of it when there is none."""
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + 2] != "**":
        return text
    shown = mask_code(text)
    at = begin + 2
    while at < len(text):
        if shown[at] == "\\":
            at += 2
        elif shown.startswith("**", at) and at > begin + 2:
            return text[at + 2 :]
        else:
            at += 1
    return text


def _fields(shown: str) -> dict[str, str]:
    return {_key(found): (found[2] or found[4] or "").strip() for found in _FIELD.finditer(shown)}


def _key(found: re.Match[str]) -> str:
    return str(found[1] or found[3]).strip().lower()


def _status(box: str, fields: dict[str, str], shown: str) -> str:
    """The box decides; an empty one may be told more closely."""
    if box in _STATUS_OF_BOX:
        return _STATUS_OF_BOX[box]
    suffix = _SUFFIX.search(shown)
    told = (fields.get("status", "") or (suffix[1] if suffix else "")).lower().replace(" ", "_")
    return told if told in ("in_progress", "blocked", "cancelled") else "todo"


def _priority(shown: str, fields: dict[str, str]) -> str:
    typed = _TYPED_PRIORITY.search(shown)
    sign = _SIGN.search(shown)
    told = fields.get("priority") or (typed[1] if typed else "") or (_SIGNS[sign[0][0]] if sign else "")
    return told.lower() if told.lower() in PRIORITIES else "medium"


def _words(rest: str) -> str:
    """What is left of a line when everything that means something else is taken away."""
    text = rest
    for pattern in (_ID, _FIELD, _SUFFIX, _TYPED_PRIORITY, _DATED, _SIGN):
        text = _without(pattern, text)
    words = fold(text).split(" ")
    while words and _TAG.fullmatch(words[-1]):  # within a sentence a tag is a word
        words.pop()
    text = " ".join(words)
    return unescape(text, mask_code(text)).strip().strip("*").strip()


def _without(pattern: re.Pattern[str], text: str) -> str:
    """`text` without what `pattern` finds outside code spans."""
    return _cut(text, lambda _: True, pattern)


def _cut(text: str, chosen: Callable[[re.Match[str]], bool], pattern: re.Pattern[str]) -> str:
    pieces: list[str] = []
    done = 0
    for found in pattern.finditer(mask_code(text)):
        if chosen(found):
            start = found.start()
            if text[start - 1 : start] == " " and start - 1 >= done:
                start -= 1  # the space that set it apart goes with it
            pieces.append(text[done:start])
            done = found.end()
    return "".join([*pieces, text[done:]])


def _added(tail: str, sign: str) -> str:
    """`tail` with one more sign, before the id: that must stay last to be one."""
    found = _ID.search(mask_code(tail))
    end = found.start() if found else len(tail.rstrip())
    before, after = tail[:end].rstrip(), tail[end:]
    return f"{before} {sign}{' ' + after if found else after}"
