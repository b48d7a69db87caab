"""How signals become one score: the default mix, and the named formulas of others.

Pure. A profile takes the candidates of one query, each with its raw signals, and says what every signal adds.
The default's weights come from `python -m benchmarks.tune` on the dev sets; docs/search.md says what each is
worth.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from hindbrain.base.errors import UsageError

Shares: TypeAlias = dict[str, float]


class Candidate:
    """One passage on its way to a hit, with the raw signals. NaN: not known.

    No dataclass: importing those takes a fifth of what a cold keyword search may.
    """

    __slots__ = (
        "age_days",
        "bm25",
        "date",
        "entity",
        "fields",
        "first_person",
        "id",
        "importance",
        "late",
        "lexical",
        "name",
        "note_id",
        "opened",
        "opened_days",
        "overlap",
        "semantic",
        "speaker",
        "success",
        "trust",
    )

    def __init__(
        self,
        id: int,
        note_id: int,
        *,
        lexical: float = 0.0,  # neighbourhood BM25, unbounded
        fields: float = 0.0,  # BM25 over file name, title, aliases, tags, headers, ...
        bm25: float = 0.0,  # plain BM25 of the passage alone; only for the profiles that use it
        semantic: float = math.nan,  # cosine
        late: float = math.nan,  # late interaction with the encoder's tokens; of the best passages only
        trust: float = 1.0,  # 0..1: how well the embedder knows the query's script
        entity: float = 0.0,  # 1: the query names this note
        name: float = 0.0,  # 0..1: the share of the note's name that is in the query; where notes are sought
        date: float = 0.0,  # 1: the note's date lies in a window that the query names
        speaker: bool = False,  # a turn of a conversation, and the query names who speaks
        first_person: bool = False,  # query and passage both speak of "I"
        overlap: float = 0.0,  # Jaccard of the words, plus 0.2 for the whole phrase
        age_days: float = math.nan,
        importance: float = 0.5,  # 0..1
        opened: int = 0,  # how often the note was opened through us
        opened_days: float = math.nan,  # since it was opened last
        success: float = 0.5,  # 0..1, of templates
    ) -> None:
        self.id = id
        self.note_id = note_id
        self.lexical = lexical
        self.fields = fields
        self.bm25 = bm25
        self.semantic = semantic
        self.late = late
        self.trust = trust
        self.entity = entity
        self.name = name
        self.date = date
        self.speaker = speaker
        self.first_person = first_person
        self.overlap = overlap
        self.age_days = age_days
        self.importance = importance
        self.opened = opened
        self.opened_days = opened_days
        self.success = success


Profile: TypeAlias = Callable[[Sequence[Candidate]], list[Shares]]

# weight of each signal, after it was scaled to 0..1 over the candidates
_LEXICAL = 1.0
_SEMANTIC = 0.7
_LATE = 1.0
_FIELDS = 0.25
_ENTITY = 0.3
_NAMED = 3.0  # a query that is a note's very name: that note comes first, whatever else is said of it
_DATE = 0.5
_SPEAKER = 0.15
_FIRST_PERSON = 0.15  # of what else a passage has
# of a note as a whole, on top of its best passage
_NOTE_WORDS = 0.4
_NOTE_MEANING = 0.35
_NOTE_NAME = 0.3
_NOTE_FIRST_PERSON = 0.25
_NOTE_LINKED = 1.5
# No public set says what these are worth to a person: they only part what is equal otherwise.
_RECENCY = 0.02
_IMPORTANCE = 0.02
_ACCESS = 0.01
_RECENCY_HALF_LIFE_DAYS = 365.0
_LEAST_RANGE = 0.1  # of cosines: a smaller difference is none, and is not blown up to one
_RRF_K = 60
_UNRANKED = 999


def profile_named(name: str, *, rrf_k: int = _RRF_K) -> Profile:
    if name == "rrf":
        return lambda candidates: rrf(candidates, rrf_k)
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(sorted(PROFILES))
        raise UsageError(f"there is no scoring profile {name!r}; choose one of: {known}") from None


def default(candidates: Sequence[Candidate]) -> list[Shares]:
    """A convex mix of scaled signals: it keeps by how much one passage is better, which ranks throw away."""
    lexical = _by_top([c.lexical for c in candidates])
    semantic = _by_range([c.semantic for c in candidates])
    late = _by_range([c.late for c in candidates])
    fields = _by_top([c.fields for c in candidates])
    return [
        {
            "lexical": _LEXICAL * lexical[i],
            "semantic": _SEMANTIC * c.trust * semantic[i],
            "late": _LATE * late[i],
            "fields": _FIELDS * fields[i],
            "entity": _NAMED if c.entity >= 1.0 else _ENTITY * c.entity,
            "date": _DATE * c.date,
            "speaker": _SPEAKER * c.speaker,
            "first_person": _FIRST_PERSON
            * c.first_person
            * (lexical[i] + _SEMANTIC * c.trust * semantic[i] + _FIELDS * fields[i] + _DATE * c.date),
            "recency": _RECENCY * _recency(c.age_days, _RECENCY_HALF_LIFE_DAYS),
            "importance": _IMPORTANCE * c.importance,
            "access": _ACCESS * _access(c),
        }
        for i, c in enumerate(candidates)
    ]


def whole_note(
    best: Sequence[Candidate],
    words: Sequence[float],
    meaning: Sequence[float],
    own: Sequence[float],
    linked: Sequence[float],
) -> list[Shares]:
    """What notes get beside the score of their best passage.

    `words`: BM25; `meaning`: mean cosine or NaN; `own`: the score of the best passage in the first person, if
    the query is in it, too; `linked`: how much the best passages link to the note, 0..1.
    """
    by_words, by_meaning = _by_top(words), _by_range(meaning)
    return [
        {
            "note_words": _NOTE_WORDS * (2 - c.trust) * by_words[i],  # words speak for what meaning can't
            "note_meaning": _NOTE_MEANING * c.trust * by_meaning[i],
            "name": _NOTE_NAME * c.name**2,
            "first_person": _NOTE_FIRST_PERSON * own[i],
            "linked": _NOTE_LINKED * linked[i],
        }
        for i, c in enumerate(best)
    ]


def rrf(candidates: Sequence[Candidate], k: int = _RRF_K) -> list[Shares]:
    """Reciprocal ranks of plain BM25 and of the vectors."""
    lexical = _ranks([c.bm25 for c in candidates])
    semantic = _ranks([c.semantic for c in candidates])
    return [{"bm25": 1 / (k + lexical[i]), "semantic": 1 / (k + semantic[i])} for i in range(len(candidates))]


def linear(candidates: Sequence[Candidate]) -> list[Shares]:
    """0.7 cosine + 0.3 keywords, the keyword rank r (from 0) counting as 1 / (1 + r)."""
    ranks = _ranks([c.bm25 for c in candidates])
    return [
        {"semantic": 0.7 * _known(c.semantic), "bm25": 0.3 / ranks[i] if ranks[i] < _UNRANKED else 0.0}
        for i, c in enumerate(candidates)
    ]


def multi_factor(candidates: Sequence[Candidate]) -> list[Shares]:
    """0.30 semantic, 0.20 lexical overlap, 0.20 recency (half-life 7 days), 0.15 importance, 0.15 access."""
    return [
        {
            "semantic": 0.30 * _known(c.semantic),
            "overlap": 0.20 * c.overlap,
            "recency": 0.20 * min(1.0, max(0.1, _recency(c.age_days, 7.0))),
            "importance": 0.15 * c.importance,
            "access": 0.15 * _access(c),
        }
        for c in candidates
    ]


def keyword_recency(candidates: Sequence[Candidate]) -> list[Shares]:
    """0.4 keyword match, 0.3 recency in steps, 0.2 how often it was opened, 0.1 success rate."""
    keyword = _by_top([c.lexical for c in candidates])
    return [
        {
            "lexical": 0.4 * keyword[i],
            "recency": 0.3 * _recency_step(c.age_days),
            "access": 0.2 * min(1.0, math.log1p(c.opened) / 3),
            "success": 0.1 * c.success,
        }
        for i, c in enumerate(candidates)
    ]


PROFILES: dict[str, Profile] = {
    "default": default,
    "rrf": rrf,
    "linear": linear,
    "multi-factor": multi_factor,
    "keyword-recency": keyword_recency,
}


def _by_top(values: Sequence[float]) -> list[float]:
    top = max(values, default=0.0)
    return [value / top if top > 0 else 0.0 for value in values]


def _by_range(values: Sequence[float]) -> list[float]:
    known = [value for value in values if not math.isnan(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    width = max(high - low, _LEAST_RANGE)
    return [0.0 if math.isnan(value) else (value - low) / width for value in values]


def _ranks(values: Sequence[float]) -> list[int]:
    """1 for the highest; what has no value is unranked."""
    ranks = [_UNRANKED] * len(values)
    order = sorted(
        (i for i, v in enumerate(values) if not math.isnan(v) and v != 0.0), key=lambda i: (-values[i], i)
    )
    for rank, i in enumerate(order, start=1):
        ranks[i] = rank
    return ranks


def _known(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _recency(age_days: float, half_life_days: float) -> float:
    return 0.0 if math.isnan(age_days) else 2.0 ** (-max(0.0, age_days) / half_life_days)


def _recency_step(age_days: float) -> float:
    """Within the hour 1.0, the day 0.7, the week 0.4, else 0.2."""
    for limit, value in ((1 / 24, 1.0), (1.0, 0.7), (7.0, 0.4)):
        if age_days <= limit:
            return value
    return 0.2


def _access(c: Candidate) -> float:
    """0.5 for what was never opened; up to 0.3 more for often, 0.2 more for lately (30 days)."""
    if not c.opened:
        return 0.5
    lately = 0.0 if math.isnan(c.opened_days) else max(0.0, 1 - c.opened_days / 30)
    return 0.5 + min(1.0, math.log1p(c.opened) / 3) * 0.3 + lately * 0.2
