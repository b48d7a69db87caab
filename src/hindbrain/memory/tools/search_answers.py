"""Search results as answers: each hit with a citation, its lines, and the passage, indented.

The indentation keeps what a note says apart from what we say of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hindbrain.memory.tools.note_answers import MOST_CHARS, span
from hindbrain.memory.tools.tool import ToolResult

if TYPE_CHECKING:
    from hindbrain.search.hit import Hit, SearchResult

_BLOCK_ID = re.compile(r"\s\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_WEAK = 0.15  # confidence below which even the best hit is called weak, as on the command line
_MOST_OF_ONE = 700  # characters of a passage


def hits_answer(query: str, result: SearchResult) -> ToolResult:
    """The answer of vault_search."""
    hits = [
        {
            "path": hit.path,
            "heading": hit.heading,
            "first_line": hit.first_line,
            "last_line": hit.last_line,
            "text": hit.text,
            "date": hit.date,
            "confidence": round(hit.confidence, 2),
            "citation": cited(hit),
            "more": hit.more,
        }
        for hit in result.hits
    ]
    return ToolResult(_text(query, result), {"hits": hits, "notices": list(result.notices)})


def results_answer(query: str, result: SearchResult) -> ToolResult:
    """The answer of memory_search, with OpenClaw's names in the data."""
    results = [
        {
            "path": hit.path,
            "startLine": hit.first_line,
            "endLine": hit.last_line,
            "score": round(hit.confidence, 2),
            "snippet": hit.text,
            "citation": cited(hit),
        }
        for hit in result.hits
    ]
    data: dict[str, Any] = {"results": results}
    if result.notices:
        data["warning"] = "; ".join(result.notices)
    return ToolResult(_text(query, result), data)


def _text(query: str, result: SearchResult) -> str:
    lines = list(_hit_lines(result))
    count = len(result.hits)
    head = (
        f"{count} {'hit' if count == 1 else 'hits'} for {query!r}:"
        if count
        else f"Nothing found for {query!r}."
    )
    notices = [*result.notices, *weakness(hit.confidence for hit in result.hits)]
    return "\n".join([head, *lines, *(f"({notice})" for notice in notices)])


def weakness(confidences: Iterable[float]) -> list[str]:
    """A word of warning where even the best of them is no good; nothing is cut off for it."""
    return ["no strong match"] if max(confidences, default=1.0) < _WEAK else []


def _hit_lines(result: SearchResult) -> Iterator[str]:
    left = MOST_CHARS
    for number, hit in enumerate(result.hits, start=1):
        passage = _passage(hit)
        left -= sum(map(len, passage)) + 80
        if left < 0 and number > 1:
            yield f"… {len(result.hits) - number + 1} more left out; ask for fewer or be more exact"
            return
        yield _place(number, hit)
        yield from passage


def _place(number: int, hit: Hit) -> str:
    day = f" · {hit.date}" if hit.date and hit.date not in hit.path else ""
    more = f" · {hit.more} more here" if hit.more else ""
    return f"{number}. {cited(hit)} {span(hit.first_line, hit.last_line)}{day} · {hit.confidence:.2f}{more}"


def cited(hit: Hit) -> str:
    """The closest link there is: to the one block that has an id, else to the heading."""
    ids = _BLOCK_ID.findall(hit.text)
    return f"[[{hit.path.removesuffix('.md')}#^{ids[0]}]]" if len(ids) == 1 else hit.citation


def _passage(hit: Hit) -> list[str]:
    text = hit.text.strip("\n")
    if len(text) > _MOST_OF_ONE:
        text = f"{text[:_MOST_OF_ONE]}…"
    return [f"   {line}" for line in text.split("\n") if line.strip()]
