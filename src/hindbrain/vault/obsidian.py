"""What Obsidian's own settings say of a vault: daily notes, excluded files, the folder for new notes.

Reads three JSON files in `.obsidian`; whatever is malformed, too large or leads out of the vault counts as
not set. Writes nothing. Attachments are no matter here: we write none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from hindbrain.base.errors import HindbrainError
from hindbrain.vault.layout_table import UNLINKABLE
from hindbrain.vault.path_rules import check_note_path

FOLDER = ".obsidian"
FILES = ("app.json", "daily-notes.json", "plugins/periodic-notes/data.json")
_LARGEST = 256 * 1024  # bytes
_MOST_FILTERS = 500
_DEFAULT_FORMAT = "YYYY-MM-DD"
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Tokens of moment.js as Obsidian formats a day; other letters it knows (hours, weeks, ...) are not read.
_TOKEN = re.compile(r"\[([^\[\]]*)\]|YYYY|YY|MMMM|MMM|MM|M|Do|DD|D|dddd|ddd|[A-Za-z]|[^A-Za-z\[\]]+")


@dataclass(frozen=True, slots=True)
class ObsidianSettings:
    """Every path is vault-relative; "" is the vault itself, or not set."""

    daily_folder: str = ""
    daily_format: str = _DEFAULT_FORMAT  # of moment.js; may hold "/"
    excluded: tuple[str, ...] = ()  # as Obsidian has them: beginnings of paths, or "/expression/"
    new_note_folder: str = ""

    def daily_note(self, day: date) -> str:
        """The owner's note of a day; "" when the format is not one that we read."""
        name = format_day(self.daily_format, day)
        return _checked("/".join(filter(None, (self.daily_folder, f"{name}.md")))) if name else ""

    @property
    def daily_template(self) -> str:
        """The same as a path of a layout, "Journal/{year}/{date}.md"; "" when no placeholder can say it."""
        named = self.daily_format.replace(_DEFAULT_FORMAT, "{date}").replace("YYYY", "{year}")
        named = re.sub(r"(?<![M{])MM(?!M)", "{month}", named)
        literal = re.sub(r"\{(?:date|year|month)\}", "", named)
        if "{date}" not in named or re.search(r"[A-Za-z\[\]{}]", literal):
            return ""
        path = "/".join(filter(None, (self.daily_folder, f"{named}.md")))
        plain = re.sub(r"[{}]", "", path)
        counts = all(path.count(f"{{{place}}}") <= 1 for place in ("date", "year", "month"))
        return path if counts and _checked(plain) and not UNLINKABLE.search(path) else ""


def read_obsidian(root: Path) -> ObsidianSettings:
    """Never raises: what can't be read is not set."""
    app, core, periodic = (_load(root / FOLDER / name) for name in FILES)
    daily = periodic.get("daily")
    if not isinstance(daily, dict) or daily.get("enabled") is not True:
        daily = core
    excluded = app.get("userIgnoreFilters")
    new_notes = app.get("newFileLocation") == "folder"
    return ObsidianSettings(
        daily_folder=_folder(daily.get("folder")),
        daily_format=_text(daily.get("format")) or _DEFAULT_FORMAT,
        excluded=tuple(filter(None, map(_text, excluded[:_MOST_FILTERS])))
        if isinstance(excluded, list)
        else (),
        new_note_folder=_folder(app.get("newFileFolderPath")) if new_notes else "",
    )


def format_day(pattern: str, day: date) -> str:
    """A day in a format of moment.js; "" when it has more than year, month, day and weekday."""
    month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
    ending = "th" if 11 <= day.day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    known = {
        "YYYY": f"{day.year:04}", "YY": f"{day.year % 100:02}", "MMMM": month, "MMM": month[:3],
        "MM": f"{day.month:02}", "M": str(day.month), "DD": f"{day.day:02}", "D": str(day.day),
        "Do": f"{day.day}{ending}", "dddd": weekday, "ddd": weekday[:3],
    }  # fmt: skip
    parts: list[str] = []
    at = 0
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if token.start() != at or (text.isalpha() and text not in known):
            return ""
        at = token.end()
        parts.append(known.get(text, token[1] if token[1] is not None else text))
    return "".join(parts) if at == len(pattern) else ""


def _load(file: Path) -> Mapping[str, object]:
    try:
        with open(file, "rb") as opened:
            data = opened.read(_LARGEST + 1)
        value = json.loads(data.decode("utf-8-sig")) if len(data) <= _LARGEST else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) and "\0" not in value else ""


def _folder(value: object) -> str:
    return _checked(_text(value).strip("/"))


def _checked(path: str) -> str:
    """The path, or "" for one that no note may have."""
    try:
        return check_note_path(path) if path else ""
    except HindbrainError:
        return ""
