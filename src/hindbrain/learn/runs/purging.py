"""What shall be forgotten, taken out of the journals of runs: the words go, what was done stays.

Knows nothing of memories: the caller says which texts hold what is to be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import Busy, VaultError
from hindbrain.learn.runs.files import journal_files
from hindbrain.learn.runs.journal import RUNS

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

_FREE_TEXT = ("command", "reason", "said", "session", "arguments")  # the other fields are names and ids
Holds = Callable[[str], bool]


def purge_runs(root: Path, state: Path, writer: VaultWriter, holds: Holds) -> int:
    """Empty every text for which `holds` is true; returns how many journals were changed.

    Raises VaultError for a journal that can't be read: whether it holds the words is not known then. Busy.
    """
    from hindbrain.learn.runs.cache import CACHE, discard_cache

    changed = 0
    for file in journal_files(root):
        try:
            changed += _purge_file(root, file.name, writer, holds)
        except FileNotFoundError:  # compressed or moved just now
            raise Busy(f"the journal {file.name!r} was moved meanwhile; run it again") from None
        except (OSError, EOFError, ValueError) as error:
            raise VaultError(
                f"the journal {file.name!r} can't be read ({error}); it may hold the words"
            ) from error
    discard_cache(state / CACHE)
    return changed


def _purge_file(root: Path, name: str, writer: VaultWriter, holds: Holds) -> bool:
    clean = _clean_archive if name.endswith(".gz") else _clean_lines
    data = (root / ".hindbrain" / RUNS / name).read_bytes()
    # Looked at without the writer's lock first: most journals hold nothing of it.
    if clean(data, holds) == data:
        return False
    return writer.edit_state_file(f"{RUNS}/{name}", lambda now: clean(now, holds))


def _clean_archive(data: bytes, holds: Holds) -> bytes:
    import gzip
    import zlib

    try:
        before = gzip.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    after = _clean_lines(before, holds)
    return data if after == before else gzip.compress(after, mtime=0)


def _clean_lines(data: bytes, holds: Holds) -> bytes:
    return b"\n".join([_clean_line(line, holds) for line in data.split(b"\n")])


def _clean_line(line: bytes, holds: Holds) -> bytes:
    """The event without the texts; a line that is none of ours goes if it holds them."""
    if not line.strip():
        return line
    try:
        told = json.loads(line)
        if isinstance(told, dict):
            emptied = dict(told)
            emptied |= {key: _emptied(told[key], holds) for key in _FREE_TEXT if key in told}
            return line if emptied == told else json.dumps(emptied, separators=(",", ":")).encode("ascii")
    except (ValueError, RecursionError):
        pass
    return b"" if holds(line.decode("utf-8", "replace")) else line


def _emptied(value: Any, holds: Holds) -> Any:
    if isinstance(value, str):
        return "" if value and holds(value) else value
    if isinstance(value, dict):
        return {key: _emptied(inner, holds) for key, inner in value.items()}
    return [_emptied(inner, holds) for inner in value] if isinstance(value, list) else value
