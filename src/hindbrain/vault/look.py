"""A quick look at a vault's files: which notes are new, changed or gone since the index read them.

Reads folders and stamps, opens no file, and stops when its time is up. It is a fast sieve, not a `scan`: a
new name is only a candidate, which `event_paths.judge_events` accepts or not. Starts cold in every command
and hook, so it imports little.
"""

# Plain strings and os.path here: tens of thousands of entries.
# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
import time
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from hindbrain.vault.discover import MARKERS
from hindbrain.vault.ignore import IGNORE_FILES
from hindbrain.vault.path_rules import INDEXED_SUFFIXES, printable

_HAS_CHANGE_TIME = os.name != "nt"  # on Windows st_ctime is when the file was made
_TICK_NS = 20_000_000  # file systems stamp by a clock that lags a little
_COARSE_NS = 2_000_000_000  # what a file system may round a modification time to
_MOST_STATS = 1_000  # single files that are looked up when their folder did not show them


class KnownFile(NamedTuple):
    """What the index knows of a note's file. The inode as SQLite keeps it, signed; 0: not known."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    read_ns: int  # when its bytes were read


class Look(NamedTuple):
    """What a look found. Paths are vault-relative."""

    changed: tuple[str, ...] = ()  # known notes whose bytes may be others now
    new: tuple[str, ...] = ()  # as on disk: files that may be notes, and links
    doubtful: tuple[str, ...] = ()  # known notes that were read in the very tick in which they were written
    gone: tuple[str, ...] = ()  # known notes that are not there
    unseen: int = 0  # known notes that were not looked at, for lack of time or of rights
    rescan: bool = False  # something only a scan can judge: an ignore file changed, many notes are gone
    has_marker: bool = False
    complete: bool = True  # False: the time was up


def look(
    root: os.PathLike[str] | str, known: dict[str, KnownFile], left_out: Iterable[str],
    *, scanned_ns: int, now_ns: int, deadline: float,
) -> Look:  # fmt: skip
    """Compare the files beneath `root` with `known`, which is used up.

    `left_out`: what the last scan, at `scanned_ns`, did not take as a note; it is a candidate again when it
    changed since. `deadline` is of the monotonic clock. Raises OSError when the root can't be read.
    """
    walk = _Walk(os.path.join(os.path.realpath(root), ""), known, frozenset(left_out), scanned_ns, now_ns)
    complete = walk.run(deadline)
    if complete:
        walk.look_up_the_rest()
    return Look(
        tuple(walk.changed), tuple(walk.new), tuple(walk.doubtful), tuple(walk.gone),
        walk.unseen + len(known), walk.rescan, walk.has_marker, complete,
    )  # fmt: skip


def files_beneath(root: os.PathLike[str] | str, folders: Iterable[str], *, deadline: float) -> Look:
    """Return everything in these folders, as on disk, that may be a note, as `new`."""
    walk = _Walk(os.path.join(os.path.realpath(root), ""), {}, frozenset(), 0, 0)
    complete = walk.run(deadline, [(f"{folder}/", f"{folder}/") for folder in folders])
    return Look(new=tuple(walk.new), rescan=walk.rescan, complete=complete)


class _Walk:
    def __init__(
        self, top: str, known: dict[str, KnownFile], left_out: frozenset[str], scanned_ns: int, now_ns: int
    ) -> None:
        self.top = top
        self.known = known
        self.left_out = left_out
        self.scanned_ns = scanned_ns
        self.now_ns = now_ns
        self.changed: list[str] = []
        self.new: list[str] = []
        self.doubtful: list[str] = []
        self.gone: list[str] = []
        self.unseen = 0
        self.unread: list[str] = []  # folders that could not be read
        self.rescan = False
        self.has_marker = False

    def run(self, deadline: float, folders: Iterable[tuple[str, str]] = (("", ""),)) -> bool:
        """Walk through folders, as on disk and in NFC; False when the time was up before the end."""
        todo = list(folders)
        known, left_out, top = self.known, self.left_out, self.top
        while todo:
            if time.monotonic() > deadline:
                return False
            disk, folder = todo.pop()
            try:
                with os.scandir(top + disk) as listing:
                    for entry in listing:
                        name = entry.name
                        path = folder + (name if name.isascii() else unicodedata.normalize("NFC", name))
                        if (before := known.pop(path, None)) is not None:
                            self._compare(entry, before)
                        elif entry.is_dir(follow_symlinks=False):
                            if name[0] == ".":
                                self.has_marker = self.has_marker or (not disk and name in MARKERS)
                            elif path not in left_out:
                                todo.append((f"{disk}{name}/", path + "/"))
                        elif entry.is_symlink():
                            if self._leads_on(entry, path):
                                todo.append((f"{disk}{name}/", path + "/"))
                        elif name.rpartition(".")[2].lower() in INDEXED_SUFFIXES:
                            if name[0] != "." and (printable(path) not in left_out or self._is_newer(entry)):
                                self.new.append(disk + name)
                        elif name in IGNORE_FILES:
                            self.rescan = self.rescan or self._is_newer(entry)
            except OSError:
                if not disk:
                    raise
                self.unread.append(folder)
        return True

    def _compare(self, entry: os.DirEntry[str], before: KnownFile) -> None:
        try:
            status = entry.stat()
        except OSError:
            self.changed.append(before[0])
            return
        if (
            not _HAS_CHANGE_TIME
            or status.st_mtime_ns != before[2]
            or status.st_ctime_ns >= before[4] - _TICK_NS
            or status.st_size != before[1]
            or status.st_ino != before[3]
        ):
            self._judge(before, status)

    def _judge(self, before: KnownFile, status: os.stat_result) -> None:
        path = before.path
        if not _has_same_stamp(status, before):
            self.changed.append(path)
            return
        changed_ns, tick_ns = status.st_ctime_ns, _TICK_NS
        if not _HAS_CHANGE_TIME or changed_ns > self.now_ns:
            changed_ns, tick_ns = status.st_mtime_ns, _COARSE_NS
        if changed_ns < before.read_ns - tick_ns:
            return
        (self.doubtful if changed_ns <= before.read_ns + tick_ns else self.changed).append(path)

    def _leads_on(self, entry: os.DirEntry[str], path: str) -> bool:
        """Is it a link to a folder whose notes are known by this name? A new link is for a scan to judge."""
        if path in self.left_out:
            return False
        if any(note.startswith(path + "/") for note in self.known):
            return True
        self.rescan = self.rescan or self._is_newer(entry)
        return False

    def _is_newer(self, entry: os.DirEntry[str]) -> bool:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return True
        when_ns = max(status.st_mtime_ns, status.st_ctime_ns)
        margin_ns = _TICK_NS if _HAS_CHANGE_TIME else _COARSE_NS
        return self.scanned_ns - margin_ns <= when_ns <= max(self.now_ns, status.st_mtime_ns)

    def look_up_the_rest(self) -> None:
        """Known notes that no folder showed: reached in another way, out of sight, or gone."""
        if len(self.known) > _MOST_STATS:
            self.rescan = True
            return
        for path in sorted(self.known):
            before = self.known.pop(path)
            try:
                status = os.stat(self.top + path)
            except (FileNotFoundError, NotADirectoryError):
                if any(path.startswith(folder) for folder in self.unread):
                    self.unseen += 1
                else:
                    self.gone.append(path)
                continue
            except OSError:
                self.unseen += 1
                continue
            self._judge(before, status)


def _has_same_stamp(status: os.stat_result, before: KnownFile) -> bool:
    if status.st_size != before.size or status.st_mtime_ns != before.mtime_ns:
        return False
    inode = status.st_ino
    return inode == before.inode or not inode or not before.inode or inode - (1 << 64) == before.inode
