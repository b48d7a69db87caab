"""Which vault belongs to a folder on this machine, and whether it is there now.

A folder in which a vault was opened stays bound to that vault: when its disk is not mounted, the mount point
is no new vault, and another vault that is mounted there is not the one that was meant. The binding is kept in
the state folder of the vault (`copies`), so that nothing in the vault can change it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import VaultAway
from hindbrain.vault.copies import original_of, place_at, read_places, remember, write_places
from hindbrain.vault.discover import PATH_ID_PREFIX, VAULT_ID_FILE, has_marker, path_id, read_vault_id

_MARKED = "vault-marked"  # in the state folder of a vault without an id: it had a marker when it was opened
_RELEASED = "released-"


class Binding(NamedTuple):
    state: Path  # the vault's own folder in the state folder; it may not exist yet
    away: str = ""  # why the vault of this folder can't be used; "": it is there
    copy_of: str = ""  # the path of the vault of which this one is a copy; "": it is none

    def check(self, root: Path) -> None:
        """Raises VaultAway."""
        if self.away:
            raise away_error(root, self.away)


def bind(state: Path, root: Path) -> Binding:
    """Find the vault of a folder. `state`: the state folder of all vaults.

    A vault that was given an id takes what it had under its path with it. A copy has the id of its original
    until it gets its own, and is known by its path.
    """
    given, place = read_vault_id(root), os.path.realpath(root)
    if given and _is_listed(state / given, place):
        return _opened(state, given, root)
    by_path = state / path_id(root)
    holder = _holder(state, place, not_counting=(by_path, state / given))
    if holder is not None:
        return Binding(holder, why_away(holder, root))
    if given:
        return _opened(state, given, root)
    away = why_away(by_path, root)
    if not away:
        bind_place(by_path, root)
    return Binding(by_path, away)


def _opened(state: Path, given: str, root: Path) -> Binding:
    own = state / given
    if own.exists():
        original = original_of(own, root)
        return Binding(state / path_id(root), copy_of=original) if original else Binding(own)
    if (before := state / path_id(root)).exists():
        before.replace(own)
    return Binding(own)


def bind_place(own: Path, root: Path) -> None:
    """Remember that this vault is at `root`, once its state folder is made."""
    if not own.name.startswith(PATH_ID_PREFIX):
        remember(own, root)
        return
    here = place_at(root)
    if here is not None and read_places(own) != [here]:
        write_places(own, [here])
    marked = own / _MARKED
    if not marked.exists() and has_marker(root) and own.is_dir():
        with contextlib.suppress(OSError):  # found out another time
            marked.touch()


def bound_folder(state: Path, start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, to which a vault is bound.

    A plain folder that was only named once, say with --vault, is no vault for who stands in it.
    """
    here = Path(os.path.realpath(start))
    upwards = {str(folder): folder for folder in (here, *here.parents)}
    held = [
        one.path
        for own in _states(state)
        for one in read_places(own)
        if one.path in upwards and _was_vault(own) and not _is_elsewhere(own, one.path)
    ]
    return upwards[max(held, key=len)] if held else None


def release(state: Path, root: Path) -> None:
    """Let go of the vault that is bound to this folder: its owner wants another one there."""
    place = os.path.realpath(root)
    for own in _states(state):
        places = read_places(own)
        left = [one for one in places if one.path != place]
        if own.name == path_id(root):
            own.replace(state / f"{_RELEASED}{own.name}-{os.urandom(4).hex()}")
        elif len(left) < len(places):
            write_places(own, left)


def why_away(own: Path, root: Path) -> str:
    """Why the vault whose state is kept in `own` can't be used at `root`; "" when it is there."""
    try:
        with os.scandir(root) as entries:
            is_empty = next(entries, None) is None
    except FileNotFoundError:
        return "the folder does not exist" if own.exists() else ""
    except OSError as error:
        return f"the folder can't be read ({error.strerror})" if own.exists() else ""
    if own.name.startswith(PATH_ID_PREFIX):
        return _why_not_as_before(own, root, is_empty=is_empty)
    found = read_vault_id(root)
    if found == own.name:
        return ""
    if is_empty:
        return "the folder is empty"
    return "another vault is there" if found else f"{VAULT_ID_FILE} is missing or can't be read"


def _why_not_as_before(own: Path, root: Path, *, is_empty: bool) -> str:
    """Judge a vault that was never given an id: its own folder may become empty, a new one may not be."""
    if not read_places(own) or is_same_folder(own, root):
        return ""
    if is_empty:
        return "the folder is another one, and empty"
    if (own / _MARKED).exists() and not has_marker(root):
        return "the folder is another one, without the marker of a vault (.obsidian, .hindbrain)"
    return ""


def away_error(root: Path, why: str) -> VaultAway:
    import shlex

    return VaultAway(
        f"the vault at {str(root)!r} is away: {why}. Nothing was read or written; check that its disk is "
        "mounted and its files are synced, then try again. To make a new vault in that folder on purpose: "
        f"hindbrain init --new {shlex.quote(str(root))}"
    )


def is_same_folder(own: Path, root: Path) -> bool:
    """Is `root` the very folder in which the vault was opened?"""
    here = place_at(root)
    return here is not None and any(
        one.path == here.path and one.inode == here.inode != 0 for one in read_places(own)
    )


def _holder(state: Path, place: str, not_counting: Collection[Path]) -> Path | None:
    """The state folder of the vault that is bound to a place; None when it is nobody's."""
    for own in _states(state):
        if own not in not_counting and _is_listed(own, place) and not _is_elsewhere(own, place):
            return own
    return None


def _states(state: Path) -> list[Path]:
    try:
        with os.scandir(state) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
    return [state / name for name in names if not name.startswith(_RELEASED)]


def _was_vault(own: Path) -> bool:
    """Had the folder an id or a marker (.obsidian, .hindbrain) when it was opened?"""
    return not own.name.startswith(PATH_ID_PREFIX) or (own / _MARKED).exists()


def _is_listed(own: Path, place: str) -> bool:
    return any(one.path == place for one in read_places(own))


def _is_elsewhere(own: Path, place: str) -> bool:
    """Was the vault moved? It is at another of its places now."""
    return any(one.path != place and read_vault_id(Path(one.path)) == own.name for one in read_places(own))
