"""What shall be forgotten, taken out of what is kept of conversations beside the vault.

That is what waits to be captured, how far each transcript was read, the prompts of the ledgers and receipts,
and what a session's note will begin with. Where a cursor stands stays known, so that nothing is captured a
second time. Knows nothing of memories: the caller says which texts hold what is to be forgotten, and which
hint at it. A prompt is asked for both; the names of hosts, sessions, tools and files for neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hindbrain.base.files import replace_file
from hindbrain.base.json_lines import as_object
from hindbrain.context import receipts
from hindbrain.context.capture import cursors, heard, spool, troubles
from hindbrain.context.capture.places import ASIDE, LOCK
from hindbrain.context.flush import tally
from hindbrain.context.topic import ledger
from hindbrain.context.topic.ledger_file import renew_ledger
from hindbrain.vault.lock import FileLock

_FOLDERS = (cursors.FOLDER, spool.FOLDER, heard.FOLDER, ASIDE, tally.FOLDER)
_WAIT_S = 10.0
_PROMPTS = frozenset({"prompt", "prompts"})
_NAMES = frozenset(
    {"at", "call", "channel", "cwd", "event", "file", "head", "host", "id", "ids", "key", "kind", "memory"}
    | {"name", "path", "place", "role", "run", "session", "slot", "tail", "to", "tool", "toolCallId"}
    | {"toolName", "transcript", "type"}
)
_ARGUMENTS = frozenset({"arguments", "input"})  # of a tool: their names are the tool's, and say nothing
Holds: TypeAlias = Callable[[str], bool]


def purge_conversations(state: Path, holds: Holds, hints: Holds | None = None) -> int:
    """Take out every text that `holds` it and every prompt that `hints` at it; returns of how many files.

    Raises Busy.
    """
    with FileLock(state / LOCK).held(_WAIT_S):
        folders = [state / name for name in _FOLDERS]
        files = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())]
        files.append(state / troubles.FILE)
        changed = sum(purge_lines(path, holds, hints) for path in files if path.is_file())
        return changed + _purge_ledgers(state / ledger.FOLDER, _either(holds, hints))


def _purge_ledgers(folder: Path, unwanted: Holds) -> int:
    """Every text of a ledger is a prompt. Processes that know a ledger are made to read it again."""
    changed = 0
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and purge_lines(path, unwanted):
            renew_ledger(path)
            changed += 1
    return changed


def purge_receipts(state: Path, holds: Holds, hints: Holds) -> bool:
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


def _purged_receipt(line: bytes, hints: Holds) -> bytes:
    """A line that a crash cut has no end either: it goes."""
    told = as_object(line)
    if told is None:
        return b""
    prompt = told.get("prompt")
    if not (hints(prompt) if isinstance(prompt, str) and prompt else told.get("hash")):
        return line
    return json.dumps({**told, "prompt": "", "hash": ""}, ensure_ascii=True).encode("ascii")


def purge_lines(path: Path, holds: Holds, hints: Holds | None = None) -> bool:
    """Take the texts out of a file of JSON, one value or one in each line; True when it had to be changed."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    lines = [data] if _is_json(data) else data.split(b"\n")
    cleaned = [_cleaned(line, holds, hints) for line in lines]
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


def _cleaned(line: bytes, holds: Holds, hints: Holds | None = None) -> bytes:
    """The JSON in a line without the texts; a line that is no JSON goes if it holds them, or may."""
    if not line.strip():
        return line
    try:
        value = json.loads(line)
        emptied = _emptied(value, _Unwanted(holds, hints))
    except (ValueError, RecursionError):
        return b"" if holds(line.decode("utf-8", "replace")) else line
    return line if emptied == value else json.dumps(emptied, ensure_ascii=True).encode("ascii")


def _either(holds: Holds, hints: Holds | None) -> Holds:
    return holds if hints is None else lambda text: holds(text) or hints(text)


class _Unwanted(NamedTuple):
    holds: Holds
    hints: Holds | None  # asked of prompts, too
    names: frozenset[str] = _NAMES  # keys whose values are left alone

    def below(self, key: str) -> _Unwanted:
        if key in _ARGUMENTS:
            return self._replace(names=frozenset())
        if key in _PROMPTS:
            return self._replace(holds=_either(self.holds, self.hints))
        return self


def _emptied(value: object, unwanted: _Unwanted) -> object:
    if isinstance(value, str):
        return "" if value and unwanted.holds(value) else value
    if isinstance(value, dict):
        return {
            key: inner
            if key in unwanted.names and isinstance(inner, str)
            else _emptied(inner, unwanted.below(key))
            for key, inner in value.items()
        }
    return [_emptied(inner, unwanted) for inner in value] if isinstance(value, list) else value
