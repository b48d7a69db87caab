"""Which tools a run gets, from parts that are as an application has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.agent.policy_file import AgentPolicy
from hindbrain.agent.safety.command import shell_place
from hindbrain.agent.tools.box import Parts, find_workspace, toolbox_for
from hindbrain.agent.tools.memory import NAMES
from hindbrain.agent.tools.shell import Shell
from hindbrain.base.errors import ConfigError
from hindbrain.models.chat import ToolCall
from workbench import Bench

FILES = {"read_file", "write_file", "list_files"}


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.agent.tools.desktop.tools.desktop_missing", lambda: "none is wanted here")


def parts_of(bench: Bench, tmp_path: Path) -> Parts:
    app = bench.app
    rules = app.config.file.parent / "agent.toml"
    return Parts(lambda: app.memory, app.root, app.state, (app.config.file, rules), app.clock, {})


def test_a_run_gets_memory_and_files_and_more_where_there_is_more(plain: Bench, tmp_path: Path) -> None:
    parts = parts_of(plain, tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    assert set(toolbox_for(parts, work).tools) == {*NAMES, *FILES}
    shell = Shell(shell_place(work, "/usr/bin"), {})
    assert set(toolbox_for(parts._replace(shell=shell), work).tools) == {*NAMES, *FILES, "run_shell_command"}


def test_in_the_vault_itself_files_are_only_read(plain: Bench, tmp_path: Path) -> None:
    box = toolbox_for(parts_of(plain, tmp_path), plain.app.root)
    assert FILES & set(box.tools) == {"read_file", "list_files"}


def test_the_owners_rules_and_our_state_are_out_of_reach(plain: Bench, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text("[shell]\n", encoding="utf-8")
    box = toolbox_for(parts_of(plain, tmp_path), tmp_path)  # the settings lie in the workspace
    own = plain.app.state.relative_to(tmp_path).as_posix()
    for path in ("agent.toml", "no-config.toml", f"{own}/agent/approvals/a-1.json"):
        call = ToolCall("c1", "write_file", {"path": path, "content": "x"})
        assert box.run(*box.checked(call)).failed
    assert (tmp_path / "agent.toml").read_text(encoding="utf-8") == "[shell]\n"
    call = ToolCall("c2", "write_file", {"path": "fine.txt", "content": "x"})
    assert not box.run(*box.checked(call)).failed


def test_the_named_workspace_is_made_and_without_one_the_current_folder_counts(tmp_path: Path) -> None:
    named = tmp_path / "a" / "b"
    assert find_workspace(AgentPolicy(workspace=named), tmp_path) == named
    assert named.is_dir()
    assert find_workspace(AgentPolicy(), tmp_path) == tmp_path
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError):
        find_workspace(AgentPolicy(workspace=tmp_path / "file"), tmp_path)
