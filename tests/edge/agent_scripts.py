"""A chat model for commands: scripted, in the place of the one that the settings would name."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import pytest

from hindbrain.app import App
from hindbrain.models.chat_fake import Scripted, ScriptedChat
from workbench import set_terminal


class Typing(io.StringIO):
    """Somebody at a terminal who types these lines."""

    def isatty(self) -> bool:
        return True


class Stage:
    """Sets the scene: what the model says, who sits at the terminal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.chat = ScriptedChat()

    def script(self, *answers: Scripted) -> ScriptedChat:
        self.chat = ScriptedChat(answers)
        self._monkeypatch.setattr(App, "chat", self.chat, raising=False)
        return self.chat

    def person_types(self, *lines: str) -> None:
        """At a terminal."""
        self._sits_there(Typing("".join(f"{line}\n" for line in lines)))

    def pipe(self, lines: Sequence[str]) -> None:
        self._sits_there(io.StringIO("".join(f"{line}\n" for line in lines)))

    def _sits_there(self, stdin: io.StringIO) -> None:
        self._monkeypatch.setattr(sys, "stdin", stdin)
        set_terminal(self._monkeypatch, stdin if stdin.isatty() else None)
        # stderr is the test's own, and no terminal.
        self._monkeypatch.setattr("hindbrain.edge.agent_runs.carrying_out.is_attended", stdin.isatty)

    def nobody(self) -> None:
        self.pipe(())
