"""What it costs to remember: until it is durable, until it is in its note, beside others, and to recall it.

The partner of a batched memory is an append of as many bytes as its line in the queue has; that of whatever
changes a note is a replacement of a file as long as the note.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.durable import Bare, in_turns, quantiles, seconds
from benchmarks.facts import category_of, copied_vault, opened, read_facts
from benchmarks.frame import Benchmark, Options, Outcome, Table, main, shown
from benchmarks.metrics import Figures, prefixed
from benchmarks.writers import append_at_once, remember_at_once
from hindbrain.app import App
from hindbrain.memory.storage.merged_ids import MergedIds
from hindbrain.memory.storage.queue import Waiting
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call

LEAST_PER_S = 1_000  # batched memories, arrived in their notes
_IN_MEMORY = Path("/dev/shm")  # a file system that has no disk to wait for, where there is one
_USUAL = 1_000  # memories of a vault where nothing else is said
_FLUSH_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is done."""

    sizes: tuple[int, ...] = (0, 1_000, 10_000)  # memories that the vault holds beforehand
    batched: int = 200  # calls
    immediate: int = 40
    others: int = 40
    after_writes: int = 15  # recalls
    storm: int = 1_000  # memories, one after the other
    writers: int = 8
    each: int = 60  # memories of each writer

    @property
    def fresh(self) -> int:
        """How many memories are needed that no vault holds."""
        first = 2  # of each of both kinds of call one is not counted
        alone = self.batched + self.immediate + first + self.after_writes + self.storm
        return max(alone, self.writers * self.each, self.others + 1)


def run(options: Options) -> Outcome:
    scale = Scale()
    if options.limit:
        few = options.limit
        sizes = tuple(size for size in scale.sizes if size <= _USUAL)
        scale = replace(scale, sizes=sizes, batched=few, immediate=few, others=few, storm=few, each=few)
    return measure(options, scale)


def measure(options: Options, scale: Scale) -> Outcome:
    figures: Figures = {}
    most = max(scale.sizes)
    with options.work("memory") as work:
        facts = read_facts(options.data, work, most + scale.fresh)
        fresh, usual = facts[most:], facts[: min(most, _USUAL)]
        for size in scale.sizes:
            with _vault(options, work, work / "disk", facts[:size]) as app:
                figures |= prefixed(f"{size}.", one_process(app, facts[:size], fresh, scale))
        with _vault(options, work, work / "disk", usual) as app:
            figures |= prefixed("writers.", several_processes(app, fresh, scale))
            figures |= tools(app, fresh, scale.others)
        if _IN_MEMORY.is_dir():
            with (
                tempfile.TemporaryDirectory(prefix="hindbrain-bench-", dir=_IN_MEMORY) as place,
                _vault(options, work, Path(place) / "memory", usual) as app,
            ):
                figures |= prefixed("in_memory.", storm(app, fresh[: scale.storm]))
    data: dict[str, str | int] = {"name": "vault_jzhao, sentences of md_mdn", "storm": scale.storm}
    return Outcome(metrics=figures, data=data, tables=_tables(figures, scale))


@contextmanager
def _vault(options: Options, work: Path, place: Path, memories: Sequence[str]) -> Iterator[App]:
    """A fresh copy with these memories in it; it is gone afterwards."""
    shutil.rmtree(place, ignore_errors=True)
    vault = copied_vault(options.data, work, place / "vault")
    app = opened(vault, place / "state", memories)
    try:
        yield app
    finally:
        app.close()
        shutil.rmtree(place, ignore_errors=True)


def one_process(app: App, known: Sequence[str], fresh: Sequence[str], scale: Scale) -> Figures:
    texts = iter(fresh)
    figures: Figures = {}
    if known:
        figures |= prefixed("recall.", recalled(app, known, scale.others))
    figures |= prefixed("batched.", batched(app, [next(texts) for _ in range(scale.batched + 1)]))
    figures |= prefixed("immediate.", immediate(app, [next(texts) for _ in range(scale.immediate + 1)]))
    if known:
        after = recalled_after_write(app, [next(texts) for _ in range(scale.after_writes)])
        figures |= prefixed("recall_after_write.", after)
    return figures | prefixed("storm.", storm(app, [next(texts) for _ in range(scale.storm)]))


def batched(app: App, texts: Sequence[str]) -> Figures:
    """Durable in the queue; now and then a call also brings what waits into the notes."""
    bare = Bare(app.state)
    return in_turns(
        len(texts) - 1,
        lambda at: app.memory.remember(texts[at], category=category_of(at), strategy="batched"),
        lambda at: bare.appended_s(queued_size(texts[at])),
    ).figures()


def queued_size(text: str) -> int:
    """Bytes of a memory's line in the queue."""
    waiting = Waiting("m-abcdefgh", text, time.time(), created="2026-01-01")
    return len(json.dumps(waiting._asdict(), separators=(",", ":"))) + 2


def immediate(app: App, texts: Sequence[str]) -> Figures:
    """Durable in its note."""
    app.memory.flush(timeout_s=_FLUSH_WAIT_S)
    bare = Bare(app.state)
    paths: list[str] = []

    def remember(at: int) -> None:
        answer = app.memory.remember(texts[at], category=category_of(at), strategy="immediate")
        paths.append(answer.path)

    return in_turns(len(texts) - 1, remember, lambda at: bare.replaced_s(_size(app, paths[at]))).figures()


def tools(app: App, texts: Sequence[str], count: int) -> Figures:
    """Two tools that change a note, called as a host calls them."""
    bare, note, tasks = Bare(app.state), "Benchmarks/Log.md", app.memory.layout.path("tasks")
    create, append = tool_named("task_create"), tool_named("vault_append")
    created = in_turns(
        count,
        lambda at: call(app.memory, create, {"title": texts[at].rstrip(".")}),
        lambda _: bare.replaced_s(_size(app, tasks)),
    )
    appended = in_turns(
        count,
        lambda at: call(app.memory, append, {"path": note, "content": f"- {texts[at]}\n"}),
        lambda _: bare.replaced_s(_size(app, note)),
    )
    return prefixed("task_create.", created.figures()) | prefixed("vault_append.", appended.figures())


def recalled(app: App, known: Sequence[str], count: int) -> Figures:
    """Topics are some words of a memory that is there; everything is in memory."""
    topics = [_topic(text) for text in known[:: max(1, len(known) // count)][:count]]
    app.memory.recall(topics[0])
    return quantiles([_recall_s(app, topic) for topic in topics], 0.95)


def recalled_after_write(app: App, texts: Sequence[str]) -> Figures:
    """The first recall after a memory was written: the index takes it in by the way."""
    taken = []
    for at, text in enumerate(texts):
        app.memory.remember(text, category=category_of(at), strategy="immediate")
        taken.append(_recall_s(app, _topic(text)))
    return quantiles(taken, 0.95)


def storm(app: App, texts: Sequence[str]) -> Figures:
    """One memory after the other, batched, until all are in their notes."""
    app.memory.flush(timeout_s=_FLUSH_WAIT_S)
    bare = Bare(app.state)
    bare_s = sum(bare.appended_s(queued_size(text)) for text in texts)
    used, began = time.process_time(), time.perf_counter()
    ids = [
        app.memory.remember(text, category=category_of(at), strategy="batched").id
        for at, text in enumerate(texts)
    ]
    app.memory.flush(timeout_s=_FLUSH_WAIT_S)
    taken, used = time.perf_counter() - began, time.process_time() - used
    _must_have(app, ids)
    return {
        "writes_per_s": round(len(texts) / taken, 1),
        "writes_per_cpu_s": round(len(texts) / used, 1),
        "bare_per_s": round(len(texts) / bare_s, 1),
        "ratio": round(taken / bare_s, 2),
        "index_s": round(seconds(lambda: app.memory.settle(idle=True)), 3),
    }


def several_processes(app: App, texts: Sequence[str], scale: Scale) -> Figures:
    shares = [texts[at :: scale.writers][: scale.each] for at in range(scale.writers)]
    bare = append_at_once(app.state / "bare.log", [[queued_size(text) for text in own] for own in shares])
    ours = remember_at_once(app, shares)
    _must_have(app, ours.ids)
    per_s, bare_per_s = len(ours.ids) / ours.seconds, len(bare.acknowledged_s) / bare.seconds
    return {
        "writes_per_s": round(per_s, 1),
        "bare_per_s": round(bare_per_s, 1),
        "ratio": round(bare_per_s / per_s, 2),
        **quantiles(ours.acknowledged_s, 0.99),
        **prefixed("bare_", quantiles(bare.acknowledged_s, 0.99)),
    }


def _must_have(app: App, ids: Iterable[str]) -> None:
    """Every acknowledged memory is in a note, under its id or as part of another."""
    there, merged = {item.id for item in app.memory.book.items()}, MergedIds(app.state)
    lost = [id_ for id_ in ids if id_ not in there and merged.get(id_) not in there]
    if lost or app.memory.queue.pending():
        raise RuntimeError(f"{len(lost)} memories did not reach their notes: {lost[:3]}")


def _recall_s(app: App, topic: str) -> float:
    return seconds(lambda: app.memory.recall(topic))


def _size(app: App, path: str) -> int:
    return (app.root / path).stat().st_size


def _topic(text: str) -> str:
    """Its three longest words."""
    return " ".join(sorted(text.rstrip(".").split(), key=len)[-3:])


def _tables(figures: Figures, scale: Scale) -> tuple[Table, ...]:
    there = {size: f"{size:,} memories" for size in scale.sizes}
    calls = {
        f"{size}.{kind}": f"remember, {kind}, {words}"
        for kind in ("batched", "immediate")
        for size, words in there.items()
    }
    calls |= {"task_create": "task_create", "vault_append": "vault_append"}
    storms = {f"{size}.storm": f"one process, {words}" for size, words in there.items()}
    storms |= {"in_memory": "one process, no disk"} if "in_memory.ratio" in figures else {}
    storms |= {"writers": f"{scale.writers} processes"}
    recalls = {f"{size}.recall": f"recall, {words}" for size, words in there.items() if size}
    recalls |= {
        f"{size}.recall_after_write": f"... just after a write, {there[size]}" for size in there if size
    }
    title = "Acknowledged and durable, ms; CPU: the mean of a call; bare: the same bytes made durable"
    return (
        _table(title, figures, calls, "p50_ms p95_ms max_ms cpu_ms bare_p50_ms ratio"),
        _table(
            f"Batched memories until they are in their notes (at least {LEAST_PER_S:,}/s)",
            figures,
            storms,
            "writes_per_s writes_per_cpu_s bare_per_s ratio p50_ms p99_ms bare_p99_ms",
        ),
        _table("Recall, warm, ms", figures, recalls, "p50_ms p95_ms"),
    )


def _table(title: str, figures: Figures, rows: Mapping[str, str], names: str) -> Table:
    columns = names.split()
    lines = [(label, *(shown(figures.get(f"{key}.{n}")) for n in columns)) for key, label in rows.items()]
    heads = [name.replace("ratio", "x bare").replace("_", " ").removesuffix(" ms") for name in columns]
    return Table(title, ("", *heads), tuple(lines))


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import beside

    figures = result["metrics"]
    kinds = [
        (kind, int(key.partition(".")[0]))
        for kind in ("batched", "immediate")
        for key in figures
        if key.endswith(f".{kind}.ratio")
    ]
    ours, late, bare = (
        [figures[f"{size}.{kind}.{name}"] for kind, size in kinds]
        for name in ("p50_ms", "p95_ms", "bare_p50_ms")
    )
    labels = [f"{kind},\n{size:,}" for kind, size in kinds]
    beside(axes, "remember, durable, by memories that are there (ms)", labels, ours, late, bare)


BENCHMARK = Benchmark("memory", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
