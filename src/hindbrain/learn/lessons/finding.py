"""Lessons from episodes: three failures that are alike, held against similar runs that went well.

Pure but for the embedder that it is given: the same episodes give the same lessons, ids included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.alike import parts_of, rarity_of, vectors_of
from hindbrain.learn.lessons.advice import best_advice, sentence_vectors
from hindbrain.learn.lessons.clusters import SAME_THING, grouped_failures
from hindbrain.learn.lessons.contrast import Contrast, contrast, masking_of
from hindbrain.learn.lessons.failures import Failure, failures_of
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.standing import MOMENT, Later, confidence, state, tally
from hindbrain.learn.lessons.wishes import wish_of
from hindbrain.learn.lessons.wording import deed_of, worded
from hindbrain.learn.recording.wording import item_id
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.lessons.deeds import Masking
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.models.embedder import Embedder

MOST_EPISODES = 5_000  # the newest
MOST_EVIDENCE = 50  # run ids that a lesson names, the newest
MOST_COMMANDS = 12
_PREFIXES = (3, 4, 5, 8, 13, 21, 34)
SIMILAR = 0.5  # how alike a command must be to those of the failures, on average, to be held against them


class _Ground(NamedTuple):
    """What all lessons are found on."""

    episodes: Sequence[Episode]
    wishes: Sequence[str]  # their commands, without what each filled in
    rows: NDArray[np.float32]  # of the wishes
    parts: Sequence[frozenset[str]]
    place: dict[str, int]  # run -> its episode
    sentences: NDArray[np.float32]
    now: float


def find_lessons(episodes: Sequence[Episode], embedder: Embedder | None) -> list[Lesson]:
    """The lessons of these episodes (oldest first), in the order of their first failure."""
    episodes = episodes[-MOST_EPISODES:]
    failures = failures_of(episodes)
    groups = [group for group in grouped_failures(failures, embedder) if len(group) >= MOMENT]
    if not groups:
        return []
    wishes = [wish_of(episode) for episode in episodes]
    ground = _Ground(
        episodes,
        wishes,
        vectors_of(wishes, embedder, rarity=rarity_of(wishes)),
        [parts_of(episode.command) for episode in episodes],
        {episode.run: at for at, episode in enumerate(episodes)},
        sentence_vectors([failure.reason for failure in failures]),
        max(episode.ended for episode in episodes),
    )
    found = [lesson for group in groups for lesson in _lessons([failures[at] for at in group], ground)]
    return sorted(found, key=lambda lesson: (lesson.first, lesson.id))


def _lessons(failures: Sequence[Failure], ground: _Ground) -> Iterator[Lesson]:
    """The lesson of a group; where keeping to it did not help, the next one, of those failures."""
    similar = _similar(failures, ground)
    worked = [episode for episode in similar if episode.outcome == "success"]
    masking = masking_of(failures, worked)
    first = _first_contrast(failures, worked, masking)
    vain = [failure for failure in failures[MOMENT:] if first.keeps(masking.deeds(failure.actions))]
    runs = {failure.episode.run for failure in vain}
    told = contrast([one for one in failures if one.episode.run not in runs], worked, masking)
    if vain and not (told.avoid or told.prefer):
        told = first
    lesson = _lesson(failures, worked, told, ground)
    yield (judged := _judged(lesson, failures, similar, told, masking, ground.now))
    if judged.state == "retired" and len(vain) >= MOMENT:
        yield from _lessons(vain, ground)


def _first_contrast(failures: Sequence[Failure], worked: Sequence[Episode], masking: Masking) -> Contrast:
    """What the earliest failures that tell something tell: later ones that keep to it put it to the test."""
    for count in (*_PREFIXES, len(failures)):
        told = contrast(failures[: min(count, len(failures))], worked, masking)
        if told.avoid or told.prefer or count >= len(failures):
            break
    return told


def _lesson(
    failures: Sequence[Failure], worked: Sequence[Episode], told: Contrast, ground: _Ground
) -> Lesson:
    commands = _typical(failures, ground)
    reasons = [failure.reason for failure in failures if failure.reason]
    reason = _central(reasons)
    lesson = Lesson(
        id=item_id("l", failures[0].episode.run),
        text="",
        commands=commands,
        avoid=deed_of(told.avoid),
        prefer=deed_of(told.prefer),
        before=told.prefer.then if told.prefer else "",
        reason=reason,
        app=next((failure.episode.app for failure in failures if failure.episode.app), ""),
        failures=len(failures),
        successes=len(worked),
        evidence=tuple(failure.episode.run for failure in failures[-MOST_EVIDENCE:]),
        worked=tuple(episode.run for episode in worked[-MOST_EVIDENCE:]),
        source=lowest(failure.episode.source for failure in failures),
        first=failures[0].episode.ended,
        last=failures[-1].episode.ended,
    )
    advice = "" if told.avoid or told.prefer else best_advice(reasons, ground.sentences)
    text = worded(commands[0], told, failures=len(failures), reason=reason, advice=advice)
    return lesson._replace(text=text)


def _judged(
    lesson: Lesson,
    failures: Sequence[Failure],
    similar: Sequence[Episode],
    told: Contrast,
    masking: Masking,
    now: float,
) -> Lesson:
    """The lesson with its confidence and state, by what happened after its third failure."""
    moment = failures[MOMENT - 1].episode.ended
    mine = {failure.episode.run for failure in failures}
    after = [
        run
        for run in similar
        if run.ended > moment and (run.run in mine or run.outcome == "success") and run.outcome != "unknown"
    ]
    later = [_later(run, lesson, told, masking) for run in after]
    counts = tally(later)
    trust = confidence(lesson.failures, told.score, counts)
    last = max(run.ended for run in similar)
    standing = state(trust, counts, later, has_avoid=bool(lesson.avoid), last=last, now=now)
    return lesson._replace(
        heeded=counts.heeded, in_vain=counts.in_vain, confidence=trust, state=standing
    )  # fmt: skip


def _later(run: Episode, lesson: Lesson, told: Contrast, masking: Masking) -> Later:
    done = masking.deeds(run.actions)
    ok = run.outcome == "success"
    kept: bool | None = told.keeps(done)
    if told.avoid is None and told.prefer is None:
        # Nothing to check it by: a run that was told the lesson counts as one that tried to keep to it.
        kept = True if any(item.lstrip("^") == lesson.id for item in run.injected) else None
    return Later(run.ended, ok, kept, told.avoids(done))


def _similar(failures: Sequence[Failure], ground: _Ground) -> list[Episode]:
    """The failures' own runs and all whose command is like theirs, oldest first."""
    import numpy as np

    own = [ground.place[failure.episode.run] for failure in failures]
    near = ground.rows @ ground.rows[own].mean(axis=0)
    named = frozenset().union(*(ground.parts[at] for at in own))
    if named:
        same = np.asarray([bool(named & parts) for parts in ground.parts])
        near = near + SAME_THING * same * (1 - near)
    apps = {failure.episode.app.casefold() for failure in failures if failure.episode.app}
    there = set(own)
    return [
        episode
        for at, episode in enumerate(ground.episodes)
        if at in there
        or (near[at] >= SIMILAR and not (apps and episode.app and episode.app.casefold() not in apps))
    ]


def _typical(failures: Sequence[Failure], ground: _Ground) -> tuple[str, ...]:
    """Some wishes of the failures, the most typical first, each once."""
    import numpy as np

    own = [ground.place[failure.episode.run] for failure in failures]
    near = ground.rows[own] @ ground.rows[own].mean(axis=0)
    order = np.argsort(-near, kind="stable")
    return tuple(dict.fromkeys(ground.wishes[own[at]] for at in order))[:MOST_COMMANDS]


def _central(reasons: Sequence[str]) -> str:
    """The reason that is most like all of them; the newest among equals."""
    if not reasons:
        return ""
    recent = list(reasons[-50:])
    rows = vectors_of(recent, None)
    score = (rows @ rows.T).mean(axis=1)
    best = max(range(len(recent)), key=lambda at: (round(float(score[at]), 4), at))
    return recent[best]
