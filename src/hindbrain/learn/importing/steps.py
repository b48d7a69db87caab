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
from hindbrain.context.capture.transcripts.blocks import content_of, mapping, seconds, texts
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
_SPEAKERS = ("role", "from", "speaker", "sender", "author")
_WORDS = ("content", "value", "text", "message")
_AGENTS = ("assistant", "ai", "gpt", "model", "agent", "bot", "chatgpt")
_SYSTEM = ("system", "developer")
_PEOPLE = ("user", "human", "customer")
_ENVIRONMENTS = re.compile(
    r"(?i)\b(?:terminal|executor|environment|env|tool|console|interpreter|observation|sandbox|function)\b"
)
_NO_DEEDS = frozenset((
    "message", "think", "thought", "system", "recall", "null", "change_agent_state", "agent_state_changed",
    "initialize", "start",
))  # fmt: skip
_LAST_DEEDS = frozenset(("finish", "answer", "final_answer", "submit", "stop", "terminate", "done"))
_OBSERVED = re.compile(r"(?i)\A(?:observation(?: \d+)?|the output of the os):\s*")
_FENCE = re.compile(r"```([A-Za-z]*)[ \t]*\r?\n(.*?)```", re.DOTALL)
_SHELL_FENCES = ("bash", "sh", "shell", "console", "zsh")
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
_LABEL = re.compile(
    r"(?i)\s{0,3}\**(thought|think|action input|action|act|observation|obs|final answer|answer|question|task"
    r"|query|goal|instruction|status|score|reward|final reward|success|outcome|result|reason|error"
    r"|exit ?code)\**[ \t]*#?\d{0,4}\**[ \t]*:\**[ \t]*(.*)"
)
_ASKED = frozenset(("question", "task", "query", "goal", "instruction"))
FIELDS = frozenset((
    "status", "score", "reward", "final reward", "success", "outcome", "result", "reason", "error",
))  # fmt: skip
_PROMPT = re.compile(r"(?:[\w.-]{1,40}@[\w.-]{1,60}:\S{0,100})?([>$]) (\S.*)")
_TASK_IS = re.compile(r"(?i)your task is to:?\s*(\S.*)")
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
        if item.get("source") in _PEOPLE and item.get("action") == "message":
            self._asked = self._asked or self._words(item)
            return
        if (words := self._words(item)) and item.get("source") not in ("environment", *_PEOPLE):
            self._said.append(words)
        call = _call_in(item, shell=self._shell)
        if call is None:
            if self._open and (_is_result(item)):
                self._steps[-1] = _with_result(self._steps[-1], item)
                self._open = False
            return
        tool, arguments = call
        if tool.casefold() in _LAST_DEEDS and not runs_command(tool):
            told = mapping(arguments.get("outputs")).get("content") or next(iter(arguments.values()), "")
            self._answer = text_of(told).strip() or self._answer
            if tool.casefold() != "submit":
                return
        else:
            self._said.clear()  # words that go with a step are no answer
        if tool.casefold() in _NO_DEEDS or is_our_tool(tool):
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
                (_text(value, ("type", "action_type")), _rest(value)) if value else None
            )
        if isinstance(value, str) and value.strip():
            return _named(key, value.strip(), item, shell=shell)
    return None


def _named(key: str, value: str, item: Record, *, shell: bool) -> tuple[str, Mapping[str, Any]]:
    given = next((item[name] for name in _ARGUMENTS if item.get(name) is not None), None)
    if given is not None:
        arguments = _arguments(given)
        command = arguments.get("command")
        if value == "run" and isinstance(command, str):
            return SHELL, {"command": command}
        return value, {
            name: told for name, told in arguments.items() if name not in ("thought", "wait_for_response")
        }
    if key in ("command", "cmd"):
        return SHELL, {"command": value}
    if key == "code":
        return _text(item, ("language",)) or "python", {"code": value}
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
    if shell and action.casefold() not in _LAST_DEEDS:
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
        return {alone[1]: _unquoted(alone[2]), **{key: _unquoted(value) for key, value in pairs}}
    told = {name: _unquoted(first), **{key: _unquoted(value) for key, value in pairs}}
    return {key: value for key, value in told.items() if value}


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _arguments(value: object) -> Mapping[str, Any]:
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


# --- messages whose text holds the action


def is_message(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    return bool(_text(item, (*_SPEAKERS, "name"))) and any(key in item for key in _WORDS)


def course_of_messages(items: Sequence[Record], *, shell: bool = False) -> Course:
    """Messages without calls of their own kind: what an agent does stands in its words."""
    agents = {who for item in items if (who := _speaker(item)) and not _is_environment(who)}
    many = len({who.casefold() for who in agents}.difference(_PEOPLE, _SYSTEM)) > 1
    gathered = _Spoken(many=many, shell=shell)
    for item in items:
        if not item.get("is_demo"):
            gathered.take(
                _speaker(item), content_of(next((item[key] for key in _WORDS if key in item), "")).text
            )
    return gathered.course()


def _speaker(item: Record) -> str:
    return _text(item, ("name",)) or _text(item, _SPEAKERS)


def _is_environment(who: str) -> bool:
    return _ENVIRONMENTS.search(who.replace("_", " ").replace("-", " ")) is not None


class _Spoken:
    """Messages that are being read. `many`: several agents talk with each other."""

    def __init__(self, *, many: bool, shell: bool) -> None:
        self._many, self._shell = many, shell
        self._course = Course()
        self._open = False  # the last step waits for its result

    def take(self, who: str, text: str) -> None:
        name, text = who.casefold(), text.strip()
        if name in _SYSTEM or not text:
            return
        if name in _PEOPLE or _is_environment(who):
            text = _OBSERVED.sub("", text)
        if self._open and (_is_environment(who) or (name in _PEOPLE and not self._many)):
            last = self._course.steps[-1]
            self._put(steps=(*self._course.steps[:-1], last._replace(result=text, ok=exit_said(text))))
            self._open = False
        elif name in _PEOPLE and not self._many:
            self._put(asked=self._course.asked or text)
        elif not _is_environment(who):
            self._speak(who, text)

    def _speak(self, who: str, text: str) -> None:
        if not self._course.asked and (self._many or who.casefold() in _PEOPLE) and not self._course.steps:
            self._put(asked=text)
            if who.casefold() in _PEOPLE:
                return
        acted = course_of_text(text, shell=self._shell)
        self._open = False
        if acted.steps or acted.answer:
            self._put(steps=(*self._course.steps, *acted.steps), answer=acted.answer or self._course.answer)
            self._put(said=acted.said)
            self._open = bool(acted.steps) and not acted.steps[-1].result
            return
        self._put(said=(*self._course.said, text))
        fences = [(kind.casefold(), code.strip()) for kind, code in _FENCE.findall(text) if code.strip()]
        runs = [one for one in fences if one[0] in (*_SHELL_FENCES, "python", *(() if self._many else ("",)))]
        if runs:
            kind, code = runs[-1]
            call = ("python", {"code": code}) if kind == "python" else call_of(code, shell=True)
            self._put(steps=(*self._course.steps, Step(*call)), said=())
            self._open = True
        elif self._many and who.casefold() not in _PEOPLE and "(thought)" not in who:
            said = " ".join(text.split())
            self._put(steps=(*self._course.steps, Step(who, {"said": said[:300]}, ok=True)))

    def _put(self, **changed: Any) -> None:
        self._course = self._course._replace(**changed)

    def course(self) -> Course:
        return self._course


# --- text


def course_of_text(text: str, *, shell: bool = False) -> Course:
    """`Thought:`, `Action:` and `Observation:`; or a prompt with what was typed, and what came back."""
    reading = TextReading(shell=shell)
    for line in text.splitlines():
        reading.take(line)
    return reading.course()


def tells_actions(text: str) -> bool:
    """Is it a log of actions, and not any text?"""
    found = course_of_text(text)
    return bool(found.steps) and (bool(found.asked) or len(found.steps) > 1)


class TextReading:
    """A text that is being read, line by line."""

    def __init__(self, *, shell: bool = False) -> None:
        self._shell = shell
        self._asked: list[str] = []
        self._steps: list[Step] = []
        self._said: list[str] = []
        self._answer: list[str] = []
        self._fields: dict[str, str] = {}
        self._result: list[str] = []
        self._state = ""  # which of them the next plain line belongs to
        self._after_blank = True

    @property
    def is_begun(self) -> bool:
        return bool(self._steps or self._answer)

    def take(self, line: str) -> None:
        if prompt := _PROMPT.fullmatch(line.rstrip()):
            self._typed(prompt[1], prompt[2].strip())
        elif (labelled := _LABEL.fullmatch(line.rstrip())) and not self._is_output(labelled[1].casefold()):
            self._labelled(labelled[1].casefold(), labelled[2].strip())
        elif task := _TASK_IS.search(line):
            self._asked = [task[1].strip()]
        elif self._state == "result":
            if self._result or line.strip():
                self._result.append(line.rstrip())
        elif line.strip() and self._state in ("asked", "said", "answer"):
            {"asked": self._asked, "said": self._said, "answer": self._answer}[self._state].append(
                line.strip()
            )
        elif line.strip() and self._state == "input":
            self._add_input(line.rstrip())
        self._after_blank = not line.strip()

    def _is_output(self, label: str) -> bool:
        """Does a line with a label belong to what a command printed?"""
        return self._state == "result" and label in _ASKED and not self._after_blank

    def _typed(self, mark: str, typed: str) -> None:
        if typed.casefold().startswith(("think:", "entering new", "finished chain")):
            self._close()
            self._state = ""
            return
        self._do(typed, shell=self._shell or mark == "$")
        self._state = "result"

    def _labelled(self, label: str, value: str) -> None:
        if label.replace(" ", "") == "exitcode":
            if value.split()[:1] and value.split()[0].lstrip("-").isdigit() and self._steps:
                self._close()
                self._steps[-1] = self._steps[-1]._replace(ok=int(value.split()[0]) == 0)
            self._state = ""
        elif label in FIELDS and not (label == "error" and self._state == "result"):
            self._close()
            self._fields[label], self._state = value, ""
        elif label == "error":
            self._result.append(f"Error: {value}")
        elif label in ("action", "act"):
            self._do(value, shell=self._shell)
            self._state = "input"
        elif label == "action input":
            self._add_input(value)
            self._state = "input"
        elif label in ("observation", "obs"):
            self._result, self._state = [value] if value else [], "result"
        else:
            self._close()
            lists = {
                "thought": self._said,
                "think": self._said,
                "final answer": self._answer,
                "answer": self._answer,
            }
            if label in _ASKED:
                self._asked = []
            lists.get(label, self._asked).extend([value] if value else [])
            self._state = {
                "thought": "said",
                "think": "said",
                "final answer": "answer",
                "answer": "answer",
            }.get(label, "asked")

    def _do(self, action: str, *, shell: bool) -> None:
        self._close()
        self._fields.clear()  # what was told before the end is no more than output
        tool, arguments = call_of(action, shell=shell) if action else ("", {})
        if tool.casefold() in ("finish", "answer", "final_answer"):
            self._answer = [text_of(value) for value in arguments.values()]
        elif tool and tool.casefold() not in _NO_DEEDS:
            self._steps.append(Step(tool, arguments))
            if tool.casefold() not in _LAST_DEEDS:
                self._said.clear()

    def _add_input(self, value: str) -> None:
        if not value or not self._steps or value.startswith("```"):
            return
        step = self._steps[-1]
        before = step.arguments.get("input")
        told = _arguments(f"{before}\n{value}" if before else value)
        if told.keys() == {"input"}:
            told = {"input": _unquoted(str(told["input"]))}
        key = "command" if runs_command(step.tool) and told.keys() == {"input"} else ""
        self._steps[-1] = step._replace(arguments={key: told["input"]} if key else told)

    def _close(self) -> None:
        """The last step has its result."""
        result = "\n".join(self._result).strip()
        if self._result and self._steps:
            ok = self._steps[-1].ok if self._steps[-1].ok is not None else exit_said(result)
            self._steps[-1] = self._steps[-1]._replace(result=result, ok=ok)
        self._result = []

    def course(self) -> Course:
        self._close()
        steps = tuple(step for step in self._steps if step.tool.casefold() not in _NO_DEEDS)
        return Course(
            " ".join(self._asked),
            steps,
            tuple(self._said),
            " ".join(self._answer).strip(),
            dict(self._fields),
        )


def _text(item: Record, keys: Sequence[str]) -> str:
    return next((text for key in keys if (text := texts(item.get(key)).strip())), "")
