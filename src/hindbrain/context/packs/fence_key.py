"""The secret behind the nonces of the fence: made once a vault, kept where only its owner can read it.

Losing it costs nothing but a warm prompt cache, so there is always a key: what can't be kept is made for this
process, and said so.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from functools import cache
from pathlib import Path

KEY_FILE = "fence-key"
KEY_BYTES = 32


def read_or_make_key(state: Path, *, say: Callable[[str], None] | None = None) -> bytes:
    """The key in the vault's state folder. `say` is told when it is only this process's."""
    file = state / KEY_FILE
    try:
        key = _read(file)
        if key is None:
            key = _make(file)
    except OSError as error:
        return _own_key(
            f"the key of the fence can't be kept in {str(file)!r}: {error.strerror or error}", say
        )
    if len(key) != KEY_BYTES:
        return _own_key(f"{str(file)!r} holds no key; delete it to have a new one made", say)
    return key


def _own_key(trouble: str, say: Callable[[str], None] | None) -> bytes:
    if say is not None:
        say(f"{trouble}; prompt caches will not hold between runs")
    return _key_of_this_process()


@cache
def _key_of_this_process() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


def _read(file: Path) -> bytes | None:
    """None when it is not there yet."""
    try:
        with open(file, "rb") as source:
            return source.read(KEY_BYTES + 1)
    except FileNotFoundError:
        return None


def _make(file: Path) -> bytes:
    """Processes that start at once agree on one key: it appears under its name whole, or not at all."""
    key = secrets.token_bytes(KEY_BYTES)
    file.parent.mkdir(parents=True, exist_ok=True)
    temp = file.with_name(f"{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(temp, _EXCLUSIVE, 0o600), "wb") as target:
            target.write(key)
        _place(temp, file)
    except FileExistsError:
        return _read(file) or b""  # empty: whoever was first did not write it as we do
    finally:
        temp.unlink(missing_ok=True)
    return key


_EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _place(temp: Path, file: Path) -> None:
    """Give the name only when nobody has it. On Windows a rename does just that."""
    if os.name == "nt":
        temp.rename(file)
        return
    try:
        os.link(temp, file)
    except FileExistsError:
        raise
    except OSError:  # a file system without links; whoever comes last wins, which is good enough there
        temp.replace(file)
