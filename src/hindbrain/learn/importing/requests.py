"""What a customer asks for in a conversation, without greetings, politeness and who they are. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindbrain.context.messages import Message
from hindbrain.learn.importing.prompts import LONGEST_COMMAND, cut_at_word

_SHORT = 160  # characters of what is wanted up to which what else is wanted is added
_STOP = "###STOP###"
_SENTENCE = re.compile(r"(?<=[.!?]) +")
_POLITE = re.compile(
    r"(?:so,? |and |but )?(?:can|could|would|will) you (?:please |still |also )?(?:help|assist)(?: me)?"
    r"(?: out)?(?: with (?:that|this|it|the \w+))?(?:,? please)?[?.!]*"
    r"|thanks?(?: you)?(?: so much)?(?: for your help)?[.!]*|(?:for your help|no problem|please)[.!]*",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|bonjour|hola)(?: there)?|thanks|thank you)\b"
    r"[\s,.!]*",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:want|need|like to|looking (?:to|for)|hoping|trying|help|(?:can|could) (?:you|i|we)|please|"
    r"cancel|book|change(?! of)|modif\w+|refund|return|exchange|compensation|complain|upgrade|downgrade|add|"
    r"remove|check|update|issue|wondering|how (?:much|many|do|can))\b",
    re.IGNORECASE,
)
# Who somebody is, and what they do not know, is asked for by the agent; it is no wish.
_ANSWERS = re.compile(
    r"\b(?:(?:user|reservation|order|confirmation|my|email|zip) ?(?:id|number|code|address)|@\w+\.|"
    r"don['’]t (?:remember|have|know|recall)|not sure)\b",
    re.IGNORECASE,
)


def wanted(messages: Sequence[Message]) -> str:
    """What the customer wants, in their words before the first call of a tool."""
    said: list[str] = []
    for message in messages:
        if message.tool and said:
            break
        text = " ".join(message.text.replace(_STOP, "").split()) if message.role == "user" else ""
        if text := _GREETING.sub("", text, count=1):
            said.append(text)
    told = ""
    for number, text in enumerate(said):
        for sentence in _SENTENCE.split(text):
            # What they say first is the matter, whatever words they have for it; later only a wish is.
            if (
                _ANSWERS.search(sentence)
                or _POLITE.fullmatch(sentence)
                or (number and not _WANTS.search(sentence))
            ):
                continue
            if number and len(told) + len(sentence) > _SHORT:
                break
            told = f"{told} {sentence}".strip()
    return cut_at_word(told or " ".join(said[:1]), LONGEST_COMMAND)
