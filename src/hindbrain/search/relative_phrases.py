"""English phrases that count from today: yesterday, last week, the past month, 3 days ago, late May.

Knows how people count, not how the calendar is named (that is `calendar_phrases`).
"""

from datetime import date

from hindbrain.search.calendar_phrases import (
    MONTHS,
    ORDINALS,
    SEASONS,
    VERBS_TOO,
    ends_phrase,
    read_month_first,
    read_season,
    read_year,
    resolve_year,
)
from hindbrain.search.date_tokens import Found, Reader, Words, found_at, one_unit, read_count, read_unit
from hindbrain.search.periods import (
    Period,
    Turn,
    Unit,
    about,
    add,
    add_days,
    months_of,
    one_day,
    part_of,
    rolling,
    unit_turn,
    weekday_turn,
    weekend_turn,
)

WEEKDAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS = {name.lower(): number for number, name in enumerate(WEEKDAY_NAMES)}
# Not "sat", "sun", "wed": these are words.
_SHORT_WEEKDAYS = {"mon": 0, "tue": 1, "tues": 1, "weds": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4}
_TURNS: dict[str, Turn] = {"last": "last", "previous": "last", "this": "this", "next": "next"}
_PARTS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def back_from(day: date, count: int, unit: Unit, *, exact: bool) -> Period:
    """Return what "`count` units before `day`" covers; a vague count covers one unit more to each side."""
    middle = add(day, -count, unit)
    if exact:
        return about(middle, unit)
    return Period(about(add(middle, -1, unit), unit).start, about(add(middle, 1, unit), unit).end)


def read_plain_day(words: Words, i: int, today: date, _cued: bool) -> Found | None:
    if words.at(i) == "the" and words.at(i + 1) == "day":
        shift = {("before", "yesterday"): -2, ("after", "tomorrow"): 2}.get(
            (words.at(i + 2), words.at(i + 3))
        )
        return None if shift is None else Found(i + 4, one_day(add_days(today, shift)))
    if words.at(i) == "the" and (words.at(i + 2), words.at(i + 3)) == ("before", "last"):
        unit = one_unit(words, i + 1)
        if unit is None or unit == "day":
            return None
        return Found(i + 4, unit_turn(unit_turn(today, "last", unit).start, "last", unit))
    if words.at(i) == "last" and words.at(i + 1) == "night":
        return Found(i + 2, one_day(add_days(today, -1)))
    if words.at(i) == "this" and words.at(i + 1) in ("morning", "afternoon", "evening"):
        return Found(i + 2, one_day(today))
    days = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}.get(words.at(i))
    return None if days is None else Found(i + 1, one_day(add_days(today, days)))


def read_turned(words: Words, i: int, today: date, cued: bool) -> Found | None:
    """Read "last week", "this weekend", "next Tuesday", "last May", "last summer", "this past month"."""
    if words.at(i) == "this" and words.at(i + 1) in ("past", "last"):
        return read_rolling(words, i + 1, today, cued)
    turn = _TURNS.get(words.at(i))
    if turn is None or words.at(i - 1) in ("the", "my", "our") or words.at(i + 2) == "of":
        return None
    name = words.at(i + 1)
    period = _turn(words, i + 1, turn, today)
    if (
        period is None
        and name in MONTHS
        and name != "mar"
        and (name not in VERBS_TOO or words.is_capital(i + 1))
    ):
        period = resolve_year(today, lambda year: months_of(year, MONTHS[name]), turn)
    if period is None and name in SEASONS and ends_phrase(words, i + 2):
        period = resolve_year(today, lambda year: months_of(year, SEASONS[name], 3), turn)
    return found_at(i + 2, period)


def _turn(words: Words, i: int, turn: Turn, today: date) -> Period | None:
    name = words.at(i)
    if name == "weekend":
        return weekend_turn(today, turn)
    weekday = _WEEKDAYS.get(name, _SHORT_WEEKDAYS.get(name))
    if weekday is not None:
        return weekday_turn(today, turn, weekday)
    unit = one_unit(words, i)
    return None if unit is None or unit == "day" else unit_turn(today, turn, unit)


def read_rolling(words: Words, i: int, today: date, _cued: bool) -> Found | None:
    """Read "the past month", "the last year", "last 3 days", "past few weeks", "next two weeks"."""
    has_the = words.at(i) == "the"
    i += has_the
    turn = words.at(i)
    if turn not in ("last", "past", "previous", "next"):
        return None
    count = read_count(words, i + 1)
    j, number, exact = count or (i + 1, 1, True)
    unit = read_unit(words, j)
    if turn == "past" and words.at(j) == "weekend":
        return Found(j + 1, weekend_turn(today, "last"))
    # "last week" is a week of the calendar, "the last week" is seven days; "the last day" of what?
    bare = count is None and not (has_the or turn == "past" or words.at(i - 1) == "this")
    if unit is None or bare or words.at(j + 1) == "of" or (count is None and unit == "day"):
        return None
    period = rolling(today, -number if turn == "next" else number + (0 if exact else 1), unit)
    return Found(j + 1, period, exact=exact)


def read_ago(words: Words, i: int, today: date, _cued: bool) -> Found | None:
    """Read "3 days ago", "a couple of weeks ago", "a few years back", "the Wednesday two months ago"."""
    j = i + (words.at(i) == "the")
    weekday = _WEEKDAYS.get(words.at(j))
    count = read_count(words, j if weekday is None else j + 1)
    if count is None or (weekday is None and j > i):
        return None
    j, number, exact = count
    unit = read_unit(words, j)
    if unit is None or words.at(j + 1) not in ("ago", "back"):
        return None
    if weekday is not None:
        middle = add(today, -number, unit)
        return Found(j + 2, weekday_turn(add_days(middle, 4), "last", weekday), exact=False)
    return Found(j + 2, back_from(today, number, unit, exact=exact), exact=exact and unit == "day")


def read_weekday(words: Words, i: int, today: date, cued: bool) -> Found | None:
    """Read "Tuesday" where it is announced, unless it is a habit ("on Monday mornings")."""
    weekday = _WEEKDAYS.get(words.at(i))
    if weekday is None or not cued or words.at(i + 1) in ("mornings", "afternoons", "evenings", "nights"):
        return None
    return Found(i + 1, weekday_turn(today, "last", weekday), yearless=True)


def read_part(words: Words, i: int, today: date, _cued: bool) -> Found | None:
    """Read "late May", "mid-August 2023", "the end of summer 2023", "the second week of November"."""
    j = i + (words.at(i) == "the")
    word = words.at(j)
    is_week = (word in ORDINALS or word == "last") and words.at(j + 1) == "week" and words.at(j + 2) == "of"
    if word not in _PARTS and not is_week:
        return None
    if is_week:
        j += 3
    elif word in ("beginning", "start", "middle", "end"):
        if words.at(j + 1) != "of":
            return None
        j += 2
    else:
        j += 2 if words.at(j + 1) == "-" else 1
    whole = _whole(words, j, today)
    if whole is None or (is_week and (whole.period.end - whole.period.start).days > 31):
        return None
    start, end = whole.period
    if not is_week:
        period = part_of(whole.period, _PARTS[word], 3)
    elif word == "last":
        period = Period(add_days(end, -7), end)
    else:
        first = add_days(start, 7 * ORDINALS[word] - 7)
        period = Period(first, add_days(first, 7))
    return Found(whole.stop, period, exact=False, yearless=whole.yearless)


def _whole(words: Words, i: int, today: date) -> Found | None:
    """Read what can have an early and a late part: a month, a season, a year, last or this month."""
    candidates = [
        reader(words, i, today, True) for reader in (read_month_first, read_season, read_year, read_turned)
    ]
    found = [whole for whole in candidates if whole and (whole.period.end - whole.period.start).days >= 28]
    return max(found, default=None, key=lambda whole: whole.stop)


RELATIVE_READERS: tuple[Reader, ...] = (
    read_plain_day,
    read_turned,
    read_rolling,
    read_ago,
    read_weekday,
    read_part,
)
