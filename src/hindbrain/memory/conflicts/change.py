"""Statements that tell a change: what it was before, what it is now, and of what.

    Switched from VS Code to Neovim    Standup moved to 10:00    Uses pnpm, not npm

Such a statement ends an older one that says what was before, of the same thing and in no narrower case. The
verbs are listed in `wording`, the forms below; what none of them reads is no change, and both statements
stay. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from hindbrain.memory.conflicts.statement import (
    Statement,
    is_event,
    is_number,
    read_statement,
    spelled,
    words_of,
)
from hindbrain.memory.conflicts.wording import ATTRIBUTES, CHANGES, EXCHANGED, STATES, word_set
from hindbrain.vault.items.item_text import unlinked

_VERBS = "|".join(CHANGES.split())
# Each form names what was (`before`) and what is (`after`, or the end of `head`); other words tell of what.
_FORMS = tuple(
    re.compile(form, re.I)
    for form in (
        rf"\b(?:{_VERBS})\b.*?\bfrom\s+(?P<before>.+?)\s+(?:over\s+)?to\s+(?P<after>.+)$",
        r"\brenamed\s+(?:.*\s)?(?P<before>\S+)\s+to\s+(?P<after>.+)$",
        r"\b(?:replaced|swapped)\s+(?P<before>.+?)\s+(?:with|by|for)\s+(?P<after>.+)$",
        r"^(?P<after>.+?)\s+(?:replaced|replaces|succeeded|took over from)\s+(?P<before>.+?)\s+as\s+.+$",
        r"^(?P<head>.+?),?\s+instead of\s+(?P<before>.+)$",
        r"^(?P<head>[^,]+?)(?:,| and| but)\s+not\s+(?P<before>[^,;]+)$",
        r"\bleft\s+(?P<before>.+?)\s+(?:and\s+(?:now\s+)?(?:works?|joined)\s+(?:(?:at|for)\s+)?|for\s+|to\s+join\s+)"
        r"(?P<after>.+)$",
    )
)
_RENAMED, _NOT, _LEFT = _FORMS[1], _FORMS[-2], _FORMS[-1]
_SWITCHED = re.compile(r"\b(?:switched|moved|migrated|changed)\s+(?:over\s+)?to\s", re.I)
_TO = re.compile(rf"\b(?:{_VERBS})\b.*?\bto\s+(?P<after>.+)$", re.I)
_TAIL = re.compile(r"\s(?:for|in|on|at|when|during|since|after|as|last|this|next)\s", re.I)
_MAX_VALUE = 3  # words
_CLOCK = re.compile(r"\d{1,2}:\d\d(?:[ap]m)?|\d{1,2}[ap]m")
# A plan, a condition or a denial of the change is none.
_UNSURE = frozenset(("plan", "if", "seldom", "almost", "half", "past", "except", "not not"))
_WHEN = words_of(word_set("week month year day yesterday today tomorrow back forward ago"))
_STATES = words_of(STATES)
_CHANGES = words_of(CHANGES.split()) | words_of(word_set("replaced succeeded left joined swapped"))
_ATTRIBUTES = words_of(ATTRIBUTES)
_FRAMES = words_of(word_set("project team meeting daily weekly current our app server"))
_ROLE = re.compile(r"\bas\s+((?:(?:an?|the|my|main|default)\s+)?\w+)\s*$", re.I)
_EXCHANGED = tuple(words_of(line.split()) for line in EXCHANGED.strip().splitlines())


class Change(NamedTuple):
    """What a statement says of a change, in words as statements have them."""

    before: frozenset[str]  # empty: it does not say
    after: frozenset[str]  # empty: it is at the end of `head`
    around: frozenset[str]  # of what, and in which case
    head: tuple[str, ...] = ()  # of what, and behind it what it is now
    of: str = ""  # a word that the older statement must have

    @property
    def state(self) -> frozenset[str]:
        """What is so after it."""
        return self.around | self.after | frozenset(self.head)


@lru_cache(maxsize=4096)
def read_change(text: str) -> Change | None:
    """The change that a statement's text tells; None when it tells none for sure."""
    statement = read_statement(text)
    if statement.turns & _UNSURE:
        return None
    for form in (*_FORMS, _TO):
        if found := form.search(text):
            return None if "not" in statement.turns and form is not _NOT else _change(found, form)
    return None


def tells_change(text: str) -> bool:
    return read_change(read_statement(unlinked(text)).text) is not None


def _change(found: re.Match[str], form: re.Pattern[str]) -> Change | None:
    spans = {name: found.span(name) for name in form.groupindex}
    for name, (start, stop) in spans.items():
        if name != "head" and (tail := _TAIL.search(found.string, start, stop)):
            spans[name] = (start, tail.start())
    rest = found.string
    for start, stop in sorted(spans.values(), reverse=True):
        rest = f"{rest[:start]} {rest[stop:]}"
    # Inside a sentence behind a word, since a capital at the beginning would say nothing.
    said = {name: f"{'is ' if a else ''}{found.string[a:b]}" for name, (a, b) in spans.items()}
    words = {name: read_statement(text).words for name, text in said.items()}
    before, after = (frozenset(words.get(name, ())) for name in ("before", "after"))
    head = tuple(word for word in words.get("head", ()) if word not in _STATES)
    around = _telling(frozenset(read_statement(rest).words))
    of = "work" if form is _LEFT else "name" if form is _RENAMED and not around else ""
    return Change(before, after, around, head, of) if after or head else None


def changed(old: Statement, new: Statement) -> str:
    """Say in a few words how `new` ends `old` by telling a change, or goes beyond one that `old` tells.

    "" when it does neither.
    """
    change, earlier = read_change(new.text), read_change(old.text)
    turns = old.turns - {"instead", "not"} if earlier is not None else old.turns
    if (turns and not _is_scheduled(old, new)) or (is_event(old) and earlier is None):
        return ""
    said = frozenset(old.words) if earlier is None else earlier.state
    if change is not None and change.before:
        return _ended(old, said, change)
    if change is None and earlier is None:
        return ""
    if reason := _renumbered(old, new, earlier, change):
        return reason
    return _exchanged(old, said, change) if change is not None and _SWITCHED.search(new.text) else ""


def _ended(old: Statement, said: frozenset[str], change: Change) -> str:
    """The older one says what was before, of the same thing."""
    if not change.before <= said or (change.after and change.after <= change.before):
        return ""
    if change.of and change.of not in said:
        return ""
    around = change.around
    if change.head:
        value = list(takewhile(lambda word: word not in said, reversed(change.head)))
        if not 0 < len(value) <= _MAX_VALUE:
            return ""
        around |= _telling(frozenset(change.head[: -len(value)]))
    roles = _roles(old.text)
    if _telling(said - change.before) - roles != around - change.before - roles:
        return ""
    return f"it was {spelled(old, change.before)} before"


def _renumbered(old: Statement, new: Statement, earlier: Change | None, change: Change | None) -> str:
    """The same words with one other time, date, count or version, and the change is about that."""
    before, after = (Counter(word for word in one.words if is_number(word)) for one in (old, new))
    lost, gained = list((before - after).elements()), list((after - before).elements())
    if not lost or not gained or not _of_one_kind(lost, gained):
        return ""
    if (change and not set(gained) <= change.after) or (earlier and not set(lost) <= earlier.after):
        return ""
    was, now = (_telling(frozenset(one.words)) for one in (old, new))
    # "The database is PostgreSQL 15" says what PostgreSQL is used for; the change need not repeat it.
    if not now or not now <= was or was - now - _ATTRIBUTES - _FRAMES:
        return ""
    return f"{spelled(old, lost)} became {spelled(new, gained)}"


def _exchanged(old: Statement, said: frozenset[str], change: Change) -> str:
    """ "Switched to Firefox" beside "Uses Chrome": things of which people use one."""
    for kind in _EXCHANGED:
        before, after = said & kind, change.after & kind
        if before and after and not before & after and _telling(said - kind) == change.around - kind:
            return f"{spelled(old, before)} was exchanged"
    return ""


def of_one_use(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether both name a thing of one kind, of which people use one at a time."""
    return any(one & kind and other & kind for kind in _EXCHANGED)


def is_tool(words: frozenset[str]) -> bool:
    return any(words & kind for kind in _EXCHANGED)


def _telling(words: frozenset[str]) -> frozenset[str]:
    """Without dates, numbers, and verbs that say only that it is or became so."""
    plain = frozenset(word for word in words if not is_number(word))
    return plain - _STATES - _CHANGES - _WHEN


def _roles(text: str) -> frozenset[str]:
    """ "as editor": it says what a thing is used for, which the change need not repeat."""
    named = frozenset(word for found in _ROLE.findall(text) for word in read_statement(found).words)
    return named & _ATTRIBUTES


def _is_scheduled(old: Statement, new: Statement) -> bool:
    """ "Planned for 5 June" is how things are, as far as its date goes."""
    return old.turns == {"plan"} and bool(old.times) and bool(new.times)


def _of_one_kind(before: list[str], after: list[str]) -> bool:
    """Are both one number, or parts of a date?"""
    if any(len(words) > 1 and any(word[0] != "@" for word in words) for words in (before, after)):
        return False
    kinds = [{_kind(word) for word in words} for words in (before, after)]
    return kinds[0] == kinds[1] or kinds == [{"number"}, {"clock"}]


def _kind(number: str) -> str:
    if number[0] == "@":
        return number[:2]
    return "clock" if _CLOCK.fullmatch(number) else number[0] if number[0] in "$€£¥" else "number"
