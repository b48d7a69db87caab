"""One search, from query to hits: understand, look up words and meaning, score, thin out, explain.

Owns the order of these steps and nothing of their insides. No model is called but the embedder, and no score is cut
off: what is found is returned with its confidence, and the caller decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from functools import cached_property

from hindbrain.base.clock import Clock
from hindbrain.base.errors import EmbedderError, UsageError
from hindbrain.index.store import IndexStore, NoteInfo, PassageInfo
from hindbrain.models.embedder import Embedder, PieceEmbedder
from hindbrain.search.diversity import mmr, near_duplicate
from hindbrain.search.filters import allowed_notes
from hindbrain.search.hit import Hit, SearchResult
from hindbrain.search.lexical import Keep, LexicalScores, Term, idf, look_up, score_passages
from hindbrain.search.profiles import Candidate, Shares, profile_named
from hindbrain.search.query import SearchQuery, Understood, understand
from hindbrain.search.semantic import (
    LoadedVectors,
    QueryMeaning,
    StoredVectors,
    Vectors,
    best_piece_matches,
    embed_query,
)
from hindbrain.search.signals import confidence, in_windows, overlap_of
from hindbrain.search.terms import match_expression

# filename, title, aliases, tags, headers, para_area, summary, date
FIELD_WEIGHTS = (10.0, 8.0, 8.0, 5.0, 3.0, 2.0, 2.0, 2.0)
_CANDIDATES = 120  # from each way of looking
_FIELD_NOTES = 30
_DAY_S = 86_400.0
_NEIGHBOUR_CHARS = 320  # shown on each side of a hit


class SearchEngine:
    """Searches one index. A warm engine keeps the vectors in memory; a cold one reads what a single query needs.

    For one thread: a server makes one per thread.
    """

    def __init__(
        self, store: IndexStore, embedder: Callable[[], Embedder | None], clock: Clock, *, warm: bool
    ) -> None:
        self._store = store
        self._make_embedder = embedder
        self._clock = clock
        self._warm = warm
        self._vectors: Vectors | None = None
        self._totals = (-1, 0, 0)  # generation, passages, notes

    @cached_property
    def _embedder(self) -> Embedder | None:
        # Made at first need: a keyword search does without.
        return self._make_embedder()

    def search(self, query: SearchQuery) -> SearchResult:
        _check(query)
        profile = profile_named(query.profile)
        found = self._find(query)
        if not found.passages:
            return self._result(query, found, ())
        shares = profile(found.candidates)
        order = sorted(range(len(shares)), key=lambda i: (-sum(shares[i].values()), found.candidates[i].id))
        kept = self._thinned(query, found, shares, order)
        return self._result(query, found, tuple(self._hit(found, shares, i, also) for i, also in kept))

    # -- finding ---------------------------------------------------------------------------------------------

    def _find(self, query: SearchQuery) -> _Found:
        today = datetime.fromtimestamp(self._clock.now(), tz=timezone.utc).date()
        understood = understand(query.text, today)
        passages, notes = self._sizes()
        keep = self._keep(query)
        entities = self._entities(understood)
        terms = look_up(self._store, understood.terms, passages)
        lexical = score_passages(terms, 0 if query.mode == "semantic" else _CANDIDATES, keep)
        meaning, notices = self._meaning(query, understood, lexical.terms, passages, entities)
        ids = [id_ for id_, _ in lexical.best]
        if meaning is not None:
            allowed = keep.ids() if keep is not None else None
            ids += [id_ for id_, _ in self._vector_source().search(meaning.vector, _CANDIDATES, allowed)]
        fields = {} if query.mode == "semantic" else self._field_scores(understood)
        ids += self._first_passages([*fields, *entities], keep)
        return self._gathered(query, understood, lexical, meaning, fields, entities, ids, notices, passages / max(notes, 1))

    def _gathered(
        self, query: SearchQuery, understood: Understood, lexical: LexicalScores, meaning: QueryMeaning | None,
        fields: Mapping[int, float], entities: Mapping[int, float], ids: Sequence[int], notices: tuple[str, ...],
        mean_passages: float,
    ) -> _Found:  # fmt: skip
        """Look up the candidates and all their signals."""
        infos = self._store.passages(dict.fromkeys(ids))
        notes = self._store.notes({info.note_id for info in infos})
        infos = [info for info in infos if info.note_id in notes]
        real = [info.id for info in infos]
        words = lexical.scores.of(real) if query.mode != "semantic" else [0.0] * len(real)
        spans = {note.id: (note.first_passage, note.passages) for note in notes.values()}
        note_words = dict(zip(spans, lexical.scores.of_notes(list(spans.values()), mean_passages), strict=True))
        cosines, pieces = self._meanings(meaning, real)
        dated = {id_: in_windows(note, understood.windows) for id_, note in notes.items()}
        candidates = [
            Candidate(
                id=info.id,
                note_id=info.note_id,
                lexical=words[i],
                note_lexical=note_words[info.note_id] if query.mode != "semantic" else 0.0,
                fields=fields.get(info.note_id, 0.0),
                semantic=cosines[i],
                pieces=pieces[i],
                entity=entities.get(info.note_id, 0.0),
                date=dated[info.note_id],
                importance=0.5 if (own := notes[info.note_id].importance) is None else own,
                age_days=(self._clock.now() - _when(notes[info.note_id])) / _DAY_S,
            )
            for i, info in enumerate(infos)
        ]
        found = _Found(understood, lexical.terms, infos, notes, candidates, notices, meaning is not None, {})
        self._add_usage(found)
        self._add_profile_signals(query, found)
        return found

    def _sizes(self) -> tuple[int, int]:
        """How many passages and notes there are; counted once per state of the index."""
        generation = self._store.generation()
        if self._totals[0] != generation:
            self._totals = (generation, *self._store.sizes())
        return self._totals[1:]

    def _keep(self, query: SearchQuery) -> Keep | None:
        if not query.filters.any:
            return None
        return Keep(allowed_notes(self._store, query.filters))

    def _entities(self, understood: Understood) -> dict[int, float]:
        """Notes that the query calls by name: 1 when the name is the whole query, else by its share of the words."""
        if not understood.names:
            return {}
        words = max(1, len(understood.whole.split()))
        found: dict[int, float] = {}
        for name, note_id in self._store.notes_named((*understood.names, understood.whole)):
            share = 1.0 if name == understood.whole else 0.5 * len(name.split()) / words
            found[note_id] = max(found.get(note_id, 0.0), share)
        return found

    def _meaning(
        self, query: SearchQuery, understood: Understood, terms: Sequence[Term], passages: int,
        entities: Mapping[int, float],
    ) -> tuple[QueryMeaning | None, tuple[str, ...]]:  # fmt: skip
        """The query as vectors, or None with the reason why not."""
        if query.mode == "keyword" or self._embedder is None:
            return None, ()
        if 1.0 in entities.values() and query.mode == "hybrid" and not isinstance(self._embedder, PieceEmbedder):
            return None, ()  # the query is a note's name: an embedding call would tell nothing more
        if self._store.meta("embedder") != self._embedder.name:
            return None, ("vectors_of_another_embedder: keyword search only, until hindbrain sync has run",)
        weights = {term.text: idf(term.count, passages) for term in terms}
        try:
            return embed_query(self._embedder, query.text, weights), self._pending_notice(passages)
        except EmbedderError as error:
            if query.mode == "semantic":
                raise
            return None, (f"{error.code}: {error}",)

    def _pending_notice(self, passages: int) -> tuple[str, ...]:
        vectors = self._store.vector_count() if not self._warm else passages
        return (f"vectors_pending: {vectors} of {passages} passages have vectors",) if vectors < passages else ()

    def _vector_source(self) -> Vectors:
        assert self._embedder is not None
        if self._vectors is None:
            kind = LoadedVectors if self._warm else StoredVectors
            self._vectors = kind(self._store, self._embedder.dim)
        if isinstance(self._vectors, LoadedVectors):
            self._vectors.refresh()
        return self._vectors

    def _meanings(self, meaning: QueryMeaning | None, ids: Sequence[int]) -> tuple[list[float], list[float]]:
        unknown = [math.nan] * len(ids)
        if meaning is None or not ids:
            return unknown, unknown
        source = self._vector_source()
        cosines = source.score(meaning.vector, ids)
        if not isinstance(self._embedder, PieceEmbedder):
            return cosines, unknown
        return cosines, best_piece_matches(self._embedder, meaning, ids, source.pieces(ids))

    def _field_scores(self, understood: Understood) -> dict[int, float]:
        return dict(self._store.ranked_notes(match_expression(understood.terms), FIELD_WEIGHTS, _FIELD_NOTES))

    def _first_passages(self, note_ids: Sequence[int], keep: Keep | None) -> list[int]:
        if not note_ids:
            return []
        firsts = [note.first_passage for note in self._store.notes(note_ids).values() if note.passages]
        return [id_ for id_ in firsts if keep is None or id_ in keep]

    def _add_usage(self, found: _Found) -> None:
        usage = self._store.access_of(note.path for note in found.notes.values())
        if not usage:
            return
        now = self._clock.now()
        for candidate in found.candidates:
            count, last = usage.get(found.notes[candidate.note_id].path, (0, math.nan))
            candidate.opened, candidate.opened_days = count, (now - last) / _DAY_S

    def _add_profile_signals(self, query: SearchQuery, found: _Found) -> None:
        """Signals that only the named formulas use, and that cost something to get."""
        if query.profile in ("rrf", "linear"):
            ranked = dict(self._store.ranked_passages(match_expression(found.understood.terms), 4 * _CANDIDATES))
            for candidate in found.candidates:
                candidate.bm25 = ranked.get(candidate.id, 0.0)
        if query.profile == "multi-factor":
            for candidate, info in zip(found.candidates, found.passages, strict=True):
                candidate.overlap = overlap_of(query.text, self._text(found, info))

    # -- from candidates to hits -------------------------------------------------------------------------------

    def _thinned(
        self, query: SearchQuery, found: _Found, shares: Sequence[Shares], order: Sequence[int]
    ) -> list[tuple[int, list[int]]]:
        """The best k, without repetitions: (candidate, others with the same text)."""
        groups: dict[bytes | int, tuple[int, list[int]]] = {}
        for i in order:
            key = found.candidates[i].note_id if query.unit == "note" else found.passages[i].text_hash
            if key in groups:
                if query.unit == "passage":
                    groups[key][1].append(i)
            elif len(groups) < 4 * query.k:
                groups[key] = (i, [])
        kept = list(groups.values())
        pieces = self._piece_sets(found, [i for i, _ in kept])
        if query.unit == "passage" and pieces:
            kept = _without_near_duplicates(kept, pieces)
        if query.diversity > 0 and pieces:
            scores = [sum(shares[i].values()) for i, _ in kept]
            top = max(scores, default=1.0) or 1.0
            picked = mmr(
                [score / top for score in scores],
                lambda a, b: _jaccard(pieces[kept[a][0]], pieces[kept[b][0]]),
                query.k,
                query.diversity,
            )
            return [kept[i] for i in picked]
        return kept[: query.k]

    def _piece_sets(self, found: _Found, indexes: Sequence[int]) -> dict[int, frozenset[int]]:
        if not found.has_vectors or not isinstance(self._embedder, PieceEmbedder):
            return {}
        ids = {found.candidates[i].id: i for i in indexes}
        rows = self._vector_source().pieces(list(ids))
        return {ids[id_]: frozenset(memoryview(data).cast("H")) for id_, data in rows.items()}

    def _hit(self, found: _Found, shares: Sequence[Shares], i: int, also: Sequence[int]) -> Hit:
        info, candidate = found.passages[i], found.candidates[i]
        note = found.notes[info.note_id]
        text = self._text(found, info)
        before, after = self._neighbours(found, info)
        return Hit(
            passage=f"{info.uid:016x}",
            path=note.path,
            title=note.title,
            heading=info.heading,
            first_line=info.first_line,
            last_line=info.last_line,
            text=text,
            date=note.date,
            score=sum(shares[i].values()) / found.top_score(shares),
            confidence=confidence(candidate, found.coverage(candidate)),
            why={name: round(value, 4) for name, value in shares[i].items() if value},
            terms=tuple(term.text for term in found.terms if _holds(term, info.id)),
            before=before,
            after=after,
            also=tuple(dict.fromkeys(found.place(j) for j in also)),
        )

    def _text(self, found: _Found, info: PassageInfo) -> str:
        return self._note_text(found, info.note_id)[info.start : info.stop]

    def _note_text(self, found: _Found, note_id: int) -> str:
        if note_id not in found.texts:
            found.texts[note_id] = self._store.text_of(note_id)
        return found.texts[note_id]

    def _neighbours(self, found: _Found, info: PassageInfo) -> tuple[str, str]:
        text = self._note_text(found, info.note_id)
        before = text[max(0, info.start - _NEIGHBOUR_CHARS) : info.start]
        after = text[info.stop : info.stop + _NEIGHBOUR_CHARS]
        if info.start > _NEIGHBOUR_CHARS:
            before = before[before.find("\n") + 1 :] if "\n" in before else before.partition(" ")[2]
        if info.stop + _NEIGHBOUR_CHARS < len(text):
            after = after.rpartition("\n")[0] if "\n" in after else after.rpartition(" ")[0]
        return before.strip("\n"), after.strip("\n")

    def _result(self, query: SearchQuery, found: _Found, hits: tuple[Hit, ...]) -> SearchResult:
        mode = query.mode if query.mode != "hybrid" or found.has_vectors else "keyword"
        return SearchResult(hits, mode, query.profile, found.notices, float(self._store.meta("synced_at") or 0.0))


@dataclass(slots=True)
class _Found:
    """What is known about the candidates of one search."""

    understood: Understood
    terms: tuple[Term, ...]
    passages: list[PassageInfo]
    notes: Mapping[int, NoteInfo]
    candidates: list[Candidate]
    notices: tuple[str, ...]
    has_vectors: bool
    texts: dict[int, str]

    def top_score(self, shares: Sequence[Shares]) -> float:
        return max((sum(share.values()) for share in shares), default=1.0) or 1.0

    def coverage(self, candidate: Candidate) -> float:
        """How much of what the query's words can tell is in the passage and around it, 0..1."""
        possible = sum(term.idf for term in self.terms)
        return min(1.0, candidate.lexical / possible) if possible > 0 else 0.0

    def place(self, i: int) -> str:
        return f"{self.notes[self.passages[i].note_id].path}:{self.passages[i].first_line}"


def _check(query: SearchQuery) -> None:
    if not 1 <= query.k <= 1_000:
        raise UsageError(f"k is {query.k}; ask for 1 to 1000 hits")
    if not 0.0 <= query.diversity <= 1.0:
        raise UsageError(f"diversity is {query.diversity}; give a number from 0 to 1")


def _when(note: NoteInfo) -> float:
    """The day a note is about, else when it was changed: seconds since the epoch."""
    if note.date:
        return (date.fromisoformat(note.date) - date(1970, 1, 1)).days * _DAY_S
    return note.mtime_ns / 1e9


def _holds(term: Term, passage_id: int) -> bool:
    return f",{passage_id}," in f",{term.ids},"


def _jaccard(a: frozenset[int], b: frozenset[int]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0


def _without_near_duplicates(
    kept: Sequence[tuple[int, list[int]]], pieces: Mapping[int, frozenset[int]]
) -> list[tuple[int, list[int]]]:
    chosen: list[tuple[int, list[int]]] = []
    for i, also in kept:
        own = pieces.get(i, frozenset())
        twin = next((c for c in chosen if near_duplicate(own, pieces.get(c[0], frozenset()))), None)
        if twin is not None:
            twin[1].extend((i, *also))
        else:
            chosen.append((i, also))
    return chosen
