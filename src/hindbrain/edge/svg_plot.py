"""Line charts as an SVG file: one below the other on a common axis, without a library.

Readable in light and dark surroundings, with a title and a description for those who can't see it. Pure:
values in, text out. Knows nothing of what is plotted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

_WIDTH = 760
_LEFT, _RIGHT = 64, 24
_TOP, _BOTTOM = 56, 44
_CHART, _GAP = 132, 48  # heights
_PLOT = _WIDTH - _LEFT - _RIGHT
_MOST_LABELS = 6  # below the axis
_STYLE = """
  svg { color-scheme: light dark; }
  .back { fill: #ffffff; }
  text { fill: #1f2328; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
  .head { font-size: 17px; font-weight: 600; }
  .name { font-weight: 600; }
  .faint { fill: #59636e; font-size: 12px; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; }
  .c0 { stroke: #0969da; } .d0 { fill: #0969da; }
  .c1 { stroke: #bc4c00; } .d1 { fill: #bc4c00; }
  .c2 { stroke: #6639ba; } .d2 { fill: #6639ba; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; }
    text { fill: #e6edf3; }
    .faint { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .c0 { stroke: #4493f8; } .d0 { fill: #4493f8; }
    .c1 { stroke: #f0883e; } .d1 { fill: #f0883e; }
    .c2 { stroke: #ab7df8; } .d2 { fill: #ab7df8; }
  }
"""
_COLOURS = 3


class Chart(NamedTuple):
    name: str
    values: tuple[float | None, ...]  # None: nothing is known there, and the line has a gap
    percent: bool = False  # values are 0..1 and shown as such


class Plot(NamedTuple):
    title: str
    description: str  # what is to be seen, in a sentence
    labels: tuple[str, ...]  # one for each value
    charts: tuple[Chart, ...]


def svg_of(plot: Plot) -> str:
    """The whole file."""
    height = _TOP + len(plot.charts) * (_CHART + _GAP) - _GAP + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="title description">',
        f'<title id="title">{escape(plot.title)}</title>',
        f'<desc id="description">{escape(plot.description)}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="back" width="{_WIDTH}" height="{height}"/>',
        f'<text class="head" x="{_LEFT}" y="24">{escape(plot.title)}</text>',
    ]
    for number, chart in enumerate(plot.charts):
        parts += _chart(chart, number, _TOP + number * (_CHART + _GAP))
    parts += _axis(plot.labels, height - _BOTTOM)
    return "\n".join([*parts, "</svg>", ""])


def _chart(chart: Chart, number: int, top: int) -> Iterator[str]:
    highest = (
        1.0 if chart.percent else _round_up(max((v for v in chart.values if v is not None), default=0.0))
    )
    yield f'<g aria-label="{_attribute(chart.name)}">'
    yield f'<text class="name" x="{_LEFT}" y="{top - 8}">{escape(chart.name)}</text>'
    for part in (0.0, 0.5, 1.0):
        y = top + _CHART * (1 - part)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:g}" y2="{y:g}"/>'
        told = _told(part * highest, chart.percent)
        yield f'<text class="faint" x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">{told}</text>'
    points = [
        None if value is None else (_x(at, len(chart.values)), top + _CHART * (1 - value / highest))
        for at, value in enumerate(chart.values)
    ]
    colour = number % _COLOURS
    for run in _unbroken(points):
        if len(run) > 1:
            where = " ".join(f"{x:.1f},{y:.1f}" for x, y in run)
            yield f'<polyline class="line c{colour}" points="{where}"/>'
        else:
            yield f'<circle class="d{colour}" cx="{run[0][0]:.1f}" cy="{run[0][1]:.1f}" r="3"/>'
    yield "</g>"


def _axis(labels: Sequence[str], y: int) -> Iterator[str]:
    """As many labels as fit, the first and the last among them."""
    for at in _labelled(len(labels)):
        anchor = "start" if at == 0 and len(labels) > 1 else "end" if at == len(labels) - 1 > 0 else "middle"
        place = f'x="{_x(at, len(labels)):.1f}" y="{y + 24}" text-anchor="{anchor}"'
        yield f'<text class="faint" {place}>{escape(labels[at])}</text>'


def _labelled(count: int) -> list[int]:
    """Which of so many places get a label: at even distances, the last of them moved to the end."""
    step = max(1, math.ceil((count - 1) / (_MOST_LABELS - 1)))
    return [*list(range(0, count, step))[:-1], count - 1] if count else []


def _x(at: int, count: int) -> float:
    return _LEFT + (_PLOT * at / (count - 1) if count > 1 else _PLOT / 2)


def _unbroken(
    points: Sequence[tuple[float, float] | None],
) -> Iterator[list[tuple[float, float]]]:
    """Stretches without a gap."""
    stretch: list[tuple[float, float]] = []
    for point in (*points, None):
        if point is not None:
            stretch.append(point)
        elif stretch:
            yield stretch
            stretch = []


def _round_up(value: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 at its size: an axis that ends in a round number."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    size: float = 10.0 ** math.floor(math.log10(value))
    return next((step * size for step in (1, 2, 2.5, 5, 10) if step * size >= value), 10 * size)


def _told(value: float, percent: bool) -> str:
    return f"{value:.0%}" if percent else f"{value:g}"


def _attribute(text: str) -> str:
    return escape(text, {'"': "&quot;"})
