import math

import numpy as np
import pytest
from loopback_service import DIM, Answer, vector_of

from hindbrain.base.errors import ConfigError, EmbedderDown, EmbedderError, EmbedderMismatch
from hindbrain.models.embedder import EmbeddingSettings
from hindbrain.models.http import Credential, HttpClient, Secret, authority
from hindbrain.models.remote import PROVIDERS, RemoteEmbedder

KEY = "sk-very-secret-0123456789"
MODELS = {
    "openai": "text-embedding-3-small",
    "ollama": "all-minilm",
    "gemini": "gemini-embedding-001",
    "voyage": "voyage-3.5",
}
everywhere = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture
def make(service, fake_time):
    made = []

    def make(provider="openai", *, with_key=False, **settings):
        settings = {"model": MODELS[provider], "base_url": service.url, "timeout_s": 5.0, **settings}
        shape = PROVIDERS[provider]
        secret = Secret(KEY, authority(settings["base_url"]))
        credential = Credential(secret, shape.key_header, shape.key_prefix) if with_key else None
        client = HttpClient(timing=fake_time.timing())
        made.append(RemoteEmbedder(shape, EmbeddingSettings(provider, **settings), client, credential))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def unit(text, dim=DIM):
    row = np.array(vector_of(text, dim))
    return row / np.linalg.norm(row)


@everywhere
def test_texts_come_back_in_order_at_length_one(make, provider):
    texts = [f"text {n}" for n in range(7)]
    vectors = make(provider, batch_size=3).embed_documents(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [unit(text) for text in texts], rtol=1e-5)


@everywhere
def test_a_query_is_one_vector(make, provider):
    np.testing.assert_allclose(make(provider).embed_query("where?"), unit("where?"), rtol=1e-5)


@everywhere
def test_batches_keep_to_the_configured_count(make, service, provider):
    make(provider, batch_size=3).embed_documents([str(n) for n in range(7)])
    assert len(service.seen) == 3


def test_a_provider_s_own_limit_wins_over_the_configured_count(make, service):
    make("gemini", batch_size=5000).embed_documents([str(n) for n in range(150)])
    assert [len(seen.payload["requests"]) for seen in service.seen] == [100, 50]


def test_batches_keep_to_a_number_of_characters(make, service):
    make("ollama", batch_size=100).embed_documents(["x" * 5000] * 25)
    assert all(sum(map(len, seen.payload["input"])) <= 60_000 for seen in service.seen)
    assert sum(len(seen.payload["input"]) for seen in service.seen) == 25


@everywhere
def test_no_texts_ask_nothing(make, service, provider):
    assert len(make(provider).embed_documents([])) == 0
    assert service.seen == []


@everywhere
def test_blank_broken_and_endless_texts_do_not_fail_their_batch(make, provider):
    assert make(provider).embed_documents(["", "  \n", "a\ud800b", "y" * 100_000, "ok"]).shape == (5, DIM)


@everywhere
def test_the_dimension_is_found_by_asking_once(make, service, provider):
    embedder = make(provider)
    assert (embedder.dim, embedder.dim) == (DIM, DIM)
    assert len(service.seen) == 1


@everywhere
def test_a_name_is_known_without_asking(make, service, provider, closed_url):
    assert MODELS[provider] in make(provider, base_url=closed_url).name


def test_what_gives_other_vectors_has_another_name(make, closed_url):
    names = [
        make("openai").name,
        make("openai", base_url=closed_url).name,  # a server may call any model by any name
        make("openai", model="other").name,
        make("openai", dimension=4).name,
        make("ollama").name,
        make("ollama", model="nomic-embed-text").name,
    ]
    assert len(set(names)) == len(names)


def test_a_model_of_ollama_has_one_name_wherever_it_runs(make, closed_url):
    assert make("ollama").name == make("ollama", base_url=closed_url, model="all-minilm:latest").name


def test_openai_s_name_and_its_cache_key_are_plain():
    embedder = RemoteEmbedder(PROVIDERS["openai"], EmbeddingSettings(dimension=1536), HttpClient())
    assert embedder.name == "openai/text-embedding-3-small@1536"


def test_a_server_of_unknown_make_needs_a_model_name(make):
    with pytest.raises(ConfigError):
        make("openai", model="")


def test_openai_is_asked_in_its_shape(make, service):
    make("openai", with_key=True, dimension=DIM).embed_query("q")
    (seen,) = service.seen
    assert seen.path == "/v1/embeddings"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.payload == {
        "model": "text-embedding-3-small",
        "input": ["q"],
        "encoding_format": "float",
        "dimensions": DIM,
    }


def test_a_dimension_is_asked_for_only_when_it_is_set(make, service):
    make("openai").embed_query("q")
    assert "dimensions" not in service.seen[0].payload


def test_ollama_is_asked_in_its_shape_with_the_model_s_prompts(make, service):
    embedder = make("ollama", model="nomic-embed-text", base_url=service.url + "/api/")
    embedder.embed_documents(["d"])
    embedder.embed_query("q")
    assert [seen.path for seen in service.seen] == ["/api/embed", "/api/embed"]
    assert [seen.payload["input"] for seen in service.seen] == [["search_document: d"], ["search_query: q"]]
    assert "authorization" not in service.seen[0].headers


def test_an_openai_like_server_gets_the_prompts_of_its_model(make, service):
    make("openai", model="intfloat/e5-base-v2").embed_documents(["d"])
    assert service.seen[0].payload["input"] == ["passage: d"]


def test_gemini_is_asked_in_its_shape_with_the_key_in_a_header(make, service):
    embedder = make("gemini", with_key=True, dimension=DIM)
    embedder.embed_documents(["d"])
    embedder.embed_query("q")
    document, query = service.seen
    assert document.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert document.headers["x-goog-api-key"] == KEY
    assert document.payload == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "taskType": "RETRIEVAL_DOCUMENT",
                "outputDimensionality": DIM,
                "content": {"parts": [{"text": "d"}]},
            }
        ]
    }
    assert query.payload["requests"][0]["taskType"] == "RETRIEVAL_QUERY"


def test_a_later_gemini_gets_prompts_in_place_of_task_types(make, service):
    make("gemini", model="gemini-embedding-2").embed_query("q")
    (request,) = service.seen[0].payload["requests"]
    assert "taskType" not in request
    assert request["content"]["parts"][0]["text"] == "task: search result | query: q"


def test_voyage_is_asked_in_its_shape(make, service):
    embedder = make("voyage", with_key=True, dimension=DIM)
    embedder.embed_documents(["d"])
    embedder.embed_query("q")
    assert [seen.path for seen in service.seen] == ["/v1/embeddings", "/v1/embeddings"]
    assert [seen.payload["input_type"] for seen in service.seen] == ["document", "query"]
    assert service.seen[0].payload["output_dimension"] == DIM


@pytest.mark.promise("P13")
@everywhere
@pytest.mark.parametrize("change", ["fewer", "more"])
def test_another_number_of_vectors_than_texts_is_refused(make, service, provider, change):
    embedder = make(provider)
    right = service.right

    def wrong(seen):
        answer = right(seen)
        rows = answer.get("data") or answer.get("embeddings")
        if change == "fewer":
            rows.pop(0)
        else:
            rows.append(dict(rows[0], index=len(rows)) if isinstance(rows[0], dict) else rows[0])
        return answer

    service.right = wrong
    with pytest.raises(EmbedderError):
        embedder.embed_documents(["a", "b", "c"])


@pytest.mark.parametrize("places", [[0, 0], [1, 2], [-1, 0], ["0", "1"], [None, 1], [0.5, 1]])
def test_vectors_whose_places_do_not_add_up_are_refused(make, service, places):
    data = [{"index": place, "embedding": [1.0, 2.0]} for place in places]
    service.next = [Answer(body={"data": data})]
    with pytest.raises(EmbedderError):
        make("openai").embed_documents(["a", "b"])


@pytest.mark.promise("P13")
@everywhere
@pytest.mark.parametrize("bad", [None, "NaN", math.nan, math.inf, [1.0], {}, True])
def test_a_vector_with_something_else_than_numbers_is_refused(make, service, provider, bad):
    row = [bad, *vector_of("a")[1:]]
    if bad is True:
        row = [True] * DIM
    shapes = {"ollama": {"embeddings": [row]}, "gemini": {"embeddings": [{"values": row}]}}
    service.next = [Answer(body=shapes.get(provider, {"data": [{"index": 0, "embedding": row}]}))]
    with pytest.raises(EmbedderError):
        make(provider).embed_documents(["a"])


@pytest.mark.promise("P13")
@everywhere
@pytest.mark.parametrize(
    "body", [{}, [], None, "x", 5, {"data": None}, {"embeddings": {}}, {"data": [5]}, [[1]]]
)
def test_an_answer_in_another_shape_is_refused(make, service, provider, body):
    service.next = [Answer(body=body)]
    with pytest.raises(EmbedderError) as raised:
        make(provider).embed_documents(["a"])
    assert raised.value.code == "embedder"


@pytest.mark.promise("P13")
@everywhere
def test_another_dimension_than_before_is_a_mismatch(make, service, provider):
    embedder = make(provider)
    embedder.embed_documents(["a"])
    service.dim = DIM + 1
    with pytest.raises(EmbedderMismatch):
        embedder.embed_documents(["b"])
    with pytest.raises(EmbedderMismatch):
        embedder.embed_query("b")


def test_another_dimension_than_configured_is_a_mismatch(make):
    with pytest.raises(EmbedderMismatch):
        make("ollama", dimension=768).embed_documents(["a"])


@pytest.mark.promise("P13")
def test_a_batch_that_fails_fails_the_whole_call(make, service):
    embedder = make("openai", batch_size=1, max_retries=0)
    service.next = [
        Answer(body={"data": [{"index": 0, "embedding": vector_of("a")}]}),
        Answer(status=500, body={}),
    ]
    with pytest.raises(EmbedderDown):
        embedder.embed_documents(["a", "b"])


def test_documents_are_tried_again_and_queries_are_not(make, service, fake_time):
    service.next = [Answer(status=500, body={}), Answer(status=500, body={})]
    embedder = make("openai", max_retries=3)
    embedder.embed_documents(["a"])
    assert len(fake_time.waits) == 2
    service.next = [Answer(status=500, body={})]
    with pytest.raises(EmbedderDown):
        embedder.embed_query("q")
    assert len(fake_time.waits) == 2


def test_while_a_service_is_down_queries_fail_at_once_and_then_it_is_asked_again(make, service, fake_time):
    embedder = make("openai")
    service.next = [Answer(status=503, body={})]
    with pytest.raises(EmbedderDown):
        embedder.embed_query("q")
    with pytest.raises(EmbedderDown):
        embedder.embed_query("q")
    assert len(service.seen) == 1
    fake_time.elapsed += 31
    embedder.embed_query("q")
    assert len(service.seen) == 2


def test_documents_that_get_through_end_the_rest_of_queries(make, service):
    embedder = make("openai")
    service.next = [Answer(status=503, body={})]
    with pytest.raises(EmbedderDown):
        embedder.embed_query("q")
    embedder.embed_documents(["a"])
    embedder.embed_query("q")


@pytest.mark.promise("P21")
@everywhere
@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_no_error_shows_the_key(make, service, provider, status):
    embedder = make(provider, with_key=True, max_retries=0)
    service.next = [Answer(status=status, body={"error": f"bad key {KEY}"})]
    with pytest.raises(EmbedderError) as raised:
        embedder.embed_documents(["a"])
    assert KEY not in repr(raised.value) + repr(raised.value.__cause__) + embedder.name
