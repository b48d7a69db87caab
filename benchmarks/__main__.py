"""All benchmarks, one after the other: tables on the screen, JSON and pictures in `bench-out/`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import (
    abstention,
    agent_overhead,
    cold,
    conflicts,
    day_questions,
    drift,
    false_injection,
    fixes,
    flush_rules,
    harm,
    hook_latency,
    late_interaction,
    latency,
    learn_scale,
    learning,
    locomo,
    longmemeval,
    mcp_server,
    memory,
    memory_lane,
    packs,
    prompts,
    real_runs,
    real_vaults,
    run_answers,
    scifact,
    service_latency,
    sync,
    tool_tokens,
    wikilinks,
)
from benchmarks.frame import (
    Benchmark,
    Options,
    add_arguments,
    command_line,
    machine,
    options_of,
    perform,
    write_json,
)
from benchmarks.plots import save
from benchmarks.summary import markdown, put_into

ALL = tuple(
    module.BENCHMARK
    for module in (
        locomo, longmemeval, scifact, wikilinks, real_vaults, conflicts, packs, abstention, false_injection,
        memory_lane, late_interaction, drift, flush_rules, latency, prompts, sync, cold, memory, mcp_server,
        hook_latency, service_latency, tool_tokens, learning, real_runs, run_answers, day_questions, fixes,
        harm, learn_scale, agent_overhead,
    )
)  # fmt: skip
_DOCS = Path(__file__).resolve().parents[1] / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--only", default="", metavar="NAMES", help="run only these, separated by commas")
    parser.add_argument(
        "--reuse", action="store_true", help="take the others from what an earlier run has written to --out"
    )
    parser.add_argument("--out", default="bench-out", metavar="DIR", help="where to write")
    arguments = parser.parse_args()
    options, out = options_of(arguments), Path(arguments.out)
    only = arguments.only.split(",") if arguments.only else [benchmark.name for benchmark in ALL]
    chosen = [benchmark for benchmark in ALL if benchmark.name in only]
    print(_about(), "\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as temporary:
        options = replace(options, keep=options.keep or Path(temporary))
        results = [(benchmark, _performed(benchmark, options, out)) for benchmark in chosen]
    if arguments.reuse:
        results = [*_written(out, chosen), *results]
        results.sort(key=lambda result: ALL.index(result[0]))
        chosen = [benchmark for benchmark, _ in results]
    skipped = [benchmark.name for benchmark, result in results if result.get("skipped")]
    drawn = [(benchmark, result) for benchmark, result in results if not result.get("skipped")]
    summary = markdown({benchmark.name: result for benchmark, result in drawn})
    print(summary)
    save(out / "benchmarks.png", drawn, note=_about())
    if not is_whole(options, chosen):
        return 0
    if skipped:
        print(f"docs/benchmarks.md was left as it is, since these were skipped: {', '.join(skipped)}")
    else:
        save(_DOCS / "img" / "benchmarks.png", drawn, note=_about())
        put_into(_DOCS / "benchmarks.md", summary)
    return 0


def _written(out: Path, chosen: Sequence[Benchmark]) -> list[tuple[Benchmark, dict[str, Any]]]:
    """Results of an earlier run, of those that were not chosen now."""
    found = []
    for benchmark in ALL:
        file = out / f"{benchmark.name}.json"
        if benchmark not in chosen and file.exists():
            found.append((benchmark, json.loads(file.read_text(encoding="utf-8"))))
    return found


def is_whole(options: Options, chosen: Sequence[Benchmark]) -> bool:
    """Was everything asked for? A part must not replace the published picture and table."""
    usual = Options(options.data)
    return (options.rows, options.sizes, options.limit, len(chosen)) == (usual.rows, usual.sizes, 0, len(ALL))


def _about() -> str:
    about = machine()
    return "\n".join(["python -m benchmarks", "", *(f"{name}: {value}" for name, value in about.items())])


def _performed(benchmark: Benchmark, options: Options, out: Path) -> dict[str, Any]:
    result = perform(benchmark, options, command_line(benchmark.name, _shared_arguments(sys.argv[1:])))
    write_json(out / f"{benchmark.name}.json", result)
    if not result.get("skipped"):
        save(out / f"{benchmark.name}.png", [(benchmark, result)])
    return result


def _shared_arguments(words: list[str]) -> list[str]:
    """The words that mean the same to a single benchmark."""
    parser = argparse.ArgumentParser(add_help=False)
    for own in ("--only", "--out"):
        parser.add_argument(own)
    return parser.parse_known_args(words)[1]


if __name__ == "__main__":
    raise SystemExit(main())
