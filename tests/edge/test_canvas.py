"""The texts of a canvas are found and cited by its path; its links count; it is never written to."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from command_runs import Cli
from hindbrain.app import App
from hindbrain.base.errors import HindbrainError
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from workbench import Vault

_SAILS = "# Sails\n\nThe genoa is torn, see [[Loft]]. #repair\n\n%%secret aside%%"
_NODES: list[dict[str, object]] = [
    {"type": "group", "id": "d3b22a442ad14ce2", "x": -400, "y": -300, "width": 500, "height": 500},
    {"type": "text", "text": _SAILS, "id": "aa01", "x": -300, "y": -200, "width": 200, "height": 100},
    {"type": "file", "file": "Boats/Ketch.md", "subpath": "#Masts", "id": "aa02", "x": -300, "y": 0},
    {"type": "file", "file": "files/plan.png", "id": "aa03", "x": 700, "y": 0, "width": 200, "height": 100},
    {"type": "link", "url": "https://example.org", "id": "aa04", "x": 900, "y": 0},
    {"type": "text", "text": "Outside: a teapot and half a sign \ud83d", "id": "aa05", "x": 900, "y": 900},
]
_NODES[0]["label"] = "Rigging"
_EDGE = {"id": "e1", "fromNode": "aa01", "fromSide": "right", "toNode": "aa02", "label": "holds"}
# As Obsidian writes one: a node a line.
BOARD = (
    '{\n\t"nodes":[\n\t\t'
    + ",\n\t\t".join(map(json.dumps, _NODES))
    + f'\n\t],\n\t"edges":[\n\t\t{json.dumps(_EDGE)}\n\t]\n}}'
)


@pytest.fixture
def drawn(cli: Cli, vault: Vault) -> Vault:
    vault.write("Plans/Board.canvas", BOARD)
    vault.write("Board.md", "A note of the same name.\n")
    vault.write("Loft.md", "Where sails are mended.\n")
    vault.write("Boats/Ketch.md", "# Masts\n\nTwo.\n\nSee [[Board.canvas]].\n")
    vault.write("Empty.canvas", "")
    vault.write("New.canvas", "{}")
    assert cli("sync").code == 0
    return vault


def test_a_text_node_is_found_and_cited_by_the_canvas(cli: Cli, drawn: Vault) -> None:
    hit = cli("search", "torn genoa", "--json").data["hits"][0]
    assert (hit["path"], hit["title"], hit["heading"]) == (
        "Plans/Board.canvas",
        "Board.canvas",
        "Rigging > Sails",
    )
    assert hit["citation"] == "[[Plans/Board.canvas]]"
    assert (hit["first_line"], hit["last_line"]) == (4, 4)
    assert BOARD.split("\n")[3].count("genoa") == 1
    other = cli("search", "teapot", "--json").data["hits"][0]
    assert (other["path"], other["heading"], other["first_line"]) == ("Plans/Board.canvas", "", 8)
    assert (
        cli("search", "what's in my Board canvas?", "--json").data["hits"][0]["path"] == "Plans/Board.canvas"
    )
    assert cli("search", "sails", "--tag", "repair", "--json").data["hits"][0]["path"] == "Plans/Board.canvas"


def test_the_json_around_the_texts_is_not_found(cli: Cli, drawn: Vault) -> None:
    for word in ("fromNode", "d3b22a442ad14ce2", "aside", "width"):
        assert cli("search", word, "--keyword", "--json").data["hits"] == []


def test_the_links_of_a_canvas_count(cli: Cli, drawn: Vault) -> None:
    assert "Plans/Board.canvas" in cli("links", "Loft").out
    assert "Plans/Board.canvas" in cli("links", "Boats/Ketch.md").out
    assert "Boats/Ketch.md" in cli("links", "Plans/Board.canvas").out
    assert cli("lint", "--json").data["problems"] == []
    assert cli("links", "--broken", "--json").data["broken"] == []
    # A name alone is the note's, as in Obsidian.
    assert cli("read", "Board", "--json").data["path"] == "Board.md"


def test_a_changed_canvas_is_found_as_it_is_now(cli: Cli, drawn: Vault) -> None:
    drawn.edit("Plans/Board.canvas", "genoa", "spinnaker")
    cli("sync")
    assert cli("search", "spinnaker", "--keyword", "--json").data["hits"]
    drawn.remove("Plans/Board.canvas")
    cli("sync")
    assert cli("search", "teapot", "--keyword", "--json").data["hits"] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"nodes":[{"type":"text","text":"cut o',
        "[]",
        '{"nodes": 7}',
        "[" * 100_000,
        json.dumps(
            {"nodes": [{"type": "text", "text": "odd gear"}, 5, {"type": []}, {"type": "text", "text": 3}]}
        ),
        json.dumps({"nodes": [{"type": "group", "label": "lone gear", "x": "left", "width": 1e400}]}),
    ],
)
def test_a_canvas_that_is_none_affects_only_itself(cli: Cli, drawn: Vault, text: str) -> None:
    drawn.write("Bad.canvas", text)
    assert cli("sync").code == 0
    problems = [one["path"] for one in cli("status", "--json").data["index"]["problems"]]
    assert problems == (["Bad.canvas"] if "gear" not in text else [])
    assert cli("search", "torn genoa", "--json").data["hits"][0]["path"] == "Plans/Board.canvas"


def test_no_tool_writes_to_a_canvas(drawn: Vault, make_app: Callable[..., App]) -> None:
    app = make_app(drawn.root)
    for name, args in [
        ("vault_append", {"path": "Plans/Board.canvas", "content": "x"}),
        ("vault_append", {"path": "Board canvas", "content": "x"}),
        ("vault_write", {"path": "Plans/Board.canvas", "content": "x"}),
    ]:
        try:
            call(app.memory, tool_named(name), args)
        except HindbrainError:
            continue
    for act in (app.writer.create_note, app.writer.append_note):
        with pytest.raises(HindbrainError):
            act("Plans/Other.canvas", b"x")
    app.close()
    assert (drawn.root / "Plans/Board.canvas").read_text(encoding="utf-8") == BOARD
    assert sorted(file.name for file in drawn.root.rglob("*.canvas")) == [
        "Board.canvas",
        "Empty.canvas",
        "New.canvas",
    ]
