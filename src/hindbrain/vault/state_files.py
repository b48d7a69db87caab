"""Our own files in the vault's `.hindbrain` folder: whole files, and logs of one line per event.

No revisions and no compare-and-swap: nobody else writes these. The caller holds the writer's lock.
"""

import os
import re
from pathlib import Path

from hindbrain.base.errors import UnsafePath, UsageError
from hindbrain.vault.atomic import Folder, SyncFailed, append_line
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.paths import TEMP_PREFIX
from hindbrain.vault.revisions import Entry, Revision, Revisions

_FOLDER = ".hindbrain"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")  # we choose these names: no need for more


class StateFiles:
    def __init__(self, root: Path, revisions: Revisions) -> None:
        self._root = root
        self._revisions = revisions

    def put(self, relative: str, data: bytes) -> None:
        """Replace the file as a whole. Raises SyncFailed when it may or may not be durable, else OSError."""
        *parts, name = _parts(relative)
        with Folder.open(self._root, parts, create=True) as folder:
            entry = self._entry("/".join((*parts, name)), folder.read(name) is not None, data)
            self._revisions.begin(entry)  # lets recovery find the temp file
            try:
                folder.write_temp(entry.temp, data)
                folder.replace(entry.temp, name)
            except OSError:
                folder.unlink(entry.temp)
                self._revisions.finish(entry, "aborted")
                raise
            try:
                folder.sync()
            except OSError as error:
                raise SyncFailed(error.errno, error.strerror, relative) from error
            self._revisions.finish(entry, "done")

    def append(self, relative: str, line: str) -> None:
        """Add one line. Raises SyncFailed when it may or may not be durable, else OSError."""
        if "\n" in line or "\r" in line:
            raise UsageError(f"a line of {relative!r} must not hold a line break")
        *parts, name = _parts(relative)
        with Folder.open(self._root, parts, create=True) as folder:
            append_line(folder, name, line.encode("utf-8"))

    def _entry(self, file: str, existed: bool, data: bytes) -> Entry:
        before = "?" if existed else ABSENT  # never compared: these files are not undone
        revision = Revision(
            self._revisions.new_id(), file, self._revisions.now(), "state", before, content_hash(data), 0
        )
        return Entry(revision, file, TEMP_PREFIX + os.urandom(8).hex(), None)


def _parts(relative: str) -> list[str]:
    parts = relative.split("/")
    if not all(_NAME.fullmatch(part) for part in parts):
        raise UnsafePath(f"{relative!r} is no name for a file in {_FOLDER!r}")
    return [_FOLDER, *parts]
