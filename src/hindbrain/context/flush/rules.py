"""From messages to memories without a model: what a person said that lasts, by cues. Precision first.

Sure finds are stored, doubtful ones wait for a person, and the rest is not mentioned: questions, what-ifs,
orders for the task at hand, and whatever points at something that only the conversation shows. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import zip_longest
from typing import NamedTuple

from hindbrain.base.clock import local_time
from hindbrain.context.flush import doubts
from hindbrain.context.flush.about_user import about_user
from hindbrain.context.flush.confirmed import agreed_proposal
from hindbrain.context.flush.cues.cue import Cue
from hindbrain.context.flush.cues.table import compiled
from hindbrain.context.flush.opening import opened
from hindbrain.context.flush.reminders import find_reminder
from hindbrain.context.flush.sentences import Sentence, spoken
from hindbrain.context.flush.when import with_dates
from hindbrain.context.flush.wording import finished, worded
from hindbrain.context.messages import Message
from hindbrain.context.topic.remember_requests import (
    addresses_agent,
    asks_to_forget_it,
    asks_to_remember_it,
    stands_alone,
)
from hindbrain.context.topic.request_words import ENGLISH, RequestWords

SURE = 0.9
DOUBTFUL = 0.5
_LONGEST = 300  # characters of a sentence that is one fact
_BRIEF = 800  # characters of a message
_FEWEST_WORDS = 3  # of what was only said to be worth remembering
_REMEMBERED = "asked to be remembered"
_OF_SELF = re.compile(r"(?:User(?! wants: )|We|Our)\b")  # what a brief for a task may also tell
_TRANSIENT = frozenset({"likes", "usually", "prefers"})  # of these a fault is no lasting matter, either
_WORD = re.compile(r"[^\W\d_]{2,}|[\u4e00-\u9fff]|\d+")


class Candidate(NamedTuple):
    """Something that may be worth remembering."""

    text: str  # one sentence that can be understood alone
    category: str
    importance: float  # 0..1
    confidence: float  # 0..1; from SURE on it is stored without a person
    evidence: str  # as it was said
    why: str  # the cue, for whoever decides in the inbox
    from_owner: bool = False  # the user said it, in their own words
    cues: tuple[str, ...] = ()  # words under which it will be needed, as a model gives them; unchecked

    @property
    def sure(self) -> bool:
        return self.confidence >= SURE


def find_candidates(messages: Sequence[Message], *, today: date, project: str = "") -> list[Candidate]:
    """What the messages say that lasts, in their order, each once. `project`: what "this repo" means."""
    found: dict[str, Candidate] = {}
    before = ""  # what the assistant said last
    for message in messages:
        if message.role == "assistant" and not message.tool:
            before = message.text
        if message.role != "user":
            continue
        said_on = local_time(message.at).date() if message.at > 0 else today
        for candidate in judge_message(message.text, before=before, said_on=said_on, project=project):
            key = candidate.text.casefold()
            if key not in found or candidate.confidence > found[key].confidence:
                found[key] = candidate
        before = ""
    return list(found.values())


def judge_message(text: str, *, said_on: date, before: str = "", project: str = "") -> Iterator[Candidate]:
    """What one message of a person says that lasts; `before` is what it answers."""
    sentences = spoken(text)
    # Somebody who writes so much describes the task at hand: "always" means as long as that lasts.
    is_brief = sum(len(sentence.text) for sentence in sentences) > _BRIEF
    if before and sentences and (agreed := agreed_proposal(before, sentences)):
        confidence = SURE if agreed.sure else DOUBTFUL
        yield Candidate(
            with_dates(agreed.text, said_on),
            "decision",
            0.7,
            confidence,
            agreed.evidence,
            "agreed to a proposal",
        )
    # "Remember this. I live in Bonn.": with nothing before it, a request means what comes next.
    announced = asks_to_remember_it(sentences[0].masked) if sentences else None
    for at, (sentence, after) in enumerate(zip_longest(sentences, sentences[1:])):
        if asks_to_remember_it(sentence.masked) or (after is not None and asks_to_forget_it(after.masked)):
            continue
        if find_reminder(sentence, said_on) is not None:
            continue  # a task, and no memory besides
        asked_in = asks_to_remember_it(after.masked) if after is not None else None
        asked_in = asked_in or (announced if at == 1 else None)
        candidate = judge_sentence(sentence, project=project, asked_in=asked_in)
        if candidate is None:
            continue
        if is_brief and not _OF_SELF.match(candidate.text):
            candidate = candidate._replace(confidence=DOUBTFUL)
        yield candidate._replace(text=with_dates(candidate.text, said_on), from_owner=True)


def judge_sentence(
    sentence: Sentence, *, project: str = "", asked_in: RequestWords | None = None
) -> Candidate | None:
    """What one sentence says that lasts; None when it says nothing, or nothing that is certain enough.

    `asked_in`: the language in which another sentence asks for it to be remembered.
    """
    found = opened(sentence)
    if found is None:
        return None
    said = found.sentence
    words = found.asked_in or asked_in
    in_english = words is None or words is ENGLISH
    if len(said.text) > _LONGEST or doubts.is_open(said.masked, in_english=in_english):
        return None
    candidate = _by_cues(said, sentence.text, project)
    if words is not None and not in_english:
        if found.asked_in is None and not stands_alone(said.masked, words):
            return candidate
        to_agent = found.to_agent or (found.asked_in is None and addresses_agent(said.masked, words))
        return _as_requested(said, sentence.text, candidate, sure=not to_agent)
    in_third_person = not said.masked.startswith(("I ", "I'"))
    if candidate is None and (words is not None or (found.for_record and in_third_person)):
        candidate = _on_their_word(said, sentence.text, project)
    if candidate is None or words is None:
        return candidate
    return candidate._replace(confidence=SURE, importance=max(0.7, candidate.importance), why=_REMEMBERED)


def _as_requested(said: Sentence, evidence: str, by_cue: Candidate | None, *, sure: bool) -> Candidate:
    """What is asked for in another language than English: in that language, in the first person."""
    if by_cue is not None and by_cue.category == "action":
        return by_cue
    category, importance = (by_cue.category, max(0.7, by_cue.importance)) if by_cue else ("fact", 0.7)
    confidence = SURE if sure else DOUBTFUL
    return Candidate(finished(said.text), category, importance, confidence, evidence, _REMEMBERED)


def _by_cues(said: Sentence, evidence: str, project: str) -> Candidate | None:
    masked = said.masked.replace("’", "'")
    for cue, pattern in compiled():
        match = pattern.match(masked)
        if match is None:
            continue
        start, stop = _rest_span(match)
        confidence = _confidence(cue, masked[start:stop], masked, project)
        if not confidence:
            return None  # the first cue that fits decides
        text = worded(cue, said.text, said.text[start:stop], project=project)
        return Candidate(text, cue.category, cue.importance, confidence, evidence, cue.name)
    return None


def _on_their_word(said: Sentence, evidence: str, project: str) -> Candidate | None:
    """ "For the record, ..." without another cue: a fact, if it can be understood alone."""
    if doubts.points_away(said.masked) or len(_WORD.findall(said.masked)) < _FEWEST_WORDS:
        return None
    text = finished(about_user(said.text), project=project)
    return Candidate(text, "fact", 0.7, DOUBTFUL, evidence, "told for the record")


def _rest_span(match: re.Match[str]) -> tuple[int, int]:
    for name in ("rest", "rest2", "rest3"):
        if match.re.groupindex.get(name) and match[name] is not None:
            return match.span(name)
    return match.span()


def _confidence(cue: Cue, rest: str, masked: str, project: str) -> float:
    """How sure it is; 0 when it is nothing."""
    of_person, decides = cue.category == "contact", cue.category == "decision"
    if doubts.points_away(
        rest, announced=cue.announced, to_agent=cue.standing, of_person=of_person, decides=decides
    ):
        return 0.0
    if not _WORD.search(rest) or (cue.standing and doubts.is_for_now(masked)):
        return 0.0
    if (cue.category in ("fact", "contact", "project") or cue.name in _TRANSIENT) and doubts.tells_fault(
        rest
    ):
        return 0.0
    nameless_home = doubts.HOME.search(masked) is not None and not project
    if cue.needs_name and not doubts.has_name(rest):
        return DOUBTFUL if nameless_home else 0.0
    passing = cue.name == "decided" and doubts.is_of_today(masked)
    doubtful = not cue.sure or doubts.is_hedged(masked) or nameless_home or passing
    return DOUBTFUL if doubtful else SURE
