"""What tests do again and again: a turn, a search, a look into the vault."""

from __future__ import annotations

from tests.real_openclaw.completions_stub import Asked, Say
from tests.real_openclaw.rig import Rig


def asked(rig: Rig, message: str, *, session: str = "agent:main:main", answer: str = "I see.") -> Asked:
    """The request that a turn became."""
    rig.model.script(Say(answer))
    assert rig.gateway.ask(message, session=session) == answer
    return rig.model.steps[0]


def found(rig: Rig, query: str) -> list[str]:
    """The notes that memory_search gives."""
    return [hit["path"] for hit in rig.gateway.invoke("memory_search", query=query)["results"]]


def settled(rig: Rig, words: str) -> bool:
    """Whether the vault has these words, after what waits was taken in."""
    return rig.hindbrain("hook", "settle").code == 0 and words in rig.vault_text()
