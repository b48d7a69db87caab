"""An agent can't approve its own memory: not by a command, not by a tick, not by our own records.

Attempts run in real processes, without a terminal, while the agent's session is live. The owner sits at a
real terminal.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from approval_attempts import ATTEMPTS, COMMANDS, EDITS, RECORDS, TERMINALS
from approval_bench import FACTS, Desk, copy_desk, make_desk, put_away

from hindbrain.context.guard import guard_call

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells, ptys")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A machine on which three proposals wait and no agent runs."""
    return put_away(make_desk(tmp_path_factory.mktemp("original") / "desk"))


@pytest.fixture(scope="module")
def with_agent(original: Desk, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """The same, with an agent's session that has begun."""
    desk = copy_desk(original, tmp_path_factory.mktemp("with-agent") / "desk")
    desk.hook("session-start", source="startup")
    return put_away(desk)


@pytest.fixture
def desk(original: Desk, tmp_path: Path) -> Desk:
    return copy_desk(original, tmp_path / "desk")


@pytest.fixture
def live(with_agent: Desk, tmp_path: Path) -> Desk:
    return copy_desk(with_agent, tmp_path / "desk")


def ids(desk: Desk) -> list[str]:
    with closing(desk.app()) as app:
        return [proposal.id for proposal in app.memory.inbox.pending()]


def make_attempt(desk: Desk, command: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    places = {
        "NOTE": str(desk.note), "ID": ids(desk)[0], "WORK": str(work), "STATE": str(desk.state),
        "CONFIG": str(desk.config),
    }  # fmt: skip
    desk.attempt(command, places)


def test_there_are_ninety_attempts() -> None:
    assert len(set(ATTEMPTS)) >= 90


@pytest.mark.promise("P17")
@pytest.mark.promise("P18")
@pytest.mark.parametrize("command", EDITS + RECORDS)
def test_what_an_agent_writes_approves_nothing(live: Desk, command: str, tmp_path: Path) -> None:
    make_attempt(live, command, tmp_path)
    live.settle()
    assert live.approved() == []


@pytest.mark.promise("P17")
@pytest.mark.promise("P18")
@pytest.mark.parametrize(
    "command",
    [*COMMANDS, TERMINALS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in TERMINALS[1:])],
)
def test_no_command_of_an_agent_approves_anything(live: Desk, command: str, tmp_path: Path) -> None:
    make_attempt(live, command, tmp_path)
    live.settle()
    assert live.approved() == []


@pytest.mark.parametrize(
    "command",
    # A note that is a link to elsewhere is never read.
    [*EDITS[:3], *(pytest.param(one, marks=pytest.mark.slow) for one in EDITS[3:] if "ln -s" not in one)],
)
def test_the_same_edit_of_an_owner_whose_agents_rest_counts(desk: Desk, command: str, tmp_path: Path) -> None:
    make_attempt(desk, command, tmp_path)
    desk.settle()
    assert desk.approved()


@pytest.mark.promise("P18")
@pytest.mark.slow
@pytest.mark.parametrize("command", EDITS)
def test_what_an_agent_ticked_is_not_approved_after_its_session_either(
    live: Desk, command: str, tmp_path: Path
) -> None:
    make_attempt(live, command, tmp_path)
    live.hook("stop")
    live.hook("session-end")
    live.tick("nothing of this name")  # the owner saves the note
    assert live.run("sync").returncode == 0
    assert live.approved() == []


# What goes on working


@pytest.mark.promise("P18")
def test_a_person_at_a_terminal_approves_with_one_confirmation(live: Desk) -> None:
    seen = live.person("inbox", "accept", "1", types="y")
    assert FACTS[0] in seen and "from web" in seen, "what is approved is shown"
    assert live.approved() == [FACTS[0]]
    (entry,) = live.data("inbox", "--log")["approvals"]
    assert (entry["decision"], entry["how"], entry["what"]) == ("accepted", "command", "memory")
    assert entry["who"] and entry["at"] and entry["id"] and entry["digest"]
    assert FACTS[0] not in (live.vault / ".hindbrain" / "approvals.jsonl").read_text("utf-8")


@pytest.mark.parametrize("types", ["n", "", "maybe"])
def test_anything_but_a_yes_approves_nothing(live: Desk, types: str) -> None:
    live.person("inbox", "accept", "--all", types=types or "\r")
    assert live.approved() == []


@pytest.mark.promise("P17")
def test_a_line_that_is_swapped_while_it_is_read_is_not_approved(live: Desk) -> None:
    def swap() -> None:
        text = live.note.read_text("utf-8")
        live.note.write_text(text.replace(FACTS[0], "The moon office opens in June"), "utf-8")

    seen = live.person("inbox", "accept", "1", types="y", meanwhile=swap)
    assert "(conflict)" in seen
    assert live.approved() == []


def test_a_script_gets_the_code(live: Desk) -> None:
    for words in (("1",), ("--all", "--yes")):
        ran = live.run("inbox", "accept", *words, "--json")
        assert (ran.returncode, json.loads(ran.stdout)["error"]["code"]) == (1, "needs_person")


def test_ticks_count_at_the_next_sync_while_no_agent_is_live(desk: Desk) -> None:
    desk.tick(FACTS[1])
    assert desk.run("sync").returncode == 0
    assert desk.approved() == [FACTS[1]]
    (entry,) = desk.data("inbox", "--log")["approvals"]
    assert (entry["decision"], entry["how"], entry["who"]) == ("accepted", "note", "")


@pytest.mark.promise("P18")
def test_a_tick_while_an_agent_is_live_waits_visibly_and_one_command_away(live: Desk) -> None:
    live.tick(FACTS[1])
    assert "hindbrain inbox accept" in live.run("sync").stderr
    assert live.approved() == []
    waiting = {item["text"]: item["ticked"] for item in live.data("inbox")["waiting"]}
    assert waiting == {FACTS[0]: False, FACTS[1]: True, FACTS[2]: False}
    assert live.data("status")["inbox"] == {"waiting": 3, "ticked": 1}
    line = next(line for line in live.note.read_text("utf-8").splitlines() if FACTS[1] in line)
    assert line.startswith("- [?] remember: ") and "[ticked:: " in line
    live.person("inbox", "accept", types="y")
    assert live.approved() == [FACTS[1]]
    assert FACTS[1] not in live.note.read_text("utf-8")


def test_an_owner_may_tick_again_when_the_agent_has_ended(live: Desk) -> None:
    live.tick(FACTS[1])
    live.hook("stop")
    text = live.note.read_text("utf-8")
    assert text.count("[?]") == 1, "the end of the turn has looked at it"
    live.hook("session-end")
    live.let_pass(60)
    live.tick(FACTS[2])
    live.run("sync")
    assert live.approved() == [FACTS[2]], "what was ticked before still waits"
    live.note.write_text(live.note.read_text("utf-8").replace("[?]", "[x]"), "utf-8")
    live.run("sync")
    assert live.approved() == sorted([FACTS[1], FACTS[2]])


@pytest.mark.parametrize(("minutes", "counts"), [(29, False), (40, True)])
def test_a_session_without_an_end_is_over_half_an_hour_after_its_last_event(
    live: Desk, minutes: int, counts: bool
) -> None:
    live.let_pass(60 * minutes)
    live.tick(FACTS[0])
    live.settle()
    assert bool(live.approved()) == counts


def test_a_call_of_a_tool_keeps_a_session_live(live: Desk) -> None:
    live.let_pass(60 * 40)
    live.hook("pre-tool-use", tool_name="Bash", tool_input="ls")
    live.tick(FACTS[0])
    live.settle()
    assert live.approved() == []


def test_an_edit_of_the_owner_is_what_they_confirm(live: Desk) -> None:
    text = live.note.read_text("utf-8")
    live.note.write_text(
        text.replace(f"[ ] remember: {FACTS[0]}", "[x] remember: The office opens in June"), "utf-8"
    )
    live.settle()
    live.person("inbox", "accept", types="y")
    assert live.approved() == ["The office opens in June"]


@pytest.mark.promise("P18")
def test_a_line_that_appears_while_an_agent_is_live_is_not_the_owners_word(live: Desk) -> None:
    with live.note.open("a", encoding="utf-8") as note:
        note.write("- [x] remember: The moon office opens in June [source:: user]\n")
    live.settle()
    (held,) = [item for item in live.data("inbox")["waiting"] if item["ticked"]]
    assert (held["text"], held["source"]) == ("The moon office opens in June", "agent")
    live.person("inbox", "accept", types="y")
    with closing(live.app()) as app:
        assert [(item.text, item.source) for item in app.memory.book.items()] == [(held["text"], "agent")]


@pytest.mark.promise("P18")
def test_what_an_agent_says_in_its_shell_is_not_its_users_word(live: Desk) -> None:
    live.attempt("hindbrain remember 'I like tea with milk'")
    assert live.run("remember", "I like tea with lemon in the evening").returncode == 0
    with closing(live.app()) as app:
        sources = {item.text: item.source for item in app.memory.book.items()}
    assert sources == {"I like tea with milk": "agent", "I like tea with lemon in the evening": "user"}


@pytest.mark.promise("P18")
def test_an_agent_does_not_redo_what_its_owner_took_back(live: Desk) -> None:
    live.person("inbox", "accept", "1", types="y")
    assert live.run("undo").returncode == 0
    live.attempt("hindbrain redo")
    assert live.approved() == []
    assert live.run("redo").returncode == 0
    assert live.approved() == [FACTS[0]]


def test_the_guard_asks_about_nearly_all_of_them(live: Desk) -> None:
    """The rail in front of the wall; what it misses is left to the wall."""
    asked = []
    for command in ATTEMPTS:
        for name, path in (("$NOTE", live.note), ("$STATE", live.state), ("$CONFIG", live.config)):
            command = command.replace(name, str(path))
        call = {"command": command}
        asked.append(guard_call(live.vault, None, tool="Bash", arguments=call, cwd=str(live.vault)).decision)
    assert asked.count("ask") >= 0.93 * len(ATTEMPTS)


def test_what_was_ticked_before_an_agent_began_counts(desk: Desk) -> None:
    desk.tick(FACTS[2])
    desk.hook("session-start", source="startup")
    desk.let_pass(-60)
    desk.settle()
    assert desk.approved() == [FACTS[2]]
