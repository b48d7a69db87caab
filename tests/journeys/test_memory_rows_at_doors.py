"""Filters, scores and counts of use are of the memory itself, not of its note; in every layout."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from journey_doors import CommandLine, Doors

from hindbrain.edge.opening import open_app
from hindbrain.vault.layout import LAYOUTS

_OLD = "The harbour kettle is red"
_NEW = "The harbour lamp is green"


@pytest.fixture
def filled(hb: CommandLine, machine: Path) -> Iterator[Callable[[str], Doors]]:
    """A vault with an old and a new memory of one kind, which stand in one note."""
    made: list[Doors] = []

    def make(layout: str) -> Doors:
        hb.root.mkdir(parents=True, exist_ok=True)
        (hb.root / "Boat.md").write_text("# Boat\n\nThe mast needs varnish.\n", encoding="utf-8")
        hb("init", "--layout", layout)
        hb("remember", _OLD, "--tag", "kitchen", "--importance", "0.1")
        hb("remember", _NEW, "--tag", "deck", "--importance", "1")
        (old,) = hb.data("recall", "kettle")["memories"][:1]
        note = hb.root / old["path"]
        lines = note.read_text(encoding="utf-8").split("\n")
        at = next(at for at, line in enumerate(lines) if old["id"] in line)
        lines[at] = lines[at].replace(f"[created:: {old['created']}]", "[created:: 2020-03-04]")
        note.write_text("\n".join(lines), encoding="utf-8")
        hb("sync")
        made.append(Doors(hb, machine))
        return made[0]

    yield make
    for one in made:
        one.close()


def texts(answer: Any) -> list[str]:
    """Which of the two memories were found, in order."""
    hits = answer.get("hits", answer.get("results"))
    said = [hit.get("text", hit.get("snippet", "")) for hit in hits]
    return [one for text in said for one in (_OLD, _NEW) if one in text]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_filters_hold_for_each_memory_by_itself(filled: Callable[[str], Doors], layout: str) -> None:
    at = filled(layout)
    assert set(texts(at.cli("search", "harbour"))) == {_OLD, _NEW}
    for words, found in (
        (("--until", "2020-12-31"), [_OLD]),
        (("--since", "2021-01-01"), [_NEW]),
        (("--since", "2020-03-04", "--until", "2020-03-04"), [_OLD]),
        (("--tag", "kitchen"), [_OLD]),
        (("--tag", "deck"), [_NEW]),
        (("--type", "preference"), []),
    ):
        for mode in ((), ("--keyword",)):
            assert texts(at.cli("search", "harbour", *words, *mode)) == found, words
    assert set(texts(at.cli("search", "harbour", "--type", "fact"))) == {_OLD, _NEW}
    assert texts(at.mcp("memory_search", query="harbour", time_range_days=300)) == [_NEW]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_hit_has_the_day_of_its_memory(filled: Callable[[str], Doors], layout: str) -> None:
    hits = filled(layout).cli("search", "harbour kettle")["hits"]
    assert next(hit["date"] for hit in hits if _OLD in hit["text"]) == "2020-03-04"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_count_the_importance_and_the_day_of_the_memory(
    filled: Callable[[str], Doors], layout: str
) -> None:
    at = filled(layout)
    hits = at.cli("search", "harbour", "--profile", "multi-factor", "-k", "50")["hits"]
    why = {one: hit["why"] for hit in hits for one in (_OLD, _NEW) if one in hit["text"]}
    assert why[_OLD]["importance"] == pytest.approx(0.015) and why[_NEW]["importance"] == pytest.approx(0.15)
    assert why[_OLD]["recency"] == pytest.approx(0.02) and why[_NEW]["recency"] > 0.1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rebuilt", [False, True])
def test_what_recall_shows_counts_for_that_memory_alone(
    filled: Callable[[str], Doors], layout: str, rebuilt: bool
) -> None:
    at = filled(layout)
    for _ in range(3):
        assert at.cli("recall", "kettle", "-k", "1")["memories"][0]["text"] == _OLD
    log = (at.hb.root / ".hindbrain" / "usage.jsonl").read_text(encoding="utf-8")
    told = [json.loads(line) for line in log.splitlines()]
    assert all(set(line) <= {"at", "path", "query", "memories"} for line in told)
    if rebuilt:
        with closing(open_app(Namespace(vault=str(at.hb.root)))) as app:
            app.rebuild()
    for profile in ("keyword-recency", "multi-factor"):
        hits = at.cli("search", "harbour", "--profile", profile, "-k", "50")["hits"]
        why = {one: hit["why"] for hit in hits for one in (_OLD, _NEW) if one in hit["text"]}
        assert why[_OLD].get("access", 0.0) > why[_NEW].get("access", 0.0), profile
