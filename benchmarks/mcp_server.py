"""What an MCP session costs: from the start of the process to the tools, and a call of a tool.

The unit of the start is the smallest server that the SDK's documents show: `MCPServer` with one tool. Both
take turns in the same run. As after an installation, the modules are compiled beforehand.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.cold import child_environ, compile_modules
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import build_app

_RUNS = 21
_CALLS = 60
LIMIT = 1.2  # times the bare server
_BARE = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("bare")
@server.tool()
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b
server.run("stdio")
"""
_WORDS = (
    "how to take notes", "reading list", "distributed systems", "what is a garden", "research ideas",
    "memory and attention", "community", "design of tools", "crdt", "search engines", "writing", "software",
)  # fmt: skip


class Session:
    """A server over stdio, spoken to line by line: what the client itself costs is next to nothing."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str]) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._id = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.returncode is None:
            self.process.wait(60)

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.process.args!r} ended without an answer")
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._id:
                return answer

    def open(self) -> list[str]:
        """Greet, and ask for the tools; their names."""
        who = {"name": "benchmark", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who})
        self.send({"method": "notifications/initialized"})
        return [tool["name"] for tool in self.ask("tools/list", {})["result"]["tools"]]

    def end_at_once(self) -> float:
        """Processor seconds that were used; what the server would do afterwards does not count."""
        self.process.kill()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime

    def call_ms(self, tool: str, arguments: Mapping[str, Any]) -> float:
        started = time.perf_counter()
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        taken = time.perf_counter() - started
        if result.get("isError"):
            raise RuntimeError(f"{tool} failed: {result['content'][0]['text']}")
        return 1e3 * taken


def run(options: Options) -> Outcome:
    if find_spec("mcp") is None:
        raise Skipped("the MCP SDK is not installed: pip install 'mcp>=2,<3'")
    if not hasattr(os, "wait4"):
        raise Skipped("this system does not tell the processor time of a child process")
    compile_modules()
    with options.work("mcp_server") as work:
        vault = _vault(options, work)
        environ = child_environ(work / "state")
        started = _starts(vault, environ)
        taken = _calls(vault, environ)
    bare = started["bare"]
    figures: Figures = {}
    for name, (wall, cpu) in started.items():
        figures |= {f"{name}.wall_ms": round(wall, 1), f"{name}.cpu_ms": round(cpu, 1)}
        figures[f"{name}.wall_ratio"] = round(wall / bare[0], 3)
        figures[f"{name}.cpu_ratio"] = round(cpu / bare[1], 3)
    for tool, times in taken.items():
        figures[f"{tool}.p50_ms"] = round(statistics.median(times), 2)
        figures[f"{tool}.p95_ms"] = round(_p95(times), 2)
    data: dict[str, str | int] = {"name": vault.name, "runs": _RUNS, "calls": _CALLS}
    return Outcome(metrics=figures, data=data, tables=(_start_table(started), _call_table(taken)))


def _vault(options: Options, work: Path) -> Path:
    """A copy to write into, with its index."""
    source = find_one(options.data, "sample vault", ("vault_jzhao.tar.gz", "vault_jzhao*"))
    vault = work / "vault"
    if not vault.exists():
        shutil.copytree(single_root(unpacked(source, work)), vault)
    app = build_app(bench_config(work / "state"), vault)
    app.sync()
    app.close()
    return vault


def _starts(vault: Path, environ: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """From the start of the process to the answer to tools/list: wall and processor time in ms, medians."""
    ours = [sys.executable, "-m", "hindbrain", "mcp", "--vault", str(vault)]
    commands = {
        "bare": [sys.executable, "-c", _BARE],
        "ours": ours,
        "plain import": [*ours, "--plain-import"],
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(_RUNS + 1):
        for name, command in commands.items():
            with Session(command, environ) as session:
                session.open()
                wall = time.perf_counter() - session.began
                cpu = session.end_at_once()
            if turn:  # the first run fills the system's caches
                times[name].append((1e3 * wall, 1e3 * cpu))
    return {
        name: (statistics.median(wall for wall, _ in runs), statistics.median(cpu for _, cpu in runs))
        for name, runs in times.items()
    }


def _calls(vault: Path, environ: Mapping[str, str]) -> dict[str, list[float]]:
    """Milliseconds of each call in a warm session."""
    notes = sorted(str(path.relative_to(vault)) for path in vault.rglob("*.md"))[:_CALLS]
    kinds: dict[str, tuple[str, list[dict[str, Any]]]] = {
        "vault_search": ("vault_search", [{"query": _question(n)} for n in range(_CALLS)]),
        "recall": ("recall", [{"topic": _question(n)} for n in range(_CALLS)]),
        "vault_read": ("vault_read", [{"path": path} for path in notes]),
        "remember, batched": ("remember", [{"fact": _fact(n, "batch")} for n in range(_CALLS)]),
        "remember, at once": (
            "remember",
            [{"fact": _fact(n, "single"), "importance": 0.9} for n in range(_CALLS)],
        ),
    }
    command = [sys.executable, "-m", "hindbrain", "mcp", "--vault", str(vault), "--tools", "all"]
    with Session(command, environ) as session:
        session.open()
        for tool, several in kinds.values():  # everything is loaded at the first call
            session.call_ms(tool, several[0] if tool != "remember" else {"fact": "The benchmark has begun."})
        return {
            name: [session.call_ms(tool, arguments) for arguments in several]
            for name, (tool, several) in kinds.items()
        }


def _question(n: int) -> str:
    return f"{_WORDS[n % len(_WORDS)]} {_WORDS[(n * 5 + n // len(_WORDS)) % len(_WORDS)]}"


def _fact(n: int, kind: str) -> str:
    return f"In {kind} {n} the {_WORDS[n % len(_WORDS)]} of person {n * 37} were moved to room {n * 53}."


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[max(0, round(0.95 * len(times)) - 1)]


def _start_table(started: Mapping[str, tuple[float, float]]) -> Table:
    bare_wall, bare_cpu = started["bare"]
    rows = tuple(
        (name, f"{wall:.0f}", f"{wall / bare_wall:.2f}", f"{cpu:.0f}", f"{cpu / bare_cpu:.2f}")
        for name, (wall, cpu) in started.items()
    )
    title = f"MCP server, process start to tools/list, medians of {_RUNS} runs in turns (limit {LIMIT:g} x)"
    return Table(title, ("", "wall ms", "x bare", "CPU ms", "x bare"), rows)


def _call_table(taken: Mapping[str, Sequence[float]]) -> Table:
    rows = tuple(
        (tool, f"{statistics.median(times):.1f}", f"{_p95(times):.1f}") for tool, times in taken.items()
    )
    return Table(f"Calls of tools over stdio, warm, {_CALLS} each, ms", ("", "p50", "p95"), rows)


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    figures = result["metrics"]
    items = [
        (
            name,
            figures[f"{name}.wall_ratio"],
            f"{figures[f'{name}.wall_ratio']:.2f}x, {figures[f'{name}.wall_ms']:.0f} ms",
        )
        for name in ("ours", "plain import")
    ]
    title = f"MCP start to tools/list (bare SDK server: {figures['bare.wall_ms']:.0f} ms)"
    flat_bars(axes, title, items, [LIMIT, LIMIT])


BENCHMARK = Benchmark("mcp_server", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
