"""`hindbrain openclaw uninstall`: what was there before is there again, and what came since stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from claw_bench import FILES, PLAIN, Claw

from hindbrain.base.config import load_config
from hindbrain.edge.mcp.json5_edit import read_members, set_member
from hindbrain.edge.settings_file import change_settings
from workbench import Vault

FORMS = ((), ("--beside",), ("--mcp",))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", FILES)
def test_the_file_is_byte_for_byte_what_it_was(claw: Claw, kind: str, form: tuple[str, ...]) -> None:
    before = claw.write(FILES[kind])
    claw.install(*form)
    assert claw.file.read_bytes() != before
    done = claw("uninstall", "--json")
    assert (done.code, done.data["exact"]) == (0, True)
    assert claw.file.read_bytes() == before
    assert not claw.copy.parent.exists() or list(claw.copy.parent.iterdir()) == []


@pytest.mark.parametrize("kind", FILES)
def test_after_an_upgrade_and_two_forms_it_is_still_what_it_was(claw: Claw, kind: str) -> None:
    before = claw.write(FILES[kind])
    claw.install("--beside")
    claw.install()
    claw.install("--vault", str(claw.home))  # another vault: a second edit of ours
    assert claw("uninstall").code == 0
    assert claw.file.read_bytes() == before


@pytest.mark.parametrize("kind", FILES)
def test_what_others_changed_meanwhile_stays_and_ours_goes(claw: Claw, kind: str) -> None:
    before = read_members(claw.write(FILES[kind]).decode())
    claw.install()
    text = claw.file.read_text(encoding="utf-8")
    claw.file.write_text(set_member(text, ("logging",), {"level": "debug"}), encoding="utf-8")
    done = claw("uninstall", "--json").data
    assert (done["exact"], done["left"]) == (False, [])
    assert claw.members == {**before, "logging": {"level": "debug"}}


def test_a_word_of_ours_that_the_owner_changed_is_left_and_told(claw: Claw) -> None:
    claw.install()
    path = ("plugins", "entries", "hindbrain", "config")
    text = set_member(claw.file.read_text(encoding="utf-8"), (*path, "baseUrl"), "http://127.0.0.1:9")
    claw.file.write_text(set_member(text, (*path, "maxResults"), 9), encoding="utf-8")
    done = claw("uninstall", "--json").data
    assert [one["where"] for one in done["left"]] == [".".join((*path, "baseUrl"))]
    plugins = {"entries": {"hindbrain": {"config": {"baseUrl": "http://127.0.0.1:9", "maxResults": 9}}}}
    assert claw.members["plugins"] == plugins


def test_the_slot_goes_back_to_whom_it_was_taken_from(claw: Claw) -> None:
    claw.write(FILES["slot taken"])
    claw.install()
    claw.file.write_text(set_member(claw.file.read_text(encoding="utf-8"), ("a",), 1), encoding="utf-8")
    claw("uninstall")
    assert claw.members["plugins"]["slots"] == {"memory": "memory-lancedb"}


def test_a_slot_that_another_plugin_has_taken_since_is_left_to_it(claw: Claw) -> None:
    claw.install()
    claw.file.write_text(
        set_member(claw.file.read_text(encoding="utf-8"), ("plugins", "slots", "memory"), "memory-lancedb"),
        encoding="utf-8",
    )
    claw("uninstall")
    assert claw.members["plugins"] == {"slots": {"memory": "memory-lancedb"}}


def test_words_that_the_owner_had_set_before_stay(claw: Claw) -> None:
    before = read_members(claw.write(FILES["our words"]).decode())
    claw.install()
    assert claw.entry["config"]["maxResults"] == 8
    claw.file.write_text(set_member(claw.file.read_text(encoding="utf-8"), ("a",), 1), encoding="utf-8")
    claw("uninstall")
    assert claw.members == {**before, "a": 1}


def test_without_the_backup_it_is_taken_back_member_by_member(claw: Claw) -> None:
    before = read_members(PLAIN)
    Path(claw.install()["backup"]).unlink()
    assert claw("uninstall", "--json").data["exact"] is False
    assert claw.members == before


def test_a_file_that_was_not_there_is_not_there_again(claw: Claw) -> None:
    claw.file.unlink()
    claw.install()
    claw("uninstall")
    assert not claw.file.exists()


def test_an_empty_file_is_empty_again(claw: Claw) -> None:
    claw.write("")
    claw.install()
    claw("uninstall")
    assert claw.file.read_bytes() == b""


def test_without_a_record_what_is_plainly_ours_goes(claw: Claw) -> None:
    claw.write(FILES["allow list"])
    claw.install()
    (claw.state / "openclaw" / "installed.json").unlink()
    assert claw("uninstall").code == 0
    plugins = claw.members["plugins"]
    assert plugins["allow"] == ["memory-core", "browser"]
    assert (plugins["slots"], plugins["entries"], plugins["load"]) == ({}, {}, {"paths": []})


def test_a_record_that_can_not_be_read_is_told_and_nothing_is_touched(claw: Claw) -> None:
    claw.install()
    (claw.state / "openclaw" / "installed.json").write_text("{", encoding="utf-8")
    assert claw.refused("uninstall")[0] == "config"


def test_where_nothing_is_installed_nothing_happens(claw: Claw) -> None:
    before = claw.traces()
    done = claw("uninstall")
    assert (done.code, claw.traces()) == (0, before)
    assert "nothing of ours" in done.out


def test_a_dry_run_changes_nothing(claw: Claw) -> None:
    claw.install()
    before = claw.traces()
    assert claw("uninstall", "--dry-run").code == 0
    assert claw.traces() == before


def config_file() -> Path:
    return Path(os.environ["HINDBRAIN_CONFIG"])


@pytest.mark.parametrize("text", ["", "# mine\n[chunk]\ntokens = 300\n", '[vault]\nexclude = ["old"]\n'])
def test_our_settings_are_what_they_were_and_the_token_is_gone(claw: Claw, text: str) -> None:
    config_file().parent.mkdir()
    config_file().write_text(text, encoding="utf-8")
    write_words(claw, {"excludeFolders": ["4-Archive"], "flushTags": ["claw"]})
    claw.install()
    assert load_config().list("vault.exclude") == ("4-Archive",)
    assert (claw.state / "service-token").exists()
    planned = claw("uninstall", "--dry-run", "--json").data["settings"]
    assert {one["name"] for one in planned} == {"vault.exclude", "flush.tags", "vault.path", "service.port"}
    done = claw("uninstall", "--json").data
    assert done["settings"] == planned
    assert config_file().read_text(encoding="utf-8") == text
    assert not (claw.state / "service-token").exists()


def write_words(claw: Claw, words: dict[str, object]) -> None:
    path = ("plugins", "entries", "hindbrain", "config")
    claw.write(set_member(PLAIN, path, words))


def test_a_setting_that_was_changed_since_stays_and_is_told(claw: Claw) -> None:
    write_words(claw, {"excludeFolders": ["4-Archive"]})
    claw.install()
    change_settings(config_file(), {"vault.exclude": ("other",)})
    done = claw("uninstall", "--json").data
    assert load_config().list("vault.exclude") == ("other",)
    assert any("vault.exclude" in what for what in done["stays"])
    assert load_config().text("vault.path") == ""


def test_of_two_installations_the_last_one_gives_the_settings_back(claw: Claw) -> None:
    claw.install()
    change_settings(config_file(), {"service.port": None})
    claw.install("--beside")  # sets it again
    claw("uninstall")
    assert config_file().read_text(encoding="utf-8") == ""


def test_what_stays_is_named(claw: Claw, vault: Vault) -> None:
    write_words(claw, {"maxResults": 8, "targetFolder": "Claw"})
    claw.install()
    for words in (("--dry-run",), ()):
        done = claw("uninstall", "--json", *words).data
        assert any("plugins.entries.hindbrain" in what and "maxResults" in what for what in done["stays"])
        assert any(str(vault.root / "Claw") in what for what in done["stays"])
    claw.install()
    assert "maxResults" in claw("uninstall").err


def test_a_port_that_the_owner_had_set_stays(claw: Claw) -> None:
    config = Path(os.environ["HINDBRAIN_CONFIG"])
    config.parent.mkdir()
    config.write_text("[service]\nport = 28739\n", encoding="utf-8")
    claw.install()
    claw("uninstall")
    assert load_config().number("service.port") == 28739
    assert (claw.state / "service-token").exists()  # others are served there


def test_two_profiles_share_the_plugin_until_both_are_gone(claw: Claw) -> None:
    other = claw.home / ".openclaw-work" / "openclaw.json"
    other.parent.mkdir()
    other.write_text(PLAIN, encoding="utf-8")
    claw.install()
    claw.install("--profile", "work")
    claw("uninstall")
    assert claw.file.read_text(encoding="utf-8") == PLAIN
    assert claw.copy.is_dir()
    assert load_config().number("service.port") != 0
    claw("uninstall", "--profile", "work")
    assert other.read_text(encoding="utf-8") == PLAIN
    assert not claw.copy.exists()
    assert load_config().number("service.port") == 0
    assert not (claw.state / "service-token").exists()


def test_a_crash_before_the_file_was_written_leaves_nothing_to_take_back(
    claw: Claw, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = claw.file.read_bytes()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hindbrain.edge.openclaw.installing.write_file", killed)
    assert claw("install", "--no-start").code == 130
    monkeypatch.undo()
    assert claw("status", "--json").data["installed"] is None
    assert claw("uninstall").code == 0
    assert claw.file.read_bytes() == before
