"""What OpenClaw's users say in their own words is taken over into our settings, by one table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from claw_bench import Claw

from hindbrain.base.config import SETTINGS, load_config
from hindbrain.edge.openclaw.plugin_copy import known_words
from hindbrain.edge.openclaw.words import FOLDER, ITSELF, WORDS, words_said, words_table
from workbench import Vault

OBSIDIAN = {
    "preserveLocal": True,
    "targetFolder": "2-Areas/Claw",
    "excludeFolders": [".obsidian", ".trash", "4-Archive"],
    "flushTags": ["#agent/memory", "auto-generated"],
    "embedding": {"provider": "ollama", "model": "nomic-embed-text", "dimensions": 768},
}


def in_plugin(words: dict[str, Any]) -> str:
    return json.dumps({"plugins": {"entries": {"hindbrain": {"config": words}}}}, indent=2)


def in_reference(words: dict[str, Any]) -> str:
    search = {"enabled": True, "provider": "obsidian", "obsidian": words}
    return json.dumps({"agents": {"defaults": {"memorySearch": search}}}, indent=2)


@pytest.fixture(autouse=True)
def no_provider_set(claw: Claw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HINDBRAIN_EMBEDDING_PROVIDER")


@pytest.mark.parametrize("where", [in_plugin, in_reference])
def test_each_word_is_taken_over_and_shown(claw: Claw, vault: Vault, where: Any) -> None:
    claw.write(where({**OBSIDIAN, "vaultPath": str(vault.root)}))
    done = claw.install()
    config = load_config()
    assert config.list("vault.exclude") == ("4-Archive",)
    assert config.text("embedding.provider") == "ollama"
    assert config.text("embedding.model") == "nomic-embed-text"
    assert config.number("embedding.dimension") == 768
    assert config.text("vault.path") == str(vault.root)
    assert claw.entry["config"]["preserveLocal"] is True
    shown = {one["name"]: one for one in done["settings"]}
    assert shown["embedding.model"]["before"] == ""
    assert "embedding.model" in shown["embedding.model"]["why"]
    assert done["folder"] == "2-Areas/Claw"
    assert 'folder = "2-Areas/Claw"' in (vault.root / ".hindbrain" / "layout.toml").read_text(
        encoding="utf-8"
    )
    again = claw("install", "--no-start")
    assert "already" in again.out


def test_the_plugin_s_own_settings_go_before_the_others(claw: Claw) -> None:
    members = json.loads(in_reference({"excludeFolders": ["A"], "flushTags": ["x"]}))
    said = {one.word.name: one.ours for one in words_said(members, {"excludeFolders": ["B"]})}
    assert said == {"excludeFolders": ("B",), "flushTags": ("x",)}


def test_a_vault_of_ours_is_not_exchanged_for_everybody(claw: Claw, vault: Vault, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    config = Path(os.environ["HINDBRAIN_CONFIG"])
    config.parent.mkdir()
    config.write_text(f"[vault]\npath = '{vault.root}'\n", encoding="utf-8")
    claw.write(in_plugin({"vaultPath": str(other)}))
    assert claw.install()["vault"] == str(other)
    assert load_config().text("vault.path") == str(vault.root)
    assert claw.entry["config"]["vaultPath"] == str(other)


def test_a_vault_that_has_a_layout_keeps_it_and_the_way_is_told(claw: Claw, vault: Vault) -> None:
    claw.write(in_plugin({"targetFolder": "2-Areas/Claw"}))
    claw.install()
    before = (vault.root / ".hindbrain" / "layout.toml").read_bytes()
    claw.write(in_plugin({"targetFolder": "Elsewhere"}))
    done = claw.install()
    assert any("--folder 'Elsewhere' --switch" in note for note in done["notes"])
    assert (vault.root / ".hindbrain" / "layout.toml").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        {"excludeFolders": "4-Archive"},
        {"excludeFolders": [1]},
        {"embedding": {"provider": "llama"}},
        {"embedding": {"model": "/models/nomic.gguf"}},
        {"embedding": {"dimensions": "768"}},
        {"embedding": {"dimensions": True}},
        {"preserveLocal": "yes"},
        {"vaultPath": 3},
        {"targetFolder": "../out"},
    ],
)
def test_a_value_that_can_not_be_used_is_told_and_not_taken(claw: Claw, words: dict[str, Any]) -> None:
    claw.write(in_reference(words))
    done = claw.install()
    assert any(next(iter(words)) in note for note in done["notes"])
    names = {one["name"] for one in done["settings"]}
    assert names <= {"vault.path", "service.port"}


def test_a_setting_of_the_environment_is_told_and_left(claw: Claw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    claw.write(in_plugin({"embedding": {"provider": "local"}}))
    done = claw.install()
    assert "embedding.provider" not in {one["name"] for one in done["settings"]}
    assert any("environment" in note for note in done["notes"])


def test_the_table_names_settings_that_are_there_and_words_that_the_plugin_takes() -> None:
    settings = {setting.name for setting in SETTINGS}
    taken = known_words("slot")
    for word in WORDS:
        assert word.setting in (FOLDER, ITSELF) or word.setting in settings
        assert word.name.partition(".")[0] in taken


def test_the_docs_table_has_a_row_for_each_word() -> None:
    rows = words_table().splitlines()
    assert len(rows) == len(WORDS) + 2
    assert all(f"`{word.name}`" in row for word, row in zip(WORDS, rows[2:], strict=True))
