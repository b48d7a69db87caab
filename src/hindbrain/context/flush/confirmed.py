"""What an assistant proposed and its user agreed to in the next message: a decision of both.

Pure. Only choices of something with a name count; "shall I rename the variable? - yes" is work, no decision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.context.flush.sentences import MASK, Sentence, spoken

_CLEAR = re.compile(
    r"^(?:yes|yeah|yep|ok|okay|sure|agreed|right|perfect|great|sounds"
    r" good|good|fine|deal|done|definitely|absolutely)?[,.! ]*"
    r"(?:please )?(?:let's (?:do|go with|use|take) (?:that|it|this)|(?:we"
    r"|i)(?:'ll| will) (?:do|go with|take|use) (?:that|it)"
    r"|go with (?:that|it)|do (?:that|it) then|i agree|agreed|we agree"
    r"|that's decided|decided|settled|deal|go ahead with that"
    r"|einverstanden|d'accord|de acuerdo|同意)\b[ ,.!\w']{0,30}$",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"^(?:yes|yeah|yep|ok|okay|sure|right|perfect|great|sounds good|good"
    r" idea|good|fine|makes sense|works for me"
    r"|ja|oui|sí|好的?)(?:[,.! ]+(?:please|thanks|thank you|do it|go ahead"
    r"|sounds good|let's go|good idea))*[.! ]*$",
    re.IGNORECASE,
)
_PROPOSAL = re.compile(
    r"^(?:so,? |then,? |in that case,? |overall,? |for \w+,? )?(?:"
    r"i(?:'d| would)? (?:strongly |also |really )*(?:suggest|recommend|propose|advise)(?: that)?"
    r"(?: we| you)? "
    r"|my (?:recommendation|suggestion|proposal) is (?:to )?|i(?:'d| would)"
    r" (?=(?:go with|use|choose|pick|stick with)\b)"
    r"|(?:we|you) should |let's )(?P<rest>(?:use|using|go with|going with"
    r"|switch(?:ing)? to|adopt(?:ing)?|choos(?:e|ing)"
    r"|stick(?:ing)? with|stay(?:ing)? with|mov(?:e|ing) to|migrat(?:e"
    r"|ing) to|pick(?:ing)?|keep(?:ing)?|drop(?:ping)?)?\s*\S.*)",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"^(?:use|using|go with|going with|switch(?:ing)? to|adopt(?:ing)?"
    r"|choos(?:e|ing)|stick(?:ing)? with|stay(?:ing)? with"
    r"|mov(?:e|ing) to|migrat(?:e|ing) to|pick(?:ing)?|keep(?:ing)?|drop(?:ping)?)\b",
    re.IGNORECASE,
)
_PLAIN = {
    "using": "use", "going with": "go with", "switching to": "switch to", "adopting": "adopt",
    "choosing": "choose", "sticking with": "stick with", "staying with": "stay with", "moving to": "move to",
    "migrating to": "migrate to", "picking": "pick", "keeping": "keep", "dropping": "drop",
}  # fmt: skip
_NAMED = re.compile(rf"[`{MASK}]|\b\d{{2,}}\b|\b(?!I\b)[A-Z][\w+#.-]*")
_HERE = re.compile(
    r"\b(?:this|these|that|it|here|line \d+|the (?:function|variable|file"
    r"|loop|line|method))\b",
    re.IGNORECASE,
)


class Agreed(NamedTuple):
    text: str
    evidence: str  # the proposal and the answer
    sure: bool


def agreed_proposal(before: str, answer: Sequence[Sentence]) -> Agreed | None:
    """The one proposal of `before` that the answer agrees to; None when it made none, or several."""
    first = answer[0].text.strip()
    clear = bool(_CLEAR.match(first))
    if not clear and not (_WEAK.match(first) and len(answer) == 1):
        return None
    proposals = [
        (sentence, found) for sentence in spoken(before) if (found := _PROPOSAL.match(sentence.masked))
    ]
    if len(proposals) != 1:
        return None
    sentence, found = proposals[0]
    rest = sentence.text[found.start("rest") :].rstrip("?.! ")
    if not _NAMED.search(rest) or _HERE.search(rest):
        return None
    choice = _CHOICE.match(rest)
    if choice:
        rest = _PLAIN.get(choice[0].lower(), choice[0].lower()) + rest[choice.end() :]
    elif not re.match(r"[A-Z`]", rest):
        return None
    return Agreed(f"Decided: {rest}", f"{sentence.text} - {first}", clear)
