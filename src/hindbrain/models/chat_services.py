"""The chat services: where each is, how it is spoken to, and which key goes there.

Knows nothing of sending. Keys come in from the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hindbrain.base.errors import ConfigError
from hindbrain.models.chat import OWN_KEY
from hindbrain.models.chat_anthropic import ANTHROPIC_SHAPE
from hindbrain.models.chat_gemini import GEMINI_SHAPE
from hindbrain.models.chat_openai import OPENAI_SHAPE
from hindbrain.models.chat_shape import Shape
from hindbrain.models.http import Credential, Secret, authority, checked_url


class Service(NamedTuple):
    """Where a provider is, how it is spoken to, and what its key is called."""

    name: str
    url: str
    shape: Shape
    key_names: tuple[str, ...] = ()  # in the environment, the first that is set; none when it has no key
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = {}


OPENAI = Service("openai", "https://api.openai.com/v1", OPENAI_SHAPE, ("OPENAI_API_KEY",))
ANTHROPIC = Service(
    "anthropic",
    "https://api.anthropic.com/v1",
    ANTHROPIC_SHAPE,
    ("ANTHROPIC_API_KEY",),
    "x-api-key",
    "",
    {"anthropic-version": "2023-06-01"},
)
GEMINI = Service(
    "gemini",
    "https://generativelanguage.googleapis.com/v1beta",
    GEMINI_SHAPE,
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "x-goog-api-key",  # in the address it would end up in other people's logs
    "",
)
OLLAMA = Service("ollama", "http://127.0.0.1:11434/v1", OPENAI_SHAPE)
SERVICES = {service.name: service for service in (OPENAI, ANTHROPIC, GEMINI, OLLAMA)}


def chat_url(service: Service, base_url: str) -> str:
    """The address that paths are put behind; a bare host, and Ollama's own address, get their version."""
    if not base_url:
        return service.url
    url = checked_url(base_url).removesuffix("/chat/completions").removesuffix("/messages")
    if url.count("/") == 2:
        return url + "/" + service.url.rpartition("/")[2]
    return url.removesuffix("/api") + "/v1" if service is OLLAMA and not url.endswith("/v1") else url


def credential_for(service: Service, base_url: str, keys: Mapping[str, str]) -> Credential | None:
    """The key set for the settings' address, else the provider's own, which goes to its own address only.

    ConfigError when a provider's own address is meant and there is no key for it.
    """
    url = chat_url(service, base_url)
    own = bool(service.key_names) and authority(url) == authority(service.url)
    value = keys.get(OWN_KEY, "") if base_url or not own else ""
    if not value and own:
        value = next((keys[name] for name in service.key_names if keys.get(name)), "")
        if not value:
            raise ConfigError(
                f"{service.name} needs a key; set {service.key_names[0]} or use another chat.provider"
            )
    if not value:
        return None
    return Credential(Secret(value.strip(), authority(url)), service.key_header, service.key_prefix)
