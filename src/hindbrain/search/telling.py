"""Which words of a text tell its topic: stems without stop words, small talk counting little.

Pure, and without figures of any vault: topics are compared before an index is there, too. Measured
(`python -m benchmarks.drift`): for conversations a list of small talk does what document frequencies do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from hindbrain.search.terms import STOP_WORDS, understand_terms

SMALL_TALK_WEIGHT = 0.15
_SHORTEST_STEM = 3
_KEPT_CHARS = 4_000  # of one message: what a tool or a model wrote at length says its topic early
_SMALL_TALK = """
    hey hi hello bye thanks thank thx ok okay yeah yep yup sure wow oh haha lol yay hmm sorry welcome
    great good nice cool awesome amazing wonderful incredible beautiful perfect best better fun happy glad
    excited exciting proud special interesting interested important super pretty really quite totally
    definitely absolutely actually maybe perhaps probably exactly basically honestly
    love loved like liked enjoy enjoyed enjoying feel feels feeling felt think thinking thought know known
    want wanted wants wanna need needs needed hope hoping hoped believe agree understand appreciate remember
    get gets got getting go goes going gonna gone went come comes coming came make makes making made
    take takes taking took give gives gave giving given put keep keeps kept let lets try tries trying tried
    see sees seeing saw seen look looks looking looked say says saying said sound sounds tell told ask asked
    talk talking chat show shows showed find found use used uses using work works working worked
    start started do does doing help helps helped helping mean means wonder wondering support inspiring
    provide suggest suggestions recommend recommendation recommendations explain describe write give answer
    thing things stuff lot lots bit way ways kind sort type something anything everything nothing someone
    anyone everyone people guy guys one two three first second third last next another other others
    time times day days today tomorrow yesterday week weeks month months year years morning evening night
    new old big little small long right well even still always never often sometimes ever back around away
    since later soon already enough able idea ideas sense question questions example examples information
    additional specific following include including list details more much many same different
    journey experience life care continue proceed finish finished done fine yes no please
    again instead also too sir
"""
SMALL_TALK = frozenset(_SMALL_TALK.split())


class Telling(NamedTuple):
    """The words of one text."""

    weights: Mapping[str, float]  # stem -> weight; in the order of the text
    shown: Mapping[str, str]  # stem -> the word as it first stands there, in lower case

    @property
    def said(self) -> int:
        """How many words say something beyond small talk."""
        return sum(1 for weight in self.weights.values() if weight == 1.0)


def telling_words(text: str) -> Telling:
    """Each word once: that a short message repeats a word says little."""
    return _told(text[:_KEPT_CHARS])


@lru_cache(maxsize=256)  # a turn asks for the same few messages again and again
def _told(text: str) -> Telling:
    weights: dict[str, float] = {}
    shown: dict[str, str] = {}
    for word in understand_terms(text).words:
        if word in STOP_WORDS or (len(word) == 1 and word.isascii()):
            continue
        root = stem(word)
        if root not in weights:
            weights[root] = SMALL_TALK_WEIGHT if word in SMALL_TALK or word.isdecimal() else 1.0
            shown[root] = word
    return Telling(weights, shown)


def stem(word: str) -> str:
    """A rough English stem: enough that "planning", "plans" and "planned" meet. Other words stay."""
    if not word.isascii() or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            if ending != "s" or not word.endswith(("ss", "us", "is")):
                word = word[: -len(ending)] + instead
            break
    if len(word) > _SHORTEST_STEM and word[-1] == "e":
        return word[:-1]
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word


_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ly", ""),
    ("es", ""),
    ("s", ""),
)
