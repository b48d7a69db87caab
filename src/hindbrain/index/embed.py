"""Gives vectors to the passages that have none: in batches, from the cache where the text is known.

Each batch is a transaction of its own, so an interruption loses at most one batch of work.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hindbrain.base.errors import EmbedderError
from hindbrain.index.progress import Listener, Progress
from hindbrain.index.record import embedded_text, text_hash
from hindbrain.index.vectors import quantise
from hindbrain.index.writer import IndexWriter, Pending
from hindbrain.models.embedder import Embedder, PieceEmbedder

_BATCH = 2_048


@dataclass(frozen=True, slots=True)
class EmbedOutcome:
    embedded: int
    pending: int
    error: str = ""  # why it stopped early; "" when it did not


def embed_pending(writer: IndexWriter, embedder: Embedder, now_ns: int, listener: Listener) -> EmbedOutcome:
    """Embed what is pending. A failing embedder ends it; what is embedded stays, and search goes on by keywords."""
    done, after = 0, 0
    total = writer.pending_count()
    try:
        _adopt(writer, embedder)
        total = writer.pending_count()
        while batch := writer.pending(after, _BATCH):
            rows = _embed_batch(writer, embedder, batch, now_ns)
            with writer.transaction():
                writer.put_vectors(rows)
            after = batch[-1].passage_id
            done += len(rows)
            listener(Progress("vectors", done, total))
    except EmbedderError as error:
        return EmbedOutcome(done, writer.pending_count(), str(error))
    return EmbedOutcome(done, writer.pending_count())


def _adopt(writer: IndexWriter, embedder: Embedder) -> None:
    """Vectors of another embedder can't be compared: drop them, and keep answering by keywords meanwhile."""
    if (writer.meta("embedder"), writer.meta("dimension")) == (embedder.name, embedder.dim):
        return
    with writer.transaction():
        writer.drop_vectors()
        writer.set_meta({"embedder": embedder.name, "dimension": embedder.dim})


def _embed_batch(
    writer: IndexWriter, embedder: Embedder, batch: Sequence[Pending], now_ns: int
) -> list[tuple[int, bytes, bytes]]:
    notes = writer.texts({item.note_id for item in batch})
    texts = [_text_of(item, notes) for item in batch]
    ids = [item.passage_id for item in batch]
    if isinstance(embedder, PieceEmbedder):
        return _from_pieces(embedder, ids, texts)
    return [
        (id_, codes, b"")
        for id_, codes in zip(ids, _through_cache(writer, embedder, texts, now_ns), strict=True)
    ]


def _text_of(item: Pending, notes: dict[int, tuple[str, str]]) -> str:
    title, text = notes[item.note_id]
    return embedded_text(title, item.heading, text[item.start : item.stop])


def _from_pieces(
    embedder: PieceEmbedder, ids: Sequence[int], texts: Sequence[str]
) -> list[tuple[int, bytes, bytes]]:
    """Cheaper than a look into the cache; the distinct pieces are kept for late interaction."""
    import numpy as np

    pieces = [embedder.pieces(text) for text in texts]
    codes = quantise(embedder.embed_pieces(pieces))
    kept = [np.array(list(dict.fromkeys(found)), dtype="<u2").tobytes() for found in pieces]
    return [(id_, row.tobytes(), own) for id_, row, own in zip(ids, codes, kept, strict=True)]


def _through_cache(writer: IndexWriter, embedder: Embedder, texts: Sequence[str], now_ns: int) -> list[bytes]:
    hashes = [text_hash(text) for text in texts]
    known = writer.cached(embedder.name, hashes)
    new = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in known}
    if new:
        codes = quantise(embedder.embed_documents(list(new.values())))
        made = {digest: row.tobytes() for digest, row in zip(new, codes, strict=True)}
        with writer.transaction():
            writer.put_cached(embedder.name, made.items(), now_ns)
        known |= made
    return [known[digest] for digest in hashes]
