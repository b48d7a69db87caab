"""From a prompt to a pack: fill each slot of a preset from the vault, within the budget.

A slot's share is a guide and the budget is the bound: what one slot leaves over flows to the next, then to
what is relevant, and in the end to every slot that had to leave something out. The budget holds for the
rendered text: what is too much is taken out from the weakest.
What a search finds for the prompt enters only through the gate (`gate`).
Asks the search; writes nothing, and counts nothing as read, so that the same prompt on the same vault gives
the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import IndexFault
from hindbrain.context.packs.attribution import attribution, by_note
from hindbrain.context.packs.card import (
    Read,
    core_card,
    memory_lines,
    open_boxes,
    open_tasks,
    what_happened,
    what_is_worked_on,
)
from hindbrain.context.packs.contradictions import Settled, settle
from hindbrain.context.packs.fence import fence_text
from hindbrain.context.packs.gate import ASKED_RATE, asks_for_notes, evidence_of, judge
from hindbrain.context.packs.note_lines import Line, Room, line_keys, shown_text
from hindbrain.context.packs.null_file import shipped_nulls
from hindbrain.context.packs.pack import Excerpt, FilledSlot, LeftOut, Pack
from hindbrain.context.packs.packing import Chosen, Limits, Shown, choose, is_enough
from hindbrain.context.packs.preset import STABLE, Preset, SlotRule
from hindbrain.context.packs.rendering import render, slot_text
from hindbrain.memory.day_lines import RETRY
from hindbrain.search.hit import SearchResult
from hindbrain.search.languages import prompt_languages
from hindbrain.search.query import Filters, SearchQuery
from hindbrain.vault.items.item_line import read_line

if TYPE_CHECKING:
    from hindbrain.context.packs.gate import Null
    from hindbrain.context.packs.learned import Match, Matches
    from hindbrain.context.tokens import TokenCounter
    from hindbrain.context.topic.intent import Intent
    from hindbrain.memory.answers import Timeline
    from hindbrain.memory.relevance import Fit
    from hindbrain.memory.service import Memory
    from hindbrain.search.dates import DateWindow
    from hindbrain.search.hit import Hit
    from hindbrain.search.outline import Outline
    from hindbrain.search.query import Mode
    from hindbrain.vault.layout import Layout

_HITS, _MOST_HITS = 60, 1_000
_TOKENS_A_HIT = 10  # of budget beyond the first thousand: passages are short, and many are left out
_SHOWN_QUERY = 80  # characters of it in a block's tag
_ATTRIBUTION = 12  # tokens of the line that says where something comes from
_MOST_TASKS = 50  # in answer to a question for them
_DIGITS = 3  # rounds after which a figure no longer changes the length of a text that holds it
_FENCE = 45  # tokens of a block's own tags and first line
_SLOT_TAGS = 16  # tokens of the two tags of a slot
_FOUND_BY_PROMPT = ("relevant", "apps", "template", "lessons", "skills")
_LANE_LINES = 5  # memories that a prompt gets at most
_LANE_LEFT_OUT = 10  # memories that are named as left out
# Roles whose notes a slot looks through. What was learned
# is matched with the command as a whole, not searched for: see `learned`.
_ROLES: Mapping[str, tuple[str, ...]] = {"apps": ("apps",)}
# Nobody's word yet; links; the bookkeeping of runs, which would tell one run five times.
_HIDDEN_ROLES = ("inbox", "home", "archive", "recent", "status", "summary", "task_log")
# What is recorded of runs: known by its id, or by the form of its entries. What fits of it is matched.
_RECORD = re.compile(
    r"\s*[-*+] (?:\*\*(?:Command|Outcome|Iterations|Key actions|Duration|Score|Reason|Actions|Lesson|Seen"
    r"|Original|Corrected|Changed|RunId):\*\*|(?:when|why|failed|worked): )|.*\s\^[cilr]-[\w-]+\s*$"
    r"|\s*[-*+] (?:\*\*(?:Time|Context|Duration)\*\*: |Retry: )"
    r"|.*: \d+ runs, \d+ % went well"
)
_BARE_MARKS = " \t\r\n-*+#>"  # of lists, headings and quotes without text
_WITH_RECORDS = ("daily", "issues", "corrections", "lessons", "patterns")
# The slot that shows what fits of a role's notes; elsewhere these notes are not shown then.
_OWN_SLOT = {"templates": "template", "skills": "skills", "apps": "apps"}


class Sources(NamedTuple):
    """What packs are made from."""

    memory: Callable[[], Memory]  # for what is read from its notes; the search does without
    layout: Layout
    search: Callable[[SearchQuery], SearchResult]
    outlines: Callable[[Iterable[str]], Mapping[str, Outline]]
    counter: TokenCounter
    key: bytes  # of the fence
    mode: Mode = "hybrid"
    learned: Callable[[str, tuple[str, ...]], Matches] | None = None  # what fits a command and its apps
    # What generic prompts get from this vault, by the way of searching and its passages; and why it is not
    # measured, or "".
    nulls: Callable[[str, int], tuple[tuple[Null, ...], str]] = shipped_nulls
    false_rate: float = 1.0  # of generic prompts that may get something


class Wanted(NamedTuple):
    """What a pack is asked for."""

    intent: Intent
    preset: Preset
    # Passages that are in the window already, and ids of memories that are not wanted.
    excluded: frozenset[str] = frozenset()
    filters: Filters = Filters()
    prompt: str = ""  # as it was given: what was learned is matched with the whole command
    needs_index: bool = True  # False: an index that can't be asked costs its slots, and a notice says so


def assemble(sources: Sources, wanted: Wanted) -> Pack:
    """Raises IndexFault when notes could not be looked at and the index is needed."""
    return _Assembly(sources, wanted).pack()


class _Assembly:
    def __init__(self, sources: Sources, wanted: Wanted) -> None:
        self._sources = sources
        self._wanted = wanted
        self._shown = Shown(wanted.excluded)
        self._notices: list[str] = []
        self._filled: dict[str, FilledSlot] = {}
        self._left_out: dict[str, list[LeftOut]] = {rule.name: [] for rule in wanted.preset.slots}
        self._rooms: dict[str, int] = {}  # what each slot could spend when it was filled
        self._short: set[str] = set()  # slots that had to leave something out
        self._best = 0.0
        self._abstained = False
        self._result = SearchResult((), sources.mode, "")  # of the last search
        self._in_characters = bool(wanted.preset.characters)
        self._first_lines = cache(sources.layout.first_lines)
        self._slots = {rule.name for rule in wanted.preset.slots}

    def pack(self) -> Pack:
        preset = self._wanted.preset
        # What is relevant comes last: all that others leave flows to it.
        order = sorted(preset.slots, key=lambda rule: rule.name == "relevant")
        for at, rule in enumerate(order):
            if at and rule.name not in STABLE and order[at - 1].name in STABLE:
                self._share_among_stable(order[:at], order[at:])
            self._fill(rule, self._allowed(rule, order[at:]))
        for rule in preset.slots:
            room = self._left(beside=rule.name)
            grown = rule.name in self._short and room > self._rooms[rule.name]
            if grown and not self._must_keep_its_share(rule):
                self._fill(rule, room)
        slots = [self._filled[rule.name] for rule in preset.slots if rule.name in self._filled]
        slots.sort(key=lambda slot: not slot.stable)
        left_out = tuple(self._named(item) for rule in order for item in self._left_out[rule.name])
        pack = Pack(
            preset.name, self._wanted.intent.query, preset.budget, tuple(slots), left_out,
            self._best, self._abstained and not any(slot.excerpts for slot in slots if not slot.stable),
            tuple(dict.fromkeys(self._notices)),
        )  # fmt: skip
        return self._fitted(pack)

    def _allowed(self, rule: SlotRule, waiting: Sequence[SlotRule]) -> int:
        """What a slot may spend: what is left, less the shares of those that wait.

        Where that does not reach, the last in priority get nothing at first.
        """
        left = self._left()
        share = 0
        names = {other.name for other in waiting}
        for other in self._wanted.preset.slots:
            if other.name in names:
                own = min(left, self._units(other.tokens))
                left -= own
                share = own if other.name == rule.name else share
        return share + left

    def _left(self, *, beside: str = "") -> int:
        """What the filled slots leave; `beside`: a slot that does not count."""
        preset = self._wanted.preset
        room = (preset.characters or preset.budget) - self._overhead()
        return max(0, room - sum(self._spent(slot) for name, slot in self._filled.items() if name != beside))

    def _share_among_stable(self, filled: Sequence[SlotRule], waiting: Sequence[SlotRule]) -> None:
        """What one stable slot left over goes to another that was short: no prompt has a say in that."""
        for rule in filled:
            if rule.name in self._short and self._must_keep_its_share(rule):
                slot = self._filled.pop(rule.name, None)
                room = self._allowed(rule, [rule, *waiting])
                if slot is not None:
                    self._filled[rule.name] = slot
                if room > self._rooms[rule.name]:
                    self._fill(rule, room)

    def _must_keep_its_share(self, rule: SlotRule) -> bool:
        """Must it be the same whatever the prompt is? It stands first, and prompt caches hold only then."""
        return rule.name in STABLE and not self._slots.isdisjoint(_FOUND_BY_PROMPT)

    # What things cost

    def _cost(self, text: str) -> int:
        return len(text) if self._in_characters else self._sources.counter.count(text)

    def _named(self, item: LeftOut) -> LeftOut:
        """With the true reason: the preset's characters may be used up long before its tokens."""
        preset = self._wanted.preset
        bound = item.reason == "budget" and 0 < preset.characters < self._units(preset.budget)
        return item._replace(reason="characters") if bound else item

    def _units(self, tokens: int) -> int:
        return 4 * tokens if self._in_characters else tokens

    def _overhead(self) -> int:
        query = len(self._wanted.intent.query[:_SHOWN_QUERY]) if self._in_characters else 0
        return self._units(_FENCE) + query

    def _tags(self, before: Iterable[FilledSlot]) -> int:
        """What one more slot pays for tags; in a turn the first one needs none until there is another."""
        others = sum(bool(slot.excerpts) for slot in before)
        if self._wanted.preset.form == "turn":
            return self._units(_SLOT_TAGS * min(others, 1) * (2 if others == 1 else 1))
        return self._units(_SLOT_TAGS) if len(self._slots) > 1 else 0

    def _limits(self, budget: int, *, notes: int = 0) -> Limits:
        if self._in_characters:
            return Limits(budget, len, self._sources.counter.count, notes, per_line=2, per_gap=2)
        return Limits(budget, self._sources.counter.count, self._sources.counter.count, notes)

    def _spent(self, slot: FilledSlot) -> int:
        if not slot.excerpts:
            return 0
        limits = self._limits(0)
        notes = by_note(slot.excerpts)
        heads = sum(self._cost(attribution(quoted)) for quoted in notes)
        text = sum(self._cost(quoted.text) for quoted in notes)
        lines = sum(quoted.text.count("\n") + 1 for quoted in notes)
        tags = self._units(_SLOT_TAGS) if len(self._slots) > 1 else 0
        return text + heads + lines * limits.per_line + tags

    # Slots

    def _fill(self, rule: SlotRule, room: int) -> None:
        """Fill a slot, or fill it again with more room."""
        name = rule.name
        self._rooms[name] = room
        self._filled.pop(name, None)
        self._shown.forget(name)
        self._left_out[name] = []
        self._short.discard(name)
        allowed = room - self._tags(self._filled.values())
        if allowed <= 0:
            self._short.add(name)
            self._left_out[name].append(LeftOut(name, "dropped", name))
            return
        excerpts, match = self._found_or_read(name, allowed)
        if any(item.reason in ("budget", "notes") for item in self._left_out[name]):
            self._short.add(name)
        bound = min(self._wanted.preset.budget, room // self._units(1))
        self._filled[name] = FilledSlot(name, bound, 0, excerpts, name in STABLE, match)

    def _found_or_read(self, name: str, allowed: int) -> tuple[tuple[Excerpt, ...], float]:
        """What a slot holds, and how well a template fits."""
        if name in _FOUND_BY_PROMPT:
            asked = self._timed(name, allowed)
            learned = asked if self._timeline is not None else tuple(self._learned(name, allowed))
            match = max((one.score for one in learned), default=0.0) if name == "template" else 0.0
            chosen = self._found_if_asked(name, allowed - self._spent(FilledSlot(name, 0, 0, learned)))
            self._left_out[name] += chosen.left_out
            return (*learned, *chosen.excerpts) or self._nothing_then(name), match
        room = self._room(name, allowed)
        excerpts = self._taken(self._lane(room) if name == "memories" else self._read(name, room), name)
        if room.short:
            self._short.add(name)
        return excerpts, 0.0

    def _lane(self, room: Room) -> Read:
        """The memories that fit the prompt, one line each. They compete with each other, not with notes."""
        excluded = self._wanted.excluded
        close = [fit for fit in self._memory_fits if fit.close and fit.item.id not in excluded][:_LANE_LINES]
        self._left_out["memories"] += [
            LeftOut(f"{fit.item.path}:{fit.item.line}", "unlikely", "memories", 0, fit.margin, 0.0)
            for fit in [fit for fit in self._memory_fits if fit not in close][:_LANE_LEFT_OUT]
        ]
        margins = {(fit.item.path, fit.item.line): fit.margin for fit in close}
        lines = memory_lines(self._sources.memory(), (fit.item for fit in close), room)
        return Read(
            tuple(
                one._replace(score=1 / (1 + at), why=f"fits {margins[one.path, one.first_line]:+.2f}")
                for at, one in enumerate(lines)
            )
        )

    @cached_property
    def _memory_fits(self) -> Sequence[Fit]:
        """How well each memory fits the prompt; empty where that is not asked."""
        query = self._wanted.intent.query
        if "memories" not in self._slots or not query.strip() or self._wanted.filters != Filters():
            return ()
        memory = self._sources.memory()
        fits = memory.fits(query)
        self._notices += [f"{one.path!r} can't be read: {one.message}" for one in memory.book.problems]
        return fits

    @cached_property
    def _memory_places(self) -> frozenset[tuple[str, int]]:
        """Lines that are memories: they are shown in their lane or not at all."""
        if not self._memory_fits:
            return frozenset()
        return frozenset((item.path, item.line) for item in self._sources.memory().live_items())

    def _room(self, name: str, allowed: int) -> Room:
        return Room(allowed, self._line_cost, self._shown.elsewhere(name))

    def _taken(self, read: Read, name: str) -> tuple[Excerpt, ...]:
        """What was read for a slot; it enters no other slot."""
        self._notices += read.notices
        for one in read.excerpts:
            self._shown.add_lines(one.keys, name)
            for line in one.text.split("\n"):
                self._shown.add("", line, name)
        count = self._sources.counter.count
        return tuple(one._replace(tokens=count(one.text)) for one in read.excerpts)

    @cached_property
    def _timeline(self) -> Timeline | None:
        """What answers a prompt that asks about a time; None where it does not, or nothing is known."""
        if "relevant" not in self._slots or self._wanted.filters != Filters():
            return None
        from hindbrain.context.topic.said import what_was_said
        from hindbrain.memory.timeline import asked_time

        found = asked_time(
            self._sources.memory(), what_was_said(self._wanted.prompt or self._wanted.intent.query)
        )
        if found is None or (found.has_subject and not found.entries):
            return None
        self._notices += found.problems
        return found

    def _timed(self, name: str, allowed: int) -> tuple[Excerpt, ...]:
        """The answer to a question about a time or about open work, as far as no other slot has it."""
        timeline = self._timeline
        if name != "relevant" or timeline is None:
            return ()
        from hindbrain.context.packs.times import time_lines

        self._best = 1.0
        room, memory = self._room(name, allowed), self._sources.memory()
        told = [one for one in timeline.entries if one.kind != "task" or one.outcome == "done"]
        reads: list[Read] = []
        if any(one.kind == "task" and one.outcome != "done" for one in timeline.entries):
            reads += [] if "tasks" in self._slots else [open_tasks(memory, room, most=_MOST_TASKS)]
        # Open work is told from the newest on.
        order = told[::-1] if timeline.kind == "open" else told
        lines = time_lines(order, room, timeline.label)
        if timeline.kind == "open":  # without a line, since a note's excerpts are shown in the order of lines
            lines = [one._replace(first_line=0, last_line=0) for one in reversed(lines)]
        reads.append(Read(tuple(lines)))
        if timeline.kind == "open":
            left = {one.text for one in timeline.entries}
            texts = (read_line(line).text for line in memory.daily.notes_for_today()[1])
            known = [text for text in texts if text.startswith(RETRY) and text not in left]
            reads.append(open_boxes(memory, room, with_tomorrow="recent" not in self._slots, known=known))
        if room.short:
            self._short.add(name)
        taken = [one for read in reads for one in self._taken(read, name)]
        return tuple(one._replace(confidence=1.0, score=one.score or 1.0) for one in taken)

    def _nothing_then(self, name: str) -> tuple[Excerpt, ...]:
        """A line that says that nothing is known of a time that the prompt asks for."""
        if name != "relevant" or self._timeline is None or self._timeline.entries:
            return ()
        from hindbrain.context.packs.times import nothing

        return (nothing(self._timeline),)

    def _line_cost(self, line: str) -> int:
        """Of a line of a note as it is rendered; fenced, it may be longer."""
        return self._cost("\n".join(fence_text(line))) + self._limits(0).per_line

    def _read(self, name: str, room: Room) -> Read:
        memory = self._sources.memory()
        if name in ("core", "profile"):
            return core_card(memory, room, whole="memories" not in self._slots)
        if name == "tasks":
            # A small slot beside what is worked on; elsewhere all of them are to stand there.
            return open_tasks(memory, room, for_now="status" in self._slots)
        return what_is_worked_on(memory, room) if name == "status" else what_happened(memory, room)

    @cached_property
    def _matches(self) -> Settled | None:
        """What was learned that fits the command, as far as it agrees with itself."""
        intent = self._wanted.intent
        if self._sources.learned is None or not intent.query.strip():
            return None
        matches = self._sources.learned(self._wanted.prompt or intent.query, intent.apps)
        self._notices += matches.problems
        return settle(matches, [rule.name for rule in self._wanted.preset.slots], _fitting)

    def _learned(self, name: str, allowed: int) -> list[Excerpt]:
        """What earlier runs taught that fits the command, as far as the slot has room for it."""
        if self._matches is None:
            return []
        chosen: list[Excerpt] = []
        for slot, match in self._matches.left_out:
            if slot == name:
                place = f"{match.path}:{match.first_line}"
                self._left_out[name].append(LeftOut(place, "contradicts", name, 0, match.score, match.score))
        for match in _fitting(self._matches.matches, name):
            place = f"{match.path}:{match.first_line}"
            if match.id in self._shown.excluded:
                self._left_out[name].append(LeftOut(place, "in_window", name, 0, match.score, match.score))
                continue
            keys = line_keys(match.path, (Line(0, line) for line in match.text.split("\n")))
            if keys and self._shown.elsewhere(name) >= set(keys):
                self._left_out[name].append(LeftOut(place, "repeats", name, 0, match.score, match.score))
                continue
            left = allowed - self._spent(FilledSlot(name, 0, 0, tuple(chosen)))
            text = self._lines_within(shown_text(match.text), left - self._units(_ATTRIBUTION))
            if not text or self._shown.holds(match.id, text):
                self._left_out[name].append(LeftOut(place, "budget", name, 0, match.score, match.score))
                continue
            if text != shown_text(match.text):
                self._short.add(name)
            self._shown.add(match.id, text, name)
            self._shown.add_lines(keys, name)
            chosen.append(
                Excerpt(
                    match.path, match.title, text, match.date, "", match.first_line, match.last_line,
                    match.source, "section", match.score, match.score, (match.id,),
                    self._sources.counter.count(text), match.why, keys=keys,
                )
            )  # fmt: skip
        return chosen

    def _lines_within(self, text: str, budget: int) -> str:
        """As many of the first lines as there is room for."""
        limits, kept = self._limits(0), []
        for line in text.split("\n"):
            budget -= self._cost(line) + limits.per_line
            if budget < 0:
                break
            kept.append(line)
        return "\n".join(kept)

    def _found_if_asked(self, name: str, allowed: int) -> Chosen:
        """As `_found`; nothing where the index can't be asked and is not needed."""
        try:
            return self._found(name, allowed)
        except IndexFault as error:
            if self._wanted.needs_index:
                raise
            self._notices.append(f"{error.code}: {error}")
            return Chosen((), (), 0)

    def _found(self, name: str, allowed: int) -> Chosen:
        """What a slot finds by the prompt."""
        intent = self._wanted.intent
        nothing = Chosen((), (), 0)
        if allowed <= 0 or not intent.query.strip() or (name == "apps" and not intent.apps):
            return nothing
        if self._timeline is not None and (self._timeline.kind != "days" or self._timeline.has_subject):
            return nothing
        hits = self._hits(name, allowed)
        if not hits:
            return nothing
        if name == "relevant" and not self._is_let_through(hits):
            return nothing._replace(left_out=tuple(_unlikely(hit, name) for hit in hits[:10]))
        outlines = self._sources.outlines(dict.fromkeys(hit.path for hit in hits if is_enough(hit)))
        limits = self._limits(allowed, notes=0 if intent.asks_days else self._wanted.preset.notes)
        return choose(intent.query, hits, outlines, limits, self._shown, slot=name)

    def _is_let_through(self, hits: Sequence[Hit]) -> bool:
        """Does the gate let them enter? The notes of days that a prompt asks for always may."""
        if self._wanted.intent.asks_days and all(hit.named >= 1.0 for hit in hits):
            self._best = 1.0
            return True
        result = self._result
        fresh = [hit for hit in hits if hit.passage not in self._shown.excluded]
        nulls, missing = self._sources.nulls(result.mode, result.passages)
        rate = self._sources.false_rate
        if asks_for_notes(self._wanted.intent.query):
            rate = max(rate, ASKED_RATE)
        languages = prompt_languages(self._wanted.intent.query, {null.language for null in nulls})
        found = evidence_of(fresh, result.words, result.passages, languages=languages)
        verdict = judge(found, nulls, rate)
        self._notices += [missing] if missing else []
        self._best, self._abstained = verdict.sure, not verdict.allowed
        return verdict.allowed

    def _hits(self, name: str, allowed: int) -> list[Hit]:
        """What the search finds for a slot, as far as it says something; in whose order the slot wants it."""
        tokens = allowed // 4 if self._in_characters else allowed
        k = min(_MOST_HITS, _HITS + max(0, tokens - 1_000) // _TOKENS_A_HIT)
        filters, role_of = self._wanted.filters, cache(self._sources.layout.role_of)
        if name == "relevant":
            found = self._search(filters, k)
            if self._timeline is not None:  # beside it only other notes of these days
                found = [hit for hit in found if hit.named >= 1.0]
        else:
            places = [filters._replace(folder=folder) for folder in self._folders(name)]
            found = [hit for place in places for hit in self._search(place, _HITS)]
            found.sort(key=lambda hit: (-hit.confidence, hit.path, hit.first_line))
        if name == "apps":
            named = {app.casefold() for app in self._wanted.intent.apps}
            found = [hit for hit in found if _stem(hit.path).casefold() in named]
        return [hit for hit in found if self._says_something(hit, role_of(hit.path), name)]

    def _says_something(self, hit: Hit, role: str, slot: str) -> bool:
        """Is it somebody's word, still true, and more than what the layout's own first text says?"""
        if not hit.text.strip(_BARE_MARKS) or _is_struck(hit):
            return False
        lines = range(hit.first_line, hit.last_line + 1)
        if any((hit.path, line) in self._memory_places for line in lines) or self._is_contradicted(hit):
            return False
        if self._is_named_day(hit.path):
            return self._timeline is None or hit.path not in self._timeline.notes
        if role in _HIDDEN_ROLES or self._sources.layout.is_archived(hit.path):
            return False
        if self._sources.learned is not None and _OWN_SLOT.get(role) in self._slots - {slot}:
            return False  # what fits of it stands in its own slot
        if role == "daily" and self._wanted.intent.asks_days:
            # What happened that day is part of the answer, and told once.
            return self._timeline is None or hit.path not in self._timeline.notes
        if role in _WITH_RECORDS and all(map(_RECORD.match, filter(_is_said, hit.text.split("\n")))):
            return False
        first = self._first_lines(hit.path)
        return not first or any(line.strip() not in first for line in hit.text.split("\n"))

    def _is_contradicted(self, hit: Hit) -> bool:
        """Is it what a slot left out, since it contradicts what is shown?"""
        return self._matches is not None and any(
            hit.path == match.path and hit.first_line <= match.last_line and match.first_line <= hit.last_line
            for _, match in self._matches.left_out
        )

    def _is_named_day(self, path: str) -> bool:
        """Is it the archived note of a day that the question names?"""
        from hindbrain.memory.items.archived import is_archived_day
        from hindbrain.vault.dates import find_date

        if not is_archived_day(self._sources.layout, path):
            return False
        day = find_date(_stem(path))
        return any(window.start.isoformat() <= day < window.end.isoformat() for window in self._windows)

    @cached_property
    def _windows(self) -> tuple[DateWindow, ...]:
        from hindbrain.search.dates import find_windows

        return find_windows(self._wanted.intent.query, today=self._sources.memory().clock.today())

    def _search(self, filters: Filters, k: int) -> list[Hit]:
        query = SearchQuery(
            self._wanted.intent.query, k=k, filters=filters, mode=self._sources.mode, exact=False
        )
        self._result = result = self._sources.search(query)
        self._notices += result.notices
        return list(result.hits)

    def _folders(self, name: str) -> list[str]:
        layout = self._sources.layout
        return [
            layout.path(role) if layout.is_single(role) else layout.folder_of(role)
            for role in _ROLES.get(name, ())
        ]

    # The budget holds for what is rendered

    def _fitted(self, pack: Pack) -> Pack:
        pack = self._measured(pack)
        while pack.excerpts and not self._fits(pack):
            pack = self._measured(_without_weakest(pack))
        return pack

    def _fits(self, pack: Pack) -> bool:
        characters = self._wanted.preset.characters
        return pack.tokens <= pack.budget and (not characters or len(self._text(pack)) <= characters)

    def _measured(self, pack: Pack) -> Pack:
        """With the tokens of each slot as it is rendered; what is not a slot's is the frame's."""
        count, form = self._sources.counter.count, self._wanted.preset.form
        tagged = form == "xml" or sum(bool(slot.excerpts) for slot in pack.slots) > 1
        slots = []
        for slot in pack.slots:
            tokens = count(slot_text(slot, form=form, tagged=tagged)) if slot.excerpts else 0
            # Rendered, a slot may be a little dearer than was reckoned: that comes from what is left over.
            slots.append(slot._replace(tokens=tokens, budget=max(self._filled[slot.name].budget, tokens)))
        pack = pack._replace(slots=tuple(slots), frame=0)
        in_slots = pack.tokens
        for _ in range(_DIGITS if form == "json" else 1):  # JSON shows the figures themselves
            pack = pack._replace(frame=count(self._text(pack)) - in_slots if in_slots else 0)
        return pack

    def _text(self, pack: Pack) -> str:
        return render(pack, form=self._wanted.preset.form, key=self._sources.key)


def _without_weakest(pack: Pack) -> Pack:
    """Without the excerpt that says least of the last slot that has one; pinned ones go last."""
    slots = list(pack.slots)
    at = max(
        (i for i, slot in enumerate(slots) if slot.excerpts),
        key=lambda i: (not slots[i].stable, i),
    )
    slot = slots[at]
    weakest = min(slot.excerpts, key=lambda one: (one.score, one.path, one.first_line))
    kept = tuple(one for one in slot.excerpts if one is not weakest)
    left = LeftOut(
        f"{weakest.path}:{weakest.first_line}", "budget", slot.name, weakest.tokens, weakest.score,
        weakest.confidence,
    )  # fmt: skip
    tokens = slot.tokens - weakest.tokens
    slots[at] = slot._replace(excerpts=kept, tokens=max(0, tokens))
    return pack._replace(slots=tuple(slots), left_out=(*pack.left_out, left))


def _fitting(matches: Matches, slot: str) -> Sequence[Match]:
    """A skill is a template that its owner has approved; single runs are told where there is neither."""
    if slot == "template":
        return sorted((*matches.skills, *matches.templates), key=lambda match: -match.score)[:1]
    if slot == "relevant":
        known = () if matches.skills or matches.templates else matches.runs
        told = {match.id for match in known}  # with what was done
        return (*known, *(match for match in matches.answers if match.id not in told))
    return {"lessons": matches.lessons, "skills": matches.skills}.get(slot, ())


def _is_said(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _is_struck(hit: Hit) -> bool:
    """Does it say what is no longer true?"""
    return hit.text.lstrip(" -*+\t").startswith("~~")


def _unlikely(hit: Hit, slot: str) -> LeftOut:
    return LeftOut(f"{hit.path}:{hit.first_line}", "unlikely", slot, 0, hit.score, hit.confidence)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def is_empty(pack: Pack) -> bool:
    return not any(one.text.strip() for one in pack.excerpts)
