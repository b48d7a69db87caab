"""Which program the owner's command orders to be run. Pure.

Only a command that is nothing but the order counts: "run `make test`". A program that is named inside of
anything else may be a question, a quotation or a plan, and then a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindbrain.agent.safety.argv import split_command
from hindbrain.base.errors import UsageError

_BEGINNING = re.compile(
    r"(?:(?:please|now|bitte|jetzt),?\s+)*"
    r"(?:(?:run|execute|rerun|re-run|launch)(?:\s+the\s+command)?:?|führe|starte)\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^']+)'|“([^”]+)”|„([^“]+)“")
# What may follow and changes nothing about the order.
_END = re.compile(
    r"(?:\s+aus)?(?:,?\s+(?:please|now|once|again|bitte|jetzt))?"
    r"(?:,?\s+(?:and|then|und)\s+(?:stop|report|(?:tell|show)\s+me(?:\s+(?:the\s+(?:result|output)|what\s+it\s+says))?"
    r"|(?:sag|zeig)\s+mir\s+(?:das\s+Ergebnis|die\s+Ausgabe)))?[.!]?\s*",
    re.IGNORECASE,
)


def orders_command(command: str, argv: Sequence[str]) -> bool:
    """Is the owner's command, as a whole, the order to run exactly these words?"""
    text = command.strip()
    begins = _BEGINNING.match(text)
    if begins is None:
        return False
    rest = text[begins.end() :]
    words, plain = tuple(argv), " ".join(argv)
    if quoted := _QUOTED.match(rest):
        inner = next(filter(None, quoted.groups()))
        return bool(_END.fullmatch(rest, quoted.end())) and _split(inner) == words
    return rest.startswith(plain) and bool(_END.fullmatch(rest, len(plain))) and _split(plain) == words


def _split(text: str) -> tuple[str, ...]:
    try:
        return split_command(text)
    except UsageError:
        return ()
