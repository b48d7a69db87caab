"""Which passages of which notes enter a slot, and how much around each: the most relevance for the tokens.

Pure: hits and outlines in, excerpts out. A unit is a whole passage, or all passages that share its lines, so
that evidence is never cut; what is strong and small is shown with its section, and what is left of the budget
closes gaps. No text enters twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from hindbrain.context.packs.attribution import Quoted, attribution
from hindbrain.context.packs.pack import Excerpt, Grade, LeftOut
from hindbrain.context.packs.speaker import Asked, speakers
from hindbrain.index.spoken import spoken
from hindbrain.search.hit import Hit
from hindbrain.search.outline import Outline
from hindbrain.vault.origin import SOURCES

_LEAST_SCORE = 0.35  # of the best: below, a passage costs tokens and hardly ever holds evidence
_STRONG = 0.6  # of the best score: shown with its section where that is cheap
_CHEAP = 0.08  # of the budget: what a section may add to a strong passage
_MOST_WHOLE = 0.5  # of the budget: a paragraph that is longer is shown by the passage that was found
_MOST_MISSES = 40  # hits in a row that do not fit: then no other will
_CLOSED_GAP = 2  # passages between two that are shown, which are shown too where the budget allows it
_BLANK_LINES = re.compile(r"\n\s*\n")
_SIGNS = " \t\n#*_-+>|=~`"
_PICTURES = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|!\[\[[^\]\n]*\]\]")
_SOURCE = re.compile(r"\[source:: ?([a-z]+)\]")
_TAGS = re.compile(r"(?<=\s)#[^\s#]+")
_SAME_TEXT_FROM = 24  # characters: shorter lines may well stand in a prompt twice


class Limits(NamedTuple):
    """What a slot may cost, and what things cost."""

    budget: int
    cost: Callable[[str], int]
    tokens: Callable[[str], int]  # the same as `cost`, unless that counts characters
    notes: int = 0  # the most notes to quote; 0: any
    per_line: int = 1
    per_gap: int = 1


class Chosen(NamedTuple):
    """What enters a slot."""

    excerpts: tuple[Excerpt, ...]  # by date, then by place: small changes of score move nothing
    left_out: tuple[LeftOut, ...]
    spent: int


class Shown:
    """What the pack holds already, over all of its slots."""

    def __init__(self, excluded: frozenset[str] = frozenset()) -> None:
        self.excluded = excluded  # passages that are still in the window
        self.passages: set[str] = set()
        self._texts: set[str] = set()

    def holds(self, passage: str, text: str) -> bool:
        return passage in self.passages or _folded(text) in self._texts

    def add(self, passage: str, text: str) -> None:
        self.passages.add(passage)
        folded = _folded(text)
        if len(folded) >= _SAME_TEXT_FROM:
            self._texts.add(folded)


def choose(
    prompt: str,
    hits: Sequence[Hit],
    outlines: Mapping[str, Outline],
    limits: Limits,
    shown: Shown,
    *,
    slot: str = "relevant",
) -> Chosen:
    """Fill a slot with the best of `hits`; `shown` learns what entered."""
    return _Packing(prompt, hits, outlines, limits, shown, slot).packed()


def is_enough(hit: Hit) -> bool:
    """Is it near enough to the best hit to be worth its tokens?"""
    return hit.score >= _LEAST_SCORE


class _Note:
    """One note on its way into the pack."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self.at = {passage.passage: i for i, passage in enumerate(outline.passages)}
        self.speakers = speakers([passage.text for passage in outline.passages])
        self.taken: dict[int, float] = {}  # passage to its weighted score; 0 for what came along
        self._texts: dict[int, str] = {}
        self._attribution = ""

    def text(self, i: int) -> str:
        """What is shown of a passage: nothing that is embedded, which a prompt can't show, no blank lines."""
        text = self._texts.get(i)
        if text is None:
            text = spoken(self.outline.passages[i].text)
            if "![" in text:
                text = _PICTURES.sub("", text)
            text = self._texts[i] = _BLANK_LINES.sub("\n", text).strip("\n")
        return text

    def attribution(self, i: int) -> str:
        """The line that says where it comes from, as it would be with this passage alone."""
        if not self._attribution:
            one, passage = self.outline, self.outline.passages[i]
            shown = Excerpt(
                one.path, one.title, "", one.date, passage.heading, passage.first_line, source=one.source
            )
            self._attribution = attribution(Quoted((shown,)))
        return self._attribution

    def whole(self, i: int) -> list[int]:
        """The passages that share lines with this one: a paragraph that was cut, a table, a long item."""
        passages = self.outline.passages
        first = last = i
        while first > 0 and passages[first - 1].last_line >= passages[first].first_line:
            first -= 1
        while last + 1 < len(passages) and passages[last + 1].first_line <= passages[last].last_line:
            last += 1
        return list(range(first, last + 1))

    def section(self, i: int) -> list[int]:
        """The passages beneath the same heading, or of the same turn of a conversation."""
        passages = self.outline.passages
        heading, speaker = passages[i].heading, self.speakers[i]

        def belongs(j: int) -> bool:
            return passages[j].heading == heading and self.speakers[j] == speaker

        first = last = i
        while first > 0 and belongs(first - 1):
            first -= 1
        while last + 1 < len(passages) and belongs(last + 1):
            last += 1
        return list(range(first, last + 1))


class _Packing:
    def __init__(
        self,
        prompt: str,
        hits: Sequence[Hit],
        outlines: Mapping[str, Outline],
        limits: Limits,
        shown: Shown,
        slot: str,
    ) -> None:
        self._limits = limits
        self._shown = shown
        self._slot = slot
        self._left_out: list[LeftOut] = []
        self._notes = {path: _Note(outline) for path, outline in outlines.items()}
        for hit in hits:
            if not is_enough(hit):
                self._leave(hit, "unlikely")
        self._spent = 0
        self._hits: dict[tuple[str, int], Hit] = {}
        asked = Asked(prompt)
        self._ordered = sorted(
            ((self._weighted(hit, asked), hit) for hit in hits if is_enough(hit)),
            key=lambda item: (-item[0], item[1].path, item[1].first_line),
        )

    def _weighted(self, hit: Hit, asked: Asked) -> float:
        note = self._notes.get(hit.path)
        i = note.at.get(hit.passage) if note is not None else None
        return hit.score * asked.weight(note.speakers[i]) if note is not None and i is not None else hit.score

    def packed(self) -> Chosen:
        top = self._ordered[0][0] if self._ordered else 1.0
        misses = 0
        for score, hit in self._ordered:
            reason = self._take(hit, score, strong=score >= _STRONG * top)
            misses = misses + 1 if reason == "budget" else 0
            if reason:
                self._leave(hit, reason)
            if misses > _MOST_MISSES:
                break
        self._close_gaps()
        excerpts = [excerpt for note in self._notes.values() for excerpt in self._excerpts(note)]
        excerpts.sort(key=lambda one: (one.date, one.path, one.first_line))
        return Chosen(tuple(excerpts), tuple(self._left_out), self._spent)

    def _take(self, hit: Hit, score: float, *, strong: bool) -> str:
        """Take a hit with as much around it as is cheap; returns why not, or ""."""
        note = self._notes.get(hit.path)
        i = note.at.get(hit.passage) if note is not None else None
        if note is None or i is None:
            return "changed"  # since the search: the next one finds it in its new place
        if hit.passage in self._shown.excluded:
            return "in_window"
        if not note.text(i).strip(_SIGNS):
            return "no_text"
        if i in note.taken:
            note.taken[i] = max(note.taken[i], score)
            self._hits[hit.path, i] = hit
            return ""
        if self._shown.holds(hit.passage, hit.text):
            return "repeats"
        if not note.taken and self._limits.notes and self._notes_used() >= self._limits.notes:
            return "budget"
        for wanted in self._sizes(note, i, strong=strong):
            cost = self._cost(note, wanted)
            if self._spent + cost <= self._limits.budget:
                self._spend(note, wanted, cost)
                note.taken[i] = score
                self._hits[hit.path, i] = hit
                return ""
        return "budget"

    def _sizes(self, note: _Note, i: int, *, strong: bool) -> list[list[int]]:
        """What could be shown of a hit, the largest first."""
        limits, sizes = self._limits, []
        whole = self._new(note, note.whole(i))
        if strong:
            section = self._new(note, note.section(i))
            if len(section) > len(whole):
                more = sum(limits.cost(note.text(j)) for j in section if j not in whole)
                if more <= _CHEAP * limits.budget:
                    sizes.append(section)
        if sum(limits.cost(note.text(j)) for j in whole) <= _MOST_WHOLE * limits.budget:
            sizes.append(whole)
        sizes.append([i])
        return sizes

    def _new(self, note: _Note, wanted: Sequence[int]) -> list[int]:
        """Those that neither the prompt nor the pack holds yet."""
        shown, passages = self._shown, note.outline.passages
        return [
            j
            for j in wanted
            if j not in note.taken
            and passages[j].passage not in shown.excluded
            and not shown.holds(passages[j].passage, passages[j].text)
        ]

    def _cost(self, note: _Note, wanted: Sequence[int]) -> int:
        limits = self._limits
        cost = 0 if note.taken else limits.cost(note.attribution(wanted[0])) + limits.per_line
        for j in wanted:
            if text := note.text(j):
                cost += limits.cost(text) + limits.per_line * (text.count("\n") + 1)
        beside = any(j - 1 in note.taken or j + 1 in note.taken for j in wanted)
        return cost + (limits.per_gap if note.taken and not beside else 0)

    def _spend(self, note: _Note, wanted: Sequence[int], cost: int) -> None:
        self._spent += cost
        for j in wanted:
            note.taken[j] = 0.0
            self._shown.add(note.outline.passages[j].passage, note.outline.passages[j].text)

    def _notes_used(self) -> int:
        return sum(1 for note in self._notes.values() if note.taken)

    def _close_gaps(self) -> None:
        """A line or two between what is shown costs little more than the sign that they were left out."""
        for note in self._notes.values():
            ordered = sorted(note.taken)
            for before, after in pairwise(ordered):
                between = self._new(note, range(before + 1, after))
                if not 0 < len(between) <= _CLOSED_GAP or after - before - 1 != len(between):
                    continue
                cost = self._cost(note, between) - self._limits.per_gap
                if self._spent + cost <= self._limits.budget:
                    self._spend(note, between, cost)

    def _excerpts(self, note: _Note) -> list[Excerpt]:
        runs: list[list[int]] = []
        for i in sorted(note.taken):
            if runs and i == runs[-1][-1] + 1:
                runs[-1].append(i)
            else:
                runs.append([i])
        return [self._excerpt(note, run) for run in runs]

    def _excerpt(self, note: _Note, run: Sequence[int]) -> Excerpt:
        outline = note.outline
        parts = [note.text(run[0])]
        for i in run[1:]:
            same_line = outline.passages[i].first_line <= outline.passages[i - 1].last_line
            parts.append(f"{' ' if same_line else chr(10)}{note.text(i)}" if note.text(i) else "")
        best = max(run, key=lambda i: note.taken[i])
        hit = self._hits.get((outline.path, best))
        first, last = outline.passages[run[0]], outline.passages[run[-1]]
        text = "".join(parts).strip("\n")
        return Excerpt(
            path=outline.path,
            title=outline.title,
            text=text,
            date=outline.date,
            heading=first.heading,
            first_line=first.first_line,
            last_line=last.last_line,
            source=_least_trusted(outline, run),
            grade=_grade(note, run),
            score=hit.score if hit else 0.0,
            confidence=hit.confidence if hit else 0.0,
            passages=tuple(outline.passages[i].passage for i in run),
            tokens=self._limits.tokens(text),
            why=_why(hit) if hit else "closes a gap",
        )

    def _leave(self, hit: Hit, reason: str) -> None:
        place = f"{hit.path}:{hit.first_line}"
        about = len(hit.text) // 4  # tokens: many are left out, and nobody pays for them
        self._left_out.append(LeftOut(place, reason, self._slot, about, hit.score, hit.confidence))


def _grade(note: _Note, run: Sequence[int]) -> Grade:
    passages = note.outline.passages
    if len(run) == len(passages):
        return "note"
    if len(run) > 1 and len(run) == len(note.section(run[0])):
        return "section"
    return "line" if passages[run[0]].first_line == passages[run[-1]].last_line else "passage"


def _least_trusted(outline: Outline, run: Sequence[int]) -> str:
    """Whose word it is: the note's, or of a memory or a task in it that is trusted less.

    What stands indented below a line is that line's, and a line that was cut is one.
    """
    passages, first, last = outline.passages, run[0], run[-1]
    while first > 0 and (passages[first].text[:1].isspace() or _share_a_line(outline, first)):
        first -= 1
    while last + 1 < len(passages) and _share_a_line(outline, last + 1):
        last += 1
    told = [source for one in passages[first : last + 1] for source in _SOURCE.findall(one.text)]
    known = [source for source in (outline.source, *told) if source in SOURCES]
    return max(known, key=SOURCES.index, default=outline.source)


def _share_a_line(outline: Outline, i: int) -> bool:
    """Does a passage begin in the line in which the one before it ends?"""
    return outline.passages[i].first_line <= outline.passages[i - 1].last_line


def _why(hit: Hit) -> str:
    """The three signals that say most."""
    strongest = sorted(hit.why.items(), key=lambda item: (-item[1], item[0]))[:3]
    return ", ".join(f"{name} {value:.2f}" for name, value in strongest)


def _folded(text: str) -> str:
    """As it says the same: without marks of lists, tags and fields."""
    if " ^" in text or " #" in text:
        text = _TAGS.sub("", spoken(text))
    return " ".join(text.lstrip(" -*+\t").split()).lower()
