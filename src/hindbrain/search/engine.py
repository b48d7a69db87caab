"""One search, from query to hits: find candidates, score them, thin them out, explain them.

No score is cut off unless the owner or the caller asks for it: hits carry their confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from hindbrain.base.clock import Clock
from hindbrain.base.errors import ConfigError, EmbedderError, UsageError
from hindbrain.index.store import IndexStore, PassageInfo
from hindbrain.search.candidates import CandidateFinder, DayNotes, Found, no_day_notes
from hindbrain.search.diversity import SeenWords, jaccard, mmr
from hindbrain.search.hit import Hit, QueryWord, SearchResult
from hindbrain.search.profiles import Candidate, Profile, Shares, default, profile_named, whole_note
from hindbrain.search.query import FullQuery, SearchQuery, SearchSettings
from hindbrain.search.signals import confidence
from hindbrain.search.view import IndexView

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder
    from hindbrain.models.encoder import Encoder
    from hindbrain.search.late_interaction import LateInteraction
    from hindbrain.search.outline import Outline

_WHOLE_NOTES = 32  # of the best passages' notes, those whose meaning as a whole is looked at
_LINKING = 20  # of the best passages, those whose links count
_DESCRIBES = 8  # words, from which on links count in full: a shorter query names what it wants
_NEIGHBOUR_CHARS = 320  # shown on each side of a hit
ENCODE_S = 0.6  # for passages whose token vectors are not known yet
RESCORED = 60  # passages that the encoder looks at
_LOAD_S = 0.5  # a search that has less time does not load the encoder
_LEAST_RESCORED = 10  # fewer would only be shuffled among themselves
Kept: TypeAlias = "tuple[int, list[int]]"  # a candidate, and the others that say the same


class SearchEngine:
    """Searches one index. For one thread: a server makes one per thread."""

    def __init__(
        self,
        store: IndexStore,
        embedder: Callable[[], Embedder | None],
        clock: Clock,
        *,
        warm: bool,
        encoder: Callable[[], Encoder | None] = lambda: None,
        rescored: int = RESCORED,
        settings: SearchSettings | None = None,
        day_notes: DayNotes = no_day_notes,
    ) -> None:
        """`embedder` is called at first need. `warm`: many queries will come, so vectors stay in memory.

        `encoder`: called at first need as well, and looks at the best `rescored` passages of a search.
        `day_notes`: where the notes of a day may stand, beside those that have the day in their name.
        """
        self._store = store
        self._settings = settings or SearchSettings()
        self._view = IndexView(store)
        self._finder = CandidateFinder(store, self._view, embedder, clock, warm=warm, day_notes=day_notes)
        self._make_encoder: Callable[[], Encoder | None] | None = encoder
        self._rescored = rescored
        self._late: LateInteraction | None = None
        self._no_encoder = ""  # why there is none although one is meant

    def search(self, asked: SearchQuery, *, encode_s: float = ENCODE_S) -> SearchResult:
        """Raises UsageError for what can't be asked, IndexFault when it could not look.

        `encode_s`: how long the encoder may take; what it does not manage, it does not score.
        """
        query = self._settings.complete(asked)
        _check(query)
        profile = profile_named(query.profile, rrf_k=query.rrf_k)
        with self._store.snapshot():
            self._view.refresh()
            found = self._finder.find(query)
            if found.understood.asks_days:
                query = query._replace(unit="passage")  # the whole day answers, not its best passage
            shares, totals, order = _ranked(profile, found)
            if self._add_late(query, found, order, encode_s):
                shares, totals, order = _ranked(profile, found)
            if query.unit == "note" and profile is default:
                self._add_whole_notes(found, shares)
                totals = [sum(share.values()) for share in shares]
                order = _by_score(totals, found)
            kept = self._thinned(query, found, totals, order)
            top = totals[order[0]] if order else 1.0
            hits = [self._hit(found, i, also, shares[i], totals[i] / (top or 1.0)) for i, also in kept]
            if query.unit == "note":
                hits = [_counted(hit, found, i) for hit, (i, _) in zip(hits, kept, strict=True)]
            mode = "keyword" if query.mode == "hybrid" and found.meaning is None else query.mode
            synced_at = float(self._view.meta.get("synced_at", 0.0))
            passages = self._view.passages
        falling = _lowered(hits) if query.diversity else _falling(hits)
        sure = tuple(hit for hit in falling if hit.confidence >= query.min_score)
        notices = (*found.notices, self._no_encoder) if self._no_encoder else found.notices
        words = tuple(QueryWord(term.text, term.held) for term in found.terms)
        return SearchResult(sure, mode, query.profile, notices, synced_at, words, passages)

    def encode_pending(self, budget_s: float) -> bool:
        """Load the encoder, and encode what a search had no time for; return whether there is more."""
        late = self._late_interaction()
        if late is None:
            return False
        try:
            return late.encode_pending(budget_s)
        except (ConfigError, EmbedderError) as error:
            self._give_up_encoder(error)
            return False

    def find(self, query: SearchQuery) -> Found:
        """The candidates with all their signals, before any is weighed: for tuning and for a closer look."""
        with self._store.snapshot():
            self._view.refresh()
            return self._finder.find(self._settings.complete(query))

    def outlines(self, paths: Iterable[str]) -> dict[str, Outline]:
        """The passages of notes, in order; notes that the index does not know are left out."""
        from hindbrain.search.outline import outlines_of

        with self._store.snapshot():
            self._view.refresh()
            return outlines_of(self._store, self._view, paths)

    def _add_late(self, query: FullQuery, found: Found, order: Sequence[int], encode_s: float) -> bool:
        """Let the encoder score the best passages, without a gap; return whether it did."""
        if query.mode == "keyword" or query.profile != "default" or len(order) < 2:
            return False
        late = self._late_interaction() if encode_s >= _LOAD_S else self._late
        if late is None:
            return False
        best = order[: self._rescored]
        texts = [self._text(found.passages[i]) for i in best]
        try:
            scores = late.scores(query.text, {term.text: term.idf for term in found.terms}, texts, encode_s)
        except (ConfigError, EmbedderError) as error:
            self._give_up_encoder(error)
            return False
        if len(scores) < min(len(best), _LEAST_RESCORED):
            return False
        for i, score in zip(best, scores, strict=False):
            found.candidates[i].late = score
        return True

    def _late_interaction(self) -> LateInteraction | None:
        if self._make_encoder is not None:
            make, self._make_encoder = self._make_encoder, None
            try:
                encoder = make()
                if encoder is not None:
                    from hindbrain.search.late_interaction import LateInteraction

                    self._late = LateInteraction(encoder)
            except (ConfigError, EmbedderError) as error:
                self._give_up_encoder(error)
        return self._late

    def _give_up_encoder(self, error: ConfigError | EmbedderError) -> None:
        self._late = None
        self._no_encoder = f"encoder_unusable: {error}"

    def _text(self, info: PassageInfo) -> str:
        return self._view.text_of(info.note_id)[info.start : info.stop]

    def _add_whole_notes(self, found: Found, shares: Sequence[Shares]) -> None:
        """Add to the best passage of each note what the note as a whole says. `shares` are changed."""
        totals = [sum(share.values()) for share in shares]
        own: dict[int, float] = {}
        for candidate, total in zip(found.candidates, totals, strict=True):
            if candidate.first_person:
                own[candidate.note_id] = max(own.get(candidate.note_id, 0.0), total)
        order = _by_score(totals, found)
        best = [i for i, _ in _first_of_each_note(found, order, len(order))]
        candidates = [found.candidates[i] for i in best]
        note_ids = [candidate.note_id for candidate in candidates]
        words = self._finder.words_of_notes(found, note_ids)
        meaning = self._finder.meaning_of_notes(found, note_ids[:_WHOLE_NOTES])
        meaning += [math.nan] * (len(note_ids) - len(meaning))
        spoken = [own.get(id_, 0.0) for id_ in note_ids]
        linked = self._linked(found, totals, order)
        pointed = [linked.get(id_, 0.0) for id_ in note_ids]
        for i, more in zip(best, whole_note(candidates, words, meaning, spoken, pointed), strict=True):
            for name, share in more.items():
                shares[i][name] = shares[i].get(name, 0.0) + share

    def _linked(self, found: Found, totals: Sequence[float], order: Sequence[int]) -> dict[int, float]:
        """How much each note is linked to by the best passages."""
        from hindbrain.search.linked import Linking, linked_notes

        top = totals[order[0]] if order else 0.0
        if top <= 0.0:
            return {}
        part = min(1.0, len(found.terms) / _DESCRIBES) / top
        linking = [Linking(found.passages[i], max(0.0, part * totals[i])) for i in order[:_LINKING]]
        return linked_notes(self._store, linking, found.notes)

    def _thinned(
        self, query: FullQuery, found: Found, totals: Sequence[float], order: Sequence[int]
    ) -> list[Kept]:
        """The best k, without repetitions."""

        def words(i: int) -> frozenset[str]:
            return frozenset(self._text(found.passages[i]).lower().split())

        wanted = 4 * query.k if query.diversity else query.k
        if query.unit == "note":
            kept = _first_of_each_note(found, order, wanted)
        else:
            kept = _without_repetitions(found, order, wanted, words)
        if not query.diversity or not kept:
            return kept[: query.k]
        sets = [words(i) for i, _ in kept]
        top = totals[kept[0][0]] or 1.0
        scores = [totals[i] / top for i, _ in kept]
        picked = mmr(scores, lambda a, b: jaccard(sets[a], sets[b]), query.k, query.diversity)
        return [kept[i] for i in picked]

    def _hit(self, found: Found, i: int, also: Sequence[int], shares: Shares, score: float) -> Hit:
        info, candidate = found.passages[i], found.candidates[i]
        note = found.notes[info.note_id]
        text = self._view.text_of(info.note_id)
        before, after = _neighbours(text, info)
        shares = _explained(shares, candidate, found.importance_told(i))
        return Hit(
            passage=f"{info.uid:016x}" if note.passages else "",
            path=note.path,
            title=note.name,
            heading=info.heading,
            first_line=info.first_line,
            last_line=info.last_line,
            text=text[info.start : info.stop],
            date=found.day_of(i),
            score=score,
            confidence=confidence(candidate, found.coverage(candidate)),
            why={name: round(value, 4) for name, value in shares.items() if value},
            terms=tuple(found.terms[at].text for at in found.words.terms_in(info.id)),
            before=before,
            after=after,
            also=tuple(dict.fromkeys(found.place(j) for j in also)),
            named=candidate.entity,
            cosine=None if math.isnan(candidate.semantic) else candidate.semantic,
        )


def _ranked(profile: Profile, found: Found) -> tuple[list[Shares], list[float], list[int]]:
    """What each signal gives each candidate, their sums, and the candidates from the best on."""
    shares = profile(found.candidates)
    totals = [sum(share.values()) for share in shares]
    return shares, totals, _by_score(totals, found)


def _check(query: FullQuery) -> None:
    if not 1 <= query.k <= 1_000:
        raise UsageError(f"k is {query.k}; ask for 1 to 1000 hits")
    if not 0.0 <= query.diversity <= 1.0:
        raise UsageError(f"diversity is {query.diversity}; give a number from 0 to 1")
    if not 0.0 <= query.min_score <= 1.0:
        raise UsageError(f"the least score is {query.min_score}; give a number from 0 to 1")


def _falling(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Let no hit be less sure than one that is ranked below it, so that both numbers fall along the list."""
    surest, falling = 0.0, []
    for hit in reversed(hits):
        surest = max(surest, hit.confidence)
        falling.append(hit._replace(confidence=surest))
    return tuple(reversed(falling))


def _lowered(hits: Sequence[Hit]) -> list[Hit]:
    """Give a hit that was put behind others for saying the same at most their numbers."""
    scores = accumulate((hit.score for hit in hits), min)
    likely = accumulate((hit.confidence for hit in hits), min)
    return [
        hit._replace(score=score, confidence=confidence)
        for hit, score, confidence in zip(hits, scores, likely, strict=True)
    ]


def _explained(shares: Shares, candidate: Candidate, told: float) -> Shares:
    """With the part of the importance that is feedback's under its own name."""
    by_feedback = candidate.importance - told
    whole = shares.get("importance", 0.0)
    if not by_feedback or not whole:
        return shares
    part = whole * by_feedback / candidate.importance
    return shares | {"importance": whole - part, "feedback": part}


def _by_score(totals: Sequence[float], found: Found) -> list[int]:
    """The best first. Of equals the one with the shorter path: a copy has a longer name."""

    def place(i: int) -> tuple[float, int, int]:
        candidate = found.candidates[i]
        return -totals[i], len(found.notes[candidate.note_id].path), candidate.id

    return sorted(range(len(totals)), key=place)


def _counted(hit: Hit, found: Found, i: int) -> Hit:
    """With how many other passages of its note have a word of the query."""
    note = found.notes[found.candidates[i].note_id]
    held = found.words.held_in((note.first_passage, note.passages))
    return hit._replace(more=held - bool(hit.terms))


def _first_of_each_note(found: Found, order: Sequence[int], limit: int) -> list[Kept]:
    """A memory is a unit of its own: it is found beside the others of its note."""
    best: dict[tuple[int, int], Kept] = {}
    for i in order:
        candidate = found.candidates[i]
        memory = candidate.id if candidate.id in found.memories else 0
        best.setdefault((candidate.note_id, memory), (i, []))
        if len(best) == limit:
            break
    return list(best.values())


def _without_repetitions(
    found: Found, order: Sequence[int], limit: int, words: Callable[[int], frozenset[str]]
) -> list[Kept]:
    """The first `limit` that differ, each with the later ones of the same or nearly the same text."""
    kept: list[Kept] = []
    by_text: dict[bytes, Kept] = {}
    seen = SeenWords()
    for i in order:
        text_hash = found.passages[i].text_hash
        twin = by_text.get(text_hash)
        if twin is None and len(kept) == limit:
            continue  # only equal texts are still of interest: they are cheap to find
        if twin is None:
            own = words(i)
            near = seen.twin_of(own)
            twin = kept[near] if near is not None else None
        if twin is not None:
            twin[1].append(i)
        else:
            kept.append((i, []))
            seen.add(own)
        by_text[text_hash] = twin or kept[-1]
    return kept


def _neighbours(text: str, info: PassageInfo) -> tuple[str, str]:
    """What stands before and after the passage, cut at a line or a word."""
    before = text[max(0, info.start - _NEIGHBOUR_CHARS) : info.start]
    after = text[info.stop : info.stop + _NEIGHBOUR_CHARS]
    if info.start > _NEIGHBOUR_CHARS:
        before = before[before.find("\n") + 1 :] if "\n" in before else before.partition(" ")[2]
    if info.stop + _NEIGHBOUR_CHARS < len(text):
        after = after.rpartition("\n")[0] if "\n" in after else after.rpartition(" ")[0]
    return before.strip("\n"), after.strip("\n")
