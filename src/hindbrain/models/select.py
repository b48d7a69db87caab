"""Which embedder the settings mean.

Reads no environment: keys come in from the caller. The rule for `provider = "auto"`:

1. Nothing but settings chooses a service. A key in the environment is never a reason to send notes anywhere.
2. `path` names a folder: its model. Else `base_url` or `model` names a service; the provider follows from
   them (an own address of a provider, Ollama's port, a provider's model name; any other address speaks
   OpenAI's shape; any other model name is Ollama's, on this machine).
3. A service on this machine or network is used when something accepts a connection within half a second.
   A service elsewhere is used unless it is a provider's own and there is no key for it. It is not tried
   first, so that a train ride does not swap the embedder, and with it every vector: while it is down,
   search goes on by keywords.
4. Otherwise the built-in embedder.

A provider that is named is used or fails with its reason: only `auto` falls back.

The built-in embedder is on the way of every search from a cold start, so services are imported when meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindbrain.base.errors import ConfigError
from hindbrain.models.embedder import Embedder, EmbeddingSettings

if TYPE_CHECKING:
    from hindbrain.models.http import Credential, Timing
    from hindbrain.models.remote import Provider

# The key that a user sets for the base_url of the settings. It goes there and nowhere else.
OWN_KEY = "HINDBRAIN_EMBEDDING_KEY"
_ALSO_CALLED = {"GEMINI_API_KEY": ("GOOGLE_API_KEY",)}
_PROBE_S = 0.5
_OLLAMA_PORT = 11434
_SERVICES = ("openai", "ollama", "gemini", "voyage")
PROVIDER_NAMES = ("auto", "builtin", "onnx", "sentence-transformers", *_SERVICES, "fake", "none")
_BY_MODEL = (
    ("text-embedding-004", "gemini"),
    ("text-embedding-", "openai"),
    ("gemini-", "gemini"),
    ("models/gemini-", "gemini"),
    ("voyage-", "voyage"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A provider, and the reason in words for `status` and `doctor`."""

    provider: str  # never "auto"
    reason: str
    fell_back: bool = False  # auto wanted something else, which can't be used now


def make_embedder(
    settings: EmbeddingSettings,
    keys: Mapping[str, str],
    *,
    timing: Timing | None = None,
    probe: Callable[[str], bool] | None = None,
) -> Embedder | None:
    """The embedder that `settings` mean; None for "none". `keys` maps names such as OPENAI_API_KEY to keys.

    No note is sent here, and nothing is loaded; at most one connection is tried, by `auto`.
    """
    provider = choose(settings, keys, probe=probe).provider
    if provider in _SERVICES:
        return _remote(provider, settings, keys, timing)
    return _local(provider, settings)


def choose(
    settings: EmbeddingSettings, keys: Mapping[str, str], *, probe: Callable[[str], bool] | None = None
) -> Choice:
    """Decide the provider by the rule above."""
    _check(settings)
    if settings.provider != "auto":
        return Choice(settings.provider, "named in the settings")
    if settings.path:
        from hindbrain.models.local import has_onnx

        kind = "onnx" if has_onnx(settings.path) else "sentence-transformers"
        return Choice(kind, f"the settings name a model folder, {settings.path!r}")
    if not (settings.base_url or settings.model):
        return Choice("builtin", "the settings name no service")
    return _choose_service(settings, keys, probe or accepts_connection)


def _choose_service(
    settings: EmbeddingSettings, keys: Mapping[str, str], probe: Callable[[str], bool]
) -> Choice:
    from hindbrain.models.http import authority, is_nearby
    from hindbrain.models.remote import service_url

    provider = _meant_provider(settings)
    url = service_url(provider, settings.base_url)
    if not is_nearby(url):
        if _lacks_key(provider, settings, keys):
            return Choice("builtin", f"there is no key for {authority(url)!r}", fell_back=True)
        return Choice(provider.name, f"the settings name {authority(url)!r}")
    if not probe(url):
        return Choice("builtin", f"nothing answers at {authority(url)!r}", fell_back=True)
    return Choice(provider.name, f"the settings name {authority(url)!r}, which answers")


def accepts_connection(url: str) -> bool:
    """Does something listen at `url`, within half a second of its name being known? Sends nothing."""
    import socket
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=_PROBE_S):
            return True
    except OSError:
        return False


def _check(settings: EmbeddingSettings) -> None:
    if settings.provider not in PROVIDER_NAMES:
        known = ", ".join(PROVIDER_NAMES)
        raise ConfigError(f"no embedding provider is called {settings.provider!r}; use one of: {known}")
    if settings.dimension < 0 or settings.batch_size < 1 or settings.max_retries < 0:
        raise ConfigError("embedding dimension and max_retries can't be negative, batch_size is at least 1")
    if not 0 < settings.timeout_s <= 3600:
        raise ConfigError(f"embedding timeout_s {settings.timeout_s!r} is not between 0 and 3600 seconds")


def _meant_provider(settings: EmbeddingSettings) -> Provider:
    """The provider that an address or else a model's name belongs to."""
    from urllib.parse import urlsplit

    from hindbrain.models.http import authority, checked_url
    from hindbrain.models.remote import OLLAMA, OPENAI, PROVIDERS

    if not settings.base_url:
        starts = (name for start, name in _BY_MODEL if settings.model.startswith(start))
        return PROVIDERS[next(starts, "ollama")]
    url = checked_url(settings.base_url)
    parts = urlsplit(url)
    # Ollama also speaks OpenAI's shape below /v1; who writes that means it.
    if parts.port == _OLLAMA_PORT:
        return OPENAI if parts.path.startswith("/v1") else OLLAMA
    owners = (owner for owner in PROVIDERS.values() if authority(owner.url) == authority(url))
    return next(owners, OPENAI)


def _remote(
    name: str, settings: EmbeddingSettings, keys: Mapping[str, str], timing: Timing | None
) -> Embedder:
    from hindbrain.models.http import HttpClient
    from hindbrain.models.remote import PROVIDERS, RemoteEmbedder

    provider = PROVIDERS[name]
    if _lacks_key(provider, settings, keys):
        raise ConfigError(f"{name} needs a key; set {provider.key_name} or use another provider")
    return RemoteEmbedder(
        provider, settings, HttpClient(timing=timing), _credential(provider, settings, keys)
    )


def _lacks_key(provider: Provider, settings: EmbeddingSettings, keys: Mapping[str, str]) -> bool:
    """A provider's own address is of no use without a key; of another address we can't know."""
    from hindbrain.models.http import authority
    from hindbrain.models.remote import service_url

    own = authority(service_url(provider, settings.base_url)) == authority(provider.url)
    return own and bool(provider.key_name) and _credential(provider, settings, keys) is None


def _credential(
    provider: Provider, settings: EmbeddingSettings, keys: Mapping[str, str]
) -> Credential | None:
    """The key set for the settings' address, else the provider's own, which goes to its own address only."""
    from hindbrain.models.http import Credential, Secret, authority
    from hindbrain.models.remote import service_url

    url = service_url(provider, settings.base_url)
    value = keys.get(OWN_KEY, "") if settings.base_url else ""
    if not value and provider.key_name and authority(url) == authority(provider.url):
        names = (provider.key_name, *_ALSO_CALLED.get(provider.key_name, ()))
        value = next((keys[name] for name in names if keys.get(name)), "")
    if not value:
        return None
    return Credential(Secret(value.strip(), authority(url)), provider.key_header, provider.key_prefix)


def _local(provider: str, settings: EmbeddingSettings) -> Embedder | None:
    if provider == "none":
        return None
    if provider == "builtin":
        from hindbrain.models.static import load_static

        return load_static()
    if provider == "fake":
        from hindbrain.models.fake import FakeEmbedder

        return FakeEmbedder(settings.dimension or 256)
    from hindbrain.models.local import OnnxEmbedder, SentenceTransformersEmbedder

    kind = OnnxEmbedder if provider == "onnx" else SentenceTransformersEmbedder
    return kind(settings.path, batch_size=settings.batch_size, dimension=settings.dimension)
