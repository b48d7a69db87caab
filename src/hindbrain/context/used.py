"""Was it used? What entered a prompt, held against what the agent said and did afterwards.

Pure. An excerpt is *quoted* when five telling words of one of its lines follow one another in an answer,
*named* when its note's name or path is in an answer, and *run* when a command of its text is in a tool call.
What the person said first proves nothing. A paraphrase is not noticed: this is what is known, no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from hindbrain.context.capture.tool_calls import runs_command
from hindbrain.context.messages import Message
from hindbrain.context.receipts import WAYS, Entered, Receipt, Use, Way
from hindbrain.search.terms import STOP_WORDS

_QUOTE_WORDS = 5  # telling ones; fewer may well follow one another by chance
_COMMAND_WORDS = 2  # `make` alone says nothing
_WINDOWLESS = frozenset(("openclaw",))  # hosts that drop what was injected when the next prompt comes
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")  # unspaced scripts by sign
_CODE = re.compile(r"`([^`\n]+)`")
_PROMPT_SIGN = re.compile(r"^\s*[$>]\s+")
_BETWEEN_COMMANDS = re.compile(r"&&|\|\||[;|\n]")


class Heard(NamedTuple):
    """What was said and done after a receipt."""

    answers: str  # of the agent, in lower case
    asked: str  # of the person, in lower case
    runs: frozenset[tuple[str, ...]]  # of telling words in the answers that the person did not say first
    commands: tuple[str, ...]  # that the agent ran


def judge(
    receipts: Sequence[Receipt], messages: Sequence[Message], text_of: Callable[[Entered], str]
) -> Iterator[tuple[Receipt, tuple[Use, ...]]]:
    """What is newly known to have been used, of the receipts of one session, oldest first.

    `messages` are new in that session. `text_of` gives the lines of an excerpt, "" where they are gone.
    """
    hearing = _Hearing(messages, [receipt.prompt for receipt in receipts])
    for receipt, end in _with_end(receipts):
        if not receipt.delivered or not receipt.entered:
            continue
        heard = hearing.between(receipt.at, end)
        if not heard.answers and not heard.commands:
            continue
        uses = (_use(number, one, text_of, heard) for number, one in enumerate(receipt.entered))
        if found := tuple(use for use in uses if use.ways):
            yield receipt, found


def ways_used(path: str, text: str, heard: Heard) -> tuple[Way, ...]:
    """How an excerpt of that note was used; empty when that is not known."""
    found = {"quoted": _is_quoted(text, heard), "named": _is_named(path, heard), "run": _is_run(text, heard)}
    return tuple(way for way in WAYS if found[way])


def _with_end(receipts: Sequence[Receipt]) -> Iterator[tuple[Receipt, float]]:
    """Each with the time from which it is out of the window."""
    for number, receipt in enumerate(receipts):
        rest = receipts[number + 1 : number + 2] if receipt.host in _WINDOWLESS else ()
        yield receipt, rest[0].at if rest else inf


def _use(number: int, one: Entered, text_of: Callable[[Entered], str], heard: Heard) -> Use:
    path = "" if one.memory else one.path  # a note of memories has many
    ways = ways_used(path, text_of(one), heard)
    return Use(number, tuple(way for way in ways if way not in one.used))


class _Hearing:
    """The messages, read once for all receipts before them."""

    def __init__(self, messages: Sequence[Message], prompts: Sequence[str]) -> None:
        own = [*prompts, *(message.text for message in messages if message.role == "user")]
        self._asked = "\n".join(own).casefold()
        self._runs_asked = frozenset(_runs_of(own))
        self._agents = [message for message in messages if message.role == "assistant"]
        self._heard: dict[tuple[int, ...], Heard] = {}

    def between(self, since: float, until: float) -> Heard:
        """A message without a time may have come at any."""
        times = enumerate(message.at for message in self._agents)
        key = tuple(number for number, at in times if not at or since <= at < until)
        if key not in self._heard:
            self._heard[key] = self._hear([self._agents[number] for number in key])
        return self._heard[key]

    def _hear(self, messages: Sequence[Message]) -> Heard:
        said = [message.text for message in messages if not message.tool]
        return Heard(
            "\n".join(said).casefold(),
            self._asked,
            frozenset(_runs_of(said)) - self._runs_asked,
            tuple(message.text for message in messages if runs_command(message.tool)),
        )


def _runs_of(texts: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for text in texts:
        words = [word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS]
        yield from zip(*(words[at:] for at in range(_QUOTE_WORDS)), strict=False)


def _is_quoted(text: str, heard: Heard) -> bool:
    return any(run in heard.runs for run in _runs_of(text.splitlines()))


def _is_named(path: str, heard: Heard) -> bool:
    """One word, or a date, is like others unless it is written as a link or a file."""
    if not path:
        return False
    plain = path.casefold().removesuffix(".md")
    stem = plain.rpartition("/")[2]
    forms = [rf"(?<![\w/]){re.escape(stem)}\.md(?!\w)", rf"\[\[{re.escape(stem)}(?=[\]#|])"]
    if "/" in plain:
        forms.append(rf"(?<!\w){re.escape(plain)}(?!\w)")
    if len(_WORD.findall(stem)) > 1 and any(map(str.isalpha, stem)):
        forms.append(rf"(?<!\w){re.escape(stem)}(?!\w)")
    return any(re.search(form, heard.answers) and not re.search(form, heard.asked) for form in forms)


def _is_run(text: str, heard: Heard) -> bool:
    lines = [" ".join(line.replace("`", " ").split()) for line in text.splitlines()]
    for command in heard.commands:
        plain = " ".join(command.split())
        if any(_holds(plain, one) and one.casefold() not in heard.asked for one in _commands_in(text)):
            return True
        for part in _BETWEEN_COMMANDS.split(command):
            ran = " ".join(part.split())
            is_own = _is_command(ran) and ran.casefold() not in heard.asked
            if is_own and any(_holds(line, ran) for line in lines):
                return True
    return False


def _commands_in(text: str) -> Iterator[str]:
    """What is marked as code, or stands after a prompt's sign."""
    for line in text.splitlines():
        marked = [*_CODE.findall(line), *([_PROMPT_SIGN.sub("", line)] if _PROMPT_SIGN.match(line) else [])]
        yield from (found for one in marked if _is_command(found := " ".join(one.split())))


def _is_command(text: str) -> bool:
    return len(text.split()) >= _COMMAND_WORDS


def _holds(text: str, part: str) -> bool:
    """As whole words."""
    return re.search(rf"(?<![\w./-]){re.escape(part)}(?![\w/-])", text) is not None
