"""The sentence in what runs said of their failure that tells best what to do instead. Pure, extractive.

"I should have opened the microwave first" becomes "Open the microwave first". A sentence is central when it
is like those of the other runs; what every failure says tells nothing, and what fits every task ("read the
task carefully", "try something else") is no advice at all:

    score = likeness to the sentences of these runs  -  likeness to those of all failures
            + 0.15 when it names a thing of the task
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import tells, vectors_of, words_of

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
# What fits every task, and helps with none.
_VAGUE = re.compile(
    r"(?i)\b(?:stuck in a loop|different (?:action|approach|strateg|way)\w*|identical actions"
    r"|tr(?:y|ied) again|careful\w*|pa(?:y|id) (?:more |closer )?attention"
    r"|ask(?:ed)? (?:for|the) (?:help|user|clarification)"
    r"|(?:read|check|follow|understand)(?:ed)? the (?:task|instruction|problem)\w*|something else"
    r"|try to execute|double.?check|keep track|more efficient\w*|mistakes?|next time|start(?:ed)? over)\b"
)
_ABOUT = 0.15  # for advice that names a thing of the task
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


def best_advice(
    reasons: Sequence[str], everything: NDArray[np.float32] | None, commands: Sequence[str] = ()
) -> str:
    """The advice of these reasons, as an order; "" when none of them gives any.

    `everything`: the mean of the sentences of all failures (see `mean_sentence`). `commands`: of the task,
    whose things advice should name.
    """
    import numpy as np

    things = {word for command in commands for word in words_of(command) if tells(word)}
    found = [
        (one, advice)
        for one in dict.fromkeys(sentences(reasons))
        if not _VAGUE.search(one) and (advice := as_order(one))
    ][-_MOST:]
    if not found:
        return ""
    rows = vectors_of([one for one, _ in found], None)
    score = (rows @ rows.T).mean(axis=1)
    if everything is not None:
        score = score - (rows @ everything)
    about = np.asarray([not things.isdisjoint(words_of(one)) for one, _ in found])
    return found[int(np.argmax(score + _ABOUT * about))][1]


def mean_sentence(reasons: Sequence[str]) -> NDArray[np.float32]:
    """What all these reasons say, as one vector."""
    import numpy as np

    counts = Counter(sentences(reasons)[-5000:])
    rows = vectors_of(list(counts), None)
    weights = np.asarray(list(counts.values()), dtype=np.float32)
    mean: NDArray[np.float32] = weights @ rows / max(1.0, float(weights.sum()))
    return mean


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
