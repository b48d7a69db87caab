"""Commands with which an agent would decide in its owner's place: never carried out, whatever the rules say.

Recognises calls of our own program among a command's words, in commands that its words hold, and in code. A
program that the agent writes and then runs is not seen here: a person sees that it is run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from hindbrain.agent.safety.command import Command
from hindbrain.agent.safety.programs import is_runner
from hindbrain.agent.safety.shell_policy import commands_in
from hindbrain.context.guard import guard_call

_OURS = re.compile(r"hindbrain(?:-hook)?(?:\.exe|\.cmd)?(?:[@=~<>!\[].*)?|hindbrain\.edge\.(?:hooks\.)?main")
_DECIDING = frozenset(("approve", "run", "chat", "hook"))
_MOST_LOOKED_AT = 60  # commands in one command
_IN_CODE = re.compile(
    r"hindbrain\b.{0,300}\b(?:approve|accept|refuse|allow|resume|answer|set_setting|agent\.toml|config)\b",
    re.DOTALL | re.IGNORECASE,
)
_NO = "it would decide in the owner's place about what this agent may do or remember"


def why_never(command: Command, vault: Path | None) -> str:
    """Why the command is refused outright; "" when it is not."""
    for words in islice(commands_in(command.argv), _MOST_LOOKED_AT):
        if any(_is_ours(word) and _decides(words[at + 1 :]) for at, word in enumerate(words)):
            return _NO
        guarded = guard_call(vault, None, tool="shell", arguments={"command": list(words)}, cwd=command.cwd)
        if guarded.decision:
            return guarded.reason
    if is_runner(command.argv[0]) and any(_IN_CODE.search(word) for word in command.argv):
        return _NO
    return ""


def _is_ours(word: str) -> bool:
    name = word.replace("\\", "/").rpartition("/")[2].casefold()
    return bool(_OURS.fullmatch(name)) or word.casefold().endswith("hindbrain/__main__.py")


def _decides(words: Sequence[str]) -> bool:
    for at in _verbs(words):
        verb = words[at].casefold()
        after = [word.casefold() for word in words[at + 1 :]]
        if (
            verb in _DECIDING
            or (verb == "runs" and "resume" in after)
            or (verb == "mcp" and "install" in after)
        ):
            return True
        if verb == "inbox" and any(word in ("accept", "refuse", "edit") for word in after):
            return True
        if verb == "config" and (len(after) > 1 or any(word.startswith("--unset") for word in after)):
            return True
    return False


def _verbs(words: Sequence[str]) -> list[int]:
    """Where the verb may stand: the first word that is no option, and the next if that may be a value."""
    found: list[int] = []
    for at, word in enumerate(words):
        if word.startswith("-"):
            continue
        found.append(at)
        if not (at and words[at - 1].startswith("-") and "=" not in words[at - 1]):
            break
    return found
