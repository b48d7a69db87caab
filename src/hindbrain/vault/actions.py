"""Which action a change belongs to: one command, one call of a tool, one run. An undo takes back an action.

The edges say when an action begins; the writer asks which one it is. A change outside of any is an action of
its own. Follows the thread of execution (`contextvars`), so that nothing in between has to pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class CurrentAction:
    """An action that goes on. Its id is made with its first change."""

    __slots__ = ("by", "id", "via")

    def __init__(self, by: str, via: str) -> None:
        self.by = by  # the command, tool or verb; "" while it is not known
        self.via = via  # who asked for it; "" while it is not known
        self.id = ""


_CURRENT: ContextVar[CurrentAction | None] = ContextVar("action", default=None)


@contextmanager
def action(by: str, *, new: bool = False, via: str = "") -> Iterator[None]:
    """What is changed inside is one action, or part of the one that goes on already; `new`: never that.

    `via`: "command", "tool", "agent", "hook", "server" (what waited is written), or "background" (nobody
    asked for it just now).
    """
    going_on = _CURRENT.get()
    if going_on is not None and not new:
        going_on.by = going_on.by or by
        going_on.via = going_on.via or via
        yield
        return
    token = _CURRENT.set(CurrentAction(by, via))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_action() -> CurrentAction | None:
    return _CURRENT.get()
