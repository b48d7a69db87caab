"""Has the program with the focus come to what was sent to it? It is asked as window managers ask.

A window may say that it sends back a message called _NET_WM_PING. The message waits behind the keys that were
struck before it, so when it comes back those were handled. Other windows can't be asked.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from Xlib.display import Display

_MOST_PARENTS = 20


def await_answer(display: Display, most_s: float) -> bool:
    """True when the program has answered; False when it can't be asked; TimeoutError when it does not."""
    from Xlib import X
    from Xlib.error import BadDrawable, BadWindow

    root = display.screen().root
    try:
        window = _answering(display)
        if window is None:
            return False
        root.change_attributes(event_mask=X.SubstructureNotifyMask)  # answers are sent to the root
        return _ask(display, window, time.monotonic() + most_s)
    except (BadDrawable, BadWindow):  # it was closed meanwhile
        return False
    finally:
        root.change_attributes(event_mask=X.NoEventMask)
        display.sync()
        while display.pending_events():
            display.next_event()


def _answering(display: Display) -> Any:
    """The window with the focus, or the nearest one around it that says it answers; None when none does."""
    ping = display.intern_atom("_NET_WM_PING")
    root = display.screen().root
    window = display.get_input_focus().focus
    for _ in range(_MOST_PARENTS):
        # Without a window, the focus follows the pointer or is nowhere; the root belongs to no program.
        if not hasattr(window, "get_wm_protocols") or window == root:
            return None
        if ping in window.get_wm_protocols():
            return window
        window = window.query_tree().parent
    return None


def _ask(display: Display, window: Any, deadline: float) -> bool:
    """As the protocol has it: the message, a number that is ours, the window."""
    from Xlib import X
    from Xlib.error import BadWindow, CatchError
    from Xlib.protocol.event import ClientMessage

    content = [display.intern_atom("_NET_WM_PING"), time.monotonic_ns() & 0x7FFFFFFF, window.id, 0, 0]
    kind = display.intern_atom("WM_PROTOCOLS")
    closed = CatchError(BadWindow)
    window.send_event(ClientMessage(window=window, client_type=kind, data=(32, content)), onerror=closed)
    display.sync()
    while closed.get_error() is None:
        while display.pending_events():
            event = display.next_event()
            if event.type == X.ClientMessage and list(event.data[1][:3]) == content[:3]:
                return True
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        select.select([display], [], [], left_s)
    return False
