"""Which lessons stand in the notes, which a person does not want, which a model worded.

`.hindbrain/lessons.jsonl`, a line for each: {"written": [[id, run, ...], ...]}, {"dead": [id, ...]},
{"back": [id, ...]} or {"phrased": [id, basis]}. What can't be read tells nothing. If the log is lost, a
lesson that was deleted may come back once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.json_lines import read_objects

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson

NAME = "lessons.jsonl"
_MOST_RUNS = 10  # of a lesson's first failures: by them it is known when its id is another


class LessonLog:
    """For one thread."""

    def __init__(self, root: Path, append: Callable[[str, str], None]) -> None:
        self._file = root / ".hindbrain" / NAME
        self._append = append

    def alive(self) -> set[str]:
        return set(self._state.runs) - self._state.dead

    def dead(self) -> set[str]:
        return set(self._state.dead)

    def is_dead(self, lesson: Lesson) -> bool:
        """Was it, or one that was made from the same failures, taken away by a person?"""
        if lesson.id in self._state.dead:
            return True
        runs = set(lesson.evidence)
        return any(2 * len(runs & known) >= len(known) > 0 for known in self._state.dead_runs())

    def phrased(self, id_: str) -> str:
        """What the sentence of a model was made from; "" when it is the rule's."""
        return self._state.phrased.get(id_, "")

    def note_written(self, lessons: Sequence[Lesson]) -> None:
        new = [
            [lesson.id, *lesson.evidence[:_MOST_RUNS]]
            for lesson in lessons
            if lesson.id not in self._state.runs
        ]
        if new:
            self._add({"written": new})

    def note_dead(self, ids: Sequence[str]) -> None:
        if new := [id_ for id_ in ids if id_ not in self._state.dead]:
            self._add({"dead": new})

    def note_back(self, ids: Collection[str]) -> None:
        """These stand in the notes again: a person brought them back."""
        if back := sorted(self._state.dead & set(ids)):
            self._add({"back": back})

    def note_phrased(self, lesson: Lesson) -> None:
        self._add({"phrased": [lesson.id, basis_of(lesson)]})

    def _add(self, line: dict[str, Any]) -> None:
        self._append(NAME, json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        self._state.take(line)

    @cached_property
    def _state(self) -> _State:
        state = _State()
        for told in read_objects(self._file):
            state.take(told)
        return state


class _State:
    def __init__(self) -> None:
        self.runs: dict[str, frozenset[str]] = {}
        self.dead: set[str] = set()
        self.phrased: dict[str, str] = {}

    def take(self, told: dict[str, Any]) -> None:
        for row in _rows(told.get("written")):
            if isinstance(row, list) and row and all(isinstance(part, str) for part in row):
                self.runs[row[0]] = frozenset(row[1:])
        self.dead.update(id_ for id_ in _rows(told.get("dead")) if isinstance(id_, str))
        self.dead.difference_update(id_ for id_ in _rows(told.get("back")) if isinstance(id_, str))
        match told.get("phrased"):
            case [str(id_), str(basis)]:
                self.phrased[id_] = basis

    def dead_runs(self) -> list[frozenset[str]]:
        return [self.runs[id_] for id_ in self.dead if id_ in self.runs]


def _rows(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def basis_of(lesson: Lesson) -> str:
    """What a sentence is about: while it stays the same, a model need not word it again."""
    told = "\0".join((lesson.avoid, lesson.prefer, lesson.before, lesson.state))
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
