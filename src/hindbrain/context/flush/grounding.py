"""Was it said? A text that a model offers, held against the conversation it claims to be from.

Pure. A quote must be found; names, numbers, addresses and ids of the text must occur in what people and the
assistant said in their own words. What only a tool, a paste or a quote says is somebody else's word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from hindbrain.context.flush.sentences import own_words
from hindbrain.context.messages import Message
from hindbrain.memory.policy.own_output import strip_own_output

_SHORTEST_QUOTE = 10  # characters: fewer are found anywhere
_SHARED = 0.5  # of the telling words of a text must have been said near its quote
_NEAR = 2  # messages before the quote: "yes, do that" answers one of them
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
# Ids, paths, addresses and numbers: what nobody can paraphrase.
_EXACT = re.compile(r"\S*[@/\\_#]\S*|\S*\w[.:-]\w\S*|\S*\d\S*")
_DENIES = re.compile(
    r"\b(?:not|never|no|none|nobody|without|against|avoids?|dislikes?"
    r"|hates?|refuses?|stop|nicht|kein\w*|nie|pas|jamais|nunca)\b"
    r"|n['’]t\b|[不没别]",
    re.IGNORECASE,
)
_EDGES = "\"'“”‘’.,;:!?()[]{}<>`*"
# Words of a report about somebody, which need not have been said.
_TELLS_TEXT = """
    user users owner person they their them wants want wanted prefers prefer likes like uses use decided
    decision called named always never should must needs need asked said that this with from have has had been
    about into than instead rather over only when will would are was were not and the for his her its does
    doesn agreed chose remember preference fact action pattern contact issue lives works
"""
_TELLS = frozenset(_TELLS_TEXT.split())
_ASSISTANT_MAY_TELL = frozenset({"decision", "action", "pattern", "issue", "project"})


class Verdict(NamedTuple):
    action: Literal["keep", "hold", "drop"]
    reason: str = ""
    from_owner: bool = False  # the user said it, in their own words


class _Said(NamedTuple):
    role: str
    own: str  # in their own words, plain
    all: str  # with what they pasted or quoted, plain


class Ground:
    """What was said in a conversation, by whom, ready to be looked up."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._said = [
            _Said(message.role, _plain(_own(message)), _plain(message.text)) for message in messages
        ]
        self._everything = " ".join(f" {said.own} " for said in self._said)

    def judge(self, text: str, evidence: str, category: str) -> Verdict:
        """May `text` be kept on the strength of this quote?"""
        quote = _plain(evidence)
        if len(quote) < _SHORTEST_QUOTE and not _UNSPACED.search(evidence):
            return Verdict("drop", "it comes without a quote")
        places = [at for at, said in enumerate(self._said) if _holds(said.own, quote)]
        if not places:
            pasted = any(_holds(said.all, quote) for said in self._said)
            return Verdict("hold", "only pasted text or a tool says it") if pasted else _NOT_SAID
        if invented := self._invented(text):
            return Verdict("hold", f"this was not said: {', '.join(invented[:3])}")
        if self._share_said_near(text, places) < _SHARED:
            return Verdict("hold", "most of its words were not said there")
        if bool(_DENIES.search(text)) != bool(_DENIES.search(evidence)):
            return Verdict("hold", "it may turn what was said into its contrary")
        if not any(self._said[at].role == "user" for at in places):
            return self._by_assistant(quote, category)
        return Verdict("keep", from_owner=True)

    def _by_assistant(self, quote: str, category: str) -> Verdict:
        if any(said.role == "tool" and _holds(said.all, quote) for said in self._said):
            return Verdict("hold", "it repeats what a tool answered")
        if category not in _ASSISTANT_MAY_TELL:
            return Verdict("hold", "only the assistant says it")
        return Verdict("keep")

    def _invented(self, text: str) -> list[str]:
        """Numbers, names and addresses of the text that do not occur in the conversation."""
        bare = (word.strip(_EDGES).removesuffix("'s").removesuffix("’s") for word in text.split())
        telling = (word for word in bare if word and (_EXACT.fullmatch(word) or _is_name(word, text)))
        return list(dict.fromkeys(word for word in telling if not _holds(self._everything, _plain(word))))

    def _share_said_near(self, text: str, places: Iterable[int]) -> float:
        words = [word for word in _plain(text).split() if len(word) > 2 or _UNSPACED.match(word)]
        telling = [word for word in words if word not in _TELLS]
        if not telling:
            return 1.0
        near = {at for place in places for at in range(max(0, place - _NEAR), place + 1)}
        said = {word for at in near for word in self._said[at].own.split()}
        return sum(_was_said(word, said) for word in telling) / len(telling)


_NOT_SAID = Verdict("drop", "what it quotes was not said")


def _own(message: Message) -> str:
    """What counts as the sender's word: nothing of a tool's, and nothing that this memory said."""
    if message.role == "user":
        return own_words(message.text)
    return strip_own_output(message.text).text if message.role == "assistant" and not message.tool else ""


def _holds(text: str, quote: str) -> bool:
    return bool(quote) and f" {quote} " in f" {text} "


def _is_name(word: str, text: str) -> bool:
    """A capital where grammar asks for none; the first word of a text has one anyway."""
    first = text.lstrip(_EDGES).startswith(word)
    return word[0].isupper() and not first and word.casefold() not in _TELLS


def _was_said(word: str, said: Collection[str]) -> bool:
    """ "prefers" was said by who said "prefer"; short words must be equal."""
    return word in said or any(_alike(word, other) for other in said)


def _alike(word: str, said: str) -> bool:
    common = min(len(word), len(said))
    shared = next((at for at in range(common) if word[at] != said[at]), common)
    return shared >= 4 and shared >= 0.6 * max(len(word), len(said))


def _plain(text: str) -> str:
    """Words in lower case with one space between them; letters of unspaced scripts stand alone."""
    return " ".join(_WORD.findall(_UNSPACED.sub(r" \1 ", text.casefold())))
