"""The secret behind the nonces of the fence: made once a vault, kept where only its owner can read it.

Losing it costs nothing but a warm prompt cache, so there is always a key: what can't be kept is made for this
process, and said so.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cache
from pathlib import Path

from hindbrain.base.files import create_file, make_folder

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
    make_folder(file.parent)
    try:
        create_file(file, key, durable=False)
    except FileExistsError:
        return _read(file) or b""  # empty: whoever was first did not write it as we do
    return key
