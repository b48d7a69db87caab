"""The fixes of a vault: told after a failure, kept once, and judged by what became of them.

A fix is a memory of the category issue with the tag `fix`; how it fared since stands in the fix log. Decides
which fix is told and which is withdrawn; how errors are compared is `error_match`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.context.capture.fix_log import FixLog, FixRecord
from hindbrain.context.capture.fix_text import told_fix
from hindbrain.context.capture.known_fixes import (
    Fitting,
    KnownFix,
    fits_failure,
    fitting,
    is_done,
    known_fixes,
    steps_of,
)
from hindbrain.context.packs.pack import Excerpt

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.context.capture.failures import Attempt, Fix
    from hindbrain.context.turn import SessionKey
    from hindbrain.memory.service import Memory

_MOST_TOLD = 2
_AS_GOOD = 0.05  # likeness within which a second fix is told, too


class Fixes:
    """For one thread, as the memory is."""

    def __init__(self, memory: Callable[[], Memory], state: Path, clock: Clock) -> None:
        self._memory = memory
        self._log = FixLog(state)
        self._clock = clock

    def ids(self) -> frozenset[str]:
        """Of all memories that are fixes."""
        return frozenset(fix.item.id for fix in self._known())

    def tell(
        self, session: SessionKey, command: str, error: str, *, held: frozenset[str] = frozenset()
    ) -> Excerpt | None:
        """The fix of this error, for the prompt; None when none is known that still works.

        `held`: what the window has already; an excerpt without text says that it has the fix.
        """
        found = fitting(self._known(), command, error)
        records = self._log.records() if found else {}
        worked = {one.fix.item.id: records.get(one.fix.item.id, FixRecord()) for one in found}
        best = _distinct([one for one in found if not worked[one.fix.item.id].withdrawn])
        if not best:
            return None
        new = [one.fix for one in best if _key(one.fix) not in held]
        if new:
            self._log.add("told", [fix.item.id for fix in new], session, self._clock.now())
        return _excerpt(best, [_line(fix, worked[fix.item.id].worked) for fix in new])

    def judge(self, session: SessionKey, attempts: Sequence[Attempt]) -> None:
        """Note which known fixes were done in these attempts, and whether they helped."""
        if not attempts:
            return
        known, told, now = self._known(), self._log.told_in(session), self._clock.now()
        for attempt in attempts:
            done = [
                fix.item.id for fix in known if is_done(fix, attempt) and fits_failure(fix, attempt.failure)
            ]
            heeded = [id_ for id_ in done if id_ in told]
            self._log.add("worked" if attempt.worked else "failed", done, session, now)
            self._log.add("heeded", heeded, session, now)
            if attempt.worked:
                self._log.add("helped", heeded, session, now)

    def is_known(self, fix: Fix) -> bool:
        """Is the same cure of the same error kept already?"""
        steps = steps_of(fix)
        return any(known.steps == steps and fits_failure(known, fix.failure) for known in self._known())

    def _known(self) -> list[KnownFix]:
        return known_fixes(self._memory().live_items())


def _distinct(found: Sequence[Fitting]) -> list[Fitting]:
    """The best, and another cure of just this error."""
    cures: dict[tuple[tuple[str, str], ...], Fitting] = {}
    for one in found:
        if one.likeness >= found[0].likeness - _AS_GOOD:
            cures.setdefault(one.fix.steps, one)
    return list(cures.values())[:_MOST_TOLD]


def _key(fix: KnownFix) -> str:
    return f"fix-{fix.item.id}"


def _line(fix: KnownFix, worked: int) -> str:
    return told_fix(fix.command, fix.detail or fix.error, fix.cure, fix.item.created, worked)


def _excerpt(found: Sequence[Fitting], lines: Sequence[str]) -> Excerpt:
    best = found[0]
    item = best.fix.item
    keys = tuple(_key(one.fix) for one in found)
    return Excerpt(
        item.path, "", "\n".join(lines), first_line=item.line, last_line=item.line, source=item.source,
        grade="line", score=best.likeness, confidence=best.likeness, why=f"same error {best.likeness:.2f}",
        passages=keys, memory=item.id,
    )  # fmt: skip
