"""Prompt caches: how much of a request to the model begins as the request before it did, with real hosts.

The same conversation (that of `openclaw_turns`, over the vault jzhao) is held with OpenClaw, Claude Code and
Codex, each with a model that answers from the script: without a memory, with Hindbrain, and OpenClaw with its
own. A provider can take from its cache what a request has in common with the one before it, up to the first
difference. The share of a request alone misleads: a small request has a smaller share with the same new text,
and a model that searches makes more requests that differ only at their end. So there are also the share for
the first request of each turn, the tokens a turn that no cache can hold, and how much of a request the next
one begins with.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main
from benchmarks.metrics import Figures
from benchmarks.openclaw_playing import Line, play
from benchmarks.openclaw_requests import prompt_of, shared_beginning
from benchmarks.openclaw_rig import copy_notes
from benchmarks.openclaw_turns import conversation_rig, read_memory_file, read_script
from hindbrain.context.tokens import count_tokens

Turns: TypeAlias = Sequence[Sequence[str]]  # of each turn, all that the model read in each of its requests
Hold: TypeAlias = Callable[[str, Sequence[Line], Path, Path], Turns]  # a row, the script, a vault, a folder

_HOSTS = Path(__file__).resolve().parents[1] / "tests" / "hosts"
_CLI_TURNS = 24  # with hosts that start a process for each turn
ROWS = {"none": "no memory", "ours": "Hindbrain", "builtin": "its own memory"}


def run(options: Options) -> Outcome:
    lines = read_script()[: options.limit or None]
    figures: dict[tuple[str, str], Figures] = {}
    missing: list[str] = []
    with options.work("prompt_cache") as work:
        vault = single_root(
            unpacked(find_one(options.data, "vault jzhao", ("vault_jzhao.tar.gz", "vault_jzhao")), work)
        )
        for host, (hold, rows) in HELD.items():
            try:
                for row in rows:
                    figures[host, row] = measure(hold(row, lines, vault, work / f"{host}-{row}"))
            except Skipped as reason:
                missing.append(f"{host}: {reason}")
    if not figures:
        raise Skipped("; ".join(missing))
    for told in missing:
        print(f"left out: {told}", flush=True)
    ours = {f"{host}.{name}": value for (host, row), own in figures.items() if row == "ours"
            for name, value in own.items()}  # fmt: skip
    baselines = {f"{host}: {ROWS[row]}": own for (host, row), own in figures.items() if row != "ours"}
    data: dict[str, str | int] = {"name": "jzhao", "turns": len(lines)}
    return Outcome(ours, data, (table(figures),), baselines=baselines)


def measure(turns: Turns) -> Figures:
    """The first request is left out: nothing came before it."""
    requests = list(chain.from_iterable(turns))
    shares = [shared_beginning(*two) for two in pairwise(requests)]
    tokens = [count_tokens(request) for request in requests[1:]]
    firsts = _first_of_each(turns)
    new = [own * (1 - share) for own, share in zip(tokens, shares, strict=True)]
    return {
        "turns": float(len(turns)),
        "requests": float(len(requests)),
        "request_tokens": round(sum(tokens) / max(1, len(tokens)), 1),
        "share": round(100 * (1 - sum(new) / max(1, sum(tokens))), 2),
        "first_share": round(_percent_kept([(tokens[at - 1], new[at - 1]) for at in firsts]), 2),
        "kept": round(_kept(requests), 2),
        "uncached": round(sum(new) / max(1, len(turns) - 1), 1),
    }


def _kept(requests: Sequence[str]) -> float:
    """Percent of a request, in characters, that the next one begins with."""
    same = sum(shared_beginning(one, other) * len(other) for one, other in pairwise(requests))
    return 100 * same / max(1, sum(map(len, requests[:-1])))


def _first_of_each(turns: Turns) -> list[int]:
    """The places of the first request of each turn but the first."""
    places, at = [], 0
    for turn in turns:
        places.append(at)
        at += len(turn)
    return places[1:]


def _percent_kept(counts: Sequence[tuple[float, float]]) -> float:
    return 100 * (1 - sum(new for _, new in counts) / max(1, sum(tokens for tokens, _ in counts)))


def table(figures: Mapping[tuple[str, str], Figures]) -> Table:
    rows = tuple(
        (
            host,
            ROWS[row],
            f"{own['turns']:.0f} / {own['requests']:.0f}",
            f"{own['request_tokens']:,.0f}",
            f"{own['share']:.1f}",
            f"{own['first_share']:.1f}",
            f"{own['kept']:.1f}",
            f"{own['uncached']:,.0f}",
        )
        for (host, row), own in figures.items()
    )
    columns = (
        "host", "memory", "turns / requests", "tokens a request", "as in the one before (%)",
        "of a turn's first (%)", "kept of the one before (%)", "new tokens a turn",
    )  # fmt: skip
    return Table("What a provider can take from its cache", columns, rows)


# OpenClaw


def with_openclaw(row: str, lines: Sequence[Line], vault: Path, folder: Path) -> Turns:
    facts = read_memory_file()
    if row == "none":
        lines = [line._replace(search="") for line in lines]
    with conversation_rig(row, vault, folder) as rig:
        return [[prompt_of(body) for body in play(rig, line, facts).bodies] for line in lines]


# Hosts with hooks, which keep what a hook adds in their history


def with_claude_code(row: str, lines: Sequence[Line], vault: Path, folder: Path) -> Turns:
    with _desk(row, vault, folder) as desk:
        host = desk.claude
        host.plugins = host.plugins if row == "ours" else ()
        opened = host.ask("Hello")  # a resumed session names its model differently than a new one
        session = next(event["session_id"] for event in opened.events if event.get("session_id"))
        return _asked(desk.model, lines, lambda text: host.ask(text, "--resume", session))


def with_codex(row: str, lines: Sequence[Line], vault: Path, folder: Path) -> Turns:
    with _desk(row, vault, folder) as desk:
        host = desk.codex
        if row == "ours":
            installed = desk.hindbrain("hook", "install", "codex")
            if installed.code:
                raise RuntimeError(installed.err)
        session: list[str] = []

        def ask(text: str) -> None:
            ran = host.ask(text, resume=session[0] if session else "")
            begun = [event["thread_id"] for event in ran.events if event.get("type") == "thread.started"]
            session[:] = begun[:1] or session

        return _asked(desk.model, lines, ask)


def _asked(model: Any, lines: Sequence[Line], ask: Callable[[str], object]) -> Turns:
    say = import_module("stub_model").Say
    turns = []
    for line in lines[:_CLI_TURNS]:
        model.script(say(line.answer))
        ask(line.user)
        turns.append([text_of(asked.body) for asked in model.steps])
    return turns


def text_of(body: Mapping[str, Any]) -> str:
    """A request in the order in which providers cache it; marks for caches are no part of what is cached."""
    parts = (body.get(name) for name in ("tools", "system", "instructions", "messages", "input"))
    return "\n".join(json.dumps(_plain(part), ensure_ascii=False) for part in parts if part)


def _plain(value: Any) -> Any:
    """Without `cache_control`, and with words alone in one shape: hosts mark another message each time."""
    if isinstance(value, dict):
        kept = {name: _plain(one) for name, one in value.items() if name != "cache_control"}
        if isinstance(kept.get("content"), str):
            kept["content"] = [{"type": "text", "text": kept["content"]}]
        return kept
    return [_plain(one) for one in value] if isinstance(value, list) else value


@contextmanager
def _desk(row: str, vault: Path, folder: Path) -> Iterator[Any]:
    """The desk of tests/hosts, over a copy of the vault."""
    if str(_HOSTS) not in sys.path:
        sys.path.insert(0, str(_HOSTS))  # its modules import one another by their bare names
    try:
        programs, desks, stub = (import_module(name) for name in ("host_programs", "desk", "stub_model"))
    except ImportError as missing:
        raise Skipped(f"the tests are not beside the benchmarks: {missing}") from None
    try:
        found = programs.find_programs()
    except programs.Unavailable as reason:
        raise Skipped(str(reason)) from None
    folder.mkdir(parents=True)
    with stub.StubModel() as model:
        desk = desks.Desk(folder, found, model, daemon=row == "ours")
        try:
            copy_notes(vault, desk.vault)
            if row == "ours":
                synced = desk.hindbrain("sync", timeout_s=600)
                if synced.code:
                    raise RuntimeError(synced.err)
            yield desk
        finally:
            desk.clear_away()


HELD: dict[str, tuple[Hold, tuple[str, ...]]] = {
    "OpenClaw": (with_openclaw, ("none", "ours", "builtin")),
    "Claude Code": (with_claude_code, ("none", "ours")),
    "Codex": (with_codex, ("none", "ours")),
}

BENCHMARK = Benchmark("prompt_cache", run, None)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
