"""Before the first iteration: what the memory knows that fits the command, and the words that go before it.

A memory that can't be asked never keeps a run from beginning: what is missing is told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.entries import Prepared
from hindbrain.agent.messages import to_messages
from hindbrain.agent.prompt.owner_notes import OwnerNotes
from hindbrain.agent.prompt.system_prompt import PromptParts, system_prompt
from hindbrain.agent.prompt.user_name import name_in
from hindbrain.agent.run import LEAST_WINDOW
from hindbrain.agent.verify.skill_checks import checks_of_skills, skills_in
from hindbrain.base.errors import ConfigError, HindbrainError
from hindbrain.context.history.window import budget_of
from hindbrain.context.tokens import count_tokens
from hindbrain.learn.runs.files import COLD
from hindbrain.learn.runs.journal import RUNS
from hindbrain.memory.policy.provenance import lowest
from hindbrain.vault.parse import decode_note
from hindbrain.vault.path_rules import check_existing_path
from hindbrain.vault.paths import read_note

if TYPE_CHECKING:
    from hindbrain.agent.run import RunRequest
    from hindbrain.context.packs.pack import Excerpt
    from hindbrain.context.service import Context
    from hindbrain.learn.service import Learning
    from hindbrain.learn.skills.skill import Skill
    from hindbrain.vault.layout import Layout


_DAY = re.compile(r"r-(\d{4})(\d\d)(\d\d)-")
_YEAR = re.compile(r"(\d{4})\.")


class Knowledge(NamedTuple):
    """Where a run's beginning comes from; each is asked at first need."""

    context: Callable[[], Context]
    learning: Callable[[], Learning]
    user: Callable[[], str]  # the owner's name; "" when it is not known
    owner: Callable[[], OwnerNotes]  # what the owner wrote for the agent
    since: Callable[[], str]  # of the first session; "" when it is not known
    now: Callable[[], datetime]  # local


class Beginning(NamedTuple):
    prepared: Prepared
    memory: str = ""  # for people: what was recalled, a line each
    notices: tuple[str, ...] = ()  # for people: what could not be used


_NOT_LOOKED = (
    "(The memory could not be looked into: {code}. Something may be known that does not stand here.)"
)


class _Recalled(NamedTuple):
    text: str = ""  # rendered and fenced; or why there is none, where nobody could look
    items: tuple[str, ...] = ()  # ids and paths
    heard: str = ""  # whose word it is, at the least
    skills: tuple[Skill, ...] = ()
    titles: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def prepare(request: RunRequest, around: PromptParts, knowledge: Knowledge) -> Beginning:
    """`around`: the tools, channels and workspace of the run."""
    owner = knowledge.owner() if request.preset else OwnerNotes()
    recalled = _recall(request, knowledge, owner.keys)
    checks = checks_of_skills(recalled.skills)
    now = knowledge.now()
    told = system_prompt(
        around._replace(
            user=knowledge.user(), since=knowledge.since(), now=now, tz=now.tzname() or "",
            owner=owner.text, memory=recalled.text, skills=tuple(skill.name for skill in recalled.skills),
        )
    )  # fmt: skip
    tokens = count_tokens(recalled.text) if recalled.items else 0
    prepared = Prepared(told.stable, told.changing, recalled.items, tokens, recalled.heard, checks.checks)
    notices = (*owner.notices, *recalled.notices, *checks.problems)
    return Beginning(prepared, "\n".join(recalled.titles), notices)


def _recall(request: RunRequest, knowledge: Knowledge, known: frozenset[str]) -> _Recalled:
    """`known`: lines that the prompt has already."""
    if not request.preset:
        return _Recalled()
    context, learning = knowledge.context(), knowledge.learning()
    try:
        recent = to_messages(request.history)
        preset = context.preset(request.preset)
        share = budget_of(max(LEAST_WINDOW, request.limits.window)).memory
        budget = min(preset.budget, share)
        ask = partial(
            context.pack, request.command, preset=preset, budget=budget, recent=recent, exclude=known
        )
        pack = ask()
        if skills := skills_in(pack, learning.skills().skills):  # what is known of the domain of the first
            name = skills[0].name
            pack = ask(tool=name)
        if not pack.excerpts:
            return _Recalled(notices=pack.notices)
        return _Recalled(
            context.rendered(pack),
            learning.injected(pack),
            lowest(excerpt.source for excerpt in pack.excerpts),
            skills_in(pack, learning.skills().skills),
            tuple(dict.fromkeys(_title(excerpt) for excerpt in pack.excerpts)),
            pack.notices,
        )
    except ConfigError:
        raise
    except HindbrainError as error:
        told = _NOT_LOOKED.format(code=error.code)
        return _Recalled(told, notices=(f"nothing is recalled ({error.code}): {error}",))


def _title(excerpt: Excerpt) -> str:
    """`Reading Group > When`: most notes begin with a heading that says their title again."""
    title, heading = excerpt.title or excerpt.path, excerpt.heading
    return heading if heading.startswith(title) else " > ".join(filter(None, (title, heading)))


def first_day(root: Path) -> str:
    """Of the oldest run that the vault has a journal of, YYYY-MM-DD; of old ones only the year is known."""
    runs = root / ".hindbrain" / RUNS
    years = [year[1] for name in _names(runs / COLD) if (year := _YEAR.match(name))]
    days = [day for name in _names(runs) if (day := _DAY.match(name))]
    first = min((f"{day[1]}-{day[2]}-{day[3]}" for day in days), default="")
    return min((*years, *([first] if first else [])), default="")


def user_name(root: Path, layout: Layout) -> str:
    """As the profile note has it; "" where there is none, or none that can be read."""
    if not layout.is_single("profile"):
        return ""
    try:
        profile = read_note(root, check_existing_path(layout.path("profile")))
        return name_in(decode_note(profile)[0])
    except HindbrainError:
        return ""


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  names are enough
    except OSError:
        return []
