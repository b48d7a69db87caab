"""The figures that matter, with what they should reach: one Markdown table, kept in docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import ROWS

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


@dataclass(frozen=True, slots=True)
class Goal:
    benchmark: str
    metric: str
    label: str
    goal: str


GOALS = (
    Goal("locomo", "turn.fraction@10", "LoCoMo, turns, fraction@10, %", "≥ 81.5"),
    Goal("locomo", "turn.mrr", "LoCoMo, turns, MRR, %", "≥ 58.8"),
    Goal("locomo", "tokens1000.fraction", "LoCoMo, evidence within 1,000 tokens, %", "≥ 87.7"),
    Goal("locomo", "session.fraction@5", "LoCoMo, sessions, fraction@5, %", "≥ 91.8"),
    Goal("longmemeval", "all@5", "LongMemEval, all@5, %", "≥ 92.5"),
    Goal("longmemeval", "any@5", "LongMemEval, any@5, %", "≥ 98.9"),
    Goal("longmemeval", "pooled.all@5", "LongMemEval pooled, all@5, %", "≥ 58"),
    Goal("scifact", "ndcg@10", "SciFact, nDCG@10", "≥ .70"),
    Goal("wikilinks", "recall@10", "Hidden wikilinks, recall@10, %", "≥ 46"),
    Goal("conflicts", "merge.p", "Memories merged, precision, %", "≥ 98"),
    Goal("conflicts", "supersede.p", "Memories superseded, precision, %", "≥ 95"),
    Goal(
        "memory_lane",
        "table.prefeval.lane",
        "The memory that a question needs in the prompt, of 20, %",
        "≥ 65",
    ),
    Goal("memory_lane", "encoder.prefeval.lane", "... with the encoder, %", "≥ 88"),
    Goal("memory_lane", "table.prefeval.coding", "... coding instructions that get one, %", "≤ 10"),
    Goal("memory_lane", "table.prefeval200.first5", "... of 200, among the first five, %", "≥ 45"),
    Goal("memory_lane", "encoder.prefeval200.first5", "... with the encoder, %", "≥ 65"),
    Goal("memory_lane", "table.locomo_plus.lane", "... without a word in common (LoCoMo-Plus), %", "≥ 28"),
    Goal("memory_lane", "encoder.locomo_plus.lane", "... with the encoder, %", "≥ 45"),
    Goal(
        "run_answers",
        "table.by recall",
        "Answers of runs in other words, by `recall`, %",
        "≥ 80",
    ),
    Goal("run_answers", "encoder.by recall", "... with the encoder, %", "≥ 90"),
    Goal("run_answers", "table.in the prompt", "... in the prompt that asks, %", ""),
    Goal("fixes", "ours.right first", "Failed commands that get the fix that worked before, %", "≥ 85"),
    Goal("fixes", "ours.false", "... that get one and none is known, %", "≤ 2"),
    Goal("day_questions", "recall.exact", "Questions about time: exactly the right runs, by `recall`, %", ""),
    Goal("day_questions", "pack.exact", "... in the prompt that asks, %", ""),
    Goal("false_injection", "agent_turns", "Notes for turns of coding sessions that need none, %", "≤ 5"),
    Goal("false_injection", "small_talk", "... for small talk, %", "≤ 1"),
    Goal("false_injection", "coding", "... for coding instructions, %", "≤ 10"),
    Goal("false_injection", "general", "... for general tasks, %", "≤ 10"),
    Goal("false_injection", "kept", "... answers that are kept all the same, %", "≥ 85"),
    Goal("drift", "words and vectors.check.f1", "Change of topic, LoCoMo, F1, %", ""),
    Goal("drift", "words and vectors.longmemeval.f1", "... LongMemEval, F1, %", ""),
    Goal("drift", "ledger.host keeps.repeated passages", "Passages injected twice in a conversation", "0"),
    Goal("flush_rules", "stored.precision", "Kept of a conversation by rules, precision, %", "≥ 95"),
    Goal("prompts", "assembly.p50_ms", "Pack assembly, 100k notes, p50, ms", "< 10"),
    Goal("prompts", "pack.p50_ms", "... with its search, p50, ms", ""),
    Goal("prompts", "refused.p95_ms", "Prompt with a dead embedding service, 100k notes, p95, ms", "≤ 150"),
    Goal("prompts", "hanging.p95_ms", "... with one that never answers, p95, ms", "≤ 150"),
    Goal(
        "hook_latency", "prompt, daemon.p50_ms", "`UserPromptSubmit` with the daemon, md_mdn, p50, ms", "≤ 60"
    ),
    Goal("hook_latency", "prompt, daemon.p95_ms", "... p95, ms", ""),
    Goal("hook_latency", "prompt, encoder.p50_ms", "... with the encoder, p50, ms", "≤ 90"),
    Goal("hook_latency", "prompt, no daemon.p50_ms", "... without it, p50, ms", "≤ 400"),
    Goal("hook_latency", "prompt, no daemon.p95_ms", "... p95, ms", ""),
    Goal("hook_latency", "stop, no daemon.p50_ms", "`Stop`, p50, ms", ""),
    Goal("hook_latency", "python, daemon.p50_ms", "`python -c pass`, same run, p50, ms", ""),
    Goal(
        "service_latency",
        "provider hangs.p95_ms",
        "`/v1/context`, 100k passages, provider hangs, p95, ms",
        "≤ 150",
    ),
    Goal("service_latency", "provider refuses.p95_ms", "... provider refuses, p95, ms", "≤ 150"),
    Goal("service_latency", "built-in embedder.p95_ms", "... built-in embedder, p95, ms", ""),
    Goal("service_latency", "echo, provider hangs.p50_ms", "bare HTTP echo, same run, p50, ms", ""),
    Goal("latency", "10000.hybrid.p50_ms", "Warm search, 10k passages, p50, ms", ""),
    Goal("latency", "10000.hybrid.ratio", "... times the bare FTS5 query", "≤ 3"),
    Goal("latency", "100000.hybrid.p50_ms", "Warm search, 100k passages, p50, ms", "< 25"),
    Goal("latency", "1000000.hybrid.p50_ms", "Warm search, 1M passages, p50, ms", "< 120"),
    Goal("latency", "1000000.vector.recall@10", "Vectors at 1M, recall@10 of exact", "≥ .95"),
    Goal("sync", "files_per_s", "First sync with vectors, files/s", "≥ 400"),
    Goal("sync", "peak_mb", "First sync, peak memory, MB", "< 500"),
    Goal("sync", "index_to_text", "Index size / text size", "< 4"),
    Goal("sync", "reconcile_s", "Nothing changed, s", "< 1.5"),
    Goal("sync", "one_file_ms", "One changed file, ms", "< 100"),
    Goal("sync", "save_to_findable_s", "From save to findable, s", "< 2"),
    Goal("cold", "help.ratio", "Cold `hindbrain --help`, times `python -c pass`", "≤ 4"),
    Goal("cold", "demo.keyword.ratio", "Cold `search --keyword`, sample vault, times the same", "≤ 5"),
    Goal("cold", "demo.hybrid.ratio", "Cold `search`, sample vault, times the same", "≤ 15"),
    Goal("memory", "1000.batched.p50_ms", "`remember`, batched, durable, p50, ms", ""),
    Goal("memory", "1000.batched.p95_ms", "... p95, ms", ""),
    Goal("memory", "1000.batched.ratio", "... p50, times a bare append and fsync", ""),
    Goal("memory", "1000.immediate.p50_ms", "`remember`, in its note, durable, p50, ms", ""),
    Goal("memory", "1000.immediate.p95_ms", "... p95, ms", ""),
    Goal("memory", "1000.immediate.ratio", "... p50, times a bare replacement of the note", ""),
    Goal("memory", "1000.storm.writes_per_s", "Batched memories/s, in their notes", "≥ 1,000"),
    Goal("memory", "1000.storm.bare_per_s", "... bare appends and fsyncs/s, same run", ""),
    Goal("memory", "writers.writes_per_s", "... from eight processes at once", ""),
    Goal("memory", "1000.recall.p50_ms", "`recall`, 1,000 memories, p50, ms", ""),
    Goal("memory", "10000.recall.p50_ms", "`recall`, 10,000 memories, p50, ms", ""),
    Goal("mcp_server", "ours.wall_ms", "MCP server, start to `tools/list`, ms", ""),
    Goal("mcp_server", "ours.wall_ratio", "... times a bare SDK server", "≤ 1.2"),
    Goal("mcp_server", "vault_search.p50_ms", "`vault_search` over stdio, p50, ms", ""),
    Goal("mcp_server", "remember, batched.p50_ms", "`remember`, batched, over stdio, p50, ms", ""),
    Goal("tool_tokens", "core.tokens", "Tool set `core`, tokens", "≤ 900"),
    Goal("tool_tokens", "all.tokens", "Tool set `all`, tokens", "≤ 2,300"),
    Goal("learning", "repeats.down", "Simulated desktop: repeated failures down by, %", "≥ 80"),
    Goal("learning", "iterations.down", "... iterations of known tasks down by, %", "≥ 40"),
    Goal("learning", "template", "... success where a template was followed, %", "> 85"),
    Goal("learning", "relevance", "... memories found by the command that were relevant, %", "> 80"),
    Goal("learning", "relevance, all", "... with the profile and what happened last, %", ""),
    Goal("learning", "taste", "... as the user likes it, %", ""),
    Goal(
        "real_runs",
        "ALFWorld, same task: our pack: precision@3",
        "Mistakes in packs, ALFWorld, precision@3, %",
        "",
    ),
    Goal("real_runs", "ALFWorld, same task: our pack: helped", "... repeated failures that are told, %", ""),
    Goal("real_runs", "tau-bench, same task: our pack: precision@3", "... tau-bench, precision@3, %", ""),
    Goal("real_runs", "tau-bench, same task: our pack: helped", "... repeated failures that are told, %", ""),
    Goal("learn_scale", "200000.import_s", "200,000 events imported, s", ""),
    Goal("learn_scale", "200000.learn_s", "... and learned from, s", "< 60 with import"),
    Goal("learn_scale", "200000.peak_mb", "... peak memory, MB", ""),
    Goal("learn_scale", "year.consolidate_s", "365 daily notes consolidated, s", "< 10"),
    Goal(
        "agent_overhead",
        "overhead.p50_ms",
        "Agent loop, 100k passages, overhead an iteration, p50, ms",
        "< 20",
    ),
    Goal("agent_overhead", "overhead.p95_ms", "... p95, ms", ""),
    Goal("agent_overhead", "note.p50_ms", "... of it transcript and journal, p50, ms", ""),
    Goal("agent_overhead", "fsync.p50_ms", "... a bare append and fsync, same run, p50, ms", ""),
    Goal("agent_overhead", "long.p50_ms", "... at the end of a long conversation, p50, ms", ""),
    Goal("agent_overhead", "start.p50_ms", "... once a run: until the model is asked, p50, ms", ""),
)


_BUDGETS = {
    "turn": "the `turn` pack (4,000 characters)",
    "2000": "2,000 tokens",
    "4000": "4,000 tokens",
    "8000": "8,000 tokens",
}
_AGAINST = ("passages", "chunks", "static")


def evidence_table(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What of the evidence is inside a prompt, beside the usual ways of filling it."""
    result = results.get("packs", {})
    if not result.get("metrics"):
        return []
    lines = [
        "| LongMemEval: all evidence inside the prompt, % | Hindbrain | its passages, cut | chunks, cut |"
        " a static file |",
        "|---|---|---|---|---|",
    ]
    for budget, label in _BUDGETS.items():
        rows = [result["metrics"], *(result["baselines"].get(row, {}) for row in _AGAINST)]
        shown = [_plain(row.get(f"{budget}.all")) for row in rows]
        lines.append(f"| {label} | **{shown[0]}** | {' | '.join(shown[1:])} |")
    return [*lines, ""]


def markdown(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The tables, and the machine below them."""
    lines = [
        "| | Hindbrain | whole-note FTS5 | BM25 only | vectors only | RRF | goal |",
        "|---|---|---|---|---|---|---|",
    ]
    machine: Mapping[str, Any] = {}
    for goal in GOALS:
        result = results.get(goal.benchmark, {})
        if goal.metric not in result.get("metrics", {}):
            continue
        machine = result["machine"]
        others = [result["baselines"].get(row, {}).get(goal.metric) for row in ROWS[1:]]
        shown = [f"**{_plain(result['metrics'][goal.metric])}**", *map(_plain, others), goal.goal]
        lines.append(f"| {goal.label} | {' | '.join(shown)} |")
    about = ", ".join(f"{name} {value}" for name, value in machine.items())
    return "\n".join([*lines, "", *evidence_table(results), f"`python -m benchmarks` on {about}."])


def put_into(path: Path, text: str) -> bool:
    """Replace what stands between the marks of a document; False when it has none."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if BEGIN not in before or END not in before:
        return False
    head, _, rest = before.partition(BEGIN)
    path.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return True


def _plain(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
