"""The model of the demo: a few rules that read what they are given, so that the story needs no network.

It writes invitations. It has a bad habit: it looks at what was written last year. Where the command says to
go by the vault, or a lesson in its prompt says not to do that, it goes by the notes that were recalled. It
knows no outcome, and has no memory of its own.
"""

from __future__ import annotations

import re

from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatRequest, ToolCall, Usage, Watch
from hindbrain.models.chat_fake import tell

FOLDER = "invitations"
LAST_YEAR = f"{FOLDER}/last year.txt"
_FOR = re.compile(r"\bfor ([^,.]+)")
_AVOID = re.compile(r"\bdo not `(\w+\([^)`]*\))`")
_WHEN = re.compile(r"[^.\n]*\bof the month, (?:at|half past) [^.\n]*")
_GREETINGS = ("Dear", "Hello", "Good day")


class DemoModel:
    """A chat model by its interface."""

    name = "demo"
    calls_tools = True

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        answer = _next_step(request.messages)
        tell(answer.text, watch)
        sent = sum(len(message.text) for message in request.messages) // 4
        return answer._replace(usage=Usage(sent=sent, made=20))


def follows_habit(command: str, prompt: str) -> bool:
    """Would it look at what was written last year, and not at what was recalled?"""
    return "my vault" not in command and f"read_file({LAST_YEAR})" not in _AVOID.findall(prompt)


def _next_step(messages: tuple[ChatMessage, ...]) -> ChatAnswer:
    """Look, write, say that it is done; after a rejection, write again in other words."""
    prompt = "\n".join(message.text for message in messages if message.role == "system")
    command, *rejections = [message.text for message in messages if message.role == "user"]
    results = [message for message in messages if message.role == "tool"]
    looked = [message.text for message in results if message.tool != "write_file"]
    if not looked and follows_habit(command, prompt):
        return _call(len(results), "read_file", path=LAST_YEAR)
    found = _FOR.search(command)
    name = found[1].strip() if found else "you"
    written = len(results) - len(looked)
    if written > len(rejections):
        return ChatAnswer(f"The invitation for {name} is written.")
    when = _WHEN.search(looked[-1] if looked else prompt)
    text = f"{_GREETINGS[written % len(_GREETINGS)]} {name},\n\ncome to our reading group: "
    text += f"{when[0].strip() if when else 'soon'}.\n"
    return _call(len(results), "write_file", path=f"{FOLDER}/{name}.txt", content=text)


def _call(number: int, tool: str, **arguments: str) -> ChatAnswer:
    return ChatAnswer(calls=(ToolCall(f"call-{number}", tool, arguments),), stop="calls")
