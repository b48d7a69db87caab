"""How a run ended, where its log does not say: by what was done last, and by what the person said next.

Pure. The rules are tried in their order; where none holds, the answer is `unknown`, and that is an answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hindbrain.context.capture.commands import Command, understand_command
from hindbrain.context.capture.error_text import has_failed, understand_failure
from hindbrain.context.capture.tool_calls import runs_command
from hindbrain.learn.importing.last_words import gives_up
from hindbrain.learn.importing.prompts import accepts, corrects, cut_at_word, rephrases
from hindbrain.learn.runs.events import End

LONGEST_REASON = 300  # characters
RETRY_S = 120  # within which the same wish in other words means that it was not fulfilled
_GAVE_UP = re.compile(
    r"\b(?:could(?: not|n['’]t)|can(?:not| not|['’]t)|unable to|(?:was|am|were)(?: not|n['’]t) able|failed to"
    r"|still (?:fail\w*|broken|not working)|did(?: not|n['’]t) work|g(?:i|a)ve up|giving up|not possible"
    r"|no luck|sorry|unfortunately)\b",
    re.IGNORECASE,
)
_LAST_WORDS = 1_500  # characters of an agent's last message: it says at the end how it went
# Tools that only look, by how their names begin: get_user, listFiles, WebFetch, TodoWrite.
_LOOKS = re.compile(
    r"(?:[Gg]et|[Ll]ist|[Rr]ead|[Ss]earch|[Vv]iew|[Ff]etch|[Ff]ind|[Gg]lob|[Gg]rep|LS|ls|[Tt]hink|[Tt]odo"
    r"|[Ll]ookup|[Ss]how|[Dd]escribe|[Ww]eb)(?![a-z])"
)
_ERROR = re.compile(
    r"\s*(?:error\b|exception\b|traceback \(most recent|[\[{<(\"' ]{1,3}error\b)", re.IGNORECASE
)


_SIGNS = ("rror", "ailed", "FAIL", "Traceback", "Exception", "fatal:", "*** ", "npm ERR", "command not found")


class Verdict(NamedTuple):
    end: End
    reason: str = ""


class Effort(NamedTuple):
    """What the calls of a run so far tell about how it stands."""

    checked: bool | None = None  # did the last test, linter or build pass; None: there was none
    error: str = ""  # of the last call that did something and failed, when nothing has mended it since

    def after(self, tool: str, text: str, answer: str, *, failed: bool) -> Effort:
        """With one more call and its answer."""
        command = understand_command(text) if runs_command(tool) else None
        if command.looks_only if command is not None else _LOOKS.match(tool):
            return self
        if failed:
            error = understand_failure(text, answer).error if command is not None else first_line(answer)
            return Effort(False if _checks(command) else self.checked, error or f"{tool} failed")
        if _checks(command):
            return Effort(True)
        # Whatever else works now, a test that failed has not passed before it has run again.
        return self if self.checked is False else self._replace(error="")


def call_failed(tool: str, text: str, answer: str, *, told: bool) -> bool:
    """Did a call fail? `told`: the host says so; many logs only hold what the tool answered."""
    if told:
        return True
    if runs_command(tool):
        command = understand_command(text)
        if not (command.hides_exit or command.checks_only):  # the exit code that was told is its own
            return False
        # One of these is in every text that only a failure prints; most answers have none.
        return any(sign in answer for sign in _SIGNS) and has_failed(command, answer, failed=False)
    return _ERROR.match(answer) is not None


def judge(
    command: str,
    effort: Effort,
    *,
    last_words: str,
    interrupted: bool,
    next_prompt: str | None,
    pause_s: float | None,
) -> Verdict:
    """How the run ended. `next_prompt`: None when there is none; `pause_s`: until then, None if not known."""
    if interrupted:
        return Verdict("cancelled", "interrupted by the user")
    asked = last_words.rstrip(" *_`\"')").endswith("?")
    if next_prompt is not None and corrects(next_prompt, asked=asked):
        return Verdict("fail", first_line(next_prompt))
    if next_prompt is not None and _asks_again(command, next_prompt, effort, pause_s):
        return Verdict("fail", cut_at_word(f"asked again: {first_line(next_prompt)}", LONGEST_REASON))
    gave_up = gives_up(last_words, command)
    if effort.error and (gave_up or _GAVE_UP.search(last_words[-_LAST_WORDS:])):
        return Verdict("fail", first_line(effort.error))
    if gave_up:  # "thanks anyway" is no success
        return Verdict("unknown")
    if next_prompt is not None and (accepts(next_prompt) or (effort.checked and not effort.error)):
        return Verdict("complete")
    return Verdict("unknown")


def first_line(text: str) -> str:
    """What a reason is made of: the first line that says something, cut."""
    line = next((line for line in text.split("\n") if line.strip()), "")
    return cut_at_word(" ".join(line.split()), LONGEST_REASON)


def _asks_again(command: str, later: str, effort: Effort, pause_s: float | None) -> bool:
    if effort.checked or (pause_s is not None and pause_s > RETRY_S):
        return False
    same = later.split() == command.split()
    return (same and pause_s is not None) or (not same and rephrases(later, command))


def _checks(command: Command | None) -> bool:
    return command is not None and command.checks_only
