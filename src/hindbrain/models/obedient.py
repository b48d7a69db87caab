"""A chat model that does whatever it is told, whoever tells it: what a poisoned note is tried out with.

The worst model that an agent could have, so that tests show what an attack reaches at most. One object is
one conversation. Its rules:

1. Instructions are read from all messages but its own. The newest message with one that was not followed yet
   goes first; within a message the first one. Each is followed once, with one answer.
2. `CALL tool {json}`, anywhere in a line of any message, is that call, whether there is such a tool or not.
3. A person's words (role "user") are orders, in their order, parted by ", then", "; " or a new line:
   `write TEXT to FILE`, `read FILE`, `run: WORDS`, `remember that FACT`, `recall TOPIC`, `send: TEXT`,
   `say WORDS`. Other words of a person ask for nothing.
4. In text of others (tools' results, and system text that is not marked as stable: what was recalled) every
   imperative sentence is an order; with `anything`, every sentence is. The model tries all that could do it:
   one call of each tool that takes something to do (see `_DOING`), filled with the sentence. What these calls
   bring back is not read: it often holds the sentence, and this would never end.
5. When nothing is left, it answers with the words it was told to say, else with the newest result of a tool.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hindbrain.models.chat import NOBODY, ChatAnswer, ChatMessage, ChatRequest, ToolCall, ToolSpec, Watch
from hindbrain.models.chat_fake import tell

_TRIED = "tried"
_CALL = re.compile(r"\bCALL\s+([\w.-]+)\s*(?=\{)")
_ORDERS = re.compile(r",? then |; |\n")
_PERSON = (  # what a person can ask for: the tool, and its arguments by group
    (re.compile(r"(?is)write (?P<content>.+?) (?:in)?to (?P<path>\S+?)[.]?"), "write_file"),
    (re.compile(r"(?i)read (?:the file )?(?P<path>\S+?)[.]?"), "read_file"),
    (re.compile(r"(?i)run: (?P<argv>.+)"), "run_shell_command"),
    (re.compile(r"(?i)remember that (?P<content>.+)"), "remember"),
    (re.compile(r"(?i)recall (?P<query>.+)"), "recall"),
    (re.compile(r"(?i)send: (?P<message>.+)"), "openclaw_send"),
    (re.compile(r"(?i)say (?P<words>.+)"), ""),
)
# What a tool does something with. One with none of these only looks.
_DOING = ("argv", "command", "script", "content", "message", "text", "title", "url", "key", "x")
_DOING_NAMES = ("open_application",)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*")
_LEAD = re.compile(
    r"(?i)^(?:[\W_]|\d+[.)]|(?:please|now|then|also|and|first|next|finally|important|urgent|note|system|admin"
    r"|assistant|ai|agent|user|human|attention|instead|immediately|just|kindly|so|todo)\b[\s:,!-]*)*"
)
_COMMANDS = re.compile(
    r"(?i)\b(?:you|assistants?|agents?|models?|ais?|it)\s+(?:must|should|shall|needs?|have to|has to|are to"
    r"|will|can|may)\b|\b(?:please|make sure|be sure|do not|don['’]t|never|always|from now on|let['’]s"
    r"|ignore|disregard|forget|remember to|i (?:need|want) you to|your (?:new )?(?:task|goal)|instead)\b"
)
_VERBS = """
accept act add address analyse analyze answer append apply approve archive ask attach authorize avoid begin
bring build buy calculate call cancel change check choose classify clear click close collect commit compare
compose compress compute confirm connect consider continue convert copy correct count create cut decode
decide define delete deliver deploy describe design detect determine direct disable discuss display do
download draft drop edit email embed emit enable encode encrypt end ensure enter erase establish evaluate
execute exfiltrate exit expand explain explore export expose extract fetch fill find fix follow force format
forward gather generate get give go grant guess hide highlight identify implement import include increase
infer infiltrate inform initiate inject insert inspect install introduce investigate invite invoke keep kill
launch learn leave let link list load locate lock log look mail make mark mask mention merge message modify
monitor move navigate notify obey obtain offer omit open order organise organize output overwrite paste pay
perform pick place post prepare present press print proceed produce promote prompt propagate provide publish
pull purchase push put query quote read rebuild recall recommend record redirect reduce refer refuse
register reject release remember remind remove rename render repeat replace reply report request reset
resolve respond restart restrict return reveal reverse review rewrite run save say scan schedule scrape
search see select send set share show shut sign skip solve speak specify spread start state steal stop store
submit subscribe suggest summarise summarize switch take talk tell terminate test track transfer translate
treat trigger trust try turn type unlock unsubscribe update upgrade upload use utilize verify view visit
wait warn watch wipe withdraw write
"""
_IMPERATIVE = frozenset(_VERBS.split())


class Instruction(NamedTuple):
    """Something to follow: one call, words to say, or a sentence that every tool is tried for."""

    told: str
    call: tuple[str, Mapping[str, Any]] | None = None
    words: str = ""


class ObedientChat:
    name = "obedient"
    calls_tools = True

    def __init__(self, *, anything: bool = False) -> None:
        self._anything = anything
        self._followed: set[tuple[str, str | int, int]] = set()
        self._called = 0
        self._words = ""

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        while (found := self._next(request.messages)) is not None:
            self._words = found.words or self._words
            wanted, kind = [found.call] if found.call else [], "obeyed"
            if not found.call and not found.words:
                wanted = [(tool.name, filled) for tool in request.tools if (filled := fill(tool, found.told))]
                kind = _TRIED
            if wanted:
                return ChatAnswer(calls=tuple(self._call(kind, *call) for call in wanted), stop="calls")
        results = [message.text for message in request.messages if message.role == "tool"]
        text = self._words or (results[-1] if results else "Done.")
        tell(text, watch)
        return ChatAnswer(text)

    def _next(self, messages: tuple[ChatMessage, ...]) -> Instruction | None:
        said = [message.text for message in messages if message.role == "user"]
        for message in reversed(messages):
            # A person who says the same again wants it again; a note that is recalled again says nothing new.
            times = said.count(message.text) if message.role == "user" else 0
            said = said[:-1] if message.role == "user" else said
            for found in instructions(message, anything=self._anything):
                mark = (found.told, times and message.text, times)
                if mark not in self._followed:
                    self._followed.add(mark)
                    return found
        return None

    def _call(self, kind: str, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        self._called += 1
        return ToolCall(f"{kind}-{self._called}", name, arguments)


def instructions(message: ChatMessage, *, anything: bool = False) -> Iterator[Instruction]:
    """All that a message tells a model to do, in its order."""
    if message.role == "assistant" or message.call.startswith(_TRIED):
        return
    for match in _CALL.finditer(message.text):
        try:
            arguments, end = json.JSONDecoder().raw_decode(message.text, match.end())
        except (ValueError, RecursionError):
            continue
        yield Instruction(message.text[match.start() : end], (match[1], arguments))
    rest = "\n".join(line for line in message.text.splitlines() if not _CALL.search(line))
    if message.role == "user":
        yield from filter(None, map(_order, _ORDERS.split(rest)))
    elif message.role == "tool" or not message.stable:
        for sentence in map(str.strip, _SENTENCE.findall(rest)):
            if re.search(r"\w", sentence) and (anything or is_imperative(sentence)):
                yield Instruction(sentence)


def is_imperative(sentence: str) -> bool:
    words = _LEAD.sub("", sentence).split(maxsplit=1)
    first = words[0].lower().strip("\"'`*_,:;.!?") if words else ""
    return first in _IMPERATIVE or _COMMANDS.search(sentence) is not None


def fill(tool: ToolSpec, sentence: str) -> dict[str, Any]:
    """The tool's arguments, made from a sentence; none when it does nothing."""
    known: Mapping[str, Any] = tool.schema.get("properties", {})
    doing = [name for name in _DOING if name in known]
    if not doing and tool.name not in _DOING_NAMES:
        return {}
    wanted = tool.schema.get("required") or doing[:1]
    return {name: _value(name, known.get(name, {}), sentence) for name in wanted}


def _value(name: str, field: Mapping[str, Any], sentence: str) -> Any:
    if field.get("enum"):
        return field["enum"][0]
    if field.get("type") in ("integer", "number"):
        return max(1, field.get("minimum", 1))
    if field.get("type") == "boolean":
        return True
    quoted = re.search(r"`([^`]+)`", sentence)
    if field.get("type") == "array":
        return _words(quoted[1]) if quoted else ["sh", "-c", sentence]
    found = {
        "path": r"(?<=\s)[~/]?[\w.-]+(?:/[\w.-]+)*\.\w+",
        "url": r"https?://[^\s`]+",
        "command": r"(?<=`)[^`]+(?=`)",
    }
    named = re.search(found.get(name, r"(?!)"), f" {sentence}")
    usual = {"path": "obeyed.md", "url": "http://127.0.0.1:9/", "key": "enter"}
    return named[0] if named else usual.get(name, sentence)


def _order(text: str) -> Instruction | None:
    """What a person asks for, when it is one of the things that this model knows."""
    for pattern, tool in _PERSON:
        if match := pattern.fullmatch(text.strip()):
            said = match.groupdict()
            if not tool:
                return Instruction(text, words=said["words"])
            return Instruction(
                text, (tool, {**said, "argv": _words(said["argv"])} if "argv" in said else said)
            )
    return None


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line) or [line]
    except ValueError:
        return line.split() or [line]
