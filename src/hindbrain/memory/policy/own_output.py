"""What this memory said itself, taken out of a text: nothing of our own output is learned again.

Pure. Knows the shapes of our answers: blocks that are put into prompts, and the lines in which the tools
tell memories, passages and notes. A text that only cites a memory is not one of them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Blocks that put memory into a prompt, ours and those of the hosts that we serve.
OWN_TAGS = ("memory", "memories", "memory_context", "memory_status", "hindbrain", "context_pack", "recalled")
_NAMES = "|".join(OWN_TAGS)
_OPEN = re.compile(rf"<\s*(?:{_NAMES})(?:[-_]\w+)?\b(?P<rest>[^<>]*)>", re.IGNORECASE)
_CLOSE = re.compile(rf"<\s*/\s*(?:{_NAMES})(?:[-_]\w+)?\b[^<>]*>", re.IGNORECASE)  # ours carry a nonce
_LINK = r"\[\[[^\[\]]*\]\]"
_MEMORY = r"(?:\[\[[^\[\]]*#\^[mt]-\w+\]\]|\^[mt]-\w+(?: \(being saved\))?)"
_LINES = rf"{_LINK} lines \d+(?:-\d+)?"
_OWN_LINES = (
    rf"(?:[-*]|task \w+:) .*\([^()]*\) {_MEMORY}",  # a memory, a task
    r"[-*] .* \^t-\w+",  # a task as a pack shows it
    r"open already, so nothing was added; .*",
    rf"[-*] .*\({_LINES}\)",  # recall: a passage
    r"[-*] (?=.*\[source:: ?\w+\]).* \^m-\w+",  # a memory as it stands in its note
    rf"\d+\. {_LINES}(?: ·.*)?",  # search: the place of a hit
    r"(?:[\d,]+|no) (?:memor(?:y|ies)|hits?) (?:about|for) .*:",
    r"[\d,]+ (?:\w+ )?tasks?(?: (?:in|for|of) .*)?:",
    r"[\d,]+ memor(?:y|ies)(?: \([^()]*\))?; [\d,]+ (?:older ones )?replaced\.",
    r"waiting: [\d,]+ to be saved, [\d,]+ in the inbox.*",
    r"layout: \w+(?: in .*/)?\.",
    r"search: (?:[\d,]+ notes?, by words|index \w+).*",
    r"(?:the vault|.*/): [\d,]+ folders?, [\d,]+ notes?",
    r"\S.*  \d{4}-\d\d-\d\d",  # a note in a listing
    r"nothing found (?:about|for) .*",
    r"from notes:",
    rf"(?:remembered as|known already; it is one memory now:|updated|stored as) {_MEMORY}.*",
    rf"(?:added to what was known;|known already, and your words are kept with it:) {_MEMORY}.*",
    r"forgotten: .* it will not be learned again\..*",
    r"not stored(?: yet)?(?: \(.*\))?: it (?:waits in the inbox|says nothing new).*",
    r"stored without what is secret, since .* keeps? none: .*",
    rf"(?:created|replaced|appended to|nothing to change in) {_LINK}\.",
    r"… lines \d+-\d+ of \d+, .*",
    r"hash: [0-9a-f]{12,64}",
    r"… (?:more was found|\d+ more left out); .*",
    r'\{"source": ?"hindbrain", ?"preset":.*\}',  # a context pack as JSON
)
# For lines without the blanks around them: two patterns of blanks on one line of nothing else take long.
_OWN_LINE = re.compile("|".join(_OWN_LINES), re.IGNORECASE)
_HIT = re.compile(rf"\d+\.\s{_LINES}(?:\s·.*)?")
_PASSAGE = re.compile(r" {3}\S")  # beneath its place
_NOTICE = re.compile(r"\(.+\)")  # ours only beside other lines of ours
_READ_TO = re.compile(r"… lines \d+-\d+ of \d+, .*")


class Stripped(NamedTuple):
    text: str
    found: bool  # something of ours was in it


def strip_own_output(text: str) -> Stripped:
    """Take out injected blocks and the lines of our answers; what somebody added around them stays."""
    without = _strip_blocks(text) if "<" in text else text
    kept: list[str] = []
    in_hit = False
    for line in without.split("\n"):
        words = line.strip()
        if _READ_TO.fullmatch(words):
            kept.clear()  # all that stands before it is the note that was read
        in_hit = bool(_HIT.fullmatch(words)) or (in_hit and bool(_PASSAGE.match(line)))
        if not in_hit and not _OWN_LINE.fullmatch(words):
            kept.append(line)
    if len(kept) < without.count("\n") + 1:
        kept = [line for line in kept if not _NOTICE.fullmatch(line.strip())]
    result = "\n".join(kept)
    return Stripped(result, result != text)


def _strip_blocks(text: str) -> str:
    """Without our blocks, nested ones included; one that is not closed reaches to the end."""
    kept: list[str] = []
    at = depth = 0
    for start, stop, step in _tags(text):
        if depth == 0:
            kept.append(text[at:start])
        depth = max(0, depth + step)
        at = stop
    if depth == 0:
        kept.append(text[at:])
    return "".join(kept)


def _tags(text: str) -> list[tuple[int, int, int]]:
    """Where our tags stand, and whether they open (1), close (-1) or stand alone (0)."""
    found = [
        (match.start(), match.end(), 0 if match["rest"].rstrip().endswith("/") else 1)
        for match in _OPEN.finditer(text)
    ]
    found += [(match.start(), match.end(), -1) for match in _CLOSE.finditer(text)]
    return sorted(found)
