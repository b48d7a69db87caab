"""Questions about days as such ("what did we do yesterday?") and about open work ("what is still open?").

Such a question names no subject: every word beside the date is one with which people ask. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from hindbrain.search.date_cues import may_name_a_date

if TYPE_CHECKING:
    from hindbrain.search.dates import DateWindow

_LONGEST = 300  # characters: a longer text has a subject
_SOME_DAY = date(2001, 1, 3)  # whether a phrase names a day does not depend on the day it is said
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ASKING = frozenset(
    """
    a about accomplish accomplished achieve achieved activities activity again all an and any anything are at
    been briefly can catch changed complete completed could day days diary did do does doing done entries
    entry event events ever everything exactly finish finished for from get give go going got had happen
    happened happening happens has have how i i've in into is journal just know last let list log logged
    logs look main me mine my note notes now of on our overview please quick quickly recap remember remind
    review run runs s saw say see session sessions short show so some something summarise summarize summary
    tell that the
    then there thing things to together up us was we we've went were what what's which who with work worked
    working would wrote you your 我们 我 做 了 什么 做了什么 我们做了什么 我做了什么 发生了什么
    """.split()  # noqa: SIM905  readable
)
# Without one of these it is no question: "see you tomorrow".
_QUESTION = frozenset(
    """
    what what's which how anything something everything did done happened was were been summarise summarize
    summary recap catch overview review show list tell remind log logs journal diary notes note events 什么
    做了什么 我们做了什么 我做了什么 发生了什么
    """.split()  # noqa: SIM905  readable
)
_OPEN = frozenset("open pending unfinished outstanding remaining undone left todo todos tasks task".split())  # noqa: SIM905
_OPEN_ASKING = _ASKING | frozenset("still currently yet next need needs should must".split())  # noqa: SIM905
_OPEN_QUESTION = frozenset("what what's which anything any list show still task tasks todo todos".split())  # noqa: SIM905


def asks_about_days(text: str) -> bool:
    """Does it ask what a day or a week held, and for nothing in particular?"""
    if len(text) > _LONGEST or not may_name_a_date(text):
        return False
    return is_only_about(text, _windows(text))


def is_only_about(text: str, windows: Sequence[DateWindow]) -> bool:
    """Is there nothing but the windows and words of asking? A bare date ("May 2026") may be a subject."""
    if not windows or len(text) > _LONGEST or any(window.start == date.min for window in windows):
        return False
    words = _words(text, windows)
    if not words:
        return not any(map(str.isdecimal, text))
    return _ASKING.issuperset(words) and not _QUESTION.isdisjoint(words)


def asks_what_is_open(text: str) -> bool:
    """Does it ask for open tasks, and for those of nothing in particular?"""
    if len(text) > _LONGEST:
        return False
    words = set(_words(text, ()))
    if words.isdisjoint(_OPEN):
        return False
    words = set(_words(text, _windows(text)))
    return bool(words & _OPEN and words & _OPEN_QUESTION) and (_OPEN | _OPEN_ASKING).issuperset(words)


def _windows(text: str) -> tuple[DateWindow, ...]:
    if not may_name_a_date(text):
        return ()
    from hindbrain.search.dates import find_windows  # a grammar: most prompts do without it

    return find_windows(text, today=_SOME_DAY)


def _words(text: str, windows: Sequence[DateWindow]) -> list[str]:
    left = list(text)
    for window in windows:
        left[slice(*window.span)] = " " * len(window.text)
    return [word.replace("’", "'") for word in _WORDS.findall("".join(left).lower())]
