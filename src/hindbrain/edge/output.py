"""Where words go: the result to stdout, everything else to stderr; text for people or JSON for programs.

Knows terminals (colour, width, control characters) and nothing of what is printed.
"""

from __future__ import annotations

import os
import sys

from hindbrain.edge.streams import MessageStream, ResultStream, use_utf8

TYPE_CHECKING = False  # typing.TYPE_CHECKING; its module is worth a fifth of `hindbrain --help`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

_PIPE_WIDTH = 100
_LONGEST_LINE = 120  # wider text is hard to read, however wide the window
BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"


class Output:
    """The streams of one run. `json`: the caller wants one JSON value on stdout and nothing else there."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            use_utf8(stream)
        self.stdout: IO[str] = ResultStream(sys.stdout)  # type: ignore[assignment]
        self.stderr: IO[str] = MessageStream(sys.stderr)  # type: ignore[assignment]

    def line(self, text: str = "") -> None:
        """A line of the result, for a person."""
        self.stdout.write(text + "\n")

    def data(self, value: dict[str, Any]) -> None:
        """The result, for a program."""
        import json

        ascii_only = (getattr(self.stdout, "encoding", None) or "utf-8").lower().replace("-", "") != "utf8"
        try:
            text = json.dumps(value, ensure_ascii=ascii_only, indent=2)
            text.encode("utf-8")
        except UnicodeEncodeError:  # half a character, from a broken file name
            text = json.dumps(value, indent=2)
        self.stdout.write(text + "\n")

    def say(self, text: str) -> None:
        """A word beside the result: progress, notices, what to do next."""
        self.stderr.write(text + "\n")
        self.stderr.flush()

    def warn(self, text: str) -> None:
        self.say(f"{self.paint_err('warning:', YELLOW)} {text}")

    @property
    def on_terminal(self) -> bool:
        return self.stdout.isatty()

    @property
    def width(self) -> int:
        """Columns to fill on a terminal."""
        return terminal_width(self.stdout)

    def paint(self, text: str, *codes: str) -> str:
        """`text` in colour where stdout shows colours."""
        return _painted(text, codes) if _shows_colours(self.stdout) else text

    def paint_err(self, text: str, *codes: str) -> str:
        return _painted(text, codes) if _shows_colours(self.stderr) else text


def painter(stream: IO[str]) -> Callable[..., str]:
    """What paints text for a stream: in colour where that shows colours."""
    shows = _shows_colours(stream)
    return lambda text, *codes: _painted(text, codes) if shows else text


def terminal_width(stream: IO[str]) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return min(_LONGEST_LINE, int(columns))
    try:
        return min(_LONGEST_LINE, os.get_terminal_size(stream.fileno()).columns or _PIPE_WIDTH)
    except (OSError, ValueError, AttributeError):
        return _PIPE_WIDTH


def safe(text: str) -> str:
    """`text` without what a terminal obeys: a note must not move the cursor or set the window's title."""
    if text.isprintable():
        return text
    return "".join(char if char in "\n\t" or not _is_control(char) else "\ufffd" for char in text)


def _is_control(char: str) -> bool:
    # C0, C1, and the marks that turn the direction of what follows.
    return (
        char < " "
        or "\x7f" <= char <= "\x9f"
        or char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def _painted(text: str, codes: tuple[str, ...]) -> str:
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


def _shows_colours(stream: IO[str]) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return False
    if os.name == "nt":
        os.system("")  # switches the console to escape sequences; harmless when it already is
    return True
