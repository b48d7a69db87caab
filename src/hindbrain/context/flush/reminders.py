"""Requests to be reminded: "remind me to call Ada tomorrow" is a task with a day, in 14 languages.

Pure. The words of each language are in `topic.reminder_words`. Only clear requests count: not "remind me how
...", and not what points at something that only the conversation shows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import local_time
from hindbrain.context.flush.cues.cue import MONTH
from hindbrain.context.flush.opening import LEAD_IN
from hindbrain.context.flush.sentences import MASK, Sentence, spoken
from hindbrain.context.flush.when import with_dates
from hindbrain.context.messages import Message
from hindbrain.context.topic.remember_requests import asks_to_forget_it
from hindbrain.context.topic.reminder_words import REMINDERS, ReminderWords

if TYPE_CHECKING:
    from hindbrain.context.flush.by_model import ModelFinds

_LONGEST = 300  # characters of one request
_ENDS = " .!?。！？~…"
_IN_FIGURES = r"(?P<iso>\d{4}-\d\d-\d\d)|(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})"
_COUNTS = {
    "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10,
}  # fmt: skip
_PLEASE = (  # at the end without a comma, where thanks may be what is to be said
    r"please|pls|bitte|s'il te pla[iî]t|s'il vous pla[iî]t|por favor|per favore|alsjeblieft|proszę|пожалуйста"
    r"|будь ласка|lütfen"
)
_IN_MONTH = (
    rf"(?:(?:on|by) )?(?:(?:the )?(?P<dom>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{MONTH})\b"
    rf"|(?P<month2>{MONTH}) (?P<dom2>\d{{1,2}})(?:st|nd|rd|th)?)(?:,? (?P<year>\d{{4}})\b)?"
)
_AHEAD = rf"in (?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}) (?P<unit>day|week)s?"
_SMILE = re.compile(r"\s+[:;]-?[()DP]+$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NEXT_WEEK = re.compile("下")  # "下周五" is the Friday of the week after this one


class Reminder(NamedTuple):
    """What a person wants to be reminded of."""

    title: str
    due: str = ""  # YYYY-MM-DD; "" when the sentence names no single day
    said: str = ""  # the sentence
    at: float = 0.0  # when it was said; seconds since the epoch, 0: not known

    def digest(self, *where: str) -> str:
        """What is kept of it to know it again; `where` it was said."""
        named = "\0".join(("reminder", *where, self.said))
        return hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=10).hexdigest()


class _Dated(NamedTuple):
    """A day that a sentence names, and where."""

    day: date
    start: int
    stop: int
    clean: bool  # it only says when: without it the sentence says the same
    part: str = ""  # "morning"


def find_reminders(messages: Sequence[Message], *, today: date) -> list[Reminder]:
    """What a person asked in these messages to be reminded of, each once."""
    found: dict[str, Reminder] = {}
    for message in messages:
        if message.role != "user":
            continue
        said_on = local_time(message.at).date() if message.at > 0 else today
        sentences = spoken(message.text)
        for sentence, after in zip_longest(sentences, sentences[1:]):
            if after is not None and asks_to_forget_it(after.masked):
                continue
            if reminder := find_reminder(sentence, said_on):
                found.setdefault(reminder.title.casefold(), reminder._replace(at=message.at))
    return list(found.values())


def without_reminders(finds: ModelFinds | None, reminders: Sequence[Reminder]) -> ModelFinds | None:
    """What a model found, without what becomes a task."""
    if finds is None or not reminders:
        return finds
    said = [reminder.said for reminder in reminders]
    kept = [one for one in finds.candidates if not any(_overlap(one.evidence, asked) for asked in said)]
    return finds._replace(candidates=tuple(kept))


def _overlap(one: str, other: str) -> bool:
    first, second = (" ".join(text.casefold().split()).strip(_ENDS) for text in (one, other))
    return bool(first) and bool(second) and (first in second or second in first)


def is_only_reminder(prompt: str) -> bool:
    """Does a whole prompt ask for nothing but to be reminded?"""
    sentences = spoken(prompt) if _spoken_in(prompt) else []
    return bool(sentences) and all(find_reminder(one, date.min + timedelta(days=7)) for one in sentences)


def find_reminder(sentence: Sentence, said_on: date) -> Reminder | None:
    """What one sentence asks to be reminded of; None when it asks for something else."""
    if len(sentence.text) > _LONGEST or sentence.masked.startswith(MASK):
        return None
    for words in _spoken_in(sentence.text):
        text = _without_lead_in(sentence.text.replace("’", "'"))
        reminder = _read(_without_courtesy(text, words), words, said_on)
        if reminder is not None:
            return reminder._replace(said=sentence.text)
    return None


def _spoken_in(text: str) -> list[ReminderWords]:
    """The languages whose words occur; mostly none."""
    low = text.casefold()
    return [words for words in REMINDERS if any(stem in low for stem in words.stems)]


def _read(text: str, words: ReminderWords, said_on: date) -> Reminder | None:
    dates = [] if re.search(words.habit, text, re.IGNORECASE) else list(_dates(text, words, said_on))
    for dated in dates:  # "remind me tomorrow to ...": a day beside the request is the day
        title = _title(_without_date(text, dated), words, said_on) if dated.clean else ""
        if title:
            part = f" ({dated.part})" if dated.part else ""
            return Reminder(f"{title}{part}", dated.day.isoformat())
    if len(dates) == 1:
        text = _with_date(text, dates[0], words)
    title = _title(text, words, said_on)
    due = dates[0].day.isoformat() if len(dates) == 1 else ""
    return Reminder(title, due) if title else None


def _title(text: str, words: ReminderWords, said_on: date) -> str:
    """What is to be done; "" when the text is no request."""
    for pattern in _asks(words):
        found = pattern.fullmatch(text.strip(_ENDS))
        if found is None:
            continue
        rest = _SMILE.sub("", " ".join(found["rest"].split())).strip(f"{_ENDS},、，;:")
        if not rest or re.match(words.not_rest, rest, re.IGNORECASE):
            return ""
        for wanted, better in words.tidy:
            rest = re.sub(wanted, better, rest, flags=re.IGNORECASE)
        when = (found.groupdict().get("when") or "").strip()
        title = f"{rest} {when}".strip()
        title = with_dates(title, said_on) if words.language == "en" else title
        return title[:1].upper() + title[1:]
    return ""


def _dates(text: str, words: ReminderWords, said_on: date) -> Iterator[_Dated]:
    for found in _days(words).finditer(text):
        day = _day_of(found, words, said_on)
        if day is not None:
            clean = _is_clean(text[: found.start()], text[found.end() :], words)
            yield _Dated(day, found.start(), found.end(), clean, (found["part"] or "").lstrip("の"))


def _is_clean(before: str, behind: str, words: ReminderWords) -> bool:
    """Does a date between the two belong to the request, and not to what is to be done?"""
    edge = r"(?:^|\s)" if words.spaced else ""
    if re.search(rf"{edge}(?:{words.unclean})\s*$", before, re.IGNORECASE):
        return False
    if re.match(rf"\s*(?:{words.goes_on})|-\w", behind, re.IGNORECASE):
        return False
    if not before.strip(" ,，、") or not behind.strip(f"{_ENDS},，、"):
        return True
    low = before.casefold()
    asked = max((low.rfind(stem) + len(stem) for stem in words.stems if stem in low), default=-1)
    between = before[asked:].split()[1:] if words.spaced else before[asked:]
    return asked < 0 or len(between) <= words.between


def _day_of(found: re.Match[str], words: ReminderWords, said_on: date) -> date | None:
    try:
        if found["iso"]:
            return date.fromisoformat(found["iso"])
        if found["dotted"]:
            day, month, year = map(int, found["dotted"].split("."))
            return date(year, month, day)
        if words.language == "en" and (found["month"] or found["month2"]):
            return _in_month(found, said_on)
        if words.language == "en" and found["count"]:
            count = _COUNTS.get(found["count"].lower()) or int(found["count"])
            return said_on + timedelta(days=count * (7 if found["unit"].lower() == "week" else 1))
        for number, (_, shift) in enumerate(words.days):
            if found[f"shift{number}"]:
                return said_on + timedelta(days=shift)
        for number in range(7):
            if found[f"weekday{number}"]:
                return _weekday(number, found[0], words, said_on)
    except (ValueError, OverflowError):  # 2026-02-30
        return None
    return None


def _in_month(found: re.Match[str], said_on: date) -> date:
    """The next one, where no year is named."""
    month = _MONTHS.index((found["month"] or found["month2"]).lower()[:3]) + 1
    day = int(found["dom"] or found["dom2"])
    if found["year"]:
        return date(int(found["year"]), month, day)
    this_year = date(said_on.year, month, day)
    return this_year if this_year >= said_on else date(said_on.year + 1, month, day)


def _weekday(number: int, named: str, words: ReminderWords, said_on: date) -> date:
    """The next one; on a Friday, "Friday" is in a week."""
    if words.language == "zh" and _NEXT_WEEK.match(named):
        return said_on + timedelta(days=7 - said_on.weekday() + number)
    return said_on + timedelta(days=(number - said_on.weekday() - 1) % 7 + 1)


def _with_date(text: str, dated: _Dated, words: ReminderWords) -> str:
    """The text with the date beside the word for it, which holds only on the day it is said."""
    if words.language == "en" or dated.day.isoformat() in text:
        return text  # `with_dates` knows more of English
    return f"{text[: dated.stop]} ({dated.day.isoformat()}){text[dated.stop :]}"


def _without_date(text: str, dated: _Dated) -> str:
    before, behind = text[: dated.start], text[dated.stop :]
    if not before.strip() or not behind.strip():
        return before.rstrip(" ,，、") + behind.lstrip(" ,，、")
    return f"{before.rstrip()} {behind.lstrip()}" if behind[:1].isspace() else before.rstrip(" ") + behind


def _without_lead_in(text: str) -> str:
    while lead := LEAD_IN.match(text):
        text = text[lead.end() :].lstrip()
    return text


def _without_courtesy(text: str, words: ReminderWords) -> str:
    gap = r",?\s+" if words.spaced else r"[,，、]?\s*"
    text = re.sub(rf"^(?:{words.polite}){gap}", "", text.strip(_ENDS), flags=re.IGNORECASE)
    last = rf",\s*(?:{words.polite})|\s(?:{_PLEASE})" if words.spaced else rf"{gap}(?:{words.polite})"
    return re.sub(rf"(?:{last})$", "", text, flags=re.IGNORECASE)


@cache
def _asks(words: ReminderWords) -> tuple[re.Pattern[str], ...]:
    """Compiled at first need: a process that answers once needs none of them."""
    return tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in words.asks)


@cache
def _days(words: ReminderWords) -> re.Pattern[str]:
    edge = r"\b" if words.spaced else ""
    shifts = "|".join(f"(?P<shift{number}>{word})" for number, (word, _) in enumerate(words.days))
    named = "|".join(f"(?P<weekday{number}>{word})" for number, word in enumerate(words.weekdays))
    weekday = words.weekday.replace("{}", f"(?:{named})")
    figures = words.dated.replace("{}", f"(?:{_IN_FIGURES})")
    more = f"|{_AHEAD}|{_IN_MONTH}" if words.language == "en" else ""
    part = rf"(?:{edge}\s*(?P<part>{words.part_of_day}))?"
    return re.compile(rf"{edge}(?:{figures}|{shifts}|{weekday}{more}){part}{edge}", re.IGNORECASE)
