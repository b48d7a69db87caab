"""The real OpenClaw and a Node that it runs with: found where they were kept, or installed once with npm."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

VERSION = "2026.9.6"
NODE = "24"
_INSTALL_S = 900


class Unavailable(Exception):
    """OpenClaw can't be had here; the text says why and what to do."""


class Program(NamedTuple):
    """Run as [node, openclaw, ...]: the same words on every system, and no shell."""

    node: Path
    openclaw: Path  # the script that Node runs
    version: str

    @property
    def bin(self) -> Path:
        """Where npm has put both for a PATH."""
        return self.openclaw.parents[1] / ".bin"

    @property
    def command(self) -> list[str]:
        return [str(self.node), str(self.openclaw)]


def cache_folder() -> Path:
    """Where the packages are kept between runs: $HINDBRAIN_OPENCLAW, else `.openclaw` of the project."""
    chosen = os.environ.get("HINDBRAIN_OPENCLAW")
    return Path(chosen) if chosen else Path(__file__).resolve().parents[2] / ".openclaw"


def find_program() -> Program:
    """The pinned version, installed when it is not there; `Unavailable` says why it can't be."""
    folder = cache_folder()
    found = _installed(folder)
    if found is not None:
        return found
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise Unavailable(
            "there is no npm on the PATH, with which the real OpenClaw is installed; install Node 20 or "
            "later, or set HINDBRAIN_OPENCLAW to a folder with node_modules/openclaw and node_modules/node"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(
        '{"name": "openclaw-for-tests", "private": true}\n', encoding="utf-8"
    )
    # One after the other: OpenClaw refuses to be installed by a Node that it does not run with.
    said = _install(npm, folder, f"node@{NODE}") or _install(npm, folder, f"openclaw@{VERSION}")
    found = _installed(folder)
    if found is None:
        raise Unavailable(f"npm could not install OpenClaw {VERSION} into {folder}: {said}")
    return found


def _install(npm: str, folder: Path, package: str) -> str:
    """What went wrong; "" when nothing did."""
    path = os.pathsep.join([str(folder / "node_modules" / ".bin"), os.environ.get("PATH", "")])
    try:
        done = subprocess.run(
            [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", package],
            cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True,
            timeout=_INSTALL_S, check=False,
         encoding="utf-8")  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"npm did not finish within {_INSTALL_S} s"
    return f"{package}: {done.stderr.strip()[-400:]}" if done.returncode else ""


def _installed(folder: Path) -> Program | None:
    modules = folder / "node_modules"
    try:
        about = json.loads((modules / "openclaw" / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if about.get("version") != VERSION:
        return None
    scripts = about.get("bin")
    script = scripts.get("openclaw", "") if isinstance(scripts, dict) else str(scripts)
    name = "node.exe" if os.name == "nt" else "node"
    node = modules / "node" / "bin" / name
    return Program(node, modules / "openclaw" / script, VERSION) if node.exists() else None
