"""`python -m tests.check_types`: type-checks the tests, in one run of mypy.

Test modules import what lies beside them by its bare name, as pytest lets them, so every folder is a place to
look in. Each folder's `conftest.py` would then be called the same: they are checked under names of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".mypy_cache" / "tests"
_AS_PACKAGE = "real_openclaw"  # which the benchmarks import, too: its modules have whole names


def main() -> int:
    folders = sorted(
        {path.parent for path in (ROOT / "tests").rglob("*.py") if _AS_PACKAGE not in path.parts}
    )
    named = _named_conftests(folders)
    path = os.pathsep.join(str(folder) for folder in (*folders, named, ROOT / "src"))
    command = [
        sys.executable, "-m", "mypy", "--config-file", "tests/mypy.ini", "--cache-dir", str(CACHE), "tests",
        str(named),
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"MYPYPATH": path}).returncode


def _named_conftests(folders: list[Path]) -> Path:
    """A folder of links: `edge_conftest.py` to `tests/edge/conftest.py`, and so on."""
    made = CACHE / "conftests"
    made.mkdir(parents=True, exist_ok=True)
    for old in made.glob("*.py"):
        old.unlink()
    for folder in folders:
        if (folder / "conftest.py").exists():
            (made / f"{folder.name}_conftest.py").symlink_to(folder / "conftest.py")
    return made


if __name__ == "__main__":
    sys.exit(main())
