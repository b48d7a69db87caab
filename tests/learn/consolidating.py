"""What tests of consolidation share: a vault with old days, and a consolidator on a real App."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from hindbrain.app import App
from hindbrain.learn.consolidation.consolidator import Consolidator
from hindbrain.learn.consolidation.steps import Parts
from hindbrain.learn.pages.desk import Desk
from hindbrain.learn.runs.store import RunStore
from hindbrain.memory.notes.own_lines import OwnLines

TODAY = date(2026, 5, 15)  # of workbench.NOW


def day(ago: int) -> str:
    return (TODAY - timedelta(days=ago)).isoformat()


def desk_of(app: App) -> Desk:
    memory = app.memory
    own = OwnLines(app.root, app.writer.append_state_line)
    return Desk(app.root, memory.notebook, memory.layout, own, memory.today)


def consolidator(app: App, parts: Parts | None = None, desk: Desk | None = None) -> Consolidator:
    runs = RunStore(app.root, app.state, lambda: app.writer)
    return Consolidator(
        desk or desk_of(app), app.memory, runs, app.clock, app.state, lambda: app.writer, parts
    )


def write_day(root: Path, ago: int, *lines: str, folder: str = "Daily", ours: bool = True) -> str:
    """The daily note of so many days ago; returns its path in the vault."""
    path = f"{folder}/{day(ago)}.md"
    text = "\n".join([f"# Daily Log: {day(ago)}", "", "## Events", *lines, ""])
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(text.encode())
    if ours:
        mark_ours(root, path, text)
    return path


def mark_ours(root: Path, path: str, text: str) -> None:
    """Note the text as written by Hindbrain, as its own writers do."""
    folder = root / ".hindbrain"
    folder.mkdir(exist_ok=True)

    def append(name: str, line: str) -> None:
        with open(folder / name, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    OwnLines(root, append).note_written(path, text.splitlines())


def make_own(root: Path) -> None:
    """A vault that is the agent's own: its notes lie at the top."""
    for name in ("Home", "User Profile", "Active Tasks", "Current Status", "Known Issues"):
        (root / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")


def notes_of(root: Path) -> dict[str, bytes]:
    """Every note with its bytes; our own folder is left aside."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".hindbrain" not in path.parts
    }


def everything_below(*folders: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
