"""A search as it travels between a command and the daemon: the same query, the same result.

The caller has resolved every flag and setting of its own into the query. What else an answer depends on is
compared: the daemon answers only with the settings that its caller has, else the caller does it itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import UsageError

if TYPE_CHECKING:
    from hindbrain.base.config import Config
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import SearchQuery

VERB = "find"
_PATIENCE_S = 1.0  # about as long as it takes to do it here
_LOCAL = frozenset({"vault.path"})  # finds the vault, which is named in the request


def daemon_search(config: Config, root: Path) -> Callable[[SearchQuery], SearchResult | None]:
    """A search that the daemon of these settings answers; it gives None when none does, from then on."""
    refused = False

    def search(query: SearchQuery) -> SearchResult | None:
        nonlocal refused
        if refused:
            return None
        from hindbrain.base.config import state_folder
        from hindbrain.edge.daemon.address import daemon_folder
        from hindbrain.edge.daemon.client import ask

        asked = {"query": query_data(query), "settings": settings_key(config)}
        folder = daemon_folder(state_folder(config).absolute())
        told = ask(folder, VERB, root.absolute(), asked, timeout_s=_PATIENCE_S)
        refused = told is None
        return None if told is None else parse_result(told)

    return search


def settings_key(config: Config) -> str:
    """Equal for settings, keys and a time zone that give equal answers."""
    import hashlib

    from hindbrain.base.clock import local_time

    values = sorted((name, value) for name, value in config.values.items() if name not in _LOCAL)
    told = repr((values, sorted(config.keys.items()), f"{local_time(time.time()):%z}"))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def query_data(query: SearchQuery) -> dict[str, Any]:
    return {**query._asdict(), "filters": query.filters._asdict()}


def parse_query(data: Mapping[str, Any]) -> SearchQuery:
    """Raises UsageError for what is no query."""
    from hindbrain.search.query import Filters, SearchQuery

    try:
        filters = Filters(**{name: _as_tuple(value) for name, value in data["filters"].items()})
        return SearchQuery(**{**data, "filters": filters})
    except (TypeError, LookupError, AttributeError) as error:
        raise UsageError(f"this is no query: {error}") from error


def found_data(result: SearchResult) -> dict[str, Any]:
    return {**result._asdict(), "hits": [hit._asdict() for hit in result.hits]}


def parse_result(data: Mapping[str, Any]) -> SearchResult:
    from hindbrain.search.hit import Hit, QueryWord, SearchResult

    hits = tuple(Hit(**{name: _as_tuple(value) for name, value in hit.items()}) for hit in data["hits"])
    words = tuple(QueryWord(*word) for word in data["words"])
    told = {name: _as_tuple(value) for name, value in data.items()}
    return SearchResult(**told | {"hits": hits, "words": words})


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
