"""The proof that no line of anybody else is lost, by what notes held before and after each change. Pure.

Lines are counted, like money in a ledger: each one that a change takes out of a note must come in again by
another change, into a note that is still there. Free to go are blank lines, lines that learning itself wrote,
and a memory's line that stays with other fields, struck through, or in words that say more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hindbrain.vault.items.item import MemoryItem, parse_items
from hindbrain.vault.parse import decode_note

_MOST_NAMED = 20  # lines in a report
_WORD = re.compile(r"\w+")


class Change(NamedTuple):
    """One change of one note; None stands for a note that is not there."""

    path: str
    before: bytes | None
    after: bytes | None


class Lost(NamedTuple):
    """A line that nobody finds again."""

    path: str
    line: str


class Proof(NamedTuple):
    holds: bool = True
    changes: int = 0  # that were looked at
    moved: int = 0  # lines of others that stand in another note now
    lost: tuple[Lost, ...] = ()
    rolled_back: bool = False
    report: tuple[str, ...] = ()  # for people: what could not be taken back, or who did it


def prove(
    changes: Sequence[Change],
    *,
    ours: Callable[[str, str], bool],
    now: Callable[[str], bytes | None],
    vouching: Iterable[str] = (),
) -> Proof:
    """`ours(path, line)`: was it written by learning? `now`: what a note holds at this moment.

    `vouching`: notes that held already what was to be put there, from a time that was killed perhaps.
    """
    gone: Counter[str] = Counter()
    come: Counter[str] = Counter()
    gained: dict[str, Counter[str]] = {}
    places: dict[str, str] = {}  # a line that went, and from which note
    taken = {change.path: change.after is None for change in changes}  # by the last change of each
    for change in changes:
        out, into = _moved(change, ours)
        gone.update(out)
        places |= {line: change.path for line in out if line not in places}
        if into and (taken[change.path] or now(change.path) is not None):
            come.update(into)
            gained.setdefault(change.path, Counter()).update(into)
    for path in set(vouching):
        # What came in by a change counts once.
        come.update(_lines(now(path)) - gained.get(path, Counter()))
    missing = gone - come
    lost = [Lost(places[line], line) for line in missing if not _is_back(places[line], line, now)]
    return Proof(not lost, len(changes), sum((gone & come).values()), tuple(lost[:_MOST_NAMED]))


def _moved(change: Change, ours: Callable[[str, str], bool]) -> tuple[Counter[str], Counter[str]]:
    """The lines that the change takes out, as far as they are not ours to take; and those it puts in."""
    before, after = _lines(change.before), _lines(change.after)
    out, into = before - after, after - before
    free = [line for line in out if ours(change.path, line)]
    for line in free:
        del out[line]
    if out and change.before is not None and change.after is not None:
        for line in _lines_kept_as_memories(change, out):
            del out[line]
    return out, into


def _lines_kept_as_memories(change: Change, out: Counter[str]) -> list[str]:
    """Those whose memory still stands in the note, struck through perhaps, and says no less."""
    said_before = _memories(change.before)
    said_after = _memories(change.after)
    texts = {_plain(line): line for line in _raw_lines(change.before)}
    kept: list[str] = []
    for line in out:
        item = said_before.get(texts.get(line, line))
        if item is None or item.id not in {other.id for other in said_after.values()}:
            continue
        new = next(other for other in said_after.values() if other.id == item.id)
        if _says_all_of(new, item):
            kept.append(line)
    return kept


def _says_all_of(new: MemoryItem, old: MemoryItem) -> bool:
    """The same words, or of a line that is not the owner's own all of them and more."""
    if new.text == old.text:
        return True
    return old.source != "user" and _words(old.text) <= _words(new.text)


def _memories(data: bytes | None) -> dict[str, MemoryItem]:
    """The memories with an id, by the text of their first line."""
    raw = _raw_lines(data)
    return {raw[item.line - 1]: item for item in parse_items(raw, path="", category="fact") if item.id}


def _is_back(path: str, line: str, now: Callable[[str], bytes | None]) -> bool:
    """Somebody has put it where it was, an undo perhaps."""
    return line in _lines(now(path))


def _lines(data: bytes | None) -> Counter[str]:
    return Counter(plain for line in _raw_lines(data) if (plain := _plain(line)))


def _raw_lines(data: bytes | None) -> list[str]:
    if data is None:
        return []
    return decode_note(data)[0].replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _plain(line: str) -> str:
    """Blanks do not make it another line: editors change them."""
    return " ".join(line.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
