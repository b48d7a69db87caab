"""The token: made once, for its owner's eyes."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from hindbrain.base.errors import ConfigError
from hindbrain.edge.http.token import read_or_make_token, read_token


def test_a_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "state" / "mcp-token"
    token = read_or_make_token(file)
    assert len(token) >= 40
    assert read_or_make_token(file) == token
    assert [path.name for path in file.parent.iterdir()] == ["mcp-token"]
    if os.name != "nt":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_servers_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    file, found, together = tmp_path / "mcp-token", list[str](), threading.Barrier(8)

    def start() -> None:
        together.wait(10)
        found.append(read_or_make_token(file))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [read_token(file)] * 8
    assert [path.name for path in tmp_path.iterdir()] == ["mcp-token"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o666])
def test_a_token_that_others_can_read_is_not_used(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "mcp-token"
    file.write_text("x" * 43, encoding="utf-8")
    file.chmod(mode)
    with pytest.raises(ConfigError):
        read_or_make_token(file)


@pytest.mark.parametrize("held", ["", "\n", "short", "with space in its middle, long", "ü" * 30, "x" * 5000])
def test_a_file_that_holds_no_usable_token_is_told(tmp_path: Path, held: str) -> None:
    file = tmp_path / "mcp-token"
    file.write_text(held, encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(ConfigError):
        read_or_make_token(file)
    assert file.read_text(encoding="utf-8") == held
