"""What generic prompts get from a vault: measured a piece at a time, and kept beside the index.

    {"v": 3, "recipe": "...", "passages": 17408,
     "hybrid": {"mean": 0.41, "spread": 0.09, "scores": [[2, 1.3], ...],
                "languages": {"zh": {"mean": 0.66, "spread": 0.1, "scores": [...]}}},
     "keyword": {...}}

Besides the common prompts, those of each language that the vault has notes in are measured.

The file is derived: deleting it only means that it is measured again. Where there is none, or a damaged one,
or one of another recipe, a shipped one takes its place, which lets less through than a vault's own mostly
does (`python -m benchmarks.gate_null` makes it).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from hindbrain.base.files import replace_file
from hindbrain.context.packs.gate import LEAST_PASSAGES, Evidence, Null, evidence_of, null_of
from hindbrain.context.topic.intent import understand_intent
from hindbrain.search.generic_prompts import generic_prompts, prompts_checksum, prompts_in
from hindbrain.search.languages import LANGUAGES
from hindbrain.search.query import Mode, SearchQuery

if TYPE_CHECKING:
    from pathlib import Path

    from hindbrain.search.hit import SearchResult

NULL_FILE = "generic.json"  # in the state folder; of vaults from LEAST_PASSAGES on
_VERSION = 3  # another one when other prompts or other weights give other scores
_GROWTH = 1.2  # or shrunk by as much: then it is measured again
_HITS = 10  # that are asked for; the gate looks at the first few
_FEW = 6  # of as many prompts one is measured where each is a request to a service
# Small talk is not compared with: it finds little, and would lower the bar for all short prompts.
COMPARED = ("coding", "agent", "general")
_MODES: tuple[Mode, ...] = ("hybrid", "keyword")
_LEAST_FOUND = 30  # prompts of a language that found something; of fewer no bar is made
_ALIKE = {"ja": "zh"}  # cut into pairs of characters, too: the shipped null of the other holds


class Nulls(NamedTuple):
    """The nulls of one vault, by how a search was done."""

    recipe: str  # of what they depend on: see `recipe_of`
    passages: int  # of the index that they were measured on
    by_mode: Mapping[Mode, Null]
    by_language: Mapping[Mode, tuple[Null, ...]] = {}

    def is_due(self, recipe: str, passages: int) -> bool:
        """Is it time to measure again?"""
        grown = max(passages, self.passages) > _GROWTH * min(passages, self.passages)
        return self.recipe != recipe or grown


NONE = Nulls("", 0, {})
Found: TypeAlias = dict[Mode, dict[str, Evidence]]  # by the way of searching and the prompt


def recipe_of(embedder: str, profile: str) -> str:
    """What a null depends on besides the notes. `embedder`: of the index's vectors; "" without any."""
    return f"{_VERSION} {prompts_checksum()} {profile} {embedder}"


class NullMeasure:
    """One measuring of a vault, which may take its time."""

    def __init__(
        self,
        search: Callable[[SearchQuery], SearchResult],
        recipe: str,
        passages: int,
        *,
        remote: bool,
        languages: Sequence[str] = (),
    ) -> None:
        """`remote`: each search by meaning asks a service; a part of the common prompts must do.
        `languages`: that the notes are in, besides English.
        """
        self._search = search
        self._recipe = recipe
        self._passages = passages
        self.found: dict[str, Found] = {name: {mode: {} for mode in _MODES} for name in ("", *languages)}
        prompts = [prompt.text for prompt in generic_prompts() if prompt.kind in COMPARED]
        few = prompts[::_FEW] if remote else prompts
        self._left: list[tuple[Mode, str, str]] = [("keyword", "", text) for text in prompts]
        self._left += [("hybrid", "", text) for text in few]
        for name in languages:
            own = [prompt.text for prompt in prompts_in(name) if prompt.kind in COMPARED]
            self._left += [(mode, name, text) for mode in _MODES for text in own]

    def go_on(self, is_time_up: Callable[[], bool] = lambda: False) -> bool:
        """Measure until the time is up; True while there is more to do. Raises as a search does."""
        while self._left:
            if is_time_up():
                return True
            mode, language, text = self._left.pop()
            query = understand_intent(text).query
            if not query.strip():
                continue
            result = self._search(SearchQuery(query, k=_HITS, mode=mode, exact=False))
            if result.hits and result.mode == mode:  # not by words for want of vectors
                languages = (language,) if language else ()
                found = evidence_of(result.hits, result.words, result.passages, 1, languages)
                self.found[language][mode][text] = found
        return False

    def kept(self) -> Nulls:
        nulls = {mode: null_of([*own.values()]) for mode, own in self.found[""].items() if own}
        by_language = {
            mode: tuple(
                null_of([*found[mode].values()], language)
                for language, found in self.found.items()
                if language and len(found[mode]) >= _LEAST_FOUND
            )
            for mode in _MODES
        }
        return Nulls(self._recipe, self._passages, nulls, by_language)


def shipped_nulls(mode: str, passages: int) -> tuple[tuple[Null, ...], str]:
    """Those of no vault in particular, for a way of searching and the size of an index."""
    shipped = _shipped()["small" if passages < LEAST_PASSAGES else "large"]
    way = _way(mode)
    own = {null.language: null for null in shipped.by_language.get(way, ())}
    alike = [own[known]._replace(language=name) for name, known in _ALIKE.items() if known in own]
    return (shipped.by_mode[way], *own.values(), *alike), ""


def _way(mode: str) -> Mode:
    return "keyword" if mode == "keyword" else "hybrid"


class NullReader:
    """The null of one state folder, as of the last look. For one thread."""

    def __init__(self, state: Path) -> None:
        self._file = state / NULL_FILE
        self._stamp: tuple[int, int, int] | None = None
        self._kept = NONE
        self.damaged = False

    def read(self) -> Nulls:
        """NONE where there is none that can be used."""
        try:
            status = os.stat(self._file)  # noqa: PTH116  half the time of a Path's
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            stamp = None
        if stamp != self._stamp:
            self._stamp = stamp
            kept = _parsed(self._file) if stamp is not None else NONE
            self.damaged = kept is None
            self._kept = kept or NONE
        return self._kept

    def nulls(self, recipe: str, mode: str, passages: int) -> tuple[tuple[Null, ...], str]:
        """The vault's own for a way of searching; else the shipped one, and why.

        With its own goes the one of small vaults: where generic prompts find nothing, a bit is not much yet.
        """
        kept = self.read()
        own = kept.by_mode.get(_way(mode))
        if own is not None and kept.recipe == recipe:
            languages = kept.by_language.get(_way(mode), ())
            known = {"", *(null.language for null in languages)}
            small = (null for null in shipped_nulls(mode, 0)[0] if null.language in known or not languages)
            return (own, *languages, *small), ""
        nulls, _ = shipped_nulls(mode, passages)
        return nulls, "" if passages < LEAST_PASSAGES else f"gate_unmeasured: {self.why()}"

    def why(self) -> str:
        """Why there is no null that can be used, and what to do."""
        damaged = f"{NULL_FILE} is damaged" if self.damaged else "generic prompts are not measured yet"
        return (
            f"{damaged}; notes are injected more sparingly until hindbrain sync, or a daemon, measures them"
        )

    def write(self, kept: Nulls) -> None:
        replace_file(self._file, as_json(kept).encode(), durable=False)


@cache
def _shipped() -> Mapping[str, Nulls]:
    text = files(__package__).joinpath("generic_null.json").read_text(encoding="utf-8")
    return {size: _from_json(told) for size, told in json.loads(text).items()}


def as_json(kept: Nulls) -> str:
    told = {
        mode: _told(null)
        | {"languages": {one.language: _told(one) for one in kept.by_language.get(mode, ())}}
        for mode, null in kept.by_mode.items()
    }
    return json.dumps({"v": _VERSION, "recipe": kept.recipe, "passages": kept.passages, **told})


def _told(null: Null) -> dict[str, Any]:
    return {
        "mean": round(null.cosine_mean, 4),
        "spread": round(null.cosine_spread, 4),
        "scores": [[words, round(score, 3)] for words, score in null.scores],
    }


def _parsed(file: Path) -> Nulls | None:
    """None: it makes no sense, or is of a newer version."""
    try:
        return _from_json(json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _from_json(told: Mapping[str, Any]) -> Nulls:
    if told["v"] != _VERSION:
        raise ValueError(f"version {told['v']!r}")
    by_mode = {mode: _null(told[mode]) for mode in _MODES if mode in told}
    by_language = {
        mode: tuple(_null(own, name) for name, own in told[mode]["languages"].items() if name in LANGUAGES)
        for mode in by_mode
    }
    return Nulls(str(told["recipe"]), int(told["passages"]), by_mode, by_language)


def _null(told: Mapping[str, Any], language: str = "") -> Null:
    scores = tuple(sorted((int(words), float(score)) for words, score in told["scores"]))
    null = Null(scores, float(told["mean"]), float(told["spread"]), language)
    numbers = (null.cosine_mean, null.cosine_spread, *(score for _, score in scores))
    if not scores or not all(map(math.isfinite, numbers)):
        raise ValueError("not a null")
    return null
