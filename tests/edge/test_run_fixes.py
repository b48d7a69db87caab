"""`hindbrain run`: what solved a failed command in one run is told to the next one in which it fails so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.models.chat import ChatAnswer
from hindbrain.models.chat_fake import calls
from workbench import Vault

DONE = "It is done.\nTASK_COMPLETE"
SCRIPT = """import pathlib, sys
if not pathlib.Path("settings.ini").exists():
    sys.exit("Error: settings.ini is missing, and the report can't be made without it")
"""


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(monkeypatch)
    made.nobody()
    return made


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "report.py").write_text(SCRIPT, encoding="utf-8")
    (folder / "prepare.py").write_text("open('settings.ini', 'w').close()\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def _python(name: str) -> ChatAnswer:
    return calls("run_shell_command", argv=[sys.executable, name])


def test_a_fix_of_one_run_is_told_to_the_next(cli: Cli, indexed: Vault, work: Path, stage: Stage) -> None:
    stage.person_types(*"yyy")
    first = stage.script(_python("report.py"), _python("prepare.py"), _python("report.py"), DONE)
    assert cli("run", "make the report").code == 0
    assert "Known fix" not in "\n".join(message.text for message in first.asked[1].messages)
    (work / "settings.ini").unlink()
    stage.person_types(*"yyy")
    second = stage.script(_python("report.py"), _python("prepare.py"), _python("report.py"), DONE)
    assert cli("run", "make the report of May").code == 0
    [result] = [message.text for message in second.asked[1].messages if message.role == "tool"]
    assert "Known fix" in result and "prepare.py" in result
    fixes = cli("stats", "--json").data["fixes"]
    assert (fixes["told"], fixes["heeded"], fixes["helped"]) == (1, 1, 1)
