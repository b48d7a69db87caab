"""The file in which a run stands while it goes on, so that it can go on after a crash or a pause.

One line for each entry, durable before it counts; pictures are files beside it. It lies with the vault's
state and never in the vault, is readable by its owner alone, and goes when the run is over: what is worth
keeping then stands in the journal. Knows nothing of what entries mean.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from hindbrain.agent.entries import Entry, as_json, entry_of, image_name, images_in
from hindbrain.base.errors import NotFound, VaultError, WriteFailed, WriteUnknown
from hindbrain.base.files import make_folder
from hindbrain.vault.atomic import PRIVATE_FOLDER, Folder, SyncFailed, append_line

FOLDER = ("agent", "runs")  # in the vault's state
_FILE = "transcript.jsonl"
_RUN = re.compile(r"r-[a-z0-9-]{1,76}")
_TEMP = ".tmp"
_LOOSE = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=str)


class Transcript:
    """Of one run. For the one process that holds the vault's run lock."""

    def __init__(self, state: Path, run: str) -> None:
        if not _RUN.fullmatch(run):
            raise NotFound(f"{run!r} is no id of a run of ours; hindbrain runs list shows them")
        self.run = run
        self._state = state
        self._parts = (*FOLDER, run)
        self._folder = state.joinpath(*self._parts)

    def append(self, *entries: Entry) -> None:
        """Durable when this returns. WriteFailed: nothing of it is there; WriteUnknown: it may be."""
        lines = [_LOOSE.encode(as_json(entry)).encode("ascii") for entry in entries]
        with self._writing() as folder:
            for image in images_in(entries):
                _keep(folder, image_name(image), image.data)
            append_line(folder, _FILE, b"\n".join(lines))

    def entries(self) -> list[Entry]:
        """What was noted, oldest first. A line that a crash has torn was never counted, and is passed over.

        NotFound when there is no such transcript.
        """
        try:
            lines = (self._folder / _FILE).read_bytes().split(b"\n")
        except FileNotFoundError:
            raise NotFound(
                f"the run {self.run!r} is over, or was never begun here; nothing is left of it to go on with"
            ) from None
        except OSError as error:
            raise VaultError(
                f"what the run {self.run!r} has done can't be read ({error.strerror or error}); try again"
            ) from error
        found = (entry_of(told, self._image) for line in lines if (told := _parsed(line)) is not None)
        return [entry for entry in found if entry is not None]

    def remove(self) -> None:
        """The run is over. The file of entries goes first: pictures without it are nothing to go on with.

        What can't be removed now is found, and known to be over, by the next run.
        """
        with contextlib.suppress(OSError, VaultError):
            (self._folder / _FILE).unlink(missing_ok=True)
            for name in _names(self._folder):
                (self._folder / name).unlink(missing_ok=True)
            self._folder.rmdir()

    def _image(self, name: str) -> bytes:
        try:
            return (self._folder / Path(name).name).read_bytes()
        except OSError:
            return b""

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Folder]:
        what = f"what the run {self.run!r} does can't be noted in {str(self._folder)!r}"
        try:
            make_folder(self._state)
            with Folder.open(self._state, self._parts, create=True, mode=PRIVATE_FOLDER) as folder:
                yield folder
        except SyncFailed as error:
            raise WriteUnknown(
                f"{what} for certain ({error.strerror}); look at the disk, then resume it"
            ) from error
        except OSError as error:
            raise WriteFailed(f"{what} ({error.strerror or error}); make room, then resume it") from error


def transcripts(state: Path) -> list[Transcript]:
    """Of all runs that something is left of, oldest first."""
    names = _names(state.joinpath(*FOLDER))
    return [Transcript(state, name) for name in names if _RUN.fullmatch(name)]


def _keep(folder: Folder, name: str, data: bytes) -> None:
    """A file that is whole or not there."""
    if folder.stamp(name) is None:
        folder.unlink(name + _TEMP)
        folder.write_temp(name + _TEMP, data, mode=0o600)
        folder.replace(name + _TEMP, name)
        folder.sync()


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  names are enough
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise VaultError(
            f"what is left of runs in {str(folder)!r} can't be seen ({error.strerror or error}); try again"
        ) from error
