"""The examples in docs/context.md that are programs run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_runs import Cli
from workbench import Vault

_PAGE = Path(__file__).parents[2] / "docs" / "context.md"
_PROGRAMS = re.findall(r"```python\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_there_are_some() -> None:
    assert len(_PROGRAMS) == 2


@pytest.mark.parametrize("program", _PROGRAMS)
def test_they_run(program: str, cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(vault.root)
    assert cli.bare("demo", "--keep", "sample").code == 0
    assert cli.bare("sync", "--vault", "sample").code == 0
    exec(compile(program, str(_PAGE), "exec"), {})
