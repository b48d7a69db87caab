"""Templates from episodes: three successes or more that agree, step by step, for commands of one kind.

Pure: the same episodes give the same templates. Owns which commands are of one kind; which runs agree, slots
and triggers have modules of their own. Knows nothing of notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import grouped, vectors_of
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.templates.slots import Bound, bind, kind_of
from hindbrain.learn.templates.steps import (
    agreeing,
    blocks_of,
    columns_of,
    doing,
    is_look,
    is_opening,
    place_in,
    without_values,
)
from hindbrain.learn.templates.template import Template
from hindbrain.learn.templates.trigger import fires, trigger_of
from hindbrain.learn.templates.using import success_now, with_uses
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Embedder

MOST_EPISODES = 5_000  # the newest
LEAST_RUNS = 3
ALIKE = 0.3  # commands of runs that did the same: from here on they are one way
SAME_KIND = 0.9  # commands of runs that did it in different ways: from here on they are of one kind
# A command less alike than this to a group is of another kind, and its trigger must not fire on it: where
# both are about one application, where that is not known, and where they are about two.
OTHER_KIND, OTHER_KIND_MAYBE, OTHER_KIND_ELSEWHERE = 0.25, 0.4, 0.6
MOST_RUNS = 24  # of a group that slots are found in, the newest
_MOST_OTHERS = 1_000  # commands of other kinds that a trigger is held against
_COMMANDS = 8  # kept as examples
_FOUNDING, _NEWEST = 3, 6  # runs named as evidence: the first of the kind, the newest of the way
_TITLE, _COMMAND = 60, 200  # characters
_MARKUP = re.compile(r"[\"“”`#\[\]|^<>*\\$%~=]")  # what a heading or a link would take for its own
_TAIL = re.compile(r"(?:[\s,]+(?:again|now|please|thanks|thank you))+$", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|please|thanks|there|ok|okay|so|now|just|can|could|would|will|you|i['’](?:d|m|ve)|i|"
    r"am|need|want|like|hoping|looking|trying|help|me|to|with|some|assistance)\b[\s,.!]*)+",
    re.IGNORECASE,
)


def find_templates(episodes: Sequence[Episode], embedder: Embedder | None) -> list[Template]:
    """Of the newest episodes, oldest first; in the order of their first runs."""
    recent = episodes[-MOST_EPISODES:]
    models = [i for i, episode in enumerate(recent) if episode.is_model and doing(episode)]
    if len(models) < LEAST_RUNS:
        return []
    kinds = [_bare(episode) for episode in recent]
    row = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    vectors = vectors_of(list(row), embedder)[[row[kind] for kind in kinds]]
    apps = [app_of(episode) for episode in recent]
    ways = _ways(recent, models, apps, vectors)
    found = [_template([recent[i] for i in own], _others(recent, vectors, apps, own)) for own in ways]
    used = iter(with_uses([template for template in found if template is not None], recent))
    worth = [next(used) if template is not None else None for template in found]
    named: dict[str, int] = {}
    templates: list[Template] = []
    for kind in _kinds(ways, apps, vectors):
        rivals = [(template, at) for at in kind if (template := worth[at]) is not None]
        if not rivals:
            continue
        best, at = max(rivals, key=lambda pair: (round(success_now(pair[0]), 1), len(ways[pair[1]])))
        first = sorted(run for way in kind for run in ways[way])[:_FOUNDING]
        newest = [recent[run].run for run in (*first, *ways[at][-_NEWEST:])]
        count = named[best.name.casefold()] = named.get(best.name.casefold(), 0) + 1
        name = best.name if count == 1 else f"{best.name} {count}"
        templates.append(best._replace(name=name, evidence=tuple(dict.fromkeys(newest))))
    return templates


def _bare(episode: Episode) -> str:
    """The command without what its actions took from it."""
    given = (argument for action in doing(episode) for argument in action.arguments)
    return without_values(episode.command, given)


def app_of(episode: Episode) -> str:
    """The application that a run is about: as it says, or the one that it opened first; "" when neither."""
    if episode.app:
        return episode.app
    opened = (action for action in doing(episode) if is_opening(action.name) and action.arguments)
    return next((action.arguments[0][1] for action in opened), "")


def _ways(
    episodes: Sequence[Episode], models: Sequence[int], apps: Sequence[str], vectors: NDArray[np.float32]
) -> list[list[int]]:
    """Runs in one application that agree, three at least, for commands that have something in common."""
    by_app: dict[str, list[int]] = {}
    for i in models:
        by_app.setdefault(apps[i].casefold(), []).append(i)
    found: list[list[int]] = []
    for members in by_app.values():
        for same in agreeing([(episodes[i].command, blocks_of(episodes[i])) for i in members]):
            own = [members[n] for n in same]
            found += [[own[n] for n in alike] for alike in grouped(vectors[own], ALIKE)]
    return sorted(way for way in found if len(way) >= LEAST_RUNS)


def _kinds(
    ways: Sequence[Sequence[int]], apps: Sequence[str], vectors: NDArray[np.float32]
) -> list[list[int]]:
    """The ways of doing the same thing together: of each kind of command, one template is enough."""
    kinds: list[list[int]] = []
    for at, way in enumerate(ways):
        app, centre = apps[way[0]].casefold(), _centre(vectors[list(way)])
        for kind in kinds:
            known = [run for other in kind for run in ways[other]]
            if apps[known[0]].casefold() == app and centre @ _centre(vectors[known]) >= SAME_KIND:
                kind.append(at)
                break
        else:
            kinds.append([at])
    return kinds


def _centre(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    mean: NDArray[np.float32] = rows.mean(axis=0)
    centre: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return centre


def _template(runs: Sequence[Episode], others: Sequence[str]) -> Template | None:
    """None when the runs did nothing that tells them from others."""
    newest = runs[-MOST_RUNS:]
    columns = columns_of([blocks_of(episode) for episode in newest])
    if all(is_look(column.name) for column in columns):
        return None
    bound = bind(columns, [episode.command for episode in newest])
    trigger = trigger_of([_without(i, newest, bound, " <%k> ") for i in range(len(newest))], others)
    if not trigger and _is_open(bound):
        return None  # commands of any kind that used the same tool
    title = _title(_typical(newest, bound), newest, bound)
    iterations = [episode.iterations for episode in runs if episode.iterations]
    return Template(
        name=note_name(title),
        title=title,
        trigger=trigger if all(fires(trigger, episode.command) for episode in newest) else "",
        steps=bound.steps,
        slots=bound.slots,
        commands=_examples(runs),
        app=app_of(runs[-1]),
        runs=len(runs),
        successes=len(runs),
        avg_iterations=round(sum(iterations) / len(iterations), 1) if iterations else 0.0,
        source=lowest(episode.source for episode in runs),
        evidence=tuple(episode.run for episode in runs),
    )


def _is_open(bound: Bound) -> bool:
    """Is every step a call all of whose arguments vary with something that the command does not say?"""
    found_later = {f"{{{slot.name}}}" for slot in bound.slots if not slot.in_command}
    return all(
        step.arguments and found_later.issuperset(value for _, value in step.arguments)
        for step in bound.steps
    )


def _examples(runs: Sequence[Episode]) -> tuple[str, ...]:
    """Some of the commands, the newest first; of each way of saying it one, before a second of any."""
    newest = list(reversed(runs))
    each_way = {_bare(episode).casefold(): episode.command for episode in runs}
    chosen = set(each_way.values())
    ordered = sorted(newest, key=lambda episode: episode.command not in chosen)
    return tuple(dict.fromkeys(command_line(episode.command) for episode in ordered))[:_COMMANDS]


def _typical(runs: Sequence[Episode], bound: Bound) -> int:
    """The run with the shortest command, of those that filled most slots of it; the newest among equals."""
    slots = [bound.values[slot.name] for slot in bound.slots if slot.in_command]
    filled = [sum(run in values for values in slots) for run in range(len(runs))]
    return max(range(len(runs)), key=lambda run: (filled[run], -len(runs[run].command), run))


def _others(
    episodes: Sequence[Episode], vectors: NDArray[np.float32], apps: Sequence[str], own: Sequence[int]
) -> list[str]:
    """Commands of other kinds, the newest: little alike, or less so and about another application."""
    likeness = vectors @ _centre(vectors[own])
    mine, app = {episodes[i].command for i in own}, apps[own[0]]
    strange = [
        episode.command
        for episode, other, like in zip(episodes, apps, likeness, strict=True)
        if like < _other_kind(app, other)
    ]
    return [command for command in dict.fromkeys(strange) if command not in mine][-_MOST_OTHERS:]


def _other_kind(app: str, other: str) -> float:
    if not app or not other:
        return OTHER_KIND_MAYBE
    return OTHER_KIND if app == other else OTHER_KIND_ELSEWHERE


def _title(central: int, runs: Sequence[Episode], bound: Bound) -> str:
    """What the most typical run was asked for, with slots for what varies."""
    line = " ".join(_without(central, runs, bound, "{%s}").split())
    line = _MARKUP.sub("", line)
    lead = _LEAD.match(line)
    line = line[lead.end() :] if lead and len(line) - lead.end() >= 4 else line
    line = re.split(r"(?<=[^\d])[.!?](?:\s|$)", line)[0]
    if len(line) > _TITLE:
        line = line[:_TITLE].rpartition(" ")[0] or line[:_TITLE]
    line = _TAIL.sub("", line.strip(" ,.;:-"))
    return (line[:1].upper() + line[1:]) or "Untitled"


def _without(number: int, runs: Sequence[Episode], bound: Bound, mark: str) -> str:
    """A run's command, with a mark in the place of what fills a slot: `%s` is its name, `%k` its kind."""
    command = runs[number].command
    spans: list[tuple[tuple[int, int], str]] = []
    for slot in bound.slots:
        value = bound.values[slot.name].get(number, "") if slot.in_command else ""
        span = place_in(value, command)
        if span and all(span[1] <= other[0] or span[0] >= other[1] for other, _ in spans):
            said = mark.replace("%s", slot.name).replace("%k", kind_of(value) or slot.kind or "slot")
            spans.append((span, said))
    for (start, stop), said in sorted(spans, reverse=True):
        command = f"{command[:start]}{said}{command[stop:]}"
    return command


def command_line(command: str) -> str:
    """A command as it stands among a template's examples: one line, cut."""
    line = " ".join(command.split())
    return line if len(line) <= _COMMAND else line[: _COMMAND - 1].rstrip() + "…"


def note_name(title: str) -> str:
    """A file name that every system takes and that can be linked to."""
    from hindbrain.base.errors import UnsafePath
    from hindbrain.vault.path_rules import check_note_path

    name = re.sub(r"[{}]", "", title)
    name = re.sub(r"[^\w\s.,()'&+-]", " ", name)
    name = " ".join(name.split()).strip(" .,-")[:_TITLE].strip(" .,-")
    try:
        check_note_path(f"{name}.md" if name else "")
    except UnsafePath:
        return f"Template {name}".strip()
    return name
