"""Written results in, pictures out. Each benchmark draws on the axes it is given.

A colour means the same everywhere. matplotlib is imported late: a benchmark runs without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.frame import Benchmark

COLOURS = {"ours": "#1f5fa8", "fts5": "#b8557d", "bm25": "#c9772b", "dense": "#7a9e54", "rrf": "#8c8c8c"}
NAMES = {
    "ours": "Hindbrain",
    "fts5": "whole-note FTS5",
    "bm25": "BM25 only",
    "dense": "vectors only",
    "rrf": "RRF of both",
}
_GREY = "#555555"


def save(path: Path, results: Sequence[tuple[Benchmark, dict[str, Any]]], note: str = "") -> None:
    """Draw the results on one picture, two in a line, and the note after them; without any, draw nothing."""
    results = [(benchmark, result) for benchmark, result in results if benchmark.draw is not None]
    if not results:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    columns = min(2, len(results))
    lines = -(-(len(results) + bool(note)) // columns)
    size = (6.4 * columns, 3.9 * lines)
    figure, grid = pyplot.subplots(lines, columns, figsize=size, dpi=130, squeeze=False)
    places = [axes for line in grid for axes in line]
    for axes, (benchmark, result) in zip(places, results, strict=False):
        assert benchmark.draw is not None
        benchmark.draw(result, axes)
        _plain(axes)
    for axes in places[len(results) :]:
        axes.axis("off")
    if len(places) > len(results):
        axes = places[len(results)]
        axes.text(0.0, 0.5, note, fontsize=9, color=_GREY, va="center", linespacing=1.6)
    figure.tight_layout(h_pad=2.2, w_pad=2.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, facecolor="white")
    pyplot.close(figure)


def bars(axes: Any, title: str, result: dict[str, Any], names: Sequence[str], labels: Sequence[str]) -> None:
    """Groups of bars, one colour per row, the figure above each bar of ours."""
    figures = {"ours": result["metrics"], **result["baselines"]}
    rows = [row for row in COLOURS if figures.get(row)]
    width = 0.84 / max(1, len(rows))
    for at, row in enumerate(rows):
        lefts = [place + (at - (len(rows) - 1) / 2) * width for place in range(len(names))]
        heights = [figures[row].get(name, 0.0) for name in names]
        captions = [f"{figures[row][name]:.0f}" if name in figures[row] else "" for name in names]
        drawn = axes.bar(lefts, heights, width * 0.94, color=COLOURS[row], label=NAMES[row])
        weight, colour = ("bold", "black") if row == "ours" else ("normal", _GREY)
        axes.bar_label(drawn, captions, fontsize=8, padding=1, color=colour, fontweight=weight)
    axes.set_xticks(range(len(names)), labels, fontsize=9)
    axes.set_ylim(0, 106)
    axes.set_yticks(range(0, 101, 20))
    headline(axes, title)
    legend(axes)


def flat_bars(
    axes: Any, title: str, items: Sequence[tuple[str, float, str]], limits: Sequence[float]
) -> None:
    """Bars from the left: (label, value, caption). Units differ: a bar shows the share of its limit."""
    shares = [value / limit for (_, value, _), limit in zip(items, limits, strict=True)]
    longest = max([1.0, *shares])
    places = range(len(items))
    axes.barh(places, shares, 0.6, color=COLOURS["ours"])
    for place, share, (_, _, caption) in zip(places, shares, items, strict=True):
        axes.annotate(
            caption, (share, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
    axes.axvline(1.0, color=COLOURS["bm25"], linewidth=1.2, linestyle="--")
    axes.annotate(
        "limit", (1.0, 1.0), xycoords=axes.get_xaxis_transform(), textcoords="offset points", xytext=(0, 3),
        color=COLOURS["bm25"], fontsize=8.5, ha="center",
    )  # fmt: skip
    axes.set_yticks(places, [label for label, _, _ in items], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.35 * longest)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    headline(axes, title)


def beside(
    axes: Any,
    title: str,
    labels: Sequence[str],
    ours: Sequence[float],
    late: Sequence[float],
    bare: Sequence[float],
) -> None:
    """Medians of ours (with a line up to the 95th of 100) beside those of the bare work; powers of ten."""
    places = range(len(labels))
    upwards = [[0.0] * len(ours), [max(0.0, top - own) for top, own in zip(late, ours, strict=True)]]
    drawn = axes.bar(
        [place - 0.21 for place in places], ours, 0.4, yerr=upwards, color=COLOURS["ours"], capsize=3,
        error_kw={"ecolor": _GREY, "elinewidth": 1}, label="Hindbrain, p50 and p95",
    )  # fmt: skip
    plain = axes.bar(
        [place + 0.21 for place in places], bare, 0.4, color=COLOURS["rrf"], label="bare write, p50"
    )
    axes.bar_label(drawn, _numbers(ours), label_type="center", fontsize=8, color="white", fontweight="bold")
    axes.bar_label(plain, _numbers(bare), fontsize=8, padding=1, color=_GREY)
    axes.set_xticks(places, labels, fontsize=9)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.1)
    axes.yaxis.set_major_formatter("{x:g}")
    headline(axes, title)
    legend(axes)


def headline(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=24)


def legend(axes: Any, columns: int = 4) -> None:
    """In one line between the title and the picture."""
    axes.legend(
        fontsize=8,
        frameon=False,
        ncols=columns,
        columnspacing=1.2,
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        handlelength=1.2,
    )


def _numbers(values: Sequence[float]) -> list[str]:
    return [f"{value:.1f}" if value < 10 else f"{value:.0f}" for value in values]


def _plain(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="x", length=0)
    axes.set_axisbelow(True)
