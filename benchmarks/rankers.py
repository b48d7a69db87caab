"""One measured index, and the rows that are compared on it: ours as shipped, and the plain rankers beside it.

ours   `App.search` with the defaults; what is in quotes is preferred, as in prompts
fts5   FTS5's own BM25 over whole notes, the file name counting five times; it finds notes only
bm25   FTS5's own BM25 over the same passages, any of the query's words
dense  plain cosine of the built-in vectors, all of them scored
rrf    `App.search` with profile "rrf": reciprocal ranks of these two
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import apsw

from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import Config, load_config
from hindbrain.base.segment import searchable
from hindbrain.models.embedder import has_pieces
from hindbrain.search.lexical import idf, look_up
from hindbrain.search.query import SearchQuery
from hindbrain.search.semantic import weigh_query
from hindbrain.search.terms import match_expression, understand_terms

if TYPE_CHECKING:
    from hindbrain.index.sync import SyncReport
    from hindbrain.index.vectors import Floats, VectorIndex
    from hindbrain.models.embedder import Embedder

_DEPTH = 1_000  # passages from which the plain rankers take their notes
_WHOLE_NOTES = "SELECT path FROM notes WHERE notes MATCH ? ORDER BY bm25(notes, 0, 5, 1) LIMIT ?"
_EXACT = 1 << 60  # numbers: no index is so large that it would not be scored whole


@dataclass(frozen=True, slots=True)
class Found:
    path: str
    first_line: int
    last_line: int
    text: str


def bench_config(state: Path, settings: Mapping[str, str] | None = None) -> Config:
    """The shipped defaults with the built-in embedder, whatever this machine's owner has set.

    `settings`: others, by the names of their variables.
    """
    chosen = {"HINDBRAIN_STATE_FOLDER": str(state), "HINDBRAIN_EMBEDDING_PROVIDER": "builtin"}
    return load_config({**chosen, **(settings or {})}, state / "no-such-config.toml")


def write_note(path: Path, text: str) -> None:
    """Write a note unless it is there already, so that a kept vault is not indexed again."""
    data = text.encode("utf-8")
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextmanager
def measured(vault: Path, state: Path, settings: Mapping[str, str] | None = None) -> Iterator[Measured]:
    """Sync a vault and open it for questions that are asked at times of our choosing."""
    config = bench_config(state, settings)
    syncing = _with_shared_embedder(build_app(config, vault))
    report = syncing.sync()
    syncing.close()
    if not report.clean or report.pending:
        raise RuntimeError(f"the vault {str(vault)!r} was not indexed as a whole: {report}")
    clock = FakeClock()
    app = _with_shared_embedder(build_app(config, vault, clock=clock, warm=True))
    try:
        yield Measured(app, clock, report)
    finally:
        app.close()


def _with_shared_embedder(app: App) -> App:
    """Some sets need a hundred small indexes: their apps share the table of vectors, 0.2 s to read."""
    vars(app)["embedder"] = _builtin_embedder()
    return app


@cache
def _builtin_embedder() -> Embedder | None:
    from hindbrain.models.embedder import EmbeddingSettings
    from hindbrain.models.select import make_embedder

    return make_embedder(EmbeddingSettings(provider="builtin"), {})


class Rankers(Protocol):
    """Answers by rows: whoever compares rankers on an index."""

    def passages(self, row: str, text: str, k: int) -> list[Found]: ...

    def notes(self, row: str, text: str, k: int, without: str = "") -> list[str]: ...


class Measured:
    def __init__(self, app: App, clock: FakeClock, report: SyncReport) -> None:
        self.app = app
        self.report = report
        self._clock = clock

    def set_time(self, now: float) -> None:
        self._clock.advance(now - self._clock.now())

    def passages(self, row: str, text: str, k: int) -> list[Found]:
        """The k best passages by one ranker."""
        if row in ("ours", "rrf"):
            hits = self.app.search(SearchQuery(text, k=k, profile=_PROFILES[row], exact=False)).hits
            return [Found(hit.path, hit.first_line, hit.last_line, hit.text) for hit in hits]
        return self.looked_up(self._ranked(row, text, k))

    def notes(self, row: str, text: str, k: int, without: str = "") -> list[str]:
        """The paths of the k best notes by one ranker; that of `without` may be among those of others."""
        if row in ("ours", "rrf"):
            hits = self.app.search(
                SearchQuery(text, k=k, unit="note", profile=_PROFILES[row], exact=False, without=without)
            ).hits
            return [hit.path for hit in hits]
        if row == "fts5":
            expression = match_expression(understand_terms(text))
            return [path for (path,) in self._whole_notes.execute(_WHOLE_NOTES, (expression, k))]
        ids = self._ranked(row, text, _DEPTH)
        note_of = {info.id: info.note_id for info in self.app.store.passages(ids)}
        best = list(dict.fromkeys(note_of[id_] for id_ in ids))[:k]
        known = self.app.store.notes(best)
        return [known[note_id].path for note_id in best]

    def _ranked(self, row: str, text: str, limit: int) -> list[int]:
        store = self.app.store
        if row == "bm25":
            return [id_ for id_, _ in store.ranked_passages(match_expression(understand_terms(text)), limit)]
        ids, _ = self._vectors.search(query_vector(self.app, text), limit)
        return [int(id_) for id_ in ids]

    def looked_up(self, ids: list[int]) -> list[Found]:
        store = self.app.store
        infos = {info.id: info for info in store.passages(ids)}
        notes = store.notes({info.note_id for info in infos.values()})
        texts = {note_id: store.text_of(note_id) for note_id in notes}
        found = []
        for info in (infos[id_] for id_ in ids):
            text = texts[info.note_id][info.start : info.stop]
            found.append(Found(notes[info.note_id].path, info.first_line, info.last_line, text))
        return found

    @cached_property
    def _whole_notes(self) -> apsw.Connection:
        """A full-text index as one makes it in an afternoon: a row a note."""
        db = apsw.Connection(":memory:")
        db.execute(
            "CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, name, text, tokenize='porter unicode61')"
        )
        store = self.app.store
        for note in store.all_notes():
            name = searchable(note.path.rpartition("/")[2].removesuffix(".md"))
            db.execute(
                "INSERT INTO notes VALUES (?, ?, ?)", (note.path, name, searchable(store.text_of(note.id)))
            )
        return db

    @cached_property
    def _vectors(self) -> VectorIndex:
        return exact_vectors(self.app)


def exact_vectors(app: App) -> VectorIndex:
    """All vectors of an index, to be searched without any short cut."""
    import numpy as np

    from hindbrain.index.vectors import open_vector_index

    assert app.embedder is not None
    rows = app.store.vectors_after(0)
    index = open_vector_index(app.embedder.dim, len(rows), exact_numbers=_EXACT)
    if rows:
        codes = np.frombuffer(b"".join(codes for _, codes in rows), dtype=np.int8).reshape(len(rows), -1)
        index.add(np.array([id_ for id_, _ in rows], dtype=np.int64), codes)
    return index


def query_vector(app: App, text: str) -> Floats:
    """A query as the engine embeds it: each word with its weight in this index."""
    total = app.store.sizes()[0]
    terms = look_up(app.store, understand_terms(text), total)
    assert has_pieces(app.embedder)
    return weigh_query(app.embedder, text, {term.text: idf(term.held, total) for term in terms}).vector


_PROFILES = {"ours": "default", "rrf": "rrf"}
