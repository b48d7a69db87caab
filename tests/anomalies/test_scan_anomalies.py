"""Nothing is deleted because it could not be seen."""

import os
import shutil
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.vault.discover import vault_id
from hindbrain.vault.ignore import make_rules
from hindbrain.vault.paths import NotePath
from hindbrain.vault.scan import FileStamp, ScannedFile, ScanResult, missing, scan

RULES = make_rules()
NOTES = [f"{folder}/{number}.md" for folder in ("a", "b", "c/d") for number in range(10)]

pytestmark = pytest.mark.promise("P8")
posix_only = pytest.mark.skipif(os.name == "nt", reason="needs symlinks")


@pytest.fixture
def vault(tmp_path):
    root = tmp_path / "vault"
    for path in NOTES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")
    return root


def stamps(result):
    return {file.path: file.stamp for file in result.files}


def fail_on(monkeypatch, function, victim, error):
    """Let one os function fail for one path, as a bad disk or a missing right would."""
    real = getattr(os, function)

    def failing(path, *args, **kwargs):
        if os.fspath(path).rstrip("/") == str(victim):
            raise error
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, function, failing)


def test_an_empty_mount_point_deletes_nothing(vault):
    known = stamps(scan(vault, RULES))
    shutil.rmtree(vault)
    vault.mkdir()
    result = scan(vault, RULES, known)
    assert (result.root_ok, result.suspicious) == (False, "empty")
    for confirm in (False, True):
        outcome = missing(known, result, confirm=confirm)
        assert not outcome.to_remove
        assert len(outcome.unseen) == len(known)


def test_an_empty_vault_that_never_had_notes_is_fine(tmp_path):
    assert scan(tmp_path, RULES, {}).root_ok


def test_another_vault_in_the_same_place_deletes_nothing(vault):
    (vault / ".hindbrain").mkdir()
    (vault / ".hindbrain" / "vault-id").write_text("v-1", encoding="utf-8")
    expected = vault_id(vault)
    known = stamps(scan(vault, RULES, expect_id=expected))
    shutil.rmtree(vault / "a")
    for change in (lambda file: file.write_text("v-2", encoding="utf-8"), lambda file: file.unlink()):
        change(vault / ".hindbrain" / "vault-id")
        result = scan(vault, RULES, known, expect_id=expected)
        assert result.suspicious == "not_the_vault"
        assert not missing(known, result, confirm=True).to_remove


def test_a_vault_that_lost_its_marker_deletes_nothing(vault):
    (vault / ".obsidian").mkdir()
    before = scan(vault, RULES)
    assert before.has_marker
    (vault / ".obsidian").rmdir()
    (vault / "a" / "0.md").unlink()
    result = scan(vault, RULES, stamps(before), expect_marker=before.has_marker)
    assert result.suspicious == "not_the_vault"
    assert not missing(stamps(before), result).deleted


def test_a_root_that_is_swapped_during_the_walk_deletes_nothing(vault, monkeypatch):
    known = stamps(scan(vault, RULES))
    real = os.scandir

    def unmounting(path):
        if os.fspath(path).endswith("c/"):
            vault.rename(vault.with_name("elsewhere"))
            vault.mkdir()
        return real(path)

    monkeypatch.setattr(os, "scandir", unmounting)
    result = scan(vault, RULES, known)
    assert result.suspicious == "not_the_vault"
    assert not missing(known, result).to_remove


@pytest.mark.parametrize(
    "error", [PermissionError(13, "denied"), OSError(5, "I/O error"), OSError(116, "stale")]
)
def test_a_folder_that_cannot_be_read_hides_its_notes_and_deletes_none(vault, monkeypatch, error):
    known = stamps(scan(vault, RULES))
    (vault / "a" / "0.md").unlink()
    fail_on(monkeypatch, "scandir", vault / "c", error)
    result = scan(vault, RULES, known)
    assert result.unseen_dirs == ("c",)
    assert [(item.path, item.reason) for item in result.skipped] == [("c", "unreadable")]
    outcome = missing(known, result)
    assert outcome.deleted == ("a/0.md",)
    assert outcome.unseen == tuple(f"c/d/{number}.md" for number in range(10))


def test_a_root_that_cannot_be_read_deletes_nothing(vault, monkeypatch):
    known = stamps(scan(vault, RULES))
    fail_on(monkeypatch, "scandir", vault.resolve(), PermissionError(13, "denied"))
    result = scan(vault, RULES, known)
    assert (result.root_ok, result.suspicious) == (False, "unreadable")
    assert not missing(known, result, confirm=True).to_remove


@posix_only
def test_a_note_that_may_not_be_read_is_unseen(vault, monkeypatch):
    known = stamps(scan(vault, RULES))
    (vault / "a" / "0.md").chmod(0)
    monkeypatch.setattr(os, "access", lambda path, _mode: not os.fspath(path).endswith("a/0.md"))
    result = scan(vault, RULES, known)
    assert missing(known, result).unseen == ("a/0.md",)
    assert not missing(known, result).to_remove


@posix_only
def test_a_symlink_to_a_disk_that_is_gone_deletes_nothing(vault, tmp_path):
    known = stamps(scan(vault, RULES))
    shutil.rmtree(vault / "b")
    (vault / "b").symlink_to(tmp_path / "unmounted")
    outcome = missing(known, scan(vault, RULES, known))
    assert not outcome.to_remove
    assert len(outcome.unseen) == 10


@posix_only
def test_a_folder_that_vanishes_while_links_are_followed_does_not_stop_the_scan(vault, monkeypatch):
    known = stamps(scan(vault, RULES))
    (vault / "link").symlink_to("a")
    fail_on(monkeypatch, "stat", vault.resolve() / "b", FileNotFoundError(2, "gone"))
    result = scan(vault, RULES, known)
    assert [(item.path, item.reason) for item in result.skipped] == [("link", "duplicate_link")]
    assert not missing(known, result).to_remove


def test_a_disk_mounted_inside_the_vault_that_comes_off_deletes_nothing(vault):
    known = {
        path: replace(stamp, dev=stamp.dev + 1) if path.startswith("b/") else stamp
        for path, stamp in stamps(scan(vault, RULES)).items()
    }
    for number in range(10):
        (vault / "b" / f"{number}.md").unlink()
    outcome = missing(known, scan(vault, RULES, known))
    assert not outcome.to_remove
    assert len(outcome.unseen) == 10


def test_a_note_that_is_in_the_cloud_is_unseen(vault):
    known = stamps(scan(vault, RULES))
    (vault / "a" / "0.md").rename(vault / "a" / ".0.md.icloud")
    result = scan(vault, RULES, known)
    assert [(item.path, item.reason) for item in result.skipped] == [("a/0.md", "placeholder")]
    assert missing(known, result).unseen == ("a/0.md",)


def test_flags_for_content_in_the_cloud_are_understood():
    from hindbrain.vault import scan as module

    class Status:
        st_flags = 0
        st_file_attributes = 0

    assert not module._is_away(cast("os.stat_result", Status()))
    for name, value in (
        ("st_flags", 0x40000000),
        ("st_file_attributes", 0x400000),
        ("st_file_attributes", 0x1000),
    ):
        status = Status()
        setattr(status, name, value)
        assert module._is_away(cast("os.stat_result", status))


def test_a_note_that_was_emptied_this_minute_is_unseen_and_then_believed(vault):
    known = stamps(scan(vault, RULES))
    note = vault / "a" / "0.md"
    note.write_text("", encoding="utf-8")
    os.utime(note, (1_000_000, 1_000_000))  # sync tools set the old time at once
    emptied = note.stat().st_ctime
    early = scan(vault, RULES, known, now=emptied + 30)
    assert [(item.path, item.reason) for item in early.skipped] == [("a/0.md", "truncated")]
    assert missing(known, early).unseen == ("a/0.md",)
    late = scan(vault, RULES, known, now=emptied + 90)
    assert stamps(late)["a/0.md"].size == 0
    assert "a/0.md" in stamps(scan(vault, RULES, {}, now=emptied))


def test_a_few_real_deletions_are_taken(vault):
    known = stamps(scan(vault, RULES))
    for number in range(4):
        (vault / "a" / f"{number}.md").unlink()
    outcome = missing(known, scan(vault, RULES, known))
    assert not outcome.frozen
    assert outcome.to_remove == tuple(f"a/{number}.md" for number in range(4))


def test_a_deleted_folder_freezes_until_a_person_confirms(vault):
    known = stamps(scan(vault, RULES))
    shutil.rmtree(vault / "a")
    result = scan(vault, RULES, known)
    frozen = missing(known, result)
    assert frozen.frozen
    assert len(frozen.deleted) == 10
    assert not frozen.to_remove
    assert len(missing(known, result, confirm=True).to_remove) == 10


def test_a_folder_that_was_moved_is_not_a_deletion(vault):
    known = stamps(scan(vault, RULES))
    (vault / "a").rename(vault / "z")
    outcome = missing(known, scan(vault, RULES, known))
    if not known[NotePath("a/0.md")].inode:
        pytest.skip("this system gives no file numbers in a listing")
    assert not outcome.frozen
    assert not outcome.deleted
    assert outcome.moved == tuple((f"a/{number}.md", f"z/{number}.md") for number in range(10))


def test_what_a_rule_leaves_out_is_excluded_and_does_not_freeze(vault):
    known = stamps(scan(vault, RULES))
    outcome = missing(known, scan(vault, make_rules(["c"]), known))
    assert not outcome.frozen
    assert not outcome.deleted
    assert len(outcome.excluded) == len(outcome.to_remove) == 10


def result_without(known, gone):
    files = tuple(ScannedFile(path, stamp, path) for path, stamp in sorted(known.items()) if path not in gone)
    return ScanResult(root_ok=True, files=files)


def known_notes(count):
    return {NotePath(f"{number:04}.md"): FileStamp(1, 1, number + 1, 1) for number in range(count)}


@pytest.mark.parametrize(
    ("total", "gone", "frozen"),
    [(1, 1, False), (2, 1, False), (2, 2, True), (3, 1, False), (4, 4, True), (10, 4, False), (20, 5, True),
     (25, 5, False), (26, 6, True), (1000, 50, False), (1000, 51, True), (1000, 1000, True)],
)  # fmt: skip
def test_the_brake(total, gone, frozen):
    known = known_notes(total)
    assert missing(known, result_without(known, set(sorted(known)[:gone]))).frozen is frozen


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_absent_note_has_exactly_one_fate_and_the_unseen_stay(data):
    folders = data.draw(st.lists(st.sampled_from(["a", "b", "a/b", "c"]), min_size=1, max_size=30))
    known = {
        NotePath(f"{folder}/{number}.md"): FileStamp(1, 1, number + 1, 1)
        for number, folder in enumerate(folders)
    }
    gone = data.draw(st.sets(st.sampled_from(sorted(known))))
    unseen = data.draw(st.sets(st.sampled_from(["a", "a/b", "c"])))
    suspicious = data.draw(st.sampled_from(["", "", "empty", "not_the_vault", "unreadable"]))
    result = replace(result_without(known, gone), unseen_dirs=tuple(unseen), suspicious=suspicious)
    outcome = missing(known, result, confirm=data.draw(st.booleans()))
    assert sorted([*outcome.deleted, *outcome.unseen, *outcome.excluded]) == sorted(gone)
    for path in outcome.to_remove:
        assert not suspicious
        assert not any(path.startswith(folder + "/") for folder in unseen)
