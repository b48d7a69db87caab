"""How a sentence begins before it comes to the point: "ok, by the way, please remember that ...".

Pure. Owns lead-ins, the wish to be remembered (before the point or after it), and the question that a
statement ends in.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hindbrain.context.flush.doubts import is_question
from hindbrain.context.flush.sentences import Sentence

_LEAD_IN = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|yep|no|nope|hey|hi|hello|thanks|thank"
    r" you|great|cool|nice|perfect|also|and|but|so|oh|ah"
    r"|well|right|sure|sorry|alright|hmm|btw|by the way|actually|honestly"
    r"|anyway|one more thing|another thing"
    r"|quick note|just so you know|please note(?: that)?|note that|for"
    r" context|as (?:i|you) \w+(?: before| earlier)?"
    r"|fyi|for the record|for your information|important|reminder|correction"
    r"|update|you know|to be clear|in fact"
    r"|first of all|besides|since|because|i mean|look|listen|well then)(?:[,:!.…-]+"
    r" ?|(?<=and) |(?<=but) |(?<=so) "
    r"|(?<=also) |(?<=since) |(?<=because) |(?<=actually) |(?<=btw) |(?<=by the way) |(?<=fyi)"
    r" |(?<=note that) |(?<=ok) |(?<=okay) ))",
    re.IGNORECASE,
)
_FOR_THE_RECORD = re.compile(
    r"(?:fyi|for the record|just so you know|for your information|for context)\b", re.IGNORECASE
)
_REMEMBER = re.compile(
    r"^(?:please |can you |could you )*(?:remember|keep in mind|bear in"
    r" mind|don't forget|note to self|note for later"
    r"|for future reference|merk dir|retiens|souviens-toi|recuerda|记住)(?P<that>(?:,?"
    r" (?:that|dass|que|qu'))? ?[:,]? ?)"
    r"(?P<rest>\S.*)",
    re.IGNORECASE,
)
# "remember that function we wrote": a thing that is pointed at, no clause.
_THING = re.compile(
    r"^(?:when|how|what|the time|time|to\b|me\b|us\b|(?:function|bug|day"
    r"|one|file|thing|part|guy|error|issue|place)\b)",
    re.IGNORECASE,
)
_WISH = (
    r"(?:so |and |but )?(?:please |can you |could you |just )*"
    r"(?:remember|don't forget|keep in mind|make a note of|note)"
    r" (?:it|this|that)(?:,? (?:please|for me|for later|for next time|ok|okay))*[.!?]*"
)
_REMEMBER_IT = re.compile(rf"[,;:.–-]+ {_WISH}$", re.IGNORECASE)  # "my vet is Dr. Okafor, remember it"
_ONLY_A_WISH = re.compile(_WISH, re.IGNORECASE)
_TRAILING_QUESTION = re.compile(
    r"^(?P<said>.{12,}?)(?:,|;| -| –)? (?:and |so |but |or )?(?:(?:what"
    r"|how|which|where|when|why|who)(?: \w+)? )?(?:can|could|would|do"
    r"|does|what|how|which|where|is|are|should|any"
    r"|will|who) (?:you|i|we|it|there|the|this|that|a|an|some|my|kind"
    r"|type|good|would|should|are|is|do|about|ideas?)\b",
    re.IGNORECASE,
)

# "never push to main, ok?" is no question; "we take Go, right?" is one.
_ASKS_FOR_A_NOD = re.compile(r",? (?:ok|okay|alright|please|will you)\?+$", re.IGNORECASE)


class Opened(NamedTuple):
    """A sentence from its point on."""

    sentence: Sentence
    asked_to: bool = False  # "remember that"
    for_record: bool = False  # "just so you know"


def opened(sentence: Sentence) -> Opened | None:
    """The sentence without its lead-in and without the question at its end; None when it only asks."""
    said = _before_question(sentence)
    if said is None:
        return None
    asked_to = for_record = False
    if wish_after := _REMEMBER_IT.search(said.masked):
        asked_to = True
        said = Sentence(said.text[: wish_after.start()], said.masked[: wish_after.start()])
    while True:
        if lead := _LEAD_IN.match(said.masked):
            for_record = for_record or _FOR_THE_RECORD.match(lead[0]) is not None
            said = _from(said, lead.end())
        elif not asked_to and (wish := _REMEMBER.match(said.masked)) and _is_clear_wish(wish):
            asked_to = True
            said = _from(said, wish.start("rest"))
        else:
            return Opened(said, asked_to, for_record)


def is_wish(sentence: Sentence) -> bool:
    """ "Please remember that." and no more: it means what was said before."""
    return _ONLY_A_WISH.fullmatch(sentence.masked.strip()) is not None


def _is_clear_wish(wish: re.Match[str]) -> bool:
    """ "Remember, every step counts" is a proverb; "remember that ..." and "remember I ..." are wishes."""
    if _THING.match(wish["rest"]):
        return False
    speaks_of_self = re.match(r"(?:I|my)\b", wish["rest"], re.IGNORECASE) is not None
    return speaks_of_self or bool(wish["that"].strip(" ,"))


def _before_question(sentence: Sentence) -> Sentence | None:
    """The sentence; of one that ends in a question, what is said before that."""
    if not sentence.asks and not sentence.masked.rstrip().endswith("..."):
        return sentence
    if tag := _ASKS_FOR_A_NOD.search(sentence.masked):
        return Sentence(sentence.text[: tag.start()], sentence.masked[: tag.start()])
    cut = _TRAILING_QUESTION.match(sentence.masked)
    if cut is None or is_question(sentence.masked):
        return None
    length = len(cut["said"])
    return Sentence(sentence.text[:length], sentence.masked[:length])


def _from(sentence: Sentence, start: int) -> Sentence:
    lead = len(sentence.text[start:]) - len(sentence.text[start:].lstrip())
    return Sentence(sentence.text[start + lead :], sentence.masked[start + lead :])
