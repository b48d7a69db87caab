"""Copies of openclaw.json from before each change, so that they do not pile up beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_MOST = 3  # that are kept, the newest ones
_STAMP = re.compile(r"\.bak-(\d{8}-\d{6})(?:-(\d+))?")  # as edge.mcp.install names them


def prune_backups(file: Path, needed: Iterable[str]) -> None:
    """Remove the older ones; those that an installation would be taken back with (`needed`) stay."""
    real = Path(os.path.realpath(file))
    kept = {os.path.realpath(path) for path in needed if path}
    found: list[tuple[str, int, Path]] = []
    for path in real.parent.glob("*.bak-*"):
        name = _STAMP.fullmatch(path.name.removeprefix(real.name))
        if path.name.startswith(real.name) and name and os.path.realpath(path) not in kept:
            found.append((name[1], int(name[2] or 0), path))
    for *_, path in sorted(found)[:-_MOST]:
        with suppress(OSError):  # it is no more than one too many
            path.unlink()
