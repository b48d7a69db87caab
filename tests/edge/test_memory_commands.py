"""`hindbrain remember`, `recall` and `forget`, as they are typed."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import Stage

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
    text = (vault.root / "Agent/Memory/contact.md").read_text(encoding="utf-8")
    (memory_id,) = re.findall(r"\^(m-\w+)", text)
    assert "- Ada prefers green tea #drinks [importance:: 0.5] [source:: user]" in text
    assert "Ada prefers green tea" in ran.out and memory_id in ran.out


def test_a_fact_may_come_from_stdin(cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO("\ufeffTea\nat four".encode()), encoding="utf-8")
    )
    assert cli("remember", "-", "--json").data["text"] == "Tea at four"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
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
    assert "Likes tea" not in (vault.root / done["path"]).read_text(encoding="utf-8")
    assert cli("undo", gone["revision"]).code == 0
    assert "Likes tea" in (vault.root / done["path"]).read_text(encoding="utf-8")


def test_words_that_one_memory_has_name_it(cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(monkeypatch)
    tea, both = (cli("remember", text, "--json").data for text in ("Likes green tea", "Drinks tea at five"))
    note = vault.root / tea["path"]

    ran = cli("forget", "TEA")
    assert ran.code == 1 and tea["id"] in ran.out and both["id"] in ran.out
    refused = cli("forget", "tea", "--json")
    assert refused.error == "ambiguous" and both["id"] in refused.data["error"]["message"]
    assert cli("forget", "no", "such", "thing", "--json").error == "not_found"

    stage.pipe(["y"])  # an agent that pipes a yes is no person
    assert cli("forget", "green", "--json").error == "refused"
    stage.person_types("n")
    ran = cli("forget", "green", "tea")
    assert ran.code == 1 and "Likes green tea" in ran.err
    assert "Likes green tea" in note.read_text(encoding="utf-8")

    stage.person_types("y")
    ran = cli("forget", "green", "tea")
    assert (ran.code, ran.out) == (0, "forgotten: Likes green tea\n")
    assert "Likes green tea" not in note.read_text(encoding="utf-8")
    assert cli("forget", "tea", "--yes", "--json").data["id"] == both["id"]
    assert cli("forget", "tea", "--yes", "--json").error == "not_found"


def test_a_memory_that_replaced_another_is_the_one_that_is_meant(cli: Cli, vault: Vault) -> None:
    vault.write(
        "Agent/Memory/fact.md",
        "- ~~The office is in Lyon~~ [superseded:: m-22222222] ^m-11111111\n"
        "- The office is in Nice ^m-22222222\n- Typed by hand about Oslo\n",
    )
    assert cli("forget", "office", "--yes", "--json").data["id"] == "m-22222222"
    assert cli("forget", "Oslo", "--yes", "--json").data["text"] == "Typed by hand about Oslo"
    assert "Oslo" not in (vault.root / "Agent/Memory/fact.md").read_text(encoding="utf-8")


def test_a_secret_beside_its_id_is_not_stored(cli: Cli, vault: Vault) -> None:
    key_id, secret = "AK" + "IAIOSFODNN7EXAMPLF", "wJalrXUtnFEMI/K7MDENG/bPxRfi" + "CYzzZ9aQkeyA"
    done = cli("remember", f"The backup bucket uses {key_id} / {secret} since May", "--json").data
    assert done["removed"] == ["aws access key", "aws secret key"]
    written = "".join(path.read_text(encoding="utf-8") for path in vault.root.rglob("*.md"))
    assert "since May" in written and secret not in written and key_id not in written


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


def test_decisions_stand_in_the_decision_log_with_their_day_and_their_reason(cli: Cli, vault: Vault) -> None:
    assert cli("init", str(vault.root)).code == 0
    log = next(vault.root.rglob("Decision Log.md"))
    vault.write(
        "Memory/decision.md",
        "- We decided to use Zig instead of C [created:: 2026-01-02] ^m-0ld0ld0x\n",
    )  # where decisions stood before there was a log of them
    said = "Chose SQLite over PostgreSQL because it needs no configuration"
    assert cli("remember", said, "--category", "decision").code == 0
    (line,) = [line for line in log.read_text(encoding="utf-8").split("\n") if "SQLite" in line]
    assert line.startswith(f"- {said} [") and "[created:: 2" in line and "^m-" in line
    found = [
        memory["text"]
        for memory in cli("recall", "which decision about SQLite or Zig", "--json").data["memories"]
    ]
    assert said in found
    # An agent appends no line there that would count as its owner's.
    assert "Zig" in (vault.root / "Memory/decision.md").read_text(encoding="utf-8")
    id_ = line.rpartition("^")[2]
    assert cli("forget", id_).code == 0
    assert "SQLite" not in log.read_text(encoding="utf-8")


def test_a_memory_that_is_only_a_secret_is_refused_and_else_is_kept_without_it(
    cli: Cli, vault: Vault
) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 4
    for text in (f"The api key is {key}", f"My OpenAI key: {key}", key):
        ran = cli("remember", text, "--json")
        assert (ran.code, ran.error) == (1, "refused") and key not in ran.out
    assert cli("recall", "api key", "--json").data["memories"] == []
    ran = cli("remember", f"The boat's weather station uses the api key {key}")
    assert ran.out.startswith("remembered without the secret (openai key): The boat's weather station")
    assert "not stored" not in ran.err and key not in ran.out + ran.err
