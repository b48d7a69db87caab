"""Notes as answers: text that a model can work with at once, and the same as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindbrain.base.clock import local_time
from hindbrain.memory.tools.tool import ToolResult, short_hash
from hindbrain.vault.note_parts import end_of

if TYPE_CHECKING:
    from hindbrain.memory.notes.note_place import Listing
    from hindbrain.memory.notes.vault_verbs import Changed, Reading

MOST_CHARS = 8_000  # of one answer
_MOST_ENTRIES = 200  # of a folder


def link_to(path: str, heading: str = "") -> str:
    """A wikilink that opens the note, at the heading where a link can hold its name."""
    last = heading.rpartition("#")[2].strip()
    usable = last and not any(sign in last for sign in "|^[]%")
    return f"[[{path.removesuffix('.md')}#{last}]]" if usable else f"[[{path.removesuffix('.md')}]]"


def span(first: int, last: int) -> str:
    return f"lines {first}-{last}" if last > first else f"line {first}"


def reading_answer(reading: Reading) -> ToolResult:
    """The lines, as many as an answer holds; then where they stand.

    Last the hash of the note, by which it can be replaced: only for who has seen all of it.
    """
    text, last = _shown(reading)
    path, total = reading.page.path, end_of(reading.note)
    place = f"… lines {reading.first}-{last} of {total}, {path}"
    data: dict[str, Any] = {
        "path": path,
        "first_line": reading.first,
        "last_line": last,
        "lines": total,
        "text": text,
    }
    if last < reading.last:
        place += f"; ask with line_start={last + 1}"
        data["next_line"] = last + 1
    notes = [f"({problem.message})" for problem in reading.problems]
    if notes:
        data["problems"] = [problem.code for problem in reading.problems]
    if reading.is_known:
        data["hash"] = short_hash(reading.page.hash)
        return ToolResult("\n".join([text, *notes, place, f"hash: {data['hash']}"]), data)
    data["partial"] = True
    place += "; a part: no hash until all lines were read"
    return ToolResult("\n".join([text, *notes, place]), data)


def lines_answer(reading: Reading) -> ToolResult:
    """As OpenClaw's memory_get tells it."""
    text, last = _shown(reading)
    data: dict[str, Any] = {
        "status": "ok",
        "text": text,
        "path": reading.page.path,
        "from": reading.first,
        "lines": last - reading.first + 1,
    }
    more = ""
    if last < reading.last:
        data |= {"truncated": True, "nextFrom": last + 1}
        more = f"; ask with from={last + 1}"
    place = f"… lines {reading.first}-{last} of {end_of(reading.note)}, {reading.page.path}{more}"
    return ToolResult(f"{text}\n{place}", data)


def missing_answer(path: str, why: str) -> ToolResult:
    """As OpenClaw's memory_get tells that there is no such note."""
    return ToolResult(f"not found: {why}", {"status": "not_found", "text": "", "path": path})


def _shown(reading: Reading) -> tuple[str, int]:
    """The lines that fit and the number of the last; a line too long for itself is cut."""
    text = "\n".join(reading.lines[: reading.shown - reading.first + 1])
    if len(text) > MOST_CHARS:
        text = f"{text[:MOST_CHARS]}… ({len(text) - MOST_CHARS:,} more characters in line {reading.first})"
    return text, reading.shown


def change_answer(changed: Changed) -> ToolResult:
    if changed.did == "held":
        return _held_answer(changed)
    said = {
        "created": "Created",
        "replaced": "Replaced",
        "appended": "Appended to",
        "unchanged": "Nothing to change in",
    }[changed.did]
    lines = [f"{said} {link_to(changed.path, changed.heading)}."]
    if changed.merged:
        lines.append("Somebody changed other lines meanwhile: both changes are in the note.")
    if changed.removed:
        lines.append(f"Stored without what is secret, since notes keep none: {', '.join(changed.removed)}.")
    lines.append(f"hash: {short_hash(changed.hash)}")
    data = {
        "path": changed.path,
        "did": changed.did,
        "hash": short_hash(changed.hash),
        "merged": changed.merged,
        "removed": list(changed.removed),
    }
    return ToolResult("\n".join(lines), data)


def _held_answer(changed: Changed) -> ToolResult:
    ids = ", ".join(changed.held)
    text = (
        f"Not stored yet ({changed.path} is the user's own note): it waits in the inbox as {ids} until the "
        "user accepts it there."
    )
    if changed.removed:
        text += f"\nStored without what is secret, since notes keep none: {', '.join(changed.removed)}."
    data = {
        "path": changed.path,
        "did": changed.did,
        "held": list(changed.held),
        "removed": list(changed.removed),
    }
    return ToolResult(text, data)


def listing_answer(listing: Listing) -> ToolResult:
    """Folders first, then notes with the day of their last change."""
    notes = [(name, _day(changed)) for name, changed in listing.notes]
    rows = [f"{name}/" for name in listing.folders] + [f"{name}  {day}" for name, day in notes]
    where = f"{listing.path}/" if listing.path else "the vault"
    more = len(rows) - _MOST_ENTRIES
    lines = [
        f"{where}: {_count(len(listing.folders), 'folder')}, {_count(len(notes), 'note')}",
        *rows[:_MOST_ENTRIES],
    ]
    if more > 0:
        lines.append(f"… {more} more; vault_search finds notes by what they say")
    if listing.others:
        lines.append(f"({_count(listing.others, 'file')} that are no notes)")
    data = {
        "directory": listing.path,
        "folders": list(listing.folders)[:_MOST_ENTRIES],
        "notes": [{"name": name, "changed": day} for name, day in notes[:_MOST_ENTRIES]],
        "left_out": max(more, 0),
    }
    return ToolResult("\n".join(lines), data)


def _day(seconds: float) -> str:
    return local_time(seconds).date().isoformat()


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
