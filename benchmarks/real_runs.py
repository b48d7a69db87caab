"""Real runs: what do the packs of a vault that has learned from some runs say for others?

tau-bench (50 tasks of an airline, four trials each, with all calls of tools) and ALFWorld (134 tasks, up to
15 trials, with the agent's reflections and no calls) are imported through the adapters. A vault learns from
some runs, and for each other run the real pack of preset `agent` is made and read.

same task     the vault knows the earlier trials of all tasks
other tasks   it knows all trials of half of the tasks, and is asked about the other half; both ways

failures told   of the failed runs whose task (or family, for other tasks) the vault has seen fail, those
                whose pack quotes a failure of that family
precision@3     of the (up to three) failures quoted, those of the run's family
next step       of a success, going along the run, how often the next call is the one that the pack tells
steps recall    of the calls of a success, the share that the pack tells, in their order; precision: of the
                calls told, the share that was made

Families: tau-bench by the gold actions that change something, ALFWorld by what the reflections say of the
task. Labels judge; nothing is learned from them. Of a pack, only what stands in it counts: calls are read
from its text, as anybody would.

Beside it, from the same runs: the nearest run that failed, or went well, by BM25 over command and reason; the
latest; nothing. `unrelated`: prompts of the other set, and public prompts about nothing of the kind, whose
pack tells any case. `contradictions`: packs that say not to do a call that they also tell as a step.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.datasets import find_one, read_json, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, compared, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.learn.importing.importing import import_runs
from hindbrain.learn.recording.issues import find_issues
from hindbrain.learn.runs.store import RunStore

if TYPE_CHECKING:
    from hindbrain.context.packs.pack import Pack
    from hindbrain.learn.runs.episode import Episode

MOST = 3
OURS, NEAREST, LATEST, NOTHING = "our pack", "BM25-nearest", "latest", "nothing"
_READS = ("get_", "search_", "list_", "calculate", "think")
_WORD = re.compile(r"[a-z0-9]+")
_TREATED = re.compile(r"\b(heat|cool|clean)(?:ed|ing|s)?\b")
_TWO = re.compile(r"\b(?:two|both|second)\b")
_NOT_STEPS = ("think",)  # a thought changes nothing, and no two are alike
_CALL = re.compile(r"\b([a-z]\w+)\((?:[^,]*?\) x(\d+))?")
_FORBIDDEN = re.compile(r"(?i)\b(?:do not|don't|never|avoid) `([^`]+)`")
_CASES = ("lessons", "template", "skills")


class Try(NamedTuple):
    """One attempt at a task."""

    episode: Episode
    task: str
    trial: int
    family: str  # "" when it is not known


class Split(NamedTuple):
    """What a vault learns from, and what it is asked about."""

    name: str
    taught: Sequence[Try]
    asked: Sequence[Try]


class Told(NamedTuple):
    """What one way of remembering tells for a run."""

    failures: tuple[str, ...] = ()  # their families
    steps: tuple[str, ...] = ()


def run(options: Options) -> Outcome:
    with options.work("real_runs") as work, imported(options.data, work) as (_, store, tau, alfworld):
        sets = {"tau-bench": tau, "ALFWorld": alfworld}
        failures: dict[str, Figures] = {}
        steps: dict[str, Figures] = {}
        packs: dict[str, Figures] = {}
        for name, tries in sets.items():
            other = sets["ALFWorld" if name == "tau-bench" else "tau-bench"]
            strange = [*{one.episode.command: None for one in other if one.family}][:100]
            strange += generic(options.data)
            for setting, splits in (
                ("same task", _by_trial(tries)),
                ("other tasks", _by_task(tries)),
                ("odd tasks", list(_by_task(tries))[:1]),
            ):
                if setting == "odd tasks" and name != "tau-bench":
                    continue
                _measure(work, f"{name}, {setting}", splits, store, strange, failures, steps, packs)
    rows: dict[str, Figures] = defaultdict(dict)
    for table in (failures, steps, packs):
        for name, figures in table.items():
            rows[name] |= figures
    return Outcome(
        metrics={
            f"{name}: {key}": value
            for name, figures in rows.items()
            if OURS in name
            for key, value in figures.items()
        },
        baselines={name: figures for name, figures in rows.items() if OURS not in name},
        data={"tau-bench": len(tau), "ALFWorld": len(alfworld)},
        tables=(
            compared("Known failures, told to later runs (%)", ("failures told", "precision@3"), failures),
            compared(
                "Steps of successes (%)", ("next step", "steps recall", "precision", "told"), steps
            ),
            compared("Packs", ("packs", "contradictions", "unrelated %"), packs),
        ),
    )  # fmt: skip


def _measure(
    work: Path, name: str, splits: Iterable[Split], store: RunStore, strange: Sequence[str],
    failures: dict[str, Figures], steps: dict[str, Figures], packs: dict[str, Figures],
) -> None:  # fmt: skip
    """All ways of remembering on the same runs; the figures are added to the three tables."""
    told: dict[str, list[tuple[Told, Try, bool]]] = defaultdict(list)
    texts: list[str] = []
    unrelated: list[bool] = []
    for number, split in enumerate(splits):
        failed = [one for one in split.taught if one.episode.failed]
        good = [one for one in split.taught if one.episode.is_model and steps_of(one.episode)]
        with learned(work / "packs" / f"{name} {number}", split.taught, store) as app:
            read = _reader(app, split.taught)
            for one in split.asked:
                command = one.episode.command
                pack = app.context.pack(command, preset="agent")
                texts.append(app.context.rendered(pack, "xml"))
                ways = {
                    OURS: read(pack),
                    NEAREST: Told(
                        tuple(other.family for other in nearest(command, failed, MOST)),
                        _steps(nearest(command, good, 1)),
                    ),
                    LATEST: Told(tuple(other.family for other in failed[-MOST:]), _steps(good[-1:])),
                    NOTHING: Told(),
                }
                repeated = one.episode.failed and _was_seen(one, failed, split.name)
                for way, what in ways.items():
                    told[way].append((what, one, repeated))
            unrelated += [_tells_cases(app.context.pack(prompt, preset="agent")) for prompt in strange]
    for way, some in told.items():
        failures[f"{name}: {way}"] = _failures_told(some)
        asked = [(what.steps, steps_of(one.episode)) for what, one, _ in some if one.episode.is_model]
        asked = [(one, done) for one, done in asked if done]
        if asked:
            steps[f"{name}: {way}"] = _accuracy(asked)
    packs[f"{name}: {OURS}"] = {
        "packs": float(len(texts)),
        "contradictions": float(sum(map(contradicts_itself, texts))),
        "unrelated %": 100 * sum(unrelated) / max(1, len(unrelated)),
    }


def _was_seen(one: Try, failed: Sequence[Try], setting: str) -> bool:
    if setting == "same task":
        return any(other.task == one.task for other in failed)
    return any(other.family == one.family for other in failed)


def _reader(app: App, taught: Sequence[Try]) -> Callable[[Pack], Told]:
    """What a pack tells: the families of the failures that it quotes, and the first steps in it."""
    family_of = {one.episode.run: one.family for one in taught}
    families = {
        f"^{lesson.id}": _main_family(lesson.evidence, family_of) for lesson in app.learning.lessons()
    }
    for issue in find_issues(app.learning.runs.episodes()):
        families[f"^{issue.id}"] = _main_family(issue.runs, family_of)

    def read(pack: Pack) -> Told:
        failed = [families[id_] for slot in pack.slots if slot.name == "lessons" for excerpt in slot.excerpts
                  for id_ in excerpt.passages if id_ in families]  # fmt: skip
        ways = [excerpt.text for slot in pack.slots if slot.name in ("template", "skills", "relevant")
                for excerpt in slot.excerpts if _CALL.search(excerpt.text)]  # fmt: skip
        return Told(tuple(failed), calls_in(ways[0]) if ways else ())

    return read


def calls_in(text: str) -> tuple[str, ...]:
    """The tools that a text names as calls, in order; `x3` stands for three of them."""
    return tuple(
        name
        for name, times in _CALL.findall(text)
        for _ in range(min(9, int(times or 1)))
        if name not in _NOT_STEPS
    )


def contradicts_itself(text: str) -> bool:
    """Does a pack say not to do a call that it tells as a step as well?"""
    for deed in _FORBIDDEN.findall(text):
        others = re.sub(rf"(?i)\b(?:do not|don't|never|avoid) `{re.escape(deed)}`", "", text)
        steps = [line for line in others.split("\n") if re.match(r"\W*\d+\. |.*Key actions:", line)]
        if any(deed in line for line in steps):
            return True
    return False


def _tells_cases(pack: Pack) -> bool:
    return any(
        excerpt.path
        for slot in pack.slots
        for excerpt in slot.excerpts
        if slot.name in _CASES or (slot.name == "relevant" and "**Key actions:**" in excerpt.text)
    )


def generic(data: Path) -> list[str]:
    """Public prompts that are about nothing of the kind."""
    path = find_one(data, "generic prompts", ("prompts_generic*",))
    groups = json.loads(path.read_text(encoding="utf-8"))
    return [prompt for group in groups.values() for prompt in group[:50] if isinstance(prompt, str)]


# --- the runs


@contextmanager
def imported(data: Path, work: Path) -> Iterator[tuple[App, RunStore, list[Try], list[Try]]]:
    tau = unpacked(find_one(data, "runs of tau-bench", ("runs_tau_bench*",)), work)
    alfworld = unpacked(find_one(data, "runs of ALFWorld", ("runs_alfworld*",)), work)
    with opened(work / "imported") as app:
        store = RunStore(app.root, app.state, lambda: app.writer)
        logs = sorted(tau.rglob("historical_trajectories/*.json"))
        import_runs(store, logs, format="tau-bench")
        import_runs(
            store, sorted(alfworld.rglob("reflexion_run_logs/env_results_trial_*.json")), format="reflexion"
        )
        episodes = store.episodes()
        yield app, store, _tau_tries(episodes, logs), _alfworld_tries(episodes)


@contextmanager
def opened(folder: Path) -> Iterator[App]:
    (folder / "vault").mkdir(parents=True, exist_ok=True)
    clock = FakeClock(1_790_000_000.0)
    app = build_app(bench_config(folder / "state"), folder / "vault", clock=clock, warm=True)
    app.state.mkdir(parents=True, exist_ok=True)
    try:
        yield app
    finally:
        app.close()


@contextmanager
def learned(folder: Path, tries: Sequence[Try], store: RunStore) -> Iterator[App]:
    """A vault that has learned from these runs alone."""
    shutil.rmtree(folder, ignore_errors=True)  # kept from an earlier run: it may know later trials
    with opened(folder) as app:
        app.learning.runs.add_imported("earlier", (list(store.events(one.episode.run)) for one in tries))
        app.learning.learn()
        app.sync()
        yield app


def _by_trial(tries: Sequence[Try]) -> Iterator[Split]:
    """Each trial after the first, with what came before it."""
    for trial in sorted({one.trial for one in tries})[1:]:
        before = _in_order(one for one in tries if one.trial < trial)
        yield Split("same task", before, [one for one in tries if one.trial == trial and one.family])


def _by_task(tries: Sequence[Try]) -> Iterator[Split]:
    """Half of the tasks, and the other half."""
    for taught in (0, 1):
        is_taught = {one.task: int(re.findall(r"\d+", one.task)[-1]) % 2 == taught for one in tries}
        yield Split(
            "other tasks",
            _in_order(one for one in tries if is_taught[one.task]),
            [one for one in tries if not is_taught[one.task] and one.family],
        )


def _in_order(tries: Iterable[Try]) -> list[Try]:
    return sorted(tries, key=lambda one: (one.trial, one.episode.ended, one.task))


def _tau_tries(episodes: Sequence[Episode], logs: Sequence[Path]) -> list[Try]:
    gold: dict[str, str] = {}
    for log in logs:
        for record in read_json(log):
            names = {action["name"] for action in record["info"]["task"]["actions"]}
            kept = sorted(name for name in names if not name.startswith(_READS))
            gold[str(record["task_id"])] = " + ".join(kept) or "nothing is changed"
    tries = []
    for episode in episodes:
        if episode.host == "tau-bench" and "/" in episode.session:
            task, trial = episode.session.rsplit("/", 1)
            tries.append(Try(episode, task, int(trial), gold.get(task.rpartition("-")[2], "")))
    return tries


def _alfworld_tries(episodes: Sequence[Episode]) -> list[Try]:
    kept = [episode for episode in episodes if episode.host.startswith("alfworld")]
    said: dict[str, list[str]] = defaultdict(list)
    for episode in kept:
        if episode.reason:
            said[episode.session.rsplit("/", 1)[0]].append(alfworld_family(episode.reason))
    families = {task: Counter(found).most_common(1)[0][0] for task, found in said.items()}
    tries = []
    for episode in kept:
        task, trial = episode.session.rsplit("/", 1)
        tries.append(Try(episode, task, int(trial), families.get(task, "")))
    return tries


def alfworld_family(reflection: str) -> str:
    text = reflection.lower()
    if "desklamp" in text:
        return "look"
    treated = Counter(_TREATED.findall(text))
    if treated:
        return str(treated.most_common(1)[0][0])
    return "pick two" if _TWO.search(text) else "pick"


def _main_family(runs: Sequence[str], family_of: Mapping[str, str]) -> str:
    """What more than half of these runs are; "mixed" when there is none."""
    found = Counter(family_of.get(run, "") for run in runs)
    if not found:
        return "mixed"
    family, count = found.most_common(1)[0]
    return family if 2 * count > len(runs) else "mixed"


# --- figures


def _failures_told(told: Sequence[tuple[Told, Try, bool]]) -> Figures:
    right = [family == one.family for what, one, _ in told for family in what.failures]
    repeats = [one.family in what.failures for what, one, repeated in told if repeated]
    return {
        "failures told": 100 * sum(repeats) / max(1, len(repeats)),
        "precision@3": 100 * sum(right) / max(1, len(right)),
    }


def _steps(tries: Sequence[Try]) -> tuple[str, ...]:
    return tuple(steps_of(tries[0].episode)) if tries else ()


def steps_of(episode: Episode) -> list[str]:
    return [action.name for action in episode.actions if action.name not in _NOT_STEPS]


def _accuracy(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Figures:
    common = [len(common_places(told, done)) for told, done in pairs]
    told_in_all = sum(len(told) for told, _ in pairs)
    done_in_all = sum(len(done) for _, done in pairs)
    foreseen = sum(next_steps(told, done) for told, done in pairs)
    return {
        "next step": 100 * foreseen / max(1, done_in_all),
        "steps recall": 100 * sum(common) / max(1, done_in_all),
        "precision": 100 * sum(common) / max(1, told_in_all),
        "told": 100 * sum(bool(told) for told, _ in pairs) / max(1, len(pairs)),
    }


def common_places(told: Sequence[str], done: Sequence[str]) -> list[tuple[int, int]]:
    """The longest common sequence, as pairs of places."""
    lengths = [[0] * (len(done) + 1) for _ in range(len(told) + 1)]
    for i in range(len(told) - 1, -1, -1):
        for j in range(len(done) - 1, -1, -1):
            same = told[i] == done[j]
            lengths[i][j] = 1 + lengths[i + 1][j + 1] if same else max(lengths[i + 1][j], lengths[i][j + 1])
    places, i, j = [], 0, 0
    while i < len(told) and j < len(done):
        if told[i] == done[j]:
            places.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return places


def next_steps(told: Sequence[str], done: Sequence[str]) -> int:
    """How often the next call is the one foretold, for somebody who goes along the run with the steps.

    After a call that is foretold later, they go on from there; one that is not foretold moves nothing.
    """
    at, right = 0, 0
    for call in done:
        if at < len(told) and told[at] == call:
            right, at = right + 1, at + 1
        elif call in told[at:]:
            at = told.index(call, at) + 1
    return right


# --- BM25


def nearest(query: str, tries: Sequence[Try], most: int) -> list[Try]:
    """The runs whose command and reason BM25 finds nearest; those that share no word are left out."""
    scores = Bm25([f"{one.episode.command} {one.episode.reason}" for one in tries]).scores(query)
    best = sorted(range(len(tries)), key=lambda at: (-scores[at], -at))[:most]
    return [tries[at] for at in best if scores[at] > 0]


class Bm25:
    """Okapi BM25 with the usual k1 = 1.2 and b = 0.75."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [Counter(_words(text)) for text in texts]

    @cached_property
    def _held(self) -> Counter[str]:
        return Counter(word for words in self._words for word in words)

    @cached_property
    def _mean_length(self) -> float:
        return sum(words.total() for words in self._words) / max(1, len(self._words)) or 1.0

    def scores(self, query: str) -> list[float]:
        wanted = set(_words(query))
        total = len(self._words)
        idf = {
            word: math.log(1 + (total - self._held[word] + 0.5) / (self._held[word] + 0.5)) for word in wanted
        }
        return [self._score(words, idf) for words in self._words]

    def _score(self, words: Counter[str], idf: Mapping[str, float]) -> float:
        length = 0.25 + 0.75 * words.total() / self._mean_length
        return sum(
            weight * words[word] * 2.2 / (words[word] + 1.2 * length)
            for word, weight in idf.items()
            if word in words
        )


def _words(text: str) -> Iterable[str]:
    return _WORD.findall(text.lower())


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import COLOURS, headline, legend

    ways = {OURS: COLOURS["ours"], NEAREST: COLOURS["bm25"], LATEST: COLOURS["rrf"]}
    places = [
        (name, setting) for name in ("tau-bench", "ALFWorld") for setting in ("same task", "other tasks")
    ]
    for at, (way, colour) in enumerate(ways.items()):
        names = [f"{name}, {setting}: {way}" for name, setting in places]
        heights = [
            result["metrics"][f"{name}: failures told"]
            if way == OURS
            else result["baselines"][name]["failures told"]
            for name in names
        ]
        lefts = [place + (at - 1) * 0.28 for place in range(len(places))]
        drawn = axes.bar(lefts, heights, 0.26, color=colour, label=way)
        axes.bar_label(drawn, [f"{height:.0f}" for height in heights], fontsize=8, padding=1)
    axes.set_xticks(range(len(places)), ["\n".join(place) for place in places], fontsize=8)
    axes.set_ylim(0, 106)
    headline(axes, "Real runs: failures that were told (%)")
    legend(axes, 3)


BENCHMARK = Benchmark("real_runs", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
