"""Walk a vault and say what is there, what was left out, and what could not be seen.

Owns the walk. Reads folder entries and ignore files, never notes, and writes nothing. What absence means is
decided in `scan_result`. Names are listed by path, so a folder swapped for a symlink during the walk may be
listed; its notes are then refused by `paths.open_beneath`, which is how they are read.
"""

# Plain strings and os.path here: tens of thousands of entries, and pathlib costs several times as much.
# ruff: noqa: PTH116, PTH118, PTH206

import os
import re
import stat
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import NotFound, UnsafePath, VaultError
from hindbrain.vault.discover import MARKERS, is_vault
from hindbrain.vault.ignore import IGNORE_FILES, IgnoreRules, IgnoreScope, read_scope
from hindbrain.vault.path_rules import (
    INDEXED_SUFFIXES,
    NotePath,
    check_existing_path,
    is_portable,
    is_private,
    printable,
)
from hindbrain.vault.scan_result import (
    AttachmentKind,
    FileStamp,
    LeftOut,
    Missing,
    Noticed,
    NoticeReason,
    Reason,
    ScannedFile,
    ScanResult,
    Skipped,
    Suspicion,
    missing,
)
from hindbrain.vault.sync_copies import (
    conflict_original,
    is_temporary,
    may_be_copy,
    placeholder_for,
    possible_original,
)

__all__ = ["FileStamp", "Missing", "Noticed", "ScanResult", "ScannedFile", "Skipped", "missing", "scan"]

DEFAULT_MAX_BYTES = 20 * 1024 * 1024
_SETTLE_S = 60.0  # how long a note that had content must stand empty before we believe it
_ENDINGS: dict[AttachmentKind, str] = {
    "pdf": "pdf",
    "image": "avif bmp gif heic ico jpeg jpg png svg tif tiff webp",
    "audio": "3gp aac flac m4a mp3 ogg opus wav",
    "video": "avi mkv mov mp4 ogv webm",
}
_ATTACHMENTS = {ending: kind for kind, endings in _ENDINGS.items() for ending in endings.split()}
_MOST_LOOKS = 20_000  # entries of folders that are left out, looked at to count their notes
_SURELY_SHORT_CHARS = 256  # no path of so few characters can be over the limit in bytes
_TEMPORARY_STARTS = frozenset(".~#")  # of a temporary file that nevertheless ends as a note does
# Names that need no closer look, in most languages; all others go through path_rules. So does what begins
# like a Windows device or ends in a dot or space.
_PLAIN_NAME = re.compile(
    r"(?![cC][oO][nNmM]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|[lL][pP][tT]| )"
    r"[\w \-.,()+&'!@#=;\[\]{}$^`、。，；：？！（）【】《》「」“”‘’—·]+(?<![ .])"
)
_DATALESS = getattr(stat, "SF_DATALESS", 0x40000000)  # macOS: evicted to the cloud
_WINDOWS = os.name == "nt"
_SAYS_AWAY = _WINDOWS or hasattr(os.stat_result, "st_flags")
_WINDOWS_AWAY = 0x1000 | 0x40000 | 0x400000  # OFFLINE, RECALL_ON_OPEN, RECALL_ON_DATA_ACCESS


class _Folder(NamedTuple):  # made once per folder, and cheaper than a dataclass
    disk: str  # vault-relative, as on disk, with a final "/"; "" for the root
    path: str  # the same in NFC
    scope: IgnoreScope | None


def scan(
    root: Path,
    rules: IgnoreRules,
    known: Mapping[NotePath, FileStamp] | None = None,
    *,
    expect_id: str | None = None,
    expect_marker: bool = False,
    max_bytes: int = DEFAULT_MAX_BYTES,
    now: float | None = None,
    count_left_out: bool = False,
) -> ScanResult:
    """List the notes beneath `root`.

    `known` is what was there before. `expect_id` is what `vault_id` said then, and `expect_marker` what
    `has_marker` said: where they no longer hold, this is another disk or an empty mount point. `now` is in
    seconds since the epoch. `count_left_out` looks also into what rules leave out, and counts attachments.
    Raises NotFound when there is no such folder, VaultError when it is no folder.
    """
    before = _stat_root(root)
    walk = _Walk(root, rules, known or {}, max_bytes, time.time() if now is None else now)
    walk.counts = count_left_out
    walk.run()
    suspicious: Suspicion = ""
    if "" in walk.unseen_dirs:
        suspicious = "unreadable"
    elif not _same_folder(root, before) or _is_other_vault(root, expect_id, expect_marker, walk.has_marker):
        suspicious = "not_the_vault"
    elif known and not walk.files and not walk.has_marker:
        suspicious = "empty"
    return walk.result(suspicious)


def _stat_root(root: Path) -> os.stat_result:
    try:
        status = os.stat(root)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"no vault at {str(root)!r}; check the path, and that its disk is mounted") from error
    except OSError as error:
        raise VaultError(f"the vault at {str(root)!r} can't be reached: {error.strerror}") from error
    if not stat.S_ISDIR(status.st_mode):
        raise VaultError(f"{str(root)!r} is not a folder; give the folder that holds the notes")
    return status


def _same_folder(root: Path, before: os.stat_result) -> bool:
    """Was the root neither unmounted nor replaced while we walked?"""
    try:
        return os.path.samestat(os.stat(root), before)
    except OSError:
        return False


def _is_other_vault(root: Path, expect_id: str | None, expect_marker: bool, has_marker: bool) -> bool:
    if expect_marker and not has_marker:
        return True
    return expect_id is not None and not is_vault(root, expect_id)


class _Walk:
    """One walk: its lists grow while it runs. Iterative, so that depth costs no stack."""

    def __init__(
        self, root: Path, rules: IgnoreRules, known: Mapping[NotePath, FileStamp], max_bytes: int, now: float
    ) -> None:
        self.top = os.path.join(os.path.realpath(root), "")
        self.rules = rules
        self.known = known
        self.max_bytes = max_bytes
        self.now = now
        self.todo = [_Folder("", "", None)]
        self.files: dict[NotePath, ScannedFile] = {}
        self.skipped: list[Skipped] = []
        self.noticed: list[Noticed] = []
        self.unseen_dirs: list[str] = []
        self.excluded: set[str] = set()
        self.counts = False
        self.left_out: list[LeftOut] = []
        self.attachments: Counter[AttachmentKind] = Counter()
        self.looks_left = _MOST_LOOKS
        self.links: list[tuple[_Folder, str]] = []
        self.walked: list[str] = []  # as on disk; for recognising what a symlink leads to
        self.has_marker = False

    def run(self) -> None:
        self._read_all()
        # Symlinks come last, so that what stands in the vault under its own name is found under that name.
        if self.links:
            self._follow_links()

    def result(self, suspicious: Suspicion) -> ScanResult:
        return ScanResult(
            root_ok=not suspicious,
            files=tuple(self.files[path] for path in sorted(self.files)),
            skipped=tuple(sorted(self.skipped, key=lambda item: (item.path, item.reason))),
            noticed=tuple(sorted(self.noticed, key=lambda item: (item.path, item.reason))),
            unseen_dirs=tuple(sorted(self.unseen_dirs)),
            excluded=frozenset(self.excluded),
            left_out=tuple(sorted(self.left_out, key=lambda item: item.path)),
            attachments=dict(self.attachments),
            suspicious=suspicious,
            has_marker=self.has_marker,
        )

    def _read_all(self) -> None:
        while self.todo:
            folder = self.todo.pop()
            try:
                with os.scandir(self.top + folder.disk) as listing:
                    entries = {entry.name: entry for entry in listing}
            except OSError as error:
                self.unseen_dirs.append(folder.path[:-1])
                self._skip(folder.path[:-1], "unreadable", error.strerror or str(error))
                continue
            self.walked.append(folder.disk)
            if not folder.path:
                self.has_marker = any(name in entries and entries[name].is_dir() for name in MARKERS)
            self._read_entries(self._with_ignore_files(folder, entries), entries)

    def _with_ignore_files(self, folder: _Folder, entries: "Mapping[str, os.DirEntry[str]]") -> _Folder:
        if IGNORE_FILES[0] not in entries and IGNORE_FILES[1] not in entries:
            return folder
        read = read_scope(folder.path, entries, folder.scope)
        for name, problem in read.problems:
            self._notice(folder.path + name, "ignore_file", problem)
        return _Folder(folder.disk, folder.path, read.scope)

    def _read_entries(self, folder: _Folder, entries: "Mapping[str, os.DirEntry[str]]") -> None:
        for name, entry in entries.items():
            if entry.is_symlink() or (_WINDOWS and _is_junction(entry)):
                self.links.append((folder, name))
            elif entry.is_dir(follow_symlinks=False):
                self._add_folder(folder, name)
            elif name.rpartition(".")[2].lower() in INDEXED_SUFFIXES:
                self._add_entry(folder, entry, entries)
            else:
                self._add_other(folder, name)

    def _add_folder(self, folder: _Folder, name: str) -> None:
        path = self._path_of(folder, name)
        if path is None or self._is_excluded_folder(folder, path, name):
            return
        disk = folder.disk + name + "/"
        self.todo.append(_Folder(disk, path + "/", folder.scope))

    def _add_entry(
        self, folder: _Folder, entry: "os.DirEntry[str]", siblings: "Mapping[str, os.DirEntry[str]]"
    ) -> None:
        name = entry.name
        path = self._path_of(folder, name)
        if path is None or self._is_excluded_file(folder, path, name):
            return
        stem, _, suffix = name.rpartition(".")
        if may_be_copy(stem) and self._is_copy(path, stem, suffix, siblings):
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._skip(path, "unreadable", error.strerror or str(error))
            return
        self._add_file(path, folder.disk + name, status)

    def _add_file(self, path: NotePath, disk: str, status: os.stat_result) -> None:
        """Take the file in, unless its status says that its content is not to be had."""
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "not_a_file")
        elif _SAYS_AWAY and _is_away(status):
            self._skip(path, "placeholder", "its content is in the cloud; open it to bring it back")
        elif not status.st_size and self._is_half_synced(path, status):
            self._skip(path, "truncated", "it had content until now; it is looked at again in a minute")
        elif not status.st_mode & stat.S_IROTH and not os.access(self.top + disk, os.R_OK):
            self._skip(path, "unreadable", "permission denied")
        elif self._is_first(path, disk):
            stamp = FileStamp(
                status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev, status.st_ctime_ns
            )
            self.files[path] = ScannedFile(path, stamp, path if path == disk else disk)
            if status.st_size > self.max_bytes:
                self._notice(path, "too_large", f"{status.st_size} bytes; the first {self.max_bytes} count")

    def _is_first(self, path: NotePath, disk: str) -> bool:
        """Of two names that are one path in NFC, the one that is NFC on disk wins, as it does in `paths`."""
        other = self.files.get(path)
        if other is None:
            return True
        wins = path == disk or (other.disk_path != path and disk < other.disk_path)
        loser = other.disk_path if wins else disk
        self._skip(path, "name_collision", f"{loser!a} is the same path in another Unicode form")
        return wins

    def _is_half_synced(self, path: NotePath, status: os.stat_result) -> bool:
        """Was it emptied just now? Sync tools set back mtime, so the inode's change time counts too."""
        before = self.known.get(path)
        if before is None or not before.size:
            return False
        return self.now - max(status.st_mtime, status.st_ctime) < _SETTLE_S

    def _is_copy(
        self, path: NotePath, stem: str, suffix: str, siblings: "Mapping[str, os.DirEntry[str]]"
    ) -> bool:
        original = conflict_original(stem)
        if original is not None:
            if f"{original}.{suffix}" in siblings:
                self._skip(path, "conflict_copy", f"of {original}.{suffix}; merge the two and delete it")
                return True
            self._notice(path, "lone_conflict_copy", f"there is no {original}.{suffix}, so it counts as one")
        elif (guess := possible_original(stem)) is not None and f"{guess}.{suffix}" in siblings:
            self._notice(path, "possible_copy", f"perhaps of {guess}.{suffix}")
        return False

    def _add_other(self, folder: _Folder, name: str) -> None:
        """Not a note by its name. Say so where it stands for one."""
        note = placeholder_for(name)
        if note is not None and note.rpartition(".")[2].lower() in INDEXED_SUFFIXES:
            path = self._path_of(folder, note)
            if path is not None:
                self._skip(path, "placeholder", "its content is in iCloud; open it to bring it back")
        elif is_temporary(name):
            self._skip(folder.path + name, "temporary")
        elif self.counts and name[0] != ".":
            place, scope = folder.path + name, folder.scope
            by_scope = scope is not None and scope.excludes(place, is_folder=False)
            if not by_scope and not self.rules.excludes_file(place, name):
                self.attachments[_ATTACHMENTS.get(name.rpartition(".")[2].lower(), "other")] += 1

    def _follow_links(self) -> None:
        """Follow each symlink that stays in the vault and leads to something not yet found."""
        seen = {(file.stamp.dev, file.stamp.inode) for file in self.files.values()}
        seen.update(self._folder_identities(self.walked))
        while self.links:
            batch, self.links = sorted(self.links, key=lambda link: (link[0].disk, link[1])), []
            for folder, name in batch:
                self._follow_link(folder, name, seen)
                done = len(self.walked)
                self._read_all()
                seen.update(self._folder_identities(self.walked[done:]))

    def _follow_link(self, folder: _Folder, name: str, seen: set[tuple[int, int]]) -> None:
        disk = folder.disk + name
        is_note = name.rpartition(".")[2].lower() in INDEXED_SUFFIXES
        real = os.path.realpath(self.top + disk)
        try:
            status = os.stat(self.top + disk)
        except OSError as error:
            if is_note or self._had_notes_in(folder.path + name):
                self._skip(folder.path + name, "broken_symlink", error.strerror or str(error))
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not is_note:
            return
        path = self._path_of(folder, name)
        excluded = self._is_excluded_folder if is_folder else self._is_excluded_file
        if path is None or excluded(folder, path, name):
            return
        if not (real + os.sep).startswith(self.top):
            self._skip(path, "symlink_outside", "it leads out of the vault")
        elif any(is_private(part) for part in real[len(self.top) :].split(os.sep)):
            self._skip(path, "symlink_private", "it leads into a folder that is not for notes")
        elif _identity(status) in seen:
            self._skip(path, "duplicate_link", "what it leads to is found under its own name")
        elif is_folder:
            self.todo.append(_Folder(disk + "/", path + "/", folder.scope))
        else:
            seen.add(_identity(status))
            self._add_file(path, disk, status)

    def _had_notes_in(self, path: str) -> bool:
        return any(note.startswith(path + "/") for note in self.known)

    def _folder_identities(self, folders: list[str]) -> Iterator[tuple[int, int]]:
        for disk in folders:
            with suppress(OSError):  # removed since it was read: no link can lead to it
                yield _identity(os.stat(self.top + disk))

    def _path_of(self, folder: _Folder, name: str) -> NotePath | None:
        """The note path of an entry; None, and a report, when it can't have one."""
        path = folder.path + name
        if (
            len(path) <= _SURELY_SHORT_CHARS
            and _PLAIN_NAME.fullmatch(name)
            and ".." not in name
            and (name.isascii() or unicodedata.is_normalized("NFC", name))
        ):
            return NotePath(path)
        try:
            checked = check_existing_path(path)
        except UnsafePath as error:
            if not name.startswith("."):
                self._skip(path, "unsafe_name", str(error))
            return None
        if not is_portable(NotePath(checked[len(folder.path) :])):
            self._notice(checked, "unportable_name", "other systems forbid this name")
        return checked

    def _is_excluded_folder(self, folder: _Folder, path: NotePath, name: str) -> bool:
        scope = folder.scope
        if not self.rules.excludes_folder(path, name) and (
            scope is None or not scope.excludes(path, is_folder=True)
        ):
            return False
        self.excluded.add(path)
        if self.counts and (rule := self.rules.rule_for(path, name, is_folder=True)):
            notes = self._count_notes(folder.disk + name)
            if notes:
                self.left_out.append(LeftOut(printable(path), rule, notes))
        return True

    def _count_notes(self, disk: str) -> int:
        """How many notes lie in a folder that is left out; as far as a bounded look reaches."""
        notes = 0
        for _, folders, names in os.walk(self.top + disk):
            folders[:] = [name for name in folders if name[0] != "." and name != "node_modules"]
            notes += sum(name.rpartition(".")[2].lower() in INDEXED_SUFFIXES for name in names)
            self.looks_left -= len(names) + len(folders)
            if self.looks_left < 0:
                break
        return notes

    def _is_excluded_file(self, folder: _Folder, path: NotePath, name: str) -> bool:
        if name[0] in _TEMPORARY_STARTS and is_temporary(name):
            self._skip(path, "temporary")
            return True
        scope = folder.scope
        if not self.rules.excludes_file(path, name) and (
            scope is None or not scope.excludes(path, is_folder=False)
        ):
            return False
        self.excluded.add(path)
        if self.counts and (rule := self.rules.rule_for(path, name, is_folder=False)):
            self.left_out.append(LeftOut(printable(path), rule, 1))
        return True

    def _skip(self, path: str, reason: Reason, detail: str = "") -> None:
        self.skipped.append(Skipped(printable(path), reason, detail))

    def _notice(self, path: str, reason: NoticeReason, detail: str = "") -> None:
        self.noticed.append(Noticed(printable(path), reason, detail))


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_away(status: os.stat_result) -> bool:
    """Is the content not on this disk? No guess from block counts: small files may take none."""
    flags = getattr(status, "st_flags", 0) & _DATALESS
    return bool(flags or getattr(status, "st_file_attributes", 0) & _WINDOWS_AWAY)


def _is_junction(entry: "os.DirEntry[str]") -> bool:
    """A Windows folder that leads elsewhere without being a symlink."""
    try:
        return getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0) == 0xA0000003
    except OSError:
        return False
