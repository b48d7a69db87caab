"""Bring a prepared temp file to a note's name, or a note away from it, so that nobody's bytes are destroyed.

An editor takes no lock: it may write between our reading and our rename, or hold the old file open across it.
So nothing is renamed over a note. Names are swapped, and then what was displaced is looked at: only when it
is what we had read, and nobody writes to it, is it removed. Knows nothing of hashes that callers expect, or
of revisions; raises OSError, and Interfered when the note is not what was read (and is whole).
"""

import errno
import os
import sys

from hindbrain.base.clock import local_time
from hindbrain.vault.atomic import Folder, Seen
from hindbrain.vault.displaced import Displaced

_NAME_BYTES = 255


class Interfered(Exception):
    """Somebody else wrote to the note in this instant. Their bytes are in place; read again."""

    def __init__(self, watch: Displaced | None = None) -> None:
        super().__init__()
        self.watch = watch  # a removed file of ours that somebody may just have opened


def put_new(folder: Folder, name: str, temp: str) -> None:
    """A note that must not be there yet."""
    try:
        folder.put_new(temp, name)
    except FileExistsError:
        folder.unlink(temp)
        raise Interfered from None
    folder.sync()


def put_over(folder: Folder, name: str, temp: str, ours: Seen, seen: Seen, now: float) -> Displaced | None:
    """Put `temp`, which holds `ours`, in the place of the note that was `seen`. Returns what to watch."""
    if folder.stamp(name) != seen.stamp:
        folder.unlink(temp)
        raise Interfered
    try:
        outgoing = folder.displace(temp, name)
    except FileNotFoundError:
        folder.unlink(temp)
        raise Interfered from None
    except PermissionError:
        if sys.platform != "win32":
            raise
        folder.unlink(temp)  # an editor or a virus scanner has the note open: it soon lets go
        raise Interfered from None
    if outgoing is None:
        folder.sync()
        return None
    displaced = look_at(folder, outgoing)
    if displaced is not None and displaced.seen.hash == seen.hash and displaced.quiet():
        return _remove(folder, outgoing, displaced)
    try:
        watch = _put_back(folder, name, outgoing, ours, now)
    finally:
        if displaced is not None:
            displaced.close()  # only now: who waits for our lease to write finds the file in its place again
    raise Interfered(watch)


def take_away(folder: Folder, name: str, temp: str, seen: Seen, now: float) -> Displaced:
    """Remove the note that was `seen`. Returns what to keep watching."""
    if folder.stamp(name) != seen.stamp:
        raise Interfered
    try:
        folder.move_away(name, temp)
    except FileNotFoundError:
        raise Interfered from None
    displaced = look_at(folder, temp)
    if displaced is not None and displaced.seen.hash == seen.hash and displaced.quiet():
        return _remove(folder, temp, displaced)
    try:
        restore(folder, temp, name, now)
    finally:
        if displaced is not None:
            displaced.close()
    raise Interfered


def restore(folder: Folder, leftover: str, name: str, now: float) -> str:
    """Give a displaced file the note's name again, or a conflict copy's when that is taken.

    A rename, not a copy: whoever has the file open goes on writing into what its owner can find.
    """
    try:
        folder.put_new(leftover, name)
    except FileExistsError:
        return rescue(folder, leftover, name, now)
    folder.sync()
    return name


def rescue(folder: Folder, leftover: str, name: str, now: float) -> str:
    """Make a displaced file a conflict copy beside the note; returns its name."""
    for number in range(1, 1_000):
        copy = conflict_name(name, now, number)
        try:
            folder.put_new(leftover, copy)
        except FileExistsError:
            continue
        folder.sync()
        return copy
    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def conflict_name(name: str, now: float, number: int = 1) -> str:
    """`plan.md` becomes `plan (conflict 2026-02-20 141503).md`, in the owner's local time."""
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem:
        stem, suffix = name, ""
    tail = f" (conflict {local_time(now):%Y-%m-%d %H%M%S}"
    tail += (f" {number})" if number > 1 else ")") + (f".{suffix}" if suffix else "")
    room = _NAME_BYTES - len(os.fsencode(tail))
    while len(os.fsencode(stem)) > room:
        stem = stem[:-1]
    return stem + tail


def _remove(folder: Folder, outgoing: str, displaced: Displaced) -> Displaced:
    try:
        folder.unlink(outgoing)
        folder.sync()
    except BaseException:
        displaced.close()
        raise
    displaced.let_go()
    return displaced


def _put_back(folder: Folder, name: str, outgoing: str, ours: Seen, now: float) -> Displaced | None:
    """Swap the other's file into its place again; what comes out should be ours. Returns what to watch."""
    try:
        back = folder.displace(outgoing, name)
    except FileNotFoundError:  # our file was removed from the name already
        restore(folder, outgoing, name, now)
        return None
    watch = None if back is None else _drop_ours(folder, back, ours)
    if back is not None and watch is None:
        # In this very moment somebody wrote again, and what came out is newer: it belongs in the place.
        watch = _keep_newer(folder, name, back, ours, now)
    folder.sync()
    return watch


def _keep_newer(folder: Folder, name: str, newer: str, ours: Seen, now: float) -> Displaced | None:
    try:
        older = folder.displace(newer, name)
    except FileNotFoundError:
        restore(folder, newer, name, now)
        return None
    watch = None if older is None else _drop_ours(folder, older, ours)
    if older is not None and watch is None:
        rescue(folder, older, name, now)
    return watch


def _drop_ours(folder: Folder, name: str, ours: Seen) -> Displaced | None:
    """Remove the file when it is ours and nobody wrote to it; else None, and it stays."""
    look = look_at(folder, name)
    if look is None:
        return None
    if look.seen.hash == ours.hash and look.seen.stamp.same_file(ours.stamp) and look.quiet():
        folder.unlink(name)
        look.let_go()
        return look
    look.close()
    return None


def look_at(folder: Folder, name: str) -> Displaced | None:
    """None when it is not a file that can be read: then it can't be what we had read."""
    try:
        return Displaced(folder, name)
    except OSError as error:
        if error.errno in (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise
        return None
