"""Notes that have to do with a note: by links, by tags, and by what they say; each with its reasons.

Links count directly, through notes that link to both (cited together), and through notes that both link to;
a hub that links to everything tells little, so each common neighbour counts less the more links it has.
Reads the index only.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.search.query import SearchQuery

if TYPE_CHECKING:
    from hindbrain.index.links import LinkGraph
    from hindbrain.index.store import IndexStore, NoteInfo
    from hindbrain.search.hit import SearchResult

Search = Callable[[SearchQuery], "SearchResult"]

_QUERY_CHARS = (
    2_000  # of the note's text; more is slower and finds no better (benchmarks/wikilinks.py's links)
)
_SEARCHED = 40  # notes that the search is asked for
_SHOWN_TERMS = 4
_WIKILINK = re.compile(r"!?\[\[([^\[\]|#]*)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]")
_MARKUP = re.compile(r"^---\n.*?\n---\n|```.*?```|https?://\S+|[#>*`_|]", re.DOTALL)


class Weights(NamedTuple):
    """What each kind of evidence counts, at its strongest.

    Chosen on 240 links of three vaults, hidden one at a time: the target is among the first ten unlinked
    notes for 33 % of them (text alone 30 %, links alone 28 %); mean reciprocal rank 0.22 (0.14, 0.17).
    """

    text: float = 1.0
    direct: float = 1.0
    together: float = 1.0  # cited together
    shared: float = 0.5  # both link to the same notes
    tags: float = 0.3


DEFAULT = Weights()


class Related(NamedTuple):
    """A note, how much it has to do with another, and why."""

    path: str
    title: str
    score: float  # higher is better; comparable within one answer
    reasons: tuple[str, ...]  # the strongest first
    is_linked: bool  # one of the two links to the other


def related_notes(
    store: IndexStore,
    graph: LinkGraph,
    search: Search,
    path: str,
    *,
    k: int = 10,
    linked: bool = True,
    without: Callable[[str], bool] = lambda _path: False,
    weights: Weights = DEFAULT,
) -> tuple[list[Related], tuple[str, ...]]:
    """The `k` best, and notices about what could not be looked at. `linked` False: only those not linked yet.

    `without`: paths to leave out unless they are linked.

    Raises NotFound for a note that the index does not have.
    """
    note = store.note_at(path)
    if note is None:
        raise NotFound(f"the index has no note at {path!r}; run hindbrain sync if it is new")
    evidence = Evidence()
    direct = _add_links(evidence, graph.edges, path, weights)
    notes = {other.path: other for other in store.all_notes()}
    _add_tags(evidence, notes, note, weights.tags)
    notices = _add_text(evidence, search, path, query_text(note.title, store.text_of(note.id)), weights.text)
    ranked = evidence.ranked(without={path} if linked else {path, *direct})
    found = [
        Related(other, notes[other].title, score, reasons, other in direct)
        for other, score, reasons in ranked
        if other in notes and (other in direct or not without(other))
    ]
    return found[:k], notices


class Evidence:
    """What speaks for each note."""

    def __init__(self) -> None:
        self._shares: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def add(self, path: str, share: float, reason: str) -> None:
        if share > 0:
            self._shares[path].append((share, reason))

    def ranked(self, *, without: Collection[str]) -> list[tuple[str, float, tuple[str, ...]]]:
        found = [
            (
                path,
                sum(share for share, _ in shares),
                tuple(reason for _, reason in sorted(shares, reverse=True)),
            )
            for path, shares in self._shares.items()
            if path not in without
        ]
        return sorted(found, key=lambda row: (-row[1], row[0]))


def query_text(title: str, text: str) -> str:
    """What is sought for: the title, and the beginning of the note as a reader sees it."""
    shown = _WIKILINK.sub(lambda link: link[2] or link[1].rpartition("/")[2], text[: 2 * _QUERY_CHARS])
    return f"{title}\n{' '.join(_MARKUP.sub(' ', shown).split())}"[:_QUERY_CHARS]


def _add_links(evidence: Evidence, edges: Iterable[tuple[str, str]], path: str, weights: Weights) -> set[str]:
    """Add what links say; return the notes that are linked directly."""
    out: dict[str, set[str]] = defaultdict(set)
    into: dict[str, set[str]] = defaultdict(set)
    for source, target in edges:
        out[source].add(target)
        into[target].add(source)
    for other in out[path]:
        evidence.add(other, weights.direct, "linked from it")
    for other in into[path]:
        evidence.add(other, weights.direct, "links to it")
    together = _common(into[path], out, path)
    for other, (share, via) in together.items():
        evidence.add(other, weights.together * share, f"cited together in {_some(via)}")
    for other, (share, via) in _common(out[path], into, path).items():
        evidence.add(other, weights.shared * share, f"both link to {_some(via)}")
    return out[path] | into[path]


def _common(
    neighbours: Iterable[str], onward: Mapping[str, set[str]], path: str
) -> dict[str, tuple[float, list[str]]]:
    """Notes reached through the neighbours: a share 0..1, and the neighbours, the most telling first."""
    sums: dict[str, float] = defaultdict(float)
    via: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for neighbour in neighbours:
        beyond = onward.get(neighbour, set())
        telling = 1 / math.log2(1 + len(beyond)) if len(beyond) > 1 else 0.0
        for other in beyond - {path}:
            sums[other] += telling
            via[other].append((telling, neighbour))
    # The first common neighbour says most; a tenth adds little.
    return {
        other: (1 - math.exp(-total), [name for _, name in sorted(via[other], key=lambda v: (-v[0], v[1]))])
        for other, total in sums.items()
    }


def _add_tags(evidence: Evidence, notes: Mapping[str, NoteInfo], note: NoteInfo, weight: float) -> None:
    own = _tags(note)
    if not own:
        return
    held = Counter(tag for other in notes.values() for tag in _tags(other) & own)
    rarity = {tag: math.log(len(notes) / held[tag]) for tag in own if held[tag] > 1}
    whole = sum(rarity.values())
    for other in notes.values():
        common = _tags(other) & rarity.keys()
        if common and other.path != note.path and whole > 0:
            names = sorted(common, key=lambda tag: (-rarity[tag], tag))
            share = sum(rarity[tag] for tag in common) / whole
            evidence.add(other.path, weight * share, "shares " + ", ".join(f"#{tag}" for tag in names[:3]))


def _add_text(evidence: Evidence, search: Search, path: str, text: str, weight: float) -> tuple[str, ...]:
    try:
        result = search(SearchQuery(text, k=_SEARCHED, unit="note", exact=False, without=path))
    except HindbrainError as error:
        return (f"notes were not compared by what they say ({error.code})",)
    top = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        shared = ", ".join(hit.terms[:_SHOWN_TERMS])
        reason = f"both speak of {shared}" if shared else "says something alike in other words"
        evidence.add(hit.path, weight * hit.score / top if top else 0.0, reason)
    return result.notices


def _tags(note: NoteInfo) -> set[str]:
    return {tag.casefold() for tag in note.tags.split("\n") if tag}


def _some(paths: list[str]) -> str:
    shown = ", ".join(path.rpartition("/")[2].removesuffix(".md") for path in paths[:2])
    return f"{shown} and {len(paths) - 2} more" if len(paths) > 2 else shown
