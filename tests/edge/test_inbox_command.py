"""`hindbrain inbox`: the owner's word, from a terminal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from command_runs import Cli
from hindbrain.app import App
from hindbrain.memory.inbox.inbox import Proposal
from workbench import Vault, person_says


@pytest.fixture
def ids(vault: Vault, cli: Cli, make_app: Callable[..., App]) -> list[str]:
    """Three proposals wait."""
    app = make_app(vault.root)
    held = [
        app.memory.inbox.hold(Proposal("", text, source="web", reason="third-party text"))
        for text in ("Lisbon opens in May", "Porto opens in June", "Faro \x1b[31mcloses")
    ]
    app.close()
    return held


def test_the_list_says_what_waits_and_what_to_type(cli: Cli, ids: list[str]) -> None:
    ran = cli("inbox")
    assert ran.code == 0
    assert "1  Lisbon opens in May" in ran.out
    assert ids[0] in ran.out
    assert "inbox accept N" in ran.err
    assert "\x1b[31m" not in ran.out


def test_what_was_decided_in_the_note_is_said_by_whoever_takes_it(
    cli: Cli, ids: list[str], vault: Vault
) -> None:
    note = vault.root / cli("inbox", "--json").data["note"]
    text = note.read_text(encoding="utf-8")
    text = text.replace("[ ] remember: Lisbon", "[x] remember: Lisbon")
    note.write_text(text.replace("[ ] remember: Porto", "[-] remember: Porto"), encoding="utf-8")
    ran = cli("recall", "Lisbon", "--no-sync")
    assert "stored 1 memory accepted in the inbox\n" in ran.err
    assert "1 refused in the inbox" in ran.err
    assert "accepted in the inbox" not in cli("recall", "Lisbon", "--no-sync").err


def test_a_verb_that_was_mistyped_gets_the_nearest(cli: Cli) -> None:
    assert "did you mean 'accept'?" in cli("inbox", "acept", "1").err
    assert "list, accept, refuse, edit" in cli("inbox", "xyzzy").err


def test_without_a_terminal_at_all_accepting_is_refused(
    cli: Cli, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert cli("inbox", "accept", "1", "--json").error == "needs_person"


def test_an_empty_inbox_is_no_error(cli: Cli) -> None:
    ran = cli("inbox")
    assert (ran.code, ran.out) == (0, "")
    data = cli("inbox", "--json").data
    assert data == {"note": data["note"], "waiting": [], "accepted": [], "refused": []}


@pytest.mark.promise("P18")
@pytest.mark.parametrize("words", [("1",), ("1", "--yes"), ("--all", "--yes")])
def test_a_script_accepts_nothing(cli: Cli, ids: list[str], words: tuple[str, ...]) -> None:
    ran = cli("inbox", "accept", *words, "--json")
    assert (ran.code, ran.error) == (1, "needs_person")
    assert len(cli("inbox", "--json").data["waiting"]) == 3


def test_accept_by_number_and_id_stores_with_the_trust_it_had(
    cli: Cli, ids: list[str], vault: Vault, make_app: Callable[..., App], monkeypatch: pytest.MonkeyPatch
) -> None:
    person_says(monkeypatch, "y")
    data = cli("inbox", "accept", "2", ids[0], "--json").data
    assert [item["text"] for item in data["accepted"]] == ["Porto opens in June", "Lisbon opens in May"]
    assert [item["id"] for item in data["waiting"]] == [ids[2]]
    app = make_app(vault.root)
    stored = {item.text: item for item in app.memory.book.items()}
    app.close()
    assert stored["Lisbon opens in May"].source == "web"
    assert stored["Lisbon opens in May"].id == "m-" + ids[0][2:]


def test_refused_is_forgotten_and_not_asked_again(cli: Cli, ids: list[str]) -> None:
    assert cli("inbox", "refuse", "--all").code == 0
    assert cli("inbox", "--json").data["waiting"] == []
    again = cli("remember", "--source", "web", "lisbon opens in may!", "--json")
    assert (again.code, again.error) == (1, "refused")


def test_edit_corrects_and_goes_on_waiting(cli: Cli, ids: list[str]) -> None:
    assert cli("inbox", "edit", "1", "Lisbon", "opens in autumn").code == 0
    waiting = cli("inbox", "--json").data["waiting"]
    assert (waiting[0]["text"], waiting[0]["source"]) == ("Lisbon opens in autumn", "web")


def test_what_was_ticked_in_the_note_is_taken_first(cli: Cli, ids: list[str], vault: Vault) -> None:
    note = next(path for path in vault.root.rglob("*.md") if ids[0] in path.read_text(encoding="utf-8"))
    text = note.read_text(encoding="utf-8")
    note.write_text(text.replace("[ ] remember: Lisbon", "[x] remember: Lisbon"), encoding="utf-8")
    ran = cli("inbox")
    assert "Lisbon opens in May" in ran.out.splitlines()[0]
    assert "1  Porto" in ran.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("accept", "9"), "not_found"),
        (("accept",), "usage"),
        (("refuse", "p-unknown"), "not_found"),
        (("refuse",), "usage"),
        (("refuse", "1", "--all"), "usage"),
        (("edit", "1"), "usage"),
        (("list", "1"), "usage"),
        (("approve", "1"), "usage"),
    ],
)
def test_mistakes_are_said_and_change_nothing(
    cli: Cli, ids: list[str], words: tuple[str, ...], code: str
) -> None:
    ran = cli("inbox", *words, "--json")
    assert ran.code != 0
    assert ran.error == code
    assert len(cli("inbox", "--json").data["waiting"]) == 3


def test_one_wrong_name_among_right_ones_decides_nothing(cli: Cli, ids: list[str]) -> None:
    assert cli("inbox", "refuse", "1", "2", "nobody").code == 1
    assert len(cli("inbox", "--json").data["waiting"]) == 3


@pytest.mark.promise("P17")
@pytest.mark.parametrize("marker", ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE"])
def test_a_terminal_that_an_agent_runs_in_is_no_persons(
    cli: Cli, ids: list[str], monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    person_says(monkeypatch, "y")
    monkeypatch.setenv(marker, "1")
    assert cli("inbox", "accept", "--all", "--json").error == "needs_person"
    assert len(cli("inbox", "--json").data["waiting"]) == 3


def test_the_log_says_who_decided_and_how(
    cli: Cli, ids: list[str], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("inbox", "--log").out == ""
    person_says(monkeypatch, "y")
    cli("inbox", "accept", "1")
    cli("inbox", "refuse", ids[1])
    note = vault.root / cli("inbox", "--json").data["note"]
    note.write_text(note.read_text("utf-8").replace("- [ ] remember", "- [x] remember"), "utf-8")
    cli("inbox")
    told = cli("inbox", "--log", "--json").data["approvals"]
    assert [(one["id"], one["decision"], one["how"], bool(one["who"])) for one in told] == [
        (ids[0], "accepted", "command", True),
        (ids[1], "refused", "command", True),
        (ids[2], "accepted", "note", False),
    ]
    assert [one["text"].partition(" ")[0] for one in told] == ["Lisbon", "Porto", "Faro"]
    assert ids[0] in cli("inbox", "--log").out and "Porto opens in June" in cli("inbox", "--log").out


def test_a_refused_proposal_that_comes_again_is_called_refused(
    cli: Cli, ids: list[str], vault: Vault, make_app: Callable[..., App]
) -> None:
    cli("inbox", "refuse", ids[1])
    app = make_app(vault.root)
    refused = app.memory.policy.judge("Porto opens in June", source="agent").reasons
    app.memory.tombstones.add("Lisbon opens in May", why="forgotten")
    forgotten = app.memory.policy.judge("Lisbon opens in May", source="agent").reasons
    app.close()
    assert refused and forgotten and refused != forgotten


def test_accepting_all_of_nothing_asks_nothing(cli: Cli) -> None:
    assert cli("inbox", "accept", "--all").code == 0


@pytest.mark.promise("P18")
def test_what_an_agents_shell_writes_is_no_word_of_the_owner(
    cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run by an agent, the owner's commands do as its tools do: they propose lines for the owner's notes."""
    cli("init", "--layout", "obsidian")
    monkeypatch.setenv("CLAUDECODE", "1")
    held = cli("note", "append", "User Profile.md", "- Plays the cello", "--json").data
    assert held["did"] == "held" and len(held["held"]) == 1
    assert cli("note", "write", "Home.md", "--text", "# Mine", "--json").error == "refused"
    assert cli("note", "set", "Home.md", "type=mine", "--json").error == "needs_person"
    cli("task", "add", "Tune the cello")
    assert "[source:: agent]" in (vault.root / "Active Tasks.md").read_text("utf-8")
    assert "cello" not in (vault.root / "User Profile.md").read_text("utf-8")
    monkeypatch.delenv("CLAUDECODE")
    assert cli("note", "append", "User Profile.md", "- Plays the cello", "--json").data["did"] == "appended"
