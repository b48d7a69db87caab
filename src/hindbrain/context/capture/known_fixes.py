"""Fixes that were kept, read back from their lines; which of them fit a failure, and whether one was done.

The line in the vault is the truth: what an owner edits or deletes there is edited or gone. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from hindbrain.context.capture.commands import understand_command
from hindbrain.context.capture.error_match import likeness, may_be_among, read_error, tokens_of
from hindbrain.context.capture.error_text import Failure, lines_of, understand_failure
from hindbrain.context.capture.failures import Attempt, Fix, Step
from hindbrain.context.capture.fix_text import fix_line, short_path, shortened
from hindbrain.vault.items.item import MemoryItem

_MOST_LINES = 60  # of an output
_ELSEWHERE = 0.85  # of the likeness, where the line is not what the output ends in
_CODE_FAULTS = frozenset((
    "TypeError", "ValueError", "KeyError", "IndexError", "AttributeError", "NameError", "AssertionError",
    "ZeroDivisionError", "ReferenceError",
))  # fmt: skip
_SPAN = r"(?P<{0}>`+)(?P<{1}>.+?)(?<!`)(?P={0})(?!`)"
_FIX = re.compile(
    rf"{_SPAN.format('t1', 'command')} failed with {_SPAN.format('t2', 'error')}"
    rf"(?:, {_SPAN.format('t3', 'detail')})?; fixed by: (?P<cure>.+)",
    re.DOTALL,
)
_STEP = re.compile(
    rf"(?P<kind>ran |edited |){_SPAN.format('t', 'what')}(?:: (?P<ht>`+).+?(?<!`)(?P=ht)(?!`))?(?: instead)?"
    r"(?:; |, |$)?"
)


class KnownFix(NamedTuple):
    """A fix as its line tells it."""

    item: MemoryItem
    command: str
    error: str
    detail: str
    cure: str  # as the line has it: "ran `npm ci`"
    steps: tuple[tuple[str, str], ...]  # (ran or edited, the command or the file)


class Fitting(NamedTuple):
    fix: KnownFix
    likeness: float  # 0..1


@lru_cache(maxsize=4096)
def read_fix(item: MemoryItem) -> KnownFix | None:
    """None for a memory that is no fix."""
    found = _FIX.match(item.text.strip())
    if found is None:
        return None
    cure = found["cure"].strip()
    return KnownFix(
        item, found["command"].strip(), found["error"].strip(), (found["detail"] or "").strip(), cure,
        tuple(_steps(cure)),
    )  # fmt: skip


def _steps(cure: str) -> Iterator[tuple[str, str]]:
    """What was done; a reason in brackets may follow."""
    at, kind = 0, "ran"
    while (step := _STEP.match(cure, at)) is not None:
        kind = step["kind"].strip() or kind
        yield kind, step["what"].strip()
        at = step.end()


def known_fixes(items: Iterable[MemoryItem]) -> list[KnownFix]:
    """Of those that hold."""
    return [fix for item in items if not item.superseded and (fix := read_fix(item)) is not None]


def fitting(known: Sequence[KnownFix], command: str, output: str) -> list[Fitting]:
    """The fixes of the error that a command ended in, best first, the newer of two that fit as well."""
    failure = understand_failure(command, output)
    lines = [line for line in lines_of(output)[-_MOST_LINES:] if len(line) > 3]
    tokens = tokens_of((failure.error, failure.detail, *lines))
    likely = [
        fix
        for fix in known
        if any(may_be_among(_whole(one), tokens) for one in (fix.error, fix.detail) if one)
    ]
    found = [Fitting(fix, score) for fix in likely if (score := _fits(fix, failure, lines))]
    return sorted(found, key=lambda one: (round(one.likeness, 2), one.fix.item.created), reverse=True)


def fits_failure(fix: KnownFix, failure: Failure) -> float:
    """As `fitting`, of a failure whose output is gone."""
    return _fits(fix, failure, [line for line in (failure.error, failure.detail) if line])


def steps_of(fix: Fix) -> tuple[tuple[str, str], ...]:
    """The steps of a new fix, as its line will have them."""
    read = read_fix(MemoryItem("", _masked(fix_line(fix))))
    return read.steps if read is not None else ()


def is_done(fix: KnownFix, attempt: Attempt) -> bool:
    """Were all steps of a fix done in this attempt?"""
    done = {(step.kind, _as_told(step)) for step in attempt.steps}
    return bool(fix.steps) and all(step in done for step in fix.steps)


def _fits(fix: KnownFix, failure: Failure, lines: Sequence[str]) -> float:
    before, now = understand_command(fix.command), understand_command(failure.command)
    same_program = before.program == now.program
    if before.targets != now.targets and _is_own_fault(fix):
        return 0.0
    if fix.detail:  # the first line alone says little
        detail = _best(fix, fix.detail, failure, lines, same_program=same_program)
        if detail and same_program:
            return detail
        if not read_error(fix.error).of_a_name:
            return 0.0
    return _best(fix, fix.error, failure, lines, same_program=same_program)


def _is_own_fault(fix: KnownFix) -> bool:
    """Was the fault in the code that was run, which only an edit of that code mends?"""
    return all(kind == "edited" for kind, _ in fix.steps) and bool(_CODE_FAULTS & read_error(fix.error).codes)


def _best(fix: KnownFix, known: str, failure: Failure, lines: Sequence[str], *, same_program: bool) -> float:
    known = _whole(known)
    telling = (failure.error, failure.detail)
    scores = [
        likeness(known, line, same_program=same_program, cure=fix.cure)
        * (1.0 if line in telling else _ELSEWHERE)
        for line in dict.fromkeys((*filter(None, telling), *lines))
    ]
    return max(scores, default=0.0)


def _whole(line: str) -> str:
    """Without a last word that was cut."""
    return line.rpartition(" ")[0] if line.endswith("…") else line


def _as_told(step: Step) -> str:
    return shortened(_masked(short_path(step.what) if step.kind == "edited" else step.what))


def _masked(text: str) -> str:
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    return redact(text)[0]
