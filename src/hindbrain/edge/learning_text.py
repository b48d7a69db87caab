"""What the commands about learning share: what to do where there is nothing yet, a sign that work goes on,
and counts in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindbrain.edge.output import Output

RUNS_HINT = "runs come from agents that use Hindbrain, or from logs: hindbrain runs import FILE..."
LEARN_HINT = "hindbrain learn finds out what runs teach"


@contextmanager
def working(out: Output, what: str) -> Iterator[None]:
    """While it goes on: a moving sign on a terminal, nothing in a pipe."""
    if not out.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def in_words(parts: Sequence[tuple[int, str] | tuple[int, str, str]]) -> str:
    """`2 new, 1 changed`; "" when all are 0. A third word is for more than one."""
    return ", ".join(f"{part[0]} {part[-1] if part[0] != 1 else part[1]}" for part in parts if part[0])


def day_text(seconds: float) -> str:
    """A day in local time; "" for none."""
    from hindbrain.edge.when import moment_text

    return moment_text(seconds)[:10] if seconds else ""
