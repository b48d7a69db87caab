"""Remembers that a daemon did not answer, so that not every hook waits for it in vain.

A small file beside the daemon's address: its content says which daemon, its time stamp since when. Imported
only where there is such a file, or a reason to make one. Nothing here raises: without it one waits again.
"""

from __future__ import annotations

import os
import time

from hindbrain.base.files import replace_file

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without its module
if TYPE_CHECKING:
    from hindbrain.edge.daemon.address import Address

FILE = "silent"
LEFT_ALONE_S = 30.0
AGAIN_S = 0.25  # for a daemon that was silent: one that is well says within it at least that it is busy


def patience_s(folder: str, address: Address, timeout_s: float) -> float:
    """How long to wait for this daemon; 0 for as long as it is left alone."""
    path = os.path.join(folder, FILE)  # noqa: PTH118  pathlib takes longer to import than an answer
    try:
        with open(path, "rb") as file:
            since = os.fstat(file.fileno()).st_mtime
            is_this = file.read(200) == _name(address)
    except OSError:
        return timeout_s
    if not is_this:  # that one has ended
        forget_silence(folder)
        return timeout_s
    return 0.0 if 0 <= time.time() - since < LEFT_ALONE_S else min(timeout_s, AGAIN_S)


def note_silence(folder: str, address: Address) -> None:
    """It did not answer, not even that it is busy."""
    path = os.path.join(folder, FILE)  # noqa: PTH118
    try:
        replace_file(path, _name(address), durable=False)
    except OSError:
        return


def forget_silence(folder: str) -> None:
    try:
        os.unlink(os.path.join(folder, FILE))  # noqa: PTH108, PTH118
    except OSError:
        return


def _name(address: Address) -> bytes:
    return f"{address.pid} {address.started}".encode()
