"""`remember` and `recall`: single facts, in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.memory.tools.tool import Arguments, Param, Tool, ToolResult
from hindbrain.vault.items.category import CATEGORIES

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

# What an agent may say of its own words: never "user", since nothing of what it passes on is proof of that.
CLAIMS = ("agent", "tool", "web")
_MOST_HITS = 50
REPLACES = Param("replaces", "string", "Id of what it corrects")
CUES = Param("cues", "array", "Up to 5 words or phrases a later request will use when this is needed")


def _remember(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_answers import remembered_answer

    return remembered_answer(
        memory.remember(
            args["fact"],
            category=args.get("category", "fact"),
            importance=args.get("importance", 0.5),
            importance_given="importance" in args,
            source=args.get("source", "agent"),
            tags=args.get("tags", ()),
            cues=args.get("cues", ()),
            replaces=args.get("replaces", ""),
        )
    )


def _recall(memory: Memory, args: Arguments) -> ToolResult:
    from hindbrain.memory.tools.memory_answers import recalled_answer
    from hindbrain.memory.tools.memory_search import without_inbox

    found = memory.recall(args["topic"], k=args.get("limit"))
    return recalled_answer(found._replace(passages=without_inbox(memory.layout, found.passages)))


RECALL_TOOLS: tuple[Tool, ...] = (
    Tool(
        "recall",
        "Find what is known on a topic: memories and notes. Use before answering about the user, "
        "people, projects, past work or decisions.",
        (
            Param("topic", "string", "", required=True),
            Param("limit", "integer", "Usually 10", minimum=1, maximum=_MOST_HITS),
        ),
        "read",
        _recall,
    ),
    Tool(
        "remember",
        "Store one fact for later sessions, as a sentence that stands alone. Never secrets.",
        (
            Param("fact", "string", "", required=True),
            Param("category", "string", "Default fact", choices=CATEGORIES),
            Param("importance", "number", "Default 0.5", minimum=0, maximum=1),
            Param("tags", "array", ""),
            CUES,
            REPLACES,
            Param("source", "string", "Whose words: yours, a tool's, or the web's", choices=CLAIMS),
        ),
        "add",
        _remember,
    ),
)
