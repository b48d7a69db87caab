"""A file that was displaced from its name: who still writes to it, and did it change after all?

An editor that opened a note before it was displaced goes on writing into the old file. Where the system
offers leases (Linux), taking one tells whether anybody has the file open for writing, and holds back whoever
is about to open it. Elsewhere the open descriptor lets us look again later, even after the name is gone.
Knows nothing of notes, revisions or merging.
"""

import contextlib
import errno
import os
import signal
import sys

from hindbrain.vault.atomic import Folder, Seen, Stamp, read_fd


class Displaced:
    """An open look at a displaced file. `close()` it."""

    def __init__(self, folder: Folder, name: str) -> None:
        self._fd = folder.open_file(name)
        self._leased = False
        try:
            lease = _take_lease(self._fd)
            self._leased = lease is True
            self.written_to = lease is False  # somebody has it open for writing at this moment
            self.seen: Seen = read_fd(self._fd)
        except BaseException:
            os.close(self._fd)
            raise
        if sys.platform == "win32":
            self.close()  # Windows removes and renames no file that is open

    def quiet(self) -> bool:
        """As far as we can see, nobody writes to it, waits to, or wrote to it since it was read."""
        if self._fd < 0:
            return True
        if self.written_to or Stamp.of(os.fstat(self._fd)) != self.seen.stamp:
            return False
        return not self._leased or _lease_is_whole(self._fd)

    def let_go(self) -> None:
        """Let others open it again; go on watching."""
        if self._leased:
            self._leased = False
            with contextlib.suppress(OSError):
                _drop_lease(self._fd)

    def changed(self) -> Seen | None:
        """What it holds now, when that differs from what was read; None when it does not.

        Read, not guessed from its time: older kernels stamp two writes within 4 ms alike.
        """
        if self._fd < 0:
            return None
        now = read_fd(self._fd)
        return now if now.hash != self.seen.hash else None

    def close(self) -> None:
        if self._fd >= 0:
            self.let_go()
            os.close(self._fd)
            self._fd = -1


def _take_lease(fd: int) -> bool | None:
    """True: nobody has it open for writing, and who wants to waits. False: somebody has. None: can't tell."""
    if sys.platform != "linux":
        return None
    import fcntl

    try:
        # A broken lease is told by a signal; the default, SIGIO, would end the process. SIGURG is ignored.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return False if error.errno in (errno.EAGAIN, errno.EWOULDBLOCK) else None
    return True


def _lease_is_whole(fd: int) -> bool:
    if sys.platform != "linux":
        return True
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_RDLCK


def _drop_lease(fd: int) -> None:
    if sys.platform == "linux":
        import fcntl

        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
