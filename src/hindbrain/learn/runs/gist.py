"""What an agent's last words come to, in one line: the sentences that tell something, in their order.

Pure. Answers are Markdown of any length; courtesies, code and headings are left out, and where there is no
room for all, sentences with names, numbers and places go first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOOKED_AT = 4  # messages
_CODE = re.compile(r"^\s*(```|~~~).*?^\s*\1[^\n]*$|^\s*(?:```|~~~).*\Z", re.MULTILINE | re.DOTALL)
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+.*|[-*+]\s+|\d+[.)]\s+|>\s?|\|)", re.MULTILINE)
_RULE = re.compile(r"^[\s|:*_-]*$")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+(?=[\"'“(\[]?[^\Wa-z])|\n")
# Sentences that tell nothing: whole ones, and those that begin so.
_WHOLE = (
    "sure",
    "certainly",
    "of course",
    "great",
    "ok",
    "okay",
    "done",
    "all done",
    "perfect",
    "happy to help",
)
_BEGINNINGS = (
    "anything else", "do you want", "feel free", "good luck", "have a great", "have a nice", "how can i",
    "i hope", "if there is anything", "if there's anything", "if you have", "if you need", "if you want",
    "if you would", "is there anything else", "let me know", "please hold on", "please let me know",
    "safe travels", "shall i", "take care", "thank you", "thanks", "would you like", "you're welcome",
)  # fmt: skip
_TELLS = re.compile(r"\d|`|[\w-][./\\][\w-]|(?<=[a-z,;] )[A-Z]\w|[\"“„]")


def last_telling(said: Sequence[str]) -> str:
    """The last of these messages that tells something: after the answer often comes "You're welcome"."""
    return next((text for text in reversed(said[-_LOOKED_AT:]) if _sentences(text)), "")


def gist(answer: str, most: int) -> str:
    """At most `most` characters; "" for an answer that tells nothing."""
    sentences = _sentences(answer)
    if sum(map(len, sentences)) + len(sentences) <= most:
        return " ".join(sentences)
    room = most
    picked: set[int] = set()
    by_worth = sorted(range(len(sentences)), key=lambda at: (not _TELLS.search(sentences[at]), at))
    for at in by_worth:
        if len(sentences[at]) + 1 <= room:
            picked.add(at)
            room -= len(sentences[at]) + 1
    if not picked:
        first = sentences[by_worth[0]]
        cut = first.rfind(" ", 0, most - 1)
        return first[: cut if cut > most // 2 else most - 1].rstrip() + "…"
    return " ".join(sentences[at] for at in sorted(picked))


def _sentences(answer: str) -> list[str]:
    plain = _LEAD.sub("", _CODE.sub("", answer))
    pieces = (" ".join(_MARKS.sub("", piece).split()) for piece in _SENTENCE.split(plain))
    return [piece.strip("| ").replace(" | ", ", ") for piece in pieces if not _says_nothing(piece)]


def _says_nothing(sentence: str) -> bool:
    words = sentence.lower().replace("’", "'").strip(".!?: ")
    return bool(_RULE.match(sentence)) or words in _WHOLE or words.startswith(_BEGINNINGS)
