"""Starting costs little: what a command does not need is not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from command_runs import Cli
from workbench import Vault

_HEAVY = frozenset(
    (
        "numpy",
        "rich",
        "httpx",
        "asyncio",
        "logging",
        "pathspec",
        "watchfiles",
        "wordllama",
        "shutil",
        "tomllib",
    )
)
_CALL = """
import contextlib, io, sys
from hindbrain.edge.main import main
with contextlib.redirect_stdout(io.StringIO()):
    code = main(sys.argv[1:])
print(code, *sorted(sys.modules))
"""


def _modules(*words: str) -> set[str]:
    command = [sys.executable, "-c", _CALL, *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    code, *modules = ran.stdout.split()
    assert code == "0", ran.stderr
    return set(modules)


def test_help_imports_neither_argparse_nor_any_command() -> None:
    modules = _modules("--help")
    assert not modules & (_HEAVY | {"argparse", "pathlib", "dataclasses", "re", "hindbrain.app"})
    assert not [name for name in modules if name.startswith("hindbrain.edge.commands.")]


def test_a_keyword_search_imports_nothing_heavy(cli: Cli, indexed: Vault) -> None:
    cli("init")
    words = ("search", "tea", "--keyword", "--vault", str(indexed.root))
    _modules(*words)  # takes in what init has made; within 20 ms of a write a note would be read again
    modules = _modules(*words)
    assert not modules & _HEAVY
    ours = {name for name in modules if name.startswith("hindbrain.")}
    assert not {
        name
        for name in ours
        if name.startswith(("hindbrain.models.", "hindbrain.vault.scan", "hindbrain.index.sync"))
    }


@pytest.mark.parametrize("command", ["search", "status"])
def test_what_a_terminal_would_draw_is_not_imported_for_a_pipe(
    cli: Cli, indexed: Vault, command: str
) -> None:
    words = [command, *(["tea"] if command == "search" else []), "--vault", str(indexed.root)]
    assert not _modules(*words) & {"rich", "httpx", "asyncio", "watchfiles", "wordllama"}
