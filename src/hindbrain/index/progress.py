"""How far long work has come, told to whoever wants to know."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Phase: TypeAlias = Literal["scan", "text", "vectors", "questions"]


@dataclass(frozen=True, slots=True)
class Progress:
    phase: Phase
    done: int
    total: int


Listener: TypeAlias = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Nobody listens."""
