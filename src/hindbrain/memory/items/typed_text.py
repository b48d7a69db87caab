"""What people and models type around a text: marks of a list, and fields and ids that only we write.

    - [ ] I like coffee [source:: user] ^m-7f3k2a    is    I like coffee

Pure. Such a mark is how the text came here and no part of it; whose word a memory is and which id it has are
never taken from its text.
"""

from __future__ import annotations

import re

from hindbrain.vault.items.item_line import read_line

_MARK = re.compile(r"\s*(?:[-*+](?:\s+|$)|[0-9]{1,3}[.)]\s+)(?:\[.\](?:\s+|$))?|\s*\[[ xX/\-]\](?:\s+|$)")
_OURS = frozenset(
    {"importance", "source", "created", "related", "superseded", "approved", "category", "cues"}
)


def without_mark(text: str) -> str:
    """Without "- ", "* ", "+ ", "1. " and a check box at the start."""
    mark = _MARK.match(text)
    return text[mark.end() :] if mark else text


def as_fact(text: str) -> str:
    """Without marks, our fields and the id of a memory."""
    lines = [_without_ours(line) for line in text.split("\n")] if "::" in text or "^m-" in text else [text]
    return without_mark("\n".join(lines)).strip()


def _without_ours(line: str) -> str:
    parts = read_line(line)
    if parts.id.startswith("m-"):
        line = line[: parts.end].rstrip()
    for field in reversed(parts.fields):
        if field.key in _OURS:
            before, after = line[: field.start].rstrip(), line[field.stop :]
            line = before + after if after[:1] in ("", " ", ".", ",", ";") else f"{before} {after}"
    return line
