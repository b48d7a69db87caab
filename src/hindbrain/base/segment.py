"""Scripts that are written without spaces, made fit for a full-text index that splits at spaces.

Shared by what is indexed and what is asked, since both must be cut alike. Pure.
"""

import re
import unicodedata
from functools import cache

# Scripts written without spaces (and Hangul, whose spaces hold more than one word): Han, Hiragana, Katakana,
# Bopomofo, Hangul, Thai, Lao, Khmer, Myanmar. Their punctuation and symbols are left out: they separate.
_UNSEGMENTED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9"  # Khmer
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uffa0-\uffdc"  # Hangul
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f"  # Hiragana, and the Han signs 々 〆 〇
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Katakana
    "\u3105-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)


def segment(text: str) -> str:
    """Return `text` with each run of an unsegmented script as overlapping pairs, then its last character.

    `東京都` becomes ` 東京 京都 都 `, so unicode61 sees tokens, and every character begins one of them: a
    query of one character is a prefix query. Text without such scripts is returned as the same object.
    """
    # isascii() reads a flag of the string; the search is what the rest of a vault in a Latin script pays.
    if text.isascii() or unsegmented_run().search(text) is None:
        return text
    return unsegmented_run().sub(_pairs_and_last, text)


def searchable(text: str) -> str:
    """Return `text` as the full-text index takes it: one normal form, valid UTF-8, no NUL, segmented."""
    if text.isascii():
        return text.replace("\0", " ") if "\0" in text else text
    text = unicodedata.normalize("NFC", text).replace("\0", " ")
    return segment(text.encode("utf-8", "replace").decode("utf-8"))


@cache
def unsegmented_run() -> re.Pattern[str]:
    # Compiled at first need: 2 ms, which a cold search with an ASCII query does not spend.
    return re.compile(f"[{_UNSEGMENTED}]+")


def letters_of(run: str) -> str:
    """Return the run in one normal form, without marks: unicode61 ends a token at each Thai vowel sign."""
    run = unicodedata.normalize("NFKC", run)
    return run if run.isalnum() else "".join(filter(str.isalnum, run))


def _pairs_and_last(match: re.Match[str]) -> str:
    run = letters_of(match[0])
    return f" {' '.join([run[i : i + 2] for i in range(len(run))])} "
