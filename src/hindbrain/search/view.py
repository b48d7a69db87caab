"""What a warm engine remembers of an index from one search to the next.

Everything is forgotten when the index changes, so an answer is never older than the index.
"""

from collections.abc import Iterable, Mapping

from hindbrain.index.store import IndexStore, NoteInfo, Value
from hindbrain.search.adjustments import Adjustments

_MOST_NOTES = 20_000
_MOST_TEXTS = 1_000


class IndexView:
    """One state of one index, looked at piece by piece."""

    def __init__(self, store: IndexStore) -> None:
        self._store = store
        self.generation = -1
        self._meta: Mapping[str, Value] | None = None
        self._sizes: tuple[int, int] | None = None
        self._usage: Mapping[str, tuple[int, float]] | None = None
        self._notes: dict[int, NoteInfo] = {}
        self._texts: dict[int, str] = {}
        self.adjustments = Adjustments(store.path.parent)  # by feedback; not part of the index

    def refresh(self) -> None:
        """Call at the start of a search."""
        self.adjustments.refresh()
        generation = self._store.generation()
        if generation != self.generation:
            self._forget(generation)

    @property
    def meta(self) -> Mapping[str, Value]:
        if self._meta is None:
            self._meta = self._store.all_meta()
        return self._meta

    @property
    def passages(self) -> int:
        """How many there are."""
        return self._counted()[0]

    @property
    def note_count(self) -> int:
        return self._counted()[1]

    @property
    def usage(self) -> Mapping[str, tuple[int, float]]:
        """How often and when last each note was opened: path to (count, seconds since the epoch)."""
        if self._usage is None:
            self._usage = self._store.usage()
        return self._usage

    def notes(self, ids: Iterable[int]) -> dict[int, NoteInfo]:
        """The notes that are there."""
        wanted = set(ids)
        unknown = wanted.difference(self._notes)
        if unknown:
            if len(self._notes) > _MOST_NOTES:
                self._notes.clear()
                unknown = wanted
            self._notes.update(self._store.notes(unknown))
        return {id_: self._notes[id_] for id_ in wanted if id_ in self._notes}

    def text_of(self, note_id: int) -> str:
        """The text that the passages of a note count their offsets in."""
        if note_id not in self._texts:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[note_id] = self._store.text_of(note_id)
        return self._texts[note_id]

    def _counted(self) -> tuple[int, int]:
        if self._sizes is None:
            self._sizes = self._store.sizes()
        return self._sizes

    def _forget(self, generation: int) -> None:
        self.generation = generation
        self._meta = None
        self._sizes = None
        self._usage = None
        self._notes.clear()
        self._texts.clear()
