"""One note for each application: what runs taught, in the sections of the reference's schema."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hindbrain.learn.recording.app_knowledge import APPROACHES, ISSUES, PATTERNS, AppKnowledge
from hindbrain.learn.recording.items import Items, taken_back, with_items
from hindbrain.learn.recording.places import first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import day_of, item_id
from hindbrain.memory.notes.scribe import file_name
from hindbrain.memory.policy.provenance import lowest
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.parse import parse_note
from hindbrain.vault.splice import set_property

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.recording.recorded import Recordings
    from hindbrain.memory.notes.notebook import Page

PART = "apps"
_KIND = "app-knowledge"
_MOST_LINE = 300  # characters


class AppNotes:
    def __init__(self, desk: Desk, screen: Screen, recordings: Recordings) -> None:
        self._desk = desk
        self._screen = screen
        self._recordings = recordings

    def bring_up_to(self, apps: Sequence[AppKnowledge]) -> int:
        """Say what is known of these; returns how many notes changed."""
        return sum(self._bring(app) for app in apps)

    def _bring(self, app: AppKnowledge) -> bool:
        path = self._path(app)
        page = self._desk.find(path)
        mark = item_id("a", app.key)
        gone = page is None and self._recordings.has(PART, mark)  # the owner deleted the whole note
        if gone or (page is None and not app.findings):
            return False
        first = self._first(app)
        data = page.data if page is not None else first
        sections = self._sections(app, note_source(data, path))
        told = self._recordings.told(PART)

        def ours(line: str) -> bool:
            return self._desk.own.is_ours(path, line)

        for items in sections:
            self._recordings.forget(PART, taken_back(data, items, ours))

        def change(now: Page | None) -> bytes | None:
            before = after = first if now is None else now.data
            for items in sections:
                after = with_items(after, items, told, ours, path)
            after = self._with_properties(after, app, path)
            return None if now is not None and after == before else after

        heads = [f"## {items.heading}" for items in sections]
        lines = [line for items in sections for line in items.lines.values()]
        written = self._desk.edit(path, change, ours=[*heads, *lines, *_properties(app).values()])
        self._recordings.note(PART, [mark, *(name for items in sections for name in items.lines)])
        return written is not None

    def _path(self, app: AppKnowledge) -> str:
        """The note that is about the app already, by its property, title or name; else a new one."""
        usual = self._desk.path("apps", name=file_name(app.app))
        return usual if self._desk.find(usual) is not None else self._known.get(_folded(app.app), usual)

    @cached_property
    def _known(self) -> dict[str, str]:
        """The notes of apps, by each name that they give themselves."""
        found: dict[str, str] = {}
        for path in self._desk.paths("apps"):
            page = self._desk.find(path)
            if page is None:
                continue
            stem = path.rpartition("/")[2].removesuffix(".md")
            note = parse_note(page.text, stem=stem)
            for name in (note.frontmatter.get("app"), note.title, stem):
                if isinstance(name, str) and (key := _folded(name)):
                    found.setdefault(key, path)
        return found

    def _sections(self, app: AppKnowledge, note_is: str) -> list[Items]:
        lines: dict[str, dict[str, str]] = {APPROACHES: {}, ISSUES: {}, PATTERNS: {}}
        for finding in app.findings:
            # Between backticks nothing means more than it says; outside of them it is made so.
            head, tick, action = finding.text.partition("`")
            action, _, rest = action.partition("`") if tick else ("", "", "")
            words = self._screen.told(rest or head, _MOST_LINE, app.source)
            code = self._screen.code(action, app.source)
            text = f"`{code.text}` {words.text}" if tick else words.text
            mark = source_mark(lowest((words.source, code.source)), note_is)
            lines[finding.section][finding.id] = f"- {text}{mark} ^{finding.id}"
        return [Items(heading, told) for heading, told in lines.items()]

    def _first(self, app: AppKnowledge) -> bytes:
        name = file_name(app.app)
        data = first_text(self._desk, "apps", name=name)
        data = set_property(set_property(data, "type", _KIND), "app", app.app)
        for key, line in _properties(app).items():
            data = set_property(data, key, line.partition(": ")[2])
        return data

    def _with_properties(self, data: bytes, app: AppKnowledge, path: str) -> bytes:
        """Day and confidence, in a note of ours, while they are as we wrote them."""
        lines = NoteLines(data).texts or [""]
        known = read_frontmatter(lines).properties
        if known.get("type") != _KIND:
            return data
        for key, line in _properties(app).items():
            if key not in known or self._desk.own.is_ours(path, f"{key}: {known[key]}"):
                data = set_property(data, key, line.partition(": ")[2])
        return data


def _folded(name: str) -> str:
    """The name without case, blanks and dashes."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _properties(app: AppKnowledge) -> dict[str, str]:
    return {"updated": f"updated: {day_of(app.last)}", "confidence": f"confidence: {app.confidence}"}
