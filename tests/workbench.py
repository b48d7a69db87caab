"""What tests of the index and the search work on: a vault that is written as its owner would, and an app."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from hindbrain.app import App
from hindbrain.edge.person import Terminal
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.progress import silent
from hindbrain.index.store import IndexStore
from hindbrain.index.sync import Syncer, SyncReport
from hindbrain.models.embedder import Embedder
from hindbrain.search.engine import SearchEngine
from hindbrain.search.hit import Hit, SearchResult
from hindbrain.search.query import SearchQuery
from hindbrain.vault.discover import path_id, vault_id
from hindbrain.vault.ignore import make_rules

# 2026-05-15, a Friday, at noon. Later than any file of a test is dated below, so stamps are believed.
NOW = 1_778_846_400.0
_WRITTEN = NOW - 3_600


def set_terminal(monkeypatch: pytest.MonkeyPatch, typed: IO[str] | None) -> None:
    """Give commands of this process a terminal at which a person types these lines; None: there is none.

    The screen is standard error. What a real terminal does is tested with one: tests/edge/test_approving.py.
    """

    @contextmanager
    def opened() -> Iterator[Terminal | None]:
        yield Terminal(typed, sys.stderr) if typed is not None else None

    monkeypatch.setattr("hindbrain.edge.person.open_terminal", opened)


def person_says(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    set_terminal(monkeypatch, io.StringIO("".join(f"{line}\n" for line in lines)))


@dataclass(frozen=True)
class Vault:
    """A folder of notes that a test writes as its owner would, with times that fit a clock that stands."""

    root: Path

    def write(self, path: str, text: str | bytes, *, at: float = _WRITTEN) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        os.utime(file, (at, at))
        return file

    def edit(self, path: str, old: str, new: str, *, at: float = _WRITTEN + 60) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text
        self.write(path, text.replace(old, new), at=at)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def rename(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)


class Bench:
    """An `App` with an embedder of the test's choosing; each search opens the index anew, as commands do."""

    def __init__(self, vault: Vault, app: App, embedder: Embedder | None) -> None:
        self.vault = vault
        self.app = app
        self.embedder = embedder

    def sync(self, *, verify: bool = False, confirm: bool = False) -> SyncReport:
        return self.syncer().sync(self.embedder, silent, verify=verify, confirm=confirm)

    def syncer(self, **settings: float) -> Syncer:
        chunks = ChunkSettings(int(settings.get("tokens", 120)), int(settings.get("overlap", 0)))
        return Syncer(
            self.app.root,
            self.app.state,
            make_rules(self.app.config.list("vault.exclude")),
            chunks,
            self.app.clock,
            lock_timeout_s=settings.get("lock_timeout_s", 10.0),
        )

    def search(self, query: str | SearchQuery, *, warm: bool = False) -> SearchResult:
        asked = SearchQuery(query) if isinstance(query, str) else query
        store = IndexStore(self.app.index_path, (vault_id(self.app.root), path_id(self.app.root)))
        try:
            return SearchEngine(store, lambda: self.embedder, self.app.clock, warm=warm).search(asked)
        finally:
            store.close()

    def hits(self, query: str | SearchQuery, *, warm: bool = False) -> tuple[Hit, ...]:
        return self.search(query, warm=warm).hits

    def paths(self, query: str | SearchQuery) -> list[str]:
        """The notes that were found, each once, best first."""
        return list(dict.fromkeys(hit.path for hit in self.hits(query)))


MakeBench = Callable[..., Bench]
