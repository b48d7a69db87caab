"""Finds and unpacks evaluation data: a file, a folder that holds it, or a folder that is it."""

import hashlib
import json
import lzma
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.frame import Skipped


def find(data: Path, what: str, patterns: Sequence[str]) -> list[Path]:
    """Return the files or folders of one set: `data` itself when it is a file, else what matches in it."""
    if data.is_file():
        return [data]
    if not data.is_dir():
        raise Skipped(f"there is no {str(data)!r}; name the data with --data PATH or HINDBRAIN_DATA")
    found = dict.fromkeys(path for pattern in patterns for path in sorted(data.glob(pattern)))
    if not found:
        wanted = ", ".join(patterns)
        raise Skipped(f"{str(data)!r} has no {what} ({wanted}); name it with --data PATH or HINDBRAIN_DATA")
    return list(found)


def find_one(data: Path, what: str, patterns: Sequence[str]) -> Path:
    """As `find`; of several, the first pattern's first."""
    return find(data, what, patterns)[0]


def read_json(path: Path) -> Any:
    opened: Callable[..., Any] = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def read_lines(path: Path) -> list[Any]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def unpacked(path: Path, work: Path) -> Path:
    """Return a folder with the data: `path` itself, or what the archive holds, unpacked once into `work`."""
    if path.is_dir():
        return path
    folder = work / path.name.removesuffix(".tar.gz").removesuffix(".tgz")
    done = folder.with_name(folder.name + ".unpacked")
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
        done.touch()
    return folder


def single_root(folder: Path) -> Path:
    """The folder below which things begin: archives often hold one folder and nothing else."""
    inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return single_root(inside[0]) if len(inside) == 1 and inside[0].is_dir() else folder


def described(path: Path, **counts: int) -> dict[str, str | int]:
    """What was measured: the name, a digest where it is one file, and how much of it there is."""
    about: dict[str, str | int] = {"name": path.name}
    if path.is_file():
        with open(path, "rb") as file:
            about["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return about | counts
