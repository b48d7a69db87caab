"""What the verbs of the memory answer with. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from hindbrain.vault.items.item import DEFAULT_IMPORTANCE, MemoryItem

if TYPE_CHECKING:
    from hindbrain.search.hit import Hit

# new, related: a line of its own; merge: an existing line says it now; supersede: an older line was struck
# through; queued: durable, and in its note soon; held: waits in the inbox for a person; dropped: nothing new.
Action: TypeAlias = Literal["new", "related", "merge", "supersede", "queued", "held", "dropped"]


class LeftOutCue(NamedTuple):
    """A cue that was given and is not stored."""

    cue: str  # as it was given, without secrets
    why: str  # a few words


class Remembered(NamedTuple):
    """What became of a memory."""

    id: str  # under which it is found; of a merge that of the line that was there; "p-..." while it is held
    action: Action
    text: str  # as it is stored, secrets removed
    category: str = "fact"
    source: str = "agent"
    path: str = ""  # vault-relative; "" while it waits in the queue
    citation: str = ""  # a wikilink that opens it; "" while it waits in the queue
    other: MemoryItem | None = None  # what it was merged into, is related to, or replaced
    removed: tuple[str, ...] = ()  # kinds of secret that were taken out
    reasons: tuple[str, ...] = ()  # why it is held, was dropped, or does not replace `other`
    importance: float = DEFAULT_IMPORTANCE  # as it is stored, like tags and cues; of a merge the line's own
    tags: tuple[str, ...] = ()
    cues: tuple[str, ...] = ()
    cues_left_out: tuple[LeftOutCue, ...] = ()  # of those that the caller gave


class Updated(NamedTuple):
    """A memory that was corrected."""

    item: MemoryItem  # as it stands now
    replaced: MemoryItem | None = None  # the line that it replaced, which was trusted more and stays readable
    cues_left_out: tuple[LeftOutCue, ...] = ()  # of those that the caller gave


class RecalledMemory(NamedTuple):
    """A memory that answers a topic."""

    item: MemoryItem
    pending: bool = False  # acknowledged and still on its way into its note
    confidence: float = 0.0  # 0..1, as a search hit's; 0 when it was found by its words alone
    successor_gone: bool = False  # what replaced it was taken away since
    feedback: float = 0.0  # by which its importance counts as more or less; -0.2..0.2


class PastRun(NamedTuple):
    """What an earlier run of an agent found."""

    id: str  # without "^"; "" when its entry has none
    command: str
    answer: str
    date: str  # YYYY-MM-DD
    path: str
    line: int
    source: str = "tool"
    went_well: bool = False


class PastRuns(NamedTuple):
    runs: tuple[PastRun, ...] = ()  # the likeliest first
    problems: tuple[str, ...] = ()  # notes that could not be read


HappeningKind: TypeAlias = Literal["run", "line", "decision", "memory", "task", "issue"]


class Happening(NamedTuple):
    """Something that happened at a time, or is open since."""

    kind: HappeningKind  # line: what a note of a day says in its owner's own form
    day: str  # YYYY-MM-DD; of an open task the day it is due; "" when that is not known
    text: str  # of a run or an issue its command
    time: str = ""  # HH:MM, the owner's clock
    outcome: str = ""  # of a run: done, failed, cancelled, unknown; of a task: its status
    answer: str = ""  # what a run found, or why it failed
    id: str = ""  # without "^"; "" when its line has none
    path: str = ""
    line: int = 0  # 1-based; 0 when it is not known
    source: str = "user"


class Timeline(NamedTuple):
    """The answer to a question about time."""

    kind: Literal["days", "open", "recent", "last"]
    label: str  # the days, or what was asked for
    entries: tuple[Happening, ...]  # in the order of time; open work: tasks, then the newest first
    has_subject: bool = False  # it was asked for something in particular
    notes: tuple[str, ...] = ()  # notes of days that were read
    problems: tuple[str, ...] = ()  # what could not be looked at


class Recalled(NamedTuple):
    """What is known on a topic. Empty: nothing was found; `notices` say what could not be looked at."""

    topic: str
    memories: tuple[RecalledMemory, ...]  # best first
    passages: tuple[Hit, ...]  # of other notes
    notices: tuple[str, ...] = ()
    runs: tuple[PastRun, ...] = ()  # of agents, whose answers may be meant
    timeline: Timeline | None = None  # where the topic is a question about time


class Forgotten(NamedTuple):
    """A memory that was removed; `undo` with the revision brings it back."""

    id: str
    text: str
    path: str
    revision_id: str  # "" when it had not reached its note yet


class Settled(NamedTuple):
    """What a settling did."""

    applied: tuple[Remembered, ...] = ()
    accepted: tuple[str, ...] = ()  # texts that a person ticked in the inbox
    refused: int = 0  # in the inbox, by a person
    deleted: tuple[str, ...] = ()  # ids of memories that a person took out of a note
    indexed: int = 0  # notes that were brought into the index
    problems: tuple[str, ...] = ()  # what could not be done, and stays to be done


class MemoryStatus(NamedTuple):
    """How the memory of a vault stands."""

    layout: str
    folder: str  # of the agent's notes; "" for the whole vault
    counts: Mapping[str, int]  # memories that hold, by category
    superseded: int
    pending: int  # in the write queue
    unreadable: int  # damaged lines of the queue
    inbox: int  # proposals that wait for a person
    notes: int  # in the index
    synced_at: float  # seconds since the epoch; 0: never
    index: str  # type: ignore[assignment]  # hides tuple.index; "ready", or the code of what is wrong with it
    embedder: str  # "" when the search goes by words alone
    embedder_problem: str = ""  # how it failed the last time; "" when it worked
    problems: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts.values())
