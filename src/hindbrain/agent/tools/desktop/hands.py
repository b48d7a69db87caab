"""The mouse and the keyboard. Points are those of the picture that `screen` takes.

What was pressed is let go of, whatever happens in between: a stuck button makes a machine useless.
"""

from __future__ import annotations

import time
from functools import cached_property

from hindbrain.agent.tools.desktop.devices import Devices, Mouse, Way, find_devices
from hindbrain.agent.tools.desktop.keys import key_called
from hindbrain.agent.tools.desktop.screen import find_screen

_STEPS = 12  # of a drag: programs tell it from a click by what is between its ends
_STEP_S = 0.01


class Hands:
    """Made once for a run: a keyboard may remember what it did before."""

    def move(self, x: int, y: int) -> None:
        self._mouse_at(x, y)

    def click(self, x: int, y: int, *, count: int = 1, right: bool = False) -> None:
        self._mouse_at(x, y).click("right" if right else "left", count)

    def drag(self, x: int, y: int, to_x: int, to_y: int) -> None:
        """With the left button, from one point to the other."""
        screen = find_screen()
        begin, end = screen.place(x, y), screen.place(to_x, to_y)
        mouse = self._devices.mouse
        mouse.move(*begin)
        with mouse.held("left"):
            for step in range(1, _STEPS + 1):
                time.sleep(_STEP_S)
                across, down = (
                    round(start + (stop - start) * step / _STEPS)
                    for start, stop in zip(begin, end, strict=True)
                )
                mouse.move(across, down)

    def scroll(self, x: int, y: int, way: Way, steps: int) -> None:
        """By `steps` of the wheel."""
        self._mouse_at(x, y).scroll(way, steps)

    def type(self, text: str) -> None:
        """Into whatever has the focus. UsageError names a character that can't be typed."""
        self._devices.keyboard.type(text)

    def press(self, name: str, held: tuple[str, ...] = ()) -> None:
        """One key, while the keys of `held` (command, shift, option, control) are down."""
        self._devices.keyboard.press(key_called(name, held), held)

    def _mouse_at(self, x: int, y: int) -> Mouse:
        place = find_screen().place(x, y)
        self._devices.mouse.move(*place)
        return self._devices.mouse

    @cached_property
    def _devices(self) -> Devices:
        return find_devices()
