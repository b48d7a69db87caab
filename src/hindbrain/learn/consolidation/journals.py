"""Old journals of runs take less room: compressed after 90 days, one file a year after a year.

runs/<id>/journal.jsonl  ->  runs/<id>/journal.jsonl.gz  ->  runs/cold/<year>.jsonl.gz

Every byte of a journal stays. What was written is read again and compared before the original goes, and the
original goes only if it is still what was read. Twice is once, wherever it was killed.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, VaultError
from hindbrain.learn.runs.events import parse_line
from hindbrain.learn.runs.files import COLD, OWN_RANK, JournalFile, journal_files
from hindbrain.learn.runs.journal import JOURNAL, RUNS
from hindbrain.vault.hashing import content_hash

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

COMPRESSED_AFTER_DAYS = 90
COLD_AFTER_DAYS = 365
_DAY_S = 86_400
_MOST_BYTES = 256 << 20  # of one journal; what is larger is no journal of ours
_LEVEL = 6


class OldJournal(NamedTuple):
    run: str
    ended: float  # its last event, in seconds since the epoch

    @property
    def year(self) -> int:
        return datetime.fromtimestamp(self.ended, UTC).year


class Compressed(NamedTuple):
    compressed: int = 0
    cold: int = 0
    problems: tuple[str, ...] = ()


class OldJournals:
    """For one consolidation."""

    def __init__(self, root: Path, writer: Callable[[], VaultWriter]) -> None:
        self._folder = root / ".hindbrain" / RUNS
        self._root = root
        self._writer = writer

    def find(self, *, older_than: float) -> list[OldJournal]:
        """Journals of our own whose last event came before that moment, the oldest first."""
        found: list[OldJournal] = []
        for file in journal_files(self._root):
            # What was written lately tells of something that happened lately: no need to open it.
            if file.rank != OWN_RANK or file.size > _MOST_BYTES or file.mtime_ns / 1e9 >= older_than:
                continue
            ended = self._ended(file)
            if ended < older_than:
                found.append(OldJournal(file.name.partition("/")[0], ended))
        return sorted(found, key=lambda one: (one.ended, one.run))

    def count(self, *, now: float) -> int:
        """How many would be compressed or put together."""
        found = self.find(older_than=now - COMPRESSED_AFTER_DAYS * _DAY_S)
        cold = now - COLD_AFTER_DAYS * _DAY_S
        return sum(one.ended < cold or (self._folder / one.run / JOURNAL).exists() for one in found)

    def compress(self, *, now: float) -> Compressed:
        old = self.find(older_than=now - COMPRESSED_AFTER_DAYS * _DAY_S)
        is_cold = [one.ended < now - COLD_AFTER_DAYS * _DAY_S for one in old]
        compressed, cold, problems = 0, 0, list[str]()
        for one, over in zip(old, is_cold, strict=True):
            try:
                compressed += not over and self._compress(one.run)
            except (HindbrainError, OSError) as error:
                problems.append(f"the journal of {one.run!r} was not compressed: {_reason(error)}")
        frozen = [one for one, over in zip(old, is_cold, strict=True) if over]
        for year in sorted({one.year for one in frozen}):
            try:
                cold += self._freeze(year, [one.run for one in frozen if one.year == year])
            except (HindbrainError, OSError) as error:
                problems.append(f"journals of {year} were not put together: {_reason(error)}")
        return Compressed(compressed, cold, tuple(problems))

    def _compress(self, run: str) -> bool:
        """False when there is nothing to do."""
        plain = self._read(f"{run}/{JOURNAL}")
        if plain is None:
            return False
        name = f"{run}/{JOURNAL}.gz"
        packed = self._read(name) or b""
        if not packed or not _unpacked(packed).endswith(plain):
            # A run that went on after it was compressed: what came later is added behind.
            self._writer().put_state_file(f"{RUNS}/{name}", packed + _packed(plain))
        if not _unpacked(self._read(name) or b"").endswith(plain):
            raise VaultError(f"{name!r} does not hold what was put there; the journal stays as it is")
        return self._writer().remove_state_file(f"{RUNS}/{run}/{JOURNAL}", expected_hash=content_hash(plain))

    def _freeze(self, year: int, runs: Sequence[str]) -> int:
        """Put the journals of these runs into the file of their year; returns how many went there."""
        name = f"{COLD}/{year}.jsonl.gz"
        held = {run: self._files_of(run) for run in runs}
        packed = self._read(name) or b""
        known = _digests(_unpacked(packed).split(b"\n")) if packed else set[bytes]()
        new = [
            data for run in runs for data in (_whole(held[run]),) if not _digests(data.split(b"\n")) <= known
        ]
        if new:
            self._writer().put_state_file(f"{RUNS}/{name}", packed + _packed(b"".join(new)))
            known = _digests(_unpacked(self._read(name) or b"").split(b"\n"))
        gone = 0
        for run in runs:
            if not _digests(_whole(held[run]).split(b"\n")) <= known:
                raise VaultError(f"{name!r} does not hold {run!r}; its journal stays as it is")
            removed = [
                self._writer().remove_state_file(f"{RUNS}/{run}/{file}", expected_hash=content_hash(data))
                for file, data in held[run].items()
            ]
            gone += any(removed)
        return gone

    def _files_of(self, run: str) -> dict[str, bytes]:
        """The compressed part first: it is the older one."""
        found = {name: self._read(f"{run}/{name}") for name in (f"{JOURNAL}.gz", JOURNAL)}
        return {name: data for name, data in found.items() if data is not None}

    def _ended(self, file: JournalFile) -> float:
        """When its last event was; of a file that tells no time, when it was written."""
        try:
            data = (self._folder / file.name).read_bytes()
            lines = (_unpacked(data) if file.name.endswith(".gz") else data).split(b"\n")
        except (OSError, VaultError):
            return file.mtime_ns / 1e9
        times = (event.at for line in reversed(lines) if (event := parse_line(line)) is not None)
        return next(times, file.mtime_ns / 1e9)

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None


def _whole(held: dict[str, bytes]) -> bytes:
    """The journal of a run, with its last line ended; a plain file beside the compressed one goes on with it,
    or was not yet removed."""
    whole = b""
    for name, data in held.items():
        part = _unpacked(data) if name.endswith(".gz") else data
        if not whole.endswith(part):
            whole += part
    return whole if whole.endswith(b"\n") or not whole else whole + b"\n"


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, _LEVEL, mtime=0)  # no time inside: the same journal gives the same bytes


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise VaultError(f"a compressed journal is damaged ({error}); it is left as it is") from error


def _digests(lines: Iterable[bytes]) -> set[bytes]:
    return {hashlib.sha256(line).digest()[:16] for line in lines if line.strip()}


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
