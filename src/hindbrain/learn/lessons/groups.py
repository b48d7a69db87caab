"""Which failures are alike: by what was asked for, why it failed, what was done. Pure but for the embedder.

    likeness = 0.5 command + 0.25 reason + 0.25 actions

each the dot product of two vectors, scaled by the weights of what both have. Failures in two applications
are never alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import rarity_of, vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.failures import Failure
    from hindbrain.learn.runs.episode import Action
    from hindbrain.models.embedder import Embedder

COMMAND, REASON, ACTIONS = 0.5, 0.25, 0.25
# At 0.65 the groups of the ALFWorld reflections are of one task family; at 0.5 cooling and cleaning a pan are
# one group. Failures in one known application that find no group of three so are tried again, less strictly:
# "Go to github" and "Navigate to github.com in Chrome" are one task.
ALIKE, LOOSELY = 0.65, 0.35
ENOUGH = 3  # failures that make a lesson


def grouped_failures(failures: Sequence[Failure], embedder: Embedder | None) -> list[list[Failure]]:
    """Groups of three and more, in the order of their first; what comes later takes none out of its group."""
    if len(failures) < ENOUGH:
        return []
    rows = _rows(failures, embedder)
    apps = [failure.episode.app.casefold() for failure in failures]
    found = _grouped(range(len(failures)), rows, apps, ALIKE)
    left = sorted(at for group in found if len(group) < ENOUGH for at in group if apps[at])
    found = [group for group in found if len(group) >= ENOUGH] + _grouped(left, rows, apps, LOOSELY)
    return [[failures[at] for at in group] for group in sorted(found) if len(group) >= ENOUGH]


def _grouped(
    places: Sequence[int], rows: NDArray[np.float32], apps: Sequence[str], least: float
) -> list[list[int]]:
    """Each failure joins the group to whose mean it is most alike, where that is enough."""
    import numpy as np

    groups: list[list[int]] = []
    means = np.zeros((len(places), rows.shape[1] if len(rows) else 0), dtype=np.float32)
    named: list[str] = []  # the application of each group; "" while it is not known
    for at in places:
        near = means[: len(groups)] @ rows[at]
        for number, app in enumerate(named):
            if app and apps[at] and app != apps[at]:
                near[number] = 0.0
        best = int(near.argmax()) if groups else -1
        if best < 0 or near[best] < least:
            best = len(groups)
            groups.append([])
            named.append("")
        groups[best].append(at)
        named[best] = named[best] or apps[at]
        means[best] += (rows[at] - means[best]) / len(groups[best])
    return groups


def _rows(failures: Sequence[Failure], embedder: Embedder | None) -> NDArray[np.float32]:
    import numpy as np

    sides = (
        (COMMAND, [failure.wish for failure in failures], embedder),
        (REASON, [failure.reason for failure in failures], embedder),
        (ACTIONS, [_signature(failure.actions) for failure in failures], None),
    )
    parts: list[NDArray[np.float32]] = []
    weights = np.zeros((len(failures), 1), dtype=np.float32)
    for weight, texts, by in sides:
        there = np.asarray([[bool(text.strip())] for text in texts], dtype=np.float32)
        rows = vectors_of(texts, by, rarity=rarity_of([text for text in texts if text]))
        parts.append(np.sqrt(weight) * rows * there)  # an embedder makes something of a blank, too
        weights += weight * there
    return (np.hstack(parts) / np.sqrt(np.maximum(weights, 1e-9))).astype(np.float32)


def _signature(actions: Sequence[Action]) -> str:
    """What was done, as words: names of tools, those that failed once more with what they answered."""
    names = dict.fromkeys(action.name for action in actions)
    errors = dict.fromkeys(f"{action.name}failed {action.said}" for action in actions if not action.ok)
    return " ".join((*names, *errors))
