"""What all lessons are found on: every episode, compared once. Pure but for the embedder it is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.alike import parts_of, rarity_of, vectors_of
from hindbrain.learn.lessons.advice import mean_sentence
from hindbrain.learn.lessons.calls import Calls
from hindbrain.learn.lessons.clusters import SAME_THING
from hindbrain.learn.lessons.failures import Failure, Good, good_of
from hindbrain.learn.lessons.shapes import shaped
from hindbrain.learn.lessons.usual import Usual
from hindbrain.learn.lessons.wishes import wish_of
from hindbrain.learn.recording.corrections import corrections

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.learn.runs.episode import Episode
    from hindbrain.models.embedder import Embedder

SIMILAR = 0.5  # how alike a command must be to those of the failures, on average, to be held against them


class Ground(NamedTuple):
    """All episodes, oldest first, and what is known of each; some of it when it is first asked for."""

    episodes: Sequence[Episode]
    wishes: Sequence[str]  # their commands, without what each filled in
    rows: NDArray[np.float32]  # of the wishes
    parts: Sequence[frozenset[str]]  # what the commands name
    naming: dict[str, list[int]]  # part -> the episodes whose commands name it
    place: dict[str, int]  # run -> its episode
    put_right: dict[str, str]  # run -> the run in which a person said the same otherwise
    sentence: NDArray[np.float32]  # what all failures say, on average
    usual: Usual
    now: float
    shaped: dict[str, Episode]  # by run, those that were compared
    goods: dict[str, Good]
    calls: Calls

    def good(self, episode: Episode) -> Good:
        if (known := self.goods.get(episode.run)) is None:
            known = self.goods[episode.run] = good_of(self.compared(episode))
        return known

    def compared(self, episode: Episode) -> Episode:
        """The episode with its actions as they are compared."""
        if (known := self.shaped.get(episode.run)) is None:
            known = episode._replace(actions=shaped(episode.command, episode.actions))
            self.shaped[episode.run] = known
        return known


def ground_of(episodes: Sequence[Episode], failures: Sequence[Failure], embedder: Embedder | None) -> Ground:
    wishes = [wish_of(episode) for episode in episodes]
    parts = [parts_of(episode.command) for episode in episodes]
    naming: dict[str, list[int]] = defaultdict(list)
    for at, named in enumerate(parts):
        for part in named:
            naming[part].append(at)
    return Ground(
        episodes,
        wishes,
        vectors_of(wishes, embedder, rarity=rarity_of(wishes)),
        parts,
        naming,
        {episode.run: at for at, episode in enumerate(episodes)},
        {found.original.run: found.corrected.run for found in corrections(episodes)},
        mean_sentence([failure.reason for failure in failures]),
        Usual(episodes, failures),
        max(episode.ended for episode in episodes),
        {},
        {},
        Calls(),
    )


def near_to(groups: Sequence[Sequence[Failure]], ground: Ground) -> NDArray[np.float32]:
    """For each group, how alike all commands are to its own; at once, since that takes least time."""
    import numpy as np

    owns = [[ground.place[failure.episode.run] for failure in group] for group in groups]
    near: NDArray[np.float32] = np.stack([ground.rows[own].mean(axis=0) for own in owns]) @ ground.rows.T
    return near


def similar_to(failures: Sequence[Failure], near: NDArray[np.float32], ground: Ground) -> list[Episode]:
    """The failures' own runs, those that put them right, and all with a command like theirs, oldest first."""
    import numpy as np

    own = [ground.place[failure.episode.run] for failure in failures]
    named = frozenset().union(*(ground.parts[at] for at in own))
    same = sorted({at for part in named for at in ground.naming[part]})
    near[same] += SAME_THING * (1 - near[same])
    apps = {failure.episode.app.casefold() for failure in failures if failure.episode.app}
    right = [ground.put_right.get(failure.episode.run, "") for failure in failures]
    there = {*own, *(ground.place[run] for run in right if run)}
    found: list[Episode] = []
    for at in sorted(there.union(np.flatnonzero(near >= SIMILAR).tolist())):
        episode = ground.episodes[at]
        if at in there or not (apps and episode.app and episode.app.casefold() not in apps):
            found.append(ground.compared(episode))
    return found
