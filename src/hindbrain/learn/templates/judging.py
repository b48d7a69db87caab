"""What of a template may enter a note: no secrets, no text that reads like an order to an agent.

Steps, slots and commands are what runs did and were told, so they are a tool's word at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.templates.template import Template

if TYPE_CHECKING:
    from hindbrain.memory.policy.policy import Policy

_JUDGED = 3_000  # characters at once


def why_not(template: Template, policy: Policy) -> str:
    """Why its steps must not enter a note; "" when they may. One bad step spoils the whole."""
    examples = [example for slot in template.slots for example in slot.examples]
    blocks = [""]
    for line in [template.title, *(step.shown for step in template.steps), *examples]:
        if len(blocks[-1]) + len(line) >= _JUDGED:
            blocks.append("")
        blocks[-1] += f"{line}\n"
    return next((why for block in blocks if (why := _why_not(block, policy))), "")


def redacted(template: Template) -> Template:
    """Without secrets."""
    steps = tuple(
        step._replace(arguments=tuple((key, _redacted(value)) for key, value in step.arguments))
        for step in template.steps
    )
    slots = tuple(slot._replace(examples=tuple(map(_redacted, slot.examples))) for slot in template.slots)
    commands = tuple(map(_redacted, template.commands))
    return template._replace(title=_redacted(template.title), steps=steps, slots=slots, commands=commands)


def allowed(commands: Sequence[str], policy: Policy) -> tuple[str, ...]:
    """Those commands that may enter a note."""
    return tuple(command for command in commands if not _why_not(command, policy))


def _why_not(text: str, policy: Policy) -> str:
    verdict = policy.judge(text[:_JUDGED], source="tool")
    return "" if verdict.action == "accept" else "; ".join(verdict.reasons)


def _redacted(text: str) -> str:
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    return redact(text)[0]
