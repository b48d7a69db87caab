import subprocess
import sys

import pytest

from hindbrain.base.errors import ConfigError, EmbedderDown
from hindbrain.models.embedder import Embedder, EmbeddingSettings
from hindbrain.models.fake import FakeEmbedder
from hindbrain.models.remote import PROVIDERS
from hindbrain.models.select import OWN_KEY, PROVIDER_NAMES, accepts_connection, choose, make_embedder

KEYS = {"OPENAI_API_KEY": "sk-open", "GEMINI_API_KEY": "gem", "VOYAGE_API_KEY": "pa-voy"}


def chosen(keys=None, *, listening=True, **settings):
    return choose(EmbeddingSettings(**settings), keys or {}, probe=lambda _url: listening)


def test_every_provider_can_be_named():
    assert set(PROVIDERS) <= set(PROVIDER_NAMES)


def test_keys_in_the_environment_alone_never_choose_a_service():
    def probe(url):
        raise AssertionError("nothing may be asked")

    assert choose(EmbeddingSettings(), {**KEYS, OWN_KEY: "x"}, probe=probe).provider == "builtin"


@pytest.mark.parametrize(
    ("settings", "provider"),
    [
        ({"model": "text-embedding-3-large"}, "openai"),
        ({"model": "gemini-embedding-001"}, "gemini"),
        ({"model": "voyage-3.5"}, "voyage"),
        ({"model": "nomic-embed-text"}, "ollama"),
        ({"base_url": "https://api.openai.com/v1"}, "openai"),
        ({"base_url": "https://generativelanguage.googleapis.com"}, "gemini"),
        ({"base_url": "https://api.voyageai.com/v1", "model": "voyage-3.5"}, "voyage"),
        ({"base_url": "http://localhost:11434"}, "ollama"),
        ({"base_url": "http://gpu:11434/v1", "model": "m"}, "openai"),
        ({"base_url": "http://127.0.0.1:1234/v1", "model": "text-embedding-nomic"}, "openai"),
        ({"base_url": "https://embed.example.org/v1", "model": "m"}, "openai"),
    ],
)
def test_auto_takes_the_service_that_the_settings_name(settings, provider):
    choice = chosen(KEYS, **settings)
    assert choice.provider == provider
    assert not choice.fell_back


def test_auto_falls_back_and_says_so_when_a_local_service_does_not_answer():
    choice = chosen(model="nomic-embed-text", listening=False)
    assert (choice.provider, choice.fell_back) == ("builtin", True)


def test_auto_falls_back_and_says_so_without_the_key_of_a_public_service():
    choice = chosen({"VOYAGE_API_KEY": "x"}, model="text-embedding-3-small")
    assert (choice.provider, choice.fell_back) == ("builtin", True)


def test_auto_does_not_swap_the_embedder_because_the_network_is_away():
    assert chosen(KEYS, model="text-embedding-3-small", listening=False).provider == "openai"


def test_auto_takes_a_model_folder(tmp_path):
    assert chosen(path=str(tmp_path)).provider == "sentence-transformers"
    (tmp_path / "model.onnx").write_bytes(b"x")
    assert chosen(path=str(tmp_path)).provider == "onnx"


def made(settings: EmbeddingSettings, environ: dict[str, str]) -> Embedder:
    embedder = make_embedder(settings, environ)
    assert embedder is not None
    return embedder


def test_a_named_provider_never_falls_back(closed_url):
    settings = EmbeddingSettings("ollama", base_url=closed_url, max_retries=0)
    embedder = made(settings, {})
    with pytest.raises(EmbedderDown):
        embedder.embed_documents(["a"])


@pytest.mark.parametrize("provider", ["openai", "gemini", "voyage"])
def test_a_named_public_service_needs_its_key(provider):
    with pytest.raises(ConfigError):
        make_embedder(EmbeddingSettings(provider), {})


def test_googles_other_name_for_its_key_is_known():
    assert make_embedder(EmbeddingSettings("gemini"), {"GOOGLE_API_KEY": "x"}) is not None


@pytest.mark.promise("P25")
@pytest.mark.parametrize("provider", ["openai", "ollama", "gemini", "voyage"])
def test_a_provider_s_key_does_not_go_to_another_address(service, provider):
    settings = EmbeddingSettings(provider, model="m", base_url=service.url)
    made(settings, KEYS).embed_query("q")
    assert all(key not in str(service.seen[0].headers) for key in KEYS.values())


@pytest.mark.parametrize("provider", ["openai", "ollama", "gemini", "voyage"])
def test_the_key_set_for_an_address_goes_there(service, provider):
    settings = EmbeddingSettings(provider, model="m", base_url=service.url)
    made(settings, {**KEYS, OWN_KEY: " own-key\n"}).embed_query("q")
    assert "own-key" in str(service.seen[0].headers)


def test_the_key_set_for_an_address_does_not_go_to_a_provider():
    with pytest.raises(ConfigError):
        make_embedder(EmbeddingSettings("openai"), {OWN_KEY: "own-key"})


def test_auto_works_end_to_end_with_a_local_service(service):
    embedder = made(EmbeddingSettings(base_url=service.url, model="m"), {})
    assert embedder.embed_documents(["a", "b"]).shape == (2, embedder.dim)


def test_a_probe_tells_an_open_port_from_a_closed_one_and_sends_nothing(service, closed_url):
    assert accepts_connection(service.url)
    assert not accepts_connection(closed_url)
    assert service.seen == []


def test_none_is_no_embedder_and_fake_is_the_fake():
    assert make_embedder(EmbeddingSettings("none"), {}) is None
    embedder = make_embedder(EmbeddingSettings("fake", dimension=12), {})
    assert isinstance(embedder, FakeEmbedder)
    assert embedder.dim == 12


def test_the_built_in_needs_nothing():
    pytest.importorskip("hindbrain.models.static", reason="the built-in embedder is not there yet")
    embedder = made(EmbeddingSettings(), {})
    assert embedder.embed_query("hello world").shape == (embedder.dim,)


@pytest.mark.parametrize(
    "settings",
    [
        {"provider": "chatgpt"},
        {"provider": "fake", "dimension": -1},
        {"provider": "fake", "batch_size": 0},
        {"provider": "fake", "max_retries": -1},
        {"provider": "fake", "timeout_s": 0.0},
        {"provider": "fake", "timeout_s": float("nan")},
        {"base_url": "ftp://host"},
        {"provider": "openai", "base_url": "not an address", "model": "m"},
        {"provider": "onnx"},
    ],
)
def test_settings_that_can_t_work_are_refused(settings):
    with pytest.raises(ConfigError):
        make_embedder(EmbeddingSettings(**settings), KEYS)


def test_choosing_the_built_in_imports_nothing_heavy():
    code = (
        "import sys; from hindbrain.models.select import choose; "
        "from hindbrain.models.embedder import EmbeddingSettings; choose(EmbeddingSettings(), {}); "
        "print([m for m in ('numpy', 'httpx', 'asyncio', 'logging', 'socket', 'json') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.strip() == "[]"
