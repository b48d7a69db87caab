"""To which vault a conversation belongs, by the folder it was held in."""

from __future__ import annotations

import os
from pathlib import Path

from hindbrain.vault.discover import find_vault


def is_for(root: Path, cwd: str) -> bool:
    """What is said inside another vault is for that one; what is said elsewhere is for whoever asks."""
    try:
        found = find_vault(Path(cwd))
    except (OSError, ValueError):  # no name of a folder
        found = None
    return found is None or os.path.realpath(found) == os.path.realpath(root)
