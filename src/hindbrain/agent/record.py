"""A run as it is kept: its transcript first, its journal after it, and where it stands because of both.

What was noted is durable in the transcript before anything follows from it; the journal is told right after,
and is durable at the run's end, before the transcript goes. Whoever dies in between finds the transcript, and
what the journal lacks is added from it, once. That an iteration begins or is over is written with the next
thing that happens: nothing follows from it, and to wait for the disk costs more than all else in a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hindbrain.agent.entries import Begun, Closed, Entry, Opened
from hindbrain.agent.progress import Progress, missing
from hindbrain.base.errors import NotFound
from hindbrain.learn.runs.events import RunCreated, RunEnded

if TYPE_CHECKING:
    from hindbrain.agent.run import RunRequest
    from hindbrain.agent.transcript import Transcript
    from hindbrain.base.clock import Clock
    from hindbrain.learn.runs.events import Event
    from hindbrain.learn.runs.store import RunStore


class RunRecord:
    """Of a run that goes on. `elapsed`: seconds from any point on, whatever the clock is set to."""

    def __init__(
        self, transcript: Transcript, runs: RunStore, clock: Clock, elapsed: Callable[[], float]
    ) -> None:
        self.run = transcript.run
        self.progress = Progress(self.run)
        self._transcript = transcript
        self._runs = runs
        self._journal = runs.journal(self.run)
        self._clock = clock
        self._elapsed = elapsed
        self._since = elapsed()
        self._before = 0.0  # seconds that were spent in other processes
        self._meant: list[Event] = []  # all that the journal is to hold
        self._held: list[Entry] = []  # what is written with the next entry
        self._owed: list[Event] = []  # what the journal is told then

    def begin(self, request: RunRequest) -> None:
        self.note(Begun(request))

    def take_up(self) -> None:
        """Go on where the transcript ends. NotFound when there is nothing to go on with."""
        for entry in _entries(self._transcript):
            self._meant += self.progress.take(entry)
        self._before = self.progress.spent
        self.settle()

    def note(self, entry: Entry) -> None:
        """Keep what happened; durable when this returns. Raises WriteFailed, Busy: then it can be resumed."""
        stamped = entry._replace(at=self._clock.now(), spent=self.spent)
        if isinstance(stamped, Opened | Closed):
            self._held.append(stamped)
            self._owed += self.progress.take(stamped)
            return
        self._transcript.append(*self._held, stamped)
        events = [*self._owed, *self.progress.take(stamped)]
        self._held, self._owed = [], []
        self._meant += events
        for event in events:
            self._tell(event)

    def settle(self) -> None:
        """Add to the journal what it lacks."""
        written = list(self._runs.events(self.run)) if self._runs.knows(self.run) else []
        for event in missing(self._meant, written):
            self._tell(event)

    def _tell(self, event: Event) -> None:
        """The first makes the file, the last makes all of it durable."""
        self._journal.add(event, durable=isinstance(event, RunCreated | RunEnded))

    def remove(self) -> None:
        """The run is over, and its journal says so."""
        self._transcript.remove()

    @property
    def spent(self) -> float:
        """Seconds that the run has taken, without the time in which nobody worked on it."""
        return self._before + self._elapsed() - self._since

    def now(self) -> float:
        return self._clock.now()


def progress_of(transcript: Transcript) -> Progress:
    """Where a run stands that somebody else may work on. NotFound when nothing is left of it."""
    progress = Progress(transcript.run)
    for entry in _entries(transcript):
        progress.take(entry)
    return progress


def _entries(transcript: Transcript) -> list[Entry]:
    """NotFound where not even the command was kept: nothing of it was ever acknowledged."""
    entries = transcript.entries()
    if not entries or not isinstance(entries[0], Begun):
        raise NotFound(f"the run {transcript.run!r} was cut off before it had begun; give its command again")
    return entries
