"""A lock between processes and between threads, freed by the system when its holder dies.

Knows nothing of vaults. The lock file is never deleted: a second process could otherwise lock a file that a
third one no longer finds.
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from hindbrain.base.errors import Busy, WriteFailed
from hindbrain.base.files import make_folder

_FIRST_WAIT_S = 0.001
_LONGEST_WAIT_S = 0.02
_GLANCES = 5


class FileLock:
    """Each acquisition opens the file anew, so that two threads exclude each other as two processes do.

    Not re-entrant: the second `held()` of one thread waits for the first and ends in Busy.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextlib.contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Hold the lock; raise Busy when it isn't free within `timeout_s` (0: a glance)."""
        fd = self._open()
        try:
            self._wait(fd, timeout_s)
            try:
                yield
            finally:
                _unlock(fd)
        finally:
            os.close(fd)

    def _open(self) -> int:
        try:
            make_folder(self._path.parent)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise WriteFailed(
                f"the lock file {str(self._path)!r} can't be opened ({error.strerror}); nothing was written"
            ) from error

    def _wait(self, fd: int, timeout_s: float) -> None:
        try:
            if _try_lock(fd):
                return
        except OSError as error:  # some network file systems have no locks
            raise WriteFailed(
                f"{str(self._path)!r} can't be locked ({error.strerror}); nothing was written"
            ) from error
        if not _wait_in_line(fd, timeout_s):
            raise Busy(f"another process holds {str(self._path)!r}; try again in a moment")


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        with contextlib.suppress(OSError):
            msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def _wait_in_line(fd: int, timeout_s: float) -> bool:
        """This system keeps no line that one can leave: try again and again."""
        import random

        deadline = time.monotonic() + timeout_s
        wait_s = _FIRST_WAIT_S
        while not _try_lock(fd):
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                return False
            # The jitter keeps many waiters from trying in step, which would starve some of them.
            time.sleep(min(left_s, wait_s * random.uniform(0.5, 1.0)))
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
        return True

else:
    import fcntl

    # flock, not lockf: POSIX record locks vanish when any descriptor of the file is closed, and do not
    # exclude two threads of one process.
    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(fd: int) -> None:
        with contextlib.suppress(OSError):  # closing the descriptor frees it anyway
            fcntl.flock(fd, fcntl.LOCK_UN)

    def _wait_in_line(fd: int, timeout_s: float) -> bool:
        """In the system's own line, where the first comes first: fifty that poll starve some of them."""
        if timeout_s > 0:
            return _Place(fd).wait(timeout_s)
        # Somebody who left the line may have got the lock just now, and gives it back at once.
        for _ in range(_GLANCES):
            time.sleep(_FIRST_WAIT_S)
            if _try_lock(fd):
                return True
        return False

    class _Place:
        """A place in the line. The system's wait knows no time limit, so a thread waits, and can be left."""

        def __init__(self, fd: int) -> None:
            import threading

            self._fd = os.dup(fd)  # shares the lock with `fd`, and is open for as long as the thread waits
            self._deciding = threading.Lock()
            self._over = threading.Event()
            self._ours = False
            self._left = False
            threading.Thread(target=self._stand, name="waits for a lock", daemon=True).start()

        def wait(self, timeout_s: float) -> bool:
            try:
                self._over.wait(timeout_s)
            finally:  # interrupted or not: nobody may come to hold a lock without knowing it
                with self._deciding:
                    self._left = not self._ours
            return self._ours

        def _stand(self) -> None:
            try:
                with contextlib.suppress(OSError):
                    fcntl.flock(self._fd, fcntl.LOCK_EX)
                    with self._deciding:
                        self._ours = not self._left
                    if not self._ours:
                        fcntl.flock(self._fd, fcntl.LOCK_UN)
            finally:
                os.close(self._fd)
                self._over.set()
