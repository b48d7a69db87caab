"""What the service has been asked since it began, by whom, and what went wrong: for `up status` and `doctor`.

Counts and words of ours only, never what was asked. Called by many threads.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hindbrain.edge.serving.serving import say

if TYPE_CHECKING:
    from hindbrain.edge.http.guard import Refusal

_LONGEST_AGENT = 60
_LONGEST_MESSAGE = 300
_MOST_NOTICES = 50
_REASONS = {
    401: "token", 403: "origin", 404: "path", 405: "method", 411: "length", 413: "size", 415: "content type",
    421: "host",
}  # fmt: skip


class Record:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = 0
        self._last_asked = 0.0
        self._last_agent = ""
        self._refused: Counter[str] = Counter()
        self._last_refused: dict[str, Any] | None = None
        self._failures = 0
        self._last_failure: dict[str, Any] | None = None
        self._notices: set[str] = set()
        self._failing: dict[str, dict[str, Any]] = {}  # by route, until one of it goes well

    def asked(self, agent: str) -> None:
        with self._lock:
            self._asked += 1
            self._last_asked, self._last_agent = time.time(), shown_agent(agent)

    def refused(self, refused: Refusal) -> None:
        """The first of each kind is worth a line of the log: somebody knocks who should not, or can't."""
        reason = _REASONS.get(refused.status, "malformed")
        with self._lock:
            self._refused[reason] += 1
            self._last_refused = {"at": time.time(), "reason": reason}
            first = self._refused[reason] == 1
        if first:
            say(f"the service refused a request ({reason}): {refused.reason}")

    def went_well(self, route: str) -> None:
        with self._lock:
            was_wrong = self._failing.pop(route, None)
        if was_wrong:
            say(f"the service answers {route} again")

    def failed(self, route: str, code: str, message: str) -> bool:
        """What fails at each turn, as when a disk is not mounted, is told once. True: it is to be told."""
        with self._lock:
            self._failures += 1
            self._last_failure = {
                "at": time.time(), "route": route, "code": code, "message": message[:_LONGEST_MESSAGE],
            }  # fmt: skip
            told = self._failing.pop(route, None)
            self._failing[route] = self._last_failure
        return told is None or told["code"] != code

    def noticed(self, notices: Iterable[str]) -> None:
        """What an answer lacks, though it was given: the log has each once."""
        with self._lock:
            new = [notice for notice in notices if notice not in self._notices]
            new = new[: _MOST_NOTICES - len(self._notices)]
            self._notices.update(new)
        for notice in new:
            say(f"the service answers with less: {notice}")

    def data(self) -> dict[str, Any]:
        with self._lock:
            return {
                "asked": self._asked,
                "last_asked": self._last_asked,
                "last_agent": self._last_agent,
                "refused": dict(self._refused),
                "last_refused": self._last_refused,
                "failures": self._failures,
                "last_failure": self._last_failure,
                "failing": list(self._failing.values()),
            }


def shown_agent(agent: str) -> str:
    """Who asked, in its own words, as far as they can be shown to a person."""
    return "".join(sign for sign in agent if sign.isascii() and sign.isprintable())[:_LONGEST_AGENT]
