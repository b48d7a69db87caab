"""A flush: what lasts of a conversation goes into memory before it is lost from the window.

Owns the order (memories, then tasks, then the session's note, then the line of the day) and what becomes of a
failure: each step stands for itself, and what could not be done is in the answer, so that the caller passes
no message by before its result is durable. Flushing the same messages twice stores nothing twice. A model
words better and finds more, but takes nothing away: what the rules are sure of is stored whatever it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.base.clock import local_time
from hindbrain.base.errors import HindbrainError, Refused, UsageError
from hindbrain.context.flush.by_model import Dropped, ModelFinds, ask_model
from hindbrain.context.flush.notes import TAGS, Kept, find_session_note, write_session_note
from hindbrain.context.flush.reminders import Reminder, find_reminders, without_reminders
from hindbrain.context.flush.rules import Candidate, find_candidates
from hindbrain.context.flush.taken import Taken
from hindbrain.context.flush.tally import Tally
from hindbrain.context.flush.weighing import weigh
from hindbrain.memory.answers import Remembered
from hindbrain.memory.tasks.task_line import OPEN, TaskItem
from hindbrain.memory.tasks.task_names import same_aim
from hindbrain.vault.items.item_text import fold, unlinked

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.context.messages import Message
    from hindbrain.context.turn import SessionKey
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel
    from hindbrain.vault.items.item import MemoryItem

By: TypeAlias = Literal["rules", "model"]

_ENOUGH = 3  # memories, or one decision: worth a note
_REST_S = 300.0  # after a model was down: a conversation is flushed at each stop, and each would wait for it
_INTO_NOTES_S = 2.0  # for another process that writes; what waits is durable already


class Undone(NamedTuple):
    """What could not be done, and why; the caller comes again with the same messages."""

    what: str  # "memory", "inbox", "task", "note" or "daily"
    text: str  # of the memory or the task; "" for the others
    error: HindbrainError | OSError


class Flushed(NamedTuple):
    """What became of a conversation."""

    stored: tuple[Remembered, ...] = ()
    held: tuple[Remembered, ...] = ()  # in the inbox, for a person
    dropped: tuple[Dropped, ...] = ()  # what was found and not kept, with the reason
    note: str = ""  # the session's note, vault-relative; "" when there is none
    by: By = "rules"
    notices: tuple[str, ...] = ()
    undone: tuple[Undone, ...] = ()
    tasks: tuple[TaskItem, ...] = ()  # that a person asked to be reminded of and that are new

    @property
    def durable(self) -> bool:
        """May the messages be passed by?"""
        return not self.undone

    @property
    def error(self) -> HindbrainError | OSError | None:
        """Why something is left to do; None when all is done."""
        return self.undone[0].error if self.undone else None


class Flusher:
    """For one thread, as the memory is."""

    def __init__(
        self,
        memory: Memory,
        chat: Callable[[], ChatModel | None],
        clock: Clock,
        *,
        daily: bool = False,
        notes: bool = True,
    ) -> None:
        """`chat` is asked at each flush; None: there is no model. `daily`: a line in the note of the day."""
        self._memory = memory
        self._chat = chat
        self._clock = clock
        self._daily = daily
        self._notes = notes
        self._tally = Tally(memory.state)
        self._asks_from = float("-inf")  # seconds since the epoch

    def flush(self, messages: Sequence[Message], session: SessionKey, *, project: str = "") -> Flushed:
        """Keep what the messages say that lasts. `project`: the name of what was worked on.

        Fails for no single part: `undone` says what is left, and `durable` whether anything is.
        """
        today = self._clock.today()
        by_rules = find_candidates(messages, today=today, project=project)
        reminders = find_reminders(messages, today=today)
        finds, notices = self._ask(messages)
        wanted = weigh(by_rules, without_reminders(finds, reminders))
        work = _Work(self._memory, wanted.candidates)
        work.keep_all()
        work.add_tasks(reminders, session, today.isoformat())
        note = self._write_note(work, session, project) if self._notes else ""
        if self._daily and note:
            self._write_line(work, note)
        usable = finds is not None and not (finds.failure and not finds.candidates)
        return Flushed(
            tuple(work.stored), tuple(work.held), (*wanted.dropped, *work.dropped), note,
            "model" if usable else "rules", (*notices, *work.notices()), tuple(work.undone),
            tuple(work.tasks),
        )  # fmt: skip

    def _ask(self, messages: Sequence[Message]) -> tuple[ModelFinds | None, list[str]]:
        """What the model finds; None when there is none. Its failure is a notice, and never more."""
        if not any(message.role == "user" and message.text.strip() for message in messages):
            return None, []
        try:
            chat = self._chat()
        except HindbrainError as error:
            return None, [f"the chat model can't be used ({error}); rules were used instead"]
        if chat is None:
            return None, []
        now = self._clock.now()
        if now < self._asks_from <= now + _REST_S:  # beyond that, the clock was set back
            return None, [f"the chat model {chat.name!r} was down a moment ago; rules were used instead"]
        finds = ask_model(chat, messages)
        self._asks_from = self._clock.now() + _REST_S if finds.down else float("-inf")
        notices = []
        if finds.failure:
            notices.append(f"the chat model {chat.name!r} failed ({finds.failure}); rules were used as well")
        if finds.dropped:
            first = finds.dropped[0]
            notices.append(
                f"{len(finds.dropped)} finds of the chat model were not kept, as {first.text[:60]!r}:"
                f" {first.reason}"
            )
        return finds, notices

    def _write_note(self, work: _Work, session: SessionKey, project: str) -> str:
        """The session's note, where there is enough to tell or it is there; "" without one."""
        if not work.kept:
            return ""
        try:
            there = find_session_note(self._memory, session)
            kept = self._tally.add(session, work.kept)
            if not there and len(kept) < _ENOUGH and all(one.category != "decision" for one in kept):
                return ""
            path = write_session_note(self._memory, session, kept, project=project)
        except (HindbrainError, OSError) as error:
            work.undone.append(Undone("note", "", error))
            return ""
        self._tally.clear(session)
        return path

    def _write_line(self, work: _Work, note: str) -> None:
        """One line a session and day: it leads to the note, which has the rest."""
        link = note.removesuffix(".md")
        try:
            page = self._memory.daily.read()
            if page is None or f"[[{link}" not in page.text:
                name = link.rpartition("/")[2]
                self._memory.daily.add_line(f"Kept from a session: [[{link}|{name}]]")
        except (HindbrainError, OSError) as error:
            work.undone.append(Undone("daily", "", error))


class _Work:
    """One flush on its way into the vault."""

    def __init__(self, memory: Memory, candidates: Sequence[Candidate]) -> None:
        self._memory = memory
        self._candidates = candidates
        self._told = {_clean(candidate.text).casefold() for candidate in candidates}
        self.stored: list[Remembered] = []
        self.held: list[Remembered] = []
        self.dropped: list[Dropped] = []
        self.undone: list[Undone] = []
        self.kept: list[Kept] = []
        self.tasks: list[TaskItem] = []

    def keep_all(self) -> None:
        for candidate in self._candidates:
            self._keep(candidate)
        self._into_notes()

    def _keep(self, candidate: Candidate) -> None:
        """Store what is sure, hold the rest; durable when this returns, or in `undone`."""
        try:
            answer = self._remember(candidate) if candidate.sure else self._hold(candidate)
        except (Refused, UsageError) as error:
            self.dropped.append(Dropped(candidate.text, str(error)))
        except (HindbrainError, OSError) as error:
            self.undone.append(Undone("memory" if candidate.sure else "inbox", candidate.text, error))
        else:
            if answer is None:
                return
            (self.held if answer.action == "held" else self.stored).append(answer)
            if answer.action != "held":
                self.kept.append(Kept(_clean(candidate.text), candidate.category))

    def add_tasks(self, reminders: Sequence[Reminder], session: SessionKey, today: str) -> None:
        """A task for each reminder, once for a session and day: one that was done does not come back."""
        taken = Taken(self._memory.state)
        for reminder in reminders:
            day = local_time(reminder.at).date().isoformat() if reminder.at > 0 else today
            mark = reminder.digest(*session[:2])
            try:
                if mark in taken.of(day) or self._is_task(reminder):
                    continue
                # Asked for by the user, and still the agent's word, as memories are.
                made = self._memory.tasks.create(reminder.title, due=reminder.due, source="agent")
                taken.add(day, [mark])
            except (Refused, UsageError) as error:
                self.dropped.append(Dropped(reminder.title, str(error)))
            except (HindbrainError, OSError) as error:
                self.undone.append(Undone("task", reminder.title, error))
            else:
                self.tasks += [made.task] if made.is_new else []

    def _is_task(self, reminder: Reminder) -> bool:
        """Whether it is on the list, in whoever's words; a done one counts if it may be the same request."""
        for task in self._memory.tasks.list(status="all"):
            if not same_aim(task.title, reminder.title):
                continue
            if task.status in OPEN:
                self._memory.tasks.add_due(task, reminder.due)
                return True
            if not reminder.at:
                return True
        return False

    def _into_notes(self) -> None:
        """Bring what was stored into its notes at once; what can't be goes on waiting in the queue."""
        if not self.stored:
            return
        try:
            flushed = self._memory.flush(timeout_s=_INTO_NOTES_S)
        except (HindbrainError, OSError):
            return  # durable; another process writes it, or the next settling
        self.stored = [flushed.answer_to(answer.id) or answer for answer in self.stored]

    def notices(self) -> list[str]:
        said = [
            f"{one.what} could not be written{f' ({one.text[:60]!r})' if one.text else ''}: {one.error}"
            for one in self.undone
        ]
        if said:
            said.append("what is left is done with the next flush")
        return said

    def _remember(self, candidate: Candidate) -> Remembered:
        if (item := self._known(_clean(candidate.text))) is not None:
            return Remembered(
                item.id, "merge", item.text, item.category, item.source, item.path, item.citation, item
            )
        # Heard from the user, and still the agent's word: nobody was asked.
        return self._memory.remember(
            candidate.text,
            category=candidate.category,
            importance=candidate.importance,
            source="agent",
            tags=TAGS,
            strategy="batched",
            from_owner=candidate.from_owner,
            cues=candidate.cues,
        )

    def _known(self, text: str) -> MemoryItem | None:
        """The memory that says just this, links aside.

        One that was replaced counts when what replaced it is told here, too: the same story, told again.
        """
        wanted = text.casefold()
        items = [item for item in self._memory.book.items() if item.id]
        same = [item for item in items if unlinked(item.text).casefold() == wanted]
        later = {item.id for item in items if unlinked(item.text).casefold() in self._told}
        known = [item for item in same if not item.superseded or item.superseded in later]
        return known[0] if known else None

    def _hold(self, candidate: Candidate) -> Remembered | None:
        """Put it into the inbox, unless it is known or was decided on before."""
        from hindbrain.memory.inbox.inbox import Proposal

        memory = self._memory
        verdict = memory.policy.judge(candidate.text, source="agent")
        text = fold(verdict.text)
        if verdict.action == "refuse":
            raise Refused("; ".join(verdict.reasons))
        waits = any(proposal.text == text for proposal in memory.inbox.pending())
        if not waits and memory.inbox.asked(text):
            self.dropped.append(Dropped(text, "its owner has decided on it before"))
            return None
        if self._known(text) is not None:
            self.dropped.append(Dropped(text, "it is known already"))
            return None
        reason = "; ".join(("heard in a conversation: " + candidate.why, *verdict.reasons))
        proposal = Proposal(
            "", text, candidate.category, candidate.importance, verdict.source, reason, TAGS, memory.today(),
            cues=memory.policy.cues(candidate.cues, source=verdict.source),
        )  # fmt: skip
        id_ = memory.inbox.hold(proposal)
        return Remembered(id_, "held", text, candidate.category, verdict.source, reasons=(reason,))


def _clean(text: str) -> str:
    from hindbrain.base.secrets import redact

    return fold(redact(text)[0])
