"""The benchmarks of learning run on tiny made-up data, and their arithmetic is right."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

# `benchmarks` is no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import frame, harm, learn_scale, learning, real_runs
from benchmarks.learning import bench

from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.tau import runs_of_tau
from hindbrain.learn.runs.events import RunCreated, parse_line
from hindbrain.learn.runs.folding import fold_all

WISHES = {
    0: ("I want to cancel my flight {at} to Boston, please", "cancel_reservation"),
    1: ("I need to change my flight {at} to Denver to the next day", "update_reservation_flights"),
}


def called(id_: str, name: str, **arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def conversation(wish: str, call: str, at: int, *, good: bool) -> list[dict[str, Any]]:
    looked, acted = called("c0", "get_user_details", id="ann"), called("c1", call, id=str(at))
    answer = "done" if good else "Error: reservation not found"
    return [
        {"role": "system", "content": "# Airline Agent Policy"},
        {"role": "user", "content": wish.format(at=100 + at)},
        {"role": "assistant", "content": None, "tool_calls": [looked]},
        {"role": "tool", "tool_call_id": "c0", "name": "get_user_details", "content": "Ann"},
        {"role": "assistant", "content": None, "tool_calls": [acted]},
        {"role": "tool", "tool_call_id": "c1", "name": call, "content": answer},
        {"role": "user", "content": "###STOP###"},
    ]


def tau_run(task: int, trial: int) -> dict[str, Any]:
    """Of two families; tasks from 4 on never succeed."""
    wish, call = WISHES[task % 2]
    return {
        "task_id": task,
        "trial": trial,
        "reward": float(task < 4),
        "info": {"task": {"actions": [{"name": call}, {"name": "get_user_details"}]}},
        "traj": conversation(wish, call, task, good=task < 4),
    }


CLEAN = "I was stuck in a loop. I should have taken the mug, then cleaned it with sinkbasin 1."
LOOK = "In this environment, my plan was to find a book then find and use a desklamp. I looked elsewhere."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    tau = folder / "runs_tau_bench" / "historical_trajectories"
    tau.mkdir(parents=True)
    runs = [tau_run(task, trial) for trial in range(3) for task in range(8)]
    (tau / "gpt-4o-airline.json").write_text(json.dumps(runs), encoding="utf-8")
    alfworld = folder / "runs_alfworld" / "root" / "reflexion_run_logs"
    alfworld.mkdir(parents=True)
    for trial in range(3):
        environments = [
            {"name": f"env_{at}", "memory": [CLEAN if at % 2 else LOOK] * (trial + 1), "is_success": False}
            for at in range(6)
        ]
        (alfworld / f"env_results_trial_{trial}.json").write_text(json.dumps(environments), encoding="utf-8")
    corpus = folder / "md_mdn"
    corpus.mkdir()
    sentences = "\n".join(
        f"The harbour number {at} keeps {at + 3} boats that sail to the island each day." for at in range(400)
    )
    prompts = {"small_talk": ["hi", "hello there"], "coding": ["Create a Django view."]}
    (folder / "prompts_generic_dev.json").write_text(json.dumps(prompts), encoding="utf-8")
    (corpus / "harbour.md").write_text(f"# Harbour\n\n{sentences}\n", encoding="utf-8")
    return folder


def run(benchmark: frame.Benchmark, data: Path, tmp_path: Path, *more: str) -> dict[str, Any]:
    target = tmp_path / f"{benchmark.name}.json"
    assert frame.main(benchmark, ["--data", str(data), "--json", str(target), *more]) == 0
    result: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return result


# --- the simulated desktop


def test_all_arms_are_measured_on_the_same_tasks(data: Path, tmp_path: Path) -> None:
    result = run(learning.BENCHMARK, data, tmp_path, "--limit", "12", "--plot", str(tmp_path / "a.png"))
    assert set(result["baselines"]) == set(bench.ARMS) - {bench.OURS}
    for figures in (result["metrics"], *result["baselines"].values()):
        assert {"success", "repeats", "iterations", "taste", "template", "relevance", "tokens"} <= set(
            figures
        )
    assert result["baselines"][bench.NOTHING]["tokens"] == 0
    assert result["data"]["runs"] == 12
    assert (tmp_path / "a.png").stat().st_size


def test_the_same_runs_leave_the_same_notes(tmp_path: Path) -> None:
    from benchmarks.learning.kinds import KINDS, TASTES
    from benchmarks.learning.world import World

    notes = []
    for name in ("one", "two"):
        ran = bench.perform_arm(World(KINDS, TASTES, 1), bench.OURS, 12, tmp_path / name)
        vault = tmp_path / name / "vault"
        texts = {p.relative_to(vault).as_posix(): p.read_bytes() for p in sorted(vault.rglob("*.md"))}
        notes.append(([(one.outcome, one.attempts) for one in ran], texts))  # a fence has a key of its own
    assert notes[0] == notes[1]
    assert any("Task Log" in path for path in notes[0][1])


# --- real runs


def test_packs_and_nearest_runs_are_measured_on_the_same_runs(data: Path, tmp_path: Path) -> None:
    result = run(real_runs.BENCHMARK, data, tmp_path, "--plot", str(tmp_path / "a.png"))
    assert result["data"] == {"tau-bench": 24, "ALFWorld": 18}
    for name in ("tau-bench", "ALFWorld"):
        for setting in ("same task", "other tasks"):
            assert f"{name}, {setting}: our pack: failures told" in result["metrics"]
            assert result["metrics"][f"{name}, {setting}: our pack: contradictions"] == 0
            for way in ("BM25-nearest", "latest", "nothing"):
                assert "precision@3" in result["baselines"][f"{name}, {setting}: {way}"]
    assert result["baselines"]["tau-bench, same task: BM25-nearest"]["failures told"] == 100


def test_nothing_of_what_is_asked_about_is_learned_from(data: Path, tmp_path: Path) -> None:
    with real_runs.imported(data, tmp_path / "work") as (_, _, tau, alfworld):
        for tries in (tau, alfworld):
            for split in real_runs._by_trial(tries):
                first = min(one.trial for one in split.asked)
                assert split.taught and all(one.trial < first for one in split.taught)
            for split in real_runs._by_task(tries):
                assert not {one.task for one in split.taught} & {one.task for one in split.asked}
        assert {one.family for one in tau} == {"cancel_reservation", "update_reservation_flights"}
        assert {one.family for one in alfworld} == {"clean", "look"}


def test_a_pack_that_forbids_one_of_its_steps_contradicts_itself() -> None:
    assert real_runs.contradicts_itself("do not `npm test` (3 of 3)\n1. `npm ci`\n2. `npm test`\n")
    assert not real_runs.contradicts_itself("do not `npm test` (3 of 3)\n1. `npm ci`\n2. `pnpm run`\n")


def test_bm25_prefers_rare_words_and_leaves_out_what_shares_none() -> None:
    scores = real_runs.Bm25(["open the door", "open the red window", "sail away"]).scores("open red")
    assert scores[1] > scores[0] > 0
    assert scores[2] == 0


def test_steps_are_compared_in_order() -> None:
    assert real_runs.common_places("abcd", "xbyd") == [(1, 1), (3, 3)]
    assert real_runs.common_places("ab", "ba") in ([(0, 1)], [(1, 0)])
    assert real_runs.common_places("", "ab") == []


def test_the_next_step_counts_only_where_it_is_foretold() -> None:
    assert real_runs.next_steps("abc", "abc") == 3
    assert real_runs.next_steps("abc", "axbc") == 3
    assert real_runs.next_steps("abc", "bc") == 1  # b came too early, c was expected after it
    assert real_runs.next_steps("abc", "xyz") == 0


@pytest.mark.parametrize(
    ("reflection", "family"),
    [
        ("I should have heated the apple with microwave 1", "heat"),
        ("find and use a desklamp, then look at the mug", "look"),
        ("I put the first cd in the safe, but not the second one", "pick two"),
        ("I should have checked the shelf before the drawer", "pick"),
    ],
)
def test_families_of_alfworld_are_told_by_words(reflection: str, family: str) -> None:
    assert real_runs.alfworld_family(reflection) == family


# --- harm


def test_packs_agree_with_themselves_where_plain_rows_do_not(data: Path, tmp_path: Path) -> None:
    draw = [
        {"topic": topic, "memory": memory, "question": question}
        for topic, memory, question in (
            ("pets", "I avoid keeping birds as pets.", "Which pet should I get?"),
            ("travel_hotel", "I never stay in hostels.", "Where should I stay in Rome?"),
        )
    ]
    (data / "memory_prefeval_dev.json").write_text(json.dumps({"draws": [draw]}), encoding="utf-8")
    result = run(harm.BENCHMARK, data, tmp_path, "--limit", "4", "--plot", str(tmp_path / "a.png"))
    for preset in harm.PRESETS:
        own = {
            key: value for key, value in result["metrics"].items() if f"hand-made: our pack, {preset}" in key
        }
        assert own[f"hand-made: our pack, {preset}: packs"] == 12
        assert own[f"hand-made: our pack, {preset}: contradict"] == 0
        assert own[f"hand-made: our pack, {preset}: left out"] == 12
    assert result["baselines"]["hand-made: BM25"]["contradict"] == 12
    for stored, asked in (
        ("tau-bench runs", "ALFWorld"),
        ("ALFWorld runs", "tau-bench"),
        ("preferences", "ALFWorld"),
    ):
        place = f"{stored}, asked about {asked}"
        assert 0 <= result["metrics"][f"{place}: our turn pack: any"] <= 100
        assert result["baselines"][f"{place}: nearest"]["any"] == 100


def test_a_contradiction_is_judged_by_calls_and_commands() -> None:
    def contradict(*told: harm.Says) -> bool:
        agreement = harm.Agreement()
        agreement.add(told)
        return bool(agreement.contradict)

    way = ("build()", "deploy(site)")
    assert contradict(harm.Says(failed=way), harm.Says(do=way))
    assert contradict(harm.Says(failed=way), harm.Says(do=("build()", "deploy({what})")))
    assert not contradict(harm.Says(failed=way), harm.Says(do=("build()", "check()", "deploy(site)")))
    assert not contradict(harm.Says(failed=way), harm.Says(do=("deploy(site)", "build()")))
    assert contradict(harm.Says(avoid="deploy({what})"), harm.Says(do=way))
    assert not contradict(harm.Says(avoid="deploy(docs)"), harm.Says(do=way))
    assert contradict(harm.Says(taken_back="Ship it"), harm.Says(do=way, went_well="ship it"))
    assert contradict(harm.Says(hopeless=True), harm.Says(do=way, went_well="ship it"))
    assert not contradict(harm.Says(hopeless=True), harm.Says(failed=way))


# --- scale


def test_made_runs_differ_in_ids_names_and_times(data: Path, tmp_path: Path) -> None:
    log = next(data.rglob("historical_trajectories/*.json"))
    runs = list(runs_of_tau(Log(log)))
    path = tmp_path / "journal.jsonl"
    learn_scale.write_journal(path, runs, 3_000)
    events = [parse_line(line) for line in path.read_bytes().splitlines()]
    assert None not in events
    assert 3_000 <= len(events) < 3_000 + max(map(len, runs))
    created = [event for event in events if isinstance(event, RunCreated)]
    assert len({event.run for event in created}) == len(created)
    assert len({event.command for event in created}) > len({run[0].command for run in runs})  # type: ignore[union-attr]
    episodes = list(fold_all(event for event in events if event is not None))
    assert {episode.outcome for episode in episodes} == {"success", "failed"}


def test_scale_measures_import_learning_and_a_year_of_notes(data: Path, tmp_path: Path) -> None:
    result = run(learn_scale.BENCHMARK, data, tmp_path, "--limit", "120", "--plot", str(tmp_path / "a.png"))
    figures = result["metrics"]
    assert figures["120.events"] >= 120
    assert figures["120.import_s"] > 0
    assert figures["120.peak_mb"] > 0
    assert figures["year.consolidate_s"] > 0
    assert figures["year.facts"] > 0
    assert figures["year.archived"] > 0  # what is older than 30 days


@pytest.mark.parametrize("benchmark_", [real_runs, harm, learn_scale])
def test_without_runs_a_benchmark_is_skipped(
    benchmark_: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run(benchmark_.BENCHMARK, tmp_path / "nothing-here", tmp_path)
    assert result["metrics"] == {}
    assert "skipped" in capsys.readouterr().out
