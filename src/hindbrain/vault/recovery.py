"""After a crash: finish or roll back the one change that was begun and not ended, and remove its temp files.

Which of the two it was is read from the note itself. A temp file is removed only when its bytes are kept
elsewhere or were ours; anything else was displaced from the note, so it gets a name that its owner finds.
"""

import contextlib
from pathlib import Path

from hindbrain.vault.atomic import Folder, Seen
from hindbrain.vault.commit import look_at, restore
from hindbrain.vault.hashing import ABSENT
from hindbrain.vault.revisions import End, Entry, Revisions


def settle(root: Path, revisions: Revisions) -> bool:
    """Settle what is unfinished; True when there was something. The caller holds the lock. Raises OSError."""
    entry = revisions.pending()
    if entry is None or not root.is_dir():  # an unmounted vault tells nothing
        return False
    *parts, name = entry.file.split("/")
    try:
        with Folder.open(root, parts) as folder:
            end = _settle_in(folder, name, entry, revisions)
    except (FileNotFoundError, NotADirectoryError):
        end = "aborted"  # the folder is gone, and with it whatever was in it
    revisions.finish(entry, end)
    return True


def _settle_in(folder: Folder, name: str, entry: Entry, revisions: Revisions) -> End:
    """In doubt it happened: an acknowledged change must not vanish from the history."""
    current = _hash_of(folder, name)
    leftovers = sorted(found for found in folder.names() if found.startswith(entry.temp))
    displaced_before = [_clear(folder, left, name, entry, revisions, current) for left in leftovers]
    if leftovers:
        folder.sync()
    if any(displaced_before) or current != entry.revision.before_hash:
        return "done"
    return "aborted"


def _hash_of(folder: Folder, name: str) -> str | None:
    """None: it is there and can't be read."""
    with contextlib.suppress(OSError):
        seen = folder.read(name)
        return ABSENT if seen is None else seen.hash
    return None


def _clear(
    folder: Folder, leftover: str, name: str, entry: Entry, revisions: Revisions, current: str | None
) -> bool:
    """Remove a leftover or give it back. True when it was the note's earlier text, displaced."""
    look = look_at(folder, leftover)
    if look is None:  # no file of ours: it was displaced
        restore(folder, leftover, name, revisions.now())
        return False
    try:
        was_before = look.seen.hash == entry.revision.before_hash
        if look.quiet() and (was_before or _is_ours(look.seen, entry, revisions, current)):
            folder.unlink(leftover)
        else:
            restore(folder, leftover, name, revisions.now())
        return was_before
    finally:
        look.close()


def _is_ours(seen: Seen, entry: Entry, revisions: Revisions, current: str | None) -> bool:
    """What we were writing, perhaps only its beginning: but then it can't have come to its place yet."""
    after = entry.revision.after_hash
    if entry.revision.op == "state" or seen.hash == after:
        return True
    if after in (ABSENT, current):
        return False
    whole = revisions.load(after)
    return whole is not None and whole.startswith(seen.data)
