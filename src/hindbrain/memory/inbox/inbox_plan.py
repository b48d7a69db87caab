"""From the lines of the inbox note and what is known of them to what has to be done. Pure.

Trust comes from the log, or from the line where that says less; never from the line where it says more.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hindbrain.memory.inbox.inbox_log import Known
from hindbrain.memory.inbox.inbox_note import InboxLine, Proposal
from hindbrain.memory.policy.provenance import lowest


class Decided(NamedTuple):
    proposal: Proposal
    memory_id: str  # of what it becomes
    line: InboxLine | None  # None: a person took the line away


@dataclass(slots=True)
class Plan:
    """What to do. Filled while it is made, read afterwards."""

    accepted: list[Decided] = field(default_factory=list)
    refused: list[Decided] = field(default_factory=list)
    stale: list[InboxLine] = field(default_factory=list)  # decided before, and still there
    open_lines: list[InboxLine] = field(default_factory=list)  # as they stand, with the trust they have
    adopted: list[Proposal] = field(default_factory=list)  # proposals of another machine, or of a lost log
    unshown: list[Known] = field(default_factory=list)  # not in the note yet
    held: list[Decided] = field(default_factory=list)  # ticked, and waiting for a person to confirm

    def hold(self, known: Container[str], new_id: Callable[[], str]) -> None:
        """Accept nothing that is ticked. What was not proposed may be an agent's line, whatever it says."""
        for item in self.accepted:
            proposal = item.proposal._replace(ticked=True)
            if proposal.id not in known and proposal.kind == "remember":
                id_ = proposal.id or new_id()
                proposal = proposal._replace(id=id_, source=lowest((proposal.source, "agent")))
            self.held.append(item._replace(proposal=proposal))
        self.accepted = []

    def ask_again(self, item: Decided, digest: str) -> None:
        """What was ticked is another one by now: its line goes, and the new one waits for its own tick."""
        reason = "its template changed since; look at it again"
        changed = item.proposal._replace(digest=digest, reason=reason)
        self.accepted.remove(item)
        self.unshown.append(Known(changed, "proposed", ""))
        if item.line is not None:
            self.stale.append(item.line)

    @property
    def waiting(self) -> list[Proposal]:
        return [line.proposal for line in self.open_lines]

    def refused_proposals(self) -> list[Proposal]:
        return [item.proposal for item in self.refused]

    def taken_lines(self) -> list[InboxLine]:
        decided = [*self.accepted, *self.refused]
        return [*(item.line for item in decided if item.line is not None), *self.stale]

    def marks(self, hash_of: Callable[[str], str]) -> list[Known]:
        """What the log has to say afterwards."""
        marks = [Known(proposal, "shown", hash_of(proposal.key)) for proposal in self.adopted]
        taken = [item.proposal for item in self.accepted if item.proposal.id]
        marks += [Known(proposal, "accepted", hash_of(proposal.key)) for proposal in taken]
        marks += [Known(item.proposal, "refused", hash_of(item.proposal.key)) for item in self.refused]
        anew = [item for item in self.unshown if not item.exact]
        return marks + [item._replace(exact=hash_of(item.proposal.key)) for item in anew]


def memory_id(proposal_id: str) -> str:
    """The memory that a proposal becomes, whoever takes it and however often."""
    return "m-" + proposal_id.removeprefix("p-")


def plan_settling(
    lines: Sequence[InboxLine], known: Mapping[str, Known], hash_of: Callable[[str], str]
) -> Plan:
    plan = Plan()
    by_text = {item.exact: id_ for id_, item in known.items() if item.waits}
    seen: set[str] = set()
    named = {line.proposal.id for line in lines if line.proposal.id}
    for line in lines:
        proposal = line.proposal
        if not proposal.id and by_text:
            id_ = by_text.get(hash_of(proposal.key), "")
            if id_ not in named | seen:
                proposal = proposal._replace(id=id_)  # its id was lost in an edit
        if not proposal.id:
            _plan_own_line(plan, line)
        elif proposal.id in seen:
            _plan_copy(plan, line, known.get(proposal.id))
        else:
            seen.add(proposal.id)
            _plan_line(plan, line._replace(proposal=proposal), known.get(proposal.id), hash_of)
    for id_, item in known.items():
        if id_ not in seen and item.state == "shown":
            plan.refused.append(Decided(item.proposal, "", None))
        elif id_ not in seen and item.state == "proposed":
            plan.unshown.append(item)
    return plan


def _plan_line(plan: Plan, line: InboxLine, known: Known | None, hash_of: Callable[[str], str]) -> None:
    proposal = with_trust(line.proposal, known)
    line = line._replace(proposal=proposal)
    decided_so = known is not None and not known.waits and known.exact == hash_of(proposal.key)
    if decided_so and known is not None and (known.state == "accepted" or line.mark == "refused"):
        plan.stale.append(line)  # what was decided before it could be taken away
    elif line.mark == "accepted":
        again = known is not None and not known.waits
        id_ = _derived_id(proposal) if again else memory_id(proposal.id)
        plan.accepted.append(Decided(proposal, id_, line))
    elif line.mark == "refused":
        plan.refused.append(Decided(proposal, "", line))
    else:
        plan.open_lines.append(line)
        if known is None or not known.waits:
            plan.adopted.append(proposal)


def _plan_own_line(plan: Plan, line: InboxLine) -> None:
    """A line that a person wrote. Unticked it is a draft and stays; a skill is only what was proposed."""
    if line.proposal.kind == "skill":
        return
    proposal = line.proposal._replace(source=line.proposal.source or "user")
    if line.mark == "accepted":
        plan.accepted.append(Decided(proposal, _derived_id(proposal), line))


def _plan_copy(plan: Plan, line: InboxLine, known: Known | None) -> None:
    """A second line with one id: somebody made two facts of one. It keeps the trust of the first."""
    proposal = with_trust(line.proposal, known)
    if proposal.kind == "skill":
        plan.stale.append(line)  # one template, one skill
        return
    if line.mark == "accepted":
        if any(item.proposal.text == proposal.text for item in plan.accepted):
            plan.stale.append(line)
        else:
            plan.accepted.append(Decided(proposal._replace(id=""), _derived_id(proposal), line))


def with_trust(proposal: Proposal, known: Known | None) -> Proposal:
    """A proposal always says its source; one that lost it, and that no log knows, is trusted least."""
    sources = [known.proposal.source] if known is not None else []
    if proposal.source:
        sources.append(proposal.source)
    if proposal.kind == "skill" and known is not None and known.is_skill:
        # Only its name is a person's to change: what it is made of is what was proposed.
        return known.proposal._replace(text=proposal.text, ticked=proposal.ticked)
    if known is not None and known.waits:  # where it goes is not a matter of the line's text
        proposal = proposal._replace(role=known.proposal.role, heading=known.proposal.heading)
    return proposal._replace(
        source=lowest(sources),
        created=proposal.created or (known.proposal.created if known is not None else ""),
    )


def _derived_id(proposal: Proposal) -> str:
    """The same for the same text: a crash between storing it and taking its line makes no second one."""
    from hashlib import blake2b

    data = f"{proposal.id} {proposal.text}".encode("utf-8", "surrogatepass")
    return "m-" + blake2b(data, digest_size=4).hexdigest()
