"""What a scan finds, leaves out and says."""

import os
import sys
import tarfile
import unicodedata
from pathlib import Path

import pytest

from hindbrain.base.errors import NotFound, VaultError
from hindbrain.vault.canvas import is_canvas
from hindbrain.vault.ignore import make_rules
from hindbrain.vault.paths import read_note
from hindbrain.vault.scan import FileStamp, missing, scan

DATA = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[2] / "../shared/data"))
NFC = unicodedata.normalize("NFC", "café")
NFD = unicodedata.normalize("NFD", "café")
RULES = make_rules()

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs POSIX names or symlinks")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def write(root, *paths, text="x"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def paths(result):
    return [file.path for file in result.files]


def reasons(items):
    return [(item.path, item.reason) for item in items]


def test_notes_are_listed_in_order_with_what_the_system_says(root):
    write(root, "b.md", "a/z.markdown", "a/A.MD", "picture.png", "a/list.txt")
    result = scan(root, RULES)
    assert paths(result) == ["a/A.MD", "a/z.markdown", "b.md"]
    status = (root / "b.md").stat()
    stamp = result.files[-1].stamp
    assert (stamp.size, stamp.mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert result.root_ok
    assert not result.skipped


def test_a_folder_named_like_a_note_is_a_folder(root):
    write(root, "folder.md/a.md")
    assert paths(scan(root, RULES)) == ["folder.md/a.md"]


def test_a_very_deep_vault_is_walked_without_recursion(root):
    folder = root
    for _ in range(400):
        folder = folder / "d"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("x", encoding="utf-8")
    assert len(scan(root, RULES).files) == 1


def test_no_folder_and_not_a_folder_are_different_errors(root):
    with pytest.raises(NotFound):
        scan(root / "none", RULES)
    write(root, "a.md")
    with pytest.raises(VaultError) as error:
        scan(root / "a.md", RULES)
    assert error.value.code == "vault"


@pytest.mark.parametrize(
    "copy",
    [
        "plan (Ann's conflicted copy 2024-01-02).md",
        "plan (conflicted copy 2024-01-02 101112).md",
        "plan (Ann's MacBook's conflicted copy 2024-01-02 (1)).md",
        "plan (Conflicted copy phone 202401021530).md",
        "plan (Case Conflict).md",
        "plan (Case Conflict 2).md",
        "plan.sync-conflict-20240102-101112-ABCDEFG.md",
        "plan_conflict-20240102-101112.md",
        "plan-DESKTOP-A1B2C3D.md",
        "plan-LAPTOP-A1B2C3D4-2.md",
        "plan (conflict 2024-01-02 101112).md",
    ],
)
def test_a_conflict_copy_is_left_out_while_its_original_is_there(root, copy):
    write(root, copy)
    alone = scan(root, RULES)
    assert paths(alone) == [copy]
    assert reasons(alone.noticed) == [(copy, "lone_conflict_copy")]
    write(root, "plan.md")
    both = scan(root, RULES)
    assert paths(both) == ["plan.md"]
    assert reasons(both.skipped) == [(copy, "conflict_copy")]


@pytest.mark.parametrize(
    "name",
    ["plan for conflict.md", "plan (conflict).md", "plan-MONDAY.md", "plan conflicted copy.md", "plan 22.md",
     "plan-DESKTOP-setup.md", "plan (2024).md", "plan_conflict-notes.md"],
)  # fmt: skip
def test_a_title_that_only_resembles_a_copy_is_a_note(root, name):
    write(root, "plan.md", name)
    result = scan(root, RULES)
    assert sorted(paths(result)) == sorted(["plan.md", name])
    assert not result.noticed


@pytest.mark.parametrize("name", ["plan 2.md", "plan (1).md", "plan(2).md"])
def test_a_numbered_name_beside_its_plain_one_is_a_note_and_is_mentioned(root, name):
    write(root, "plan.md", name)
    result = scan(root, RULES)
    assert name in paths(result)
    assert reasons(result.noticed) == [(name, "possible_copy")]


def test_temporary_files_are_left_out_and_named(root):
    names = [".#a.md", ".hindbrain-tmp-1.md", "a.md.tmp", "a.md~", "~$a.md"]
    write(root, "a.md", *names)
    result = scan(root, RULES)
    assert paths(result) == ["a.md"]
    assert reasons(result.skipped) == [(name, "temporary") for name in sorted(names)]


def test_a_large_note_is_listed_and_mentioned(root):
    write(root, "a.md", text="x" * 100)
    result = scan(root, RULES, max_bytes=99)
    assert paths(result) == ["a.md"]
    assert reasons(result.noticed) == [("a.md", "too_large")]


@posix_only
def test_a_fifo_with_a_notes_name_is_skipped(root):
    os.mkfifo(root / "a.md")
    assert reasons(scan(root, RULES).skipped) == [("a.md", "not_a_file")]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a system where names are any bytes")
def test_a_name_that_is_not_utf8_is_reported_in_a_printable_form(root):
    with open(os.fsencode(root) + b"/bad\xff.md", "wb"):
        pass
    result = scan(root, RULES)
    assert not result.files
    assert reasons(result.skipped) == [("bad\\udcff.md", "unsafe_name")]


@posix_only
def test_names_that_are_unsafe_or_unportable_are_reported(root):
    write(root, "a\\b.md", "line\nbreak.md", "..%2fx.md", "What?.md")
    result = scan(root, RULES)
    assert paths(result) == ["What?.md"]
    assert {item.reason for item in result.skipped} == {"unsafe_name"}
    assert "a\\b.md" in [item.path for item in result.skipped]
    assert reasons(result.noticed) == [("What?.md", "unportable_name")]


@posix_only
def test_a_name_that_other_systems_reserve_or_cut_is_mentioned(root):
    write(root, "con.md", "folder./a.md", "concept.md")
    result = scan(root, RULES)
    assert paths(result) == ["con.md", "concept.md", "folder./a.md"]
    assert reasons(result.noticed) == [("con.md", "unportable_name"), ("folder.", "unportable_name")]


@posix_only
def test_a_path_that_is_too_long_to_be_read_back_is_reported(root):
    folder = "文" * 80
    write(root, f"{folder}/{folder}/{folder}/a.md")
    write(root, f"{folder}/{folder}/{folder}/{folder}/{folder}/b.md")
    result = scan(root, RULES)
    assert paths(result) == [f"{folder}/{folder}/{folder}/a.md"]
    assert [item.reason for item in result.skipped] == ["unsafe_name"]


@posix_only
@pytest.mark.promise("P27")
def test_a_decomposed_name_has_its_composed_path_and_can_be_read(root):
    write(root, f"{NFD}/{NFD}.md")
    [file] = scan(root, RULES).files
    assert file.path == f"{NFC}/{NFC}.md"
    assert (root / file.disk_path).exists()
    assert read_note(root, file.path) == b"x"


@posix_only
@pytest.mark.promise("P27")
def test_two_forms_of_one_name_are_one_note_and_a_report(root):
    write(root, f"{NFD}.md", text="decomposed")
    write(root, f"{NFC}.md", text="composed")
    if len(list(root.iterdir())) == 1:
        pytest.skip("this file system takes both forms for one name")
    result = scan(root, RULES)
    assert [(file.path, file.disk_path) for file in result.files] == [(f"{NFC}.md", f"{NFC}.md")]
    assert reasons(result.skipped) == [(f"{NFC}.md", "name_collision")]


@posix_only
def test_symlinks_are_followed_once_and_never_out_of_the_vault(root, tmp_path):
    write(root, "x/a.md", ".obsidian/p.md")
    write(tmp_path, "outside/o.md")
    (root / "again").symlink_to("x")
    (root / "again.md").symlink_to("x/a.md")
    (root / "x" / "loop").symlink_to("..")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside" / "o.md")
    (root / "private").symlink_to(".obsidian")
    (root / "gone.md").symlink_to("nowhere.md")
    (root / "picture.png").symlink_to("nowhere.png")
    result = scan(root, RULES)
    assert paths(result) == ["x/a.md"]
    assert reasons(result.skipped) == [
        ("again", "duplicate_link"),
        ("again.md", "duplicate_link"),
        ("gone.md", "broken_symlink"),
        ("out", "symlink_outside"),
        ("out.md", "symlink_outside"),
        ("private", "symlink_private"),
        ("x/loop", "duplicate_link"),
    ]


@posix_only
def test_a_symlink_to_what_is_not_found_otherwise_is_followed(root):
    write(root, ".store/deep/a.md", ".store/b.txt")
    (root / "one").symlink_to(".store")
    (root / "two").symlink_to(".store")
    (root / "b.md").symlink_to(".store/b.txt")
    result = scan(root, RULES)
    assert paths(result) == ["b.md", "one/deep/a.md"]
    assert read_note(root, result.files[1].path) == b"x"
    assert reasons(result.skipped) == [("two", "duplicate_link")]


def test_a_stamp_tells_a_change_and_forgives_a_renumbered_disk():
    stamp = FileStamp(1, 2, 3, 4)
    assert stamp.unchanged_since(FileStamp(1, 2, 3, 5))
    assert stamp.unchanged_since(FileStamp(1, 2))
    assert not stamp.unchanged_since(FileStamp(1, 2, 9, 4))
    assert not stamp.unchanged_since(FileStamp(1, 3, 3, 4))
    assert not stamp.unchanged_since(FileStamp(2, 2, 3, 4))


def test_scanning_changes_nothing(root):
    write(root, "x/a.md", "b.md", ".hindbrain/vault-id")
    before = {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]}
    scan(root, RULES)
    assert {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]} == before


@pytest.mark.parametrize(("name", "notes"), [("vault_obsidian_help", 174), ("vault_oldwinter_zh", 3128)])
def test_real_vaults_are_listed_in_full(tmp_path, name, notes):
    archive = DATA / f"{name}.tar.gz"
    if not archive.exists():
        pytest.skip(f"no {archive}: set HINDBRAIN_DATA to the folder that has it")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    result = scan(tmp_path, RULES)
    assert sum(not is_canvas(file.path) for file in result.files) == notes
    assert not result.skipped
    assert not missing({file.path: file.stamp for file in result.files}, scan(tmp_path, RULES)).to_remove
