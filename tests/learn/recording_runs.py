"""Runs, made by hand, and a recorder on a real vault: what the tests of recording share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.app import App
from hindbrain.learn.pages.desk import Desk
from hindbrain.learn.recording.recorder import Recorded, Recorder
from hindbrain.learn.runs.episode import Action, Episode
from hindbrain.memory.notes.own_lines import OwnLines
from workbench import NOW, Vault


def run(number: int, command: str, outcome: Any = "success", *, ago: float = 600, **more: Any) -> Episode:
    """A run that began `ago` seconds before the clock of the tests, and took 45 s."""
    started = more.pop("started", NOW - ago)
    seconds = more.pop("seconds", 45)
    return Episode(f"r-{number:04d}", command, outcome, started, started + seconds, **more)


def do(name: str, *values: str, app: str = "", ok: bool = True, said: str = "", **more: str) -> Action:
    """`do("press_key", "l", command="true")`: the first argument is called `target`."""
    arguments = (*((("target", value)) for value in values), *more.items())
    return Action(name, arguments, ok=ok, said=said, app=app)


CHROME = (
    do("open_application", "Chrome", app="Chrome"),
    do("take_screenshot", app="Chrome"),
    do("click", "URL bar", app="Chrome"),
    do("type_text", "github.com", app="Chrome"),
    do("press_key", "return", app="Chrome"),
)


@dataclass
class Book:
    """A vault whose runs are recorded as a program would, each call with parts made anew."""

    vault: Vault
    app: App

    def desk(self) -> Desk:
        memory = self.app.memory
        own = OwnLines(self.vault.root, self.app.writer.append_state_line)
        return Desk(self.vault.root, memory.notebook, memory.layout, own, memory.today)

    def recorder(self) -> Recorder:
        return Recorder(self.desk(), self.app.memory, self.app.clock, self.app.writer.append_state_line)

    def record(self, *episodes: Episode) -> Recorded:
        return self.recorder().record(episodes)

    def text(self, role: str, **names: str) -> str:
        return (self.vault.root / self.desk().path(role, **names)).read_text("utf-8")

    def body(self, role: str, **names: str) -> str:
        """The note without its frontmatter."""
        return self.text(role, **names).rpartition("---\n")[2]

    def files(self) -> dict[str, bytes]:
        """Every file of the vault."""
        root = self.vault.root
        return {str(path.relative_to(root)): path.read_bytes() for path in _files(root)}


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())
