"""What a turn costs a plugin: `/v1/context` over HTTP, with the built-in embedder and with a dead provider.

The unit is a bare HTTP server that sends back what it gets, asked in turn with the service, since the machine
is never quiet; processor time, where the system tells it, is what is left of it on a quiet one. Each question
is the first of its session, on a connection of its own, as a plugin asks.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.cold import child_environ, compile_modules
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures, quantile
from benchmarks.rankers import bench_config, write_note
from benchmarks.scale import make_queries, read_notes, recorded, scale_corpus
from hindbrain.app import build_app
from hindbrain.edge.daemon.address import daemon_folder, read_address

AIM_MS = 150.0  # p95 with a dead provider
_PASSAGES = 100_000
_RUNS = 100
_WARM_RUNS = 5
_PATIENCE_S = 60.0
_ECHO = """
import http.server, sys
class Echo(http.server.BaseHTTPRequestHandler):
    wbufsize = -1
    disable_nagle_algorithm = True
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
print(server.server_port, flush=True)
server.serve_forever()
"""


def run(options: Options) -> Outcome:
    compile_modules()
    with options.work("service_latency") as work:
        notes = read_notes(scale_corpus(options.data, work))
        queries = [text for kind in make_queries(notes).values() for text in kind]
        vault, state = work / "vault", work / "state"
        _write_vault(vault, notes)
        app = build_app(bench_config(state), vault)
        app.sync()
        passages, count = app.store.sizes()
        app.close()
        figures: Figures = {"passages": passages}
        with _hanging() as hangs:
            providers = {
                "built-in embedder": {"provider": "builtin"},
                "provider refuses": {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"},
                "provider hangs": {"provider": "openai", "base_url": hangs, "model": "m"},
            }
            for name, embedding in providers.items():
                figures |= _phase(name, work, vault, embedding, queries[: options.limit or _RUNS])
    data: dict[str, str | int] = {"name": "md_mdn", "notes": count, "runs": options.limit or _RUNS}
    return Outcome(metrics=figures, data=data, tables=(_table(figures, passages),))


def _write_vault(vault: Path, notes: Sequence[tuple[str, str]]) -> None:
    """As many notes as have the passages."""
    made = 0
    for path, text in notes:
        write_note(vault / path, text)
        made += len(recorded(path, text).passages)
        if made >= _PASSAGES:
            return


def _phase(name: str, work: Path, vault: Path, embedding: Mapping[str, str], queries: list[str]) -> Figures:
    walls: dict[str, list[float]] = {name: [], f"echo, {name}": []}
    injected = 0
    with _service(work, vault, embedding) as (port, token, pid), _echo() as echo:
        for turn in range(-_WARM_RUNS, len(queries)):
            if turn == 0:
                before_s = _processor_s(pid)
            body = {"session": f"bench-{name}-{turn}", "message": f"{queries[turn]}?"}
            took_ms, told = _asked(port, "/v1/context", body, token)
            echo_ms, _ = _asked(echo, "/", {"echo": told}, "")
            injected += bool(told["context"])
            if turn >= 0:
                walls[name].append(took_ms)
                walls[f"echo, {name}"].append(echo_ms)
        used_s = _processor_s(pid) - before_s
    if not injected:
        raise RuntimeError(f"no prompt got anything ({name}): this would measure nothing")
    figures: Figures = {
        f"{one}.{figure}_ms": round(quantile(times, share), 1)
        for one, times in walls.items()
        for figure, share in (("p50", 0.5), ("p95", 0.95))
    }
    return figures | ({f"{name}.cpu_ms": round(1e3 * used_s / len(queries), 1)} if used_s else {})


def _processor_s(pid: int) -> float:
    """What the process has used so far; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _asked(port: int, path: str, body: Mapping[str, object], token: str) -> tuple[float, dict[str, Any]]:
    data = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    try:
        connection.request("POST", path, data, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
    finally:
        connection.close()
    took_ms = 1e3 * (time.perf_counter() - began)
    if answer.status != 200:
        raise RuntimeError(f"{path} answered {answer.status}: {told}")
    return took_ms, told


@contextmanager
def _service(work: Path, vault: Path, embedding: Mapping[str, str]) -> Iterator[tuple[int, str, int]]:
    """A warm one: it has the vault open and has answered before."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    settings = work / "config.toml"
    tables: dict[str, dict[str, Any]] = {
        "vault": {"path": str(vault)},
        "service": {"port": port},
        "embedding": dict(embedding),
    }
    lines = [
        line
        for section, values in tables.items()
        for line in (f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items()))
    ]
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    state = work / "state"
    environ = {
        **child_environ(state),
        "HINDBRAIN_CONFIG": str(settings),
        "HINDBRAIN_STATE_FOLDER": str(state),
    }
    environ.pop("HINDBRAIN_EMBEDDING_PROVIDER", None)
    hindbrain = [sys.executable, "-m", "hindbrain", "up"]
    subprocess.run([*hindbrain, "--vault", str(vault)], env=environ, check=True, capture_output=True)
    try:
        token = (state / "service-token").read_text(encoding="ascii").strip()
        _wait_until_warm(port, token)
        address = read_address(daemon_folder(state))
        assert address is not None
        yield port, token, address.pid
    finally:
        subprocess.run([*hindbrain, "stop"], env=environ, check=True, capture_output=True)


def _wait_until_warm(port: int, token: str) -> None:
    """The first answers load what all others find in memory; a provider that hangs is waited for once."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            _asked(port, "/v1/context", {"session": "warm", "message": "what did we decide?"}, token)
            return
        except RuntimeError:
            if time.monotonic() > until:
                raise


@contextmanager
def _echo() -> Iterator[int]:
    child = subprocess.Popen(
        [sys.executable, "-c", _ECHO], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        assert child.stdout is not None
        yield int(child.stdout.readline())
    finally:
        child.kill()
        child.wait()


@contextmanager
def _hanging() -> Iterator[str]:
    """Accepts, and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def _table(figures: Figures, passages: int) -> Table:
    names = dict.fromkeys(name.rpartition(".")[0] for name in figures if name.endswith("_ms"))
    cpus = {name: figures.get(f"{name}.cpu_ms") for name in names}
    rows = tuple(
        (
            name,
            f"{figures[f'{name}.p50_ms']:.1f}",
            f"{figures[f'{name}.p95_ms']:.1f}",
            "-" if cpus[name] is None else f"{cpus[name]:.1f}",
            "-" if name.startswith("echo") else f"{AIM_MS:g}",
        )
        for name in names
    )
    return Table(
        f"/v1/context over HTTP, {passages:,} passages (ms)",
        ("", "p50", "p95", "CPU, mean", "aim, p95"),
        rows,
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    figures = result["metrics"]
    shown = ("built-in embedder", "provider refuses", "provider hangs")
    items = []
    for name in shown:
        p50, p95 = figures[f"{name}.p50_ms"], figures[f"{name}.p95_ms"]
        items.append((name, p95, f"{p95:.0f} ms (p50 {p50:.0f})"))
    bare = figures["echo, provider refuses.p50_ms"]
    title = f"/v1/context over HTTP, p95 against its aim (bare echo: {bare:.1f} ms)"
    flat_bars(axes, title, items, [AIM_MS] * len(shown))


BENCHMARK = Benchmark("service_latency", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
