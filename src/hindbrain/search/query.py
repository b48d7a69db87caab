"""What is asked for: the query value, its filters, and what can be understood of it without a model."""

import re
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.index.names import name_key
from hindbrain.search.date_cues import may_name_a_date
from hindbrain.search.day_forms import in_english
from hindbrain.search.terms import (
    STOP_WORDS,
    QueryTerms,
    plain_apostrophes,
    understand_terms,
    without_contractions,
)

if TYPE_CHECKING:
    from hindbrain.search.dates import DateWindow

Mode: TypeAlias = Literal["hybrid", "keyword", "semantic"]
Unit: TypeAlias = Literal["passage", "note"]

_LEAST_WANTED = 10  # hits for which candidates are gathered, however few are asked for
_MAX_NAME_WORDS = 6
# Who pastes a page means it as a whole: its words count, but no name or date is sought beyond the beginning.
_MAX_CHARS = 6_000
_MAX_CHARS_FOR_NAMES = 600
_TIED_WORD = re.compile(r"(\w+)'\w+")


class Filters(NamedTuple):
    """Every filter that is set must hold. Empty means: any."""

    folder: str = ""  # vault-relative; notes in it and below
    tags: tuple[str, ...] = ()  # without "#"; a nested tag answers to its parents
    type: str = ""  # frontmatter `type`
    para: str = ""  # project, area, resource or archive
    area: str = ""  # the folder below it
    since: str = ""  # YYYY-MM-DD, inclusive, by the note's date (else its last change)
    until: str = ""  # YYYY-MM-DD, inclusive

    @property
    def any(self) -> bool:
        return self != Filters()


class SearchQuery(NamedTuple):
    """One question to the vault. None: as the owner's settings say."""

    text: str
    k: int | None = None
    filters: Filters = Filters()
    mode: Mode = "hybrid"
    unit: Unit = "passage"  # "note": at most one hit a note, its best passage
    profile: str | None = None
    diversity: float | None = None  # 0: by score alone; up to 1: MMR, away from what is already in the list
    min_score: float | None = None  # least confidence of a hit, 0..1; 0 cuts nothing off
    exact: bool = True  # what is in quotes must be in a hit; False, for prompts: it is only preferred
    without: str = ""  # the path of a note that is left out: what it says and links to is known already


class FullQuery(NamedTuple):
    """A question with everything that decides on its answer."""

    text: str
    k: int
    filters: Filters
    mode: Mode
    unit: Unit
    profile: str
    diversity: float
    min_score: float
    rrf_k: int
    wanted: int  # candidates from words, and as many from meaning
    exact: bool = True
    without: str = ""


class SearchSettings(NamedTuple):
    """What the owner has set; it holds for every search that does not say otherwise."""

    k: int = 10
    profile: str = "default"
    diversity: float = 0.0
    min_score: float = 0.0
    rrf_k: int = 60
    candidate_multiplier: int = 3  # more change nothing on the dev sets

    def complete(self, query: SearchQuery) -> FullQuery:
        k = self.k if query.k is None else query.k
        wanted = self.candidate_multiplier * max(k, _LEAST_WANTED)
        return FullQuery(
            text=query.text,
            k=k,
            filters=query.filters,
            mode=query.mode,
            unit=query.unit,
            profile=self.profile if query.profile is None else query.profile,
            diversity=self.diversity if query.diversity is None else query.diversity,
            min_score=self.min_score if query.min_score is None else query.min_score,
            rrf_k=self.rrf_k,
            # Where notes are sought, one note may fill many places.
            wanted=4 * wanted if query.unit == "note" else wanted,
            exact=query.exact,
            without=query.without,
        )


class Understood(NamedTuple):
    """What a query says, as far as it can be told without a model."""

    terms: QueryTerms
    windows: "tuple[DateWindow, ...]"
    names: tuple[str, ...]  # runs of words that may be a note's name, longest first
    wholes: tuple[str, ...]  # the whole query as a name; also without the stop words at both ends
    asks_days: bool = False  # it asks what the days of the windows held, and for nothing in particular


def understand(text: str, today: date) -> Understood:
    names: dict[str, None] = {}
    wholes: dict[str, None] = {}
    for words in _readings(text[:_MAX_CHARS_FOR_NAMES]):
        kept = [i for i, word in enumerate(words) if word not in STOP_WORDS and word not in _SPEAK_OF_NOTES]
        wholes[" ".join(words)] = None
        wholes[" ".join(words[kept[0] : kept[-1] + 1]) if kept else " ".join(words)] = None
        names |= dict.fromkeys(_runs(words))
    asked = in_english(text[:_MAX_CHARS_FOR_NAMES])
    windows = _windows(asked, today)
    wholes.pop("", None)
    terms = understand_terms(text[:_MAX_CHARS])
    return Understood(terms, windows, tuple(names), tuple(wholes), _asks_days(asked, windows))


def _readings(text: str) -> list[list[str]]:
    """The words of a query that may name a note: as they are, and with contractions and possessives removed.

    "What's in Rust's Borrow Checker?" may mean the note "Rust's Borrow Checker" or one called "Rust".
    """
    text = plain_apostrophes(text)
    readings = [text]
    if "'" in text:
        of_stop_words = _TIED_WORD.sub(
            lambda tied: tied[1] if tied[1].lower() in STOP_WORDS else tied[0], text
        )
        readings += [of_stop_words, without_contractions(text)]
    return [name_key(reading).split()[:64] for reading in dict.fromkeys(readings)]


def _runs(words: list[str]) -> Iterator[str]:
    """Runs of words that may be a name, longest first."""
    for length in range(min(_MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            if words[start] not in STOP_WORDS and words[start + length - 1] not in STOP_WORDS:
                yield " ".join(words[start : start + length])


def _windows(text: str, today: date) -> "tuple[DateWindow, ...]":
    if not may_name_a_date(text):
        return ()
    from hindbrain.search.dates import find_windows

    return find_windows(text, today=today)


def _asks_days(text: str, windows: "tuple[DateWindow, ...]") -> bool:
    if not windows:
        return False
    from hindbrain.search.day_questions import is_only_about

    return is_only_about(text, windows)


_SPEAK_OF_NOTES = frozenset(
    ("note", "notes", "page", "file", "open", "find", "show", "read", "called", "named")
)
