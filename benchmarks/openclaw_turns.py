"""Token economics of a long conversation with a real OpenClaw: its own memory, and ours in its place.

The same 67 turns over the vault jzhao, the same model that answers from a script, the same window. OpenClaw's
own memory has a MEMORY.md of 850 tokens, written from the vault, and its `memory_search` over the vault with
the vectors of our embedder. Ours is what `hindbrain openclaw install` leaves, with that file imported and its
lines on how to work with its owner remembered, so that they stand on the card. With both, the model calls
`memory_search` where the script says one would, unless a note that answers, or a line of MEMORY.md on it,
stands in its window.

Tokens are relevant when they are quoted from a note that the script names for that turn; all others that
memory brings are not, also the frame around them. `static`: what the system prompt and the tools have more
than without any memory. `cached`: the share of a request that the one before it began with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import metrics
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.openclaw_playing import Line, Played, knows, play, pulled_worth, pushed_worth
from benchmarks.openclaw_requests import Fact, fixed_tokens, prompt_of, shared_beginning
from benchmarks.openclaw_rig import opened_rig, ran, set_config
from hindbrain.context.tokens import count_tokens

if TYPE_CHECKING:
    from tests.real_openclaw.rig import Rig

_DATA = Path(__file__).parent / "data"
_WINDOW = 64_000
_COMPACTED = "embedded_run_compaction_end"
ROWS = {"ours": "Hindbrain", "builtin": "OpenClaw's own"}


def run(options: Options) -> Outcome:
    lines, facts = read_script()[: options.limit or None], read_memory_file()
    figures: dict[str, Figures] = {}
    with options.work("openclaw_turns") as work:
        source = find_one(options.data, "vault jzhao", ("vault_jzhao.tar.gz", "vault_jzhao"))
        vault = single_root(unpacked(source, work))
        with conversation_rig("none", vault, work / "none") as rig:
            bare = fixed_tokens(play(rig, lines[0], facts).bodies[0])
        for row in ROWS:
            with conversation_rig(row, vault, work / row) as rig:
                played = [play(rig, line, facts) for line in lines]
                figures[row] = {**summary(played, facts, bare), "compactions": float(_compactions(rig))}
    ours = figures.pop("ours")
    asking = sum(bool(line.gold) for line in lines)
    data: dict[str, str | int] = {"name": "jzhao", "turns": len(lines), "asking": asking, "window": _WINDOW}
    return Outcome(ours, data, (table({"ours": ours, **figures}, len(lines)),), baselines=figures)


def read_script() -> list[Line]:
    rows = _rows("openclaw_turns.jsonl")
    return [Line(row["user"], row["answer"], tuple(row["gold"]), row.get("search", "")) for row in rows]


def read_memory_file() -> list[Fact]:
    rows = _rows("openclaw_memory_file.jsonl")
    return [Fact(row["text"], tuple(row["notes"])) for row in rows if "text" in row]


def memory_file() -> str:
    """MEMORY.md as its owner would have it."""
    rows = _rows("openclaw_memory_file.jsonl")
    lines = (f"\n## {row['heading']}\n" if "heading" in row else f"- {row['text']}" for row in rows)
    return "\n".join(("# Memory", *lines, ""))


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_DATA / name).read_text(encoding="utf-8").splitlines()]


@contextmanager
def conversation_rig(row: str, vault: Path, folder: Path) -> Iterator[Rig]:
    def prepare(rig: Rig) -> None:
        models = rig.gateway.read_config()["models"]["providers"]["stub"]["models"]
        models[0]["contextWindow"] = _WINDOW
        stub = {"providers": {"stub": {"models": models}}}
        set_config(rig, {"models": stub, "agents": {"defaults": {"compaction": {"mode": "default"}}}})
        rig.gateway.workspace.mkdir(parents=True, exist_ok=True)
        if row != "none":
            (rig.gateway.workspace / "MEMORY.md").write_text(memory_file(), encoding="utf-8")
        if row == "ours":
            ran(rig.hindbrain("openclaw", "import"))
            for fact in read_memory_file():
                if not fact.notes:
                    ran(rig.hindbrain("remember", fact.text, "--category", "preference"))

    with opened_rig(row, vault, folder, prepare) as (rig, _):
        yield rig


def _compactions(rig: Rig) -> int:
    """As the gateway's log tells them."""
    lines = rig.gateway.log.read_text(encoding="utf-8", errors="replace").splitlines()
    return sum(_COMPACTED in line and '"completed":true' in line for line in lines)


def summary(played: Sequence[Played], facts: Sequence[Fact], bare: int) -> Figures:
    """`bare`: tokens of system prompt and tools without any memory."""
    many = len(played)
    asking = [turn for turn in played if turn.line.gold]
    idle = [turn for turn in played if not turn.line.gold]
    pushed = [pushed_worth(turn, facts) for turn in played]
    pulled = [pulled_worth(turn) for turn in played]
    figures = {
        "static": sum(fixed_tokens(turn.bodies[0]) - bare for turn in played) / many,
        "relevant": sum(own.relevant for own in pushed) / many,
        "irrelevant": sum(own.irrelevant for own in pushed) / many,
        "found.relevant": sum(own.relevant for own in pulled) / many,
        "found.irrelevant": sum(own.irrelevant for own in pulled) / many,
        "searches": float(sum(turn.calls for turn in played)),
        "known": _percent(knows(turn.bodies[-1], turn.line.gold, facts) for turn in asking),
        "quiet": _percent(not pushed_worth(turn, facts).irrelevant for turn in idle),
        "turn_s.p50": metrics.quantile([turn.seconds for turn in played], 0.5),
    }
    return {name: round(value, 2) for name, value in {**figures, **_costs(played)}.items()}


def _costs(played: Sequence[Played]) -> Figures:
    """What the requests cost in all, and how much of one the next one begins with."""
    prompts = [prompt_of(body) for turn in played for body in turn.bodies]
    tokens = [count_tokens(prompt) for prompt in prompts]
    others = [count_tokens(prompt_of(body)) for turn in played for body in turn.others]
    shares = [shared_beginning(*two) for two in pairwise(prompts)]
    cached = sum(share * own for share, own in zip(shares, tokens[1:], strict=True))
    total = sum(tokens) + sum(others)
    return {
        "requests": float(len(tokens) + len(others)),
        "prompt_tokens": float(total),
        "cached": 100 * cached / max(1, sum(tokens[1:])),
        "uncached_tokens": total - cached,
    }


def _percent(true: Iterable[bool]) -> float:
    given = list(true)
    return 100 * sum(given) / max(1, len(given))


TABLE = (
    ("Static context per turn (tokens)", "static", "{:,.0f}"),
    ("Relevant context per turn, unasked (tokens)", "relevant", "{:,.0f}"),
    ("Irrelevant context per turn, unasked (tokens)", "irrelevant", "{:,.0f}"),
    ("Relevant, by memory_search (tokens a turn)", "found.relevant", "{:,.0f}"),
    ("Irrelevant, by memory_search (tokens a turn)", "found.irrelevant", "{:,.0f}"),
    ("Turns in which the model knew (%)", "known", "{:.0f}"),
    ("Turns without need that got nothing (%)", "quiet", "{:.0f}"),
    ("Calls of memory_search", "searches", "{:.0f}"),
    ("Requests to the model", "requests", "{:.0f}"),
    ("Compactions", "compactions", "{:.0f}"),
    ("Prompt tokens in all", "prompt_tokens", "{:,.0f}"),
    ("Of a request, as in the one before (%)", "cached", "{:.1f}"),
    ("Prompt tokens that were not", "uncached_tokens", "{:,.0f}"),
    ("A turn, median (s)", "turn_s.p50", "{:.2f}"),
)


def table(figures: Mapping[str, Figures], turns: int) -> Table:
    rows = tuple(
        (label, *(shown.format(own[name]) for own in figures.values())) for label, name, shown in TABLE
    )
    return Table(
        f"A conversation of {turns} turns over jzhao with OpenClaw, window {_WINDOW:,}",
        ("", *(ROWS[row] for row in figures)),
        rows,
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    figures = {"ours": result["metrics"], **result["baselines"]}
    names = ("static", "relevant", "irrelevant", "found.relevant", "found.irrelevant")
    labels = (
        "static",
        "relevant,\nunasked",
        "irrelevant,\nunasked",
        "relevant,\nsearched",
        "irrelevant,\nsearched",
    )
    width = 0.4
    for at, (row, own) in enumerate(figures.items()):
        lefts = [place + (at - 0.5) * width for place in range(len(names))]
        colour = "#1f5fa8" if row == "ours" else "#c9772b"
        label = (
            f"{ROWS[row]}: {own['prompt_tokens'] / 1e6:.2f} M in all, {own['compactions']:.0f} compactions"
        )
        drawn = axes.bar(lefts, [own[name] for name in names], width * 0.94, color=colour, label=label)
        axes.bar_label(drawn, [f"{own[name]:,.0f}" for name in names], fontsize=8, padding=1)
    axes.set_xticks(range(len(names)), labels, fontsize=9)
    headline(axes, f"OpenClaw, {result['data']['turns']} turns: tokens of memory a turn")
    legend(axes)


BENCHMARK = Benchmark("openclaw_turns", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
