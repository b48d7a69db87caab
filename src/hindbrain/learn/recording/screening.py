"""Text that runs bring, on its way into notes: secrets out, what reads like an order left out, cut,
harmless.

The judging is memory's policy; here is what its verdict means for a record. A record is no memory: text
that is only little trusted stays, with its source; what its owner forgot, our own output, and what could
steer an agent that reads the note later do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.recording.wording import (
    MOST_ANSWER,
    MOST_COMMAND,
    MOST_REASON,
    harmless,
    key_actions,
    plain,
)
from hindbrain.learn.runs.gist import gist
from hindbrain.memory.policy.policy import Policy
from hindbrain.memory.policy.provenance import THIRD_PARTY, lowest, trust_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.learn.runs.episode import Action, Episode

LEFT_OUT = "(left out: {})"
_THIRD_PARTY = "third-party text"
_MOST_ACTIONS = 1_500  # characters
_MOST_KEPT = 50_000  # texts that are remembered; runs repeat themselves


class Told(NamedTuple):
    """A text as it may stand in a note."""

    text: str  # one line of Markdown; "" when nothing is left
    source: str  # whose word it is
    left_out: bool = False  # the text says so, and why


class Screen:
    """For one thread."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        # What is trusted least already need not be compared with what strangers said.
        self._alone = Policy(policy.tombstones)
        self._known: dict[tuple[str, int, str], Told] = {}

    def command(self, episode: Episode) -> Told:
        return self.told(episode.command, MOST_COMMAND, episode.source)

    def reason(self, episode: Episode) -> Told:
        return self.told(episode.reason, MOST_REASON, episode.source)

    def answer(self, episode: Episode) -> Told:
        """What the run found, in one line."""
        return self.told(gist(episode.answer, MOST_ANSWER), MOST_ANSWER, episode.source)

    def actions(self, actions: Sequence[Action], source: str) -> Told:
        """What was done; command lines stand in backticks, as people write them."""
        shown = key_actions(actions)
        text = ", ".join(shown)
        judged = self._known_or_judged(text, _MOST_ACTIONS, source)
        if judged.left_out:
            return judged
        # Something was taken out, or not all of it was looked at.
        if len(text) > _MOST_ACTIONS or judged.text != plain(text, _MOST_ACTIONS):
            return judged._replace(text=harmless(judged.text))
        return judged._replace(text=", ".join(one if "`" in one else harmless(one) for one in shown))

    def told(self, text: str, most: int, source: str) -> Told:
        """The text, judged, as Markdown."""
        judged = self._known_or_judged(text, most, source)
        return judged._replace(text=judged.text if judged.left_out else harmless(judged.text))

    def code(self, text: str, source: str) -> Told:
        """As it stands between backticks, where nothing means more than it says."""
        return self._known_or_judged(text, MOST_REASON, source)

    def _known_or_judged(self, text: str, most: int, source: str) -> Told:
        key = (text[: 8 * most], most, source)
        if (known := self._known.get(key)) is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            known = self._known[key] = self._judged(key[0], most, source)
        return known

    def _judged(self, text: str, most: int, source: str) -> Told:
        line = plain(text, most)
        source = lowest((source,))
        if not line:
            return Told("", source)
        policy = self._alone if source in THIRD_PARTY else self._policy
        verdict = policy.judge(line, source=source)
        trust = lowest((source, verdict.source))
        doubts = [reason for reason in verdict.reasons if reason != _THIRD_PARTY]
        if verdict.action == "refuse" or doubts:
            why = (doubts or list(verdict.reasons))[0].partition(";")[0]
            return Told(LEFT_OUT.format(why), trust, left_out=True)
        return Told(plain(verdict.text, most), trust)


def source_mark(source: str, note_source: str) -> str:
    """What a line says of its source: nothing, unless it is trusted less than the note that it stands in."""
    return f" [source:: {source}]" if trust_rank(source) > trust_rank(note_source) else ""
