"""Memories as answers: what became of one, what is known on a topic, how the whole stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hindbrain.base.clock import local_time
from hindbrain.base.plural import plural
from hindbrain.memory.tools.note_answers import MOST_CHARS, span
from hindbrain.memory.tools.search_answers import cited, weakness
from hindbrain.memory.tools.tool import ToolResult

if TYPE_CHECKING:
    from hindbrain.memory.answers import Forgotten, MemoryStatus, Recalled, RecalledMemory, Remembered
    from hindbrain.search.hit import Hit
    from hindbrain.vault.items.item import MemoryItem

_MOST_OF_ONE = 500  # characters of a memory or passage


def remembered_answer(done: Remembered) -> ToolResult:
    lines = [_deed(done)]
    if done.removed:
        lines.append(f"Stored without what is secret, since memory keeps none: {', '.join(done.removed)}.")
    data: dict[str, Any] = {
        "id": done.id,
        "action": done.action,
        "category": done.category,
        "source": done.source,
        "citation": done.citation,
        "removed": list(done.removed),
    }
    if done.other is not None:
        data["other"] = done.other.id
    if done.reasons:
        data["reasons"] = list(done.reasons)
    return ToolResult("\n".join(lines), data)


def _deed(done: Remembered) -> str:
    """What became of it, in one line."""
    other = f" {done.other.citation}: {_cut(done.other.text)!r}" if done.other is not None else ""
    why = f" ({'; '.join(done.reasons)})" if done.reasons else ""
    match done.action:
        case "merge":
            return f"Known already; it is one memory now: {done.citation or '^' + done.id}"
        case "supersede":
            return f"Remembered as {done.citation or '^' + done.id}; it replaces{other}"
        case "related":
            return f"Remembered as {done.citation or '^' + done.id}; related to{other}"
        case "held":
            return f"Not stored yet{why}: it waits in the inbox as {done.id} until the user accepts it there."
        case "dropped":
            return f"Not stored{why}:{other}"
        case "queued":
            return f"Remembered as ^{done.id}; it is saved, and in its note soon."
        case _:
            return f"Remembered as {done.citation or '^' + done.id}"


def recalled_answer(recalled: Recalled) -> ToolResult:
    memories = [_memory_data(found) for found in recalled.memories]
    passages = [
        {
            "path": hit.path,
            "first_line": hit.first_line,
            "last_line": hit.last_line,
            "text": _cut(hit.text),
            "citation": cited(hit),
        }
        for hit in recalled.passages
    ]
    data = {"memories": memories, "passages": passages, "notices": list(recalled.notices)}
    return ToolResult("\n".join(_within(_recalled_lines(recalled))), data)


def _recalled_lines(recalled: Recalled) -> Iterator[str]:
    if not recalled.memories and not recalled.passages:
        yield f"Nothing found about {recalled.topic!r}."
    if recalled.memories:
        count = len(recalled.memories)
        yield f"{count} {'memory' if count == 1 else 'memories'} about {recalled.topic!r}:"
        yield from map(_memory_line, recalled.memories)
    if recalled.passages:
        yield "From notes:"
        yield from map(_passage_line, recalled.passages)
    sure = [found.confidence for found in recalled.memories if not found.pending and found.confidence]
    sure += [hit.confidence for hit in recalled.passages]
    for notice in (*recalled.notices, *weakness(sure)):
        yield f"({notice})"


def _memory_line(found: RecalledMemory) -> str:
    item = found.item
    said = [item.category, item.created, f"source: {item.source}" if item.source != "user" else ""]
    said.append(_fate(found))
    where = f"^{item.id} (being saved)" if found.pending else item.citation
    return f"- {_cut(item.text)} ({', '.join(filter(None, said))}) {where}"


def _fate(found: RecalledMemory) -> str:
    by = found.item.superseded
    if found.successor_gone:
        return "replaced by a memory that is gone"
    return f"replaced by ^{by}" if len(by) > 1 else "struck out" if by else ""


def _passage_line(hit: Hit) -> str:
    return f"- {_cut(hit.text)} ({cited(hit)} {span(hit.first_line, hit.last_line)})"


def _memory_data(found: RecalledMemory) -> dict[str, Any]:
    item = found.item
    data: dict[str, Any] = {
        "id": item.id,
        "text": item.text,
        "category": item.category,
        "importance": item.importance,
        "source": item.source,
        "created": item.created,
        "citation": "" if found.pending else item.citation,
    }
    if found.pending:
        data["pending"] = True
    if item.superseded:
        data["superseded"] = item.superseded
    return data


def updated_answer(item: MemoryItem) -> ToolResult:
    data = {"id": item.id, "text": item.text, "importance": item.importance, "citation": item.citation}
    return ToolResult(f"Updated {item.citation}: {_cut(item.text)}", data)


def forgotten_answer(forgotten: Forgotten) -> ToolResult:
    undo = f" hindbrain undo {forgotten.revision_id} brings it back." if forgotten.revision_id else ""
    data = {"id": forgotten.id, "path": forgotten.path, "revision": forgotten.revision_id}
    return ToolResult(f"Forgotten: {_cut(forgotten.text)!r}. It will not be learned again.{undo}", data)


def status_answer(status: MemoryStatus) -> ToolResult:
    counts = ", ".join(f"{number} {category}" for category, number in sorted(status.counts.items()) if number)
    where = f" in {status.folder}/" if status.folder else ""
    lines = [
        f"{plural(status.total, 'memory')}{f' ({counts})' if counts else ''}; {status.superseded} replaced.",
        f"Waiting: {status.pending} to be saved, {status.inbox} in the inbox for the user.",
        f"Layout: {status.layout}{where}.",
        f"Search: {_index_text(status)}.",
        *(f"({problem})" for problem in (status.embedder_problem, *status.problems) if problem),
    ]
    data = status._asdict() | {"counts": dict(status.counts), "problems": list(status.problems)}
    return ToolResult("\n".join(lines), data)


def _index_text(status: MemoryStatus) -> str:
    if status.index != "ready":
        return f"index {status.index.removeprefix('index_')}"
    day = f"{local_time(status.synced_at):%Y-%m-%d %H:%M}" if status.synced_at else "never"
    by = "words and meaning" if status.embedder else "words only"
    return f"{plural(status.notes, 'note')}, by {by}, up to date as of {day}"


def _within(lines: Iterator[str]) -> Iterator[str]:
    """As many lines as an answer holds."""
    left = MOST_CHARS
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            yield "… more was found; ask for less or be more exact"
            return
        yield line


def _cut(text: str) -> str:
    """On one line, and not too long: what a memory says can't begin a line of ours."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _MOST_OF_ONE else f"{flat[:_MOST_OF_ONE]}…"
