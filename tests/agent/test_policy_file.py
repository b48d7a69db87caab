"""agent.toml: what the owner lets the agent do, read strictly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hindbrain.agent.policy_file import AgentPolicy, Price, read_policy
from hindbrain.agent.run import Limits
from hindbrain.base.errors import ConfigError

_WHOLE = """
[limits]
iterations = 12
minutes = 2.5
tokens = 1000
cost = 0.5
window = 8192
[shell]
allow = [["git", "status"], ["ls", "**"]]
deny  = [["rm", "**"]]
[workspace]
path = "~/agent-work"
[channels.phone]
kind = "openclaw"
address = "ws://127.0.0.1:18789"
quiet = "22:00-07:00"
[events]
"sync-complete" = ["http://127.0.0.1:7600/memory", "phone"]
consolidated = ["phone"]
[prices."gpt-4o-mini"]
sent = 0.15
made = 0.60
"""


def _read(tmp_path: Path, text: str) -> AgentPolicy:
    file = tmp_path / "agent.toml"
    file.write_text(text, encoding="utf-8")
    return read_policy(file)


def test_without_a_file_nothing_is_allowed_beforehand(tmp_path: Path) -> None:
    policy = read_policy(tmp_path / "agent.toml")
    assert policy == AgentPolicy() and policy.shell.allow == () and policy.workspace is None


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    policy = _read(tmp_path, _WHOLE)
    assert policy.limits == Limits(12, 150.0, 1000, 0.5, 8192)
    assert policy.shell.allow == (("git", "status"), ("ls", "**")) and policy.shell.deny == (("rm", "**"),)
    assert policy.workspace == Path("~/agent-work").expanduser()
    assert policy.channels["phone"]["quiet"] == "22:00-07:00"
    assert policy.prices == {"gpt-4o-mini": Price(0.15, 0.60)}
    assert policy.events == {
        "sync-complete": ("http://127.0.0.1:7600/memory", "phone"), "consolidated": ("phone",),
    }  # fmt: skip


def test_what_is_not_said_is_as_usual(tmp_path: Path) -> None:
    assert _read(tmp_path, "[limits]\niterations = 3\n").limits == Limits()._replace(iterations=3)
    assert _read(tmp_path, "") == AgentPolicy()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[limit]\n", "limits"), ("[shell]\nalow = []\n", "allow"),
        ("[limits]\niteration = 1\n", "iterations"), ("[workspace]\nfolder = 'x'\n", "path"),
        ("[prices.x]\nsend = 1\n", "sent"), ("[nonsense]\n", "nonsense"), ("[shell]\nask = []\n", "ask"),
        ("allow = []\n", "allow"), ("shell = 1\n", "shell"),
    ],
)  # fmt: skip
def test_an_unknown_name_is_told_with_what_may_be_meant(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigError) as error:
        _read(tmp_path, text)
    assert repr(named) in str(error.value) and "agent.toml" in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "[limits]\niterations = -1\n", "[limits]\niterations = true\n", "[limits]\niterations = 1.5\n",
        "[limits]\nwindow = 0\n", "[limits]\nwindow = 1999\n", "[limits]\ncost = nan\n",
        "[limits]\nminutes = inf\n", "[limits]\nminutes = '5'\n",
        "[shell]\nallow = 'git status'\n", "[shell]\nallow = ['git']\n", "[shell]\nallow = [[1]]\n",
        "[shell]\nallow = [[]]\n", "[shell]\ndeny = [['*']]\n", "[workspace]\npath = 5\n",
        "[workspace]\npath = 'relative'\n", "[channels]\nphone = 'x'\n", "[channels.phone]\naddress = 'x'\n",
        "[channels.terminal]\nkind = 'webhook'\n",
        "[prices]\nx = 1\n", "[prices.x]\nsent = -1\n", "[shell\n", "\ufeff[[",
        "[shell]\nallow = [['sh', '-c', '**']]\n", "shell = []\n",
        "[events]\nsynced = ['phone']\n", "[events]\nconsolidated = ['phone']\n",
        "[events]\nconsolidated = 'http://127.0.0.1:1'\n", "[events]\nconsolidated = [1]\n",
        "[events]\nconsolidated = ['']\n", "[events]\nconsolidated = ['http://example.com/x']\n",
        "[events]\nconsolidated = ['https://me:secret@example.com']\n",
        "[events]\nconsolidated = ['ftp://127.0.0.1/x']\n", "events = ['phone']\n",
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_and_nothing_is_guessed(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        _read(tmp_path, text)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_bytes(b"\xff\xfe[")
    with pytest.raises(ConfigError):
        read_policy(tmp_path / "agent.toml")
    with pytest.raises(ConfigError):
        read_policy(tmp_path)  # a folder


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_file_that_everybody_can_write_decides_nothing(tmp_path: Path) -> None:
    _read(tmp_path, _WHOLE)
    (tmp_path / "agent.toml").chmod(0o666)
    with pytest.raises(ConfigError):
        read_policy(tmp_path / "agent.toml")
