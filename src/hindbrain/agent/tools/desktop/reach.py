"""Is there a screen that can be looked at and worked on? And if not, why?

The libraries are an extra and need a display, so nothing here is imported before somebody asks.
"""

from __future__ import annotations

import sys

HAS_X = sys.platform not in ("darwin", "win32")
_WAYLAND = "this is a Wayland session, which lets no program see or control the others; log in with Xorg"
_INSTALL = f"install what is missing: pip install mss {'python-xlib' if HAS_X else 'pynput'}"


def desktop_missing() -> str:
    """Why the desktop can't be used here, and what to do about it; "" when it can."""
    try:
        import mss

        if HAS_X:
            import Xlib.display  # noqa: F401
        else:
            import pynput  # noqa: F401
    except ModuleNotFoundError as error:
        return f"the package {error.name!r} is not installed; {_INSTALL}"
    if HAS_X and (reason := _x_missing()):
        return reason
    try:
        with mss.MSS() as screens:
            if len(screens.monitors) < 2:  # the first entry is all of them together
                return "no monitor is connected"
    except mss.ScreenShotError as error:
        return f"the screen can't be looked at: {error}"
    return ""


def _x_missing() -> str:
    """Under Wayland an X server stands in for the real one: it shows and reaches only some windows."""
    from Xlib.display import Display
    from Xlib.error import ConnectionClosedError, DisplayError

    try:
        display = Display()
    except (DisplayError, ConnectionClosedError):
        return "there is no display: nothing runs that could be seen, or it is not reachable from here"
    try:
        if display.query_extension("XWAYLAND") is not None:
            return (
                "this is a Wayland session, which lets no program see or control the others; log in with Xorg"
            )
        if display.query_extension("XTEST") is None:
            return "the X server lets no program use mouse and keyboard; start it with its extension XTEST"
    finally:
        display.close()
    return ""
