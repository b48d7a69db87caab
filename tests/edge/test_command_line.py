"""What the command line does around a command: help, mistakes, errors, ends."""

from __future__ import annotations

import pytest

from command_runs import Cli
from hindbrain import __version__
from hindbrain.edge.commands import COMMANDS, NAMES
from hindbrain.edge.parser import command_module
from workbench import Vault


def test_help_names_every_command(cli: Cli) -> None:
    ran = cli.bare("--help")
    assert ran.code == 0
    assert all(name in ran.out and text in ran.out for name, text in COMMANDS)
    assert cli.bare().out == ran.out


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(cli: Cli, name: str) -> None:
    ran = cli.bare(name, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"usage: hindbrain {name}")
    assert cli.bare("--help", name).out == ran.out


@pytest.mark.parametrize("name", NAMES)
def test_every_command_takes_the_options_that_all_have(name: str) -> None:
    from hindbrain.edge.shell_scripts import options_of

    names = {option for found in options_of(name) for option in found.names}
    assert {"--vault", "--json", "--debug", "--help"} <= names


def test_the_version_is_told(cli: Cli) -> None:
    assert cli.bare("--version").out == f"hindbrain {__version__}\n"
    assert cli.bare("--version", "--json").data == {"version": __version__}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["serch", "tea"], "'search'"),
        (["search", "tea", "--keywrod"], "'--keyword'"),
        (["sync", "--no-vector"], "'--no-vectors'"),
        (["status", "surplus"], "surplus"),
        (["search"], "QUERY"),
        (["search", "tea", "-k", "many"], "many"),
        (["search", "tea", "--keyword", "--semantic"], "--semantic"),
        (["--frobnicate"], "--frobnicate"),
        (["--json"], "no command"),
        (["completion", "bsh"], "'bash'"),
    ],
)
def test_a_mistake_in_the_arguments_ends_with_2_and_a_hint(cli: Cli, words: list[str], hint: str) -> None:
    ran = cli.bare(*words)
    assert ran.code == 2
    assert hint in ran.err + ran.out
    assert cli.bare(*words, "--json").error == "usage"


def test_options_may_stand_before_the_command(cli: Cli, indexed: Vault) -> None:
    before = cli.bare("--json", "--vault", str(indexed.root), "search", "turnips")
    after = cli.bare("search", "turnips", "--vault", str(indexed.root), "--json")
    assert before.data["hits"] == after.data["hits"]


def test_words_may_stand_on_both_sides_of_an_option(cli: Cli, indexed: Vault) -> None:
    assert cli("search", "green", "--keyword", "tea", "--json").data["query"] == "green tea"


def test_after_two_dashes_everything_is_a_word(cli: Cli, indexed: Vault) -> None:
    ran = cli("search", "--", "--json")
    assert ran.code == 0
    assert "nothing found" in ran.err or ran.out


def test_an_error_is_text_on_stderr_or_json_on_stdout(cli: Cli, indexed: Vault) -> None:
    text = cli("read", "nowhere to be found")
    assert (text.code, text.out) == (1, "")
    assert text.err.startswith("error: ") and text.err.endswith("(not_found)\n")
    data = cli("read", "nowhere to be found", "--json")
    assert (data.code, data.err, data.error) == (1, "", "not_found")


def test_a_bug_is_reported_without_a_traceback_unless_asked_for(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("nobody expected this")

    monkeypatch.setattr(command_module("status"), "run", broken)
    ran = cli("status")
    assert ran.code == 1
    assert "internal" in ran.err and "Traceback" not in ran.err
    assert "Traceback" in cli("status", "--debug").err
    assert cli("status", "--json").error == "internal"


def test_an_interruption_ends_with_130(cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_module("status"), "run", interrupted)
    ran = cli("status")
    assert (ran.code, ran.out) == (130, "")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", ["sync", "status", "doctor", "history", "undo", "init"])
def test_a_vault_that_is_not_there_or_no_folder_is_an_error(cli: Cli, notes: Vault, command: str) -> None:
    assert cli(command, "--json", vault=notes.root / "nowhere").error == "not_found"
    assert cli(command, "--json", vault=notes.root / "Tea.md").error == "vault"


def test_without_a_vault_anywhere_the_way_out_is_told(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("bare"))
    ran = cli.bare("status")
    assert ran.code == 1
    assert "--vault" in ran.err


def test_the_vault_is_the_nearest_one_upwards(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(indexed.root / "Projects" / "Garden")
    assert cli.bare("status", "--json").data["vault"]["path"] == str(indexed.root)


def test_a_state_folder_inside_the_vault_is_refused(
    cli: Cli, notes: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(notes.root / "state"))
    assert cli("sync", "--json").error == "usage"


def test_help_and_version_are_commands_too(cli: Cli) -> None:
    assert cli.bare("help") == cli.bare("--help")
    assert cli.bare("help", "search") == cli.bare("search", "--help")
    assert cli.bare("version") == cli.bare("--version")
    assert cli.bare("version", "--json") == cli.bare("--version", "--json")
    for words in (("help", "serch"), ("help", "search", "tea"), ("version", "search")):
        assert cli.bare(*words, "--json").error == "usage"
