"""Indexes of any size, made of real notes: the scale corpus, and beyond it the same notes in other words.

A larger index holds all that a smaller one holds, so the same queries can be put to all of them.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from benchmarks.datasets import find_one, single_root, unpacked
from hindbrain.app import App
from hindbrain.index.embed import embed_pending
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.progress import silent
from hindbrain.index.record import NoteRecord, make_record
from hindbrain.index.writer import IndexWriter
from hindbrain.search.terms import STOP_WORDS
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.scan_result import FileStamp

_SEED = 7_919
_NOISE = 0.1  # of the words of a repeated note are replaced
_BATCH_NOTES = 500
_WORD = re.compile(r"[A-Za-z]{3,}")
_QUERY_NOTES = 400  # the notes that queries are made from: inside every index


def scale_corpus(data: Path, work: Path) -> Path:
    """The folder of the scale corpus, or of whatever Markdown `data` is."""
    return single_root(unpacked(find_one(data, "scale corpus", ("md_mdn.tar.gz", "md_mdn*")), work))


def read_notes(folder: Path) -> list[tuple[str, str]]:
    """All notes as (path, text), in an order that mixes the topics and is always the same."""
    paths = sorted(path for path in folder.rglob("*.md") if path.is_file())
    random.Random(_SEED).shuffle(paths)
    return [(path.relative_to(folder).as_posix(), decode_note(path.read_bytes())[0]) for path in paths]


def endless(notes: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The notes, then the notes again and again with noise: some words are drawn anew."""
    yield from notes
    rng = random.Random(_SEED)
    drawn = rng.sample(list(notes), min(len(notes), 2_000))
    words = [word for _, text in drawn for word in _WORD.findall(text)]

    def replaced(match: re.Match[str]) -> str:
        return words[int(rng.random() * len(words))] if rng.random() < _NOISE else match[0]

    for round_ in count(1):
        for path, text in notes:
            head, body = _split_head(text)
            yield f"copy{round_}/{path}", head + _WORD.sub(replaced, body)


def _split_head(text: str) -> tuple[str, str]:
    """The frontmatter, which must stay readable, and the rest."""
    end = text.find("\n---", 3) if text.startswith("---") else -1
    return (text[: end + 4], text[end + 4 :]) if end > 0 else ("", text)


def build_index(app: App, notes: Sequence[tuple[str, str]], passages: int) -> int:
    """Fill an app's index up to a number of passages, as a sync does; return how many there are."""
    writer = IndexWriter(app.index_path)
    try:
        made = _fill(writer, endless(notes), passages)
        with writer.transaction():
            writer.set_meta({"synced_at": time.time()})
        writer.settle()
        assert app.embedder is not None
        embed_pending(writer, app.embedder, time.time_ns(), silent)
        writer.checkpoint()
    finally:
        writer.close()
    return made


def _fill(writer: IndexWriter, notes: Iterator[tuple[str, str]], passages: int) -> int:
    made = 0
    while made < passages:
        with writer.transaction():
            for _ in range(_BATCH_NOTES):
                path, text = next(notes)
                record = recorded(path, text)
                stamp = FileStamp(len(text), 1_700_000_000 * 10**9, 1, 1)
                writer.put_note(record, stamp, content_hash(text.encode("utf-8", "replace")), 0)
                made += len(record.passages)
                if made >= passages:
                    break
    return made


def recorded(path: str, text: str) -> NoteRecord:
    stem = path.rpartition("/")[2].removesuffix(".md")
    return make_record(path, parse_note(text, stem=stem), ChunkSettings())


def make_queries(notes: Sequence[tuple[str, str]], each: int = 50) -> dict[str, list[str]]:
    """What people type, by kind: some words of a passage, a question, two words, a note's title."""
    rng = random.Random(_SEED)
    records = [recorded(path, text) for path, text in notes[:_QUERY_NOTES]]
    texts = [p.text for record in records for p in record.passages]
    worded = [words for words in map(_content_words, texts) if len(words) >= 8]
    titles = [record.title for record in records if record.title]

    def picked(least: int, most: int) -> str:
        words = rng.choice(worded)
        return " ".join(rng.sample(words, rng.randint(least, most)))

    return {
        "words": [picked(3, 8) for _ in range(each)],
        "question": [f"how do I use {picked(1, 2)} with {picked(1, 2)}?" for _ in range(each)],
        "two words": [picked(2, 2) for _ in range(each)],
        "title": [rng.choice(titles) for _ in range(each)],
    }


def _content_words(text: str) -> list[str]:
    return list(dict.fromkeys(word for word in _WORD.findall(text) if word.lower() not in STOP_WORDS))


def pathological(notes: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Queries that ask for too much or for nothing."""
    rng = random.Random(_SEED)
    words = [word for _, text in notes[:_QUERY_NOTES] for word in _WORD.findall(text)]
    return {
        "stop_words": " ".join(sorted(STOP_WORDS)),
        "long": " ".join(rng.choices(words, k=5_000)),
        "one_letter": "a",
    }
