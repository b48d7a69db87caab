"""Which notes a filter lets through. Values of the user are bound, never written into SQL."""

from collections.abc import Sequence
from datetime import date, timedelta

from hindbrain.base.clock import Clock
from hindbrain.base.errors import UsageError
from hindbrain.index.store import IndexStore, Value
from hindbrain.search.query import Filters

_PARA = ("project", "area", "resource", "archive")


def allowed_notes(store: IndexStore, filters: Filters, clock: Clock) -> list[tuple[int, int]]:
    """Return (first passage, passages) of each note for which every filter holds."""
    conditions, values = _conditions(filters, clock)
    return store.note_spans_where(" AND ".join(conditions), [_bindable(value) for value in values])


def missing_tags(store: IndexStore, tags: Sequence[str]) -> tuple[str, ...]:
    """A notice for each of the tags that no note has, with those that are spelled alike."""
    from difflib import get_close_matches

    known = {tag for (tag,) in store.select("SELECT DISTINCT tag FROM tag")}
    known |= {tag[:at] for tag in known for at, char in enumerate(tag) if char == "/"}
    notices = []
    for tag in tags:
        name = tag.lstrip("#").casefold()
        if name not in known:
            near = ", ".join(f"#{one}" for one in get_close_matches(name, sorted(known), 3))
            hint = f"; did you mean {near}?" if near else ""
            notices.append(f"tag_not_found: no note has the tag #{name}{hint}")
    return tuple(notices)


def _conditions(filters: Filters, clock: Clock) -> tuple[list[str], list[Value]]:
    conditions, values = ["TRUE"], list[Value]()
    folder = filters.folder.strip("/")
    if folder:
        conditions.append("(path = ? OR substr(path, 1, ?) = ?)")
        values += [folder, len(folder) + 1, folder + "/"]
    for tag in filters.tags:
        name = tag.lstrip("#").casefold()
        conditions.append("id IN (SELECT note_id FROM tag WHERE tag = ? OR substr(tag, 1, ?) = ?)")
        values += [name, len(name) + 1, name + "/"]
    if filters.type:
        conditions.append("type = ?")
        values.append(filters.type)
    if filters.para:
        if filters.para not in _PARA:
            raise UsageError(f"there is no PARA category {filters.para!r}; choose one of: {', '.join(_PARA)}")
        conditions.append("para_category = ?")
        values.append(filters.para)
    if filters.area:
        conditions.append("para_area = ? COLLATE NOCASE")
        values.append(filters.area)
    if filters.since and filters.until and _day(filters.since) > _day(filters.until):
        raise UsageError(
            f"the range is reversed: it begins on {filters.since} and ends on {filters.until}; swap the two"
        )
    # A note without a date counts on the owner's day of its last change.
    if filters.since:
        first = _day(filters.since)
        conditions.append("(CASE date WHEN '' THEN mtime_ns >= ? ELSE date >= ? END)")
        values += [int(clock.midnight(first) * 1e9), first.isoformat()]
    if filters.until and (last := _day(filters.until)) < date.max:
        conditions.append("(CASE date WHEN '' THEN mtime_ns < ? ELSE date <= ? END)")
        values += [int(clock.midnight(last + timedelta(days=1)) * 1e9), last.isoformat()]
    return conditions, values


def _bindable(value: Value) -> Value:
    """Half a surrogate pair can't be sent to SQLite, and no note holds one: escaped, it finds nothing."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no date; write it as YYYY-MM-DD") from None
