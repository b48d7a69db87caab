"""The built-in embedder: a table of 32,000 word-piece vectors, and the mean of those that a text is made of.

The table is the one that the `wordllama` wheel carries; we read its files and never import the package (slow
to import, and its loader needs a network). Words are cut into pieces here, without the `tokenizers` library:
the vocabulary is ordered by merge rank, so joining the pair whose joined piece has the lowest number is the
same byte-pair encoding (a test compares the two), and a word is cut only once.

A document is the plain mean of its pieces, whatever the vault: so it can be kept by its text's hash alone.
How much a word matters in *this* vault is known at query time, and enters there, as a weight per query word.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Vectors

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_MAX_WORD_CHARS = 40  # a longer one is an address or a hash: its first pieces say as much as all
_MAX_CACHED_WORDS = 200_000
_NEVER = 1 << 30  # the rank of a pair that is never joined
_ASCII_WORD = re.compile(r"\w+", re.ASCII)  # the same as below for most texts, and twice as fast
# Scripts without spaces go character by character; other words are runs of word characters.
_SINGLE = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"


@cache
def load_static() -> StaticEmbedder:
    """Return the built-in embedder, one per process; its files are read when it is first used."""
    return StaticEmbedder(_package_folder())


def _package_folder() -> Path:
    from importlib.util import find_spec

    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderError(
            "the package 'wordllama' that carries the built-in embedding is not installed; "
            "install it with: pip install wordllama==0.2.2.post0, or set embedding.provider"
        )
    return Path(spec.submodule_search_locations[0])


class StaticEmbedder:
    """Mean of word-piece vectors: no model runs, so it embeds tens of thousands of passages a second."""

    name = "builtin/l2-supercat-256"
    dim = 256

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pieces_of = _WordPieces(lambda: self._vocabulary)

    def __reduce__(self) -> tuple[Callable[[], StaticEmbedder], tuple[()]]:
        # Another process reads the tables itself instead of getting them through a pipe.
        return load_static, ()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self.embed_pieces([self.pieces(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return self.embed_weighted([(word, 1.0) for word in words_of(text)])

    def embed_weighted(self, words: Iterable[tuple[str, float]]) -> Vectors:
        """Return the mean of the words' pieces, each counted with its word's weight."""
        import numpy as np

        pieces: list[int] = []
        weights: list[float] = []
        for word, weight in words:
            found = self._pieces_of[word]
            pieces += found
            weights += [weight] * len(found)
        if not pieces:
            return np.zeros(self.dim, dtype=np.float32)
        vector = np.asarray(weights, dtype=np.float32) @ self._rows(pieces)
        return _normalised(vector)

    def is_cut_after_word(self, word: str) -> bool:
        """Is it not known as a whole, and does its first piece mean something else, as in Car-men?"""
        first, *rest = self._pieces_of[word] or (None,)
        rank = self._vocabulary.get
        return bool(rest) and any(rank(f"▁{word[:end]}") == first for end in range(3, len(word)))

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of the pieces that a text is made of, in order."""
        if len(self._pieces_of) >= _MAX_CACHED_WORDS:
            self._pieces_of.clear()
        # Written so that the loop runs inside the interpreter: a vault has millions of words.
        return list(chain.from_iterable(map(self._pieces_of.__getitem__, words_of(text))))

    def embed_pieces(self, documents: Sequence[Sequence[int]]) -> Vectors:
        """Return one vector of length 1 per document; a document without pieces gets zeros."""
        import numpy as np

        table = self._table
        vectors = np.zeros((len(documents), self.dim), dtype=np.float32)
        ones = np.ones(max(map(len, documents), default=0), dtype=np.float32)
        # One small product a document is five times as fast as one large `add.reduceat`.
        for vector, pieces in zip(vectors, documents, strict=True):
            if pieces:
                np.matmul(ones[: len(pieces)], table.take(pieces, axis=0), out=vector)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    def _rows(self, pieces: Sequence[int] | NDArray[Any]) -> Vectors:
        import numpy as np

        # One query alone reads the rows it needs from the file; who comes back gets the whole table.
        if "_table" in self.__dict__:
            return self._table.take(pieces, axis=0)
        return np.asarray(self._stored[pieces], dtype=np.float32)

    @cached_property
    def _table(self) -> Vectors:
        import numpy as np

        return np.asarray(self._stored, dtype=np.float32)

    @cached_property
    def _stored(self) -> NDArray[np.float16]:
        import numpy as np

        path = self._folder / _WEIGHTS
        try:
            with path.open("rb") as file:
                (header_bytes,) = struct.unpack("<Q", file.read(8))
                header = json.loads(file.read(header_bytes))
            entry = header["embedding.weight"]
            start = 8 + header_bytes + entry["data_offsets"][0]
            return np.memmap(path, dtype=np.float16, mode="r", offset=start, shape=tuple(entry["shape"]))
        except (OSError, ValueError, KeyError, struct.error) as error:
            raise EmbedderError(
                f"the built-in embedding {str(path)!r} can't be read ({error}); "
                "reinstall wordllama==0.2.2.post0"
            ) from error

    @cached_property
    def _vocabulary(self) -> Mapping[str, int]:
        path = self._folder / _TOKENIZER
        try:
            data = path.read_bytes()
            # The merges are two thirds of the file and say nothing that the numbers do not say.
            start = data.index(b'"vocab":') + len(b'"vocab":')
            section = data[start : data.index(b'"merges"', start)].decode("utf-8")
            vocabulary: dict[str, int] = json.loads(section.rstrip().rstrip(","))
            return vocabulary
        except (OSError, ValueError) as error:
            raise EmbedderError(
                f"the built-in vocabulary {str(path)!r} can't be read ({error}); "
                "reinstall wordllama==0.2.2.post0"
            ) from error


class _WordPieces(dict[str, tuple[int, ...]]):
    """Words that were cut already; a new one is cut when it is asked for."""

    def __init__(self, vocabulary: Callable[[], Mapping[str, int]]) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> tuple[int, ...]:
        cut = self[word] = cut_word(word[:_MAX_WORD_CHARS], self._vocabulary())
        return cut


def words_of(text: str) -> list[str]:
    """Return the words of a text as the built-in embedder sees them, case kept."""
    return _ASCII_WORD.findall(text) if text.isascii() else _any_word().findall(text)


@cache
def _any_word() -> re.Pattern[str]:
    return re.compile(rf"[{_SINGLE}]|[^\W{_SINGLE}]+")  # 8 ms, which an ASCII query does not spend


def cut_word(word: str, vocabulary: Mapping[str, int]) -> tuple[int, ...]:
    """Return a word's pieces: join the neighbours with the lowest joined number until none can be joined.

    Characters that the vocabulary lacks are left out: as loose bytes they would only add noise.
    """
    rank = vocabulary.get
    whole = rank("▁" + word)
    if whole is not None:
        return (whole,)
    parts = ["▁", *word]
    ranks = [rank(left + right, _NEVER) for left, right in pairwise(parts)]
    while ranks and (best := min(ranks)) != _NEVER:
        at = ranks.index(best)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del ranks[at]
        if at:
            ranks[at - 1] = rank(parts[at - 1] + parts[at], _NEVER)
        if at < len(ranks):
            ranks[at] = rank(parts[at] + parts[at + 1], _NEVER)
    if parts[0] == "▁" and len(parts) > 1:
        del parts[0]  # a bare word boundary carries no meaning
    return tuple(vocabulary[part] for part in parts if part in vocabulary)


def _normalised(vector: Vectors) -> Vectors:
    import numpy as np

    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector
