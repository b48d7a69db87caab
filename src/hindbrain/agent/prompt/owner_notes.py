"""What the owner wrote for the agent: the notes of the roles soul, identity and agents, as instructions.

These are the only notes whose text instructs. No tool may write them (`memory.policy.protected`); a note or a
line that names another source than its owner is left out, and so is what no reader sees. Reads, never writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.base.secrets import redact
from hindbrain.context.packs.note_lines import Line, Room, line_keys, note_text, pick_lines, text_of
from hindbrain.context.tokens import count_tokens
from hindbrain.memory.policy.hidden_text import strip_hidden
from hindbrain.memory.policy.protected import INSTRUCTION_ROLES
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.items.item_line import read_line
from hindbrain.vault.origin import source_of_note
from hindbrain.vault.parse import decode_note
from hindbrain.vault.path_rules import check_existing_path
from hindbrain.vault.paths import read_note

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout

_MOST_TOKENS = 2_000  # of all three together


class OwnerNotes(NamedTuple):
    text: str = ""
    notices: tuple[str, ...] = ()  # for people: what was left out
    keys: frozenset[str] = frozenset()  # of its lines, which are not recalled as data too


def read_owner_notes(root: Path, layout: Layout) -> OwnerNotes:
    """The notes in the order of their roles, as far as there is room."""
    room = Room(_MOST_TOKENS, count_tokens)
    texts: list[str] = []
    notices: list[str] = []
    keys: set[str] = set()
    for role in INSTRUCTION_ROLES:
        if not layout.has(role) or not layout.is_single(role):
            continue
        path = layout.path(role)
        try:
            lines = _owners_lines(root, path, room, notices)
        except NotFound:
            continue
        except HindbrainError as error:
            notices.append(f"{path!r} can't be read ({error.code})")
            continue
        if lines:
            texts.append(f"### {path}\n\n{text_of(lines)}")
            keys.update(line_keys(path, lines))
    return OwnerNotes("\n\n".join(texts), tuple(notices), frozenset(keys))


def _owners_lines(root: Path, path: str, room: Room, notices: list[str]) -> list[Line]:
    text = strip_hidden(decode_note(read_note(root, check_existing_path(path)))[0]).text
    source = source_of_note("", read_frontmatter(text.split("\n")).properties)
    if source != "user":
        notices.append(f"{path!r} gives no instructions: it says that its source is {source!r}")
        return []
    own = (line if _is_owners(line) else "" for line in redact(text)[0].split("\n"))
    lines = note_text("\n".join(own)).lines
    kept = pick_lines(lines, room, f"### {path}")
    if len(kept) < len(lines):
        notices.append(f"{path!r} is too long: {len(kept)} of its {len(lines)} lines are in the prompt")
    return kept


def _is_owners(line: str) -> bool:
    return read_line(line).value("source") in ("", "user")
