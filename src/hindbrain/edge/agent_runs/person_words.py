"""What a person says to the agent at the terminal, captured as hooks capture what is said to other agents.

Their words are durable before the run begins, and stored before it is recorded: a record of a run is a tool's
word, and what repeats it counts as such. What can't be stored then is found by the next capture. Says nothing
of what a tool answered, and nothing in the person's name that they did not type.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.base.plural import plural
from hindbrain.context.messages import Message
from hindbrain.context.turn import OWN, SessionKey
from hindbrain.edge.output import Output, safe
from hindbrain.edge.person import started_by

if TYPE_CHECKING:
    from hindbrain.app import App

_DEADLINE_S = 5.0


class PersonWords:
    """Of one conversation. Does nothing when an agent typed the words."""

    def __init__(self, app: App, session: str, out: Output, *, workspace: str = "") -> None:
        self._app, self._out = app, out
        self._session = SessionKey(OWN, session or f"run-{int(app.clock.now())}")
        self._cwd = workspace or str(Path.cwd())
        self._by_person = not started_by()

    def hear(self, words: str) -> None:
        """Keep the person's words and store what lasts; durable when this returns, or the person is told."""
        self._keep(Message("user", words, at=self._app.clock.now()))
        self._settle()

    def hear_answer(self, answer: str) -> None:
        """Keep what the agent answered: the person's next "yes" may agree to it."""
        if answer.strip():
            self._keep(Message("assistant", answer, at=self._app.clock.now()))

    def _settle(self) -> None:
        """Store what lasts of what was kept. What can't be stored now waits for the next capture."""
        if not self._by_person:
            return
        try:
            caught = self._app.context.catch_up(deadline_s=_DEADLINE_S, host=OWN)
        except HindbrainError as error:
            self._warn(f"what you said is kept, and not in your notes yet: {error}")
            return
        for problem in caught.problems:
            self._warn(problem)
        if caught.tasks:
            self._out.say(f"{plural(caught.tasks, 'task')} added: hindbrain task")

    def _keep(self, message: Message) -> None:
        if not self._by_person:
            return
        try:
            self._app.context.said(self._session, [message], cwd=self._cwd)
        except HindbrainError as error:
            self._warn(str(error))

    def _warn(self, text: str) -> None:
        self._out.warn(safe(text))
