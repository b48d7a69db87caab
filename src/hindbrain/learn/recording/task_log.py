"""The task log: one entry for each finished run, the newest 200; older ones move to the archive.

The archive is written before the log lets an entry go, and what stands there is known by its bytes, so a
crash at any place leaves an entry in both at worst, and the next call in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import NoteChanged, VaultError
from hindbrain.learn.recording.entries import Kept, Moved, New, appended, ids_in, with_newest
from hindbrain.learn.recording.places import SOURCE, first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import block_id, lasted, outcome, stamp, what_worked

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page

LIVE = 200  # entries that stay in the log
_SLACK = 0.1  # of these, that it may hold beyond before the oldest are moved: not with every run
_ARCHIVE = "Task Log"
_ATTEMPTS = 5  # against an owner who edits the log at this moment


class Logged(NamedTuple):
    entries: int = 0  # that were added
    archived: int = 0  # that were moved
    finished: bool = False  # all was told before: a call that was cut short came so far


def entry_of(episode: Episode, screen: Screen, note_is: str = SOURCE) -> New:
    """The entry of one run. `note_is`: whose word the note is where it does not say otherwise."""
    command = screen.command(episode)
    actions = screen.actions(what_worked(episode), episode.source)
    answer = screen.answer(episode)
    time = stamp(episode.started)
    name = block_id(episode.run)
    lines = [
        f"## {time}",
        f'- **Command:** "{command.text}"{source_mark(command.source, note_is)} ^{name}',
        f"- **Outcome:** {outcome(episode)}",
        *([f"- **Result:** {answer.text}{source_mark(answer.source, note_is)}"] if answer.text else []),
        f"- **Iterations:** {episode.iterations}",
        f"- **Key actions:** {actions.text or 'none'}{source_mark(actions.source, note_is)}",
        f"- **Duration:** {lasted(episode.seconds)}",
    ]
    return New(time, name, tuple(lines))


class TaskLog:
    def __init__(self, desk: Desk, screen: Screen, live: int = LIVE) -> None:
        self._desk = desk
        self._screen = screen
        self._live = live

    def add(self, episodes: Sequence[Episode]) -> Logged:
        """Tell these runs, and move what is beyond the newest. One write of the log, one for each month."""
        path = self._desk.path("task_log")
        for _ in range(_ATTEMPTS):
            page = self._desk.find(path)
            if (logged := self._attempt(path, page, episodes)) is not None:
                return logged
        raise NoteChanged(f"{path!r} changes all the time; runs are recorded later")

    def _attempt(self, path: str, page: Page | None, episodes: Sequence[Episode]) -> Logged | None:
        before = page.data if page is not None else first_text(self._desk, "task_log")
        note_is = note_source(before, path)
        new = sorted(entry_of(episode, self._screen, note_is) for episode in episodes)
        kept = with_newest(before, new, self._live, path, slack=round(self._live * _SLACK))
        if not kept.ids.issuperset(one.id for one in new):
            raise VaultError(
                f"nothing can be added to {path!r}: code or a comment above is not closed; close it"
            )
        ours = {line for one in new for line in one.lines}
        archived = self._archive(path, kept, ours, {one.id for one in new})
        if kept.data == before:  # all of it was told before, or is older than what the log has
            return Logged(len(new), archived) if archived else Logged(finished=True)
        done = True

        def change(now: Page | None) -> bytes | None:
            nonlocal done
            done = (None if now is None else now.data) == (None if page is None else page.data)
            return kept.data if done else None

        self._desk.edit(path, change, ours=ours)
        return Logged(len(new), len(kept.moved)) if done else None

    def _archive(self, log: str, kept: Kept, ours: set[str], fresh: set[str]) -> int:
        """Bring what left the log into the notes of its months, where it does not stand yet; how many."""
        months: dict[str, list[Moved]] = {}
        for moved in kept.moved:
            months.setdefault(moved.month, []).append(moved)
        return sum(
            self._archive_month(log, month, moved, ours, fresh) for month, moved in sorted(months.items())
        )

    def _archive_month(
        self, log: str, month: str, moved: Sequence[Moved], ours: set[str], fresh: set[str]
    ) -> int:
        title = f"{_ARCHIVE} {month}"
        path = self._desk.path("archive", name=title)
        left: list[bytes] = []

        def change(page: Page | None) -> bytes | None:
            nonlocal left
            data = page.data if page is not None else first_text(self._desk, "archive", name=title)
            there, known = set(_blocks(data)), ids_in(data)
            # A run that is new to the log is known by its id; what stood in the log only by its bytes, since
            # its owner may have changed it after a crash.
            known &= fresh
            left = [one.block for one in moved if one.block.rstrip() not in there and one.id not in known]
            return appended(data, left) if left else None

        lines = {line for one in moved for line in one.block.decode("utf-8", "replace").splitlines()}
        own = self._desk.own
        self._desk.edit(path, change, ours=sorted(x for x in lines if x in ours or own.is_ours(log, x)))
        return len(left)


def _blocks(data: bytes) -> list[bytes]:
    """The blocks of an archive as they were moved, without their last line ends."""
    return [b"## " + block.rstrip() for block in data.replace(b"\r## ", b"\n## ").split(b"\n## ")[1:]]
