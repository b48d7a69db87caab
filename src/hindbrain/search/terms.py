"""Query text in, full-text terms out; and the segmentation that indexed text and query text share.

Pure. Knows nothing of SQLite, columns or ranking: it only promises that `match_expression` is an
expression which FTS5 accepts, whatever was typed.

Words end where FTS5's unicode61 ends them (letters, numbers and private-use characters are inside, the rest
separates), with one exception: combining marks stay inside a word. FTS5 itself splits there, and
reads the quoted word as a phrase, so a Hindi word is sought as one thing and not as loose consonants.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from hindbrain.base.segment import letters_of, segment, unsegmented_run

MAX_WORDS = 64
MAX_WORD_CHARS = 64
_MAX_STOP_WORDS = 4  # where a query has nothing else: each of them stands in half of all passages
_MAX_PHRASES = 16
_MAX_PHRASE_WORDS = 32

_ASCII_WORD = re.compile(r"[0-9A-Za-z]+")
_ENGLISH = """
    a about after again all also am an and any are as at be because been before being between both but by can
    could did do does doing done during each else ever few for from further had has have having
    he her here hers herself him himself his how i if in into is it its itself just let many me might
    mine more most much must my myself no nor not now of off on once one only onto or other ought our ours
    ourselves out over own please same shall she should so some such than that the their theirs them
    themselves then there these they this those though through to too under until up upon us very via was we
    were what whatever when whenever where wherever whether which while who whoever whom whose why will with
    within without would yes yet you your yours yourself yourselves tell
    cannot im ive dont didnt doesnt isnt wasnt cant wont whats whos wheres hows
"""
STOP_WORDS = frozenset(_ENGLISH.split())
_APOSTROPHES = dict.fromkeys(map(ord, "’‘‛´＇"), "'")


class QueryTerms(NamedTuple):
    """What to look for. All three are lower case, without duplicates, in the order of the query."""

    words: tuple[
        str, ...
    ]  # at most MAX_WORDS; one of MAX_WORD_CHARS characters may be the start of a longer one
    phrases: tuple[str, ...]  # quoted by the asker; the words of each are separated by one space
    dropped: tuple[str, ...]  # words of the query that are not looked for: stop words, and what was too much


def understand_terms(text: str) -> QueryTerms:
    """Return the words and phrases worth looking for; stop words only when there is nothing else."""
    text = plain_apostrophes(unicodedata.normalize("NFC", text))
    everything = _distinct(_split(text))
    meaningful = _distinct(_split(without_contractions(text)), STOP_WORDS - _names(text))
    words = _cut(meaningful) or _longest(everything, _MAX_STOP_WORDS)
    kept = set(words)
    return QueryTerms(
        words=words,
        phrases=_phrases(text),
        dropped=tuple(word for word in everything if word not in kept),
    )


def plain_apostrophes(text: str) -> str:
    """Return `text` with every kind of apostrophe as "'"."""
    return text if text.isascii() else text.translate(_APOSTROPHES)


def without_contractions(text: str) -> str:
    """Remove what an apostrophe ties to a word: "what's" is "what", "Anna's" is "Anna", "didn't" goes."""
    text = plain_apostrophes(text)
    return _contraction().sub(" ", text) if "'" in text else text


def match_expression(terms: QueryTerms) -> str:
    """Return an FTS5 MATCH expression that finds any of the terms; without terms, one that finds nothing."""
    known = set(terms.words)
    wanted = [*terms.words, *(phrase for phrase in terms.phrases if phrase not in known)]
    return " OR ".join(map(quoted, wanted)) or '""'


# These are compiled at first need: together they take 2 ms, which most queries do not spend.


@cache
def _quotation() -> re.Pattern[str]:
    # No opening mark inside a quotation: else each of many unclosed ones would be followed to the end.
    return re.compile(
        r"""
        "([^"]+)" | “([^“”]+)” | „([^„“”]+)[“”] | «([^«»]+)» | 「([^「」]+)」 | 『([^『』]+)』
        """,
        re.VERBOSE,
    )


@cache
def _contraction() -> re.Pattern[str]:
    # "didn't" goes as a whole, since "didn" alone is no stop word; of "John's" only the "'s" goes.
    # Of "l'avenir", "d'Anna" and "qu'il" only the elided word goes.
    return re.compile(
        r"\b(?:ai|are|ca|could|did|do|does|had|has|have|is|must|need|should|was|were|wo|would)n't\b"
        r"|(?<=\w)'(?:s|t|d|m|ll|re|ve)\b"
        r"|\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'(?=\w)",
        re.IGNORECASE,
    )


@cache
def _name_like() -> re.Pattern[str]:
    # Not capitals in general: people also type AND, OR, NOT.
    return re.compile(r"\b(?:IT|US|WHO)\b(?!')|(?<=[a-z,] )Will\b")


def quoted(term: str) -> str:
    """Return one term as FTS5 takes it."""
    last_word = term[term.rfind(" ") + 1 :]
    is_start = len(last_word) >= MAX_WORD_CHARS or (len(last_word) == 1 and _is_unsegmented(last_word))
    return '"' + term.replace('"', '""') + ('"*' if is_start else '"')


def holds_phrase(text: str, phrase: str) -> bool:
    """Do the words of a phrase of `understand_terms` stand in the text, one after the other, as written?"""
    words = _unaccented(f" {' '.join(_split(segment(plain_apostrophes(text))))} ")
    end = "" if quoted(phrase).endswith("*") else " "
    return _unaccented(f" {phrase}{end}") in words


def _unaccented(text: str) -> str:
    """Without the marks that the full-text index ignores, too."""
    if text.isascii():
        return text
    return "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")


def _is_unsegmented(char: str) -> bool:
    return not char.isascii() and unsegmented_run().match(char) is not None


def _pairs(match: re.Match[str]) -> str:
    # The last character alone would find every passage that has it: only a lone one is sought.
    run = letters_of(match[0])
    return f" {' '.join([run[i : i + 2] for i in range(max(1, len(run) - 1))])} "


def _split(text: str) -> list[str]:
    """Return the lower-case words of a query, unsegmented runs as pairs."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    inside = "".join(
        [char if _is_inside_word(char) else " " for char in unsegmented_run().sub(_pairs, text).lower()]
    )
    return [word for word in inside.split() if any(map(_begins_word, word))]


def _begins_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) == "Co"


def _is_inside_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in {"Co", "Mn", "Mc", "Me"}


def _names(text: str) -> frozenset[str]:
    """Return the words that capitals show to be names although they look like stop words."""
    if text.isupper() or not any(name in text for name in ("IT", "US", "WHO", "Will")):
        return frozenset()
    return frozenset(map(str.lower, _name_like().findall(text)))


def _distinct(words: Iterable[str], without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word[:MAX_WORD_CHARS] for word in words if word not in without))


def _longest(words: tuple[str, ...], most: int) -> tuple[str, ...]:
    """The longest of them, in their order."""
    chosen = set(sorted(words, key=len, reverse=True)[:most])
    return tuple(word for word in words if word in chosen)


def _cut(words: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the first half of the places for the first words, the others for the longest of the rest."""
    if len(words) <= MAX_WORDS:
        return words
    first, rest = words[: MAX_WORDS // 2], words[MAX_WORDS // 2 :]
    return first + _longest(rest, MAX_WORDS - len(first))


def _phrases(text: str) -> tuple[str, ...]:
    if not any(mark in text for mark in '"“„«「『'):
        return ()
    found = dict.fromkeys(
        _phrase("".join(filter(None, match.groups()))) for match in _quotation().finditer(text)
    )
    found.pop("", None)
    return tuple(found)[:_MAX_PHRASES]


def _phrase(text: str) -> str:
    """Return the tokens of a quoted text as they lie in the index, one after the other."""
    # Splitting again leaves pairs and single characters as they are, so both kinds of text take one way.
    return " ".join(_split(segment(text))[:_MAX_PHRASE_WORDS])
