"""The lines of a summary: what happened on a day or in a week, in few words, each with its link.

Text that runs brought passes the screen on its way here, as far as it is told at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hindbrain.base.plural import plural
from hindbrain.learn.recording.screening import source_mark
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.learn.recording.screening import Screen
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.learn.summaries.material import Fact, Material, RunTold

_MOST_COMMANDS, _MOST_FACTS = 5, 8  # of each sort
_LONGEST_COMMAND, _LONGEST_REASON = 100, 160  # characters; the task log has more
_MOST_LINKS = 3  # of one command
_MOST_KINDS = 3  # of commands, in a week
_IN_SHORT = "- In short: "


def summarise_day(told: Material, screen: Screen, *, note_source: str = "tool") -> list[str]:
    """The lines below the heading of a day; [] when nothing happened."""
    lines = [f"- {_counts(told.runs)}"] if told.runs else []
    failed = [run for run in told.runs if run.episode.failed]
    well = [run for run in told.runs if run.episode.outcome == "success"]
    for runs in _by_command(failed)[:_MOST_COMMANDS]:
        command, source = _command(runs, screen)
        reason = next((run.episode for run in reversed(runs) if run.episode.reason.strip()), None)
        why = f": {_reason(reason, screen)}" if reason is not None else ""
        lines.append(f"- Failed: “{command}”{why} ({_links(runs)}){source_mark(source, note_source)}")
    for runs in _by_command(well)[:_MOST_COMMANDS]:
        command, source = _command(runs, screen)
        lines.append(f"- Went well: “{command}” ({_links(runs)}){source_mark(source, note_source)}")
    return [*lines, *_facts(told, note_source)]


def summarise_week(
    told: Material, screen: Screen, days: Sequence[str], note: str, *, note_source: str = "tool"
) -> list[str]:
    """The lines below the heading of a week. `days`: those with a summary of their own, in `note`."""
    lines = [f"- {_counts(told.runs)}"] if told.runs else []
    often = sorted(_by_command(told.runs), key=lambda runs: (-len(runs), runs[0].episode.command))
    for runs in often[:_MOST_KINDS]:
        if len(runs) > 1:
            command, source = _command(runs, screen)
            lines.append(f"- Most done: “{command}” ({_counts(runs)}){source_mark(source, note_source)}")
    lines += _facts(told, note_source)
    if lines and days:
        target = note.removesuffix(".md")
        lines.append("- Days: " + " · ".join(f"[[{target}#{day}|{day}]]" for day in sorted(days)))
    return lines


def in_short(text: str) -> str:
    """The line that a model gave."""
    return f"{_IN_SHORT}{text}"


def is_in_short(line: str) -> bool:
    return line.startswith(_IN_SHORT)


def _facts(told: Material, note_source: str) -> list[str]:
    sorts: Iterable[tuple[str, Sequence[Fact]]] = (
        ("Decided", told.decisions),
        ("Done", told.done),
        ("Learned", told.lessons),
        ("Remembered", told.memories),
    )
    lines: list[str] = []
    for name, facts in sorts:
        # The most important stay; they are told in the order in which they happened.
        kept = sorted(sorted(range(len(facts)), key=lambda at: -facts[at].importance)[:_MOST_FACTS])
        lines += [
            f"- {name}: {facts[at].text} ({facts[at].link}){source_mark(facts[at].source, note_source)}"
            for at in kept
        ]
    return lines


def _by_command(runs: Iterable[RunTold]) -> list[list[RunTold]]:
    """Those that say what was asked for, in the order of the first of each."""
    found: dict[str, list[RunTold]] = {}
    for run in runs:
        if run.episode.command.strip():
            found.setdefault(run.episode.command, []).append(run)
    return list(found.values())


def _command(runs: Sequence[RunTold], screen: Screen) -> tuple[str, str]:
    """What was asked for, and whose word that is."""
    told = screen.told(runs[0].episode.command, _LONGEST_COMMAND, runs[0].episode.source)
    return told.text, lowest((told.source, *(run.episode.source for run in runs)))


def _reason(episode: Episode, screen: Screen) -> str:
    return screen.told(episode.reason, _LONGEST_REASON, episode.source).text


def _counts(runs: Sequence[RunTold]) -> str:
    well = sum(run.episode.outcome == "success" for run in runs)
    failed = sum(run.episode.failed for run in runs)
    other = len(runs) - well - failed
    parts = [f"{well} went well"] if well else []
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{other} without a result"] if other else []
    iterations = sum(run.episode.iterations for run in runs)
    steps = f"; {plural(iterations, 'iteration')}" if iterations else ""
    return f"{plural(len(runs), 'run')}: {', '.join(parts)}{steps}"


def _links(runs: Sequence[RunTold]) -> str:
    shown = [run.link for run in runs[-_MOST_LINKS:]]
    more = len(runs) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
