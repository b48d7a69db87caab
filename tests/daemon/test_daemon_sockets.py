"""The sockets of a daemon with more open files than `select.select` has room for."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from hindbrain.edge.serving.sockets import has_gone, readable


@pytest.fixture(params=[False, True], ids=["few open files", "many open files"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, socket.socket]]:
    taken: list[int] = []
    if request.param:
        if os.name == "nt":
            pytest.skip("descriptors are no small numbers here")
        while not taken or taken[-1] < 1_100:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs
    for one in taken:
        os.close(one)


def test_who_is_silent_is_still_there(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    assert not readable([ours], 0)
    assert not has_gone(ours)
    theirs.sendall(b"a word")
    assert readable([ours, theirs], 5) == [ours]
    assert not has_gone(ours)


def test_who_closed_the_connection_has_gone(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    assert has_gone(ours)


def test_a_connection_that_was_closed_here_has_gone(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    ours.close()
    assert has_gone(ours)
