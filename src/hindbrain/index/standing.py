"""What can be said of a search index, whoever asks. Values."""

from typing import NamedTuple

from hindbrain.base.plural import plural


class IndexStanding(NamedTuple):
    """How an index stands."""

    state: str  # ready, or the code of what is wrong with it
    notes: int = 0
    synced_at: float = 0.0  # seconds since the epoch; 0: never
    embedder: str = ""
    embedder_problem: str = ""  # how it failed the last time, with the code; "" when it worked


class Making(NamedTuple):
    """A first index, under way. `total` is 0 while the vault is being looked through."""

    done: int
    total: int

    def __str__(self) -> str:
        if not self.total:
            return "the index is being made"
        return f"the index is being made ({self.done:,} of {plural(self.total, 'note')})"
