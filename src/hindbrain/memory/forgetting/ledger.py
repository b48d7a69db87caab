"""Which memories there are, by id and hash: so that a line a person deletes in a note is noticed.

`.hindbrain/memories.jsonl` says what was stored where. An id that is gone from a note that is there and could
be read, and that stands in no other note of the vault, is a deletion; an id in another note has moved; a note
that is missing, or lost everything at once, says nothing. A line that comes back (undo, a sync tool) is known
again and its tombstone lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.memory.answers import Remembered
from hindbrain.memory.forgetting.event_log import Event, EventLog, Mark
from hindbrain.memory.forgetting.fingerprint import Fingerprint, checksum, fingerprint
from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.memory.forgetting.tombstones import Tombstones
    from hindbrain.vault.write import VaultWriter

LEDGER = "memories.jsonl"
_PER_LINE = 500  # entries: one line is one durable write
_WHOLE_NOTE = 3  # as many ids gone with none left in their note: an editor in the middle of saving, perhaps


class Entry(NamedTuple):
    id: str
    path: str
    check: int  # salted checksum of the text
    print: Fingerprint
    gone: bool = False
    by_hand: bool = False  # gone because a person deleted its line


class Ledger:
    def __init__(
        self, root: Path, writer: Callable[[], VaultWriter], tombstones: Tombstones, clock: Clock
    ) -> None:
        self._log = EventLog(root, LEDGER, writer)
        self._tombstones = tombstones
        self._clock = clock
        self._read_to = Mark()
        self._entries: dict[str, Entry] = {}
        self._by_text: dict[str, set[str]] = {}  # exact hash -> ids
        self._living: tuple[Mark, dict[str, str]] = (Mark(), {})

    @property
    def version(self) -> int:
        """Another number whenever there is something new."""
        self._known()
        return hash(self._read_to)

    def living(self) -> Mapping[str, str]:
        """The memories that were stored and not taken away, and the note in which each stood last."""
        known = self._known()
        if self._living[0] != self._read_to:
            found = {entry.id: entry.path for entry in known.values() if not entry.gone}
            self._living = (self._read_to, found)
        return self._living[1]

    def deleted_by_hand(self) -> frozenset[str]:
        return frozenset(entry.id for entry in self._known().values() if entry.by_hand)

    def ids(self) -> frozenset[str]:
        """Every memory that was ever stored here, those that are gone included."""
        return frozenset(self._known())

    def note_stored(self, items: Iterable[MemoryItem | Remembered]) -> None:
        """Know these from now on. One durable write for up to 500 of them; what is known costs nothing."""
        known = self._known()
        salt = self._tombstones.salt
        new: dict[str, Entry] = {}
        for item in items:
            if not item.id:
                continue
            entry = known.get(item.id)
            check = checksum(item.text, salt)
            if entry is None or entry.gone or (entry.check, entry.path) != (check, item.path):
                new[item.id] = Entry(item.id, item.path, check, fingerprint(item.text, salt))
        self._append(list(new.values()))

    def knows(self, text: str) -> bool:
        """Was this stored before, in these words or the same ones in another order?"""
        self._known()
        print_ = fingerprint(text, self._tombstones.salt)
        return print_.exact in self._by_text or (bool(print_.words) and print_.words in self._by_text)

    def note_gone(self, ids: Iterable[str], *, by_hand: bool = False) -> None:
        """These were taken away on purpose (forgotten, merged); their absence means nothing more."""
        known = self._known()
        gone = [id_ for id_ in ids if id_ in known and not known[id_].gone]
        if gone:
            event = {"at": round(self._clock.now()), "gone": gone}
            self._log.append({**event, "by": "hand"} if by_hand else event)

    def note_lost(self, ids: Iterable[str]) -> None:
        """The notes of these are gone as a whole; nobody knows where they stand."""
        known = self._known()
        lost = [id_ for id_ in ids if id_ in known and known[id_].path]
        if lost:
            self._log.append({"at": round(self._clock.now()), "lost": lost})

    def notice(
        self,
        items_now: Sequence[MemoryItem],
        readable: Collection[str],
        *,
        complete: bool = True,
        surely_nowhere: Callable[[Collection[str]], set[str]] = set,
    ) -> list[str]:
        """Compare with what the notes hold now; returns the ids that a person deleted.

        `readable`: paths of the memory notes that were read. `complete`: no memory note failed to be read;
        else an id that is gone may have moved there, and nothing is decided. `surely_nowhere`: which of some
        ids stand in no note of the vault.
        """
        known = dict(self._known())
        present = {item.id for item in items_now if item.id}
        self._lift_returned(known, present)
        self.note_stored(items_now)
        if not complete:
            return []
        missing = [
            entry
            for entry in known.values()
            if not entry.gone and entry.id not in present and entry.path in readable
        ]
        deleted = _without_emptied(missing, {item.path for item in items_now if item.id})
        nowhere = surely_nowhere([entry.id for entry in deleted]) if deleted else set()
        deleted = [entry for entry in deleted if entry.id in nowhere]
        for entry in deleted:
            self._tombstones.add_known(entry.print, why="deleted")
        self.note_gone((entry.id for entry in deleted), by_hand=True)
        return [entry.id for entry in deleted]

    def _lift_returned(self, known: dict[str, Entry], present: set[str]) -> None:
        for id_ in present:
            entry = known.get(id_)
            if entry is not None and entry.gone:
                self._tombstones.lift_known(entry.print)

    def _append(self, entries: list[Entry]) -> None:
        for at in range(0, len(entries), _PER_LINE):
            rows = [
                [entry.id, entry.path, entry.check, *entry.print] for entry in entries[at : at + _PER_LINE]
            ]
            self._log.append({"at": round(self._clock.now()), "stored": rows})

    def _known(self) -> dict[str, Entry]:
        news = self._log.since(self._read_to)
        self._read_to = news.mark
        if news.anew:
            self._entries, self._by_text = {}, {}
        for event in news.events:
            self._take(event)
        return self._entries

    def _take(self, event: Event) -> None:
        for row in _rows(event, "stored"):
            try:
                id_, path, check, exact, words = row
                known = Entry(str(id_), str(path), int(check), Fingerprint(str(exact), str(words)))
                self._entries[known.id] = known
                self._by_text.setdefault(known.print.exact, set()).add(known.id)
                self._by_text.setdefault(known.print.words, set()).add(known.id)
            except (TypeError, ValueError):
                continue  # written by a newer Hindbrain, perhaps: this one does not judge by it
        for id_ in _rows(event, "lost"):
            if (entry := self._entries.get(str(id_))) is not None:
                self._entries[entry.id] = entry._replace(path="")
        for id_ in _rows(event, "gone"):
            entry = self._entries.get(str(id_))
            if entry is not None:
                self._entries[entry.id] = entry._replace(gone=True, by_hand=event.get("by") == "hand")


def _rows(event: Event, key: str) -> list[Any]:
    rows = event.get(key)
    return rows if isinstance(rows, list) else []


def _without_emptied(missing: list[Entry], filled: set[str]) -> list[Entry]:
    """Leave out what was lost together with everything else in its note."""
    lost: dict[str, int] = {}
    for entry in missing:
        lost[entry.path] = lost.get(entry.path, 0) + 1
    return [entry for entry in missing if entry.path in filled or lost[entry.path] < _WHOLE_NOTE]
