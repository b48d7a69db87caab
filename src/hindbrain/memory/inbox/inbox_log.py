"""What was proposed and what became of it: `.hindbrain/inbox.jsonl`.

The text of a proposal is kept only while it waits, so that a lost note can be written again; once a person
has decided, hashes are left: enough to know whose word it was when it is offered again. The caller holds the
inbox's lock while it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from hindbrain.memory.forgetting.event_log import Event, EventLog, Mark
from hindbrain.memory.forgetting.fingerprint import alike, fingerprint, run_prints
from hindbrain.memory.inbox.inbox_note import Proposal
from hindbrain.memory.policy.provenance import THIRD_PARTY, lowest

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

INBOX_LOG = "inbox.jsonl"
# "proposed": on its way into the note. "shown": it stands there, so its absence is a person's answer.
# "withdrawn": the proposal was undone; nobody has decided, and it may be proposed again.
State: TypeAlias = Literal["proposed", "shown", "accepted", "refused", "withdrawn"]
_STATES: frozenset[str] = frozenset(get_args(State))
_KEPT = 1_000  # decided ones: a line that a sync tool brings back is still known


class Known(NamedTuple):
    proposal: Proposal  # its text is "" once it is decided
    state: State
    exact: str  # hash of the text it was proposed or decided with
    runs: frozenset[str] = frozenset()  # hashes of its runs of words, of a decided text of strangers
    undone: str = ""  # the decision that was undone, "accepted" or "refused"; a redo makes it again

    @property
    def waits(self) -> bool:
        return self.state in ("proposed", "shown")

    @property
    def is_decided(self) -> bool:
        return self.state in ("accepted", "refused")

    @property
    def is_skill(self) -> bool:
        return self.proposal.kind == "skill"


class InboxLog:
    def __init__(self, root: Path, writer: Callable[[], VaultWriter], salt: Callable[[], str]) -> None:
        self._log = EventLog(root, INBOX_LOG, writer)
        self._salt = salt
        self._read_to = Mark()
        self._known: dict[str, Known] = {}

    def known(self) -> dict[str, Known]:
        """By id, in the order in which they were proposed."""
        news = self._log.since(self._read_to)
        self._read_to = news.mark
        if news.anew:
            self._known = {}
        for event in news.events:
            self._take(event)
        return self._known

    def hash_of(self, text: str) -> str:
        return fingerprint(text, self._salt()).exact

    def origin_of(self, text: str, among: Sequence[Known] | None = None) -> str:
        """Whose word a text is that was decided on before, reworded perhaps; "" when it is not known.

        An undone proposal keeps its origin. `among`: look only at these.
        """
        known = self.known().values() if among is None else among
        decided = [item for item in known if not item.waits and not item.is_skill]
        if not decided:
            return ""
        exact, runs = self.hash_of(text), run_prints(text, self._salt())
        found = [item.proposal.source for item in decided if item.exact == exact or alike(runs, item.runs)]
        return lowest(found) if found else ""

    def propose(self, proposal: Proposal) -> None:
        self._log.append(_event(Known(proposal, "proposed", self.hash_of(proposal.key))))

    def mark(self, changes: Iterable[Known]) -> None:
        """Write these states down, and drop the texts of what is decided."""
        known = {**self.known(), **{change.proposal.id: self._told(change) for change in changes}}
        # What became of a skill is known for good: nothing else keeps it from being proposed again.
        decided = [id_ for id_, item in known.items() if not item.waits and not item.is_skill]
        for id_ in decided[: max(0, len(decided) - _KEPT)]:
            del known[id_]
        self._log.replace(_event(item) for item in known.values())

    def _told(self, change: Known) -> Known:
        """With what is left of a text of strangers: all its wordings, since a person may have edited it."""
        if change.waits or change.is_skill or change.proposal.source not in THIRD_PARTY:
            return change
        before = self.known().get(change.proposal.id)
        texts = [change.proposal.text, before.proposal.text if before is not None else ""]
        runs = frozenset().union(*(run_prints(text, self._salt()) for text in texts))
        return change._replace(runs=runs | (before.runs if before is not None else frozenset()))

    def _take(self, event: Event) -> None:
        state, id_ = event.get("state"), event.get("id")
        if not isinstance(id_, str) or state not in _STATES:
            return
        try:
            is_skill = event.get("kind") == "skill"
            proposal = Proposal(
                id=id_,
                text=str(event.get("text", "")),
                category=str(event.get("category", "fact")),
                importance=float(event.get("importance", 0.5)),
                source=str(event.get("source", "import")),
                reason=str(event.get("reason", "")),
                tags=tuple(map(str, event.get("tags", ()))),
                created=str(event.get("created", "")),
                kind="skill" if is_skill else "remember",
                template=str(event.get("template", "")),
                success=float(event.get("success", 0.0)),
                runs=int(event.get("runs", 0)) if is_skill else 0,
                digest=str(event.get("digest", "")),
                role=str(event.get("role", "")),
                heading=str(event.get("heading", "")),
                cues=tuple(map(str, event.get("cues", ()))),
                replaces=str(event.get("replaces", "")),
            )
        except (TypeError, ValueError):
            return
        runs = event.get("runs")
        known = frozenset(map(str, runs)) if isinstance(runs, list) else frozenset()
        undone = str(event.get("undone", ""))
        self._known[id_] = Known(proposal, state, str(event.get("exact", "")), known, undone)


def _event(known: Known) -> Event:
    proposal, state, exact, runs, undone = known
    event = {"id": proposal.id, "state": state, "exact": exact, "source": proposal.source}
    if undone:
        event["undone"] = undone
    if known.is_skill:
        told = {"kind": "skill", "template": proposal.template, "digest": proposal.digest}
        if not known.waits:
            return {**event, **told}
        figures = {"success": proposal.success, "runs": proposal.runs}
        shown = {"text": proposal.text, "reason": proposal.reason, "created": proposal.created}
        return {**event, **told, **figures, **shown}
    if not known.waits:
        return {**event, "runs": sorted(runs)} if runs else event
    return {
        **event,
        "text": proposal.text,
        "category": proposal.category,
        "importance": proposal.importance,
        "reason": proposal.reason,
        "tags": list(proposal.tags),
        "created": proposal.created,
        **({"cues": list(proposal.cues)} if proposal.cues else {}),
        **({"replaces": proposal.replaces} if proposal.replaces else {}),
        **({"role": proposal.role, "heading": proposal.heading} if proposal.role else {}),
    }
