"""Calls that end when something is durable, measured in turns with the least that makes bytes durable.

An append: one write at the end of a file and an fsync. A replacement: another file beside it, fsync, rename,
fsync of the folder. How fast a disk makes bytes durable differs by ten times between minutes on a shared
machine, and the multiple of the partner with it; the processor time of a call does not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.metrics import Figures, quantile


class Bare:
    """The least that makes bytes durable, in the folder where ours are made so."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def appended_s(self, size: int) -> float:
        fd = os.open(self._folder / "bare.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            return append_s(fd, size)
        finally:
            os.close(fd)

    def replaced_s(self, size: int) -> float:
        target, beside, data = self._folder / "bare.md", self._folder / "bare.tmp", b"x" * size
        began = time.perf_counter()
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        beside.replace(target)
        if os.name != "nt":  # a folder can't be opened there
            fd = os.open(self._folder, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)
        return time.perf_counter() - began


def append_s(fd: int, size: int) -> float:
    data = b"x" * size
    began = time.perf_counter()
    os.write(fd, data)
    os.fsync(fd)
    return time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class Timed:
    """Calls of one kind, and those of their partner."""

    ours_s: Sequence[float]
    bare_s: Sequence[float]
    cpu_s: float  # of all our calls

    def figures(self) -> Figures:
        p50, bare = median(self.ours_s), median(self.bare_s)
        return {
            **quantiles(self.ours_s, 0.95),
            "max_ms": round(1e3 * max(self.ours_s), 3),
            "cpu_ms": round(1e3 * self.cpu_s / len(self.ours_s), 3),
            "bare_p50_ms": round(1e3 * bare, 3),
            "ratio": round(p50 / bare, 2),
        }


def in_turns(count: int, action: Callable[[int], object], partner: Callable[[int], float]) -> Timed:
    """Each action, then its partner, with the number of the turn. The first turn is not counted."""
    ours, bare, cpu = [], [], 0.0
    for at in range(count + 1):
        used = time.process_time()
        ours.append(seconds(lambda at=at: action(at)))  # type: ignore[misc]
        cpu += time.process_time() - used if at else 0.0
        bare.append(partner(at))
    return Timed(ours[1:], bare[1:], cpu)


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def quantiles(taken_s: Sequence[float], late: float) -> Figures:
    """The median and a late one, such as 0.95, in milliseconds."""
    return {
        "p50_ms": round(1e3 * median(taken_s), 3),
        f"p{100 * late:.0f}_ms": round(1e3 * quantile(taken_s, late), 3),
    }
