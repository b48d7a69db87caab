"""Days that only hold on the day they are said ("tomorrow", "next Tuesday") get their date beside them.

Pure: text and a day in, text out. A plan looks ahead, so "Friday" is the next one.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHIFTS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}
_RELATIVE = re.compile(
    rf"\b(?:(?P<day>{'|'.join(_SHIFTS)})|(?P<turn>next|this|on|by|before"
    rf"|until|for) (?P<weekday>{'|'.join(_DAYS)})"
    r"|(?P<span>(?:next|this|last) (?:week|month|year|weekend|summer|winter|spring|fall|autumn)"
    r"|(?:days?|weeks?|months?|years?) (?:now|ago)))\b(?:'s\b)?(?!s)(?! \(\d{4})",
    re.IGNORECASE,
)
_EVERY = re.compile(r"\b(?:every|each|always|only|usually)\b", re.IGNORECASE)


def with_dates(text: str, said_on: date) -> str:
    """`text` with dates in parentheses; a habit ("on Fridays", "every Friday") needs none."""
    if _EVERY.search(text):
        return text
    return _RELATIVE.sub(lambda match: f"{match[0]} ({_date_of(match, said_on)})", text)


def _date_of(match: re.Match[str], said_on: date) -> str:
    if match["day"]:
        return (said_on + timedelta(days=_SHIFTS[match["day"].lower()])).isoformat()
    if match["weekday"]:
        ahead = (_DAYS.index(match["weekday"].lower()) - said_on.weekday() - 1) % 7 + 1
        return (said_on + timedelta(days=ahead)).isoformat()
    return f"said on {said_on.isoformat()}"
