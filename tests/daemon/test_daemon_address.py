"""Where a daemon listens: found by its owner, by nobody else, and gone when it is."""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from daemon_runs import InProcess
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import Busy, WriteFailed
from hindbrain.edge.daemon import client, listening
from hindbrain.edge.daemon.address import ADDRESS_FILE, LOCK_FILE, address_data, read_address
from hindbrain.edge.daemon.listening import is_ours, leave
from hindbrain.vault.lock import FileLock

posix = pytest.mark.skipif(os.name == "nt", reason="modes and Unix sockets")


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@posix
def test_only_its_owner_can_look_into_the_folder_and_at_the_token(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    with listening.listening(folder) as here:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / ADDRESS_FILE).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(here.address.place).stat().st_mode) == 0o600
        assert len(here.address.token) >= 40


def test_what_is_written_is_what_is_read(folder: Path) -> None:
    with listening.listening(folder) as here:
        found = read_address(str(folder))
        assert found is not None
        assert address_data(found) == address_data(here.address)


def test_nothing_but_the_lock_file_is_left(folder: Path) -> None:
    with listening.listening(folder):
        assert ADDRESS_FILE in _names(folder)
    assert _names(folder) == {LOCK_FILE}


def test_there_is_one_daemon_to_a_folder(folder: Path) -> None:
    with listening.listening(folder) as here:
        with pytest.raises(Busy), listening.listening(folder):
            pass
        assert is_ours(here)
    with listening.listening(folder) as after:
        assert after.address.token != here.address.token


@posix
def test_a_path_too_long_for_a_socket_gets_a_private_folder_that_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    folder = tmp_path / ("long" * 30) / "daemon"
    with listening.listening(folder) as here:
        place = Path(here.address.place)
        assert place.parent.parent == runtime
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert not _names(runtime)
    runtime.rmdir()


@posix
def test_what_a_killed_daemon_left_is_taken_away_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    folder = tmp_path / ("long" * 30) / "daemon"
    monkeypatch.setattr(listening, "leave", lambda here: here.socket.close())  # as kill -9 would
    with listening.listening(folder):
        pass
    assert len(_names(runtime)) == 1
    monkeypatch.undo()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    (folder / "daemon.json.0.tmp").write_text("half", encoding="utf-8")
    with listening.listening(folder) as here:
        assert _names(runtime) == {Path(here.address.place).parent.name}
        assert _names(folder) == {LOCK_FILE, ADDRESS_FILE}
    assert not _names(runtime)
    runtime.rmdir()


@posix
def test_a_socket_that_was_left_is_replaced_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name) / "daemon"
        with monkeypatch.context() as killing:
            killing.setattr(listening, "leave", lambda here: here.socket.close())
            with listening.listening(folder) as killed:
                pass
        with listening.listening(folder) as here:
            assert here.address.place == killed.address.place == str(folder / "socket")


@posix
def test_an_address_file_can_not_make_it_delete_what_is_not_a_socket(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "hindbrain-mine" / "socket"
    precious.parent.mkdir()
    precious.write_text("a note", encoding="utf-8")
    folder.mkdir(parents=True)
    said = {"kind": "unix", "address": str(precious), "token": "x", "pid": 1, "version": "0", "started": 0}
    (folder / ADDRESS_FILE).write_text(json.dumps(said), encoding="utf-8")
    with listening.listening(folder):
        pass
    assert precious.read_text(encoding="utf-8") == "a note"


def test_a_folder_that_was_made_anew_is_left_to_its_new_daemon(folder: Path) -> None:
    with listening.listening(folder) as old:
        (folder / ADDRESS_FILE).unlink()
        Path(old.address.place).unlink(missing_ok=True)
        (folder / LOCK_FILE).unlink()
        with listening.listening(folder) as new:
            assert not is_ours(old)
            leave(old)
            assert is_ours(new)
            assert Path(new.address.place).exists()


@pytest.mark.parametrize("call", ["open", "write", "replace"])
def test_a_full_disk_is_told_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    folder.mkdir(parents=True)
    (folder / LOCK_FILE).touch()
    real_open = os.open

    def failing_open(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if str(path).endswith(".tmp"):
            raise full
        return real_open(path, flags, *args, **kwargs)

    def fail(*_: object, **__: object) -> None:
        raise full

    if call == "open":
        monkeypatch.setattr(os, "open", failing_open)
    elif call == "write":
        monkeypatch.setattr(os, "write", fail)
    else:
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WriteFailed), listening.listening(folder):
        pass
    monkeypatch.undo()
    assert _names(folder) == {LOCK_FILE}
    with FileLock(folder / LOCK_FILE).held(0):
        pass


@settings(max_examples=60)
@given(
    st.binary(max_size=100)
    | st.fixed_dictionaries(
        {},
        optional={
            name: st.none()
            | st.integers()
            | st.text(max_size=9)
            | st.sampled_from(["unix", "loopback", "80"])
            for name in ("kind", "address", "token", "pid", "version", "started")
        },
    ).map(lambda value: json.dumps(value).encode())
)
def test_an_address_file_with_anything_in_it_is_an_address_or_none(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / ADDRESS_FILE).write_bytes(data)
        found = read_address(name)
        assert found is None or found.kind in ("unix", "loopback")
        assert client.ask(name, "ping", "", {}, timeout_s=0.2) is None


def test_without_unix_sockets_it_listens_on_loopback(
    folder: Path, in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_places", lambda _: iter(()))
    in_process.start()
    found = read_address(str(folder))
    assert found is not None
    assert found.kind == "loopback"
    assert in_process.ask("ping")["ok"]


def test_a_port_whose_daemon_is_gone_is_told_nothing(folder: Path) -> None:
    folder.mkdir(parents=True)
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        somebody.listen()
        somebody.setblocking(False)
        port = str(somebody.getsockname()[1])
        said = {"kind": "loopback", "address": port, "token": "x", "pid": 1, "version": "0", "started": 0}
        for version in ("0", client.__version__):
            (folder / ADDRESS_FILE).write_text(json.dumps({**said, "version": version}), encoding="utf-8")
            assert client.ask(folder, "turn", "/v", {"prompt": "my diary"}, timeout_s=1) is None
        with pytest.raises(BlockingIOError):
            somebody.accept()


@posix
def test_somebody_else_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert listening.peer_is_owner(ours)
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert not listening.peer_is_owner(ours)
