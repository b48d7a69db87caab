"""What a chat model is: a conversation in, one answer out; and which one the settings mean.

Values and one Protocol. Knows nothing of HTTP or of any service's shapes. A key in the environment is never a
reason to send a conversation anywhere: without a provider in the settings there is no chat model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from hindbrain.base.errors import ConfigError, HindbrainError, ModelError

if TYPE_CHECKING:
    from hindbrain.models.http import Timing

ChatRole: TypeAlias = Literal["system", "user", "assistant", "tool"]
Stop: TypeAlias = Literal["end", "calls", "length", "refused", "finished"]

# The key that a user sets for the base_url of the chat settings. It goes there and nowhere else.
OWN_KEY = "HINDBRAIN_CHAT_KEY"


class Image(NamedTuple):
    """A picture that a message carries."""

    data: bytes
    kind: str = "image/png"


class ToolCall(NamedTuple):
    """A tool that the model wants to be called."""

    id: str  # pairs it with its result; unique within a conversation
    name: str
    arguments: Mapping[str, Any]  # as JSON has them; checked by whoever has the tool
    unreadable: str = ""  # what came instead of a JSON object; then there are no arguments
    sealed: str = ""  # the service's own, to be sent back with the call as it is: a thinking model's thoughts


class ChatMessage(NamedTuple):
    """One message. A tool's result has the role "tool" and names its call."""

    role: ChatRole
    text: str = ""
    images: tuple[Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()  # of an assistant
    call: str = ""  # of a tool's result: the id of its call
    tool: str = ""  # of a tool's result: which one answered; of a user's message: no person said it
    failed: bool = False  # of a tool's result: it is an error
    stable: bool = False  # all up to here is sent again as it is: a service may keep it ready


class ToolSpec(NamedTuple):
    """A tool as a model is told of it."""

    name: str
    doc: str
    schema: Mapping[str, Any]  # JSON schema of its arguments


class ChatRequest(NamedTuple):
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: Mapping[str, object] | None = None  # that the text of the answer is asked to follow
    max_tokens: int = 1024  # of the answer


class Usage(NamedTuple):
    """What an answer took."""

    sent: int = 0  # tokens of the request, those from the service's cache included
    cached: int = 0
    made: int = 0  # tokens of the answer
    cost: float = 0.0  # US dollars; 0 where nobody says

    def plus(self, other: Usage) -> Usage:
        return Usage(
            self.sent + other.sent, self.cached + other.cached, self.made + other.made, self.cost + other.cost
        )

    @property
    def tokens(self) -> int:
        return self.sent + self.made


def priced(usage: Usage, sent_price: float, made_price: float) -> Usage:
    """With its cost by the owner's prices, US$ for a million tokens; what the service says goes first."""
    cost = (usage.sent * sent_price + usage.made * made_price) / 1_000_000
    return usage if usage.cost else usage._replace(cost=cost)


class ChatAnswer(NamedTuple):
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    # "length": it was cut; "refused": the model, or its service, would not answer; "finished": a model that
    # is led step by step chose to finish
    stop: Stop = "end"
    usage: Usage = Usage()


class Watch(NamedTuple):
    """Who looks on while an answer is made. Both are called from the thread that asked."""

    said: Callable[[str], None] = lambda _: None  # a further piece of the text, as it comes
    cancelled: Callable[[], bool] = lambda: False  # asked between pieces; then `Cancelled` is raised


NOBODY = Watch()


class ChatModel(Protocol):
    """Answers a conversation. What it says is a stranger's word: callers check it."""

    @property
    def name(self) -> str:
        """For people: "openai/gpt-4o-mini"."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Does it call tools by itself? One that does not is led step by step: schema_steps."""
        ...

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        """One answer, whole or marked as cut.

        ModelDown: not reachable, too slow. ModelError: it won't. Cancelled: `watch` wanted no more of it.
        """
        ...


class ChatSettings(NamedTuple):
    """Which chat model to use. Keys are not settings."""

    provider: str = ""  # "" is none
    model: str = ""
    base_url: str = ""  # "" is the provider's own address
    timeout_s: float = 120.0  # of silence
    max_retries: int = 1  # after the first try


def make_chat(
    settings: ChatSettings, keys: Mapping[str, str], *, timing: Timing | None = None
) -> ChatModel | None:
    """The chat model that the settings mean; None when they name no provider. Nothing is sent here.

    Raises ConfigError for a provider that is not known, and where a model's name or a key is missing.
    """
    if settings.provider in ("", "none"):
        return None
    from hindbrain.models.chat_remote import RemoteChat
    from hindbrain.models.chat_services import SERVICES, credential_for
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
    """The text of a whole answer. Whatever an adapter throws is a ModelError: it never costs a memory."""
    answer = whole_or_cut(chat, ChatRequest(tuple(messages), schema=schema, max_tokens=max_tokens))
    if answer.stop == "length":
        raise ModelError(f"{chat.name!r} ran out of tokens before its answer was whole; allow it more")
    return answer.text


def whole_or_cut(chat: ChatModel, request: ChatRequest) -> ChatAnswer:
    """An answer that may be cut, and is no refusal; else, and whatever an adapter throws, a ModelError."""
    try:
        answer = chat.answer(request)
    except HindbrainError:
        raise
    except Exception as error:
        raise ModelError(f"{chat.name!r} failed with {type(error).__name__}") from error
    if answer.stop == "refused":
        raise ModelError(f"{chat.name!r} refused to answer")
    return answer
