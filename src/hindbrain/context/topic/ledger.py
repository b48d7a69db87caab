"""The page-out ledger: what was put into a conversation's window when, let go when, brought back when.

One per session, in the state folder (`sessions/`), shared by all processes that serve the session. It holds
ids of passages, places and counts, never the text of a note; and the last few prompts, cut and with secrets
masked, which tell what the conversation is about.

A ledger never stops a turn: when its file can't be read or written, it goes on from what this process knows,
and says so in `notices`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.plural import plural
from hindbrain.context.messages import Message
from hindbrain.context.packs.pack import LINE_KEY, Pack
from hindbrain.context.topic.ledger_file import (
    MOST_BYTES,
    SUFFIX,
    Event,
    LedgerFile,
    ledger_name,
    prune_when_due,
)
from hindbrain.context.topic.pages import (
    LedgerStatus,
    Page,
    Standing,
    Why,
    ids_of,
    page_data,
    pages_of,
)
from hindbrain.context.topic.pasted import digest
from hindbrain.context.topic.said import what_was_said
from hindbrain.context.turn import SessionKey

FOLDER = "sessions"  # in the state folder of a vault
_PROMPT_CHARS = 400
_MOST_PROMPTS = 50  # in the file, before a summary with the last few takes its place
_MANY_DAMAGED = 3  # lines; up to here it was a crash, of which the owner knows


class Injected(NamedTuple):
    """What became of the excerpts of a pack, in pages."""

    new: int = 0
    returned: int = 0  # had been let go before
    repeated: int = 0  # of `ids` that are in the window already: with a host that keeps, a waste


class PageLedger:
    """For one thread; any number of processes."""

    def __init__(
        self, folder: Path, session: SessionKey, clock: Clock | None = None, *, most_bytes: int = MOST_BYTES
    ) -> None:
        """`folder`: `<state>/sessions`. Nothing is read before the first question."""
        self._most_bytes = most_bytes  # then a summary takes the file's place
        self.session = session
        self._clock = clock or SystemClock()
        self._file = LedgerFile(folder / ledger_name(session.host, session.id))
        self._standing = Standing()
        self._heard = 0  # prompts in the file
        self._fault = ""

    @property
    def notices(self) -> tuple[str, ...]:
        """For the person: why something may be injected twice."""
        return (self._fault,) if self._fault else ()

    def in_window(self) -> frozenset[str]:
        """Ids of passages that the host still has. With one that replaces our block: that were not let go."""
        return frozenset(self._read().living)

    def pages(self) -> tuple[Page, ...]:
        """What is in the window, each page once, the oldest first."""
        living = self._read().living
        latest = {page.ids: page for page in sorted(living.values(), key=lambda page: page.turn)}
        return tuple(latest.values())

    def note_prompt(self, prompt: str, *, shifted: bool = False) -> None:
        """A turn begins. `shifted`: with this prompt, so does another topic."""
        text = digest(what_was_said(prompt))[:_PROMPT_CHARS]
        self._append(self._event("prompt", text=text, shifted=shifted))

    def inject(self, pack: Pack, turn: int | None = None) -> Injected:
        """The excerpts of a pack are put into the window, in the turn that was heard last."""
        standing = self._read()
        at = standing.turns if turn is None else turn
        new: list[object] = []
        returned: list[object] = []
        wanted: list[str] = []
        repeated = 0
        for page in pages_of(pack, at):
            here = [id_ for id_ in page.ids if id_ in standing.living]
            repeated += bool(here)
            wanted += here
            if len(here) < len(page.ids):
                was_gone = any(id_ in standing.gone for id_ in page.ids)
                (returned if was_gone else new).append(page_data(page))
        events = [
            self._event(name, pages=pages)
            for name, pages in (("injected", new), ("returned", returned))
            if pages
        ]
        if wanted:
            events.append(self._event("wanted", ids=wanted, turn=at))
        self._append(*events)
        return Injected(len(new), len(returned), repeated)

    def release(self, ids: Collection[str], why: Why) -> int:
        """Let go of passages and their lines; returns of how many passages. What is not in the window is left
        out."""
        known = self._read().living
        gone = [id_ for id_ in dict.fromkeys(ids) if id_ in known]
        if gone:
            self._append(self._event("released", ids=gone, why=why))
        return sum(not id_.startswith(LINE_KEY) for id_ in gone)

    def replace(self, pack: Pack, why: Why) -> int:
        """A host that shows our block anew each turn has only what this pack holds; the rest is let go.

        A host that keeps its window lets nothing go before it compacts: then it is 0.
        """
        if self.session.keeps:
            return 0
        kept = {id_ for excerpt in pack.excerpts for id_ in ids_of(excerpt)}
        return self.release([id_ for id_ in self.in_window() if id_ not in kept], why)

    def on_compacted(self) -> None:
        """The host summarised its window: nothing of ours is in it as it was. A new cycle begins."""
        self._append(self._event("compacted"))

    def on_cleared(self) -> None:
        """The host forgot everything, and so does the topic."""
        self._append(self._event("cleared"))

    def on_started(self, pack: Pack) -> None:
        """A session began with this pack; it counts as no answer to a prompt."""
        tokens = sum(slot.tokens for slot in pack.slots)
        pages = [page_data(page) for page in pages_of(pack, self._read().turns)]
        self._append(self._event("started", tokens=tokens, pages=pages))

    def on_flushed(self) -> None:
        """What matters was written down before compaction: once a cycle is enough."""
        self._append(self._event("flushed", cycle=self._read().cycle))

    def recent_messages(self) -> tuple[Message, ...]:
        """The last prompts of the running topic, oldest first: cut, secrets masked.

        What a new prompt is compared with, and borrows from, where the host does not tell the conversation.
        """
        prompts = self._read().prompts
        begins = max((at for at, said in enumerate(prompts) if said.shifted), default=0)
        return tuple(Message("user", said.text, at=said.at) for said in prompts[begins:])

    def status(self) -> LedgerStatus:
        return self._read().status()

    def _event(self, name: str, **data: object) -> Event:
        return {"event": name, "at": round(self._clock.now(), 3), "id": os.urandom(6).hex(), **data}

    def _read(self) -> Standing:
        try:
            events, fresh = self._file.new_events()
        except OSError as error:
            self._fail("read", error)
            return self._standing
        if fresh and events:  # a file that is gone takes nothing with it that this process knows
            self._standing, self._heard = Standing(), 0
        self._heard += sum(1 for event in events if event.get("event") == "prompt")
        self._standing.take(events)
        if self._file.damaged > _MANY_DAMAGED:
            self._fault = (
                f"{plural(self._file.damaged, 'damaged line')} in {str(self._file.path)!r}; "
                "the turn goes on, and something may be injected twice in this session"
            )
        return self._standing

    def _append(self, *events: Event) -> None:
        if not events:
            return
        is_first = not self._read().turns and not self._standing.living
        try:
            self._file.append(events)
        except OSError as error:
            self._fail("written", error)
            self._standing.take(events)
            return
        self._read()
        if is_first:
            prune_when_due(self._file.path.parent, self._clock.now(), keep=self._file.path.name)
        elif self._file.size > self._most_bytes or self._heard > _MOST_PROMPTS:
            self._summarise()

    def _summarise(self) -> None:
        try:
            self._file.replace([self._standing.summary()])
        except (OSError, HindbrainError):
            return  # another process does so, or there is no space: the long file serves as well
        self._read()

    def _fail(self, what: str, error: OSError) -> None:
        self._fault = (
            f"what was injected in this session can't be {what} ({error.strerror or error}); "
            f"the turn goes on, and something may be injected twice: look at {str(self._file.path)!r}"
        )


class Injections(NamedTuple):
    """What sessions of agent hosts were given."""

    sessions: Mapping[str, int] = {}  # by host
    prompts: int = 0
    answered: int = 0  # prompts that got something
    excerpts: int = 0
    tokens: int = 0  # of excerpts, and of what sessions began with


def count_injections(folder: Path, *, since: float = 0.0) -> Injections:
    """Of the sessions in `folder` that were active since then. Ledgers are kept for 30 days."""
    sessions: Counter[str] = Counter()
    total = Injections()
    try:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(SUFFIX)]
    except OSError:
        return total
    for entry in found:
        try:
            events = LedgerFile(Path(entry.path)).new_events()[0] if entry.stat().st_mtime >= since else []
        except OSError:
            continue
        standing = Standing()
        standing.take(events)
        if standing.turns or standing.spent:
            sessions[entry.name.rpartition("-")[0]] += 1
            total = Injections(
                sessions, total.prompts + standing.turns, total.answered + standing.answered,
                total.excerpts + standing.injected, total.tokens + standing.spent,
            )  # fmt: skip
    return total
