"""Hooks are put into a host's settings and taken out again; what others have there stays, byte for byte."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import ConfigError, UsageError
from hindbrain.edge.hooks import install as installing
from hindbrain.edge.hooks.hosts import HOSTS, PROGRAM, Host
from hindbrain.edge.hooks.places import Where, rules_path, settings_path, where
from hindbrain.edge.hooks.plugins import plugin_enabled
from hindbrain.edge.main import main
from hindbrain.edge.mcp.hosts import Place
from hindbrain.edge.mcp.json_edit import append_item, read_members, remove_item, remove_member

_IN_JSON = [host for host in HOSTS if host.form != "plain"]


@pytest.fixture
def at(tmp_path: Path) -> Where:
    return Where("user", Place(tmp_path / "home", "linux", {}), tmp_path / "project")


def _install(host: Host, at: Where, command: tuple[str, ...] = (PROGRAM,)) -> list[installing.Change]:
    return installing.carry_out(installing.plan_install(host, at, command))


def _uninstall(host: Host, at: Where) -> list[installing.Change]:
    return installing.carry_out(installing.plan_uninstall(host, at))


def _write(host: Host, at: Where, text: str) -> Path:
    file = settings_path(host, at)
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    return file


_THEIRS = """{
    // mine, do not touch
    "model": "x",
    "hooks": {
        "Stop": [ {"hooks": [{"type": "command", "command": "say done"}]} ],
        "SessionStart": [
            { "hooks": [ { "type": "command", "command": "date" } ] }, // every morning
        ],
    },
    "z": [1,2,   3]
}
"""


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_every_event_of_a_host_is_installed_and_nothing_is_left_behind(
    host: Host, scope: str, at: Where
) -> None:
    at = at._replace(scope=scope)
    _install(host, at)
    text = settings_path(host, at).read_text(encoding="utf-8")
    assert all(event.name in text for event in host.events)
    assert installing.is_installed(host, at) is True
    assert not any(change.is_needed for change in installing.plan_install(host, at, (PROGRAM,)))
    _uninstall(host, at)
    assert not settings_path(host, at).exists() and not rules_path(at).exists()
    assert installing.is_installed(host, at) is False


@pytest.mark.promise("P5")
@pytest.mark.parametrize("host", _IN_JSON, ids=lambda host: host.name)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_others_have_stays_and_is_the_same_afterwards(
    host: Host, newline: str, mark: str, at: Where
) -> None:
    text = mark + _THEIRS.replace("\n", newline)
    if host.form == "cursor":
        text = text.replace('"model": "x",', '"version": 1,')
    file = _write(host, at, text)
    change = _install(host, at)[0]
    assert change.backup is not None and change.backup.read_bytes() == text.encode()
    after = file.read_bytes().decode()
    assert [
        line for line in after.splitlines() if "mine" in line or "morning" in line or "[1,2,   3]" in line
    ] == [line for line in text.splitlines() if "mine" in line or "morning" in line or "[1,2,   3]" in line]
    assert read_members(after)["hooks"].keys() >= {event.there for event in host.events}
    _uninstall(host, at)
    left = file.read_bytes().decode()
    assert read_members(left) == read_members(text)
    assert left.replace(",", "") == text.replace(",", "")  # a comma after the last item may be gone


_HOOK = st.fixed_dictionaries({"hooks": st.just([{"type": "command", "command": "date"}])})
_SETTINGS = st.dictionaries(
    st.sampled_from(["model", "env", "permissions"]), st.one_of(st.integers(), st.just({"a": [1]}))
)
_HOOKS = st.dictionaries(
    st.sampled_from(["SessionStart", "Stop", "PreToolUse", "Notification"]),
    st.lists(_HOOK, min_size=1, max_size=2),
    max_size=3,
)


@pytest.mark.promise("P5")
@settings(max_examples=15, deadline=None)
@given(other=_SETTINGS, hooks=st.one_of(st.none(), _HOOKS), indent=st.sampled_from([None, 2, 4, "\t"]))
def test_installing_and_uninstalling_gives_the_same_bytes(
    other: dict[str, Any], hooks: dict[str, Any] | None, indent: int | str | None
) -> None:
    host = installing.named_host("claude-code")
    held = {**other, **({"hooks": hooks} if hooks else {})}
    before = json.dumps(held, indent=indent) if held else ""
    added = installing._with_ours(host, before, (PROGRAM,))
    assert installing._with_ours(host, added, (PROGRAM,)) == added
    found = read_members(added)
    assert {name: value for name, value in found.items() if name != "hooks"} == other
    for event, entries in (hooks or {}).items():
        assert found["hooks"][event][: len(entries)] == entries
    assert installing._without_ours(host, added) == before


def test_an_entry_of_an_older_version_is_replaced(at: Where) -> None:
    host = installing.named_host("claude-code")
    _install(host, at, ("/old/place/hindbrain-hook",))
    _install(host, at, ("/new/place/hindbrain-hook",))
    text = settings_path(host, at).read_text(encoding="utf-8")
    assert "/old/place" not in text and text.count("/new/place") == len(host.events)


def test_an_entry_of_somebody_who_put_more_into_it_is_not_ours(at: Where) -> None:
    host = installing.named_host("claude-code")
    mixed = {
        "hooks": [{"type": "command", "command": "hindbrain-hook"}, {"type": "command", "command": "date"}]
    }
    file = _write(host, at, json.dumps({"hooks": {"Stop": [mixed]}}))
    _install(host, at)
    _uninstall(host, at)
    assert read_members(file.read_text(encoding="utf-8")) == {"hooks": {"Stop": [mixed]}}


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"hooks": 3}', '{"hooks": {"Stop": 3}}', '{"hooks": []}', "not json"]
)
def test_settings_that_can_not_be_edited_are_left_alone(text: str, at: Where) -> None:
    host = installing.named_host("claude-code")
    file = _write(host, at, text)
    with pytest.raises(ConfigError):
        installing.plan_install(host, at, (PROGRAM,))
    assert file.read_text(encoding="utf-8") == text


def test_a_file_that_is_a_link_stays_one(at: Where, tmp_path: Path) -> None:
    host = installing.named_host("claude-code")
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    settings_path(host, at).parent.mkdir(parents=True)
    settings_path(host, at).symlink_to(real)
    _install(host, at)
    assert settings_path(host, at).is_symlink() and "Stop" in real.read_text(encoding="utf-8")


def test_the_hosts_own_variables_say_where_its_settings_are(tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    at = Where("user", Place(tmp_path, "linux", environ), tmp_path)
    assert settings_path(installing.named_host("claude-code"), at) == tmp_path / "c" / "settings.json"
    assert settings_path(installing.named_host("codex"), at) == tmp_path / "x" / "hooks.json"


def test_a_host_that_is_not_known_is_named() -> None:
    with pytest.raises(UsageError, match="claude-code"):
        installing.named_host("clod")


def test_a_path_with_blanks_is_quoted_where_a_shell_reads_it(at: Where) -> None:
    import shlex

    host = installing.named_host("codex")
    _install(host, at, ("/my tools/hindbrain-hook",))
    command = read_members(settings_path(host, at).read_text(encoding="utf-8"))["hooks"]["Stop"][0]["hooks"][
        0
    ]["command"]
    assert shlex.split(command) == ["/my tools/hindbrain-hook", "codex", "stop"]


# Editing lists of a JSON text

_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=40, deadline=None)
@given(
    items=st.lists(_JSON, max_size=4), value=_JSON, indent=st.sampled_from([None, 1, 4, "\t"]), other=_JSON
)
def test_an_item_that_was_added_and_removed_leaves_the_same_bytes(
    items: list[Any], value: Any, indent: int | str | None, other: Any
) -> None:
    before = json.dumps({"a": {"list": items, "z": other}}, indent=indent, ensure_ascii=False)
    added = append_item(before, ("a", "list"), value)
    assert json.loads(added) == {"a": {"list": [*items, value], "z": other}}
    assert remove_item(added, ("a", "list"), len(items)) == before


@settings(max_examples=30, deadline=None)
@given(items=st.lists(_JSON, min_size=1, max_size=4), data=st.data(), indent=st.sampled_from([None, 2, "\t"]))
def test_any_item_can_be_removed(items: list[Any], data: st.DataObject, indent: int | str | None) -> None:
    index = data.draw(st.integers(0, len(items) - 1))
    after = remove_item(json.dumps({"l": items, "m": 1}, indent=indent), ("l",), index)
    assert json.loads(after) == {"l": items[:index] + items[index + 1 :], "m": 1}


@settings(max_examples=30, deadline=None)
@given(held=st.dictionaries(st.text(max_size=4), _JSON, min_size=1, max_size=4), data=st.data())
def test_any_member_can_be_removed(held: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(held)))
    after = remove_member(json.dumps({"in": held}, indent=2), ("in", name))
    assert json.loads(after) == {"in": {key: value for key, value in held.items() if key != name}}
    assert remove_member(after, ("in", name)) == after


def test_comments_around_an_item_stay() -> None:
    text = '{\n  "l": [\n    // one\n    1,\n    // two\n    2, // beside two\n    3\n  ]\n}\n'
    after = remove_item(text, ("l",), 1)
    assert read_members(after) == {"l": [1, 3]}
    assert all(said in after for said in ("// one", "// two", "// beside two"))


def _programs(file: Path) -> set[str]:
    """The programs that the hooks in a file of Claude Code or Cursor call."""
    entries = [
        one for items in read_members(file.read_text(encoding="utf-8"))["hooks"].values() for one in items
    ]
    handlers = [handler for entry in entries for handler in entry.get("hooks", [entry])]
    return {
        handler["command"] if "args" in handler else shlex.split(handler["command"])[0]
        for handler in handlers
    }


@pytest.mark.skipif(sys.platform == "win32", reason="makes a program of a POSIX shell")
@pytest.mark.parametrize("host", ["claude-code", "cursor"])
def test_a_host_without_a_path_finds_the_program(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A desktop host does not have the PATH of a shell."""
    bin_, home, project = (tmp_path / name for name in ("bin", "a home", "project"))
    for folder in (bin_, home, project):
        folder.mkdir()
    (bin_ / PROGRAM).write_text("#!/bin/sh\n", encoding="utf-8")
    (bin_ / PROGRAM).chmod(0o755)
    monkeypatch.setenv("PATH", str(bin_), prepend=os.pathsep)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(project)
    file = settings_path(installing.named_host(host), where("user"))
    old = installing.plan_install(installing.named_host(host), where("user"), (PROGRAM,))
    installing.carry_out(old)  # as an earlier version wrote it
    assert _programs(file) == {PROGRAM}

    assert main(["hook", "install", host]) == 0
    (program,) = _programs(file)
    assert Path(program).is_absolute() and Path(program).is_file()
    capsys.readouterr()
    assert main(["hook", "install", host, "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["files"][0]["changed"]

    assert main(["hook", "uninstall", host]) == 0
    assert not file.exists()
    installing.carry_out(old)
    assert main(["hook", "uninstall", host]) == 0
    assert not file.exists()

    assert main(["hook", "install", host, "--scope", "project"]) == 0  # a file that others share
    assert _programs(settings_path(installing.named_host(host), where("project"))) == {PROGRAM}


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_path_with_spaces_on_windows_is_quoted_for_its_shell(
    host: Host, at: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    program = r"C:\Users\A B\hindbrain-hook.exe"
    _install(host, at, (program,))
    text = settings_path(host, at).read_text(encoding="utf-8")
    assert json.dumps(program)[1:-1] in text
    if host.name == "gemini":
        assert json.dumps(f'& "{program}" gemini stop')[1:-1] in text
    elif host.name in ("codex", "cursor"):
        assert json.dumps(f'"{program}" {host.name} stop')[1:-1] in text
    assert installing.is_installed(host, at) is True
    _uninstall(host, at)
    assert not settings_path(host, at).exists()


_CODEX = installing.named_host("codex")
_CLAUDE = installing.named_host("claude-code")
# As these programs wrote them when the plugins were installed: Claude Code 2.1.197, Codex 0.166.0.
_CLAUDE_ON = '{"extraKnownMarketplaces": {}, "enabledPlugins": {"hindbrain@hindbrain": true}}'
_CODEX_ON = '[marketplaces.x]\nsource_type = "local"\n\n[plugins."hindbrain@x"]\nenabled = true\n'


def _records(at: Where, host: Host, text: str) -> None:
    file = settings_path(host, at)
    file = file.with_name("config.toml") if host.name == "codex" else file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize(
    ("host", "on"), [(_CLAUDE, _CLAUDE_ON), (_CODEX, _CODEX_ON)], ids=["claude-code", "codex"]
)
def test_a_plugin_is_seen_in_the_records_of_its_host(host: Host, on: str, scope: str, at: Where) -> None:
    at = at._replace(scope=scope)
    assert plugin_enabled(host, at) is False
    _records(at, host, on)
    assert plugin_enabled(host, at) is True
    _records(at, host, on.replace("true", "false"))
    assert plugin_enabled(host, at) is False
    _records(at, host, on.replace("hindbrain@", "hindbrain-other@"))
    assert plugin_enabled(host, at) is False
    _records(at, host, "[[[")
    assert plugin_enabled(host, at) is None


def test_a_plugin_that_one_person_has_switched_on_in_a_project_is_seen(at: Where) -> None:
    at = at._replace(scope="project")
    _records(at, _CLAUDE, "{}")
    settings_path(_CLAUDE, at).with_name("settings.local.json").write_text(_CLAUDE_ON, encoding="utf-8")
    assert plugin_enabled(_CLAUDE, at) is True


def test_of_a_host_that_does_not_say_it_is_not_known(at: Where) -> None:
    assert plugin_enabled(installing.named_host("gemini"), at) is None
