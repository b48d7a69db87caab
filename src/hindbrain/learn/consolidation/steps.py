"""The steps of a consolidation, in an order in which a source is archived only when its result is durable.

Each is a function of what is there, does nothing a second time, and says in a line what it came to. What
fails keeps no other step from being done. Knows nothing of locks, proofs and the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.base.plural import plural
from hindbrain.learn.consolidation.archive import archive, daily_to_move, follow_days, sessions_to_move
from hindbrain.learn.consolidation.importance import Thresholds
from hindbrain.learn.consolidation.journals import OldJournals
from hindbrain.learn.consolidation.remembering import DailyMemories, old_day_notes
from hindbrain.learn.consolidation.stale import StaleMemories, find_stale, injections, uses_of
from hindbrain.learn.pages.drafts import drafts_on

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.learn.consolidation.processed import Processed
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.store import RunStore
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel
    from hindbrain.vault.write import VaultWriter


class Step(NamedTuple):
    name: str
    run: Callable[[], str]  # does its part; returns a line for people


class Parts(NamedTuple):
    """What others give. A desk that they are given may be one of drafts (`drafts_on`)."""

    learn: Callable[[Desk], str] = lambda _: ""  # record runs, lessons, templates
    summarise: Callable[[Desk], str] = lambda _: ""
    chat: Callable[[], ChatModel | None] = lambda: None
    adjustment: Callable[[str], float] = lambda _: 0.0  # what feedback adds to a memory's importance
    thresholds: Thresholds = Thresholds()


class Counts(NamedTuple):
    facts: int = 0
    superseded: int = 0
    held: int = 0
    archived: int = 0
    stale: int = 0
    compressed: int = 0


class Work:
    """One consolidation."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        runs: RunStore,
        clock: Clock,
        writer: Callable[[], VaultWriter],
        parts: Parts,
        processed: Processed,
        vouch: Callable[[str], None],
    ) -> None:
        self._desk = desk
        self._memory = memory
        self._runs = runs
        self._clock = clock
        self._writer = writer
        self._parts = parts
        self._processed = processed
        self._vouch = vouch
        self._notes: dict[str, str] = {}  # daily notes whose facts are durable by now, with their hash
        self._stale: tuple[str, ...] = ()  # memories that were archived
        self._compared: tuple[str, ...] = ()  # pairs of memories that a model was asked about
        self.lines: list[tuple[str, str]] = []
        self.problems: list[str] = []
        self.counts = Counts()

    def steps(self) -> tuple[Step, ...]:
        return (
            Step("learn", lambda: self._parts.learn(self._desk)),
            Step("daily notes", self._remember_days),
            Step("replaced facts", self._replace),
            Step("archive", self._archive),
            Step("journals", self._compress),
            Step("old memories", self._archive_stale),
            Step("summaries", lambda: self._parts.summarise(self._desk)),
        )

    def run(self) -> None:
        for step in self.steps():
            try:
                self.lines.append((step.name, step.run()))
            except (HindbrainError, OSError) as error:
                self.lines.append((step.name, "not done"))
                self.problems.append(f"{step.name}: {error}")

    def note_done(self) -> None:
        """What is proved need not be looked at again."""
        try:
            self._processed.add(self._clock.now(), list(self._notes.items()), self._stale, self._compared)
        except HindbrainError as error:
            self.problems.append(f"what was done could not be noted: {error}")

    def _remember_days(self) -> str:
        found = DailyMemories(
            self._desk, self._memory, self._processed, self._parts.chat, self._parts.thresholds
        ).remember()
        self._notes = {note.path: note.hash for note in found.notes}
        self.problems += found.problems
        self.counts = self.counts._replace(facts=found.facts, superseded=found.superseded, held=found.held)
        if not found.notes:
            return "no daily note is due"
        line = f"{plural(found.facts, 'fact')} of {plural(len(found.notes), 'daily note')}"
        line += f", {found.superseded} replace older ones" if found.superseded else ""
        return line + (f", {found.held} wait in the inbox" if found.held else "")

    def _replace(self) -> str:
        """Ask the model, where one is named, which related memories a newer one has replaced."""
        chat = self._parts.chat() if drafts_on(self._desk) is None else None
        if chat is None:
            return "no model to ask"
        from hindbrain.learn.consolidation.replaced_by_model import MOST_PAIRS, judge_pairs, open_pairs

        pairs = open_pairs(self._memory.book.items(), self._processed.was_compared)
        judged = judge_pairs(chat, pairs[:MOST_PAIRS])
        if judged.failure:
            self.problems.append(f"the model did not compare memories ({judged.failure}); they stay")
        struck = sum(self._memory.supersede(pair.older.id, pair.newer.id) for pair in judged.replaced)
        self._compared = tuple(pair.key for pair in judged.asked)
        self.counts = self.counts._replace(superseded=self.counts.superseded + struck)
        return f"{plural(len(judged.asked), 'pair')} compared, {struck} replaced" if judged.asked else "none"

    def _archive(self) -> str:
        thresholds = self._parts.thresholds
        notes = old_day_notes(self._desk, older_than=thresholds.age_days)
        days = daily_to_move(self._desk, notes, self._is_done, after_days=thresholds.daily_days)
        moves = [*days, *sessions_to_move(self._desk)]
        found = archive(self._desk, moves, self._vouch)
        self.problems += [*found.problems, *follow_days(self._desk)]
        self.counts = self.counts._replace(archived=found.moved)
        if not found.moved and found.owned:
            return f"none moved; {plural(found.owned, 'old note')} with lines of yours left in place"
        line = f"{plural(found.moved, 'note')} moved" if found.moved else "nothing is old enough"
        line += f", {found.owned} with lines of yours left in place" if found.owned else ""
        return line + (f", {found.linked} stay because others link to them" if found.linked else "")

    def _is_done(self, path: str, digest: str) -> bool:
        return self._notes.get(path) == digest or self._processed.has_note(path, digest)

    def _compress(self) -> str:
        journals = OldJournals(self._desk.root, self._writer)
        if drafts_on(self._desk) is not None:
            count = journals.count(now=self._clock.now())
            self.counts = self.counts._replace(compressed=count)
            return f"{count} journals" if count else "nothing is old enough"
        found = journals.compress(now=self._clock.now())
        self.problems += found.problems
        self.counts = self.counts._replace(compressed=found.compressed + found.cold)
        if not found.compressed and not found.cold:
            return "nothing is old enough"
        return f"{found.compressed} compressed, {found.cold} put into the file of their year"

    def _injected(self) -> Iterable[tuple[float, Sequence[str]]]:
        """When which memories were put into a prompt."""
        if drafts_on(self._desk) is None:
            return [
                (episode.ended, episode.injected) for episode in self._runs.episodes() if episode.injected
            ]
        # The store keeps what it reads in a cache; a dry run writes nothing, so it reads for itself.
        return injections(self._desk.root)

    def _archive_stale(self) -> str:
        from hindbrain.index.usage import read_usage

        uses = uses_of(read_usage(self._desk.root), self._injected())
        stale = find_stale(
            self._memory.book.items(), uses, now=self._clock.now(), adjustment=self._parts.adjustment
        )
        moving = StaleMemories(self._desk, self._memory, self._processed.was_archived, self._vouch)
        found = moving.archive(stale)
        self._stale = found.ids
        self.problems += found.problems
        self.counts = self.counts._replace(stale=len(found.ids))
        return f"{plural(len(found.ids), 'memory')} moved" if found.ids else "none is stale"
