"""What an agent writes into notes, on its way there: every tool that writes text passes here.

Lines for the owner's own notes (profile, status, ...) become proposals in the inbox. Elsewhere the words of
less trusted sources are marked as theirs, and what claims to be the owner's is refused. What the owner types
on the command line does not come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import Refused, UsageError
from hindbrain.base.plural import plural
from hindbrain.memory.notes.kept_bytes import plain_lines
from hindbrain.memory.policy import note_trust

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.policy.policy import Verdict
    from hindbrain.memory.policy.provenance import Heard
    from hindbrain.memory.service import Memory
    from hindbrain.vault.path_rules import NotePath

_MOST_PROPOSED = 20  # lines in one call
_MOST_REMOVED = 100  # passages of strangers in one call
_PIECE, _OVERLAP = 60, 10  # words
# In notes of the other roles a line without a source counts as the owner's word.
PLAIN_ROLES = ("", "projects", "contacts", "locations")
_NO_FACT = ("#", "---", "```", "~~~", "|")


class Held(NamedTuple):
    ids: tuple[str, ...]  # of the proposals in the inbox
    removed: tuple[str, ...]  # kinds of secrets that were taken out


def owner_role(memory: Memory, path: NotePath) -> str:
    """The role of a note that enters prompts as the owner's own; "" for any other note."""
    from hindbrain.memory.policy.protected import OWNER_ROLES, role_at

    return role_at(memory.root, path, memory.layout, OWNER_ROLES)


def propose(memory: Memory, path: NotePath, role: str, content: str, heading: str) -> Held:
    """Let each line wait in the inbox. When one of them is refused, none is proposed."""
    from hindbrain.memory.inbox.inbox import Proposal

    verdicts = _judged(memory, path, content)
    held = []
    for verdict in verdicts:
        reason = "; ".join((f"for {path}", *verdict.reasons))
        proposal = Proposal(
            "", verdict.text, source=verdict.source, reason=reason, role=role, heading=heading
        )
        held.append(memory.inbox.hold(proposal))
    removed = dict.fromkeys(kind for verdict in verdicts for kind in verdict.removed)
    return Held(tuple(dict.fromkeys(held)), tuple(removed))


def _judged(memory: Memory, path: NotePath, content: str) -> list[Verdict]:
    lines = [line.strip() for line in plain_lines(content) if line.strip()]
    if len(lines) > _MOST_PROPOSED or any(line.startswith(_NO_FACT) for line in lines):
        raise UsageError(
            f"{path!r} is the user's own note: propose at most {_MOST_PROPOSED} lines, each a fact that "
            "stands alone, without headings, tables or code; name the section with heading"
        )
    verdicts = [memory.policy.judge(line, source="agent") for line in lines]
    for verdict in verdicts:
        if verdict.action == "refuse":
            raise Refused(f"this was not proposed for {path!r}: {'; '.join(verdict.reasons)}")
    return verdicts


def _keep_origins(memory: Memory, path: NotePath, removed: Sequence[Heard]) -> None:
    """Whose words an agent takes out of a note stays known, for when they are offered again."""
    if len(removed) > _MOST_REMOVED:
        raise UsageError(
            f"{path!r} has {plural(len(removed), 'passage')} of less trusted origin that this leaves out; "
            f"take out at most {_MOST_REMOVED} at once, or leave it to the user"
        )
    if removed:
        memory.inbox.keep_origins([piece for heard in removed for piece in _pieces(heard)])


def _pieces(heard: Heard) -> list[Heard]:
    """A long passage in parts, each of which is known again by all its words."""
    words = heard.text.split()
    return [
        heard._replace(text=" ".join(words[at : at + _PIECE]))
        for at in range(0, len(words), _PIECE - _OVERLAP)
    ]


def attributed(
    memory: Memory, path: NotePath, text: str, page: Page | None, *, replaces: bool = False
) -> str:
    """The text with the words of less trusted sources marked as theirs.

    `page`: the note as it is, None for a new one. `replaces`: `text` is the whole of it, not an addition.
    UsageError where a mark has no place, and for what only the owner may say; Refused for a note that would
    make the vault another one.
    """
    from hindbrain.memory.policy.protected import check_no_layout_sign
    from hindbrain.memory.policy.provenance import inherited, lowest, trust_rank
    from hindbrain.memory.policy.source_marks import less_trusted, mark_sources

    before = "" if page is None else page.text
    role = memory.layout.role_of(path)
    if page is None and not role:
        check_no_layout_sign(path)
    note_trust.check_marks(memory, path, before, text if page is None or replaces else f"{before}\n{text}")
    own = less_trusted(before, note_trust.source_of(path, before))
    if replaces:
        _keep_origins(memory, path, [heard for heard in own if heard.text.strip() not in text])

    def trust(said: str) -> str:
        return lowest((memory.policy.trust_of(said, source="agent"), inherited(said, "agent", own)))

    known = {line.strip() for line in before.splitlines()} if replaces else set()
    whole = note_trust.source_of(path, text if page is None else before)
    marked = mark_sources(text, trust, known=known, always=role not in PLAIN_ROLES)
    if trust_rank(marked.unmarked) <= max(trust_rank("agent"), trust_rank(whole)):
        return marked.text
    if page is None:
        return note_trust.with_source(marked.text, marked.unmarked)
    raise UsageError(
        "a heading, table, code block or property in this repeats text of less trusted origin "
        f"({marked.unmarked}), and {path!r} has no place to say so; put it into a new note"
    )
