"""The composition root: settings in, a working Hindbrain out. The only place where objects are wired."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.vault.discover import PATH_ID_PREFIX, find_vault, path_id, read_vault_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from threading import Event

    from hindbrain.agent.agent import Agent
    from hindbrain.agent.announcing import Announcing
    from hindbrain.agent.outfit import Supplies
    from hindbrain.agent.policy_file import AgentPolicy
    from hindbrain.agent.tools.box import Mailbox
    from hindbrain.context.packs.learned import Matches
    from hindbrain.context.service import Context
    from hindbrain.index.follow import FollowEvent
    from hindbrain.index.health import Drift
    from hindbrain.index.progress import Listener
    from hindbrain.index.standing import IndexStanding, Making
    from hindbrain.index.store import IndexStore
    from hindbrain.index.sync import Syncer, SyncReport
    from hindbrain.learn.service import Learning
    from hindbrain.memory.forgetting.purge import Purged
    from hindbrain.memory.forgetting.traces import Traces
    from hindbrain.memory.notes.link_names import NoteName
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel
    from hindbrain.models.embedder import Embedder, EmbeddingSettings
    from hindbrain.models.select import Choice
    from hindbrain.search.engine import SearchEngine
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.outline import Outline
    from hindbrain.search.query import SearchQuery
    from hindbrain.vault.ignore import IgnoreRules
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.path_rules import NotePath
    from hindbrain.vault.write import VaultWriter


_QUICK_VECTORS = 500  # that are made while somebody waits: some 50 ms with the built-in embedder
_ACCESS_WAIT_S = 0.2  # reading a note never waits longer for its access to be counted


def locate_vault(config: Config, start: Path | None = None, named: str = "") -> Path:
    """The vault that is meant: the one named, else the nearest one upwards, else the one in the settings."""
    if named:
        return Path(named).expanduser().absolute()
    found = find_vault(start or Path.cwd())
    if found is not None:
        return found
    configured = config.text("vault.path")
    if configured:
        return Path(configured).expanduser().absolute()
    raise NotFound(
        f"no vault found from {str(start or Path.cwd())!r} upwards; go into one, name it with --vault PATH, "
        "or set it: hindbrain config vault.path PATH"
    )


def build_app(config: Config, root: Path, *, clock: Clock | None = None, warm: bool = True) -> App:
    """`warm`: the process will answer many queries, so vectors are kept in memory."""
    state = state_folder(config)
    if state.absolute().is_relative_to(root.absolute()):
        raise UsageError(
            f"the state folder {str(state)!r} lies inside the vault; a sync tool would damage the index "
            "there: set state.folder to another place"
        )
    own = _state_of(state, root)
    _keep_private(state, own, usual=config.sources["state.folder"] == "default")
    return App(config, root, own, clock or SystemClock(), warm)


def _state_of(state: Path, root: Path) -> Path:
    """The folder of one vault. A vault that was given an id takes what it had under its path with it."""
    given = read_vault_id(root)
    if not given:
        return state / path_id(root)
    own = state / given
    if not own.exists() and (before := state / path_id(root)).exists():
        before.replace(own)
    return own


def _keep_private(state: Path, own: Path, *, usual: bool) -> None:
    """What lies there repeats the notes. The folder of a vault is not made here: that it is there tells that
    its owner has opened the vault. A state folder that its owner has named keeps its mode."""
    with suppress(OSError):  # whoever writes there tells what is wrong
        if not state.exists():
            state.mkdir(mode=0o700, parents=True)
        for folder in (state, own) if usual else (own,):
            if os.name != "nt" and folder.exists() and _is_open(folder.stat()):
                folder.chmod(0o700)


def _is_open(found: os.stat_result) -> bool:
    """May others look into it, and is it ours to close?"""
    return bool(found.st_mode & 0o077) and found.st_uid == os.geteuid()


class App:
    """One vault, opened. Parts are made at first use, so a keyword search never loads an embedder."""

    def __init__(self, config: Config, root: Path, state: Path, clock: Clock, warm: bool) -> None:
        self.config = config
        self.root = root
        self.state = state
        self.clock = clock
        self.warm = warm
        self.making: Callable[[], Making | None] = lambda: None  # how far a first index is, where one is made

    def search(self, query: SearchQuery) -> SearchResult:
        if "store" in self.__dict__ and self.store.was_replaced():
            self._forget_index()  # rebuilt meanwhile, by another process perhaps
        return self.engine.search(query)

    def sync(
        self,
        listener: Listener | None = None,
        *,
        verify: bool = False,
        confirm: bool = False,
        vectors: bool = True,
    ) -> SyncReport:
        from hindbrain.index.progress import silent

        embedder = self._embedder_for_sync() if vectors else None
        return self.syncer.sync(embedder, listener or silent, verify=verify, confirm=confirm)

    def sync_paths(self, paths: Iterable[NotePath]) -> SyncReport:
        return self.syncer.sync_paths(paths, self._embedder_for_sync())

    def record_access(self, path: str, query: str = "") -> None:
        """Note that a note was opened: in the vault's log where it has our folder, and in the index."""
        from hindbrain.index.usage import USAGE_LOG, log_access, usage_line

        access = (path, self.clock.now(), query)
        if (self.root / ".hindbrain").is_dir():
            self.writer.append_state_line(USAGE_LOG, usage_line(access))
        if self.index_path.exists():
            log_access(self.state, [access], timeout_s=_ACCESS_WAIT_S)

    def rebuild(self, listener: Listener | None = None) -> SyncReport:
        """Make the index anew. No note is touched; what the vault's log knows of use is taken over."""
        from hindbrain.index.usage import discard_index, log_access, read_usage

        self._forget_index()
        discard_index(self.state)
        report = self.sync(listener)
        log_access(self.state, read_usage(self.root), timeout_s=10.0)
        return report

    def purge(self, memory_id: str) -> Purged:
        """Forget a memory without a trace, in the vault and in everything that is kept beside it."""
        from hindbrain.agent.purging import purge_agent
        from hindbrain.context.flush.notes import take_from_session_notes
        from hindbrain.context.purging import purge_conversations
        from hindbrain.memory.forgetting.purge import purge

        def beside(traces: Traces) -> int:
            # A session's note tells a memory in its own words; a prompt is what it was made of.
            purged = purge_conversations(self.state, traces.retold_in)
            purged += purge_agent(self.state, traces.retold_in)
            purged += self.learning.purge(traces.retold_in, traces.in_text)
            return purged + take_from_session_notes(self.memory, traces.in_text)

        return purge(self.memory, self.writer, memory_id, beside)

    def _embedder_for_sync(self) -> Embedder | None:
        """None while `auto` had to fall back: a service that is down must not cost the vectors it made."""
        if self.embedder is None or not self.embedder_choice().fell_back or not self.index_path.exists():
            return self.embedder
        made_by = self.store.meta("embedder")
        return self.embedder if made_by in (None, self.embedder.name) else None

    def _forget_index(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        for part in ("engine", "store"):
            self.__dict__.pop(part, None)

    def drift(self) -> Drift:
        """Where the index does not say what the vault says; looks at every note's stamp."""
        from hindbrain.index.health import find_drift

        max_bytes = self.config.number("vault.max_note_mb") * 1_000_000
        return find_drift(self.root, self.rules, self.store, max_bytes=max_bytes, now=self.clock.now())

    def embedder_choice(self) -> Choice:
        """Which provider the settings mean now, and why."""
        from hindbrain.models.select import choose

        return choose(self._embedding_settings(), self.config.keys)

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
        )
        hidden = HiddenEdits(
            self.root, self.index_path, self.clock, max_bytes=c.number("vault.max_note_mb") * 1_000_000
        )
        Follower(
            self.syncer, changes, hidden, self._embedder_for_sync, self.state, self.clock,
            on_event=on_event,
        ).run(stop)  # fmt: skip

    def close(self) -> None:
        if "memory" in self.__dict__:
            self.memory.close()
        if "store" in self.__dict__:
            self.store.close()
        if "writer" in self.__dict__:
            self.writer.close()

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

        return make_embedder(self._embedding_settings(), self.config.keys)

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
        from hindbrain.search.engine import SearchEngine

        return SearchEngine(self.store, lambda: self._asking_embedder, self.clock, warm=self.warm)

    @cached_property
    def _asking_embedder(self) -> Embedder | None:
        """For questions: a process that answers many does not wait for a service that hangs."""
        if not self.warm or not self._is_remote:
            return self.embedder
        from hindbrain.models.patience import PatientEmbedder

        assert self.embedder is not None
        return PatientEmbedder(self.embedder)

    @property
    def _is_remote(self) -> bool:
        from hindbrain.models.embedder import has_pieces

        if self.embedder is None or has_pieces(self.embedder):
            return False
        from hindbrain.models.remote import RemoteEmbedder

        return isinstance(self.embedder, RemoteEmbedder)

    @cached_property
    def rules(self) -> IgnoreRules:
        from hindbrain.vault.ignore import make_rules

        return make_rules(self.config.list("vault.exclude"), templates=self.config.flag("vault.templates"))

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

        return VaultWriter(self.root, self.state, self.clock)

    @cached_property
    def memory(self) -> Memory:
        from hindbrain.memory.parts import Surroundings
        from hindbrain.memory.service import Memory
        from hindbrain.memory.storage.storing import WriteSettings

        c = self.config
        around = Surroundings(
            writer=lambda: self.writer,
            embedder=lambda: self.embedder,
            search=self.search,
            take_in=self._take_in,
            record_access=self.record_access,
            repeated=self._repeated,
            index_standing=self._index_standing,
            note_names=self._note_names,
            index_path=self.index_path,
            keep_skill=lambda proposal, approved: self.learning.keep_skill(proposal, approved),
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
            layout=self._layout,
            memory=lambda: self.memory,
            search=self._search_for_prompt,
            outlines=self._outlines,
            # Topics are compared at each turn: not worth a request to a service.
            embedder=lambda: None if self._is_remote else self.embedder,
            chat=lambda: self.chat,
            standing=self._index_standing,
            making=lambda: self.making(),
            learned=self._learned,
        )
        settings = ContextSettings(
            preset=c.text("context.preset"),
            daily=c.flag("flush.daily"),
            flush_tags=c.list("flush.tags"),
            presets=c.file.parent / "presets",
            mode="hybrid" if self.warm else "keyword",
        )
        return Context(reach, settings)

    @cached_property
    def learning(self) -> Learning:
        from hindbrain.learn.service import Around, Learning

        around = Around(
            root=self.root,
            state=self.state,
            clock=self.clock,
            memory=lambda: self.memory,
            writer=lambda: self.writer,
            # Commands are compared at each prompt: not worth a request to a service.
            embedder=lambda: None if self._is_remote else self.embedder,
            chat=lambda: self.chat,
            lesson_notes=self._lesson_notes,
            daily_tokens=self.config.number("learn.daily_tokens"),
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
            waiting=lambda: Waiting(self.state, self.clock),
            mailbox=lambda: self._mailbox,
            workspace=lambda request: Path(
                request.workspace or find_workspace(self._agent_policy, Path.cwd())
            ).absolute(),
            kit=lambda request, chat, cancelled: outfit(self._supplies(), request, chat, cancelled),
        )
        return Agent(around)

    def _supplies(self) -> Supplies:
        from hindbrain.agent.channels.tables import inboxes
        from hindbrain.agent.outfit import Supplies
        from hindbrain.agent.policy_file import FILE_NAME
        from hindbrain.agent.preparing import Knowledge, first_day, user_name
        from hindbrain.memory.daily.daily import local_time

        settings = self.config.file
        own = (settings, settings.parent / FILE_NAME, settings.parent / "presets")
        decides = (*own, *inboxes(self._agent_policy.channels))
        knowledge = Knowledge(
            context=lambda: self.context,
            learning=lambda: self.learning,
            user=lambda: user_name(self.root, self._layout()),
            since=lambda: first_day(self.root),
            now=lambda: local_time(self.clock.now()),
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
        from hindbrain.agent.channels.outbox import Outbox
        from hindbrain.agent.channels.tables import make_channels, quiet_hours
        from hindbrain.agent.channels.unread import Unread
        from hindbrain.agent.tools.box import Mailbox

        tables = self._agent_policy.channels
        channels = make_channels(tables, self.state, self.clock)
        outbox = Outbox(self.state, channels, self.clock, quiet_hours(tables))
        return Mailbox(outbox, Unread(self.state, channels))

    @cached_property
    def chat(self) -> ChatModel | None:
        from hindbrain.models.chat import ChatSettings, make_chat

        c = self.config
        settings = ChatSettings(c.text("chat.provider"), c.text("chat.model"), c.text("chat.base_url"))
        return make_chat(settings, c.keys)

    def _layout(self) -> Layout:
        from hindbrain.vault.layout import load_layout

        return self.memory.layout if "memory" in self.__dict__ else load_layout(self.root)

    def _learned(self, command: str, apps: tuple[str, ...]) -> Matches:
        """What fits a command. A vault in which nothing was learned does not pay for looking."""
        from hindbrain.context.packs.learned import Matches

        if "learning" not in self.__dict__ and not self._has_learned():
            return Matches()
        return self.learning.matches(command, apps)

    def _has_learned(self) -> bool:
        layout = self._layout()
        for role in ("lessons", "templates", "skills", "task_log"):
            place = layout.path(role) if layout.has(role) and layout.is_single(role) else ""
            if not layout.has(role) or (self.root / (place or layout.folder_of(role))).exists():
                return True
        return False

    def _search_for_prompt(self, query: SearchQuery) -> SearchResult:
        """With what this process wrote included. One that wrote nothing does not make a memory for it."""
        return self.memory.search(query) if "memory" in self.__dict__ else self.search(query)

    def _outlines(self, paths: Iterable[str]) -> Mapping[str, Outline]:
        return self.engine.outlines(paths)

    def _take_in(self, paths: Iterable[NotePath]) -> SyncReport:
        """What was just written, while somebody waits for an answer: no service is asked for vectors, nothing
        else is embedded on the way, and a long sync of another process is not waited for."""
        from hindbrain.models.embedder import has_pieces

        embedder = self._embedder_for_sync()
        quick = embedder if has_pieces(embedder) else None
        return self._make_syncer(lock_timeout_s=1.0).sync_paths(paths, quick, most_vectors=_QUICK_VECTORS)

    def _repeated(self, text: str) -> list[tuple[str, str]]:
        """(source, passage) of what strangers say in the same words; nothing while there is no index."""
        from hindbrain.base.errors import IndexFault
        from hindbrain.search.repeats import passages_repeated

        try:
            return passages_repeated(self.store, text)
        except IndexFault:
            return []

    def _note_names(self) -> list[NoteName]:
        from hindbrain.base.errors import IndexFault
        from hindbrain.memory.notes.link_names import NoteName

        try:
            rows = self.store.select("SELECT path, filename, title, aliases FROM note")
        except IndexFault:
            return []
        return [
            NoteName(name, path)
            for path, filename, title, aliases in rows
            for name in dict.fromkeys((filename, title, *aliases.split("\n")))
            if name
        ]

    def _lesson_notes(self) -> list[str]:
        from hindbrain.base.errors import IndexFault

        try:
            return [path for (path,) in self.store.select("SELECT path FROM note WHERE type = 'lesson'")]
        except IndexFault:
            return []

    def _index_standing(self) -> IndexStanding:
        from hindbrain.base.errors import IndexFault
        from hindbrain.index.standing import IndexStanding

        try:
            notes = self.store.note_count()
            embedder = str(self.store.meta("embedder") or "")
            return IndexStanding("ready", notes, float(self.store.meta("synced_at") or 0.0), embedder)
        except IndexFault as error:
            return IndexStanding(error.code)
