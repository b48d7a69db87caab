"""JSON objects in and out of requests. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hindbrain.base.errors import UsageError


def error_body(code: str, message: str) -> Mapping[str, Any]:
    return {"error": {"code": code, "message": message}}


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body. Half characters, as programs make that cut texts, become whole ones.

    Raises UsageError.
    """
    try:
        text = body.decode("utf-8")
        told = json.loads(text, parse_constant=_no_constant)
        if "\\ud" in text.lower():
            told = _whole(told)
    except (ValueError, RecursionError):
        raise UsageError("send one JSON object, in UTF-8") from None
    if not isinstance(told, dict):
        raise UsageError(f"send one JSON object, not {type(told).__name__}")
    return told


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(item) for name, item in value.items()}
    return value
