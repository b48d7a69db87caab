"""What a chat model is: messages in, one text out; and which one the settings mean.

Knows nothing of HTTP or of any service's shapes. A key in the environment is never a reason to send a
conversation anywhere: without a provider in the settings there is no chat model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from hindbrain.base.errors import ConfigError, HindbrainError, ModelError

if TYPE_CHECKING:
    from hindbrain.models.http import Timing

ChatRole: TypeAlias = Literal["system", "user", "assistant"]

# The key that a user sets for the base_url of the chat settings. It goes there and nowhere else.
OWN_KEY = "HINDBRAIN_CHAT_KEY"


class ChatMessage(NamedTuple):
    role: ChatRole
    text: str


class ChatModel(Protocol):
    """Answers a conversation. What it says is a stranger's word: callers check it."""

    @property
    def name(self) -> str:
        """For people: "openai/gpt-4o-mini"."""
        ...

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, object] | None = None,
        max_tokens: int = 1024,
    ) -> str:
        """The whole answer, never a cut one. With a JSON `schema`, the answer is asked to follow it.

        ModelDown: not reachable, too slow. ModelError: it refused, or there was no room for the answer.
        """
        ...


class ChatSettings(NamedTuple):
    """Which chat model to use. Keys are not settings."""

    provider: str = ""  # "" is none
    model: str = ""
    base_url: str = ""  # "" is the provider's own address
    timeout_s: float = 60.0  # one request
    max_retries: int = 1  # after the first try


def make_chat(
    settings: ChatSettings, keys: Mapping[str, str], *, timing: Timing | None = None
) -> ChatModel | None:
    """The chat model that the settings mean; None when they name no provider. Nothing is sent here.

    Raises ConfigError for a provider that is not known, and where a model's name or a key is missing.
    """
    if settings.provider in ("", "none"):
        return None
    from hindbrain.models.chat_remote import SERVICES, RemoteChat, credential_for
    from hindbrain.models.http import HttpClient

    service = SERVICES.get(settings.provider)
    if service is None:
        known = ", ".join(SERVICES)
        raise ConfigError(f"no chat provider is called {settings.provider!r}; use one of: {known}")
    if not settings.model:
        raise ConfigError(f"no model is named for the chat provider {settings.provider!r}; set chat.model")
    if not 0 < settings.timeout_s <= 3600 or settings.max_retries < 0:
        raise ConfigError("a chat model's time-out is between 0 and 3600 seconds, its retries are 0 or more")
    credential = credential_for(service, settings.base_url, keys)
    return RemoteChat(service, settings, HttpClient(timing=timing), credential)


def ask(
    chat: ChatModel,
    messages: Sequence[ChatMessage],
    *,
    schema: Mapping[str, object] | None = None,
    max_tokens: int,
) -> str:
    """As `complete`; whatever an adapter throws is a ModelError, so that it never costs a memory."""
    try:
        return chat.complete(messages, schema=schema, max_tokens=max_tokens)
    except HindbrainError:
        raise
    except Exception as error:
        raise ModelError(f"{chat.name!r} failed with {type(error).__name__}") from error
