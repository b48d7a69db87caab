"""The secret that clients of an HTTP server must know: made once, kept where only its owner can read it."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from shlex import quote

from hindbrain.base.errors import ConfigError
from hindbrain.base.files import create_file, make_folder

_LEAST = 20  # characters; ours have 43
_MOST_BYTES = 4096


def read_or_make_token(file: Path) -> str:
    """The token in `file`; a new one when the file is not there."""
    try:
        return read_token(file)
    except FileNotFoundError:
        return _make(file)


def read_token(file: Path) -> str:
    """Raises FileNotFoundError, or ConfigError when the file is not fit to hold a secret."""
    try:
        with open(file, "rb") as source:
            mode = os.fstat(source.fileno()).st_mode
            data = source.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"the token file {str(file)!r} can't be read: {error.strerror}") from error
    if _is_open(mode):
        raise ConfigError(
            f"the token file {str(file)!r} can be read by others; make it yours alone: "
            f"chmod 600 {quote(str(file))}"
        )
    token = data.decode("latin-1").strip()
    if len(token) < _LEAST or len(data) > _MOST_BYTES or not (token.isascii() and token.isprintable()):
        raise ConfigError(
            f"the token file {str(file)!r} holds no usable token: one line of at least {_LEAST} plain "
            "characters; delete it to have a new one made"
        )
    if " " in token:
        raise ConfigError(f"the token in {str(file)!r} has a space in it; a bearer token has none")
    return token


def can_be_read_by_others(file: Path) -> bool:
    try:
        return _is_open(file.stat().st_mode)
    except OSError:
        return False


def _is_open(mode: int) -> bool:
    return os.name != "nt" and bool(stat.S_IMODE(mode) & 0o077)


def _make(file: Path) -> str:
    """Two servers that start at once agree on one token: it appears under its name whole, or not at all."""
    token = secrets.token_urlsafe(32)
    try:
        make_folder(file.parent)
        create_file(file, f"{token}\n".encode("ascii"))
    except FileExistsError:
        return read_token(file)
    except OSError as error:
        raise ConfigError(f"the token file {str(file)!r} can't be made: {error.strerror}") from error
    return token
