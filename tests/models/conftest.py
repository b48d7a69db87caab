"""Fixtures for everything that speaks HTTP: real loopback servers and a time that nobody waits for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback_service import FakeTime, Service, serve


@pytest.fixture
def service() -> Iterator[Service]:
    yield from serve()


@pytest.fixture
def other_service() -> Iterator[Service]:
    yield from serve()


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def closed_url() -> str:
    """An address where nothing listens."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
