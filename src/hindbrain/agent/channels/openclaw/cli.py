"""The third way to OpenClaw: its own program, where that is all there is. It takes seconds to start.

Sends without a key: a message that was sent by a program that was then killed goes out twice.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hindbrain.agent.channels.channel import Incoming, Outgoing
from hindbrain.agent.channels.openclaw.history import MOST_CHARS, Target, incoming
from hindbrain.base.errors import ChannelDown, ConfigError, Refused

_MOST_CHARS = 30_000  # of a command line, with room to spare on every system
_SCRIPTS = (".cmd", ".bat", ".ps1")


class OpenClawProgram:
    def __init__(
        self, name: str, target: Target, program: str = "openclaw", *, timeout_s: float = 120.0
    ) -> None:
        self._name = name
        self.target = target
        self._program = program
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        return self._name

    def send(self, message: Outgoing) -> str:
        if len(message.text) > _MOST_CHARS:
            raise Refused(
                f"a message of {len(message.text):,} characters is too long for the program of the channel "
                f"{self.name!r}; send parts, or set `address` to the gateway's"
            )
        # "--name=value": a text that begins with a dash is no option.
        answer = self._run(
            "message", "send",
            f"--channel={self.target.channel}",
            f"--target={message.to or self.target.to}",
            f"--message={message.text}",
        )  # fmt: skip
        return str(answer.get("messageId") or message.key)

    def check(self, limit: int) -> list[Incoming]:
        params = json.dumps({"sessionKey": self.target.session, "limit": limit, "maxChars": MOST_CHARS})
        answer = self._run("gateway", "call", "chat.history", f"--params={params}")
        return incoming(self.name, answer.get("messages"), self.target)

    def taken(self, messages: Sequence[Incoming]) -> None:
        """The session keeps them: nothing to do."""

    def _run(self, *words: str) -> Mapping[str, Any]:
        command = [self._found(), *words, "--json"]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=self._timeout_s, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ChannelDown(
                f"{self._program!r} did not come back within {self._timeout_s:g} s; try again"
            ) from error
        except (OSError, ValueError) as error:
            raise ChannelDown(f"{self._program!r} could not be started ({error}); try again") from error
        answer = _last_object(done.stdout.decode("utf-8", "replace"))
        if done.returncode or answer.get("ok") is False:
            said = answer.get("error")
            reason = said.get("message") if isinstance(said, dict) else done.stderr.decode("utf-8", "replace")
            words_ = " ".join(str(reason).split())[:300]
            raise ChannelDown(f"{self._program!r} failed ({words_}); see what `openclaw doctor` says")
        return answer

    def _found(self) -> str:
        found = shutil.which(self._program)
        if found is None:
            raise ConfigError(
                f"there is no program {self._program!r} for the channel {self.name!r}; install OpenClaw, or "
                "set `address` to where its gateway is (ws://127.0.0.1:18789)"
            )
        if Path(found).suffix.lower() in _SCRIPTS:
            # The system's shell would read the message's text as its own.
            raise ConfigError(
                f"{found!r} is a script, which is given no message to; set `address` of the channel "
                f"{self.name!r} to where the gateway is (ws://127.0.0.1:18789)"
            )
        return found


def _last_object(text: str) -> Mapping[str, Any]:
    """The JSON object at the end; programs like to say something before it."""
    start = text.find("{")
    while start >= 0:
        try:
            found = json.loads(text[start:])
        except (ValueError, RecursionError):
            start = text.find("\n{", start + 1)
            continue
        return found if isinstance(found, dict) else {}
    return {}
