"""The context of a conversation: what enters its prompts, and what is kept of it.

Keeps the order of one turn: understand the prompt, notice a change of topic, let go of what is stale,
assemble a pack of what the window does not hold yet, write it down in the session's ledger, leave a receipt.
What belongs to a part (how a topic is measured, how a pack is filled) is the part's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, IndexFault
from hindbrain.context.packs.assembling import Sources, Wanted, assemble, is_empty
from hindbrain.context.packs.null_file import shipped_nulls
from hindbrain.context.packs.pack import FilledSlot, Pack
from hindbrain.context.packs.preset import Preset, load_preset
from hindbrain.context.packs.rendering import Form, render
from hindbrain.context.receipts import Happening, Receipts, receipt_of
from hindbrain.context.topic.drift import TopicReader, judge_drift
from hindbrain.context.topic.ledger import FOLDER, PageLedger
from hindbrain.context.turn import SessionKey, Turn
from hindbrain.search.hit import COMING
from hindbrain.search.query import Filters
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.context.capture.catching_up import Capture, CaughtUp
    from hindbrain.context.capture.fixes import Fixes
    from hindbrain.context.flush.flusher import Flushed, Flusher
    from hindbrain.context.flush.plan import FlushPlan
    from hindbrain.context.flush.taking import TakenFlush
    from hindbrain.context.guard import Guarded
    from hindbrain.context.messages import Message
    from hindbrain.context.packs.gate import Null
    from hindbrain.context.packs.learned import Matches
    from hindbrain.context.tokens import TokenCounter
    from hindbrain.index.standing import IndexStanding, Making
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel
    from hindbrain.models.embedder import Embedder
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.outline import Outline
    from hindbrain.search.query import Mode, SearchQuery
    from hindbrain.vault.layout import Layout

_ANYWHERE = Filters()
_ERROR_LINES = 60  # of an output that notes may be on
_SESSIONS = 32  # ledgers that a warm process keeps open


class ContextSettings(NamedTuple):
    """What an owner may choose."""

    preset: str = "turn"  # of a prompt in an agent host
    daily: bool = False
    presets: Path = Path()  # the folder of the owner's own
    flush_tags: tuple[str, ...] = ("agent/memory", "auto-generated")  # of notes that a flush begins
    mode: Mode = "hybrid"  # by words alone in a process that answers once
    topic_threshold: float = 0.0  # likeness below which the topic has changed; 0: as measured
    false_rate: float = 0.05  # of generic prompts that may get notes, 0..1


class Reach(NamedTuple):
    """What the context needs from the application; each is called at first need.

    A prompt in a process that answers once needs no memory: the search and the layout do.
    """

    root: Path
    state: Path
    clock: Clock
    layout: Callable[[], Layout]
    memory: Callable[[], Memory]
    search: Callable[[SearchQuery], SearchResult]
    outlines: Callable[[Iterable[str]], Mapping[str, Outline]]
    embedder: Callable[[], Embedder | None]
    chat: Callable[[], ChatModel | None]
    standing: Callable[[], IndexStanding]
    making: Callable[[], Making | None]
    learned: Callable[[str, tuple[str, ...]], Matches] | None = None  # by runs: what fits a command
    nulls: Callable[[str, int], tuple[tuple[Null, ...], str]] = (
        shipped_nulls  # see `packs.assembling.Sources`
    )


class Context:
    """For one thread."""

    def __init__(self, reach: Reach, settings: ContextSettings) -> None:
        self._reach = reach
        self.settings = settings
        self._ledgers: dict[SessionKey, PageLedger] = {}
        self._receipts = Receipts(reach.state)
        self._missed_receipt = False  # and the person knows

    # Packs

    def pack(
        self,
        prompt: str,
        *,
        preset: str | Preset = "turn",
        budget: int = 0,
        recent: Sequence[Message] = (),
        tool: str = "",
        exclude: frozenset[str] = frozenset(),
        filters: Filters = _ANYWHERE,
        counter: TokenCounter | None = None,
        needs_index: bool = True,
    ) -> Pack:
        """What would enter a prompt. `budget`: tokens in all; 0: the preset's.

        Raises as a search does; without `needs_index`, an index that can't be asked costs notes alone.
        """
        from hindbrain.context.topic.intent import understand_intent

        chosen = self.preset(preset) if isinstance(preset, str) else preset
        if budget:
            chosen = chosen.within(budget)
        intent = understand_intent(prompt, recent, tool=tool, apps=self._apps(chosen))
        wanted = Wanted(intent, chosen, exclude, filters, prompt, needs_index)
        return assemble(self._sources(counter), wanted)

    def rendered(self, pack: Pack, form: Form | None = None, *, status: str = "") -> str:
        """The text that enters the prompt, in the preset's form or another; "" for an empty pack."""
        if is_empty(pack):
            return status
        return render(pack, form=form or self.preset(pack.preset).form, key=self._key, status=status)

    def preset(self, name: str) -> Preset:
        return load_preset(name, self.settings.presets)

    def card(self) -> str:
        """Who the user is and what always holds, in at most 500 tokens; the same while the notes are."""
        return self.rendered(self.pack("", preset="card"))

    # Events of a conversation

    def start(self, session: SessionKey, *, source: str = "startup") -> Turn:
        """A session begins (startup, clear), goes on (resume), or was summarised by its host (compact).

        Who goes on still has what was injected; after a compaction, what the last prompt needs enters again.
        """
        begun = time.perf_counter()
        turn = self._start(session, source)
        return self._with_receipt("start", session, "", turn, begun)

    def turn(
        self,
        session: SessionKey,
        prompt: str,
        *,
        recent: Sequence[Message] = (),
        transcript: Path | None = None,
        tool: str = "",
        keep_receipt: bool = True,
    ) -> Turn:
        """What this prompt gets that the window does not hold yet.

        `recent`: the messages before it; else the end of `transcript` tells, else the last prompts.
        `keep_receipt`: False for what enters no prompt.
        """
        begun = time.perf_counter()
        ledger = self._ledger(session)
        before = tuple(recent) or self._said_in(transcript, session, prompt) or ledger.recent_messages()
        drift = judge_drift(
            self._topics.talk(before),
            self._topics.prompt(prompt),
            threshold=self.settings.topic_threshold,
        )
        if drift.shifted:
            before = ()  # what was said of another matter has no say in this one
        pack = self._pack_or_say(
            prompt, preset=self.settings.preset, recent=before, tool=tool, exclude=_held(session, ledger)
        )
        ledger.note_prompt(prompt, shifted=drift.shifted)
        released = ledger.replace(pack, "shift" if drift.shifted else "expired")
        ledger.inject(pack)
        text = self.rendered(pack, status=self.status_line())
        turn = Turn(text, pack, drift.label, released, _told(pack, ledger))
        return self._with_receipt("turn", session, prompt, turn, begun) if keep_receipt else turn

    def failure(self, session: SessionKey, *, tool: str, command: str, error: str) -> Turn:
        """A command or a test failed: the fix that worked before, else what notes say of that failure."""
        from hindbrain.context.capture.error_text import query_for

        begun = time.perf_counter()
        query = query_for(tool, command, error)
        if not query:
            return self._with_receipt("failure", session, "", Turn(), begun)
        ledger = self._ledger(session)
        held = _held(session, ledger)
        fixes = self._fixes
        told = fixes.tell(session, command, error, held=held)
        if told is None:
            pack = self._pack_or_say(query, preset="turn", tool=tool, exclude=held | fixes.ids())
            pack = self._measured(_on_error(pack, command, error))
        else:
            slot = FilledSlot("fixes", 0, 0, (told,))
            pack = self._measured(Pack("turn", query, 0, (slot,), confidence=told.confidence))
        ledger.inject(pack)
        turn = Turn(self.rendered(pack), pack, notices=_told(pack, ledger))
        return self._with_receipt("failure", session, query, turn, begun)

    def learn_fixes(self, session: SessionKey, messages: Sequence[Message]) -> None:
        """Keep what solved failed commands in a conversation, and judge what was told in it."""
        from hindbrain.context.capture.failures import FailureTracker
        from hindbrain.context.capture.keeping import Keeper

        tracker = FailureTracker()
        fixes = tracker.feed(messages)
        Keeper(self._reach.memory(), self._flusher, self._fixes).keep_fixes(session, fixes, tracker.attempts)

    def guard(self, *, tool: str, arguments: Mapping[str, object], cwd: str = "") -> Guarded:
        """May this tool call go on without a person's word?"""
        from hindbrain.context.guard import guard_call

        return guard_call(self._reach.root, self._layout, tool=tool, arguments=arguments, cwd=cwd)

    @action("conversation kept", via="background")
    def catch_up(self, *, deadline_s: float, host: str = "") -> CaughtUp:
        """Keep what conversations have left to be kept, for at most about this long; `host`: only of it."""
        return self._capture.catch_up(deadline_s=deadline_s, host=host)

    # For hosts that keep no transcript

    def said(self, session: SessionKey, messages: Sequence[Message], cwd: str = "") -> float:
        """Keep what was said until it is captured; durable when this returns what `kept_until` does.

        Messages that are known by their id are dropped. From any thread. Raises WriteFailed.
        """
        from hindbrain.context.capture.said import keep_said

        reach = self._reach
        return keep_said(reach.state, session, messages, cwd=cwd, now=reach.clock.now())

    def kept_until(self, session: SessionKey) -> float:
        """When the last message that is durable was said, in seconds since the epoch; 0 when none is.

        From any thread.
        """
        from hindbrain.context.capture.said import kept_until

        return kept_until(self._reach.state, session, now=self._reach.clock.now())

    def flush_plan(self, workspace: str = "", preserve_local: bool = True) -> FlushPlan:
        """What the host shall do before it compacts; `workspace`: the folder in which its model may write."""
        from hindbrain.context.flush.plan import make_plan

        return make_plan(self._reach.root, self._layout, workspace, preserve_local=preserve_local)

    def take_flush(self, session: SessionKey, path: str, text: str) -> TakenFlush:
        """Take what the model wrote into its flush file into the vault's note of that day, each line once."""
        from hindbrain.context.flush.taking import take_flush

        del session  # whichever wrote it: several may share the file of a day
        return take_flush(self._reach.memory(), path, text, tags=self.settings.flush_tags)

    def flush(
        self, session: SessionKey, messages: Sequence[Message], *, tokens: int, window: int
    ) -> Flushed | None:
        """For who holds the messages: keep what lasts, shortly before they are compacted and once a cycle.

        `tokens` of a window of that size are in use. None: it is not due, or was done in this cycle.
        """
        from hindbrain.context.flush.due import is_due

        ledger = self._ledger(session)
        if not is_due(tokens, window, flushed=ledger.status().flushed):
            return None
        flushed = self._flusher.flush(messages, session)
        if flushed.durable:
            ledger.on_flushed()
        return flushed

    def compacted(self, session: SessionKey) -> None:
        """The window was summarised: nothing of ours is in it as it was, and the next cycle begins."""
        self._ledger(session).on_compacted()

    def status_line(self) -> str:
        """What an agent should know of the state of its memory; "" when all is well."""
        from hindbrain.context.topic.status import memory_status

        reach = self._reach
        return memory_status(reach.standing(), reach.making(), now=reach.clock.now())

    # What the verbs are made of

    def _start(self, session: SessionKey, source: str) -> Turn:
        ledger = self._ledger(session)
        if source == "compact":
            ledger.on_compacted()
        elif source != "resume":
            ledger.on_cleared()
        elif ledger.in_window():
            return Turn(self.status_line(), notices=ledger.notices)
        pack = self.pack("", preset="start")
        ledger.on_started(pack)
        again = self._again(session, ledger) if source == "compact" else None
        text = _joined(self.rendered(pack), self.rendered(again) if again else "", self.status_line())
        return Turn(text, _both(pack, again) if again else pack, notices=_told(pack, ledger))

    @cached_property
    def _layout(self) -> Layout:
        return self._reach.layout()

    @cached_property
    def _key(self) -> bytes:
        from hindbrain.context.packs.fence_key import read_or_make_key

        return read_or_make_key(self._reach.state)

    @cached_property
    def _capture(self) -> Capture:
        from hindbrain.context.capture.catching_up import Capture
        from hindbrain.context.flush.flusher import Flusher

        reach = self._reach
        # What was said to our own agent has been answered by the model: rules capture it at no cost.
        own = Flusher(reach.memory(), lambda: None, reach.clock, daily=self.settings.daily)
        return Capture(reach.memory(), self._flusher, reach.state, reach.clock, own=own)

    @cached_property
    def _fixes(self) -> Fixes:
        from hindbrain.context.capture.fixes import Fixes

        return Fixes(self._reach.memory, self._reach.state, self._reach.clock)

    def _measured(self, pack: Pack) -> Pack:
        """With what it costs, where it was not assembled or was made smaller."""
        from hindbrain.context.packs.rendering import slot_text
        from hindbrain.context.tokens import EstimatedTokens

        preset, count = self.preset(pack.preset), EstimatedTokens().count
        slots = []
        for slot in pack.slots:
            excerpts = tuple(one._replace(tokens=count(one.text)) for one in slot.excerpts)
            slot = slot._replace(excerpts=excerpts)
            tokens = count(slot_text(slot, form=preset.form, tagged=len(pack.slots) > 1))
            slots.append(slot._replace(tokens=tokens, budget=max(slot.budget, tokens)))
        pack = pack._replace(slots=tuple(slots), budget=pack.budget or preset.budget, frame=0)
        return pack._replace(frame=count(self.rendered(pack)) - pack.tokens if pack.excerpts else 0)

    @cached_property
    def _flusher(self) -> Flusher:
        from hindbrain.context.flush.flusher import Flusher

        reach = self._reach
        return Flusher(reach.memory(), reach.chat, reach.clock, daily=self.settings.daily)

    @cached_property
    def _topics(self) -> TopicReader:
        embedder = self._reach.embedder if self.settings.mode == "hybrid" else lambda: None
        return TopicReader(embedder)

    def _sources(self, counter: TokenCounter | None) -> Sources:
        from hindbrain.context.tokens import EstimatedTokens

        reach = self._reach
        return Sources(
            reach.memory, self._layout, reach.search, reach.outlines, counter or EstimatedTokens(), self._key,
            self.settings.mode, reach.learned, reach.nulls, self.settings.false_rate,
        )  # fmt: skip

    def _with_receipt(
        self, event: Happening, session: SessionKey, prompt: str, turn: Turn, begun: float
    ) -> Turn:
        """Leave a receipt. A notice says once that it can't be kept, unless the ledger says the same."""
        took_s = time.perf_counter() - begun
        receipt = receipt_of(
            session, event, prompt, turn.pack, at=self._reach.clock.now(), took_s=took_s, key=self._key
        )
        problem = self._receipts.add(receipt)
        if not problem or self._missed_receipt or self._ledger(session).notices:
            return turn
        self._missed_receipt = True
        return turn._replace(notices=(*turn.notices, problem))

    def _ledger(self, session: SessionKey) -> PageLedger:
        ledger = self._ledgers.pop(session, None) or PageLedger(
            self._reach.state / FOLDER, session, self._reach.clock
        )
        self._ledgers[session] = ledger  # the last used one comes last
        if len(self._ledgers) > _SESSIONS:
            del self._ledgers[next(iter(self._ledgers))]
        return ledger

    def _said_in(self, transcript: Path | None, session: SessionKey, prompt: str) -> tuple[Message, ...]:
        """A process that answers once does without: reading a transcript takes longer than it is worth."""
        if transcript is None or self.settings.mode == "keyword":
            return ()
        from hindbrain.context.capture.transcripts.tail import last_messages

        return last_messages(transcript, host=session.host, before=prompt)

    def _pack_or_say(
        self,
        prompt: str,
        *,
        preset: str,
        recent: Sequence[Message] = (),
        tool: str = "",
        exclude: frozenset[str] = frozenset(),
    ) -> Pack:
        """As `pack`; an index that can't be asked costs a conversation its notes, never its turn."""
        try:
            return self.pack(
                prompt, preset=preset, recent=recent, tool=tool, exclude=exclude, needs_index=False
            )
        except IndexFault as error:  # the layout may need it, too
            return Pack(preset, "", 0, (), notices=(f"{error.code}: {error}",))

    def _again(self, session: SessionKey, ledger: PageLedger) -> Pack | None:
        """What the last prompt that asked for something needs beside the session's start, for a window that
        was summarised under it."""
        from hindbrain.context.topic.intent import understand_intent

        prompts = list(ledger.recent_messages())
        while prompts and not understand_intent(prompts[-1].text).query:  # "ok, thanks"
            prompts.pop()
        if not prompts:
            return None
        pack = self._pack_or_say(
            prompts[-1].text, preset=self.settings.preset, recent=prompts[:-1], exclude=_held(session, ledger)
        )
        ledger.inject(pack)
        return pack

    def _apps(self, preset: Preset) -> dict[str, str]:
        """The names of apps, as they may stand in a prompt, and the note of each."""
        layout = self._layout
        if all(rule.name != "apps" for rule in preset.slots):
            return {}
        try:
            notes = layout.notes_of("apps", self._reach.root)
        except HindbrainError:
            return {}
        stems = [path.rpartition("/")[2].removesuffix(".md") for path in notes]
        return {name: stem for stem in stems for name in (stem.replace("-", " "), stem)}


def _held(session: SessionKey, ledger: PageLedger) -> frozenset[str]:
    """What a host that keeps its window need not be told again."""
    return ledger.in_window() if session.keeps else frozenset()


def _both(start: Pack, again: Pack) -> Pack:
    return again._replace(
        budget=start.budget + again.budget,
        slots=(*start.slots, *again.slots),
        frame=start.frame + again.frame,
    )


def _on_error(pack: Pack, command: str, error: str) -> Pack:
    """Without notes and memories that are on something else than this error."""
    from hindbrain.context.capture.error_match import is_on_error
    from hindbrain.context.capture.error_text import lines_of, understand_failure

    failure = understand_failure(command, error)
    telling = tuple(filter(None, (failure.error, failure.detail)))
    others = lines_of(error)[-_ERROR_LINES:]
    slots = []
    for slot in pack.slots:
        kept = slot.excerpts
        if slot.name in ("memories", "relevant", "lessons"):
            kept = tuple(one for one in kept if is_on_error(one.text, telling, others))
        if kept:
            slots.append(slot._replace(excerpts=kept))
    return pack._replace(slots=tuple(slots))


def _told(pack: Pack, ledger: PageLedger) -> tuple[str, ...]:
    """For the person; what a daemon is about to mend is not worth a message in every session."""
    kept = (notice for notice in pack.notices if not notice.startswith(COMING))
    return (*kept, *ledger.notices)


def _joined(*parts: str) -> str:
    return "\n".join(filter(None, parts))
