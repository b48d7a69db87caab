"""A fix as a line that people read: what is stored of a failure. It is found again by its own words.

    `pytest tests/x.py` failed with `ModuleNotFoundError: No module named 'x'`; fixed by: ran `pip install x`

Pure. Knows nothing of memories and notes.
"""

from __future__ import annotations

import re

from hindbrain.context.capture.failures import Fix, Step

_MOST_STEPS = 5  # that are told; the last ones are the likeliest
_LONGEST = 160  # characters of one command
_IMPORTANCE = {True: 0.6, False: 0.4}  # of a cure that can be repeated as it is, and of one that is an edit


def fix_line(fix: Fix) -> str:
    """The line that is stored."""
    told = ", ".join(_code(line) for line in (fix.failure.error or "an error", fix.failure.detail) if line)
    failed = f"{_code(fix.failure.command)} failed with {told}"
    line = f"{failed}; fixed by: {'; '.join(_cure(fix))}"
    return f"{line} ({_sentence(fix.why)})" if fix.why else line


def told_fix(command: str, error: str, cure: str, created: str, worked: int) -> str:
    """A kept fix as an agent is told it, in one line: the cure, when, how well it is proved, and of what."""
    again = f"worked {worked} more time{'s' if worked > 1 else ''}" if worked else ""
    proof = "; ".join(filter(None, (created, again)))
    known = f"Known fix ({proof})" if proof else "Known fix"
    return f"{known} when {_code(command)} failed with {_code(error)}: {cure.rstrip('.')}"


def importance_of(fix: Fix) -> float:
    return _IMPORTANCE[bool(fix.worked) or any(step.kind == "ran" for step in fix.steps)]


def _cure(fix: Fix) -> list[str]:
    told: list[str] = []
    for step in fix.steps[-_MOST_STEPS:]:
        if step.kind == "edited" and told and told[-1].startswith("edited "):
            told[-1] += f", {_told(step).removeprefix('edited ')}"
        else:
            told.append(_told(step))
    if fix.worked:
        told.append(f"ran {_code(fix.worked)} instead")
    return told


def _told(step: Step) -> str:
    if step.kind != "edited":
        return f"ran {_code(step.what)}"
    return f"edited {_code(short_path(step.what))}" + (f": {_code(step.how)}" if step.how else "")


def short_path(path: str) -> str:
    """The last three parts: where a project lies on this machine says nothing."""
    parts = path.replace("\\", "/").split("/")
    return "/".join(parts[-3:]) if len(parts) > 3 else path


def shortened(text: str) -> str:
    """On one line, as long as a line of ours may be."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _code(text: str) -> str:
    """As a code span, whatever it holds."""
    text = shortened(text)
    if "`" not in text:
        return f"`{text}`"
    ticks = "`" * (max(len(run) for run in re.findall("`+", text)) + 1)
    return f"{ticks} {text} {ticks}"


def _sentence(text: str) -> str:
    return text.rstrip(".")
