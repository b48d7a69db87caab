"""Where a vault is and which one it is.

Reads markers only. Nothing here writes: `.hindbrain/vault-id` is made by `init` through the writer.
"""

import os
import re
from pathlib import Path

MARKERS = (".hindbrain", ".obsidian")
VAULT_ID_FILE = ".hindbrain/vault-id"

PATH_ID_PREFIX = "path-"
_MAX_ID_BYTES = 128
_ID = re.compile(r"[A-Za-z0-9_-]+")


def find_vault(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that is marked as a vault."""
    here = Path(os.path.realpath(start))
    for folder in (here, *here.parents):
        if has_marker(folder):
            return folder
    return None


def has_marker(root: Path) -> bool:
    return any((root / marker).is_dir() for marker in MARKERS)


def is_logseq(root: Path) -> bool:
    """Is the vault a Logseq graph?"""
    return (root / "logseq" / "config.edn").is_file() or all(
        (root / folder).is_dir() for folder in ("pages", "journals")
    )


def vault_id(root: Path) -> str:
    """The id in `.hindbrain/vault-id`; without one, an id that holds while the vault stays where it is."""
    return read_vault_id(root) or path_id(root)


def read_vault_id(root: Path) -> str:
    """The id that was given to the vault; "" when there is none, or it can't be read or makes no sense."""
    try:
        with open(root / VAULT_ID_FILE, "rb") as file:
            data = file.read(_MAX_ID_BYTES + 1)
    except OSError:
        return ""
    text = data.decode("ascii", errors="replace").strip()
    # The id becomes part of file names in the state folder, so it may hold nothing that leads elsewhere.
    return text if len(data) <= _MAX_ID_BYTES and _ID.fullmatch(text) else ""


def path_id(root: Path) -> str:
    """A stable id made from the vault's place on this machine."""
    import hashlib  # here: it brings OpenSSL, and a vault with an id does without

    place = os.path.normcase(os.path.realpath(root))
    return PATH_ID_PREFIX + hashlib.sha256(os.fsencode(place)).hexdigest()[:24]


def is_vault(root: Path, expect_id: str) -> bool:
    """Is this the vault that had `expect_id`? An id made from the path still holds after `init` gave one."""
    if expect_id.startswith(PATH_ID_PREFIX):
        return path_id(root) == expect_id
    return read_vault_id(root) == expect_id
