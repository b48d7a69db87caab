"""What a search answers with."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hindbrain.base.plural import plural

PENDING, COMING = "vectors_pending", "vectors_coming"  # codes of notices
_MAKE_THEM = "; run: hindbrain sync"


class Hit(NamedTuple):
    """A passage found, with the reasons."""

    passage: str  # lasting id: 16 hex digits; "" for a note without text of its own
    path: str  # vault-relative
    title: str  # the note's name, see `vault.note.Note`
    heading: str  # path joined by " > "; "" before the first heading
    first_line: int
    last_line: int
    text: str
    date: str  # YYYY-MM-DD, or ""
    score: float  # 0..1 within this answer, higher is better
    confidence: float  # 0..1, comparable between queries: how likely it is that this is what was sought
    why: Mapping[str, float]  # each signal's share of the score
    terms: tuple[str, ...]  # words of the query that stand in the passage
    before: str = ""  # the neighbouring passages, as far as the budget reaches
    after: str = ""
    also: tuple[str, ...] = ()  # other places with the same text
    more: int = 0  # where notes are sought: how many other passages of the note were found by their words
    named: float = 0.0  # how much of the query is this note's name, 0..1
    cosine: float | None = None  # of the query and the passage; None where meaning was not looked at

    @property
    def citation(self) -> str:
        """A wikilink that opens the place in Obsidian."""
        note = self.path.removesuffix(".md")
        last = self.heading.rpartition(" > ")[2]
        # A heading link can't hold these, and a canvas has no headings: then the note alone is what opens.
        usable = last and not any(sign in last for sign in "#|^[]%") and not note.endswith(".canvas")
        return f"[[{note}#{last}]]" if usable else f"[[{note}]]"


class QueryWord(NamedTuple):
    """A word or phrase of the query, and how much of the vault holds it."""

    text: str
    held: int  # by how many passages


class SearchResult(NamedTuple):
    """The hits of one search, and how they were found."""

    hits: tuple[Hit, ...]
    mode: str  # what was done: hybrid, keyword or semantic
    profile: str
    notices: tuple[str, ...] = ()  # why it is less than was asked for: vectors pending, embedder down, ...
    synced_at: float = 0.0  # when the index was last brought up to date, seconds since the epoch; 0: never
    words: tuple[QueryWord, ...] = ()  # that were looked for
    passages: int = 0  # of the whole index


def pending_vectors(vectors: int, total: int) -> str:
    """The notice that passages have no vector yet."""
    return f"{PENDING}: {vectors:,} of {plural(total, 'passage')} have vectors{_MAKE_THEM}"


def without_advice(notices: Iterable[str]) -> tuple[str, ...]:
    """The notices where a daemon is making the missing vectors: there is nothing to do about them."""
    return tuple(
        f"{COMING}{notice.removeprefix(PENDING).removesuffix(_MAKE_THEM)}; the rest is being made"
        if notice.startswith(PENDING)
        else notice
        for notice in notices
    )
