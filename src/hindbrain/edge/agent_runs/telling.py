"""A run as it goes on, for who looks on: what memory was used, each step in one line, what was wrong.

All of it goes to stderr; the answer is the command's to print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hindbrain.edge.output import DIM, RED, Output, safe, terminal_width

if TYPE_CHECKING:
    from hindbrain.agent.run import Said

_LEAST = 20  # columns for a text, however narrow the terminal
_MOST_MEMORY = 8  # lines


class Telling:
    """A listener. `brief`: what was recalled in one line, and not a line each."""

    def __init__(self, out: Output, *, brief: bool = False, quiet: bool = False) -> None:
        self._out = out
        self._brief = brief
        self._quiet = quiet
        self._last_call, self._again = "", 0  # the call that was told last, and how often it came again
        self._tell: dict[str, Callable[[Said], None]] = {
            "memory": self._memory,
            "call": self._call,
            "result": self._result,
            "rejected": self._rejected,
            "approval": self._approval,
            "note": self._note,
        }

    def __call__(self, said: Said) -> None:
        tell = self._tell.get(said.kind)
        if tell is not None and not self._quiet:
            tell(said)

    def close(self) -> None:
        """Something else is to be said: what was only counted is told before it."""
        again, self._again = self._again, 0
        last, self._last_call = self._last_call, ""
        if again:
            self._line("·", last, after=f"  x {again} more")

    def _memory(self, said: Said) -> None:
        self.close()
        lines = [line for line in said.text.split("\n") if line.strip()]
        if self._brief:
            lines = [", ".join(lines)]
        for line in lines[:_MOST_MEMORY]:
            self._line("memory", line, DIM)
        if len(lines) > _MOST_MEMORY:
            self._line("memory", f"and {len(lines) - _MOST_MEMORY} more", DIM)

    def _call(self, said: Said) -> None:
        """Once at once; the same again and again is counted, and told when something else comes."""
        if said.text == self._last_call:
            self._again += 1
            return
        self.close()
        self._last_call = said.text
        self._line("·", said.text)

    def _result(self, said: Said) -> None:
        if said.data.get("failed"):
            self.close()
            self._line(self._out.paint_err("✗", RED), said.text, DIM, mark_width=1)

    def _rejected(self, said: Said) -> None:
        self.close()
        self._line(self._out.paint_err("not accepted:", RED), said.text, mark_width=13)

    def _approval(self, _: Said) -> None:
        self.close()  # who decides says the rest

    def _note(self, said: Said) -> None:
        self.close()
        self._line("", said.text, DIM)

    def _line(self, mark: str, text: str, *codes: str, mark_width: int = -1, after: str = "") -> None:
        width = len(mark) if mark_width < 0 else mark_width
        room = max(_LEAST, terminal_width(self._out.stderr) - width - 1 - len(after))
        shown = one_line(text, room) + after
        self._out.say(f"{mark} {self._out.paint_err(shown, *codes) if codes else shown}".lstrip())


def one_line(text: str, room: int) -> str:
    plain = safe(" ".join(text.split()))
    return plain if len(plain) <= room else plain[: room - 1] + "…"
