"""Which events of many days are the same matter: by their words, whatever the numbers in them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.learn.alike import masked, words_of
from hindbrain.learn.consolidation.day_events import DayEvent
from hindbrain.search.terms import STOP_WORDS

RECURRING_DAYS = 3
_ALIKE = 0.8  # of the words of both together that both have
_FEWEST = 2  # telling words; fewer are in everything
_MOST_LOOKED_AT = 50  # groups that share a rare word with an event


class Matter(NamedTuple):
    """Events that say the same, the oldest first."""

    words: frozenset[str]  # by which it is known again
    events: tuple[DayEvent, ...]

    @property
    def days(self) -> tuple[str, ...]:
        return tuple(sorted({event.day for event in self.events}))

    @property
    def is_recurring(self) -> bool:
        return len(self.days) >= RECURRING_DAYS and len(self.words) >= _FEWEST

    @property
    def wording(self) -> str:
        """How it is mostly told; what differs from day to day is left open: "Checked … new emails"."""
        texts = Counter(event.text for event in self.events)
        if len(texts) == 1:
            return self.events[0].text
        open_ = Counter(_opened(event.text) for event in self.events)
        most = max(open_.values())
        return min(text for text, count in open_.items() if count == most)


def matters(events: Sequence[DayEvent]) -> list[Matter]:
    """Each event in one group, groups in the order of their first event."""
    keys: list[frozenset[str]] = []
    groups: list[list[DayEvent]] = []
    by_key: dict[frozenset[str], int] = {}
    by_word: dict[str, list[int]] = {}
    for event in events:
        key = _key(event.text)
        at = by_key.get(key)
        if at is None:
            at = _nearest(key, keys, by_word)
            if at is None:
                at = len(groups)
                keys.append(key)
                groups.append([])
                for word in key:
                    by_word.setdefault(word, []).append(at)
            by_key[key] = at
        groups[at].append(event)
    return [Matter(key, tuple(group)) for key, group in zip(keys, groups, strict=True)]


def _nearest(
    key: frozenset[str], keys: Sequence[frozenset[str]], by_word: dict[str, list[int]]
) -> int | None:
    """The first group whose words are nearly these. Looked for by the rarest words: a match has them."""
    if len(key) < _FEWEST:
        return None
    rarest = sorted(key, key=lambda word: (len(by_word.get(word, ())), word))
    # Two sets that share four fifths of their words share one of the rarest fifth and one.
    looked = rarest[: len(key) // 5 + 1]
    found = {at for word in looked for at in by_word.get(word, ())[:_MOST_LOOKED_AT]}
    near = [at for at in found if len(keys[at] & key) >= _ALIKE * len(keys[at] | key)]
    return min(near, default=None)


def _key(text: str) -> frozenset[str]:
    return frozenset(word for word in words_of(text) if word not in STOP_WORDS and not word.startswith("<"))


def _opened(text: str) -> str:
    """The text with what varies left open."""
    words = masked(text).split()
    return " ".join(
        "…" if word.startswith("<") and word.rstrip(".,;:").endswith(">") else word for word in words
    )
