"""The calls of one answer, carried out: checked, allowed, noted before and after.

Those that only read go side by side where they can; all others one after the other, as the model put them.
Whatever goes wrong with a call is its result: the model is told what to mend.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.entries import Decided, Returned, Started
from hindbrain.agent.progress import UNKNOWN, Progress
from hindbrain.agent.run import Listener, Said
from hindbrain.agent.safety.approval import Approver, Asked, grant_of
from hindbrain.agent.safety.gate import Verdict
from hindbrain.agent.tools.tool import ActionTool, Result, Toolbox, plain
from hindbrain.base.errors import Cancelled, HindbrainError
from hindbrain.memory.tools.tool import Arguments, failure_text
from hindbrain.models.chat import ToolCall

if TYPE_CHECKING:
    from hindbrain.agent.record import RunRecord
    from hindbrain.agent.safety.gate import Gate

_SIDE_BY_SIDE = 8  # calls
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # without those that are taken for each other
_SAID_NO = (
    "The owner said no to this call. Do not try it in another way; go on without it, or say what you need."
)


class Hands(NamedTuple):
    """With what calls are carried out, and who is asked about them."""

    toolbox: Toolbox
    gate: Gate
    approver: Approver
    listener: Listener
    cancelled: Callable[[], bool]
    # What is known of a call that failed, by its tool, its arguments and what it said; "" for nothing.
    known_fix: Callable[[str, Arguments, str], str] = lambda *_: ""


def carry_out(record: RunRecord, hands: Hands) -> bool:
    """Carry out what has no result yet; False when a person has to decide first."""
    pending = record.progress.pending
    if len(pending) > 1 and (readings := _all_side_by_side(record.progress, pending, hands)):
        _read_at_once(record, pending, readings, hands)
        return True
    for call in pending:
        if hands.cancelled():
            raise Cancelled(f"the run {record.run!r} was cancelled")
        if not _carry_out_one(record, call, hands):
            return False
    return True


def _carry_out_one(record: RunRecord, call: ToolCall, hands: Hands) -> bool:
    if call.id in record.progress.started:
        _return(record, call, Result(UNKNOWN, failed=True), hands)
        return True
    try:
        tool, arguments = hands.toolbox.checked(call)
    except HindbrainError as error:
        # A tool that does not exist was no deed; wrong arguments of one that does can be learned from.
        unknown = call.name not in hands.toolbox.tools
        _return(record, call, Result(failure_text(error), failed=True), hands, refused=unknown)
        return True
    refusal = _refusal(record, call, tool, arguments, hands)
    if refusal is None:
        return False
    if refusal:
        _return(record, call, Result(refusal, failed=True), hands, refused=True)
        return True
    hands.listener(Said("call", _shown(tool, call, arguments), {"tool": call.name, "call": call.id}))
    if tool.effect != "read":
        record.note(Started(call.id))
    sourced = tool.sourced(arguments, record.progress.taint.level)
    result = hands.toolbox.run(tool, sourced)
    if result.failed and (known := hands.known_fix(call.name, plain(arguments), result.text)):
        result = result._replace(text=f"{result.text}\n\n{known}")
    _return(record, call, result, hands)
    return True


def _refusal(
    record: RunRecord, call: ToolCall, tool: ActionTool, arguments: Arguments, hands: Hands
) -> str | None:
    """Why the call may not be carried out; "" when it may, None when that is not known yet."""
    now = record.progress
    verdict = _judged(now, tool, arguments, hands)
    if verdict.decision == "deny":
        return f"This is not allowed: {verdict.why}"
    if verdict.decision == "allow":
        return ""
    asked = Asked(
        _asking_id(record.run, call), record.run, tool.name, plain(arguments), _shown(tool, call, arguments),
        verdict.why, record.now(),
    )  # fmt: skip
    decided = now.decided.get(call.id)
    if decided is None or decided.digest != asked.digest:
        hands.listener(Said("approval", asked.shown, {"id": asked.id, "tool": tool.name, "why": asked.why}))
        decision = hands.approver.decide(asked)
        if decision == "wait":
            return None
        grant = grant_of(tool.name, asked.arguments) if decision == "run" else ""
        decided = Decided(call.id, asked.digest, decision, grant)
        record.note(decided)
    return _SAID_NO if decided.decision == "deny" else ""


def _judged(now: Progress, tool: ActionTool, arguments: Arguments, hands: Hands) -> Verdict:
    asked = now.request
    try:
        return hands.gate.judge(
            tool, arguments, command=asked.command, taint=now.taint, allowed=now.allowed,
            at_terminal=asked.via == "terminal",
        )  # fmt: skip
    except HindbrainError as error:  # what can't be judged is not done
        return Verdict("deny", str(error))


def _return(
    record: RunRecord, call: ToolCall, result: Result, hands: Hands, *, refused: bool = False
) -> None:
    record.note(Returned(call.id, result, refused))
    data = {"tool": call.name, "call": call.id, "failed": result.failed}
    hands.listener(Said("result", result.text, data))


def _all_side_by_side(
    now: Progress, calls: Sequence[ToolCall], hands: Hands
) -> list[tuple[ActionTool, Arguments]]:
    """What is to be read at once; nothing when one of the calls must wait for those before it."""
    try:
        found = [hands.toolbox.checked(call) for call in calls]
    except HindbrainError:
        return []
    if not all(tool.effect == "read" and tool.side_by_side for tool, _ in found):
        return []
    allowed = all(_judged(now, tool, arguments, hands).decision == "allow" for tool, arguments in found)
    return found if allowed else []


def _read_at_once(
    record: RunRecord,
    calls: Sequence[ToolCall],
    readings: Sequence[tuple[ActionTool, Arguments]],
    hands: Hands,
) -> None:
    for call, (tool, arguments) in zip(calls, readings, strict=True):
        hands.listener(Said("call", _shown(tool, call, arguments), {"tool": call.name, "call": call.id}))
    with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
        results = list(pool.map(lambda reading: hands.toolbox.run(*reading), readings))
    for call, result in zip(calls, results, strict=True):
        _return(record, call, result, hands)


def _shown(tool: ActionTool, call: ToolCall, arguments: Arguments) -> str:
    """What a call would do, for a person."""
    # In quotes, so that a text can't pass for an argument more.
    values = {name: json.dumps(value, ensure_ascii=False) for name, value in plain(arguments).items()}
    told = ", ".join(f"{name}={value}" for name, value in values.items())
    return tool.shown(arguments) or f"{call.name}({told})"


def _asking_id(run: str, call: ToolCall) -> str:
    """The same for the same call, however often it is asked about."""
    number = int.from_bytes(hashlib.sha256(f"{run}\n{call.id}".encode()).digest()[:4])
    return "a-" + "".join(_LETTERS[(number >> shift) & 31] for shift in range(0, 30, 5))
