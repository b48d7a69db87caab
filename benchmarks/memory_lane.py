"""Do memories reach the prompt that needs them, and no other?

prefeval     20 preferences of 20 topics, and for each a question that needs it
prefeval200  the same with 200 memories
locomo_plus  20 cues, and for each a later remark that shares almost no words with it
generic      prompts that need nothing: coding instructions, small talk, turns of a session, general tasks

"in the lane" is what is injected with the prompt, at most five lines; "beside" are the other memories in it;
"first five" is what `recall` shows, injected or not; "with the start" counts what a session begins with.

table      ours with the built-in table      encoder   ours with all-MiniLM-L6-v2, where it is installed
all        every memory is injected          cosine    plain cosine of the table's vectors
words      shared words, weighted by idf
The last two inject at most five memories above the bar that lets the same share of coding prompts through as
the table's row does: compared at equal false injections. Our rows go through real notes and real packs.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import measured, write_note
from hindbrain.app import App
from hindbrain.context.turn import SessionKey
from hindbrain.models.encoder import AUTO, find_encoder
from hindbrain.models.static import load_static, words_of
from hindbrain.search.telling import stem
from hindbrain.search.terms import STOP_WORDS
from hindbrain.vault.items.item import MemoryItem, render_item

OURS = ("table", "encoder")
NAIVE = ("all", "cosine", "words")
_LINES = 5
_KINDS = {"coding": "coding", "small_talk": "talk", "agent_turns": "turns", "general": "general"}
_DRAWS, _LARGE, _PER_TOPIC, _GROUP = 12, 2, 10, 20
_IDLE_S = 60.0


@dataclass(frozen=True, slots=True)
class Pairs:
    """Memories, and for each the prompt that needs it."""

    memories: tuple[str, ...]
    prompts: tuple[str, ...]


@dataclass(slots=True)
class Counted:
    """What was seen of one row and one set."""

    asked: int = 0
    in_lane: int = 0
    beside: int = 0
    ranks: list[int] = field(default_factory=list)  # of the right memory, from 0
    with_start: int = 0
    generic: dict[str, list[bool]] = field(default_factory=dict)  # kind -> did it get a memory?


def run(options: Options) -> Outcome:
    source = find_one(options.data, "PrefEval", ("memory_prefeval*.json",))
    sets = read_sets(options.data, options.limit)
    generic = read_json(find_one(options.data, "generic prompts", ("prompts_generic*.json",)))
    generic = {_KINDS[kind]: prompts[: options.limit or None] for kind, prompts in generic.items()}
    rows = [row for row in OURS if row == "table" or find_encoder(AUTO) is not None]
    counted: dict[tuple[str, str], Counted] = {}
    with options.work("memory-lane") as work:
        for row in rows:
            for name, groups in sets.items():
                folder = work / row / name
                counted[row, name] = ask_product(folder, groups, generic, encodes=row == "encoder")
    for row in NAIVE:
        for name, groups in sets.items():
            rate = _share(counted["table", name].generic["coding"])
            counted[row, name] = ask_naive(row, groups, generic, rate)
    figures = {
        f"{row}.{name}.{key}": value for (row, name), one in counted.items() for key, value in told(one)
    }
    return Outcome(
        metrics={key: value for key, value in figures.items() if key.startswith(OURS)},
        baselines={row: _of_row(figures, row) for row in NAIVE},
        data=described(
            source, prompts=sum(len(group.prompts) for groups in sets.values() for group in groups)
        ),
        tables=tuple(_table(name, counted, (*rows, *NAIVE)) for name in sets),
    )


def read_sets(data: Path, limit: int = 0) -> dict[str, list[Pairs]]:
    prefeval = read_json(find_one(data, "PrefEval", ("memory_prefeval*.json",)))
    plus = read_json(find_one(data, "LoCoMo-Plus", ("memory_locomo_plus*.json",)))
    chance = random.Random(7)
    topics: Mapping[str, Sequence[Mapping[str, str]]] = prefeval["pairs"]
    large = [
        [pair for pairs in topics.values() for pair in chance.sample(list(pairs), _PER_TOPIC)]
        for _ in range(_LARGE)
    ]
    shuffled = chance.sample(plus, len(plus))
    groups = [shuffled[at : at + _GROUP] for at in range(0, len(shuffled), _GROUP)]
    most = 1 if limit else None
    return {
        "prefeval": [_pairs(draw) for draw in prefeval["draws"][: most or _DRAWS]],
        "prefeval200": [_pairs(pairs) for pairs in large[:most]],
        "locomo_plus": [_pairs(group) for group in groups[:most]],
    }


def _pairs(rows: Sequence[Mapping[str, str]]) -> Pairs:
    return Pairs(tuple(row["memory"] for row in rows), tuple(row["question"] for row in rows))


# Ours: real notes, real packs


def ask_product(
    work: Path, groups: Sequence[Pairs], generic: Mapping[str, Sequence[str]], *, encodes: bool
) -> Counted:
    counted = Counted(generic={kind: [] for kind in generic})
    for at, group in enumerate(groups):
        with _opened(work / str(at), group.memories, encodes=encodes) as app:
            for right, prompt in enumerate(group.prompts):
                _ask(app, group, right, prompt, counted)
            for kind, prompts in generic.items():
                counted.generic[kind] += [bool(_lane(app, prompt)) for prompt in prompts]
    return counted


@contextmanager
def _opened(folder: Path, memories: Sequence[str], *, encodes: bool) -> Iterator[App]:
    """A vault with these memories, opened as the daemon does."""
    lines = [
        render_item(MemoryItem(f"m-{at:06d}", text, "preference", source="user", created="2026-01-05"))
        for at, text in enumerate(memories)
    ]
    write_note(folder / "vault" / "Agent/Memory/preference.md", "\n".join(lines) + "\n")
    with measured(folder / "vault", folder / "state") as index:
        index.app.encodes = "when idle" if encodes else "never"
        index.app.context.pack(memories[0])  # the encoder learns what to read
        while index.app.encode_pending(_IDLE_S):
            pass
        yield index.app


def _ask(app: App, group: Pairs, right: int, prompt: str, counted: Counted) -> None:
    lines = _lane(app, prompt)
    counted.asked += 1
    found = group.memories[right] in lines
    counted.in_lane += found
    counted.beside += len(lines) - found
    ranked = [fit.item.text for fit in app.memory.fits(prompt, asked=True)]
    counted.ranks.append(ranked.index(group.memories[right]))
    start = app.context.start(SessionKey("bench", f"start-{right}", True)).text
    counted.with_start += found or group.memories[right] in start


def _lane(app: App, prompt: str) -> list[str]:
    """The memories that are injected with a prompt in a fresh session."""
    pack = app.context.pack(prompt)
    slots = [slot for slot in pack.slots if slot.name == "memories"]
    return [one.text.removeprefix("- ") for slot in slots for one in slot.excerpts]


# Naive rows


def ask_naive(
    row: str, groups: Sequence[Pairs], generic: Mapping[str, Sequence[str]], rate: float
) -> Counted:
    counted = Counted(generic={kind: [] for kind in generic})
    for group in groups:
        scored = {"all": _everything, "cosine": _cosines, "words": _shared}[row](group.memories)
        coding = sorted((max(scored(prompt)) for prompt in generic["coding"]), reverse=True)
        bar = coding[min(len(coding) - 1, math.floor(rate * len(coding)))] + 1e-9 if row != "all" else 0.0
        most = len(group.memories) if row == "all" else _LINES
        for right, prompt in enumerate(group.prompts):
            scores = scored(prompt)
            order = sorted(range(len(scores)), key=lambda at: -scores[at])
            lane = [at for at in order[:most] if scores[at] >= bar]
            counted.asked += 1
            counted.in_lane += right in lane
            counted.with_start += right in lane
            counted.beside += len(lane) - (right in lane)
            counted.ranks.append(order.index(right))
        for kind, prompts in generic.items():
            counted.generic[kind] += [max(scored(prompt)) >= bar for prompt in prompts]
    return counted


Scorer = Callable[[str], Sequence[float]]


def _everything(memories: Sequence[str]) -> Scorer:
    return lambda _: [1.0] * len(memories)


def _cosines(memories: Sequence[str]) -> Scorer:
    table = load_static()
    vectors = table.embed_documents(memories)

    def scores(prompt: str) -> Sequence[float]:
        found: list[float] = (vectors @ table.embed_documents([prompt])[0]).tolist()
        return found

    return scores


def _shared(memories: Sequence[str]) -> Scorer:
    words = [_words(memory) for memory in memories]
    counts = Counter(word for own in words for word in own)
    return lambda prompt: [
        sum(math.log(1 + len(memories) / counts[word]) for word in own & _words(prompt)) for own in words
    ]


def _words(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in words_of(text) if word.lower() not in STOP_WORDS)


# Figures


def told(one: Counted) -> Iterator[tuple[str, float]]:
    yield "lane", _percent(one.in_lane, one.asked)
    yield "beside", round(one.beside / one.asked, 2)
    for k in (1, 3, _LINES):
        yield f"first{k}", _percent(sum(rank < k for rank in one.ranks), one.asked)
    yield "with_start", _percent(one.with_start, one.asked)
    for kind, got in one.generic.items():
        yield kind, round(100 * _share(got), 1)


def _table(name: str, counted: Mapping[tuple[str, str], Counted], rows: Sequence[str]) -> Table:
    keys = [key for key, _ in told(counted[rows[0], name])]
    shown = {"lane": "in the lane", "first1": "first", "first3": "first 3", "first5": "first 5"}
    shown["with_start"] = "with the start"
    lines = tuple((row, *(f"{value:g}" for _, value in told(counted[row, name]))) for row in rows)
    return Table(f"{name}: %, and memories beside", ("", *(shown.get(key, key) for key in keys)), lines)


def _of_row(figures: Mapping[str, float], row: str) -> Figures:
    return {key: value for key, value in figures.items() if key.startswith(f"{row}.")}


def _share(got: Sequence[bool]) -> float:
    return sum(got) / len(got) if got else 0.0


def _percent(count: int, of: int) -> float:
    return round(100 * count / of, 1)


def _draw(result: dict[str, Any], axes: Any) -> None:
    metrics: Mapping[str, float] = result["metrics"]
    names = ("prefeval", "prefeval200", "locomo_plus")
    bars = {row: [metrics.get(f"{row}.{name}.lane", 0.0) for name in names] for row in OURS}
    for row in NAIVE[1:]:
        bars[row] = [result["baselines"][row][f"{row}.{name}.lane"] for name in names]
    width = 0.8 / len(bars)
    for at, (row, values) in enumerate(bars.items()):
        axes.bar([place + at * width for place in range(len(names))], values, width, label=row)
    axes.set_xticks([place + 0.3 for place in range(len(names))], names)
    axes.set_ylabel("memory in the prompt's lane, %")
    axes.legend()


BENCHMARK = Benchmark("memory_lane", run, _draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
