"""Files of ours are whole, private and never left half written, whatever the disk and other processes do."""

from __future__ import annotations

import ast
import errno
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.base.files import (
    AppendLog,
    append_record,
    create_empty,
    create_file,
    make_folder,
    replace_file,
    write_all,
)

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and fork are POSIX's")
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
_write = os.write


def short_at(*calls: int, then: OSError | None = None) -> Callable[[int, bytes], int]:
    """A write that gives half at these calls, counted from 1, and after the last of them raises `then`."""
    count = 0

    def write(fd: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count in calls:
            return _write(fd, bytes(data)[: max(1, len(data) // 2)])
        if then is not None and count > max(calls):
            raise then
        return _write(fd, data)

    return write


@pytest.fixture
def umask() -> Iterator[None]:
    """As most systems have it: new files can be read by everybody."""
    before = os.umask(0o022)
    yield
    os.umask(before)


# The whole file


@pytest.mark.promise("P2")
@pytest.mark.parametrize("durable", [True, False])
def test_a_short_write_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, durable: bool
) -> None:
    monkeypatch.setattr(os, "write", short_at(1, 2, 3))
    replace_file(tmp_path / "a", b"one ", b"two " * 100, durable=durable)
    assert (tmp_path / "a").read_bytes() == b"one " + b"two " * 100


@pytest.mark.promise("P2")
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_replacement_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    replace_file(tmp_path / "a", b"old")

    def fail(*_: object, **__: object) -> int:
        raise FULL

    monkeypatch.setattr(os, call, short_at(1, then=FULL) if call == "write" else fail)
    with pytest.raises(OSError, match="No space"):
        replace_file(tmp_path / "a", b"new" * 100)
    monkeypatch.undo()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_a_check_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"old")

    def changed() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        replace_file(tmp_path / "a", b"new", check=changed)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_a_temp_file_of_a_killed_writer_goes_with_the_next_replacement_and_no_other_file(
    tmp_path: Path,
) -> None:
    hour_ago = time.time() - 7_200
    replace_file(tmp_path / "a", b"old")
    others = ("a.hb0011aabb.tmp.md", "a.tmp", "a.1234.tmp", "b.hb0011aabb.tmp")
    for name in ("a.hb0011aabb.tmp", *others):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (hour_ago, hour_ago))
    (tmp_path / "a.hbccddeeff.tmp").write_bytes(b"being written now")
    replace_file(tmp_path / "a", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(("a", "a.hbccddeeff.tmp", *others))


@pytest.mark.promise("P2")
def test_a_new_file_is_whole_or_not_there_and_never_takes_anothers_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", short_at(1, then=FULL))
    with pytest.raises(OSError, match="No space"):
        create_file(tmp_path / "a", b"key" * 10)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    create_file(tmp_path / "a", b"first")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "a", b"second")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"first")]
    assert (create_empty(tmp_path / "a"), create_empty(tmp_path / "b")) == (False, True)


@POSIX
@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_system_without_links_still_makes_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    create_file(tmp_path / "a", b"first")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "a", b"second")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"first")]


def test_a_system_that_writes_nothing_is_an_error_and_no_endless_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(OSError, match="wrote nothing"):
        write_all(1, b"data")


@POSIX
@pytest.mark.usefixtures("umask")
def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "inner"
    make_folder(folder)
    make_folder(folder)
    replace_file(folder / "a", b"")
    create_file(folder / "b", b"")
    create_empty(folder / "c")
    append_record(folder / "d", b"line\n")
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}
    assert {oct(path.stat().st_mode & 0o777) for path in (folder, folder.parent)} == {"0o700"}
    replace_file(folder / "a", b"", mode=0o644)
    assert (folder / "a").stat().st_mode & 0o777 == 0o644


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "a")
    with pytest.raises(NotADirectoryError):
        make_folder(tmp_path / "a" / "b")
    with pytest.raises(FileNotFoundError):
        make_folder("")


# Records


@pytest.mark.promise("P2")
def test_a_record_that_was_cut_short_is_written_again_on_a_line_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    append_record(log, b'{"a": 1}\n')
    monkeypatch.setattr(os, "write", short_at(1))
    append_record(log, b'{"b": 2}\n')
    append_record(log, b'{"c": 3}\n')
    assert log.read_bytes() == b'{"a": 1}\n{"b"\n{"b": 2}\n{"c": 3}\n'


@pytest.mark.promise("P2")
@pytest.mark.parametrize("write", [short_at(1, then=FULL), short_at(1, 2)])
def test_a_record_that_is_cut_short_twice_is_refused_and_harms_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[int, bytes], int]
) -> None:
    log = tmp_path / "log"
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="No space"):
        append_record(log, b'{"a": 1}\n')
    monkeypatch.undo()
    append_record(log, b'{"b": 2}\n')
    assert log.read_bytes().endswith(b'\n{"b": 2}\n')


@pytest.mark.promise("P2")
def test_a_record_behind_the_torn_line_of_another_process_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process is cut short between our look at the end of the file and our write."""
    log = tmp_path / "log"
    append_record(log, b'{"a": 1}\n')

    def late(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", _write)
        with open(log, "ab") as other:
            other.write(b'{"torn')
        return _write(fd, data)

    monkeypatch.setattr(os, "write", late)
    append_record(log, b'{"b": 2}\n')
    assert log.read_bytes() == b'{"a": 1}\n{"torn{"b": 2}\n\n{"b": 2}\n'


def test_a_log_says_whether_it_still_has_its_name(tmp_path: Path) -> None:
    with AppendLog(tmp_path / "log") as log:
        log.append(b"one\ntwo\n")
        log.append(b"")
        assert (log.is_named, log.size, log.head(3)) == (True, 8, b"one")
        if sys.platform != "win32":
            (tmp_path / "log").rename(tmp_path / "taken")
            assert not log.is_named
            (tmp_path / "log").touch()
            assert not log.is_named
        with pytest.raises(ValueError, match="line end"):
            log.append(b"no end")


@POSIX
@pytest.mark.promise("P3")
def test_processes_that_append_at_once_while_some_writes_are_cut_short_lose_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, writers, each = tmp_path / "log", 4, 60

    def write(who: int) -> None:
        monkeypatch.setattr(os, "write", short_at(*range(1, 1_000, 3 + who)))
        for number in range(each):
            append_record(log, b"<%d-%d>\n" % (who, number), durable=False)

    children = []
    for who in range(writers):
        pid = os.fork()
        if pid == 0:
            failed = 1
            try:
                write(who)
                failed = 0
            finally:
                os._exit(failed)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * writers
    lines = set(log.read_bytes().split(b"\n"))
    assert {b"<%d-%d>" % (who, number) for who in range(writers) for number in range(each)} <= lines


def test_importing_it_costs_next_to_nothing() -> None:
    code = "import sys; old = set(sys.modules); import hindbrain.base.files; print(*set(sys.modules) - old)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    ours = {"hindbrain", "hindbrain.base", "hindbrain.base.files"}
    assert set(ran.stdout.split()) <= {*ours, "errno", "__future__"}


# Nothing else writes


_SOURCES = str(Path(__file__).parents[2] / "src")
_CALLS = {
    "os.write",
    "os.fsync",
    "os.fdatasync",
    "os.replace",
    "os.rename",
    "os.fdopen",
    "os.truncate",
    "os.ftruncate",
}
_METHODS = {"write_text", "write_bytes"}
_NAMES = {"O_APPEND", "O_TRUNC", "NamedTemporaryFile", "mkstemp"}
_MODE = re.compile(r"(?=.*[wax+])[rwaxbt+]{1,3}")
# Where files are written or renamed besides `base/files.py`, what is done there, and why it is right.
_ALLOWED = {
    "vault/atomic.py": {"os.replace", "os.rename", "O_APPEND", "os.ftruncate"},  # notes, by folder descriptor
    "edge/hooks/main.py": {"os.write"},  # the answer to the host: a pipe
    "edge/hooks/journal.py": {"os.replace"},  # renames a full log
    "edge/daemon/log.py": {"os.ftruncate"},  # shortens the daemon's own log, on the descriptor it was given
    "edge/daemon/starting.py": {"O_APPEND"},  # opens the log that the daemon gets as its standard error
    "edge/hooks/files.py": {"write_bytes"},  # makes the integrations in the source tree
    "edge/commands/stats.py": {"write_text"},  # a picture that the user has asked for, where they want it
    "edge/demo_story.py": {"write_text"},  # the sample vault of the demo
    "agent/verify/ocr.py": {"write_bytes"},  # input of a program, in a temporary folder
}


def _writes_of(source: str) -> set[str]:
    """The ways in which a module writes files by itself."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            found |= {name} & _CALLS | {node.attr} & (_METHODS | _NAMES)
        elif isinstance(node, ast.Name):
            found |= {node.id} & _NAMES
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("open", "fdopen"):
            given = [*node.args[:2], *(key.value for key in node.keywords if key.arg == "mode")]
            modes = [str(mode.value) for mode in given if isinstance(mode, ast.Constant)]
            if any(_MODE.fullmatch(mode) for mode in modes):
                found.add("open")
    return found


@pytest.mark.promise("P2")
def test_no_other_module_writes_files_by_itself() -> None:
    root = Path(_SOURCES) / "hindbrain"
    found = {
        path.relative_to(root).as_posix(): writes
        for path in root.rglob("*.py")
        if path != root / "base" / "files.py" and (writes := _writes_of(path.read_text(encoding="utf-8")))
    }
    assert found == _ALLOWED


@pytest.mark.parametrize(
    "source",
    ["os.write(fd, data)", "os.open(path, os.O_WRONLY | os.O_APPEND)", "path.write_text('a')", "open(p, 'w')",
     "path.open('ab')", "open(p, mode='x')", "os.replace(a, b)", "os.fsync(fd)", "tempfile.mkstemp()"],
)  # fmt: skip
def test_the_guard_sees_each_way_to_write(source: str) -> None:
    assert _writes_of(source)


@pytest.mark.parametrize(
    "source", ["text.replace(a, b)", "open(p, 'rb')", "path.open()", "stream.write(text)"]
)
def test_the_guard_lets_readers_and_streams_alone(source: str) -> None:
    assert not _writes_of(source)
