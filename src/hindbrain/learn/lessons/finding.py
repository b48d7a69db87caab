"""Lessons from episodes: three failures that are alike, held against similar runs that went well.

Pure but for the embedder that it is given: the same episodes give the same lessons, ids included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import vectors_of
from hindbrain.learn.lessons.advice import best_advice
from hindbrain.learn.lessons.clusters import grouped_failures
from hindbrain.learn.lessons.contrast import Contrast, contrast, masking_of
from hindbrain.learn.lessons.failures import Failure, Good, failures_of
from hindbrain.learn.lessons.ground import Ground, ground_of, near_to, similar_to
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.shapes import shaped
from hindbrain.learn.lessons.standing import MOMENT, Later, confidence, state, tally
from hindbrain.learn.lessons.usual import Usual
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


def find_lessons(episodes: Sequence[Episode], embedder: Embedder | None) -> list[Lesson]:
    """The lessons of these episodes (oldest first), in the order of their first failure."""
    episodes = episodes[-MOST_EPISODES:]
    failures = failures_of(episodes)
    grouped = [[failures[at] for at in group] for group in grouped_failures(failures, embedder)]
    groups = [group for some in grouped if len(group := _once_a_run(some)) >= MOMENT]
    if not groups:
        return []
    ground = ground_of(episodes, failures, embedder)
    near = near_to(groups, ground)
    found = [lesson for at, group in enumerate(groups) for lesson in _lessons(group, near[at], ground)]
    return sorted(found, key=lambda lesson: (lesson.first, lesson.id))


def _once_a_run(failures: Sequence[Failure]) -> list[Failure]:
    """What went wrong twice in one run has failed once: the last time counts."""
    return list({failure.episode.run: failure for failure in failures}.values())


def _lessons(failures: Sequence[Failure], near: NDArray[np.float32], ground: Ground) -> Iterator[Lesson]:
    """The lesson of a group; where keeping to it did not help, the next one, of those failures.

    None where the runs neither say why they failed nor did anything that those that went well did not: it
    would cost its place in a prompt and tell nothing. The next run may tell them apart.
    """
    failures = [
        failure._replace(
            episode=ground.compared(failure.episode),
            actions=shaped(failure.episode.command, failure.actions),
        )
        for failure in failures
    ]
    similar = similar_to(failures, near, ground)
    worked = [ground.good(episode) for episode in similar if episode.outcome == "success"]
    masking = masking_of(failures, worked, ground.calls)
    first = _first_contrast(failures, worked, masking, ground.usual)
    vain = [failure for failure in failures[MOMENT:] if first.keeps(masking.deeds(failure.actions))]
    runs = {failure.episode.run for failure in vain}
    told = first
    if len(failures) > MOMENT:  # else the first contrast is of all of them
        rest = [one for one in failures if one.episode.run not in runs]
        told = contrast(rest, worked, masking, ground.usual)
    if vain and not (told.avoid or told.prefer):
        told = first
    lesson = _lesson(failures, worked, told, ground)
    if not lesson.text:
        return
    yield (judged := _judged(lesson, failures, similar, told, masking, ground.now))
    if judged.state == "retired" and len(vain) >= MOMENT:
        yield from _lessons(vain, near_to([vain], ground)[0], ground)


def _first_contrast(
    failures: Sequence[Failure], worked: Sequence[Good], masking: Masking, usual: Usual
) -> Contrast:
    """What the earliest failures that tell something tell: later ones that keep to it put it to the test."""
    for count in (*_PREFIXES, len(failures)):
        told = contrast(failures[: min(count, len(failures))], worked, masking, usual)
        if told.avoid or told.prefer or count >= len(failures):
            break
    return told


def _lesson(failures: Sequence[Failure], worked: Sequence[Good], told: Contrast, ground: Ground) -> Lesson:
    commands = _typical(failures, ground)
    reasons = [failure.reason for failure in failures if failure.reason]
    reason = _central(reasons)
    lesson = Lesson(
        id=item_id("l", *failures[0].names),
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
        worked=tuple(good.run for good in worked[-MOST_EVIDENCE:]),
        source=lowest(failure.episode.source for failure in failures),
        first=failures[0].episode.ended,
        last=failures[-1].episode.ended,
    )
    advice = "" if told.avoid or told.prefer else best_advice(reasons, ground.sentence, commands)
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
    ok = run.outcome == "success"
    if told.avoid is None and told.prefer is None:
        # Nothing to check it by: a run that was told the lesson counts as one that tried to keep to it.
        was_told = any(item.lstrip("^") == lesson.id for item in run.injected)
        return Later(run.ended, ok, True if was_told else None, avoided=True)
    done = masking.deeds(run.actions)
    return Later(run.ended, ok, told.keeps(done), told.avoids(done))


def _typical(failures: Sequence[Failure], ground: Ground) -> tuple[str, ...]:
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
