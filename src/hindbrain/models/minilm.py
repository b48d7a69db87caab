"""A BERT sentence encoder in numpy: all-MiniLM-L6-v2, or any uncased WordPiece model of the same build.

Reads `config.json`, `vocab.txt` and `model.safetensors` of a model's folder and needs no package but numpy.
The tokens of a batch lie one after another in a single matrix, so no padding is computed; only attention
looks at each text alone. Knows nothing of where a folder comes from or what the vectors are for.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hindbrain.base.errors import EmbedderError
from hindbrain.models.embedder import no_vectors

if TYPE_CHECKING:
    from hindbrain.models.embedder import Vectors

    Linear: TypeAlias = tuple[Vectors, Vectors]  # weights (in, out) and bias; of a norm: scale and shift

WEIGHTS, VOCABULARY, CONFIG = "model.safetensors", "vocab.txt", "config.json"
_ADVICE = "install it again, or set encoder.path to another model or to off"
_BUILD = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
_MOST_TOKENS = 256  # of a text, its two special tokens included: what the model was made for
_MOST_CHARS = 8_000  # a longer text is cut by its tokens anyway
_PACKED_TOKENS = 512  # computed at once: larger matrices leave the processor's cache
_MOST_WORD_CHARS = 100  # a longer word is unknown, as in BERT's own tokenizer
_MOST_KEPT_WORDS = 100_000
_ACTIVATED_ROWS = 64
# tanh(x p(x²)) for erf(x / √2): the GELU made of it differs by less than 1.2e-5 from the exact one.
_ERF = (7.97691078e-01, 3.67292562e-02, -2.54506032e-04, -8.66597350e-06)
_ERF_END = 4.6**2  # x² from which on the exact value is 1


class MiniLM:
    """Encodes texts by the model of one folder. Loaded at first use; may be used by several threads."""

    def __init__(
        self,
        folder: Path,
        name: str,
        check: Callable[[memoryview], None] | None = None,
        *,
        advice: str = _ADVICE,
    ) -> None:
        """`check` sees the bytes of the weights before they are used, and raises if they are not the ones.

        `advice`: what to do about a file that is missing or damaged.
        """
        self._advice = advice
        self.name = name
        self._folder = folder
        self._check = check
        self._loading = threading.Lock()
        self._config = _read_config(folder / CONFIG, advice)
        self.dim = int(self._config["hidden_size"])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text's tokens, special ones included, at length 1."""
        import numpy as np

        if not texts:
            return no_vectors(self.dim)
        return _unit(np.stack([states.mean(axis=0) for states in self._states(texts)]))

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return each text's last-layer tokens at length 1, without the special ones."""
        return [_unit(states[1:-1]) for states in self._states(texts)]

    def token_words(self, text: str) -> list[str]:
        """Return the word that each row of `token_vectors` is a part of."""
        return self._model.words.words(text)

    def _states(self, texts: Sequence[str]) -> list[Vectors]:
        numbers = [self._model.words.numbers(text) for text in texts]
        states: list[Vectors] = [no_vectors(self.dim)] * len(texts)
        for places in _packs(list(map(len, numbers))):
            for place, found in zip(places, self._model.run([numbers[p] for p in places]), strict=True):
                states[place] = found
        return states

    @property
    def _model(self) -> _Model:
        with self._loading:
            return self._loaded

    def check_files(self) -> None:
        """Raise EmbedderError when a file is missing or the weights are cut short. Loads nothing."""
        with _named(self._folder / WEIGHTS, self._advice) as file:
            _read_header(file)
        with _named(self._folder / VOCABULARY, self._advice) as file:
            file.stat()

    @cached_property
    def _loaded(self) -> _Model:
        with _named(self._folder / VOCABULARY, self._advice) as file:
            words = _words(file)
        with _named(self._folder / WEIGHTS, self._advice) as file:
            return _Model(self._config, _read_tensors(file, self._check), words)


class WordPieces:
    """BERT's uncased tokenizer: a text to numbers of its vocabulary."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self._known = {name: number for number, name in enumerate(names)}
        self._unknown = self._known["[UNK]"]
        self._first, self._last = self._known["[CLS]"], self._known["[SEP]"]
        self._kept: dict[str, tuple[int, ...]] = {}

    def numbers(self, text: str) -> list[int]:
        """Return the numbers of a text's tokens between the two special ones, cut at the model's length."""
        found: list[int] = [self._first]
        for word in basic_words(text[:_MOST_CHARS]):
            found += self._pieces(word)
            if len(found) >= _MOST_TOKENS - 1:
                break
        return [*found[: _MOST_TOKENS - 1], self._last]

    def words(self, text: str) -> list[str]:
        """Return the word of each number between the two special ones."""
        cut = ((word, self._pieces(word)) for word in basic_words(text[:_MOST_CHARS]))
        return [word for word, pieces in cut for _ in pieces][: _MOST_TOKENS - 2]

    def _pieces(self, word: str) -> tuple[int, ...]:
        pieces = self._kept.get(word)
        if pieces is None:
            if len(self._kept) >= _MOST_KEPT_WORDS:
                self._kept.clear()
            pieces = self._kept[word] = self._cut(word)
        return pieces

    def _cut(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece from the left, again and again; one unknown rest spoils the word."""
        if len(word) > _MOST_WORD_CHARS:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            sign = "##" if start else ""
            ends = range(len(word), start, -1)
            fitting = ((self._known.get(sign + word[start:end]), end) for end in ends)
            number, start = next(((n, end) for n, end in fitting if n is not None), (None, start))
            if number is None:
                return (self._unknown,)
            found.append(number)
        return tuple(found)


def basic_words(text: str) -> list[str]:
    """Split a text at spaces, punctuation and Chinese characters: lower case, without accents."""
    if text.isascii():
        signs: Iterator[str] = map(_ascii_sign, text.lower())
    else:
        plain = unicodedata.normalize("NFD", "".join(map(_kept_sign, text)))
        # Sign by sign: `lower` of a whole word would write another sigma at its end.
        signs = (_spaced(sign.lower()) for sign in plain if unicodedata.category(sign) != "Mn")
    return "".join(signs).split(" ")


def _ascii_sign(sign: str) -> str:
    return sign if sign.isalnum() else _spaced(_kept_sign(sign))


def _kept_sign(sign: str) -> str:
    """The sign; a space for other white space and around Chinese; nothing for what can't be seen."""
    if sign in "\t\n\r":
        return " "
    if sign == "\ufffd" or unicodedata.category(sign) in ("Cc", "Cf", "Co"):
        return ""
    if sign.isspace():
        return " "
    return f" {sign} " if _is_chinese(ord(sign)) else sign


def _spaced(sign: str) -> str:
    """Punctuation stands alone; so does every ASCII sign that is no letter, digit or space."""
    odd = sign.isascii() and sign.isprintable() and not sign.isalnum() and sign != " "
    return f" {sign} " if odd or (len(sign) == 1 and unicodedata.category(sign)[0] == "P") else sign


def _is_chinese(code: int) -> bool:
    return any(first <= code <= last for first, last in _CHINESE)


_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Layer:
    attention: Linear  # query, key and value side by side
    joined: Linear
    joined_norm: Linear
    wide: Linear
    narrow: Linear
    norm: Linear


class _Model:
    """The loaded weights, and the computation."""

    def __init__(self, config: Mapping[str, Any], tensors: Mapping[str, Vectors], words: WordPieces) -> None:
        self.words = words
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        self._table = tensors["embeddings.word_embeddings.weight"]
        kinds = tensors["embeddings.token_type_embeddings.weight"]
        self._places = tensors["embeddings.position_embeddings.weight"] + kinds[0]
        self._norm = _pair(tensors, "embeddings.LayerNorm")
        self._layers = [
            _read_layer(tensors, f"encoder.layer.{at}") for at in range(int(config["num_hidden_layers"]))
        ]
        if self._table.shape != (len(words.names), int(config["hidden_size"])):
            raise ValueError(f"{self._table.shape} token vectors do not fit the vocabulary or the settings")
        self.run([words.numbers("")])  # matrices that do not fit one another fail here, not in a search

    def run(self, texts: Sequence[Sequence[int]]) -> list[Vectors]:
        """Return the last layer's states of each text, (tokens, dim)."""
        import numpy as np

        ends = np.cumsum([len(numbers) for numbers in texts]).tolist()
        spans = [slice(end - len(numbers), end) for end, numbers in zip(ends, texts, strict=True)]
        states = self._table.take(list(chain.from_iterable(texts)), axis=0)
        for span in spans:
            states[span] += self._places[: span.stop - span.start]
        _normalise(states, self._norm, self._epsilon)
        for layer in self._layers:
            states += _through(self._attended(_through(states, layer.attention), spans), layer.joined)
            _normalise(states, layer.joined_norm, self._epsilon)
            wide = _through(states, layer.wide)
            activate(wide)
            states += _through(wide, layer.narrow)
            _normalise(states, layer.norm, self._epsilon)
        return [states[span] for span in spans]

    def _attended(self, mixed: Vectors, spans: Sequence[slice]) -> Vectors:
        import numpy as np

        rows, width = len(mixed), mixed.shape[1] // 3
        parts = mixed.reshape(rows, 3, self._heads, width // self._heads)
        scale = np.float32(1 / math.sqrt(width // self._heads))
        result = np.empty((rows, self._heads, width // self._heads), dtype=np.float32)
        for span in spans:
            query, key, value = parts[span].transpose(1, 2, 0, 3)
            scores = (query * scale) @ key.transpose(0, 2, 1)
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            result[span] = (scores @ value).transpose(1, 0, 2)
        return result.reshape(rows, width)


def activate(values: Vectors) -> None:
    """Apply GELU in place, block by block."""
    import numpy as np

    for start in range(0, len(values), _ACTIVATED_ROWS):
        block = values[start : start + _ACTIVATED_ROWS]
        square = block * block
        np.minimum(square, _ERF_END, out=square)
        inner = square * np.float32(_ERF[-1])
        for factor in _ERF[-2:0:-1]:
            inner += np.float32(factor)
            inner *= square
        inner += np.float32(_ERF[0])
        inner *= block
        np.tanh(inner, out=inner)
        inner += 1
        inner *= 0.5
        block *= inner


def _through(states: Vectors, linear: Linear) -> Vectors:
    result: Vectors = states @ linear[0]
    result += linear[1]
    return result


def _normalise(states: Vectors, norm: Linear, epsilon: float) -> None:
    import numpy as np

    states -= states.mean(axis=1, keepdims=True)
    spread = np.einsum("ij,ij->i", states, states) / states.shape[1]
    states /= np.sqrt(spread + np.float32(epsilon))[:, None]
    states *= norm[0]
    states += norm[1]


def _unit(rows: Vectors) -> Vectors:
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    unit: Vectors = rows / np.maximum(lengths, np.float32(1e-12))
    return unit


def _packs(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Cut the texts into runs of at most `_PACKED_TOKENS`, those of like length together."""
    pack: list[int] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if pack and tokens + lengths[place] > _PACKED_TOKENS:
            yield pack
            pack, tokens = [], 0
        pack.append(place)
        tokens += lengths[place]
    if pack:
        yield pack


def _read_layer(tensors: Mapping[str, Vectors], name: str) -> _Layer:
    import numpy as np

    own = [_linear(tensors, f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
    attention = np.concatenate([w for w, _ in own], axis=1), np.concatenate([b for _, b in own])
    return _Layer(
        attention=attention,
        joined=_linear(tensors, f"{name}.attention.output.dense"),
        joined_norm=_pair(tensors, f"{name}.attention.output.LayerNorm"),
        wide=_linear(tensors, f"{name}.intermediate.dense"),
        narrow=_linear(tensors, f"{name}.output.dense"),
        norm=_pair(tensors, f"{name}.output.LayerNorm"),
    )


def _linear(tensors: Mapping[str, Vectors], name: str) -> Linear:
    weights, bias = _pair(tensors, name)
    return weights.T, bias


def _pair(tensors: Mapping[str, Vectors], name: str) -> Linear:
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


def _read_config(path: Path, advice: str) -> Mapping[str, Any]:
    try:
        config = json.loads(path.read_bytes())
        fits = isinstance(config, dict) and all(
            config.get(key, value) == value for key, value in _BUILD.items()
        )
        if not fits or not isinstance(config.get("hidden_size"), int):
            raise ValueError("it is no BERT model")
    except OSError as error:
        raise EmbedderError(f"{str(path)!r} can't be read ({error.strerror}); {advice}") from error
    except ValueError as error:
        raise EmbedderError(f"{str(path)!r} can't be used for an encoder ({error}); {advice}") from error
    return dict(config)


@contextmanager
def _named(file: Path, advice: str) -> Iterator[Path]:
    """Say which file of a model is missing or damaged, and what to do."""
    try:
        yield file
    except OSError as error:
        raise EmbedderError(
            f"the encoder's file {str(file)!r} can't be read ({error.strerror or error}); {advice}"
        ) from error
    except (LookupError, ValueError, TypeError, struct.error) as error:
        why = str(error) if isinstance(error, _Damaged) else "its content does not fit together"
        raise EmbedderError(f"the encoder's file {str(file)!r} is damaged: {why}; {advice}") from error


class _Damaged(ValueError):
    """What is wrong with a file, in words for its owner."""


def _words(file: Path) -> WordPieces:
    return WordPieces(file.read_text(encoding="utf-8").removesuffix("\n").split("\n"))


def _read_header(file: Path) -> tuple[int, dict[str, Any]]:
    """Return where the numbers of a safetensors file begin, and where each tensor lies."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        first = opened.read(8)
        length = struct.unpack("<Q", first)[0] if len(first) == 8 else size
        if length > size - 8:
            raise _Damaged(f"it ends after {size:,} bytes, within its header")
        header = json.loads(opened.read(length))
    tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
    wanted = 8 + length + max((entry["data_offsets"][1] for entry in tensors.values()), default=0)
    if wanted > size:
        raise _Damaged(f"it has {size:,} of {wanted:,} bytes")
    return 8 + length, tensors


def _read_tensors(path: Path, check: Callable[[memoryview], None] | None) -> dict[str, Vectors]:
    """Map a safetensors file into memory: it is shared with other processes and costs no copy."""
    import numpy as np

    begin, tensors = _read_header(path)
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if check is not None:
        check(data)
    found = {}
    for name, entry in tensors.items():
        if isinstance(entry, dict) and entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            raw = np.frombuffer(data[begin + start : begin + end], dtype=np.float32)
            found[name.removeprefix("bert.")] = raw.reshape(entry["shape"])
    return found
