"""From what the system says about files to the notes that it concerns.

Looks at single entries (`lstat`, ignore files), never into notes. Knows nothing of how events arrive. It must
agree with `scan` about what a note is; where a look at one entry can't tell (links, copies, Unicode forms,
things that vanished), it asks for a scan instead of guessing.
"""

# Plain strings and os.path here: a burst brings thousands of events.
# ruff: noqa: PTH114, PTH118

import os
import stat
import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hindbrain.base.errors import UnsafePath
from hindbrain.vault.ignore import IGNORE_FILES, IgnoreRules, IgnoreScope, read_scope
from hindbrain.vault.path_rules import INDEXED_SUFFIXES, NotePath, check_existing_path
from hindbrain.vault.sync_copies import conflict_original, is_temporary, may_be_copy

Kind: TypeAlias = Literal["added", "modified", "deleted"]

_MOST_PATHS = 500  # beyond this one scan is cheaper than a look at each
# Windows and macOS report a folder as modified when something in it is; on Linux it is a change of rights.
_FOLDER_CHANGE_TELLS = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class FileEvent:
    kind: Kind
    path: str  # absolute, as the system spells it


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened in a vault. Nothing at all is a sign of life, for callers that have timed work."""

    paths: frozenset[NotePath] = frozenset()  # notes that are there and may have new bytes
    rescan: bool = False  # something happened that only a scan of the vault can judge
    new_folders: bool = False  # files put into a new folder at once may have gone unreported
    # The same for a reader in a hurry, who scans only when `unclear`: which notes vanished, and what is new.
    gone: frozenset[NotePath] = field(default=frozenset(), compare=False)
    folders: frozenset[str] = field(default=frozenset(), compare=False)
    unclear: bool = field(default=True, compare=False)

    def __bool__(self) -> bool:
        return bool(self.paths) or self.rescan

    def __or__(self, other: "Changes") -> "Changes":
        paths = self.paths | other.paths
        rescan = self.rescan or other.rescan or len(paths) > _MOST_PATHS
        unclear = (self.rescan and self.unclear) or (other.rescan and other.unclear)
        return Changes(
            paths, rescan, self.new_folders or other.new_folders,
            self.gone | other.gone, self.folders | other.folders, unclear or len(paths) > _MOST_PATHS,
        )  # fmt: skip


def judge_events(top: str, rules: IgnoreRules, events: Iterable[FileEvent]) -> Changes:
    """Say which notes the events concern. `top` is the real path of the vault's root."""
    judge = _Judge(os.path.join(top, ""), rules)
    for event in events:
        judge.take(event)
        if judge.unclear and judge.folders:
            break  # nothing can be added to that
    unclear = judge.unclear or len(judge.paths) > _MOST_PATHS
    return Changes(
        frozenset(judge.paths), unclear or bool(judge.gone or judge.folders), bool(judge.folders),
        frozenset(judge.gone), frozenset(judge.folders), unclear,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder on the way to an entry."""

    kept: bool = True  # False: it is left out of the vault
    plain: bool = True  # False: a link leads here, so its notes may be known under another name
    scope: IgnoreScope | None = None


@dataclass(slots=True)
class _Judge:
    """One batch. What is learned about folders holds for the batch only: ignore files change."""

    top: str
    rules: IgnoreRules
    paths: set[NotePath] = field(default_factory=set)
    gone: set[NotePath] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    unclear: bool = False  # only a scan can tell
    _places: dict[str, _Place] = field(default_factory=dict)

    def take(self, event: FileEvent) -> None:
        if not event.path.startswith(self.top):
            self.unclear = self.unclear or event.kind == "deleted"  # the root itself
            return
        relative = event.path[len(self.top) :].replace(os.sep, "/").strip("/")
        folder, _, name = relative.rpartition("/")
        if not name or is_temporary(name):
            return
        place = self._place(folder)
        if not place.kept:
            return
        if name in IGNORE_FILES:
            self.unclear = True
        elif name[0] != ".":
            self._take_entry(event.kind, relative, name, place)

    def _take_entry(self, kind: Kind, relative: str, name: str, place: _Place) -> None:
        is_note = name.rpartition(".")[2].lower() in INDEXED_SUFFIXES
        try:
            status = os.lstat(self.top + relative)
        except (OSError, ValueError):
            # What it was can't be told any more; a folder has most often no suffix, and may have one.
            if not self._is_left_out(relative, name, place, is_folder=not is_note):
                self._take_missing(relative, is_note and place.plain)
            return
        if stat.S_ISDIR(status.st_mode):
            self._take_folder(kind, relative, name, place)
        elif stat.S_ISLNK(status.st_mode):
            self.unclear = True
        elif is_note:
            self._take_note(relative, name, place, status)
        elif kind == "deleted":
            self.unclear = True  # a file stands where perhaps a folder was

    def _take_missing(self, relative: str, is_plain_note: bool) -> None:
        try:
            if is_plain_note and unicodedata.is_normalized("NFC", relative):
                self.gone.add(check_existing_path(relative))
                return
        except UnsafePath:
            pass
        self.unclear = True

    def _take_folder(self, kind: Kind, relative: str, name: str, place: _Place) -> None:
        if self._is_left_out(relative, name, place, is_folder=True):
            return
        if kind != "modified":
            self.folders.add(relative)
        elif _FOLDER_CHANGE_TELLS:
            self.unclear = True

    def _take_note(self, relative: str, name: str, place: _Place, status: os.stat_result) -> None:
        if self._is_left_out(relative, name, place, is_folder=False):
            return
        stem = name.rpartition(".")[0]
        plain = stat.S_ISREG(status.st_mode) and status.st_nlink <= 1 and place.plain
        is_copy = may_be_copy(stem) and conflict_original(stem) is not None
        if not plain or is_copy or not unicodedata.is_normalized("NFC", relative):
            self.unclear = True
            return
        try:
            self.paths.add(check_existing_path(relative))
        except UnsafePath:
            self.unclear = True  # so that the report names it

    def _is_left_out(self, relative: str, name: str, place: _Place, *, is_folder: bool) -> bool:
        path = unicodedata.normalize("NFC", relative)
        by_rules = self.rules.excludes_folder if is_folder else self.rules.excludes_file
        return by_rules(path, name) or (
            place.scope is not None and place.scope.excludes(path, is_folder=is_folder)
        )

    def _place(self, folder: str) -> _Place:
        """What holds in a folder, from the root down. Iterative, so that depth costs no stack."""
        todo = [folder]
        while todo[-1] and todo[-1] not in self._places:
            todo.append(todo[-1].rpartition("/")[0])
        if "" not in self._places:
            self._places[""] = _Place(scope=self._scope("", None))
        for current in reversed(todo):
            if current not in self._places:
                self._places[current] = self._look(current)
        return self._places[folder]

    def _look(self, folder: str) -> _Place:
        above_path, _, name = folder.rpartition("/")
        above = self._places[above_path]
        if not above.kept or self._is_left_out(folder, name, above, is_folder=True):
            return _Place(kept=False)
        plain = above.plain and not os.path.islink(self.top + folder)
        return _Place(plain=plain, scope=self._scope(folder, above.scope))

    def _scope(self, folder: str, above: IgnoreScope | None) -> IgnoreScope | None:
        disk = os.path.join(self.top + folder, "")
        if not any(os.path.lexists(disk + name) for name in IGNORE_FILES):
            return above
        try:
            with os.scandir(disk) as listing:
                entries = {entry.name: entry for entry in listing if entry.name in IGNORE_FILES}
        except OSError:
            return above
        base = unicodedata.normalize("NFC", folder)
        return read_scope(base + "/" if base else "", entries, above).scope
