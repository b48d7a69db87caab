"""Running a program: its words as they are, with nothing it should not know, and nothing left behind."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agent.shell_bench import SHELL, ShellBench

from hindbrain.agent.safety.command import shell_place
from hindbrain.agent.tools.process import KEPT_BYTES, clean_environment, run_process
from hindbrain.agent.tools.shell import Shell
from hindbrain.agent.tools.tool import Result, Toolbox
from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.models.chat import ToolCall

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs here are POSIX ones")


@pytest.fixture
def bench(tmp_path: Path) -> ShellBench:
    return ShellBench(tmp_path)


def _call(bench: ShellBench, shell: Shell | None = None, **arguments: object) -> Result:
    box = Toolbox([(shell or bench.shell).tool()])
    return box.run(*box.checked(ToolCall("c1", SHELL, arguments)))


def _python(bench: ShellBench, code: str, **arguments: Any) -> Result:
    return _call(bench, argv=[sys.executable, "-I", "-c", code], **arguments)


def test_the_output_and_the_exit_code_are_told(bench: ShellBench) -> None:
    assert _call(bench, argv=["cat", "README.md"]) == Result("exit code 0\nhello")
    failed = _call(bench, argv=["cat", "no-such-file"])
    assert failed.failed and failed.text.startswith("exit code 1\n") and "no-such-file" in failed.text


def test_it_runs_in_the_workspace_or_a_folder_of_it(bench: ShellBench) -> None:
    assert _call(bench, command="pwd").text.endswith(str(bench.workspace))
    assert _call(bench, command="pwd", cwd="src").text.endswith(str(bench.workspace / "src"))


@pytest.mark.promise("P26")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20), max_size=6)
)
def test_a_program_gets_exactly_the_words_that_were_judged(bench: ShellBench, words: list[str]) -> None:
    code = "import json,sys; print(json.dumps(sys.argv[1:]))"
    tool, settled = bench.checked(argv=[sys.executable, "-I", "-c", code, *words])
    assert settled["argv"][4:] == tuple(words)
    assert json.loads(tool.handler(settled).text.partition("\n")[2]) == words


@pytest.mark.promise("P26")
def test_no_shell_reads_the_words(bench: ShellBench) -> None:
    _call(bench, argv=["echo", "$(touch made)", "; touch made", "`touch made`", "&& touch made", "> made"])
    assert not (bench.workspace / "made").exists()


def test_neither_keys_nor_what_changes_programs_is_passed_on(bench: ShellBench) -> None:
    kept_back = (
        "OPENAI_API_KEY HINDBRAIN_CHAT_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY MY_PASSWORD LD_PRELOAD "
        "PYTHONPATH GIT_SSH_COMMAND BASH_ENV NODE_OPTIONS EDITOR LESSOPEN SSH_AUTH_SOCK DATABASE_URL"
    )
    environ = {"HOME": "/home/me", "LANG": "C.UTF-8", **dict.fromkeys(kept_back.split(), "x")}
    shell = Shell(shell_place(bench.workspace, bench.path), environ)
    told = _call(bench, shell, argv=["env"]).text
    names = {line.partition("=")[0] for line in told.splitlines()[1:]}
    assert names == {"PATH", "HOME", "LANG"} | set(clean_environment({}, ()))
    assert "TERM=dumb" in told


def test_there_is_no_input(bench: ShellBench) -> None:
    assert _call(bench, argv=["cat"]).text == "exit code 0, no output"


def test_of_long_output_the_beginning_and_the_end_are_kept(bench: ShellBench) -> None:
    total = KEPT_BYTES + 100_000
    result = _python(bench, f"print('A' * 10 + 'x' * {total - 21} + 'Z' * 10)")
    assert result.text.startswith("exit code 0\nAAAA") and result.text.endswith("ZZZZ")
    assert f"[... {total - KEPT_BYTES:,} bytes left out ...]" in result.text
    assert len(result.text) < KEPT_BYTES + 200


def test_output_that_is_no_text_is_shown_as_far_as_it_goes(bench: ShellBench) -> None:
    assert "ab\ufffdcd" in _python(bench, "import sys; sys.stdout.buffer.write(b'ab\\xffcd')").text


_PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])
open("pid", "w").write(str(child.pid))
print("started", flush=True)
{then}
"""


def _has_ended(file: Path) -> bool:
    """Waits for the end of the process whose number is in the file; not for ever."""
    try:
        handle = os.pidfd_open(int(file.read_text(encoding="ascii")))
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)


needs_pidfd = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no handles of processes here")


@needs_pidfd
def test_what_takes_too_long_is_ended_with_all_that_it_started(bench: ShellBench) -> None:
    result = _python(bench, _PARENT.format(then="time.sleep(600)"), timeout_s=1)
    assert result.failed and "ended after 1 seconds" in result.text and "started" in result.text
    assert _has_ended(bench.workspace / "pid")


@needs_pidfd
def test_what_is_left_in_the_background_is_ended(bench: ShellBench) -> None:
    assert not _python(bench, _PARENT.format(then="")).failed
    assert _has_ended(bench.workspace / "pid")


@needs_pidfd
def test_a_program_that_ignores_being_asked_is_ended_all_the_same(bench: ShellBench) -> None:
    code = "import signal,time,os; signal.signal(15, signal.SIG_IGN); open('pid','w').write(str(os.getpid()))"
    result = _python(bench, f"{code}; time.sleep(600)", timeout_s=1)
    assert result.failed
    assert _has_ended(bench.workspace / "pid")


def test_cancelling_ends_it(bench: ShellBench) -> None:
    started = bench.workspace / "pid"
    finished = run_process(
        [sys.executable, "-I", "-c", _PARENT.format(then="time.sleep(600)")],
        program=sys.executable,
        cwd=str(bench.workspace),
        environment=clean_environment(os.environ, ["/usr/bin"]),
        timeout_s=60,
        cancelled=started.exists,
    )
    assert finished.ended == "cancelled" and finished.code != 0


@pytest.mark.promise("P26")
def test_a_program_that_was_exchanged_after_the_approval_is_not_run(bench: ShellBench) -> None:
    bench.install("tool")
    tool, settled = bench.checked(argv=["tool", "x"])
    assert tool.handler(settled).text == "exit code 0\ntool\nx"
    first = bench.put(bench.bin.parent / "first" / "tool")
    earlier = Shell(shell_place(bench.workspace, f"{first.parent}:{bench.path}"), {})
    result = Toolbox([earlier.tool()]).run(earlier.tool(), settled)
    assert result.failed and "refused" in result.text


def test_a_folder_that_becomes_a_link_to_elsewhere_is_not_entered(bench: ShellBench) -> None:
    tool, settled = bench.checked(argv=["pwd"], cwd="src")
    (bench.workspace / "src").rmdir()
    (bench.workspace / "src").symlink_to(bench.bin)
    assert Toolbox([tool]).run(tool, settled).failed


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"argv": [], "command": ""}, {"argv": ["ls"], "command": "ls"}, {"argv": [""]},
        {"argv": ["  ", "x"]}, {"argv": ["a\0b"]}, {"argv": ["ls", 5]}, {"argv": "ls,src"},
        {"argv": ["x"] * 501}, {"command": "ls | wc"}, {"argv": ["ls"], "timeout_s": 601},
        {"argv": ["ls"], "timeout_s": 0}, {"argv": ["ls"], "env": {"A": "b"}},
        {"argv": ["ls"], "shell": True}, {"argv": ["ls"], "cwd": "a\0"},
        {"argv": ["ls"], "program": "/bin/sh"},
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_by_name(bench: ShellBench, arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        bench.checked(**arguments)


def test_empty_words_are_words(bench: ShellBench) -> None:
    bench.install("say")
    assert _call(bench, argv=["say", "", "x", ""]).text == "exit code 0\nsay\n\nx"


def test_a_program_that_is_not_there_is_told(bench: ShellBench) -> None:
    for argv in (["no-such-program"], ["./README.md"], ["cd", "src"], ["export", "A=b"]):
        with pytest.raises(HindbrainError) as error:
            bench.checked(argv=argv)
        assert error.value.code == "not_found"


def test_a_file_that_the_system_cannot_start_is_a_result(bench: ShellBench) -> None:
    (bench.bin / "broken").write_bytes(b"\x7fELF nonsense")
    (bench.bin / "broken").chmod(0o755)
    assert _call(bench, argv=["broken"]).failed


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_folder_that_looks_like_a_repository_runs_nothing(bench: ShellBench) -> None:
    """Settings of a repository that the agent could write with its file tool name a program."""
    fake = bench.workspace / "docs"
    subprocess.run(["git", "init", "-q", "--bare", str(fake)], check=True)
    trap = bench.put(bench.workspace / "trap")
    trap.write_text(f"#!/bin/sh\ntouch {bench.workspace}/sprung\n", encoding="utf-8")
    with (fake / "config").open("a", encoding="utf-8") as config:
        config.write(f"[core]\n\tbare = false\n\tworktree = {bench.workspace}\n\tfsmonitor = {trap}\n")
    result = _call(bench, argv=["git", "status"], cwd="docs")
    assert result.failed and not (bench.workspace / "sprung").exists()
