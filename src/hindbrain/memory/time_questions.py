"""Questions about time: what a day held, what is open, what was done last, when something was last done.

Pure: text and today in, a question out. The words for dates are the search's.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.search.date_cues import may_name_a_date
from hindbrain.search.day_forms import in_english
from hindbrain.search.day_questions import asks_what_is_open, is_only_about

if TYPE_CHECKING:
    from hindbrain.search.dates import DateWindow

Kind: TypeAlias = Literal["days", "open", "recent", "last"]
_LONGEST = 200  # characters: a longer text is no such question
_RECENT = re.compile(
    r"what (?:are|am|were|have) (?:we|you|i) (?:currently |been |just )*(?:working on|doing|up to)"
    r"(?: lately| recently| (?:right )?now| at the moment| currently| these days)?"
    r"|what(?: did we do| have we done|'s happened| happened| has happened)(?: lately| recently)"
    r"|what (?:did|have) (?:we|you|i) (?:do|done) (?:last|just now|most recently)"
    r"|where (?:did|have) (?:we|you|i) (?:leave|left|stop|stopped)(?: off)?"
)
_LAST_THING = re.compile(
    r"what (?:was|is) the (?:last|latest|most recent) (?:thing|run|task)"
    r"(?: (?:that )?(?:we|you|i) (?:did|worked on))?"
    r"|what did (?:we|you|i) do last"
)
_WORKING = re.compile(r"working on")
_WHEN = re.compile(
    r"when (?:did|have|had) (?:we|you|i) (?:last |most recently )?(?P<subject>.+)"
    r"|when (?:was|is) the last time (?:that )?(?:we|you|i) (?P<again>.+)"
    r"|when was (?P<passive>.+ last \w+)"
)
_UNFINISHED = re.compile(
    r"what (?:did|have) (?:we|you|i) (?:not (?:yet )?|never )(?:finish(?:ed)?|complete[d]?|done?)(?: yet)?"
    r"|what (?:didn't|haven't) (?:we|you|i) (?:finish(?:ed)?|complete[d]?|done?)(?: yet)?"
    r"|(?:what|which (?:things|runs)) (?:is|are|was|were) (?:still )?"
    r"(?:unfinished|not (?:yet )?(?:finished|done))(?: yet)?"
)
_FAILING = re.compile(
    r"what (?:is|are|keeps) (?:still )?(?:failing|broken|going wrong)"
    r"|what still (?:fails|does not work|doesn't work)"
    r"|what are (?:the|our) open (?:issues|problems|failures)"
    r"|(?:which|what) (?:issues|problems|failures) (?:are|remain) (?:still )?(?:open|unsolved|left)"
)
_TASKS = re.compile(r"\btasks?\b|\bto-?dos?\b")
_WE_DID = re.compile(
    r"\b(?:did|have|had) (?:we|you|i)\b|\bwe (?:did|have)\b|\bhappened\b|\bdone\b", re.IGNORECASE
)
_FAILED = frozenset("fail fails failed failing failure failures wrong broke broken".split())  # noqa: SIM905
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


class TimeQuestion(NamedTuple):
    kind: Kind
    windows: tuple[DateWindow, ...] = ()
    subject: str = ""  # what it must be about; "" for anything
    only: Literal["", "failed", "tasks"] = ""  # nothing else is asked for
    most: int = 0  # that are asked for; 0 when it does not say
    with_tasks: bool = False  # open tasks are part of the answer


def read_question(text: str, today: date) -> TimeQuestion | None:
    """What is asked about time; None when something else is asked."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    said = in_english(text)
    plain = " ".join(said.lower().replace("’", "'").strip(" \t\n?!.").split())
    return _about_open(said, plain) or _about_last(plain) or _about_days(said, today)


def _about_open(said: str, plain: str) -> TimeQuestion | None:
    if _FAILING.fullmatch(plain):
        return TimeQuestion("open", only="failed")
    if _UNFINISHED.fullmatch(plain):
        return TimeQuestion("open")
    if asks_what_is_open(said):
        return TimeQuestion("open", only="tasks" if _TASKS.search(plain) else "")
    return None


def _about_last(plain: str) -> TimeQuestion | None:
    if _LAST_THING.fullmatch(plain):
        return TimeQuestion("recent", most=1)
    if _RECENT.fullmatch(plain):
        return TimeQuestion("recent", with_tasks=bool(_WORKING.search(plain)))
    if found := _WHEN.fullmatch(plain):
        return TimeQuestion("last", subject=next(filter(None, found.groups()), ""), most=1)
    return None


def _about_days(said: str, today: date) -> TimeQuestion | None:
    if not may_name_a_date(said):
        return None
    from hindbrain.search.dates import find_windows  # a grammar: most questions do without it

    windows = find_windows(said, today=today)
    if not windows or any(window.start == date.min for window in windows):
        return None
    if is_only_about(said, windows):
        return TimeQuestion("days", windows)
    left = _without(said, windows)
    words = _WORD.findall(left.lower())
    if not _FAILED.isdisjoint(words):
        rest = " ".join(word for word in words if word not in _FAILED)
        if is_only_about(f"{rest} {windows[0].text}", find_windows(f"{rest} {windows[0].text}", today=today)):
            return TimeQuestion("days", windows, only="failed")
    return TimeQuestion("days", windows, subject=left) if _WE_DID.search(left) else None


def _without(text: str, windows: tuple[DateWindow, ...]) -> str:
    signs = list(text)
    for window in windows:
        signs[slice(*window.span)] = " " * len(window.text)
    return " ".join("".join(signs).split())
