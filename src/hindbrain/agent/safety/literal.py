"""What the owner's own command names word for word: a program to run, a file to write. Pure.

Cautious on purpose: it must read as an order. What is only mentioned, or forbidden, does not count, and then
a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hindbrain.agent.safety.argv import split_command
from hindbrain.base.errors import UsageError

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NEGATION = re.compile(
    r"\b(?:not|never|no|without|avoid|instead|except|stop|nor|neither|refuse|forbid|nicht|nie|kein\w*|ohne)\b|n['’]t\b",
    re.IGNORECASE,
)
# Whether it holds by now, a model would have to say: what it may have been told by somebody else.
_CONDITION = re.compile(
    r"\b(?:if|unless|when|whenever|once\s+\w+|after|before|until|provided|only|wait|ask|confirm\w*|approv\w*|"
    r"wenn|falls|sobald|bevor|erst|nur)\b",
    re.IGNORECASE,
)
_RUN = re.compile(r"\b(?:run|execute|rerun|re-run|launch):?\s+(?:the\s+command:?\s+)?", re.IGNORECASE)
_QUOTED = re.compile(r"`[^`]+`|\"[^\"]+\"|'[^']+'|“[^”]+”")
_WRITING = re.compile(
    r"\b(?:write|rewrite|save|store|create|make|generate|produce|update|edit|change|append|add|put|export|fill|"
    r"replace|overwrite|fix|rename|move|copy|draft)\b",
    re.IGNORECASE,
)
_TAKING = (
    "of|from|about|on|for|using|with|like|at|by|than|read|see|per|via|following|"
    "(?:described|listed|mentioned|noted|written|given|explained|shown|found|documented|said|asked) in"
)
_AFTER = re.compile(
    r"\s*(?:$|[,;:!?)]|\.(?:\s|$)|(?<=\s)(?:and|then|in|until|to|once|again|first|now|please)\b)",
    re.IGNORECASE,
)


def orders_command(command: str, argv: Sequence[str]) -> bool:
    """Does the owner say to run exactly these words, as they are written?"""
    for sentence in _sentences(command):
        if _CONDITION.search(sentence):
            continue
        for verb in _RUN.finditer(sentence):
            if not _NEGATION.search(sentence[: verb.start()]) and _begins(
                sentence[verb.end() :], tuple(argv)
            ):
                return True
    return False


def _begins(text: str, argv: tuple[str, ...]) -> bool:
    """Does the text begin with the command, in quotes or plain, and go on with something else?"""
    if quoted := _QUOTED.match(text):
        return bool(_AFTER.match(text, quoted.end())) and _split(quoted[0][1:-1]) == argv
    plain = " ".join(argv)
    return text.startswith(plain) and bool(_AFTER.match(text, len(plain))) and _split(plain) == argv


def _split(text: str) -> tuple[str, ...]:
    try:
        return split_command(text)
    except UsageError:
        return ()


def orders_file(command: str, path: str) -> bool:
    """Does the owner say to write this file? Its path stands behind a verb that writes."""
    if len(path) < 3 or not re.search(r"[./]", path):
        return False  # a word of the language, as far as anybody can tell
    name = re.escape(path.removeprefix("./"))
    pattern = re.compile(rf"(?<![\w./\\~-])(?:\./)?{name}(?![\w/\\-]|\.\w)")
    for sentence in _sentences(command):
        for match in pattern.finditer(sentence):
            before = sentence[: match.start()]
            verbs = [verb.end() for verb in _WRITING.finditer(before)]
            if verbs and not _NEGATION.search(before) and not _reads(before[verbs[-1] :]):
                return True
    return False


def _reads(between: str) -> bool:
    """Is the file what is taken, not what is made: "write a summary of a.md"?"""
    return bool(re.search(rf"\b(?:{_TAKING})\s+\S*\s*['\"`]*$", between))


def _sentences(command: str) -> Iterator[str]:
    yield from (sentence for sentence in _SENTENCE.split(command) if sentence.strip())
