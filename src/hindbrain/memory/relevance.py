"""How well each memory fits a prompt, and whether it fits at all.

Meaning leads and shared words help. A memory must fit the prompt better than generic prompts do ("fix the
failing test", "good morning"): their nearness is taken off. The bar is what generic prompts themselves reach
among these very memories, so it holds for any owner, language and encoder. `python -m benchmarks.memory_lane`
chose the constants on dev data and prints what each part is worth.

Pure but for the encoder. Knows nothing of notes, packs or sessions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hindbrain.base.errors import EmbedderError
from hindbrain.memory.other_names import OtherNames
from hindbrain.search.generic_prompts import GenericPrompt, generic_prompts, prompts_in
from hindbrain.search.languages import prompt_languages
from hindbrain.search.telling import SMALL_TALK, stem, telling_words
from hindbrain.search.terms import STOP_WORDS
from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.memory.encoded_texts import EncodedTexts
    from hindbrain.models.embedder import Vectors
    from hindbrain.models.static import StaticEmbedder

MOST_FITS = 200
_SHARED_WORDS = 0.2  # for a memory that holds all words of the prompt, beside meaning
_FEW_WORDS = 4  # telling words below which a prompt says little,
_PER_MISSING_WORD = 0.05  # and what each missing one costs
_SAYS_NOTHING = 20  # words that small talk counts as missing: then a cue alone brings a memory
_NEAREST_PROMPTS = 5  # generic prompts whose mean nearness is taken off
_BEHIND_BEST = 0.2  # a memory that far behind the best one is not shown beside it
_STEEP = 10.0  # of the curve from a margin to a confidence
_CUE = 1.0  # for a memory whose cue stands in the prompt, word for word
_CUE_MEANING = 0.8  # of a cue's cosine: a word or two resemble more prompts than a sentence does
_COMMON_CUE = 0.005  # share of generic prompts with it, above which a cue tells nothing
_JUDGED_BY = ("coding", "agent")  # generic prompts that set the bar: general tasks may touch a memory
_STOP_WORD, _SMALL_WORD = 0.2, 0.5  # weights in the built-in table
_UNKNOWN_NAME = 0.25  # a weight: the table takes Carmen for a car
_TABLE_SHARE = 0.23  # of the cosine, beside an encoder
_LONGEST = 2_000  # characters of a prompt or a memory that are looked at
_NO_NAMES = OtherNames()
_TYPICAL = Path(__file__).with_name("typical_memories.txt")
_ERRANDS = Path(__file__).with_name("errands.txt")


class TextEncoder(Protocol):
    """Turns short texts into vectors of length 1."""

    name: str
    shared_words: float  # for a memory that holds all words of the prompt
    per_missing_word: float  # taken off for each word that a prompt has less than it takes to say something
    false_rate: float  # times the owner's `context.false_rate`: how often a generic prompt may get a memory

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class TableEncoder:
    """The built-in table, with little weight on words that say little."""

    shared_words = _SHARED_WORDS
    per_missing_word = _PER_MISSING_WORD
    false_rate = 2.0  # it separates less well than a model: at the same rate it would show half as much

    def __init__(self, table: StaticEmbedder) -> None:
        self._table = table
        self.name = table.name

    def encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        from hindbrain.models.static import words_of

        rows = [
            self._table.embed_weighted((word, self._weight(word)) for word in words_of(text[:_LONGEST]))
            for text in texts
        ]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self._table.dim)

    def _weight(self, word: str) -> float:
        folded = word.lower()
        if folded in STOP_WORDS:
            return _STOP_WORD
        if folded in SMALL_TALK:
            return _SMALL_WORD
        return _UNKNOWN_NAME if word[0].isupper() and self._table.is_cut_after_word(word) else 1.0


class SideBySide:
    """The encoder and the table: their cosines add up, since each knows words that the other does not."""

    shared_words = 0.1
    per_missing_word = 0.03
    false_rate = 2.0

    def __init__(self, encoded: EncodedTexts, table: TextEncoder) -> None:
        self._encoded = encoded
        self._table = table
        self.name = f"{encoded.name}+{table.name}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        ours = math.sqrt(1 - _TABLE_SHARE) * self._encoded.encode(texts)
        theirs = math.sqrt(_TABLE_SHARE) * self._table.encode(texts)
        both: Vectors = np.concatenate([ours, theirs], axis=1, dtype=np.float32)
        return both


class Fit(NamedTuple):
    """A memory and how well it fits."""

    item: MemoryItem
    margin: float  # above the bar; higher is better, and comparable between prompts
    close: bool  # fits better than generic prompts do, and not far worse than the best one


def near(fits: Sequence[Fit], least: float) -> list[Fit]:
    """Those with that margin at least, and not far worse than the best one; `fits` has the best first."""
    bar = max(least, fits[0].margin - _BEHIND_BEST) if fits else 0.0
    return [fit for fit in fits if fit.margin >= bar]


def confidence_of(margin: float) -> float:
    """A margin as a number from 0 to 1; 0.5 is the bar."""
    return 1 / (1 + math.exp(-_STEEP * margin))


class WordsAlone:
    """For an owner who wants no embedder: memories are judged by shared words and cues."""

    name = "words"
    shared_words = 1.0
    per_missing_word = 0.0
    false_rate = 1.0

    def encode(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        return np.zeros((len(texts), 1), dtype=np.float32)


class Relevance:
    """Judges memories with one encoder. Keeps vectors of texts it has seen. For one thread."""

    def __init__(self, encoder: TextEncoder, *, false_rate: float) -> None:
        self._encoder = encoder
        self._false_rate = min(1.0, false_rate * encoder.false_rate)
        self._seen: dict[str, _Text] = {}
        self._generic: dict[str, _Generic] = {}  # by language; "" is the list for all
        self._typical: _Memories | None = None
        self._memories: tuple[object, _Memories] | None = None

    def rank(
        self,
        prompt: str,
        items: Sequence[MemoryItem],
        *,
        asked: bool = False,
        limit: int = MOST_FITS,
        names: OtherNames = _NO_NAMES,
        version: object = None,
    ) -> list[Fit]:
        """At most `limit` of the items, the best first.

        `asked`: somebody asks for memories, so that few words are no reason to doubt. `names`: other names of
        what memories speak of. `version`: the same value promises the same items and names as last time.
        """
        import numpy as np

        if not items or not prompt.strip():
            return []
        memories = self._prepared(items, names, version)
        languages = listed_languages(prompt)
        bar = self._bar(memories, languages)
        prompts = _Prompts([prompt], self._encoder.encode([prompt]), languages)
        nearness = np.max([self._known(one).nearness(prompts.vectors) for one in languages], axis=0)
        scores = self._scores(prompts, memories, nearness)[0]
        if asked:
            scores += self._encoder.per_missing_word * prompts.missing[0]
        by_fit = float(scores.max()) - bar  # of the best one, whatever cues say
        scores[memories.cued(prompt)] += _CUE
        best = _best(scores, limit)
        order = sorted(best, key=lambda at: (-scores[at], items[at].path, items[at].line))
        margins = [float(scores[at]) - bar for at in order]
        least = max(0.0, by_fit - _BEHIND_BEST)
        return [Fit(items[at], margin, margin >= least) for at, margin in zip(order, margins, strict=True)]

    def _prepared(self, items: Sequence[MemoryItem], names: OtherNames, version: object) -> _Memories:
        if version is not None and self._memories is not None and self._memories[0] == version:
            return self._memories[1]
        memories = _Memories(items, self._read(text for item in items for text in _texts(item)), names)
        self._memories = (version, memories)
        return memories

    def _read(self, texts: Iterable[str]) -> list[_Text]:
        wanted = list(texts)
        new = [text for text in dict.fromkeys(wanted) if text not in self._seen]
        kept = {text: self._seen[text] for text in wanted if text in self._seen}
        kept.update(zip(new, _read(new, self._encoder.encode(new)), strict=True) if new else ())
        self._seen = kept
        return [kept[text] for text in wanted]

    def _bar(self, memories: _Memories, languages: Sequence[str]) -> float:
        """The score that generic prompts of these languages reach as often as they may.

        Among these memories, or among typical ones: among a handful, generic prompts reach little.
        """
        if self._typical is None:
            texts = _typical_memories()
            items = [MemoryItem("", text) for text in texts]
            self._typical = _Memories(items, _read(texts, self._encoder.encode(texts)))
        return max(self._bar_of(some, one) for some in (memories, self._typical) for one in languages)

    def _bar_of(self, memories: _Memories, language: str) -> float:
        import numpy as np

        if language not in memories.bars:
            generic = self._known(language)
            nearness = generic.judging_nearness
            if language:
                nearness = np.maximum(nearness, self._known("").nearness(generic.judging.vectors))
            best = self._scores(generic.judging, memories, nearness).max(axis=1)
            memories.bars[language] = float(np.quantile(best, 1.0 - self._false_rate))
        return memories.bars[language]

    def _scores(self, prompts: _Prompts, memories: _Memories, nearness: Vectors) -> Vectors:
        """Rows of prompts, columns of memories."""
        import numpy as np

        taken_off = nearness + np.float32(self._encoder.per_missing_word) * prompts.missing
        return memories.fit(prompts, self._encoder.shared_words) - taken_off[:, None]

    def _known(self, language: str) -> _Generic:
        if language not in self._generic:
            self._generic[language] = _Generic(self._encoder, language)
        return self._generic[language]


class BestRelevance:
    """Judges with the encoder where it has read all memories, else with the table. For one thread."""

    def __init__(
        self, table: TextEncoder, encoded: Callable[[], EncodedTexts | None], *, false_rate: float
    ) -> None:
        """`encoded`: None in a process that does without, or where there is no encoder."""
        self._table_encoder = table
        self._table = Relevance(table, false_rate=false_rate)
        self._encoded = encoded
        self._false_rate = false_rate
        self._better: Relevance | None = None

    def rank(
        self,
        prompt: str,
        items: Sequence[MemoryItem],
        *,
        asked: bool = False,
        limit: int = MOST_FITS,
        names: OtherNames = _NO_NAMES,
        version: object = None,
    ) -> list[Fit]:
        """As `Relevance.rank`. An encoder that fails costs its better judgement alone."""
        for judge in (self._best_for(prompt, items), self._table):
            with suppress(EmbedderError):
                return judge.rank(prompt, items, asked=asked, limit=limit, names=names, version=version)
        return []

    def encode_some(self, budget_s: float) -> bool:
        """Let the encoder read memories, for about that long; return whether there are more.

        Raises ConfigError or EmbedderError when it can't be used.
        """
        encoded = self._encoded()
        return encoded is not None and encoded.encode_some(budget_s)

    def _best_for(self, prompt: str, items: Sequence[MemoryItem]) -> Relevance:
        encoded, languages = self._encoded(), listed_languages(prompt)
        if encoded is None or not encoded.reads(languages):
            return self._table
        if not encoded.knows(texts_to_read(items, languages)):
            return self._table
        if self._better is None:
            both = SideBySide(encoded, self._table_encoder)
            self._better = Relevance(both, false_rate=self._false_rate)
        return self._better


def texts_to_read(items: Sequence[MemoryItem], languages: Sequence[str] = ("",)) -> Iterable[str]:
    """Everything that has to be read before memories can be judged."""
    yield from (text for item in items for text in _texts(item))
    yield from (prompt.text for language in languages for prompt in _prompts_in(language))
    yield from _typical_memories()


def listed_languages(prompt: str) -> tuple[str, ...]:
    """The lists of generic prompts that a prompt is compared with; "" is the one for all."""
    return ("", *(language for language in prompt_languages(prompt) if prompts_in(language)))


@cache
def _prompts_in(language: str) -> tuple[GenericPrompt, ...]:
    """Errands of a household or a shop resemble a person's life, and need no memory of it either."""
    if language:
        return prompts_in(language)
    errands = (GenericPrompt("errand", text) for text in _ERRANDS.read_text("utf-8").splitlines())
    return (*generic_prompts(), *errands)


class _Prompts:
    def __init__(self, texts: Sequence[str], vectors: Vectors, languages: Sequence[str]) -> None:
        import numpy as np

        self.vectors = vectors
        self.telling = [_telling(text) for text in texts]
        talk = frozenset[str]().union(*map(_talk_words, languages))
        # How many telling words each has less than it takes to say something.
        self.missing = np.array([_missing(words, talk) for words in self.telling], dtype=np.float32)


class _Generic:
    """The generic prompts, encoded."""

    def __init__(self, encoder: TextEncoder, language: str) -> None:
        import numpy as np

        prompts = _prompts_in(language)
        self._vectors = encoder.encode([prompt.text for prompt in prompts])
        rows = [at for at, prompt in enumerate(prompts) if prompt.kind in _JUDGED_BY]
        self.judging = _Prompts([prompts[at].text for at in rows], self._vectors[rows], ("", language))
        among = self._vectors[rows] @ self._vectors.T
        among[np.arange(len(rows)), rows] = -1.0  # each is judged as if it were not in the list
        self.judging_nearness = _mean_of_nearest(among)

    def nearness(self, vectors: Vectors) -> Vectors:
        return _mean_of_nearest(vectors @ self._vectors.T)


class _Text(NamedTuple):
    """What is known of a text, however often it is compared."""

    vector: Vectors
    roots: frozenset[str]
    tells: bool  # what has no telling word ("a b c d") resembles anything, and says nothing


def _read(texts: Sequence[str], vectors: Vectors) -> list[_Text]:
    return [
        _Text(vector, frozenset(weights), 1.0 in weights.values())
        for text, vector in zip(texts, vectors, strict=True)
        for weights in [telling_words(text).weights]
    ]


class _Memories:
    """The vectors and words of the memories, ready to be compared."""

    def __init__(
        self, items: Sequence[MemoryItem], texts: Sequence[_Text], names: OtherNames = _NO_NAMES
    ) -> None:
        """`texts`: of each item its text and its cues, one after the other."""
        import numpy as np

        self.bars: dict[str, float] = {}  # what generic prompts reach among them, by language
        self._count = len(items)
        self._vectors = np.stack([text.vector for text in texts])
        self._starts = np.cumsum([0, *(len(_texts(item)) for item in items)])
        self._weights = np.full(len(texts), _CUE_MEANING, dtype=np.float32)
        self._by_stem: dict[str, list[int]] = {}
        self._cues: dict[tuple[str, ...], list[int]] = {}
        for at, (item, start, end) in enumerate(zip(items, self._starts, self._starts[1:], strict=False)):
            self._weights[start] = float(texts[start].tells)
            for root in frozenset().union(*(text.roots for text in texts[start:end])):
                self._by_stem.setdefault(root, []).append(at)
            for cue in _telling_cues([*item.cues, *names.of(item.text)]):
                self._cues.setdefault(tuple(_stems(cue)), []).append(at)
        self._starts = self._starts[:-1]

    def fit(self, prompts: _Prompts, shared_words: float) -> Vectors:
        import numpy as np

        scores = np.empty((len(prompts.vectors), self._count), dtype=np.float32)
        for at, vector in enumerate(prompts.vectors):
            scores[at] = np.maximum.reduceat(self._weights * (self._vectors @ vector), self._starts)
        for at, roots in enumerate(prompts.telling):
            for root in roots:
                if owners := self._by_stem.get(root):
                    scores[at, owners] += shared_words / max(_FEW_WORDS, len(roots))
        return scores

    def cued(self, prompt: str) -> list[int]:
        """The memories of which a cue stands in a prompt, word for word."""
        said = _stems(prompt[:_LONGEST]) if self._cues else []
        found = {at for cue, owners in self._cues.items() if _holds(said, cue) for at in owners}
        return sorted(found)


@cache
def _typical_memories() -> tuple[str, ...]:
    return tuple(_TYPICAL.read_text("utf-8").splitlines())


def _texts(item: MemoryItem) -> tuple[str, ...]:
    text = f"{item.heading}: {item.text}" if item.heading else item.text
    return (text[:_LONGEST], *_telling_cues(item.cues))


def _telling_cues(cues: Sequence[str]) -> list[str]:
    """Without those that generic prompts say, too: they would bring the memory into any prompt."""
    return [cue for cue in cues if not _is_generic(cue)]


@lru_cache(maxsize=10_000)
def _is_generic(cue: str) -> bool:
    roots = frozenset(_stems(cue))
    held = sum(roots <= own for own in _generic_stems())
    return not roots or held > _COMMON_CUE * len(_generic_stems())


@cache
def _generic_stems() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(_stems(prompt.text)) for prompt in generic_prompts())


def _telling(text: str) -> list[str]:
    return [root for root, weight in telling_words(text).weights.items() if weight == 1.0]


def _missing(words: Sequence[str], talk: frozenset[str]) -> int:
    if talk.issuperset(words):
        return _SAYS_NOTHING
    return max(0, _FEW_WORDS - len(words))


@cache
def _talk_words(language: str) -> frozenset[str]:
    """Telling words of generic small talk, as "continue" in many languages."""
    talk = (prompt.text for prompt in _prompts_in(language) if prompt.kind in ("talk", "greeting"))
    return frozenset(word for text in talk for word in _telling(text))


def _stems(text: str) -> list[str]:
    from hindbrain.models.static import words_of

    return [stem(word.casefold()) for word in words_of(text)]


def _holds(said: Sequence[str], cue: tuple[str, ...]) -> bool:
    """Do the words of a cue stand in a text, one after the other?"""
    if cue[0] not in said:
        return False
    return any(tuple(said[at : at + len(cue)]) == cue for at in range(len(said) - len(cue) + 1))


def _best(scores: Vectors, limit: int) -> list[int]:
    """The places of the highest scores, in no order."""
    import numpy as np

    if limit >= len(scores):
        return list(range(len(scores)))
    best: list[int] = np.argpartition(-scores, limit)[:limit].tolist()
    return best


def _mean_of_nearest(likeness: Vectors) -> Vectors:
    import numpy as np

    k = min(_NEAREST_PROMPTS, likeness.shape[1])
    nearest: Vectors = np.partition(likeness, -k, axis=1)[:, -k:].mean(axis=1)
    return nearest
