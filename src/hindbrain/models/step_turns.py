"""What a model that can't call tools is shown: the conversation as plain turns, the tools as a choice.

Pure. Wordings and order were chosen by what a model of 135 million parameters gets right most often.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from hindbrain.models.chat import ChatMessage

if TYPE_CHECKING:
    from hindbrain.models.chat import ToolSpec

Turns: TypeAlias = tuple[ChatMessage, ...]

FINISH = "finish"
_MOST_THOUGHT = 200  # characters
_MOST_DOC = 120  # characters of a tool's doc
_MOST_TASK = 300  # characters of the task when it is told again
_MOST_EXAMPLES = 12
_RULES = "In each step, choose the best tool for the task:"
_NOTHING_LEFT = f"- {FINISH}: Nothing is left to do."
_NEXT = "Which tool?"
_LAST = "Answer now, in plain words."
_DONE = "It is done."


def step_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": _MOST_THOUGHT},
            "action": {"type": "string", "enum": [*(tool.name for tool in tools), FINISH]},
        },
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


def arguments_schema(tool: ToolSpec) -> dict[str, Any]:
    """Of what the model is asked for: what the tool requires, or all that it has when it requires nothing."""
    properties: Mapping[str, Any] = tool.schema.get("properties", {})
    required = list(tool.schema.get("required", ()))
    return {
        "type": "object",
        "properties": {name: properties.get(name, {}) for name in required or properties},
        "required": required,
        "additionalProperties": False,
    }


def plain_turns(messages: Sequence[ChatMessage]) -> Turns:
    """The conversation without calls and results as such. No role comes twice in a row."""
    told = map(_plain, messages)
    return tuple(_joined(list(group)) for _, group in groupby(told, lambda message: message.role))


def step_turns(messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> Turns:
    """The conversation with the tools told in front, an example of each, and the question which is next."""
    turns = list(plain_turns(messages))
    own = [turns.pop(0)] if turns and turns[0].role == "system" else []
    rules = ChatMessage("system", "\n".join([_RULES, *map(_line, tools), _NOTHING_LEFT]))
    shown = [turn for tool in tools[:_MOST_EXAMPLES] for turn in _example(tool)]
    turns = [_joined([*own, rules]), *_finished(tools[0]), *shown, *turns]
    if messages and turns[-1] == messages[-1] and turns[-1].role == "user":
        asked = turns[-1]._replace(text=f"Task: {turns[-1].text}\n{_NEXT}")
        return (*turns[:-1], asked)
    return _asked(tuple(turns), _task(messages) + _NEXT)


def arguments_turns(
    turns: Turns, step: Mapping[str, Any], tool: ToolSpec, said: Sequence[ChatMessage]
) -> Turns:
    """After a step was chosen: the question for its arguments."""
    fields = arguments_schema(tool)["properties"].items()
    told = [f"- {name}: {field.get('description', field.get('type', ''))}" for name, field in fields]
    question = "\n".join([f"{_task(said)}Give the arguments of {tool.name} as JSON:", *told])
    return _asked((*turns, ChatMessage("assistant", _json(step))), question)


def last_turns(messages: Sequence[ChatMessage]) -> Turns:
    """When nothing is left to do: the question for the final words. Steps are not shown: they are JSON."""
    words = [message._replace(calls=()) for message in messages if message.text or not message.calls]
    return _asked(plain_turns(words), _task(messages) + _LAST)


def _example(tool: ToolSpec) -> Turns:
    """The tool's own doc as a task: without a turn to follow, a small model takes any tool for any task."""
    doc = _short(tool.doc)
    step = {"thought": doc, "action": tool.name}
    return ChatMessage("user", f"Task: {doc}\n{_NEXT}"), ChatMessage("assistant", _json(step))


def _finished(tool: ToolSpec) -> Turns:
    """Stands first: the newest example is the one that a small model repeats."""
    asked = f"Result of {tool.name}:\n{_DONE}\n\nTask: {_short(tool.doc)}\n{_NEXT}"
    step = {"thought": _DONE, "action": FINISH}
    return ChatMessage("user", asked), ChatMessage("assistant", _json(step))


def _plain(message: ChatMessage) -> ChatMessage:
    if message.role == "tool":
        head = f"{message.tool} failed:" if message.failed else f"Result of {message.tool}:"
        return ChatMessage("user", f"{head}\n{message.text}", message.images, stable=message.stable)
    if not message.calls:
        return message
    steps = [
        _json({"thought": message.text, "action": call.name, "arguments": call.arguments})
        for call in message.calls
    ]
    return message._replace(text="\n".join(steps), calls=())


def _joined(messages: Sequence[ChatMessage]) -> ChatMessage:
    return messages[0]._replace(
        text="\n\n".join(message.text for message in messages),
        images=tuple(image for message in messages for image in message.images),
        stable=any(message.stable for message in messages),
    )


def _asked(turns: Turns, question: str) -> Turns:
    if turns and turns[-1].role == "user":
        return (*turns[:-1], _joined([turns[-1], ChatMessage("user", question)]))
    return (*turns, ChatMessage("user", question))


def _task(messages: Sequence[ChatMessage]) -> str:
    """The newest word of a person, to be told again: a small model has forgotten it."""
    said = next((message.text for message in reversed(messages) if message.role == "user"), "")
    return f"Task: {said[:_MOST_TASK]}\n" if said else ""


def _line(tool: ToolSpec) -> str:
    return f"- {tool.name}: {_short(tool.doc)}"


def _short(doc: str) -> str:
    """Its first sentence."""
    words = " ".join(doc.split())
    return (words[: words.find(". ") + 1] or words)[:_MOST_DOC]


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=dict)
