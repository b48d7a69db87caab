"""How a sentence begins before it comes to the point: "ok, by the way, please remember that ...".

Pure. Owns lead-ins and the question that a statement ends in; takes the request to remember it away.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hindbrain.context.flush.doubts import is_question
from hindbrain.context.flush.sentences import Sentence
from hindbrain.context.topic.remember_requests import Request, asks_to_forget_it, find_request, reorder_clause
from hindbrain.context.topic.request_words import ENGLISH, RequestWords

LEAD_IN = re.compile(
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
    asked_in: RequestWords | None = None  # the language in which it is asked to be remembered
    to_agent: bool = False  # what is to be remembered speaks of "you"
    for_record: bool = False  # "just so you know"


def opened(sentence: Sentence) -> Opened | None:
    """The sentence without its lead-in and without the question at its end.

    None when it only asks, or asks to be forgotten.
    """
    if asks_to_forget_it(sentence.masked):
        return None
    said = sentence if find_request(sentence.masked) else _before_question(sentence)
    if said is None:
        return None
    asked_in: RequestWords | None = None
    to_agent = for_record = False
    while asked_in is None or asked_in is ENGLISH:
        if lead := LEAD_IN.match(said.masked):
            for_record = for_record or _FOR_THE_RECORD.match(lead[0]) is not None
            said = _part(said, lead.end())
        elif asked_in is None and (request := find_request(said.masked)):
            asked_in, to_agent = request.words, request.to_agent
            said = _requested(said, request)
        else:
            break
    return Opened(said, asked_in, to_agent, for_record)


def _requested(sentence: Sentence, request: Request) -> Sentence:
    """What is to be remembered, as a sentence; as it was said when a clause can't be made one for sure."""
    clause = _part(sentence, request.start, request.stop)
    if not request.is_clause or not request.words.verb_last:
        return clause
    order = reorder_clause(clause.masked, request.words)
    if order is None:
        return sentence
    return Sentence(*(" ".join(text[part] for part in order) for text in clause))


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


def _part(sentence: Sentence, start: int, stop: int | None = None) -> Sentence:
    lead = len(sentence.text[start:]) - len(sentence.text[start:].lstrip())
    return Sentence(sentence.text[start + lead : stop], sentence.masked[start + lead : stop])
