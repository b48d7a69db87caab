"""Which notes a filter lets through. Values of the user are bound, never written into SQL."""

from hindbrain.base.errors import UsageError
from hindbrain.index.store import IndexStore, Value
from hindbrain.search.query import Filters

_PARA = ("project", "area", "resource", "archive")


def allowed_notes(store: IndexStore, filters: Filters) -> list[tuple[int, int]]:
    """Return (first passage, passages) of each note for which every filter holds."""
    conditions, values = _conditions(filters)
    return store.note_spans_where(" AND ".join(conditions), [_bindable(value) for value in values])


def _conditions(filters: Filters) -> tuple[list[str], list[Value]]:
    conditions, values = ["passages > 0"], list[Value]()
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
    day = "(CASE date WHEN '' THEN date(mtime_ns / 1000000000, 'unixepoch') ELSE date END)"
    for limit, sign in ((filters.since, ">="), (filters.until, "<=")):
        if limit:
            conditions.append(f"{day} {sign} ?")
            values.append(_checked_day(limit))
    return conditions, values


def _bindable(value: Value) -> Value:
    """Half a surrogate pair can't be sent to SQLite, and no note holds one: escaped, it finds nothing."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def _checked_day(text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"{text!r} is no date; write it as YYYY-MM-DD") from None
