"""What a cold search costs, and how much of the exact answer it finds: python -m benchmarks.cold_search VAULT

Each question is asked by a process of its own, as on the command line. Exact is the cosine of every vector.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

QUESTIONS = (
    "how do I center a box",
    "wait for several promises",
    "prevent a form from being sent",
    "draw a circle on a canvas",
    "store data in the browser",
    "which header forbids framing",
    "make text readable for screen readers",
    "play a sound when a key is pressed",
    "sort numbers in an array",
    "animate when the user scrolls",
)


def _one(vault: str, question: str) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.search.query import SearchQuery

    app = build_app(load_config(), Path(vault), warm=False)
    began, cpu = time.perf_counter(), time.process_time()
    app.freshen()
    fresh, fresh_cpu = time.perf_counter() - began, time.process_time() - cpu
    with app.request():
        began, cpu = time.perf_counter(), time.process_time()
        result = app.search(SearchQuery(question, mode="hybrid"))
        took, used = time.perf_counter() - began, time.process_time() - cpu
        found = app.search(SearchQuery(question, mode="semantic"))
    rows = {
        "fresh_ms": 1e3 * fresh, "fresh_cpu_ms": 1e3 * fresh_cpu, "ms": 1e3 * took, "cpu_ms": 1e3 * used,
        "notices": result.notices, "passages": app.store.passage_count(),
        "process_cpu_ms": 1e3 * sum(resource.getrusage(resource.RUSAGE_SELF)[:2]),
        "overlap": _overlap(app, question), "hits": len(found.hits),
    }  # fmt: skip
    print(json.dumps(rows))


def _overlap(app: object, question: str) -> float:
    """Of the ten nearest by all cosines, the share that a cold search finds too."""
    import numpy as np

    from hindbrain.app import App
    from hindbrain.models.embedder import has_pieces
    from hindbrain.search.semantic import StoredVectors, embed_query

    assert isinstance(app, App) and has_pieces(app.embedder)
    query = embed_query(app.embedder, question).vector
    stored = StoredVectors(app.store, app.embedder.dim)
    cold = {id_ for id_, _ in stored.search(query, 10, None)}
    rows = app.store.vectors_after(0)
    codes = np.frombuffer(b"".join(codes for _, codes in rows), np.int8).reshape(len(rows), -1)
    cosines = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), 20_000):
        block = codes[start : start + 20_000].astype(np.float32)
        cosines[start : start + 20_000] = block @ query / np.maximum(np.linalg.norm(block, axis=1), 1e-9)
    best = np.argsort(-cosines, kind="stable")[:10]
    return len(cold & {rows[at][0] for at in best}) / 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_search")
    parser.add_argument("vault", help="a vault that `hindbrain sync` has indexed")
    parser.add_argument("question", nargs="?", help="ask only this, in this process, and print its figures")
    given = parser.parse_args()
    if given.question:
        _one(given.vault, given.question)
        return
    runs = []
    for question in QUESTIONS:
        command = [sys.executable, "-m", "benchmarks.cold_search", given.vault, question]
        runs.append(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
    print(f"{runs[0]['passages']:,} passages, {len(runs)} questions, medians; notices: {runs[0]['notices']}")
    for name in ("fresh_ms", "fresh_cpu_ms", "ms", "cpu_ms"):
        values = sorted(run[name] for run in runs)
        print(f"{name:14} {statistics.median(values):7.1f}  (from {values[0]:.1f} to {values[-1]:.1f})")
    print(f"overlap@10     {statistics.mean(run['overlap'] for run in runs):7.2f}")


if __name__ == "__main__":
    main()
