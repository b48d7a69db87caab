"""The checks of the skills that a run was given: what their notes say must hold at the end.

Pure. A skill that is not its owner's own word brings none. What can't be read is named, and costs nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.verify.check import Check, parse_check
from hindbrain.base.errors import UsageError
from hindbrain.vault.scalars import read_quoted

if TYPE_CHECKING:
    from hindbrain.context.packs.pack import Pack
    from hindbrain.learn.skills.skill import Skill

_MOST = 20  # of one skill


class SkillChecks(NamedTuple):
    checks: tuple[Check, ...] = ()  # each once
    problems: tuple[str, ...] = ()  # what was left out, and why


def skills_in(pack: Pack, skills: Iterable[Skill]) -> tuple[Skill, ...]:
    """Those of the skills that the pack tells of."""
    told = {excerpt.path for excerpt in pack.excerpts}
    return tuple(skill for skill in skills if skill.path in told)


def checks_of_skills(skills: Iterable[Skill]) -> SkillChecks:
    """Their checks, marked with the note that asks for them: they bind less than the owner's own."""
    checks: dict[Check, None] = {}
    problems: list[str] = []
    for skill in skills:
        if skill.checks and skill.source != "user":
            problems.append(f"{skill.path}: its checks are left out: it is not its owner's own word")
            continue
        if len(skill.checks) > _MOST:
            problems.append(f"{skill.path}: {len(skill.checks)} checks; the first {_MOST} count")
        for text in skill.checks[:_MOST]:
            try:
                checks[parse_check(_unquoted(text))._replace(skill=skill.path)] = None
            except UsageError as error:
                problems.append(f"{skill.path}: {str(error).partition(';')[0]}")
    return SkillChecks(tuple(checks), tuple(problems))


def _unquoted(text: str) -> str:
    """`command: "make test"` is a map to YAML, and its quotes are YAML's, not the command's."""
    kind, colon, rest = text.partition(":")
    rest = rest.strip()
    if rest[:1] not in ("'", '"'):
        return text
    value, more = read_quoted(rest)
    return text if value is None or more else f"{kind}{colon} {value}"
