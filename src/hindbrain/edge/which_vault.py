"""Which vault a conversation belongs to: the one around its folder, else the one in the settings.

A folder that merely looks like a vault is not taken at its word: hooks run in whatever an agent works on, and
a repository that was cloned with an `.obsidian` folder must neither speak as its user's memory nor be given
any.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from hindbrain.app import locate_vault, state_of
from hindbrain.base.config import Config
from hindbrain.base.errors import NotFound
from hindbrain.vault.discover import has_marker


def vault_for(config: Config, cwd: Path) -> Path:
    """Raises NotFound when there is none that may be used. One that is away may be."""
    found = locate_vault(config, cwd)
    named = config.text("vault.path")
    configured = Path(named).expanduser().absolute() if named else None
    if not _is_same(found, configured) and not state_of(config, found).is_dir():
        if configured is None:
            raise NotFound(
                f"{str(found)!r} looks like a vault and was never opened by you; run hindbrain sync in it "
                "once, or set yours: hindbrain config vault.path PATH"
            )
        found = configured
    if not found.is_dir() and not state_of(config, found).is_dir():
        raise NotFound(f"no vault at {str(found)!r}; check the path, and that its disk is mounted")
    return found


def check_known(config: Config, root: Path) -> None:
    """NotFound for a folder that its owner has neither made a vault nor opened as one."""
    named = config.text("vault.path")
    configured = Path(named).expanduser().absolute() if named else None
    if "\0" in str(root) or not root.is_absolute() or not root.is_dir():
        return  # who opens it says what is wrong
    if _is_same(root, configured) or has_marker(root):
        return
    if not state_of(config, root).is_dir():
        raise NotFound(f"{str(root)!r} is no vault; make it one: hindbrain init {shlex.quote(str(root))}")


def _is_same(found: Path, configured: Path | None) -> bool:
    return configured is not None and os.path.realpath(found) == os.path.realpath(configured)
