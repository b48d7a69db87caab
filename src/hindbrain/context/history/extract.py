"""A short form of what was said, without a model: the weightiest sentences, in order, with who said them.

Pure. Takes and gives lines of "Who: what was said", so that an extract can be condensed again. Prefers
decisions, numbers, names, paths, errors, questions with their answers, and what the rest is about (TF-IDF).
Cue words are English; elsewhere the other signs decide.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hindbrain.context.messages import Message
from hindbrain.context.tokens import TokenCounter
from hindbrain.search.terms import STOP_WORDS

_LONGEST = 320  # characters of a sentence; what is longer is no sentence
_PASSES = 3
_TOOL = r"[^:\n]{1,60}"
_WHO = re.compile(rf"(User|Assistant|System|Summary|Call of {_TOOL}|Answer of {_TOOL}|Failure of {_TOOL}): ")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？])")
_WORD = re.compile(r"\w[\w'-]*")
_DECISION = re.compile(
    r"\b(?:decided?|decision|agreed|chose|chosen|we(?:'ll| will) use|settled on|go with|instead of|must"
    r"|never|always|prefers?|remember|important|because|conclusion|fixed|root cause|deadline|due|todo"
    r"|next step|plan)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure|ing)|traceback|broken|crash\w*|denied|refused|wrong|not found"
    r"|timed? ?out|\w+(?:Error|Exception))\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"https?://|/\w+[./]|`[^`]+`|\w\.(?:py|ts|js|md|json|toml|ya?ml|txt|csv|sql|go|rs|sh)\b", re.IGNORECASE
)
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+")  # inside a sentence
_CUES = (
    (_DECISION, 1.0), (_ERROR, 0.8), (_PLACE, 0.6), (re.compile(r"\d"), 0.5), (_NAME, 0.4),
    (re.compile(r"[?？]\s*$"), 0.5),
)  # fmt: skip
_FILLER = re.compile(
    r"(?:sure|ok(?:ay)?|thanks?|thank you|great|got it|yes|no|hello|hi|you're welcome|let me know)\b.{0,40}$",
    re.IGNORECASE,
)


class _Sentence(NamedTuple):
    place: int
    who: str
    text: str
    words: frozenset[str]


def told(messages: Iterable[Message]) -> str:
    """Return the messages as lines that say who said what. Further lines of a message are set in.

    So no text can say "User: ..." in somebody else's name.
    """
    return "\n".join(_told(_speaker(message), message.text) for message in messages if message.text.strip())


def as_summary(text: str) -> str:
    """Return a model's summary as such a line; "" when it has no word."""
    return _told("Summary", text) if _WORD.search(text) else ""


def extract(text: str, budget: int, counter: TokenCounter) -> str:
    """Return what matters most of such lines in at most `budget` tokens; "" when nothing has room."""
    chosen: dict[int, _Sentence] = {}
    seen: set[frozenset[str]] = set()
    left, weighty = budget, _by_weight(_sentences(text))
    for _pass in range(_PASSES):
        for sentence in weighty:
            cost = counter.count(f"{sentence.who}: {sentence.text}\n")
            if cost <= left and sentence.words not in seen:
                chosen[sentence.place] = sentence
                seen.add(sentence.words)
                left -= cost
        left = budget - counter.count(_written(chosen))  # sentences of one speaker share a line and cost less
    while chosen and counter.count(_written(chosen)) > budget:
        del chosen[min(chosen)]
    return _written(chosen)


def _told(who: str, text: str) -> str:
    return f"{who}: " + "\n  ".join(text.strip().splitlines())


def _speaker(message: Message) -> str:
    tool = re.sub(r"[:\s]+", " ", message.tool)[:60].strip() or "a tool"
    if message.role == "tool":
        return f"{'Failure' if message.failed else 'Answer'} of {tool}"
    if message.role == "assistant" and message.tool:
        return f"Call of {tool}"
    return message.role.capitalize()


def _sentences(text: str) -> list[_Sentence]:
    found: list[_Sentence] = []
    who = "User"
    for line in text.split("\n"):
        speaker = _WHO.match(line)
        if speaker:
            who, line = speaker[1], line[speaker.end() :]
        for part in _END.split(line):
            part = " ".join(part.split())
            if any(letter.isalnum() for letter in part):
                part = part if len(part) <= _LONGEST else f"{part[: _LONGEST - 1].rstrip()}…"
                found.append(_Sentence(len(found), who, part, _words(part)))
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)


def _by_weight(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences, the weightiest first: what is rare in this text is what it tells, and cues add to it."""
    frequency = Counter(word for sentence in sentences for word in sentence.words)
    count = len(sentences)
    told_by = [
        sum(math.log((count + 1) / frequency[word]) for word in sentence.words)
        / math.sqrt(max(1, len(sentence.words)))
        for sentence in sentences
    ]
    most = max(told_by, default=0.0) or 1.0
    weights = [
        3 * told_by[index] / most + 0.5 * _cues(sentence, sentences[index - 1] if index else None)
        for index, sentence in enumerate(sentences)
    ]
    order = sorted(range(count), key=lambda index: (-weights[index], index))
    return [sentences[index] for index in order]


def _cues(sentence: _Sentence, before: _Sentence | None) -> float:
    weight = sum(value for cue, value in _CUES if cue.search(sentence.text))
    if sentence.who == "User":
        weight += 0.6
    elif sentence.who.startswith("Failure"):
        weight += 0.4
    elif sentence.who.startswith(("Answer", "Call")):
        weight -= 0.6  # can be had again by running the tool
    if before is not None and before.who != sentence.who and before.text.endswith(("?", "？")):
        weight += 0.6  # the answer to a question
    if _FILLER.match(sentence.text) or len(sentence.words) < 2:
        weight -= 1.5
    return weight


def _written(sentences: Mapping[int, _Sentence]) -> str:
    """In their order, one line for each run of sentences of one speaker."""
    lines: list[str] = []
    who = ""
    for place in sorted(sentences):
        sentence = sentences[place]
        if sentence.who == who:
            lines[-1] += f" {sentence.text}"
        else:
            lines.append(f"{sentence.who}: {sentence.text}")
            who = sentence.who
    return "\n".join(lines)
