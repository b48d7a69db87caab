"""One rule that finds one kind of secret. Data only; `secrets` runs it."""

from typing import Literal, NamedTuple, TypeAlias

# How a candidate is judged after its pattern matched: by nothing more, by its entropy and digits ("random"),
# as something a person would choose ("password"), by its check digit ("card") or by the key inside ("pem").
# "lettered" is a password with letters and digits; "paired" one that may be a single word; "said" one that
# may be a few words of a sentence, "quoted" one in quotes; "given" is anything but a placeholder. "path" is
# part of an address with a token in it, "seed" the words of a wallet, "codes" a list of recovery codes.
Check: TypeAlias = Literal[
    "", "random", "password", "lettered", "paired", "said", "quoted", "given", "card", "pem", "mixed", "path",
    "seed", "codes",
]  # fmt: skip
AWS_ID_REMOVED = "\x03"  # the end of what an AWS id becomes that was taken out before
CHOSEN = (
    r"(?:\"([^\"\n\x00\x01]{4,})\"|'([^'\n\x00\x01]{4,})'|`([^`\n\x00\x01]{4,})`|([^\s\"'`|<>\x00\x01]{6,}))"
)


class Rule(NamedTuple):
    kind: str  # as it is shown: "[secret removed: github token]"
    pattern: str
    keywords: tuple[str, ...]  # lower case; the pattern is tried only in a text that holds one of them
    entropy: float = 2.5  # bits per character that a candidate has at least; placeholders have less
    check: Check = ""
    hint: str = ""  # a cheap pattern instead of keywords that are too common, or where there are none
