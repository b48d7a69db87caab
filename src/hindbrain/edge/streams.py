"""Standard streams that are always there, speak UTF-8 in a pipe, and fail with a name.

Knows nothing of what is written. Imports little: the hooks use it at every prompt.
"""

from __future__ import annotations

import errno
import os
import sys

from hindbrain.base.errors import OutputFailed

TYPE_CHECKING = False  # typing.TYPE_CHECKING
if TYPE_CHECKING:
    from typing import IO, Any

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


class ReaderLeft(BrokenPipeError):
    """The reader of standard output has seen enough, as `head` does."""


def open_missing_streams() -> None:
    """Open the null device for each standard stream that the caller closed, as git does.

    The next file to be opened would take the number of the closed stream, and receive what is printed.
    """
    for fd, (name, mode) in enumerate(_STREAMS):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(fd, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def use_utf8(stream: IO[str]) -> None:
    """Use UTF-8 unless `stream` is a terminal, or its user chose an encoding with PYTHONIOENCODING.

    A character that a terminal can't show becomes a substitute.
    """
    if not hasattr(stream, "reconfigure"):
        return
    if stream.isatty() or os.environ.get("PYTHONIOENCODING"):
        stream.reconfigure(errors="replace")
    else:
        stream.reconfigure(encoding="utf-8", errors="replace")


class ResultStream:
    """Standard output. A write that fails raises ReaderLeft or OutputFailed, and no other error."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            raise output_error(error) from error

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise output_error(error) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class MessageStream:
    """Standard error. A message that can't be written is dropped: the result matters more."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            discard(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            discard(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def output_error(error: OSError) -> OSError | OutputFailed:
    """Name a failed write to standard output."""
    # Windows reports a closed pipe as an invalid argument.
    closed = sys.platform == "win32" and error.errno == errno.EINVAL
    if closed or isinstance(error, (BrokenPipeError, ConnectionResetError)):
        return ReaderLeft(*error.args)
    return OutputFailed(
        f"the result could not be written to standard output: {error.strerror or error}; "
        "what the command changed stays changed; send its output elsewhere or free some space"
    )


def discard(stream: IO[str]) -> None:
    """Drop what `stream` still holds; Python would write it again at its end, fail, and exit with 120."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()
    except (OSError, ValueError):  # no file behind it
        return
