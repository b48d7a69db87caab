"""Consolidation: what runs and days have left is made into memory, and what is old makes room. One at a time.

Owns what happens around the steps: a marker before the first change, the proof after the last, the way back
when that fails. Each step is a function of what is there, so whoever is killed is simply followed by another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import Busy, WriteFailed
from hindbrain.base.files import replace_file
from hindbrain.learn.consolidation.processed import Processed
from hindbrain.learn.consolidation.proof import Proof
from hindbrain.learn.consolidation.rollback import Judge, log_sizes
from hindbrain.learn.consolidation.steps import Counts, Parts, Work
from hindbrain.learn.consolidation.watching import Watch, revisions_left, revisions_named
from hindbrain.learn.pages.drafts import draft_of, drafts_on
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.vault.lock import FileLock

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.store import RunStore
    from hindbrain.memory.service import Memory
    from hindbrain.vault.write import VaultWriter

LOCK = "consolidate.lock"
LAST = "consolidated.json"  # in the state folder: when it was done last


class Consolidated(NamedTuple):
    """What a consolidation did, or would do."""

    steps: tuple[tuple[str, str], ...] = ()  # name, and a line for people
    facts: int = 0  # of daily notes
    superseded: int = 0  # memories that these facts replaced
    held: int = 0  # facts that wait in the inbox
    archived: int = 0  # notes of days and sessions
    stale: int = 0  # memories that moved into the archive
    compressed: int = 0  # journals
    proof: Proof = Proof()
    diff: str = ""  # of a dry run
    problems: tuple[str, ...] = ()  # what could not be done, and stays to be done
    seconds: float = 0.0


class Consolidator:
    """For one thread."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        runs: RunStore,
        clock: Clock,
        state: Path,
        writer: Callable[[], VaultWriter],
        parts: Parts | None = None,
    ) -> None:
        self._desk = desk
        self._memory = memory
        self._runs = runs
        self._clock = clock
        self._state = state
        self._writer = writer
        self._parts = parts or Parts()

    def consolidate(self, *, dry_run: bool = False) -> Consolidated:
        """Busy when another process is at it. What fails in one step keeps no other from being done."""
        began = self._clock.now()
        if dry_run:
            done = self._draft()
        else:
            with self._alone():
                try:
                    done = self._do()
                except OSError as error:  # of what is around the steps; the marker stays for the next one
                    raise WriteFailed(
                        f"the consolidation was broken off ({error.strerror}); the next one goes on"
                    ) from error
        return done._replace(seconds=round(self._clock.now() - began, 3))

    def _draft(self) -> Consolidated:
        desk = draft_of(self._desk)
        work = self._work(desk, Processed(desk.root, lambda _name, _line: None), lambda _: None)
        work.run()
        drafts = drafts_on(desk)
        return _consolidated(work)._replace(diff=drafts.diff() if drafts else "")

    def _do(self) -> Consolidated:
        watch = Watch(self._state, self._clock)
        judge = Judge(self._desk, self._memory, self._writer)
        left = watch.left_over()
        if left is not None:
            proof = judge.settle(revisions_left(self._writer(), left), left.vouching, left.logs)
            watch.end()
            if not proof.holds:
                return Consolidated(proof=proof, problems=_told(proof))
        # What others have acknowledged goes into notes first, and is no part of what may be taken back.
        settled = self._memory.settle(idle=True)
        processed = Processed(self._desk.root, self._append)
        work = self._work(self._desk, processed, watch.vouch)
        watch.logs = log_sizes(self._desk.root)
        with self._watched(watch):
            work.run()
        proof = judge.settle(revisions_named(self._writer(), watch.revisions), watch.vouching, watch.logs)
        if proof.holds:
            work.note_done()
            self._note_time()
        watch.end()
        done = _consolidated(work)
        return done._replace(proof=proof, problems=(*settled.problems, *done.problems, *_told(proof)))

    def _work(self, desk: Desk, processed: Processed, vouch: Callable[[str], None]) -> Work:
        return Work(desk, self._memory, self._runs, self._clock, self._writer, self._parts, processed, vouch)

    def _append(self, name: str, line: str) -> None:
        self._writer().append_state_line(name, line, undoable=True)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(FileLock(self._state / LOCK).held(0))
            except Busy as error:
                raise Busy("a consolidation is going on in another process; try again later") from error
            yield

    @contextmanager
    def _watched(self, watch: Watch) -> Iterator[None]:
        books = {id(book): book for book in (self._memory.notebook, self._desk.notes)}
        notebooks = [book for book in books.values() if isinstance(book, Notebook)]
        for notebook in notebooks:
            notebook.watcher = watch
        try:
            yield
        finally:
            for notebook in notebooks:
                notebook.watcher = None
            watch.close()

    def _note_time(self) -> None:
        """For the schedule. Losing it means one consolidation more, which finds nothing to do."""
        with suppress(OSError):
            told = json.dumps({"at": self._clock.now()}).encode("ascii")
            replace_file(self._state / LAST, told, durable=False)


def last_consolidated(state: Path) -> float:
    """In seconds since the epoch; 0.0 when it was never done here."""
    try:
        return float(json.loads((state / LAST).read_bytes())["at"])
    except (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return 0.0


def _consolidated(work: Work) -> Consolidated:
    counts: Counts = work.counts
    return Consolidated(
        tuple(work.lines), counts.facts, counts.superseded, counts.held, counts.archived, counts.stale,
        counts.compressed, problems=tuple(work.problems),
    )  # fmt: skip


def _told(proof: Proof) -> tuple[str, ...]:
    """Why a proof failed, for people."""
    if proof.holds:
        return ()
    lines = [f"{lost.path} would have lost the line {lost.line[:120]!r}" for lost in proof.lost]
    end = "all of it was taken back" if proof.rolled_back else "not all of it could be taken back"
    return (*lines, *proof.report, f"the proof failed: {end}")
