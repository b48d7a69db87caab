"""Where the journals of runs lie in the vault's `.hindbrain` folder, and their lines. Reads only.

runs/<id>/journal.jsonl        of our own loop; journal.jsonl.gz once it is old
runs/imported/<name>.jsonl     of others, many runs in a file
runs/cold/<year>.jsonl.gz      of our own, many runs in a file, after a year
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from hindbrain.base.errors import VaultError
from hindbrain.learn.runs.events import Event, parse_line
from hindbrain.learn.runs.journal import JOURNAL, RUNS

IMPORTED = "imported"
COLD = "cold"
OWN_RANK, IMPORTED_RANK, COLD_RANK = range(3)  # of two files that tell of one run, the lower one is believed
_RANKS = {IMPORTED: IMPORTED_RANK, COLD: COLD_RANK}
_ENDINGS = (".jsonl", ".jsonl.gz")
_LONGEST_LINE = 1 << 20  # bytes: ours are far shorter, and a file of one endless line must not fill memory
_TOO_LONG = b"...\n"


class JournalFile(NamedTuple):
    name: str  # relative to `runs`, with "/"
    rank: int
    size: int
    mtime_ns: int


class Lines:
    """The events of a file, one by one; what was passed over is counted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.passed_over = 0  # lines that are damaged, or of a version or type that is not known here
        self.problem = ""  # what is wrong with a file that could be read only in part

    def __iter__(self) -> Iterator[Event]:
        """Raises OSError when the file can't be read, which says nothing of what it holds."""
        try:
            with _opened(self._path) as file:
                for line in _whole_lines(file):
                    event = parse_line(line)
                    if event is not None:
                        yield event
                    # What is being written just now, or was cut off by a crash, has no end.
                    elif line.endswith(b"\n") and line.strip():
                        self.passed_over += 1
        except _damage() as error:
            self.problem = (
                f"{str(self._path)!r} is damaged ({_reason(error)}); what comes before that is used"
            )


def journal_files(root: Path) -> list[JournalFile]:
    """All journals of a vault; none where there is no such folder. VaultError when that can't be seen."""
    folder = root / ".hindbrain" / RUNS
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise VaultError(f"the runs in {str(folder)!r} can't be seen ({_reason(error)})") from error
    found: list[JournalFile] = []
    for name in names:
        if name in _RANKS:
            found += _in_folder(folder, name)
        elif (file := own_journal(folder, name)) is not None:
            found.append(file)
    return found


def folder_stamps(folder: Path) -> list[int]:
    """Others when a run was added to the folder of runs, by whatever way but the growth of a journal."""
    stamps = []
    for name in ("", f"/{IMPORTED}", f"/{COLD}"):
        try:
            stamps.append(os.stat(f"{folder}{name}").st_mtime_ns)  # noqa: PTH116
        except OSError:
            stamps.append(0)
    return stamps


def own_journal(folder: Path, run: str) -> JournalFile | None:
    """The journal of a run of our own. Where it was compressed and both are there, the one before."""
    for ending in ("", ".gz"):
        file = _seen(folder, f"{run}/{JOURNAL}{ending}", OWN_RANK)
        if file is not None:
            return file
    return None


def _in_folder(folder: Path, name: str) -> list[JournalFile]:
    try:
        names = sorted(os.listdir(folder / name))  # noqa: PTH208 - names only, many of them
    except OSError as error:
        raise VaultError(f"the runs in {str(folder / name)!r} can't be seen ({_reason(error)})") from error
    found = [_seen(folder, f"{name}/{file}", _RANKS[name]) for file in names if file.endswith(_ENDINGS)]
    return [file for file in found if file is not None]


def _seen(folder: Path, name: str, rank: int) -> JournalFile | None:
    """None for what is no plain file: a link may lead out of the vault, a pipe would never end."""
    try:
        status = os.stat(f"{folder}/{name}", follow_symlinks=False)  # noqa: PTH116 - ten thousand of them
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return JournalFile(name, rank, status.st_size, status.st_mtime_ns)


def _opened(path: Path) -> IO[bytes]:
    if path.suffix != ".gz":
        return open(path, "rb")
    import gzip

    return gzip.open(path, "rb")  # type: ignore[return-value]  # reads as any other


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines; for one that is too long something that is no event."""
    while line := file.readline(_LONGEST_LINE):
        too_long = False
        while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            too_long = True
            line = file.readline(_LONGEST_LINE)
        yield _TOO_LONG if too_long else line


def _damage() -> tuple[type[Exception], ...]:
    """Of a .gz that was cut off or changed. Asked for only when something was raised."""
    import gzip
    import zlib

    return (EOFError, zlib.error, gzip.BadGzipFile)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
