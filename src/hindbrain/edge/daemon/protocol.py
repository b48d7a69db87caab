"""What is said between the daemon and whoever asks it: one line of JSON in, one line of JSON out.

    {"v": 1, "token": "...", "verb": "turn", "vault": "/home/ada/notes", "patience_s": 1, "arguments": {...}}
    {"ok": true, "result": {...}}
    {"ok": false, "code": "not_found", "message": "...", "advice": "fix"}

Who has got a result whole says so with one more line end, and then closes: what a result of `turn`, `start`
or `failure` injects counts as injected only then. Who closes before is taken to have gone.

Pure but for `read_line`. Whoever does not know the token is told nothing but that.
"""

from __future__ import annotations

import hmac
import json
import re
import socket
import time
from collections.abc import Mapping
from typing import NamedTuple

from hindbrain.base.errors import Busy, HindbrainError, Refused, UsageError
from hindbrain.edge.daemon.client import LARGEST, PROTOCOL

_FIELDS = frozenset(("v", "token", "verb", "vault", "near", "patience_s", "arguments"))
_HEAD = 4_096  # bytes that are read of somebody who has not shown a token yet
_TOKEN = re.compile(rb'"token"\s*:\s*"([A-Za-z0-9_-]{16,200})"')
_LONGEST_WAIT_S = 600.0


class Request(NamedTuple):
    """What somebody who knows the token asks for."""

    verb: str
    vault: str  # absolute path; "" for what concerns the daemon itself, or where `near` says which one
    near: str  # absolute path of a folder from which the vault is looked for upwards; ""
    arguments: Mapping[str, object]
    patience_s: float  # for how long the asker waits for the answer; 0: not at all


def read_line(connection: socket.socket, token: str, *, timeout_s: float) -> bytes:
    """One line, whole. Raises UsageError for one that is too long, ends early or takes too long, and Refused
    for a long one that shows no token at its beginning."""
    deadline = time.monotonic() + timeout_s
    parts: list[bytes] = []
    size, known = 0, False
    while not (parts and parts[-1].endswith(b"\n")):
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            part = connection.recv(262_144)
        except TimeoutError as error:
            raise UsageError(f"no whole request within {timeout_s:g} s") from error
        if not part:
            raise UsageError("the request ends before its line does")
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise UsageError(f"the request is longer than {LARGEST:,} bytes")
        if size > _HEAD and not known:
            known = _shows_token(b"".join(parts)[:_HEAD], token)
            if not known:
                raise Refused("the token is wrong")
    return b"".join(parts)


def _shows_token(head: bytes, token: str) -> bool:
    found = _TOKEN.search(head)
    return found is not None and hmac.compare_digest(found[1], token.encode())


def parse_request(line: bytes, token: str) -> Request:
    """Raises Refused without the token, UsageError for everything that is not a request of this version."""
    try:
        asked = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise UsageError("a request is one line of JSON") from error
    if not isinstance(asked, dict):
        raise UsageError("a request is a JSON object")
    shown = asked.get("token")
    if not isinstance(shown, str) or not hmac.compare_digest(
        shown.encode("utf-8", "replace"), token.encode()
    ):
        raise Refused("the token is wrong")
    if asked.get("verb") == "stop":  # in every version: an upgrade must be able to end what ran before it
        return Request("stop", "", "", {}, 1.0)
    if asked.get("v") != PROTOCOL:
        raise UsageError(f"this daemon speaks version {PROTOCOL} of the protocol, not {asked.get('v')!r}")
    if unknown := sorted(set(asked) - _FIELDS):
        raise UsageError(f"a request has no field {unknown[0]!r}; it has: {', '.join(sorted(_FIELDS))}")
    return _checked({"vault": "", "near": "", "arguments": {}, "patience_s": 60.0, **asked})


def _checked(asked: Mapping[str, object]) -> Request:
    verb, vault, near, arguments = (asked.get(name) for name in ("verb", "vault", "near", "arguments"))
    patience_s = asked["patience_s"]
    if not (isinstance(verb, str) and isinstance(vault, str) and isinstance(near, str)):
        raise UsageError("verb, vault and near are text")
    if not isinstance(arguments, dict):
        raise UsageError("arguments are an object")
    if isinstance(patience_s, bool) or not isinstance(patience_s, int | float) or not patience_s >= 0:
        raise UsageError(f"patience_s is {patience_s!r}; it must be a number of seconds")
    return Request(verb, vault, near, arguments, min(float(patience_s), _LONGEST_WAIT_S))


def result_line(result: Mapping[str, object]) -> bytes:
    """Raises UsageError when the result is too long to be sent."""
    line = _encoded({"ok": True, "result": result})
    if len(line) > LARGEST:
        raise UsageError(f"the answer has {len(line):,} bytes, more than can be sent; ask for less")
    return line


def failure_line(error: BaseException) -> bytes:
    """What went wrong. A bug's text stays in the log: it may quote a note."""
    if isinstance(error, HindbrainError):
        told = {"code": error.code, "message": str(error), "advice": error.advice}
    elif isinstance(error, TimeoutError):
        told = {"code": Busy.code, "message": "not done within the caller's time", "advice": Busy.advice}
    else:
        told = {"code": "internal", "message": f"internal: {type(error).__name__}", "advice": "stop"}
    return _encoded({"ok": False, **told})


def _encoded(value: Mapping[str, object]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"
