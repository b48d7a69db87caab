"""`vault_*`: notes read, written, searched and listed. Arguments in, an answer out; the verbs do the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.memory.tools.tool import Arguments, Param, Tool, ToolResult

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

_MOST_HITS = 50


def _read(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.notes.vault_verbs import Part, read
    from hindbrain.memory.tools.note_answers import MOST_CHARS, reading_answer

    part = Part(
        heading=args.get("heading", ""),
        block=args.get("block", ""),
        first=args.get("line_start", 0),
        last=args.get("line_end", 0),
    )
    reading = read(memory, args["path"], part, most_chars=MOST_CHARS)
    memory.count_access(reading.page.path, "")
    return reading_answer(reading)


def _write(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.notes.vault_verbs import write
    from hindbrain.memory.tools.note_answers import change_answer

    return change_answer(write(memory, args["path"], args["content"], known_hash=args.get("hash", "")))


def _append(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.notes.vault_verbs import append
    from hindbrain.memory.tools.note_answers import change_answer

    return change_answer(append(memory, args["path"], args["content"], heading=args.get("heading", "")))


def _search(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.notes.note_place import find_folder
    from hindbrain.memory.tools.memory_search import search_vault
    from hindbrain.memory.tools.search_answers import hits_answer
    from hindbrain.search.query import Filters, SearchQuery

    folder = find_folder(memory, args.get("directory", ""))
    query = SearchQuery(
        args["query"],
        k=args.get("limit", memory.hits),
        filters=Filters(folder=folder),
        unit="passage" if args.get("passages") else "note",
    )
    return hits_answer(query.text, search_vault(memory, query))


def _list(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.notes.note_place import list_folder
    from hindbrain.memory.tools.note_answers import listing_answer

    return listing_answer(list_folder(memory, args.get("directory", "")))


VAULT_TOOLS: tuple[Tool, ...] = (
    Tool(
        "vault_read",
        "Read a note of the user's vault, or a part of it. All of it read gives the hash for vault_write.",
        (
            Param("path", "string", "Path, title, alias or [[link]]", required=True),
            Param("heading", "string", "Only this section"),
            Param("block", "string", "Only this ^block id"),
            Param("line_start", "integer", "First line", minimum=1),
            Param("line_end", "integer", "Last line", minimum=1),
        ),
        "read",
        _read,
    ),
    Tool(
        "vault_write",
        "Create a note, or replace one that you have read. To add to a note use vault_append.",
        (
            Param("path", "string", "e.g. Projects/Plan.md", required=True),
            Param("content", "string", "The whole note, in Markdown", required=True),
            Param("hash", "string", "From vault_read; needed to replace"),
        ),
        "change",
        _write,
    ),
    Tool(
        "vault_append",
        "Add Markdown to the end of a note or of a section; a missing note is created.",
        (
            Param("path", "string", "e.g. Projects/Plan.md", required=True),
            Param("content", "string", "", required=True),
            Param("heading", "string", "Only to add to this section"),
        ),
        "add",
        _append,
    ),
    Tool(
        "vault_search",
        "Search all notes by words, meaning and dates, when you do not know which note holds it.",
        (
            Param("query", "string", "", required=True),
            Param("directory", "string", "Only this folder"),
            Param("limit", "integer", "Usually 10", minimum=1, maximum=_MOST_HITS),
            Param("passages", "boolean", "Every passage, not one a note", declared=False),
        ),
        "read",
        _search,
    ),
    Tool(
        "vault_list",
        "List a folder: its folders, then notes with their dates, newest first.",
        (Param("directory", "string", "Default: the top of the vault"),),
        "read",
        _list,
    ),
)
