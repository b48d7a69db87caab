"""`hindbrain remember`, `recall` and `forget`, as they are typed."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from command_runs import Cli

from workbench import Vault

_DOCS = Path(__file__).parents[2] / "docs"


def example(name: str) -> Any:
    """The shape of a command's answer as the page promises it."""
    text = (_DOCS / "json.md").read_text(encoding="utf-8").partition(f"\n## {name}\n")[2]
    found = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_a_fact_is_stored_as_the_owner_s_word_at_once(cli: Cli, vault: Vault) -> None:
    ran = cli("remember", "Ada", "prefers green tea", "--category", "Contact", "--tag", "drinks")
    assert (ran.code, ran.err) == (0, "")
    text = (vault.root / "Agent/Memory/contact.md").read_text()
    (memory_id,) = re.findall(r"\^(m-\w+)", text)
    assert "- Ada prefers green tea #drinks [importance:: 0.5] [source:: user]" in text
    assert "Ada prefers green tea" in ran.out and memory_id in ran.out


def test_a_fact_may_come_from_stdin(cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\ufeffTea\nat four".encode())))
    assert cli("remember", "-", "--json").data["text"] == "Tea at four"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9")))
    assert cli("remember", "-", "--json").error == "usage"


def test_the_answers_have_the_shapes_that_are_written_down(cli: Cli, notes: Vault) -> None:
    first = cli("remember", "Favourite editor is vim", "--json").data
    second = cli("remember", "Favourite editor is emacs", "--json").data
    assert (second["action"], second["other"]["id"]) == ("supersede", first["id"])
    assert second.keys() == example("remember").keys()
    assert second["other"].keys() == example("remember")["other"].keys()
    recalled = cli("recall", "editor", "--json").data
    assert recalled.keys() == example("recall").keys()
    assert recalled["memories"][0].keys() == example("recall")["memories"][0].keys()
    assert [one["text"] for one in recalled["memories"]] == ["Favourite editor is emacs"]
    forgotten = cli("forget", second["id"], "--json").data
    assert forgotten.keys() == example("forget").keys()


def test_what_was_said_instead_of_what_is_told(cli: Cli) -> None:
    cli("remember", "Favourite editor is vim")
    ran = cli("remember", "Favourite editor is emacs")
    assert "emacs" in ran.out and "vim" in ran.out


def test_third_party_text_waits_and_the_way_to_it_is_told(cli: Cli) -> None:
    ran = cli("remember", "The moon is cheese", "--source", "web")
    assert ran.code == 0
    assert "inbox" in ran.out + ran.err


def test_recall_makes_the_first_index_and_shows_memories_before_notes(cli: Cli, notes: Vault) -> None:
    cli("remember", "Ada drinks green tea at four")
    ran = cli("recall", "green tea")
    assert ran.code == 0
    assert ran.out.index("Ada drinks") < ran.out.index("70 degrees")


def test_recall_without_an_index_says_what_was_not_looked_at(cli: Cli, notes: Vault) -> None:
    cli("remember", "Ada drinks green tea at four")
    data = cli("recall", "green tea", "--no-sync", "--json").data
    assert [one["text"] for one in data["memories"]] == ["Ada drinks green tea at four"]
    assert (data["passages"], len(data["notices"])) == ([], 1)


def test_nothing_found_is_said_and_no_failure(cli: Cli, indexed: Vault) -> None:
    ran = cli("recall", "xyzzy", "plugh")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("nothing is known about 'xyzzy plugh'; ")


def test_nothing_found_differs_from_not_looked_everywhere(cli: Cli, notes: Vault) -> None:
    ran = cli("recall", "xyzzy", "--no-sync")
    assert ran.code == 0
    assert "in what could be looked at" in ran.err


def test_what_is_forgotten_can_be_brought_back(cli: Cli, vault: Vault) -> None:
    done = cli("remember", "Likes tea", "--json").data
    gone = cli("forget", done["id"], "--json").data
    assert "Likes tea" not in (vault.root / done["path"]).read_text()
    assert cli("undo", gone["revision"]).code == 0
    assert "Likes tea" in (vault.root / done["path"]).read_text()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["remember", "x", "--category", "nonsense"], "usage"),
        (["remember", "x", "--importance", "7"], "usage"),
        (["remember", " "], "usage"),
        (["remember", "x", "--source", "nobody"], "usage"),
        (["recall", " "], "usage"),
        (["recall", "tea", "-k", "0"], "usage"),
        (["forget", "m-nothing"], "not_found"),
    ],
)
def test_mistakes_have_their_codes(cli: Cli, words: list[str], code: str) -> None:
    ran = cli(*words, "--json")
    assert ran.code != 0
    assert ran.error == code


def test_a_note_can_t_move_the_cursor_of_whoever_recalls(cli: Cli, vault: Vault) -> None:
    vault.write("Agent/Memory/fact.md", "- evil \x1b[2J tea ^m-1\n")
    assert "\x1b[2J" not in cli("recall", "tea", "--no-sync").out
