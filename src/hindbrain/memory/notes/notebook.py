"""How the verbs read and change notes: whole pages in, changed pages out, tried again when somebody wrote.

The writer beneath compares hashes and keeps revisions; here the same change is made again on what is there
now, so that "add a line under this heading" succeeds beside other writers. Remembers which notes were
touched, since the index has to hear of them. Knows nothing of memories or tasks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hindbrain.base.errors import NoteChanged, NotFound
from hindbrain.memory.notes.readings import Readings
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.path_rules import NotePath, check_existing_path
from hindbrain.vault.paths import is_note, read_note

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter, Written

_ATTEMPTS = 20  # against those who write without waiting for a turn


@dataclass(frozen=True, slots=True)
class Page:
    """A note as it was read."""

    path: NotePath
    data: bytes
    hash: str

    @property
    def text(self) -> str:
        """For reading only: bytes that are not UTF-8 are shown as U+FFFD."""
        from hindbrain.vault.parse import decode_note

        return decode_note(self.data)[0]


# What a note shall hold now, given what it holds (None: it is not there); None: leave it as it is.
Change = Callable[[Page | None], bytes | None]


class Watcher(Protocol):
    """Who wants to know of every change that is made here, before and after it."""

    def writing(self, path: str, before_hash: str, after_hash: str) -> None:
        """A note is about to be changed; what raises here keeps it from being."""
        ...

    def written(self, written: Written) -> None: ...


class Notebook:
    def __init__(
        self,
        root: Path,
        writer: Callable[[], VaultWriter],
        noticed: Callable[[str], None] | None = None,
        composing: Callable[[str, bytes, bytes], None] | None = None,
        guard: Callable[[str], None] | None = None,
    ) -> None:
        """`writer` is called at the first change: reading needs none. `noticed`: is told of each change.

        `guard` raises for a note that memory must not write, whatever layout or name leads there.

        `composing` gets the path, the old bytes and the new ones of text that Hindbrain composed, before
        they are written.
        """
        self._root = root
        self._writer = writer
        self._noticed = noticed
        self._composing = composing
        self._guard = guard
        self._in_batch = False
        self.watcher: Watcher | None = None
        self.touched: set[NotePath] = set()  # changed here and not yet taken into the index
        self.readings = Readings()  # what callers were shown, so that their edits can be merged later

    def read(self, path: str) -> Page:
        """Raises NotFound, NoteUnreadable or UnsafePath."""
        known = check_existing_path(path)
        data = read_note(self._root, known)
        return Page(known, data, content_hash(data))

    def find(self, path: str) -> Page | None:
        """As `read`; None when there is no such note. A note that can't be read still raises: it is there."""
        try:
            return self.read(path)
        except NotFound:
            return None

    def has(self, path: str) -> bool:
        return bool(path) and is_note(self._root, path)

    def create(self, path: str, data: bytes) -> Written:
        self._announce(path, ABSENT, content_hash(data))
        return self._note(self._writer().create_note(path, data))

    def known(self, path: str, hash_start: str) -> Page | None:
        """The note as it was when its hash began so: from what was read here, else from the revisions."""
        page = self.readings.find(path, hash_start)
        if page is not None:
            return page
        writer = self._writer()
        revisions = writer.history(path)
        digests = {digest for revision in revisions for digest in (revision.before_hash, revision.after_hash)}
        fitting = [digest for digest in digests if digest and digest.startswith(hash_start)]
        data = writer.kept(fitting[0]) if len(fitting) == 1 else None
        return None if data is None else Page(check_existing_path(path), data, fitting[0])

    def replace(self, path: str, data: bytes, *, expected_hash: str, base: bytes | None = None) -> Written:
        """Raises NoteChanged when the note is another one and the edits can't be merged.

        `base` is what the caller read, where it is known; a merge starts from it.
        """
        self._announce(path, expected_hash, content_hash(data))
        return self._note(self._writer().replace_note(path, data, expected_hash=expected_hash, base=base))

    def append(self, path: str, data: bytes) -> Written:
        self._check(path)
        self._let_editors_finish(path)
        return self._note(self._writer().append_note(path, data))

    def edit_at_once(self, path: str, change: Change) -> Written | None:
        """As `edit`, in one step at the writer: `change` is pure and quick, and what it makes is not noted.

        Many who change one note wait in one line then. With `edit` each keeps its turn while it waits for the
        writer behind all who change other notes.
        """
        self._check(path)
        if not self._in_batch:
            self._let_editors_finish(path)

        def changed(current: bytes | None) -> bytes | None:
            page = (
                None if current is None else Page(check_existing_path(path), current, content_hash(current))
            )
            data = change(page)
            if data is not None:
                self._announce(path, ABSENT if page is None else page.hash, content_hash(data))
            return data

        written = self._note(self._writer().edit_note(path, changed))
        return written if written.revision_id else None

    @contextlib.contextmanager
    def batch(self, paths: Iterable[str]) -> Iterator[None]:
        """Hold the writer's lock for `edit_at_once` of several notes: one wait for all. Raises Busy."""
        for path in paths:  # before: who edits a note holds its turn and waits for the writer
            self._let_editors_finish(path)
        with self._writer().held():
            self._in_batch = True
            try:
                yield
            finally:
                self._in_batch = False

    def _let_editors_finish(self, path: str) -> None:
        """Wait behind those who edit the note now: they would have to begin again after each change.

        The turn is given back at once: it is not needed where the writer decides on what is there then.
        """
        with self._writer().turn(path):
            pass

    def delete(self, path: str, *, expected_hash: str) -> Written:
        self._announce(path, expected_hash, ABSENT)
        return self._note(self._writer().delete_note(path, expected_hash=expected_hash))

    def edit(self, path: str, change: Change, *, given: bool = False) -> Written | None:
        """Make `change` on what the note holds now; None when it had nothing to change.

        `given`: the text is a caller's, not Hindbrain's. `change` may be called several times. It never
        meets another writer's half-done work, and what others write between reading and writing is never
        lost.
        """
        with self._writer().turn(path):
            for attempt in range(_ATTEMPTS):
                page = self.find(path)
                data = change(page)
                if data is None:
                    return None
                if self._composing is not None and not given:
                    self._composing(path, b"" if page is None else page.data, data)
                try:
                    return self._put(path, page, data)
                except NoteChanged:
                    if attempt == _ATTEMPTS - 1:
                        raise
        raise AssertionError("unreachable")

    def _put(self, path: str, page: Page | None, data: bytes) -> Written:
        if page is None:
            return self.create(path, data)
        # No merge: two changes of one kind merge into a doubled line; the change is made again instead.
        self._announce(path, page.hash or ABSENT, content_hash(data))
        written = self._writer().replace_note(path, data, expected_hash=page.hash or ABSENT, merge=False)
        return self._note(written)

    def _check(self, path: str) -> None:
        if self._guard is not None:
            self._guard(path)

    def _announce(self, path: str, before_hash: str, after_hash: str) -> None:
        self._check(path)
        if self.watcher is not None and before_hash != after_hash:
            self.watcher.writing(path, before_hash, after_hash)

    def _note(self, written: Written) -> Written:
        if written.revision_id:
            self.touched.add(written.path)
            if self._noticed is not None:
                self._noticed(written.path)
            if self.watcher is not None:
                self.watcher.written(written)
        return written
