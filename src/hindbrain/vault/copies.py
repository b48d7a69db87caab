"""Tells a copied vault from one that was moved: both have the id of the original.

The state folder of a vault remembers in which folders it was opened, by path and by file number, the first
one first. A folder with the vault's id is a copy when an earlier one still stands at its path, has the same
id, and is another folder. It is the same vault when the earlier one is gone (moved, or not mounted), or when
both are one folder under two names.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.files import replace_file
from hindbrain.vault.discover import read_vault_id

_FILE = "vault-path"
_MOST = 8  # folders that are remembered


class Place(NamedTuple):
    path: str
    inode: int
    dev: int

    @property
    def line(self) -> str:
        return f"{self.inode} {self.dev} {self.path}"


def original_of(own: Path, root: Path) -> str:
    """The path of the vault that `root` is a copy of; "" when it is none. `own`: the state folder of its id.

    Remembers where the vault is when it is none.
    """
    here = place_at(root)
    known = read_places(own)
    if here is None or (known and here == known[-1] and len(known) == 1):
        return ""
    mine = next((at for at, one in enumerate(known) if _is_same(one, here)), None)
    for other in known[:mine]:
        if other.path != here.path and _claims(other.path, read_vault_id(root), root):
            return other.path
    _remember(own, here, known, mine)
    return ""


def remember(own: Path, root: Path) -> None:
    """Remember where a vault is, when nothing is remembered yet."""
    if not (own / _FILE).exists() and (here := place_at(root)) is not None:
        _remember(own, here, [], None)


def remember_alias(own: Path, root: Path) -> None:
    """`root` is the original under another name, though the system gives it another number."""
    if (here := place_at(root)) is not None:
        write_places(own, [here, *read_places(own)])


def place_at(root: Path) -> Place | None:
    try:
        found = root.stat()
    except OSError:
        return None
    return Place(os.path.realpath(root), found.st_ino, found.st_dev)


def _is_same(one: Place, here: Place) -> bool:
    """The same folder: disks are renumbered when they are mounted again, and folders keep their number."""
    return one.inode == here.inode != 0 and (one.dev == here.dev or one.path == here.path)


def _claims(path: str, id_: str, root: Path) -> bool:
    """Is there a folder with this id that is not `root`?"""
    try:
        return read_vault_id(Path(path)) == id_ and not Path(path).samefile(root)
    except OSError:
        return False


def _remember(own: Path, here: Place, known: list[Place], mine: int | None) -> None:
    if mine is None:
        known = [one for one in known if one.path != here.path] + [here]
    elif known[mine] == here:
        return
    else:
        known = [*known[:mine], here, *known[mine + 1 :]]
    write_places(own, known)


def write_places(own: Path, known: list[Place]) -> None:
    """Not made here: that the folder is there tells that the vault's owner has opened it."""
    if not own.is_dir():
        return
    told = "".join(f"{one.line}\n" for one in known[:_MOST]).encode("utf-8", "surrogateescape")
    with contextlib.suppress(OSError):  # what is not remembered is found out another time
        replace_file(own / _FILE, told, durable=False)


def read_places(own: Path) -> list[Place]:
    try:
        lines = (own / _FILE).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        inode, _, rest = line.partition(" ")
        dev, _, path = rest.partition(" ")
        if inode.isdecimal() and dev.isdecimal() and path:
            found.append(Place(path, int(inode), int(dev)))
    return found
