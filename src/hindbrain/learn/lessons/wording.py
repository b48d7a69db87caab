"""The sentence of a lesson, made by rule: what differed between the runs, what worked, and how often. Pure.

For tasks like “open github.com in Chrome”: do not `click(URL bar)` (in 4 of 4 runs that failed, 0 of 5
that worked); `press_key(l, command: true)` before `type_text({text})` worked in 5 of 5.
"""

from __future__ import annotations

from hindbrain.base.plural import plural
from hindbrain.learn.lessons.contrast import Contrast, Difference
from hindbrain.learn.lessons.deeds import is_bare
from hindbrain.learn.recording.wording import plain

_COMMAND, _REASON, _WHY, _DEED = 90, 160, 100, 120  # characters
_MOST_TRIED = 4


def worded(command: str, told: Contrast, *, failures: int, reason: str, advice: str) -> str:
    """One sentence; "" when there is nothing to say. `command`: the most typical; `reason`: what went wrong;
    `advice`: what runs said."""
    parts = [part for part in (_avoided(told), _preferred(told)) if part]
    if parts and reason and not (told.avoid and told.avoid.said):
        parts.append(f"else “{plain(reason, _WHY)}”")
    elif not parts and advice:
        parts = [f"{_lower(plain(advice, 240))} (said by runs that failed {_times(failures)})"]
    elif not parts:
        parts = _unexplained(told, failures, reason)
    return f"For tasks like “{plain(command, _COMMAND)}”: {'; '.join(parts)}." if parts else ""


def _avoided(told: Contrast) -> str:
    found = told.avoid
    if found is None:
        return ""
    counts = f"in {found.failures} of {plural(told.failed, 'run')} that failed, "
    counts += f"{found.successes} of {told.worked} that worked"
    deed = f"`{plain(found.deed, _DEED)}`"
    said = f", it answered “{plain(found.said, _REASON)}”" if found.said else ""
    if found.kind == "idle":
        return f"act, and do not stop at words (no tool was used {counts})"
    if found.kind == "looped":
        return f"when {deed} changes nothing, do something else (repeated {counts})"
    if found.kind == "failed" and (not said or is_bare(found.deed) or found.worked_for):
        return f"mind that {deed} can fail (it did {counts}{said})"
    return f"do not {deed} ({counts}{said})"


def _preferred(told: Contrast) -> str:
    found = told.prefer
    if found is None:
        return ""
    then = f" before `{plain(found.then, _DEED)}`" if found.then else ""
    share = f"worked in {found.successes} of {told.worked}"
    beside = "" if told.avoid else f" (runs that failed: {found.failures} of {told.failed})"
    return f"`{plain(found.deed, _DEED)}`{then} {share}{beside}"


def _unexplained(told: Contrast, failures: int, reason: str) -> list[str]:
    """Why it failed, and what was done last; nothing where runs do not say why."""
    if not reason:
        return []
    parts = [f"failed {_times(failures)} with “{plain(reason, _REASON)}”"]
    if not told.worked:
        tried = ", ".join(f"`{plain(deed, _DEED)}`" for deed in told.tried[-_MOST_TRIED:])
        parts.append("what solves it is not known yet" + (f"; already tried: {tried}" if tried else ""))
    elif told.last:
        parts.append(f"the last step before that: `{plain(told.last, _DEED)}`")
    return parts


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _lower(text: str) -> str:
    """A sentence inside a sentence; a name or an abbreviation keeps its capital."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def deed_of(found: Difference | None) -> str:
    return "" if found is None else plain(found.deed, _DEED)
