"""Approvals that wait for a person, on disk: asked in one process, answered in another, days later perhaps.

One file for each question, which only the owner can read. An answer holds for exactly the call that was
shown, once, and for a week; an approval only while the vault's log of approvals has it, too, so that writing
the file approves nothing. Nothing here decides.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.agent.safety.approval import Asked, Decision
from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, NotFound, UsageError, VaultError, WriteFailed
from hindbrain.base.files import make_folder, replace_file
from hindbrain.memory.inbox.approval_log import Approval, ApprovalLog
from hindbrain.vault.lock import FileLock

_FOLDER = ("agent", "approvals")
_KEPT_S = 7 * 86_400.0
_LOCK_S = 5.0
_NAME = re.compile(r"a-[a-z0-9]{4,40}")
_ANSWERS = ("allow", "run", "deny")


class Question(NamedTuple):
    """What was asked, and what became of it."""

    asked: Asked
    decision: str = ""  # allow, run, deny; "" while it waits
    by: str = ""  # who answered, and how
    answered: float = 0.0
    used: float = 0.0  # when it was acted upon; an approval holds once


class Waiting:
    """The questions of one vault. `state`: its state folder; `log`: where answers are written down."""

    def __init__(self, state: Path, clock: Clock, log: ApprovalLog | None = None) -> None:
        self._state = state
        self._log = log
        self._folder = state.joinpath(*_FOLDER)
        self._lock = FileLock(state / "agent" / "approvals.lock")
        self._clock = clock

    def ask(self, asked: Asked) -> Question:
        """Keep the question, durable; the one that waits already when it is about the same call."""
        with self._lock.held(_LOCK_S):
            self._tidy()
            for known in self._all():
                if known.asked.digest == asked.digest and not known.used:
                    if known.asked.shown == asked.shown:
                        return known
                    # The same call looks different by now: a person has to see it as it is.
                    asked = asked._replace(id=known.asked.id, at=0.0)
            question = Question(asked._replace(at=asked.at or self._clock.now()))
            self._write(question)
            return question

    def pending(self) -> list[Question]:
        """What a person has not answered yet, the oldest first."""
        return sorted(
            (one for one in self._all() if not one.decision and self._holds(one)),
            key=lambda one: one.asked.at,
        )

    def answer(self, id: str, decision: Decision, by: str, *, shown: str = "") -> Question:
        """Note a person's word. NotFound when nothing of that name waits; UsageError when it is answered.

        `shown`: the digest of what they were shown; nothing else is approved.
        """
        if decision not in _ANSWERS:
            raise UsageError(f"an answer is one of {', '.join(_ANSWERS)}, not {decision!r}")
        with self._lock.held(_LOCK_S):
            question = next((one for one in self._all() if one.asked.id == id and self._holds(one)), None)
            if question is None:
                waiting = ", ".join(one.asked.id for one in self.pending()) or "nothing"
                raise NotFound(f"no approval {id!r} waits (it may be older than a week); waiting: {waiting}")
            if shown and shown != question.asked.digest:
                raise NotFound(f"{id!r} is not what was shown any more; look at it and approve it again")
            if question.decision:
                raise UsageError(f"{id!r} was answered before: {question.decision}, by {question.by}")
            question = question._replace(decision=decision, by=by, answered=self._clock.now())
            self._write(question)
            return question

    def note(self, asked: Asked, decision: Decision, by: str) -> None:
        """Write down who decided. `by`: "channel:sender", else a person at a terminal."""
        if self._log is not None and decision != "wait":
            channel, _, sender = by.partition(":")
            decided = "refused" if decision == "deny" else "accepted"
            how = channel if sender else "command"
            self._log.note(Approval("call", asked.id, decided, how, asked.digest, sender))

    def use(self, asked: Asked) -> Decision:
        """What a person said about exactly this call; "wait" when nobody has.

        An answer is used up: the next call, were it the same, is asked about anew.
        """
        with self._lock.held(_LOCK_S):
            found = self._answered(asked)
            if found is None:
                return "wait"
            self._write(found._replace(used=self._clock.now()))  # durable before anything is carried out
            return _as_decision(found.decision)

    def _answered(self, asked: Asked) -> Question | None:
        digest = asked.digest
        for one in self._all():
            same = one.asked.digest == digest and (one.decision == "deny" or one.asked.shown == asked.shown)
            if same and one.decision and not one.used and self._holds(one):
                return one
        return None

    def _holds(self, question: Question) -> bool:
        return self._clock.now() - question.asked.at < _KEPT_S

    def _all(self) -> list[Question]:
        """A file that can't be read, or was changed by hand, is no approval."""
        try:
            names = sorted(os.listdir(self._folder))  # noqa: PTH208
        except FileNotFoundError:
            return []
        except OSError as error:
            raise VaultError(
                f"what waits in {str(self._folder)!r} can't be read ({error.strerror}); check who may, then "
                "try again"
            ) from error
        found = []
        for name in names:
            if name.endswith(".json"):
                try:
                    question = _parsed((self._folder / name).read_bytes())
                except OSError:
                    continue
                if question is not None and name == f"{question.asked.id}.json":
                    found.append(question if self._is_logged(question) else _unanswered(question))
        return found

    def _is_logged(self, question: Question) -> bool:
        if self._log is None or question.decision not in ("allow", "run"):
            return True
        return self._log.has("call", question.asked.id, "accepted", question.asked.digest)

    def _write(self, question: Question) -> None:
        if not _NAME.fullmatch(question.asked.id):
            raise UsageError(f"{question.asked.id!r} is no id of an approval")
        name = f"{question.asked.id}.json"
        try:
            make_folder(self._folder)
            replace_file(self._folder / name, _line(question))
        except OSError as error:
            raise WriteFailed(
                f"the approval {question.asked.id!r} could not be kept: {error.strerror}"
            ) from error

    def _tidy(self) -> None:
        """What can't be removed now holds no longer all the same."""
        for one in self._all():
            if not self._holds(one):
                with contextlib.suppress(OSError):
                    (self._folder / f"{one.asked.id}.json").unlink(missing_ok=True)


class WaitingApprover:
    """For runs that nobody watches: what needs a person waits until one has answered."""

    def __init__(self, waiting: Waiting, tell: Callable[[Question], None] = lambda _: None) -> None:
        self._waiting = waiting
        self._tell = tell  # so that the owner hears of it: a channel, say

    def decide(self, asked: Asked) -> Decision:
        try:
            decision = self._waiting.use(asked)
            if decision == "wait":
                self._tell(self._waiting.ask(asked))
        except Busy:
            return "wait"
        return decision


def _unanswered(question: Question) -> Question:
    return question._replace(decision="", by="", answered=0.0)


def _as_decision(text: str) -> Decision:
    return "allow" if text == "allow" else "run" if text == "run" else "deny"


def _line(question: Question) -> bytes:
    told: dict[str, Any] = {**question.asked._asdict(), "digest": question.asked.digest}
    told |= {name: getattr(question, name) for name in Question._fields[1:]}
    return json.dumps(told, ensure_ascii=True, indent=1, default=list).encode("ascii") + b"\n"


def _parsed(data: bytes) -> Question | None:
    try:
        told = json.loads(data)
        arguments = told["arguments"]
        asked = Asked(
            str(told["id"]), str(told["run"]), str(told["tool"]), arguments, str(told["shown"]),
            str(told["why"]), float(told["at"]),
        )  # fmt: skip
        decision = str(told["decision"])
        question = Question(asked, decision, str(told["by"]), float(told["answered"]), float(told["used"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    right = isinstance(arguments, dict) and told.get("digest") == asked.digest
    return question if right and decision in ("", *_ANSWERS) else None
