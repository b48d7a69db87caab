"""A command, run in this process, and what it left on stdout and stderr."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.main import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The code of the error, of a run with --json."""
        return str(self.data["error"]["code"])


class Cli:
    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def __call__(self, *words: str, vault: Path | None = None) -> Ran:
        """Run a command on the vault."""
        return self.bare(*words[:1], "--vault", str(vault or self.root), *words[1:])

    def bare(self, *words: str) -> Ran:
        self._capsys.readouterr()
        code = main(words)
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)
