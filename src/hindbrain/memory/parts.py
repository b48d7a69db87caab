"""The parts that the memory of a vault is made of, and what they need from the application.

Each part is made at its first use, so that a recall pays for no inbox and a start for nothing. Owns who is
given to whom; what is done with the parts is in `service`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.memory.storage.queue import WriteQueue
from hindbrain.memory.storage.storing import Storage, WriteSettings
from hindbrain.vault.items.item import MemoryItem, trust_of

if TYPE_CHECKING:
    from datetime import date

    from hindbrain.index.standing import IndexStanding
    from hindbrain.index.sync import SyncReport
    from hindbrain.memory.answers import PastRuns
    from hindbrain.memory.conflicts.conflict import ConflictJudge
    from hindbrain.memory.daily.daily import Daily
    from hindbrain.memory.forgetting.ledger import Ledger
    from hindbrain.memory.forgetting.tombstones import Tombstones
    from hindbrain.memory.inbox.inbox import Inbox, KeepSkill
    from hindbrain.memory.inbox.inbox_note import Proposal
    from hindbrain.memory.items.book import MemoryBook
    from hindbrain.memory.items.elsewhere import Elsewhere
    from hindbrain.memory.notes.link_names import NameTable, NoteName
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.notes.own_lines import OwnLines
    from hindbrain.memory.other_names import OtherNames
    from hindbrain.memory.policy.policy import Policy
    from hindbrain.memory.policy.provenance import Heard
    from hindbrain.memory.relevance import BestRelevance
    from hindbrain.memory.storage.applying import Applier
    from hindbrain.memory.storage.merged_ids import MergedIds
    from hindbrain.memory.tasks.tasks import Tasks
    from hindbrain.models.embedder import Embedder
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import SearchQuery
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.path_rules import NotePath
    from hindbrain.vault.write import VaultWriter

_AGENT = trust_of("agent")
_COMPARED_S = 1.0  # in which the files are not compared again: a note is judged block by block
_NAMES_S = 60.0  # for which the names of notes are believed: making their table takes a while


class Surroundings(NamedTuple):
    """What the memory needs from the application; each is called at first need."""

    writer: Callable[[], VaultWriter]
    embedder: Callable[[], Embedder | None]
    local_embedder: Callable[[], Embedder | None]  # None when only a service could be asked
    search: Callable[[SearchQuery], SearchResult]
    freshen: Callable[[], object]
    take_in: Callable[[Iterable[NotePath]], SyncReport]  # into an index that is there
    record_access: Callable[[str, str, tuple[str, ...]], None]  # path, query, ids of memories that were shown
    repeated: Callable[[str], list[tuple[str, str]]]  # (source, passage) of strangers who say it, too
    index_standing: Callable[[], IndexStanding]
    note_names: Callable[[], list[NoteName]]  # titles, aliases and file names; [] without an index
    other_names: Callable[[], OtherNames]  # of notes that have aliases; none without an index
    past_runs: Callable[[str], PastRuns]  # whose answers a question may mean
    day_notes: Callable[
        [date], tuple[str, ...]
    ]  # where the notes of a day may stand, the owner's own as well
    index_path: Path
    layout: Callable[[], Layout]
    relevance: Callable[[], BestRelevance]  # judges how well memories fit a prompt
    hits: int = 10  # that a search or a recall returns when no number is asked for
    keep_skill: KeepSkill | None = None  # writes the note of a skill that a person ticked in the inbox
    agent: Callable[[], str] = lambda: ""  # the agent host that runs this process; "" for none


class MemoryParts:
    """For one thread."""

    def __init__(
        self,
        root: Path,
        state: Path,
        clock: Clock,
        around: Surroundings,
        settings: WriteSettings | None = None,
    ) -> None:
        self.root = root
        self.state = state
        self.clock = clock
        self.settings = settings or WriteSettings()
        self._around = around
        self._names: NameTable | None = None  # of notes that a memory may mention
        self._names_at = 0.0  # seconds since the epoch
        self._is_leaving = False  # nothing that may take long is asked any more
        self._compared_at = float("-inf")  # when the index was last compared with the files, by `monotonic`

    def today(self) -> str:
        """YYYY-MM-DD, the owner's day."""
        return self.clock.today().isoformat()

    @property
    def hits(self) -> int:
        """How many hits an answer has when no number is asked for."""
        return self._around.hits

    @cached_property
    def layout(self) -> Layout:
        return self._around.layout()

    @cached_property
    def notebook(self) -> Notebook:
        return Notebook(
            self.root, self._around.writer, lambda path: self.layout.note_place(path), self._note_composed,
            self._guard,
        )  # fmt: skip

    def _guard(self, path: str) -> None:
        """Refused for instruction files, config and what leads there through a symlink."""
        from hindbrain.memory.policy.protected import check_kept_note

        check_kept_note(self.root, path, self.layout.role_of(path))

    def _note_composed(self, path: str, before: bytes, after: bytes) -> None:
        """Note which lines of days and sessions are ours: a note with any other is never archived."""
        if self.layout.role_of(path) in ("daily", "sessions"):
            from hindbrain.vault.parse import decode_note

            there = set(decode_note(before)[0].splitlines())
            added = [line for line in decode_note(after)[0].splitlines() if line not in there]
            self._own_lines().note_written(path, added)

    @cached_property
    def queue(self) -> WriteQueue:
        return WriteQueue(self.state)

    @cached_property
    def _merged(self) -> MergedIds:
        from hindbrain.memory.storage.merged_ids import MergedIds

        return MergedIds(self.state)

    @cached_property
    def _storage(self) -> Storage:
        return Storage(
            self.queue, self.book, self._applier, self._merged, lambda: self.judge, self.layout, self.clock,
            self.settings, self.today, self._asks_service, self._find_item,
        )  # fmt: skip

    def _find_item(self, memory_id: str) -> MemoryItem | None:
        """The memory with this id in its note or in the archive."""
        found = (item for book in (self.book, self.archived) for item in book.items() if item.id == memory_id)
        return next(found, None)

    def _asks_service(self) -> bool:
        """Does it take a service to compare memories by meaning?"""
        return self._around.local_embedder() is None and self._around.embedder() is not None

    @cached_property
    def book(self) -> MemoryBook:
        from hindbrain.memory.items.book import MemoryBook

        return MemoryBook(self.notebook, self.layout, self.root, elsewhere=self.elsewhere)

    @cached_property
    def elsewhere(self) -> Elsewhere:
        from hindbrain.memory.items.elsewhere import Elsewhere

        return Elsewhere(self.notebook, self.layout, lambda: self.ledger)

    @cached_property
    def archived(self) -> MemoryBook:
        """Memories that nobody used for long: known, and shown to no agent."""
        from hindbrain.memory.items.archived import archived_memory_notes
        from hindbrain.memory.items.book import MemoryBook

        return MemoryBook(
            self.notebook, self.layout, self.root, lambda: archived_memory_notes(self.layout, self.root)
        )

    @cached_property
    def _applier(self) -> Applier:
        from hindbrain.memory.storage.applying import Applier

        return Applier(self.notebook, self.layout, self.book.category_of, self.linked)

    def linked(self, text: str, own: str) -> str:
        """A text for the note `own`, with the notes it mentions linked, as far as the index knows them."""
        from hindbrain.memory.notes.link_names import NameTable, link_known

        now = self.clock.now()
        if self._names is None or not 0 <= now - self._names_at < _NAMES_S:
            names = [name for name in self._around.note_names() if self._is_target(name.path)]
            self._names, self._names_at = NameTable(names), now
        return link_known(text, self._names, own=own)

    def _is_target(self, path: str) -> bool:
        """Of the agent's own notes only people and projects: "task" is no mention of the tasks."""
        folder = self.layout.folder
        if self.layout.role_of(path) in ("contacts", "projects"):
            return True
        return not path.startswith(f"{folder}/") if folder else not self.layout.role_of(path)

    @cached_property
    def judge(self) -> ConflictJudge:
        from hindbrain.memory.conflicts.conflict import ConflictJudge

        def embedder() -> Embedder | None:
            return self._around.local_embedder() if self._is_leaving else self._around.embedder()

        return ConflictJudge(embedder)

    @cached_property
    def tombstones(self) -> Tombstones:
        from hindbrain.memory.forgetting.tombstones import Tombstones

        return Tombstones(self.root, self._around.writer, self.clock)

    @cached_property
    def ledger(self) -> Ledger:
        from hindbrain.memory.forgetting.ledger import Ledger

        return Ledger(self.root, self._around.writer, self.tombstones, self.clock)

    @cached_property
    def policy(self) -> Policy:
        from hindbrain.memory.policy.policy import Policy

        return Policy(self.tombstones, self._heard)

    @cached_property
    def inbox(self) -> Inbox:
        from hindbrain.memory.inbox.inbox import Inbox

        return Inbox(
            self.root, self.state, self.layout, self.notebook, self._around.writer, self.tombstones,
            self.clock, self._store_approved, self._around.keep_skill, self._around.agent, self._add_approved,
            self._replace_approved,
        )  # fmt: skip

    @cached_property
    def tasks(self) -> Tasks:
        from hindbrain.memory.tasks.tasks import Tasks

        return Tasks(self.notebook, self.layout, self.clock, self.policy)

    @cached_property
    def daily(self) -> Daily:
        from hindbrain.memory.daily.daily import Daily

        return Daily(self.notebook, self.layout, self.clock, self._own_lines)

    def _own_lines(self) -> OwnLines:
        """Read at each use: other processes add to it."""
        from hindbrain.memory.notes.own_lines import OwnLines

        return OwnLines(self.root, lambda name, line: self._around.writer().append_state_line(name, line))

    def _heard(self, text: str) -> Iterable[Heard]:
        """What the vault holds that `text` may repeat, as far as it is trusted less than an agent."""
        from hindbrain.memory.policy.provenance import Heard

        if not 0 <= monotonic() - self._compared_at < _COMPARED_S:
            with suppress(HindbrainError):  # a page that was clipped a moment ago counts, too
                self._around.freshen()
            self._compared_at = monotonic()
        waiting = [one for one in self.queue.pending() if one.source not in ("user", "agent")]
        found = [Heard(one.text, one.source) for one in self.book.doubtful(text)]
        found += [Heard(one.text, one.source) for one in waiting]
        found += self.inbox.heard(text)
        found += [Heard(passage, source) for source, passage in self._around.repeated(text)]
        return [heard for heard in found if trust_of(heard.source) > _AGENT]

    def _store_approved(self, item: MemoryItem, approved: str) -> None:
        """What a person ticked in the inbox: exactly these words, beside whatever is there."""
        from hindbrain.memory.items.note_edit import Add

        path = self.layout.path("memory", category=item.category)
        add = Add(item._replace(path=path), exactly=True, fields=(("approved", approved),))
        self._applier.edit(path, [add], self.today())
        self.ledger.note_stored([add.item])

    def _replace_approved(self, older_id: str, newer_id: str) -> bool:
        """What a person ticked replaces what its proposal named, unless that is trusted more."""
        from hindbrain.memory.storage.replacement import supersede

        return supersede(self.book, self._applier, older_id, newer_id, self.today())

    def _add_approved(self, proposal: Proposal, approved: str) -> None:
        """A line that a person accepted for one of their own notes; it still says whose word it was."""
        from hindbrain.memory.notes.section_end import with_line
        from hindbrain.vault.items.item_text import escape

        path = self.layout.path(proposal.role)
        mark = f" [source:: {proposal.source}]" if proposal.source != "user" else ""
        line = f"- {escape(proposal.text)}{mark}"

        def change(page: Page | None) -> bytes | None:
            first = self.layout.first_text(proposal.role, today=approved).encode()
            data = first if page is None else page.data
            changed = with_line(data, line, proposal.heading, path=path)
            return None if changed == data else changed

        self.notebook.edit(path, change, given=True)
