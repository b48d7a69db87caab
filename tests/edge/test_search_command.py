"""`hindbrain search`: answers, filters, silence, and what bad input does."""

from __future__ import annotations

from contextlib import closing

import pytest

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from workbench import Vault


def test_a_hit_shows_where_it_stands_and_what_it_says(cli: Cli, indexed: Vault) -> None:
    ran = cli("search", "carrots", "onions")
    assert ran.code == 0
    head, body = ran.out.splitlines()[:2]
    assert "plan > Beds" in head and "Projects/Garden/plan.md:" in head
    assert body.strip() == "Carrots beside onions."
    assert "hit" in ran.err and "hybrid" in ran.err and "index" in ran.err


def test_a_pipe_gets_no_escape_codes(cli: Cli, indexed: Vault) -> None:
    assert "\x1b" not in cli("search", "tea", "--explain").out


def test_the_reasons_are_shown_only_when_asked_for(cli: Cli, indexed: Vault) -> None:
    assert "why:" not in cli("search", "tea").out
    assert "why:" in cli("search", "tea", "--explain").out


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["--folder", "Archive"], {"Archive/plan.md"}),
        (["--tag", "drink"], {"Tea.md"}),
        (["--tag", "drink", "--tag", "absent"], set()),
        (["--para", "project"], {"Projects/Garden/plan.md"}),
        (["--area", "garden"], {"Projects/Garden/plan.md"}),
        (["--since", "2024-01-01", "--until", "2024-12-31"], {"Archive/plan.md"}),
        (["--since", "May 2024", "--until", "May 2024"], {"Archive/plan.md"}),
        (["--type", "recipe"], set()),
    ],
)
def test_filters_keep_what_they_say(cli: Cli, indexed: Vault, options: list[str], paths: set[str]) -> None:
    hits = cli("search", "plan", "tea", "--json", *options).data["hits"]
    assert {hit["path"] for hit in hits} == paths


def test_at_most_k_hits_and_one_a_note(cli: Cli, indexed: Vault) -> None:
    assert len(cli("search", "plan", "-k", "1", "--json").data["hits"]) == 1
    paths = [hit["path"] for hit in cli("search", "plan", "--json").data["hits"]]
    assert len(paths) == len(set(paths))


def test_how_many_hits_is_a_setting(cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_SEARCH_K", "2")
    assert len(cli("search", "plan", "--json").data["hits"]) == 2


def test_nothing_found_is_no_error_and_says_where_it_looked(cli: Cli, indexed: Vault) -> None:
    ran = cli("search", "xylophone", "--keyword")
    assert (ran.code, ran.out) == (0, "")
    assert "4 notes" in ran.err and "index" in ran.err
    data = cli("search", "xylophone", "--keyword", "--json")
    assert (data.code, data.data["hits"]) == (0, [])


@pytest.mark.parametrize(
    "options",
    [
        ["-k", "0"],
        ["-k", "1001"],
        ["--since", "soonish"],
        ["--until", "2026-13-01"],
        ["--profile", "astrology"],
        ["--para", "galaxy"],
        ["--diversity", "2"],
    ],
)
def test_a_value_that_makes_no_sense_is_a_usage_error(cli: Cli, indexed: Vault, options: list[str]) -> None:
    ran = cli("search", "tea", "--json", *options)
    assert (ran.code, ran.error) == (2, "usage")


@pytest.mark.parametrize("query", ["", "   ", "\t"])
def test_an_empty_query_is_a_usage_error(cli: Cli, indexed: Vault, query: str) -> None:
    assert cli("search", query, "--json").error == "usage"


@pytest.mark.parametrize(
    "query",
    [
        '"', '"tea', "tea AND", "NOT tea", "tea NEAR(plan, 2)", "title: tea", "tea*", "(tea", "^tea",
        "tea'; --x", "-- -", "\\", "%", "茶", "🍵",
        "\x00", "a" * 5_000, "tea OR OR", '"" ""', "{tea}", "+tea -plan",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["--keyword", "--semantic"])
def test_no_query_is_too_odd(cli: Cli, indexed: Vault, query: str, mode: str) -> None:
    ran = cli("search", mode, "--json", "--", query)
    assert ran.code == 0
    assert "hits" in ran.data


def test_the_first_search_makes_the_index(cli: Cli, notes: Vault) -> None:
    ran = cli("search", "turnips")
    assert ran.code == 0
    assert "Archive/plan.md" in ran.out
    assert "first time" in ran.err


def test_the_first_search_can_be_told_not_to(cli: Cli, notes: Vault) -> None:
    ran = cli("search", "turnips", "--no-sync", "--json")
    assert (ran.code, ran.error) == (1, "index_missing")


def test_an_empty_vault_finds_nothing(cli: Cli, vault: Vault) -> None:
    ran = cli("search", "tea")
    assert (ran.code, ran.out) == (0, "")
    assert "0 notes" in ran.err


def test_a_search_takes_in_what_is_new_unless_it_is_told_not_to(cli: Cli, indexed: Vault) -> None:
    indexed.write("New.md", "# New\n\nRutabaga.\n")
    assert cli("search", "rutabaga", "--keyword", "--no-sync", "--json").data["hits"] == []
    assert [hit["path"] for hit in cli("search", "rutabaga", "--keyword", "--json").data["hits"]] == [
        "New.md"
    ]


@pytest.mark.promise("P29")
def test_an_embedder_that_is_down_is_told_and_words_are_searched(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "ollama")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_BASE_URL", "http://127.0.0.1:9")
    ran = cli("search", "carrots")
    assert ran.code == 0
    assert "Projects/Garden/plan.md" in ran.out
    assert "warning:" in ran.err and "keyword" in ran.err


@pytest.mark.promise("P29")
def test_a_damaged_index_is_an_error_that_names_the_remedy(cli: Cli, indexed: Vault) -> None:
    from damage import index_file

    index_file(cli).write_bytes(b"this is no database" * 400)
    ran = cli("search", "tea", "--json")
    assert (ran.code, ran.error) == (1, "index_damaged")
    assert "doctor --fix" in ran.data["error"]["message"]


def test_a_note_can_not_steer_the_terminal(cli: Cli, notes: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write("Evil.md", "# Evil\x1b]0;owned\x07\n\nClear \x1b[2J the \x9b31m gadolinium \u202e screen.\n")
    cli("sync")
    ran = cli("search", "gadolinium")
    assert "gadolinium" in ran.out
    assert not set(ran.out) & set("\x1b\x07\x9b\u202e")


def test_a_quoted_phrase_is_a_condition_at_every_door(cli: Cli, indexed: Vault) -> None:
    ran = cli("search", "-k", "2", '"purple elephants dance"')
    assert ran.code == 0 and ran.out == ""
    assert "no passage has the phrase" in ran.err and "without the quotes" in ran.err
    assert [hit["path"] for hit in cli("search", '"carrots beside"', "--json").data["hits"]] == [
        "Projects/Garden/plan.md"
    ]
    cli("remember", "The garden has carrots beside the shed")
    recalled = cli("recall", '"carrots beside the shed"', "--json").data
    assert len(recalled["memories"]) == 1 and recalled["passages"] == []
    none = cli("recall", '"carrots under the shed"', "--json").data
    assert none["memories"] == none["passages"] == [] and "phrase" in none["notices"][0]
    pack = cli("context", 'How hot is "green tea" brewed "in fact"?', "--json").data
    assert "brewed at 70 degrees" in pack["text"], "a prompt only prefers it"


def test_a_filter_that_nothing_can_pass_says_why(cli: Cli, indexed: Vault) -> None:
    ran = cli("search", "tea", "--since", "2025-06-01", "--until", "2025-01-01", "--json")
    assert (ran.code, ran.error) == (2, "usage")
    ran = cli("search", "tea", "--tag", "drinks")
    assert "no note has the tag #drinks" in ran.err and "#drink?" in ran.err
    hits = cli("search", "carrots", "--folder", "projects/garden", "--json").data["hits"]
    assert {hit["path"] for hit in hits} == {"Projects/Garden/plan.md"}


def test_an_index_that_is_behind_is_not_called_new(cli: Cli, indexed: Vault) -> None:
    indexed.write("Coffee.md", "# Coffee\n\nBlack.\n")
    ran = cli("search", "tea", "--no-sync", "--keyword")
    assert "index_behind" in ran.err and "just made" not in ran.err and "index synced 1 s ago" in ran.err


OWN_NOTE = """# Mine

Some prose about pnpm.

- ~~Prefers pnpm for JavaScript since the monorepo was split in two~~ [superseded:: ^m-0000bbbb] ^m-0000aaaa
  - said in the kitchen about pnpm, while the kettle boiled over
- Prefers bun over pnpm for JavaScript [importance:: 0.5] [cues:: packages, npm] #tools ^m-0000bbbb

~~All of pnpm~~ is struck out by its owner.
"""


def test_what_a_memory_said_before_is_no_hit_and_its_note_still_has_it(cli: Cli, vault: Vault) -> None:
    vault.write("Mine.md", OWN_NOTE)
    found = [hit["text"] for hit in cli("search", "pnpm JavaScript", "--passages", "--json").data["hits"]]
    assert not [text for text in found if "monorepo" in text or "kitchen" in text]
    assert [text for text in found if "~~All of pnpm~~" in text]  # no memory: it is the owner's sentence
    assert [text for text in found if "[cues:: packages, npm]" in text]
    with closing(build_app(load_config(), vault.root)) as app:
        told = call(app.memory, tool_named("vault_search"), {"query": "pnpm monorepo JavaScript"}).data
        texts = [hit["text"] for hit in told["hits"]]
        assert texts and not [text for text in texts if "kitchen" in text or "split in two" in text]
    assert "monorepo" in cli("read", "Mine.md").out


def test_a_memory_is_shown_as_a_sentence(cli: Cli, vault: Vault) -> None:
    vault.write("Mine.md", OWN_NOTE)
    shown = cli("search", "bun over pnpm", "--passages").out
    assert "    - Prefers bun over pnpm for JavaScript #tools\n" in shown
    assert "::" not in shown and "^m-" not in shown
