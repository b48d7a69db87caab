"""What a hook costs its host: from the start of the process to its end, with the daemon and without.

The vault is md_mdn with a handful of memories. Where the encoder is installed, the daemon is also measured
with it, after it has read the memories.

The unit is `python -c pass`, in turn with the hooks of each phase, since the machine is never quiet. As after
an installation, the modules are compiled beforehand. A host waits for wall time; processor time is what is
left of it on a quiet machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cold import child_environ, compile_modules
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config, write_note
from hindbrain.app import build_app
from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.address import daemon_folder
from hindbrain.models.encoder import wheel_folder
from hindbrain.vault.items.item import MemoryItem, render_item

_RUNS = 30
_WARM_RUNS = 3  # first runs, which fill the system's caches
AIMS_MS = {
    "prompt, daemon": 60.0,
    "prompt, encoder": 90.0,
    "prompt, no daemon": 400.0,
    "stop, daemon": 50.0,
    "stop, no daemon": 50.0,
}
_IDLE_S = 60.0
_QUIET_S = 10.0  # for the daemon to take what the encoder has read
_MEMORIES = (
    "Prefers dark mode in all apps", "Is allergic to shellfish", "The weekly report is due on Friday morning",
    "Works from home on Mondays", "Deploys with `make ship`, never from a laptop",
)  # fmt: skip
_HOOK = "hindbrain.edge.hooks.main"
_ASK = (
    "import sys; from hindbrain.edge.daemon.client import ask; "
    "assert ask(sys.argv[1], 'ping', sys.argv[2], {}, timeout_s=5)"
)
_WORDS = (
    "wait for several promises", "center a box with flexbox", "grid areas", "abort a fetch request",
    "read a cookie", "service worker cache", "typed arrays", "animate an svg path", "aria live regions",
    "content security policy", "regular expression lookbehind", "drag and drop a file",
)  # fmt: skip


class Ran(NamedTuple):
    wall_ms: float
    cpu_ms: float
    out: str


def run(options: Options) -> Outcome:
    if find_spec(_HOOK) is None:
        raise Skipped(f"there is no {_HOOK} in this version")
    if not hasattr(os, "wait4"):
        raise Skipped("this system does not tell the processor time of a child process")
    compile_modules()
    with options.work("hook_latency") as work:
        state = work / "data" / "hindbrain"
        vault = _vault(options, work, state)
        environ = _installed(work, state, vault)
        times = _phase("no daemon", _hooks(), vault, environ)
        with _daemon(vault, state, environ) as folder:
            ask = {"ask": ([sys.executable, "-c", _ASK, folder, str(vault)], "")}
            times |= _phase("daemon", {**_hooks(), **ask}, vault, environ)
            answers = [_answered_ms(folder, vault, n) for n in range(_RUNS)]
        if weights := wheel_folder():
            _let_encoder_read(vault, state)
            environ["PYTHONPATH"] = str(weights.parents[3])
            with _daemon(vault, state, environ):
                time.sleep(_QUIET_S)
                times |= _phase("encoder", _hooks(), vault, environ)
    figures: Figures = {}
    for name, runs in times.items():
        figures |= _figures(name, [ran.wall_ms for ran in runs])
        figures[f"{name}.cpu_ms"] = round(min(ran.cpu_ms for ran in runs), 1)
    figures |= _figures("turn in the daemon", answers)
    data: dict[str, str | int] = {"name": vault.name, "runs": _RUNS}
    return Outcome(metrics=figures, data=data, tables=(_table(figures),))


def _installed(work: Path, state: Path, vault: Path) -> dict[str, str]:
    """The environment of a plain installation: the usual places, and a settings file that names the vault."""
    settings = work / "config" / "hindbrain" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"[vault]\npath = {json.dumps(str(vault))}\n\n[hooks]\ndaemon = false\n", "utf-8")
    ours = {"HINDBRAIN_STATE_FOLDER": str(state), "HINDBRAIN_CONFIG": str(settings)}
    environ = {name: value for name, value in child_environ(state).items() if name not in ours}
    if not sys.platform.startswith("linux"):
        return {**environ, **ours}  # where the usual places can't be chosen
    return {**environ, "XDG_CONFIG_HOME": str(work / "config"), "XDG_DATA_HOME": str(work / "data")}


def _let_encoder_read(vault: Path, state: Path) -> None:
    """As the daemon does in quiet moments, before anything is measured."""
    app = build_app(bench_config(state), vault)
    app.encodes = "when idle"
    app.context.pack(_MEMORIES[0])
    while app.encode_pending(_IDLE_S):
        pass
    app.close()


def _vault(options: Options, work: Path, state: Path) -> Path:
    source = find_one(options.data, "scale corpus", ("md_mdn.tar.gz", "md_mdn*"))
    vault = single_root(unpacked(source, work))
    lines = [
        render_item(MemoryItem(f"m-{at:06d}", text, "preference", source="user", created="2026-01-05"))
        for at, text in enumerate(_MEMORIES)
    ]
    write_note(vault / "Agent/Memory/preference.md", "\n".join(lines) + "\n")
    app = build_app(bench_config(state), vault)
    app.sync()
    app.close()
    return vault


Hooks = Mapping[str, tuple[Sequence[str], str]]  # a command, and the event that it is given


def _hooks() -> Hooks:
    def hook(event: str) -> list[str]:
        return [*_command(), "claude-code", event]

    return {
        "python": ([sys.executable, "-c", "pass"], ""),
        "prompt": (hook("user-prompt-submit"), "UserPromptSubmit"),
        "stop": (hook("stop"), "Stop"),
    }


def _command() -> list[str]:
    """What hosts call: the installed program, where there is one."""
    program = Path(sys.executable).with_name("hindbrain-hook")
    return [str(program)] if program.exists() else [sys.executable, "-m", _HOOK]


def _phase(phase: str, hooks: Hooks, vault: Path, environ: Mapping[str, str]) -> dict[str, list[Ran]]:
    """All hooks in turn; each prompt is the first of a session, so that each gets all it can."""
    times: dict[str, list[Ran]] = {f"{name}, {phase}": [] for name in hooks}
    injected = 0
    for turn in range(-_WARM_RUNS, _RUNS):
        for name, (command, event) in hooks.items():
            given = json.dumps(_payload(event, phase, turn, vault)) if event else ""
            ran = _timed(command, given + "\n", environ)
            injected += name == "prompt" and "additionalContext" in ran.out
            if turn >= 0:
                times[f"{name}, {phase}"].append(ran)
    if not injected:
        raise RuntimeError(f"no prompt got anything ({phase}): this would measure nothing")
    return times


def _payload(event: str, phase: str, turn: int, vault: Path) -> dict[str, Any]:
    own = {"prompt": f"how do I {_question(turn)}?"} if event == "UserPromptSubmit" else {}
    return {
        "session_id": f"bench-{phase}-{turn}",
        "transcript_path": str(vault / "no-such-transcript.jsonl"),
        "cwd": str(vault),
        "hook_event_name": event,
        "permission_mode": "default",
        **own,
    }


def _question(n: int) -> str:
    return f"{_WORDS[n % len(_WORDS)]} and {_WORDS[(n * 5 + n // len(_WORDS)) % len(_WORDS)]}"


def _timed(command: Sequence[str], given: str, environ: Mapping[str, str]) -> Ran:
    began = time.perf_counter()
    child = subprocess.Popen(
        command, env=dict(environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        child.stdin.write(given.encode())
        child.stdin.close()
    except BrokenPipeError:  # it did not want to know
        pass
    out, told = child.stdout.read().decode(), child.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    child.stderr.close()
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {told[-500:]}")
    return Ran(1e3 * wall, 1e3 * (used.ru_utime + used.ru_stime), out)


@contextmanager
def _daemon(vault: Path, state: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """A warm one: it has the vault open and has answered before."""
    hindbrain = [sys.executable, "-m", "hindbrain", "up"]
    subprocess.run([*hindbrain, "--vault", str(vault)], env=dict(environ), check=True, capture_output=True)
    folder = daemon_folder(state)
    try:
        for n in range(_WARM_RUNS):
            _answered_ms(folder, vault, -n)
        yield folder
    finally:
        subprocess.run([*hindbrain, "stop"], env=dict(environ), check=True, capture_output=True)


def _answered_ms(folder: str, vault: Path, n: int) -> float:
    """A turn as the daemon answers it, asked from a process that runs already."""
    asked = {"host": "claude-code", "session": f"bench-direct-{n}", "prompt": f"how do I {_question(n)}?"}
    began = time.perf_counter()
    if client.ask(folder, "turn", vault, asked, timeout_s=60) is None:
        raise RuntimeError("the daemon did not answer")
    return 1e3 * (time.perf_counter() - began)


def _figures(name: str, times: Sequence[float]) -> Figures:
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return {f"{name}.p50_ms": round(statistics.median(times), 1), f"{name}.p95_ms": round(p95, 1)}


def _table(figures: Figures) -> Table:
    names = dict.fromkeys(name.rpartition(".")[0] for name in figures)
    lines = []
    for name in names:
        cpu = figures.get(f"{name}.cpu_ms")
        aim = AIMS_MS.get(name)
        lines.append(
            (
                name,
                f"{figures[f'{name}.p50_ms']:.1f}",
                f"{figures[f'{name}.p95_ms']:.1f}",
                "-" if cpu is None else f"{cpu:.1f}",
                "-" if aim is None else f"{aim:g}",
            )
        )
    title = f"Hooks, end to end, {_RUNS} runs each (ms; CPU: the least)"
    return Table(title, ("", "p50", "p95", "CPU", "aim, p50"), tuple(lines))


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    figures = result["metrics"]
    shown = [name for name in AIMS_MS if f"{name}.p50_ms" in figures]
    items = []
    for name in shown:
        p50, p95 = figures[f"{name}.p50_ms"], figures[f"{name}.p95_ms"]
        items.append((name, p50, f"{p50:.0f} ms (p95 {p95:.0f})"))
    bare = figures["python, daemon.p50_ms"]
    title = f"Hook, end to end, median against its aim (python -c pass: {bare:.0f} ms)"
    flat_bars(axes, title, items, [AIMS_MS[name] for name in shown])


BENCHMARK = Benchmark("hook_latency", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
