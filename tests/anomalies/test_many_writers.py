"""P3 and P11: fifty agents on one vault lose nothing of each other's work, and none waits for long.

Every agent is a process that uses the tools as an MCP host does. What they were told is compared with what
is in the notes when all have ended.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("the agents are forked", allow_module_level=True)

from tests.anomalies import agents, oracle
from tests.anomalies.agents import Told

AGENTS = 50


def run(place: Path, deeds: int) -> tuple[Path, list[Told]]:
    """What they were told; afterwards everything that waited is in its note."""
    agents.warm_up(place / "warm")
    folder = place / "work"
    agents.prepare(folder, AGENTS)
    told = agents.run_agents(folder, AGENTS, deeds)
    app = agents.make_app(folder)
    app.memory.settle(idle=True)
    assert app.memory.queue.pending() == []
    app.close()
    return folder, told


def everything_acknowledged_is_there(folder: Path, told: list[Told]) -> None:
    root = folder / "vault"
    texts = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*.md")
    }
    memories = "".join(text for path, text in texts.items() if path.startswith(agents.MEMORIES))
    counted = sum(one.deed == "count" and one.code == "ok" for one in told)
    last: dict[str, str] = {}  # what each agent wrote last into its own line
    states: dict[str, str] = {}  # of the tasks, by the token in their title
    for one in told:
        if one.code != "ok" or one.deed == "read":
            continue
        match one.deed:
            case "append" | "append_below":
                assert texts[agents.LOG].count(f"- {one.token}") == 1, one
            case "own_line":
                last[_agent(one.token)] = one.token
            case "task_create":
                assert texts[agents.TASKS].count(f"**Look after {one.token}**") == 1, one
                states[one.token] = "todo"
            case "in_progress" | "blocked" | "done":
                states[one.token] = one.deed
            case "remember":
                assert memories.count(f"{one.token}b") == 1, one
    tasks = agents.make_app(folder).memory.tasks.list(status="all")
    assert {task.title.removeprefix("Look after "): task.status for task in tasks} == states
    assert texts[agents.COUNTER] == f"count: {counted}\n"
    assert dict(re.findall(r"^agent-(\d+): (zq\w+)$", texts[agents.BOARD], re.M)) == last


def _agent(token: str) -> str:
    return token.removeprefix("zq").partition("x")[0]


def nothing_else_is_changed_or_left(folder: Path) -> None:
    root, state = folder / "vault", next((folder / "state").iterdir())
    oracle.nothing_is_left_over(root, state)
    assert oracle.conflict_copies(root) == []
    between = re.findall(
        r"^Between (\d+) and the next\.$", (root / agents.BOARD).read_text(encoding="utf-8"), re.M
    )
    assert between == [str(who) for who in range(AGENTS)]
    tasks = re.findall(
        r"^- \[.\] \*\*Look after (\w+)\*\* ", (root / agents.TASKS).read_text(encoding="utf-8"), re.M
    )
    assert len(tasks) == len(set(tasks)) > 0


def a_stale_hash_was_a_conflict_that_names_the_current_one(told: list[Told]) -> None:
    """And nothing else was an error: no Busy, no conflict for who sends no hash."""
    errors = [one for one in told if one.code != "ok"]
    assert {(one.tool, one.code) for one in errors} <= {("vault_write", "conflict")}
    assert all(len(one.current_hash) == 64 for one in errors)


@pytest.mark.promise("P3")
@pytest.mark.promise("P11")
def test_fifty_agents_on_one_vault_lose_nothing_and_are_never_turned_away(place: Path) -> None:
    folder, told = run(place, deeds=5)
    everything_acknowledged_is_there(folder, told)
    nothing_else_is_changed_or_left(folder)
    a_stale_hash_was_a_conflict_that_names_the_current_one(told)
    done = Counter(one.deed for one in told if one.code == "ok" and one.deed != "read")
    assert sum(done.values()) == AGENTS * 5
    assert set(done) == {
        "append",
        "append_below",
        "own_line",
        "count",
        "task_create",
        "in_progress",
        "remember",
    }


@pytest.mark.slow
@pytest.mark.promise("P3")
def test_ten_thousand_deeds_of_fifty_agents_lose_nothing(place: Path) -> None:
    folder, told = run(place, deeds=200)
    everything_acknowledged_is_there(folder, told)
    nothing_else_is_changed_or_left(folder)
    conflicts = [one for one in told if one.code == "conflict"]
    assert {one.tool for one in conflicts} <= {"vault_write"}
    assert all(len(one.current_hash) == 64 for one in conflicts)


@pytest.mark.slow
@pytest.mark.promise("P11")
def test_ten_thousand_deeds_of_fifty_agents_wait_two_seconds_at_most(place: Path) -> None:
    _, told = run(place, deeds=200)
    print(agents.distribution(told))
    a_stale_hash_was_a_conflict_that_names_the_current_one(told)
    assert agents.percentile([one.seconds for one in told], 0.99) < 2.0
