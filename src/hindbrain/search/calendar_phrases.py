"""English phrases that name a part of the calendar: dates, months, quarters, seasons, years, holidays.

Knows nothing of "last", "ago" or "before". A phrase without a year means the most recent one.
In doubt nothing is read: a query that is narrowed to the wrong days loses its answer, while a date that was
overlooked costs only a little rank. So "may", "march", "fall", "2077" need something that vouches for them.
"""

from collections.abc import Callable
from datetime import date

from hindbrain.search.date_tokens import Found, Reader, Words, found_at
from hindbrain.search.periods import Period, Turn, add_days, day_of, months_of

MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MONTHS = {name.lower(): number for number, name in enumerate(MONTH_NAMES, start=1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # northern, by whole months
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
VERBS_TOO = frozenset({"may", "march", "mar"})  # a number alone makes no month of them: "you may 3 times"
HOLIDAYS = {  # words: month, first day, number of days
    ("christmas", "eve"): (12, 24, 1),
    ("christmas", "day"): (12, 25, 1),
    ("christmas",): (12, 24, 3),
    ("new", "year", "'", "s", "eve"): (12, 31, 1),
    ("new", "year", "'", "s", "day"): (1, 1, 1),
    ("halloween",): (10, 31, 1),
    ("valentine", "'", "s", "day"): (2, 14, 1),
}
_PLURAL_LIKE = frozenset(("is", "was", "as", "has", "does", "this", "us", "its", "his"))
_AFTER_A_SEASON = """
    and or of with at in on to for from by about when where what which who that is was were did
    do does had has i we
"""
_SMALL_WORDS = frozenset(_AFTER_A_SEASON.split())


def resolve_year(
    today: date, make: Callable[[int], Period | None], turn: Turn | None = None
) -> Period | None:
    """Return what `make(year)` gives for the year that the speaker means.

    Without a turn the most recent that has begun; last: that is over; next: not begun; this: of this year.
    """
    if turn == "this":
        return make(today.year)
    years = range(today.year, today.year + 9) if turn == "next" else range(today.year + 1, today.year - 9, -1)
    for year in years:
        period = make(year) if 1 <= year <= 9999 else None
        if period is None:
            continue
        fits = period.start > today if turn == "next" else period.start <= today
        if fits and (turn != "last" or period.end <= today):
            return period
    return None


def ends_phrase(words: Words, i: int) -> bool:
    """Whether nothing follows that the word before could describe, as "winter" does in "in winter days"."""
    return not words.at(i).isalpha() or words.at(i) in _SMALL_WORDS


def read_numeric(words: Words, i: int, _today: date, _cued: bool) -> Found | None:
    """Read 2023-05-08, 2023/05/08, 2023.05.08, 2023-05, 8.5.2023, and 25/12/2023 where it has one reading."""
    sign = words.at(i + 1)
    if (
        sign not in ("-", "/", ".")
        or not (words.glued(i + 1) and words.glued(i + 2))
        or _continues_number(words, i)
    ):
        return None
    first, second = words.at(i), words.at(i + 2)
    if not (first.isdecimal() and second.isdecimal() and len(second) <= 2):
        return None
    has_third = words.at(i + 3) == sign and words.glued(i + 3) and words.glued(i + 4)
    third = words.at(i + 4) if has_third else ""
    year = _year(words, i)
    if year is not None and third.isdecimal() and len(third) <= 2:
        return found_at(i + 5, day_of(year, int(second), int(third)))
    if year is not None and not has_third and sign == "-" and len(second) == 2 and 1 <= int(second) <= 12:
        return Found(i + 3, months_of(year, int(second)))
    year = _year(words, i + 4) if has_third else None
    return (
        None
        if year is None or len(first) > 2
        else found_at(i + 5, _day_month(year, int(first), int(second), sign))
    )


def _continues_number(words: Words, i: int) -> bool:
    return words.glued(i) and words.at(i - 1) in ("-", "/", ".") and words.at(i - 2).isdecimal()


def _day_month(year: int, first: int, second: int, sign: str) -> Period | None:
    if sign == "." or first > 12 or first == second:
        return day_of(year, second, first)
    return day_of(year, first, second) if second > 12 else None  # 5/8/2023 has two readings: none is taken


def read_day_before_month(words: Words, i: int, today: date, _cued: bool) -> Found | None:
    """Read "8 May", "the 8th of May 2023", "8-10 May, 2023"."""
    i += words.at(i) == "the"
    number = _day_number(words, i)
    if number is None or _continues_number(words, i):
        return None
    day, sure = number
    until, j = _until_day(words, i + 1, day)
    has_of = words.at(j) == "of"
    j += has_of
    month = MONTHS.get(words.at(j))
    if month is None:
        return None
    stop, year = _year_after(words, j + 1)
    if words.at(j) in VERBS_TOO and not (sure or has_of or year or words.is_capital(j)):
        return None
    return _days(stop, today, year, month, day, until)


def read_month_first(words: Words, i: int, today: date, cued: bool) -> Found | None:
    """Read "May 8", "May 8-10, 2023", "May 2023", and "May" where it is announced."""
    month = MONTHS.get(words.at(i))
    if month is None:
        return None
    named = not (words.at(i) in VERBS_TOO and not (cued or words.is_capital(i)))
    j = i + 2 if words.at(i + 1) == "." and len(words.at(i)) <= 4 else i + 1
    number = _day_number(words, j + 1 if words.at(j) == "the" else j)
    if number is not None:
        j += words.at(j) == "the"
        until, stop = _until_day(words, j + 1, number[0])
        stop, year = _year_after(words, stop)
        return _days(stop, today, year, month, number[0], until) if named or number[1] or year else None
    stop, year = _year_after(words, j)
    if year is not None:
        return Found(stop, months_of(year, month))
    # "June" and "April" are people, and "mar" is Spanish: alone they need a word that announces a time.
    if not cued or words.at(i) == "mar" or words.at(i + 1) == "'":
        return None
    period = resolve_year(today, lambda year: months_of(year, month))
    return None if period is None else Found(i + 1, period, yearless=True)


def _until_day(words: Words, i: int, day: int) -> tuple[int, int]:
    """Read the end of "8-10" or "8 to 10"; return (last day, next token)."""
    number = _day_number(words, i + 1) if words.at(i) in ("-", "–", "to", "through") else None
    if number is None or number[0] <= day or words.at(i + 2) in ("-", "/"):
        return day, i
    return number[0], i + 2


def _days(stop: int, today: date, year: int | None, month: int, day: int, until: int) -> Found | None:
    def make(year: int) -> Period | None:
        first, last = day_of(year, month, day), day_of(year, month, until)
        return Period(first.start, last.end) if first and last else None

    period = resolve_year(today, make) if year is None else make(year)
    return None if period is None else Found(stop, period, yearless=year is None)


def read_year(words: Words, i: int, _today: date, cued: bool) -> Found | None:
    """Read "the 1990s", and "2021" where it is announced: a bare number is a game, a price, a count."""
    j = i + 1 if words.at(i) == "the" else i
    year = _year(words, j)
    if year is None or _continues_number(words, j) or words.at(j - 1) == "$":
        return None
    if words.at(j + 1) == "s" and words.glued(j + 1):
        return Found(j + 2, months_of(year // 10 * 10, 1, 120))
    after = words.at(j + 1)
    counts = (
        after.isalpha() and after.endswith("s") and after not in _PLURAL_LIKE and not words.is_capital(j + 1)
    )
    is_longer_number = words.glued(j + 1) and (after.isalnum() or after in ("%", "-", "/"))
    if not cued or counts or is_longer_number or (after in (".", ",") and words.at(j + 2).isdecimal()):
        return None
    return Found(j + 1, months_of(year, 1, 12))


def read_quarter(words: Words, i: int, today: date, cued: bool) -> Found | None:
    """Read "Q1 2024", "2024 Q1", "the first quarter of 2024", and "Q1" where it is announced."""
    year = _year(words, i)
    j = i if year is None else i + 1
    if words.at(j) == "q" and words.glued(j + 1) and words.at(j + 1) in ("1", "2", "3", "4"):
        number, stop = int(words.at(j + 1)), j + 2
    else:
        j += words.at(j) == "the"
        if words.at(j) not in ORDINALS or words.at(j + 1) != "quarter" or year is not None:
            return None
        number, stop = ORDINALS[words.at(j)], j + 2
    if year is None:
        stop, year = _year_after(words, stop)
    if year is not None:
        return Found(stop, months_of(year, number * 3 - 2, 3))
    period = resolve_year(today, lambda year: months_of(year, number * 3 - 2, 3))
    return Found(stop, period, yearless=True) if cued and period and words.at(j) == "q" else None


def read_season(words: Words, i: int, today: date, cued: bool) -> Found | None:
    j = i + 1 if words.at(i) == "the" else i
    month = SEASONS.get(words.at(j))
    if month is None:
        return None
    stop, year = _year_after(words, j + 1)
    if year is not None:
        return Found(stop, months_of(year, month, 3))
    period = (
        resolve_year(today, lambda year: months_of(year, month, 3))
        if cued and ends_phrase(words, j + 1)
        else None
    )
    return None if period is None else Found(j + 1, period, yearless=True)


def read_holiday(words: Words, i: int, today: date, cued: bool) -> Found | None:
    for phrase, (month, day, count) in HOLIDAYS.items():
        if words.lower[i : i + len(phrase)] != phrase:
            continue
        stop, year = _year_after(words, i + len(phrase))

        def make(year: int, month: int = month, day: int = day, count: int = count) -> Period | None:
            first = day_of(year, month, day)
            return first and Period(first.start, add_days(first.start, count))

        if year is not None:
            return found_at(stop, make(year))
        period = resolve_year(today, make) if cued else None
        return None if period is None else Found(stop, period, yearless=True)
    return None


def _year(words: Words, i: int) -> int | None:
    word = words.at(i)
    return int(word) if len(word) == 4 and word.isdecimal() and 1500 <= int(word) <= 2199 else None


def _year_after(words: Words, i: int) -> tuple[int, int | None]:
    """Read an optional ", 2023" or "of 2023"; return (next token, year)."""
    j = i + 1 if words.at(i) in (",", "of") else i
    year = _year(words, j)
    return (j + 1, year) if year is not None else (i, None)


def _day_number(words: Words, i: int) -> tuple[int, bool] | None:
    """Return (day of the month, whether it is written as an ordinal)."""
    word = words.at(i)
    digits = word.rstrip("stndrh")
    if not digits.isdecimal() or len(digits) > 2 or not 1 <= int(digits) <= 31:
        return None
    is_decimal = words.at(i + 1) == "." and words.glued(i + 2) and words.at(i + 2)[:1].isdecimal()
    return None if is_decimal else (int(digits), digits != word)


CALENDAR_READERS: tuple[Reader, ...] = (
    read_numeric,
    read_day_before_month,
    read_month_first,
    read_year,
    read_quarter,
    read_season,
    read_holiday,
)
