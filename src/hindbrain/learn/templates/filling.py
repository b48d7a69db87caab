"""A template's steps with what a command says filled in. Pure."""

from __future__ import annotations

import re

from hindbrain.learn.templates.slots import fill
from hindbrain.learn.templates.template import Step, Template

_SLOT = re.compile(r"\{(\w+)\}")


def filled(template: Template, command: str) -> tuple[Step, ...]:
    """The steps, with slots filled from the command where they can be; the others stay as they are."""
    said = _without_app(command, template.app)
    values = {slot.name: fill(slot, said, template.commands) for slot in template.slots}
    return tuple(
        step._replace(arguments=tuple((key, _with(value, values)) for key, value in step.arguments))
        for step in template.steps
    )


def _without_app(command: str, app: str) -> str:
    """ "play Heroes with Spotify" is to play Heroes: where it is done is no part of what."""
    if not app or app.casefold() not in command.casefold():
        return command
    return re.sub(rf"\s+(?:in|on|with|using|via)\s+{re.escape(app)}\s*$", "", command, flags=re.IGNORECASE)


def _with(text: str, values: dict[str, str]) -> str:
    return _SLOT.sub(lambda match: values.get(match[1]) or match[0], text)
