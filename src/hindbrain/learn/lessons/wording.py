"""The sentence of a lesson, made by rule: what differed between the runs, what worked, and how often. Pure.

For tasks like “open github.com in Chrome”: do not `click(URL bar)` (in 4 of 4 runs that failed, 0 of 5
that worked); `press_key(l, command: true)` before `type_text({text})` worked in 5 of 5.
"""

from __future__ import annotations

from hindbrain.base.plural import plural
from hindbrain.learn.lessons.contrast import Contrast, Difference
from hindbrain.learn.recording.wording import plain

_COMMAND, _REASON, _WHY, _DEED = 90, 160, 100, 120  # characters


def worded(command: str, told: Contrast, *, reason: str) -> str:
    """One sentence; "" when nothing tells the runs apart. `command`: the most typical one."""
    parts = [part for part in (_avoided(told), _preferred(told)) if part]
    if parts and reason and not (told.avoid and told.avoid.said):
        parts.append(f"else “{plain(reason, _WHY)}”")
    return f"For tasks like “{plain(command, _COMMAND)}”: {'; '.join(parts)}." if parts else ""


def _avoided(told: Contrast) -> str:
    found = told.avoid
    if found is None:
        return ""
    counts = f"in {found.failures} of {plural(told.failed, 'run')} that failed, "
    counts += f"{found.successes} of {told.worked} that worked"
    said = f", it answered “{plain(found.said, _REASON)}”" if found.said else ""
    return f"do not `{plain(found.deed, _DEED)}` ({counts}{said})"


def _preferred(told: Contrast) -> str:
    found = told.prefer
    if found is None:
        return ""
    then = f" before `{plain(found.then, _DEED)}`" if found.then else ""
    then += f" instead of `{plain(told.instead, _DEED)}`" if told.instead else ""
    beside = "" if told.avoid else f" (runs that failed: {found.failures} of {told.failed})"
    return f"`{plain(found.deed, _DEED)}`{then} worked in {found.successes} of {told.worked}{beside}"


def deed_of(found: Difference | None) -> str:
    return "" if found is None else plain(found.deed, _DEED)
