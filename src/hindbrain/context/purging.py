"""What shall be forgotten, taken out of what is kept of conversations beside the vault.

That is what waits to be captured, how far each transcript was read, the prompts of the ledgers and receipts,
and what a session's note will begin with. Where a cursor stands stays known, so that nothing is captured a
second time. Knows nothing of memories: the caller says which texts hold what is to be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hindbrain.base.files import replace_file
from hindbrain.base.json_lines import as_object
from hindbrain.context import receipts
from hindbrain.context.capture import cursors, heard, spool, troubles
from hindbrain.context.capture.places import ASIDE, LOCK
from hindbrain.context.flush import tally
from hindbrain.context.topic import ledger
from hindbrain.vault.lock import FileLock

_FOLDERS = (cursors.FOLDER, spool.FOLDER, heard.FOLDER, ASIDE, ledger.FOLDER, tally.FOLDER)
_WAIT_S = 10.0


def purge_conversations(state: Path, holds: Callable[[str], bool]) -> int:
    """Take out every text for which `holds` is true; returns how many files were changed. Raises Busy."""
    with FileLock(state / LOCK).held(_WAIT_S):
        folders = [state / name for name in _FOLDERS]
        files = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
        files.append(state / troubles.FILE)
        return sum(purge_lines(path, holds) for path in files if path.is_file())


def purge_receipts(state: Path, holds: Callable[[str], bool], hints: Callable[[str], bool]) -> bool:
    """As `purge_lines`. Prompts are cut there, so one that hints at it goes, with its hash. Raises Busy."""
    path = state / receipts.FILE
    if not path.is_file():
        return False
    with FileLock(state / receipts.LOCK).held(_WAIT_S):
        lines = path.read_bytes().split(b"\n")
        cleaned = [_purged_receipt(_cleaned(line, holds), hints) for line in lines]
        if cleaned != lines:
            replace_file(path, b"\n".join(cleaned))
        return cleaned != lines


def _purged_receipt(line: bytes, hints: Callable[[str], bool]) -> bytes:
    """A line that a crash cut has no end either: it goes."""
    told = as_object(line)
    if told is None:
        return b""
    prompt = told.get("prompt")
    if not (hints(prompt) if isinstance(prompt, str) and prompt else told.get("hash")):
        return line
    return json.dumps({**told, "prompt": "", "hash": ""}, ensure_ascii=True).encode("ascii")


def purge_lines(path: Path, holds: Callable[[str], bool]) -> bool:
    """Take the texts out of a file of JSON, one value or one in each line; True when it had to be changed."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    lines = [data] if _is_json(data) else data.split(b"\n")
    cleaned = [_cleaned(line, holds) for line in lines]
    if cleaned == lines:
        return False
    replace_file(path, b"\n".join(cleaned))
    return True


def _is_json(data: bytes) -> bool:
    """One value, over however many lines?"""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _cleaned(line: bytes, holds: Callable[[str], bool]) -> bytes:
    """The JSON in a line without the texts; a line that is no JSON goes if it holds them, or may."""
    if not line.strip():
        return line
    try:
        value = json.loads(line)
        emptied = _emptied(value, holds)
    except (ValueError, RecursionError):
        return b"" if holds(line.decode("utf-8", "replace")) else line
    return line if emptied == value else json.dumps(emptied, ensure_ascii=True).encode("ascii")


def _emptied(value: object, holds: Callable[[str], bool]) -> object:
    if isinstance(value, str):
        return "" if value and holds(value) else value
    if isinstance(value, dict):
        return {key: _emptied(inner, holds) for key, inner in value.items()}
    return [_emptied(inner, holds) for inner in value] if isinstance(value, list) else value
