"""Explicit requests to remember something: "remember that ...", "merk dir, dass ...", "..., 覚えておいて".

Pure. The words of each language are in `request_words`; here they become patterns. A text is one sentence
with quotes blanked out, unless stated otherwise. Only clear requests count: not questions ("do you remember
...?"), tasks ("remember to ..."), things ("remember that function"), or what means something unnamed.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.context.topic.request_words import ENGLISH, LANGUAGES, RequestWords

_LONGEST = 400  # characters of a prompt that is nothing but a request
_FEWEST_WORDS = 2
_FEWEST_CHARACTERS = 4  # where words are not parted by spaces
_ENDS = " .!?。！？~…吗嗎"  # and the Chinese word for a question mark
_SEPARATOR = r"[,;:.!–—，；：。！、-]+\s*"
# A prompt that goes on: another sentence ("Dr." ends none), or an order.
_GOES_ON = re.compile(
    r"(?<!\b[^\W\d_])(?<!\b[^\W\d_]{2})\.\s+\S|[!?]\s+\S|[。！？]\s*\S|\n\s*\S"
    r"|\b(?:and|then) (?:please )?(?:suggest|recommend|tell|show|give|write|make|find|help|plan|create|fix"
    r"|add|update|list|explain|check|run|use|draft|book|send|answer)\b",
    re.IGNORECASE,
)
# "..., ok?": a nod is asked for, no answer.
_NOD = re.compile(
    r"[,，、]\s*(?:ok(?:ay)?|ja|gut|d'accord|vale|tá(?: bom)?|va bene|goed|dobrze|хорошо|ладно|добре"
    r"|好吗|好嗎|可以吗|tamam mı|알았지)[?？]*$",
    re.IGNORECASE,
)


class Request(NamedTuple):
    """A request, and where in the sentence stands what it is about."""

    words: RequestWords
    start: int
    stop: int
    comes_after: bool = False  # "..., remember it"
    to_agent: bool = False  # it speaks of "you"
    is_clause: bool = False  # joined by "that": the words may stand in the order of a clause


_Kind: TypeAlias = Literal["before", "after", "ending", "it", "forget", "forget_after"]


def find_request(sentence: str) -> Request | None:
    """Return the request to remember what the same sentence says, if it is one."""
    text = sentence.replace("’", "'")
    nod = _NOD.search(text)
    text = text[: nod.start()] if nod else text.rstrip()
    for words in _spoken_in(text):
        request = _request_before(text, words) or _request_after(text, words)
        about = text[request.start : request.stop] if request is not None else ""
        if request is not None and stands_alone(about, words):
            return request._replace(to_agent=addresses_agent(about, words))
    return None


def asks_to_remember_it(sentence: str) -> RequestWords | None:
    """ "Please remember that." and no more: the language of a request for what another sentence says."""
    text = sentence.replace("’", "'").strip()
    return next((words for words in _spoken_in(text) if _pattern(words, "it").fullmatch(text)), None)


def asks_to_forget_it(sentence: str) -> bool:
    """Is it, or does it end in, a request to forget what was said? "..., vergiss das wieder"."""
    text = sentence.replace("’", "'").strip()
    return any(
        _pattern(words, "forget").fullmatch(text) or _pattern(words, "forget_after").search(text)
        for words in _spoken_in(text)
    )


def is_only_request(prompt: str) -> bool:
    """Is a whole prompt one request to remember something, which asks for nothing else?"""
    text = prompt.replace("’", "'").strip()
    if len(text) > _LONGEST:
        return False
    request = find_request(text)
    if request is None:
        return False
    if request.comes_after:  # "fix the bug, and remember it" asks for more
        about_self = re.match(request.words.own, text, re.IGNORECASE) is not None
        return about_self and _GOES_ON.search(text[: request.stop]) is None
    return _GOES_ON.search(text) is None


def stands_alone(text: str, words: RequestWords) -> bool:
    """Can it be understood without the conversation? The rules judge English themselves."""
    if words is ENGLISH:
        return True
    if re.match(words.points, text, re.IGNORECASE):
        return False
    if not words.spaced:
        return len(re.findall(r"\w", text)) >= _FEWEST_CHARACTERS
    return len(re.findall(r"\w+", text)) >= _FEWEST_WORDS


def addresses_agent(text: str, words: RequestWords) -> bool:
    """Does it speak of "you"? Then it is a wish, or advice that was copied from a manual."""
    return re.search(words.you, text, re.IGNORECASE) is not None


def reorder_clause(clause: str, words: RequestWords) -> tuple[slice, slice, slice] | None:
    """Return subject, verb and the rest of a clause whose verb comes last ("ich vegan bin").

    None when they can't be told apart for sure.
    """
    found = re.fullmatch(words.verb_last, clause)
    if found is None:
        return None
    named = (name for name, part in found.groupdict().items() if part is not None)
    spans = {name.rstrip("234"): slice(*found.span(name)) for name in named}
    return spans["subject"], spans["verb"], spans["middle"]


@lru_cache(maxsize=64)  # one sentence is looked at several times
def _spoken_in(text: str) -> tuple[RequestWords, ...]:
    """The languages whose words occur."""
    low = text.casefold()
    return tuple(words for words in LANGUAGES if any(stem in low for stem in words.stems))


def _request_before(text: str, words: RequestWords) -> Request | None:
    found = _pattern(words, "before").match(text)
    if found is None or (text.endswith(("?", "？")) and not found["asks"]):
        return None
    start = found.start("rest")
    stop = _without_courtesy(text, words)
    return Request(words, start, stop, is_clause=bool(found["that"] or found["that2"]))


def _request_after(text: str, words: RequestWords) -> Request | None:
    found = _pattern(words, "ending").fullmatch(text.rstrip(".!。！~ "))
    if found is None:
        found = _pattern(words, "after").search(text)
        return Request(words, 0, found.start(), comes_after=True) if found else None
    start, stop = found.span("rest") if "rest" in found.re.groupindex else found.span()
    return Request(words, start, stop)


def _without_courtesy(text: str, words: RequestWords) -> int:
    """Where the text ends without ", please" and the marks of its end."""
    bare = text.rstrip(_ENDS)
    polite = _courtesy(words.spaced).search(bare)
    return polite.start() if polite else len(bare)


@cache
def _courtesy(spaced: bool) -> re.Pattern[str]:
    """Of all languages, since some share their requests ("anote que")."""
    rows = [words for words in LANGUAGES if words.spaced == spaced]
    return re.compile(rf"{_gap(rows[0])}(?:{'|'.join(words.polite for words in rows)})$", re.IGNORECASE)


@cache
def _pattern(words: RequestWords, kind: _Kind) -> re.Pattern[str]:
    """Join the pieces of a row. Each pattern is compiled at first need: it takes milliseconds."""
    lead = rf"[¿¡]?(?:(?:{words.lead})(?:[,:!.…，、！–-]+\s*|\s+|(?<=[^\x00-\u02ff])))*[¿¡]?"
    it = rf"(?:{_phrase(words, words.it)}[.!。！~]*|{_phrase(words, words.asks_it)}[?？.]*)"
    forget = rf"{_phrase(words, words.forget)}[.!。！~]*"
    pattern = {
        "before": lead + _before(words),
        "after": rf"{_SEPARATOR}{it}$",
        "ending": rf"{lead}(?:{words.ending})",
        "it": it,
        "forget": forget,
        "forget_after": rf"{_SEPARATOR}{forget}$",
    }[kind]
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def _before(words: RequestWords) -> str:
    """The request, what joins it, and `rest`: what it is about."""
    joint = r"(?:\s*,\s*|\s+)" if words.spaced else r"\s*"
    colon = rf"(?:{_gap(words)}(?:{words.this}))?\s*[:：]\s*"
    own = rf"\s*[,，、–—-]?\s*(?={words.own})"
    return (
        rf"(?:{_phrase(words, words.note)}"
        rf"(?:{joint}(?P<that>{words.that})|{colon}(?={words.own}|{words.that}))"
        rf"|(?:{_phrase(words, words.remember)}|(?P<asks>{_phrase(words, words.asks)}))"
        rf"(?:{joint}(?P<that2>{words.that})|{colon}|{own}))\s*(?P<rest>\S.*)"
    )


def _phrase(words: RequestWords, piece: str) -> str:
    """A request with polite words and fillers before it, after it and at its spaces."""
    gap, extra = _gap(words), f"(?:{words.polite}|{words.filler})"
    return f"(?:{extra}{gap})*(?:{piece.replace(' ', rf'(?:,? {extra})*,? ')})(?:{gap}{extra})*"


def _gap(words: RequestWords) -> str:
    return ",? " if words.spaced else "[，,、]?"
