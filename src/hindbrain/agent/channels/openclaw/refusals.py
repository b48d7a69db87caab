"""What a gateway's refusal means to the owner: wait, put something right, or give up. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.base.errors import ChannelDown, ConfigError, HindbrainError, Refused

_TOKEN = (
    "set `token` of the channel in agent.toml to the gateway's own (gateway.auth.token in its openclaw.json)"
)
_ADVICE = {
    "AUTH_TOKEN_MISSING": _TOKEN,
    "AUTH_TOKEN_MISMATCH": _TOKEN,
    "AUTH_UNAUTHORIZED": _TOKEN,
    "AUTH_REQUIRED": _TOKEN,
    "AUTH_TOKEN_NOT_CONFIGURED": "set gateway.auth.token in its openclaw.json",
    "PAIRING_REQUIRED": "approve this device there: openclaw devices list, then openclaw devices approve",
    "PAIRING_REJECTED": "this device was rejected there; see openclaw devices list",
    "PAIRING_EXPIRED": "try again, and approve this device there in time: openclaw devices list",
    "PROTOCOL_MISMATCH": "it speaks another version of its protocol; update Hindbrain or OpenClaw",
    "AUTH_SCOPE_MISMATCH": "approve this device there with read and write: openclaw devices list",
    "MISSING_SCOPE": "approve this device there with read and write: openclaw devices list",
}
_MAY_PASS = frozenset({"AUTH_RATE_LIMITED", "AUTHENTICATED_PROFILE_UNAVAILABLE"})
_NEVER = frozenset({"INVALID_REQUEST", "FORBIDDEN"})
_QUEUED = "OUTBOUND_DELIVERY_QUEUED"


def connect_refusal(address: str, error: Mapping[str, Any]) -> HindbrainError:
    """Whatever does not pass by itself is for the owner: a message is not lost by a wrong token."""
    detail = _detail(error)
    text = f"the OpenClaw gateway at {address!r} refused the connection ({_said(error)})"
    if detail in _ADVICE:
        return ConfigError(f"{text}; {_ADVICE[detail]}{_request(error)}")
    if detail in _MAY_PASS or error.get("retryable") is True or error.get("code") == "UNAVAILABLE":
        return ChannelDown(f"{text}; it may pass")
    return ConfigError(f"{text}; see its log: openclaw logs")


def request_refusal(address: str, method: str, error: Mapping[str, Any]) -> HindbrainError:
    detail = _detail(error)
    text = f"the OpenClaw gateway at {address!r} did not do {method!r} ({_said(error)})"
    if detail in _ADVICE:
        return ConfigError(f"{text}; {_ADVICE[detail]}")
    if error.get("code") in _NEVER and error.get("retryable") is not True:
        return Refused(f"{text}; check `channel`, `to` and `session` of the channel in agent.toml")
    return ChannelDown(f"{text}; it may pass")


def queued_there(error: Mapping[str, Any]) -> str:
    """Why the gateway could not deliver a message that it keeps, and tries again by itself; else "".

    To send it once more would make two of it when its channel is back.
    """
    return _said(error) if _detail(error) == _QUEUED else ""


def _detail(error: Mapping[str, Any]) -> str:
    details = error.get("details")
    return str(details.get("code", "")) if isinstance(details, dict) else ""


def _request(error: Mapping[str, Any]) -> str:
    details = error.get("details")
    number = details.get("requestId") if isinstance(details, dict) else None
    return f" {number}" if isinstance(number, str) and number.isprintable() and len(number) < 130 else ""


def _said(error: Mapping[str, Any]) -> str:
    words = f"{_detail(error) or error.get('code', 'no code')}: {error.get('message', 'no reason')}"
    return " ".join(words.split())[:300]
