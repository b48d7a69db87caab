"""Preferences that runs show: the same choice again and again, though another one was possible. Pure.

A choice counts when runs that did not fail made it at least three times, and in at least 75 % of the runs of
that kind. A kind is narrow here, the same verb and nearly the same words: to make a note in one program and a
PDF in another is no choice between the two. A person who put an agent right towards it once has said it. Two
sorts of choices are looked at: the application that was opened where others were opened as well, and a value
that the user named in the command while the rest of it varied.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.plural import plural
from hindbrain.learn.alike import masked
from hindbrain.learn.recording.kinds import Kind, in_words, kinds_of
from hindbrain.learn.recording.wording import day_of, is_deed, item_id, plain
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.learn.recording.corrections import Correction
    from hindbrain.learn.runs.episode import Action, Episode

LEAST_RUNS = 3
LEAST_SHARE = 0.75
LEAST_ALIKE = 0.75  # of masked commands, by their words: patterns may be vague, what somebody likes may not
_CORRECTED = 3  # the weight of a run in which a person put an agent right: it is their word, one is enough
_MOST_VALUE = 40  # characters of a value that may be a choice
_NEWEST = 1_000  # runs that are looked at: a preference is of the present
_MOST_NAMES = 200  # of applications that are taken out of commands
OPENS = re.compile(
    r"(?i)^(?:open|launch|start|activate|switch_to|focus)_?(?:the_)?(?:app|application|program)$"
)
_WORD = re.compile(r"[^\W_]+")


class Preference(NamedTuple):
    """One choice, and how often it was made."""

    id: str  # of the memory, made from what it says but for the counts
    text: str  # "Uses Chrome to open websites (5 of 6 runs)"
    runs: int
    of: int
    source: str


class _Choice(NamedTuple):
    value: str
    run: Episode
    weight: int


def find_preferences(episodes: Sequence[Episode], found: Sequence[Correction]) -> list[Preference]:
    """What these runs show, the most frequent first. `found`: the corrections among them."""
    episodes = episodes[-_NEWEST:]
    towards = {one.corrected.run: one for one in found}
    apps = sorted({app for one in episodes if (app := opened_app(one))}, key=lambda app: (-len(app), app))
    said = {text.id: (app, before, text) for app, before, text in _said(found, apps)}
    wanted = {app for app, _, _ in said.values()}
    unwanted = {before for _, before, _ in said.values() if before} - wanted
    shown = [text for _, _, text in said.values()]
    for kind in kinds_of(episodes, _without_names(apps), alike=LEAST_ALIKE, same_verb=True):
        shown += [one for one in _app_choice(kind, towards, unwanted) if not _is_said(one, wanted)]
        shown += _value_choices(kind, towards)
    return sorted(shown, key=lambda one: (-one.runs, one.id))


def _is_said(one: Preference, wanted: Iterable[str]) -> bool:
    """Was it said more plainly already?"""
    return any(one.text.startswith(f"Uses {app} ") for app in wanted)


def opened_app(episode: Episode) -> str:
    """The application that a run opened first, else the one its actions were in; "" when it is not known."""
    for action in episode.actions:
        if OPENS.match(action.name) and action.arguments:
            return plain(action.arguments[0][1], _MOST_VALUE)
    in_front = any(action.app == episode.app for action in episode.actions)
    return plain(episode.app, _MOST_VALUE) if episode.app and in_front else ""


def _said(found: Iterable[Correction], apps: Sequence[str]) -> Iterator[tuple[str, str, Preference]]:
    """What a person said by putting an agent right: (application, the one it used before, preference).

    It is their word however the run then went, and whatever agents did before.
    """
    for one in found:
        named = [app for app in apps if _names(one.corrected.command, app)]
        named = [app for app in named if not _names(one.original.command, app)]
        if len(named) != 1:
            continue
        app, before = named[0], opened_app(one.original)
        over = f" over {before}" if before else f' for tasks like "{plain(one.original.command, 60)}"'
        if before != app:
            text = f"Prefers {app}{over} (put right on {day_of(one.corrected.started)})"
            source = lowest({one.corrected.source, "agent"})
            name = item_id("m", "preference", "said", text.rpartition(" (")[0])
            yield app, before, Preference(name, text, 1, 1, source)


def _names(command: str, app: str) -> bool:
    said, name = command.casefold(), app.casefold()
    return name in said and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) is not None


def _app_choice(kind: Kind, towards: Mapping[str, Correction], unwanted: Container[str]) -> list[Preference]:
    opened = [(app, run) for run in kind.runs if (app := opened_app(run))]
    choices = [_Choice(app, run, _weight(app, run, towards)) for app, run in opened if _counts(run)]
    best = _best(choices)
    if best is None:
        return []
    app, count = best
    if app in unwanted:
        return []  # agents use it, and the person has said that they should not
    # Where nothing else was ever opened, nobody chose.
    if len({other for other, _ in opened}) < 2:
        return []
    text = f"Uses {app} {in_words(kind)} ({count} of {plural(len(choices), 'run')})"
    return [_preference("app", app, text, count, choices)]


def _value_choices(kind: Kind, towards: Mapping[str, Correction]) -> list[Preference]:
    """Values of one argument of one tool that stand in the command."""
    by_place: dict[tuple[str, str], list[_Choice]] = defaultdict(list)
    for run in filter(_counts, kind.runs):
        for action in {action.name: action for action in run.actions}.values():
            if is_deed(action) and not OPENS.match(action.name):
                for key, value in _named(action, run):
                    by_place[action.name, key].append(_Choice(value, run, _weight(value, run, towards)))
    found: list[Preference] = []
    for (tool, key), choices in by_place.items():
        best = _best(choices)
        if best is None:
            continue
        value, count = best
        commands = {" ".join(one.run.command.lower().split()) for one in choices if one.value == value}
        # The same command again and again shows what is done often, not what is preferred.
        if len(commands) >= LEAST_RUNS:
            what = f"Chooses {value} as {key.replace('_', ' ')} {in_words(kind)}"
            text = f"{what} ({count} of {plural(len(choices), 'run')})"
            found.append(_preference(f"{tool}.{key}", value, text, count, choices))
    return found


def _named(action: Action, run: Episode) -> Iterable[tuple[str, str]]:
    """The arguments whose value the user named, in a word or a few; addresses and numbers are none."""
    said = f" {' '.join(_WORD.findall(run.command.lower()))} "
    for key, value in action.arguments:
        words = " ".join(_WORD.findall(value.lower()))
        if words and len(value) <= _MOST_VALUE and "<" not in masked(value) and f" {words} " in said:
            yield key, value


def _best(choices: Sequence[_Choice]) -> tuple[str, int] | None:
    """The value that is a preference, and in how many runs; None when there is none."""
    weights: Counter[str] = Counter()
    for one in choices:
        weights[one.value] += one.weight
    if not weights:
        return None
    value = min(weights, key=lambda name: (-weights[name], name))
    if weights[value] < LEAST_RUNS or weights[value] < LEAST_SHARE * sum(weights.values()):
        return None
    return value, sum(one.value == value for one in choices)


def _counts(run: Episode) -> bool:
    """What failed, was called off or is unknown shows no choice of anybody."""
    return run.outcome == "success"


def _weight(value: str, run: Episode, towards: Mapping[str, Correction]) -> int:
    if (correction := towards.get(run.run)) is None:
        return 1
    added = {word.casefold() for word in correction.added}
    return _CORRECTED if added & {word.casefold() for word in value.split()} else 1


def _preference(place: str, value: str, text: str, count: int, choices: Sequence[_Choice]) -> Preference:
    source = lowest({one.run.source for one in choices if one.value == value} | {"agent"})
    name = item_id("m", "preference", place, text.rpartition(" (")[0])
    return Preference(name, text, count, len(choices), source)


def _without_names(names: Sequence[str]) -> Callable[[str], str]:
    """Takes the names of applications, and the preposition before them, out of a command."""
    if not names:
        return str
    told = "|".join(re.escape(name) for name in names[:_MOST_NAMES])
    pattern = re.compile(rf"(?i)(?:\b(?:in|with|using|on|via|from)\s+)?(?<!\w)(?:{told})(?!\w)")
    return lambda command: " ".join(pattern.sub(" ", command).split())
