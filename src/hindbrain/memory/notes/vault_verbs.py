"""Notes read, written, appended to and listed, for agents and on the command line.

A note is found by path, title or alias, beneath the vault or beneath the agent's folder. Every write is
checked against what tools may touch (`protected`) and what they may claim (`note_trust`), and freed of
secrets that were not there before; what an agent writes passes `agent_text`. Knows nothing of tools,
protocols or how an answer is worded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import NoteChanged, NotFound, Refused, UsageError
from hindbrain.base.plural import plural
from hindbrain.memory.notes import agent_text, kept_bytes
from hindbrain.memory.notes.note_place import existing_note, place_of
from hindbrain.memory.policy import note_trust
from hindbrain.vault.path_rules import NotePath, check_note_path

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory
    from hindbrain.vault.note import Note, Problem
    from hindbrain.vault.write import Written

Author: TypeAlias = Literal["agent", "user"]
Deed: TypeAlias = Literal["created", "replaced", "appended", "unchanged", "held"]

_SHORTEST_HASH = 12  # hex digits
_HEX = frozenset("0123456789abcdef")


class Part(NamedTuple):
    """Which part of a note is wanted: at most one of heading, block and lines. Empty: all of it."""

    heading: str = ""
    block: str = ""  # with or without "^"
    first: int = 0  # 1-based
    last: int = 0  # inclusive; 0: to the end


WHOLE = Part()


class Reading(NamedTuple):
    """A note, or a part of it, as it stands on disk."""

    page: Page
    note: Note
    problems: tuple[Problem, ...]
    first: int
    last: int  # inclusive
    shown: int  # the last line that fits into an answer; `last` where all do
    is_known: bool  # every line of the note was shown by now, so that the caller may replace it

    @property
    def lines(self) -> tuple[str, ...]:
        return self.note.lines[self.first - 1 : self.last]


class Changed(NamedTuple):
    """What a write did."""

    path: NotePath
    did: Deed
    hash: str  # of the note now, 64 hex digits; "" when it was not written
    merged: bool = False  # somebody else's edit elsewhere in the note is in it, too
    removed: tuple[str, ...] = ()  # kinds of secrets that were taken out of the text
    heading: str = ""  # the section that was appended to; "" for the end of the note
    held: tuple[str, ...] = ()  # ids of lines that wait in the inbox


def read(memory: Memory, name: str, part: Part = WHOLE, *, most_chars: int = 0) -> Reading:
    """`most_chars`: of an answer, which shows as many whole lines as fit, at least one; 0 for all.

    Raises NotFound, Ambiguous, UnsafePath, NoteUnreadable; IndexFault where only the index could tell.
    """
    from hindbrain.vault.parse import decode_note, parse_note

    path, named = existing_note(memory, name)
    part = _only_one(part, named)
    page = memory.notebook.read(path)
    memory.notebook.readings.add(page)
    text, problems = decode_note(page.data)
    note = parse_note(text, stem=path.rpartition("/")[2].rpartition(".")[0])
    first, last = _lines_of(note, path, part)
    fitting = note.lines[first - 1 : _last_fitting(note.lines, first, last, most_chars)]
    cut = bool(most_chars) and len(fitting) == 1 and len(fitting[0]) > most_chars
    readings = memory.notebook.readings
    readings.show(path, () if cut else fitting)
    is_known = not readings.unseen(path, note.lines)
    shown = first + max(len(fitting), 1) - 1
    return Reading(page, note, (*problems, *note.problems), first, last, shown, is_known)


def _last_fitting(lines: Sequence[str], first: int, last: int, most_chars: int) -> int:
    used = 0
    for number in range(first, last + 1):
        used += len(lines[number - 1]) + 1
        if most_chars and used > most_chars and number > first:
            return number - 1
    return last


def _only_one(part: Part, named: str) -> Part:
    """The part, which may also stand in the note's name: "Plan#Water", "Plan#^m-7f3k2a"."""
    if named and part == WHOLE:
        return Part(block=named) if named.startswith("^") else Part(heading=named)
    ways = [bool(part.heading), bool(part.block), bool(part.first or part.last), bool(named)]
    if sum(ways) > 1:
        raise UsageError("give a heading, a block or lines, not several of them")
    return part


def _lines_of(note: Note, path: str, part: Part) -> tuple[int, int]:
    from hindbrain.vault.note_parts import block_of, range_of, section_of

    if part.heading:
        return section_of(note, path, part.heading)
    if part.block:
        return block_of(note, path, part.block)
    return range_of(note, path, part.first or 1, part.last)


def write(memory: Memory, name: str, content: str, *, known_hash: str = "", by: Author = "agent") -> Changed:
    """Create a note, or replace the one whose hash (or its first 12 digits or more) the caller was shown.

    NoteChanged when the note exists and no hash is given, or when it has changed in the same lines.
    """
    shown_hash = _checked_hash(known_hash)
    path = target_path(memory, name, content, by)
    _check(memory, path, by)
    if by == "agent" and (role := agent_text.owner_role(memory, path)):
        raise Refused(f"{path!r} is the user's own {role} note; propose lines for it with vault_append")
    page = memory.notebook.find(path)
    if page is None:
        if shown_hash:
            raise NoteChanged(f"{path!r} is gone since you read it; send it without a hash to create it anew")
        return _create(memory, path, content, by)
    if not shown_hash:
        raise NoteChanged(
            f"{path!r} exists already; read it and send its hash with the whole new text, or append to it",
            current_hash=page.hash,
        )
    return _replace(memory, page, _without_footer(content, shown_hash), shown_hash, by)


def append(memory: Memory, name: str, content: str, *, heading: str = "", by: Author = "agent") -> Changed:
    """Add to the end of a note, or of a section of it; a missing note is created.

    Several processes may do so at once: each one's lines stay together and none is lost. What an agent adds
    to one of the owner's own notes waits in the inbox, line by line.
    """
    path = target_path(memory, name, content, by)
    _check(memory, path, by)
    if by == "agent" and (role := agent_text.owner_role(memory, path)):
        held = agent_text.propose(memory, path, role, content, heading)
        return Changed(path, "held", "", removed=held.removed, heading=heading, held=held.ids)
    page = memory.notebook.find(path)
    if page is not None and note_trust.has_frontmatter(content):
        raise UsageError(f"{path!r} exists, and frontmatter stands at its top only; send the text without it")
    if heading:
        if page is None:
            raise NotFound(
                f"no note {path!r}, so there is no heading {heading!r} in it; write the note first"
            )
        return _append_below(memory, page, content, heading, by)
    if page is None:
        try:
            return _create(memory, path, _with_first_text(memory, path, content), by)
        except NoteChanged:  # another process has just made it
            page = memory.notebook.read(path)
    text, removed = _freed(content, page, by)
    if by == "agent":
        text = agent_text.attributed(memory, path, text, page)
    data = _lead(page.data, text) + kept_bytes.in_style_of(page.data, text, name=repr(path))
    return _written(memory, memory.notebook.append(path, data), "appended", removed, text)


def set_properties(memory: Memory, name: str, changes: Sequence[PropertyChange]) -> Changed:
    """Change properties of a note by its lines: every other byte of it stays.

    Made anew on what the note holds now for as long as others write to it. VaultError, and nothing changed,
    when its frontmatter is malformed.
    """
    path, _ = existing_note(memory, name)
    _check(memory, path, "user")

    def change(page: Page | None) -> bytes:
        if page is None:
            raise NotFound(f"no note {path!r}; it went away meanwhile")
        data = page.data
        for each in changes:
            data = each.applied(data)
        return data

    written = memory.notebook.edit(path, change, given=True)
    assert written is not None  # `change` always answers
    return _changed(written, "replaced", ())


class PropertyChange(NamedTuple):
    """One property: `value` None removes it, `adding` puts the value into its list."""

    key: str
    value: str | None
    adding: bool = False

    def applied(self, data: bytes) -> bytes:
        from hindbrain.vault.splice import add_to_list, remove_property, set_property

        if self.value is None:
            return remove_property(data, self.key)
        if self.adding:
            return add_to_list(data, self.key, [self.value])
        return set_property(data, self.key, self.value)


def _check(memory: Memory, path: NotePath, by: Author) -> None:
    from hindbrain.memory.policy.protected import check_writable

    check_writable(memory.root, path, layout=memory.layout)
    if by == "agent":
        note_trust.check_not_memories(memory, path)


def target_path(memory: Memory, name: str, content: str, by: Author) -> NotePath:
    """Where to write. A new note goes to the place that the layout or the owner has for its like.

    Without a folder, the owner's goes where Obsidian makes new notes, else among the agent's notes.
    """
    path = place_of(memory, name)
    if memory.notebook.find(path) is not None:
        return path
    from hindbrain.memory.notes.scribe import filed, folder_for
    from hindbrain.vault.obsidian import read_obsidian
    from hindbrain.vault.parse import parse_note

    if "/" in path:
        return filed(memory.layout, memory.root, path)
    kind = parse_note(content, stem="").frontmatter.get("type", "")
    folder = folder_for(memory.layout, memory.root, kind if isinstance(kind, str) else "")
    obsidians = read_obsidian(memory.root).new_note_folder
    folder = (obsidians or folder) if by == "user" else (folder or obsidians)
    return check_note_path(f"{folder}/{path}" if folder else path)


def _with_first_text(memory: Memory, path: NotePath, content: str) -> str:
    """A new daily note begins as the layout says."""
    day = memory.layout.names_of(path).get("date", "")
    if memory.layout.role_of(path) != "daily" or note_trust.has_frontmatter(content):
        return content
    return f"{memory.layout.first_text('daily', today=day, date=day).rstrip()}\n\n{content}"


def _checked_hash(text: str) -> str:
    shown = text.strip().lower().removeprefix("hash:").strip()
    if shown and (not _SHORTEST_HASH <= len(shown) <= 64 or not set(shown) <= _HEX):
        raise UsageError(
            f"{text[:80]!r} is no hash; send what reading the note gave, {_SHORTEST_HASH} digits or more"
        )
    return shown


def _create(memory: Memory, path: NotePath, content: str, by: Author) -> Changed:
    text, removed = _freed(content, None, by)
    if by == "agent":
        note_trust.check_claim(path, "", text)
        text = note_trust.signed(agent_text.attributed(memory, path, text, None), memory.clock)
    text = text if text.endswith("\n") else f"{text}\n"
    return _written(memory, memory.notebook.create(path, text.encode("utf-8")), "created", removed, text)


def _replace(memory: Memory, page: Page, content: str, shown_hash: str, by: Author) -> Changed:
    """Against what the caller read: the note as it is now, or as it was, if that is still known."""
    base = page if page.hash.startswith(shown_hash) else memory.notebook.known(page.path, shown_hash)
    if base is None:
        raise NoteChanged(
            f"{page.path!r} changed since you read it; what you read is no longer known, so no merge could "
            "be tried; read it again and make your change on that",
            current_hash=page.hash,
        )
    text, removed = _freed(content, base, by)
    if by == "agent":
        _check_seen(memory, base, text)
        note_trust.check_claim(page.path, page.text, text)
        text = agent_text.attributed(memory, page.path, text, page, replaces=True)
        text = note_trust.still_signed(page.text, text)
    data = kept_bytes.replaced(base.data, text, name=repr(str(page.path)))
    try:
        written = memory.notebook.replace(page.path, data, expected_hash=base.hash, base=base.data)
    except NoteChanged as error:
        raise NoteChanged(
            f"{page.path!r} changed since you read it; a merge was tried, but both changes touch the same "
            "lines; read it again and make your change on that",
            current_hash=error.current_hash,
        ) from error
    return _written(memory, written, "replaced", removed, text)


def _check_seen(memory: Memory, base: Page, text: str) -> None:
    """NoteChanged when the text leaves out lines of the note that the caller was never shown."""
    kept = {line.strip() for line in kept_bytes.plain_lines(text)}
    dropped = (line for line in kept_bytes.plain_lines(base.text) if line.strip() not in kept)
    if unseen := memory.notebook.readings.unseen(base.path, dropped):
        raise NoteChanged(
            f"{base.path!r} has {plural(len(unseen), 'line')} that you were not shown and it leaves out; "
            "read all of the note, part by part, and send the whole, or add to it with vault_append",
            current_hash=base.hash,
        )


def _append_below(memory: Memory, page: Page, content: str, heading: str, by: Author) -> Changed:
    """Judged on what was read, inserted into what the note holds by then."""
    from hindbrain.memory.notes.section_end import appended_below

    path = page.path
    text, removed = _freed(content, page, by)
    if by == "agent":
        text = agent_text.attributed(memory, path, text, page)
    lines = kept_bytes.plain_lines(text)

    def change(page: Page | None) -> bytes:
        if page is None:
            raise NotFound(f"no note {path!r}; it went away meanwhile")
        return appended_below(page.data, heading, lines, path=path)

    written = memory.notebook.edit_at_once(path, change)
    assert written is not None  # `change` always has something to add
    return _written(memory, written, "appended", removed, text)._replace(heading=heading)


def _freed(content: str, page: Page | None, by: Author) -> tuple[str, tuple[str, ...]]:
    """Without secrets, but those that the note holds already: they are its owner's, and not ours to take.

    What a person writes stays as it is; only the kinds are told.
    """
    from hindbrain.base.secrets import find_secrets

    held = page.text if page is not None else ""
    kinds: dict[str, None] = {}
    # What is left after a removal may show a second secret, as in `redact`.
    while new := [s for s in find_secrets(content) if content[s.start : s.stop] not in held]:
        kinds.update(dict.fromkeys(secret.kind for secret in new))
        if by == "user":
            break
        for secret in reversed(new):
            content = f"{content[: secret.start]}[secret removed: {secret.kind}]{content[secret.stop :]}"
    return content, tuple(kinds)


def _without_footer(content: str, shown_hash: str) -> str:
    """A model that copies our whole answer back does not mean the hash line at its end."""
    lines = content.rstrip().split("\n")
    if not lines[-1].startswith("hash: ") or lines[-1][6:].strip() != shown_hash:
        return content
    lines.pop()
    if lines and lines[-1].startswith("… lines "):
        lines.pop()
    return "\n".join(lines)


def _lead(data: bytes, text: str) -> bytes:
    """A blank line before what would else run into the last paragraph; list items go on with their list."""
    from hindbrain.memory.notes.section_end import joins_on
    from hindbrain.vault.lines import NoteLines

    note = NoteLines(data)
    last = note.texts[-1] if note.texts else ""
    if not last.strip() or joins_on(last, text.lstrip("\n").partition("\n")[0]):
        return b""
    return note.end.encode()


def _written(memory: Memory, written: Written, did: Deed, removed: tuple[str, ...], text: str) -> Changed:
    """As `_changed`; who wrote `text` knows its lines."""
    memory.notebook.readings.show(written.path, kept_bytes.plain_lines(text))
    return _changed(written, did, removed)


def _changed(written: Written, did: Deed, removed: tuple[str, ...]) -> Changed:
    deed: Deed = did if written.revision_id else "unchanged"
    return Changed(written.path, deed, written.hash, written.merged, removed)
