"""Dates in a query: text and today in, windows of days out.

Owns how phrases join: "in X", "since X", "from X to Y", "the week before X". The phrases themselves are
read by `calendar_phrases`, `relative_phrases` and `chinese_dates`. Pure: knows no clock and no index.
"""

from dataclasses import dataclass
from datetime import date

from hindbrain.search.calendar_phrases import CALENDAR_READERS
from hindbrain.search.chinese_dates import find_chinese
from hindbrain.search.date_tokens import Found, Words, one_unit, read_count, read_unit, split_words
from hindbrain.search.periods import Period, add, add_days
from hindbrain.search.relative_phrases import RELATIVE_READERS, back_from

_READERS = CALENDAR_READERS + RELATIVE_READERS
_CUES = frozenset(("in", "during", "on", "by", "of", "from", "around", "throughout", "over", "year"))
_QUANTITY_CUES = frozenset(("on", "over", "around"))  # "over 2000" is a quantity before it is a year
_TAKEN = "\0"  # stands where a phrase was read, so that nothing is read twice or across it
_TO, _OR_TO = frozenset(("to", "until", "till", "through", "-", "–")), frozenset(("and", "to", "-", "–"))


@dataclass(frozen=True, slots=True)
class DateWindow:
    """Days that a query speaks of: start <= day < end."""

    start: date  # date.min: open
    end: date  # exclusive; date.max: open
    text: str  # the words that say so, with the preposition
    span: tuple[int, int]  # where they stand in the query
    exact: bool  # False: how wide the window is, is our guess ("a few weeks ago", "late May")


def find_windows(text: str, *, today: date) -> tuple[DateWindow, ...]:
    """Return the windows that `text` names, in its order, none overlapping another; () when it names none."""
    windows = [_window(text, span, period, exact) for span, period, exact in find_chinese(text, today)]
    words = split_words(_without(text, windows))
    i = 0
    while i < len(words.lower):
        found = _read_joined(words, i, today)
        if found is None or found.period.start >= found.period.end:
            i += 1
            continue
        span = (words.spans[i][0], words.spans[found.stop - 1][1])
        windows.append(_window(text, span, found.period, found.exact))
        i = found.stop
    return tuple(sorted(windows, key=lambda window: window.span))


def _without(text: str, windows: list[DateWindow]) -> str:
    """Return the text, of the same length, with a sign that no phrase has in place of what was read."""
    signs = list(text)
    for window in windows:
        signs[slice(*window.span)] = _TAKEN * len(window.text)
    return "".join(signs)


def _window(text: str, span: tuple[int, int], period: Period, exact: bool) -> DateWindow:
    return DateWindow(period.start, period.end, text[span[0] : span[1]], span, exact)


def _read_joined(words: Words, i: int, today: date) -> Found | None:
    word = words.at(i)
    if word in ("from", "between"):
        found = _read_range(words, i + 1, today, _TO if word == "from" else _OR_TO)
        if found is not None or word == "between":
            return found
    if word in ("since", "until", "till", "before", "after"):
        found = _read(words, i + 1, today, cued=True)
        return found and found._replace(period=_bounded(found.period, word))
    if word not in _CUES:
        return _read_offset(words, i, today) or _read(words, i, today, cued=False)
    is_quantity = word in _QUANTITY_CUES and len(words.at(i + 1)) == 4
    return _read_offset(words, i + 1, today) or _read(words, i + 1, today, cued=not is_quantity)


def _read(words: Words, i: int, today: date, *, cued: bool) -> Found | None:
    """Return the longest phrase that begins at token `i`."""
    found: Found | None = None
    for reader in _READERS:
        candidate = reader(words, i, today, cued)
        if candidate is not None and (found is None or candidate.stop > found.stop):
            found = candidate
    return found


def _bounded(period: Period, word: str) -> Period:
    if word == "since":
        return Period(period.start, date.max)
    if word == "after":
        return Period(period.end, date.max)
    return Period(date.min, period.start if word == "before" else period.end)


def _read_range(words: Words, i: int, today: date, joints: frozenset[str]) -> Found | None:
    """Read "July to October", "August 11 and August 15 2023": the year of one end holds for the other."""
    first = _read(words, i, today, cued=True)
    if first is None or words.at(first.stop) not in joints:
        return None
    second = _read(words, first.stop + 1, today, cued=True)
    if second is None:
        return None
    if first.yearless:
        first = _read(words, i, add_days(second.period.end, -1), cued=True) or first
    elif second.yearless:
        year_later = add_days(add(first.period.start, 1, "year"), -1)
        second = _read(words, first.stop + 1, year_later, cued=True) or second
    return Found(second.stop, Period(first.period.start, second.period.end), first.exact and second.exact)


def _read_offset(words: Words, i: int, today: date) -> Found | None:
    """Read "the week before X", "two weeks after X", "last weekend before X", where X is a date."""
    if words.at(i) == "last" and words.at(i + 2) == "before":
        anchor = _read(words, i + 3, today, cued=True)
        moved = anchor and _read(words, i, anchor.period.start, cued=False)
        return moved and anchor and moved._replace(stop=anchor.stop)
    if words.at(i) == "the":
        unit, j, count = one_unit(words, i + 1), i + 2, None
    else:
        count = read_count(words, i)
        unit, j = (read_unit(words, count[0]), count[0] + 1) if count else (None, i)
    if unit is None or words.at(j) not in ("before", "after"):
        return None
    anchor = _read(words, j + 1, today, cued=True)
    if anchor is None:
        return None
    sign = 1 if words.at(j) == "before" else -1
    if count is None:
        start, end = anchor.period
        near = Period(add(start, -1, unit), start) if sign > 0 else Period(end, add(end, 1, unit))
        return anchor._replace(period=near)
    return anchor._replace(
        period=back_from(anchor.period.start, sign * count[1], unit, exact=count[2]), exact=False
    )
