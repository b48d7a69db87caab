"""Templates from episodes: three successes alike, laid beside each other, and what they have in common.

Pure: the same episodes give the same templates. Owns what "alike" is here and which steps are kept; how
runs are laid beside each other, slots and triggers have modules of their own. Knows nothing of notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hindbrain.learn.alike import grouped, vectors_of
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.templates.aligning import (
    SAID,
    Column,
    align,
    common,
    doing,
    is_look,
    is_opening,
    marks_of,
    place_in,
    said_by,
    sequence_vectors,
)
from hindbrain.learn.templates.slots import Bound, bind, kind_of
from hindbrain.learn.templates.template import Template
from hindbrain.learn.templates.trigger import fires, trigger_of
from hindbrain.learn.templates.using import attempts_of, with_uses
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Embedder

MOST_EPISODES = 5_000  # the newest
LEAST_RUNS = 3
# A command less alike than this to a group is of another kind, and its trigger must not fire on it: where
# both are about one application, where that is not known, and where they are about two.
OTHER_KIND, OTHER_KIND_MAYBE, OTHER_KIND_ELSEWHERE = 0.25, 0.4, 0.6
KEPT = 0.5  # of the runs: a step that more of them did stays
COMMON = 0.5  # of what runs did, on average, that must be in the template
MOST_RUNS = 24  # of a group that are laid beside each other, the newest
_MOST_OTHERS = 1_000  # commands of other kinds that a trigger is held against
_COMMANDS = 8  # kept as examples
_FOUNDING, _NEWEST = 3, 7  # runs named as evidence
_TITLE, _COMMAND = 60, 200  # characters
_MARKUP = re.compile(r"[\"“”`#\[\]|^<>*\\$%~=]")  # what a heading or a link would take for its own
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|please|thanks|there|ok|okay|so|now|just|can|could|would|will|you|i['’](?:d|m|ve)|i|"
    r"am|need|want|like|hoping|looking|trying|help|me|to|with|some|assistance)\b[\s,.!]*)+",
    re.IGNORECASE,
)


class Alike(NamedTuple):
    """From where on runs are of one kind; each 0..1 but for the last."""

    commands: float  # a command and the mean of those before it
    actions: float  # what a run did and the mean of those before it
    same_way: float  # groups that do so much the same are one,
    together: float  # if what they do and what they are told add up to this


# Runs in one application share its opening and many a gesture: adding an event and cancelling one differ in
# two keys. Where none is known, the tools' own names tell kinds apart.
IN_APP = Alike(0.7, 0.75, 0.9, 1.1)
ANYWHERE = Alike(0.5, 0.6, 0.85, 1.2)

_Rates: TypeAlias = dict[tuple[str, str, frozenset[str]], tuple[int, int]]


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
    rates = _rates(recent)
    found: list[tuple[int, Template]] = []
    for group in _groups([recent[i] for i in models], vectors[models]):
        own = [models[i] for i in group]
        others = _others(recent, vectors, apps, own)
        template = _template([recent[i] for i in own], others, rates)
        if template is not None:
            found.append((group[0], template))
    named: dict[str, int] = {}
    out = []
    for _, template in sorted(found, key=lambda pair: pair[0]):
        count = named[template.name.casefold()] = named.get(template.name.casefold(), 0) + 1
        out.append(template if count == 1 else template._replace(name=f"{template.name} {count}"))
    return with_uses(out, recent)


def _bare(episode: Episode) -> str:
    """The command without the values that its actions took from it: "rename <said> to <said>"."""
    command = episode.command
    given = {argument for action in doing(episode) for argument in action.arguments}
    taken = {part for key, value in given for part in said_by(key, value, command)}
    for part in sorted(taken, key=lambda part: (-len(part), part)):
        if span := place_in(part, command):
            command = f"{command[: span[0]]} {SAID} {command[span[1] :]}"
    return command


def app_of(episode: Episode) -> str:
    """The application that a run is about: as it says, or the one that it opened first; "" when neither."""
    if episode.app:
        return episode.app
    opened = (action for action in doing(episode) if is_opening(action.name) and action.arguments)
    return next((action.arguments[0][1] for action in opened), "")


def _groups(models: Sequence[Episode], vectors: NDArray[np.float32]) -> list[list[int]]:
    """Runs with one app, alike in their commands and in what they did; three at least."""
    found: list[list[int]] = []
    by_app: dict[str, list[int]] = {}
    for i, episode in enumerate(models):
        by_app.setdefault(app_of(episode).casefold(), []).append(i)
    for app, members in by_app.items():
        least = IN_APP if app else ANYWHERE
        done = sequence_vectors([models[i] for i in members], gestures=bool(app))
        said = vectors[members]
        kinds = []
        for alike in grouped(said, least.commands):
            kinds += [[alike[i] for i in same] for same in grouped(done[alike], least.actions)]
        merged = _merged(kinds, said, done, least)
        found += [[members[i] for i in group] for group in merged if len(group) >= LEAST_RUNS]
    return found


def _merged(
    kinds: Sequence[list[int]], said: NDArray[np.float32], done: NDArray[np.float32], least: Alike
) -> list[list[int]]:
    """Groups that do the same are one, where their commands have something in common: paraphrases."""
    merged: list[list[int]] = []
    centres: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
    for group in kinds:
        centre = (_centre(said[group]), _centre(done[group]))
        fits = [
            (float(centre[1] @ other[1]), -n)
            for n, other in enumerate(centres)
            if centre[1] @ other[1] >= least.same_way
            and centre[0] @ other[0] + centre[1] @ other[1] >= least.together
        ]
        if not fits:
            merged.append(list(group))
            centres.append(centre)
            continue
        at = -max(fits)[1]
        merged[at] = sorted([*merged[at], *group])
        centres[at] = (_centre(said[merged[at]]), _centre(done[merged[at]]))
    return merged


def _centre(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    mean: NDArray[np.float32] = rows.mean(axis=0)
    centre: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return centre


def _template(runs: Sequence[Episode], others: Sequence[str], rates: _Rates) -> Template | None:
    """None when the runs have too little in common."""
    newest = runs[-MOST_RUNS:]
    columns = align(newest, sequence_vectors(newest))
    app = app_of(runs[-1])
    kept = common(columns, len(newest), KEPT, lambda column: _worth(column, app, rates))
    if all(is_look(column.name) for column in kept) or _share(kept, newest) < COMMON:
        return None
    bound = bind(kept, [episode.command for episode in newest])
    trigger = trigger_of([_without(i, newest, bound, " <%k> ") for i in range(len(newest))], others)
    if not trigger and _is_open(bound):
        return None  # commands of any kind that used the same tool
    title = _title(_typical(columns, bound), newest, bound)
    iterations = [episode.iterations for episode in runs if episode.iterations]
    return Template(
        name=note_name(title),
        title=title,
        trigger=trigger if all(fires(trigger, episode.command) for episode in newest) else "",
        steps=bound.steps,
        slots=bound.slots,
        commands=_examples(runs),
        app=app,
        runs=len(runs),
        successes=len(runs),
        avg_iterations=round(sum(iterations) / len(iterations), 1) if iterations else 0.0,
        source=lowest(episode.source for episode in runs),
        evidence=tuple(dict.fromkeys(e.run for e in (*runs[:_FOUNDING], *runs[-_NEWEST:]))),
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


def _rates(episodes: Sequence[Episode]) -> _Rates:
    """Of each step in each application, the attempts that had it: how many went well, and all."""
    rates: _Rates = {}
    for episode in episodes:
        if episode.outcome == "success" or episode.failed:
            app = app_of(episode)
            for attempt in attempts_of(episode):
                steps = {(action.name, marks_of(action, episode.command)) for action in attempt.actions}
                for name, marks in steps:
                    good, tried = rates.get((app, name, marks), (0, 0))
                    rates[app, name, marks] = (good + attempt.good, tried + 1)
    return rates


def _worth(column: Column, app: str, rates: _Rates) -> float:
    """How often attempts with this step went well, with one success and one failure added."""
    usual = Counter(cell.marks for cell in column.cells.values()).most_common(1)[0][0]
    good, tried = rates.get((app, column.name, usual), (0, 0))
    return round((good + 1) / (tried + 2), 2)


def _typical(columns: Sequence[Column], bound: Bound) -> int:
    """The run that is most like the others, of those that filled all slots of the command."""
    order = list(dict.fromkeys(run for column in columns for run in column.cells))
    slots = [bound.values[slot.name] for slot in bound.slots if slot.in_command]
    return max(order, key=lambda run: (sum(run in values for values in slots), -order.index(run)))


def _share(kept: Sequence[Column], runs: Sequence[Episode]) -> float:
    """Of what the runs did, looks aside, the share that the kept columns hold; the mean over the runs."""
    shares = []
    for number, episode in enumerate(runs):
        cells = [column.cells[number] for column in kept if number in column.cells]
        held = sum(len(cell.calls) for cell in cells if not is_look(cell.name))
        shares.append(held / max(1, sum(not is_look(action.name) for action in doing(episode))))
    return sum(shares) / len(shares)


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
    line = line.strip(" ,.;:-")
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
