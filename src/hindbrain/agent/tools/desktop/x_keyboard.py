"""Typing on an X server, by the keys that it has: programs see what a real keyboard would send.

A character that the active layout does not have, or only with a third level, gets a key code that nothing
uses, all of it: whatever else is held then, the code means this character. Programs look a code up when they
come to its event, so a text is typed in stretches: all codes of a stretch are lent before its first key, and
lent to other characters only when the program has answered that it came to its last one, or had time to.
They are not taken back at the end, for the same reason.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.tools.desktop.x_answer import await_answer
from hindbrain.base.errors import Busy, UsageError

if TYPE_CHECKING:
    from Xlib.display import Display

_FIRST_CODE = 8  # of every X server
_LEVELS = 4  # of a code: two groups, each with and without shift
_UNICODE = 0x01000000  # from where on symbols are characters by their number
_SETTLE_S = 0.3  # in which programs come to new codes, those that can't be asked among them
_STROKE_S = 0.02  # more, for each key that a program which can't be asked has to come to
_MOST_SETTLE_S = 3.0
_ANSWER_S = 10.0  # after which a program that should answer is taken as stuck
_MOST_STROKES = 100  # of a stretch: the layout is looked at before each
_GROUP_SHIFT = 13  # where a pointer's state says which layout of several is active
_LOCK_MASK = 2
_CONTROL_KEYS = {"\n": "Return", "\t": "Tab"}
_OTHERWISE = {"backspace": "BackSpace", "space": "space"}  # X names other keys as we do, with capitals
_MODIFIERS = {"command": "Super_L", "shift": "Shift_L", "option": "Alt_L", "control": "Control_L"}


class _Stroke(NamedTuple):
    code: int
    shift: bool = False


class XKeyboard:
    def __init__(self, display: Display) -> None:
        self._display = display
        # By keysym: the code that was given to it, by somebody before us perhaps. The last used is the last.
        self._lent = {symbols[0]: code for code, symbols in self._codes() if _is_lent(symbols)}
        self._struck = 0  # keys since programs were waited for

    def type(self, text: str) -> None:
        keysyms = [_named(_CONTROL_KEYS[char]) if char in _CONTROL_KEYS else _keysym(char) for char in text]
        at = 0
        with self._without_caps_lock():
            while at < len(text):
                try:
                    strokes = self._prepared(keysyms[at : at + _MOST_STROKES])
                except TimeoutError as error:
                    raise Busy(
                        f"the program in front does not answer; {at} characters were sent to it: "
                        "wait, look what came of them, and go on there"
                    ) from error
                if not strokes:
                    raise UsageError(
                        f"{text[at]!r} can't be typed here; "
                        f"the {at} characters before it were: go on after it"
                    )
                for stroke in strokes:
                    self._strike(stroke)
                at += len(strokes)

    def press(self, key: str, held: Sequence[str]) -> None:
        keysym = _keysym(key) if len(key) == 1 else _named(_OTHERWISE.get(key) or key.title())
        try:
            strokes = self._prepared([keysym])
        except TimeoutError as error:
            raise Busy(f"the program in front does not answer; {key!r} was not pressed: retry") from error
        if not strokes:
            raise UsageError(f"this keyboard has no key {key!r}; use another one")
        with self._down([self._code_of(_MODIFIERS[name]) for name in held]):
            self._strike(strokes[0])

    def _strike(self, stroke: _Stroke) -> None:
        with self._down([self._code_of("Shift_L")] if stroke.shift else []), self._down([stroke.code]):
            self._struck += 1

    @contextmanager
    def _without_caps_lock(self) -> Iterator[None]:
        """It would turn letters around, and programs differ in how."""
        locked = [_Stroke(self._code_of("Caps_Lock"))] if self._state() & _LOCK_MASK else []
        for stroke in locked:
            self._strike(stroke)
        try:
            yield
        finally:
            for stroke in locked:
                self._strike(stroke)

    @contextmanager
    def _down(self, codes: Sequence[int]) -> Iterator[None]:
        """Whatever happens in between, they come up again."""
        from Xlib import X
        from Xlib.ext.xtest import fake_input

        try:
            for code in codes:
                fake_input(self._display, X.KeyPress, code)
            yield
        finally:
            for code in reversed(codes):
                fake_input(self._display, X.KeyRelease, code)
            self._display.sync()

    def _prepared(self, keysyms: Sequence[int]) -> list[_Stroke]:
        """How the first ones are struck, as many as codes can be lent for; [] when not even one."""
        codes = dict(self._codes())
        # A new layout takes back what was lent.
        self._lent = {keysym: code for keysym, code in self._lent.items() if codes[code][0] == keysym}
        layout = self._layout(codes)
        free = [code for code, symbols in codes.items() if not any(symbols)]
        stretch = first_stretch(keysyms, layout.keys(), len(free) + len(self._lent))
        lacking = dict.fromkeys(keysym for keysym in stretch if keysym not in layout)
        self._lend([keysym for keysym in lacking if keysym not in self._lent], free, lacking.keys())
        for keysym in lacking:
            self._lent[keysym] = self._lent.pop(keysym)
        return [layout.get(keysym) or _Stroke(self._lent[keysym]) for keysym in stretch]

    def _layout(self, codes: Mapping[int, Sequence[int]]) -> dict[int, _Stroke]:
        """What the active one has, alone or with shift."""
        first = 2 * (self._state() >> _GROUP_SHIFT & 3)
        lent = set(self._lent.values())
        found: dict[int, _Stroke] = {}
        for code, symbols in codes.items():
            for level, keysym in enumerate(symbols[first : first + 2] if code not in lent else ()):
                found.setdefault(keysym, _Stroke(code, shift=level == 1))
        return found

    def _lend(self, keysyms: Sequence[int], free: Sequence[int], kept: Collection[int]) -> None:
        """A code for each: free ones, then those that were not used for longest."""
        if not keysyms:
            return
        if len(keysyms) > len(free):
            answered = await_answer(self._display, _ANSWER_S)
            more_s = 0 if answered else self._struck * _STROKE_S
            time.sleep(min(_SETTLE_S + more_s, _MOST_SETTLE_S))
            self._struck = 0
        again = [code for keysym, code in self._lent.items() if keysym not in kept]
        taken = sorted([*free, *again][: len(keysyms)])
        before = {code: keysym for keysym, code in self._lent.items()}
        for code, keysym in zip(taken, keysyms, strict=True):
            self._display.change_keyboard_mapping(code, [[keysym] * _LEVELS])
            self._display.sync()
            self._lent.pop(before.get(code, 0), None)
            self._lent[keysym] = code
            # A program may miss a change that comes while it reads the one before.
            await_answer(self._display, _ANSWER_S)
        time.sleep(_SETTLE_S)

    def _codes(self) -> Iterator[tuple[int, Sequence[int]]]:
        last = self._display.display.info.max_keycode
        return enumerate(self._display.get_keyboard_mapping(_FIRST_CODE, last - _FIRST_CODE + 1), _FIRST_CODE)

    def _state(self) -> int:
        """What is held or locked now, and which layout is active."""
        return int(self._display.screen().root.query_pointer().mask)

    def _code_of(self, name: str) -> int:
        return int(self._display.keysym_to_keycode(_named(name)))


def first_stretch(keysyms: Sequence[int], known: Collection[int], most: int) -> Sequence[int]:
    """As many of the first ones as have at most `most` different ones that are not known. Pure."""
    lacking: set[int] = set()
    for at, keysym in enumerate(keysyms):
        if keysym not in known:
            lacking.add(keysym)
        if len(lacking) > most:
            return keysyms[:at]
    return keysyms


def _keysym(char: str) -> int:
    """As X numbers characters: Latin-1 by itself, the rest of Unicode from a base."""
    point = ord(char)
    return point if 0x20 <= point <= 0x7E or 0xA0 <= point <= 0xFF else _UNICODE + point


def _named(name: str) -> int:
    from Xlib.XK import string_to_keysym

    keysym = int(string_to_keysym(name))
    assert keysym, name  # else every free code would do
    return keysym


def _is_lent(symbols: Sequence[int]) -> bool:
    """Is all of the code one character? No layout does that, but for some with their space bar."""
    first = symbols[0]
    is_char = 0xA0 <= first <= 0xFF or _UNICODE < first <= _UNICODE + sys.maxunicode
    return is_char and set(symbols[:_LEVELS]) == {first} and not any(symbols[_LEVELS:])
