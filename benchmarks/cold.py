"""What one command costs that starts, answers and ends: CPU time of the child, the least of several runs.

The unit is `python -c pass`. As after an installation, the modules are compiled beforehand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import hindbrain
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import build_app

_RUNS = 15
_PACKAGE = Path(hindbrain.__file__).parent
_QUERIES = {"demo": "when did we move house", "mdn": "how to wait for several promises"}
LIMITS = {"help": 4.0, "keyword": 5.0, "hybrid": 15.0}


def run(options: Options) -> Outcome:
    if not hasattr(os, "wait4"):
        raise Skipped("this system does not tell the processor time of a child process")
    program = Path(sys.executable).with_name("hindbrain")
    if not program.exists():
        raise Skipped(f"there is no {str(program)!r}; install the project into this environment first")
    compile_modules()
    with options.work("cold") as work:
        environ = child_environ(work / "state")
        commands = {"python": [sys.executable, "-c", "pass"], "help": [str(program), "--help"]}
        for name, vault in _vaults(options, work).items():
            _synced(vault, work / "state")
            search = [str(program), "search", _QUERIES[name], "--vault", str(vault), "--no-sync"]
            commands[f"{name}.keyword"] = [*search, "--keyword"]
            commands[f"{name}.hybrid"] = search
        taken = {name: 1e3 * value for name, value in least_cpu(commands, environ).items()}
    figures: Figures = {f"{name}.cpu_ms": round(value, 2) for name, value in taken.items()}
    ratios = {name: round(value / taken["python"], 2) for name, value in taken.items() if name != "python"}
    figures |= {f"{name}.ratio": ratio for name, ratio in ratios.items()}
    vaults = ", ".join(name for name in _QUERIES if f"{name}.hybrid" in taken)
    return Outcome(metrics=figures, data={"name": vaults, "runs": _RUNS}, tables=(_table(taken, ratios),))


def compile_modules() -> None:
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(_PACKAGE)], check=True)


def child_environ(state: Path) -> dict[str, str]:
    """The environment of a plain installation: our settings, none of the machine's owner."""
    foreign = ("HINDBRAIN_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    config = str(state / "no-such-config.toml")
    return {**kept, "HINDBRAIN_STATE_FOLDER": str(state), "HINDBRAIN_CONFIG": config}


def _vaults(options: Options, work: Path) -> dict[str, Path]:
    """The sample vault, copied out of the package, and the scale corpus where it is to be had."""
    demo = work / "demo"
    if not demo.exists():
        shutil.copytree(_PACKAGE / "edge" / "demo_vault", demo)
    vaults = {"demo": demo}
    try:
        source = find_one(options.data, "scale corpus", ("md_mdn.tar.gz", "md_mdn*"))
        vaults["mdn"] = single_root(unpacked(source, work))
    except Skipped as reason:
        print(f"cold: without the scale corpus: {reason}", file=sys.stderr)
    return vaults


def _synced(vault: Path, state: Path) -> None:
    app = build_app(bench_config(state), vault)
    app.sync()
    app.close()


def least_cpu(commands: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> dict[str, float]:
    """Processor seconds per command, the least of the runs; the commands take turns."""
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(_RUNS):
        for name, command in commands.items():
            least[name] = min(least[name], child_cpu(command, environ))
    return least


def child_cpu(command: Sequence[str], environ: Mapping[str, str]) -> float:
    """User and system time of one child, waited for by its own number."""
    child = subprocess.Popen(command, env=dict(environ), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    told = child.stderr.read()
    child.stderr.close()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        why = told.decode(errors="replace")[-500:]
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {why}")
    return used.ru_utime + used.ru_stime


def _table(taken: Mapping[str, float], ratios: Mapping[str, float]) -> Table:
    lines = []
    for name, value in taken.items():
        limit = f"{_limit(name):g}" if _limit(name) else "-"
        lines.append((name, f"{value:.1f}", f"{ratios.get(name, 1.0):.2f}", limit))
    title = f"Cold commands, CPU of the child, least of {_RUNS} runs"
    return Table(title, ("", "ms", "x python", "limit"), tuple(lines))


def _limit(name: str) -> float:
    return LIMITS.get(name.rpartition(".")[2], 0.0)


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    figures = result["metrics"]
    named = {
        "help": "--help",
        "demo.keyword": "search --keyword,\nsample vault",
        "demo.hybrid": "search,\nsample vault",
        "mdn.keyword": "search --keyword,\nmd_mdn",
        "mdn.hybrid": "search,\nmd_mdn",
    }
    present = [name for name in named if f"{name}.ratio" in figures]
    items = []
    for name in present:
        ratio, cpu_ms = figures[f"{name}.ratio"], figures[f"{name}.cpu_ms"]
        items.append((named[name], ratio, f"{ratio:.1f}x, {cpu_ms:.0f} ms"))
    title = f"Cold command, CPU against python -c pass ({figures['python.cpu_ms']:.0f} ms)"
    flat_bars(axes, title, items, [_limit(name) for name in present])


BENCHMARK = Benchmark("cold", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
