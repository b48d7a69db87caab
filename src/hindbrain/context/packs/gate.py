"""The gate: does the vault have something to say to a prompt, or is it only the nearest that was found?

A search always finds something. What it found is put into one number (`score_of`), and that number is
compared with what generic prompts ("fix the failing test", "write a poem", "thanks!") get from the same vault
(`Null`). A prompt gets notes where at most `context.false_rate` of those of about its length score as high.
Where the vault has notes in the prompt's language, the generic prompts of that language are a null of their
own: they share its everyday words, which those of other languages do not. The strictest null decides.

The words that generic prompts are made of count little, however rare they are in a vault: where no note says
"refactor", its idf would make it the most telling word of a prompt.

Pure. Measuring a `Null` and keeping it is the business of `null_file`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.search.generic_prompts import generic_count
from hindbrain.search.lexical import idf

if TYPE_CHECKING:
    from hindbrain.search.hit import Hit, QueryWord

LOOKED_AT = 5  # hits, the best ranked
LEAST_PASSAGES = 300  # a smaller vault is judged as if it had as many: in a handful of notes no word is rare
_COMMON = 0.3  # of a word's weight that it has however common it is in the vault
_MOST_SAID = 6  # words
_PAIRED = ("zh", "ja")  # written without spaces: a word is about two of the pairs that are looked for
_COMPARED = 250  # generic prompts: those that are nearest in length
_COMPARED_SHARE = 2 / 3  # of a shorter list, so that its short prompts are not all compared with long ones
_LEAST_COMPARED = 40
ASKED_RATE = 0.5  # of generic prompts that may score as high, where a prompt asks for its owner's notes
_ASKS_FOR_NOTES = re.compile(
    r"\b(?:my|our) (?:own )?(?:notes?|vault|journal|diary)\b|\bdid (?:i|we) (?:write|note|jot)\b"
    r"|\bmeine[nrm]? (?:notiz(?:en)?|tagebuch)\b",
    re.IGNORECASE,
)


class Evidence(NamedTuple):
    """What a search found for a prompt, in the numbers that the gate weighs. Without hits, all are 0."""

    words: int = 0  # that were looked for
    together: float = 0.0  # the weights of the prompt's words in the passage that has most of them
    rarest: float = 0.0  # the weight of the most telling word that was found, 0..1
    cosine: float | None = None  # of the nearest passage; None where meaning was not looked at
    named: float = 0.0  # how much of the prompt is the name of a note, 0..1
    said: float = 0.0  # words of the prompt that are in no generic prompt, found or not, at most 6 (12 pairs)
    languages: tuple[str, ...] = ()  # that the prompt may be in besides English


class Null(NamedTuple):
    """What generic prompts get from one vault, by one way of searching."""

    scores: tuple[tuple[int, float], ...]  # (words, score) of each prompt that found something, ascending
    cosine_mean: float = 0.0  # of the nearest passage of each
    cosine_spread: float = 1.0
    language: str = ""  # of the prompts, for the null of one language; "": of all prompts

    def share_above(self, score: float, words: int) -> float:
        """How many of the generic prompts of about this length score at least as high, 0..1."""
        near = self._of_length(words)
        above = sum(1 for other in near if other >= score)
        if self.language:  # a list of eighty can't tell one in a hundred; the null of all prompts does
            return above / len(near)
        # One is added on both sides: no finite sample shows that nothing scores as high.
        return (1 + above) / (1 + len(near))

    def _of_length(self, words: int) -> list[float]:
        at = math.log1p(words)
        nearest = sorted(self.scores, key=lambda one: (abs(math.log1p(one[0]) - at), one))
        most = min(_COMPARED, max(_LEAST_COMPARED, round(_COMPARED_SHARE * len(nearest))))
        return [score for _, score in nearest[: most if self.language else _COMPARED]]


class Verdict(NamedTuple):
    """What the gate says of one prompt."""

    allowed: bool
    sure: float  # 0..1: the share of generic prompts that score lower


# Rounded from a logistic regression over the dev vaults and conversations, answered questions against generic
# prompts; _NAMED was 24 and is lowered by hand. Answers kept at a rate of 5 %: 89 % with these, 88 % when
# each group was judged by a fit on the others.
_TOGETHER = 3.0
_RAREST = -1.5  # one rare word in common says less than several
_COSINE = 0.75
_NAMED = 14.0
_SAID = 0.25
_LONG_NAME = 0.2  # for a prompt that holds a name of several words
_IDENTIFIER = re.compile(r"(?=.*\d)(?=.*[^\W\d_])\w{4,}|\d{5,}")  # "kite1234", "48213"; not "3x3", "2024"
_FEW_HOLD = 5  # passages, where an identifier names what they are about
_IDENTIFIED = 0.3  # as much as a name that is this part of the prompt


def asks_for_notes(prompt: str) -> bool:
    """Does it say that the owner's notes are meant? Then nothing else could answer."""
    return _ASKS_FOR_NOTES.search(prompt) is not None


def evidence_of(
    hits: Sequence[Hit],
    words: Sequence[QueryWord],
    passages: int,
    own: int = 0,
    languages: tuple[str, ...] = (),
) -> Evidence:
    """`own`: 1 for a prompt that is itself one of the generic ones, whose words then count one less.
    `languages`: that the prompt may be in besides English.
    """
    if not hits or not words:
        return Evidence(words=len(words))
    size = max(passages, LEAST_PASSAGES)
    most = idf(0, size)
    generic = {word.text: generic_count(word.text, own, languages) for word in words}
    weights = {
        word.text: (_COMMON + (1 - _COMMON) * idf(word.held, size) / most) / (1 + generic[word.text])
        for word in words
    }
    most_said = _MOST_SAID * (2 if any(one in _PAIRED for one in languages) else 1)
    best = hits[:LOOKED_AT]
    held = [{term for term in hit.terms if term in weights} for hit in best]
    identified = any(_is_identifier(word) for word in words if any(word.text in terms for terms in held))
    return Evidence(
        words=len(words),
        together=max(sum(weights[term] for term in terms) for terms in held),
        rarest=max((weights[term] for terms in held for term in terms), default=0.0),
        cosine=max((hit.cosine for hit in best if hit.cosine is not None), default=None),
        named=max(_IDENTIFIED if identified else 0.0, *map(_named, hits)),
        said=min(most_said, sum(not count for count in generic.values())),
        languages=languages,
    )


def _is_identifier(word: QueryWord) -> bool:
    """Has it letters and digits, or many digits, in few passages and in no generic prompt?

    One such word is enough: of 505 public generic prompts 0 to 3 have one that is in a vault, too.
    """
    few = word.held <= _FEW_HOLD and not generic_count(word.text, 0)
    return few and _IDENTIFIER.fullmatch(word.text) is not None


def _named(hit: Hit) -> float:
    """How much of the prompt is the note's name; a name of several words is no chance in a long one, too."""
    return max(hit.named, _LONG_NAME) if hit.named and len(hit.title.split()) > 1 else hit.named


def score_of(evidence: Evidence, null: Null) -> float:
    """Higher: more likely an answer. Comparable between prompts to one vault."""
    nearness = 0.0
    if evidence.cosine is not None:
        nearness = (evidence.cosine - null.cosine_mean) / (null.cosine_spread or 1.0)
    return (
        _TOGETHER * evidence.together
        + _RAREST * evidence.rarest
        + _COSINE * nearness
        + _NAMED * evidence.named
        + _SAID * evidence.said
    )


def judge(evidence: Evidence, nulls: Sequence[Null], false_rate: float) -> Verdict:
    """May what was found enter, compared with each null of all prompts or of a language of this one?

    A prompt without words gets nothing at any rate.
    """
    if not evidence.words:
        return Verdict(allowed=False, sure=0.0)
    own = [null for null in nulls if not null.language or null.language in evidence.languages]
    share = max(null.share_above(score_of(evidence, null), evidence.words) for null in own)
    return Verdict(allowed=share <= false_rate, sure=1 - share)


def null_of(found: Sequence[Evidence], language: str = "") -> Null:
    """The null of a vault, from what each generic prompt (of one language) found in it."""
    cosines = [one.cosine for one in found if one.cosine is not None]
    mean = sum(cosines) / len(cosines) if cosines else 0.0
    variance = sum((cosine - mean) ** 2 for cosine in cosines) / len(cosines) if cosines else 0.0
    scale = Null((), mean, math.sqrt(variance) or 1.0, language)
    scores = ((one.words, round(score_of(one, scale), 4)) for one in found if one.words)
    return scale._replace(scores=tuple(sorted(scores)))
