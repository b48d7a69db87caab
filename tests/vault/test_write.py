import os
import stat
import threading
import unicodedata

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Busy, NoteChanged, NotFound, UnsafePath, UsageError, WriteUnknown
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.lock import FileLock
from hindbrain.vault.write import VaultWriter

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX modes, links and attributes")


@pytest.fixture
def root(tmp_path):
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.fixture
def writer(root, tmp_path):
    with VaultWriter(root, tmp_path / "state", FakeClock(), lock_timeout_s=5) as writer:
        yield writer


def names(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_a_new_note_gets_its_folders_and_its_exact_bytes(writer, root):
    written = writer.create_note("a/b/c.md", b"\xef\xbb\xbfx\r\ny")
    assert (root / "a/b/c.md").read_bytes() == b"\xef\xbb\xbfx\r\ny"
    assert written.hash == content_hash(b"\xef\xbb\xbfx\r\ny")
    assert names(root) == ["a/b/c.md"]


def test_create_never_replaces_a_note(writer, root):
    (root / "a.md").write_bytes(b"theirs")
    with pytest.raises(NoteChanged) as raised:
        writer.create_note("a.md", b"ours")
    assert raised.value.current_hash == content_hash(b"theirs")
    assert (root / "a.md").read_bytes() == b"theirs"


@pytest.mark.promise("P15")
@pytest.mark.parametrize("existing", ["Plan.md", "PLAN.MD", unicodedata.normalize("NFD", "plán.md")])
def test_a_name_that_another_system_takes_for_an_existing_note_is_refused(writer, root, existing):
    (root / existing).write_bytes(b"theirs")
    wanted = "plán.md" if not existing.isascii() else "plan.md"
    with pytest.raises((UnsafePath, NoteChanged)):
        writer.create_note(wanted, b"ours")
    with pytest.raises((UnsafePath, NoteChanged)):
        writer.replace_note(wanted, b"ours", expected_hash="")
    assert names(root) == [existing]
    assert (root / existing).read_bytes() == b"theirs"


@pytest.mark.promise("P15")
@pytest.mark.parametrize(
    "path", ["../out.md", "/etc/out.md", ".hindbrain/x.md", "a/../../out.md", "con.md", ""]
)
def test_no_write_leaves_the_vault(writer, root, tmp_path, path):
    for write in (
        lambda: writer.create_note(path, b"x"),
        lambda: writer.append_note(path, b"x"),
        lambda: writer.replace_note(path, b"x", expected_hash=""),
    ):
        with pytest.raises(UnsafePath):
            write()
    assert names(root) == []
    assert not (tmp_path / "out.md").exists()


@posix
@pytest.mark.promise("P15")
def test_a_link_out_of_the_vault_is_not_followed(writer, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"theirs")
    (root / "folder").symlink_to(outside)
    (root / "note.md").symlink_to(outside / "secret.md")
    for path in ("folder/new.md", "note.md"):
        with pytest.raises(UnsafePath):
            writer.append_note(path, b"x")
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_bytes() == b"theirs"


def test_a_stale_hash_without_a_base_is_a_conflict_that_names_the_current_one(writer, root):
    (root / "a.md").write_bytes(b"now")
    with pytest.raises(NoteChanged) as raised:
        writer.replace_note("a.md", b"ours", expected_hash=content_hash(b"then"))
    assert raised.value.current_hash == content_hash(b"now")
    assert (root / "a.md").read_bytes() == b"now"


def test_edits_that_lie_apart_are_merged_from_the_base_or_from_a_revision(writer, root):
    base = b"one\ntwo\nthree\n"
    written = writer.create_note("a.md", base)
    (root / "a.md").write_bytes(b"one\ntwo\nTHREE\n")
    merged = writer.replace_note("a.md", b"ONE\ntwo\nthree\n", expected_hash=written.hash)
    assert merged.merged
    assert (root / "a.md").read_bytes() == b"ONE\ntwo\nTHREE\n"
    assert merged.hash == content_hash(b"ONE\ntwo\nTHREE\n")


def test_merging_can_be_refused(writer, root):
    written = writer.create_note("a.md", b"one\ntwo\nthree\n")
    (root / "a.md").write_bytes(b"one\ntwo\nTHREE\n")
    with pytest.raises(NoteChanged):
        writer.replace_note("a.md", b"ONE\ntwo\nthree\n", expected_hash=written.hash, merge=False)


def test_writing_what_is_there_makes_no_revision(writer):
    written = writer.create_note("a.md", b"same")
    again = writer.replace_note("a.md", b"same", expected_hash=written.hash)
    assert again.revision_id == ""
    assert len(writer.history()) == 1


@pytest.mark.parametrize(
    ("there", "result"),
    [
        (b"", b"new\n"),
        (b"one\n", b"one\nnew\n"),
        (b"one", b"one\nnew\n"),
        (b"one\r\ntwo", b"one\r\ntwo\r\nnew\n"),
    ],
)
def test_an_append_starts_on_a_line_of_its_own(writer, root, there, result):
    (root / "a.md").write_bytes(there)
    writer.append_note("a.md", b"new\n")
    assert (root / "a.md").read_bytes() == result


def test_an_append_to_a_missing_note_makes_it_unless_a_hash_was_expected(writer, root):
    with pytest.raises(NoteChanged):
        writer.append_note("a.md", b"x", expected_hash=content_hash(b"gone"))
    writer.append_note("a.md", b"x")
    assert (root / "a.md").read_bytes() == b"x"


def test_a_deleted_note_comes_back_byte_for_byte(writer, root):
    name = unicodedata.normalize("NFD", "é.md")
    (root / name).write_bytes(b"x\r\n")
    (root / name).chmod(0o640)
    writer.delete_note("é.md", expected_hash=content_hash(b"x\r\n"))
    assert names(root) == []
    writer.undo()
    assert names(root) == [name]
    assert (root / name).read_bytes() == b"x\r\n"
    assert stat.S_IMODE((root / name).stat().st_mode) == 0o640 or os.name == "nt"


def test_deleting_a_missing_or_a_changed_note_is_refused(writer, root):
    with pytest.raises(NotFound):
        writer.delete_note("a.md", expected_hash=content_hash(b"x"))
    (root / "a.md").write_bytes(b"y")
    with pytest.raises(NoteChanged):
        writer.delete_note("a.md", expected_hash=content_hash(b"x"))
    assert (root / "a.md").read_bytes() == b"y"


@posix
def test_mode_and_attributes_and_name_form_are_kept(writer, root):
    note = root / unicodedata.normalize("NFD", "é.md")
    note.write_bytes(b"x")
    note.chmod(0o604)
    try:
        os.setxattr(note, "user.colour", b"red")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    writer.replace_note("é.md", b"y", expected_hash=content_hash(b"x"))
    assert stat.S_IMODE(note.stat().st_mode) == 0o604
    assert os.getxattr(note, "user.colour") == b"red"
    assert names(root) == [note.name]


@posix
def test_a_new_note_has_the_mode_that_the_umask_gives(writer, root):
    (root / "theirs.md").write_bytes(b"")
    writer.create_note("ours.md", b"x")
    assert (root / "ours.md").stat().st_mode == (root / "theirs.md").stat().st_mode


@posix
def test_a_note_that_somebody_has_open_for_writing_is_left_to_them(writer, root):
    note = root / "a.md"
    note.write_bytes(b"x")
    inode = note.stat().st_ino
    with note.open("r+b") as editor:
        with pytest.raises(Busy):
            writer.append_note("a.md", b"ours")
        editor.write(b"typed")
    assert note.read_bytes() == b"typed"
    assert note.stat().st_ino == inode
    assert names(root) == ["a.md"]


@posix
@pytest.mark.promise("P4")
def test_what_is_written_into_a_displaced_file_becomes_a_conflict_copy(writer, root, monkeypatch):
    """Where the system can't tell who has a file open (macOS), the displaced file is watched."""
    monkeypatch.setattr("hindbrain.vault.displaced._take_lease", lambda _: None)
    (root / "a.md").write_bytes(b"x")
    with (root / "a.md").open("r+b") as editor:
        writer.replace_note("a.md", b"ours", expected_hash=content_hash(b"x"))
        editor.write(b"typed by a person")
    writer.close()
    assert (root / "a.md").read_bytes() == b"ours"
    [copy] = [path for path in root.iterdir() if "conflict" in path.name]
    assert copy.read_bytes() == b"typed by a person"
    assert copy.suffix == ".md"


def test_a_busy_lock_is_reported(root, tmp_path):
    writer = VaultWriter(root, tmp_path / "state", FakeClock(), lock_timeout_s=0)
    with FileLock(tmp_path / "state" / "write.lock").held(0), pytest.raises(Busy):
        writer.create_note("a.md", b"x")


def test_threads_that_append_lose_nothing(writer, root):
    def work(number: int) -> None:
        for step in range(10):
            writer.append_note("a.md", b"%d-%d\n" % (number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {b"%d-%d" % (number, step) for number in range(4) for step in range(10)}
    lines = (root / "a.md").read_bytes().split()
    assert len(lines) == 40
    assert set(lines) == expected


@posix
def test_a_failed_fsync_of_the_folder_is_unknown_and_then_settled(writer, root, monkeypatch):
    created = writer.create_note("a.md", b"one")
    folder, real = root.stat().st_ino, os.fsync

    def failing(fd: int) -> None:
        if os.fstat(fd).st_ino == folder:
            raise OSError(5, "I/O error")
        real(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(WriteUnknown):
            writer.replace_note("a.md", b"two", expected_hash=created.hash)
    assert writer.recover()
    assert [each.op for each in writer.history()] == ["replace", "create"]
    assert names(root) == ["a.md"]


def test_state_files_are_written_whole_and_lines_are_appended(writer, root):
    writer.put_state_file("vault-id", b"one")
    writer.put_state_file("vault-id", b"two")
    writer.append_state_line("runs/7/journal.jsonl", '{"a":1}')
    (root / ".hindbrain/runs/7/journal.jsonl").open("ab").write(b'{"torn')
    writer.append_state_line("runs/7/journal.jsonl", '{"a":2}')
    assert (root / ".hindbrain/vault-id").read_bytes() == b"two"
    lines = (root / ".hindbrain/runs/7/journal.jsonl").read_bytes().split(b"\n")
    assert lines == [b'{"a":1}', b'{"torn', b'{"a":2}', b""]
    assert writer.history() == []


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", ".hidden", "", "a//b", "a\\b", "x\0"])
def test_state_files_stay_in_their_folder(writer, root, name):
    with pytest.raises(UnsafePath):
        writer.put_state_file(name, b"x")
    assert names(root) == []


def test_a_state_line_is_one_line(writer):
    with pytest.raises(UsageError):
        writer.append_state_line("log.jsonl", "a\nb")
