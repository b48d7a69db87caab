"""The runs of a vault: their journals, and the episodes that these tell of.

Reading is bounded by the runs that are open at once, never by how many there are; what was read before comes
from a cache that may be deleted. Knows nothing of what is learned.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hindbrain.base.errors import Ambiguous, NotFound, UnsafePath, UsageError, VaultError, WriteFailed
from hindbrain.base.files import make_folder
from hindbrain.learn.runs import files
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.events import Event
from hindbrain.learn.runs.folding import Folding, outcome_of
from hindbrain.learn.runs.journal import RUNS, RunJournal, line_of

if TYPE_CHECKING:
    from hindbrain.learn.runs.cache import EpisodeCache, Told
    from hindbrain.learn.runs.files import JournalFile
    from hindbrain.vault.write import VaultWriter

_T = TypeVar("_T")
_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")  # small letters: some systems know no others in file names
_IMPORTED_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}")  # fit for a block id
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}")
_BATCH = 500  # journals that are taken into the cache at once
_FULL = 32 << 20  # bytes of a file to which nothing more is imported
_IN_MEMORY = 8 << 20  # bytes of an import before it is put on disk
_NAMED = 300  # of the newest runs, among which a mistyped id is looked for
_SHOWN = 5


class Added(NamedTuple):
    """What an import brought."""

    runs: int
    events: int
    known: int  # runs that were there before, and were left as they are
    by_outcome: Mapping[str, int]  # of the runs: success, failed, ..., unfinished


class RunStore:
    """For one thread. `dry_run`: imports are counted and not written."""

    def __init__(
        self, root: Path, state: Path, writer: Callable[[], VaultWriter], *, dry_run: bool = False
    ) -> None:
        self._root = root
        self._folder = root / ".hindbrain" / RUNS
        self._state = state
        self._writer = writer
        self._dry_run = dry_run
        self._drafted: set[str] = set()  # runs that a dry run would have added
        self._ids: tuple[object, frozenset[str]] | None = None  # all runs, as of some stamps of folders
        self._unread: dict[str, str] = {}  # journals that could not be read the last time, and why

    def journal(self, run: str) -> RunJournal:
        """To write a run of our own; also one that was interrupted and goes on."""
        if not _RUN.fullmatch(run) or run in (files.IMPORTED, files.COLD):
            raise UnsafePath(f"{run!r} is no id of a run; new_run_id makes one")

        def append(file: str, line: str, /, *, durable: bool) -> None:
            self._writer().append_state_line(file, line, durable=durable)

        return RunJournal(run, append)

    def events(self, run: str) -> Iterator[Event]:
        """What its journal tells, in that order. NotFound, or Ambiguous, at once."""
        found = self.find(run)
        own = files.own_journal(self._folder, found) if _RUN.fullmatch(found) else None
        name = own.name if own is not None else self._asked(lambda cache: cache.file_of(found))
        return self._events_in(name, found)

    def episodes(self, *, last: int = 0) -> list[Episode]:
        """Finished runs, oldest end first. `last`: only the newest so many."""
        return self._asked(lambda cache: cache.episodes(last))

    def episode(self, run: str) -> Episode:
        """By its id, or by the beginning of it where that is enough."""
        found = self.find(run)
        episode = self._asked(lambda cache: cache.episode(found))
        if episode is None:
            raise NotFound(f"the run {found!r} has not ended; hindbrain runs show {found} tells its story")
        return episode

    def find(self, run: str) -> str:
        """The whole id of a run that is called by it or by its beginning."""
        wanted = run.strip().removeprefix("^")

        def look(cache: EpisodeCache) -> str:
            if wanted and cache.knows(wanted):
                return wanted
            found = cache.ids(wanted) if wanted else []
            if len(found) == 1:
                return found[0]
            if found:
                told = ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
                raise Ambiguous(
                    f"{len(found)} runs begin with {run!r}; give more of the id: {told}",
                    candidates=tuple(found),
                )
            raise NotFound(f"no run {run!r}{_hint(wanted, cache.ids(limit=_NAMED))}")

        return self._asked(look)

    def unfinished(self) -> list[str]:
        """Runs of our own that have begun and not ended, oldest first: going on, or cut off."""
        return self._asked(lambda cache: cache.unfinished(files.OWN_RANK))

    def knows(self, run: str) -> bool:
        """Asked for each run of an import: what is known is looked up again only where something changed."""
        stamps = files.folder_stamps(self._folder)
        if self._ids is None or self._ids[0] != stamps:
            self._ids = (stamps, frozenset(self._asked(lambda cache: cache.ids())))
        if run in self._ids[1] or run in self._drafted:
            return True
        # The first line of a journal changes no stamp of the folders.
        begun = _RUN.fullmatch(run) and files.own_journal(self._folder, run) is not None
        return bool(begun) and self._asked(lambda cache: cache.knows(run))

    def passed_over(self) -> int:
        """Lines of journals that are damaged, or of a version or a type that is not known here."""
        return self._asked(lambda cache: cache.passed_over())

    def problems(self) -> list[str]:
        """Journals that can't be read, or only in part."""
        found = self._asked(lambda cache: cache.problems())
        return [*found, *self._unread.values()]

    def add_imported(self, name: str, runs: Iterable[Sequence[Event]]) -> Added:
        """Add runs of others to one file, all of them or none; those that are known are left out.

        `runs` is read once and never held as a whole, and nobody waits for it: the vault is locked only
        while the result is brought to its place.
        """
        from tempfile import SpooledTemporaryFile

        if not _FILE.fullmatch(name):
            raise UnsafePath(f"{name!r} is no name for a file of imported runs; use letters, digits and '-'")
        counted = _Counted({*self._asked(lambda cache: cache.ids()), *self._drafted})
        with SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(self._state)) as spool:
            for events in runs:
                lines = _new_lines(events, counted)
                try:
                    spool.write(lines)
                except OSError as error:
                    raise WriteFailed(
                        f"the import {name!r} could not be put together in {str(self._state)!r} "
                        f"({error.strerror or error}); nothing was added"
                    ) from error
            if counted.new and not self._dry_run:
                self._writer().extend_state_file(f"{RUNS}/{self._file_for(name)}", spool)
        self._ids = None  # a second change within one tick of the clock leaves the stamps as they are
        if self._dry_run:
            self._drafted |= counted.new
        return Added(len(counted.new), counted.events, counted.known, dict(sorted(counted.outcomes.items())))

    def _events_in(self, name: str, run: str) -> Iterator[Event]:
        try:
            for event in files.Lines(self._folder / name):
                if event.run == run:
                    yield event
        except OSError as error:
            raise VaultError(
                f"the journal {name!r} can't be read ({error.strerror or error}); nothing is known of {run!r}"
            ) from error

    def _file_for(self, name: str) -> str:
        """The last of the files of that name; another one when it is so large that to copy it takes long."""
        for number in count(1):
            file = (
                f"{files.IMPORTED}/{name}.jsonl" if number == 1 else f"{files.IMPORTED}/{name}.{number}.jsonl"
            )
            try:
                if (self._folder / file).stat().st_size < _FULL:
                    break
            except OSError:
                break
        return file

    # --- the cache

    def _asked(self, question: Callable[[EpisodeCache], _T]) -> _T:
        """The answer of a cache that knows all journals as they are now.

        A damaged one is thrown away and made anew by the next question. This one, and all where the disk is
        full or must not be written to, is answered from memory.
        """
        import apsw

        from hindbrain.learn.runs.cache import CACHE, EpisodeCache, discard_cache

        path = self._state / CACHE
        try:
            make_folder(self._state)
            with EpisodeCache.open(path) as cache:
                self._freshen(cache)
                return question(cache)
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, ValueError):
            with contextlib.suppress(OSError):
                discard_cache(path)
        except (apsw.Error, OSError):
            pass
        with EpisodeCache.open(None) as cache:
            self._freshen(cache)
            return question(cache)

    def _freshen(self, cache: EpisodeCache) -> None:
        known = cache.known()
        there = files.journal_files(self._root)
        gone = known.keys() - {file.name for file in there}
        changed = [file for file in there if known.get(file.name) != (file.size, file.mtime_ns)]
        self._unread = {}
        if gone:
            with cache.writing():
                for name in gone:
                    cache.remove(name)
        for at in range(0, len(changed), _BATCH):
            with cache.writing():
                for file in changed[at : at + _BATCH]:
                    self._take(cache, file)

    def _take(self, cache: EpisodeCache, file: JournalFile) -> None:
        lines = files.Lines(self._folder / file.name)
        try:
            cache.replace(file, _told(lines), lambda: (lines.passed_over, lines.problem))
        except FileNotFoundError:  # moved or compressed meanwhile: the next look finds it
            pass
        except OSError as error:
            self._unread[file.name] = f"{file.name!r} can't be read ({error.strerror or error})"


class _Counted:
    """What an import has taken so far."""

    def __init__(self, before: set[str]) -> None:
        self.before = before
        self.new: set[str] = set()
        self.events = 0
        self.known = 0
        self.outcomes: Counter[str] = Counter()


def _new_lines(events: Sequence[Event], counted: _Counted) -> bytes:
    """The lines of a run; none when it is known."""
    if not events:
        return b""
    run = events[0].run
    if not _IMPORTED_RUN.fullmatch(run):
        raise UsageError(f"{run!r} is no id of a run; use letters, digits and '-'")
    if any(event.run != run for event in events):
        raise UsageError(f"among the events of {run!r} are those of another run; give each run by itself")
    if run in counted.before or run in counted.new:
        counted.known += 1
        return b""
    counted.new.add(run)
    counted.events += len(events)
    counted.outcomes[outcome_of(events) or "unfinished"] += 1
    return "".join([line_of(event) + "\n" for event in events]).encode()


def _told(events: Iterable[Event]) -> Iterator[Told]:
    from hindbrain.learn.runs.cache import Told

    folding = Folding()
    for event in events:
        episode = folding.add(event)
        if episode is not None:
            yield Told(episode.run, episode.ended, episode)
    for created in folding.unfinished():
        yield Told(created.run, created.at, None)


def _hint(wanted: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, known, 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else "; hindbrain runs list shows the ids"
