"""The built-in embedder, on the table that its wheel carries."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import EmbedderError
from hindbrain.models.embedder import has_pieces
from hindbrain.models.static import StaticEmbedder, cut_word, load_static, words_of

WORDS = (
    "memory vault Obsidian embedding retrieval Kubernetes PostgreSQL antidisestablishmentarianism naïve café "
    "Übergröße Ångström résumé coöperate don 2026 3 v2 JSONL HTTPServer camelCase snake_case GmbH ﬁne ½ "
    "привет мир Ελλάδα שלום مرحبا 東 京 都 한 국 ไ ก Zürich œuvre Łódź Đặng İstanbul ß a I x1y2z3 qqqzz"
)


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return load_static()


@pytest.fixture(scope="module")
def reference(static: StaticEmbedder):
    tokenizers = pytest.importorskip("tokenizers", reason="the library to compare with is not installed")
    file = static._folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return tokenizers.Tokenizer.from_file(str(file))


def expected_pieces(reference, word: str) -> list[int]:
    """What the library says, without what we leave out on purpose: loose bytes, a bare word boundary."""
    encoded = reference.encode(word, add_special_tokens=False)
    kept = [
        (number, piece)
        for number, piece in zip(encoded.ids, encoded.tokens, strict=True)
        if not re.fullmatch(r"<0x[0-9A-F]{2}>|<unk>", piece)
    ]
    if len(encoded.ids) > 1 and kept and kept[0][1] == "▁":
        del kept[0]
    return [number for number, _ in kept]


@pytest.mark.parametrize("word", WORDS.split())
def test_a_word_has_the_pieces_that_the_tokenizers_library_gives(static, reference, word: str) -> None:
    (only,) = words_of(word)
    assert static.pieces(only) == expected_pieces(reference, word)


def test_real_words_have_the_pieces_that_the_tokenizers_library_gives(static, reference, unpacked) -> None:
    words: set[str] = set()
    for name in ("vault_obsidian_help", "vault_kepano"):
        for file in sorted(unpacked(name).rglob("*.md"))[:80]:
            words.update(words_of(file.read_text(encoding="utf-8", errors="replace")))
    short = sorted(word for word in words if len(word) <= 40)
    assert len(short) > 2_000
    different = [word for word in short if list(static.pieces(word)) != expected_pieces(reference, word)]
    assert different == []


@settings(max_examples=150, deadline=None)
@given(st.from_regex(r"[A-Za-zÀ-ſΑ-ωА-я0-9]{1,40}", fullmatch=True))
def test_any_word_has_the_pieces_that_the_tokenizers_library_gives(word: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    embedder = _shared()
    file = embedder._folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if "reference" not in _CACHE:
        _CACHE["reference"] = tokenizers.Tokenizer.from_file(str(file))
    for part in words_of(word):
        assert embedder.pieces(part) == expected_pieces(_CACHE["reference"], part)


_CACHE: dict[str, object] = {}


def _shared() -> StaticEmbedder:
    if "static" not in _CACHE:
        _CACHE["static"] = load_static()
    embedder = _CACHE["static"]
    assert isinstance(embedder, StaticEmbedder)
    return embedder


def test_vectors_have_length_one(static: StaticEmbedder) -> None:
    vectors = static.embed_documents(["the pump in the cellar", "東京の天気", "x"])
    assert vectors.shape == (3, 256)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(np.linalg.norm(static.embed_query("the pump")), 1, atol=1e-5)


@pytest.mark.parametrize("text", ["", " \n\t", "!!! ... ---", "\0", "\ud800", "🦀🦀"])
def test_a_text_without_words_has_a_vector_of_zeros(static: StaticEmbedder, text: str) -> None:
    assert not static.embed_documents([text]).any()
    assert not static.embed_query(text).any()


def test_no_texts_give_no_vectors(static: StaticEmbedder) -> None:
    assert static.embed_documents([]).shape == (0, 256)


def test_characters_that_the_vocabulary_lacks_are_left_out() -> None:
    vocabulary = {"▁": 0, "a": 1, "b": 2, "▁a": 3, "ab": 4}
    assert cut_word("aꙮb", vocabulary) == (3, 2)
    assert cut_word("ꙮ", vocabulary) == ()


def test_the_pair_of_the_lowest_number_is_joined_first() -> None:
    vocabulary = {"▁": 0, "a": 1, "b": 2, "c": 3, "bc": 4, "ab": 5, "▁a": 6}
    assert cut_word("abc", vocabulary) == (6, 4)


def test_texts_alike_are_nearer_than_texts_unlike(static: StaticEmbedder) -> None:
    dog, puppy, tax = static.embed_documents(
        ["the dog ran home", "a puppy runs to its house", "income tax form"]
    )
    assert dog @ puppy > dog @ tax


def test_a_weight_counts(static: StaticEmbedder) -> None:
    vector = static.embed_weighted([("tax", 1.0), ("dog", 0.0)])
    assert np.allclose(vector, static.embed_query("tax"), atol=1e-5)


def test_it_is_an_embedder_with_pieces(static: StaticEmbedder) -> None:
    assert has_pieces(static)
    assert max(static.pieces("the whole vocabulary fits two bytes")) < 65_536


def test_files_that_are_not_there_are_an_error_of_the_embedder(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError):
        StaticEmbedder(tmp_path).embed_documents(["text"])


def test_a_damaged_table_is_an_error_of_the_embedder(tmp_path: Path, static: StaticEmbedder) -> None:
    for name in ("weights", "tokenizers"):
        (tmp_path / name).mkdir()
    (tmp_path / "weights" / "l2_supercat_256.safetensors").write_bytes(b"\x05\0\0\0\0\0\0\0nonsense")
    (tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(EmbedderError):
        StaticEmbedder(tmp_path).embed_documents(["text"])
