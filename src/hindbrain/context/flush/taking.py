"""What an agent wrote into its flush file, taken into the vault's note of that day, each statement once.

Every statement passes the memory's policy as the agent's word: secrets are masked, what must not be learned
again is left out, what looks like an order or like a stranger's word waits in the inbox for a person. First
the note, then the inbox, then the record of what was taken: whatever dies in between is done again, and what
stands there already is not written twice. Lines that stand in the note are never changed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.context.flush.statements import Statement, statements_of
from hindbrain.context.flush.taken import Taken
from hindbrain.memory.daily.daily_note import add_items
from hindbrain.memory.notes.scribe import clean_text, compose_note
from hindbrain.memory.policy.own_output import strip_own_output
from hindbrain.memory.policy.provenance import agent_claim
from hindbrain.vault.inline import mask_code
from hindbrain.vault.items.item_line import read_line
from hindbrain.vault.items.item_text import escape, fold, unlinked
from hindbrain.vault.lines import NoteLines

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.policy.policy import Verdict
    from hindbrain.memory.service import Memory

HEADING = "From conversations"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?%])|!(?=\[)")  # tags, templates, pictures from elsewhere
_CALCULATED = re.compile(r"`(?=\s*\$?=)")  # code that Dataview would run
_KIND = re.compile(r"^\*\*[^*]{1,40}\*\*:\s+")
_IMPORTANCE = 0.5
_CATEGORIES = {"Decision": "decision", "Preference": "preference", "To do": "action"}


class TakenFlush(NamedTuple):
    note: str  # vault-relative; "" when there is none
    added: int  # lines
    held: int = 0  # in the inbox, for a person


def take_flush(memory: Memory, path: str, text: str, *, tags: Sequence[str]) -> TakenFlush:
    """`path`: of the flush file, whose name tells the day; `text`: all that it says.

    Raises what keeps the note from being written; then nothing is passed by, and it may be offered again.
    """
    from hindbrain.memory.policy.protected import check_writable

    day = day_of(path) or memory.today()
    note = _note_of(memory, day)
    taken = Taken(memory.state)
    new = _unknown(taken, day, text)
    if not new:
        return TakenFlush(note if memory.notebook.find(note) is not None else "", 0)
    check_writable(memory.root, note, layout=memory.layout)
    judged = [(one, _judged(memory, one)) for one in new]
    lines = [_line(memory, one.kind, verdict, note) for one, verdict in judged if verdict.action == "accept"]
    added = _add(memory, note, day, lines, tags) if lines else 0
    held = sum(_hold(memory, one, verdict, tags) for one, verdict in judged if verdict.action == "hold")
    taken.add(day, [one.digest for one in new])
    there = added or memory.notebook.find(note) is not None
    return TakenFlush(note if there else "", added, held)


def preview_flush(memory: Memory, path: str, text: str) -> TakenFlush:
    """What taking it would come to at most; changes nothing."""
    day = day_of(path) or memory.today()
    note = _note_of(memory, day)
    page = memory.notebook.find(note)
    said = frozenset(map(_bare, page.text.split("\n"))) if page is not None else frozenset()
    new = [one for one in _unknown(Taken(memory.state), day, text) if _plain(one.text) not in said]
    return TakenFlush(note, len(new))


def _unknown(taken: Taken, day: str, text: str) -> list[Statement]:
    known = taken.of(day)
    typed = clean_text(text.removeprefix("\ufeff"))
    return [one for one in statements_of(strip_own_output(typed).text) if one.digest not in known]


def day_of(path: str) -> str:
    """The day in the name of a file; "" when there is none."""
    for found in _DAY.findall(path.replace("\\", "/").rpartition("/")[2]):
        try:
            return date.fromisoformat(found).isoformat()
        except ValueError:
            continue
    return ""


def _note_of(memory: Memory, day: str) -> str:
    return memory.daily.path(day)


def _judged(memory: Memory, one: Statement) -> Verdict:
    """As the agent's word, or as less where the line itself says whose it is."""
    claimed = read_line(f"- {one.text}").value("source").casefold()
    return memory.policy.judge(one.text, source=agent_claim(claimed))


def _line(memory: Memory, kind: str, verdict: Verdict, note: str) -> str:
    words = escape(_inert(fold(verdict.text)))
    with contextlib.suppress(HindbrainError):  # the index can't be asked: the words are what counts
        words = memory.linked(words, note)
    told = f"**{kind}**: {words}" if kind else words
    return f"- {told} [source:: {verdict.source}]"


def _inert(text: str) -> str:
    """Nothing that Obsidian or a plugin of it would load, run or calculate."""
    text = _CALCULATED.sub("'", text)
    shown = mask_code(text) if "`" in text else text
    for match in reversed(list(_ACTIVE.finditer(shown))):
        at = match.start()
        text = text[:at] + ("&lt;" if text[at] == "<" else "") + text[at + 1 :]
    return text


def _add(memory: Memory, note: str, day: str, lines: Sequence[str], tags: Sequence[str]) -> int:
    added = 0

    def change(page: Page | None) -> bytes | None:
        nonlocal added
        data = page.data if page is not None else _first_text(memory, note, day, tags)
        said = {_bare(line) for line in NoteLines(data, repr(note)).texts}
        new = [line for line in dict.fromkeys(lines) if _bare(line) not in said]
        added = len(new)
        return add_items(data, HEADING, new, note) if new else None

    memory.notebook.edit(note, change)
    return added


def _bare(line: str) -> str:
    """What a line says, for comparing: without marks, fields, links and its kind."""
    return _plain(_KIND.sub("", unlinked(read_line(line).text)))


def _plain(text: str) -> str:
    return fold(unlinked(text)).casefold()


def _first_text(memory: Memory, note: str, day: str, tags: Sequence[str]) -> bytes:
    layout = memory.layout
    text = f"# {day}\n"
    if layout.role_of(note) == "daily":
        text = layout.first_text("daily", today=day, date=day)
    return compose_note("", text, type="daily", tags=tags, created=memory.today())


def _hold(memory: Memory, one: Statement, verdict: Verdict, tags: Sequence[str]) -> bool:
    """Let a person decide; False when they have, or when it waits."""
    from hindbrain.memory.inbox.inbox import Proposal

    text = fold(verdict.text)
    if memory.inbox.asked(text):
        return False
    reason = "; ".join(("an agent noted it before a compaction", *verdict.reasons))
    category = _CATEGORIES.get(one.kind, "fact")
    proposal = Proposal("", text, category, _IMPORTANCE, verdict.source, reason, tuple(tags), memory.today())
    try:
        memory.inbox.hold(proposal)
    except UsageError:  # nothing that a person could decide on
        return False
    return True
