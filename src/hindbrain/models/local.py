"""Embedders from a model's folder on disk: ONNX files, and sentence-transformers folders.

Owns reading such folders. Both need packages that are not installed by default, imported when first used.
Nothing is ever downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hindbrain.base.errors import ConfigError, EmbedderError
from hindbrain.models.embedder import Role, no_vectors, normalised, prepared
from hindbrain.models.prompts import Prompts, prompts_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Vectors

Pooling: TypeAlias = Literal["mean", "cls", "max", "last"]

_MAX_TEXT_CHARS = 40_000  # the tokenizer cuts at the model's length; this only spares it a 50 MB line
_EDGE_BYTES = 1024 * 1024
_WEIGHTS = ("*.onnx*", "onnx/*.onnx*", "*.safetensors", "pytorch_model*.bin")
_SMALL_FILES = ("tokenizer.json", "config.json", "modules.json", "1_Pooling/config.json")
_POOLING: dict[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_cls": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_max": "max",
    "pooling_mode_lasttoken": "last",
}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What a model's small files say about it."""

    path: Path
    pooling: Pooling
    max_tokens: int
    prompts: Prompts
    has_dense: bool  # layers after pooling, which only some ONNX exports include


def read_folder(path: str) -> ModelFolder:
    """Read the small files of the model at `path`, with the usual values for those that are absent."""
    folder = Path(path).expanduser()
    if not path or not folder.is_dir():
        raise ConfigError(f"no model folder at {path!r}; set embedding path to the folder of a model")
    modules = _read_json(folder / "modules.json", [])
    kinds = [str(module.get("type", "")) for module in modules if isinstance(module, dict)]
    return ModelFolder(
        path=folder,
        pooling=_pooling(_read_json(folder / "1_Pooling" / "config.json", {}), folder),
        max_tokens=_max_tokens(folder),
        prompts=_prompts(folder),
        has_dense=any(kind.endswith("Dense") for kind in kinds),
    )


def has_onnx(path: str) -> bool:
    return _onnx_file(Path(path).expanduser()) is not None


class OnnxEmbedder:
    """A transformer in ONNX form, on the processor."""

    def __init__(self, path: str, *, batch_size: int = 50, dimension: int = 0) -> None:
        self._folder = read_folder(path)
        found = _onnx_file(self._folder.path)
        if found is None:
            raise ConfigError(f"no .onnx file in {path!r}; point embedding path to an ONNX model's folder")
        self._file = found
        self._batch_size = max(1, batch_size)
        self._dim = dimension
        self._loaded: _OnnxModel | None = None
        self.name = folder_name("onnx", self._folder)

    @property
    def dim(self) -> int:
        if not self._dim:
            self._embed("query", ["dimension"])
        return self._dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed("document", texts) if texts else no_vectors(self._dim)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed("query", [text])[0]
        return vector

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return each text's last-layer tokens at length 1, without the special ones."""
        ready = [prepared(text, "", _MAX_TEXT_CHARS) for text in texts]
        found = self._in_batches(ready, lambda model, batch: model.token_states(batch))
        return [
            normalised(rows, 0, source=self.name) if len(rows) else no_vectors(self.dim) for rows in found
        ]

    def token_words(self, text: str) -> list[str]:
        """Return the word that each row of `token_vectors` is a part of."""
        return self._model().token_words(prepared(text, "", _MAX_TEXT_CHARS))

    def _embed(self, role: Role, texts: Sequence[str]) -> Vectors:
        import numpy as np

        prefix = self._folder.prompts.of(role)
        ready = [prepared(text, prefix, _MAX_TEXT_CHARS) for text in texts]
        rows = np.stack(self._in_batches(ready, lambda model, batch: list(model.run(batch))))
        vectors = normalised(rows, self._dim, source=self.name)
        self._dim = int(vectors.shape[1])
        return vectors

    def _in_batches(
        self, texts: Sequence[str], run: Callable[[_OnnxModel, list[str]], list[NDArray[Any]]]
    ) -> list[NDArray[Any]]:
        """What `run` gives for each text. Texts of like length share a batch: it is padded to its longest."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found: dict[int, NDArray[Any]] = {}
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            given = run(self._model(), [texts[place] for place in places])
            found.update(zip(places, given, strict=True))
        return [found[place] for place in range(len(texts))]

    def _model(self) -> _OnnxModel:
        if self._loaded is None:
            self._loaded = _OnnxModel(self._folder, self._file)
        return self._loaded


class SentenceTransformersEmbedder:
    """A sentence-transformers folder, run by that library."""

    def __init__(self, path: str, *, batch_size: int = 50, dimension: int = 0) -> None:
        self._folder = read_folder(path)
        self._batch_size = max(1, batch_size)
        self._dim = dimension
        self._model: Any = None
        self.name = folder_name("sentence-transformers", self._folder)

    @property
    def dim(self) -> int:
        if not self._dim:
            self._embed("query", ["dimension"])
        return self._dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed("document", texts) if texts else no_vectors(self._dim)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed("query", [text])[0]
        return vector

    def _embed(self, role: Role, texts: Sequence[str]) -> Vectors:
        if self._model is None:
            self._model = _load_sentence_transformer(self._folder.path)
        try:
            rows = self._model.encode(
                [prepared(text, "", _MAX_TEXT_CHARS) for text in texts],
                prompt=self._folder.prompts.of(role),  # "" keeps the library from choosing one by itself
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        except (RuntimeError, ValueError, IndexError) as error:
            raise EmbedderError(f"{self.name!r} failed to run ({error})") from error
        vectors = normalised(rows, self._dim, source=self.name)
        self._dim = int(vectors.shape[1])
        return vectors


class _OnnxModel:
    """A loaded session and its tokenizer."""

    def __init__(self, folder: ModelFolder, file: Path) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ConfigError("ONNX models need onnxruntime: pip install onnxruntime tokenizers") from error
        self._folder = folder
        self._tokenizer = _load_tokenizer(folder)
        try:
            self._session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has no error base of its own
            raise EmbedderError(f"{str(file)!r} can't be loaded as an ONNX model ({error})") from error
        self._inputs = [item.name for item in self._session.get_inputs()]
        outputs = {item.name: len(item.shape) for item in self._session.get_outputs()}
        # An export that pools by itself knows best; its vectors need no pooling here.
        pooled = "sentence_embedding" if "sentence_embedding" in outputs else ""
        self._output = pooled or next(iter(outputs))
        self._tokens_output = next((name for name, axes in outputs.items() if axes == 3), "")
        if folder.has_dense and not pooled:
            raise ConfigError(
                f"{str(folder.path)!r} has dense layers that its ONNX file leaves out; "
                "use provider 'sentence-transformers' for it"
            )

    def run(self, texts: Sequence[str]) -> NDArray[Any]:
        states, encoded = self._computed(self._output, texts)
        mask = _masks(encoded)
        return states if states.ndim == 2 else pooled_states(states, mask, self._folder.pooling)

    def token_states(self, texts: Sequence[str]) -> list[NDArray[Any]]:
        """One matrix a text, without padding and special tokens."""
        import numpy as np

        if not self._tokens_output:
            raise ConfigError(
                f"{str(self._folder.path)!r} gives one vector a text and none for its tokens; "
                "use an ONNX export with last_hidden_state"
            )
        states, encoded = self._computed(self._tokens_output, texts)
        special = np.array([item.special_tokens_mask for item in encoded])
        kept = (_masks(encoded) > 0) & (special == 0)
        return [own[rows] for own, rows in zip(states, kept, strict=True)]

    def token_words(self, text: str) -> list[str]:
        encoded = self._tokenizer.encode(text)
        places = zip(encoded.offsets, encoded.special_tokens_mask, strict=True)
        spans = [span for span, special in places if not special]
        return [_word_at(text, start, stop) for start, stop in spans]

    def _computed(self, output: str, texts: Sequence[str]) -> tuple[NDArray[Any], list[Any]]:
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts))
        feeds = {
            "input_ids": np.array([item.ids for item in encoded], dtype=np.int64),
            "attention_mask": _masks(encoded),
            "token_type_ids": np.array([item.type_ids for item in encoded], dtype=np.int64),
        }
        unknown = [name for name in self._inputs if name not in feeds]
        if unknown:
            raise ConfigError(f"{str(self._folder.path)!r} wants inputs {unknown}; use another ONNX export")
        try:
            states = self._session.run([output], {name: feeds[name] for name in self._inputs})[0]
        except Exception as error:  # as above
            raise EmbedderError(f"{str(self._folder.path)!r} failed to run ({error})") from error
        return np.asarray(states), encoded


def _masks(encoded: Sequence[Any]) -> NDArray[Any]:
    import numpy as np

    return np.array([item.attention_mask for item in encoded], dtype=np.int64)


def _word_at(text: str, start: int, stop: int) -> str:
    """The whole word that a piece was cut from."""
    while start > 0 and text[start - 1 : start].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while stop < len(text) and text[stop].isalnum() and text[stop - 1 : stop].isalnum():
        stop += 1
    return text[start:stop].strip().lower()


def pooled_states(states: NDArray[Any], mask: NDArray[Any], pooling: Pooling) -> NDArray[Any]:
    """One vector a text from its tokens' states (text, token, number); padding (mask 0) never counts."""
    import numpy as np

    if pooling == "cls":
        rows = states[np.arange(len(states)), mask.argmax(axis=1)]  # the first real token, left-padded or not
    elif pooling == "last":
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        rows = states[np.arange(len(states)), last]
    elif pooling == "max":
        rows = np.where(mask[:, :, None] > 0, states, -np.inf).max(axis=1)
    else:
        weights = mask[:, :, None].astype(states.dtype)
        rows = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    result: NDArray[Any] = rows
    return result


def _load_tokenizer(folder: ModelFolder) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ConfigError("ONNX models need tokenizers: pip install tokenizers") from error
    file = folder.path / "tokenizer.json"
    if not file.is_file():
        raise ConfigError(f"no tokenizer.json in {str(folder.path)!r}; the model can't be used without it")
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises bare Exception
        raise ConfigError(f"{str(file)!r} can't be read as a tokenizer ({error})") from error
    padding = tokenizer.padding or _padding(tokenizer)
    tokenizer.enable_truncation(max_length=folder.max_tokens)
    tokenizer.enable_padding(
        direction=padding["direction"], pad_id=padding["pad_id"], pad_token=padding["pad_token"]
    )
    return tokenizer


def _padding(tokenizer: Any) -> dict[str, Any]:
    for token in ("[PAD]", "<pad>", "<|endoftext|>"):
        known = tokenizer.token_to_id(token)
        if known is not None:
            return {"direction": "right", "pad_id": known, "pad_token": token}
    return {"direction": "right", "pad_id": 0, "pad_token": "[PAD]"}  # masked out, so any id will do


def _load_sentence_transformer(folder: Path) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ConfigError(
            "this model folder needs sentence-transformers: pip install sentence-transformers"
        ) from error
    try:
        return SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise EmbedderError(
            f"{str(folder)!r} can't be loaded by sentence-transformers ({type(error).__name__}: {error}); "
            "check that the folder is a whole model"
        ) from error


def _onnx_file(folder: Path) -> Path | None:
    for usual in (folder / "onnx" / "model.onnx", folder / "model.onnx"):
        if usual.is_file():
            return usual
    others = sorted([*folder.glob("onnx/*.onnx"), *folder.glob("*.onnx")])
    return others[0] if others else None


def _pooling(config: Any, folder: Path) -> Pooling:
    if not isinstance(config, dict):
        raise ConfigError(
            f"1_Pooling/config.json in {str(folder)!r} is not an object; repair the model folder"
        )
    # Older folders have a flag for each way, newer ones a word: {"pooling_mode": "mean"}.
    asked = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    asked += [f"pooling_mode_{config['pooling_mode']}"] if "pooling_mode" in config else []
    chosen = {_POOLING.get(key) for key in asked}
    if not asked:
        return "mean"
    pooling = chosen.pop()
    if chosen or pooling is None:
        raise ConfigError(f"{str(folder)!r} pools by {asked}, which is not supported; use another model")
    return pooling


def _max_tokens(folder: Path) -> int:
    for file, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    ):
        config = _read_json(folder / file, {})
        value = config.get(key) if isinstance(config, dict) else None
        if isinstance(value, int) and 0 < value <= 1_000_000:  # tokenizers write 10**30 for "not known"
            return value
    return 512


def _prompts(folder: Path) -> Prompts:
    """What the model's own files say, else what is known for a model of the folder's name."""
    config = _read_json(folder / "config_sentence_transformers.json", {})
    own = config.get("prompts") if isinstance(config, dict) else None
    if isinstance(own, dict) and any(own.values()):
        document = own.get("document") or own.get("passage") or ""
        return Prompts(query=str(own.get("query") or ""), document=str(document))
    return prompts_for(folder.resolve().name)


def folder_name(provider: str, folder: ModelFolder) -> str:
    """Return the name of the embedder: another model in the same folder gets another one."""
    return f"{provider}/{folder.path.resolve().name}#{_fingerprint(folder.path)}{folder.prompts.tag()}"


def _fingerprint(folder: Path) -> str:
    """Tells two models apart without reading gigabytes: small files whole, weights by size and both ends."""
    import hashlib

    digest = hashlib.sha256()
    weights = sorted({file for pattern in _WEIGHTS for file in folder.glob(pattern)})
    for file in [*(folder / name for name in _SMALL_FILES), *weights]:
        if not file.is_file():
            continue
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder).as_posix()}\0{size}\0".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_EDGE_BYTES))
            stream.seek(max(0, size - _EDGE_BYTES))
            digest.update(stream.read(_EDGE_BYTES))
    return digest.hexdigest()[:12]


def _read_json(file: Path, absent: Any) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return absent
    except (OSError, ValueError) as error:
        raise ConfigError(f"{str(file)!r} can't be read ({error}); repair the model folder") from error
