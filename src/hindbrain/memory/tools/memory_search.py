"""memory_search: kinds of memory as roles of the layout, searched where their notes lie and put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory
    from hindbrain.search.hit import Hit, SearchResult
    from hindbrain.search.query import SearchQuery
    from hindbrain.vault.layout import Layout

_ROLES: dict[str, tuple[str, ...]] = {
    "episodic": ("daily", "sessions", "task_log", "recent", "summary"),
    "semantic": (
        "memory",
        "profile",
        "preferences",
        "contacts",
        "projects",
        "decisions",
        "apps",
        "locations",
    ),
    "procedural": ("skills", "templates", "lessons", "corrections", "patterns"),
}
_SPARE = 4  # times as many hits are asked for where some of them are left out afterwards
_MOST = 1_000  # that one search gives


class Wanted(NamedTuple):
    """What is asked of memory."""

    query: str
    limit: int = 10
    types: tuple[str, ...] = ()  # empty: whatever its kind
    days: int = 0  # 0: of any age
    min_score: float | None = None  # least confidence; None: as the settings say
    corpus: str = ""  # OpenClaw's word for where to look


class _Scope(NamedTuple):
    """Folders and notes to look in, and which of the notes there count."""

    places: tuple[str, ...]
    roles: frozenset[str] = frozenset()  # empty: every note
    paths: frozenset[str] = frozenset()  # notes that count whatever their role

    def holds(self, layout: Layout, hit: Hit) -> bool:
        return not self.roles | self.paths or hit.path in self.paths or layout.role_of(hit.path) in self.roles


def search_vault(memory: Memory, query: SearchQuery) -> SearchResult:
    """As `Memory.search`, without the inbox."""
    result = memory.search(query)
    hits = without_inbox(memory.layout, result.hits)
    if len(hits) < len(result.hits):  # fill the places of what was left out
        k = memory.hits if query.k is None else query.k
        result = memory.search(query._replace(k=min(_MOST, _SPARE * k)))
        hits = without_inbox(memory.layout, result.hits)[:k]
    return result._replace(hits=hits)


def without_inbox(layout: Layout, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """What waits in the inbox is not known yet, and nobody vouches for it: it is read there, not found."""
    inbox = layout.path("inbox")
    return tuple(hit for hit in hits if hit.path != inbox)


def search_memory(memory: Memory, wanted: Wanted) -> SearchResult:
    """One answer from every place that holds the wanted kinds, the surest hits first."""
    from hindbrain.search.exact_phrases import NOT_FOUND
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import Filters, SearchQuery

    layout, since = memory.layout, _since(memory, wanted.days)
    scope = _scope(layout, wanted)
    if not scope.places:
        kinds = " or ".join(wanted.types or (wanted.corpus,))
        return SearchResult((), "keyword", "default", (f"the layout {layout.name!r} has no {kinds} notes",))
    k = wanted.limit * (_SPARE if scope.roles else 1)
    found = [
        search_vault(
            memory,
            SearchQuery(wanted.query, k, Filters(folder=place, since=since), min_score=wanted.min_score),
        )
        for place in scope.places
    ]
    hits = {hit.passage: hit for result in found for hit in result.hits if scope.holds(layout, hit)}
    sure = list(hits.values())
    if len(found) > 1:  # scores are of one answer only; confidence is comparable
        sure.sort(key=lambda hit: (-hit.confidence, hit.path, hit.first_line))
    notices = tuple(dict.fromkeys(notice for result in found for notice in result.notices))
    if sure:  # one place may lack what another has
        notices = tuple(notice for notice in notices if not notice.startswith(NOT_FOUND))
    return found[0]._replace(hits=tuple(sure[: wanted.limit]), notices=notices)


def _since(memory: Memory, days: int) -> str:
    from datetime import date, timedelta

    if not days:
        return ""
    try:
        return (memory.clock.today() - timedelta(days=days)).isoformat()
    except OverflowError:
        return date.min.isoformat()


def _scope(layout: Layout, wanted: Wanted) -> _Scope:
    if not wanted.types and wanted.corpus != "sessions":
        return _Scope((layout.folder if wanted.corpus == "memory" else "",))
    kinds = wanted.types or ("episodic",)
    roles = [role for kind in kinds for role in _ROLES.get(kind, ()) if layout.has(role)]
    paths = [layout.path("memory", category="preference")] if "preference" in kinds else []
    places = [place for role in roles for place in layout.places_of(role)]
    return _Scope(_outermost([*paths, *places]), frozenset(roles), frozenset(paths))


def _outermost(places: Sequence[str]) -> tuple[str, ...]:
    """Without those that lie in another one."""
    return tuple(
        place
        for place in dict.fromkeys(places)
        if not any(other != place and (not other or place.startswith(f"{other}/")) for other in places)
    )
