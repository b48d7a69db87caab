"""How a model is asked, and how to ask otherwise when its service refuses.

Servers that speak one shape differ in what they take. What one refuses is left out, and that is remembered as
soon as it then answers. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from hindbrain.base.errors import ModelError
    from hindbrain.models.chat import ChatRequest

Format: TypeAlias = Literal["schema", "object", "plain"]  # how an answer by a schema is asked for

ROOM = 8_192  # tokens that a model may think, when it has shown that it does
_NOT_UNDERSTOOD = (400, 422, 501)
_NO_TOOLS = (*_NOT_UNDERSTOOD, 404, 500)  # OpenRouter says 404, llama.cpp without its template engine 500
_MAY_LACK = ("stream_options", "temperature", "max_tokens")
_TOOLS = re.compile(r"\btools?\b|\btool_", re.I)
# llama.cpp, OpenAI and vLLM, Anthropic, Gemini, Mistral, Bedrock, xAI, Cohere, each in its own words.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context_exceeded|available context size"
    r"|maximum (?:context|prompt) length|context (?:length|size|window|limit)[^.]{0,40}exceed"
    r"|exceeds?\b[^.]{0,40}context (?:length|size|window|limit)"
    r"|(?:prompt|input|request) is too (?:long|large)|input tokens? (?:count )?[^.]{0,20}exceed"
    r"|too many tokens|request_too_large|request too large|reduce the length of",
    re.I,
)
_REFUSAL = re.compile(r"support|requires|unknown|unrecogni|unexpected|extra|forbidden|not permitted", re.I)


class Manner(NamedTuple):
    """How a model is asked."""

    format: Format = "schema"
    without: frozenset[str] = frozenset()  # parameters that its service does not take
    room: int = 0  # tokens for its thoughts, besides the answer's; -1: it refused them


def otherwise(
    manner: Manner, request: ChatRequest, error: ModelError, formats: Sequence[Format]
) -> Manner | None:
    """How to ask after that refusal; None when there is nothing to leave out."""
    if error.status not in _NOT_UNDERSTOOD or too_long(error):
        return None
    if manner.room > 0:
        return manner._replace(room=-1)
    for name in _MAY_LACK:
        if name not in manner.without and re.search(rf"\b{name}\b", error.said):
            return manner._replace(without=manner.without | {name})
    if request.schema is not None and manner.format != formats[-1]:
        return manner._replace(format=formats[formats.index(manner.format) + 1])
    return None


def refuses_tools(request: ChatRequest, error: ModelError) -> bool:
    """Are the tools what it won't take? A server says so in its own words only."""
    return (
        bool(request.tools)
        and error.status in _NO_TOOLS
        and _TOOLS.search(error.said) is not None
        and _REFUSAL.search(error.said) is not None
    )


def too_long(error: ModelError) -> bool:
    """Is it the length of the request that it won't take? Then a shorter one may do."""
    return error.status == 413 or _TOO_LONG.search(error.said) is not None


def with_schema_told(request: ChatRequest, manner: Manner) -> ChatRequest:
    """Where the service takes no schema, the model is told of it in words, in what was said last."""
    if request.schema is None or manner.format == "schema" or not request.messages:
        return request
    *before, last = request.messages
    words = "Answer with JSON that follows this JSON schema, and with nothing else:\n"
    told = last._replace(text=f"{last.text}\n\n{words}{json.dumps(request.schema)}")
    return request._replace(messages=(*before, told))
