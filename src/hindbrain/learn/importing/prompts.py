"""What a person's prompt says about the run before it: that it was wrong, that it was right, or to go on.

Pure, by words alone. Precision first: a prompt that says neither is a prompt that says neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hindbrain.context.topic.intent import is_pleasantry
from hindbrain.context.topic.pasted import digest
from hindbrain.context.topic.said import what_was_said
from hindbrain.learn.alike import words_of

LONGEST_COMMAND = 300  # characters
_LOOKED_AT = 240  # characters of a prompt: people say first whether it worked
_ALIKE = 0.75  # share of words that two prompts have in common from which on one rephrases the other
_FEWEST_WORDS = 3

_QUICK = (
    "perfect", "great", "awesome", "excellent", "nice", "cool", "brilliant", "lovely", "super", "amazing",
    "fantastic", "beautiful", "works", "worked", "it works", "it worked", "that works", "that worked",
    "this works", "everything works", "it is fixed", "it's fixed", "works now", "it works now",
    "that works now", "fixed", "solved", "works great", "works well", "works fine",
    # Who has something committed or shipped agrees with it.
    "commit", "commit it", "commit this", "commit that", "commit the changes", "commit and push", "push",
    "push it", "merge it", "merge this", "ship it", "deploy it", "release it",
)  # fmt: skip
_THANKS = (
    "thanks", "thank you", "many thanks", "thx", "ty", "cheers", "danke", "merci", "gracias", "obrigado",
    "obrigada", "谢谢", "多谢", "ありがとう", "well done", "good job", "good work", "nice job", "nice work",
    "great job", "great work", "lgtm", "looks good", "looks great", "looking good", "that did it",
    "that fixed it", "that solved it", "that was it", "tests pass", "the tests pass", "all tests pass",
)  # fmt: skip
_GO_ON = (
    "yes", "yep", "yeah", "y", "sure", "ok", "okay", "k", "please", "pls", "go", "go ahead", "go on",
    "go for it", "continue", "proceed", "keep going", "carry on", "do it", "do that", "do so", "resume",
    "next", "sounds good", "ja", "weiter", "oui", "si", "sí", "sim", "继续", "好", "好的", "是", "是的",
    "はい", "続けて", "a", "b", "c", "d", *map(str, range(1, 10)),
)  # fmt: skip
_SMALL_TALK = (
    "so much", "a lot", "very much", "you", "it", "that", "this", "now", "bye", "have a", "day", "good",
    "all", "for your help", "for the help", "again", "👍", "🙏", "❤️", "🎉",
)  # fmt: skip
_WRONG = (
    r"(?:that|this|it)(?:'s| is| was| looks) (?:still )?(?:wrong|incorrect|broken)",
    r"(?:that|this|it)(?:'s| is| was) (?:still )?not (?:it|right|correct|what|working)",
    r"(?:it|that|this) (?:still )?(?:do|did|is|was|does)(?:n't|nt| not)"
    r" (?:work|help|fix|do|compile|build|run|right|correct|what|change)",
    r"(?:the )?same (?:error|problem|issue|result|failure)",
    r"not what i (?:asked|wanted|meant|said)",
    r"i (?:meant|said|asked for|told you|already (?:said|told))\b",
    r"you (?:forgot|missed|broke|misunderstood|ignored|didn't|did not|were (?:not )?supposed)\b",
    r"you should(?:n't| not) have",
    r"why (?:did|would) you",
    r"wrong (?:file|one|place|folder|line|function|branch|answer|way)",
    r"(?:it|that|this) (?:fails|failed|crashes|crashed|broke|throws|errors)\b",
    r"(?:undo|revert) (?:it|that|this|your|the last)\b",
    r"try again|another error",
    r"(?:funktioniert|geht) (?:immer noch )?nicht|stimmt nicht|ne (?:marche|fonctionne) pas|no funciona",
    r"不对|不行|错了|还是不|没用|違う|動かない",
)
_STILL = (
    r"still (?:fail\w*|broken|wrong|not\b|does\w*|the same|get(?:ting)?|see(?:ing)?|crash\w*|red\b"
    r"|(?:an? |the )?errors?)"
)
# Where a judgement begins; "a function that doesn't work" and "a button 'try again'" are none.
_CLAUSE = r"(?:^|[.!?;:,(\n-]\s*|\b(?:but|and|now|hm+|ok|okay|sorry|because|since|well|think)\s+)"
_NO = ("no", "nope", "nah", "nein", "non", "não", "不", "いいえ")
_NO_MATTER = ("problem", "worries", "need", "rush", "idea")
# After one of these, praise is no praise ("cool down the server").
_AFTER = r"(?=\s*(?:[,.!;:)-]|$)|\s+(?:now|next|thanks?|thank|so|let|and|can|could|please|then)\b)"
_SPACE = r"[\s,.!:;)-]"


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


def _made_of(words: Iterable[str]) -> re.Pattern[str]:
    """Nothing but these words."""
    return re.compile(rf"(?:{_any(words)}(?:{_SPACE}+|$))+", re.IGNORECASE)


_ACCEPTS = re.compile(
    rf"(?:(?:{_any(_GO_ON)}|ah|oh|wow|now){_SPACE}+){{0,3}}(?:{_any(_THANKS)}(?!\w)|{_any(_QUICK)}{_AFTER})",
    re.IGNORECASE,
)
_ONLY_PRAISE = _made_of((*_QUICK, *_THANKS, *_SMALL_TALK, "ok", "okay", "yes", "yeah"))
_GOES_ON = _made_of(_GO_ON)
_SAYS_NO = re.compile(rf"{_any(_NO)}(?:[,.!;:-]|\s|$)(?!\s?{_any(_NO_MATTER)})", re.IGNORECASE)
_CORRECTS = re.compile(
    rf"{_CLAUSE}(?:{'|'.join(_WRONG)})|(?<!that )(?<!which )(?<!if )(?<!when )\b{_STILL}", re.IGNORECASE
)
_BARE, _COMPLAINT = 7, 14  # words
_INSTRUCTS = re.compile(
    r"(?:^|[,.;:!?-]\s*|\b(?:and|then|please|so|just|now|instead)\s+)(?:use|try|make|put|run|do|remove|add"
    r"|change|set|call|write|open|keep|take|go|check|fix|move|delete|create|look|read|rename|revert|show)\b"
    r"|\b(?:should|must|instead|needs? to|want)\b",
    re.IGNORECASE,
)
_BUT = re.compile(r"\b(?:but|however|except|although|aber|mais|pero)\b|但", re.IGNORECASE)


def command_of(prompt: str) -> str:
    """What a prompt asks for, in one line of at most 300 characters; "" when nobody asked for anything."""
    said = digest(what_was_said(prompt))
    return said if len(said) <= LONGEST_COMMAND else cut_at_word(said, LONGEST_COMMAND)


def goes_on(prompt: str) -> bool:
    """Does it only say yes, or go on? Then it is part of the run before it."""
    return len(prompt) < 60 and _GOES_ON.fullmatch(prompt.strip()) is not None


def corrects(prompt: str, *, asked: bool = False) -> bool:
    """Does it say that what was done is wrong? `asked`: the agent had a question, so "no" answers it."""
    head = _head(prompt)
    if not asked and _SAYS_NO.match(head):
        return True
    return _CORRECTS.search(head) is not None


def accepts(prompt: str) -> bool:
    """Does it say that what was done is right?"""
    head = _head(prompt)
    found = _ACCEPTS.match(head)
    return found is not None and _BUT.search(head, found.end(), found.end() + 40) is None


def only_praises(prompt: str) -> bool:
    """Is there nothing in it that could be done?"""
    return len(prompt) < 120 and _ONLY_PRAISE.fullmatch(prompt.strip()) is not None


def asks_for_nothing(prompt: str) -> bool:
    """Is it small talk, or only a word between two runs?"""
    return goes_on(prompt) or only_praises(prompt) or is_pleasantry(prompt)


def rephrases(later: str, earlier: str) -> bool:
    """Is `later` the same wish in other words? With another path, number or quote it is another wish."""
    a, b = set(words_of(later)), set(words_of(earlier))
    if min(len(a), len(b)) < _FEWEST_WORDS or later.split() == earlier.split():
        return False
    return a != b and len(a & b) >= _ALIKE * len(a | b)


def is_bare(prompt: str) -> bool:
    """Does a correction say too little to be a command of its own ("still failing")?

    Also a longer one that only complains: "that didn't work, the tests did not run".
    """
    words = len(words_of(prompt))
    return words <= _BARE or (words <= _COMPLAINT and prompt.isascii() and not _INSTRUCTS.search(prompt))


def _head(prompt: str) -> str:
    return prompt.strip()[:_LOOKED_AT].replace("’", "'").replace("—", "-").replace("–", "-")


def cut_at_word(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    space = head.rfind(" ", longest // 2)
    return (head[:space] if space > 0 else head).rstrip(" ,;:") + "…"
