"""Mouse and keyboard of macOS and Windows, where the system itself takes any character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hindbrain.agent.tools.desktop.devices import Button, Way
from hindbrain.base.errors import UsageError

_WAYS: dict[Way, tuple[int, int]] = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
_NAMES = {"return": "enter", "escape": "esc"}  # where pynput calls a key otherwise
_MODIFIERS = {"command": "cmd", "shift": "shift", "option": "alt", "control": "ctrl"}


class PynputMouse:
    def __init__(self) -> None:
        from pynput import mouse

        self._mouse: Any = mouse.Controller()
        self._buttons: dict[Button, Any] = {"left": mouse.Button.left, "right": mouse.Button.right}

    def move(self, x: int, y: int) -> None:
        self._mouse.position = (x, y)

    def click(self, button: Button, count: int) -> None:
        self._mouse.click(self._buttons[button], count)

    @contextmanager
    def held(self, button: Button) -> Iterator[None]:
        self._mouse.press(self._buttons[button])
        try:
            yield
        finally:
            self._mouse.release(self._buttons[button])

    def scroll(self, way: Way, steps: int) -> None:
        right, up = _WAYS[way]
        self._mouse.scroll(right * steps, up * steps)


class PynputKeyboard:
    def __init__(self) -> None:
        from pynput.keyboard import Controller

        self._keys: Any = Controller()

    def type(self, text: str) -> None:
        try:
            self._keys.type(text)
        except self._keys.InvalidCharacterException as error:
            at, char = error.args
            raise UsageError(
                f"{char!r} can't be typed here; the {at} characters before it were: go on after it"
            ) from error

    def press(self, key: str, held: Sequence[str]) -> None:
        from pynput.keyboard import Key

        found = key if len(key) == 1 else getattr(Key, _NAMES.get(key, key), None)
        if found is None:
            raise UsageError(f"this system has no key {key!r}; use another one")
        with self._keys.pressed(*(getattr(Key, _MODIFIERS[name]) for name in held)):
            self._keys.tap(found)
