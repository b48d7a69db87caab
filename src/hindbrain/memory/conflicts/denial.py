"""Statements that deny an earlier one in so many words: "no longer", "not any more", and what else they say.

    Is no longer a vegetarian, eats everything    ends    Is a vegetarian

Only the clause with the denial is compared: all its words stand in the older statement, of the same subject,
and what the older one says beyond them narrows it ("in the morning") and names no second thing. Reads
English and German, and the plain forms "ya no" and "ne ... plus". Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hindbrain.memory.conflicts.statement import (
    MAX_CHARS,
    NO_LONGER,
    Statement,
    is_event,
    is_number,
    read_statement,
    word_of,
)
from hindbrain.memory.conflicts.wording import ADVERBS, word_set
from hindbrain.vault.items.item_text import unlinked

_JOINTS = "and|but|because|since|so|due to|thanks to|aber|sondern|weil|denn|pero|porque|mais|car"
_CLAUSES = re.compile(rf"\s*[,;.!?:—–]\s+|\s+(?:{_JOINTS})\s+", re.I)
# They take back part of a denial, or put it into the future.
_QUALIFIED = frozenset(("except", "if", "plan", "seldom", "almost", "half", "until", "before", "past"))
_SECOND_THING = re.compile(r"[,;&/+]|\s(?:and|or|y|o|et|ou)\s", re.I)
_POSSESSIVE = re.compile(r"['’]s\s|s['’]\s", re.I)
_ARTICLES = word_set("de du des la le les el los las un una une del au aux en à a con avec l d")
_NARROWING = _ARTICLES | ADVERBS | word_set("every each since before after until when desde depuis seit")


def denied_in_words(old: Statement, new: Statement) -> str:
    """Say why `new` ends `old`; "" when it denies nothing, or perhaps only part of it."""
    clause = _denying_clause(new.text)
    if clause is None or is_event(old) or "not" in old.turns:
        return ""
    if old.turns - {"since", "start"} != clause.turns - {"not"} or not clause.times <= old.times:
        return ""
    if not _is_of_one(old, clause) or not _is_said(clause, old):
        return ""
    return "it says that this is no longer so"


def denies(text: str) -> bool:
    """Whether a text says that something is no longer so."""
    return len(text) <= MAX_CHARS and _denying_clause(read_statement(unlinked(text)).text) is not None


@lru_cache(maxsize=4096)
def _denying_clause(text: str) -> Statement | None:
    """What is denied; None when nothing is, or when another clause takes back part of it."""
    if not NO_LONGER.search(text):
        return None
    clauses = [read_statement(clause) for clause in _CLAUSES.split(text) if clause]
    denying = [clause for clause in clauses if NO_LONGER.search(clause.text)]
    if len(denying) != 1 or "not" not in denying[0].turns or read_statement(text).turns & _QUALIFIED:
        return None
    return denying[0] if denying[0].lead else None


def _is_of_one(old: Statement, clause: Statement) -> bool:
    bare = old.tokens[0] == _first_token(clause) and old.tokens[0] in ("is", "has", "es", "est", "a")
    return old.lead == clause.lead or bare


def names_another(old: Statement, denial: Statement) -> bool:
    """Whether `old`, which says more than the denial, tells of a second thing or of somebody else's."""
    whose = [bool(_POSSESSIVE.search(one.text)) for one in (old, denial)]
    return _SECOND_THING.search(old.text) is not None or whose[0] != whose[1]


def _first_token(clause: Statement) -> str:
    first = clause.tokens[0] if clause.tokens else ""
    return {"isn't": "is", "hasn't": "has"}.get(first, first)


def _is_said(clause: Statement, old: Statement) -> bool:
    """Whether `old` says all of the clause, and beyond it only when, where or how often."""
    denied = set(clause.words) - _ARTICLES
    if not denied or not denied <= set(old.words):
        return False
    if not set(old.words) - denied - _ARTICLES:
        return True
    if names_another(old, clause):
        return False
    words = [word_of(token) for token in old.tokens]
    last = max(at for at, word in enumerate(words) if word in denied)
    return last + 1 == len(words) or _narrows(old.tokens[last + 1], words[last + 1])


def _narrows(token: str, word: str) -> bool:
    """ "Drinks coffee in the morning" is about coffee, "drinks coffee liqueur" is not."""
    return not word or is_number(word) or token in _NARROWING or token.endswith("ly")
