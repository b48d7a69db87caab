"""Which folder is the vault, and which vault it is."""

import os

from hindbrain.vault.discover import find_vault, has_marker, is_vault, path_id, vault_id


def test_the_nearest_marked_folder_is_the_vault(tmp_path):
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "x" / "inner"
    (inner / "deep" / "er").mkdir(parents=True)
    (outer / ".obsidian").mkdir()
    (inner / ".hindbrain").mkdir()
    real = inner.resolve()
    assert find_vault(inner / "deep" / "er") == real
    assert find_vault(inner) == real
    assert find_vault(outer / "x") == outer.resolve()


def test_a_file_named_like_a_marker_marks_nothing(tmp_path):
    (tmp_path / ".obsidian").write_text("", encoding="utf-8")
    assert not has_marker(tmp_path)


def test_without_a_marker_there_is_no_vault(tmp_path):
    found = find_vault(tmp_path)
    assert found is None or not found.is_relative_to(tmp_path)


def test_the_given_id_is_used(tmp_path):
    (tmp_path / ".hindbrain").mkdir()
    (tmp_path / ".hindbrain" / "vault-id").write_text("v-123\n", encoding="utf-8")
    assert vault_id(tmp_path) == "v-123"
    assert is_vault(tmp_path, "v-123")
    assert not is_vault(tmp_path, "v-124")


def test_an_id_that_could_lead_elsewhere_is_not_used(tmp_path):
    (tmp_path / ".hindbrain").mkdir()
    for text in ("../../x", "a/b", "", "x" * 500, "é"):
        (tmp_path / ".hindbrain" / "vault-id").write_text(text, encoding="utf-8")
        assert vault_id(tmp_path) == path_id(tmp_path)


def test_without_an_id_the_place_decides_however_it_is_written(tmp_path, monkeypatch):
    vault = tmp_path / "vault"
    vault.mkdir()
    monkeypatch.chdir(tmp_path)
    assert vault_id(vault) == vault_id(vault / ".." / "vault") == vault_id(type(vault)("vault"))
    assert vault_id(vault) != vault_id(tmp_path)
    if os.name != "nt":
        (tmp_path / "link").symlink_to(vault)
        assert vault_id(tmp_path / "link") == vault_id(vault)


def test_the_id_of_the_place_still_holds_once_an_id_was_given(tmp_path):
    before = vault_id(tmp_path)
    (tmp_path / ".hindbrain").mkdir()
    (tmp_path / ".hindbrain" / "vault-id").write_text("v-1", encoding="utf-8")
    assert vault_id(tmp_path) == "v-1"
    assert is_vault(tmp_path, before)
