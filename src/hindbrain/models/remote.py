"""Embedders behind HTTP: a provider is a request shape and a response shape over the one client.

Owns what each service wants to hear and how it answers. Knows nothing of settings files, the environment
or the choice between providers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import ConfigError, EmbedderDown, EmbedderError, ModelDown, ModelError
from hindbrain.models.embedder import Role, batches, no_vectors, normalised, prepared
from hindbrain.models.http import Credential, HttpClient, authority, checked_url
from hindbrain.models.prompts import NO_PROMPTS, Prompts, bare_model, prompts_for

if TYPE_CHECKING:
    from hindbrain.models.embedder import EmbeddingSettings, Vectors

_MAX_TEXT_CHARS = 6_000  # no usual model reads more than 8,192 tokens, and OpenAI refuses more
_QUERY_TIMEOUT_S = 10.0  # somebody waits; a model that must be loaded first may take some seconds
_REST_S = 30.0  # after a service was down, queries do not ask it again for this long


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, before it has a shape."""

    model: str
    texts: Sequence[str]  # with their prompts
    role: Role
    dimension: int  # 0 is the model's own


@dataclass(frozen=True, slots=True)
class Provider:
    """A service: where it is, what it takes, and its two shapes."""

    name: str
    url: str
    model: str  # the usual one, at the service's own address
    key_name: str  # what its key is called in the environment; "" when it has none
    key_header: str
    key_prefix: str
    max_texts: int  # a request
    max_chars: int  # a request; kept below the service's limit in tokens at one character a token
    request: Callable[[Ask], tuple[str, object]]  # path below the address, payload
    response: Callable[[Any], list[Any]]  # rows in the order of the texts; any shape error may escape
    prompts: Callable[[str], Prompts]


class RemoteEmbedder:
    """One model of one service. Batches go one after the other: a service's rate limit is the bottleneck."""

    def __init__(
        self,
        provider: Provider,
        settings: EmbeddingSettings,
        client: HttpClient,
        credential: Credential | None = None,
    ) -> None:
        self._provider = provider
        self._settings = settings
        self._client = client
        self._credential = credential
        self._url = service_url(provider, settings.base_url)
        self._model = settings.model or _usual_model(provider, self._url)
        self._prompts = provider.prompts(self._model)
        self._dim = settings.dimension
        self._rests_until = float("-inf")
        self.name = _name(provider, self._url, self._model, settings.dimension, self._prompts)

    @property
    def dim(self) -> int:
        if not self._dim:
            self._embed("document", ["dimension"], retries=0)
        return self._dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if not texts:
            return no_vectors(self._dim)
        ready = [prepared(text, self._prompts.document, _MAX_TEXT_CHARS) for text in texts]
        count = max(1, min(self._settings.batch_size, self._provider.max_texts))
        retries = self._settings.max_retries
        cuts = batches(ready, max_count=count, max_chars=self._provider.max_chars)
        return np.concatenate([self._embed("document", batch, retries=retries) for batch in cuts])

    def embed_query(self, text: str) -> Vectors:
        """Tried once. After the service was down, fails at once for a while instead of waiting again."""
        now = self._client.timing.monotonic()
        if now < self._rests_until:
            raise EmbedderDown(
                f"{authority(self._url)!r} was down a moment ago; it is asked again in "
                f"{self._rests_until - now:.0f} s"
            )
        ready = prepared(text, self._prompts.query, _MAX_TEXT_CHARS)
        vector: Vectors = self._embed("query", [ready], retries=0)[0]
        return vector

    def close(self) -> None:
        self._client.close()

    def _embed(self, role: Role, texts: Sequence[str], *, retries: int) -> Vectors:
        timeout_s = self._settings.timeout_s
        path, payload = self._provider.request(Ask(self._model, texts, role, self._settings.dimension))
        try:
            answer = self._client.post_json(
                self._url + path,
                payload,
                timeout_s=min(timeout_s, _QUERY_TIMEOUT_S) if role == "query" else timeout_s,
                retries=retries,
                credential=self._credential,
            )
        except ModelDown as error:
            self._rests_until = self._client.timing.monotonic() + _REST_S
            raise EmbedderDown(str(error)) from error
        except ModelError as error:
            raise EmbedderError(str(error), status=error.status) from error
        self._rests_until = float("-inf")
        rows = _rows(self._provider, answer, self.name)
        if len(rows) != len(texts):
            raise EmbedderError(
                f"{self.name!r} gave {len(rows)} vectors for {len(texts)} texts; nothing was stored"
            )
        vectors = normalised(rows, self._dim, source=self.name)
        self._dim = int(vectors.shape[1])  # what comes later must agree with this
        return vectors


def service_url(provider: Provider, base_url: str) -> str:
    """The address that paths are put behind: a user may write it with or without its usual tail."""
    if not base_url:
        return provider.url
    url = checked_url(base_url)
    if provider.name == "ollama":
        return url.removesuffix("/v1").removesuffix("/api").rstrip("/")
    if url.count("/") == 2:  # scheme://host: every service but Ollama has its version below that
        return url + "/" + provider.url.rpartition("/")[2]
    return url


def _usual_model(provider: Provider, url: str) -> str:
    if url != provider.url and provider.name == "openai":
        # Any server speaks this shape with any model; guessing would mix two models' vectors under one name.
        raise ConfigError(f"no model is named for {authority(url)!r}; set embedding model")
    return provider.model


def _name(provider: Provider, url: str, model: str, dimension: int, prompts: Prompts) -> str:
    """The cache key's part. The address counts only where it decides which model answers to a name."""
    place = f"({authority(url)})" if provider.name == "openai" and url != provider.url else ""
    size = f"@{dimension}" if dimension else ""
    return f"{provider.name}{place}/{bare_model(model)}{size}{prompts.tag()}"


def _rows(provider: Provider, answer: Any, source: str) -> list[Any]:
    try:
        rows = provider.response(answer)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise EmbedderError(
            f"{source!r} answered in a shape that {provider.name} does not use; check provider and base_url"
        ) from error
    if not isinstance(rows, list):
        raise EmbedderError(f"{source!r} sent no list of vectors; check provider and base_url")
    return rows


def _indexed_rows(answer: Any) -> list[Any]:
    """OpenAI's answer: rows carry their place, and need not come in order."""
    items = answer["data"]
    places = [item.get("index", place) for place, item in enumerate(items)]
    if sorted(places) != list(range(len(items))):
        raise ValueError("the places of the vectors are not 0 to n-1")
    ordered = sorted(zip(places, items, strict=True), key=lambda pair: int(pair[0]))
    return [item["embedding"] for _, item in ordered]


def _openai_request(ask: Ask) -> tuple[str, object]:
    payload: dict[str, object] = {"model": ask.model, "input": list(ask.texts), "encoding_format": "float"}
    if ask.dimension:
        payload["dimensions"] = ask.dimension
    return "/embeddings", payload


def _ollama_request(ask: Ask) -> tuple[str, object]:
    payload: dict[str, object] = {"model": ask.model, "input": list(ask.texts)}
    if ask.dimension:
        payload["dimensions"] = ask.dimension
    return "/api/embed", payload


def _gemini_request(ask: Ask) -> tuple[str, object]:
    model = "models/" + ask.model.removeprefix("models/")
    shared: dict[str, object] = {"model": model}
    if _has_task_types(ask.model):
        shared["taskType"] = "RETRIEVAL_QUERY" if ask.role == "query" else "RETRIEVAL_DOCUMENT"
    if ask.dimension:
        shared["outputDimensionality"] = ask.dimension
    requests = [{**shared, "content": {"parts": [{"text": text}]}} for text in ask.texts]
    return f"/{model}:batchEmbedContents", {"requests": requests}


def _has_task_types(model: str) -> bool:
    return prompts_for(model) == NO_PROMPTS  # Gemini's later models want prompts in their place


def _voyage_request(ask: Ask) -> tuple[str, object]:
    payload: dict[str, object] = {"model": ask.model, "input": list(ask.texts), "input_type": ask.role}
    if ask.dimension:
        payload["output_dimension"] = ask.dimension
    return "/embeddings", payload


OPENAI = Provider(
    name="openai",
    url="https://api.openai.com/v1",
    model="text-embedding-3-small",
    key_name="OPENAI_API_KEY",
    key_header="Authorization",
    key_prefix="Bearer ",
    max_texts=2_048,
    max_chars=200_000,  # 300,000 tokens a request
    request=_openai_request,
    response=_indexed_rows,
    prompts=prompts_for,
)
OLLAMA = Provider(
    name="ollama",
    url="http://127.0.0.1:11434",
    model="nomic-embed-text",
    key_name="",
    key_header="Authorization",
    key_prefix="Bearer ",
    max_texts=100,
    max_chars=60_000,  # a processor without help needs a while for this, within the usual time-out
    request=_ollama_request,
    response=lambda answer: answer["embeddings"],
    prompts=prompts_for,
)
GEMINI = Provider(
    name="gemini",
    url="https://generativelanguage.googleapis.com/v1beta",
    model="gemini-embedding-001",
    key_name="GEMINI_API_KEY",
    key_header="x-goog-api-key",  # in the address it would end up in other people's logs
    key_prefix="",
    max_texts=100,  # "at most 100 requests can be in one batch"
    max_chars=200_000,
    request=_gemini_request,
    response=lambda answer: [item["values"] for item in answer["embeddings"]],
    prompts=prompts_for,
)
VOYAGE = Provider(
    name="voyage",
    url="https://api.voyageai.com/v1",
    model="voyage-3.5",
    key_name="VOYAGE_API_KEY",
    key_header="Authorization",
    key_prefix="Bearer ",
    max_texts=1_000,
    max_chars=100_000,  # 120,000 tokens a request for the largest models
    request=_voyage_request,
    response=_indexed_rows,
    prompts=lambda _model: NO_PROMPTS,  # input_type says it
)
PROVIDERS = {provider.name: provider for provider in (OPENAI, OLLAMA, GEMINI, VOYAGE)}
