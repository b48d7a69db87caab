"""Changes of memories in the bytes of one note: add, change, strike through, remove. Pure.

All changes of a batch go into a note at once. A change that was made before (the id is there, the line is
struck through) is made no second time, so that a batch can be applied again after a crash. Only the lines of
the memories that are meant are touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from hindbrain.vault.blocks import BlockReader
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.items.category import category_of_headings, heading_for
from hindbrain.vault.items.item import (
    Entry,
    MemoryItem,
    join_cues,
    merged_cues,
    merged_tags,
    parse_entries,
    render_item,
    render_wording,
    trust_of,
    wordings_below,
)
from hindbrain.vault.items.item_line import add_tags, drop_field, read_line, set_field, set_text, strike
from hindbrain.vault.items.item_text import fold, unlinked
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Heading

_INDENT = "  "


class Add(NamedTuple):
    """A line of its own."""

    item: MemoryItem
    exactly: bool = False  # also beside a line that says the same
    fields: tuple[tuple[str, str], ...] = ()  # besides those of the item
    wordings: tuple[MemoryItem, ...] = ()  # other words for the same, which stay readable below it


class Reword(NamedTuple):
    """Other words, importance, source, cues or more tags for a memory that is there; None leaves it."""

    target: MemoryItem
    text: str | None = None
    importance: float | None = None
    source: str | None = None
    merged: tuple[MemoryItem, ...] = ()  # others that say the same: words that go stay readable below
    cues: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()  # that it gets beside its own


class Strike(NamedTuple):
    """A memory holds no longer; `by` is the id of what replaced it ("": a line without one)."""

    target: MemoryItem
    by: str


class Remove(NamedTuple):
    """A memory goes, with the lines below it."""

    target: MemoryItem


Step: TypeAlias = Add | Reword | Strike | Remove


class Edited(NamedTuple):
    """The note after the steps."""

    data: bytes
    done: tuple[bool, ...]  # for each step, whether the note has it now; False: its target is not there
    twins: dict[str, MemoryItem]  # id of an added memory -> the one that says the same already, instead


def edit_note(data: bytes, steps: Sequence[Step], *, path: str, category: str) -> Edited:
    """Make the steps. `category`: of the whole note; "" where its headings tell."""
    lines = NoteLines(data, repr(path))
    entries = parse_entries(lines.texts, path=path, category=category)
    known = _Known(entries)
    found = {at: entry for at, step in enumerate(steps) if (entry := known.find(step)) is not None}
    twins = {
        step.item.id: found[at].item
        for at, step in enumerate(steps)
        if isinstance(step, Add) and at in found and found[at].item.id != step.item.id
    }
    steps = [_instead(step, found[at].item) if at in found else step for at, step in enumerate(steps)]
    # From the last line to the first, so that the places of earlier ones stay true.
    for at in sorted(found, key=lambda at: -found[at].start):
        step = steps[at]
        if isinstance(step, Strike) and step.by in twins:
            step = step._replace(by=twins[step.by].id)
        if isinstance(step, Reword):
            own = [i for i in found if isinstance(steps[i], Reword) and found[i] is found[at]]
            if at == own[0]:
                _change(lines, found[at], _joined([steps[i] for i in own]))
        elif not isinstance(step, Add):
            _change(lines, found[at], step)
    adds = [step for at, step in enumerate(steps) if isinstance(step, Add) and at not in found]
    if adds:
        if len(found):
            entries = parse_entries(lines.texts, path=path, category=category)
        _insert(lines, entries, adds, category)
    done = tuple(at in found or isinstance(step, Add) for at, step in enumerate(steps))
    return Edited(lines.data(), done, twins)


class _Known:
    """The memories of a note, by what a step may ask for."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._by_id = {entry.item.id: entry for entry in reversed(entries) if entry.item.id}

    def find(self, step: Step) -> Entry | None:
        """The memory that a step is about; of an addition the one that makes it needless."""
        if isinstance(step, Add):
            return self._twin(step)
        target = step.target
        if target.id:
            return self._by_id.get(target.id)
        same = [entry for entry in self._entries if not entry.item.id and entry.item.text == target.text]
        return min(same, key=lambda entry: abs(entry.item.line - target.line), default=None)

    def _twin(self, step: Add) -> Entry | None:
        """The memory itself, or one that says the same and is trusted no less."""
        item = step.item
        if item.id in self._by_id:
            return self._by_id[item.id]
        if step.exactly:
            return None
        return next(
            (
                entry
                for entry in self._by_text.get(_said(item.text), ())
                if entry.item.category == item.category
                and trust_of(entry.item.source) <= trust_of(item.source)
            ),
            None,
        )

    @cached_property
    def _by_text(self) -> dict[str, list[Entry]]:
        """What holds, by its words."""
        found: dict[str, list[Entry]] = {}
        for entry in self._entries:
            if not entry.item.superseded:
                found.setdefault(_said(entry.item.text), []).append(entry)
        return found


def _instead(step: Step, there: MemoryItem) -> Step:
    """What is left to do when a line says the same already: it gets the cues and tags."""
    if not isinstance(step, Add) or there.id == step.item.id:
        return step
    cues, tags = merged_cues(there, step.item), merged_tags(there, step.item)
    return step if cues is None and tags == there.tags else Reword(there, cues=cues, tags=tags)


def _said(text: str) -> str:
    return unlinked(fold(text)).casefold()


def _joined(steps: Iterable[Step]) -> Reword:
    """One step for all rewordings of one memory: the last value of each kind, and every merged wording."""
    first, *more = (step for step in steps if isinstance(step, Reword))
    for step in more:
        first = Reword(
            first.target,
            first.text if step.text is None else step.text,
            first.importance if step.importance is None else step.importance,
            first.source if step.source is None else step.source,
            (*first.merged, *step.merged),
            _joined_cues(first.cues, step.cues),
            tuple(dict.fromkeys((*first.tags, *step.tags))),
        )
    return first


def _joined_cues(first: tuple[str, ...] | None, then: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return then if first is None else first if then is None else join_cues(first, then)


def _change(lines: NoteLines, entry: Entry, step: Reword | Strike | Remove) -> None:
    if isinstance(step, Remove):
        lines.remove(entry.start, entry.stop)
        return
    if isinstance(step, Strike):
        if entry.item.superseded:
            return
        for at in _text_lines(lines, entry):
            lines.replace(at, strike(lines.texts[at]))
        if step.by:
            _set(lines, entry, "superseded", f"^{step.by}")
        return
    if step.importance is not None and step.importance != entry.item.importance:
        _set(lines, entry, "importance", f"{step.importance:g}")
    if step.source is not None and step.source != entry.item.source:
        _set(lines, entry, "source", step.source)
    if step.cues is not None and step.cues != entry.item.cues:
        _set(lines, entry, "cues", ", ".join(join_cues(step.cues)))
    if new := [tag for tag in step.tags if tag not in entry.item.tags]:
        lines.replace(entry.start, add_tags(lines.texts[entry.start], new))
    if step.merged:
        _keep_wordings(lines, entry, step.text or entry.item.text, (entry.item, *step.merged))
    if step.text is not None and step.text != entry.item.text:
        _reword(lines, entry, fold(step.text))


def _keep_wordings(lines: NoteLines, entry: Entry, text: str, wordings: Sequence[MemoryItem]) -> None:
    """Write those that differ from `text` below the memory, each once."""
    below = set(map(_said, wordings_below(lines.texts, entry)))
    new = [one for one in _others(text, wordings) if _said(one.text) not in below]
    first = lines.texts[entry.start]
    indent = first[: len(first) - len(first.lstrip())] + _INDENT
    lines.insert(entry.stop, [indent + render_wording(one) for one in new])


def _others(text: str, wordings: Iterable[MemoryItem]) -> list[MemoryItem]:
    """The wordings that are not `text` itself, each once."""
    found: dict[str, MemoryItem] = {}
    for one in wordings:
        found.setdefault(_said(one.text), one)
    return [one for said, one in found.items() if said != _said(text)]


def _text_lines(lines: NoteLines, entry: Entry) -> list[int]:
    return [at for at in range(entry.start, entry.text_stop) if lines.texts[at].strip()]


def _set(lines: NoteLines, entry: Entry, key: str, value: str) -> None:
    """In the line that has the field, else in the one with the id, else in the first. "" takes it out."""
    own = _text_lines(lines, entry)
    parts = {at: read_line(lines.texts[at]) for at in own}
    holder = next((at for at in own if any(field.key == key for field in parts[at].fields)), None)
    if holder is None:
        holder = next((at for at in own if parts[at].id), own[0])
    before = lines.texts[holder]
    lines.replace(holder, set_field(before, key, value) if value else drop_field(before, key))


def _reword(lines: NoteLines, entry: Entry, text: str) -> None:
    own = _text_lines(lines, entry)
    for at in reversed(own[1:]):
        rest = set_text(lines.texts[at], "") if read_line(lines.texts[at]).text else lines.texts[at]
        if rest.strip():
            lines.replace(at, rest)
        else:
            lines.remove(at, at + 1)
    lines.replace(own[0], set_text(lines.texts[own[0]], text))


def _insert(lines: NoteLines, entries: Sequence[Entry], adds: Sequence[Add], category: str) -> None:
    if category:
        at = entries[-1].stop if entries else len(lines.texts)
        _put(lines, at, [line for add in adds for line in _render(add, category)])
        return
    wanted = dict.fromkeys(heading_for(add.item.category) for add in adds)
    for heading in wanted:
        group = [add for add in adds if heading_for(add.item.category) == heading]
        _insert_under(lines, heading, group)


def _insert_under(lines: NoteLines, heading: str, adds: Sequence[Add]) -> None:
    """Below the heading of their category, before any heading below it; else under a new one at the end."""
    place = category_of_headings([heading]) or "fact"
    texts = [line for add in adds for line in _render(add, place)]
    headings = _headings(lines)
    at = next((i for i, found in enumerate(headings) if category_of_headings([found.text]) == place), None)
    if at is None:
        _put(lines, len(lines.texts), [f"## {heading}", "", *texts])
        return
    start = headings[at].line  # 0-based: the line after the heading
    stop = headings[at + 1].line - 1 if at + 1 < len(headings) else len(lines.texts)
    while stop > start and not lines.texts[stop - 1].strip():
        stop -= 1
    _put(lines, stop, texts)


def _render(add: Add, place: str) -> list[str]:
    line = render_item(add.item, place=place)
    for key, value in add.fields:
        line = set_field(line, key, value)
    return [line, *(_INDENT + render_wording(one) for one in _others(add.item.text, add.wordings))]


def _headings(lines: NoteLines) -> list[Heading]:
    texts = list(lines.texts) or [""]
    reader = BlockReader("\n".join(texts), texts)
    reader.read(read_frontmatter(texts).last_line)
    return reader.headings


def _put(lines: NoteLines, at: int, texts: Sequence[str]) -> None:
    """Insert lines, with a blank line between them and a text or heading beside them."""
    before = lines.texts[at - 1] if at else ""
    after = lines.texts[at] if at < len(lines.texts) else ""
    lead = [""] if before.strip() and (not _is_item(before) or texts[0].startswith("#")) else []
    tail = [""] if after.strip() and not _is_item(after) else []
    lines.insert(at, [*lead, *texts, *tail])


def _is_item(line: str) -> bool:
    from hindbrain.vault.line_shapes import indent_of, item_content

    indent, body = indent_of(line)
    return indent > 0 or item_content(body) > 0
