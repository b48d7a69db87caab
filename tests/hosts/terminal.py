"""A person at a terminal: starts an interactive program, reads its screen, types. POSIX only."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_CONTROL = re.compile(r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[\]>=][^\x07]*\x07?|[\x00-\x1f]")
_SIZE = (50, 160)


class Terminal:
    """What was drawn so far, without colours and blanks: hosts draw blanks by moving the cursor."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._drawn = b""

    @property
    def screen(self) -> str:
        return "".join(_CONTROL.sub("", self._drawn.decode("utf-8", "replace")).split())

    def wait_for(self, words: str, *, timeout_s: float = 40) -> None:
        """Read until the words are on the screen."""
        wanted = "".join(words.split())
        deadline = time.monotonic() + timeout_s
        while wanted not in self.screen:
            left = deadline - time.monotonic()
            assert left > 0, f"{words!r} was not shown within {timeout_s} s: {self.screen[-1500:]}"
            self._read(min(left, 0.5))

    def wait_for_quiet(self, *, quiet_s: float = 1.0) -> None:
        """Read until nothing more is drawn: a prompt that is not ready swallows what is typed."""
        while self._read(quiet_s):
            pass

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def _read(self, timeout_s: float) -> bool:
        if not select.select([self._master], [], [], timeout_s)[0]:
            return False
        try:
            found = os.read(self._master, 65_536)
        except OSError:
            return False  # the program has ended
        self._drawn += found
        return bool(found)


@contextlib.contextmanager
def at_terminal(
    command: Sequence[str | Path], *, cwd: Path, environ: Mapping[str, str]
) -> Iterator[Terminal]:
    """Run the program at a terminal of its own; it does not outlive the block."""
    import fcntl
    import pty
    import struct
    import termios

    words = [str(word) for word in command]
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(words[0], words, dict(environ))
    try:
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
        yield Terminal(master)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)
