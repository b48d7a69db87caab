"""The mouse of an X server, through its XTEST extension: programs see what a real mouse would send.

To X, a step of the wheel is a button too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hindbrain.agent.tools.desktop.devices import Button, Way
from hindbrain.base.errors import UsageError

if TYPE_CHECKING:
    from Xlib.display import Display

_BUTTONS: dict[Button, int] = {"left": 1, "right": 3}
_WHEEL: dict[Way, int] = {"up": 4, "down": 5, "left": 6, "right": 7}


class XMouse:
    def __init__(self, display: Display) -> None:
        self._display = display

    def move(self, x: int, y: int) -> None:
        from Xlib import X
        from Xlib.ext.xtest import fake_input

        fake_input(self._display, X.MotionNotify, x=x, y=y)
        self._display.sync()

    def click(self, button: Button, count: int) -> None:
        self._strike(_BUTTONS[button], count)

    @contextmanager
    def held(self, button: Button) -> Iterator[None]:
        with self._down(self._switch_of(_BUTTONS[button])):
            yield

    def scroll(self, way: Way, steps: int) -> None:
        self._strike(_WHEEL[way], steps)

    def _strike(self, button: int, count: int) -> None:
        switch = self._switch_of(button)
        for _ in range(count):
            with self._down(switch):
                pass

    @contextmanager
    def _down(self, switch: int) -> Iterator[None]:
        from Xlib import X
        from Xlib.ext.xtest import fake_input

        try:
            fake_input(self._display, X.ButtonPress, switch)
            yield
        finally:
            fake_input(self._display, X.ButtonRelease, switch)
            self._display.sync()

    def _switch_of(self, button: int) -> int:
        """Which one of the mouse means it: left-handed people swap them, others turn the wheel around."""
        meanings = list(self._display.get_pointer_mapping())
        if button not in meanings:
            raise UsageError(f"the mouse's button {button} is switched off here; use the keyboard instead")
        return meanings.index(button) + 1
