"""The date a note says it is about: free text in, an ISO date out; and the words for such a date.

Pure. Knows nothing of clocks, queries or notes; relative words ("yesterday") are not its matter.
"""

import re
from datetime import date

_MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR_FIRST = re.compile(r"(?<!\d)([12]\d{3})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)", re.ASCII)
# Eight digits, or a longer stamp that begins with them (202305301230, 20230530123059).
_COMPACT = re.compile(r"(?<!\d)((?:19|20)\d\d)(\d\d)(\d\d)(?:\d{4}|\d{6})?(?!\d)", re.ASCII)
_DAY_FIRST = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ \-]{_MONTH}\b[.,]{{0,2}}[ \-]([12]\d{{3}})(?!\d)",
    re.ASCII | re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH}\b\.? (\d{{1,2}})(?:st|nd|rd|th)?,? ([12]\d{{3}})(?!\d)", re.ASCII | re.IGNORECASE
)
_SEARCHED_CHARS = 200  # a date stands near the start of a property or a file name


def find_date(text: str) -> str:
    """Return the first calendar date named in `text` as "YYYY-MM-DD", or "" when there is none."""
    text = text[:_SEARCHED_CHARS]
    found: list[tuple[int, str]] = []
    for match in _YEAR_FIRST.finditer(text):
        _keep(found, match.start(), match[1], match[3], match[4])
    for match in _COMPACT.finditer(text):
        _keep(found, match.start(), match[1], match[2], match[3])
    if not text.isdecimal():
        for match in _DAY_FIRST.finditer(text):
            _keep(found, match.start(), match[3], _month_number(match[2]), match[1])
        for match in _MONTH_FIRST.finditer(text):
            _keep(found, match.start(), match[3], _month_number(match[1]), match[2])
    return min(found)[1] if found else ""


def is_dated_by_name(path: str, day: str) -> bool:
    """Does the name of a note say its day? `2026/05/14.md` does so with its folders, `2026_05_14.md` too."""
    names = path.removesuffix(".md").replace("_", "-").split("/")
    return day in (find_date(names[-1]), find_date("/".join(names[-3:])))


def date_words(iso_date: str) -> str:
    """Return the words under which a note of that day should be findable, for a full-text column."""
    day = date.fromisoformat(iso_date)
    month = _MONTH_NAMES[day.month - 1]
    weekday = _WEEKDAY_NAMES[day.weekday()]
    return f"{day.day} {month} {day.year} {weekday} {iso_date} {month[:3]} {day.day}{_ordinal_ending(day)}"


def day_names(day: date) -> tuple[str, ...]:
    """How the note of a day is called: as Logseq does it where nothing else was chosen, then other forms."""
    month, ordinal = _MONTH_NAMES[day.month - 1], f"{day.day}{_ordinal_ending(day)}"
    iso = day.isoformat()
    return (
        f"{month[:3]} {ordinal}, {day.year}", f"{month} {ordinal}, {day.year}",
        f"{ordinal} {month[:3]} {day.year}", f"{ordinal} {month} {day.year}", iso, iso.replace("-", "/"),
    )  # fmt: skip


def _ordinal_ending(day: date) -> str:
    return "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")


def _month_number(name: str) -> str:
    return str(_MONTHS.index(name[:3].lower()) + 1)


def _keep(found: list[tuple[int, str]], start: int, year: str, month: str, day: str) -> None:
    try:
        found.append((start, date(int(year), int(month), int(day)).isoformat()))
    except ValueError:
        return  # 2023-02-30 looks like a date and is none
