"""The inbox: what policy holds back waits in a note for its owner's tick.

A tick accepts exactly the text that stands in the line; deleting the line, or `[-]`, refuses it for good; an
edit corrects it. No tool reaches `accept`, `refuse` or `edit`, and none may write the note (`protected`).
Any program can tick: what is ticked while an agent's session is live waits until a person confirms it.
Owns the order of steps that takes each proposal exactly once: the memory is stored (durable, and twice with
one id is once), then the decision is logged, then the line goes. One process at a time settles.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import NeedsPerson, NoteChanged, NotFound, UsageError
from hindbrain.memory.forgetting.fingerprint import fingerprint
from hindbrain.memory.inbox import inbox_note
from hindbrain.memory.inbox.agent_sessions import LIVE_S, AgentSessions
from hindbrain.memory.inbox.approval_log import Approval, ApprovalLog
from hindbrain.memory.inbox.inbox_log import InboxLog, Known, State
from hindbrain.memory.inbox.inbox_note import InboxLine, Proposal
from hindbrain.memory.inbox.inbox_plan import Decided, Plan, memory_id, plan_settling, with_trust
from hindbrain.memory.inbox.presence import agent_among
from hindbrain.memory.policy.provenance import THIRD_PARTY, Heard
from hindbrain.vault.items.item import MemoryItem
from hindbrain.vault.lock import FileLock

if TYPE_CHECKING:
    from hindbrain.memory.forgetting.tombstones import Tombstones
    from hindbrain.memory.notes.notebook import Notebook, Page
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.write import VaultWriter

__all__ = ["Inbox", "KeepSkill", "Proposal", "Settled", "Store"]

# Keeps an accepted memory, durable when it returns; the same id a second time changes nothing. The text is
# stored as it is, never merged into another; `approved` is the day of the tick.
Store = Callable[[MemoryItem, str], None]
# Strikes the memory with the first id for the one with the second, as far as trust allows; twice is once.
Replace = Callable[[str, str], object]
# Writes an accepted line into one of the owner's own notes; the same line a second time changes nothing.
AddLine = Callable[[Proposal, str], None]
# Writes the note of an accepted skill; `approved` is the day of the tick. Returns "" once it is written, the
# same a second time; or the digest of the template's steps where these are not what was proposed, and nothing
# is written. NotFound when the template is gone.
KeepSkill = Callable[[Proposal, str], str]
_LOCK_TIMEOUT_S = 10.0
_RACY_S = 2.0  # a note changed so lately may change again within the same tick of its clock


class Settled(NamedTuple):
    """What a person decided since the last time."""

    accepted: tuple[Proposal, ...] = ()
    refused: tuple[Proposal, ...] = ()
    shown: int = 0  # lines that were written into the note, again or at last


class Inbox:
    def __init__(
        self,
        root: Path,
        state: Path,
        layout: Layout,
        notebook: Notebook,
        writer: Callable[[], VaultWriter],
        tombstones: Tombstones,
        clock: Clock,
        store: Store,
        keep_skill: KeepSkill | None = None,
        agent: Callable[[], str] = lambda: "",
        add_line: AddLine | None = None,
        replace: Replace | None = None,
    ) -> None:
        """`agent`: the agent host that runs this process; "" for none."""
        self._root = root
        self._layout = layout
        self._notebook = notebook
        self._writer = writer
        self._tombstones = tombstones
        self._clock = clock
        self._store = store
        self._agent = agent
        self.sessions = AgentSessions(root, state, writer, clock)
        self.approvals = ApprovalLog(root, writer, clock)
        self._add_line = add_line
        self._replace = replace
        self._keep_skill = keep_skill  # None: a tick on a skill waits for a process that can make it
        self._lock = FileLock(state / "inbox.lock")
        self._log = InboxLog(root, writer, lambda: tombstones.salt)
        self._settled_at: tuple[int, int, int] | None = None  # the note's stamp when nothing was left to do

    @property
    def path(self) -> str:
        return self._layout.path("inbox")

    def hold(self, proposal: Proposal) -> str:
        """Let it wait in the note; returns its id. The same text that waits already is not asked twice."""
        text = inbox_note.one_line(proposal.text)
        if not text:
            raise UsageError("an empty text can't be proposed")
        self.settle()  # the note is about to change: what was ticked before must not look ticked now
        with self._locked():
            exact = self._log.hash_of(proposal._replace(text=text).key)
            for known in self._log.known().values():
                # A skill is proposed once, whatever was decided; a memory that was refused has a tombstone.
                if known.exact == exact and (known.waits or (known.is_skill and known.is_decided)):
                    return known.proposal.id
            if proposal.id and self.knows(proposal.id):
                return proposal.id
            new = proposal._replace(
                id=proposal.id or self._new_id(), text=text, created=proposal.created or self._today()
            )
            self._log.propose(new)
            self._show([Known(new, "proposed", exact)])
            return new.id

    def knows(self, id_: str) -> bool:
        """Was it proposed before, and not undone?"""
        known = self._log.known().get(id_)
        return known is not None and known.state != "withdrawn"

    def asked(self, text: str) -> bool:
        """Return whether this text, or nearly this text, waits or was decided."""
        known = [item for item in self._log.known().values() if not item.is_skill]
        waits = any(item.waits and item.proposal.text == text for item in known)
        return waits or bool(self._log.origin_of(text, [item for item in known if item.is_decided]))

    def pending(self) -> list[Proposal]:
        """What waits, as the note shows it now. A line that a person deleted does not wait."""
        page = self._notebook.find(self.path)
        waiting = [known for known in self._log.known().values() if known.waits]
        if page is None:
            return [known.proposal for known in waiting]
        plan = self._plan(page)
        return [*plan.waiting, *(known.proposal for known in plan.unshown)]

    def ticked(self) -> list[Proposal]:
        """What was ticked while an agent was running, and waits for a person to confirm it."""
        return [proposal for proposal in self.pending() if proposal.ticked]

    def decided_texts(self, ids: Iterable[str]) -> dict[str, str]:
        """What these proposals said, by id, as far as the note's revisions are still kept.

        The log of decisions has no texts, so that what was refused or purged does not stay there.
        """
        left, found, writer = set(ids), dict[str, str](), self._writer()
        for revision in writer.history(self.path, None):
            if not left:
                break
            data = writer.kept(revision.before_hash) if revision.before_hash else None
            shown = inbox_note.proposals_in(data, self.path) if data is not None else {}
            found |= {id_: shown[id_].text for id_ in left & shown.keys()}
            left -= shown.keys()
        return found

    def check_redo(self) -> None:
        """Raise NeedsPerson where an agent's redo could accept again what its owner has taken back."""
        undone = any(known.waits and known.undone == "accepted" for known in self._log.known().values())
        if undone and (agent := self._agent()):
            raise NeedsPerson(
                f"this runs inside {agent}, and an agent can't approve; a redo would accept a memory again, "
                "so the owner types `hindbrain redo`"
            )

    def heard(self, text: str) -> list[Heard]:
        """What waits or was decided on, and whose word it is: another name for it changes nothing."""
        known = self._log.known().values()
        waiting = [item.proposal for item in known if item.waits and not item.is_skill]
        origin = self._log.origin_of(text)
        decided = [Heard(text, origin)] if origin else []
        return [*(Heard(proposal.text, proposal.source) for proposal in waiting), *decided]

    def keep_origins(self, texts: Sequence[Heard]) -> None:
        """Remember whose words these are, although no note has them any longer."""
        with self._locked():
            self._log.mark(
                Known(Proposal(self._new_id(), text, source=source), "withdrawn", self._log.hash_of(text))
                for text, source in texts
            )

    def accept(self, id_: str, text: str | None = None, *, shown: Proposal | None = None) -> Proposal:
        """A person's yes: the text in the line, or `text` instead, becomes a memory.

        `shown`: what the person was shown; NoteChanged when the line says something else by now.
        NeedsPerson in a process that an agent started.
        """
        if agent := self._agent() or agent_among([os.environ]):
            raise NeedsPerson(f"this runs inside {agent}, and an agent can't approve; the owner accepts it")
        with self._locked():
            line = self._find_waiting(id_)
            proposal = line.proposal
            if shown is not None and shown != proposal:
                raise NoteChanged(f"{id_!r} is not what was shown any more; look at it and accept it again")
            if text is not None:
                proposal = proposal._replace(text=_some_text(text))
            if proposal.kind == "skill":
                self._make_skill(line, proposal)
            else:
                self._keep(memory_id(id_), proposal)
            self._close(line, Known(proposal, "accepted", self._log.hash_of(proposal.key)))
            return proposal

    def refuse(self, id_: str) -> Proposal:
        """A person's no: it is not proposed or learned again."""
        with self._locked():
            line = self._find_waiting(id_)
            self._bury(line.proposal)
            known = Known(line.proposal, "refused", self._log.hash_of(line.proposal.key))
            self._close(line._replace(mark="refused"), known)
            return line.proposal

    def edit(self, id_: str, text: str) -> Proposal:
        """A person's correction; the proposal goes on waiting."""
        with self._locked():
            line = self._find_waiting(id_)
            corrected = _some_text(text)

            def change(page: Page | None) -> bytes | None:
                return None if page is None else inbox_note.change_text(page.data, line, corrected, page.path)

            self._notebook.edit(self.path, change)
            return line.proposal._replace(text=corrected)

    def take_back(self, before: bytes, after: bytes, op: Literal["undo", "redo"]) -> None:
        """Update the log after an undo or redo changed the note from `before` to `after`.

        A proposal that is back waits again, and its refusal is lifted. One that is gone is withdrawn by an
        undo; a redo makes the undone decision again.
        """
        with self._locked():
            had, has = inbox_note.proposals_in(before, self.path), inbox_note.proposals_in(after, self.path)
            known = self._log.known()
            marks = []
            for id_ in has.keys() - had.keys():
                earlier = known.get(id_)
                proposal = with_trust(has[id_], earlier)
                undone = (
                    earlier.state if earlier and earlier.is_decided else earlier.undone if earlier else ""
                )
                if undone == "refused":
                    self._tombstones.lift_known(fingerprint(proposal.text, self._tombstones.salt))
                marks.append(Known(proposal, "shown", self._log.hash_of(proposal.key), undone=undone))
            for id_ in had.keys() - has.keys():
                earlier = known.get(id_)
                if earlier is None or not earlier.waits:
                    continue
                if op == "redo" and earlier.undone == "refused":
                    self._bury(earlier.proposal)
                again: State = "withdrawn"
                if op == "redo" and earlier.undone in ("accepted", "refused"):
                    again = "accepted" if earlier.undone == "accepted" else "refused"
                undone = earlier.undone if again == "withdrawn" else ""
                marks.append(earlier._replace(state=again, undone=undone))
            if marks:
                self._log.mark(marks)

    def settle(self) -> Settled:
        """Take what a person ticked, crossed out or deleted. Cheap when the note has not changed."""
        if self._is_settled():
            return Settled()
        with self._locked():
            page = self._notebook.find(self.path)
            if page is None:  # the whole note is gone: that refuses nothing
                return Settled(shown=self._show_lost())
            stamp = self._stamp()
            plan = self._plan(page)
            if plan.accepted and self._may_be_an_agents():
                plan.hold(self._log.known(), self._new_id)
            self._make_skills(plan)
            self._apply(plan)
            shown = self._show(plan.unshown)
            if not (plan.accepted or plan.refused or plan.stale or plan.held or shown):
                self._settled_at = stamp
            return Settled(
                tuple(item.proposal for item in plan.accepted), tuple(plan.refused_proposals()), shown
            )

    def _may_be_an_agents(self) -> bool:
        """Return whether an agent was at work when the note was changed last."""
        now = self._clock.now()
        changed = _changed_at(self._root / self.path, now)
        if self.sessions.live_at(changed):
            return True
        return changed > now - LIVE_S and bool(self._agent())

    def _plan(self, page: Page) -> Plan:
        lines = inbox_note.read_lines(page.data, page.path)
        known = self._log.known()
        if not lines and not known:
            return Plan()
        return plan_settling(lines, known, self._log.hash_of)

    def _apply(self, plan: Plan) -> None:
        """Store, then log, then take the lines away: whatever is interrupted is done again, once."""
        for item in plan.accepted:
            if item.proposal.kind == "remember":
                self._keep(item.memory_id, item.proposal)
        for item in plan.refused:
            self._bury(item.proposal)
        marks = plan.marks(self._log.hash_of)
        if marks:
            self._log.mark(marks)
        for state, items in (("accepted", plan.accepted), ("refused", plan.refused)):
            for item in items:
                self.approvals.note(self._approval(item.proposal, state, "note"))
        self._take_away(plan.taken_lines())
        self._mark_held(plan.held)

    def _make_skills(self, plan: Plan) -> None:
        """Make the skills that were ticked; what can't be made now is taken out of what is accepted."""
        for item in [item for item in plan.accepted if item.proposal.kind == "skill"]:
            if self._keep_skill is None:
                plan.accepted.remove(item)
                continue
            try:
                changed = self._keep_skill(item.proposal, self._today())
            except NotFound:  # its template was deleted: that is a no
                plan.accepted.remove(item)
                plan.refused.append(item)
                continue
            if changed:
                plan.ask_again(item, changed)

    def _make_skill(self, line: InboxLine, proposal: Proposal) -> None:
        """Raises NoteChanged when the template is not what was proposed; it then waits anew."""
        if self._keep_skill is None:
            raise UsageError(f"the skill {proposal.text!r} can't be made here; tick it in {self.path!r}")
        changed = self._keep_skill(proposal, self._today())
        if changed:
            plan = Plan(accepted=[item := Decided(proposal, "", line)])
            plan.ask_again(item, changed)
            self._apply(plan)
            self._show(plan.unshown)
            raise NoteChanged(
                f"the steps of {proposal.template!r} changed since they were proposed; look at them, then "
                "accept the skill again"
            )

    def _close(self, line: InboxLine, decided: Known) -> None:
        self._log.mark([decided])
        self.approvals.note(self._approval(decided.proposal, decided.state, "command"))
        self._take_away([line])

    def _approval(self, proposal: Proposal, decision: str, how: str) -> Approval:
        what = "skill" if proposal.kind == "skill" else "memory"
        return Approval(what, proposal.id, decision, how, self._log.hash_of(proposal.key))

    def _bury(self, proposal: Proposal) -> None:
        """Not again: neither what the line says, nor what was proposed before it was edited.

        A skill needs no stone: it is proposed by its id, and the log keeps that.
        """
        if proposal.kind == "skill":
            return
        known = self._log.known().get(proposal.id)
        before = known.proposal.text if known is not None else ""
        for text in dict.fromkeys((proposal.text, before)):
            if text:
                self._tombstones.add(text, why="refused", reworded=proposal.source in THIRD_PARTY)

    def _keep(self, id_: str, proposal: Proposal) -> None:
        self._tombstones.lift(proposal.text)  # whoever ticks it wants it, whatever was before
        if proposal.role and self._add_line is not None:
            self._add_line(proposal, self._today())
            return
        item = MemoryItem(
            id_,
            proposal.text,
            proposal.category,
            proposal.importance,
            proposal.source,
            proposal.created or self._today(),
            proposal.tags,
            cues=proposal.cues,
        )
        self._store(item, self._today())
        if proposal.replaces and self._replace is not None:
            self._replace(proposal.replaces, id_)

    def _find_waiting(self, id_: str) -> InboxLine:
        """The line of a proposal that waits; a lost note is written again first."""
        self._show_lost()
        page = self._notebook.find(self.path)
        if page is not None:
            for line in self._plan(page).open_lines:
                if line.proposal.id == id_:
                    return line
        waiting = ", ".join(item.id for item in self.pending()) or "nothing waits"
        raise NotFound(f"no proposal {id_!r} in the inbox; waiting: {waiting}")

    def _show_lost(self) -> int:
        """Write what waits and does not stand in the note; all of it when there is no note."""
        page = self._notebook.find(self.path)
        if page is None:
            lost = [known for known in self._log.known().values() if known.waits]
        else:
            lost = self._plan(page).unshown
        return self._show(lost)

    def _show(self, items: list[Known]) -> int:
        if not items:
            return 0
        rendered = {item.proposal.id: inbox_note.render(item.proposal) for item in items}

        def change(page: Page | None) -> bytes | None:
            data = self._first_text() if page is None else page.data
            there = {line.proposal.id for line in inbox_note.read_lines(data, self.path)}
            new = [line for id_, line in rendered.items() if id_ not in there]
            return inbox_note.add_lines(data, new, self.path) if new else None

        self._notebook.edit(self.path, change)
        self._log.mark(item._replace(state="shown") for item in items)
        return len(items)

    def _take_away(self, lines: list[InboxLine]) -> None:
        def change(page: Page | None) -> bytes | None:
            if page is None:
                return None
            data = inbox_note.take_lines(page.data, lines, page.path)
            return None if data == page.data else data

        if lines:
            self._notebook.edit(self.path, change)

    def _mark_held(self, held: list[Decided]) -> None:
        ticked = [(item.line, item.proposal) for item in held if item.line is not None]

        def change(page: Page | None) -> bytes | None:
            return None if page is None else inbox_note.hold_ticks(page.data, ticked, page.path)

        if ticked:
            self._notebook.edit(self.path, change)

    def _first_text(self) -> bytes:
        if "inbox" not in self._layout.start:
            return inbox_note.FIRST_TEXT.encode()
        return self._layout.first_text("inbox", today=self._today()).encode()

    def _is_settled(self) -> bool:
        """Nothing to do, by the note's stamp and without a lock?"""
        stamp = self._stamp()
        if stamp is None:
            return not any(known.waits for known in self._log.known().values())
        racy = abs(self._clock.now() - stamp[1] / 1e9) < _RACY_S
        unshown = any(known.state == "proposed" for known in self._log.known().values())
        return stamp == self._settled_at and not racy and not unshown

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = (self._root / self.path).stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ino

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock.held(_LOCK_TIMEOUT_S):
            yield

    def _new_id(self) -> str:
        from hindbrain.vault.items.item import new_id

        return new_id("p")

    def _today(self) -> str:
        return self._clock.today().isoformat()


def _changed_at(file: Path, now: float) -> float:
    """When a file's bytes changed last. A program can set back its time of modification, not this one.

    Windows has no such time: there it is now.
    """
    if sys.platform == "win32":
        return now
    try:
        return file.stat().st_ctime
    except OSError:
        return now


def _some_text(text: str) -> str:
    text = inbox_note.one_line(text)
    if not text:
        raise UsageError("an empty text says nothing; refuse the proposal instead")
    return text
