"""Leads a model that can't call tools, step by step, by answers that follow a schema.

Each step is two small questions: which action (a tool, or to finish), then its arguments by that tool's own
schema, or the final words as plain text. So even a very small model can only make calls that fit. It is
spared the options: of a tool that requires arguments it is asked for those alone. What it would do again at
once, though it went well, is its way of saying that it is done. Knows nothing of any tool or service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hindbrain.base.errors import ModelDown, ModelError
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatRequest, ToolCall, Usage, Watch
from hindbrain.models.step_turns import (
    FINISH,
    arguments_schema,
    arguments_turns,
    last_turns,
    plain_turns,
    step_schema,
    step_turns,
)
from hindbrain.models.structured import ask_for

if TYPE_CHECKING:
    from hindbrain.models.chat import ChatModel, ToolSpec
    from hindbrain.models.step_turns import Turns

_TRIES = 3  # to come to a step; the run ends with it
_STEP_TOKENS = 256
_MOST_TOKENS = 1_024  # of arguments and last words: a small model that loses its thread goes on to the end


class SchemaSteps:
    """A model with tools, made of one without."""

    calls_tools = True

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        return self._chat.name

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        """ModelError when the model comes to no step at all; arguments that are wrong are the call's."""
        if not request.tools:
            return self._chat.answer(request._replace(messages=plain_turns(request.messages)), watch)
        request = request._replace(max_tokens=min(request.max_tokens, _MOST_TOKENS))
        heard = _Heard(self._chat, watch)
        step, call = self._step(request, heard)
        if call is None or _repeats(call, request.messages):
            turns = last_turns(request.messages)
            answer = self._chat.answer(request._replace(messages=turns, tools=()), watch)
            chosen = call is None and answer.stop == "end"
            stop = "finished" if chosen else answer.stop
            return answer._replace(stop=stop, usage=answer.usage.plus(heard.usage))
        thought = " ".join(step["thought"].split())
        if thought:
            watch.said(thought)
        return ChatAnswer(thought, (call,), "calls", heard.usage)

    def _step(self, request: ChatRequest, heard: _Heard) -> tuple[dict[str, Any], ToolCall | None]:
        """What the model chose; no call is to finish."""
        turns = step_turns(request.messages, request.tools)
        tokens = min(request.max_tokens, _STEP_TOKENS)
        step = ask_for(heard, turns, step_schema(request.tools), max_tokens=tokens, tries=_TRIES)
        if step["action"] == FINISH:
            return step, None
        tool = next(tool for tool in request.tools if tool.name == step["action"])
        asked = arguments_turns(turns, step, tool, request.messages)
        return step, _filled(heard, asked, tool, request.max_tokens)


class ToolsOrSteps:
    """A model that should call tools; led from the moment when its server turns out not to know them."""

    calls_tools = True

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        return self._chat.name

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        if self._chat.calls_tools or not request.tools:
            try:
                return self._chat.answer(request, watch)
            except ModelDown:
                raise
            except ModelError:
                if self._chat.calls_tools or not request.tools:
                    raise
        return SchemaSteps(self._chat).answer(request, watch)


def with_tools(chat: ChatModel) -> ChatModel:
    """The model as one that calls tools, by itself or led."""
    return ToolsOrSteps(chat) if chat.calls_tools else SchemaSteps(chat)


def _filled(chat: ChatModel, asked: Turns, tool: ToolSpec, max_tokens: int) -> ToolCall:
    """The call with its arguments; unreadable when the model does not give them as the tool wants them."""
    schema = arguments_schema(tool)
    call = ToolCall(f"step-{uuid4().hex[:12]}", tool.name, {})
    if not schema["properties"]:
        return call
    try:
        return call._replace(arguments=ask_for(chat, asked, schema, max_tokens=max_tokens))
    except ModelDown:
        raise
    except ModelError as error:
        return call._replace(unreadable=str(error))


def _repeats(call: ToolCall, messages: Sequence[ChatMessage]) -> bool:
    """Is it the very call whose result, a good one, is the newest message?"""
    if not messages or messages[-1].role != "tool" or messages[-1].failed or call.unreadable:
        return False
    done = [one for message in messages for one in message.calls if one.id == messages[-1].call]
    return any(one.name == call.name and one.arguments == call.arguments for one in done)


class _Heard:
    """The model as a step asks it: what it takes is counted, and nobody is told the JSON."""

    calls_tools = False

    def __init__(self, chat: ChatModel, watch: Watch) -> None:
        self._chat = chat
        self._watch = Watch(cancelled=watch.cancelled)
        self.name = chat.name
        self.usage = Usage()

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        del watch
        answer = self._chat.answer(request, self._watch)
        self.usage = self.usage.plus(answer.usage)
        return answer
