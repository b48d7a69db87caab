"""What is asked for: the query value, its filters, and what can be understood of it without a model."""

from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.index.names import name_key
from hindbrain.search.date_cues import may_name_a_date
from hindbrain.search.terms import STOP_WORDS, QueryTerms, understand_terms

if TYPE_CHECKING:
    from hindbrain.search.dates import DateWindow

Mode: TypeAlias = Literal["hybrid", "keyword", "semantic"]
Unit: TypeAlias = Literal["passage", "note"]

_MAX_NAME_WORDS = 6
# Who pastes a page means it as a whole: its words count, but no name or date is sought beyond the beginning.
_MAX_CHARS = 6_000
_MAX_CHARS_FOR_NAMES = 600


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
    """One question to the vault."""

    text: str
    k: int = 10
    filters: Filters = Filters()
    mode: Mode = "hybrid"
    unit: Unit = "passage"  # "note": at most one hit a note, its best passage
    profile: str = "default"
    diversity: float = 0.0  # 0: by score alone; up to 1: MMR, away from what is already in the list


class Understood(NamedTuple):
    """What a query says, as far as it can be told without a model."""

    terms: QueryTerms
    windows: "tuple[DateWindow, ...]"
    names: tuple[str, ...]  # runs of words that may be a note's name, longest first
    whole: str  # the query as a name: its words, less the stop words at both ends


def understand(text: str, today: date) -> Understood:
    words = name_key(text[:_MAX_CHARS_FOR_NAMES]).split()[:64]
    kept = [i for i, word in enumerate(words) if word not in STOP_WORDS and word not in _SPEAK_OF_NOTES]
    whole = " ".join(words[kept[0] : kept[-1] + 1]) if kept else " ".join(words)
    runs = {
        " ".join(words[start : start + length]): length
        for length in range(min(_MAX_NAME_WORDS, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
        if words[start] not in STOP_WORDS and words[start + length - 1] not in STOP_WORDS
    }
    windows = _windows(text[:_MAX_CHARS_FOR_NAMES], today)
    return Understood(understand_terms(text[:_MAX_CHARS]), windows, tuple(runs), whole)


def _windows(text: str, today: date) -> "tuple[DateWindow, ...]":
    if not may_name_a_date(text):
        return ()
    from hindbrain.search.dates import find_windows

    return find_windows(text, today=today)


_SPEAK_OF_NOTES = frozenset(
    ("note", "notes", "page", "file", "open", "find", "show", "read", "called", "named")
)
