"""Stretches of the calendar: pure date arithmetic that can't overflow.

Knows nothing of words or languages. A period is [start, end): the end is the first day that is not in it.
"""

from datetime import date, timedelta
from typing import Literal, NamedTuple

Unit = Literal["day", "week", "month", "quarter", "year", "decade"]
Turn = Literal["last", "this", "next"]

_MONTHS_IN: dict[Unit, int] = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS_IN: dict[Unit, int] = {"day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365, "decade": 3652}
_WEEKEND = 5  # Saturday, counted from Monday


class Period(NamedTuple):
    start: date
    end: date  # exclusive


def add_days(day: date, days: int) -> date:
    """Return the day so many days later, held at the ends of the calendar."""
    ordinal = day.toordinal() + days
    return date.fromordinal(min(max(ordinal, date.min.toordinal()), date.max.toordinal()))


def add(day: date, count: int, unit: Unit) -> date:
    """Return the day `count` units later; the 31st becomes the last day of a shorter month."""
    if unit not in _MONTHS_IN:
        return add_days(day, count * _DAYS_IN[unit])
    months = day.year * 12 + day.month - 1 + count * _MONTHS_IN[unit]
    first = _first_of(months)
    if first in (date.min, date.max):
        return first
    return add_days(first, min(day.day, (_first_of(months + 1) - first).days) - 1)


def one_day(day: date) -> Period:
    return Period(day, add_days(day, 1))


def day_of(year: int, month: int, day: int) -> Period | None:
    """Return the day, or None where the calendar has none (30 February)."""
    try:
        return one_day(date(year, month, day))
    except ValueError:
        return None


def months_of(year: int, month: int, count: int = 1) -> Period:
    first = year * 12 + month - 1
    return Period(_first_of(first), _first_of(first + count))


def unit_around(day: date, unit: Unit) -> Period:
    """Return the calendar unit that holds `day`. Weeks begin on Monday."""
    if unit == "day":
        return one_day(day)
    if unit == "week":
        monday = add_days(day, -day.weekday())
        return Period(monday, add_days(monday, 7))
    if unit == "decade":
        return months_of(day.year // 10 * 10 or 1, 1, 120)
    size = _MONTHS_IN[unit]
    return months_of(day.year, (day.month - 1) // size * size + 1, size)


def unit_turn(day: date, turn: Turn, unit: Unit) -> Period:
    """Return the last, this or next calendar unit as seen from `day`."""
    here = unit_around(day, unit)
    if turn == "this":
        return here
    return unit_around(add_days(here.start, -1) if turn == "last" else here.end, unit)


def weekend_turn(day: date, turn: Turn) -> Period:
    """Return a weekend. The last one is over: on a Sunday it is that of the week before."""
    monday = add_days(day, -day.weekday() + {"last": -7, "this": 0, "next": 7}[turn])
    return Period(add_days(monday, _WEEKEND), add_days(monday, 7))


def weekday_turn(day: date, turn: Turn, weekday: int) -> Period:
    """Return the nearest such weekday before `day`, after it, or in its week (0 is Monday)."""
    if turn == "this":
        return one_day(add_days(day, weekday - day.weekday()))
    if turn == "last":
        return one_day(add_days(day, -((day.weekday() - weekday - 1) % 7 + 1)))
    return one_day(add_days(day, (weekday - day.weekday() - 1) % 7 + 1))


def rolling(day: date, count: int, unit: Unit) -> Period:
    """Return the last `count` units up to and with `day`; negative counts look forward."""
    if count < 0:
        return Period(day, add_days(add(day, -count, unit), 1))
    return Period(add(day, -count, unit), add_days(day, 1))


def about(day: date, unit: Unit) -> Period:
    """Return the stretch of one unit with `day` in its middle: what "two weeks ago" may mean."""
    half = _DAYS_IN[unit] // 2
    return Period(add_days(day, -half), add_days(day, half + 1))


def part_of(period: Period, part: int, parts: int) -> Period:
    """Return the `part`-th (from 0) of `parts` equal stretches of a period."""
    days = (period.end - period.start) // timedelta(days=1)
    first, last = days * part // parts, days * (part + 1) // parts
    return Period(add_days(period.start, first), add_days(period.start, max(last, first + 1)))


def _first_of(months: int) -> date:
    """Return the first day of a month counted from year 0, held at the ends of the calendar."""
    if months < 12:
        return date.min
    if months >= 10_000 * 12:
        return date.max
    return date(months // 12, months % 12 + 1, 1)
