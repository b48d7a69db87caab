"""From the events of old daily notes to facts that last, by rules. Pure.

An event becomes a fact when its importance by the reference formula is 0.6 or more: something was decided,
the user called it important or asked to remember it, or it came back on three days. What kind of fact it is,
and how it is worded, is told by the rules of the flush. Of a matter that comes back only one fact is made.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from datetime import date
from typing import NamedTuple

from hindbrain.base.plural import plural
from hindbrain.context.flush import doubts
from hindbrain.context.flush.rules import Candidate, judge_sentence
from hindbrain.context.flush.sentences import Sentence, split_sentences
from hindbrain.context.flush.when import with_dates
from hindbrain.context.flush.wording import finished
from hindbrain.learn.consolidation.day_events import DayEvent
from hindbrain.learn.consolidation.importance import Importance, Thresholds, importance
from hindbrain.learn.consolidation.recurring import Matter, matters
from hindbrain.memory.policy.provenance import lowest

_DECIDED = re.compile(
    r"^(?:(?:we|i|they|user|the user|the team) )?(?:have |has |had )?(?:finally |all |jointly )?"
    r"(?:decided|agreed|chose|chosen|settled on|opted (?:for|to)|decision(?: made)?:)\b[\s:]*(?P<rest>\S.*)",
    re.IGNORECASE,
)
_LONGEST = 300  # characters of a fact
_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH = 8


class Fact(NamedTuple):
    id: str  # made from what it says and when: the same notes give the same id
    text: str
    category: str
    importance: float  # 0..1
    source: str
    day: str  # YYYY-MM-DD, of the newest event that says it
    why: tuple[str, ...]
    evidence: tuple[str, ...]  # "Daily/2026-02-20.md:14"

    @property
    def day_note(self) -> str:
        """Its day's note, as a link names it."""
        paths = [place.rpartition(":")[0] for place in self.evidence]
        return next((path for path in reversed(paths) if self.day in path), paths[-1]).removesuffix(".md")


class _Said(NamedTuple):
    text: str
    category: str
    decision: bool


def facts_of(
    events: Sequence[DayEvent], fresh: Collection[str], *, today: date, least: float = Thresholds().importance
) -> list[Fact]:
    """The facts of the notes in `fresh`, the oldest first, so that what is newer may replace what is older.

    `events`: of these and of older notes, among which a matter may recur. `least`: importance of a fact.
    """
    found: dict[str, Fact] = {}
    for matter in matters(events):
        news = [event for event in matter.events if event.path in fresh]
        if not news:
            continue
        facts = [fact for event in news for fact in _of_event(event, matter, today, least)]
        if not facts and matter.is_recurring:
            facts = _of_matter(matter, news[-1], today, least)
        for fact in facts:
            key = fact.text.casefold()
            before = found.get(key)
            if before is None or before.day <= fact.day:
                found[key] = fact if before is None else _joined(before, fact)
    return sorted(found.values(), key=lambda fact: (fact.day, fact.evidence))


def days_between(day: str, today: date) -> int:
    return max(0, (today - date.fromisoformat(day)).days)


def fact_id(*parts: str) -> str:
    """An id for a memory, such as "m-7f3k2a9d": the same parts give the same."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return "m-" + "".join(_ID_LETTERS[byte & 31] for byte in digest[:_ID_LENGTH])


def _of_event(event: DayEvent, matter: Matter, today: date, least: float) -> list[Fact]:
    """What one event says that lasts; nothing when it is neither decided nor called important."""
    facts: list[Fact] = []
    days_old = days_between(event.day, today)

    def weigh(decision: bool) -> Importance:
        return importance(
            decision=decision,
            feedback=event.feedback,
            recurring=matter.is_recurring,
            days_old=days_old,
        )

    if weigh(decision=True).value < least:
        return []  # too old, whatever it says: reading it would be for nothing
    for said in _said(event):
        weighed = weigh(said.decision)
        if weighed.value >= least and (said.decision or event.feedback):
            text = with_dates(said.text, date.fromisoformat(event.day))
            facts.append(_fact(text, said.category, weighed, event, (event.day,)))
    return facts


def _of_matter(matter: Matter, newest: DayEvent, today: date, least: float) -> list[Fact]:
    """What came back on several days and is nothing else: a pattern."""
    weighed = importance(recurring=True, days_old=days_between(newest.day, today))
    text = finished(matter.wording)
    if weighed.value < least or len(text) > _LONGEST or doubts.is_open(text):
        return []
    why = (*weighed.why, f"on {plural(len(matter.days), 'day')} since {matter.days[0]}")
    # Known by its words and not by its day: the same pattern, seen again, is the same memory.
    fact = _fact(text, "pattern", weighed._replace(why=why), newest, tuple(sorted(matter.words)))
    evidence = tuple(f"{event.path}:{event.line}" for event in matter.events[-5:])
    return [fact._replace(evidence=evidence, source=lowest(event.source for event in matter.events))]


def _fact(text: str, category: str, weighed: Importance, event: DayEvent, known_by: Sequence[str]) -> Fact:
    told = "" if category == "pattern" else text.casefold()
    return Fact(
        fact_id(category, told, *known_by), text, category, round(weighed.value, 2), event.source, event.day,
        weighed.why, (f"{event.path}:{event.line}",),
    )  # fmt: skip


def _joined(before: Fact, fact: Fact) -> Fact:
    """One fact that two days tell: the newer one, trusted as little as either."""
    return fact._replace(
        importance=max(before.importance, fact.importance),
        source=lowest((before.source, fact.source)),
        evidence=tuple(dict.fromkeys((*before.evidence, *fact.evidence))),
    )


def _said(event: DayEvent) -> list[_Said]:
    """The sentences of an event that can be understood alone, each with its kind."""
    if event.decision:
        ok = not doubts.is_open(event.value) and not doubts.points_away(event.value, announced=True)
        return [_Said(finished(event.text[:_LONGEST]), "decision", True)] if ok else []
    found: list[_Said] = []
    for sentence in split_sentences(event.value):
        candidate = judge_sentence(sentence)
        if candidate is not None and candidate.category == "decision":
            if candidate.sure:
                found.append(_Said(candidate.text, "decision", True))
        elif decided := _decided(sentence):
            found.append(_Said(finished(decided), "decision", True))
        elif event.feedback and _stands_alone(sentence, candidate):
            told = candidate or Candidate(finished(sentence.text), "fact", 0.5, 0.5, "", "")
            found.append(_Said(told.text, told.category, False))
    return [said._replace(text=f"{event.name}: {said.text}") for said in found] if event.name else found


def _decided(sentence: Sentence) -> str:
    """What was decided, without "Decided:"; "" for other sentences. In one's own log nobody writes "we"."""
    match = _DECIDED.match(sentence.masked)
    if match is None or len(sentence.text) > _LONGEST:
        return ""
    unsure = sentence.asks or doubts.is_open(sentence.masked) or doubts.is_hedged(sentence.masked)
    if unsure or doubts.points_away(match["rest"], decides=True):
        return ""
    is_label = sentence.text[: match.start("rest")].rstrip().endswith(":")
    return sentence.text[match.start("rest") :] if is_label else sentence.text


def _stands_alone(sentence: Sentence, candidate: Candidate | None) -> bool:
    if candidate is not None:
        return True
    if len(sentence.text) > _LONGEST or sentence.asks or doubts.is_open(sentence.masked):
        return False
    return not doubts.points_away(sentence.masked, announced=True) and len(sentence.text.split()) > 2
