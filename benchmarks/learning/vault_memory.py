"""Ours: a real vault, a real App, real journals. What its packs say is all that the agent gets.

After each run `learn`, every 50 runs `consolidate`, on a clock that moves with the tasks. What the user says
in passing is flushed as a host's conversation is. The vault is new and has the default layout.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.learning.events_of import events_of
from benchmarks.learning.memories import Ran, Recalled
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.context.messages import Message
from hindbrain.context.packs.preset import Preset, built_in
from hindbrain.context.tokens import EstimatedTokens
from hindbrain.context.turn import SessionKey
from hindbrain.learn.runs.journal import new_run_id
from hindbrain.vault.first_notes import make_first_notes
from hindbrain.vault.layout import LAYOUT_FILE, render_layout
from hindbrain.vault.layout import built_in as built_in_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hindbrain.context.packs.pack import FilledSlot

_CONSOLIDATE_EVERY = 50  # runs
_WINDOW = 200_000
# Where a memory begins: a heading, the first line of an entry in a log, or a list item that is none of its
# further lines.
_ENTRY = re.compile(r"^(?=#{1,6} |\d+\. |[-*] (?:\*\*(?:Command|Original):|(?!\*\*\w[\w ]*:)))", re.MULTILINE)
_ONLY_HEADINGS = re.compile(r"(?:#{1,6} .*\s*)*")
_ALWAYS = ("core", "profile", "tasks", "status", "recent", "history")


class VaultMemory:
    """`without`: slots that are taken out of the pack, to see what they are worth."""

    def __init__(self, folder: Path, *, name: str = "hindbrain", without: tuple[str, ...] = ()) -> None:
        self.name = name
        self._clock = FakeClock()
        self.app = opened_vault(folder, self._clock)
        self._counter = EstimatedTokens()
        self._preset = _without(built_in("agent"), without)
        self._recorded = 0

    def told(self, chat: str, at: float) -> None:
        self._set_time(at - 60)
        session = SessionKey("own", f"chat-{at:.0f}")
        messages = [Message("user", chat), Message("assistant", "Noted.")]
        self.app.context.flush(session, messages, tokens=_WINDOW, window=_WINDOW)
        self.app.memory.settle()

    def recall(self, command: str, at: float) -> Recalled:
        self._set_time(at)
        pack = self.app.context.pack(command, preset=self._preset, counter=self._counter)
        text = self.app.context.rendered(pack, self._preset.form)
        found = [piece for slot in pack.slots if slot.name not in _ALWAYS for piece in pieces_of(slot)]
        always = [piece for slot in pack.slots if slot.name in _ALWAYS for piece in pieces_of(slot)]
        ids = self.app.learning.injected(pack)
        return Recalled(text, tuple(found), tuple(always), self._counter.count(text), ids)

    def record(self, ran: Ran) -> None:
        run = new_run_id(ran.task.command, ran.task.at)
        journal = self.app.learning.runs.journal(run)
        for event in events_of(run, ran):
            journal.add(event)
            self._set_time(event.at)
        self.app.learning.learn()
        self._recorded += 1
        if self._recorded % _CONSOLIDATE_EVERY == 0:
            self.app.learning.consolidate()

    def close(self) -> None:
        self.app.close()

    def _set_time(self, now: float) -> None:
        self._clock.advance(max(0.0, now - self._clock.now()))


def opened_vault(folder: Path, clock: FakeClock) -> App:
    """A vault of the agent's own in the default layout, with what is there already, indexed."""
    vault = folder / "vault"
    vault.mkdir(parents=True, exist_ok=True)
    app = build_app(bench_config(folder / "state"), vault, clock=clock, warm=True)
    make_first_notes(built_in_layout("obsidian"), vault, app.writer, today="2026-01-05")
    app.writer.put_state_file(LAYOUT_FILE, render_layout(built_in_layout("obsidian")))
    app.sync()
    return app


def _without(preset: Preset, slots: tuple[str, ...]) -> Preset:
    return preset._replace(slots=tuple(rule for rule in preset.slots if rule.name not in slots))


def pieces_of(slot: FilledSlot) -> Iterator[str]:
    """One memory each: what stands in a template is one, entries of a list or a log are one each."""
    for excerpt in slot.excerpts:
        if slot.name in ("template", "skills"):
            yield excerpt.text
            continue
        for piece in _entries(excerpt.text):
            if not _ONLY_HEADINGS.fullmatch(piece.strip()):
                yield piece


def _entries(text: str) -> list[str]:
    """The text cut where an entry begins; a heading belongs to what follows it."""
    entries: list[str] = []
    for piece in _ENTRY.split(text):
        if entries and _ONLY_HEADINGS.fullmatch(entries[-1].strip()):
            entries[-1] += piece
        else:
            entries.append(piece)
    return entries
