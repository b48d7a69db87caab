"""First person becomes third: "I prefer tabs" is stored as "User prefers tabs", so that "I" has a name.

Pure. English only; other languages are quoted as they were said.
"""

from __future__ import annotations

import re

_SHORT = {"'m": " am", "'ve": " have", "'d": " would", "'ll": " will"}
_CONTRACTED = re.compile(r"\bI(['’](?:m|ve|d|ll))\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\bI\b(?P<between>(?: (?:\w+ly|also|always|never|often|still|just"
    r"|only|now|currently))*) (?P<verb>[A-Za-z]+(?:['’]t)?)"
)
_QUOTE = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`")
_OTHERS = (
    (re.compile(r"\bI am\b"), "they are"),
    (re.compile(r"\bI was\b"), "they were"),
    (re.compile(r"\bI\b"), "they"),
    (re.compile(r"\bmy\b", re.IGNORECASE), "their"),
    (re.compile(r"\bme\b", re.IGNORECASE), "them"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
)
_IRREGULAR = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "go": "goes",
    "was": "was",
    "need": "needs",
    "feed": "feeds",
    "breed": "breeds",
    "speed": "speeds",
}
# They have no -s: modal verbs, and pasts that are spelled like no other.
_UNCHANGED_TEXT = """
    can can't cannot could couldn't will won't would wouldn't should shouldn't must mustn't might may had did
    didn't wasn't went got made chose took bought met began grew came became found felt thought taught spoke
    wrote ran left kept built spent sold told gave sent lost won drove rode knew saw has is does ate
    never always also
"""
_UNCHANGED = frozenset(_UNCHANGED_TEXT.split())


def about_user(text: str) -> str:
    """The sentence in the third person; as it is when there is no first"
    " person in it. Quotes stay as they are."""
    quotes: list[str] = []

    def lay_aside(match: re.Match[str]) -> str:
        quotes.append(match[0])
        return f"\x00{len(quotes) - 1}\x00"

    text = _turned(_QUOTE.sub(lay_aside, text.replace("\x00", "")))
    return re.sub(r"\x00(\d+)\x00", lambda match: quotes[int(match[1])], text)


def _turned(text: str) -> str:
    text = _CONTRACTED.sub(lambda match: "I" + _SHORT[match[1].lower().replace("’", "'")], text)
    text = re.sub(r"^i (?=\w)", "I ", text)
    text = re.sub(r"^My\b", "User's", text, flags=re.IGNORECASE)
    text = _SUBJECT.sub(_with_subject, text, count=1)
    if "User" not in text and "the user" not in text:
        text = re.sub(
            r"\b(my|me)\b", lambda match: "the user's" if match[1] == "my" else "the user", text, count=1
        )
    for pattern, word in _OTHERS:
        text = pattern.sub(word, text)
    return text


def _with_subject(match: re.Match[str]) -> str:
    subject = "User" if match.start() == 0 else "the user"
    return f"{subject}{match['between']} {third_person(match['verb'])}"


def third_person(verb: str) -> str:
    """ "prefer" is "prefers"; what is past or modal stays."""
    low = verb.lower().replace("’", "'")
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low in _UNCHANGED or low.endswith("ed"):
        return verb
    if low.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
