"""Ours: a real vault, a real App, real journals. What its packs say is all that the agent gets.

After each run `learn`, every 50 runs `consolidate`, on a clock that moves with the tasks. The vault is new
and has the default layout. What the user says in passing is not kept here: all arms get it in the same way.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.learning.events_of import events_of
from benchmarks.learning.memories import Ran, Recalled
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.context.packs.preset import built_in
from hindbrain.context.tokens import EstimatedTokens
from hindbrain.learn.runs.journal import new_run_id
from hindbrain.vault.first_notes import make_first_notes
from hindbrain.vault.layout import LAYOUT_FILE, render_layout
from hindbrain.vault.layout import built_in as built_in_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hindbrain.context.packs.pack import FilledSlot

_CONSOLIDATE_EVERY = 50  # runs
# Where a memory begins: a heading, the first line of an entry in a log, or a list item that is none of its
# further lines.
_ENTRY = re.compile(r"^(?=#{1,6} |\d+\. |[-*] (?:\*\*(?:Command|Original):|(?!\*\*\w[\w ]*:)))", re.MULTILINE)
_ONLY_HEADINGS = re.compile(r"(?:#{1,6} .*\s*)*")
_ALWAYS = ("core", "profile", "tasks", "status", "recent", "history")


# Without these functions nothing is generalised from runs: what is left are the runs themselves.
LESSONS = "hindbrain.learn.lessons.finding.find_lessons"
TEMPLATES = "hindbrain.learn.templates.finding.find_templates"


class VaultMemory:
    """`without`: what is not learned, to see what it is worth."""

    def __init__(self, folder: Path, *without: str) -> None:
        self._without: list[Any] = [patch(name, lambda *_, **__: []) for name in without]
        for one in self._without:
            one.start()
        self._clock = FakeClock()
        self.app = opened_vault(folder, self._clock)
        self._counter = EstimatedTokens()
        self._preset = built_in("agent")
        self._recorded = 0

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
        for one in self._without:
            one.stop()

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
