"""Small JSON files of ours, outside of every vault, that must survive a kill.

Each is whole or not there, and durable when the call that wrote it returns. What the system refuses is
WriteFailed, or VaultError for what can't be read. Knows nothing of messages.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindbrain.base.errors import VaultError, WriteFailed
from hindbrain.base.files import create_file, make_folder, replace_file, sync_folder

_SUFFIX = ".json"
_TEMP = ".tmp"
_BAD = ".bad"
_STALE_S = 86_400.0  # a half written file of that age has no writer any more


class KeptFiles:
    """One folder of them, made when the first is kept."""

    def __init__(self, state: Path, *parts: str) -> None:
        self._state = state
        self._parts = parts

    @property
    def path(self) -> Path:
        return self._state.joinpath(*self._parts)

    def put(self, name: str, value: Mapping[str, object]) -> None:
        with self._changing(name):
            make_folder(self.path)
            replace_file(self._file(name), _data(value))

    def put_new(self, name: str, value: Mapping[str, object]) -> bool:
        """False when there is such a file already; it stays as it is."""
        with self._changing(name):
            make_folder(self.path)
            try:
                create_file(self._file(name), _data(value))
            except FileExistsError:
                return False
        return True

    def read(self, name: str) -> dict[str, Any] | None:
        """None when there is no such file; ValueError when it holds no JSON object; VaultError."""
        try:
            data = self._file(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(self._file(name), error) from error
        try:
            found = json.loads(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not isinstance(found, dict):
            raise ValueError("not an object")
        return found

    def names(self) -> list[str]:
        try:
            found = os.listdir(self.path)  # noqa: PTH208  names are all that is wanted
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unreadable(self.path, error) from error
        return sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))

    def has(self, name: str) -> bool:
        try:
            self._file(name).lstat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unreadable(self._file(name), error) from error
        return True

    def drop(self, name: str) -> bool:
        """False when it was not there."""
        with self._changing(name):
            try:
                self._file(name).unlink()
            except FileNotFoundError:
                return False
        return True

    def move(self, name: str, target: KeptFiles) -> bool:
        """Into another folder, durably; False when it is not there."""
        with target._changing(name):
            make_folder(target.path)
        with self._changing(name):
            try:
                self._file(name).rename(target._file(name))
            except FileNotFoundError:
                return False
            for files in (target, self):
                sync_folder(files.path)
        return True

    def set_aside(self, name: str) -> None:
        """Keep what can't be read for a person to look at, and do not meet it again."""
        with self._changing(name), contextlib.suppress(FileNotFoundError):  # another process was first
            self._file(name).replace(self.path / f"{name}{_BAD}")

    def sweep(self, now: float) -> None:
        """Take away what writers that were killed left behind, where that can be done now."""
        with contextlib.suppress(OSError):
            for temp in self.path.glob(f"*{_TEMP}"):
                with contextlib.suppress(FileNotFoundError):
                    if now - temp.stat().st_mtime > _STALE_S:
                        temp.unlink()

    def _file(self, name: str) -> Path:
        return self.path / f"{name}{_SUFFIX}"

    @contextlib.contextmanager
    def _changing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise WriteFailed(
                f"{str(self.path / name)!r} can't be written ({error.strerror}); free some space or check "
                "who may write there, then try again"
            ) from error

    def _unreadable(self, place: Path, error: OSError) -> VaultError:
        return VaultError(f"{str(place)!r} can't be read ({error.strerror}); check who may, then try again")


def _data(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode("ascii")
