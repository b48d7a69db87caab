"""The person at the terminal who approves: who started this process, and one question that they answer.

Reads the controlling terminal itself, never standard input, so that a pipe answers nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from hindbrain.base.ancestors import environments
from hindbrain.base.errors import Cancelled
from hindbrain.edge.output import painter
from hindbrain.memory.inbox.presence import Presence, agent_among, check_person

Lines = Callable[[Callable[..., str]], Sequence[str]]


class Terminal:
    """The controlling terminal, opened."""

    def __init__(self, read: IO[str], write: IO[str]) -> None:
        self._read = read
        self._write = write
        self.paint = painter(write)

    def fileno(self) -> int:
        return self._read.fileno()

    def say(self, text: str) -> None:
        self._write.write(f"{text}\n")
        self._write.flush()

    def ask(self, question: str) -> str:
        """The line that is typed after the question stands there; "" when the terminal closes."""
        drop_typed_ahead(self._read)
        self._write.write(f"{question} ")
        self._write.flush()
        return self._read.readline()


def started_by() -> str:
    """The agent host that this process, or one of its parents, runs in; "" for none that is known."""
    return agent_among(environments())


def ask_approval(lines: Lines, question: str, *, command: str) -> None:
    """Show a person what they approve and ask once. NeedsPerson without one; Cancelled unless they say yes.

    `lines` is given what paints text for the terminal. `command`: what the owner is to type instead.
    """
    with open_terminal() as terminal:
        check_person(Presence(terminal is not None, started_by()), command=command)
        assert terminal is not None
        for line in lines(terminal.paint):
            terminal.say(line)
        if terminal.ask(f"{question} [y/N]").strip().lower() not in ("y", "yes"):
            raise Cancelled("nothing was approved; it still waits")


@contextmanager
def open_terminal() -> Iterator[Terminal | None]:
    """None without a terminal, in the background of one, and when something is piped in."""
    if not (sys.stdin and sys.stdin.isatty()):
        yield None
        return
    with contextlib.ExitStack() as opened:
        try:
            terminal = _open(opened)
        except (OSError, ValueError):
            terminal = None
        yield terminal


def _open(opened: contextlib.ExitStack) -> Terminal | None:
    if sys.platform == "win32":
        return Terminal(
            opened.enter_context(_text("CONIN$", "r")), opened.enter_context(_text("CONOUT$", "w"))
        )
    terminal = Terminal(
        opened.enter_context(_text("/dev/tty", "r")), opened.enter_context(_text("/dev/tty", "w"))
    )
    # A process in the background would be stopped by reading.
    return terminal if os.tcgetpgrp(terminal.fileno()) == os.getpgrp() else None


def _text(name: str, mode: str) -> IO[str]:
    return open(name, mode, encoding="utf-8", errors="replace")


def drop_typed_ahead(stream: IO[str]) -> None:
    """What was typed before a question stood there is no answer to it: a pasted line, an impatient Enter."""
    with contextlib.suppress(OSError, ValueError):  # no terminal after all
        if sys.platform == "win32":
            import msvcrt

            while msvcrt.kbhit():
                msvcrt.getwch()
        else:
            import termios

            with contextlib.suppress(termios.error):
                termios.tcflush(stream.fileno(), termios.TCIFLUSH)
