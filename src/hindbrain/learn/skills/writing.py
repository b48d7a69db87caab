"""A template becomes a skill, once its owner ticked it: the note that is written, and by whose word.

The only way in is the inbox, which no tool can answer. What is written is what was proposed: a template whose
steps changed since is shown again instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.base.errors import NotFound
from hindbrain.learn.templates import template_note
from hindbrain.learn.templates.finding import note_name
from hindbrain.learn.templates.promoting import steps_digest
from hindbrain.learn.templates.template import Template
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.splice import Value, set_property

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.memory.inbox.inbox import Proposal
    from hindbrain.memory.notes.notebook import Page

_COMMANDS = 3  # that a description names
_COMMAND = 80  # characters


class SkillKeeper:
    """Writes accepted skills; `keep` is what the inbox calls (`KeepSkill`)."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def keep(self, proposal: Proposal, approved: str) -> str:
        """Write the note; the same a second time. Other steps than proposed: their digest, and no note."""
        page = self._desk.find(proposal.template)
        template = template_note.parse(page.data, proposal.template) if page is not None else None
        if template is None:
            raise NotFound(f"the template {proposal.template!r} is gone; there is nothing to make a skill of")
        digest = steps_digest(template.steps)
        if digest != proposal.digest:
            return digest
        path = self._path(proposal)
        text = render(template, name=proposal.text, approved=approved)
        self._desk.edit(path, lambda page: text.encode() if page is None else None)
        return ""

    def _path(self, proposal: Proposal) -> str:
        """Its note: the one that was made of this template before, else a name that is free."""
        name = note_name(proposal.text)
        number = 1
        while True:
            path = self._desk.path("skills", name=name if number == 1 else f"{name} {number}")
            page = self._desk.find(path)
            if page is None or _template_of(page) == _link(proposal.template):
                return path
            number += 1


def render(template: Template, *, name: str, approved: str) -> str:
    """The note of a skill: as other hosts read them, with the owner's word and its day."""
    front = b"---\n---\n"
    told: dict[str, Value] = {"name": name, "description": description(template)}
    if template.trigger:
        told["trigger"] = template.trigger
    told |= {"source": "user", "approved": approved, "template": _link(template.path)}
    for key, value in told.items():
        front = set_property(front, key, value)
    parts = [front.decode().rstrip("\n"), f"# {name}", "", *template_note.step_lines(template.steps)]
    if template.slots:
        parts += ["", f"## {template_note.SLOTS}", "", *map(template_note.slot_line, template.slots)]
    return "\n".join(parts) + "\n"


def description(template: Template) -> str:
    """When to use it: in words, from the commands that it was made from."""
    short = [command for command in template.commands if len(command) <= _COMMAND][:_COMMANDS]
    told = "; ".join(f"“{command}”" for command in short)
    where = (
        f" in {template.app}"
        if template.app and template.app.casefold() not in template.title.casefold()
        else ""
    )
    return (
        f"{template.title}{where}. Use it for commands such as {told}."
        if told
        else f"{template.title}{where}."
    )


def _link(path: str) -> str:
    return f"[[{path.removesuffix('.md')}]]"


def _template_of(page: Page) -> str:
    value = parse_note(decode_note(page.data)[0], stem="").frontmatter.get("template")
    return value if isinstance(value, str) else ""
