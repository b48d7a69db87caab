"""A setting has the same effect at every door: command line, tools of MCP, daemon, service, packs."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import pytest

import hindbrain.app
from command_runs import Cli
from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.edge.daemon.verbs import answer
from hindbrain.edge.opening import open_app
from hindbrain.edge.service.answers import search as search_service
from hindbrain.memory.tools import tool_named
from workbench import Vault

QUERY = "harbour crane"


class Doors:
    """The ways into one vault; each call reads the settings again, as a new process would."""

    def __init__(self, cli: Cli, set_variable: Callable[[str, str], None]) -> None:
        self._cli = cli
        self._set_variable = set_variable

    def set(self, **settings: str) -> None:
        for name, value in settings.items():
            self._set_variable(f"HINDBRAIN_{name.upper()}", value)

    def command_line(self, *flags: str) -> list[str]:
        return [hit["path"] for hit in self._cli("search", QUERY, *flags, "--json").data["hits"]]

    def searches(self) -> dict[str, list[str]]:
        """What each door answers to the same question."""
        return {
            "command line": self.command_line(),
            "vault_search": self.tool("vault_search", "hits", query=QUERY),
            "memory_search": self.tool("memory_search", "results", query=QUERY),
            "daemon": self._paths(lambda app: answer(app, "search", {"query": QUERY}), "hits"),
            "service": self._paths(lambda app: search_service(app, {"query": QUERY}), "results"),
        }

    def tool(self, name: str, key: str, **arguments: Any) -> list[str]:
        return self._paths(lambda app: dict(tool_named(name).handler(app.memory, arguments).data), key)

    def recalled(self) -> list[str]:
        return self.tool("recall", "passages", topic=QUERY)

    def memories(self) -> int:
        found = tool_named("recall").handler
        return len(
            self._call(lambda app: dict(found(app.memory, {"topic": "sail colours"}).data))["memories"]
        )

    def packed(self) -> dict[str, float]:
        """The score of each note that enters a prompt."""
        pack = self._call(lambda app: answer(app, "pack", {"query": QUERY, "preset": "agent"}))
        return {one["path"]: one["score"] for one in pack["excerpts"] if one["slot"] == "relevant"}

    def _paths(self, call: Callable[[App], dict[str, Any]], key: str) -> list[str]:
        return [one["path"] for one in self._call(call)[key]]

    def _call(self, call: Callable[[App], dict[str, Any]]) -> dict[str, Any]:
        app = open_app(Namespace(vault=str(self._cli.root)), warm=True)
        try:
            return call(app)
        finally:
            app.close()


@pytest.fixture
def doors(cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Doors:
    now = time.time()
    monkeypatch.setattr(hindbrain.app, "SystemClock", lambda: FakeClock(now))
    vault.write("Strong.md", "The harbour crane lifts the keel; this harbour crane is old.\n", at=now - 3e8)
    vault.write("Twin.md", "The harbour crane lifts the keel; that harbour crane is grey.\n", at=now - 3e8)
    vault.write("Fresh.md", "In the harbour they painted something today: a crane, far away.\n", at=now)
    for number in range(12):
        own = " ".join(f"word{number}x{i}" for i in range(number + 3))
        text = f"A crane and {own} at the {'harbour' if number < 6 else 'quay'}.\n"
        vault.write(f"Note {number}.md", text, at=now - 2e8)
        vault.write(f"Other {number}.md", f"Nothing but {own} and {own} again.\n", at=now - 2e8)
    assert cli("init").code == 0
    assert cli("sync").code == 0
    found = Doors(cli, monkeypatch.setenv)
    found.set(embedding_provider="none")
    return found


def test_the_number_of_hits_holds_at_every_door(doors: Doors, cli: Cli) -> None:
    for colour in ("red", "blue", "green", "white", "black"):
        cli("remember", f"The {colour} boat has sail colours of {colour}", "--importance", "0.9")
    cli("sync")
    assert {len(found) for found in doors.searches().values()} == {10}
    assert doors.memories() == 5
    pack = doors.packed()
    doors.set(search_k="3")
    assert {name: len(found) for name, found in doors.searches().items()} == dict.fromkeys(
        doors.searches(), 3
    )
    assert doors.memories() == 3
    assert len(doors.command_line("-k", "5")) == 5  # who asks for a number gets it
    assert len(doors.tool("vault_search", "hits", query=QUERY, limit=5)) == 5
    assert doors.packed() == pack  # what enters a prompt is bounded by its budget


@pytest.mark.parametrize(
    ("setting", "value", "flag"),
    [
        ("search_profile", "keyword-recency", "--profile"),
        ("search_diversity", "0.8", "--diversity"),
    ],
)
def test_the_order_of_hits_holds_at_every_door(doors: Doors, setting: str, value: str, flag: str) -> None:
    before, recalled, packed = doors.command_line(), doors.recalled(), doors.packed()
    wanted = doors.command_line(flag, value)
    assert wanted != before
    doors.set(**{setting: value})
    assert doors.searches() == dict.fromkeys(doors.searches(), wanted)
    assert doors.recalled() != recalled
    assert doors.packed() != packed


def test_a_least_score_holds_at_every_door_and_cuts_nothing_unasked(doors: Doors, cli: Cli) -> None:
    hits = cli("search", QUERY, "-k", "50", "--json").data["hits"]
    least = 0.3
    sure = [hit["path"] for hit in hits if hit["confidence"] >= least]
    assert doors.packed()
    assert 0 < len(sure) < 10
    assert len(doors.command_line()) == 10
    assert doors.command_line("--min-score", str(least)) == sure
    assert doors.tool("memory_search", "results", query=QUERY, min_score=least) == sure
    doors.set(search_min_score=str(least))
    assert doors.searches() == dict.fromkeys(doors.searches(), sure)
    assert set(doors.packed()) == set(sure)
    assert len(doors.command_line("--min-score", "0")) == 10
    doors.set(search_min_score="0.9")
    assert doors.packed() == {} and doors.recalled() == []
    ran = cli("search", QUERY, "--min-score", "1")
    assert ran.code == 0 and "--min-score" in ran.err
    assert cli("search", QUERY, "--min-score", "3", "--json").error == "usage"


def test_rrf_k_decides_how_much_the_first_rank_counts(doors: Doors) -> None:
    doors.set(search_profile="rrf")
    spread = doors.packed()
    doors.set(search_rrf_k="1")
    assert min(doors.packed().values()) < min(spread.values())
    hits = doors.searches()
    assert hits == dict.fromkeys(hits, hits["command line"])


def test_the_candidate_multiplier_bounds_what_is_looked_at(doors: Doors, cli: Cli, vault: Vault) -> None:
    """Only what is looked at can rise by another signal: the newest note has the least of the words."""
    for number in range(40):
        vault.write(
            f"Log/{number}.md", f"{number}: the harbour crane, the harbour crane.\n", at=time.time() - 9e8
        )
    vault.write(
        "New.md", f"{'Nothing to see. ' * 40}\n\nA crane, and a harbour: {'more ' * 20}\n", at=time.time()
    )
    (vault.root / "Fresh.md").unlink()
    cli("sync")
    doors.set(search_profile="keyword-recency", search_candidate_multiplier="1")
    few = doors.searches()
    doors.set(search_candidate_multiplier="20")
    many = doors.searches()
    for name in few:
        assert "New.md" in many[name] and "New.md" not in few[name], name
    assert "New.md" in doors.packed()
