"""What a conversation is made of, whoever holds it: an agent host, our own loop, a file. Values only."""

from typing import Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


class Message(NamedTuple):
    """One message of a conversation, or one call of a tool, or one tool's result."""

    role: Role
    text: str  # of a tool's result: what it answered
    tool: str = ""  # the tool that was called (assistant) or that answered (tool)
    call: str = ""  # pairs a call with its result; "" when the host does not say
    failed: bool = False  # a tool's result that is an error
    images: int = 0  # screenshots that it carries
    critical: bool = False  # is never summarised or trimmed
    at: float = 0.0  # seconds since the epoch; 0: not known
    id: str = ""  # the host's own id; "" when it has none
