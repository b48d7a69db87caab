"""Open tasks that a run has done are marked done, with the day of the run.

Precise first: only a success whose command says what the task says, and only when the task was surely there
before the run. Whatever is doubtful stays open for its owner.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.context.flush.doubts import is_question
from hindbrain.context.flush.taken import Taken
from hindbrain.context.turn import OWN
from hindbrain.learn.recording.wording import day_of
from hindbrain.memory.tasks.task_names import same_aim

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.service import Memory
    from hindbrain.memory.tasks.task_line import TaskItem

_JUST_S = 120.0  # a run of our own agent is recorded right behind its end
_UNDER_WAY = ("todo", "in_progress")  # a blocked task waits for something that no run has told
_POLITE = re.compile(r"^(?:please )?(?:can|could|would|will) you ", re.IGNORECASE)
_ORDER = re.compile(r"^do (?:the|my|our|all|an?)\b", re.IGNORECASE)
_OWN_WORK = ("task_create", "task_update")


def mark_done(memory: Memory, episodes: Sequence[Episode], *, now: float, dry_run: bool = False) -> list[str]:
    """Mark what these runs have done; returns the titles. Raises as a change of a note does."""
    taken = Taken(memory.state)  # beside the vault: a mark that its owner took back by undo stays away
    worked = [one for one in episodes if _has_worked(one) and one.run not in taken.of(day_of(one.ended))]
    tasks = [task for task in memory.tasks.list() if task.status in _UNDER_WAY] if worked else []
    done: list[str] = []
    for episode in worked:
        same = [task for task in tasks if same_aim(task.title, episode.command)]
        if len(same) != 1 or not _was_there(memory, same[0], episode, now):
            continue
        if not dry_run:
            memory.tasks.update(same[0].handle, status="done", on=day_of(episode.ended))
            taken.add(day_of(episode.ended), [episode.run])
        tasks.remove(same[0])
        done.append(same[0].title)
    return done


def _has_worked(episode: Episode) -> bool:
    """Whether it succeeded, was an order, and did not look after the tasks itself."""
    looked_after = any(one.name.endswith(_OWN_WORK) for one in episode.actions)
    return episode.is_model and not looked_after and not _asks(episode.command.strip())


def _asks(command: str) -> bool:
    """Whether it is a question; "can you ...?" is an order."""
    order, polite = _POLITE.subn("", command)
    if not polite and command.endswith("?"):
        return True
    return is_question(order) and _ORDER.match(order) is None


def _was_there(memory: Memory, task: TaskItem, episode: Episode, now: float) -> bool:
    """Whether the task is older than the run: its note has not changed since, or the run has just ended."""
    if episode.host == OWN and 0 <= now - episode.ended <= _JUST_S:
        return True
    try:
        changed = (memory.root / task.path).stat().st_mtime
    except (OSError, HindbrainError):
        return False
    return changed <= episode.started
