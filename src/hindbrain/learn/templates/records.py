"""What we wrote about templates: `.hindbrain/templates.jsonl`, one line before and one after each writing.

Without it a note that its owner deleted would come back, and steps that they changed would be taken for
ours. If it is lost, nothing of a person's is: notes then count as theirs. Reads; `append` is the caller's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.errors import VaultError
from hindbrain.learn.templates.promoting import steps_digest
from hindbrain.learn.templates.template import Template

RECORDS = "templates.jsonl"
KIN = 1 / 3  # of the runs of the smaller one that two templates share, when they are about the same thing


class Record(NamedTuple):
    """One writing of a note."""

    path: str
    runs: frozenset[str]  # the evidence
    steps: str  # digest
    app: str
    trigger: str
    suggested: str  # digest of steps that were only suggested; "" when none
    lines: frozenset[str]  # digests of the commands and links that it listed
    made_of: int  # runs that it was made from
    done: bool  # the note was written


class Records:
    def __init__(self, root: Path, append: Callable[[str, str], None]) -> None:
        self._append = append
        self._known = _read(root / ".hindbrain" / RECORDS)

    def kin(self, template: Template) -> list[Record]:
        """Those about the same thing, the oldest first."""
        digest = steps_digest(template.steps)
        return [
            record
            for record in self._known
            if _are_kin(record.runs, template.evidence)
            or (record.path == template.path)
            or (record.steps == digest and record.app == template.app.casefold())
        ]

    def begin(self, template: Template, *, suggested: str = "") -> None:
        """Say which steps are about to be written, or suggested; durable when this returns."""
        self._put(_record_of(template, (), suggested, done=False))

    def finish(self, template: Template, lines: Iterable[str], *, suggested: str = "") -> None:
        """Say what was written; `lines` are the commands and links that it lists."""
        self._put(_record_of(template, lines, suggested, done=True))

    def _put(self, record: Record) -> None:
        """Only what is new is written down: a line for each run of years would grow without end."""
        same = [known for known in self._known if known.path == record.path and known.done]
        said = frozenset[str]().union(*(known.lines for known in same))
        runs = frozenset[str]().union(*(known.runs for known in same))
        bare = {(known.steps, known.trigger, known.suggested) for known in same}
        if (record.steps, record.trigger, record.suggested) in bare:
            if record.lines <= said and record.runs <= runs:
                return
            record = record._replace(lines=record.lines - said, runs=record.runs - runs)
        told = record._asdict() | {"runs": sorted(record.runs), "lines": sorted(record.lines)}
        self._append(RECORDS, json.dumps(told, ensure_ascii=False, separators=(",", ":")))
        self._known.append(record)


def _record_of(template: Template, lines: Iterable[str], suggested: str, *, done: bool) -> Record:
    return Record(
        template.path, frozenset(template.evidence), steps_digest(template.steps), template.app.casefold(),
        template.trigger, suggested, frozenset(map(line_digest, lines)), template.runs, done,
    )  # fmt: skip


def are_kin(one: Template, other: Template) -> bool:
    """Are they about the same thing: made from the same runs, or the same steps in the same app?"""
    if _are_kin(one.evidence, other.evidence):
        return True
    return one.shape == other.shape and one.app.casefold() == other.app.casefold()


def shared_runs(one: Template, other: Template) -> int:
    return len(set(one.evidence) & set(other.evidence))


def line_digest(line: str) -> str:
    import hashlib

    return hashlib.sha256(" ".join(line.split()).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _are_kin(one: Iterable[str], other: Sequence[str]) -> bool:
    first, second = frozenset(one), frozenset(other)
    return bool(first and second) and len(first & second) >= KIN * min(len(first), len(second))


def _read(file: Path) -> list[Record]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise VaultError(f"the log {file.name!r} can't be read: {error.strerror}") from error
    return [record for line in text.splitlines() if (record := _record(line)) is not None]


def _record(line: str) -> Record | None:
    """None for a line that a crash cut."""
    try:
        told: Any = json.loads(line)
        return Record(
            str(told["path"]), frozenset(map(str, told["runs"])), str(told["steps"]), str(told["app"]),
            str(told["trigger"]), str(told["suggested"]), frozenset(map(str, told["lines"])),
            int(told["made_of"]), bool(told["done"]),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError):
        return None
