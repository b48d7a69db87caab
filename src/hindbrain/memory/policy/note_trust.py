"""What an agent may say in a note about where the note comes from: its own word at most, never its owner's.

Owns the `source` property of notes that agents write. A new note without frontmatter is signed, and stays so
when an agent replaces it; otherwise an agent's text is never altered, only refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.base.clock import Clock
from hindbrain.base.errors import UsageError, VaultError

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory
    from hindbrain.vault.frontmatter import Frontmatter
    from hindbrain.vault.path_rules import NotePath


def has_frontmatter(text: str) -> bool:
    return _frontmatter(text).first_line > 0


def signed(text: str, clock: Clock) -> str:
    """`text` with its source and day on top, unless it has frontmatter of its own."""
    if has_frontmatter(text):
        return text
    return f"---\ncreated: {clock.today().isoformat()}\nsource: agent\n---\n{text}"


def still_signed(before: str, after: str) -> str:
    """The new text of an agent's note, with the day and source that the old one had and it leaves out."""
    from hindbrain.vault.origin import stated_source
    from hindbrain.vault.splice import set_property

    old, new = _frontmatter(before).properties, {key.lower() for key in _frontmatter(after).properties}
    if stated_source(old) != "agent":
        return after
    data = after.encode("utf-8")
    for key in ("created", "source"):
        value = old.get(key)
        if isinstance(value, str) and key not in new:
            try:
                data = set_property(data, key, value)
            except VaultError as error:
                raise UsageError(str(error)) from error
    return data.decode("utf-8")


def with_source(text: str, source: str) -> str:
    """`text`, whose properties say the source."""
    from hindbrain.vault.splice import set_property

    return set_property(text.encode("utf-8"), "source", source).decode("utf-8")


def source_of(path: str, text: str) -> str:
    """Whose word a note is as a whole."""
    from hindbrain.vault.origin import source_of_note

    return source_of_note(path, _frontmatter(text).properties)


def check_claim(path: str, before: str, after: str) -> None:
    """UsageError when an agent's text claims more trust than it has: its own, or that of what it replaces."""
    from hindbrain.memory.policy.provenance import trust_rank
    from hindbrain.vault.origin import source_of_note, stated_source

    old, new = _frontmatter(before).properties, _frontmatter(after).properties
    if stated_source(new) == "user" != stated_source(old):
        raise UsageError(f"{path!r} can't say 'source: user': only the user writes that; say 'source: agent'")
    had = source_of_note(path, old)
    if trust_rank(source_of_note(path, new)) < trust_rank(had) > trust_rank("agent"):
        raise UsageError(f"{path!r} is trusted as 'source: {had}'; keep what says so in its frontmatter")


def check_marks(memory: Memory, path: str, before: str, after: str) -> None:
    """UsageError when an agent's text says that it is a note of the owner's, a memory or a task.

    Notes and lines are followed by these marks when their owner moves them.
    """
    from hindbrain.memory.policy.protected import INSTRUCTION_ROLES, OWNER_ROLES
    from hindbrain.vault.marks import block_ids, read_marks

    layout = memory.layout
    roles = [role for role in (*OWNER_ROLES, *INSTRUCTION_ROLES, "tasks", "inbox") if layout.has(role)]
    kept = {"memory", "skill", *(layout.marks_of(role, {}).type for role in roles)} - {""}
    old, new = read_marks(before.encode()), read_marks(after.encode())
    if new.ours and new.type in kept and (new.type, new.category) != (old.type, old.category):
        raise UsageError(
            f"{path!r} can't be of 'type: {new.type}', which marks a note of the owner's; leave it out"
        )
    if given := block_ids(after) - block_ids(before):
        raise UsageError(
            f"{path!r} can't have the new id '^{min(given)}'; remember and task_create give ids: leave it out"
        )


def check_not_memories(memory: Memory, path: NotePath) -> None:
    """UsageError for notes of memories and tasks: a line without a source is its owner's word there."""
    layout = memory.layout
    from hindbrain.memory.policy.protected import role_at
    from hindbrain.vault.path_rules import same_note_key
    from hindbrain.vault.paths import resolve_beneath

    real = resolve_beneath(memory.root, path).relative_to(memory.root.resolve()).as_posix()
    known = {same_note_key(note) for note in layout.notes_of("memory", memory.root)}
    for form in (path, real):
        # By role for a note that is not there yet; by the notes that are for a system that folds case.
        if layout.role_of(form) == "memory" or layout.category_of(form) or same_note_key(form) in known:
            raise UsageError(
                f"{path!r} holds memories: use remember to add one, change one with memory_update"
            )
    if role_at(memory.root, path, layout, ("tasks",)):
        raise UsageError(f"{path!r} holds tasks: use task_create to add one, change one with task_update")


def _frontmatter(text: str) -> Frontmatter:
    from hindbrain.vault.frontmatter import read_frontmatter

    return read_frontmatter(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
