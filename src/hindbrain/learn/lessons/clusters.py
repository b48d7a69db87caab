"""Which failures are alike: by command, reason and what was done. Pure but for the embedder it is given.

    likeness = (0.5 command + 0.25 reason + 0.25 actions) / (the weights of what both have)

A reason or an action that one of the two does not have is left out of the mean; runs of different
applications are not alike at all. The same reason adds 0.3 of what is missing to 1; where two reasons share
nothing, 0.85 of the likeness is left: one task can go wrong in several ways. Words count
by how much they tell among all failures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.alike import parts_of, rarity_of, vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.lessons.failures import Failure
    from hindbrain.learn.runs.episode import Action
    from hindbrain.models.embedder import Embedder

    Rows = NDArray[np.float32]

# The command says what was wanted and leads; reason and actions say whether it went wrong in the same way.
COMMAND, REASON, ACTIONS = 0.5, 0.25, 0.25
# A failure joins the group to whose failures it is so alike on average. At 0.65 the groups of the ALFWorld
# reflections are of one task family; at 0.5 cooling and cleaning a pan are one group.
LEAST = 0.65
LOOSE = 0.45  # for failures that are in no group of three: the nearest of them are joined down to here
ENOUGH = 3  # failures that make a lesson
_MOST_SMALL = 800  # groups that are joined, the newest: bounds time and memory
SAME, SAME_REASON = 0.95, 0.3  # reasons that are the same; of what is missing to 1, for failures that give it
UNLIKE, OTHER_REASON = 0.15, 0.85  # reasons that share nothing; what is left of the likeness for them
SAME_THING = 0.3  # of what is missing to 1, for two commands that name the same address, id or text
_BLOCK = 256  # failures whose likeness to all before them is known at one time: bounds the memory


class _Sides(NamedTuple):
    """What is compared; a row of zeros where a failure has nothing to compare."""

    command: Rows
    reason: Rows
    actions: Rows
    apps: NDArray[np.int64]  # 0: not known
    parts: Sequence[frozenset[str]]  # what the commands name: addresses, ids, quoted texts


def grouped_failures(failures: Sequence[Failure], embedder: Embedder | None) -> list[list[int]]:
    """The failures in groups, in the order of their first; each is in one group.

    Taken in their order: what comes later never takes a failure out of a group of three. Those that found
    no such group are then joined with their nearest, as far as that is near enough.
    """
    sides = _sides(failures, embedder)
    groups = _tight(sides)
    small = [group for group in groups if len(group) < ENOUGH]
    joined = _joined(small, sides) if len(small) > 1 else small
    return sorted([*(group for group in groups if len(group) >= ENOUGH), *joined])


def _tight(sides: _Sides) -> list[list[int]]:
    import numpy as np

    groups: list[list[int]] = []
    group_of = np.zeros(len(sides.command), dtype=np.int64)
    sizes = np.zeros(len(sides.command), dtype=np.float32)
    for at, row in _rows(sides):
        if groups:
            near = np.bincount(group_of[:at], weights=row, minlength=len(groups)) / sizes[: len(groups)]
            best = int(near.argmax())
            if near[best] >= LEAST:
                groups[best].append(at)
                group_of[at] = best
                sizes[best] += 1
                continue
        group_of[at] = len(groups)
        sizes[len(groups)] = 1
        groups.append([at])
    return groups


def _joined(small: Sequence[list[int]], sides: _Sides) -> list[list[int]]:
    """Groups of one and two, the nearest joined first until three are together."""
    import numpy as np

    old = list(small[:-_MOST_SMALL])
    groups = [list(group) for group in small[-_MOST_SMALL:]]
    own = [at for group in groups for at in group]
    some = _Sides(
        sides.command[own],
        sides.reason[own],
        sides.actions[own],
        sides.apps[own],
        [sides.parts[at] for at in own],
    )
    likeness = np.zeros((len(own), len(own)), dtype=np.float32)
    for at, row in _rows(some):
        likeness[at, :at] = likeness[:at, at] = row
    owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    member = (owner[None, :] == np.arange(len(groups))[:, None]).astype(np.float32)
    member /= member.sum(axis=1, keepdims=True)
    near = member @ likeness @ member.T
    np.fill_diagonal(near, -1.0)
    while near.size and float(near.max()) >= LOOSE:
        one, other = sorted(divmod(int(near.argmax()), len(groups)))
        sizes = len(groups[one]), len(groups[other])
        groups[one] += groups[other]
        groups[other] = []
        near[one] = (sizes[0] * near[one] + sizes[1] * near[other]) / sum(sizes)
        near[other], near[:, other] = -1.0, -1.0
        near[one, one] = -1.0
        if len(groups[one]) >= ENOUGH:
            near[one] = -1.0
        near[:, one] = near[one]
    return [*old, *(sorted(group) for group in groups if group)]


def _rows(sides: _Sides) -> Iterator[tuple[int, Rows]]:
    """For each failure, how alike those before it are."""
    naming: dict[str, list[int]] = defaultdict(list)
    for start in range(0, len(sides.command), _BLOCK):
        stop = min(start + _BLOCK, len(sides.command))
        block = _likeness(sides, slice(start, stop), slice(0, stop))
        for at in range(start, stop):
            row = block[at - start, :at]
            same = sorted({other for part in sides.parts[at] for other in naming[part]})
            row[same] += SAME_THING * (1 - row[same])
            yield at, row
            for part in sides.parts[at]:
                naming[part].append(at)


def _likeness(sides: _Sides, some: slice, others: slice) -> Rows:
    import numpy as np

    total = COMMAND * (sides.command[some] @ sides.command[others].T)
    weight = np.full_like(total, COMMAND)
    for rows, worth in ((sides.reason, REASON), (sides.actions, ACTIONS)):
        there = np.asarray(rows.any(axis=1), dtype=np.bool_)
        both = worth * np.outer(there[some], there[others]).astype(np.float32)
        near = rows[some] @ rows[others].T
        total += both * near
        weight += both
        if rows is sides.reason:
            same = both * (near >= SAME)
            unlike = (both > 0) & (near < UNLIKE)
    total /= weight
    total += SAME_REASON / REASON * same * (1 - total)
    total[unlike] *= OTHER_REASON
    apps, theirs = sides.apps[some, None], sides.apps[None, others]
    total[(apps != theirs) & (apps != 0) & (theirs != 0)] = 0.0
    likeness: Rows = total
    return likeness


def _sides(failures: Sequence[Failure], embedder: Embedder | None) -> _Sides:
    import numpy as np

    wishes = [failure.wish for failure in failures]
    reasons = [failure.reason for failure in failures]
    done = [signature(failure.actions) for failure in failures]
    names = {app: n for n, app in enumerate(dict.fromkeys(f.episode.app.casefold() for f in failures), 1)}
    apps = [names[f.episode.app.casefold()] if f.episode.app else 0 for f in failures]
    return _Sides(
        vectors_of(wishes, embedder, rarity=rarity_of(wishes)),
        _told(reasons, embedder),
        _told(done, None),
        np.asarray(apps, dtype=np.int64),
        [parts_of(failure.episode.command) for failure in failures],
    )


def _told(texts: Sequence[str], embedder: Embedder | None) -> Rows:
    """Vectors of the texts; zeros for those that say nothing, whatever an embedder makes of a blank."""
    import numpy as np

    there = np.asarray([bool(text.strip()) for text in texts], dtype=bool)
    rows = vectors_of(texts, embedder, rarity=rarity_of([text for text in texts if text]))
    told: Rows = np.where(there[:, None], rows, 0.0).astype(np.float32)
    return told


def signature(actions: Sequence[Action]) -> str:
    """What was done, as words: names of tools, those that failed once more with what they answered."""
    names = dict.fromkeys(action.name for action in actions)
    errors = dict.fromkeys(f"{action.name}failed {action.said}" for action in actions if not action.ok)
    return " ".join((*names, *errors))
