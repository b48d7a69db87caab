"""Which runs repeat others: tasks that are known, and failures that happened before. Pure; by words alone.

What figures and feedback count by must not depend on an embedder: the same runs give the same figures
everywhere. Knows nothing of lessons or templates, which look closer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.alike import vectors_of
from hindbrain.learn.recording.kinds import kinds_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.runs.episode import Episode

# Likeness of two commands from which on they ask for the same kind of thing. Of tau-bench's airline runs,
# pairs of one task have 0.64 in the middle, pairs of different tasks 0.38; one in twenty of these has 0.62.
SAME_TASK = 0.65
# Of what two failures say about themselves. Errors of a tool that differ in their numbers have 1.0.
SAME_REASON = 0.6
# Where neither run says why it failed, the commands have to tell everything.
SAME_COMMAND = 0.85
NAMELESS = -1  # the kind of runs without a command
MOST_RUNS = 5_000  # the newest; what lies further back is seldom done again
_MOST_CHARS = 600  # of a text: what is longer differs, or not, at its beginning
_ROWS = 512  # compared at a time: 10 MB for 5,000 failures


def kind_numbers(episodes: Sequence[Episode]) -> list[int]:
    """A number for each run, oldest first; those of a kind share it. Later runs change no earlier number."""
    found = {run.run: number for number, kind in enumerate(kinds_of(episodes)) for run in kind.runs}
    return [found.get(episode.run, NAMELESS) for episode in episodes]


def repeats(episodes: Sequence[Episode]) -> list[int]:
    """Which of these runs, oldest first, failed as an earlier one had failed: their places, in order."""
    failed = [at for at, episode in enumerate(episodes) if episode.failed]
    if len(failed) < 2:
        return []
    commands = _vectors([episodes[at].command for at in failed])
    reasons = _vectors([episodes[at].reason for at in failed])
    silent = _silent([episodes[at] for at in failed])
    found: list[int] = []
    for start in range(0, len(failed), _ROWS):
        rows = slice(start, start + _ROWS)
        same = _same(commands[rows] @ commands.T, reasons[rows] @ reasons.T, silent[rows, None], silent)
        found += [failed[start + i] for i, row in enumerate(same) if row[: start + i].any()]
    return found


def like_last_failure(episodes: Sequence[Episode], kinds: Sequence[int]) -> list[bool | None]:
    """For each run, oldest first: did it fail as the last failure of its kind? None where its kind had none.

    Unlike with `repeats`, a later run has no more failures to be like than an earlier one: shares of two
    periods can be compared.
    """
    last: dict[int, int] = {}
    before: list[int | None] = []
    for at, (episode, kind) in enumerate(zip(episodes, kinds, strict=True)):
        before.append(last.get(kind))
        if episode.failed:
            last[kind] = at
    pairs = [(at, then) for at, then in enumerate(before) if then is not None and episodes[at].failed]
    found: list[bool | None] = [None if then is None else False for then in before]
    if not pairs:
        return found
    new, old = ([episodes[pair[side]] for pair in pairs] for side in (0, 1))
    commands = _likeness([one.command for one in new], [one.command for one in old])
    reasons = _likeness([one.reason for one in new], [one.reason for one in old])
    for (at, _), same in zip(pairs, _same(commands, reasons, _silent(new), _silent(old)), strict=True):
        found[at] = bool(same)
    return found


def _likeness(texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
    """Of each text and the other one in its place."""
    import numpy as np

    found: NDArray[np.float32] = np.einsum("ij,ij->i", _vectors(texts), _vectors(others))
    return found


def _silent(episodes: Sequence[Episode]) -> NDArray[np.bool_]:
    import numpy as np

    return np.asarray([not episode.reason.strip() for episode in episodes])


def _vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """One row for each; a text that comes again costs nothing."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(text[:_MOST_CHARS] for text in texts))}
    return vectors_of(list(rows), None)[[rows[text[:_MOST_CHARS]] for text in texts]]


def _same(
    commands: NDArray[np.float32], reasons: NDArray[np.float32],
    silent: NDArray[np.bool_], silent_too: NDArray[np.bool_],
) -> NDArray[np.bool_]:  # fmt: skip
    """Pairs that are one failure. One that says why is never the same as one that does not."""
    told = ~silent & ~silent_too & (commands >= SAME_TASK) & (reasons >= SAME_REASON)
    untold = silent & silent_too & (commands >= SAME_COMMAND)
    same: NDArray[np.bool_] = told | untold
    return same
