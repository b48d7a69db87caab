"""OpenClaw reached through its own program: a real process that tells what it was given."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.agent.channels.channel import Outgoing
from hindbrain.agent.channels.openclaw.cli import OpenClawProgram
from hindbrain.agent.channels.openclaw.history import Target
from hindbrain.base.errors import HindbrainError

if sys.platform == "win32":
    pytest.skip("a script is given no message there", allow_module_level=True)

_TARGET = Target("telegram", "42", since=1_000.0)
_PROGRAM = """#!{python}
import json, sys, time
open({log!r}, "a").write(json.dumps(sys.argv[1:]) + chr(10))
{act}
"""


def program(folder: Path, act: str) -> str:
    file = folder / "openclaw"
    file.write_text(
        _PROGRAM.format(python=sys.executable, log=str(folder / "log"), act=act), encoding="utf-8"
    )
    file.chmod(0o755)
    return str(file)


def given(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "log").read_text(encoding="utf-8").splitlines()]


def says(answer: Any, code: int = 0) -> str:
    return f"print('a line before it'); print({json.dumps(answer, indent=1)!r}); sys.exit({code})"


def failure(channel: OpenClawProgram, text: str = "hello") -> HindbrainError:
    with pytest.raises(HindbrainError) as caught:
        channel.send(Outgoing("k", "phone", text))
    return caught.value


@pytest.mark.parametrize("text", ["hello", "--json; rm -rf $HOME", "-", 'a "b" `c`\nd $(e) %F% 😀'])
def test_the_text_reaches_the_program_as_it_is(tmp_path: Path, text: str) -> None:
    made = program(tmp_path, says({"action": "send", "messageId": "107", "payload": {"ok": True}}))
    assert OpenClawProgram("phone", _TARGET, made).send(Outgoing("k", "phone", text)) == "107"
    assert given(tmp_path) == [
        ["message", "send", "--channel=telegram", "--target=42", f"--message={text}", "--json"]
    ]


def test_a_session_is_read_through_the_program(tmp_path: Path) -> None:
    said = {
        "messages": [{"role": "user", "content": "hi", "timestamp": 2_000_000, "__openclaw": {"id": "m"}}]
    }
    channel = OpenClawProgram("phone", _TARGET, program(tmp_path, says(said)))
    assert [(one.id, one.text) for one in channel.check(20)] == [("m", "hi")]
    words = given(tmp_path)[0]
    assert words[:3] == ["gateway", "call", "chat.history"]
    assert json.loads(words[3].removeprefix("--params=")) == {
        "sessionKey": "main",
        "limit": 20,
        "maxChars": 100_000,
    }


@pytest.mark.parametrize(
    "act",
    [
        says({"ok": False, "error": {"type": "cli_error", "message": "Unknown channel"}}, 1),
        says({"ok": False}),
        "sys.stderr.write('broken'); sys.exit(3)",
        "sys.exit(-9)",
    ],
)
def test_a_program_that_fails_keeps_the_message_waiting(tmp_path: Path, act: str) -> None:
    assert failure(OpenClawProgram("phone", _TARGET, program(tmp_path, act))).code == "channel_down"


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    made = program(tmp_path, "time.sleep(600)")
    assert failure(OpenClawProgram("phone", _TARGET, made, timeout_s=0.5)).code == "channel_down"


def test_a_program_that_is_not_there_is_the_owners_to_install(tmp_path: Path) -> None:
    assert failure(OpenClawProgram("phone", _TARGET, str(tmp_path / "none"))).code == "config"


def test_a_script_of_the_shell_is_given_no_message(tmp_path: Path) -> None:
    made = Path(program(tmp_path, says({}))).rename(tmp_path / "openclaw.cmd")
    assert failure(OpenClawProgram("phone", _TARGET, str(made))).code == "config"
    assert not (tmp_path / "log").exists()


def test_a_text_that_no_command_line_holds_is_refused(tmp_path: Path) -> None:
    made = program(tmp_path, says({}))
    assert failure(OpenClawProgram("phone", _TARGET, made), "x" * 30_001).code == "refused"
