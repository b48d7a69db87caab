"""A text as something that can be known again without being kept: salted hashes of its words.

Whoever holds the log and guesses a text can check the guess; nobody can read the text from it. Pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hindbrain.vault.items.item_text import unlinked

_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset({"a", "an", "the"})
_FEWEST = 5  # words: fewer in another order may say something else ("Ann owes Bob")
_BYTES = 12
_RUN = 5  # words
_RUN_DIGITS = 10
_MOST_RUNS = 64
_SHARE = 0.6


class Fingerprint(NamedTuple):
    exact: str  # of the words in their order
    words: str  # of the set of words; "" for a short text


def fingerprint(text: str, salt: str) -> Fingerprint:
    """Equal for texts that differ in case, white space and punctuation only; `words` also in any order."""
    words = _WORD.findall(unlinked(text).casefold())
    exact = " ".join(words) or " ".join(text.split())  # only signs: these are what it says
    known = sorted(set(words) - _SMALL)
    return Fingerprint(_hash(exact, salt), _hash(" ".join(known), salt) if len(known) >= _FEWEST else "")


def run_prints(text: str, salt: str) -> frozenset[str]:
    """Short hashes of every five words in a row, for knowing a text that was reworded here and there.

    From these a text could be guessed word by word: only for what came from strangers.
    """
    words = _WORD.findall(unlinked(text).casefold())
    runs = [" ".join(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]
    return frozenset(_hash(run, salt)[:_RUN_DIGITS] for run in runs[:_MOST_RUNS])


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Do two texts share most of the shorter one's runs of words?"""
    shared = len(one & other)
    return shared > 0 and shared >= _SHARE * min(len(one), len(other))


def checksum(text: str, salt: str) -> int:
    """Cheap, for noticing that a text is another one."""
    from zlib import crc32

    return crc32(f"{salt} {text}".encode("utf-8", "surrogatepass"))


def new_salt() -> str:
    import secrets

    return secrets.token_hex(8)


def _hash(text: str, salt: str) -> str:
    from hashlib import blake2b

    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_BYTES, key=salt.encode("ascii", "replace")[:64]).hexdigest()
