"""What a daemon and its callers say to each other, whatever either is sent."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain import __version__
from hindbrain.base.errors import HindbrainError, NotFound, Refused, UsageError
from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.address import Address
from hindbrain.edge.daemon.protocol import (
    Request,
    failure_line,
    parse_request,
    read_line,
    result_line,
)

TOKEN = "a-token-of-some-length-0123456789"
ADDRESS = Address("unix", "/nowhere", TOKEN, 1, __version__, 0.0)

_any_text = st.text(st.characters(codec=None), max_size=40)  # also half characters
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | _any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_any_text, inner, max_size=3),
    max_leaves=8,
)


def _request(**changed: Any) -> bytes:
    plain = {"v": 1, "token": TOKEN, "verb": "ping", "vault": "", "arguments": {}}
    return json.dumps({**plain, **changed}).encode() + b"\n"


@settings(max_examples=60)
@given(_any_text, _any_text, st.dictionaries(_any_text, _json, max_size=4))
def test_what_is_asked_arrives_as_it_was_asked(verb: str, vault: str, arguments: dict[str, Any]) -> None:
    line = client._line(ADDRESS, verb, vault, arguments, 1.5)
    assert line is not None
    assert line.count(b"\n") == 1
    assert parse_request(line, TOKEN) == Request(verb, vault, "", arguments, 1.5)


@settings(max_examples=60)
@given(st.dictionaries(_any_text, _json, max_size=4))
def test_a_result_arrives_as_it_was_given(result: dict[str, Any]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(result_line(result))
        assert client._received(ours, time.monotonic() + 30) == {"ok": True, "result": result}


@settings(max_examples=100)
@given(st.binary(max_size=200) | _json.map(lambda value: json.dumps(value).encode()))
def test_nothing_but_a_request_with_the_token_is_taken_for_one(line: bytes) -> None:
    with pytest.raises((UsageError, Refused)):
        parse_request(line, TOKEN)


@pytest.mark.parametrize("token", ["", TOKEN[:-1], TOKEN + "x", None, 7, "é" * 20, "\ud800", [TOKEN]])
def test_a_wrong_token_is_refused_before_anything_else_is_looked_at(token: object) -> None:
    with pytest.raises(Refused):
        parse_request(_request(token=token, v=99, verb=[], more=1), TOKEN)


@pytest.mark.parametrize(
    "changed",
    [
        {"v": 2},
        {"v": "1"},
        {"verb": 3},
        {"vault": None},
        {"near": 1},
        {"arguments": []},
        {"patience_s": -1},
        {"patience_s": True},
        {"patience_s": "long"},
        {"extra": 1},
    ],
)
def test_a_request_of_another_shape_or_version_is_a_usage_error(changed: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        parse_request(_request(**changed), TOKEN)


def test_no_patience_is_without_end() -> None:
    assert parse_request(_request(patience_s=1e300), TOKEN).patience_s < 10_000


def test_to_stop_is_understood_in_every_version() -> None:
    assert parse_request(_request(v=99, verb="stop", later="field"), TOKEN).verb == "stop"


def test_nesting_without_end_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        parse_request(b'{"token":"' + TOKEN.encode() + b'","arguments":' + b"[" * 200_000, TOKEN)


def _read(*parts: bytes, close: bool = True, timeout_s: float = 30.0) -> bytes:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        for part in parts:
            ours.sendall(part)
        if close:
            ours.shutdown(socket.SHUT_WR)
        return read_line(theirs, TOKEN, timeout_s=timeout_s)


def test_a_request_in_parts_is_read_whole() -> None:
    assert _read(b'{"v"', b":1}", b"\n", close=False) == b'{"v":1}\n'


@pytest.mark.parametrize("close", [True, False], ids=["ends early", "is silent"])
def test_half_a_request_is_a_usage_error(close: bool) -> None:
    with pytest.raises(UsageError):
        _read(b'{"v":1,', close=close, timeout_s=30.0 if close else 0.05)


def test_nobody_is_listened_to_for_long_without_the_token() -> None:
    with pytest.raises(Refused):
        _read(b'{"v":1,"arguments":"' + b"x" * 5_000, close=False)
    known = b'{"v":1,"token":"' + TOKEN.encode() + b'","arguments":"' + b"x" * 5_000 + b'"}\n'
    assert _read(known) == known


def test_a_request_above_the_limit_is_not_sent_and_a_prompt_of_5_mb_is() -> None:
    assert client._line(ADDRESS, "turn", "/v", {"prompt": "x" * client.LARGEST}, 1) is None
    assert client._line(ADDRESS, "turn", "/v", {"prompt": "\u6f22" * (5_000_000 // 3)}, 1) is not None


def test_what_json_can_not_say_is_not_sent() -> None:
    assert client._line(ADDRESS, "turn", "/v", {"prompt": b"bytes"}, 1) is None


def test_a_failure_is_told_by_its_code_and_a_bug_shows_nothing_of_its_inside() -> None:
    told = json.loads(failure_line(NotFound("no vault at '/gone'")))
    assert (told["ok"], told["code"], told["advice"]) == (False, "not_found", "fix")
    assert "secret" not in failure_line(ValueError("a secret of a note")).decode()
    assert json.loads(failure_line(TimeoutError()))["code"] == "busy"


def test_an_answer_that_is_too_long_is_a_failure_that_says_so() -> None:
    with pytest.raises(HindbrainError) as raised:
        result_line({"text": "x" * client.LARGEST})
    assert raised.value.code == "usage"
