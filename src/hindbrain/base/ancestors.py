"""The environment of this process and of the processes that started it.

A program can clear its own environment; it can't clear that of its parents. On Windows, and wherever a
parent's environment can't be read, only this process's own is known.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_MOST = 40  # generations
_PS_TIMEOUT_S = 2.0
_VARIABLE = re.compile(r"(?:^|\s)([A-Z][A-Z0-9_]*)=(\S*)")


def environments() -> Iterator[Mapping[str, str]]:
    """This process's environment first, then its parents', the nearest first."""
    yield os.environ
    yield from parents()


def parents() -> Iterator[Mapping[str, str]]:
    if sys.platform == "win32":
        return
    pid = os.getppid()
    for _ in range(_MOST):
        if pid <= 1:
            return
        found = _read_linux(pid) if sys.platform == "linux" else _read_ps(pid)
        if found is None:
            return
        pid, environment = found
        yield environment


def _read_linux(pid: int) -> tuple[int, Mapping[str, str]] | None:
    """The parent of a process and its environment; empty when that belongs to another user."""
    folder = Path("/proc", str(pid))
    try:
        # "1234 (a name) with) S 1 ...": the name may hold anything, so the fields count from its end.
        parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
    try:
        data = (folder / "environ").read_bytes()
    except OSError:
        return parent, {}
    pairs = (entry.partition("=") for entry in data.decode("utf-8", "replace").split("\0"))
    return parent, {name: value for name, _, value in pairs if name}


def _read_ps(pid: int) -> tuple[int, Mapping[str, str]] | None:
    import subprocess

    try:
        told = subprocess.run(
            ["/bin/ps", "-E", "-ww", "-o", "ppid=,command=", "-p", str(pid)],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PS_TIMEOUT_S,
            check=True,
        ).stdout.strip()
        parent, _, command = told.partition(" ")
        return int(parent), dict(_VARIABLE.findall(command))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
