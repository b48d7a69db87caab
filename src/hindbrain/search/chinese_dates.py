"""Chinese phrases that name days: 昨天, 上周五, 去年, 2023年5月8日, 三天前, 最近两周.

Knows the words, not how the windows are used. The pattern is compiled at first need.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from hindbrain.search.periods import (
    Period,
    Turn,
    Unit,
    about,
    add,
    add_days,
    day_of,
    months_of,
    one_day,
    rolling,
    unit_turn,
    weekday_turn,
    weekend_turn,
)

_SIGNS = re.compile("[年月天日昨今周週期]")  # each phrase has one of them
# Not 今日: it begins the names of news sites more often than it means today.
_DAYS = {"今天": 0, "昨天": -1, "昨日": -1, "前天": -2, "大前天": -3, "明天": 1, "后天": 2}
_YEARS = {"今年": 0, "去年": -1, "前年": -2, "明年": 1}
_DIGITS = {char: number for number, char in enumerate("一二三四五六七八九十", start=1)} | {"两": 2, "几": 3}
_TURNS: dict[str, Turn] = {"上": "last", "这": "this", "本": "this", "下": "next"}
_UNITS: dict[str, Unit] = {
    "天": "day",
    "日": "day",
    "周": "week",
    "週": "week",
    "星期": "week",
    "月": "month",
}
_UNITS["年"] = "year"

Match = tuple[tuple[int, int], Period, bool]


def find_chinese(text: str, today: date) -> Iterator[Match]:
    """Yield (span, period, exact) of each phrase, in order."""
    if text.isascii() or _SIGNS.search(text) is None:
        return
    for match in _pattern().finditer(text):
        found = _read(match, today)
        if found is not None:
            period, exact = found
            period = _bounded(period, match["bound"])
            if period.start < period.end:
                yield match.span(), period, exact


@cache
def _pattern() -> re.Pattern[str]:
    number = "[0-9]{1,3}|[一二两三四五六七八九十几]"
    return re.compile(
        f"""
        (?: (?P<day>大前天|今天|昨天|昨日|前天|明天|后天)
        | (?<![0-9])(?P<decade>[0-9]{{3}}0)年代
        | (?: (?<![0-9])(?P<year>[0-9]{{4}})年(?![级級前来內内]) | (?P<near>[今去前明]年) )
          (?: (?P<month>1[0-2]|[1-9]|0[1-9])月份? (?:(?P<mday>[0-3]?[0-9])[日号號])? )?
        | (?<![0-9])(?P<month2>1[0-2]|[1-9]|0[1-9])月份? (?:(?P<mday2>[0-3]?[0-9])[日号號])?
        | (?P<turn>[上这本下])个?(?: (?:周|週|星期|礼拜)(?:(?P<weekday>[一二三四五六日天])|(?P<end>末))?
                                  | (?P<of_month>月) )
        | (?:最近|过去|近)(?P<rolled>{number})个?(?P<runit>天|日|周|週|星期|月|年)
        | (?<![0-9一二三四五六七八九十])(?P<ago>{number})个?(?P<aunit>天|日|周|週|星期|月|年)
          (?:以前|之前|前)(?![端台后进])
        )
        (?P<bound>以来|之后|以后|之前|以前)?
        """,
        re.VERBOSE,
    )


def _read(match: re.Match[str], today: date) -> tuple[Period, bool] | None:
    if match["day"]:
        return one_day(add_days(today, _DAYS[match["day"]])), True
    if match["decade"]:
        return (months_of(int(match["decade"]), 1, 120), True) if int(match["decade"]) else None
    if match["turn"]:
        return _turned(match, today), True
    if match["rolled"]:
        return rolling(today, _number(match["rolled"]), _UNITS[match["runit"]]), match["rolled"] != "几"
    if match["ago"]:
        unit = _UNITS[match["aunit"]]
        return about(add(today, -_number(match["ago"]), unit), unit), unit == "day" and match["ago"] != "几"
    period = _calendar(match, today)
    return None if period is None else (period, True)


def _turned(match: re.Match[str], today: date) -> Period:
    turn = _TURNS[match["turn"]]
    if match["of_month"]:
        return unit_turn(today, turn, "month")
    if match["end"]:
        return weekend_turn(today, turn)
    week = unit_turn(today, turn, "week")
    if match["weekday"]:
        # 上周五 is the Friday of last week, not the nearest one.
        return weekday_turn(week.start, "this", "一二三四五六日天".index(match["weekday"]) % 7)
    return week


def _calendar(match: re.Match[str], today: date) -> Period | None:
    month, day = match["month"] or match["month2"], match["mday"] or match["mday2"]
    if match["year"] or match["near"]:
        year = int(match["year"]) if match["year"] else today.year + _YEARS[match["near"]]
        return _in_year(year, month, day)
    for year in range(today.year, today.year - 9, -1):  # without a year: the most recent that has begun
        period = _in_year(year, month, day)
        if period is not None and period.start <= today:
            return period
    return None


def _in_year(year: int, month: str | None, day: str | None) -> Period | None:
    if not 1 <= year <= 9999:
        return None
    if month is None:
        return months_of(year, 1, 12)
    return months_of(year, int(month)) if day is None else day_of(year, int(month), int(day))


def _number(text: str) -> int:
    return _DIGITS[text] if text in _DIGITS else int(text)


def _bounded(period: Period, bound: str | None) -> Period:
    if bound is None:
        return period
    if bound == "以来":
        return Period(period.start, date.max)
    return Period(period.end, date.max) if bound.endswith("后") else Period(date.min, period.start)
