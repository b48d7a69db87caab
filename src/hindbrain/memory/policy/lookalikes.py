"""Letters that pass for Latin ones: what a name or a sentence reads like to whoever looks at it.

Pure. For comparing only; nothing that was folded here is ever stored.
"""

from __future__ import annotations

import unicodedata

# Cyrillic, Greek, Armenian and Cherokee letters, in both cases, that most fonts draw as the Latin letter.
_ALIKE = {
    "a": "аαᎪ", "b": "вβƅьᏴ", "c": "сϲⅽᏟ", "d": "ԁⅾᎠ", "e": "еεҽᎬ", "f": "ғϝ", "g": "ɡցԍᏀ", "h": "һнηᎻ",
    "i": "іιıɩӏ", "j": "јϳᎫ", "k": "кκᏦ", "l": "ⅼᏞ", "m": "мμⅿᎷ", "n": "пνո", "o": "оοօσ", "p": "рρᏢ",
    "q": "ԛգ", "r": "гᎡ", "s": "ѕꜱᏚ", "t": "тτᎢ", "u": "υսц", "v": "ѵⅴᏙ", "w": "ԝωшᎳ", "x": "хχⅹ", "y": "уүγ",
    "z": "ᴢζᏃ",
}  # fmt: skip
_TO_LATIN = {
    ord(form): latin
    for latin, letters in _ALIKE.items()
    for letter in letters
    for form in {letter, letter.lower(), letter.casefold(), letter.upper()}
    if len(form) == 1
}


def fold_lookalikes(text: str) -> str:
    """`text` in lower case as a quick reader would take it: no accents, no odd widths, no foreign twins."""
    if text.isascii():
        return text.lower()
    # Before the case is folded: an upper-case Greek nu looks like N, its lower case like v.
    plain = unicodedata.normalize("NFKC", text).translate(_UPPER_TWINS)
    parted = unicodedata.normalize("NFKD", plain.casefold())
    if parted.isascii():  # only a dash or "…" was odd
        return parted.translate(_NO_CONTROLS)
    bare = "".join(char for char in parted if unicodedata.category(char) not in _UNSEEN)
    return bare.translate(_TO_LATIN)


_NO_CONTROLS = dict.fromkeys([*range(32), 127])
_UNSEEN = frozenset({"Mn", "Me", "Cf", "Cc"})
_UPPER_TWINS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹАВЕЅІЈКМНОРСТУХҮԌԚԜ", "ABEZHIKMNOPTYXCABESIJKMHOPCTYXYGQW")
