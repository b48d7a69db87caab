"""Ways in which an agent could approve what waits for its owner, read from `approval_attempts.txt`."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).with_suffix(".txt")


def read_attempts(section: str) -> list[str]:
    """The shell commands of one section."""
    _, *sections = _FILE.read_text(encoding="utf-8").split("\n=== ")
    told = dict(one.split(":", 1) for one in sections)
    return [command.strip("\n") for command in told[section].split("\n\n")[1:] if command.strip()]


EDITS = read_attempts("edits")
RECORDS = read_attempts("records")
COMMANDS = read_attempts("commands")
TERMINALS = read_attempts("terminals")
ATTEMPTS = [*EDITS, *RECORDS, *COMMANDS, *TERMINALS]
