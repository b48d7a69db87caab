"""How usual a call is among the runs of an application, so that what everybody does is not blamed. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from hindbrain.learn.lessons.calls import Given
from hindbrain.learn.lessons.failures import Failure, since
from hindbrain.learn.runs.episode import Action, Episode


class _Side:
    """Runs of one outcome: how many gave a value, or used a tool."""

    def __init__(self) -> None:
        self.runs = 0
        self._users: Counter[str] = Counter()
        self._givers: Counter[Given] = Counter()

    def add(self, actions: Iterable[Action]) -> None:
        self.runs += 1
        calls = {action[:2] for action in actions}
        self._users.update({name for name, _ in calls})
        self._givers.update({(name, key, value) for name, given in calls for key, value in given})

    def share(self, tool: str, literals: Sequence[Given]) -> float:
        """At most so many of the runs made such a call, 0..1."""
        if not self.runs:
            return 0.0
        return min((self._givers[given] for given in literals), default=self._users[tool]) / self.runs


class Usual:
    """Runs that went well and runs that failed, by application; those of an unknown one by themselves."""

    def __init__(self, episodes: Sequence[Episode], failures: Sequence[Failure]) -> None:
        self._worked: dict[str, _Side] = defaultdict(_Side)
        self._failed: dict[str, _Side] = defaultdict(_Side)
        for episode in episodes:
            if episode.outcome == "success":
                self._worked[episode.app.casefold()].add(since(episode))
        for failure in failures:
            self._failed[failure.episode.app.casefold()].add(failure.actions)

    def where_it_worked(self, app: str, tool: str, literals: Sequence[Given]) -> float:
        return self._worked[app.casefold()].share(tool, literals)

    def where_it_failed(self, app: str, tool: str, literals: Sequence[Given]) -> float:
        return self._failed[app.casefold()].share(tool, literals)
