"""Does the wheel work where nothing of ours lies around? `python -m tests.wheel_check`.

Builds it, installs it with its runtime dependencies only into an empty environment outside the project, and
runs what a new user runs first.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LAYOUTS = ("obsidian", "brain", "openclaw", "para")
_COMMANDS = (
    ("--version",),
    ("--help",),
    ("demo",),
    *(("init", f"vault-{layout}", "--layout", layout) for layout in _LAYOUTS),
    ("--vault", "vault-obsidian", "remember", "Prefers dark mode in all apps"),
    ("--vault", "vault-obsidian", "recall", "dark mode"),
    ("--vault", "vault-obsidian", "lint", "--check"),
    ("--vault", "vault-obsidian", "context", "which mode do I like in apps?", "--preset", "compact"),
    ("hook", "install", "claude-code", "--dry-run"),
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="hindbrain-wheel-") as name:
        folder = Path(name)
        wheel = _build(folder / "dist")
        programs = _install(folder / "venv", wheel)
        environ = _clean_environment(folder)
        for arguments in _COMMANDS:
            _run([str(programs / "hindbrain"), *arguments], cwd=folder, env=environ)
    print("ok")
    return 0


def _build(target: Path) -> Path:
    _run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(ROOT)],
        cwd=ROOT,
    )
    (wheel,) = target.glob("*.whl")
    return wheel


def _install(place: Path, wheel: Path) -> Path:
    venv.create(place, with_pip=True)
    programs = place / ("Scripts" if sys.platform == "win32" else "bin")
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], cwd=place)
    return programs


def _clean_environment(folder: Path) -> dict[str, str]:
    """No settings, keys or state of whoever runs this; nothing is written outside `folder`."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("HINDBRAIN_", "PYTHON"))
    }
    kept = {name: value for name, value in kept.items() if not name.endswith("_API_KEY")}
    own = {"HINDBRAIN_STATE_FOLDER": str(folder / "state"), "HINDBRAIN_CONFIG": str(folder / "config.toml")}
    return {**kept, **own}


def _run(command: list[str], *, cwd: Path, env: dict[str, str] | None = None) -> None:
    print("$", " ".join(command), flush=True)
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode != 0:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise SystemExit(f"failed with {done.returncode}: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
