"""Gives vectors to the passages that have none: in batches, from the cache where the text is known.

Each batch is a transaction of its own, so an interruption loses at most one batch of work.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import starmap
from typing import TypeAlias

from hindbrain.base.errors import EmbedderError
from hindbrain.index.embedding_cache import CACHE_FILE, EmbeddingCache
from hindbrain.index.parallel import on_all_cores
from hindbrain.index.progress import Listener, Progress
from hindbrain.index.record import embedded_text, text_hash
from hindbrain.index.sign_file import SIGN_FILE, update_sign_file
from hindbrain.index.vectors import EXACT_NUMBERS, quantise
from hindbrain.index.writer import IndexWriter, Pending
from hindbrain.models.embedder import Embedder, PieceEmbedder, has_pieces

_BATCH = 2_048
_REMOTE_BATCH = 256  # what a slow service does is kept early, and an interruption loses little
_PARALLEL_FROM = 20_000  # passages
_SIGNS_FROM = 2_000  # new vectors: below this, a cold search reads them from the index
VectorRow: TypeAlias = tuple[int, bytes]  # passage id, codes


@dataclass(frozen=True, slots=True)
class EmbedOutcome:
    embedded: int
    pending: int
    error: str = ""  # why it stopped early; "" when it did not
    code: str = ""  # of that error


def embed_pending(writer: IndexWriter, embedder: Embedder, now_ns: int, listener: Listener) -> EmbedOutcome:
    """Embed what is pending. A failing embedder ends it: what is done stays, and keyword search goes on."""
    done = 0
    try:
        _adopt(writer, embedder)
        total = writer.pending_count()
        for rows in _embedded(writer, embedder, total, now_ns):
            with writer.transaction():
                writer.put_vectors(rows)
            done += len(rows)
            listener(Progress("vectors", done, total))
    except EmbedderError as error:
        return EmbedOutcome(done, writer.pending_count(), str(error), error.code)
    if done >= _SIGNS_FROM:
        _update_signs(writer, embedder.dim)
    return EmbedOutcome(done, writer.pending_count())


def _update_signs(writer: IndexWriter, dim: int) -> None:
    """Let a cold search find the new vectors quickly; without it, it reads them one by one."""
    epoch, vectors = writer.meta("vector_epoch"), int(writer.meta("vectors") or 0)
    if isinstance(epoch, int) and vectors * dim > EXACT_NUMBERS:
        update_sign_file(writer.path.with_name(SIGN_FILE), epoch, dim, vectors, writer.vectors_after)


def _embedded(writer: IndexWriter, embedder: Embedder, total: int, now_ns: int) -> Iterator[list[VectorRow]]:
    if has_pieces(embedder):
        for_each = on_all_cores if total >= _PARALLEL_FROM else starmap
        jobs = ((embedder, _ids(batch), _texts(writer, batch)) for batch in writer.pending(_BATCH))
        yield from for_each(rows_from_pieces, jobs)
        return
    with closing(EmbeddingCache(writer.path.with_name(CACHE_FILE))) as cache:
        for batch in writer.pending(_REMOTE_BATCH):
            codes = _through_cache(cache, embedder, _texts(writer, batch), now_ns)
            yield list(zip(_ids(batch), codes, strict=True))


def _ids(batch: Sequence[Pending]) -> list[int]:
    return [item.passage_id for item in batch]


def _adopt(writer: IndexWriter, embedder: Embedder) -> None:
    """Vectors of another embedder can't be compared: drop them, and keep answering by keywords meanwhile."""
    made_by = (writer.meta("embedder"), writer.meta("dimension"))
    if made_by == (embedder.name, embedder.dim) and writer.meta("vector_epoch"):
        return
    with writer.transaction():
        writer.drop_vectors()
        writer.set_meta({"embedder": embedder.name, "dimension": embedder.dim})


def _texts(writer: IndexWriter, batch: Sequence[Pending]) -> list[str]:
    notes = writer.texts({item.note_id for item in batch})
    return [
        embedded_text(notes[item.note_id][0], item.heading, notes[item.note_id][1][item.start : item.stop])
        for item in batch
    ]


def rows_from_pieces(embedder: PieceEmbedder, ids: Sequence[int], texts: Sequence[str]) -> list[VectorRow]:
    """Made anew each time: cheaper than a look into the cache."""
    codes = quantise(embedder.embed_pieces([embedder.pieces(text) for text in texts]))
    return [(id_, row.tobytes()) for id_, row in zip(ids, codes, strict=True)]


def _through_cache(
    cache: EmbeddingCache, embedder: Embedder, texts: Sequence[str], now_ns: int
) -> list[bytes]:
    model = f"{embedder.name} {embedder.dim}"
    hashes = [text_hash(text) for text in texts]
    known = cache.get(model, hashes, now_ns)
    new = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in known}
    if new:
        codes = quantise(embedder.embed_documents(list(new.values())))
        made = {digest: row.tobytes() for digest, row in zip(new, codes, strict=True)}
        cache.put(model, made.items(), now_ns)
        known |= made
    return [known[digest] for digest in hashes]
