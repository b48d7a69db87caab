"""What a prompt asks for, without a model: the text to search with, its names, and what it leaves unsaid.

A prompt that speaks for itself is searched as it is. One that only points ("and the second one?", "fix that")
borrows words from the last messages: those that the conversation keeps coming back to. Borrowing costs
precision, so it needs a reason; `python -m benchmarks.drift` measures both.

Pure. Knows nothing of indexes, notes or sessions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from hindbrain.context.messages import Message
from hindbrain.context.topic.entities import find_apps, find_entities
from hindbrain.context.topic.pasted import digest
from hindbrain.context.topic.remember_requests import is_only_request
from hindbrain.context.topic.said import called_skill, what_was_said
from hindbrain.search.day_forms import in_english
from hindbrain.search.day_questions import asks_about_days, asks_what_is_open
from hindbrain.search.generic_prompts import generic_prompts
from hindbrain.search.telling import Telling, stem, telling_words
from hindbrain.search.terms import understand_terms

FOLLOW_UP = 0.5  # of focus: below it a prompt borrows
_MESSAGES = 5  # that momentum looks back
_DECAY = 0.6  # with each newer message
_ROLE_WEIGHTS = {"user": 1.0, "assistant": 0.5, "tool": 0.2}
_BORROWED = (
    8,
    3,
    2,
    2,
)  # words, by how many telling ones the prompt has itself: wrong ones cost the most then
_KEPT = 12  # words of momentum that are told
_ENOUGH = 4  # telling words with which a prompt speaks for itself
_MESSAGE_CHARS = 2_000
_QUERY_CHARS = 1_500

# Words that point to something said before.
_POINTS = re.compile(
    r"\b(?:it|its|it's|that|this(?! (?:year|month|week|morning|evening|weekend|summer))|these|those|they|them"
    r"|their|he|him|his|she|her|hers|there|one|ones|same|such|former|latter"
    r"|above|previous|again|instead|too|also|other|another|else|both|either)\b"
    r"|^\s*(?:and|but|or|so|then|what about|how about|why not|which|continue|go on|go ahead|yes|no|ok)\b",
    re.IGNORECASE,
)
# What an agent's tools are called says nothing of the topic, unless the name has a domain in it.
_TOOL_VERBS = """
    mcp tool tools server bash shell exec command run read write edit multiedit multi apply patch file
    files grep glob ls cat find search fetch web webfetch websearch todo todowrite todoread task agent skill
    notebook notebookedit ask user exit plan mode kill output get set list create update delete call use
    plugin
"""
_PLAIN_TOOLS = frozenset(_TOOL_VERBS.split())
# Without a conversation before it, a prompt of these words alone ("and the other one?") asks for nothing.
_LEADS_NOWHERE = frozenset(
    """
    one ones two three first second third last next another other others same different thing things stuff
    more much again instead also too else go do it tell show give try keep continue proceed please yes no ok
    okay sure thanks thank hi hello hey fine good great nice right well done way back now
    """.split()  # noqa: SIM905  readable
)
# Greetings, thanks and praise ask for nothing, whatever was talked about; "ok" and "yes" may be an order.
_PLEASANT = frozenset(
    """
    hi hello hey howdy greetings morning afternoon evening night bye goodbye cheers thanks thank thx ty
    sorry great nice cool perfect awesome excellent wonderful brilliant lovely amazing fantastic lol haha wow
    """.split()  # noqa: SIM905  readable
)
_AROUND_PLEASANT = frozenset(
    """
    a all and again are bit day dear everybody everyone folks for friend good guys have help i i'll job just
    later lot lots man many me mate much my oh ok okay really see so soon still that that's the there this to
    too tomorrow very was well weekend work yes you your you're
    """.split()  # noqa: SIM905  readable
)
_GREETING_CHARS = 80  # the longest that is looked at
_NAMES_SOMETHING = re.compile(r"\d[\d.:-]*\d|\b[B-HJ-Z]\b")  # a number, a date; the language R
_TOOL_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Intent(NamedTuple):
    """What is asked for."""

    query: str  # for the search; "" when nothing was asked
    keywords: tuple[str, ...] = ()  # of the prompt, lower case, in its order
    entities: tuple[str, ...] = ()  # what it names, as it is written
    apps: tuple[str, ...] = ()  # known apps that it names
    tool: str = ""  # domain words of the tool or skill about to be used
    momentum: tuple[str, ...] = ()  # what the conversation is about, the most telling word first
    focus: float = 0.0  # 0..1: how much the prompt says by itself
    borrowed: tuple[str, ...] = ()  # words of `momentum` that are in the query
    asks_days: bool = False  # what a day or a week held: the notes of those days answer
    asks_open: bool = False  # which tasks are open


def understand_intent(
    prompt: str,
    recent: Sequence[Message] = (),
    *,
    tool: str = "",
    apps: Collection[str] | Mapping[str, str] = (),
) -> Intent:
    """`recent`: the messages before the prompt, oldest first. `apps`: known names, or alias to name.

    `tool`: the tool or skill about to be used; without it, the one that the prompt calls ("/deploy-site").
    """
    said = what_was_said(prompt)
    text = in_english(digest(said))
    only_tells = is_only_request(text)  # "remember that ...": it is captured, and asks for nothing
    asks_days = not only_tells and asks_about_days(text)
    asks_open = not only_tells and asks_what_is_open(text)
    entities = find_entities(text)
    words = telling_words(text)
    focus = _focus(text, words.said, entities)
    moved = momentum(recent)
    asks = bool(text) and not only_tells and not is_pleasantry(text)  # no words: nothing was asked
    general = asks_days or asks_open  # such a question has no subject to be filled in
    lent = _lent(moved, words) if asks and focus < FOLLOW_UP and not general else ()
    domain = "" if general else _domain(tool or called_skill(prompt))
    named = find_apps(said, apps)
    spoken = text.casefold()
    extra = (*lent, *(word for word in (*domain.split(), *named) if word.casefold() not in spoken))
    says_something = general or _says_something(text, words)
    asked = text[:_QUERY_CHARS] if extra or (asks and says_something) else ""
    return Intent(
        query=" ".join(filter(None, (asked, *extra))),
        keywords=tuple(words.shown[root] for root, weight in words.weights.items() if weight == 1.0),
        entities=entities,
        apps=named,
        tool=domain,
        momentum=moved[:_KEPT],
        focus=focus,
        borrowed=lent,
        asks_days=asks_days,
        asks_open=asks_open,
    )


def momentum(recent: Sequence[Message]) -> tuple[str, ...]:
    """The words that the last messages are about, best first; newer messages and the user's count more."""
    scores: dict[str, float] = {}
    shown: dict[str, str] = {}
    weight = 1.0
    for message in _last(recent):
        text = what_was_said(message.text)[:_MESSAGE_CHARS]
        telling = telling_words(text)
        share = weight * _ROLE_WEIGHTS[message.role] / max(3.0, telling.said) ** 0.5
        for root, own in telling.weights.items():
            scores[root] = scores.get(root, 0.0) + share * own
            shown.setdefault(root, telling.shown[root])
        weight *= _DECAY
    floor = 0.1 * max(scores.values(), default=0.0)
    best = sorted((root for root, score in scores.items() if score > floor), key=lambda root: -scores[root])
    return tuple(shown[root] for root in best)


def is_pleasantry(text: str) -> bool:
    """Is it nothing but a greeting, thanks or praise? Such a turn needs no memory."""
    words = re.findall(r"[\w']+", text.casefold().replace("’", "'"))
    kind = _PLEASANT.intersection(words)
    if kind and all(word in kind or word in _AROUND_PLEASANT for word in words):
        return True
    foreign = understand_terms(text).words if len(text) <= _GREETING_CHARS else ()
    return bool(foreign) and _greeting_words().issuperset(foreign)


@cache
def _greeting_words() -> frozenset[str]:
    """Of greetings and thanks in languages other than English."""
    greetings = (prompt.text for prompt in generic_prompts() if prompt.kind == "greeting")
    return frozenset(word for text in greetings for word in understand_terms(text).words)


def _says_something(text: str, words: Telling) -> bool:
    """Is there a word in it that could be looked for?"""
    said = any(shown not in _LEADS_NOWHERE for shown in words.shown.values())
    return said or _NAMES_SOMETHING.search(text) is not None


def _lent(moved: Sequence[str], words: Telling) -> tuple[str, ...]:
    most = _BORROWED[min(words.said, len(_BORROWED) - 1)]
    return tuple(word for word in moved if stem(word) not in words.weights)[:most]


def _last(recent: Sequence[Message]) -> list[Message]:
    """The last few that say something, the newest first."""
    spoken = [m for m in recent[-4 * _MESSAGES :] if m.role in _ROLE_WEIGHTS and m.text.strip()]
    return spoken[: -_MESSAGES - 1 : -1]


def _focus(text: str, said: int, entities: Sequence[str]) -> float:
    """How well a prompt stands alone: one that names something, says enough or points nowhere does."""
    worth = min(1.0, (said + len(entities)) / _ENOUGH)
    if said and (entities or said >= _ENOUGH or not _POINTS.search(text)):
        return max(FOLLOW_UP, worth)
    return 0.5 * worth


def _domain(tool: str) -> str:
    """`mcp__github__create_issue` is about github issues; `Bash` is about nothing."""
    words = (word.lower() for word in _TOOL_WORDS.findall(tool[:200]))
    return " ".join(dict.fromkeys(word for word in words if word not in _PLAIN_TOOLS and len(word) > 1))
