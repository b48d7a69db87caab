"""A fix as a line that people read, and back: what is stored of a failure, and how it is known again.

    `pytest tests/x.py` failed with `ModuleNotFoundError: No module named 'x'`; fixed by: ran `pip install x`

Pure. Knows nothing of memories and notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from hindbrain.context.capture.commands import understand_command
from hindbrain.context.capture.error_text import normalised, understand_failure
from hindbrain.context.capture.failures import Fix, Step
from hindbrain.search.hit import Hit

_MOST_STEPS = 5  # that are told; the last ones are the likeliest
_LONGEST = 160  # characters of one command
_IMPORTANCE = {True: 0.6, False: 0.4}  # of a cure that can be repeated as it is, and of one that is an edit
_LINE = re.compile(
    r"(?P<all>(?P<t1>`+) ?(?P<command>.+?) ?(?P=t1) failed with (?P<t2>`+) ?(?P<error>.+?) ?(?P=t2)"
    r"(?: \(\d+ times\))?; fixed by: (?P<cure>.+?))(?=(?:\s#[\w/-]+)*\s*(?:\[[\w-]+::|\^[\w-]+\s*$|$))",
    re.MULTILINE,
)
_WORD = re.compile(r"[A-Za-z_][\w.-]{2,}")
_ALIKE = 0.5  # of the words of two errors


class KnownFix(NamedTuple):
    """A fix that the vault knows."""

    command: str
    error: str
    cure: str
    text: str  # the whole line
    path: str  # of its note
    line: int


def fix_line(fix: Fix) -> str:
    """The line that is stored."""
    failed = f"{_code(fix.failure.command)} failed with {_code(fix.failure.error or 'an error')}"
    line = f"{failed}; fixed by: {'; '.join(_cure(fix))}"
    return f"{line} ({_sentence(fix.why)})" if fix.why else line


def importance_of(fix: Fix) -> float:
    return _IMPORTANCE[bool(fix.worked) or any(step.kind == "ran" for step in fix.steps)]


def known_fix(hits: Iterable[Hit], *, command: str = "", error: str = "") -> KnownFix | None:
    """The first fix that the hits tell; of the failure that is given, where one is given."""
    for hit in hits:
        for match in _LINE.finditer(hit.text):
            found = KnownFix(
                match["command"], match["error"], match["cure"].strip(), match["all"], hit.path,
                hit.first_line + hit.text.count("\n", 0, match.start()),
            )  # fmt: skip
            if _is_of(found, command, error):
                return found
    return None


def _is_of(found: KnownFix, command: str, error: str) -> bool:
    if command and understand_command(command).name != understand_command(found.command).name:
        return False
    if not error:
        return True
    now = set(_WORD.findall(normalised(understand_failure(command, error).error).casefold()))
    then = set(_WORD.findall(normalised(found.error).casefold()))
    return len(now & then) >= _ALIKE * min(len(now), len(then)) if now and then else now == then


def _cure(fix: Fix) -> list[str]:
    told: list[str] = []
    for step in fix.steps[-_MOST_STEPS:]:
        if step.kind == "edited" and told and told[-1].startswith("edited "):
            told[-1] += f", {_code(_short_path(step.what))}"
        else:
            told.append(_told(step))
    if fix.worked:
        told.append(f"ran {_code(fix.worked)} instead")
    return told


def _told(step: Step) -> str:
    return f"edited {_code(_short_path(step.what))}" if step.kind == "edited" else f"ran {_code(step.what)}"


def _short_path(path: str) -> str:
    """The last three parts: where a project lies on this machine says nothing."""
    parts = path.replace("\\", "/").split("/")
    return "/".join(parts[-3:]) if len(parts) > 3 else path


def _code(text: str) -> str:
    """As a code span, whatever it holds."""
    text = " ".join(text.split())
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    if "`" not in text:
        return f"`{text}`"
    ticks = "`" * (max(len(run) for run in re.findall("`+", text)) + 1)
    return f"{ticks} {text} {ticks}"


def _sentence(text: str) -> str:
    return text.rstrip(".")
