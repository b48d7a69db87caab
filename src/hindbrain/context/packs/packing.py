"""Which passages of which notes enter a slot, and how much around each: the most relevance for the tokens.

Pure: hits and outlines in, excerpts out. A unit is a whole passage, or all passages that share its lines, so
that evidence is never cut; what is strong and small is shown with its section, and what is left of the budget
closes gaps. No text enters twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from hindbrain.context.packs.attribution import Quoted, attribution
from hindbrain.context.packs.note_lines import (
    SAME_TEXT_FROM,
    Above,
    Placed,
    folded_line,
    line_key,
    place_lines,
    shown_text,
)
from hindbrain.context.packs.pack import Excerpt, Grade, LeftOut
from hindbrain.context.packs.speaker import Asked, speakers
from hindbrain.search.hit import Hit
from hindbrain.search.outline import Outline, OutlinePassage
from hindbrain.vault.origin import SOURCES

_LEAST_SCORE = 0.35  # of the best: below, a passage costs tokens and hardly ever holds evidence
_STRONG = 0.6  # of the best score: shown with its section where that is cheap
_CHEAP = 0.08  # of the budget: what a section may add to a strong passage
_MOST_WHOLE = 0.5  # of the budget: a paragraph that is longer is shown by the passage that was found
_MOST_MISSES = 40  # hits in a row that do not fit: then no other will
_CLOSED_GAP = 2  # passages between two that are shown, which are shown too where the budget allows it
_SIGNS = " \t\n#*_-+>|=~`"
_PICTURES = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|!\[\[[^\]\n]*\]\]")
_SOURCE = re.compile(r"\[source:: ?([a-z]+)\]")


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
        self.excluded = excluded  # passages and lines that are still in the window
        self._held: dict[str, set[str]] = {}  # slot to passages, folded texts and keys of lines

    def holds(self, passage: str, text: str) -> bool:
        folded = folded_line(text)
        return any(passage in held or folded in held for held in self._held.values())

    def add(self, passage: str, text: str, slot: str) -> None:
        held = self._held.setdefault(slot, set())
        if passage:
            held.add(passage)
        folded = folded_line(text)
        if len(folded) >= SAME_TEXT_FROM:
            held.add(folded)

    def add_lines(self, keys: Iterable[str], slot: str) -> None:
        self._held.setdefault(slot, set()).update(keys)

    def elsewhere(self, slot: str) -> Set[str]:
        """What the window and the other slots hold."""
        others = [held for name, held in self._held.items() if name != slot]
        return self.excluded.union(*others) if others else self.excluded

    def forget(self, slot: str) -> None:
        """The slot is about to be filled again."""
        self._held.pop(slot, None)


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
    """One note on its way into the pack. `held`: keys of lines that stand elsewhere."""

    def __init__(self, outline: Outline, held: Set[str] = frozenset()) -> None:
        self.outline = outline
        self.at = {passage.passage: i for i, passage in enumerate(outline.passages)}
        self.speakers = speakers([passage.text for passage in outline.passages])
        self.taken: dict[int, float] = {}  # passage to its weighted score; 0 for what came along
        self.paid: set[int] = set()  # lines, and the headings over them
        self._held = held
        self._lines: dict[int, list[tuple[int, str]]] = {}
        self._attribution = ""

    @cached_property
    def placed(self) -> Placed:
        return place_lines([line for passage in self.outline.passages for line in _numbered(passage)])

    def lines(self, i: int) -> list[tuple[int, str]]:
        """What is shown of a passage, with the numbers of lines: nothing that says nothing, that stands
        elsewhere, or that is embedded, which a prompt can't show; no blank lines."""
        if i not in self._lines:
            passage = self.outline.passages[i]
            text = shown_text(passage.text)
            if "![" in text:
                text = _PICTURES.sub("", text)
            lines = [line for line in enumerate(text.split("\n"), passage.first_line) if line[1].strip()]
            said = [line for line in lines if line[0] not in self.placed.silent]
            said = self._not_held(said)
            self._lines[i] = said if len(said) == len(lines) else self._with_text_below(said)
        return self._lines[i]

    def _not_held(self, lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """The lines that do not stand elsewhere; of code and tables all or none."""
        if not self._held:
            return lines
        headings = self.placed.headings
        new = [line for line in lines if line[0] in headings or self.key(*line) not in self._held]
        if all(number in headings for number, _ in new):
            return new
        whole = any(number in self.placed.code or "|" in line for number, line in lines)
        return lines if whole else new

    def _with_text_below(self, lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Without the headings that have lost their lines."""
        kept: list[tuple[int, str]] = []
        needed: set[int] = set()
        for number, line in reversed(lines):
            if number not in self.placed.headings:
                needed.update(over for over, _ in self.placed.above.get(number, ()))
            elif number not in needed:
                continue
            kept.append((number, line))
        return kept[::-1]

    def is_held(self, i: int) -> bool:
        """Does a line of the passage stand elsewhere?"""
        numbered = _numbered(self.outline.passages[i])
        return any(key in self._held for line in numbered if (key := self.key(*line)))

    def text(self, i: int) -> str:
        return "\n".join(line for _, line in self.lines(i))

    def key(self, number: int, line: str) -> str:
        return line_key(self.outline.path, line, self.placed.above.get(number, ()))

    def keys(self, i: int) -> list[str]:
        """Of the lines that are shown of a passage."""
        headings = self.placed.headings
        found = [self.key(number, line) for number, line in self.lines(i) if number not in headings]
        return list(filter(None, found))

    def above(self, i: int) -> Above:
        """The headings and items over what is shown of a passage."""
        lines = self.lines(i)
        return self.placed.above.get(lines[0][0], ()) if lines else ()

    def heading(self, i: int) -> str:
        """The path over the first line of a passage that is no heading; short blocks share a passage."""
        lines, placed, passage = self.lines(i), self.placed, self.outline.passages[i]
        said = next((at for at, (number, _) in enumerate(lines) if number not in placed.headings), 0)
        if all(number not in placed.headings for number, _ in lines[said:]):
            return passage.heading
        over = [text.lstrip("# ") for _, text in placed.above[lines[said][0]] if text.startswith("#")]
        return " > ".join(filter(None, (placed.title, *over)))

    def attribution(self, i: int) -> str:
        """The line that says where it comes from, as it would be with this passage alone."""
        if not self._attribution:
            one, passage = self.outline, self.outline.passages[i]
            shown = Excerpt(
                one.path, one.title, "", one.date, self.heading(i), passage.first_line, source=one.source
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
        held = shown.elsewhere(slot)
        self._notes = {path: _Note(outline, held) for path, outline in outlines.items()}
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
            misses = misses + 1 if reason in ("budget", "notes") else 0
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
            return "repeats" if note.is_held(i) else "no_text"
        if i in note.taken:
            note.taken[i] = max(note.taken[i], score)
            self._hits[hit.path, i] = hit
            return ""
        if self._shown.holds(hit.passage, hit.text):
            return "repeats"
        if not note.taken and self._limits.notes and self._notes_used() >= self._limits.notes:
            return "notes"
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
        over: dict[int, str] = {}
        for j in wanted:
            over.update(note.above(j))
            if text := note.text(j):
                cost += limits.cost(text) + limits.per_line * (text.count("\n") + 1)
        own = {number for j in wanted for number, _ in note.lines(j)}
        missing = [text for number, text in over.items() if number not in note.paid and number not in own]
        cost += sum(limits.cost(text) + limits.per_line for text in missing)
        beside = any(j - 1 in note.taken or j + 1 in note.taken for j in wanted)
        return cost + (limits.per_gap if note.taken and not beside else 0)

    def _spend(self, note: _Note, wanted: Sequence[int], cost: int) -> None:
        self._spent += cost
        for j in wanted:
            note.taken[j] = 0.0
            note.paid.update(number for number, _ in (*note.above(j), *note.lines(j)))
            passage = note.outline.passages[j]
            self._shown.add(passage.passage, passage.text, self._slot)
            self._shown.add_lines(note.keys(j), self._slot)

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
        said = [i for i in run if note.lines(i)] or [run[0]]
        last_lines = note.lines(said[-1])
        best = max(run, key=lambda i: note.taken[i])
        hit = self._hits.get((outline.path, best))
        first, last = outline.passages[run[0]], outline.passages[run[-1]]
        text = "".join(parts).strip("\n")
        return Excerpt(
            path=outline.path,
            title=outline.title,
            text=text,
            date=outline.date,
            heading=note.heading(said[0]),
            first_line=first.first_line,
            last_line=last.last_line,
            source=_least_trusted(outline, run),
            grade=_grade(note, run),
            score=hit.score if hit else 0.0,
            confidence=hit.confidence if hit else 0.0,
            passages=tuple(outline.passages[i].passage for i in run),
            tokens=self._limits.tokens(text),
            why=_why(hit) if hit else "closes a gap",
            above=note.above(said[0]),
            after=note.placed.after.get(last_lines[-1][0], ()) if last_lines else (),
            keys=tuple(dict.fromkeys(key for i in run for key in note.keys(i))),
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


def _numbered(passage: OutlinePassage) -> Iterable[tuple[int, str]]:
    return enumerate(passage.text.split("\n"), passage.first_line)


def _share_a_line(outline: Outline, i: int) -> bool:
    """Does a passage begin in the line in which the one before it ends?"""
    return outline.passages[i].first_line <= outline.passages[i - 1].last_line


def _why(hit: Hit) -> str:
    """The three signals that say most."""
    strongest = sorted(hit.why.items(), key=lambda item: (-item[1], item[0]))[:3]
    return ", ".join(f"{name} {value:.2f}" for name, value in strongest)
