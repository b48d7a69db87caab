"""Answers of chat services in the shapes that their public documents show, for the tests of all of them.

Each service says the same things here: a greeting, a call, two calls at once, JSON, a refusal, a cut answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from chat_service import Played, plain, stream

WEATHER = ("get_weather", {"city": "Oslo"})
CLOCK = ("get_time", {"zone": "UTC+1"})

Called = Sequence[tuple[str, dict[str, Any]]]


class Recordings(NamedTuple):
    """One service. `says` takes pieces of text, calls and the reason to stop, in the service's own words."""

    provider: str
    model: str
    path: str
    key_name: str
    key_header: str
    says: Callable[..., Played]
    says_plainly: Callable[[str], Played]
    end: str
    called: str
    length: str
    refused: str
    usage: tuple[int, int, int]  # sent, cached, made: what each of its answers took


def _openai_chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
        "object": "chat.completion.chunk",
        "created": 1741570283,
        "model": "gpt-4o-2024-08-06",
        "service_tier": "default",
        "system_fingerprint": "fp_fc9f1d7035",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        "usage": None,
        **more,
    }


OPENAI_USAGE = {
    "prompt_tokens": 1117,
    "completion_tokens": 46,
    "total_tokens": 1163,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
}


def openai_says(
    *texts: str, calls: Called = (), reason: str = "stop", usage: Any = OPENAI_USAGE, **how: Any
) -> Played:
    told = [_openai_chunk({"role": "assistant", "content": "", "refusal": None})]
    told += [_openai_chunk({"content": text}) for text in texts]
    for index, (name, arguments) in enumerate(calls):
        whole = json.dumps(arguments)
        begun = {"name": name, "arguments": ""}
        head = {"index": index, "id": f"call_{name}", "type": "function", "function": begun}
        told.append(_openai_chunk({"tool_calls": [head]}))
        for piece in (whole[:5], whole[5:]):
            told.append(_openai_chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    told.append(_openai_chunk({}, reason))
    told.append(_openai_chunk({}) | {"choices": [], "usage": usage})
    return stream(*told, done=True, **how)


def openai_says_plainly(text: str) -> Played:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return plain(
        {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": OPENAI_USAGE}
    )


ANTHROPIC_USAGE = {"input_tokens": 93, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1024}


def anthropic_says(
    *texts: str, calls: Called = (), reason: str = "end_turn", thoughts: str = "", **how: Any
) -> Played:
    message: dict[str, Any] = {
        "id": "msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-sonnet-4-6",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**ANTHROPIC_USAGE, "output_tokens": 1},
    }
    told: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if thoughts:
        deltas = [
            {"type": "thinking_delta", "thinking": thoughts},
            {"type": "signature_delta", "signature": "EqQB"},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if texts:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in texts])
        )
    for name, arguments in calls:
        whole = json.dumps(arguments)
        pieces = ("", whole[:5], whole[5:])
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        blocks.append(({"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        told.append({"type": "content_block_start", "index": index, "content_block": block})
        told += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        told.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": reason, "stop_sequence": None}
    told.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 46}})
    told.append({"type": "message_stop"})
    return stream(*told, named=True, **how)


def anthropic_says_plainly(text: str) -> Played:
    return plain(
        {
            "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {**ANTHROPIC_USAGE, "output_tokens": 46},
        }
    )


GEMINI_USAGE = {
    "promptTokenCount": 1117,
    "cachedContentTokenCount": 1024,
    "candidatesTokenCount": 6,
    "thoughtsTokenCount": 40,
    "totalTokenCount": 1163,
}


def _gemini_chunk(parts: list[dict[str, Any]], reason: str = "") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return {
        "candidates": [candidate],
        "usageMetadata": GEMINI_USAGE,
        "modelVersion": "gemini-3-flash-preview",
        "responseId": "mAitaLmkHPPlz7IPvtfUqQ4",
    }


def gemini_says(
    *texts: str, calls: Called = (), reason: str = "STOP", signature: str = "", **how: Any
) -> Played:
    told = [_gemini_chunk([{"text": "I weigh it.", "thought": True}])]
    told += [_gemini_chunk([{"text": text}]) for text in texts]
    parts: list[dict[str, Any]] = []
    for name, arguments in calls:
        part: dict[str, Any] = {"functionCall": {"name": name, "args": arguments, "id": f"gem.{name}"}}
        if signature and not parts:
            part["thoughtSignature"] = signature
        parts.append(part)
    if parts:
        told.append(_gemini_chunk(parts))
    return stream(*told, _gemini_chunk([{"text": ""}], reason), **how)


def gemini_says_plainly(text: str) -> Played:
    # Without alt=sse the stream is one JSON list.
    return plain([_gemini_chunk([{"text": text}]), _gemini_chunk([{"text": ""}], "STOP")])


OPENAI = Recordings(
    "openai", "gpt-4o", "/v1/chat/completions", "OPENAI_API_KEY", "authorization",
    openai_says, openai_says_plainly, "stop", "tool_calls", "length", "content_filter", (1117, 1024, 46),
)  # fmt: skip
ANTHROPIC = Recordings(
    "anthropic", "claude-sonnet-4-6", "/v1/messages", "ANTHROPIC_API_KEY", "x-api-key",
    anthropic_says, anthropic_says_plainly, "end_turn", "tool_use", "max_tokens", "refusal", (1117, 1024, 46),
)  # fmt: skip
GEMINI = Recordings(
    "gemini", "gemini-3-flash", "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
    "GEMINI_API_KEY", "x-goog-api-key",
    gemini_says, gemini_says_plainly, "STOP", "STOP", "MAX_TOKENS", "SAFETY", (1117, 1024, 46),
)  # fmt: skip
ALL = (OPENAI, ANTHROPIC, GEMINI)
