"""What makes a sentence unfit to be remembered: it asks, supposes, hesitates, or points at something unseen.

Pure: patterns over one sentence, with quotes blanked out. Knows nothing of cues or categories.
"""

from __future__ import annotations

import re

from hindbrain.context.flush.sentences import MASK

_ASKING = re.compile(
    r"^(?:how|why|what|where|who|which|whose|can|could|would|will|do (?!not)"
    r"|does|did|is|are|was|were|am|have (?:you|we|i)|has|should"
    r"|shall|may|any|tell me|let me know|explain|soll|ist|sind|kann|können"
    r"|est-ce|qu'est|warum|wie|was|wer|qué|cómo)\b",
    re.IGNORECASE,
)
_WHAT_IF = re.compile(
    r"^(?:if|suppose|supposing|imagine|let's say|lets say|say (?:i|we"
    r"|my|that)|assume|assuming|given (?:i|that|a)|pretend"
    r"|as an? [\w ]{2,30}?,? i|unless|wenn|si|falls|如果|假设)\b|^(?:如果|假设)",
    re.IGNORECASE,
)
# Whoever says so has not made up their mind, or tells what somebody else says.
_UNDECIDED = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|wonder(?:ing)?|(?:not|n't|never)"
    r" (?:\w+ )?(?:sure|certain|decided|agreed|decide|know)"
    r"|unsure|no idea|undecided|(?:haven't|hasn't|hadn't|didn't|don't"
    r"|can't|cannot|couldn't) (?:\w+ ){0,2}(?:decide[d]?|agree[d]?|choose"
    r"|chosen"
    r"|think|know)|thinking (?:about|of)|considering|whether|used to (?!\w+ing)"
    r"|could (?:be|have|also|use)|for example|e\.g|for instance"
    r"|according to|(?:was|were|been) told|read (?:that|somewhere)|(?:he"
    r"|she|they|people|everyone|someone|somebody)(?:'s| is| are)? "
    r"(?:said|says?|told|thinks?|claims?|wrote|saying)|you said|if (?:i|we|you)\b|would (?:be|have|you|it)"
    r"|(?:which|what|where|how) (?:\w+ )?(?:shall|should|can|could|do"
    r"|does) (?:i|we|you)|vielleicht|peut-être"
    r"|quizás?|tal vez|weiß nicht|ne sais pas|no sé)\b|不知道|也许|可能",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:i think|i guess|i suppose|i believe|i feel like|probably|kind"
    r" of|sort of|more or less|i assume|presumably"
    r"|apparently|seems?|glaube|je pense|creo)\b",
    re.IGNORECASE,
)
# It points at what only the conversation shows.
_POINTING = re.compile(
    r"^(?:their|his|her)\b|\b(?:this|these|those|it|its|here|there|above"
    r"|below|you(?:'re|'ve|'d|'ll)?|yours?|them|he|she|him|his|hers?|anything"
    r"|something|everything"
    r"|(?<!on )(?<!by )the (?:first|second|third|last|other|former|latter"
    r"|same|next|previous|original|following|one|ones|idea|way|approach|suggestion"
    r"|line|function|method|snippet|loop|variable|paragraph|sentence|answer"
    r"|version|option|code|example|list|file|output)s?"
    r"|(?:option|version|variant|step|approach|number) (?:[a-z]|\d+|one"
    r"|two)|one of|the one|which one|do so|such"
    r"|that(?= (?:one|way|idea|approach|file|function|thing|part|line"
    r"|code|version|option|feature|sounds|makes|is|was|works)\b|\W*$)"
    r"|(?:to|in|of|with|about|for|at|on|from|like|within) that(?= \w+(?: \w+)?\W*$)|what"
    r" (?:you|we|i)|how (?:you|it)|both of|either of|line \d+)\b",
    re.IGNORECASE,
)
# Of what was announced as lasting ("known bug: ...") only this much.
_POINTING_HARD = re.compile(r"\b(?:this|these|those|here|above|below|that(?=\W*$)|what you)\b", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:he|she|him|hers?|his|them|they)\b", re.IGNORECASE)
_YOU = re.compile(r"\byou(?:r|'re|'ve|'d|'ll)?\b", re.IGNORECASE)
HOME = re.compile(
    r"\bthis (?P<kind>repo(?:sitory)?|code ?base|project|team|company|vault|app|product)\b", re.IGNORECASE
)
_FAULT = re.compile(
    r"\b(?:errors?|fails?|failing|failed|crash(?:es|ing|ed)?|(?:doesn't"
    r"|don't|isn't|not|n't) work(?:ing)?|broken|exceptions?"
    r"|slow|down|stuck|wrong|missing|empty|null|undefined|none|returns?"
    r"|too \w+|weird|unclear|useless|buggy|gone)\b",
    re.IGNORECASE,
)
_PROPER = re.compile(
    rf"[`{MASK}\d]|(?<![.!?] )\b(?!I\b)[A-ZÀ-Þ][\w+#.-]*|\b[\w-]+\.(?:js|py|io|dev|ts|rs)\b|[\u4e00-\u9fff]"
)
_CHANGES_MIND = re.compile(
    r"\b(?:for now|for the moment|for today|this time|just once|temporarily|today|right now)\b", re.I
)
# Why it was decided so: "because it is cheaper" speaks of what was named before.
_REASON = re.compile(
    r",? (?:because|since (?:it|they|we|he|she|that)\b|as (?:it|they)\b|so that)\b.*$|, (?:it|they) .*$",
    re.IGNORECASE,
)
_TODAY = re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening)|just now)\b", re.IGNORECASE)


def is_question(masked: str) -> bool:
    """By its first word; who types fast leaves the question mark out."""
    return _ASKING.match(masked) is not None


def is_open(masked: str, *, in_english: bool = True) -> bool:
    """A question, a supposition, or something that is not decided or not the speaker's own?

    `in_english`: False where a first word such as "am" or "do" may belong to another language.
    """
    asks = in_english and is_question(masked)
    return any((asks, _WHAT_IF.match(masked), _UNDECIDED.search(masked)))


def is_hedged(masked: str) -> bool:
    return _HEDGED.search(masked) is not None


def points_away(
    rest: str,
    *,
    announced: bool = False,
    to_agent: bool = False,
    of_person: bool = False,
    decides: bool = False,
) -> bool:
    """Does it speak of something that is not named in it? "This repo" is no such thing: it has a name.

    `to_agent`: "you" is the agent. `of_person`: "she" is who has just been named. `decides`: the reason for
    a decision speaks of what was chosen.
    """
    rest = HOME.sub("home", rest)
    if decides:
        rest = _REASON.sub("", rest)
    if announced:
        return _POINTING_HARD.search(rest) is not None
    if to_agent:
        rest = _YOU.sub("", rest)
    if of_person:
        rest = _PERSON.sub("", rest)
    return _POINTING.search(rest) is not None


def tells_fault(rest: str) -> bool:
    """Something is broken: the matter of this conversation, no lasting fact."""
    return _FAULT.search(rest) is not None


def has_name(rest: str) -> bool:
    return _PROPER.search(rest) is not None


def is_for_now(masked: str) -> bool:
    return _CHANGES_MIND.search(masked) is not None


def is_of_today(masked: str) -> bool:
    return _TODAY.search(masked) is not None
