"""What keys are called: one name for each, whatever a model calls it and whatever a system does.

A key is one character, or one of NAMED. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindbrain.base.errors import UsageError

NAMED = (
    "return", "tab", "space", "escape", "backspace", "delete", "up", "down", "left", "right", "home", "end",
    "page_up", "page_down", "insert", *(f"f{number}" for number in range(1, 21)),
)  # fmt: skip
MODIFIERS = ("command", "shift", "option", "control")
KEY_NAMES = f"one character, {', '.join(name for name in NAMED if not name[1:].isdecimal())}, f1 to f20"
_ALSO: Mapping[str, str] = {
    "enter": "return",
    "esc": "escape",
    "forward_delete": "delete",
    "pageup": "page_up",
    "pagedown": "page_down",
    **{f"{way}_arrow": way for way in ("up", "down", "left", "right")},
    **{f"arrow_{way}": way for way in ("up", "down", "left", "right")},
}


def key_called(name: str, held: tuple[str, ...] = ()) -> str:
    """The key that is meant while `held` are down. UsageError when there is none of that name."""
    if len(name) == 1 and name.isprintable():
        # "S" with control is Control-S, which is the key without shift; shift is an argument of its own.
        return name.lower() if held else name
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    known = _ALSO.get(plain, plain)
    if known not in NAMED:
        raise UsageError(f"there is no key {name!r}; give one of: {KEY_NAMES}; modifiers are arguments")
    return known
