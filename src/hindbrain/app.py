"""The composition root: settings in, a working Hindbrain out. The only place where objects are wired."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import EmbedderDown, IndexMissing, NotFound, UsageError, VaultAway
from hindbrain.vault.binding import away_error, bind, bind_place, bound_folder, why_away
from hindbrain.vault.copies import remember_alias
from hindbrain.vault.discover import PATH_ID_PREFIX, find_vault, is_logseq, read_vault_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import date
    from threading import Event

    from hindbrain.agent.agent import Agent
    from hindbrain.agent.announcing import Announcing
    from hindbrain.agent.outfit import Supplies
    from hindbrain.agent.policy_file import AgentPolicy
    from hindbrain.agent.tools.box import Mailbox
    from hindbrain.agent.tools.tool import ActionTool
    from hindbrain.context.packs.gate import Null
    from hindbrain.context.packs.learned import Matches
    from hindbrain.context.packs.null_file import NullMeasure, NullReader
    from hindbrain.context.service import Context
    from hindbrain.index.follow import Follower, FollowEvent
    from hindbrain.index.freshness import Freshener, Freshness
    from hindbrain.index.health import Drift
    from hindbrain.index.marked_notes import MarkedNotes
    from hindbrain.index.progress import Listener
    from hindbrain.index.standing import IndexStanding, Making
    from hindbrain.index.store import IndexStore
    from hindbrain.index.sync import Syncer, SyncReport
    from hindbrain.learn.service import Learning
    from hindbrain.memory.encoded_texts import EncodedTexts
    from hindbrain.memory.forgetting.purge import Purged
    from hindbrain.memory.forgetting.traces import Traces
    from hindbrain.memory.inbox.agent_sessions import AgentSessions
    from hindbrain.memory.notes.link_names import NoteName
    from hindbrain.memory.other_names import OtherNames
    from hindbrain.memory.relevance import BestRelevance
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel
    from hindbrain.models.embedder import Embedder, EmbeddingSettings
    from hindbrain.models.encoder import Encoder
    from hindbrain.models.noted import EmbedderFailure, FailureNotes
    from hindbrain.models.select import Choice
    from hindbrain.search.engine import SearchEngine
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.outline import Outline
    from hindbrain.search.query import SearchQuery, SearchSettings
    from hindbrain.vault.event_paths import Changes
    from hindbrain.vault.ignore import IgnoreRules
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.obsidian import ObsidianSettings
    from hindbrain.vault.path_rules import NotePath
    from hindbrain.vault.revisions import Revision
    from hindbrain.vault.write import TakenBack, VaultWriter


_FRESHEN_S = 0.5  # for comparing the index with the files before an answer, and taking in what changed
_PROMPT_ENCODE_S = 0.03  # for passages that the encoder has not seen, while a prompt waits
_NOTES_READ = 400  # at most, to learn which languages they are in
_ACCESS_WAIT_S = 0.2  # reading a note never waits longer for its access to be counted


def locate_vault(config: Config, start: Path | None = None, named: str = "") -> Path:
    """The vault that is meant: the one named, else the nearest one upwards, else the one in the settings.

    A folder to which a vault is bound counts also while that vault is away.
    """
    if named:
        return Path(named).expanduser().absolute()
    start = start or Path.cwd()
    found, bound = find_vault(start), bound_folder(state_folder(config), start)
    if found is not None and (bound is None or len(bound.parts) <= len(found.parts)):
        return found
    if bound is not None:
        return bound
    configured = config.text("vault.path")
    if configured:
        return Path(configured).expanduser().absolute()
    raise NotFound(
        f"no vault found from {str(start)!r} upwards; hindbrain init makes this folder a "
        "vault, or go into one, name it with --vault PATH, or set it: hindbrain config vault.path PATH"
    )


def build_app(
    config: Config, root: Path, *, clock: Clock | None = None, warm: bool = True, away_ok: bool = False
) -> App:
    """`warm`: the process will answer many queries, so vectors are kept in memory.

    Raises VaultAway when the vault of that folder is not there. `away_ok`: for what needs its state only.
    """
    state = state_folder(config)
    if state.absolute().is_relative_to(root.absolute()):
        raise UsageError(
            f"the state folder {str(state)!r} lies inside the vault; a sync tool would damage the index "
            "there: set state.folder to another place"
        )
    bound = bind(state, root)
    if not away_ok:
        bound.check(root)
    _keep_private(state, bound.state, usual=config.sources["state.folder"] == "default")
    app = App(config, root, bound.state, clock or SystemClock(), warm)
    app.copy_of = bound.copy_of
    return app


def state_of(config: Config, root: Path) -> Path:
    """Where the state of a vault is kept, also while the vault is away."""
    return bind(state_folder(config), root).state


def _keep_private(state: Path, own: Path, *, usual: bool) -> None:
    """What lies there repeats the notes. The folder of a vault is not made here: that it is there tells that
    its owner has opened the vault. A state folder that its owner has named keeps its mode."""
    with suppress(OSError):  # whoever writes there tells what is wrong
        if not state.exists():
            state.mkdir(mode=0o700, parents=True)
        for folder in (state, own) if usual else (own,):
            if folder.exists() and _is_open(folder.stat()):
                folder.chmod(0o700)


def _is_open(found: os.stat_result) -> bool:
    """May others look into it, and is it ours to close?"""
    return sys.platform != "win32" and bool(found.st_mode & 0o077) and found.st_uid == os.geteuid()


# When the encoder may be used. To load it takes 0.1 s and 100 MB: a process that stays reads memories while
# it is idle; a command that a person typed loads it at once, where memories were read before.
Encodes: TypeAlias = Literal["never", "when idle", "at once"]


class App:
    """One vault, opened. Parts are made at first use, so a keyword search never loads an embedder."""

    def __init__(self, config: Config, root: Path, state: Path, clock: Clock, warm: bool) -> None:
        self.config = config
        self.root = root
        self.state = state
        self.clock = clock
        self.warm = warm
        self.copy_of = ""  # the path of the vault whose id this copy of it has
        self.making: Callable[[], Making | None] = lambda: None  # how far a first index is, where one is made
        # What a watcher in this process has heard and not taken in; None: nothing watches here.
        self.pending_changes: Callable[[], Changes | None] = lambda: None
        self.follower: Follower | None = None  # while `follow` runs
        # Asks a process that has this vault open and warm; None: nobody answers.
        self.ask_elsewhere: Callable[[SearchQuery], SearchResult | None] = lambda _: None
        self.freshen_s = _FRESHEN_S  # a hook has less time
        # The agent host that runs this process, "" for none; a server that serves agents is no agent's.
        self.started_by: Callable[[], str] = lambda: ""
        self._names_of: tuple[int, OtherNames] | None = None  # of notes, with the index's generation
        self.encodes: Encodes = "never"
        self._encode_s: float | None = None  # for the search that is being answered; None: as usual
        self.takes_in = True  # False: answer from the index as it is, and say what it lacks
        self.tell: Callable[[str], None] = lambda _: None  # for the log of a server: what fails unseen
        self._chosen: Choice | None = None  # with which the embedder was made
        self._obsidian: tuple[tuple[int, ...], ObsidianSettings] | None = None  # with what it was read from
        self._rules: tuple[tuple[str, ...], IgnoreRules] | None = None
        self._is_bound = False  # it is remembered that the vault is here
        self._requests = 0
        self._freshness: Freshness | None = None  # of the request that is being answered
        self._null_measure: NullMeasure | None = None  # under way

    @contextmanager
    def request(self) -> Iterator[None]:
        """Everything that is read inside belongs to one answer: the files are looked at once, at most.

        Raises VaultAway when the vault is not there any more.
        """
        if not self._requests:
            self._freshness = None
            self.check_there()
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1

    def check_there(self) -> None:
        """Raises VaultAway when the vault is not there any more."""
        if why := why_away(self.state, self.root):
            raise away_error(self.root, why)
        if not self._is_bound and not self.copy_of and self.state.is_dir():
            bind_place(self.state, self.root)
            self._is_bound = True

    def freshen(self, *, vectors: bool = False) -> Freshness:
        """Bring the index up to date with the files before it is read; what it lacks then is in `notices`.

        Raises IndexFault when there is no index to read.
        """
        from hindbrain.index.freshness import Freshness

        if self._requests and self._freshness is not None:
            return self._freshness
        if "store" in self.__dict__ and self.store.was_replaced():
            self._forget_index()  # rebuilt meanwhile, by another process perhaps
        elif "store" in self.__dict__ and self.store.lost_log():
            self._discard_index()
        if (making := self.making()) is not None:
            self._freshness = Freshness((f"index_incomplete: {making}",))
        else:
            pending = self.pending_changes()
            self._freshness = self._freshener.freshen(
                self.store, pending, self._quick_embedder if vectors else lambda: None,
                budget_s=self.freshen_s, take_in=self.takes_in,
            )  # fmt: skip
            if vectors and pending is None and self.takes_in:
                self._add_few_vectors()
        return self._freshness

    def _add_few_vectors(self) -> None:
        """Make the vectors that a hook had no time for. What is left then is said by the search."""
        from hindbrain.base.errors import HindbrainError
        from hindbrain.index.freshness import QUICK_VECTORS

        if 0 < self._pending_vectors() <= QUICK_VECTORS and self._quick_embedder() is not None:
            with suppress(HindbrainError):
                self._take_in(())

    def search(self, query: SearchQuery) -> SearchResult:
        if self.takes_in and (told := self.ask_elsewhere(query)) is not None:
            return told
        fresh = self.freshen(vectors=query.mode != "keyword")
        if self._encode_s is None:
            result = self.engine.search(query)
        else:
            result = self.engine.search(query, encode_s=self._encode_s)
        notices = (*self._about_vectors(result.notices), *fresh.notices)
        return result._replace(notices=notices, synced_at=fresh.checked_at or result.synced_at)

    def _about_vectors(self, notices: tuple[str, ...]) -> tuple[str, ...]:
        from hindbrain.index.heartbeat import is_keeping_up
        from hindbrain.search.hit import without_advice

        return without_advice(notices) if notices and is_keeping_up(self.state, self.clock.now()) else notices

    def fresh_store(self) -> IndexStore:
        """The index, brought up to date as far as there is time."""
        self.freshen()
        return self.store

    def lacks_vectors(self) -> bool:
        """Do more passages lack a vector than a search makes, and can the built-in embedder make them?"""
        from hindbrain.index.freshness import QUICK_VECTORS

        return self._pending_vectors() > QUICK_VECTORS and self._quick_embedder() is not None

    def _pending_vectors(self) -> int:
        return self.store.passage_count() - self.store.vector_count()

    def has_whole_index(self) -> bool:
        """Has a sync taken in the whole vault? False also for an index that must be made again."""
        from contextlib import closing

        from hindbrain.base.errors import IndexFault
        from hindbrain.index.store import IndexStore

        try:
            with closing(IndexStore(self.index_path)) as store:  # not kept: it may be made anew
                return bool(store.meta("synced_at")) and store.meta("recipe") == self._recipe
        except IndexMissing:
            return False
        except IndexFault:
            return True  # whoever reads it says what is wrong with it

    def sync(
        self,
        listener: Listener | None = None,
        *,
        verify: bool = False,
        confirm: bool = False,
        vectors: bool = True,
    ) -> SyncReport:
        from hindbrain.index.progress import silent

        self.check_there()
        embedder, why_none = self._embedder_or_why() if vectors else (None, None)
        report = self.syncer.sync(embedder, listener or silent, verify=verify, confirm=confirm)
        self.check_there()  # binds a vault that was just indexed for the first time
        if why_none is None:
            return report
        from dataclasses import replace

        return replace(report, embedder_error=str(why_none), embedder_code=why_none.code)

    def _embedder_or_why(self) -> tuple[Embedder | None, EmbedderDown | None]:
        try:
            return self._embedder_for_sync(), None
        except EmbedderDown as error:
            return None, error

    def sync_paths(self, paths: Iterable[NotePath]) -> SyncReport:
        return self.syncer.sync_paths(paths, self._embedder_or_why()[0])

    def record_access(self, path: str, query: str = "", memories: tuple[str, ...] = ()) -> None:
        """Note that a note was opened: in the vault's log where it has our folder, and in the index.

        `memories`: the ids of those in it that were shown.
        """
        from hindbrain.index.usage import USAGE_LOG, Access, log_access, usage_line

        access = Access(path, self.clock.now(), query, memories)
        if (self.root / ".hindbrain").is_dir():
            self.writer.append_state_line(USAGE_LOG, usage_line(access))
        if self.index_path.exists():
            log_access(self.state, [access], timeout_s=_ACCESS_WAIT_S)

    def measure_null(self, is_time_up: Callable[[], bool] = lambda: False) -> bool:
        """Measure what generic prompts get from this vault, where that is due; True while there is more.

        The gate of context packs compares with it. Raises IndexFault when there is no index.
        """
        from functools import partial

        from hindbrain.context.packs.gate import LEAST_PASSAGES
        from hindbrain.context.packs.null_file import NullMeasure

        if self._null_measure is None:
            passages = self.store.sizes()[0]
            kept = self._null_reader.read()
            if passages < LEAST_PASSAGES or not kept.is_due(self._null_recipe(), passages):
                return False
            engine = self.engine if self.warm else self._make_engine(warm=True)
            search = partial(engine.search, encode_s=0.0)  # the encoder would take minutes
            self._null_measure = NullMeasure(
                search, self._null_recipe(), passages, remote=self._is_remote, languages=self.languages()
            )
        if self._null_measure.go_on(is_time_up):
            return True
        self._null_reader.write(self._null_measure.kept())
        self._null_measure = None
        return False

    def languages(self) -> tuple[str, ...]:
        """The languages besides English that notes are in, as far as the gate knows them."""
        from hindbrain.search.languages import vault_languages

        notes = self.store.all_notes()
        return vault_languages(
            self.store.text_of(note.id) for note in notes[:: len(notes) // _NOTES_READ + 1]
        )

    def null_state(self) -> str:
        """How the gate of context packs stands: measured, unmeasured, damaged, or small (not worth it)."""
        from hindbrain.context.packs.gate import LEAST_PASSAGES

        kept, passages = self._null_reader.read(), self.store.sizes()[0]
        if kept.by_mode and kept.recipe == self._null_recipe():
            return "measured"
        if passages < LEAST_PASSAGES:
            return "small"
        return "damaged" if self._null_reader.damaged else "unmeasured"

    def _nulls(self, mode: str, passages: int) -> tuple[tuple[Null, ...], str]:
        return self._null_reader.nulls(self._null_recipe(), mode, passages)

    def _null_recipe(self) -> str:
        from hindbrain.context.packs.null_file import recipe_of

        return recipe_of(str(self.store.meta("embedder") or ""), self.config.text("search.profile"))

    @cached_property
    def _null_reader(self) -> NullReader:
        from hindbrain.context.packs.null_file import NullReader

        return NullReader(self.state)

    def rebuild(self, listener: Listener | None = None) -> SyncReport:
        """Make the index anew. No note is touched; what the vault's log knows of use is taken over."""
        from hindbrain.index.usage import discard_index, log_access, read_usage

        self.check_there()  # what is discarded could not be made again
        self._forget_index()
        discard_index(self.state)
        report = self.sync(listener)
        log_access(self.state, read_usage(self.root), timeout_s=10.0)
        return report

    def purge(self, memory_id: str) -> Purged:
        """Forget a memory without a trace, in the vault and in everything that is kept beside it."""
        from hindbrain.agent.purging import purge_agent
        from hindbrain.context.flush.notes import take_from_session_notes
        from hindbrain.context.purging import purge_conversations, purge_receipts
        from hindbrain.memory.forgetting.purge import purge

        def beside(traces: Traces) -> int:
            # A session's note tells a memory in its own words; a prompt is what it was made of.
            purged = purge_conversations(self.state, traces.retold_in, traces.hinted_at)
            purged += purge_receipts(self.state, traces.retold_in, traces.hinted_at)
            purged += purge_agent(self.state, traces.retold_in)
            purged += self.learning.purge(traces.retold_in, traces.in_text)
            return purged + take_from_session_notes(self.memory, traces.in_text)

        return purge(self.memory, self.writer, memory_id, beside)

    def undo(self, wanted: str = "", *, force: bool = False) -> TakenBack:
        """Take back the last action, or the action or change that is `wanted`; let the memory know."""
        from hindbrain.memory.forgetting.taken_back import tell_memory
        from hindbrain.memory.inbox.inbox_note import untick_returned

        inbox = self.memory.inbox.path

        def adjust(path: str, present: bytes, old: bytes) -> bytes:
            return untick_returned(present, old, path) if path == inbox else old

        done = self.writer.undo_action(wanted, force=force, locate=self._locate, adjust=adjust)
        tell_memory(self.memory, self.writer, done)
        return done

    def redo(self, wanted: str = "", *, force: bool = False) -> TakenBack:
        """Bring back what was undone last, or the action that is `wanted`; let the memory know."""
        from hindbrain.memory.forgetting.taken_back import tell_memory

        self.memory.inbox.check_redo()
        done = self.writer.redo_action(wanted, force=force, locate=self._locate)
        tell_memory(self.memory, self.writer, done)
        return done

    def _locate(self, revision: Revision) -> str:
        """Where a note is that was changed once: at its path, else where its owner has moved it."""
        if not revision.after_hash or (self.root / revision.path).is_file():
            return revision.path
        layout = self.layout
        if role := layout.usual_role(revision.path):
            place = layout.path(role, **layout.names_of(revision.path))
            if (self.root / place).is_file():
                return place
        from hindbrain.base.errors import IndexFault

        try:
            rows = self.store.select("SELECT path FROM note WHERE hash = ?", (revision.after_hash,))
        except IndexFault:
            return revision.path
        found = [path for (path,) in rows if (self.root / path).is_file()]
        return found[0] if len(found) == 1 else revision.path

    def _embedder_for_sync(self) -> Embedder | None:
        """Raises EmbedderDown while `auto` falls back and the index has vectors of the service it wants:
        a service that is down must not cost the vectors it made."""
        if self.embedder is None:
            return None
        choice = self.embedder_choice()
        if self._fell_back and not choice.fell_back:  # the service is back: a long-lived process uses it, too
            self._forget_embedder()
        if choice.fell_back and not self._may_use_instead(self.embedder):
            error = EmbedderDown(
                f"{choice.reason}; the vectors of {self._index_embedder()} are kept meanwhile"
            )
            self._failure_notes(choice.provider).failed(error, "document")
            raise error
        return self.embedder

    @property
    def _fell_back(self) -> bool:
        """Is the embedder the built-in one instead of a service that could not be used?"""
        return self._chosen is not None and self._chosen.fell_back

    def _may_use_instead(self, embedder: Embedder) -> bool:
        return self._index_embedder() in ("", embedder.name)

    def _index_embedder(self) -> str:
        """Whose vectors the index holds; "" when it holds none."""
        return str(self.store.meta("embedder") or "") if self.index_path.exists() else ""

    def _forget_embedder(self) -> None:
        for part in ("embedder", "_asking_embedder", "engine"):
            self.__dict__.pop(part, None)

    def _discard_index(self) -> None:
        """Delete an index that can't be trusted. Whoever keeps it, or the next sync, makes it again."""
        from hindbrain.base.errors import Busy
        from hindbrain.index.usage import discard_index

        self._forget_index()
        with suppress(Busy):  # somebody writes it: looked at again at the next request
            discard_index(self.state, timeout_s=_ACCESS_WAIT_S)

    def _forget_index(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        for part in ("engine", "store"):
            self.__dict__.pop(part, None)

    def drift(self) -> Drift:
        """Where the index does not say what the vault says; reads every note."""
        from hindbrain.index.health import find_drift

        max_bytes = self.config.number("vault.max_note_mb") * 1_000_000
        return find_drift(self.root, self.rules, self.store, max_bytes=max_bytes, now=self.clock.now())

    def embedder_choice(self) -> Choice:
        """Which provider the settings mean now, and why."""
        from hindbrain.models.select import choose

        return choose(self._embedding_settings(), self.config.keys)

    def embedder_failure(self, choice: Choice | None = None) -> EmbedderFailure | None:
        """How the embedder of the settings failed the last time; None when it worked, as far as is known."""
        from hindbrain.models.noted import read_failure

        failure = read_failure(self.state)
        if failure is None:
            return None
        chosen = choice or self._chosen or self.embedder_choice()
        return failure if failure.provider == chosen.provider else None

    def follow(self, stop: Event, on_event: Callable[[FollowEvent], None]) -> None:
        """Keep the index in step with the vault until `stop` is set. Busy when another process does so."""
        from hindbrain.index.follow import Follower, FollowEvent
        from hindbrain.index.hidden_edits import HiddenEdits
        from hindbrain.vault.changes import VaultChanges

        c = self.config
        changes = VaultChanges(
            self.root,
            self.rules,
            say=lambda message: on_event(FollowEvent("mode", self.clock.now(), message=message)),
            echo=self.state / "watch-echo",
        )
        hidden = HiddenEdits(
            self.root, self.index_path, self.clock, max_bytes=c.number("vault.max_note_mb") * 1_000_000
        )
        follower = Follower(
            self.syncer, changes, hidden, self._embedder_for_sync, self.state, self.clock,
            on_event=on_event,
        )  # fmt: skip
        self.follower = follower
        try:
            follower.run(stop)
        finally:
            self.follower = None

    def close(self) -> None:
        """Bring what was queued here into notes, where that takes no long wait, and close what is open."""
        if "memory" in self.__dict__:
            self.memory.close()
        if "store" in self.__dict__:
            self.store.close()
        if "writer" in self.__dict__:
            self.writer.close()
        with suppress(VaultAway):
            self.check_there()

    def leave_original(self) -> bool:
        """Give a copy of a vault an id of its own. False when it is no copy after all, or can't be written.

        The app is to be opened again then: the id names the folder in which its state is kept.
        """
        import uuid

        from hindbrain.base.errors import HindbrainError

        had = read_vault_id(self.root)
        try:
            self.writer.put_state_file("vault-id", f"{uuid.uuid4().hex}\n".encode())
        except HindbrainError:
            return False
        if read_vault_id(Path(self.copy_of)) == had:
            return True
        # The original has the new id, too: they are one folder, seen over two file systems.
        self.writer.put_state_file("vault-id", f"{had}\n".encode())
        remember_alias(self.state.parent / had, self.root)
        return False

    @property
    def index_path(self) -> Path:
        return self.state / "index.db"

    @cached_property
    def store(self) -> IndexStore:
        from hindbrain.base.errors import IndexDamaged
        from hindbrain.index.store import IndexStore

        try:
            return IndexStore(self.index_path, (self.state.name,))
        except IndexDamaged:
            # A vault that was given an id after its last sync is still known by the place it had then.
            store = IndexStore(self.index_path)
            former = str(store.meta("vault_id")).startswith(PATH_ID_PREFIX)
            if former and not self.state.name.startswith(PATH_ID_PREFIX):
                return store
            store.close()
            raise

    @cached_property
    def embedder(self) -> Embedder | None:
        from hindbrain.models.select import make_embedder

        choice = self._chosen = self.embedder_choice()
        from dataclasses import replace

        chosen = replace(self._embedding_settings(), provider=choice.provider)
        return self._noted(make_embedder(chosen, self.config.keys), choice.provider)

    def _noted(self, embedder: Embedder | None, provider: str) -> Embedder | None:
        """The built-in embedder can't be down: only the others' failures are remembered."""
        from hindbrain.models.embedder import has_pieces

        if embedder is None or has_pieces(embedder):
            return embedder
        from hindbrain.models.noted import NotedEmbedder

        return NotedEmbedder(embedder, self._failure_notes(provider))

    def _failure_notes(self, provider: str) -> FailureNotes:
        from hindbrain.models.noted import FailureNotes

        return FailureNotes(self.state, provider, self.clock.now, lambda text: self.tell(text))

    def _embedding_settings(self) -> EmbeddingSettings:
        from hindbrain.models.embedder import EmbeddingSettings

        c = self.config
        return EmbeddingSettings(
            provider=c.text("embedding.provider"),
            model=c.text("embedding.model"),
            base_url=c.text("embedding.base_url"),
            dimension=c.number("embedding.dimension"),
            batch_size=c.number("embedding.batch_size"),
            timeout_s=c.fraction("embedding.timeout_s"),
            max_retries=c.number("embedding.max_retries"),
            path=c.text("embedding.path"),
        )

    @cached_property
    def engine(self) -> SearchEngine:
        return self._make_engine(warm=self.warm)

    def _make_engine(self, *, warm: bool) -> SearchEngine:
        from hindbrain.search.engine import SearchEngine

        return SearchEngine(
            self.store,
            lambda: self._asking_embedder,
            self.clock,
            warm=warm,
            encoder=lambda: self.encoder if self.encodes != "never" else None,
            settings=self.search_settings,
            day_notes=self.day_notes,
        )

    @cached_property
    def encoder(self) -> Encoder | None:
        """The one that the settings mean; loaded when it is first used. Raises ConfigError."""
        from hindbrain.models.encoder import find_encoder

        return find_encoder(self.config.text("encoder.path"))

    def encode_pending(self, budget_s: float) -> bool:
        """Encode memories, and passages that a search had no time for; return whether there are more."""
        from hindbrain.base.errors import ConfigError, EmbedderError

        with suppress(ConfigError, EmbedderError):  # the search says so
            if "_relevance" in self.__dict__ and self._relevance.encode_some(budget_s):
                return True
        return "engine" in self.__dict__ and self.engine.encode_pending(budget_s)

    @property
    def search_settings(self) -> SearchSettings:
        from hindbrain.search.query import SearchSettings

        c = self.config
        return SearchSettings(
            k=c.number("search.k"),
            profile=c.text("search.profile"),
            diversity=c.fraction("search.diversity"),
            min_score=c.fraction("search.min_score"),
            rrf_k=c.number("search.rrf_k"),
            candidate_multiplier=c.number("search.candidate_multiplier"),
        )

    @cached_property
    def _asking_embedder(self) -> Embedder | None:
        """For questions: a process that answers many does not wait for a service that hangs."""
        if not self.warm or not self._is_remote:
            return self.embedder
        from hindbrain.models.noted import NotedEmbedder
        from hindbrain.models.patience import PatientEmbedder

        assert isinstance(self.embedder, NotedEmbedder)
        # Noted outside: that it was too slow for an answer is a failure, whatever it says later.
        assert self._chosen is not None
        return self._noted(PatientEmbedder(self.embedder.inner), self._chosen.provider)

    @cached_property
    def _relevance(self) -> BestRelevance:
        return self._make_relevance()

    @cached_property
    def _run_relevance(self) -> BestRelevance:
        """As `_relevance`, for what runs found: each knows what it judged last."""
        return self._make_relevance()

    def _make_relevance(self) -> BestRelevance:
        """Judges memories on this machine, whatever makes the vectors of notes."""
        from hindbrain.memory.relevance import BestRelevance, TableEncoder, WordsAlone
        from hindbrain.models.static import load_static

        by_words = self.config.text("embedding.provider") == "none"
        table = WordsAlone() if by_words else TableEncoder(load_static())
        return BestRelevance(
            table, lambda: self._encoded_texts, false_rate=self.config.fraction("context.false_rate")
        )

    @cached_property
    def _encoded_texts(self) -> EncodedTexts | None:
        if self.encodes == "never":
            return None
        from hindbrain.base.errors import ConfigError, EmbedderError
        from hindbrain.index.embedding_cache import MEMORY_FILE
        from hindbrain.memory.encoded_texts import EncodedTexts

        try:
            encoder = self.encoder
        except (ConfigError, EmbedderError):  # the search says so
            return None
        if encoder is None:
            return None
        at_once = self.encodes == "at once"
        return EncodedTexts(encoder, self.state / MEMORY_FILE, self.clock, at_once=at_once)

    @property
    def _is_remote(self) -> bool:
        from hindbrain.models.embedder import has_pieces

        if self.embedder is None or has_pieces(self.embedder):
            return False
        from hindbrain.models.noted import NotedEmbedder
        from hindbrain.models.remote import RemoteEmbedder

        return isinstance(self.embedder, NotedEmbedder) and isinstance(self.embedder.inner, RemoteEmbedder)

    @property
    def obsidian(self) -> ObsidianSettings:
        """What Obsidian's settings say now; its owner may change them while we run."""
        from hindbrain.vault.obsidian import FILES, FOLDER, read_obsidian

        stamps = tuple(_changed_ns(self.root / FOLDER / name) for name in FILES)
        if self._obsidian is None or self._obsidian[0] != stamps:
            self._obsidian = stamps, read_obsidian(self.root)
        return self._obsidian[1]

    @property
    def rules(self) -> IgnoreRules:
        excluded = self.obsidian.excluded
        if self._rules is None or self._rules[0] != excluded:
            self._rules = excluded, self._make_rules(excluded)
        return self._rules[1]

    def _make_rules(self, excluded: tuple[str, ...]) -> IgnoreRules:
        from hindbrain.base.errors import ConfigError
        from hindbrain.vault.ignore import make_rules
        from hindbrain.vault.logseq import BACKUPS

        try:
            own = self.layout.folder if excluded else ""
        except ConfigError:  # the index needs no layout
            own = ""
        return make_rules(
            [*self.config.list("vault.exclude"), *(BACKUPS if is_logseq(self.root) else ())],
            templates=self.config.flag("vault.templates"),
            is_kept=self._holds_learned_templates,
            obsidian=excluded,
            own_folder=own,
        )

    def day_notes(self, day: date) -> tuple[str, ...]:
        """Where the notes of a day may stand: the layout's, archived ones, the owner's own."""
        from hindbrain.base.errors import HindbrainError
        from hindbrain.memory.items.archived import archived_days
        from hindbrain.vault.logseq import journal_note

        name = day.isoformat()
        try:
            own = [*self.layout.paths("daily", date=name), *archived_days(self.layout, self.root, name)]
        except HindbrainError:  # the search needs no layout
            own = []
        owners = journal_note(day) if is_logseq(self.root) else self.obsidian.daily_note(day)
        return tuple(dict.fromkeys(filter(None, (*own, owners))))

    def _holds_learned_templates(self, folder: str) -> bool:
        from hindbrain.base.errors import ConfigError

        try:
            return folder.casefold() == self.layout.folder_of("templates").casefold()
        except ConfigError:  # the index needs no layout; the verbs that do say what is wrong with it
            return False

    @cached_property
    def _freshener(self) -> Freshener:
        from hindbrain.index.freshness import Freshener

        return Freshener(
            self.root,
            lambda: self.rules,
            lambda: self._make_syncer(lock_timeout_s=0.2),
            self._recipe,
            self.clock,
        )

    @cached_property
    def _recipe(self) -> str:
        from hindbrain.index.schema import index_recipe

        c = self.config
        tokens, overlap = c.number("chunk.tokens"), c.number("chunk.overlap")
        return index_recipe(tokens, overlap, logseq=is_logseq(self.root))

    def _quick_embedder(self) -> Embedder | None:
        """For vectors that are made while somebody waits: never a service."""
        from hindbrain.models.embedder import has_pieces

        embedder = self.embedder
        if not has_pieces(embedder) or (self._fell_back and not self._may_use_instead(embedder)):
            return None
        return embedder

    @cached_property
    def syncer(self) -> Syncer:
        return self._make_syncer()

    def _make_syncer(self, lock_timeout_s: float = 10.0) -> Syncer:
        from hindbrain.index.passages import ChunkSettings
        from hindbrain.index.sync import Syncer

        c = self.config
        return Syncer(
            self.root,
            self.state,
            self.rules,
            ChunkSettings(c.number("chunk.tokens"), c.number("chunk.overlap")),
            self.clock,
            max_bytes=c.number("vault.max_note_mb") * 1_000_000,
            lock_timeout_s=lock_timeout_s,
        )

    @cached_property
    def writer(self) -> VaultWriter:
        from hindbrain.vault.write import VaultWriter

        return VaultWriter(self.root, self.state, self.clock, check=self.check_there)

    @cached_property
    def agent_sessions(self) -> AgentSessions:
        """When agents were at work in this vault; doors for agents note it there."""
        from hindbrain.memory.inbox.agent_sessions import AgentSessions

        return AgentSessions(self.root, self.state, lambda: self.writer, self.clock)

    @cached_property
    def memory(self) -> Memory:
        from hindbrain.memory.parts import Surroundings
        from hindbrain.memory.service import Memory
        from hindbrain.memory.storage.storing import WriteSettings

        c = self.config
        around = Surroundings(
            writer=lambda: self.writer,
            embedder=lambda: self.embedder,
            local_embedder=self._quick_embedder,
            search=self.search,
            freshen=self.freshen,
            take_in=self._take_in,
            record_access=self.record_access,
            repeated=self._repeated,
            index_standing=self._index_standing,
            note_names=self._note_names,
            other_names=self._other_names,
            past_runs=lambda topic: self.learning.past_runs(topic),
            day_notes=self.day_notes,
            index_path=self.index_path,
            layout=lambda: self.layout,
            hits=c.number("search.k"),
            keep_skill=lambda proposal, approved: self.learning.keep_skill(proposal, approved),
            agent=lambda: self.started_by(),
            relevance=lambda: self._relevance,
        )
        settings = WriteSettings(
            batch_size=c.number("writes.batch_size"),
            batch_interval_s=c.fraction("writes.batch_interval_seconds"),
            immediate_importance=c.fraction("writes.immediate_importance"),
        )
        return Memory(self.root, self.state, self.clock, around, settings)

    @cached_property
    def context(self) -> Context:
        from hindbrain.context.service import Context, ContextSettings, Reach

        c = self.config
        reach = Reach(
            root=self.root,
            state=self.state,
            clock=self.clock,
            layout=lambda: self.layout,
            memory=lambda: self.memory,
            search=self._search_for_prompt,
            outlines=self._outlines,
            # Topics are compared at each turn: not worth a request to a service.
            embedder=lambda: None if self._is_remote else self.embedder,
            chat=lambda: self.chat,
            standing=self._index_standing,
            making=lambda: self.making(),
            learned=self._learned,
            nulls=self._nulls,
        )
        settings = ContextSettings(
            preset=c.text("context.preset"),
            daily=c.flag("flush.daily"),
            flush_tags=c.list("flush.tags"),
            topic_threshold=c.fraction("context.topic_threshold"),
            false_rate=c.fraction("context.false_rate"),
            presets=c.file.parent / "presets",
            mode="hybrid" if self.warm else "keyword",
        )
        return Context(reach, settings)

    @cached_property
    def learning(self) -> Learning:
        from hindbrain.learn.consolidation.importance import Thresholds
        from hindbrain.learn.service import Around, Learning

        c = self.config
        around = Around(
            root=self.root,
            state=self.state,
            clock=self.clock,
            memory=lambda: self.memory,
            writer=lambda: self.writer,
            # Commands are compared at each prompt: not worth a request to a service.
            embedder=lambda: None if self._is_remote else self.embedder,
            chat=lambda: self.chat,
            relevance=lambda: self._run_relevance,
            lesson_notes=self._lesson_notes,
            daily_tokens=c.number("learn.daily_tokens"),
            thresholds=Thresholds(
                age_days=c.number("consolidation.age_threshold_days"),
                importance=c.fraction("consolidation.importance_threshold"),
                daily_days=c.number("consolidation.max_daily_logs"),
            ),
        )
        return Learning(around)

    @cached_property
    def agent(self) -> Agent:
        from hindbrain.agent.agent import Agent, Around
        from hindbrain.agent.outfit import outfit
        from hindbrain.agent.safety.waiting import Waiting
        from hindbrain.agent.tools.box import find_workspace

        around = Around(
            state=self.state,
            clock=self.clock,
            chat=lambda: self.chat,
            runs=lambda: self.learning.runs,
            policy=lambda: self._agent_policy,
            waiting=lambda: Waiting(self.state, self.clock, self.memory.inbox.approvals),
            mailbox=lambda: self._mailbox,
            workspace=lambda request: Path(
                request.workspace or find_workspace(self._agent_policy, Path.cwd())
            ).absolute(),
            kit=lambda request, chat, cancelled: outfit(self._supplies(), request, chat, cancelled),
            at_work=lambda run, ended: self.agent_sessions.note(f"run {run}", ended=ended),
        )
        return Agent(around)

    def _supplies(self) -> Supplies:
        from hindbrain.agent.channels.tables import inboxes
        from hindbrain.agent.outfit import Supplies
        from hindbrain.agent.policy_file import FILE_NAME
        from hindbrain.agent.preparing import Knowledge, first_day, user_name
        from hindbrain.agent.prompt.owner_notes import read_owner_notes

        settings = self.config.file
        own = (settings, settings.parent / FILE_NAME, settings.parent / "presets")
        decides = (*own, *inboxes(self._agent_policy.channels))
        knowledge = Knowledge(
            context=lambda: self.context,
            learning=lambda: self.learning,
            user=lambda: user_name(self.root, self.layout),
            owner=lambda: read_owner_notes(self.root, self.layout),
            since=lambda: first_day(self.root),
            now=lambda: self.clock.local(self.clock.now()),
        )
        return Supplies(
            root=self.root,
            state=self.state,
            clock=self.clock,
            environ=os.environ,  # for programs that are run; no setting is read from it here
            closed=(state_folder(self.config).absolute(), *decides),
            policy=self._agent_policy,
            memory=lambda: self.memory,
            learning=lambda: self.learning,
            knowledge=knowledge,
            mailbox=self._mailbox,
            model=self.config.text("chat.model"),
        )

    @cached_property
    def _agent_policy(self) -> AgentPolicy:
        from hindbrain.agent.policy_file import FILE_NAME, read_policy

        return read_policy(self.config.file.parent / FILE_NAME)

    def announcing(self) -> Announcing | None:
        """Tells the owner what happens; None, and nothing is loaded, when no [events] are asked for.

        Looked up at each call: a daemon outlives many a change of the file. Raises ConfigError.
        """
        file = self.config.file.parent / "agent.toml"
        try:
            if b"events" not in file.read_bytes():
                return None
        except OSError:
            return None
        from hindbrain.agent.announcing import Announcing
        from hindbrain.agent.policy_file import read_policy

        policy = read_policy(file)
        return Announcing(self.state, self.root, policy, self.clock) if policy.events else None

    @cached_property
    def _mailbox(self) -> Mailbox:
        return self._make_mailbox()

    def _make_mailbox(self, reader: str = "") -> Mailbox:
        """`reader`: as `Unread` knows it."""
        from hindbrain.agent.channels.outbox import Outbox
        from hindbrain.agent.channels.tables import make_channels, quiet_hours
        from hindbrain.agent.channels.unread import Unread
        from hindbrain.agent.tools.box import Mailbox

        tables = self._agent_policy.channels
        channels = make_channels(tables, self.state, self.clock)
        outbox = Outbox(self.state, channels, self.clock, quiet_hours(tables))
        return Mailbox(outbox, Unread(self.state, channels, reader=reader))

    def message_tools(self, reader: str) -> tuple[ActionTool, ...]:
        """Tools for agents of other hosts to write to the owner and to read along; () without a channel."""
        from hindbrain.agent.tools.messages import message_tools

        return message_tools(*self._make_mailbox(reader), self.clock)

    @cached_property
    def chat(self) -> ChatModel | None:
        from hindbrain.models.chat import ChatSettings, make_chat

        c = self.config
        settings = ChatSettings(c.text("chat.provider"), c.text("chat.model"), c.text("chat.base_url"))
        return make_chat(settings, c.keys)

    @cached_property
    def layout(self) -> Layout:
        """Where each kind of note is; notes that were moved are followed. Raises ConfigError."""
        from hindbrain.memory.policy.protected import check_layout
        from hindbrain.vault.layout import load_layout

        return self.following(check_layout(load_layout(self.root)))

    def following(self, layout: Layout) -> Layout:
        """The layout with its notes found where their owner has moved them."""
        from dataclasses import replace

        from hindbrain.vault.moved_notes import MovedNotes

        return replace(layout, moved=MovedNotes(self.root, self.state, self._marked_notes, self.clock))

    @property
    def _marked_notes(self) -> MarkedNotes:
        from hindbrain.index.marked_notes import MarkedNotes

        return MarkedNotes(
            self.root,
            lambda: self.rules,
            self.index_path,
            lambda: self.store,
            lambda: self.store.meta("recipe") == self._recipe,
            self.clock,
            max_bytes=self.config.number("vault.max_note_mb") * 1_000_000,
        )

    def _learned(self, command: str, apps: tuple[str, ...]) -> Matches:
        """What fits a command. A vault in which nothing was learned does not pay for looking."""
        from hindbrain.context.packs.learned import Matches

        if "learning" not in self.__dict__ and not self._has_learned():
            return Matches()
        return self.learning.matches(command, apps)

    def _has_learned(self) -> bool:
        """Does a note of what was learned say more than the layout's first text?"""
        layout = self.layout
        for role in ("lessons", "templates", "skills", "task_log", "issues", "corrections"):
            single = layout.is_single(role)
            place = self.root / (layout.path(role) if single else layout.folder_of(role))
            try:
                size = place.stat().st_size
            except OSError:
                continue
            first = layout.start.get(role, "") if single else ""
            if not first or size != len(layout.first_text(role, today="0000-00-00").encode()):
                return True
        return False

    def _search_for_prompt(self, query: SearchQuery) -> SearchResult:
        """With what this process wrote included. One that wrote nothing does not make a memory for it."""
        self._encode_s = _PROMPT_ENCODE_S
        try:
            return self.memory.search(query) if "memory" in self.__dict__ else self.search(query)
        finally:
            self._encode_s = None

    def _outlines(self, paths: Iterable[str]) -> Mapping[str, Outline]:
        self.freshen()
        return self.engine.outlines(paths)

    def _take_in(self, paths: Iterable[NotePath]) -> SyncReport:
        """What was just written, while somebody waits for an answer: no service is asked for vectors, nothing
        else is embedded on the way, and a long sync of another process is not waited for."""
        from hindbrain.index.freshness import QUICK_VECTORS

        syncer = self._make_syncer(lock_timeout_s=1.0)
        return syncer.sync_paths(paths, self._quick_embedder(), most_vectors=QUICK_VECTORS)

    def _repeated(self, text: str) -> list[tuple[str, str]]:
        """(source, passage) of what strangers say in the same words; nothing while there is no index."""
        from hindbrain.base.errors import IndexFault
        from hindbrain.search.repeats import passages_repeated

        try:
            return passages_repeated(self.store, text, is_record=self._is_record)
        except IndexFault:
            return []

    def _is_record(self, path: str) -> bool:
        from hindbrain.memory.notes.agent_text import PLAIN_ROLES

        return self.layout.role_of(path) not in PLAIN_ROLES

    def _note_names(self) -> list[NoteName]:
        from hindbrain.base.errors import IndexFault
        from hindbrain.memory.notes.link_names import NoteName

        try:
            sql = "SELECT path, filename, title, aliases FROM note WHERE path NOT LIKE '%.canvas'"
            rows = self.store.select(sql)
        except IndexFault:
            return []
        return [
            NoteName(name, path)
            for path, filename, title, aliases in rows
            for name in dict.fromkeys((filename, title, *aliases.split("\n")))
            if name
        ]

    def _other_names(self) -> OtherNames:
        """Read again when the index has changed: a prompt waits for it."""
        from hindbrain.base.errors import IndexFault
        from hindbrain.memory.other_names import OtherNames

        try:
            generation = self.store.generation()
            if self._names_of is None or self._names_of[0] != generation:
                rows = self.store.select("SELECT filename, title, aliases FROM note WHERE aliases != ''")
                groups = [(filename, title, *aliases.split("\n")) for filename, title, aliases in rows]
                self._names_of = (generation, OtherNames(groups))
        except IndexFault:
            return OtherNames()
        return self._names_of[1]

    def _lesson_notes(self) -> list[str]:
        from hindbrain.base.errors import IndexFault

        try:
            return [path for (path,) in self.store.select("SELECT path FROM note WHERE type = 'lesson'")]
        except IndexFault:
            return []

    def _embedder_problem(self) -> str:
        failure = self.embedder_failure()
        return f"the search by meaning failed: {failure.message}; {failure.code}" if failure else ""

    def _index_standing(self) -> IndexStanding:
        from hindbrain.base.errors import IndexFault
        from hindbrain.index.standing import IndexStanding

        try:
            notes = self.store.note_count()
            embedder = str(self.store.meta("embedder") or "")
            checked_at = self._freshness.checked_at if self._freshness is not None else 0.0
            synced_at = max(float(self.store.meta("synced_at") or 0.0), checked_at)
            return IndexStanding("ready", notes, synced_at, embedder, self._embedder_problem())
        except IndexFault as error:
            return IndexStanding(error.code)


def _changed_ns(file: Path) -> int:
    """When a file was changed; 0 when there is none."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
