"""Standard streams that are closed, full, left early by their reader, or not UTF-8."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.edge.main import main
from workbench import Vault

_FULL = Path("/dev/full")
_COMMANDS = (
    ("search", "tea"), ("search", "tea", "--json"), ("status",), ("status", "--json"), ("stats", "--json"),
    ("read", "Tea"),
    ("config",), ("recall", "tea"), ("context", "green tea"), ("doctor",), ("history", "--json"),
    ("task", "list", "--json"),
    ("search", "--help"), ("completion", "bash"), ("read", "no such note", "--json"), ("nonsense", "--json"),
)  # fmt: skip


@contextlib.contextmanager
def _left_pipe() -> Iterator[io.TextIOWrapper]:
    """A pipe whose reader has gone."""
    read, write = os.pipe()
    os.close(read)
    with contextlib.suppress(BrokenPipeError), open(write, "w", encoding="utf-8") as stream:
        yield stream


def _run(words: tuple[str, ...], root: Path) -> int:
    return main([words[0], "--vault", str(root), *words[1:]])


@pytest.mark.skipif(not _FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_a_clear_error_with_its_own_exit_code(
    indexed: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in _COMMANDS:
        with open(_FULL, "w", encoding="utf-8") as full:
            monkeypatch.setattr("sys.stdout", full)
            code = _run(words, indexed.root)
        said = capsys.readouterr().err
        assert code == 4, (words, said)
        assert said.rstrip().endswith("(output_failed)") and "internal" not in said, (words, said)


@pytest.mark.skipif(os.name == "nt", reason="needs a pipe that reports its closed end")
def test_a_reader_that_has_left_ends_every_command_quietly(
    indexed: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in _COMMANDS:
        with _left_pipe() as pipe:
            monkeypatch.setattr("sys.stdout", pipe)
            code = _run(words, indexed.root)
            pipe.flush()  # Python does so at its end, and exits with 120 when it fails
        said = capsys.readouterr().err
        assert code == {"no such note": 1}.get(words[-2:][0], 2 if words[0] == "nonsense" else 0), words
        assert "error:" not in said and "Traceback" not in said, (words, said)


def test_a_closed_stdout_or_stderr_drops_what_is_printed(
    indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in _COMMANDS:
        expected = _run(words, indexed.root)
        for name in ("sys.stdout", "sys.stderr"):
            with monkeypatch.context() as patch:
                patch.setattr(name, None)
                assert _run(words, indexed.root) == expected, (words, name)


def test_messages_that_nobody_can_read_do_not_change_the_result(
    indexed: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with _left_pipe() as pipe:
        monkeypatch.setattr("sys.stderr", pipe)
        assert _run(("search", "tea", "--json"), indexed.root) == 0
        assert _run(("nonsense",), indexed.root) == 2
        pipe.flush()
    assert "Tea.md" in capsys.readouterr().out


def test_text_that_goes_to_no_terminal_is_utf_8(
    cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows gives a pipe its code page."""
    vault.write("Tea.md", "# 日本語\n\nGrüner Tee 日本語 at 70°.\n")
    assert cli("sync").code == 0
    for words in (("search", "Tee"), ("search", "Tee", "--json"), ("read", "Tea"), ("read", "日本")):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="cp1252") for _ in range(2))
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            patch.setattr("sys.stderr", err)
            _run(words, vault.root)
        for stream in (out, err):
            stream.flush()
        assert "日本" in out.buffer.getvalue().decode() + err.buffer.getvalue().decode(), words


def test_lines_from_a_pipe_are_read_as_utf_8(
    cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = io.TextIOWrapper(io.BytesIO("日本語".encode()), encoding="cp1252")
    monkeypatch.setattr("sys.stdin", sent)
    assert cli.bare("--version").code == 0
    assert sent.read() == "日本語"


@pytest.mark.skipif(os.name == "nt", reason="closes streams with a POSIX shell")
def test_a_process_with_closed_or_full_streams_ends_as_it_should(indexed: Vault) -> None:
    """Seen from outside, with Python's own flush at its end: 120 where something is left."""
    program = f"'{sys.executable}' -m hindbrain"
    hook = f"'{sys.executable}' -m hindbrain.edge.hooks.main"
    vault = f"--vault '{indexed.root}'"
    cases = {
        f"{program} search tea {vault} >&-": 0,
        f"{program} search tea {vault} >&- 2>&- <&-": 0,
        f"{program} --help 2>&- | true; exit ${{PIPESTATUS[0]}}": 0,
        f"{program} mcp {vault} --no-watch <&- >&-": 0,
        f"{hook} claude-code stop <&- >&- 2>&-": 0,
        f"{hook} nonsense >&- 2>&-": 0,
    }
    if _FULL.exists():
        ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        cases |= {
            f"{program} --help >/dev/full 2>&1": 4,
            f"echo '{ping}' | {program} mcp {vault} --no-watch >/dev/full": 4,
            f"{hook} nonsense >/dev/full 2>/dev/full": 0,
        }
    running = {case: subprocess.Popen(["bash", "-c", case], stderr=subprocess.PIPE) for case in cases}
    for case, process in running.items():
        said = process.communicate(timeout=60)[1].decode()
        assert (process.returncode, "internal" in said) == (cases[case], False), (case, said)
