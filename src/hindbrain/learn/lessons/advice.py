"""The sentence in what runs said of their failure that tells best what to do instead. Pure, extractive.

"I should have opened the microwave first" becomes "Open the microwave first". A sentence is central when it
is like those of the other runs; what every failure says ("I will try something else") tells nothing:

    score = likeness to the sentences of these runs  -  likeness to the sentences of all failures
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGEST, _SHORTEST = 240, 12  # characters
_MOST = 150  # sentences that are compared
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LEAD = re.compile(
    r"(?i)^(?:(?:in|for|on) (?:the |this |my )?(?:next|future|new) \w+|next time|instead|so|therefore"
    r"|then|also)[,:]?\s+"
)
# What comes before the advice; group 1 says in which form the verb behind it stands.
_ADVICE = re.compile(
    r"(?i)^(?:i|we|you|the agent|it) (?:also |should also |will also )?"
    r"(?:(should have|needed to have)|should|must|will|need to|needs to|have to)"
    r"(?: (?:also|first|always|try to|make sure to|remember to|try to remember to|have to))*\s+(?=\w)"
)
_ORDER = re.compile(r"(?i)^(?:always|never|do not|don't|avoid|use|make sure|remember|check|try|instead of)\b")
_VAGUE = re.compile(r"(?i)\b(?:stuck in a loop|different action|identical actions|try again)\b")
_PAST = {
    "been": "be", "begun": "begin", "brought": "bring", "built": "build", "chosen": "choose", "done": "do",
    "found": "find", "given": "give", "gone": "go", "gotten": "get", "held": "hold", "kept": "keep",
    "left": "leave", "made": "make", "put": "put", "read": "read", "run": "run", "sent": "send", "set": "set",
    "shown": "show", "taken": "take", "thought": "think", "told": "tell", "tried": "try", "typed": "type",
    "used": "use", "written": "write", "closed": "close", "moved": "move", "placed": "place", "saved": "save",
    "searched": "search", "examined": "examine", "realized": "realize", "navigated": "navigate",
    "verified": "verify", "updated": "update", "heated": "heat", "waited": "wait", "created": "create",
    "noticed": "notice", "focused": "focus", "pressed": "press", "specified": "specify", "booked": "book",
}  # fmt: skip
_VERB_AFTER = re.compile(r"(^|,\s+(?:and\s+)?(?:then\s+)?|\bthen\s+|\band\s+(?:then\s+)?|\bor\s+)([a-z]+)")
_SILENT_E = re.compile(r"(?:[^aeiou][aeiou][vzcgu]|[cgv]|at|[^s]s|[^aeioul]l|ir|id|os|as)$")


def best_advice(reasons: Sequence[str], everything: NDArray[np.float32] | None) -> str:
    """The advice of these reasons, as an order; "" when none of them gives any.

    `everything`: vectors of the sentences of all failures (see `sentence_vectors`).
    """
    import numpy as np

    found = list(dict.fromkeys((one, advice) for one in sentences(reasons) if (advice := as_order(one))))
    if not found:
        return ""
    rows = vectors_of([one for one, _ in found[-_MOST:]], None)
    score = (rows @ rows.T).mean(axis=1)
    if everything is not None and len(everything):
        score = score - (rows @ everything.mean(axis=0))
    vague = np.asarray([bool(_VAGUE.search(one)) for one, _ in found[-_MOST:]])
    return found[-_MOST:][int(np.argmax(score - vague))][1]


def sentence_vectors(reasons: Sequence[str]) -> NDArray[np.float32]:
    return vectors_of(list(sentences(reasons))[-5000:], None)


def sentences(reasons: Sequence[str]) -> list[str]:
    return [
        one.strip()
        for reason in reasons
        for one in _SENTENCE.split(reason[:4000])
        if _SHORTEST <= len(one.strip()) <= _LONGEST
    ]


def as_order(sentence: str) -> str:
    """The sentence as an order; "" when it gives no advice."""
    body = _LEAD.sub("", sentence.strip())
    match = _ADVICE.match(body)
    if match is None:
        return _ended(body) if _ORDER.match(body) else ""
    rest = body[match.end() :]
    if match[1]:
        rest = _VERB_AFTER.sub(lambda verb: verb[1] + _base(verb[2]), rest)
    return _ended(rest)


def _base(word: str) -> str:
    """A verb as an order has it; a word that is no past participle stays."""
    if word in _PAST:
        return _PAST[word]
    if not word.endswith("ed") or len(word) < 5 or word.endswith("eed"):
        return word
    stem = word[:-2]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]  # stopped
    return stem + "e" if _SILENT_E.search(stem) else stem


def _ended(text: str) -> str:
    text = text.strip().rstrip(".!")
    return text[:1].upper() + text[1:]
