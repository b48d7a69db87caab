"""What an OpenClaw workspace holds that is worth having in a vault: its memory, its user, its days.

Curated files and files without a day become notes of their own, under names that no agent reads as its
instructions, signed as an agent's word; one with a line that reads like an order is signed as imported, which
is trusted least. A note that its owner has changed, or that was there before, is left.
Days go line by line into the vault's own. Plans first; the sources are only read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import replace_file
from hindbrain.context.flush.taking import day_of, preview_flush
from hindbrain.memory.notes.scribe import clean_text, compose_note, file_name
from hindbrain.memory.policy.hidden_text import strip_hidden
from hindbrain.memory.policy.protected import check_writable
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.splice import set_property

if TYPE_CHECKING:
    from hindbrain.edge.openclaw.place import Workspace
    from hindbrain.memory.service import Memory

Action: TypeAlias = Literal["create", "update", "same", "left"]
FOLDER = "OpenClaw"  # beside the agent's other notes
RECORD = "openclaw-imported.json"  # in the vault's state folder: what was written, by its hash
_CURATED = {
    "MEMORY.md": "OpenClaw memory",
    "USER.md": "OpenClaw user",
    "IDENTITY.md": "OpenClaw identity",
    "SOUL.md": "OpenClaw soul",
}
_DAYS = "memory"
_MOST_BYTES = 2_000_000  # of one file; what is larger is no note
_MOST_FILES = 5_000
_TAGS = ("openclaw", "imported")


class OldNote(NamedTuple):
    """A file that becomes a note."""

    source: Path
    note: str  # vault-relative
    action: Action
    why: str = ""  # of what is left, or is trusted least
    data: bytes = b""
    before: str = ""  # the hash of the note that is replaced


class OldDay(NamedTuple):
    """A file of a day, whose lines go into the vault's note of that day."""

    source: Path
    note: str
    lines: int  # that are new, at most
    text: str


class OldFiles(NamedTuple):
    notes: tuple[OldNote, ...] = ()
    days: tuple[OldDay, ...] = ()
    problems: tuple[str, ...] = ()


def find_old_files(memory: Memory, workspaces: Sequence[Workspace]) -> OldFiles:
    notes: list[OldNote] = []
    days: list[OldDay] = []
    problems: list[str] = []
    record = _record(memory)
    seen: set[str] = set()
    for agent, folder in workspaces:
        real = os.path.realpath(folder)
        if real in seen or not os.path.isdir(real):  # noqa: PTH112  as realpath
            continue
        seen.add(real)
        for source, name in _files(Path(folder)):
            if source.resolve().is_relative_to(memory.root.resolve()):
                continue  # the workspace is the vault, or lies in it: it is there already
            try:
                text = _read(source)
                if not text.strip():
                    continue
                if name.startswith(f"{_DAYS}/") and day_of(name):
                    days.append(OldDay(source, *preview_flush(memory, name, text)[:2], text))
                else:
                    notes.append(_planned(memory, source, _target(memory, agent, name), text, record))
            except (OSError, HindbrainError, UnicodeDecodeError, ValueError) as error:
                problems.append(f"{str(source)!r} is left out: {error}")
    return OldFiles(tuple(notes), tuple(days), tuple(problems))


def write_note(memory: Memory, planned: OldNote) -> None:
    """Make or replace it. NoteChanged when somebody has written there since it was planned."""
    if planned.action == "create":
        memory.notebook.create(planned.note, planned.data)
    else:
        memory.notebook.replace(planned.note, planned.data, expected_hash=planned.before)
    known = _record(memory) | {planned.note: content_hash(planned.data)}
    replace_file(memory.state / RECORD, json.dumps(known, indent=1, sort_keys=True).encode())


def _files(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files that are looked at, with their names below the workspace. Links are not followed."""
    for name in _CURATED:
        if (folder / name).is_file():
            yield folder / name, name
    count = 0
    for parent, folders, names in os.walk(folder / _DAYS):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            source = Path(parent) / name
            if name.endswith(".md") and not name.startswith(".") and not source.is_symlink():
                count += 1
                if count > _MOST_FILES:
                    return
                yield source, source.relative_to(folder).as_posix()


def _read(source: Path) -> str:
    if source.stat().st_size > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
    return clean_text(source.read_bytes().decode("utf-8-sig"))


def _target(memory: Memory, agent: str, name: str) -> str:
    folder = f"{memory.layout.folder}/{FOLDER}" if memory.layout.folder else FOLDER
    stem = _CURATED.get(name)
    if stem is None:
        parts = name.removeprefix(f"{_DAYS}/").removesuffix(".md").split("/")
        stem = "/".join(file_name(part) for part in parts)
    return f"{folder}/{stem}.md" if agent == "main" else f"{folder}/{file_name(agent)}/{stem}.md"


def _planned(memory: Memory, source: Path, note: str, text: str, record: dict[str, str]) -> OldNote:
    check_writable(memory.root, note, layout=memory.layout)
    alarm = _alarm(text)
    data = _as_note(source, note, text, today=memory.today(), trust="import" if alarm else "agent")
    page = memory.notebook.find(note)
    if page is None:
        if note in record:
            return OldNote(source, note, "left", "you have taken the note away since")
        return OldNote(source, note, "create", alarm, data=data)
    if _without_day(page.data) == _without_day(data):
        return OldNote(source, note, "same")
    if record.get(note) != page.hash:
        return OldNote(source, note, "left", "another note stands there, or you have changed it")
    return OldNote(source, note, "update", alarm, data=data, before=page.hash)


def _alarm(text: str) -> str:
    """Whether one of its lines reads like an order to an agent, in words; "" when none does."""
    from hindbrain.memory.policy.tripwire import reads_like_instruction

    alarms = filter(None, (reads_like_instruction(line) for line in text.splitlines() if line.strip()))
    return f"signed as imported: {first}" if (first := next(alarms, "")) else ""


def _as_note(source: Path, note: str, text: str, *, today: str, trust: str) -> bytes:
    from hindbrain.base.secrets import redact

    body = redact(strip_hidden(text).text)[0]
    title = note.rpartition("/")[2].removesuffix(".md")
    about = {"source": trust, "origin": f"OpenClaw {source.name}"}
    data = compose_note(title, body, type="imported", tags=_TAGS, created=today, extra=about)
    for key in ("source", "trust"):  # whatever the file says of itself: it is an agent's, at most
        if key == "source" or b"\ntrust:" in data:
            data = set_property(data, key, trust)
    return data


def _without_day(data: bytes) -> list[bytes]:
    """For comparing: a second import on another day changes nothing."""
    return [line for line in data.split(b"\n") if not line.startswith(b"created:")]


def _record(memory: Memory) -> dict[str, str]:
    try:
        told = json.loads((memory.state / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(note): str(digest) for note, digest in told.items()} if isinstance(told, dict) else {}
