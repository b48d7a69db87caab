"""A diff for people: in colour on a terminal, as it is in a pipe."""

from __future__ import annotations

from collections.abc import Iterator

from hindbrain.edge.output import BOLD, CYAN, GREEN, RED, Output, safe


def diff_lines(diff: str, out: Output) -> Iterator[str]:
    for line in diff.split("\n") if diff else ():
        yield out.paint(safe(line), *codes) if (codes := _codes(line)) else safe(line)


def _codes(line: str) -> tuple[str, ...]:
    if line.startswith(("+++", "---")):
        return (BOLD,)
    return {"+": (GREEN,), "-": (RED,), "@": (CYAN,)}.get(line[:1], ())
