"""Which passages a filter lets through. A memory counts with its own day, tags and kind.

Values of the user are bound, never written into SQL.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from hindbrain.base.clock import Clock
from hindbrain.base.errors import UsageError
from hindbrain.index.store import IndexStore, Value
from hindbrain.search.query import Filters

_TAGGED = "id IN (SELECT note_id FROM tag"
_PARA = ("project", "area", "resource", "archive")


def allowed_notes(store: IndexStore, filters: Filters, clock: Clock) -> list[tuple[int, int]]:
    """Return (first passage, passages) of what every filter holds for: notes, and memories by themselves."""
    conditions, values = _conditions(filters, clock)
    spans = store.note_spans_where(" AND ".join(conditions), [_bindable(value) for value in values])
    if not (filters.tags or filters.type or filters.since or filters.until):
        return spans
    conditions, values = _conditions(filters, clock, of_memory=True)
    wanted = store.memory_passages_where(" AND ".join(conditions), [_bindable(value) for value in values])
    return [*_without(spans, store.memory_passages()), *((id_, 1) for id_ in wanted)]


def _without(spans: list[tuple[int, int]], memories: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The spans without the passages of memories. `memories`: ascending."""
    for first, count in spans:
        if not count:
            yield first, count  # a note of properties alone is found by its name
        stop = first + count
        for at in range(bisect_left(memories, first), bisect_left(memories, stop)):
            if memories[at] > first:
                yield first, memories[at] - first
            first = memories[at] + 1
        if stop > first:
            yield first, stop - first


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


def _conditions(filters: Filters, clock: Clock, *, of_memory: bool = False) -> tuple[list[str], list[Value]]:
    conditions, values = ["passages > 0" if of_memory else "TRUE"], list[Value]()
    folder = filters.folder.strip("/")
    if folder:
        conditions.append("(path = ? OR substr(path, 1, ?) = ?)")
        values += [folder, len(folder) + 1, folder + "/"]
    for tag in filters.tags:
        name = tag.lstrip("#").casefold()
        table = "(m.note_id, m.line) IN (SELECT note_id, line FROM memory_tag" if of_memory else _TAGGED
        conditions.append(f"{table} WHERE tag = ? OR substr(tag, 1, ?) = ?)")
        values += [name, len(name) + 1, name + "/"]
    if filters.type:
        conditions.append("? IN (type, m.kind)" if of_memory else "type = ?")
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
    # A note without a date counts on the owner's day of its last change, and a memory as its note.
    day = "coalesce(nullif(m.created, ''), date)" if of_memory else "date"
    if filters.since:
        first = _day(filters.since)
        conditions.append(f"(CASE {day} WHEN '' THEN mtime_ns >= ? ELSE {day} >= ? END)")
        values += [int(clock.midnight(first) * 1e9), first.isoformat()]
    if filters.until and (last := _day(filters.until)) < date.max:
        conditions.append(f"(CASE {day} WHEN '' THEN mtime_ns < ? ELSE {day} <= ? END)")
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
