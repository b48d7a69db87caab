"""Whatever text comes in, a path is refused or stays in the vault."""

import contextlib
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import NotFound, UnsafePath, VaultError
from hindbrain.vault.paths import (
    check_existing_path,
    check_note_path,
    is_portable,
    read_note,
    resolve_beneath,
    same_note_key,
)

pytestmark = pytest.mark.promise("P15")

_PIECES = st.sampled_from(
    ["..", ".", "/", "\\", "%2e", "%2f", "%5c", "%25", "%c0%ae", "%u2215", "．", "／", "‥", "\u200c",
     " ", ":", "C:",     "~1", ".git", ".hindbrain", "NUL", "a", "é", "e\u0301", "\0", ".md", "link", "out"]
)  # fmt: skip
HOSTILE = st.one_of(st.lists(_PIECES, min_size=1, max_size=9).map("".join), st.text(max_size=40))


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    base = tmp_path_factory.mktemp("properties")
    root = base / "vault"
    (root / "a").mkdir(parents=True)
    (base / "out").mkdir()
    (base / "out" / "a.md").write_text("outside", encoding="utf-8")
    if os.name != "nt":
        (root / "out").symlink_to(base / "out")
        (root / "link").symlink_to("a")
        (root / "a" / "link").symlink_to("../..")
    return root


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(raw=HOSTILE)
def test_every_path_is_refused_or_lies_in_the_vault(vault, raw):
    for check in (check_note_path, check_existing_path):
        try:
            path = check(raw)
            real = resolve_beneath(vault, path)
        except UnsafePath:
            continue
        assert real.is_relative_to(os.path.realpath(vault))
        with contextlib.suppress(NotFound, VaultError):
            assert read_note(vault, path) != b"outside"


@settings(max_examples=300, deadline=None)
@given(raw=HOSTILE)
def test_checking_twice_changes_nothing(raw):
    try:
        path = check_note_path(raw)
    except UnsafePath:
        return
    assert check_note_path(path) == check_existing_path(path) == path == unicodedata.normalize("NFC", raw)
    assert is_portable(path)
    assert not Path(path).is_absolute()


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30))
def test_the_key_is_the_same_for_every_form_and_case(text):
    key = same_note_key(text)
    assert same_note_key(key) == key
    for form in ("NFC", "NFD"):
        assert same_note_key(unicodedata.normalize(form, text)) == key
    assert same_note_key(text.casefold()) == key
