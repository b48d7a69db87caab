"""What of some sockets can be read, and whether a client is still there.

Not by `select.select`: it knows no descriptor above 1,023, and a daemon of many vaults has more.
"""

from __future__ import annotations

import selectors
import socket
from collections.abc import Sequence

# One of epoll would need a descriptor of its own; Windows has `select` alone, without that limit.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def readable(sockets: Sequence[socket.socket], wait_s: float) -> list[socket.socket]:
    """Those that can be read without waiting, as soon as there are any; empty when the time is up."""
    with _Selector() as selector:
        for one in sockets:
            selector.register(one, selectors.EVENT_READ)
        ready = {key.fd for key, _ in selector.select(wait_s)}
    return [one for one in sockets if one.fileno() in ready]


def has_gone(connection: socket.socket) -> bool:
    """Has whoever asked closed the connection?"""
    try:
        return bool(readable([connection], 0)) and not connection.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):  # closed on this side
        return True
