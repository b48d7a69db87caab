import pytest

from hindbrain.models.prompts import NO_PROMPTS, bare_model, prompts_for


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("mxbai-embed-large:latest", "Represent this sentence for searching relevant passages: ", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("e5-small-v2", "query: ", "passage: "),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        (
            "snowflake-arctic-embed:335m",
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-large", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
    ],
)
def test_a_known_model_gets_its_own_words(model, query, document):
    prompts = prompts_for(model)
    assert (prompts.of("query"), prompts.of("document")) == (query, document)


@pytest.mark.parametrize(
    "model", ["text-embedding-3-small", "bge-m3", "all-minilm", "gte-large", "", "model5"]
)
def test_other_models_get_none(model):
    assert prompts_for(model) == NO_PROMPTS
    assert prompts_for(model).tag() == ""


def test_an_instructed_e5_is_not_taken_for_a_plain_one():
    prompts = prompts_for("multilingual-e5-large-instruct")
    assert prompts.query.startswith("Instruct: ")
    assert prompts.document == ""


def test_other_prompts_have_another_tag():
    assert prompts_for("nomic-embed-text").tag() != prompts_for("embeddinggemma").tag()


def test_the_default_tag_does_not_make_another_model():
    assert bare_model("nomic-embed-text:latest") == bare_model("nomic-embed-text")
