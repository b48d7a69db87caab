"""One pure function over many arguments, on all cores: other Python processes fed through their pipes.

A first sync spends most of its time in pure Python, which threads can't share. `multiprocessing` would run
the caller's main module again in each child; here a child runs this module and nothing of the caller's. A
child ends when its input does, so none outlives a parent that was killed.
"""

import contextlib
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")
Job = tuple[Any, ...]
_MOST = 8  # children; beyond, the one process that writes the index can't keep up


def on_all_cores(function: Callable[..., Result], jobs: Iterable[Job]) -> Iterator[Result]:
    """Yield `function(*job)` for each job, in order. `function` is a module's own: it is found by name."""
    waiting = iter(jobs)
    busy: deque[tuple[_Child, Job]] = deque()
    with contextlib.ExitStack() as children:
        for job in waiting:
            child = children.enter_context(_Child())
            child.send(function, job)
            busy.append((child, job))
            if len(busy) >= min(_MOST, os.cpu_count() or 1):
                break
        while busy:
            child, job = busy.popleft()
            answer = child.receive()
            # The child gets its next job before the answer is used, so both go on at the same time.
            following = next(waiting, None)
            if following is not None:
                child.send(function, following)
                busy.append((child, following))
            yield answer[0] if answer is not None else function(*job)


class _Child:
    """A process that does one job at a time. Where it can't be had or breaks, it gives no answer."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "hindbrain.index.parallel"]
        self._process: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )

    def __enter__(self) -> "_Child":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def send(self, function: Callable[..., Any], job: Job) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            pickle.dump((function, job), self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except OSError:
            self._end()

    def receive(self) -> tuple[Any] | None:
        """The answer to the last job, in a tuple; None when there is none."""
        if self._process is None or self._process.stdout is None:
            return None
        try:
            return (pickle.load(self._process.stdout),)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end()
            return None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            process.wait()


def _work() -> None:
    """The child: do what comes in, until nothing more comes."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints must not get between the answers
    while True:
        try:
            function, job = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(function(*job), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    _work()
