"""A mouse and a keyboard that programs can't tell from real ones. Which ones: that depends on the system."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal, NamedTuple, Protocol

from hindbrain.agent.tools.desktop.reach import HAS_X

Button = Literal["left", "right"]
Way = Literal["up", "down", "left", "right"]


class Mouse(Protocol):
    """Places are those of the system, as `Screen.place` gives them."""

    def move(self, x: int, y: int) -> None: ...

    def click(self, button: Button, count: int) -> None:
        """Where it is; two are a double click."""
        ...

    def held(self, button: Button) -> AbstractContextManager[None]:
        """It is down meanwhile, and comes up whatever happens."""
        ...

    def scroll(self, way: Way, steps: int) -> None: ...


class Keyboard(Protocol):
    """Keys are called as in `keys`."""

    def type(self, text: str) -> None:
        """Into whatever has the focus. UsageError names a character that can't be typed."""
        ...

    def press(self, key: str, held: Sequence[str]) -> None:
        """And let go of it, and then of those that were held."""
        ...


class Devices(NamedTuple):
    mouse: Mouse
    keyboard: Keyboard


def find_devices() -> Devices:
    if not HAS_X:
        from hindbrain.agent.tools.desktop.pynput_devices import PynputKeyboard, PynputMouse

        return Devices(PynputMouse(), PynputKeyboard())
    from Xlib.display import Display

    from hindbrain.agent.tools.desktop.x_keyboard import XKeyboard
    from hindbrain.agent.tools.desktop.x_mouse import XMouse

    display = Display()
    return Devices(XMouse(display), XKeyboard(display))
