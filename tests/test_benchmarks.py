"""The benchmarks run on tiny made-up data, and their arithmetic is right."""

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

# `benchmarks` is no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import (
    abstention,
    agent_overhead,
    cold,
    conflicts,
    durable,
    false_injection,
    frame,
    latency,
    locomo,
    longmemeval,
    memory,
    metrics,
    packs,
    plots,
    prompts,
    real_vaults,
    scifact,
    summary,
    sync,
    tool_tokens,
    wikilinks,
)
from benchmarks.__main__ import ALL
from benchmarks.facts import opened, read_facts
from benchmarks.rankers import bench_config
from benchmarks.scale import endless
from benchmarks.writers import append_at_once

from hindbrain.app import build_app
from hindbrain.search import own_questions
from hindbrain.vault.items.category import CATEGORIES


def turn(number: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": number, "speaker": speaker, "text": text, **more}


LOCOMO = [
    {
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "Ann", "Hello Ben, how are you?"),
                turn("D1:2", "Ben", "I bought a red kayak yesterday.", blip_caption="a kayak on a car"),
            ],
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [turn("D2:1", "Ann", "My sister opened\n\na bakery in Porto.")],
        },
        "qa": [
            {"question": "What did Ben buy?", "evidence": ["D1:2"], "category": 4},
            {"question": "Who opened a bakery?", "evidence": ["D:2:1; D1:2", "D9:9"], "category": 1},
            {"question": "What is the meaning of life?", "evidence": [], "category": 3},
        ],
    }
]


def session(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted.\n\nAnything else?"}]


def dated(id_: str, date: str) -> dict[str, str]:
    return {"id": id_, "date": date}


LONGMEMEVAL = {
    "pool": {
        "a": session("I painted my bedroom gray."),
        "b": session("My dog Rex likes to swim."),
        "c": session("The train to Lyon was late."),
    },
    "questions": [
        {
            "type": "single-session-user", "abstention": False, "question": "What color is my bedroom?",
            "question_date": "2023/05/30 (Tue) 22:42", "gold_session_ids": ["a"],
            "sessions": [dated("a", "2023/05/20 (Sat) 07:46"), dated("b", "2023/05/21 (Sun) 02:06")],
        },
        {
            "type": "multi-session", "abstention": False,
            "question": "What does my dog like? Which train was late?",
            "question_date": "2023/06/01 (Thu) 10:00", "gold_session_ids": ["b", "c"],
            "sessions": [dated("b", "2023/05/22 (Mon) 02:06"), dated("c", "2023/05/23 (Tue) 02:06")],
        },
        {
            "type": "multi-session", "abstention": True, "question": "What is my cat called?",
            "question_date": "2023/06/01 (Thu) 10:00", "gold_session_ids": ["b"], "sessions": [],
        },
    ],
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of data as the benchmarks expect it."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "locomo_tiny.json").write_text(json.dumps(LOCOMO), encoding="utf-8")
    (folder / "longmemeval_tiny.json").write_text(json.dumps(LONGMEMEVAL), encoding="utf-8")
    _write_scifact(folder / "ir_scifact" / "scifact")
    with tarfile.open(folder / "vault_tiny.tar.gz", "w:gz") as archive:
        archive.add(_write_vault(tmp_path / "tiny"), "tiny")
    corpus = folder / "md_mdn"
    corpus.mkdir()
    for at in range(12):
        (corpus / f"n{at}.md").write_text(CORPUS_NOTE.format(at=at), encoding="utf-8")
    return folder


CORPUS_NOTE = """---
title: Topic number{at}
---

Browsers render documents with stylesheets, scripts, fonts, images, workers, promises and timers number{at}.

The browser fetches resources, parses markup, computes styles, paints layers, dispatches events.
"""


def _write_scifact(folder: Path) -> None:
    folder.mkdir(parents=True)
    documents = [
        {"_id": "10", "title": "Zinc and colds", "text": "Zinc shortens the common cold in adults."},
        {"_id": "11", "title": "Bees", "text": "Bees dance to tell where food is."},
    ]
    lines = "\n".join(json.dumps(document) for document in documents)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    query = {"_id": "1", "text": "Zinc makes colds shorter."}
    (folder / "queries.jsonl").write_text(json.dumps(query), encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\t10\t1\n1\t11\t0\n", encoding="utf-8")


def _write_vault(folder: Path) -> Path:
    folder.mkdir()
    notes = {
        "Bread.md": "Flour, water and salt become dough; the baker works it by hand.\n",
        "Sailing.md": "---\naliases: [boats]\n---\nWind in the sails, a keel below.\n",
        "Log.md": "- The baker works flour into dough as [[bread|they say]] in the morning.\n- [[Bread]]\n"
        "- `[[Bread]]` is code for the flour and dough of the baker\n",
    }
    for name, text in notes.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(benchmark: frame.Benchmark, data: Path, tmp_path: Path, *more: str) -> dict[str, Any]:
    target = tmp_path / f"{benchmark.name}.json"
    assert frame.main(benchmark, ["--data", str(data), "--json", str(target), *more]) == 0
    result: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return result


def test_locomo_finds_the_turns_and_leaves_out_questions_without_evidence(data: Path, tmp_path: Path):
    result = run(locomo.BENCHMARK, data, tmp_path)
    assert result["data"]["questions"] == 2
    whole_notes = result["baselines"].pop("fts5")
    assert whole_notes["session.any@5"] == 100 and not any("turn" in name for name in whole_notes)
    assert set(result["baselines"]) == {"bm25", "dense", "rrf"}
    for figures in (result["metrics"], *result["baselines"].values()):
        assert figures["turn.cat4.fraction@5"] == 100
        assert "answered.turn.fraction@10" in figures
        assert figures["session.any@5"] == 100
        assert {"turn.mrr", "tokens250.fraction", "turn.cat1.fraction@10", "session.any@10"} <= set(figures)


def test_locomo_writes_one_paragraph_a_turn_under_the_day_of_the_session():
    talk = locomo.read_conversation(LOCOMO[0])
    assert talk.notes["s0001.md"].startswith("---\ndate: 2023-05-08\n---\n\n**Ann:** Hello")
    assert talk.turns["s0001.md", 7] == "D1:2"
    assert talk.notes["s0001.md"].split("\n")[6].endswith("[shares: a kayak on a car]")
    assert "**Ann:** My sister opened a bakery in Porto." in talk.notes["s0002.md"]


def test_malformed_evidence_is_read_as_far_as_it_goes():
    known = frozenset({"D1:3", "D2:4", "D11:26"})
    assert locomo.evidence(["D1:3; D2:4", "D:11:26", "D9:9", "D"], known) == known


def test_longmemeval_asks_alone_and_pooled_and_leaves_out_abstentions(data: Path, tmp_path: Path):
    result = run(longmemeval.BENCHMARK, data, tmp_path)
    assert result["data"]["questions"] == 2
    for figures in (result["metrics"], *result["baselines"].values()):
        assert figures["all@5"] == figures["pooled.all@5"] == 100
        assert figures["multi-session.any@5"] == 100


def test_a_pooled_session_has_the_date_it_has_where_it_is_gold():
    questions = longmemeval.read_questions(LONGMEMEVAL)[1]
    assert longmemeval.pooled_dates(questions)["b"].startswith("2023/05/22")


def test_scifact_is_read_from_an_unpacked_folder(data: Path, tmp_path: Path):
    result = run(scifact.BENCHMARK, data, tmp_path)
    assert result["metrics"]["ndcg@10"] == 1.0
    assert result["metrics"]["recall@10"] == 100


def test_wikilinks_hides_links_with_words_around_them(data: Path, tmp_path: Path):
    result = run(wikilinks.BENCHMARK, data, tmp_path)
    assert result["data"]["questions"] == 1  # a bare link gives nothing to go by, and one in code is none
    assert result["metrics"]["tiny.recall@10"] == 100


def test_real_vaults_asks_for_notes_by_link_name_alias_and_heading(data: Path, tmp_path: Path):
    result = run(real_vaults.BENCHMARK, data, tmp_path)
    assert result["metrics"]["tiny.link.recall@10"] == result["metrics"]["tiny.alias.recall@1"] == 100
    assert set(result["baselines"]) == {"fts5", "bm25", "dense", "rrf"}


def test_words_of_a_name_are_asked_for_in_another_order(tmp_path: Path):
    (tmp_path / "race condition invoice hash chain.md").write_text("## Two notes share this\n", "utf-8")
    (tmp_path / "Other.md").write_text("## Two notes share this\n\n## What the ledger must not do\n", "utf-8")
    asked = real_vaults.questions_of(tmp_path, ["race condition invoice hash chain.md", "Other.md"])
    (name,) = asked["name"]
    assert sorted(name.query.split()) == ["chain", "condition", "hash", "invoice", "race"]
    assert [one.query for one in asked["heading"]] == ["What the ledger must not do"]


def test_a_hidden_link_leaves_no_trace_in_its_query():
    names = own_questions.link_names({"a/Bread.md": ("loaf",), "Sea.md": ()})
    text = "- [ ] We bake [[Bread]] or a [[loaf|fine loaf]] by the [[Sea|sea side]] ([map](x.md)) ![[Bread]]"
    assert own_questions.without_link(text, "a/Bread.md", names) == "We bake or a by the sea side (map)"


def test_a_name_that_two_notes_share_leads_nowhere():
    names = own_questions.link_names({"a/X.md": (), "b/X.md": (), "Y.md": ("x",)})
    assert "x" not in names or names["x"] == "Y.md"
    assert names["a/x"] == "a/X.md"


def test_latency_measures_all_ways_at_each_size(data: Path, tmp_path: Path):
    result = run(latency.BENCHMARK, data, tmp_path, "--sizes", "20,60", "--limit", "8")
    figures = result["metrics"]
    assert figures["60.passages"] >= 60  # more than the corpus holds: some notes were repeated
    assert figures["20.vector.recall@10"] == 1.0
    assert {
        "20.bare.p50_ms",
        "60.hybrid.p95_ms",
        "60.keyword.p50_ms",
        "60.long.ratio",
        "growth.20-60",
    } <= set(figures)


def test_repeated_notes_differ_from_their_originals():
    notes = [("a.md", "---\ntitle: A\n---\n" + "alpha beta gamma delta " * 50)]
    stream = endless(notes)
    first, second = next(stream), next(stream)
    assert first == notes[0]
    assert second[0] == "copy1/a.md"
    assert second[1].startswith("---\ntitle: A\n---")
    assert second[1] != first[1]


@pytest.mark.parametrize(
    "benchmark_", [locomo, longmemeval, scifact, wikilinks, real_vaults, latency, sync, memory]
)
def test_without_data_a_benchmark_is_skipped_and_says_so(
    benchmark_: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    result = run(benchmark_.BENCHMARK, tmp_path / "nothing-here", tmp_path)
    assert result["metrics"] == {}
    assert "skipped" in capsys.readouterr().out


@pytest.mark.slow
def test_sync_measures_everything_on_a_copy(data: Path, tmp_path: Path):
    before = (data / "md_mdn" / "n0.md").read_bytes()
    figures = run(sync.BENCHMARK, data, tmp_path)["metrics"]
    assert figures["files"] == 12
    assert figures["keyword_during_vectors"] == 1.0
    assert figures["save_to_findable_s"] > 0
    assert (data / "md_mdn" / "n0.md").read_bytes() == before


@pytest.mark.slow
def test_cold_compares_commands_with_a_bare_interpreter(data: Path, tmp_path: Path):
    figures = run(cold.BENCHMARK, data, tmp_path)["metrics"]
    assert figures["demo.hybrid.ratio"] > 1


TINY = memory.Scale(
    sizes=(0, 12), batched=12, immediate=3, others=3, after_writes=2, storm=12, writers=2, each=3
)


@pytest.mark.slow
def test_memory_measures_every_way_to_remember_on_a_copy(data: Path, tmp_path: Path):
    before = (data / "vault_tiny.tar.gz").read_bytes()
    outcome = memory.measure(frame.Options(data), TINY)
    figures = outcome.metrics
    for name in ("0.batched", "12.immediate", "task_create", "vault_append"):
        assert {f"{name}.p50_ms", f"{name}.p95_ms", f"{name}.bare_p50_ms", f"{name}.ratio"} <= set(figures)
    assert {"12.storm.writes_per_s", "writers.p99_ms", "12.recall.p50_ms"} <= set(figures)
    assert "0.recall.p50_ms" not in figures  # there is nothing to recall
    assert (data / "vault_tiny.tar.gz").read_bytes() == before
    assert all(table.rows for table in outcome.tables)


def test_the_memories_to_measure_with_differ_and_are_always_the_same(data: Path, tmp_path: Path):
    facts = read_facts(data, tmp_path, 40)  # more than the corpus has sentences
    assert len(set(facts)) == 40
    assert facts == read_facts(data, tmp_path, 40)


def test_a_vault_to_measure_with_holds_the_memories_it_was_given(data: Path, tmp_path: Path):
    facts = read_facts(data, tmp_path, 32)
    app = opened(_write_vault(tmp_path / "vault"), tmp_path / "state", facts)
    items = app.memory.book.items()
    assert sorted(item.text for item in items) == sorted(facts)
    assert {item.category for item in items} == set(CATEGORIES)
    assert {item.source for item in items} == {"agent"}
    app.close()


def test_a_memory_that_is_in_no_note_ends_the_measurement(tmp_path: Path):
    app = build_app(bench_config(tmp_path / "state"), _write_vault(tmp_path / "vault"))
    waiting = app.memory.remember("The harbour opens at six in the morning.", strategy="batched")
    with pytest.raises(RuntimeError):
        memory._must_have(app, [waiting.id])
    app.memory.flush(timeout_s=10)
    memory._must_have(app, [waiting.id])
    with pytest.raises(RuntimeError):
        memory._must_have(app, ["m-nowhere"])
    app.close()


def test_turns_are_taken_and_the_first_is_not_counted():
    turns: list[str] = []

    def partner(at: int) -> float:
        turns.append(f"bare {at}")
        return 1.0

    timed = durable.in_turns(2, lambda at: turns.append(f"ours {at}"), partner)
    assert turns == ["ours 0", "bare 0", "ours 1", "bare 1", "ours 2", "bare 2"]
    assert len(timed.ours_s) == len(timed.bare_s) == 2


def test_a_call_is_compared_with_the_median_of_its_partner():
    figures = durable.Timed([0.004, 0.002, 0.009], [0.001, 0.001, 0.1], cpu_s=0.006).figures()
    assert (figures["p50_ms"], figures["bare_p50_ms"], figures["ratio"]) == (4.0, 1.0, 4.0)
    assert (figures["p95_ms"], figures["max_ms"], figures["cpu_ms"]) == (9.0, 9.0, 2.0)


def test_writers_append_every_line_of_theirs(tmp_path: Path):
    done = append_at_once(tmp_path / "log", [[10, 20], [30]])
    assert (tmp_path / "log").stat().st_size == 60
    assert len(done.acknowledged_s) == 3


def test_conflicts_are_judged_beside_the_bare_cosine(data: Path, tmp_path: Path):
    result = run(conflicts.BENCHMARK, data, tmp_path)
    assert {"merge.p", "supersede.p"} <= set(result["metrics"])
    assert "merge.p" in result["baselines"]["dense"]


def test_packs_count_a_question_when_all_of_its_evidence_is_inside(data: Path, tmp_path: Path):
    marked = json.loads(json.dumps(LONGMEMEVAL))
    for turns in marked["pool"].values():
        turns[0]["has_answer"] = True
    (data / "longmemeval_tiny.json").write_text(json.dumps(marked), encoding="utf-8")
    outcome = packs.run(frame.Options(data, keep=tmp_path))
    assert outcome.metrics["turn.all"] == 100
    assert outcome.baselines["static"]["8000.all"] == 100
    assert set(outcome.baselines) == set(packs.ROWS[1:])


def test_false_injection_compares_rules_on_vaults_and_histories(data: Path, tmp_path: Path):
    prompts = {kind: ["thanks!", "write a poem about the red kayak"] for kind in false_injection.KINDS}
    (data / "prompts_generic_tiny.json").write_text(json.dumps(prompts), encoding="utf-8")
    outcome = false_injection.run(frame.Options(data, keep=tmp_path, limit=2))
    assert set(outcome.baselines) == set(false_injection.ROWS) - {"ours"}
    assert outcome.metrics["coding"] <= outcome.baselines["always"]["coding"]
    assert outcome.tables


def test_abstention_prints_a_curve_that_only_rises(data: Path, tmp_path: Path):
    figures = abstention.run(frame.Options(data, keep=tmp_path)).metrics
    empty = [figures[f"hybrid.small talk.empty@{level:g}"] for level in abstention.LEVELS]
    assert empty == sorted(empty, reverse=True)
    assert "keyword.lost@0.3" in figures


def test_prompts_are_answered_with_services_that_are_dead(data: Path, tmp_path: Path):
    figures = prompts.run(frame.Options(data, keep=tmp_path, sizes=(24,), limit=3)).metrics
    assert all(figures[f"{row}.p50_ms"] > 0 for row in prompts.ROWS)


def test_the_agents_loop_is_measured_part_by_part(data: Path, tmp_path: Path):
    figures = agent_overhead.run(frame.Options(data, keep=tmp_path, sizes=(24,), limit=1)).metrics
    assert all(figures[f"{row}.p95_ms"] > 0 for row in (*agent_overhead.ROWS, "long", "start", "learn"))
    parts = sum(figures[f"{row}.p50_ms"] for row in ("note", "window"))
    assert 0 < parts <= 2 * figures["overhead.p95_ms"]


def test_the_evidence_table_shows_the_usual_ways_beside_ours():
    result = {"metrics": {"turn.all": 80.0}, "baselines": {"static": {"turn.all": 3.0}}, "machine": {}}
    assert "| **80.0** |  |  | 3.0 |" in "\n".join(summary.evidence_table({"packs": result}))


def test_every_goal_is_of_a_benchmark_that_runs():
    assert {goal.benchmark for goal in summary.GOALS} <= {benchmark.name for benchmark in ALL}


def test_a_benchmark_without_a_picture_draws_none(tmp_path: Path):
    plots.save(tmp_path / "none.png", [(tool_tokens.BENCHMARK, {"metrics": {}, "baselines": {}})])
    assert not (tmp_path / "none.png").exists()


def test_remembering_is_drawn_beside_the_bare_write(tmp_path: Path):
    pytest.importorskip("matplotlib")
    names = ("p50_ms", "p95_ms", "bare_p50_ms", "ratio")
    kinds = ("0.batched", "9.batched", "0.immediate", "9.immediate")
    figures = {f"{kind}.{name}": 2.0 for kind in kinds for name in names}
    plots.save(tmp_path / "memory.png", [(memory.BENCHMARK, {"metrics": figures, "baselines": {}})], note="x")
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_are_drawn_from_what_was_written(data: Path, tmp_path: Path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "scifact.png"
    run(scifact.BENCHMARK, data, tmp_path, "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_judging_counts_gold_by_hit():
    figures = metrics.judge([{"x"}, {"a", "y"}, set(), {"b"}], {"a", "b"}, (1, 2, 5))
    assert (figures["fraction@1"], figures["fraction@2"], figures["fraction@5"]) == (0.0, 0.5, 1.0)
    assert (figures["any@2"], figures["all@2"], figures["all@5"]) == (1.0, 0.0, 1.0)
    assert figures["mrr"] == 0.5


def test_the_same_gold_twice_counts_once():
    assert metrics.judge([{"a"}, {"a"}], {"a", "b"}, (5,))["fraction@5"] == 0.5


def test_ndcg_is_one_for_the_best_order_and_falls_with_the_place():
    gains = {"a": 1.0, "b": 1.0}
    assert metrics.ndcg(["b", "a", "c"], gains, 10) == 1.0
    assert 0 < metrics.ndcg(["c", "a"], gains, 10) < 1
    assert metrics.ndcg(["c"] * 10 + ["a"], gains, 10) == 0.0


def test_a_budget_ends_with_the_hit_that_would_exceed_it():
    hits = [(100, {"a"}), (150, {"b"}), (1, {"c"})]
    assert metrics.within_budget(hits, {"a", "b", "c"}, 249) == pytest.approx(1 / 3)
    assert metrics.within_budget(hits, {"a", "b", "c"}, 251) == 1.0


def test_the_summary_replaces_only_what_stands_between_its_marks(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{summary.BEGIN}\nold\n{summary.END}\nafter\n", encoding="utf-8")
    assert summary.put_into(page, "new")
    assert page.read_text(encoding="utf-8") == f"before\n{summary.BEGIN}\nnew\n{summary.END}\nafter\n"
    assert not summary.put_into(tmp_path / "other.md", "new")


def test_the_summary_shows_our_figure_beside_the_others():
    result = {
        "metrics": {"ndcg@10": 0.71},
        "baselines": {"fts5": {"ndcg@10": 0.66}, "bm25": {"ndcg@10": 0.65}, "dense": {}, "rrf": {}},
        "machine": {"cores": 2},
    }
    assert "| SciFact, nDCG@10 | **0.710** | 0.660 | 0.650 |  |  | ≥ .70 |" in summary.markdown(
        {"scifact": result}
    )
