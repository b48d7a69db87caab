"""How late it surely is: the clock for everything that deletes or archives by age.

A clock may be wrong for one command, a day, or for months. What is deleted because of it does
not come back, so one look at the clock is not believed: a jump of more than a week counts when a second look,
at least twelve hours later and within a week, agrees with it; a clock that goes back is believed at once. The
week is taken off the result, so that no jump, however small, makes anything older than it is.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.files import replace_file

_FILE = "clock"
_STEP_S = 7 * 86_400.0
_CONFIRMED_S = 12 * 3_600.0
_NOTED_S = 3_600.0  # a smaller advance is not written down


class Looks(NamedTuple):
    """What the looks so far say, in seconds since the epoch; 0: nothing yet."""

    passed: float = 0.0  # it was at least that late
    jump: float = 0.0  # where the clock has jumped to, if it has; not believed yet


def look(before: Looks, now: float) -> Looks:
    """Add one look at the clock."""
    passed = min(before.passed, now)
    if now - passed <= _STEP_S or _CONFIRMED_S <= now - before.jump <= _STEP_S:
        return Looks(now)
    agrees = 0.0 <= now - before.jump <= _STEP_S
    return Looks(passed, before.jump if agrees else now)


def passed_time(state: Path, clock: Clock) -> float:
    """The time that has surely come, in seconds since the epoch; 0.0 while nothing is known. Adds a look.

    `state`: the folder in which the looks are kept. Where they can't be kept, nothing becomes old.
    """
    return max(0.0, _looked(state, clock).passed - _STEP_S)


def is_believed(state: Path, clock: Clock) -> bool:
    """Has the clock not jumped, as far as is known? Adds a look. For what can be taken back."""
    found = _looked(state, clock)
    return not found.passed or not found.jump


def _looked(state: Path, clock: Clock) -> Looks:
    file = state / _FILE
    before = _read(file)
    after = look(before, clock.now())
    if after.jump != before.jump or not 0.0 <= after.passed - before.passed < _NOTED_S:
        _write(file, after)
    return after


def _read(file: Path) -> Looks:
    try:
        passed, jump = file.read_text("ascii").split()
        return Looks(float(passed), float(jump))
    except (OSError, ValueError):
        return Looks()


def _write(file: Path, looks: Looks) -> None:
    with contextlib.suppress(OSError):  # the next look begins where this one did
        replace_file(file, f"{looks.passed:.0f} {looks.jump:.0f}\n".encode("ascii"), durable=False)
