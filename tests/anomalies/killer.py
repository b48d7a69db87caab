"""Faults at the n-th file-system call of an operation: a kill, half a write and a kill, or an error.

`Faults` wraps the functions through which the writer reaches the system. `run_forked` runs an operation in a
child that may die, and says whether it came back. POSIX only.
"""

import contextlib
import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hindbrain.vault import swap

NEVER = 1 << 30
_CHANGING = ("open", "write", "fsync", "ftruncate", "mkdir", "link", "unlink", "rename", "replace", "fchmod")
_LOOKING = ("read", "close", "fstat", "stat", "lstat", "lseek", "listdir", "listxattr", "fcntl", "flock")
_OS_CALLS = (*_CHANGING, *_LOOKING[:-2])
# A kill before a call that only looks is the same to the disk as a kill before the next that changes.
CHANGES_FILES = frozenset({*_CHANGING, "exchange", "rename_new"})
_SPARED_BY_ERRORS = {"close", "lseek", "lstat"}  # their errors tell nothing about the disk
_TARGETS: list[tuple[Any, str]] = [
    *((os, name) for name in _OS_CALLS),
    (swap, "exchange"),
    (swap, "rename_new"),
    (fcntl, "fcntl"),
    (fcntl, "flock"),
]


@dataclass
class Faults:
    """Counts calls; at the n-th (from 1), or at each of several, does `strike`."""

    at: int | frozenset[int]
    strike: Callable[[str, tuple[Any, ...]], None]
    spare: frozenset[str] = frozenset()
    calls: list[str] = field(default_factory=list)
    _striking: bool = False

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        originals = [(owner, name, getattr(owner, name)) for owner, name in _TARGETS]
        for owner, name, original in originals:
            if name not in self.spare:
                setattr(owner, name, self._wrap(name, original))
        try:
            yield
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)

    def _wrap(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._striking:
                return original(*args, **kwargs)
            self.calls.append(name)
            due = self.at if isinstance(self.at, frozenset) else (self.at,)
            if len(self.calls) in due:
                self._striking = True  # the strike's own calls are not ours
                try:
                    self.strike(name, args)
                finally:
                    self._striking = False
            return original(*args, **kwargs)

        return call


def kill(name: str, args: tuple[Any, ...]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_write = os.write


def kill_in_the_middle(name: str, args: tuple[Any, ...]) -> None:
    """As `kill`, but half of what was to be written is."""
    if name == "write":
        _write(args[0], bytes(args[1])[: len(args[1]) // 2])
    kill(name, args)


def failing(number: int) -> Callable[[str, tuple[Any, ...]], None]:
    def strike(name: str, args: tuple[Any, ...]) -> None:
        raise OSError(number, os.strerror(number))

    return strike


def error_faults(at: int, number: int) -> Faults:
    return Faults(at, failing(number), spare=frozenset(_SPARED_BY_ERRORS))


def run_forked(action: Callable[[], None]) -> tuple[int, bool]:
    """Run in a child: (its pid, whether the action returned). The pipe is the ack: told by the kernel."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            action()
            _write(writer, b"a")
        except BaseException as error:  # noqa: BLE001 - the parent must tell it from a kill
            _write(writer, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as acks:
        told = acks.read()
    os.waitpid(pid, 0)
    assert told in (b"", b"a"), told
    return pid, told == b"a"
