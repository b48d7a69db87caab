"""Lessons from episodes: three failures that are alike, held against like runs that went well.

Pure but for the embedder that it is given: the same episodes give the same lessons, ids included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.alike import rarity_of, vectors_of
from hindbrain.learn.failures import Failure, failures_of, good_of
from hindbrain.learn.lessons.contrast import Contrast, contrast
from hindbrain.learn.lessons.groups import ENOUGH, grouped_failures
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.standing import Later, confidence, state, tally
from hindbrain.learn.lessons.wording import deed_of, worded
from hindbrain.learn.recording.corrections import corrections
from hindbrain.learn.recording.shapes import deeds_of
from hindbrain.learn.recording.wording import item_id
from hindbrain.learn.wishes import wish_of
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.runs.episode import Episode
    from hindbrain.models.embedder import Embedder

MOST_EPISODES = 5_000  # the newest
MOST_EVIDENCE = 50  # run ids that a lesson names, the newest
MOST_COMMANDS = 12
SIMILAR = 0.6  # how alike a command must be to one of the failures' to be held against them


class _Ground(NamedTuple):
    """All episodes, compared once."""

    episodes: Sequence[Episode]
    wishes: Sequence[str]
    rows: NDArray[np.float32]  # of the wishes
    place: dict[str, int]  # by run
    put_right: dict[str, str]  # by run: the run in which a person said the same otherwise


def find_lessons(episodes: Sequence[Episode], embedder: Embedder | None) -> list[Lesson]:
    """The lessons of these episodes (oldest first), in the order of their first failure."""
    episodes = episodes[-MOST_EPISODES:]
    groups = [_once_a_run(group) for group in grouped_failures(failures_of(episodes), embedder)]
    groups = [group for group in groups if len(group) >= ENOUGH]
    if not groups:
        return []
    wishes = [wish_of(episode) for episode in episodes]
    ground = _Ground(
        episodes,
        wishes,
        vectors_of(wishes, embedder, rarity=rarity_of(wishes)),
        {episode.run: at for at, episode in enumerate(episodes)},
        {found.original.run: found.corrected.run for found in corrections(episodes)},
    )
    found = [_lesson(group, ground) for group in groups]
    return sorted(filter(lambda lesson: lesson.text, found), key=lambda lesson: (lesson.first, lesson.id))


def _once_a_run(failures: Sequence[Failure]) -> list[Failure]:
    """What went wrong twice in one run has failed once: the last time counts."""
    return list({failure.episode.run: failure for failure in failures}.values())


def _lesson(failures: Sequence[Failure], ground: _Ground) -> Lesson:
    """Without a text where they did nothing that runs that went well did not: their cases say as much."""
    similar = _similar_to(failures, ground)
    goods = [good_of(episode) for episode in similar if episode.outcome == "success"]
    told = contrast(failures, goods)
    if not (told.avoid or told.prefer):  # later failures that kept to what the first ones taught are in vain
        told = contrast(failures[:ENOUGH], goods)
    commands = _typical(failures, ground)
    reason = _central([failure.reason for failure in failures if failure.reason])
    lesson = Lesson(
        id=item_id("l", *failures[0].names),
        text=worded(commands[0], told, reason=reason),
        commands=commands,
        avoid=deed_of(told.avoid),
        prefer=deed_of(told.prefer),
        before=told.prefer.then if told.prefer else "",
        reason=reason,
        app=next((failure.episode.app for failure in failures if failure.episode.app), ""),
        failures=len(failures),
        successes=len(goods),
        evidence=tuple(failure.episode.run for failure in failures[-MOST_EVIDENCE:]),
        worked=tuple(good.run for good in goods[-MOST_EVIDENCE:]),
        source=lowest(failure.episode.source for failure in failures),
        first=failures[0].episode.ended,
        last=failures[-1].episode.ended,
    )
    return _judged(lesson, failures, similar, told, max(episode.ended for episode in ground.episodes))


def _similar_to(failures: Sequence[Failure], ground: _Ground) -> list[Episode]:
    """The failures' own runs, those that put them right, and all with a command like theirs, oldest first."""
    import numpy as np

    own = [ground.place[failure.episode.run] for failure in failures]
    near = (ground.rows @ ground.rows[own[-MOST_EVIDENCE:]].T).max(axis=1)
    right = (ground.put_right.get(failure.episode.run, "") for failure in failures)
    there = {*own, *(ground.place[run] for run in right if run)}
    apps = {failure.episode.app.casefold() for failure in failures if failure.episode.app}
    places = sorted(there.union(np.flatnonzero(near >= SIMILAR).tolist()))
    return [
        episode
        for at in places
        if (episode := ground.episodes[at])
        and (at in there or not (apps and episode.app and episode.app.casefold() not in apps))
    ]


def _judged(
    lesson: Lesson, failures: Sequence[Failure], similar: Sequence[Episode], told: Contrast, now: float
) -> Lesson:
    """The lesson with its confidence and state, by what happened after its third failure."""
    moment = failures[ENOUGH - 1].episode.ended
    mine = {failure.episode.run for failure in failures}
    later = [
        _later(run, told)
        for run in similar
        if run.ended > moment and (run.run in mine or run.outcome == "success")
    ]
    counts = tally(later)
    trust = confidence(lesson.failures, told.score, counts)
    last = max(run.ended for run in similar)
    standing = state(trust, counts, later, has_avoid=bool(lesson.avoid), last=last, now=now)
    return lesson._replace(
        heeded=counts.heeded, in_vain=counts.in_vain, confidence=trust, state=standing
    )  # fmt: skip


def _later(run: Episode, told: Contrast) -> Later:
    done = deeds_of(run.actions, run.command)
    return Later(run.ended, run.outcome == "success", told.keeps(done), told.avoids(done))


def _typical(failures: Sequence[Failure], ground: _Ground) -> tuple[str, ...]:
    """Some wishes of the failures, the most typical first, each once."""
    import numpy as np

    own = [ground.place[failure.episode.run] for failure in failures]
    near = ground.rows[own] @ ground.rows[own].mean(axis=0)
    order = np.argsort(-near, kind="stable")
    return tuple(dict.fromkeys(ground.wishes[own[at]] for at in order))[:MOST_COMMANDS]


def _central(reasons: Sequence[str]) -> str:
    """The reason that is most like all of them; the newest among equals."""
    import numpy as np

    if not reasons:
        return ""
    recent = list(reasons[-50:])
    counts = Counter(recent)
    rows = vectors_of(list(counts), None)
    score = rows @ (np.asarray(list(counts.values())) @ rows) / len(recent)
    central = {reason: round(float(score[at]), 4) for at, reason in enumerate(counts)}
    return recent[max(range(len(recent)), key=lambda at: (central[recent[at]], at))]
