"""The words of a memory as Markdown: folded into one line, escaped where they would mean something else.

Pure. `unescape(escape(text))` is `text` again, for any text that `fold` leaves as it is. Inside code spans
nothing is escaped, since a backslash would be shown there. Knows nothing of fields, ids and notes.
"""

from __future__ import annotations

import re
import string

from hindbrain.vault.inline import mask_code

_PUNCTUATION = frozenset(string.punctuation)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")  # the others are white space, and folded
# What begins a list item, a check box, a fence, a heading, a quote or a strike-through; group 1 is the sign
# that a backslash takes its meaning from.
_LEADS = re.compile(
    r"()(?:[-*+](?= |$)|\[.\](?= |$)|```|~~|#{1,6}(?= |$)|>)"
    r"|([0-9]{1,9})(?=[.)](?: |$))"
)
_WIKILINK = re.compile(r"\[\[(?:[^\[\]|]*+\|)?([^\[\]|]*+)\]\]")
_SPECIAL = re.compile(r"[\\:$%!~]")


def fold(text: str) -> str:
    """One line: every run of white space is a space, control characters are gone."""
    return " ".join(_CONTROL.sub("", text).split())


def unlinked(text: str) -> str:
    """As a reader sees it, for comparing: `[[Anna Berg|Anna]]` says "Anna"."""
    return _WIKILINK.sub(r"\1", text) if "[[" in text else text


def escape(text: str, *, struck: bool = False) -> str:
    """As it must stand in a list item. `struck`: it will stand between tildes."""
    lead = _LEADS.match(text)
    at = -1 if lead is None else len(lead[2] or "")
    if _SPECIAL.search(text) is None:
        return text if at < 0 else f"{text[:at]}\\{text[at:]}"
    shown = mask_code(text) if "`" in text else text
    has_brackets = any(sign in text for sign in "[]()")
    out: list[str] = []
    for i, char in enumerate(text):
        if i == at or (shown[i] == char and _means_more(text, i, has_brackets, struck)):
            out.append("\\")
        out.append(char)
    return "".join(out)


def _means_more(text: str, i: int, has_brackets: bool, struck: bool) -> bool:
    char = text[i]
    if char == "\\":
        return i + 1 == len(text) or text[i + 1] in _PUNCTUATION
    if char == ":":  # a field needs brackets around it; `std::vector` is left alone without them
        return has_brackets and text[i - 1 : i] == ":"
    if char in "$%":
        return text[i - 1 : i] == char
    if char == "!":
        return text[i - 1 : i] == "<" and text[i + 1 : i + 3] == "--"
    return char == "~" and struck


def unescape(raw: str, shown: str) -> str:
    """What a reader sees. `shown` is `raw` with the inside of code spans blanked out."""
    if "\\" not in raw:
        return raw
    out: list[str] = []
    i, count = 0, len(raw)
    while i < count:
        if raw[i] == "\\" and shown[i] == "\\" and i + 1 < count and raw[i + 1] in _PUNCTUATION:
            i += 1
        out.append(raw[i])
        i += 1
    return "".join(out)
