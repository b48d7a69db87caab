"""`memory_*`: the same memory under the names that OpenClaw and its like use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.memory.tools.recall_tools import CUES, REPLACES
from hindbrain.memory.tools.tool import Arguments, Param, Tool, ToolResult
from hindbrain.vault.items.category import CATEGORIES

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

TYPES = ("episodic", "semantic", "procedural", "preference")
_MOST_HITS = 50


def _search(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_search import Wanted, search_memory
    from hindbrain.memory.tools.search_answers import results_answer

    wanted = Wanted(
        args["query"],
        limit=args.get("max_results", memory.hits),
        types=args.get("memory_types", ()),
        days=args.get("time_range_days", 0),
        min_score=args.get("min_score"),
        corpus=args.get("corpus", ""),
    )
    return results_answer(wanted.query, search_memory(memory, wanted))


def _get(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.base.errors import Ambiguous, NotFound
    from hindbrain.memory.notes.vault_verbs import Part, read
    from hindbrain.memory.tools.note_answers import MOST_CHARS, lines_answer, missing_answer

    first, count = args.get("from", 0), args.get("lines", 0)
    part = Part(first=first, last=(first or 1) + count - 1 if count else 0)
    try:
        reading = read(memory, args["path"], part, most_chars=MOST_CHARS)
    except Ambiguous:
        raise
    except NotFound as error:
        return missing_answer(args["path"], str(error))
    memory.count_access(reading.page.path, "")
    return lines_answer(reading)


def _read(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.notes.vault_verbs import Part, read
    from hindbrain.memory.tools.note_answers import MOST_CHARS, reading_answer

    part = Part(first=args.get("line_start", 0), last=args.get("line_end", 0))
    reading = read(memory, args["file_path"], part, most_chars=MOST_CHARS)
    memory.count_access(reading.page.path, "")
    return reading_answer(reading)


def _write(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_answers import remembered_answer

    return remembered_answer(
        memory.remember(
            args["content"],
            category=args.get("category", "fact"),
            importance=args.get("importance", 0.5),
            importance_given="importance" in args,
            tags=args.get("tags", ()),
            cues=args.get("cues", ()),
            replaces=args.get("replaces", ""),
        )
    )


def _update(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_answers import updated_answer

    return updated_answer(
        memory.update(
            args["memory_id"],
            text=args.get("content"),
            importance=args.get("importance"),
            cues=args.get("cues"),
        )
    )


def _forget(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_answers import forgotten_answer

    return forgotten_answer(memory.forget(args["memory_id"]))


def _status(memory: Memory, _args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_answers import status_answer

    return status_answer(memory.status())


MEMORY_TOOLS: tuple[Tool, ...] = (
    Tool(
        "memory_search",
        "Search memory. Use before answering about prior work, decisions, dates, people, preferences, todos.",
        (
            Param("query", "string", "", required=True),
            Param(
                "max_results",
                "integer",
                "Usually 10",
                minimum=1,
                maximum=_MOST_HITS,
                also=("maxResults", "limit"),
            ),
            Param("memory_types", "array", "", choices=TYPES, also=("memoryTypes",)),
            Param("time_range_days", "integer", "Not older than this", minimum=1, also=("timeRangeDays",)),
            Param(
                "min_score",
                "number",
                "Least confidence",
                minimum=0,
                maximum=1,
                also=("minScore",),
                declared=False,
            ),
            Param(
                "corpus",
                "string",
                "memory: the agent's notes; sessions: daily and session notes; wiki, all: the whole vault",
                choices=("memory", "wiki", "all", "sessions"),
                declared=False,
            ),
        ),
        "read",
        _search,
    ),
    Tool(
        "memory_get",
        "Read lines of a note that memory_search found.",
        (
            Param("path", "string", "", required=True),
            Param("from", "integer", "First line", minimum=1),
            Param("lines", "integer", "How many", minimum=1),
            Param("corpus", "string", "Ignored", choices=("memory", "wiki", "all"), declared=False),
        ),
        "read",
        _get,
    ),
    Tool(
        "memory_read",
        "Read a memory file or lines of it.",
        (
            Param("file_path", "string", "", required=True),
            Param("line_start", "integer", "", minimum=1),
            Param("line_end", "integer", "", minimum=1),
        ),
        "read",
        _read,
    ),
    Tool(
        "memory_write",
        "Store one fact for later sessions, as a sentence that stands alone. Never secrets.",
        (
            Param("content", "string", "", required=True),
            Param("category", "string", "Default fact", choices=CATEGORIES),
            Param("importance", "number", "Default 0.5", minimum=0, maximum=1),
            Param("tags", "array", ""),
            CUES,
            REPLACES,
        ),
        "add",
        _write,
    ),
    Tool(
        "memory_update",
        "Correct a memory by its id.",
        (
            Param("memory_id", "string", "e.g. m-7f3k2a", required=True),
            Param("content", "string", "The new text"),
            Param("importance", "number", "", minimum=0, maximum=1),
            Param("cues", "array", "Instead of those it has"),
        ),
        "change",
        _update,
    ),
    Tool(
        "memory_forget",
        "Remove a memory by its id; only when the user asks.",
        (Param("memory_id", "string", "", required=True),),
        "remove",
        _forget,
    ),
    Tool(
        "memory_status", "How many memories there are, and whether search is up to date.", (), "read", _status
    ),
)
