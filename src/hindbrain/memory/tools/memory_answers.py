"""Memories as answers: what became of one, what is known on a topic, how the whole stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hindbrain.base.clock import local_time
from hindbrain.base.plural import plural
from hindbrain.memory.tools.note_answers import MOST_CHARS, span
from hindbrain.memory.tools.search_answers import cited, weakness
from hindbrain.memory.tools.tool import ToolResult

if TYPE_CHECKING:
    from hindbrain.memory.answers import (
        Forgotten,
        LeftOutCue,
        MemoryStatus,
        PastRun,
        Recalled,
        RecalledMemory,
        Remembered,
        Timeline,
        Updated,
    )
    from hindbrain.search.hit import Hit

_MOST_OF_ONE = 500  # characters of a memory or passage


def remembered_answer(done: Remembered) -> ToolResult:
    lines = [_deed(done)]
    if done.removed:
        lines.append(f"Stored without what is secret, since memory keeps none: {', '.join(done.removed)}.")
    if labels := labels_line(done.tags, done.cues, done.cues_left_out):
        lines.append(labels)
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
    return ToolResult("\n".join(lines), data | labels_data(done.tags, done.cues, done.cues_left_out))


def labels_line(tags: Sequence[str], cues: Sequence[str], left_out: Sequence[LeftOutCue]) -> str:
    """The tags and cues that a memory has, and the cues that it did not get; "" when there are none."""
    out = ", ".join(f"{one.cue!r} ({one.why})" for one in left_out)
    parts = (("tags", ", ".join(tags)), ("cues", ", ".join(cues)), ("left out", out))
    return "; ".join(f"{name}: {text}" for name, text in parts if text)


def labels_data(tags: Sequence[str], cues: Sequence[str], left_out: Sequence[LeftOutCue]) -> dict[str, Any]:
    out = [{"cue": one.cue, "why": one.why} for one in left_out]
    parts = {"tags": list(tags), "cues": list(cues), "cues_left_out": out}
    return {name: value for name, value in parts.items() if value}


def _deed(done: Remembered) -> str:
    """What became of it, in one line."""
    other = f" {done.other.citation}: {_cut(done.other.text)!r}" if done.other is not None else ""
    why = f" ({'; '.join(done.reasons)})" if done.reasons else ""
    match done.action:
        case "merge":
            where = done.citation or f"^{done.id}"
            if done.other is not None and done.other.text != done.text:
                return f"Added to what was known; {where} says now: {_cut(done.text)!r}"
            return f"Known already, and your words are kept with it: {where}: {_cut(done.text)!r}"
        case "supersede":
            return f"Remembered as {done.citation or '^' + done.id}; it replaces{other}"
        case "related":
            id_ = replaceable_id(done)
            hint = f"; if it replaces that, send it again with replaces {id_}" if id_ else ""
            return f"Remembered as {done.citation or '^' + done.id}; related to{other}{why}{hint}"
        case "held":
            return f"Not stored yet{why}: it waits in the inbox as {done.id} until the user accepts it there."
        case "dropped":
            return f"Not stored{why}:{other}"
        case "queued":
            return (
                f"Remembered as ^{done.id}: saved, and queued for its note. Whether it replaces or joins an "
                "older memory is decided there; recall shows it then."
            )
        case _:
            return f"Remembered as {done.citation or '^' + done.id}{why}"


def replaceable_id(done: Remembered) -> str:
    """The related memory that its caller may say it replaces; "" when there is none."""
    if done.action != "related" or done.other is None or done.reasons:
        return ""
    return done.other.id


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
    if recalled.runs:
        data["runs"] = [run._asdict() for run in recalled.runs]
    if recalled.timeline is not None:
        data["timeline"] = timeline_data(recalled.timeline)
    return ToolResult("\n".join(_within(_recalled_lines(recalled))), data)


def _recalled_lines(recalled: Recalled) -> Iterator[str]:
    if (timeline := recalled.timeline) is not None:
        if timeline.entries or not recalled.passages:
            yield from _timeline_lines(timeline)
    elif not (recalled.memories or recalled.passages or recalled.runs):
        yield f"Nothing found about {recalled.topic!r}."
    if recalled.memories:
        count = len(recalled.memories)
        yield f"{count} {'memory' if count == 1 else 'memories'} about {recalled.topic!r}:"
        yield from map(_memory_line, recalled.memories)
    if recalled.runs:
        yield "Earlier runs:"
        yield from map(_run_line, recalled.runs)
    if recalled.passages:
        yield "From notes:"
        yield from map(_passage_line, recalled.passages)
    sure = [found.confidence for found in recalled.memories if not found.pending and found.confidence]
    sure += [hit.confidence for hit in recalled.passages]
    for notice in (*recalled.notices, *weakness(sure)):
        yield f"({notice})"


def _timeline_lines(timeline: Timeline) -> Iterator[str]:
    from hindbrain.memory.timeline import entry_text, heading_text, nothing_text

    heading = heading_text(timeline)
    yield f"{heading[:1].upper()}{heading[1:]}:" if timeline.entries else nothing_text(timeline)
    for entry in timeline.entries:
        note = entry.path.removesuffix(".md")
        where = (
            f"[[{note}#^{entry.id}]]"
            if entry.id
            else f"{entry.path}:{entry.line}"
            if entry.line
            else entry.path
        )
        source = f" (source: {entry.source})" if entry.source != "user" else ""
        yield f"- {_cut(entry_text(entry))}{source} {where}"


def timeline_data(timeline: Timeline) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    entries = [entry._asdict() for entry in timeline.entries]
    return {"kind": timeline.kind, "label": timeline.label, "entries": entries}


def _memory_line(found: RecalledMemory) -> str:
    item = found.item
    said = [item.category, item.created, f"source: {item.source}" if item.source != "user" else ""]
    said.append(_fate(found))
    where = f"^{item.id} (being saved)" if found.pending else item.citation
    return f"- {_cut(item.text)} ({', '.join(filter(None, said))}) {where}"


def _run_line(run: PastRun) -> str:
    said = f"{run.date}, source: {run.source}{'' if run.went_well else ', not known to have gone well'}"
    return f"- {_cut(run.command)}: {_cut(run.answer)} ({said}) {run.path}:{run.line}"


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


def updated_answer(updated: Updated) -> ToolResult:
    item, replaced, left_out = updated
    data: dict[str, Any] = {
        "id": item.id, "text": item.text, "importance": item.importance, "citation": item.citation,
    }  # fmt: skip
    data |= labels_data(item.tags, item.cues, left_out)
    labels = labels_line(item.tags, item.cues, left_out)
    below = f"\n{labels}" if labels else ""
    if replaced is None:
        return ToolResult(f"Updated {item.citation}: {_cut(item.text)}{below}", data)
    words = f"; it replaces {replaced.citation}: {_cut(replaced.text)!r}, which stays there, struck through"
    return ToolResult(
        f"Stored as {item.citation}: {_cut(item.text)}{words}{below}", data | {"replaced": replaced.id}
    )


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
