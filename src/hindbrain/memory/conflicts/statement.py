"""What a short statement says, as far as it can be told without a model: words, numbers, names, turns.

Two statements are compared by these values, never by their raw text. English is read in some depth; scripts
without spaces go character by character, which only ever makes two statements look less alike. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from hindbrain.base.segment import unsegmented_run
from hindbrain.memory.conflicts.german import in_english
from hindbrain.memory.conflicts.wording import (
    DENIALS,
    GENERIC,
    IRREGULAR,
    KIN,
    LIGHT,
    MONTHS,
    NEGATIONS,
    NUMBER_WORDS,
    SYNONYMS,
    TITLE_WORDS,
    TURNS,
    WEEKDAYS,
    word_set,
)

MAX_CHARS = 600  # a longer text is no atomic memory: only its beginning is read
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ISO_DATE = re.compile(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+({_MONTH})\b\.?(?:,?\s+((?:19|20)\d\d))?", re.I
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+((?:19|20)\d\d))?", re.I
)
_LONE_MONTH = re.compile(
    rf"\b((?:in|since|until|by|last|next|of|from|early|late|mid)[\s-]+)({_MONTH})\b(?:,?\s+((?:19|20)\d\d))?",
    re.I,
)
_TOKEN = re.compile(
    r"@[dmy]\d+"  # a part of a date, as `_with_dates` leaves it
    # A size, score, version, address or telephone number is one number: the order of its parts matters.
    r"|(?:(?<![\w.-])-)?[$€£¥]?\d+(?:(?:[.,:/–-]|\s?[xX]\s?)\d+)*(?:[ap]m\b|k\b|%)?"
    r"|[^\W\d_]+(?:['’][^\W\d_]+)*(?:\+\+|#)?"  # C++ and C# are no C
)
_THOUSANDS = re.compile(r"[-$€£¥]*\d{1,3}(?:,\d{3})+(?!\d)")
_TIMES_SIGN = re.compile(r"\s?x\s?")
_SHORT_UNITS = frozenset("dms")  # "10 m": elsewhere these letters are what contractions leave
_NE_PLUS = r"\bn(?:e\s+|['’])(?!\w+\s+pas\b)((?:[^\W\d_]+['’\s]\s*){1,2}?)plus\b(?!\s+qu)"
_ENDED = re.compile(r"\b(?:no|not) (?:longer|more|anymore)\b|\bya no\b", re.I)
_ANY_MORE = re.compile(r"\b(?:any\s?more|any longer)\b", re.I)  # beside a "not" elsewhere, mostly
_ENDED_IN_FRENCH = re.compile(_NE_PLUS, re.I)
NO_LONGER = re.compile("|".join((_ENDED.pattern, _ANY_MORE.pattern, _NE_PLUS)), re.I)
_A_WHILE = re.compile(r"\b(for|in|takes|spends|about) an? (second|minute|hour|day|week|month|year)\b", re.I)
_A_FEW = re.compile(r"\ba few\b", re.I)
_USED_TO = re.compile(r"\bused to (?!it\b|the\b|this\b|that\b)", re.I)
HOW_OFTEN = re.compile(
    r"\b(?:every|each)\s+(?:other\s+|few\s+|\w+\s+)?(?:day|week|month|year|hour|morning|evening|night|weekend)s?\b"
    r"|\b(?:once|twice|thrice|\w+ times)(?: or (?:once|twice|\w+ times))?\s+(?:a|an|per|each|every)\s+"
    r"(?:day|week|month|year|hour)\b"
    r"|\b(?:daily|weekly|monthly|yearly|hourly|annually|biweekly|fortnightly)\b",
    re.I,
)
_PAST = frozenset(form for form in IRREGULAR if not form.endswith(("s", "n", "ren"))) | {"got", "had"}
# They end like a past and tell how things are.
_NOT_PAST = word_set("""
    need speed indeed feed seed hundred based interested tired married used united approved scheduled located
    employed promoted named called averaged enrolled engaged retired subscribed moved relocated allowed
    decided
    """)
_MARKS = frozenset("/\\_@#+=<>*~^|&{}[]")
_DOTTED = re.compile(r"[^\W\d_]\.\w|(?:^|\d)\.[^\W\d_]")  # names of files and hosts
_PUNCTUATION = ".,;:!?()\"'“”‘’、。，；：！？（）"
_AUXILIARY = word_set("has have had been is are be being get gets having 've")


class Statement(NamedTuple):
    """One text, read."""

    text: str  # as it was written; German with its grammar in English words
    words: tuple[str, ...]  # stems of what carries meaning, in order; numbers and dates among them
    numbers: frozenset[str]  # "3", "27:12", "$5"; of dates "@d7", "@m5", "@y2023"; weekdays "@wmonday"
    values: tuple[tuple[str, str], ...]  # numbers that are no dates, in order, each with the word behind it
    names: frozenset[str]  # folded words with a capital where grammar asks for none
    marks: frozenset[str]  # chunks with signs in them, as written: "/etc/x", "user_id", "->"
    turns: frozenset[str]  # what turns the meaning: "not", "only", "than", "plan", "past"
    kin: frozenset[str]  # "sister", "boss": whose matter it is
    lead: str  # the first word that carries meaning; whose matter it is, in "Anna likes jazz"
    tokens: tuple[str, ...]  # all words as written, folded, stop words too

    @property
    def dates(self) -> list[str]:
        """The parts of dates, and weekdays, in order."""
        return [word for word in self.words if word[0] == "@"]

    @property
    def times(self) -> frozenset[str]:
        return frozenset(number for number in self.numbers if number.startswith("@"))


def read_statement(text: str) -> Statement:
    """Return what `text` says."""
    # Memories are compared again and again; a page of text is not worth keeping.
    return _read_once(text) if len(text) <= MAX_CHARS else _read(text)


def _read(text: str) -> Statement:
    text = in_english(text) if len(text) <= MAX_CHARS else text
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARS]).replace("’", "'").replace("×", "x")
    marked, phrases = _with_turns(_with_dates(plain))
    words: list[str] = []
    names: set[str] = set()
    tokens: list[str] = []
    turns = list(phrases - {"any more"})
    for token, begins in _tokens(marked):
        folded = token.casefold().removesuffix("'s")
        tokens.append(folded)
        is_name = not begins and _is_name(token, folded)
        if is_name:
            names.add(folded)
        elif (turn := _turn_of(folded)) is not None:
            turns.append(turn)
            folded = DENIALS.get(folded, "")
        word = (folded and word_of(folded)) or (token if is_name else "")
        if folded in _SHORT_UNITS and words and words[-1] and is_number(words[-1]):
            word = folded
        words.append(word)
    if "any more" in phrases and "not" not in turns:
        turns.append("not")
    values = _values(words)
    words = [word for word in words if word]
    content = [word for word in words if not is_number(word)]
    return Statement(
        text=text,
        words=tuple(words),
        numbers=frozenset(filter(is_number, words)),
        values=values,
        names=frozenset(names),
        marks=_marks(plain),
        turns=_counted(turns),
        kin=_KIN.intersection(words),
        lead=content[0] if content else "",
        tokens=tuple(tokens),
    )


_read_once = lru_cache(maxsize=4096)(_read)


def _values(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`words`: of each token, "" for one that carries no meaning. "two hundred" and "555 0101" are one."""
    found: list[tuple[str, str]] = []
    run: list[str] = []
    for at, word in enumerate((*words, "")):
        if word and is_number(word) and word[0] != "@":
            run.append(word)
        elif run:
            found.append((" ".join(run), next(filter(None, words[at:]), "")))
            run = []
    return tuple(found)


def _is_name(token: str, folded: str) -> bool:
    """Has it a capital where grammar asks for none? Of "task A" and "works in IT" that is all that tells."""
    return (
        token != token.lower()
        and token[0].isalpha()
        and (folded not in TITLE_WORDS or (token.isupper() and token != "I"))
        and folded not in GENERIC
    )


def _marks(text: str) -> frozenset[str]:
    """Paths, identifiers, operators, emoji: what the words alone do not tell apart."""
    chunks = (chunk.rstrip(_PUNCTUATION).lstrip(_PUNCTUATION.replace(".", "")) for chunk in text.split())
    return frozenset(chunk for chunk in chunks if any(map(_is_mark, chunk)) or _DOTTED.search(chunk))


def _is_mark(char: str) -> bool:
    return char in _MARKS if char.isascii() else unicodedata.category(char)[0] == "S"


def _counted(turns: list[str]) -> frozenset[str]:
    """Two denials are none, but no plain word either."""
    found = frozenset(turns)
    return found - {"not"} | {"not not"} if turns.count("not") > 1 else found


def word_of(folded: str) -> str:
    """The form under which a folded word is compared; "" when it carries no meaning of its own."""
    if folded in WEEKDAYS:
        return WEEKDAYS[folded]
    if folded in NUMBER_WORDS:
        return NUMBER_WORDS[folded]
    if is_number(folded):
        return _number(folded)
    if folded in LIGHT or folded in GENERIC:
        return ""
    base = stem(IRREGULAR.get(folded, folded))
    return _synonyms().get(base, base)


def is_number(word: str) -> bool:
    """Is this word of a statement a number, or part of a date?"""
    return word[0] in "@$€£¥-" or word[0].isdigit()


def stem(word: str) -> str:
    """Cut the endings that grammar adds; two forms of a word give one stem, seldom two words."""
    if len(word) <= 3 or not word.isascii():
        return word
    for endings in (
        (("'", ""), ("ies", "y"), ("s", "")),
        (("ied", "y"), ("ing", ""), ("ed", ""), ("ly", "")),
    ):
        for ending, put in endings:
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
                word = word[: -len(ending)] + put
                break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def _tokens(text: str) -> list[tuple[str, bool]]:
    """The words in order, and whether each begins a sentence (where a capital says nothing)."""
    found: list[tuple[str, bool]] = []
    last = 0
    for match in _TOKEN.finditer(text):
        between = text[last : match.start()]
        begins = not found or any(mark in between for mark in ".!?:;\n")
        last = match.end()
        token = match[0]
        if _is_unsegmented(token):
            found += [(char, False) for char in token]
        else:
            found.append((token, begins))
    return found


def _with_dates(text: str) -> str:
    """Dates in any wording become "@d7 @m5 @y2023"; a lone year "@y2023"."""

    def iso(match: re.Match[str]) -> str:
        return _date(match[3], match[2], match[1])

    text = _ISO_DATE.sub(iso, text)
    text = _DAY_MONTH.sub(lambda m: _date(m[1], str(MONTHS[m[2].casefold()]), m[3]), text)
    text = _MONTH_DAY.sub(lambda m: _date(m[2], str(MONTHS[m[1].casefold()]), m[3]), text)
    text = _LONE_MONTH.sub(lambda m: m[1] + _date(None, str(MONTHS[m[2].casefold()]), m[3]), text)
    text = re.sub(r"(\d)\s+([ap])\.?m\b", r"\1\2m", text, flags=re.I)
    return re.sub(r"(?<![\d$€£@.,:/-])\b((?:19|20)\d\d)\b(?![\d:/%x]|[.,–-]\d)", r"@y\1", text)


def _date(day: str | None, month: str, year: str | None) -> str:
    parts = (("d", day), ("m", month), ("y", year))
    return " ".join(f"@{kind}{int(value)}" for kind, value in parts if value)


def _with_turns(text: str) -> tuple[str, set[str]]:
    turns: set[str] = set()
    if NO_LONGER.search(text):
        shorter = _ENDED_IN_FRENCH.sub(r"\1", _ENDED.sub(" ", text))
        turns |= {"not"} if shorter != text else {"any more"}
        text = _ANY_MORE.sub(" ", shorter)
    if _USED_TO.search(text):
        text, turns = _USED_TO.sub(" ", text), turns | {"past"}
    text = _A_FEW.sub("several", text)  # "few" alone says the contrary
    return _A_WHILE.sub(r"\1 1 \2", text), turns


def _turn_of(folded: str) -> str | None:
    if folded in NEGATIONS or folded in DENIALS or folded.endswith("n't"):
        return "not"
    return TURNS.get(folded)


def _number(folded: str) -> str:
    bare = folded.replace(",", "") if _THOUSANDS.match(folded) else folded
    bare = _TIMES_SIGN.sub("x", bare)
    for ending in ("am", "pm"):
        if bare.endswith(ending):
            return bare.removesuffix(ending).removesuffix(":00") + ending
    return bare


def _is_unsegmented(token: str) -> bool:
    return not token.isascii() and unsegmented_run().match(token) is not None


@cache
def _synonyms() -> dict[str, str]:
    groups = (list(map(stem, line.split())) for line in SYNONYMS.strip().splitlines())
    return {word: group[0] for group in groups for word in group[1:]}


def words_of(names: Iterable[str]) -> frozenset[str]:
    """A list of plain words in the form in which statements have them."""
    return frozenset(map(word_of, names))


def is_event(statement: Statement) -> bool:
    """Does it tell what happened, rather than how things are? What happened stays true."""
    tokens = statement.tokens
    for at, token in enumerate(tokens):
        if token in ("was", "were", "did", "ago", "yesterday"):
            return True
        is_past = token in _PAST or (token.endswith("ed") and len(token) > 4 and token not in _NOT_PAST)
        if is_past and not _AUXILIARY.intersection(tokens[max(0, at - 3) : at]):
            return True
    return False


def how_often(statement: Statement) -> frozenset[str]:
    """ "every two weeks", "once a day": the words of it; empty when it is not said."""
    found = HOW_OFTEN.search(statement.text)
    return frozenset(read_statement(found[0]).words) if found else frozenset()


def spelled(statement: Statement, words: Collection[str]) -> str:
    """These words of a statement as they were written, in order, quoted."""
    wanted = [token for token in statement.tokens if word_of(token) in words or token.upper() in words]
    return repr(" ".join(map(_legible, dict.fromkeys(wanted))))


def _legible(token: str) -> str:
    if token.startswith("@m"):
        return next(name for name, at in MONTHS.items() if at == int(token[2:]))
    return token[2:] if token[0] == "@" else token


_KIN = words_of(KIN)
