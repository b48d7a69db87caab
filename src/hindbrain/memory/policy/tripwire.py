"""Does a text read like an instruction to an agent? A tripwire, not a wall.

It finds what is put plainly, wrapped in the usual ways, or hidden from the eye; somebody who knows it can
write around it, and a plain request ("Write a poem") is no alarm. What it finds waits for a person; what it
misses is still only data, with the trust of its source. Pure.
"""

from __future__ import annotations

import re
from functools import cache

from hindbrain.memory.policy.lookalikes import fold_lookalikes

_EMPHASIS = re.compile(r"[*_~`]{1,3}(?=\S)|(?<=\S)[*_~`]{1,3}")
_SPELLED = re.compile(r"(?<![a-z])(?:[a-z][ .\-_]){4,}[a-z](?![a-z])")
_COMMENT = re.compile(r"<!--|%%[^%\n]{3,}%%|\[//\]: ?#|^[^\S\n]*\[comment\]: ?", re.MULTILINE)
_STYLED_AWAY = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])|<[^>]{1,80}\bhidden\b",
    re.IGNORECASE,
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}={0,2}(?![A-Za-z0-9+/=_-])")
_HEX_BLOB = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){16,}")
_PLUGIN_CODE = re.compile(
    r"`\s*\$?=(?![=>])|(?<!`)```+\s*(?:dataviewjs|js-engine|templater)\b|<%[*_-]?\s", re.IGNORECASE
)
_WORDS = re.compile(r"[a-z]{2} [a-z]{2}")
_READABLE = 0.9  # of decoded bytes, before it counts as text


def reads_like_instruction(text: str) -> str:
    """What the text looks like ("reads like an instruction: ...", "hidden comment", ...), or ""."""
    if _COMMENT.search(text) or _STYLED_AWAY.search(text):
        return "hidden comment"
    if _PLUGIN_CODE.search(text):
        return "code that a note's plug-ins would run"
    plain = _plain(text)
    for name, pattern in _patterns():
        if pattern.search(plain):
            return f"reads like an instruction: {name}"
    if any(_is_text(blob) for blob in _decoded(text)):
        return "encoded text"
    return ""


def _plain(text: str) -> str:
    """One line, lower case, without emphasis; letters that were spaced out are words again."""
    folded = fold_lookalikes(text.replace("’", "'"))
    bare = " ".join(_EMPHASIS.sub("", folded).split())
    joined = _SPELLED.sub(lambda match: re.sub(r"[ .\-_]", "", match[0]), bare)
    return bare if joined == bare else f"{bare} {joined}"


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    from hindbrain.memory.policy.tripwire_rules import INSTRUCTIONS

    return tuple(
        (name, re.compile("|".join(f"(?:{rule})" for rule in rules))) for name, rules in INSTRUCTIONS
    )


def _decoded(text: str) -> list[bytes]:
    from base64 import b64decode, urlsafe_b64decode

    found: list[bytes] = []
    for match in _BLOB.finditer(text):
        blob = match[0].rstrip("=")
        padded = blob[: len(blob) // 4 * 4]
        found.append((urlsafe_b64decode if re.search("[-_]", blob) else b64decode)(padded))
    for match in _HEX_BLOB.finditer(text):
        digits = re.sub("[ :]", "", match[0])
        found.append(bytes.fromhex(digits[: len(digits) // 2 * 2]))
    return found


def _is_text(data: bytes) -> bool:
    """Words, as opposed to a hash or a key."""
    readable = sum(byte in b"\t\n\r" or 32 <= byte < 127 for byte in data)
    return readable >= _READABLE * len(data) and _WORDS.search(data.decode("latin-1").lower()) is not None
