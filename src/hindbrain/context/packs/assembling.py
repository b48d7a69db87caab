"""From a prompt to a pack: fill each slot of a preset from the vault, within the budget.

Slots are filled in the order of their priority; what one leaves over flows to the next, and in the end to
what is relevant. The budget holds for the rendered text: what is too much is taken out from the weakest.
Abstains when the best that was found is too unlikely. Asks the search; writes nothing, and counts nothing as
read, so that the same prompt on the same vault gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.context.packs.attribution import attribution, by_note
from hindbrain.context.packs.card import Read, core_card, open_tasks, what_happened
from hindbrain.context.packs.pack import Excerpt, FilledSlot, LeftOut, Pack
from hindbrain.context.packs.packing import Chosen, Limits, Shown, choose, is_enough
from hindbrain.context.packs.preset import STABLE, Preset
from hindbrain.context.packs.rendering import render
from hindbrain.context.packs.worth import worth_of
from hindbrain.memory.items.archived import is_archived
from hindbrain.search.query import Filters, SearchQuery

if TYPE_CHECKING:
    from hindbrain.context.packs.learned import Match, Matches
    from hindbrain.context.tokens import TokenCounter
    from hindbrain.context.topic.intent import Intent
    from hindbrain.memory.service import Memory
    from hindbrain.search.hit import Hit, SearchResult
    from hindbrain.search.outline import Outline
    from hindbrain.search.query import Mode
    from hindbrain.vault.layout import Layout

_HITS, _MOST_HITS = 60, 1_000
_TOKENS_A_HIT = 10  # of budget beyond the first thousand: passages are short, and many are left out
_SHOWN_QUERY = 80  # characters of it in a block's tag
_ATTRIBUTION = 12  # tokens of the line that says where something comes from
_FENCE = 45  # tokens of a block's own tags and first line
_SLOT_TAGS = 16  # tokens of the two tags of a slot
_FOUND_BY_PROMPT = ("relevant", "apps", "template", "lessons", "skills")
# Roles whose notes a slot looks through; those that the layout does not have cost nothing. What was learned
# is matched with the command as a whole, not searched for: see `learned`.
_ROLES: Mapping[str, tuple[str, ...]] = {"apps": ("apps",)}
# Nobody's word yet; links; the bookkeeping of runs, which would tell one run five times.
_HIDDEN_ROLES = ("inbox", "home", "archive", "recent", "status", "summary", "task_log")
# What is recorded of runs: known by its id, or by the form of its entries. What fits of it is matched.
_RECORD = re.compile(
    r"\s*[-*+] (?:\*\*(?:Command|Outcome|Iterations|Key actions|Duration|Score|Reason|Actions|Lesson|Seen"
    r"|Original|Corrected|Changed|RunId):\*\*|(?:when|why|failed|worked): )|.*\s\^[cilr]-[\w-]+\s*$"
    r"|.*: \d+ runs, \d+ % went well"
)
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


class Wanted(NamedTuple):
    """What a pack is asked for."""

    intent: Intent
    preset: Preset
    excluded: frozenset[str] = frozenset()  # passages that are in the window already
    filters: Filters = Filters()
    prompt: str = ""  # as it was given: what was learned is matched with the whole command


def assemble(sources: Sources, wanted: Wanted) -> Pack:
    """Raises IndexFault when notes could not be looked at."""
    return _Assembly(sources, wanted).pack()


class _Assembly:
    def __init__(self, sources: Sources, wanted: Wanted) -> None:
        self._sources = sources
        self._wanted = wanted
        self._shown = Shown(wanted.excluded)
        self._notices: list[str] = []
        self._left_out: list[LeftOut] = []
        self._best = 0.0
        self._abstained = False
        self._in_characters = bool(wanted.preset.characters)
        self._slots = {rule.name for rule in wanted.preset.slots}

    def pack(self) -> Pack:
        preset = self._wanted.preset
        own = self._allotted()
        filled: dict[str, FilledSlot] = {}
        over = 0  # what slots before have left
        # What is relevant comes last: all that others leave flows to it.
        for rule in sorted(preset.slots, key=lambda rule: rule.name == "relevant"):
            if not own[rule.name]:
                self._left_out.append(LeftOut(rule.name, "dropped", rule.name))
                continue
            allowed = max(0, own[rule.name] + over - self._tags(filled.values()))
            filled[rule.name] = self._fill(rule.name, rule.tokens, allowed)
            over = max(0, own[rule.name] + over - self._spent(filled[rule.name]))
        slots = [filled[rule.name] for rule in preset.slots if rule.name in filled]
        slots.sort(key=lambda slot: not slot.stable)
        pack = Pack(
            preset.name, self._wanted.intent.query, preset.budget, tuple(slots), tuple(self._left_out),
            self._best, self._abstained and not any(slot.excerpts for slot in slots if not slot.stable),
            tuple(dict.fromkeys(self._notices)),
        )  # fmt: skip
        return self._fitted(pack)

    def _allotted(self) -> dict[str, int]:
        """What each slot may spend; where the budget does not reach, the last ones get nothing."""
        preset = self._wanted.preset
        left = (preset.characters or preset.budget) - self._overhead()
        own: dict[str, int] = {}
        for rule in preset.slots:
            own[rule.name] = max(0, min(left, self._units(rule.tokens)))
            left -= own[rule.name]
        return own

    # What things cost

    def _cost(self, text: str) -> int:
        return len(text) if self._in_characters else self._sources.counter.count(text)

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
        heads = sum(self._cost(attribution(quoted)) for quoted in by_note(slot.excerpts))
        lines = sum(one.text.count("\n") + 1 for one in slot.excerpts)
        text = sum(self._cost(one.text) for one in slot.excerpts)
        tags = self._units(_SLOT_TAGS) if len(self._slots) > 1 else 0
        return text + heads + lines * limits.per_line + tags

    # Slots

    def _fill(self, name: str, budget: int, allowed: int) -> FilledSlot:
        if name in _FOUND_BY_PROMPT:
            learned = self._learned(name, allowed)
            match = max((one.score for one in learned), default=0.0) if name == "template" else 0.0
            spent = self._spent(FilledSlot(name, 0, 0, tuple(learned)))
            chosen = self._found(name, allowed - spent)
            self._left_out += chosen.left_out
            excerpts = (*learned, *chosen.excerpts)
        else:
            read = self._read(name, allowed)
            self._notices += read.notices
            excerpts, match = tuple(read.excerpts), 0.0
            for line in "\n".join(one.text for one in excerpts).split("\n"):
                self._shown.add("", line)  # what every prompt gets is not found again
        tokens = sum(self._sources.counter.count(one.text) for one in excerpts)
        return FilledSlot(name, budget, tokens, tuple(excerpts), name in STABLE, match)

    def _read(self, name: str, allowed: int) -> Read:
        memory = self._sources.memory()

        def fits(lines: Sequence[str]) -> Sequence[str]:
            """As many of the first lines as the slot has room for."""
            limits = self._limits(0)
            left = allowed - self._units(_ATTRIBUTION)
            kept = []
            for line in lines:
                left -= self._cost(line) + limits.per_line
                if left < 0:
                    break
                kept.append(line)
            return kept

        if name in ("core", "profile"):
            return core_card(memory, fits)
        return open_tasks(memory, fits) if name == "tasks" else what_happened(memory, fits)

    @cached_property
    def _matches(self) -> Matches | None:
        intent = self._wanted.intent
        if self._sources.learned is None or not intent.query.strip():
            return None
        matches = self._sources.learned(self._wanted.prompt or intent.query, intent.apps)
        self._notices += matches.problems
        return matches

    def _learned(self, name: str, allowed: int) -> list[Excerpt]:
        """What earlier runs taught that fits the command, as far as the slot has room for it."""
        if self._matches is None:
            return []
        chosen: list[Excerpt] = []
        for match in _fitting(self._matches, name):
            place = f"{match.path}:{match.first_line}"
            if match.id in self._shown.excluded:
                self._left_out.append(LeftOut(place, "in_window", name, 0, match.score, match.score))
                continue
            left = allowed - self._spent(FilledSlot(name, 0, 0, tuple(chosen)))
            text = self._lines_within(match.text, left - self._units(_ATTRIBUTION))
            if not text or self._shown.holds(match.id, text):
                self._left_out.append(LeftOut(place, "budget", name, 0, match.score, match.score))
                continue
            self._shown.add(match.id, text)
            chosen.append(
                Excerpt(
                    match.path, match.title, text, match.date, "", match.first_line, match.last_line,
                    match.source, "section", match.score, match.score, (match.id,),
                    self._sources.counter.count(text), match.why,
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

    def _found(self, name: str, allowed: int) -> Chosen:
        """What a slot finds by the prompt."""
        intent = self._wanted.intent
        nothing = Chosen((), (), 0)
        if allowed <= 0 or not intent.query.strip() or (name == "apps" and not intent.apps):
            return nothing
        hits = self._hits(name, allowed)
        if not hits:
            return nothing
        best = worth_of(hits, intent.entities)
        if name == "relevant":
            self._best = best
        if best < self._wanted.preset.least_confidence:
            self._abstained = self._abstained or name == "relevant"
            return nothing._replace(left_out=tuple(_unlikely(hit, name) for hit in hits[:10]))
        outlines = self._sources.outlines(dict.fromkeys(hit.path for hit in hits if is_enough(hit)))
        limits = self._limits(allowed, notes=self._wanted.preset.notes)
        return choose(intent.query, hits, outlines, limits, self._shown, slot=name)

    def _hits(self, name: str, allowed: int) -> list[Hit]:
        """What the search finds for a slot, as far as it says something; in whose order the slot wants it."""
        tokens = allowed // 4 if self._in_characters else allowed
        k = min(_MOST_HITS, _HITS + max(0, tokens - 1_000) // _TOKENS_A_HIT)
        filters, role_of = self._wanted.filters, cache(self._sources.layout.role_of)
        if name == "relevant":
            found = self._search(filters, k)
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
        if role in _HIDDEN_ROLES or _is_struck(hit) or is_archived(self._sources.layout, hit.path):
            return False
        if self._sources.learned is not None and _OWN_SLOT.get(role) in self._slots - {slot}:
            return False  # what fits of it stands in its own slot
        if role in _WITH_RECORDS and all(map(_RECORD.match, filter(_is_said, hit.text.split("\n")))):
            return False
        template = self._sources.layout.start.get(role, "")
        return not template or any(line.strip() not in template for line in hit.text.split("\n"))

    def _search(self, filters: Filters, k: int) -> list[Hit]:
        query = SearchQuery(self._wanted.intent.query, k=k, filters=filters, mode=self._sources.mode)
        result = self._sources.search(query)
        self._notices += result.notices
        return list(result.hits)

    def _folders(self, name: str) -> list[str]:
        layout = self._sources.layout
        return [
            layout.path(role) if layout.is_single(role) else layout.folder_of(role)
            for role in _ROLES.get(name, ())
            if layout.has(role)
        ]

    # The budget holds for what is rendered

    def _fitted(self, pack: Pack) -> Pack:
        while pack.excerpts and not self._fits(pack):
            pack = _without_weakest(pack)
        return pack

    def _fits(self, pack: Pack) -> bool:
        preset = self._wanted.preset
        text = render(pack, form=preset.form, key=self._sources.key)
        if preset.characters and len(text) > preset.characters:
            return False
        return self._sources.counter.count(text) <= preset.budget


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
        return () if matches.skills or matches.templates else matches.runs
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
