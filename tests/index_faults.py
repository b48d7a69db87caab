"""Faults at the n-th statement that the writer of an index sends to SQLite."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from hindbrain.index import writer

NEVER = 1 << 30


class Struck(BaseException):
    """An interruption that no handler of errors may swallow."""


@dataclass
class Strikes:
    """Counts statements; at the n-th (from 1) does `strike`, once."""

    at: int
    strike: Callable[[], None]
    statements: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        real = writer.open_writer
        writer.open_writer = lambda path: _Watched(real(path), self)  # type: ignore[assignment,return-value]
        try:
            yield
        finally:
            writer.open_writer = real

    def count(self, statement: str) -> None:
        self.statements.append(statement)
        if len(self.statements) == self.at:
            self.strike()


class _Watched:
    """A connection that tells each statement before it runs it."""

    def __init__(self, db: apsw.Connection, strikes: Strikes) -> None:
        self._db = db
        self._strikes = strikes

    def execute(self, statement: str, *args: Any) -> Any:
        self._strikes.count(statement)
        return self._db.execute(statement, *args)

    def executemany(self, statement: str, *args: Any) -> Any:
        self._strikes.count(statement)
        return self._db.executemany(statement, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


def interrupt() -> None:
    raise Struck


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def failing(error: type[apsw.Error]) -> Callable[[], None]:
    def strike() -> None:
        raise error("told to fail")

    return strike


def copy_index(source: Path, target: Path) -> None:
    """Copy an index that nobody holds open."""
    target.mkdir(parents=True, exist_ok=True)
    for suffix in ("", "-wal", "-shm"):
        part = target / f"index.db{suffix}"
        part.unlink(missing_ok=True)
        origin = source / f"index.db{suffix}"
        if origin.exists():
            part.write_bytes(origin.read_bytes())
