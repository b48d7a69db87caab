"""CPU time as text grows: tells linear from quadratic, without asserting a time.

The collector is paused meanwhile: a full collection late in a test run costs more than the work itself.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_FACTOR = 8  # a larger text has so many times the length of a smaller one
_SLACK = 3  # linear work takes about 8 times as long, quadratic work 64 times


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """True if `work(8 * size)` takes about eight times as long as `work(size)`."""
    work(size)  # what is compiled or cached once is no part of it
    small = min(cpu_seconds(work, size) for _ in range(3))
    return any(cpu_seconds(work, _FACTOR * size) < _FACTOR * _SLACK * small for _ in range(3))


def cpu_seconds(work: Callable[[int], object], size: int) -> float:
    """CPU time of `work(size)`, without the collector."""
    collecting = gc.isenabled()
    gc.disable()
    begun = time.process_time()
    try:
        work(size)
        return time.process_time() - begun
    finally:
        if collecting:
            gc.enable()
