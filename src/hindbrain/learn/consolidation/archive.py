"""Old notes of the agent move into its archive: byte for byte, and never without a copy.

A move is a copy that is durable, then the removal of the original, if that is still what was copied. A crash
between leaves both, and the next time finishes it. A note with any line that we did not write stays where its
owner put it. A note that another note links to by its full path stays: the link would lead nowhere. Only the
links of memories to their days are ours to change: they follow.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, NoteChanged, NotFound
from hindbrain.memory.items.archived import archive_folder
from hindbrain.vault.dates import find_date
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.path_rules import check_note_path

if TYPE_CHECKING:
    from hindbrain.learn.consolidation.remembering import DayNote
    from hindbrain.learn.pages.desk import Desk

SESSIONS_AFTER_DAYS = 90
_MOST_NAMES = 100
_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]+)|\]\(<?([^()<>\n]+\.md)")
_FLUSHED = "Kept from a session: [["  # a link of ours in a daily note; it must not hold a session for ever
_TOLD_ON = "[day:: [["  # a link of ours in a memory
_DAY_LINK = re.compile(r"(?<=\[day:: \[\[)[^\[\]|#\n]+(?=\]\]\])")


class Move(NamedTuple):
    path: str
    hash: str  # of the bytes that may go
    folder: str  # of the archive


class Archived(NamedTuple):
    moved: int = 0
    linked: int = 0  # left where they are, for the links to them
    owned: int = 0  # left where they are, for the lines in them that are not ours
    problems: tuple[str, ...] = ()


def daily_to_move(
    desk: Desk, notes: Sequence[DayNote], is_done: Callable[[str, str], bool], *, after_days: int
) -> list[Move]:
    """Of these daily notes, those of more than so many days ago that are facts by now."""
    before = (date.fromisoformat(desk.today()) - timedelta(days=after_days)).isoformat()
    folder = archive_folder(desk.layout, "Daily")
    return [
        Move(note.path, note.hash, folder)
        for note in notes
        if note.day < before and is_done(note.path, note.hash)
    ]


def sessions_to_move(desk: Desk) -> list[Move]:
    """Notes of sessions of more than 90 days ago."""
    before = (date.fromisoformat(desk.today()) - timedelta(days=SESSIONS_AFTER_DAYS)).isoformat()
    folder = archive_folder(desk.layout, "Sessions")
    found: list[Move] = []
    for path in desk.paths("sessions"):
        day = find_date(path.rpartition("/")[2].removesuffix(".md"))
        if not day or day >= before:
            continue
        try:
            page = desk.find(path)
        except HindbrainError:
            continue
        # Where the layout names no place for them, a folder of that name may be its owner's.
        if page is not None and ("sessions" in desk.layout.roles or _is_session(page.text)):
            found.append(Move(path, page.hash, folder))
    return found


def archive(desk: Desk, moves: Sequence[Move], vouch: Callable[[str], None]) -> Archived:
    """Make the moves. `vouch` hears of a copy that was there before."""
    desk.own.refresh()
    owned = [move for move in moves if not _is_ours(desk, move)]
    moves = [move for move in moves if move not in owned]
    if not moves:
        return Archived(owned=len(owned))
    linked = linked_by_path(desk.root, [move.path for move in moves], desk.own.is_ours)
    moved, problems = 0, list[str]()
    for move in moves:
        if move.path in linked:
            continue
        try:
            moved += _move(desk, move, vouch)
        except (NoteChanged, NotFound):
            continue  # somebody writes in it, or took it away: next time
        except HindbrainError as error:
            problems.append(f"{move.path} was not archived: {error}")
    return Archived(moved, len(linked), len(owned), tuple(problems))


def follow_days(desk: Desk) -> list[str]:
    """Let memories link to days where these lie now; returns what could not be done.

    A function of what is there, so that a crash between the move of a day and this leaves nothing behind.
    """
    problems: list[str] = []
    for path in desk.paths("memory"):
        try:
            desk.edit(path, lambda page: None if page is None else _followed(desk, page.data))
        except HindbrainError as error:
            problems.append(f"{path} links to days that were archived: {error}")
    return problems


def _followed(desk: Desk, data: bytes) -> bytes | None:
    """A note whose links to archived days lead there; None when no link has to be changed."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    folder = archive_folder(desk.layout, "Daily")

    def target(link: re.Match[str]) -> str:
        there = f"{folder}/{link[0].rpartition('/')[2]}"
        return there if not _is_there(desk, link[0]) and _is_there(desk, there) else link[0]

    followed = _DAY_LINK.sub(target, text)
    return followed.encode() if followed != text else None


def _is_there(desk: Desk, link: str) -> bool:
    try:
        return desk.find(f"{link}.md") is not None
    except HindbrainError:
        return True  # it can't be looked at: nothing is concluded from that


def _is_ours(desk: Desk, move: Move) -> bool:
    try:
        page = desk.find(move.path)
    except HindbrainError:
        return False
    return page is not None and desk.own.is_written(move.path, page.text)


def _move(desk: Desk, move: Move, vouch: Callable[[str], None]) -> bool:
    page = desk.find(move.path)
    if page is None or page.hash != move.hash:
        return False
    name = move.path.rpartition("/")[2].removesuffix(".md")
    for number in range(1, _MOST_NAMES):
        target = check_note_path(f"{move.folder}/{name}{f' {number}' if number > 1 else ''}.md")
        there = desk.find(target)
        if there is None:
            desk.edit(target, lambda found: page.data if found is None else None)
            there = desk.find(target)
        elif content_hash(there.data) == move.hash:
            vouch(target)
        if there is not None and there.hash == move.hash:
            desk.notes.delete(move.path, expected_hash=move.hash)
            return True
    return False


def linked_by_path(root: Path, paths: Sequence[str], is_ours: Callable[[str, str], bool]) -> frozenset[str]:
    """Those of the notes that another note links to by their full path, in a line that is not ours."""
    wanted = {path.removesuffix(".md").casefold(): path for path in paths if "/" in path}
    # A quick look first: there are many notes, and few that name such a folder.
    folders = [key.rpartition("/")[0].rpartition("/")[2].encode() for key in wanted]
    signs = [folder + b"/" for folder in set(folders) if folder.isascii()]
    is_sure = len(signs) == len(set(folders))
    found: set[str] = set()
    for path, data in _notes(root):
        lowered = data.lower().replace(b"%20", b" ")
        if not is_sure or any(sign in lowered for sign in signs):
            found.update(_links_to(path, data, wanted, is_ours))
    return frozenset(found)


def _links_to(
    path: str, data: bytes, wanted: dict[str, str], is_ours: Callable[[str, str], bool]
) -> Iterator[str]:
    here = posixpath.dirname(path)
    for line in data.decode("utf-8", "replace").splitlines():
        for match in _LINK.finditer(line):
            target = (match[1] or match[2].replace("%20", " ")).strip().removesuffix(".md")
            beside = posixpath.normpath(posixpath.join(here, target))
            to = wanted.get(target.lstrip("/").casefold()) or wanted.get(beside.casefold())
            of_ours = _FLUSHED in line or line.startswith(_TOLD_ON, max(0, match.start() - len("[day:: ")))
            if to and to != path and not of_ours and not is_ours(path, line):
                yield to


def _notes(root: Path) -> Iterator[tuple[str, bytes]]:
    """Every note that can be read, by a look at each: the index may be missing or behind."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(".md") and not name.startswith("."):
                file = Path(folder, name)
                try:
                    yield file.relative_to(root).as_posix(), file.read_bytes()
                except OSError:
                    continue


def _is_session(text: str) -> bool:
    return read_frontmatter(text.split("\n")).properties.get("type") == "session"
