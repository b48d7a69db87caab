"""Characters that no reader sees and a model does: found, and taken out of what is stored.

Pure. Joiners that a script or an emoji needs stay; a byte order mark or a soft hyphen goes without a word,
since copied text is full of them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u180e\ufeff\u034f\u115f\u1160\u3164\uffa0"
_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # turn the direction of what follows
_MARKS = "\u200e\u200f\u061c\u00ad"  # harmless, and of no use in a line of text
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0000-\U000e007f"  # a whole alphabet that is never drawn
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
_HIDDEN = re.compile(f"[{_ZERO_WIDTH}{_OVERRIDES}{_MARKS}{_SELECTORS}{_TAGS}{_CONTROLS}]")
_DECEPTIVE = re.compile(f"[{_OVERRIDES}{_TAGS}]")
# "ig\u200bnore" hides a word from whoever looks for it.
_INSIDE_WORD = re.compile(f"[A-Za-z][{_ZERO_WIDTH}\u00ad]+[A-Za-z]")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{1,6}\U000e007f")
_TOLERATED = 2  # zero-width characters outside words that a copied paragraph may well hold
_JOINED_SCRIPTS = (
    "ARABIC", "BENGALI", "DEVANAGARI", "GUJARATI", "GURMUKHI", "KANNADA", "KHMER", "MALAYALAM", "MONGOLIAN",
    "MYANMAR", "ORIYA", "SINHALA", "SYRIAC", "TAMIL", "TELUGU", "TIBETAN",
)  # fmt: skip


class Cleaned(NamedTuple):
    text: str
    suspicious: bool  # somebody hid something, or it looks so


def strip_hidden(text: str) -> Cleaned:
    """Take out what is not seen, and say whether it looks like it was put there to hide something."""
    if not _HIDDEN.search(text):
        return Cleaned(text, False)
    kept: list[str] = []
    unseen = 0
    flags = {at for match in _FLAG.finditer(text) for at in range(*match.span())}
    for at, char in enumerate(text):
        if not _HIDDEN.match(char) or at in flags or _is_needed(text, at):
            kept.append(char)
        elif char in _ZERO_WIDTH or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
            unseen += at > 0  # a byte order mark in front is no secret
    without_flags = _FLAG.sub("", text)
    suspicious = (
        unseen > _TOLERATED
        or _DECEPTIVE.search(without_flags) is not None
        or _INSIDE_WORD.search(text) is not None
    )
    return Cleaned("".join(kept), suspicious)


def _is_needed(text: str, at: int) -> bool:
    """Does the script or the emoji around it need this character?"""
    char = text[at]
    before = text[at - 1] if at else ""
    if char in "\ufe0e\ufe0f":
        return bool(before) and (
            unicodedata.category(before) in {"So", "Sm", "Po"} or before in "0123456789#*"
        )
    if char not in "\u200c\u200d" or not before or at + 1 >= len(text):
        return False
    if char == "\u200d" and (before == "\ufe0f" or _is_picture(before)) and _is_picture(text[at + 1]):
        return True
    return _is_joined(before) and _is_joined(text[at + 1])


def _is_picture(char: str) -> bool:
    return unicodedata.category(char) in {"So", "Sk"}


def _is_joined(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_JOINED_SCRIPTS)
