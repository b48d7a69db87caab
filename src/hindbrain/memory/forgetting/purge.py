"""Forgetting completely: a memory's line goes, and after it every trace that we keep of its words.

Only for people, never a tool. What is to be purged is written down first and struck off last, so that a crash
in between leaves a purge that can be run again to its end. Other notes that say the same are named and left
alone: they are their owner's. What the file system keeps of files that were replaced is beyond our reach.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hindbrain.base.errors import Busy, HindbrainError, NotFound, UsageError, WriteFailed
from hindbrain.base.json_lines import as_object
from hindbrain.memory.forgetting.traces import Traces, texts_of
from hindbrain.memory.storage.merged_ids import MergedIds
from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory
    from hindbrain.vault.write import VaultWriter

_FOLDER = "purge"  # in the state folder: purges that have begun
_WAIT_S = 10.0
_CONFLICT = " (conflict "  # in the name of a copy that the writer kept
_ID = re.compile(r"[A-Za-z0-9-]+")
_T = TypeVar("_T")


class Purged(NamedTuple):
    """What was forgotten, and what could not be."""

    id: str
    revisions: int  # kept versions of notes that were rewritten without it
    elsewhere: tuple[str, ...]  # notes that hold the same words and were left alone
    problems: tuple[str, ...] = ()  # what is not done yet: run it again

    @property
    def complete(self) -> bool:
        return not self.problems


def purge(memory: Memory, writer: VaultWriter, memory_id: str, beside: Callable[[Traces], object]) -> Purged:
    """Raises NotFound when nothing is known of the memory; what fails later is in `problems`.

    `beside`: takes it out of what others keep.
    """
    wanted = memory_id.strip().rpartition("^")[2].rstrip("]")
    if not _ID.fullmatch(wanted):
        raise UsageError(f"{memory_id!r} is no id of a memory; recall shows them")
    if any(waiting.id == wanted for waiting in memory.queue.pending()):
        memory.flush(timeout_s=_WAIT_S)
    traces = _traces(memory, writer, MergedIds(memory.state).get(wanted) or wanted)
    intent = _Intent(memory.state / _FOLDER, traces.memory_id)
    intent.write(traces)
    problems: list[str] = []

    def part(name: str, act: Callable[[], _T]) -> _T | None:
        try:
            return act()
        except HindbrainError as error:
            problems.append(f"{name}: {error}")
            return None

    from hindbrain.index.usage import USAGE_LOG

    part("the note", lambda: _forget(memory, traces))
    # After that: a word that stands in the memory's line alone is no word of the notes.
    traces = _with_own_words(memory, traces)
    part("the queue", lambda: memory.queue.purge(lambda w: _is_unwanted(w.id, w.text, traces), _WAIT_S))
    part("the inbox", lambda: _refuse(memory, traces))
    part(
        "the log of use",
        lambda: writer.edit_state_file(USAGE_LOG, lambda data: _without_queries(data, traces)),
    )
    part("what is kept of conversations", lambda: beside(traces))
    part("the index", lambda: _purge_index(memory, traces))
    # After all that writes notes, since each such change is kept, too.
    rewritten = part("the revisions", lambda: writer.rewrite_revisions(traces.taken_from)) or 0
    if not problems:
        intent.strike_off()
    elsewhere = tuple(path for path, data in _notes(memory.root) if traces.in_note(data))
    return Purged(traces.memory_id, rewritten, elsewhere, tuple(problems))


def unfinished(state: Path) -> list[str]:
    """Ids of memories whose purge has begun and not ended."""
    return sorted(path.stem for path in (state / _FOLDER).glob("*.json"))


def _traces(memory: Memory, writer: VaultWriter, memory_id: str) -> Traces:
    """All wordings that the memory had: now, in versions that are kept, and in a purge that was cut short."""
    texts = _Intent(memory.state / _FOLDER, memory_id).texts()
    for data in writer.all_kept():
        texts |= texts_of(memory_id, data)
    stored = [memory.find_archived(memory_id)]
    try:
        stored.append(memory.book.find(memory_id))
    except NotFound:
        if not texts and stored == [None]:
            raise
    for item in filter(None, stored):
        texts |= {item.text} | texts_of(memory_id, memory.notebook.read(item.path).data)
    return Traces(memory_id, texts)


def _with_own_words(memory: Memory, traces: Traces) -> Traces:
    own = traces.find_own_words(data for _, data in _notes(memory.root))
    return Traces(traces.memory_id, traces.texts, own)


def _is_unwanted(memory_id: str, text: str, traces: Traces) -> bool:
    return memory_id == traces.memory_id or traces.in_text(text)


def _forget(memory: Memory, traces: Traces) -> None:
    """From its note and from the conflict copies of that. It is not learned again: hashes of it stay."""
    every = (*memory.book.items(), *memory.archived.items())
    paths = {item.path for item in every if item.id == traces.memory_id}
    mark = f"^{traces.memory_id}".encode()
    paths.update(path for path, data in _notes(memory.root) if _CONFLICT in path and mark in data)
    for path in sorted(paths):
        memory.notebook.edit(path, lambda page: _without(page, traces.memory_id))
    for text in traces.texts:
        memory.tombstones.add(text, why="forgotten")
    memory.ledger.note_gone([traces.memory_id])


def _without(page: Page | None, memory_id: str) -> bytes | None:
    from hindbrain.memory.items.note_edit import Remove, edit_note

    if page is None:
        return None
    removal = Remove(MemoryItem(memory_id, ""))
    data = edit_note(page.data, [removal], path=page.path, category="").data
    return None if data == page.data else data


def _refuse(memory: Memory, traces: Traces) -> None:
    for proposal in memory.inbox.pending():
        if traces.in_text(proposal.text):
            memory.inbox.refuse(proposal.id)


def _without_queries(data: bytes, traces: Traces) -> bytes:
    """The log of use; that a note was opened stays, the question that led there goes."""
    lines = []
    for line in data.split(b"\n"):
        event = as_object(line)
        if event is not None and traces.hinted_at(str(event.get("query", ""))):
            event = {**event, "query": ""}
            line = json.dumps(event, ensure_ascii=True).encode("ascii")
        shown = event.get("memories") if event is not None else None
        if event is not None and isinstance(shown, list) and traces.memory_id in shown:
            left = [id_ for id_ in shown if id_ != traces.memory_id]
            line = json.dumps({**event, "memories": left}, ensure_ascii=True).encode("ascii")
        lines.append(line)
    return b"\n".join(lines)


def _purge_index(memory: Memory, traces: Traces) -> None:
    from hindbrain.index.purge import notes_holding, purge_index
    from hindbrain.vault.path_rules import NotePath

    if not (memory.state / "index.db").exists():
        return

    def holds(text: str) -> bool:
        return traces.in_note(text.encode("utf-8", "surrogatepass"))

    holding = notes_holding(memory.state, holds)
    memory.notebook.touched.update(map(NotePath, holding))
    memory.take_in_touched()
    gone = [path for path in holding if memory.notebook.find(path) is None]
    if not purge_index(memory.state, traces.hinted_at, gone, timeout_s=_WAIT_S):
        raise Busy(
            "another process reads an old state of it, which holds the words; end it and run this again"
        )


def _notes(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every note that can be read, by a look at each: the index may be missing or behind."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(".md") and not name.startswith("."):
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    yield path.relative_to(root).as_posix(), path.read_bytes()


class _Intent:
    """What shall be purged, durable until it is."""

    def __init__(self, folder: Path, memory_id: str) -> None:
        self._path = folder / f"{memory_id}.json"

    def texts(self) -> set[str]:
        try:
            return set(map(str, json.loads(self._path.read_bytes())))
        except (OSError, ValueError, TypeError):
            return set()

    def write(self, traces: Traces) -> None:
        from hindbrain.base.files import make_folder, replace_file

        try:
            make_folder(self._path.parent)
            replace_file(self._path, json.dumps(sorted(traces.texts)).encode("ascii"))
        except OSError as error:
            raise WriteFailed(
                f"{str(self._path)!r} can't be written ({error.strerror}); nothing was purged"
            ) from error

    def strike_off(self) -> None:
        self._path.unlink(missing_ok=True)
