"""OpenClaw is found where it keeps itself: its file, its program's version, its agents, its gateway."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from claw_bench import answering, put_program

from hindbrain.base.errors import ConfigError, NotFound
from hindbrain.edge.mcp.hosts import Place
from hindbrain.edge.openclaw.place import (
    Workspace,
    ask_gateway,
    find_openclaw,
    find_program,
    gateway_port,
    version_trouble,
    workspaces,
)


def place(home: Path, **environ: str) -> Place:
    return Place(home, "linux", {"PATH": str(home / "bin"), **environ})


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ".openclaw/openclaw.json"),
        ({"OPENCLAW_HOME": "{home}/o"}, "o/.openclaw/openclaw.json"),
        ({"OPENCLAW_STATE_DIR": "{home}/s"}, "s/openclaw.json"),
        ({"OPENCLAW_STATE_DIR": "{home}/s", "OPENCLAW_PROFILE": "work"}, "s/openclaw.json"),
        ({"OPENCLAW_PROFILE": "work"}, ".openclaw-work/openclaw.json"),
        ({"OPENCLAW_PROFILE": "default"}, ".openclaw/openclaw.json"),
        ({"OPENCLAW_CONFIG_PATH": "{home}/c.json5"}, "c.json5"),
    ],
)
def test_the_file_is_where_openclaw_looks_for_it(
    tmp_path: Path, environ: dict[str, str], expected: str
) -> None:
    put(tmp_path / expected, "{gateway: {mode: 'local'}} // JSON5")
    named = {name: value.format(home=tmp_path) for name, value in environ.items()}
    found = find_openclaw(place(tmp_path, **named))
    assert found.file == tmp_path / expected
    assert found.members == {"gateway": {"mode": "local"}}


def test_a_folder_without_a_file_is_an_openclaw_with_nothing_set(tmp_path: Path) -> None:
    (tmp_path / ".openclaw").mkdir()
    found = find_openclaw(place(tmp_path))
    assert (found.before, found.members) == (None, {})


def test_no_trace_of_it_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        find_openclaw(place(tmp_path))


@pytest.mark.parametrize("text", ["{", "[]", "3", "{a: b}", "{} {}"])
def test_a_file_that_is_no_object_is_told_as_such(tmp_path: Path, text: str) -> None:
    put(tmp_path / ".openclaw" / "openclaw.json", text)
    with pytest.raises(ConfigError):
        find_openclaw(place(tmp_path))


def test_the_version_is_read_beside_the_program_which_is_not_run(tmp_path: Path) -> None:
    put_program(tmp_path, "2026.9.6")
    program = find_program(place(tmp_path))
    assert program is not None
    assert program.version == "2026.9.6"
    assert find_program(Place(tmp_path, "linux", {"PATH": str(tmp_path / "nothing")})) is None


@pytest.mark.skipif(os.name == "nt", reason="the first of the two there")
def test_a_script_that_npm_writes_lies_beside_the_package(tmp_path: Path) -> None:
    script = put(tmp_path / "bin" / "openclaw", "#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    put(
        tmp_path / "bin" / "node_modules" / "openclaw" / "package.json",
        json.dumps({"name": "openclaw", "version": "2026.9.2"}),
    )
    program = find_program(place(tmp_path))
    assert program is not None
    assert program.version == "2026.9.2"


@pytest.mark.parametrize(
    ("version", "usable", "told"),
    [
        ("2026.9.6", True, False),
        ("2026.9.6-beta.2", True, True),
        ("2026.9.1", True, True),
        ("2026.8.31", False, True),
        ("2025.12.9", False, True),
        ("2026.10.1", True, True),
        ("", True, True),
    ],
)
def test_versions_are_told_apart(version: str, usable: bool, told: bool) -> None:
    can, words = version_trouble(version)
    assert (can, bool(words)) == (usable, told)


@pytest.mark.parametrize(
    ("environ", "config", "port"),
    [
        ({}, {}, 18789),
        ({}, {"gateway": {"port": 19999}}, 19999),
        ({"OPENCLAW_GATEWAY_PORT": "20001"}, {"gateway": {"port": 19999}}, 20001),
        ({"OPENCLAW_GATEWAY_PORT": "127.0.0.1:20002"}, {}, 20002),
        ({"OPENCLAW_GATEWAY_PORT": "none"}, {"gateway": {"port": "x"}}, 18789),
        ({"OPENCLAW_PROFILE": "dev"}, {}, 19001),
        ({"OPENCLAW_PROFILE": "rescue"}, {}, 23532),
    ],
)
def test_the_port_is_the_one_openclaw_itself_takes(
    tmp_path: Path, environ: dict[str, str], config: dict[str, Any], port: int
) -> None:
    where = place(tmp_path, OPENCLAW_STATE_DIR=str(tmp_path), **environ)
    put(tmp_path / "openclaw.json", json.dumps(config))
    assert gateway_port(find_openclaw(where)) == port


def test_each_agent_has_its_workspace(tmp_path: Path) -> None:
    def found(config: dict[str, Any], **environ: str) -> tuple[Workspace, ...]:
        put(tmp_path / ".openclaw" / "openclaw.json", json.dumps(config))
        return workspaces(find_openclaw(place(tmp_path, **environ)))

    state = tmp_path / ".openclaw"
    assert found({}) == (Workspace("main", state / "workspace"),)
    assert found({}, OPENCLAW_WORKSPACE_DIR="/w") == (Workspace("main", Path("/w").absolute()),)
    several = {
        "agents": {
            "defaults": {"workspace": "~/claw"},
            "entries": {"main": {}, "ops": {}, "own": {"workspace": str(tmp_path / "own")}},
        }
    }
    assert found(several) == (
        Workspace("main", tmp_path / "claw"),
        Workspace("ops", tmp_path / "claw" / "ops"),
        Workspace("own", tmp_path / "own"),
    )
    listed = {"agents": {"list": [{"id": "ops"}, "nonsense", {"workspace": "x"}]}}
    assert found(listed)[1] == Workspace("ops", state / "workspace-ops")


def test_a_gateway_is_told_from_silence_and_from_other_programs() -> None:
    with answering(b'{"ok":true,"status":"live"}') as port:
        assert ask_gateway(port).answers
    with answering(b'{"hello": 1}') as port:
        assert (ask_gateway(port).answers, bool(ask_gateway(port).said)) == (False, True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        assert ask_gateway(taken.getsockname()[1]) == (taken.getsockname()[1], False, "")
