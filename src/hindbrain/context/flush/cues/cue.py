"""A cue: a name, a category, a pattern; and the fragments that many patterns share.

A pattern meets one sentence of a person, without its lead-in ("ok, thanks,") and with quotes blanked out; the
group `rest` is what must not point at something that only the conversation shows. Precision first: a cue that
is right in most cases only is marked doubtful, and its finds wait for a person.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

# How the memory is worded: the sentence in the third person; "User wants: rest"; the name to call them by;
# "Decided: rest"; "Decided not to rest"; the rest alone; the sentence as it is, or quoted.
Shape: TypeAlias = Literal["user", "wants", "named", "decided", "against", "rest", "plain", "quoted"]


class Cue(NamedTuple):
    name: str
    category: str
    pattern: str  # met without regard to case
    shape: Shape = "user"
    sure: bool = True
    importance: float = 0.6  # 0..1
    needs_name: bool = False  # counts only with a proper name, a number or code in the rest
    standing: bool = False  # a wish for all time; "you" in it is the agent
    announced: bool = False  # said to be lasting in so many words


CAP = r"(?-i:[A-ZÀ-ÖØ-Þ][\w’'.-]*)"
NAME = rf"{CAP}(?: {CAP}){{0,3}}"
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
DAY = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}"
    rf"|{MONTH} \d{{1,4}}|{WEEKDAY}|tomorrow|tonight"
    rf"|(?:next|this|end of(?: the)?|the end of|early|late|mid)[ -](?:week"
    rf"|month|year|quarter|{MONTH}|{WEEKDAY}|weekend)"
    rf"|in {MONTH}|by {MONTH}|\d{{1,2}}[./]\d{{1,2}}(?:[./]\d{{2,4}})?"
    rf"|(?:the )?(?:first|\d{{1,2}}(?:st|nd|rd|th))\b"
    rf"|q[1-4]\b|christmas|easter|new year)"
)
DATE = rf"(?:{DAY}|\d{{1,2}}(?::\d\d)? ?(?:am|pm)\b)"
