"""Do two statements say different things of the same matter, so that the newer replaces the older?

Without a model only plain cases are told, each by one rule below. What is unsure is no contradiction: then
both lines stay, and nothing is hidden. Two events are never one, and neither are two things that somebody
likes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from hindbrain.memory.conflicts.change import changed, is_tool, of_one_use, read_change
from hindbrain.memory.conflicts.denial import denied_in_words, names_another
from hindbrain.memory.conflicts.statement import (
    HOW_OFTEN,
    MAX_CHARS,
    Statement,
    how_often,
    is_event,
    is_number,
    read_statement,
    spelled,
    word_of,
    words_of,
)
from hindbrain.memory.conflicts.wording import ATTRIBUTES, COUNTRIES, IRREGULAR, KINDS, PERSONS, word_set

_UNITS = words_of(word_set("second minute hour day week month year times km mile kg gb usd eur"))
_ATTRIBUTES = words_of(ATTRIBUTES)
_COUNTRIES = words_of(COUNTRIES)
_PERSONS = words_of(PERSONS)
_KINDS = tuple(words_of(line.split()) for line in KINDS.strip().splitlines())
_ALL_KINDS = frozenset(word for kind in _KINDS for word in kind)
_MAX_VALUE = 5  # words; what is longer is no value
_MAX_NOW = 3  # words of what is "now" so

_SPLIT = re.compile(r"(?:^|\s)(?:is|equals|(?P<many>are))\s|\s*[:=：]\s+|：|是", re.I)
_ATTRIBUTE_ZH = re.compile("最喜欢|截止|名字|密码|时区|生日|状态|目标|预算|地址|电话|邮箱")
_SINGULAR = frozenset(("status", "address", "focus", "boss"))
_NOW = re.compile(
    r"\b(?:now|currently|nowadays|these days|at the moment|as of (?:today|now)|presently)\b|现在|目前", re.I
)
_ALSO = re.compile(r"\b(?:also|too|as well|another|both|besides|additionally|either|or)\b|也|还", re.I)
# Of these a person has many at a time: a second one says nothing about the first.
_MANY = re.compile(
    r"\b(?:likes?|loves?|enjoys?|knows?|speaks?|reads?|visits?|plays?|owns|collects?|supports?|follows?|"
    r"fan of|interested in|allergic|wants?|hopes?|plans?|considers?)\b|喜欢|爱",
    re.I,
)
# What somebody thinks or feels now says nothing about what they thought of another matter.
_MIND = re.compile(
    r"\b(?:thinks?|thinking|feels?|feeling|looks?|looking|sounds?|guess|understands?|knows?|believes?|"
    r"remembers?|excited|confident|ready|sure)\b",
    re.I,
)
_OVER = re.compile(r"\b(?:over|than|to|instead of|rather)\b", re.I)
_RELATIONS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:lives?|living|resides?|residing|based|moved|relocated)\s+(?:now\s+|from\s.{1,40}?\s)?(?:in|to|at)\s|住在|搬到",
        r"\b(?:works?|working|employed)\s+(?:now\s+)?(?:at|for|by)\s|就职于",
        r"\b(?:works?|working|employed)\s+as\s",
        r"\b(?:is|are)\s+(?:named|called)\s|名叫",
        r"\b(?:married to|dating|engaged to)\s",
        r"\breports?\s+to\s",
        r"\bpromoted\s+to\s",
        r"\b(?:scheduled|due|planned)\s+(?:for|on|by)\s",
        r"\bwill (?:spend|be) .+? in\s",
    )
)
_WORDINGS = (
    (_RELATIONS[0], "lives live living resides based moved relocated wohnt lebt umgezogen gezogen 住在 搬到"),
    (_RELATIONS[1], "works work working employed arbeitet"),
    (_RELATIONS[3], "named called name"),
)
_STOPPED = re.compile(r"\b(?:stopped|quit|gave up)\s+(\w{2,}ing)\b", re.I)
_COMMON = re.compile(r"(?i:an?|the|another|my|our|his|her|their|new)\s+(?:[a-z]+\s+)*[a-z]+\W*$")
_CHOICES = words_of(word_set("prefer use favor"))
_CHOICE = re.compile(r"\b(?:prefers?|uses?|using|favou?rs?)\s", re.I)
_CASE = re.compile(r"\S\s+(?:in|on|at|for|during|when|if|with|under)\s+(.+)$", re.I)
_AUXILIARIES = word_set("is are was has have had does do will can must needs am get gets go pay earn cost")
_NUMBERED_VERBS = frozenset(("is", "has", "was", "needs", "are", "have", "uses"))
_SCHEDULE = re.compile(
    r"\b(?:returns?|arrives?|leaves?|starts?|ends?|expires?|flies|opens?|closes?|due)\b", re.I
)


@lru_cache(maxsize=16_384)  # a new memory meets the same old ones again and again
def _found(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.search(text)


def contradicts(old: Statement, new: Statement) -> str:
    """Say in a few words why `new` can't hold beside `old`; "" when both can, or when it can't be told."""
    if max(len(old.text), len(new.text)) > MAX_CHARS:
        return ""  # several things are said, and the rules below would take long
    if reason := changed(old, new):
        return reason
    if old.kin != new.kin or not old.lead or not new.lead:
        return ""
    if reason := denied_in_words(old, new):
        return reason
    if _is_of_one(old, new) and (reason := _denied(old, new)):
        return reason
    # "Lives in A since May" says when it began, and no other thing than "lives in A".
    differ = (old.turns ^ new.turns) - ({"since"} & new.turns)
    if differ or "not" in old.turns or _found(_ALSO, old.text) or _found(_ALSO, new.text):
        return ""
    if reason := _other_relation(old, new):
        return reason
    if old.turns != new.turns or not _is_of_one(old, new):
        return ""
    rules: tuple[Callable[[Statement, Statement], str], ...] = (
        _swapped, _of_one_kind, _oftener, _recounted, _other_attribute, _other_choice, _now_otherwise,
    )  # fmt: skip
    return next((reason for rule in rules if (reason := rule(old, new))), "")


def other_wordings(text: str) -> str:
    """Words with which an older memory may tell what `text` replaces and which it does not share; mostly "".

    "Moved to Paris" has no word of "Lives in Berlin": who looks for candidates by words looks for these, too.
    """
    text = read_statement(text).text
    found = next((words for relation, words in _WORDINGS if relation.search(text)), "")
    stopped = [word for each in _STOPPED.findall(text) for word in _forms_of(each.casefold())]
    return " ".join((found, *stopped)).strip()


def _forms_of(gerund: str) -> list[str]:
    """ "smoking" as it stands in a sentence that says what somebody does."""
    base = gerund.removesuffix("ing")
    undoubled = base[:-1] if base[-1:] == base[-2:-1] else base
    return [form for root in dict.fromkeys((base, undoubled, base + "e")) for form in (root, root + "s")]


def _is_of_one(old: Statement, new: Statement) -> bool:
    """Do both begin alike: with the same name or verb, or with a bare "Is" or "Has"?"""
    return old.lead == new.lead or (old.tokens[0] == new.tokens[0] and old.tokens[0] in ("is", "has"))


def _denied(old: Statement, new: Statement) -> str:
    """The same, once with "not"; or the new one says that it was so once."""
    differ = old.turns ^ new.turns
    if differ == {"past"} and "past" in new.turns and set(new.words) <= set(old.words):
        return "it was so once"
    if differ != {"not"}:
        return ""
    denied, said = (old, new) if "not" in old.turns else (new, old)
    if set(denied.words) - set(said.words):
        return ""
    extra = set(said.words) - set(denied.words)
    if extra and denied is new and names_another(old, new):
        return ""
    # What no longer happens at all does not happen on Mondays either.
    same_times = old.times == new.times or (denied is new and not new.times)
    if not same_times or (extra and is_event(said)):
        return ""
    return "one says that it is so, the other that it is not"


def _swapped(old: Statement, new: Statement) -> str:
    if "prefer" not in old.words or not (_found(_OVER, old.text) and _found(_OVER, new.text)):
        return ""
    same = set(old.words) == set(new.words) and old.words != new.words
    return "the preference is turned round" if same else ""


def _of_one_kind(old: Statement, new: Statement) -> str:
    """ "Prefers dark mode" beside "prefers light mode": nothing else differs.

    Only of what is preferred, used or told of a thing: somebody owns a red car and a blue one, and runs in
    the morning and in the evening.
    """
    lost, gained = map(set, _difference(old, new))
    if not lost <= _ALL_KINDS or not gained <= _ALL_KINDS or old.times != new.times:
        return ""
    if is_event(old) or is_event(new) or _elsewhere(old, new):
        return ""
    values = [_value(statement) for statement in (old, new)]
    for kind in _KINDS:
        before, after = kind & lost, kind & gained
        if len(before) == len(after) == 1 and before <= values[0] and after <= values[1]:
            return f"{spelled(old, before)} became {spelled(new, after)}"
    return ""


def _value(statement: Statement) -> set[str]:
    """The words of what is told of a thing: after "is", "prefers" or "uses"; none when there is none."""
    found = _found(_CHOICE, statement.text) or _found(_SPLIT, statement.text)
    return set(read_statement(statement.text[found.end() :]).words) if found else set()


def _oftener(old: Statement, new: Statement) -> str:
    """Only how often is another."""
    before, after = HOW_OFTEN.search(old.text), HOW_OFTEN.search(new.text)
    if not before or not after or how_often(old) == how_often(new) or is_event(old) or is_event(new):
        return ""
    rest = [read_statement(s.text.replace(m[0], " ")) for s, m in ((old, before), (new, after))]
    return f"{before[0]!r} became {after[0]!r}" if set(rest[0].words) == set(rest[1].words) else ""


def _recounted(old: Statement, new: Statement) -> str:
    """Only a number or a date is another one."""
    lost, gained = _difference(old, new)
    if not lost or not gained or any(is_event(one) or read_change(one.text) for one in (old, new)):
        return ""
    if not all(is_number(word) or word in _UNITS for word in (*lost, *gained)):
        return ""
    if (
        _is_numbered(old, lost)
        or _is_numbered(new, gained)
        or not (_has_verb(old, lost) and _has_verb(new, gained))
    ):
        return ""
    if any(any(map(str.isalpha, mark)) for mark in old.marks ^ new.marks):
        return ""  # a number in an address or in the name of a file counts nothing
    dates = [word[0] == "@" for word in (*lost, *gained) if is_number(word)]
    if not any(map(is_number, lost)) or not any(map(is_number, gained)) or len(set(dates)) != 1:
        return ""
    if dates[0] and not (_is_dated(old) and _is_dated(new) and _parts(lost) == _parts(gained)):
        return ""  # the date says when it was so, not what is so
    return f"{spelled(old, lost)} became {spelled(new, gained)}"


def _is_numbered(statement: Statement, numbers: list[str]) -> bool:
    """Is a number part of what is spoken of: "invoice 1043 is paid", "room 12 has a window"?"""
    if found := _found(_SPLIT, statement.text):
        return bool(set(numbers) & set(read_statement(statement.text[: found.start()]).words))
    pairs = pairwise(statement.tokens)
    return any(token in _NUMBERED_VERBS and before in numbers for before, token in pairs)


def _has_verb(statement: Statement, numbers: list[str]) -> bool:
    """Does it say something of the number, or only name a thing: "problem set 3", "Sony 50mm f/1.8"?"""
    if _found(_SPLIT, statement.text) or not statement.text.isascii() or numbers[0][-1] == "%":
        return True
    before = takewhile(lambda token: word_of(token) not in numbers, statement.tokens)
    return any(
        token in _AUXILIARIES or token in IRREGULAR or (token.endswith(("s", "ed", "ing")) and len(token) > 3)
        for token in before
    )


def _is_dated(statement: Statement) -> bool:
    """Is the date what the sentence is about: "the deadline is 7 May", "returns on 7 May"?"""
    if found := _found(_SPLIT, statement.text):
        return all(map(is_number, read_statement(statement.text[found.end() :]).words))
    return _found(_SCHEDULE, statement.text) is not None


def _parts(dates: list[str]) -> set[str]:
    """Which parts of a date: "@d7" and "@d8" are of one kind, "@d7" and "@y2023" are not."""
    return {date[:2] for date in dates}


def _other_attribute(old: Statement, new: Statement) -> str:
    """ "X's favourite Y is A" beside "... is B"."""
    splits = [_found(_SPLIT, statement.text) for statement in (old, new)]
    if not splits[0] or not splits[1] or splits[0]["many"] or splits[1]["many"]:
        return ""
    key, other_key = (
        read_statement(s.text[: m.start()]) for s, m in zip((old, new), splits, strict=True) if m
    )
    before, after = (read_statement(s.text[m.end() :]) for s, m in zip((old, new), splits, strict=True) if m)
    if set(key.words) != set(other_key.words) or _is_plural(key) or _elsewhere(before, after):
        return ""
    if _ATTRIBUTES & set(key.words) or _found(_ATTRIBUTE_ZH, key.text):
        return _replaced(before, after, whole=(old, new))
    if _PERSONS & set(key.words) and _is_name(before) and _is_name(after):
        return _replaced(before, after, whole=(old, new))
    return ""


def _elsewhere(before: Statement, after: Statement) -> bool:
    """Do the values hold of different places or cases: "debug in dev", "debug in prod"?"""
    cases = [_found(_CASE, value.text) for value in (before, after)]
    words = [set(read_statement(found[1]).words) if found else set() for found in cases]
    return words[0] != words[1]


def _is_plural(key: Statement) -> bool:
    last = key.tokens[-1] if key.tokens else ""
    return last.endswith("s") and last not in _SINGULAR


def _is_name(value: Statement) -> bool:
    return all(word[0].isupper() for word in value.text.split())


def _other_relation(old: Statement, new: Statement) -> str:
    """ "Lives in A" beside "moved to B"."""
    before_at, after_at = _relations_in(old.text), _relations_in(new.text)
    for relation in sorted(before_at.keys() & after_at.keys()):
        places = ((old, before_at[relation]), (new, after_at[relation]))
        subjects = [read_statement(s.text[: at[0]]).words for s, at in places]
        values = [read_statement(s.text[at[1] :]) for s, at in places]
        if relation == 0 and any(map(_is_no_place, values)):
            continue
        if set(subjects[0]) == set(subjects[1]) and not _is_wider(*values):
            return _replaced(*values, whole=(old, new))
    return ""


@lru_cache(maxsize=4096)
def _relations_in(text: str) -> dict[int, tuple[int, int]]:
    """Which relations a text names, and where."""
    found = ((number, relation.search(text)) for number, relation in enumerate(_RELATIONS))
    return {number: match.span() for number, match in found if match}


def _is_no_place(value: Statement) -> bool:
    """ "Moved to the couch", "moved to another team", "moved to Notion"."""
    return _COMMON.match(value.text) is not None or is_tool(frozenset(value.words))


def _is_wider(one: Statement, other: Statement) -> bool:
    """Is one of them a country, and the other perhaps a place in it?"""
    return bool(_COUNTRIES & set(one.words)) != bool(_COUNTRIES & set(other.words))


def _other_choice(old: Statement, new: Statement) -> str:
    """ "Prefers A for meetings" beside "prefers B for meetings": the rest of the sentence is shared."""
    before, after = _found(_CHOICE, old.text), _found(_CHOICE, new.text)
    if not before or not after or read_statement(before[0]).words != read_statement(after[0]).words:
        return ""
    values = [s.text[m.end() :] for s, m in ((old, before), (new, after))]
    tails = [re.split(r"\s(?:for|as|when|in|on|at)\s", value, maxsplit=1) for value in values]
    if any(len(tail) != 2 for tail in tails):
        return ""
    (one, purpose), (other, other_purpose) = [[read_statement(part) for part in tail] for tail in tails]
    if not purpose.words or set(purpose.words) != set(other_purpose.words):
        return ""
    return _replaced(one, other, whole=(old, new))


def _now_otherwise(old: Statement, new: Statement) -> str:
    """ "Is reading A" beside "is reading B now": one short value in the place of another."""
    if not (_found(_NOW, new.text) or _found(_NOW, old.text)) or is_event(old) or is_event(new):
        return ""
    if any(_found(pattern, one.text) for pattern in (_MANY, _MIND) for one in (old, new)):
        return ""
    frame, lost, gained = _apart(old.words, new.words)
    if not lost or not gained or len(lost) > _MAX_NOW or len(gained) > _MAX_NOW or {*lost} & {*gained}:
        return ""
    if not set(frame) - old.names - new.names or (set(frame) <= {old.lead} and _named_lead(old)):
        return ""
    is_bare_choice = _found(_CHOICE, new.text) and set(frame) <= {old.lead, *_CHOICES}
    if is_bare_choice and not of_one_use(frozenset(lost), frozenset(gained)):
        return ""  # people use many things, each for something else
    if all(map(is_number, lost)) or all(map(is_number, gained)):
        return ""
    return f"{spelled(old, lost)} became {spelled(new, gained)}"


def _apart(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """(the words that both begin and end with, what stands between in one, and in the other)."""
    start = _shared(one, other)
    end = _shared(one[start:][::-1], other[start:][::-1])
    frame = [*one[:start], *one[len(one) - end :]]
    return frame, list(one[start : len(one) - end]), list(other[start : len(other) - end])


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """With how many same words both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _named_lead(statement: Statement) -> bool:
    """Is the first word somebody's name, as far as the second one tells: "Anna reads" and not "Reads"?"""
    second = statement.tokens[1] if len(statement.tokens) > 1 else ""
    return second in ("is", "has", "was", "will", "can", "now", "and") or second.endswith(("s", "ed"))


def _replaced(before: Statement, after: Statement, *, whole: tuple[Statement, Statement]) -> str:
    """Is one value put in the other's place? Not when they share words, or tell of different times."""
    old, new = whole
    lost, gained = set(before.words), set(after.words)
    if not lost or not gained or len(lost) > _MAX_VALUE or len(gained) > _MAX_VALUE:
        return ""
    if lost <= gained or gained <= lost or (old.times and new.times and old.times.isdisjoint(new.times)):
        return ""
    if lost & gained - {"near"} and (len(lost) > 2 or len(gained) > 2):
        return ""
    if all(map(is_number, lost)) != all(map(is_number, gained)):
        return ""
    return f"{spelled(before, lost)} became {spelled(after, gained)}"


def _difference(old: Statement, new: Statement) -> tuple[list[str], list[str]]:
    before, after = set(old.words), set(new.words)
    return [word for word in old.words if word not in after], [
        word for word in new.words if word not in before
    ]
