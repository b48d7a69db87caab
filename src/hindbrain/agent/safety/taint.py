"""Whose words a conversation holds by now: the least trusted of all that was heard. Pure.

A run begins with the owner's command alone. What is recalled, what tools return and what stands on a screen
comes in later, and it may speak as if it were the owner. It stays in the conversation, so trust never rises
again, whatever the owner says next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hindbrain.models.chat import ChatMessage
from hindbrain.vault.origin import SOURCES

OWNER = SOURCES[0]
_BEST_HEARD = SOURCES[1]  # a note that passes for the owner's word is still not what the owner asked for now
_BY_ROLE = {"assistant": "agent", "tool": "tool"}


class Taint(NamedTuple):
    """`level`: a source of SOURCES. A value: `taint = taint.heard(source)`."""

    level: str = OWNER

    @property
    def tainted(self) -> bool:
        return self.level != OWNER

    def heard(self, source: str) -> Taint:
        """After text that is not the owner's command. A source that nobody knows counts as the least one."""
        known = source if source in SOURCES else SOURCES[-1]
        return Taint(max(self.level, _BEST_HEARD, known, key=SOURCES.index))

    def heard_all(self, sources: Iterable[str]) -> Taint:
        taint = self
        for source in sources:
            taint = taint.heard(source)
        return taint

    def after(self, history: Iterable[ChatMessage]) -> Taint:
        """After what was said before: an answer may repeat what was recalled for it, a result is a tool's.

        So is what checks have found, which a model is told in a user's place.
        """
        roles = ("tool" if message.tool else message.role for message in history)
        return self.heard_all(_BY_ROLE[role] for role in roles if role in _BY_ROLE)
