"""Chat models behind HTTP that speak OpenAI's chat/completions, as most servers do.

Owns that request and that answer. A server that does not know JSON schemas is asked for any JSON, then for
plain text; what it can do is remembered. Knows nothing of settings files or the environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.errors import ConfigError, ModelError
from hindbrain.models.chat import OWN_KEY
from hindbrain.models.http import Credential, HttpClient, Secret, authority, checked_url

if TYPE_CHECKING:
    from hindbrain.models.chat import ChatMessage, ChatSettings

_FORMATS = ("schema", "object", "plain")  # from the strictest; a server that refuses one gets the next
_NOT_UNDERSTOOD = (400, 422, 501)


class Service(NamedTuple):
    """Where a provider is, and what its key is called."""

    name: str
    url: str
    key_name: str = ""  # "" when it has none


OPENAI = Service("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
OLLAMA = Service("ollama", "http://127.0.0.1:11434/v1")
SERVICES = {service.name: service for service in (OPENAI, OLLAMA)}


class RemoteChat:
    """One model of one service."""

    def __init__(
        self,
        service: Service,
        settings: ChatSettings,
        client: HttpClient,
        credential: Credential | None = None,
    ) -> None:
        self._settings = settings
        self._client = client
        self._credential = credential
        self._url = chat_url(service, settings.base_url)
        self._is_openai = authority(self._url) == authority(OPENAI.url)
        self._formats = list(_FORMATS)  # those that this server has not refused
        place = "" if self._url == service.url else f"({authority(self._url)})"
        self.name = f"{service.name}{place}/{settings.model}"

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, object] | None = None,
        max_tokens: int = 1024,
    ) -> str:
        if schema is None:
            return self._ask(self._payload(messages, max_tokens))
        while True:
            payload = self._payload(messages, max_tokens) | _response_format(self._formats[0], schema)
            try:
                return self._ask(payload)
            except ModelError as error:
                if error.status not in _NOT_UNDERSTOOD or len(self._formats) == 1:
                    raise
            self._formats.pop(0)

    def close(self) -> None:
        self._client.close()

    def _payload(self, messages: Sequence[ChatMessage], max_tokens: int) -> dict[str, object]:
        payload: dict[str, object] = {
            "model": self._settings.model,
            "messages": [{"role": message.role, "content": _whole(message.text)} for message in messages],
        }
        # OpenAI's reasoning models refuse the older name, and any temperature of one's own.
        if self._is_openai:
            return payload | {"max_completion_tokens": max_tokens}
        return payload | {"max_tokens": max_tokens, "temperature": 0}

    def _ask(self, payload: dict[str, object]) -> str:
        answer = self._client.post_json(
            self._url + "/chat/completions",
            payload,
            timeout_s=self._settings.timeout_s,
            retries=self._settings.max_retries,
            credential=self._credential,
        )
        return _text_of(answer, self.name)


def chat_url(service: Service, base_url: str) -> str:
    """The address that paths are put behind; a bare host, and Ollama's own address, get their "/v1"."""
    if not base_url:
        return service.url
    url = checked_url(base_url).removesuffix("/chat/completions")
    if url.count("/") == 2:
        return url + "/v1"
    return url.removesuffix("/api") + "/v1" if service is OLLAMA and not url.endswith("/v1") else url


def credential_for(service: Service, base_url: str, keys: Mapping[str, str]) -> Credential | None:
    """The key set for the settings' address, else the provider's own, which goes to its own address only.

    ConfigError when a provider's own address is meant and there is no key for it.
    """
    url = chat_url(service, base_url)
    own = bool(service.key_name) and authority(url) == authority(service.url)
    value = keys.get(OWN_KEY, "") if base_url or not own else ""
    if not value and own:
        value = keys.get(service.key_name, "")
        if not value:
            raise ConfigError(
                f"{service.name} needs a key; set {service.key_name} or use another chat.provider"
            )
    return Credential(Secret(value.strip(), authority(url))) if value else None


def _response_format(kind: str, schema: Mapping[str, object]) -> dict[str, object]:
    if kind == "schema":
        named = {"name": "answer", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"response_format": {"type": "json_object"}} if kind == "object" else {}


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _text_of(answer: Any, name: str) -> str:
    """The text of an answer; ModelError for another shape, a refusal, or an answer that was cut."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ModelError(
            f"{name!r} answered in a shape that is not chat/completions; check base_url"
        ) from error
    if refusal:
        raise ModelError(f"{name!r} refused to answer")
    if choice.get("finish_reason") == "length":
        raise ModelError(f"{name!r} ran out of tokens before its answer was whole; allow it more")
    if not isinstance(text, str):
        raise ModelError(f"{name!r} answered without a text")
    return text
