"""From a query to candidates: look up words, meaning, names and fields, and gather every passage's signals.

Owns which ways of looking there are and what each costs; scoring is the profiles' business. No model is
called but the embedder, and that only where it can tell something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from hindbrain.base.clock import Clock
from hindbrain.base.errors import EmbedderError, EmbedderMismatch
from hindbrain.index.store import IndexStore, MemoryInfo, NoteInfo, PassageInfo
from hindbrain.search.adjustments import NONE, moved
from hindbrain.search.hit import pending_vectors
from hindbrain.search.lexical import Keep, Scores, Term, idf, look_up, score_passages
from hindbrain.search.profiles import Candidate
from hindbrain.search.query import FullQuery, Understood, understand
from hindbrain.search.signals import in_windows, is_first_person, name_words, overlap_of, speaks
from hindbrain.search.terms import match_expression, quoted
from hindbrain.search.view import IndexView
from hindbrain.vault.dates import is_dated_by_name

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder, PieceEmbedder
    from hindbrain.search.dates import DateWindow
    from hindbrain.search.semantic import QueryMeaning, Vectors

# filename, title, aliases, tags, headers, para_area, summary, date. The reference gives the summary 2; where
# it is cut from the body, as ours mostly is, 0.5 does better on the dev sets.
FIELD_WEIGHTS = (10.0, 8.0, 8.0, 5.0, 3.0, 2.0, 0.5, 2.0)
_RANKED = 120  # passages whose plain BM25 counts, in the profiles that use it
_FIELD_NOTES = 30
_FIELD_FIRSTS = 5  # of them, whose beginning becomes a candidate whatever it says
_DAYS, _DAY_PASSAGES = 31, 400  # notes and passages that a question about days looks at
_NOTE_PASSAGES = 32  # of a note, from its beginning, whose mean cosine counts
_DAY_S = 86_400.0


DayNotes: TypeAlias = Callable[[date], tuple[str, ...]]  # vault-relative paths


class Found:
    """The candidates of one search, and what is known about them. `passages` and `candidates` go in step."""

    def __init__(
        self, understood: Understood, terms: tuple[Term, ...], passages: list[PassageInfo],
        notes: Mapping[int, NoteInfo], candidates: list[Candidate],
        meaning: QueryMeaning | None, notices: tuple[str, ...], words: Scores,
        memories: Mapping[int, MemoryInfo],
    ) -> None:  # fmt: skip
        self.understood = understood
        self.terms = terms
        self.passages = passages
        self.notes = notes
        self.candidates = candidates
        self.meaning = meaning  # None: only words were looked at
        self.notices = notices
        self.words = words  # where each term stands
        self.memories = memories  # of the passages that hold one
        self._possible = sum(term.idf for term in terms)

    def coverage(self, candidate: Candidate) -> float:
        """How much of what the query's words can tell is in the passage and around it, 0..1."""
        return min(1.0, candidate.lexical / self._possible) if self._possible > 0 else 0.0

    def day_of(self, i: int) -> str:
        """The day of the memory, else of the note; "" when neither tells it."""
        memory = self.memories.get(self.passages[i].id)
        return memory.created if memory and memory.created else self.notes[self.passages[i].note_id].date

    def importance_told(self, i: int) -> float:
        """As the owner gave it, before feedback."""
        memory = self.memories.get(self.passages[i].id)
        return memory.importance if memory else importance_of(self.notes[self.passages[i].note_id])

    def place(self, i: int) -> str:
        return f"{self.notes[self.passages[i].note_id].path}:{self.passages[i].first_line}"


class CandidateFinder:
    """Finds candidates in one index. Warm, it keeps the vectors in memory; cold, it reads what it needs."""

    def __init__(
        self,
        store: IndexStore,
        view: IndexView,
        embedder: Callable[[], Embedder | None],
        clock: Clock,
        *,
        warm: bool,
        day_notes: DayNotes,
    ) -> None:
        self._day_notes = day_notes
        self._store = store
        self._view = view
        self._make_embedder = embedder
        self._clock = clock
        self._warm = warm
        self._vectors: Vectors | None = None

    def find(self, query: FullQuery) -> Found:
        understood = understand(query.text, self._clock.today())
        total = self._view.passages
        phrases = understood.terms.phrases if query.exact else ()
        keep = self._keep(query, phrases)
        terms = look_up(self._store, understood.terms, total)
        by_words = query.mode != "semantic"
        lexical = score_passages(terms, query.wanted if by_words else 0, keep, self._store.existing)
        entities = self._entities(understood)
        fields = self._fields(understood) if by_words else {}
        meaning, notices = self._meaning(query, terms, total, entities)
        if keep is not None and not keep.spans:
            notices += self._why_none(query, phrases)
        ids = [id_ for id_, _ in lexical.best]
        if meaning is not None:
            allowed = keep.ids() if keep is not None else None
            ids += [id_ for id_, _ in self._vector_source().search(meaning.vector, query.wanted, allowed)]
        named = list(fields) if query.unit == "note" else list(fields)[:_FIELD_FIRSTS]
        ids += self._first_passages([*named, *entities], keep)
        empty = self._empty_notes([*named, *entities], keep) if query.unit == "note" else []
        if understood.asks_days and (days := self._days(understood.windows)):
            entities = dict.fromkeys(days, 1.0)
            ids = self._all_passages(days, keep)
            empty = self._empty_notes(days, keep) if query.unit == "note" else []
        found = self._gathered(
            query.without, ids, empty, lexical.scores, by_words, meaning, understood, terms, notices
        )
        for candidate in found.candidates:
            candidate.fields = fields.get(candidate.note_id, 0.0)
            candidate.entity = entities.get(candidate.note_id, 0.0)
        if query.unit == "note" and by_words:
            self._add_names(found)
        self._add_usage(found)
        self._add_speakers(query.text, found)
        self._add_profile_signals(query, found)
        return found

    @cached_property
    def _embedder(self) -> Embedder | None:
        # Made at first need: a keyword search does without.
        return self._make_embedder()

    @cached_property
    def _piece_embedder(self) -> PieceEmbedder | None:
        """The embedder, if it has pieces. Asked once: the question takes longer than a small search."""
        from hindbrain.models.embedder import has_pieces

        return self._embedder if has_pieces(self._embedder) else None

    def _gathered(
        self, without: str, ids: Iterable[int], empty: Sequence[NoteInfo], lexical: Scores, by_words: bool,
        meaning: QueryMeaning | None, understood: Understood, terms: tuple[Term, ...],
        notices: tuple[str, ...],
    ) -> Found:  # fmt: skip
        """Look the candidates up. What held once is left out: it is history, which `recall` tells.

        A number without a passage (a gap, or removed meanwhile) is left out, too.
        """
        infos = self._store.passages(dict.fromkeys(ids)) + [_stand_in(note) for note in empty]
        notes = self._view.notes(info.note_id for info in infos)
        infos = [info for info in infos if info.note_id in notes and notes[info.note_id].path != without]
        memories = self._store.memories_in([info.id for info in infos])
        infos = [info for info in infos if not self._is_superseded(info, memories.get(info.id))]
        notes = {info.note_id: notes[info.note_id] for info in infos}
        real = [info.id for info in infos]
        words = lexical.of(real) if by_words else [0.0] * len(real)
        for i, info in enumerate(infos):
            if not notes[info.note_id].passages:
                words[i] = 0.0  # what the next note begins with is not its word
        cosines = self._cosines(meaning, real)
        today = self._clock.today()
        dated = {id_: in_windows(note, understood.windows, today) for id_, note in notes.items()}
        ages = self._ages(notes)
        weights = self._importances(notes)
        memories = {id_: memories[id_] for id_ in real if id_ in memories}
        own = {id_: _as_told(notes[one.note_id], one) for id_, one in memories.items()}
        own_dated = {id_: in_windows(note, understood.windows, today) for id_, note in own.items()}
        own_ages = self._ages(own)
        moves = self._view.adjustments.items
        own_weights = {
            id_: moved(one.importance, moves.get(one.id, NONE).change) for id_, one in memories.items()
        }
        trust = 1.0 if meaning is None else meaning.trust
        candidates = [
            Candidate(
                id=info.id,
                note_id=info.note_id,
                lexical=words[i],
                semantic=cosines[i],
                trust=trust,
                date=own_dated.get(info.id, dated[info.note_id]),
                importance=own_weights.get(info.id, weights[info.note_id]),
                age_days=own_ages.get(info.id, ages[info.note_id]),
            )
            for i, info in enumerate(infos)
        ]
        return Found(understood, terms, infos, notes, candidates, meaning, notices, lexical, memories)

    def _is_superseded(self, info: PassageInfo, memory: MemoryInfo | None) -> bool:
        """Return whether the passage says nothing besides memories that hold no longer."""
        if memory is None or memory.state != "superseded" or memory.note_id != info.note_id:
            return False
        lines = self._view.text_of(info.note_id).split("\n")[info.first_line - 1 : info.last_line]
        # What is indented belongs to the item above it, which is a memory.
        said = (line for line in lines if line.strip() and not line.startswith(("#", " ", "\t")))
        return all("[superseded::" in line for line in said)

    def _keep(self, query: FullQuery, phrases: Sequence[str]) -> Keep | None:
        """The passages that may be hits; None: all."""
        keep: Keep | None = None
        if query.filters.any:
            from hindbrain.search.filters import allowed_notes

            keep = Keep(allowed_notes(self._store, query.filters, self._clock))
        if phrases:
            from hindbrain.search.exact_phrases import passages_with

            keep = passages_with(self._store, self._view, phrases, keep)
        return keep

    def _why_none(self, query: FullQuery, phrases: Sequence[str]) -> tuple[str, ...]:
        """What the query asks for and no passage has."""
        from hindbrain.search.filters import missing_tags

        if missing := missing_tags(self._store, query.filters.tags):
            return missing
        if not phrases:
            return ()
        from hindbrain.search.exact_phrases import absence

        return (absence(phrases, filtered=query.filters.any),)

    def _entities(self, understood: Understood) -> dict[int, float]:
        """Notes that the query calls by name: 1 when the name is the whole query, else by its share of it."""
        if not understood.wholes:
            return {}
        words = max(1, min(len(whole.split()) for whole in understood.wholes))
        found: dict[int, float] = {}
        for name, note_id in self._store.notes_named((*understood.names, *understood.wholes)):
            share = 1.0 if name in understood.wholes else 0.5 * min(1.0, len(name.split()) / words)
            found[note_id] = max(found.get(note_id, 0.0), share)
        return found

    def _fields(self, understood: Understood) -> dict[int, float]:
        return dict(self._store.ranked_notes(match_expression(understood.terms), FIELD_WEIGHTS, _FIELD_NOTES))

    def _add_names(self, found: Found) -> None:
        """How much of a note's name the query has, in whatever order; all of both is the name itself."""
        asked = frozenset(found.understood.terms.words)
        shares: dict[int, float] = {}
        same = set()
        for name, note_id in self._store.names_of(found.notes):
            words = name_words(name)
            shares[note_id] = max(shares.get(note_id, 0.0), len(asked & words) / max(1, len(words)))
            if words == asked:
                same.add(note_id)
        for candidate in found.candidates:
            candidate.name = shares.get(candidate.note_id, 0.0)
            if candidate.note_id in same:
                candidate.entity = 1.0

    def words_of_notes(self, found: Found, note_ids: Sequence[int]) -> list[float]:
        """BM25 of whole notes."""
        spans = [(found.notes[id_].first_passage, found.notes[id_].passages) for id_ in note_ids]
        return found.words.of_notes(spans, max(1.0, self._view.passages / max(1, self._view.note_count)))

    def meaning_of_notes(self, found: Found, note_ids: Sequence[int]) -> list[float]:
        """The mean cosine of each note's passages; NaN where one has no vector yet."""
        if found.meaning is None:
            return [math.nan] * len(note_ids)
        ids: list[int] = []
        ends = [0]
        for note in (found.notes[id_] for id_ in note_ids):
            ids += range(note.first_passage, note.first_passage + min(note.passages, _NOTE_PASSAGES))
            ends.append(len(ids))
        cosines = self._cosines(found.meaning, ids)
        return [
            sum(cosines[start:end]) / (end - start) if end > start else math.nan
            for start, end in pairwise(ends)
        ]

    def _meaning(
        self, query: FullQuery, terms: Sequence[Term], total: int, entities: Mapping[int, float]
    ) -> tuple[QueryMeaning | None, tuple[str, ...]]:
        """The query as vectors, or None with the reason why not."""
        if query.mode == "keyword":
            return None, ()
        if self._embedder is None:
            if query.mode == "semantic":
                raise EmbedderError("there is no embedder to search by meaning; set embedding.provider")
            return None, ()
        from hindbrain.search.semantic import embed_query, weigh_query

        # A query that is a note's name: an embedding call would tell nothing more.
        if query.mode == "hybrid" and 1.0 in entities.values() and self._piece_embedder is None:
            return None, ()
        made_by = self._view.meta.get("embedder")
        if made_by is None and query.mode == "hybrid":
            return None, (pending_vectors(0, total),) if total else ()
        if made_by != self._embedder.name:
            if query.mode == "semantic":
                raise EmbedderMismatch(
                    f"the index has no vectors of {self._embedder.name!r} yet; make them: hindbrain sync"
                )
            return None, ("vectors_of_another_embedder: keyword search only, until hindbrain sync has run",)
        try:
            if self._piece_embedder is None:
                return embed_query(self._embedder, query.text), self._pending(total)
            weights = {term.text: idf(term.held, total) for term in terms}
            return weigh_query(self._piece_embedder, query.text, weights), self._pending(total)
        except EmbedderError as error:
            if query.mode == "semantic":
                raise
            return None, (f"{error.code}: {error}",)

    def _pending(self, total: int) -> tuple[str, ...]:
        vectors = self._vector_source().count()
        return (pending_vectors(vectors, total),) if vectors < total else ()

    def _vector_source(self) -> Vectors:
        from hindbrain.search.semantic import LoadedVectors, StoredVectors

        assert self._embedder is not None
        if self._vectors is None:
            kind = LoadedVectors if self._warm else StoredVectors
            self._vectors = kind(self._store, self._embedder.dim)
        self._vectors.refresh(self._view.generation)
        return self._vectors

    def _cosines(self, meaning: QueryMeaning | None, ids: Sequence[int]) -> list[float]:
        if meaning is None or not ids:
            return [math.nan] * len(ids)
        return self._vector_source().score(meaning.vector, ids)

    def _first_passages(self, note_ids: Sequence[int], keep: Keep | None) -> list[int]:
        if not note_ids:
            return []
        firsts = [note.first_passage for note in self._view.notes(note_ids).values() if note.passages]
        return [id_ for id_ in firsts if keep is None or id_ in keep]

    def _empty_notes(self, note_ids: Sequence[int], keep: Keep | None) -> list[NoteInfo]:
        """Those without a passage, which their name alone can find: notes of nothing but properties."""
        notes = [note for note in self._view.notes(note_ids).values() if not note.passages]
        return [note for note in notes if keep is None or keep.holds_note(note.first_passage)]

    def _days(self, windows: Sequence[DateWindow]) -> list[int]:
        """The notes of the days that a query asks for, the newest first: those that have their day in the
        name, and those of the type `daily`. Empty ones come last: an empty day is an answer, too."""
        condition = " OR ".join(["(date >= ? AND date < ?)"] * len(windows))
        bounds = [day.isoformat() for window in windows for day in (window.start, window.end)]
        rows = self._store.select(
            f"SELECT id, path, date, type FROM note WHERE {condition} ORDER BY passages = 0, date DESC, path",
            bounds,
        )
        dated = [id_ for id_, path, day, kind in rows if kind == "daily" or is_dated_by_name(path, day)]
        today = self._clock.today()
        paths = [
            path for window in windows for day in _last_days(window, today) for path in self._day_notes(day)
        ]
        return list(dict.fromkeys((*self._store.note_ids(dict.fromkeys(paths)), *dated)))[:_DAYS]

    def _all_passages(self, note_ids: Sequence[int], keep: Keep | None) -> list[int]:
        notes = self._view.notes(note_ids)
        spans = (notes[id_] for id_ in note_ids if id_ in notes)
        ids = (one for note in spans for one in range(note.first_passage, note.first_passage + note.passages))
        return [id_ for id_ in ids if keep is None or id_ in keep][:_DAY_PASSAGES]

    def _importances(self, notes: Mapping[int, NoteInfo]) -> dict[int, float]:
        """As their owner gave them, moved by feedback where there is some."""
        told = {id_: importance_of(note) for id_, note in notes.items()}
        moves = self._view.adjustments.notes
        if moves:
            for id_, note in notes.items():
                told[id_] = moved(told[id_], moves.get(note.path, NONE).change)
        return told

    def _ages(self, notes: Mapping[int, NoteInfo]) -> dict[int, float]:
        """Days since the day that a note is about began for its owner, else since the note was changed."""
        now = self._clock.now()
        here = self._clock.local(now)
        today = here.toordinal() + (here.hour * 3600 + here.minute * 60 + here.second) / _DAY_S
        return {
            id_: today - date.fromisoformat(note.date).toordinal()
            if note.date
            else (now - note.mtime_ns / 1e9) / _DAY_S
            for id_, note in notes.items()
        }

    def _add_usage(self, found: Found) -> None:
        usage = self._view.usage
        if not usage:
            return
        now = self._clock.now()
        shown = self._store.memory_usage({one.id for one in found.memories.values()})
        for candidate in found.candidates:
            if memory := found.memories.get(candidate.id):
                count, last = shown.get(memory.id, (0, math.nan))
            else:
                count, last = usage.get(found.notes[candidate.note_id].path, (0, math.nan))
            candidate.opened, candidate.opened_days = count, (now - last) / _DAY_S

    def _add_speakers(self, text: str, found: Found) -> None:
        """Who speaks: a person that the query names, or the asker themselves."""
        names = found.understood.terms.words
        own = is_first_person(text)
        begun = self._store.postings(" OR ".join(f"^ {quoted(name)}" for name in names)) if names else ""
        named = set(map(int, begun.split(","))) if begun else frozenset()
        for candidate, info in zip(found.candidates, found.passages, strict=True):
            if own or info.id in named:
                said = self._view.text_of(info.note_id)[info.start : info.stop]
                candidate.speaker = speaks(said, names)
                candidate.first_person = own and is_first_person(said)

    def _add_profile_signals(self, query: FullQuery, found: Found) -> None:
        """Signals that only the named formulas use, and that cost something to get."""
        if query.profile in ("rrf", "linear"):
            ranked = dict(self._store.ranked_passages(match_expression(found.understood.terms), _RANKED))
            for candidate in found.candidates:
                candidate.bm25 = ranked.get(candidate.id, 0.0)
        if query.profile == "multi-factor":
            for candidate, info in zip(found.candidates, found.passages, strict=True):
                candidate.overlap = overlap_of(
                    query.text, self._view.text_of(info.note_id)[info.start : info.stop]
                )


def _stand_in(note: NoteInfo) -> PassageInfo:
    """For a note without a passage. Its number is the note's own, and no passage has it."""
    return PassageInfo(note.first_passage, note.id, 0, 0, 0, 1, 1, "", b"")


def no_day_notes(_: date) -> tuple[str, ...]:
    return ()


def _last_days(window: DateWindow, today: date) -> list[date]:
    """The last days of a window, the newest first; one without an end ends a week from today."""
    last = min(window.end.toordinal() - 1, max(window.start, today).toordinal() + 7)
    first = max(window.start.toordinal(), last - _DAYS + 1)
    return [date.fromordinal(day) for day in range(last, first - 1, -1)]


def _as_told(note: NoteInfo, memory: MemoryInfo) -> NoteInfo:
    """The note with the day of the memory, where that has one."""
    return note._replace(date=memory.created) if memory.created else note


def importance_of(note: NoteInfo) -> float:
    """As its owner gave it."""
    return 0.5 if note.importance is None else note.importance
