"""The model's window in one run: what is sent has room in it, and what lasts is kept before it is condensed.

It shrinks when the model turns out to have a smaller one. What is to be kept is somebody else's business, and
whatever goes wrong with it costs the run nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.messages import Fitted, to_messages, within
from hindbrain.agent.run import LEAST_WINDOW, Listener, Said
from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.context.history.window import COMPACT_FROM, ContextWindow, budget_of
from hindbrain.context.tokens import EstimatedTokens, RememberedTokens
from hindbrain.models.chat import Usage

if TYPE_CHECKING:
    from hindbrain.agent.summaries import Summarizer
    from hindbrain.context.messages import Message
    from hindbrain.models.chat import ChatMessage, ToolSpec

_ANSWER_TOKENS = 8_192  # the longest answer that is asked for


class Talk(NamedTuple):
    """A conversation that is about to be condensed."""

    session: str
    messages: tuple[Message, ...]
    tokens: int  # that it takes uncut
    anew: bool = False  # half a window was added since the last time


class Fit(NamedTuple):
    """What is sent, and how long the answer may be."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    usage: Usage = Usage()  # what it took to make it fit


class Room:
    """Of one run. `keep` is told of a talk, and answers with what a person should know of it."""

    def __init__(
        self,
        window: int,
        specs: Sequence[ToolSpec],
        listener: Listener,
        keep: Callable[[Talk], Sequence[str]] | None = None,
        summarizer: Summarizer | None = None,
    ) -> None:
        self._counter = RememberedTokens(EstimatedTokens())
        self._size = window
        self._tools = sum(self._counter.count(json.dumps(spec, default=str)) for spec in specs)
        self._listener = listener
        self._keep = keep
        self._summarizer = summarizer
        self._kept = 0  # tokens that the conversation had when it was kept; 0: not yet
        self._window = self._measured(window)

    def fit(self, said: Sequence[ChatMessage], command: int, session: str) -> Fit:
        """`command`: where the owner's command stands, which always stays.

        UsageError when what must stay is alone too long.
        """
        fitted = self._fitted(said, command)
        self._keep_what_lasts(said[: command + 1], fitted.wanted, session)
        usage = Usage()
        if self._summarizer is not None and fitted.condensed:
            fitted = self._summed_up(self._summarizer, said, command, session)
            usage, self._summarizer.usage = self._summarizer.usage, usage
        budget = self._window.budget
        left = max(budget.reserve, budget.total - fitted.tokens)
        return Fit(fitted.messages, min(_ANSWER_TOKENS, left), usage)

    def _summed_up(
        self, summarizer: Summarizer, said: Sequence[ChatMessage], command: int, session: str
    ) -> Fitted:
        """With the model's summary of the beginning; a new one when the last one no longer makes room."""
        fitted = self._fitted(*summarizer.shortened(said, command, session))
        if fitted.condensed and summarizer.sum_up(said, self._window, session):
            fitted = self._fitted(*summarizer.shortened(said, command, session))
        return fitted

    def narrow(self) -> bool:
        """After a request that was too long: half of it; False when that changes nothing any more."""
        was = self._window.budget.total
        while self._size > LEAST_WINDOW:
            self._size = max(LEAST_WINDOW, self._size // 2)
            self._window = self._measured(self._size)
            if self._window.budget.total < was:
                told = f"too long for the model; its window counts as {self._size:,} tokens now"
                self._listener(Said("note", f"{told} (set it: [limits] window)", {"window": self._size}))
                return True
        return False

    def _measured(self, size: int) -> ContextWindow:
        """What is left beside the tools; where that is next to nothing, the model's service has the word."""
        return ContextWindow(budget_of(max(LEAST_WINDOW, size - self._tools)), self._counter)

    def _fitted(self, said: Sequence[ChatMessage], command: int) -> Fitted:
        try:
            return within(self._window, said, command=command)
        except UsageError:
            # What was recalled was measured for the window that there was then.
            less = [message for message in said if message.role != "system" or message.stable]
            if len(less) == len(said):
                raise
            return within(self._window, less, command=command - len(said) + len(less))

    def _keep_what_lasts(self, said: Sequence[ChatMessage], tokens: int, session: str) -> None:
        """When it is condensed for the first time, and then whenever half a window was added.

        `said`: up to the command. That one stays; what may be lost is what was said before it.
        """
        total = self._window.budget.total
        due, half = tokens >= COMPACT_FROM * total, total / 2
        if self._keep is None or not due or (self._kept and tokens - self._kept < half):
            return
        talk = [message for message in said if message.role != "system" and not _is_ours(message)]
        if not any(message.role == "user" for message in talk[:-1]):
            return
        # Where the run before this one stood when it looked last: its last answer came after that.
        before = self._window.count(to_messages(said[:-2]))
        anew = bool(self._kept) or (before >= COMPACT_FROM * total and tokens // half > before // half)
        self._kept = tokens
        try:
            notices = self._keep(Talk(session, tuple(to_messages(talk)), tokens, anew))
        except Exception as error:  # noqa: BLE001  the run goes on, with all that is still in it
            told = str(error) if isinstance(error, HindbrainError) else type(error).__name__
            notices = [f"what was said could not be kept before it is condensed: {told}"]
        for notice in notices:
            self._listener(Said("note", notice))


def _is_ours(message: ChatMessage) -> bool:
    """Told to the model in a user's place, by no person."""
    return message.role == "user" and bool(message.tool)
