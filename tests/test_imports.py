"""Imports go one way, and a cold search loads nothing heavy."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = (
    "numpy",
    "rich",
    "httpx",
    "pathspec",
    "watchfiles",
    "tokenizers",
    "onnxruntime",
    "wordllama",
    "asyncio",
)


def _loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running `code`."""
    program = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return set(done.stdout.split())


def test_imports_go_one_way_down_the_house() -> None:
    importlinter = pytest.importorskip("importlinter", reason="import-linter is not installed")
    assert importlinter is not None
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["hindbrain.search.engine", "hindbrain.app", "hindbrain.index.store"])
def test_what_a_cold_search_imports_is_light(module: str) -> None:
    assert _loaded_by(f"import {module}").isdisjoint(HEAVY)
