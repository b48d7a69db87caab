"""A path with places to fill: "Daily/{date}.md" to a path and back.

Pure. Knows nothing of roles or files; whether a path is fit for a vault is the business of `path_rules`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from hindbrain.base.errors import UsageError

# What may stand for a placeholder in a path. {year} and {month} follow from the date.
_SHAPES = {
    "date": r"\d{4}-\d{2}-\d{2}",
    "year": r"\d{4}",
    "month": r"\d{2}",
    "category": r"[^/]+",
    "name": r"[^/]+",
}
PLACEHOLDERS = tuple(_SHAPES)
_PLACE = re.compile(r"\{([^{}]*)\}")


@lru_cache(maxsize=256)  # asked for every note of a folder
def places(template: str) -> tuple[str, ...]:
    """The placeholders of a template, in order."""
    return tuple(_PLACE.findall(template))


def fill(template: str, names: Mapping[str, str]) -> str:
    """The path that `names` make of the template. UsageError for a name that is missing or no part of one."""
    known = {**_parts_of_date(names.get("date", "")), **names}
    return _PLACE.sub(lambda place: _value(template, place[1], known), template)


def _parts_of_date(date: str) -> dict[str, str]:
    return {"year": date[:4], "month": date[5:7]} if date else {}


def _value(template: str, place: str, known: Mapping[str, str]) -> str:
    value = known.get(place, "")
    if not value.strip():
        raise UsageError(f"a note of {template!r} needs a {place}")
    if not re.fullmatch(_SHAPES[place], value):
        wanted = "YYYY-MM-DD" if place == "date" else "without '/'"
        raise UsageError(f"{value!r} is no {place} of a note; give one {wanted}")
    return value


def read(template: str, path: str) -> dict[str, str] | None:
    """The names that make `path` of the template; None when none do."""
    match = _compiled(template).fullmatch(path)
    return None if match is None else match.groupdict()


@lru_cache(maxsize=256)
def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(_pattern(template))


def component_patterns(template: str) -> list[re.Pattern[str]]:
    """For each folder and the file of the template, what its name must look like."""
    return [re.compile(_pattern(part)) for part in template.split("/")]


def _pattern(template: str) -> str:
    parts = _PLACE.split(template)  # text and placeholder take turns
    for at in range(0, len(parts), 2):
        parts[at] = re.escape(parts[at])
    for at in range(1, len(parts), 2):
        parts[at] = f"(?P<{parts[at]}>{_SHAPES[parts[at]]})"
    return "".join(parts)


def fixed_folder(template: str) -> str:
    """The folders before the first placeholder; for a template without one, the folder of the note."""
    before = template.partition("{")[0] if "{" in template else template
    return before.rpartition("/")[0]


def shape_of(template: str) -> str:
    """Equal for two templates that claim the same paths."""
    return _PLACE.sub(lambda place: "{date}" if place[1] == "date" else "{}", template)
