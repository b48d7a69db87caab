"""Which days a query speaks of, asked on Wednesday 15 May 2024."""

import json
import os
from datetime import date, datetime
from pathlib import Path

import pytest

from hindbrain.search.dates import find_windows
from hindbrain.vault.dates import date_words

TODAY = date(2024, 5, 15)
OPEN_START, OPEN_END = "0001-01-01", "9999-12-31"


def days(text: str, today: date = TODAY) -> list[tuple[str, str]]:
    return [(str(window.start), str(window.end)) for window in find_windows(text, today=today)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        # counted from today
        ("what did I do today", "2024-05-15", "2024-05-16"),
        ("yesterday's call", "2024-05-14", "2024-05-15"),
        ("the day before yesterday", "2024-05-13", "2024-05-14"),
        ("tomorrow", "2024-05-16", "2024-05-17"),
        ("last week", "2024-05-06", "2024-05-13"),
        ("this week", "2024-05-13", "2024-05-20"),
        ("next month", "2024-06-01", "2024-07-01"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("last quarter", "2024-01-01", "2024-04-01"),
        ("last weekend", "2024-05-11", "2024-05-13"),
        ("this weekend", "2024-05-18", "2024-05-20"),
        ("this past weekend", "2024-05-11", "2024-05-13"),
        ("next weekend", "2024-05-25", "2024-05-27"),
        ("last 3 days", "2024-05-12", "2024-05-16"),
        ("in the past month", "2024-04-15", "2024-05-16"),
        ("in the last two months", "2024-03-15", "2024-05-16"),
        ("over the past few weeks", "2024-04-17", "2024-05-16"),
        ("the next two weeks", "2024-05-15", "2024-05-30"),
        ("3 days ago", "2024-05-12", "2024-05-13"),
        ("two weeks ago", "2024-04-28", "2024-05-05"),
        ("a couple of weeks ago", "2024-04-21", "2024-05-12"),
        ("where did she move from 4 years ago", "2019-11-15", "2020-11-14"),
        # weekdays
        ("on Tuesday", "2024-05-14", "2024-05-15"),
        ("on wednesday", "2024-05-08", "2024-05-09"),
        ("last Friday", "2024-05-10", "2024-05-11"),
        ("this Friday", "2024-05-17", "2024-05-18"),
        ("next Monday", "2024-05-20", "2024-05-21"),
        ("last thurs", "2024-05-09", "2024-05-10"),
        ("the Wednesday two months ago", "2024-03-13", "2024-03-14"),
        # months, years and their parts
        ("in March", "2024-03-01", "2024-04-01"),
        ("in june", "2023-06-01", "2023-07-01"),
        ("in May", "2024-05-01", "2024-06-01"),
        ("last May", "2023-05-01", "2023-06-01"),
        ("next May", "2025-05-01", "2025-06-01"),
        ("in March 2023", "2023-03-01", "2023-04-01"),
        ("March 2023 review", "2023-03-01", "2023-04-01"),
        ("early May", "2024-05-01", "2024-05-11"),
        ("in mid-August 2023", "2023-08-11", "2023-08-21"),
        ("late December 2023", "2023-12-21", "2024-01-01"),
        ("towards the end of summer 2023", "2023-08-01", "2023-09-01"),
        ("in the second week of November", "2023-11-08", "2023-11-15"),
        ("the last week of February 2024", "2024-02-23", "2024-03-01"),
        ("spring 2022", "2022-03-01", "2022-06-01"),
        ("in the fall of 2022", "2022-09-01", "2022-12-01"),
        ("winter 2022", "2022-12-01", "2023-03-01"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("in 2021", "2021-01-01", "2022-01-01"),
        ("Q1 2024", "2024-01-01", "2024-04-01"),
        ("2023 Q4", "2023-10-01", "2024-01-01"),
        ("the first quarter of 2023", "2023-01-01", "2023-04-01"),
        ("music of the 1990s", "1990-01-01", "2000-01-01"),
        ("Christmas 2022", "2022-12-24", "2022-12-27"),
        ("on New Year’s Eve", "2023-12-31", "2024-01-01"),
        # days
        ("on 8 May 2023", "2023-05-08", "2023-05-09"),
        ("8 May, 2023", "2023-05-08", "2023-05-09"),
        ("May 8, 2023", "2023-05-08", "2023-05-09"),
        ("December 1,2023", "2023-12-01", "2023-12-02"),
        ("the 8th of May", "2024-05-08", "2024-05-09"),
        ("8th of may", "2024-05-08", "2024-05-09"),
        ("May 8", "2024-05-08", "2024-05-09"),
        ("Aug 15th", "2023-08-15", "2023-08-16"),
        ("29 February", "2024-02-29", "2024-03-01"),
        ("May 3-8, 2023", "2023-05-03", "2023-05-09"),
        ("2023-05-08", "2023-05-08", "2023-05-09"),
        ("2023/05/08", "2023-05-08", "2023-05-09"),
        ("2023-05-08T10:00:00Z", "2023-05-08", "2023-05-09"),
        ("notes of 2023-05", "2023-05-01", "2023-06-01"),
        ("8.5.2023", "2023-05-08", "2023-05-09"),
        ("25/12/2023", "2023-12-25", "2023-12-26"),
        # joined
        ("from July to October", "2023-07-01", "2023-11-01"),
        ("from March 2022 to June", "2022-03-01", "2022-07-01"),
        ("from November to February", "2023-11-01", "2024-03-01"),
        ("between August 11 and August 15 2022", "2022-08-11", "2022-08-16"),
        ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
        ("since March", "2024-03-01", OPEN_END),
        ("since last week", "2024-05-06", OPEN_END),
        ("before 2020", OPEN_START, "2020-01-01"),
        ("after May 8", "2024-05-09", OPEN_END),
        ("until yesterday", OPEN_START, "2024-05-15"),
        ("the week before 16 November 2023", "2023-11-09", "2023-11-16"),
        ("two weeks before August 11, 2023", "2023-07-25", "2023-08-01"),
        ("participate in last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
        ("the day after May 8, 2023", "2023-05-09", "2023-05-10"),
        # Chinese
        ("昨天做了什么", "2024-05-14", "2024-05-15"),
        ("今天的日记", "2024-05-15", "2024-05-16"),
        ("上周的会议", "2024-05-06", "2024-05-13"),
        ("上周五", "2024-05-10", "2024-05-11"),
        ("上个月", "2024-04-01", "2024-05-01"),
        ("去年", "2023-01-01", "2024-01-01"),
        ("去年5月", "2023-05-01", "2023-06-01"),
        ("2023年5月8日的笔记", "2023-05-08", "2023-05-09"),
        ("2023年的笔记", "2023-01-01", "2024-01-01"),
        ("5月8日", "2024-05-08", "2024-05-09"),
        ("8月", "2023-08-01", "2023-09-01"),
        ("三天前", "2024-05-12", "2024-05-13"),
        ("最近两周", "2024-05-01", "2024-05-16"),
        ("去年以来", "2023-01-01", OPEN_END),
    ],
)
def test_a_phrase_names_its_days(text, start, end):
    assert days(text) == [(start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "it may rain",
        "you may 3 times a day",
        "5 may be enough",
        "we march on",
        "we march 3 miles",
        "We sat in the sun for a second",
        "June said that April is kind",
        "June's recipe",
        "when did James try Cyberpunk 2077",
        "after 2000 steps",
        "over 2000",
        "a budget of 1500 calories",
        "$2000",
        "the 18th birthday",
        "how many days ago did I go",
        "how long ago",
        "what did she do on cold winter days",
        "fall off his bike",
        "spring cleaning",
        "in spring water",
        "the last time, my last trip, last season",
        "the last day of school",
        "before meeting Samantha, after the race, since starting",
        "on Mondays",
        "on Monday mornings",
        "version 1.2.3.2023 rc",
        "555-2023-05",
        "5/8/2023",
        "2023-13-45",
        "what was the first issue",
        "one-year-old child",
        "per day, each week, every month",
        "which year, what month, which day",
        "FIFA 23",
        "recently",
        "",
        "五月天的歌",
        "3年前端经验",
        "2023年级",
        "日记和月亮",
    ],
)
def test_a_query_without_a_date_has_no_window(text):
    assert days(text) == []


def test_a_day_that_does_not_exist_leaves_its_month():
    assert days("30 February 2023") == [("2023-02-01", "2023-03-01")]


def test_the_span_is_where_the_words_stand():
    text = "Who called in March 2023, and on Tuesday?"
    windows = find_windows(text, today=TODAY)
    assert [window.text for window in windows] == ["in March 2023", "on Tuesday"]
    assert all(text[slice(*window.span)] == window.text for window in windows)


def test_a_guessed_width_is_not_called_exact():
    exact = {
        text: find_windows(text, today=TODAY)[0].exact
        for text in ("in May", "3 days ago", "late May", "a few weeks ago")
    }
    assert exact == {"in May": True, "3 days ago": True, "late May": False, "a few weeks ago": False}


def test_the_ends_of_the_calendar_are_no_trap():
    for text in (
        "999 decades ago",
        "next 999 decades",
        "next decade",
        "in 999 years",
        "last week",
        "yesterday",
        "last winter",
        "次 去年5月",
    ):
        for today in (date.min, date(1, 1, 2), date(9999, 12, 30), date.max):
            find_windows(text, today=today)


def test_a_day_can_be_found_by_the_words_people_use():
    assert date_words("2023-05-08") == "8 May 2023 Monday 2023-05-08 May 8th"
    assert date_words("2023-08-22") == "22 August 2023 Tuesday 2023-08-22 Aug 22nd"
    assert date_words("2023-12-11").endswith("Dec 11th")


def test_every_date_in_the_questions_people_asked_is_found():
    folder = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[2] / "../shared/data"))
    path = folder / "locomo_dev.json"
    if not path.is_file():
        pytest.skip(f"no locomo_dev.json in {folder}; set HINDBRAIN_DATA to the folder that has it")
    questions = [qa["question"] for sample in json.loads(path.read_text("utf-8")) for qa in sample["qa"]]
    dated = [
        question
        for question in questions
        if " 2022" in question or " 2023" in question or " 2024" in question
    ]
    assert len(dated) > 100
    for question in dated:
        years = {window.start.year for window in find_windows(question, today=date(2024, 1, 12))}
        assert years & {2022, 2023, 2024}, question


def test_session_stamps_are_read_as_their_day():
    stamp = "1:56 pm on 8 May, 2023"
    [window] = find_windows(stamp, today=TODAY)
    assert window.start == datetime(2023, 5, 8).date()
