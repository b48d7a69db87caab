"""Real runs: would what was learned from earlier trials have helped the later ones?

tau-bench (50 tasks of an airline, four trials each, with all calls of tools) and ALFWorld (134 tasks, up to
15 trials, with the agent's reflections and no calls) are imported through the adapters. For every attempt
after the first trial, lessons are found from strictly earlier trials alone:

same task     all earlier runs may teach
other tasks   the attempt's own task is left out: only similar tasks can help

precision@3   of the (up to three) things retrieved for an attempt, the share of its task family: a lesson
              counts when more than half of its failures are of that family
answered      attempts for which anything was retrieved
helped        of the failures that repeat an earlier one (of the same task; or of its family, where the own
              task is left out), the share for which something of that family was retrieved
our pack      what stands in the slot of mistakes of a real context pack, of a vault whose notes learning has
              written: lessons and, where they leave room, known failures; `by a lesson`: helped by these

Beside it: the three latest failures, the three runs that BM25 finds nearest to the command, and the three
nearest of those that failed. Families: tau-bench by the gold actions that change something (reading ones
stand in the gold lists by chance), ALFWorld by what the reflections say of the task: pick, clean, heat, cool,
look, pick two. Labels judge; nothing is learned from them.

Templates are made from half of the successes of tau-bench and tried on the other half: trials 0 and 1 for
trials 2 and 3, and tasks with even numbers for those with odd ones.

support       held-out successes that a template fits
precision     of the steps foretold, the share that was done in that order; recall: of the steps done, the
              share that was foretold; next step: going along the run, how often the next call is foretold

`ours` is templates alone; `our pack` what the slots of a pack tell: the template, or where none fits, or a
single run's command is nearer than all of the template's, the run that went well.
Beside it, for the same runs: the steps of the success that BM25 finds nearest, and of the latest one.
"""

from __future__ import annotations

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
from hindbrain.learn.alike import vectors_of
from hindbrain.learn.fitting import ALIKE_ALONE
from hindbrain.learn.importing.importing import import_runs
from hindbrain.learn.lessons.finding import find_lessons
from hindbrain.learn.lessons.matching import match_lessons
from hindbrain.learn.runs.store import RunStore
from hindbrain.learn.templates.finding import find_templates
from hindbrain.learn.templates.matching import match_templates

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.learn.templates.template import Template
    from hindbrain.models.embedder import Embedder

MOST = 3
SETTINGS = ("same task", "other tasks")
_READS = ("get_", "search_", "list_", "calculate", "think")
_WORD = re.compile(r"[a-z0-9]+")
_TREATED = re.compile(r"\b(heat|cool|clean)(?:ed|ing|s)?\b")
_TWO = re.compile(r"\b(?:two|both|second)\b")
_OURS = (": ours", ": our pack")
_NOT_STEPS = ("think",)  # a thought changes nothing, and no two are alike


class Try(NamedTuple):
    """One attempt at a task."""

    episode: Episode
    task: str
    trial: int
    family: str  # "" when it is not known


class Got(NamedTuple):
    """What one way of remembering gives for an attempt: the families of what it is about."""

    families: tuple[str, ...]


def run(options: Options) -> Outcome:
    with options.work("real_runs") as work, imported(options.data, work) as (app, store, tau, alfworld):
        embedder = app.embedder
        sets = {"tau-bench": tau, "ALFWorld": alfworld}
        rows: dict[str, Figures] = {}
        for name, tries in sets.items():
            for setting in SETTINGS:
                rows |= _lessons(name, setting, tries, embedder)
        for name, tries in sets.items():
            rows[f"{name}, same task: our pack"] = _in_packs(work / "packs" / name, tries, store)
        templates = _templates(tau, embedder)
    own = {f"{name}: {key}": value for name, figures in rows.items() if name.endswith(_OURS)
           for key, value in figures.items()}  # fmt: skip
    own |= {f"templates, {name}.{key}": value for name, figures in templates.items() if name.endswith(_OURS)
            for key, value in figures.items()}  # fmt: skip
    return Outcome(
        metrics=own,
        baselines={**{name: figures for name, figures in rows.items() if not name.endswith(_OURS)},
                   **{name: figures for name, figures in templates.items() if not name.endswith(_OURS)}},
        data={"tau-bench": len(tau), "ALFWorld": len(alfworld)},
        tables=(
            compared(
                "Lessons from earlier trials, for later attempts (%)",
                ("precision@3", "answered", "helped", "by a lesson", "lessons"),
                rows,
            ),
            compared(
                "Templates from half of tau-bench's successes, on the other half (%)",
                ("support", "precision", "recall", "next step", "templates"),
                templates,
            ),
        ),
    )  # fmt: skip


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


# --- lessons


def _lessons(name: str, setting: str, tries: Sequence[Try], embedder: Embedder | None) -> dict[str, Figures]:
    """The figures of each way of remembering, for one set and one setting."""
    ways: dict[str, list[tuple[Got, Try, bool]]] = {}
    counts: list[int] = []
    for one, before in later(tries, setting):
        if not one.family:
            continue
        family_of = {other.episode.run: other.family for other in before}
        lessons = _found(before, embedder)
        counts.append(len(lessons))
        matched = match_lessons(one.episode.command, lessons, embedder, app=one.episode.app, most=MOST)
        ours = tuple(_main_family(lesson.evidence, family_of) for lesson, _ in matched)
        repeated = one.episode.failed and any(
            other.episode.failed
            and (other.task == one.task if setting == "same task" else other.family == one.family)
            for other in before
        )
        failed = [other for other in before if other.episode.failed]
        given = {
            "ours": ours,
            "latest failures": tuple(other.family for other in failed[-MOST:]),
            "BM25, runs": tuple(other.family for other in nearest(one.episode.command, before, MOST)),
            "BM25, failures": tuple(other.family for other in nearest(one.episode.command, failed, MOST)),
        }
        for way, families in given.items():
            ways.setdefault(way, []).append((Got(families), one, repeated))
    figures = {f"{name}, {setting}: {way}": _judged(got) for way, got in ways.items()}
    figures[f"{name}, {setting}: ours"]["lessons"] = sum(counts) / max(1, len(counts))
    return figures


def later(tries: Sequence[Try], setting: str) -> Iterator[tuple[Try, list[Try]]]:
    """Each attempt after the first trial, with what may be learned from."""
    ordered = sorted(tries, key=lambda one: (one.trial, one.episode.ended, one.task))
    for one in ordered:
        if one.trial:
            before = [other for other in ordered if other.trial < one.trial]
            if setting == "other tasks":
                before = [other for other in before if other.task != one.task]
            yield one, before


_FOUND: dict[tuple[str, ...], list[Any]] = {}


def _found(before: Sequence[Try], embedder: Embedder | None) -> list[Any]:
    """Lessons of these runs; kept while the same runs are asked for again."""
    key = tuple(one.episode.run for one in before)
    if key not in _FOUND:
        if len(_FOUND) > 4:
            _FOUND.clear()
        _FOUND[key] = find_lessons([one.episode for one in before], embedder)
    return _FOUND[key]


def _main_family(runs: Sequence[str], family_of: Mapping[str, str]) -> str:
    """What more than half of these runs are; "mixed" when there is none."""
    found = Counter(family_of.get(run, "") for run in runs)
    if not found:
        return "mixed"
    family, count = found.most_common(1)[0]
    return family if 2 * count > len(runs) else "mixed"


def _judged(got: Sequence[tuple[Got, Try, bool]]) -> Figures:
    right = [family == one.family for given, one, _ in got for family in given.families]
    repeats = [one.family in given.families for given, one, repeated in got if repeated]
    return {
        "precision@3": 100 * sum(right) / max(1, len(right)),
        "answered": 100 * sum(bool(given.families) for given, _, _ in got) / max(1, len(got)),
        "helped": 100 * sum(repeats) / max(1, len(repeats)),
    }


# --- packs: the same by the real notes


def _in_packs(folder: Path, tries: Sequence[Try], store: RunStore) -> Figures:
    """What the slot of mistakes holds in the real pack of each later attempt: lessons, and where they leave
    room known failures of commands like this one. Of a vault that has learned from earlier trials alone.
    """
    told: list[tuple[Try, list[str], list[str], bool]] = []
    for trial in sorted({one.trial for one in tries})[1:]:
        before = [one for one in tries if one.trial < trial]
        failed_before = {one.task for one in before if one.episode.failed}
        asked = [one for one in tries if one.trial == trial and one.family]
        for one, lessons, issues in _quoted(folder / str(trial), before, asked, store):
            repeated = one.episode.failed and one.task in failed_before
            told.append((one, lessons, issues, repeated))
    right = [family == one.family for one, lessons, issues, _ in told for family in (*lessons, *issues)]
    repeats = [(one.family in (*lessons, *issues), one.family in lessons)
               for one, lessons, issues, repeated in told if repeated]  # fmt: skip
    return {
        "precision@3": 100 * sum(right) / max(1, len(right)),
        "answered": 100 * sum(bool(lessons or issues) for _, lessons, issues, _ in told) / max(1, len(told)),
        "helped": 100 * sum(helped for helped, _ in repeats) / max(1, len(repeats)),
        "by a lesson": 100 * sum(by_lesson for _, by_lesson in repeats) / max(1, len(repeats)),
    }


def _quoted(
    folder: Path, before: Sequence[Try], asked: Sequence[Try], store: RunStore
) -> Iterator[tuple[Try, list[str], list[str]]]:
    """For each of `asked` the families of the lessons, and of the known failures, that its pack quotes."""
    from hindbrain.learn.recording.issues import find_issues

    family_of = {one.episode.run: one.family for one in before}
    with learned(folder, before, store) as app:
        families = {
            f"^{lesson.id}": _main_family(lesson.evidence, family_of) for lesson in app.learning.lessons()
        }
        issues = {
            f"^{issue.id}": _main_family(issue.runs, family_of)
            for issue in find_issues(app.learning.runs.episodes())
        }
        for one in asked:
            pack = app.context.pack(one.episode.command, preset="agent")
            ids = [id_ for slot in pack.slots if slot.name == "lessons" for excerpt in slot.excerpts
                   for id_ in excerpt.passages]  # fmt: skip
            lessons, failures = ([known[id_] for id_ in ids if id_ in known] for known in (families, issues))
            yield one, lessons, failures


# --- templates


def _templates(tries: Sequence[Try], embedder: Embedder | None) -> dict[str, Figures]:
    good = sorted(
        (one for one in tries if one.episode.is_model), key=lambda one: (one.trial, one.episode.ended)
    )
    halves: Mapping[str, Callable[[Try], bool]] = {
        "other trials": lambda one: one.trial < 2,
        "other tasks": lambda one: int(one.task.rpartition("-")[2]) % 2 == 0,
    }
    rows: dict[str, Figures] = {}
    for name, is_taught in halves.items():
        taught = [one for one in good if is_taught(one)]
        held_out = [one for one in good if not is_taught(one) and steps_of(one.episode)]
        templates = find_templates([one.episode for one in taught], embedder)
        vectors = vectors_of([one.episode.command for one in taught], embedder)
        foretold: dict[str, list[tuple[list[str], list[str]]]] = defaultdict(list)
        matched = answered = 0
        for one in held_out:
            done = steps_of(one.episode)
            near = nearest(one.episode.command, taught, 1)
            told = {"BM25-nearest": steps_of(near[0].episode) if near else [],
                    "latest": steps_of(taught[-1].episode)}  # fmt: skip
            fitting = match_templates(one.episode.command, templates, embedder, app=one.episode.app)
            for way, steps in told.items():
                foretold[f"{name}: {way}, all"].append((steps, done))
            shown = _shown(one, taught, vectors, templates, embedder)
            if shown is not None:
                answered += 1
                foretold[f"{name}: our pack"].append((shown, done))
            if fitting:
                matched += 1
                foretold[f"{name}: ours"].append((_steps_in(fitting[0][0]), done))
                for way, steps in told.items():
                    foretold[f"{name}: {way}, same runs"].append((steps, done))
        for way in (f"{name}: ours", f"{name}: our pack", *(key for key in foretold if "our" not in key)):
            if not way.startswith(name):
                continue
            rows[way] = _accuracy(foretold[way])
        rows[f"{name}: ours"] |= {
            "support": 100 * matched / max(1, len(held_out)), "templates": float(len(templates)),
        }  # fmt: skip
        rows[f"{name}: our pack"]["support"] = 100 * answered / max(1, len(held_out))
    return rows


def _shown(
    one: Try, taught: Sequence[Try], vectors: Any, templates: Sequence[Template], embedder: Embedder | None
) -> list[str] | None:
    """The steps that a pack would tell for this command; None when it has neither template nor run."""
    command = one.episode.command
    likeness = vectors @ vectors_of([command], embedder)[0]
    at = int(likeness.argmax())
    known = float(likeness[at]) if likeness[at] >= ALIKE_ALONE else 0.0
    fitting = match_templates(command, templates, embedder, app=one.episode.app, nearest_run=known)
    if fitting:
        return _steps_in(fitting[0][0])
    return steps_of(taught[at].episode) if known else None


def _steps_in(template: Template) -> list[str]:
    return [step.action for step in template.steps if step.action not in _NOT_STEPS]


def steps_of(episode: Episode) -> list[str]:
    return [action.name for action in episode.actions if action.name not in _NOT_STEPS]


def _accuracy(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Figures:
    common = [len(common_places(told, done)) for told, done in pairs]
    told_in_all = sum(len(told) for told, _ in pairs)
    done_in_all = sum(len(done) for _, done in pairs)
    foreseen = sum(next_steps(told, done) for told, done in pairs)
    return {
        "precision": 100 * sum(common) / max(1, told_in_all),
        "recall": 100 * sum(common) / max(1, done_in_all),
        "next step": 100 * foreseen / max(1, done_in_all),
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

    ways = {"ours": COLOURS["ours"], "BM25, failures": COLOURS["bm25"], "latest failures": COLOURS["rrf"]}
    places = [(name, setting) for name in ("tau-bench", "ALFWorld") for setting in SETTINGS]
    for at, (way, colour) in enumerate(ways.items()):
        heights = []
        for name, setting in places:
            key = f"{name}, {setting}: {way}"
            own = result["baselines"].get(key, {}).get("precision@3")
            heights.append(result["metrics"].get(f"{key}: precision@3", 0.0) if way == "ours" else own)
        lefts = [place + (at - 1) * 0.28 for place in range(len(places))]
        drawn = axes.bar(lefts, heights, 0.26, color=colour, label=way)
        axes.bar_label(drawn, [f"{height:.0f}" for height in heights], fontsize=8, padding=1)
    axes.set_xticks(range(len(places)), ["\n".join(place) for place in places], fontsize=8)
    axes.set_ylim(0, 106)
    headline(axes, "Real runs: precision@3 of lessons (%)")
    legend(axes, 3)


BENCHMARK = Benchmark("real_runs", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
