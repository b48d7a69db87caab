"""A person at the terminal decides on one call: shown exactly what would be done, and why they are asked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hindbrain.base.errors import Cancelled
from hindbrain.edge.output import BOLD, DIM, YELLOW, Output, safe, terminal_width
from hindbrain.edge.person import drop_typed_ahead

if TYPE_CHECKING:
    from hindbrain.agent.safety.approval import Approver, Asked, Decision
    from hindbrain.edge.agent_runs.interrupts import Interrupts

QUESTION = "[y]es, once  [a]lways in this run  [n]o: "
_ANSWERS: Mapping[str, Decision] = {
    "y": "allow", "yes": "allow", "a": "run", "always": "run", "n": "deny", "no": "deny",
}  # fmt: skip
_MOST_ROWS = 20  # of a question whose first line is surely still on the screen
_GLANCE_S = 0.2  # between looks whether Ctrl-C was pressed
_LONGEST_AGAIN = 400  # characters of that line, said again


class TerminalApprover:
    """`nobody` decides when it turns out that nobody is there. `read` asks one question and returns the line;
    EOFError when there is none."""

    def __init__(
        self,
        out: Output,
        interrupts: Interrupts,
        nobody: Approver,
        read: Callable[[str], str] | None = None,
    ) -> None:
        self._out = out
        self._interrupts = interrupts
        self._nobody = nobody
        self._read = read or self._input

    def decide(self, asked: Asked) -> Decision:
        """Nothing but a clear yes is one. Cancelled: who presses Ctrl-C wants no more of the run either."""
        for line in asked_lines(asked, self._out):
            self._out.say(line)
        try:
            with self._interrupts.at_a_question():
                while True:
                    answer = self._read(QUESTION).strip().lower()
                    if answer in _ANSWERS:
                        return _ANSWERS[answer]
        except EOFError:
            self._out.say("")  # whatever comes next begins on a line of its own
            return self._nobody.decide(asked)
        except KeyboardInterrupt:
            self._out.say("")
            self._interrupts.ask()
            raise Cancelled(f"the run {asked.run!r} was cancelled at a question") from None

    def _input(self, question: str) -> str:
        drop_typed_ahead(sys.stdin)
        # The question goes to stderr: stdout is the answer's.
        self._out.stderr.write(self._out.paint_err(question, BOLD))
        self._out.stderr.flush()
        _wait_for_a_line()
        return input()


def confirm(question: str, out: Output) -> bool:
    """Ask a person at the terminal; anything but a clear yes is a no."""
    drop_typed_ahead(sys.stdin)
    out.stderr.write(f"{question} [y/n] ")
    out.stderr.flush()
    try:
        answer = input()
    except EOFError:
        out.say("")
        return False
    return answer.strip().lower() in ("y", "yes")


def _wait_for_a_line() -> None:
    """A signal that comes just before a read does not wake it: Ctrl-C would be lost."""
    import select

    if sys.platform == "win32":  # where only sockets can be waited for
        return
    with contextlib.suppress(OSError, ValueError):  # no terminal after all
        while not select.select([sys.stdin.fileno()], [], [], _GLANCE_S)[0]:
            pass


def asked_lines(asked: Asked, out: Output) -> list[str]:
    """What would be done, and why a person is asked. Nothing of it is cut: it is what they agree to."""
    first, *rest = shown_of(asked).split("\n")
    mark = out.paint_err("?", YELLOW, BOLD)
    lines = [f"{mark} {out.paint_err(first, BOLD)}"]
    lines += [f"  {line}" for line in rest]
    if asked.why:
        lines.append(out.paint_err(f"  {safe(asked.why)}", DIM))
    if again := said_again(asked, out):
        lines.append(f"{mark} {out.paint_err(again, BOLD)}")
    return lines


def said_again(asked: Asked, out: Output) -> str:
    """What and where, for right above the question when that has left the screen; "" while it is there."""
    shown = shown_of(asked)
    lines = shown.split("\n")
    width = terminal_width(out.stderr)
    if sum(1 + len(line) // width for line in lines) <= _MOST_ROWS:
        return ""
    first, half = lines[0], _LONGEST_AGAIN // 2
    told = first if len(first) <= _LONGEST_AGAIN else f"{first[:half]} … {first[-half:]}"
    return f"{told} ({len(shown):,} characters, above)"


def shown_of(asked: Asked) -> str:
    """What would be done, in full, with the characters written out that a person would not see."""
    return _written_out(asked.shown).rstrip() or called(asked.tool, asked.arguments)


def called(tool: str, arguments: Mapping[str, object]) -> str:
    """A call as it stands, in full."""
    import json

    told = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}" for name, value in arguments.items()
    )
    return _written_out(f"{tool}({told})")


def _written_out(text: str) -> str:
    """What hides or misleads, by its number: a zero-width space is `<U+200B>`."""
    from hindbrain.agent.safety.argv import is_readable

    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in "\n\t" or is_readable(char) or _is_of_an_emoji(text, at) else f"<U+{ord(char):04X}>"
        for at, char in enumerate(text)
    )


def _is_of_an_emoji(text: str, at: int) -> bool:
    """The mark after a symbol that asks for its coloured form is in much of what models write."""
    import unicodedata

    return text[at] == "\ufe0f" and at > 0 and unicodedata.category(text[at - 1]) == "So"
