"""What a host is answered with at an event of a conversation. Values only."""

from __future__ import annotations

from typing import NamedTuple

from hindbrain.context.packs.pack import Pack

OWN = "own"  # the host of conversations with our own agent


class SessionKey(NamedTuple):
    """One conversation in one host."""

    host: str  # claude-code, codex, gemini, cursor, opencode, openclaw, own
    id: str  # as the host names it
    keeps: bool = True  # what was injected stays in the host's window until it compacts


class Turn(NamedTuple):
    """The answer. `text` is exactly what enters the prompt; "" when nothing does."""

    text: str = ""
    pack: Pack | None = None
    shift: str = ""  # "budget -> vacation planning" when the topic changed
    released: int = 0  # excerpts of an earlier topic that were let go
    notices: tuple[str, ...] = ()  # for the person, not for the model
