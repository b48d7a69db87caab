"""What a list of steps or messages tells of a run: what was asked, what was done and said, what came of it.

Reads the forms in which agents log what they do: steps with an action and its observation, events that follow
each other, lists that lie side by side, messages whose text holds the action, and text alone. Pure; what a
log does not say about a step is None, never guessed to be a success of the run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hindbrain.context.capture.tool_calls import is_our_tool, runs_command
from hindbrain.context.capture.transcripts.blocks import mapping, seconds, texts
from hindbrain.learn.importing.logs import Record
from hindbrain.learn.importing.outcomes import call_failed
from hindbrain.learn.runs.journal import text_of

SHELL = "bash"
_ACTIONS = (
    "action",
    "tool",
    "tool_name",
    "toolName",
    "tool_call",
    "function",
    "command",
    "cmd",
    "code",
    "name",
)
_ARGUMENTS = (
    "arguments", "args", "action_input", "tool_input", "action_args", "parameters", "params", "input",
    "kwargs",
)  # fmt: skip
_CALLS = ("tool_calls", "calls", "actions")
_RESULTS = (
    "observation", "observations", "result", "output", "tool_result", "tool_output", "content", "response",
    "stdout", "reply",
)  # fmt: skip
_INNER = ("data", "payload", "extras", "metadata", "tool_result", "result", "observation")
_EXITS = ("exit_code", "returncode", "return_code", "exitCode", "exit_status")
_WORKED = ("ok", "success", "succeeded", "valid_action", "valid")
_BROKE = ("is_error", "isError", "failed", "error")
_THOUGHTS = ("thought", "thoughts", "reasoning", "response", "message")
_TIMES = ("timestamp", "time", "at", "ts", "created_at")
PEOPLE = ("user", "human", "customer")
NO_DEEDS = frozenset((
    "message", "think", "thought", "system", "recall", "null", "change_agent_state", "agent_state_changed",
    "initialize", "start",
))  # fmt: skip
LAST_DEEDS = frozenset(("finish", "answer", "final_answer", "submit", "stop", "terminate", "done"))
_EXIT_TEXT = re.compile(
    r"(?im)^\W{0,3}(?:(?:exit ?code|exit status|return ?code)\W{0,3}(-?\d{1,6})\b"
    r"|process exited with code (-?\d{1,6}))|<returncode>(-?\d{1,6})</"
)
_SHELL_SIGNS = re.compile(
    r"[|<>;&$`]|(?:^|\s)--?\w|\w\.\w{1,5}\b|(?<!in)/(?!on\b)|^(?:ls|cd|pwd|cat|git|submit)\b"
)
# What only a command that did not do its work prints.
_TROUBLE = re.compile(
    r"(?m)^(?:.{0,120}: )?(?:command not found|No such file or directory|Permission denied|not found"
    r"|missing operand|unrecognized option.*|invalid option.*|syntax error.*|cannot (?:access|open|stat).*)$"
    r"|^(?:fatal|error|E): \S|^Traceback \(most recent call last\)|^[A-Z]\w*(?:Error|Exception): "
    r"|^\w+: cannot |^(?:Nothing happens|Malformed command|(?:Invalid|Unknown) (?:action|command))"
)
_LOOKED_AT = 4_000  # characters of a result in which trouble is looked for, at its beginning and at its end
_BRACKETS = re.compile(r"([A-Za-z_][\w.-]*)\[(.*)\]", re.DOTALL)
_BETWEEN = re.compile(r",\s+")
_PAIR = re.compile(r"([a-z_]\w{0,40})(?:\s?=\s?|: )(\S.*)", re.DOTALL)
_KEYWORD = re.compile(r"([a-z_]\w{0,40})=(\S.*)", re.DOTALL)
_NOUNS = ("application", "app", "text", "key", "command", "url", "file", "path", "script")
_PARENTHESES = re.compile(r"([A-Za-z_][\w.-]*)\((.*)\)", re.DOTALL)


class Step(NamedTuple):
    """One call of a tool."""

    tool: str
    arguments: Mapping[str, Any]
    result: str = ""
    ok: bool | None = None  # None: the log does not say
    at: float = 0.0


class Course(NamedTuple):
    """What a sequence tells."""

    asked: str = ""  # the first words of the person
    steps: tuple[Step, ...] = ()
    said: tuple[str, ...] = ()  # the agent's words
    answer: str = ""  # what it gave as its answer, where that is marked
    fields: Mapping[str, str] = {}  # of a text: what it says of the whole run, by FIELDS


def failed(step: Step) -> bool:
    """Did the step fail? By the log's word, else by what the tool answered."""
    if step.ok is not None:
        return not step.ok
    command = text_of(step.arguments.get("command", ""))
    if call_failed(step.tool, command, step.result, told=False):
        return True
    ends = step.result if len(step.result) <= 2 * _LOOKED_AT else (
        step.result[:_LOOKED_AT] + "\n" + step.result[-_LOOKED_AT:]
    )  # fmt: skip
    return _TROUBLE.search(ends) is not None


# --- steps and events


def is_step(item: object) -> bool:
    """Is it an object that tells of an action, or of what came of one?"""
    if not isinstance(item, dict):
        return False
    item = _flat(item)
    named = any(isinstance(item.get(key), str | dict) and item[key] for key in _ACTIONS[:-1])
    named = named or (isinstance(item.get("name"), str) and any(key in item for key in _ARGUMENTS))
    named = named or ("role" not in item and bool(_calls_in(item)))
    return named or ("observation" in item and isinstance(item["observation"], str))


def course_of_steps(items: Iterable[object], *, shell: bool = False) -> Course:
    """Objects, pairs of them, or pairs of texts. `shell`: a text that is an action is a command line."""
    gathered = _Gathered(shell=shell)
    for item in _single(items):
        gathered.take(_flat(item))
    return gathered.course()


def course_of_columns(table: Record, *, shell: bool = False) -> Course | None:
    """Actions, observations and the like as lists of one length; None when there are no actions."""
    actions = table.get("actions") or table.get("action") or table.get("commands")
    if not isinstance(actions, list) or not any(isinstance(action, str) and action for action in actions):
        return None
    columns = {
        key: value for name, key in (
            ("observations", "observation"), ("observation", "observation"), ("outputs", "observation"),
            ("thoughts", "thought"), ("valid_action", "valid_action"), ("exit_codes", "exit_code"),
        ) if isinstance(value := table.get(name), list)
    }  # fmt: skip
    rows = [
        {"action": action} | {key: values[at] for key, values in columns.items() if at < len(values)}
        for at, action in enumerate(actions)
    ]
    return course_of_steps(rows, shell=shell)


def is_shell(actions: Sequence[str]) -> bool:
    """Are these command lines, and not the words of a game?"""
    bare = [action for action in actions if not _BRACKETS.fullmatch(action.strip())]
    signs = sum(_SHELL_SIGNS.search(action) is not None for action in bare)
    return bool(bare) and signs >= 0.3 * len(bare)


class _Gathered:
    """Steps that are being read."""

    def __init__(self, *, shell: bool) -> None:
        self._shell = shell
        self._steps: list[Step] = []
        self._said: list[str] = []
        self._asked = self._answer = ""
        self._open = False  # the last step has no result yet

    def take(self, item: Record) -> None:
        at = next((at for key in _TIMES if (at := seconds(item.get(key)))), 0.0)
        if item.get("source") in PEOPLE and item.get("action") == "message":
            self._asked = self._asked or self._words(item)
            return
        if (words := self._words(item)) and item.get("source") not in ("environment", *PEOPLE):
            self._said.append(words)
        call = _call_in(item, shell=self._shell)
        if call is None:
            if self._open and (_is_result(item)):
                self._steps[-1] = _with_result(self._steps[-1], item)
                self._open = False
            return
        tool, arguments = call
        if tool.casefold() in LAST_DEEDS and not runs_command(tool):
            told = mapping(arguments.get("outputs")).get("content") or next(iter(arguments.values()), "")
            self._answer = text_of(told).strip() or self._answer
            if tool.casefold() != "submit":
                return
        else:
            self._said.clear()  # words that go with a step are no answer
        if tool.casefold() in NO_DEEDS or is_our_tool(tool):
            return
        step = _with_result(Step(tool, arguments, at=at), item)
        self._steps.append(step)
        self._open = not step.result and step.ok is None

    def _words(self, item: Record) -> str:
        value = next((item[key] for key in _THOUGHTS if isinstance(item.get(key), str)), "")
        return str(value or mapping(item.get("args")).get("thought") or "").strip()

    def course(self) -> Course:
        return Course(self._asked, tuple(self._steps), tuple(self._said), self._answer)


def _single(items: Iterable[object]) -> Iterator[Record]:
    """Pairs of objects as two, pairs of texts as an action with its observation."""
    for item in items:
        if isinstance(item, dict) and (calls := _calls_in(item)):
            rest = {key: value for key, value in item.items() if key not in (*_CALLS, *_ACTIONS)}
            yield from (mapping(call.get("function")) or call for call in calls[:-1])
            yield {**rest, **(mapping(calls[-1].get("function")) or calls[-1])}
        elif isinstance(item, dict):
            yield item
        elif isinstance(item, list) and len(item) == 2 and isinstance(item[1], str) and item[1:] != item[:1]:
            first = item[0] if isinstance(item[0], dict) else {"action": item[0]}
            yield {**first, "observation": item[1]}
        elif isinstance(item, list) and item and all(isinstance(part, dict) for part in item):
            yield from item
        elif isinstance(item, str) and item.strip():
            yield {"action": item}


def _calls_in(item: Record) -> list[Record]:
    """The calls of a step that made several at once."""
    value: list[object] = next((item[key] for key in _CALLS if isinstance(item.get(key), list)), [])
    return [call for call in value if isinstance(call, dict)]


def _flat(item: Record) -> Record:
    """With what an event holds one level below."""
    inner = mapping(item.get("data")) or mapping(item.get("payload"))
    return {**item, **inner} if inner else item


def _call_in(item: Record, *, shell: bool) -> tuple[str, Mapping[str, Any]] | None:
    if isinstance(item.get("observation"), str) and not any(item.get(key) for key in _ACTIONS[:-1]):
        return None
    if "result" in texts(item.get("type")).casefold() or "observation" in texts(item.get("type")).casefold():
        return None
    for key in _ACTIONS:
        value = item.get(key)
        if key == "name" and not any(name in item for name in _ARGUMENTS):
            continue
        if isinstance(value, dict):
            return _call_in(value, shell=shell) or (
                (first_text_of(value, ("type", "action_type")), _rest(value)) if value else None
            )
        if isinstance(value, str) and value.strip():
            return _named(key, value.strip(), item, shell=shell)
    return None


def _named(key: str, value: str, item: Record, *, shell: bool) -> tuple[str, Mapping[str, Any]]:
    given = next((item[name] for name in _ARGUMENTS if item.get(name) is not None), None)
    if given is not None:
        arguments = arguments_of(given)
        command = arguments.get("command")
        if value == "run" and isinstance(command, str):
            return SHELL, {"command": command}
        return value, {
            name: told for name, told in arguments.items() if name not in ("thought", "wait_for_response")
        }
    if key in ("command", "cmd"):
        return SHELL, {"command": value}
    if key == "code":
        return first_text_of(item, ("language",)) or "python", {"code": value}
    if key in ("tool", "tool_name", "toolName", "function"):
        whole = _PARENTHESES.fullmatch(value) or _BRACKETS.fullmatch(value)
        return (whole[1], arguments_in(whole[1], whole[2])) if whole else (value, {})
    return call_of(value, shell=shell)


def call_of(action: str, *, shell: bool = False) -> tuple[str, Mapping[str, Any]]:
    """A call from its text: `search[cats]`, `click(id=3)`, a JSON object, a command line, or words."""
    action = action.strip()
    if action.startswith("{"):
        try:
            told = json.loads(action)
        except (ValueError, RecursionError):
            told = None
        if isinstance(told, dict) and (found := _call_in(told, shell=shell)):
            return found
    if brackets := _BRACKETS.fullmatch(action):
        if shell and brackets[1].casefold() in ("execute", "exec", "run", SHELL):
            return SHELL, {"command": brackets[2].strip()}
        return brackets[1], arguments_in(brackets[1], brackets[2])
    if shell and action.casefold() not in LAST_DEEDS:
        return SHELL, {"command": action}
    if parentheses := _PARENTHESES.fullmatch(action):
        return parentheses[1], arguments_in(parentheses[1], parentheses[2])
    verb, _, rest = action.partition(" ")
    return verb.rstrip(":"), arguments_in(verb, rest)


def arguments_in(tool: str, text: str) -> Mapping[str, Any]:
    """What stands between the brackets of a call: `n, command: true` has a name for its second part only."""
    noun = tool.rpartition("_")[2].casefold()
    name = noun if noun in _NOUNS else "target" if noun.endswith("click") else "input"
    first, *named = _BETWEEN.split(text.strip())
    pairs = [found.groups() for part in named if (found := _PAIR.fullmatch(part))]
    if len(pairs) < len(named):  # no names: it is one text with commas in it
        first, pairs = text, []
    if alone := _KEYWORD.fullmatch(first):
        return {alone[1]: unquoted(alone[2]), **{key: unquoted(value) for key, value in pairs}}
    told = {name: unquoted(first), **{key: unquoted(value) for key, value in pairs}}
    return {key: value for key, value in told.items() if value}


def unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def arguments_of(value: object) -> Mapping[str, Any]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value}
    if isinstance(value, dict):
        return value
    return {} if value is None or value == "" else {"input": value}


def _rest(value: Record) -> Mapping[str, Any]:
    return {key: told for key, told in value.items() if key not in ("type", "action_type", "thought")}


def _is_result(item: Record) -> bool:
    return any(key in item for key in _RESULTS) or any(key in item for key in _EXITS)


def _with_result(step: Step, item: Record) -> Step:
    told = next(
        (item[key] for key in _RESULTS
         if item.get(key) not in (None, "") and not (key == "observation" and "content" in item)
         and not (key == "response" and "action" in item)),
        "",
    )  # fmt: skip
    inner = mapping(told)
    text = text_of(next((inner[key] for key in (*_RESULTS, "text") if inner.get(key)), told)) if told else ""
    if isinstance(item.get("stderr"), str) and item["stderr"].strip():
        text = f"{text}\n{item['stderr']}".strip()
    ok = _ok(item)
    return step._replace(result=text, ok=ok if ok is not None else exit_said(text))


def _ok(item: Record) -> bool | None:
    """What an object says of its step, one level down at most."""
    for told in (item, *(mapping(item.get(key)) for key in _INNER)):
        told = {**mapping(told.get("metadata")), **told}
        code = next((told[key] for key in _EXITS if isinstance(told.get(key), int)), None)
        if code is not None:
            return bool(code == 0)
        flag = next((told[key] for key in _WORKED if isinstance(told.get(key), bool)), None)
        if flag is not None:
            return bool(flag)
        broke = next((told[key] for key in _BROKE if told.get(key) not in (None, "")), None)
        if broke is not None:
            return not broke
    return None


def exit_said(text: str) -> bool | None:
    """By the exit code that a result tells in its text; None when it tells none."""
    found = _EXIT_TEXT.search(text[:400]) or _EXIT_TEXT.search(text[-400:])
    return None if found is None else int(found[1] or found[2] or found[3]) == 0


def first_text_of(item: Record, keys: Sequence[str]) -> str:
    return next((text for key in keys if (text := texts(item.get(key)).strip())), "")
