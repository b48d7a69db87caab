"""Who says something in a recorded conversation, and whose words a prompt asks for. Pure.

Notes of sessions hold turns such as "**user:** I prefer tea" or "**Caroline:** We moved in May". Who asks in
the first person about themselves seeks what they said, not what an assistant answered at length; who names a
person seeks that person's words first. Worth: docs/context.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LABEL = re.compile(r"\s{0,3}(?:[-*+] )?\*\*([^*\n:]{1,40}):\*\*|\s{0,3}(?:[-*+] )?\*\*([^*\n:]{1,40})\*\*:")
_LABEL_BY = 50  # characters, after which no label begins
_USER = frozenset(("user", "human", "me", "i"))
_AGENT = frozenset(("assistant", "ai", "agent", "bot", "model"))
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|my|me|mine|we|our|us)\b", re.IGNORECASE)
_OF_THE_AGENT = re.compile(
    r"\byou(?:r|'ve)?\b.{0,80}\b(?:told|said|mention\w*|recommend\w*|suggest\w*|gave|wrote|list\w*|provid\w*)\b"
    r"|\b(?:previous|last|earlier) (?:chat|conversation|session)\b|\bremind me\b",
    re.IGNORECASE | re.DOTALL,
)
# How much more a passage counts when the one who is asked for says it. Chosen on the dev sets; both lie on a
# plateau (python -m benchmarks.packs prints what they add).
OWN_WORDS = 1.7
NAMED = 1.25


def speakers(texts: Sequence[str]) -> list[str]:
    """Who says each passage of a note, in lower case; "" where nobody does. A turn lasts until the next."""
    who, found = "", []
    for text in texts:
        label = _LABEL.match(text) if "**" in text[:_LABEL_BY] else None
        if label:
            who = (label[1] or label[2]).strip().lower()
        elif text.lstrip().startswith("#"):
            who = ""
        found.append(who)
    return found


class Asked:
    """Whose words a prompt asks for."""

    def __init__(self, prompt: str) -> None:
        self._words = frozenset(re.findall(r"\w+", prompt.lower()))
        self._of_agent = bool(_OF_THE_AGENT.search(prompt))
        self._own = bool(_FIRST_PERSON.search(prompt)) and not self._of_agent

    def weight(self, speaker: str) -> float:
        """What the score of a passage is multiplied by."""
        if not speaker:
            return 1.0
        if speaker in _USER:
            return OWN_WORDS if self._own else 1.0
        if speaker in _AGENT:
            return NAMED if self._of_agent else 1.0
        return NAMED if self._words.issuperset(speaker.split()[:1]) else 1.0
