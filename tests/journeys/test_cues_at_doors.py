"""Cues through every door, in every layout: stored, shown, searched, and kept by later changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from journey_doors import CommandLine, Doors

from hindbrain.edge.service.routes import ROUTES
from hindbrain.vault.layout import LAYOUTS

_TEXT = "Trains legs on Tuesdays"
_CUES = ["gym", "workout plan"]


@pytest.fixture
def open_doors(
    hb: CommandLine, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Doors]]:
    for name, route in ROUTES.items():  # nothing here is about how busy the machine is
        monkeypatch.setitem(ROUTES, name, route._replace(patience_s=60.0))
    made: list[Doors] = []

    def make(layout: str) -> Doors:
        hb.root.mkdir(parents=True, exist_ok=True)
        (hb.root / "Boat.md").write_text("# Boat\n\nThe mast needs varnish.\n", encoding="utf-8")
        hb("init", "--layout", layout)
        made.append(Doors(hb, machine))
        return made[0]

    yield make
    for one in made:
        one.close()


_STORE: dict[str, Callable[[Doors], Any]] = {
    "command line": lambda at: at.cli("remember", _TEXT, "--cue", "gym", "--cue", "workout plan"),
    "command line, with commas": lambda at: at.cli("remember", _TEXT, "--cue", "gym, workout plan"),
    "mcp": lambda at: at.mcp("remember", fact=_TEXT, cues=_CUES, importance=0.8),
    "mcp openclaw": lambda at: at.mcp("memory_write", content=_TEXT, cues=_CUES, importance=0.8),
    "mcp, as text": lambda at: at.mcp("remember", fact=_TEXT, cues="gym, workout plan", importance=0.8),
    "http": lambda at: at.http("save", text=_TEXT, cues=_CUES, importance=0.8),
}


@pytest.mark.parametrize("door", _STORE)
def test_cues_come_in_through_every_door(open_doors: Callable[[str], Doors], door: str) -> None:
    at = open_doors("obsidian")
    assert isinstance(_STORE[door](at), dict)
    (found,) = at.cli("recall", "gym")["memories"]
    assert (found["text"], found["cues"]) == (_TEXT, _CUES)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_every_layout_a_cue_is_searched_and_not_shown_as_text(
    open_doors: Callable[[str], Doors], layout: str
) -> None:
    at = open_doors(layout)
    at.mcp("remember", fact=_TEXT, cues=_CUES, importance=0.8)
    at.mcp("remember", fact="The kettle is broken", importance=0.8)
    at.hb("sync")
    path = at.cli("recall", "gym")["memories"][0]["path"]
    assert [one["text"] for one in at.cli("recall", "workout")["memories"]][:1] == [_TEXT]
    for words in (("gym",), ("gym", "--keyword")):
        first = at.cli("search", *words)["hits"][0]
        assert (first["path"], "Trains legs" in first["text"]) == (path, True)
    recalled = at.mcp("recall", topic="gym")["memories"]
    assert [one["text"] for one in recalled][:1] == [_TEXT]
    pack = at.cli("context", "which workout plan do I have for the gym?")
    assert "workout plan" not in pack["text"].replace("which workout plan", "")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_every_layout_cues_outlive_what_is_done_to_their_memory(
    open_doors: Callable[[str], Doors], layout: str
) -> None:
    at = open_doors(layout)

    def cues(topic: str) -> object:
        return [one["cues"] for one in at.cli("recall", topic)["memories"] if "legs" in one["text"]]

    id_ = at.mcp("remember", fact=_TEXT, cues=["gym"], importance=0.8)["id"]
    at.mcp("remember", fact=_TEXT, cues=["workout plan"], importance=0.8)
    assert cues("legs") == [_CUES]
    at.mcp("memory_update", memory_id=id_, content="Trains legs on Fridays", importance=0.9)
    assert cues("legs") == [_CUES]
    at.mcp("memory_update", memory_id=id_, cues=["sport"])
    assert cues("legs") == [["sport"]]
    at.hb("undo")
    assert cues("legs") == [_CUES]
    at.mcp("memory_forget", memory_id=id_)
    assert cues("legs") == []
    at.hb("undo")
    assert cues("legs") == [_CUES]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_every_layout_a_held_memory_is_accepted_with_its_cues(
    open_doors: Callable[[str], Doors], layout: str
) -> None:
    at = open_doors(layout)
    held = at.cli("remember", "The boat is for sale", "--source", "web", "--cue", "ship")
    (waiting,) = at.cli("inbox")["waiting"]
    assert (waiting["id"], waiting["cues"]) == (held["id"], ["ship"])
    note = at.hb.root / at.cli("inbox")["note"]
    note.write_text(note.read_text(encoding="utf-8").replace("- [ ]", "- [x]"), encoding="utf-8")
    at.hb("inbox")
    (found,) = at.cli("recall", "ship")["memories"]
    assert (found["text"], found["cues"]) == ("The boat is for sale", ["ship"])
