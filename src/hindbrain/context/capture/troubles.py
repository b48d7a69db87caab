"""What the last catching up could not do, kept where `doctor` finds it: a daemon has nobody to tell.

One small file in the vault's state folder; gone when the next catching up that had something to do went well.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FILE = "capture-troubles.json"
_MOST = 20
_LONGEST = 300  # characters of one


class Troubles(NamedTuple):
    """What went wrong, and when."""

    at: float  # seconds since the epoch
    problems: tuple[str, ...]


def note_troubles(state: Path, problems: Sequence[str], *, now: float, worked: bool) -> None:
    """Write them down, or that all is well. Nothing is lost when that fails: they come again, or are over.

    `worked`: there was something to do. Who found nothing to do knows nothing of how it goes.
    """
    from hindbrain.base.files import replace_file
    from hindbrain.base.secrets import redact

    path = state / FILE
    try:
        if problems:
            told = [redact(problem)[0][:_LONGEST] for problem in problems[:_MOST]]
            replace_file(path, json.dumps({"at": now, "problems": told}).encode("ascii"), durable=False)
        elif worked:
            path.unlink(missing_ok=True)
    except OSError:
        return


def read_troubles(state: Path) -> Troubles | None:
    """None: all is well, as far as anybody has written down."""
    try:
        found = json.loads((state / FILE).read_bytes())
        return Troubles(float(found["at"]), tuple(str(problem) for problem in found["problems"] if problem))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return Troubles(0.0, (f"{FILE} can't be read",))
