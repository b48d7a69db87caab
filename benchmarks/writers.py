"""Several processes that remember in one vault at once: how many a second, and how long each is kept waiting.

The partner of the same run only appends lines of the same size to one file and makes each durable.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.durable import append_s
from benchmarks.facts import category_of
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app

_CHILD = "from benchmarks.writers import write_when_told; write_when_told()"
_WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Storm:
    """What several writers did."""

    ids: tuple[str, ...]  # of the memories that were acknowledged
    seconds: float  # from the start to the last acknowledgement; of memories: to the last one in its note
    acknowledged_s: tuple[float, ...]  # of each call


def remember_at_once(app: App, shares: Sequence[Sequence[str]]) -> Storm:
    """Each share is remembered by a process of its own, which has everything loaded before the start."""
    told = {"vault": str(app.root), "state": str(app.state.parent)}
    return _run([{**told, "texts": list(share)} for share in shares], app)


def append_at_once(file: Path, sizes: Sequence[Sequence[int]]) -> Storm:
    """Each share is appended by a process of its own: a write and an fsync for each size."""
    return _run([{"file": str(file), "sizes": list(share)} for share in sizes], None)


def _run(orders: Sequence[dict[str, Any]], app: App | None) -> Storm:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for _ in orders
    ]
    try:
        for child, order in zip(children, orders, strict=True):
            _tell(child, json.dumps(order))
        for child in children:
            _hear(child)  # it is ready
        start = time.perf_counter()
        for child in children:
            _tell(child, "go")
        answers = [json.loads(_hear(child)) for child in children]
        if app is not None:
            app.memory.flush(timeout_s=_WAIT_S)
        seconds = time.perf_counter() - start
    finally:
        for child in children:
            child.communicate()  # it ends when its input does
    ids = tuple(id_ for answer in answers for id_ in answer["ids"])
    return Storm(ids, seconds, tuple(taken for answer in answers for taken in answer["taken"]))


def _tell(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()


def _hear(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise RuntimeError("a writer ended without an answer; what it said is above")
    return line


def write_when_told() -> None:
    """Runs in a child: gets ready, waits for the word, writes, and prints what it took."""
    told = json.loads(sys.stdin.readline())
    ids, taken = _remember(told) if "texts" in told else ([], _append(told))
    print(json.dumps({"ids": ids, "taken": taken}), flush=True)


def _await_start() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def _remember(told: dict[str, Any]) -> tuple[list[str], list[float]]:
    app = build_app(bench_config(Path(told["state"])), Path(told["vault"]))
    app.memory.recall("everything is loaded now")
    app.memory.judge.judge("The benchmark begins.", app.memory.book.candidates("benchmark"))
    _await_start()
    ids, taken = [], []
    for at, text in enumerate(told["texts"]):
        began = time.perf_counter()
        ids.append(app.memory.remember(text, category=category_of(at)).id)
        taken.append(time.perf_counter() - began)
    return ids, taken


def _append(told: dict[str, Any]) -> list[float]:
    fd = os.open(told["file"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    _await_start()
    taken = [append_s(fd, size) for size in told["sizes"]]
    os.close(fd)
    return taken
