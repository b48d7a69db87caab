"""All arms on the same desktop: figures per arm over all runs, their spread over seeds, and curves."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.frame import Benchmark, Options, Outcome, Table
from benchmarks.learning.figures import NONE, Figures, curve, figures
from benchmarks.learning.keyword_memory import KeywordMemory
from benchmarks.learning.kinds import KINDS, TASTES
from benchmarks.learning.memories import Memory, NoMemory, Ran
from benchmarks.learning.past_runs import LatestRuns, NearestRuns
from benchmarks.learning.simulate import simulate, simulate_oracle
from benchmarks.learning.tasks import make_tasks
from benchmarks.learning.vault_memory import LESSONS, TEMPLATES, VaultMemory
from benchmarks.learning.world import World

RUNS = 200
# Not for figures: 1 to 3 shaped this world and the thresholds of lessons and templates; 11 shaped how the
# agent reads, since our packs of it were searched for misreadings; on 11 to 13 and 21 to 23 numbers of cases
# were tried.
SEEDS = (14, 15, 16)
NOTHING, LATEST, KEYWORDS, OURS, BEST = "nothing", "latest runs", "keyword memory", "hindbrain", "all known"
GOOD, FAILED, NEAREST = "BM25-nearest success", "BM25-nearest failure", "BM25-nearest runs"
NO_LESSONS, NO_TEMPLATES, CASES = "... without lessons", "... without templates", "... cases alone"
_ABLATIONS = (NO_LESSONS, NO_TEMPLATES, CASES)
ARMS = (NOTHING, LATEST, GOOD, FAILED, NEAREST, KEYWORDS, OURS, *_ABLATIONS, BEST)
CURVES = ("repeats", "iterations", "success", "taste")
_BINS = 10
_IN_MEMORY = Path("/dev/shm")  # a file system that has no disk to wait for, where there is one
# The reference's five success metrics. "down": less than without memory.
_METRICS = (
    ("repeats.down", "repeated failures, down by %", ">= 80"),
    ("iterations.down", "iterations of known tasks, down by %", ">= 40"),
    ("taste", "as the user likes it, %", ""),
    ("template", "steps followed 10 times: success, %", "> 85"),
    ("relevance", "relevant of what the command found, %", "> 80"),
    ("relevance, all", "of all that was injected, %", "> 80"),
)
_BESIDE = {
    "repeats": "repeats %",
    "preventable": "preventable %",
    "iterations": "iterations",
    "success": "success %",
    "followed": "followed %",
    "followed often": "10 times before",
    "memories": "memories",
    "tokens": "tokens",
    "ms": "ms a run",
}
_MADE: Mapping[str, Callable[[Path], Memory]] = {
    NOTHING: lambda _: NoMemory(),
    LATEST: lambda _: LatestRuns(),
    GOOD: lambda _: NearestRuns("success"),
    FAILED: lambda _: NearestRuns("failed"),
    NEAREST: lambda _: NearestRuns("success", "failed"),
    KEYWORDS: KeywordMemory,
    OURS: VaultMemory,
    NO_LESSONS: lambda folder: VaultMemory(folder, LESSONS),
    NO_TEMPLATES: lambda folder: VaultMemory(folder, TEMPLATES),
    CASES: lambda folder: VaultMemory(folder, LESSONS, TEMPLATES),
}


def run(options: Options) -> Outcome:
    runs = options.limit or RUNS
    seeds = SEEDS if runs >= RUNS else SEEDS[:1]
    jobs = [(seed, arm) for seed in seeds for arm in ARMS if arm not in _ABLATIONS or seed == seeds[0]]
    found: dict[str, list[Figures]] = {arm: [] for arm in ARMS}
    curves: dict[str, list[list[float]]] = {}
    # Arms know nothing of each other: as many at once as there are cores.
    with _work_folder() as work, ProcessPoolExecutor(1 if options.limit else None) as pool:
        done = pool.map(_measured, jobs, repeat(runs), repeat(Path(work)))
        for (_, arm), (figures_, of_arm) in zip(jobs, done, strict=True):
            found[arm].append(figures_)
            for name, one in of_arm.items():
                curves.setdefault(f"{arm}.{name}", []).append(one)
    return _outcome(found, curves, runs, seeds)


def _work_folder() -> tempfile.TemporaryDirectory[str]:
    """In memory where that is possible: how long a disk takes is no part of what is asked here."""
    place = _IN_MEMORY if _IN_MEMORY.is_dir() else None
    return tempfile.TemporaryDirectory(prefix="hindbrain-bench-learning-", dir=place)


def _measured(job: tuple[int, str], runs: int, work: Path) -> tuple[Figures, dict[str, list[float]]]:
    """In a process of its own."""
    seed, arm = job
    world = World(KINDS, TASTES, seed)
    began = time.perf_counter()
    ran = perform_arm(world, arm, runs, work / f"{seed} {arm}")
    per_run = 1e3 * (time.perf_counter() - began) / runs
    return figures(world, ran) | {"ms": per_run}, {name: curve(world, ran, name, _BINS) for name in CURVES}


def perform_arm(world: World, arm: str, runs: int, folder: Path) -> list[Ran]:
    tasks = make_tasks(world, runs)
    if arm == BEST:
        return list(simulate_oracle(world, tasks))
    memory = _MADE[arm](folder)
    try:
        return list(simulate(world, tasks, memory))
    finally:
        memory.close()


def _outcome(
    found: Mapping[str, Sequence[Figures]],
    curves: Mapping[str, Sequence[Sequence[float]]],
    runs: int,
    seeds: Sequence[int],
) -> Outcome:
    compared = {arm: _against(own, found[NOTHING]) for arm, own in found.items()}
    means = {arm: {name: _mean_of(own, name) for name in own[0]} for arm, own in compared.items()}
    metrics = dict(means[OURS])
    for name, parts in curves.items():
        for place in range(_BINS):
            seen = [one[place] for one in parts if one[place] >= 0]
            metrics[f"curve.{name}.{place}"] = mean(seen) if seen else -1.0
    shown = compared if len(seeds) == 1 else _with_first_seed(compared)
    spread = f"mean ± spread of {len(seeds)} seeds (ablations: of the first)"
    title = f"{runs} runs, {spread if len(seeds) > 1 else 'one seed'}"
    return Outcome(
        metrics=metrics,
        baselines={arm: own for arm, own in means.items() if arm != OURS},
        data={"runs": runs, "seeds": ", ".join(map(str, seeds)), "kinds": len(KINDS), "tastes": len(TASTES)},
        tables=(_goals(shown, title), _beside(shown), _standing(means)),
    )


def _with_first_seed(found: Mapping[str, Sequence[Figures]]) -> dict[str, Sequence[Figures]]:
    """With ours of the first seed alone, which is what the ablations compare with."""
    shown: dict[str, Sequence[Figures]] = {}
    for arm, own in found.items():
        shown[arm] = own
        if arm == OURS:
            shown[f"{arm}, first seed"] = own[:1]
    return shown


def _against(own: Sequence[Figures], nothing: Sequence[Figures]) -> list[Figures]:
    """With how much less there is of what should not be, seed by seed."""
    return [
        one | {f"{name}.down": 100 * (1 - one[name] / max(1e-9, other[name]))
               for name in ("repeats", "preventable", "iterations")}
        for one, other in zip(own, nothing, strict=False)
    ]  # fmt: skip


def _mean_of(own: Sequence[Figures], name: str) -> float:
    seen = [one[name] for one in own if one[name] != NONE]
    return mean(seen) if seen else NONE


def _goals(found: Mapping[str, Sequence[Figures]], title: str) -> Table:
    """The reference's success metrics, all arms."""
    rows = [(arm, *(_spread(own, name) for name, _, _ in _METRICS)) for arm, own in found.items()]
    goals = ("goal", *(goal for _, _, goal in _METRICS))
    return Table(f"Simulated desktop, {title}", ("", *(label for _, label, _ in _METRICS)), (*rows, goals))


def _beside(found: Mapping[str, Sequence[Figures]]) -> Table:
    rows = tuple((arm, *(_spread(own, name) for name in _BESIDE)) for arm, own in found.items())
    return Table("Simulated desktop, what stands behind it", ("", *_BESIDE.values()), rows)


def _standing(means: Mapping[str, Figures]) -> Table:
    """Ours beside the best of the arms that are not ours, won or lost."""
    rivals = [arm for arm in ARMS if arm not in (OURS, *_ABLATIONS, BEST)]
    rows = []
    for name, label, goal in _METRICS:
        best = max(rivals, key=lambda arm: means[arm][name])
        own, other = means[OURS][name], means[best][name]
        stands = "level" if round(own - other, 1) == 0 else "ahead" if own > other else "behind"
        shown = ["-" if value == NONE else f"{value:.1f}" for value in (own, other)]
        rows.append((label, *shown, best, stands, goal))
    return Table("Hindbrain and the best other arm", ("", OURS, "best", "of", "", "goal"), tuple(rows))


def _spread(own: Sequence[Figures], name: str) -> str:
    values = [one[name] for one in own if one[name] != NONE]
    if not values:
        return "-"
    digits = 0 if mean(values) >= 100 else 1
    around = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{around}"


def draw(result: dict[str, Any], axes: Any) -> None:
    """Repeated failures over time, of four arms; beside it the iterations of known tasks."""
    from benchmarks.plots import COLOURS, headline, legend

    colours = {
        NOTHING: COLOURS["rrf"], KEYWORDS: COLOURS["dense"], NEAREST: COLOURS["bm25"], OURS: COLOURS["ours"],
    }  # fmt: skip
    runs = int(result["data"]["runs"])
    places = [(at + 0.5) * runs / _BINS for at in range(_BINS)]
    for arm, colour in colours.items():
        heights = [result["metrics"][f"curve.{arm}.repeats.{at}"] for at in range(_BINS)]
        axes.plot(places, heights, color=colour, label=arm)
        heights = [result["metrics"][f"curve.{arm}.iterations.{at}"] for at in range(_BINS)]
        shown = [(place, height) for place, height in zip(places, heights, strict=True) if height >= 0]
        if shown:
            axes.plot(*zip(*shown, strict=True), color=colour, linestyle=":")
    axes.set_xlabel("runs", fontsize=9)
    axes.set_ylim(bottom=0)
    headline(axes, "Simulated desktop: repeated failures (%), iterations (dotted)")
    legend(axes)


BENCHMARK = Benchmark("learning", run, draw)
