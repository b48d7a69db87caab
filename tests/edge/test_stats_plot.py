"""The picture of `hindbrain stats --plot`: well-formed, inside its frame, readable without seeing it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.edge.svg_plot import Chart, Plot, svg_of

_SVG = "{http://www.w3.org/2000/svg}"
_VALUES = st.none() | st.floats(0, 1e9, allow_subnormal=False)


def _drawn(plot: Plot) -> ET.Element:
    return ET.fromstring(svg_of(plot))


@given(st.lists(_VALUES, max_size=40), st.text(max_size=20).filter(lambda text: text.isprintable()))
def test_any_figures_and_names_give_a_picture_that_stays_in_its_frame(
    values: list[float | None], name: str
) -> None:
    shares = tuple(None if value is None else value / 1e9 for value in values)
    labels = tuple(f"2026-01-{at:02}" for at in range(len(values)))
    charts = (Chart(name, shares, percent=True), Chart("n & <m>", tuple(values)))
    drawn = _drawn(Plot(f'{name} "<&>"', "what is seen", labels, charts))
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    points = [
        tuple(map(float, point.split(",")))
        for line in drawn.iter(f"{_SVG}polyline")
        for point in line.attrib["points"].split()
    ]
    points += [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawn.iter(f"{_SVG}circle")]
    points += [(float(text.attrib["x"]), float(text.attrib["y"])) for text in drawn.iter(f"{_SVG}text")]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    known = sum(value is not None for value in values)
    assert len(points) - len(list(drawn.iter(f"{_SVG}text"))) == 2 * known


def test_a_gap_is_not_bridged() -> None:
    drawn = _drawn(Plot("t", "d", ("a", "b", "c", "d", "e"), (Chart("x", (1.0, 2.0, None, 3.0, None)),)))
    assert [line.attrib["points"].count(",") for line in drawn.iter(f"{_SVG}polyline")] == [2]
    assert len(list(drawn.iter(f"{_SVG}circle"))) == 1


def test_labels_do_not_run_into_each_other() -> None:
    for count in range(1, 60):
        labels = tuple("2026-01-01" for _ in range(count))
        drawn = _drawn(Plot("t", "d", labels, (Chart("x", (0.5,) * count, percent=True),)))
        below = [text for text in drawn.iter(f"{_SVG}text") if text.text == "2026-01-01"]
        spans = [_span(text) for text in below]
        assert all(first[1] < second[0] for first, second in pairwise(spans)), count


def _span(text: ET.Element) -> tuple[float, float]:
    """Where it stands, at 7 pixels a letter: wider than any usual font."""
    x, wide = float(text.attrib["x"]), 7.0 * len(text.text or "")
    start = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.attrib["text-anchor"]]
    return start, start + wide


def test_who_can_not_see_it_is_told_what_it_shows() -> None:
    drawn = _drawn(Plot("How runs go", "200 runs went well", (), ()))
    ids = drawn.attrib["aria-labelledby"].split()
    told = {one.attrib["id"]: one.text for one in drawn if "id" in one.attrib}
    assert drawn.attrib["role"] == "img"
    assert [told[one] for one in ids] == ["How runs go", "200 runs went well"]
    assert "prefers-color-scheme: dark" in svg_of(Plot("t", "d", (), ()))
