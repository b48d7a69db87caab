"""Does one of two statements say all that the other says, so that one line is enough?

The vetoes of merging: whatever differs in number, date, name, person, "not", order or role keeps both lines.
Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, pairwise

from hindbrain.memory.conflicts.statement import (
    MAX_CHARS,
    Statement,
    how_often,
    is_event,
    is_number,
    word_of,
    words_of,
)
from hindbrain.memory.conflicts.wording import ADVERBS, IRREGULAR, WEAK, word_set

_WEAK = words_of(WEAK)
_DIRECTED = words_of(
    word_set("""
    give teach invite recommend tell lend sell send help follow beat owe pay ask hire report manage mentor
    introduce show lead defeat thank advise propose
    """)
)
_COMPARING = frozenset(("over", "than", "instead"))
_BETWEEN = frozenset(("and", "or", "a", "an", "the", "of"))
_IS = frozenset(("is", "are", "was", "were"))
_POSSESSIVE = re.compile(r"\W*(?:the\s+)?\w+['’]s?\s", re.I)
_OWNER = re.compile(r"(\w+)['’](?:s\b|(?=\s))")
_OF = frozenset(("of", "from", "by", "with"))
_LIMITS = word_set("in on for when at during under if as while within")
_UNIVERSAL = word_set("all every any each both whole entire")
_TELLING = word_set("with for about near under behind as against")
_COMPANY = frozenset(("with", "for", "to", "by", "from"))
_HAS = frozenset(("has", "have", "had", "owns", "got", "with"))
_SENTENCES = re.compile(r"[.!?;\n]\s*\w")
_ONE_SENTENCE = 20  # words
_BACK = {"from": "to", "to": "from"}


def why_apart(old: Statement, new: Statement) -> str:
    """Why the two must not become one line although they are alike; "" when one says all of the other."""
    if max(len(old.text), len(new.text)) > MAX_CHARS and old.text != new.text:
        return "too long to compare"
    if old.turns != new.turns:
        return "one says it with a condition, as a plan, of another time, or not at all"
    if how_often(old) != how_often(new):
        return "one says another how often"
    fuller, other = fuller_of(old, new)
    as_much = set(old.words) == set(new.words)
    return _what_is_lost(fuller, other) or (_what_is_lost(other, fuller) if as_much else "")


def _what_is_lost(fuller: Statement, other: Statement) -> str:
    """What of `other` is not said by `fuller`; "" when all of it is."""
    extra = set(fuller.words) - set(other.words)
    if _numbers_differ(fuller, other, extra):
        return "the numbers or dates differ"
    if not other.names <= set(fuller.tokens) or not other.marks <= fuller.marks:
        return "the names differ"
    if other.kin - fuller.kin or _foreign_kin(fuller, other):
        return "they speak of different people"
    if fuller.lead in extra or _is_beside(fuller, other) or _is_beside(other, fuller):
        return "they begin with another subject"
    if set(other.words) - set(fuller.words):
        return "each says something that the other does not"
    if (
        _compounded(fuller, extra)
        or _verb_added(fuller, other)
        or (len(extra) > 1 and is_event(fuller) != is_event(other))
    ):
        return "one says something else of it"
    if not is_event(fuller) and _narrowed(fuller, extra):
        return "one says it of fewer cases"
    if _governed_otherwise(other, fuller):
        return "the same words in other roles"
    if _directions(fuller) & {(_BACK[way], word) for way, word in _directions(other)}:
        return "one says to, the other from"
    if not _in_order(other, fuller) or _owned_otherwise(other, fuller) or _is_turned(other, fuller):
        return "the same words in other roles"
    return ""


def _numbers_differ(fuller: Statement, other: Statement, extra: Collection[str]) -> bool:
    """Whether a number or date of `other` is missing in `fuller`, or stands in another order or role.

    "From 9 to 5" is not "from 5 to 9", and 2 eggs and 3 apples are not 3 eggs and 2 apples. Where both have
    numbers, a further one must bring a further word: "codes 4 and 7" are not "codes 4, 7 and 7".
    """
    mine, theirs = ([value for value, _ in statement.values] for statement in (other, fuller))
    further = Counter(theirs) - Counter(mine)
    if Counter(mine) - Counter(theirs) or not _in_sequence(other.dates, fuller.dates):
        return True
    if mine and any(value in further and after not in extra for value, after in fuller.values):
        return True
    if len(mine) < 2:
        return False
    counts = all(after and not is_number(after) for _, after in other.values)
    return not set(other.values) <= set(fuller.values) or not (counts or _is_within(mine, theirs))


def _in_sequence(dates: Sequence[str], among: Sequence[str]) -> bool:
    """Days, months, years and weekdays each in the order in which the other has them."""
    return all(
        _is_within([one for one in dates if one[:2] == part], [one for one in among if one[:2] == part])
        for part in {one[:2] for one in dates}
    )


def _is_within(some: Iterable[str], among: Iterable[str]) -> bool:
    """Whether `among` has these in this order, perhaps with others between them."""
    rest = iter(among)
    return all(one in rest for one in some)


def _foreign_kin(fuller: Statement, other: Statement) -> bool:
    """Does the fuller one speak of somebody else's matter? "Anna and her sister ..." still is Anna's."""
    tokens = fuller.tokens
    for at, token in enumerate(tokens):
        word = word_of(token)
        if word in fuller.kin and word not in other.kin:
            before = set(tokens[max(0, at - 2) : at])
            if not before & {"and", "with"}:
                return True
    return False


def _is_beside(leading: Statement, other: Statement) -> bool:
    """ "Friends play" beside "plays with friends": who leads here, comes along there."""
    if leading.lead not in leading.kin or leading.lead == other.lead:
        return False
    places = [at for at, token in enumerate(other.tokens) if word_of(token) == leading.lead]
    return any(_COMPANY.intersection(other.tokens[max(0, at - 2) : at]) for at in places)


def _compounded(fuller: Statement, extra: Collection[str]) -> bool:
    """ "Allergic to cat food" beside "allergic to cats": an added word behind a thing names another thing.

    Not so when the added words stand before a shared one ("lavender scented shampoo"), or behind the verb.
    """
    words = [word_of(token) for token in fuller.tokens]
    verbs = {fuller.lead, *(word for word in fuller.words[1:2] if _is_verb(fuller, word))}
    for at, (word, after) in enumerate(pairwise(words)):
        if not word or word in extra or word in verbs or is_number(word) or not _names_more(after, extra):
            continue
        end = next((i for i in range(at + 1, len(words)) if words[i] not in extra), len(words))
        is_adverb = fuller.tokens[at + 1] in ADVERBS or fuller.tokens[at + 1].endswith("ly")
        if not is_adverb and not (end < len(words) and words[end]):
            return True
    return False


def _names_more(word: str, extra: Collection[str]) -> bool:
    return word in extra and not is_number(word)


def _verb_added(fuller: Statement, other: Statement) -> bool:
    """Has the fuller one a verb after the subject that the other lacks: "bought a car", "has a car"?"""
    words = fuller.words
    if len(words) < 2 or words[1] in other.words or words[1] in _WEAK or _POSSESSIVE.match(fuller.text):
        return False
    return _is_verb(fuller, words[1])


def _is_verb(statement: Statement, word: str) -> bool:
    """Has it the form of one? Many nouns have, too: where it matters, two lines stay."""
    forms = [token for token in statement.tokens if word_of(token) == word]
    return any(form.endswith(("s", "ed", "ing")) or form in IRREGULAR for form in forms)


def _narrowed(fuller: Statement, extra: Collection[str]) -> bool:
    """ "Never use tabs in Python" beside "never use tabs": the shorter one says more.

    Of what happened, a place or a time is a detail; of what holds, it may be a limit.
    """
    governed = False
    for token in fuller.tokens:
        word = word_of(token)
        if governed and word in extra and token not in _UNIVERSAL:
            return True
        # "in all apps" is no limit
        governed = token in _LIMITS or (governed and not word and token not in _UNIVERSAL)
    return False


def _governed_otherwise(one: Statement, other: Statement) -> bool:
    """ "Lunch with Kim" beside "lunch for Kim"."""
    here, there = _governors(one), _governors(other)
    shared = here.keys() & there.keys()
    return any(here[word] != there[word] and _TELLING & {here[word], there[word]} for word in shared)


def _governors(statement: Statement) -> dict[str, str]:
    """The preposition before each word that has one."""
    found: dict[str, str] = {}
    preposition = ""
    for token in statement.tokens:
        word = word_of(token)
        if token in _LIMITS or token in _TELLING or token in _OF:
            preposition = token
        elif word:
            if preposition:
                found[word] = preposition
            preposition = ""
    return found


def _directions(statement: Statement) -> set[tuple[str, str]]:
    """ "from Berlin", "to Paris": the way, and the word that follows."""
    tokens = statement.tokens
    found = set()
    for at, token in enumerate(tokens):
        if token in ("from", "to"):
            after = next(filter(None, map(word_of, tokens[at + 1 : at + 4])), "")
            found.add((token, after))
    return found


def _is_equation(statement: Statement) -> bool:
    return sum(token in _IS for token in statement.tokens) == 1


def _in_order(other: Statement, fuller: Statement) -> bool:
    """Are the words of one in the same order in the other? Asked where order alone tells roles: in scripts
    without spaces, and of what is more than one plain sentence."""
    plain = other.text.isascii() and not _SENTENCES.search(other.text) and len(other.words) <= _ONE_SENTENCE
    plain = plain and not any(len(word) == 1 and word.isupper() for word in other.words)  # server A, server B
    return plain or _is_within(other.words, fuller.words)


def _owned_otherwise(one: Statement, other: Statement) -> bool:
    """ "Kim's manager" beside "the manager is Kim": one of them only tells whose it is."""
    for here, there in ((one, other), (other, one)):
        bare = (_owners(here) & set(there.words)) - _owners(there)
        if any(not _may_own(word, there.tokens) for word in bare):
            return True
    return False


def _owners(statement: Statement) -> set[str]:
    return {word_of(found.casefold()) for found in _OWNER.findall(statement.text)}


def _may_own(word: str, tokens: Sequence[str]) -> bool:
    """ "the dog of John", "John has a dog", "got it from John"."""
    for at, token in enumerate(tokens):
        around = (*_OF.intersection(tokens[max(0, at - 3) : at]), *_HAS.intersection(tokens[at + 1 : at + 3]))
        if word_of(token) == word and around:
            return True
    return False


def _is_turned(one: Statement, other: Statement) -> bool:
    """Does one of those who act come before another here, and after it there?"""
    here, there = _roles(one, other), _roles(other, one)
    return _inverted(here, there) or _inverted(there, here)


def _inverted(one: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    places = {word: at for at, group in enumerate(other) for word in group}
    return any(
        places.get(after, 0) < places.get(before, 0)
        for first, second in combinations(one, 2)
        for before in first
        for after in second
    )


def _roles(statement: Statement, beside: Statement) -> list[frozenset[str]]:
    """Who does what to whom: names, kin and verbs with a direction, in order, lists as sets."""
    shared = set(statement.words) & set(beside.words)
    compares = not _COMPARING.isdisjoint(statement.tokens) or (
        "prefer" in statement.words and "to" in statement.tokens
    )
    if not (compares or _DIRECTED & shared) and _is_equation(statement) and _is_equation(beside):
        return []  # "A is B" and "B is A" say the same
    people = {word_of(name) for name in (*statement.names, *beside.names)}
    people |= statement.kin
    if statement.lead == beside.lead:
        people.add(statement.lead)
    roles: list[frozenset[str]] = []
    in_list = False
    for token in statement.tokens:
        word = word_of(token)
        if word in shared and (compares or word in people or word in _DIRECTED):
            joins = in_list and not compares and word not in _DIRECTED
            roles[-1:] = [roles[-1] | {word}] if joins else [*roles[-1:], frozenset((word,))]
            in_list = word not in _DIRECTED
        elif token not in _BETWEEN and not (word and is_number(word)):
            in_list = False
    return roles


def fuller_of(old: Statement, new: Statement) -> tuple[Statement, Statement]:
    """(the one that says more, the other); the newer first where both say as much."""
    if len(set(old.words) - set(new.words)) > len(set(new.words) - set(old.words)):
        return old, new
    return new, old
