"""The daemon's log stays small and never stops it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindbrain.edge.daemon import log as module
from hindbrain.edge.daemon.log import Log, is_log, last_lines


def _opened(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def test_a_line_has_its_time_once(tmp_path: Path) -> None:
    fd = _opened(tmp_path / "log")
    log = Log(tmp_path / "log", fd)
    print("one", "half \udcff", file=log)
    os.close(fd)
    (line,) = last_lines(tmp_path / "log", 5)
    assert line.endswith("one half \\udcff")
    assert line.count(":") == 2


def test_a_long_log_loses_its_beginning_and_keeps_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 2_000)
    monkeypatch.setattr(module, "_KEPT_BYTES", 500)
    file = tmp_path / "log"
    fd = _opened(file)
    log = Log(file, fd)
    for n in range(200):
        log.write(f"line {n}\n")
        assert file.stat().st_size <= 2_000
    os.close(fd)
    lines = last_lines(file, 1_000)
    assert lines[-1].endswith("line 199")
    assert all(" line " in line for line in lines)


def test_what_can_not_be_written_is_let_go(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", 9_999)  # not open
    assert log.write("lost\n") == 5
    assert last_lines(tmp_path / "log", 3) == []


def test_it_is_known_whether_stderr_is_the_log(tmp_path: Path) -> None:
    fd = _opened(tmp_path / "log")
    (tmp_path / "other").touch()
    assert is_log(tmp_path / "log", fd)
    assert not is_log(tmp_path / "other", fd)
    assert not is_log(tmp_path / "none", fd)
    os.close(fd)
