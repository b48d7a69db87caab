"""Who approved or refused what, when and how: `.hindbrain/approvals.jsonl`, which only grows.

Holds ids and hashes, no text. It tells what happened and approves nothing by itself.
"""

from __future__ import annotations

import contextlib
import getpass
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.memory.forgetting.event_log import EventLog

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

APPROVALS_LOG = "approvals.jsonl"


class Approval(NamedTuple):
    """A decision of the owner."""

    what: str  # memory, skill; call: of the agent's tools
    id: str  # of the proposal or of the question; "" for a line that a person wrote
    decision: str  # accepted, refused
    how: str  # command: at a terminal; note: in the inbox note; else the channel that it came by
    digest: str = ""  # of what was decided: a salted hash of a text, the hash of a call
    who: str = ""  # "ada@laptop"; "" in the note, which anybody can write
    at: str = ""  # 2026-02-20T09:30:00+01:00, in the owner's time zone


class ApprovalLog:
    def __init__(self, root: Path, writer: Callable[[], VaultWriter], clock: Clock) -> None:
        self._log = EventLog(root, APPROVALS_LOG, writer)
        self._clock = clock

    def note(self, approval: Approval) -> None:
        """Write it down, where it can be written."""
        at = self._clock.local(self._clock.now()).isoformat(timespec="seconds")
        who = approval.who or (user_name() if approval.how == "command" else "")
        with contextlib.suppress(OSError, HindbrainError):
            self._log.append(approval._replace(at=at, who=who)._asdict())

    def has(self, what: str, id_: str, decision: str, digest: str) -> bool:
        """Return whether this decision about exactly that was written down."""
        wanted = (what, id_, decision, digest)
        return any((one.what, one.id, one.decision, one.digest) == wanted for one in self.read())

    def read(self) -> list[Approval]:
        """Oldest first."""
        return [
            Approval(**{name: str(event.get(name, "")) for name in Approval._fields})
            for event in self._log.read()
        ]


def user_name() -> str:
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user id without a name
        user = ""
    return f"{user}@{platform.node()}"
