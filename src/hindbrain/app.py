"""The composition root: settings in, a working Hindbrain out. The only place where objects are wired."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.vault.discover import find_vault, path_id, read_vault_id, vault_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindbrain.index.progress import Listener
    from hindbrain.index.store import IndexStore
    from hindbrain.index.sync import Syncer, SyncReport
    from hindbrain.models.embedder import Embedder
    from hindbrain.search.engine import SearchEngine
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import SearchQuery
    from hindbrain.vault.path_rules import NotePath
    from hindbrain.vault.write import VaultWriter


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
            f"the state folder {str(state)!r} lies inside the vault; a sync tool would damage the index there: "
            "set state.folder to another place"
        )
    return App(config, root, _state_of(state, root), clock or SystemClock(), warm)


def _state_of(state: Path, root: Path) -> Path:
    """The folder of one vault. A vault that was given an id takes what it had under its path with it."""
    own = state / vault_id(root)
    before = state / path_id(root)
    if read_vault_id(root) and before.exists() and not own.exists():
        os.replace(before, own)
    return own


@dataclass(frozen=True)
class App:
    """One vault, opened. Parts are made when they are first used, so a keyword search never loads an embedder."""

    config: Config
    root: Path
    state: Path
    clock: Clock
    warm: bool

    def search(self, query: SearchQuery) -> SearchResult:
        return self.engine.search(query)

    def sync(self, listener: Listener | None = None, *, verify: bool = False, confirm: bool = False) -> SyncReport:
        from hindbrain.index.progress import silent

        return self.syncer.sync(self.embedder, listener or silent, verify=verify, confirm=confirm)

    def sync_paths(self, paths: Iterable[NotePath]) -> SyncReport:
        return self.syncer.sync_paths(paths, self.embedder)

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
        if "writer" in self.__dict__:
            self.writer.close()

    @property
    def index_path(self) -> Path:
        return self.state / "index.db"

    @cached_property
    def store(self) -> IndexStore:
        from hindbrain.index.store import IndexStore

        return IndexStore(self.index_path)

    @cached_property
    def embedder(self) -> Embedder | None:
        from hindbrain.models.embedder import EmbeddingSettings
        from hindbrain.models.select import make_embedder

        c = self.config
        settings = EmbeddingSettings(
            provider=c.text("embedding.provider"),
            model=c.text("embedding.model"),
            base_url=c.text("embedding.base_url"),
            dimension=c.number("embedding.dimension"),
            batch_size=c.number("embedding.batch_size"),
            timeout_s=c.fraction("embedding.timeout_s"),
            max_retries=c.number("embedding.max_retries"),
            path=c.text("embedding.path"),
        )
        return make_embedder(settings, c.keys)

    @cached_property
    def engine(self) -> SearchEngine:
        from hindbrain.search.engine import SearchEngine

        return SearchEngine(self.store, lambda: self.embedder, self.clock, warm=self.warm)

    @cached_property
    def syncer(self) -> Syncer:
        from hindbrain.index.passages import ChunkSettings
        from hindbrain.index.sync import Syncer
        from hindbrain.vault.ignore import make_rules

        c = self.config
        return Syncer(
            self.root,
            self.state,
            make_rules(c.list("vault.exclude"), templates=c.flag("vault.templates")),
            ChunkSettings(c.number("chunk.tokens"), c.number("chunk.overlap")),
            self.clock,
            max_bytes=c.number("vault.max_note_mb") * 1_000_000,
        )

    @cached_property
    def writer(self) -> VaultWriter:
        from hindbrain.vault.write import VaultWriter

        return VaultWriter(self.root, self.state, self.clock)
