"""A chat model that says what it was told to say, for tests and for trying things without a model.

ScriptedChat([calls("read_file", path="a.txt"), "It says hello."])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from hindbrain.base.errors import Cancelled, ModelDown
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatRequest, ToolCall, Watch

Scripted: TypeAlias = str | ChatAnswer | Exception | Callable[[ChatRequest], "str | ChatAnswer"]

_PIECE = re.compile(r"\S+\s*|\s+")


class ScriptedChat:
    """Gives its answers in order; an error among them is raised. Without a line left, it is down."""

    name = "scripted"

    def __init__(self, answers: Iterable[Scripted] = (), *, calls_tools: bool = True) -> None:
        self.answers = list(answers)
        self.asked: list[ChatRequest] = []
        self.calls_tools = calls_tools
        self._called = 0

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        self.asked.append(request)
        if not self.answers:
            raise ModelDown("the scripted model has no answer left")
        line = self.answers.pop(0)
        if isinstance(line, Exception):
            raise line
        if callable(line):
            line = line(request)
        answer = self._numbered(says(line) if isinstance(line, str) else line)
        tell(answer.text, watch)
        return answer

    def _numbered(self, answer: ChatAnswer) -> ChatAnswer:
        """A script names no ids; a conversation needs them, each once."""
        numbered = []
        for call in answer.calls:
            self._called += not call.id
            numbered.append(call if call.id else call._replace(id=f"call-{self._called}"))
        return answer._replace(calls=tuple(numbered))


def says(text: str, *called: ChatAnswer) -> ChatAnswer:
    """A line of a script: words, and with them the calls of other lines, in one answer."""
    calls = tuple(call for answer in called for call in answer.calls)
    return ChatAnswer(text, calls, "calls" if calls else "end")


def calls(tool: str, /, **arguments: Any) -> ChatAnswer:
    """A line of a script: one call."""
    return ChatAnswer(calls=(ToolCall("", tool, arguments),), stop="calls")


def tell(text: str, watch: Watch) -> None:
    """The text in pieces, a word each, as a service would stream it; Cancelled between two of them."""
    if watch.cancelled():
        raise Cancelled("the answer is not wanted any more")
    for piece in _PIECE.findall(text):
        watch.said(piece)
        if watch.cancelled():
            raise Cancelled("the answer is not wanted any more")
