"""Can a pack do harm? It could contradict itself, or bring what belongs to another matter.

Contradictions: for every later attempt of tau-bench and ALFWorld a real pack of a vault that has learned from
earlier trials alone. A pack contradicts itself when one thing in it warns of what another thing tells to do:

a lesson     says not to make a call, and a template, a past run or another lesson tells to make it; or it
             says that nothing has worked yet, and a template or a past run says otherwise
a failure    shows the calls of a run that failed, and a template or a past run tells the same calls, all of
             them and in the same order
a correction takes a command back, and a past run shows that command as one that went well

Judged by the journals themselves, not by what the product thinks of them. `same tools`: packs in which only
the tools and their order are the same, with other arguments: no contradiction, but as near as they come.
ALFWorld's logs tell no calls. Public logs hardly contradict themselves, so hand-made journals do: for each of
12 tasks one run that failed and one that went well, with the same calls. Beside ours: the three failures and
the two successes that BM25 finds nearest to the command, and the latest ones.

Unrelated: a vault with runs of one domain, or with 20 preferences of PrefEval, is asked with the commands of
another domain. Columns: attempts that get a memory, a lesson or known failure, a template, a past run, a
passage of a note, any of these; and `reach`, the prompts of its own domain that get anything.
`whatever is asked`: attempts whose pack names the last runs, which the slot `recent` does for every prompt.
Preferences about travel are not counted as unrelated to tau-bench's flights.

nearest   the nearest thing by BM25, always      BM25   the nearest thing, where it shares a word
BM25, equal reach; cosine, equal reach           with the bar that reaches as many prompts of the own domain
                                                 as our `turn` pack does
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.datasets import find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, compared, main
from benchmarks.metrics import Figures
from benchmarks.rankers import write_note
from benchmarks.real_runs import Bm25, Try, imported, learned, nearest, opened
from hindbrain.learn.recording.corrections import corrections
from hindbrain.learn.recording.issues import find_issues
from hindbrain.learn.recording.wording import block_id, is_deed, what_worked
from hindbrain.learn.runs.events import RunCreated, RunEnded, ToolExecuted
from hindbrain.models.encoder import AUTO, find_encoder
from hindbrain.models.static import load_static
from hindbrain.vault.items.item import MemoryItem, render_item

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.context.packs.pack import Pack
    from hindbrain.learn.runs.episode import Action
    from hindbrain.learn.runs.events import Event
    from hindbrain.learn.runs.store import RunStore

PRESETS = ("turn", "agent")
GOAL = 5.0  # % of attempts that may get something unrelated: the setting context.false_rate
_FAILURES, _RUNS = 3, 2  # that the plain rows tell
_STORED = {"tau-bench": 3, "ALFWorld": 4}  # trials that are stored; the later ones are the own prompts
_DRAWS = 5  # of 20 preferences
_FOUND = ("memories", "relevant", "apps", "template", "lessons", "skills")  # slots that depend on the prompt
_KINDS = ("memory", "lesson", "template", "run", "note")
_ANYTHING = re.compile(r"\\\{\w+\\\}")
_HOPELESS = re.compile(r"\b(?:nothing|no run)\b[^.;]{0,30}\bworked\b")
_IDLE_S = 60.0


def run(options: Options) -> Outcome:
    pairs = read_json(find_one(options.data, "PrefEval", ("memory_prefeval*.json",)))["draws"]
    agreement: dict[str, Figures] = {}
    unrelated: dict[str, Figures] = {}
    with options.work("harm") as work, imported(options.data, work) as (_, store, tau, alfworld):
        sets = {"tau-bench": tau, "ALFWorld": alfworld}
        for name, tries in sets.items():
            agreement |= _agreement(name, tries, store, work / "packs" / name)
        agreement |= _forced_agreement(work / "forced")
        asked = {name: _commands(tries)[: options.limit or None] for name, tries in sets.items()}
        asked["PrefEval"] = [pair["question"] for pair in pairs[0]]
        for name, tries in sets.items():
            unrelated |= _of_runs(name, tries, store, work / "runs" / name, asked)
        del asked["PrefEval"]
        draws = pairs[: 1 if options.limit else _DRAWS]
        unrelated |= _of_preferences(draws, work / "preferences", asked)
    losses = tuple(_losses(agreement, unrelated))
    rows = agreement | unrelated
    return Outcome(
        metrics={f"{row}: {key}": value for row, own in rows.items() if _is_ours(row)
                 for key, value in own.items()},
        baselines={row: own for row, own in rows.items() if not _is_ours(row)},
        data={"tau-bench": len(tau), "ALFWorld": len(alfworld), "preferences": len(pairs[0])},
        tables=(
            compared("Packs that contradict themselves", ("packs", "both sides", "contradict", "same tools",
                                                          "left out"), agreement),
            compared("Attempts that get something unrelated (%)",
                     (*_KINDS, "any", "whatever is asked", "reach"), unrelated),
            Table(f"Rows where we lose (more than {GOAL:g} %, or more than a plain row that reaches as many)",
                  ("", "any", "against"), losses or (("none", "", ""),)),
        ),
    )  # fmt: skip


def _is_ours(row: str) -> bool:
    return row.rpartition(": ")[2].startswith("our")


# --- contradictions


class Says(NamedTuple):
    """What one thing in a prompt says, by the journals."""

    do: tuple[str, ...] = ()  # calls to make, in their order
    avoid: str = ""  # a call not to make
    failed: tuple[str, ...] = ()  # the calls of a run that failed, in their order
    went_well: str = ""  # the command of a run that did, the note of a template
    taken_back: str = ""  # a command that its user replaced
    hopeless: bool = False  # it says that nothing has worked yet


@dataclass
class Agreement:
    """Packs of one row, counted."""

    packs: int = 0
    both_sides: int = 0  # that warn of something and tell to do something
    contradict: int = 0
    same_tools: int = 0
    left_out: int = 0  # from which a contradiction was kept out

    def add(self, told: Sequence[Says], *, left_out: bool = False) -> None:
        self.packs += 1
        warns = any(one.avoid or one.failed or one.taken_back or one.hopeless for one in told)
        self.both_sides += warns and any(one.do or one.went_well for one in told)
        self.contradict += any(_contradicts(one, other, _is_call) for one in told for other in told)
        self.same_tools += any(_contradicts(one, other, _is_tool) for one in told for other in told)
        self.left_out += left_out

    def figures(self) -> Figures:
        return {
            "packs": self.packs, "both sides": self.both_sides, "contradict": self.contradict,
            "same tools": self.same_tools - self.contradict, "left out": self.left_out,
        }  # fmt: skip


def _contradicts(warning: Says, other: Says, is_same: Callable[[str, str], bool]) -> bool:
    if warning.avoid and any(is_same(warning.avoid, call) for call in other.do):
        return True
    if warning.hopeless and other.went_well:
        return True
    if warning.taken_back and warning.taken_back.casefold() == other.went_well.casefold():
        return True
    same_length = 0 < len(warning.failed) == len(other.do)
    return same_length and all(map(is_same, other.do, warning.failed))


def _is_call(pattern: str, call: str) -> bool:
    """`{name}` in a lesson or a template stands for anything."""
    return re.fullmatch(_ANYTHING.sub(".*", re.escape(pattern)), call, re.DOTALL) is not None


def _is_tool(one: str, other: str) -> bool:
    return one.partition("(")[0] == other.partition("(")[0]


def calls_of(actions: Sequence[Action]) -> tuple[str, ...]:
    """What was done, a call that is repeated once."""
    calls = [action.shown for action in actions if is_deed(action)]
    return tuple(call for at, call in enumerate(calls) if not at or calls[at - 1] != call)


def said_by(app: App) -> dict[str, Says]:
    """What everything that a vault has learned says, by the ids that packs have for it."""
    episodes = app.learning.runs.episodes()
    says = {f"^{block_id(one.run)}": Says(calls_of(what_worked(one)), went_well=one.command)
            for one in episodes if one.outcome == "success"}  # fmt: skip
    says |= {f"^{issue.id}": Says(failed=calls_of(issue.actions)) for issue in find_issues(episodes)}
    says |= {f"^{one.id}": Says(taken_back=one.original.command, went_well=one.corrected.command)
             for one in corrections(episodes)}  # fmt: skip
    says |= {f"^{one.id}": Says((one.prefer,) if one.prefer else (), one.avoid,
                                hopeless=_HOPELESS.search(one.text) is not None)
             for one in app.learning.lessons()}  # fmt: skip
    return says | {one.path: Says(tuple(step.shown for step in one.steps), went_well=one.path)
                   for one in app.learning.templates()}  # fmt: skip


def _agreement(name: str, tries: Sequence[Try], store: RunStore, folder: Path) -> dict[str, Figures]:
    ours = {preset: Agreement() for preset in PRESETS}
    plain = {"BM25": Agreement(), "latest": Agreement()}
    for trial in sorted({one.trial for one in tries})[1:]:
        before = [one for one in tries if one.trial < trial]
        asked = [one for one in tries if one.trial == trial]
        with learned(folder / str(trial), before, store) as app:
            _ask(app, [one.episode.command for one in asked], ours)
        for one in asked:
            _ask_plain(one.episode.command, before, plain)
    return _rows(name, ours, plain)


def _ask(app: App, commands: Sequence[str], counted: Mapping[str, Agreement]) -> None:
    says = said_by(app)
    for command in commands:
        for preset, agreement in counted.items():
            pack = app.context.pack(command, preset=preset)
            ids = [id_ for excerpt in pack.excerpts for id_ in excerpt.passages]
            left_out = any(item.reason == "contradicts" for item in pack.left_out)
            agreement.add([says[id_] for id_ in ids if id_ in says], left_out=left_out)


def _ask_plain(command: str, before: Sequence[Try], counted: Mapping[str, Agreement]) -> None:
    failed = [one for one in before if one.episode.failed]
    good = [one for one in before if one.episode.is_model]
    found = {
        "BM25": (nearest(command, failed, _FAILURES), nearest(command, good, _RUNS)),
        "latest": (failed[-_FAILURES:], good[-_RUNS:]),
    }
    for row, (failures, runs) in found.items():
        told = [Says(failed=calls_of(one.episode.actions)) for one in failures]
        told += [Says(calls_of(what_worked(one.episode)), went_well=one.episode.command) for one in runs]
        counted[row].add(told)


def _rows(name: str, ours: Mapping[str, Agreement], plain: Mapping[str, Agreement]) -> dict[str, Figures]:
    rows = {f"{name}: our pack, {preset}": one.figures() for preset, one in ours.items()}
    return rows | {f"{name}: {row}": one.figures() for row, one in plain.items()}


# --- hand-made journals

_TASKS = {
    "deploy the shop to staging": ("make build", "make deploy"),
    "restart the mail queue": ("systemctl restart queue",),
    "renew the certificate of the gateway": ("certbot renew", "nginx -s reload"),
    "export the invoices of last month": ("python export.py",),
    "rotate the logs of the proxy": ("logrotate -f proxy.conf",),
    "publish the handbook": ("mkdocs build", "rsync site/"),
    "import the price list": ("psql -f prices.sql",),
    "resize the product photos": ("mogrify -resize 800 photos",),
    "update the firmware of the printer": ("fwupdmgr update",),
    "restore yesterday's backup": ("restic restore latest",),
    "tag a new release": ("git tag", "git push --tags"),
    "warm the cache of the search page": ("curl search/warm",),
}
_DAY_S = 86_400.0
_START = 1_780_000_000.0


def forced_runs() -> list[list[Event]]:
    """For each task a run that failed and one that went well with the same calls; each is the later one in
    half of them."""
    runs = []
    for at, (command, calls) in enumerate(_TASKS.items()):
        for turn, fails in enumerate((at % 2 == 0, at % 2 == 1)):
            start = _START + (2 * at + turn) * _DAY_S
            runs.append(_forced_run(f"forced-{at}-{turn}", start, command, calls, fails=fails))
    return runs


def _forced_run(run: str, at: float, command: str, calls: Sequence[str], *, fails: bool) -> list[Event]:
    done = [ToolExecuted(run, at + place, "Bash", {"command": call}) for place, call in enumerate(calls, 1)]
    reason = f"{calls[-1]} was refused" if fails else ""
    end = RunEnded(run, at + 10, "fail" if fails else "complete", 10 if fails else 95, reason)
    return [RunCreated(run, at, command), *done, end]


def _forced_agreement(folder: Path) -> dict[str, Figures]:
    ours = {preset: Agreement() for preset in PRESETS}
    plain = {"BM25": Agreement(), "latest": Agreement()}
    shutil.rmtree(folder, ignore_errors=True)
    with opened(folder) as app:
        app.learning.runs.add_imported("forced", forced_runs())
        app.learning.learn()
        app.sync()
        _ask(app, list(_TASKS), ours)
        before = [Try(episode, "", 0, "") for episode in app.learning.runs.episodes()]
    for command in _TASKS:
        _ask_plain(command, before, plain)
    return _rows("hand-made", ours, plain)


# --- what is unrelated


@dataclass
class Reached:
    """Prompts of one row, and what they got."""

    asked: int = 0
    got: Counter[str] = field(default_factory=Counter)

    def add(self, kinds: set[str]) -> None:
        self.asked += 1
        self.got.update(kinds)
        self.got["any"] += bool(kinds - {"whatever is asked"})

    def share(self, kind: str) -> float:
        return 100 * self.got[kind] / max(1, self.asked)

    def figures(self, reach: float) -> Figures:
        return {kind: self.share(kind) for kind in (*_KINDS, "any", "whatever is asked")} | {"reach": reach}


Scorer = Callable[[str], float]  # how near the nearest thing is


def _commands(tries: Sequence[Try]) -> list[str]:
    """Each command once; of ALFWorld those that say what the task is."""
    return list(dict.fromkeys(one.episode.command for one in tries if one.family))


def _of_runs(
    name: str, tries: Sequence[Try], store: RunStore, folder: Path, asked: Mapping[str, Sequence[str]]
) -> dict[str, Figures]:
    stored = [one for one in tries if one.trial < _STORED[name]]
    own = _commands([one for one in tries if one.trial >= _STORED[name]])
    others = {other: commands for other, commands in asked.items() if other != name}
    texts = [f"{one.episode.command} {one.episode.reason}" for one in stored]
    with learned(folder, stored, store) as app:
        app.measure_null()
        ours = {f"our {preset} pack": _packs(app, preset, own, others) for preset in PRESETS}
    return _unrelated_rows(f"{name} runs", [ours], [_plain_rows(texts, own, others, _reach(ours))])


def _of_preferences(
    draws: Sequence[Sequence[Mapping[str, str]]], folder: Path, asked: Mapping[str, Sequence[str]]
) -> dict[str, Figures]:
    parts, plain = [], []
    for at, draw in enumerate(draws):
        memories = [pair["memory"] for pair in draw]
        own = [pair["question"] for pair in draw]
        travel = frozenset(pair["memory"] for pair in draw if pair["topic"].startswith("travel"))
        related = {"tau-bench": travel}
        ours: dict[str, dict[str, Reached]] = {}
        for encodes in (False, True) if find_encoder(AUTO) is not None else (False,):
            with _remembering(folder / f"{at}-{encodes}", memories, encodes=encodes) as app:
                for preset in PRESETS:
                    row = f"our {preset} pack" + (", encoder" if encodes else "")
                    ours[row] = _packs(app, preset, own, asked, related)
        parts.append(ours)
        unrelated = [memory for memory in memories if memory not in travel]
        plain.append(_plain_rows(memories, own, asked, _reach(ours), {"tau-bench": unrelated}))
    return _unrelated_rows("preferences", parts, plain)


@contextmanager
def _remembering(folder: Path, memories: Sequence[str], *, encodes: bool) -> Iterator[App]:
    """A vault with these memories, as the daemon has it."""
    items = [MemoryItem(f"m-{at:06d}", text, "preference", source="user", created="2026-01-05")
             for at, text in enumerate(memories)]  # fmt: skip
    write_note(folder / "vault" / "Agent/Memory/preference.md", "\n".join(map(render_item, items)) + "\n")
    with opened(folder) as app:
        app.sync()
        app.measure_null()
        app.encodes = "when idle" if encodes else "never"
        app.context.pack(memories[0])  # the encoder learns what to read
        while app.encode_pending(_IDLE_S):
            pass
        yield app


def _packs(
    app: App,
    preset: str,
    own: Sequence[str],
    others: Mapping[str, Sequence[str]],
    related: Mapping[str, frozenset[str]] | None = None,
) -> dict[str, Reached]:
    """What the prompts of each domain get; "" is the own one."""
    found: dict[str, Reached] = {}
    for name, prompts in {"": own, **others}.items():
        found[name] = Reached()
        for prompt in prompts:
            kinds = _kinds_in(app.context.pack(prompt, preset=preset), (related or {}).get(name, frozenset()))
            found[name].add(kinds)
    return found


def _kinds_in(pack: Pack, related: frozenset[str]) -> set[str]:
    kinds: set[str] = set()
    for slot in pack.slots:
        for one in slot.excerpts:
            if slot.name == "recent":
                kinds.add("whatever is asked")
            elif slot.name in _FOUND and one.text.removeprefix("- ") not in related:
                is_run = slot.name == "relevant" and any(id_.startswith("^r-") for id_ in one.passages)
                names = {
                    "memories": "memory",
                    "lessons": "lesson",
                    "template": "template",
                    "skills": "template",
                }
                kinds.add("run" if is_run else names.get(slot.name, "note"))
    return kinds


def _reach(ours: Mapping[str, Mapping[str, Reached]]) -> float:
    return ours["our turn pack"][""].share("any")


def _plain_rows(
    texts: Sequence[str],
    own: Sequence[str],
    others: Mapping[str, Sequence[str]],
    reach: float,
    unrelated: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, dict[str, Reached]]:
    """The plain rows. `unrelated`: for a domain, the texts that count there."""
    rows: dict[str, dict[str, Reached]] = {}
    for way, scorer_of in {"BM25": _bm25, "cosine": _cosine}.items():
        bar = _bar([scorer_of(texts)(prompt) for prompt in own], reach)
        for name, prompts in others.items():
            scores = [*map(scorer_of((unrelated or {}).get(name, texts)), prompts)]
            rows.setdefault(f"{way}, equal reach", {})[name] = _counted([score >= bar for score in scores])
            if way == "BM25":
                rows.setdefault("nearest", {})[name] = _counted([True] * len(prompts))
                rows.setdefault("BM25", {})[name] = _counted([score > 0 for score in scores])
    return rows


def _bar(scores: Sequence[float], reach: float) -> float:
    """The score that so many percent of these reach."""
    count = round(len(scores) * reach / 100)
    return sorted(scores, reverse=True)[count - 1] if count else float("inf")


def _counted(got: Sequence[bool]) -> Reached:
    return Reached(len(got), Counter({"any": sum(got)}))


def _bm25(texts: Sequence[str]) -> Scorer:
    bm25 = Bm25(texts)
    return lambda prompt: max(bm25.scores(prompt), default=0.0)


def _cosine(texts: Sequence[str]) -> Scorer:
    table = load_static()
    vectors = table.embed_documents(list(texts))
    return lambda prompt: float((vectors @ table.embed_documents([prompt])[0]).max())


def _unrelated_rows(
    stored: str,
    ours: Sequence[Mapping[str, Mapping[str, Reached]]],
    plain: Sequence[Mapping[str, Mapping[str, Reached]]],
) -> dict[str, Figures]:
    """The rows of one stored set; its parts are added up."""
    rows: dict[str, Figures] = {}
    reach = {row: _added([part[row][""] for part in ours]).share("any") for row in ours[0]}
    equal = reach["our turn pack"]
    for name in (name for name in ours[0]["our turn pack"] if name):
        place = f"{stored}, asked about {name}"
        for row in ours[0]:
            rows[f"{place}: {row}"] = _added([part[row][name] for part in ours]).figures(reach[row])
        for row in plain[0]:
            any_share = _added([part[row][name] for part in plain]).share("any")
            rows[f"{place}: {row}"] = {"any": any_share}
            if row.endswith("equal reach"):
                rows[f"{place}: {row}"]["reach"] = equal
    return rows


def _added(parts: Sequence[Reached]) -> Reached:
    return Reached(sum(part.asked for part in parts), sum((part.got for part in parts), Counter()))


def _losses(
    agreement: Mapping[str, Figures], unrelated: Mapping[str, Figures]
) -> Iterator[tuple[str, str, str]]:
    for row, own in agreement.items():
        if _is_ours(row) and own["contradict"]:
            yield row, f"{own['contradict']:g} packs", "0"
    for row, own in unrelated.items():
        if not _is_ours(row):
            continue
        if own["any"] > GOAL:
            yield row, f"{own['any']:.1f}", f"the goal of {GOAL:g}"
        place = row.rpartition(": ")[0]
        for way in ("BM25, equal reach", "cosine, equal reach"):
            other = unrelated[f"{place}: {way}"]
            if own["any"] > other["any"] and own["reach"] <= other["reach"]:
                yield row, f"{own['any']:.1f}", f"{way}: {other['any']:.1f}"


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import COLOURS, headline, legend

    figures = {**result["baselines"]}
    for key, value in result["metrics"].items():
        row, _, name = key.rpartition(": ")
        figures.setdefault(row, {})[name] = value
    places = list(dict.fromkeys(row.rpartition(": ")[0] for row in figures if ", asked about " in row))
    ways = {"our turn pack": COLOURS["ours"], "BM25, equal reach": COLOURS["bm25"],
            "cosine, equal reach": COLOURS["dense"]}  # fmt: skip
    for at, (way, colour) in enumerate(ways.items()):
        heights = [figures[f"{place}: {way}"]["any"] for place in places]
        lefts = [place + (at - 1) * 0.28 for place in range(len(places))]
        drawn = axes.bar(lefts, heights, 0.26, color=colour, label=way)
        axes.bar_label(drawn, [f"{height:.0f}" for height in heights], fontsize=8, padding=1)
    labels = [place.replace(", asked about ", "\nasked about\n") for place in places]
    axes.set_xticks(range(len(places)), labels, fontsize=7)
    axes.axhline(GOAL, color="#555555", linewidth=0.8)
    headline(axes, "Attempts that get something unrelated (%)")
    legend(axes, 3)


BENCHMARK = Benchmark("harm", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
