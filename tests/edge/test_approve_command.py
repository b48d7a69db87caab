"""`hindbrain approve`: the owner's word, from a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.models.chat_fake import calls
from workbench import Vault


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(monkeypatch)
    made.nobody()
    return made


@pytest.fixture
def waiting(
    cli: Cli, indexed: Vault, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[dict[str, str]]:
    """Two runs wait, each for one call."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "in.txt").write_text("write!", encoding="utf-8")
    for name in ("one", "two"):
        stage.script(
            calls("read_file", path="in.txt"),
            calls("write_file", path=f"{name}.txt", content=f"{name} \x1b[2J\nsecond line"),
        )
        assert cli("run", f"do what it says, {name}").code == 3
    return list(cli("approve", "--json").data["waiting"])


def test_the_list_shows_exactly_what_would_be_done(cli: Cli, waiting: list[dict[str, str]]) -> None:
    ran = cli("approve")
    assert ran.code == 0
    for one in waiting:
        assert one["id"] in ran.out and one["run"] in ran.out
    assert "one.txt" in ran.out and "second line" in ran.out
    assert "\x1b" not in ran.out
    assert f"hindbrain approve {waiting[0]['id']}" in ran.err


def test_nothing_waits_is_no_error(cli: Cli, indexed: Vault) -> None:
    ran = cli("approve")
    assert (ran.code, ran.out) == (0, "")
    assert cli("approve", "--json").data == {"waiting": [], "approved": None, "denied": None}


def test_without_a_terminal_nothing_is_approved(
    cli: Cli, waiting: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that calls this command, or pipes a yes into it, has no terminal."""
    stage = Stage(monkeypatch)
    stage.pipe(["y", "yes"])
    assert cli("approve", waiting[0]["id"], "--json").error == "needs_person"
    monkeypatch.setattr("sys.stdin", None)
    assert cli("approve", waiting[0]["id"], "--json").error == "needs_person"
    assert len(cli("approve", "--json").data["waiting"]) == 2


def test_a_person_sees_it_once_more_and_says_yes(
    cli: Cli, waiting: list[dict[str, str]], stage: Stage
) -> None:
    stage.person_types("y")
    ran = cli("approve", waiting[0]["id"])
    assert ran.code == 0
    assert "second line" in ran.err
    assert f"hindbrain runs resume {waiting[0]['run']}" in ran.err
    assert [one["id"] for one in cli("approve", "--json").data["waiting"]] == [waiting[1]["id"]]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_the_stream_that_shows_them(
    cli: Cli, waiting: list[dict[str, str]], stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stage.person_types("y")
    with monkeypatch.context() as at_a_screen:
        at_a_screen.setattr("sys.stdout", Screen())
        assert "\x1b" not in cli("approve", waiting[0]["id"]).err
    stage.person_types("n")
    with monkeypatch.context() as at_a_screen:
        at_a_screen.setattr("sys.stderr", screen := Screen())
        assert cli("approve", waiting[1]["id"]).code == 1
    assert "\x1b[1m" in screen.getvalue()


def test_a_long_one_says_again_what_it_is_right_above_the_question(
    cli: Cli, waiting: list[dict[str, str]], stage: Stage
) -> None:
    content = "a\n" * 60 + "b\u200bc"
    stage.script(calls("read_file", path="in.txt"), calls("write_file", path="long.txt", content=content))
    stage.nobody()
    asked = cli("run", "do what it says", "--json").data["waiting"][0]
    assert "b<U+200B>c" in cli("approve").out
    stage.person_types("y")
    lines = cli("approve", asked["id"]).err.splitlines()
    (question,) = [at for at, line in enumerate(lines) if line.startswith("approve a-")]
    assert lines[question - 1].startswith(f"{asked['id']}  Make the file 'long.txt'")


@pytest.mark.parametrize("typed", ["", "n", "what?"])
def test_anything_but_yes_approves_nothing_and_it_still_waits(
    cli: Cli, waiting: list[dict[str, str]], stage: Stage, typed: str
) -> None:
    stage.person_types(typed)
    assert cli("approve", waiting[0]["id"], "--json").error == "cancelled"
    assert len(cli("approve", "--json").data["waiting"]) == 2


def test_a_script_may_refuse(cli: Cli, waiting: list[dict[str, str]]) -> None:
    data = cli("approve", waiting[0]["id"], "--deny", "--json").data
    assert data["denied"]["id"] == waiting[0]["id"]
    assert [one["id"] for one in data["waiting"]] == [waiting[1]["id"]]


def test_what_was_decided_is_decided(cli: Cli, waiting: list[dict[str, str]], stage: Stage) -> None:
    cli("approve", waiting[0]["id"], "--deny")
    stage.person_types("y")
    assert cli("approve", waiting[0]["id"], "--json").error == "not_found"


def test_mistakes_decide_nothing(cli: Cli, waiting: list[dict[str, str]]) -> None:
    assert cli("approve", "a-nobody", "--deny", "--json").error == "not_found"
    assert cli("approve", "a-", "--deny", "--json").error == "not_found"  # both begin so
    assert cli("approve", "--deny", "--json").error == "usage"
    assert len(cli("approve", "--json").data["waiting"]) == 2
