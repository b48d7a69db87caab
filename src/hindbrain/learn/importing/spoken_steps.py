"""Messages without calls of their own kind: what an agent does stands in its words. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hindbrain.context.capture.transcripts.blocks import content_of
from hindbrain.learn.importing.logs import Record
from hindbrain.learn.importing.steps import PEOPLE, Course, Step, call_of, exit_said, first_text_of
from hindbrain.learn.importing.text_logs import course_of_text

_SPEAKERS = ("role", "from", "speaker", "sender", "author")
_WORDS = ("content", "value", "text", "message")
_SYSTEM = ("system", "developer")
_ENVIRONMENTS = re.compile(
    r"(?i)\b(?:terminal|executor|environment|env|tool|console|interpreter|observation|sandbox|function)\b"
)
_OBSERVED = re.compile(r"(?i)\A(?:observation(?: \d+)?|the output of the os):\s*")
_FENCE = re.compile(r"```([A-Za-z]*)[ \t]*\r?\n(.*?)```", re.DOTALL)
_SHELL_FENCES = ("bash", "sh", "shell", "console", "zsh")


def is_message(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    return bool(first_text_of(item, (*_SPEAKERS, "name"))) and any(key in item for key in _WORDS)


def course_of_messages(items: Sequence[Record], *, shell: bool = False) -> Course:
    """Messages without calls of their own kind: what an agent does stands in its words."""
    agents = {who for item in items if (who := _speaker(item)) and not _is_environment(who)}
    many = len({who.casefold() for who in agents}.difference(PEOPLE, _SYSTEM)) > 1
    gathered = _Spoken(many=many, shell=shell)
    for item in items:
        if not item.get("is_demo"):
            gathered.take(
                _speaker(item), content_of(next((item[key] for key in _WORDS if key in item), "")).text
            )
    return gathered.course()


def _speaker(item: Record) -> str:
    return first_text_of(item, ("name",)) or first_text_of(item, _SPEAKERS)


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
        if name in PEOPLE or _is_environment(who):
            text = _OBSERVED.sub("", text)
        if self._open and (_is_environment(who) or (name in PEOPLE and not self._many)):
            last = self._course.steps[-1]
            self._put(steps=(*self._course.steps[:-1], last._replace(result=text, ok=exit_said(text))))
            self._open = False
        elif name in PEOPLE and not self._many:
            self._put(asked=self._course.asked or text)
        elif not _is_environment(who):
            self._speak(who, text)

    def _speak(self, who: str, text: str) -> None:
        if not self._course.asked and (self._many or who.casefold() in PEOPLE) and not self._course.steps:
            self._put(asked=text)
            if who.casefold() in PEOPLE:
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
        elif self._many and who.casefold() not in PEOPLE and "(thought)" not in who:
            said = " ".join(text.split())
            self._put(steps=(*self._course.steps, Step(who, {"said": said[:300]}, ok=True)))

    def _put(self, **changed: Any) -> None:
        self._course = self._course._replace(**changed)

    def course(self) -> Course:
        return self._course
