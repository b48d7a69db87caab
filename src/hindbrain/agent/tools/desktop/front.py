"""Which application is in front, as well as the system tells; "" when it does not."""

from __future__ import annotations

import sys
from pathlib import PureWindowsPath
from typing import Any

_MOST_PARENTS = 20


def app_in_front() -> str:
    """Its name for people. Never raises: nobody's work depends on it."""
    try:
        if sys.platform == "darwin":
            return _on_macos()
        return _on_windows() if sys.platform == "win32" else _on_x()
    except Exception:  # noqa: BLE001  a nicety; every system has its own ways to fail here
        return ""


def _on_x() -> str:
    from Xlib.display import Display
    from Xlib.X import AnyPropertyType

    display = Display()
    try:
        root = display.screen().root
        active = root.get_full_property(display.intern_atom("_NET_ACTIVE_WINDOW"), AnyPropertyType)
        if active is not None and active.value[0]:
            return _class_of(display.create_resource_object("window", active.value[0]))
        return _class_of(display.get_input_focus().focus)  # without a window manager
    finally:
        display.close()


def _class_of(window: Any) -> str:
    """The class of a window, or of the nearest one around it that has one."""
    for _ in range(_MOST_PARENTS):
        if not hasattr(window, "get_wm_class"):
            return ""  # the focus follows the pointer, or is nowhere
        found = window.get_wm_class()
        if found:
            return str(found[1])
        window = window.query_tree().parent
    return ""


def _on_macos() -> str:
    from AppKit import NSWorkspace

    return str(NSWorkspace.sharedWorkspace().frontmostApplication().localizedName())


def _on_windows() -> str:
    import ctypes

    windows = getattr(ctypes, "windll")  # noqa: B009  only there on Windows
    process_id = ctypes.c_ulong()
    windows.user32.GetWindowThreadProcessId(windows.user32.GetForegroundWindow(), ctypes.byref(process_id))
    limited_information = 0x1000
    process = windows.kernel32.OpenProcess(limited_information, False, process_id.value)
    try:
        size = ctypes.c_ulong(1024)
        path = ctypes.create_unicode_buffer(size.value)
        windows.kernel32.QueryFullProcessImageNameW(process, 0, path, ctypes.byref(size))
        return PureWindowsPath(path.value).stem
    finally:
        windows.kernel32.CloseHandle(process)
