"""Search results as JSON. The shape is a promise: docs/json.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindbrain.search.hit import Hit, SearchResult
    from hindbrain.search.query import SearchQuery


def result_data(query: SearchQuery, result: SearchResult, *, now: float, took_ms: float) -> dict[str, Any]:
    return {
        "query": query.text,
        "mode": result.mode,
        "profile": result.profile,
        "hits": [hit_data(hit) for hit in result.hits],
        "notices": list(result.notices),
        "index": {
            "synced_at": result.synced_at,
            "age_s": round(now - result.synced_at, 1) if result.synced_at else None,
        },
        "took_ms": round(took_ms, 1),
    }


def hit_data(hit: Hit) -> dict[str, Any]:
    return {
        "passage": hit.passage,
        "path": hit.path,
        "title": hit.title,
        "heading": hit.heading,
        "first_line": hit.first_line,
        "last_line": hit.last_line,
        "text": hit.text,
        "before": hit.before,
        "after": hit.after,
        "date": hit.date,
        "score": round(hit.score, 4),
        "confidence": round(hit.confidence, 4),
        "why": dict(hit.why),
        "terms": list(hit.terms),
        "citation": hit.citation,
        "also": list(hit.also),
        "more": hit.more,
    }
