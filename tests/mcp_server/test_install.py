"""`hindbrain mcp install` and `uninstall`: show the change, make it, and keep what was there."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.main import main
from hindbrain.edge.mcp.hosts import HOSTS, Place, host_named
from workbench import Vault

HOME_VARIABLES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR", "OPENCLAW_HOME",
    "XDG_CONFIG_HOME", "OPENCODE_CONFIG",
)  # fmt: skip
FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "codex": ".codex/config.toml",
    "openclaw": ".openclaw/openclaw.json",
    "opencode": ".config/opencode/opencode.json",
}
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the places are those of Linux")


class Home:
    """A home folder without settings, and the command that is run in it."""

    def __init__(self, folder: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._root = root
        self._capsys = capsys

    def install(self, *words: str) -> tuple[int, str, str]:
        return self._run("install", *words, "--vault", str(self._root))

    def uninstall(self, *words: str) -> tuple[int, str, str]:
        return self._run("uninstall", *words)

    def _run(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = main(["mcp", *words])
        out, err = self._capsys.readouterr()
        return code, out, err

    def data(self, *words: str) -> dict[str, Any]:
        code, out, _ = self.install(*words, "--json")
        assert code == 0
        return dict(json.loads(out))

    def put(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def files(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
def home(
    tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Home]:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in HOME_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    yield Home(folder, vault.root, capsys)


def _server(text: str, host: str) -> Any:
    held = tomllib.loads(text) if host == "codex" else json.loads(text)
    below = {"codex": "mcp_servers", "opencode": "mcp"}.get(host, "mcpServers")
    if host == "openclaw":
        return held["mcp"]["servers"]["hindbrain"]
    return held[below]["hindbrain"]


@on_linux
@pytest.mark.parametrize("host", FILES)
def test_a_dry_run_shows_the_change_and_makes_none(home: Home, host: str) -> None:
    code, out, err = home.install(host, "--dry-run")
    assert code == 0
    assert str(home.folder / FILES[host]) in out
    assert "--dry-run" in err
    assert home.files() == []


@on_linux
@pytest.mark.parametrize("host", FILES)
def test_the_host_knows_the_server_and_again_changes_nothing(home: Home, host: str) -> None:
    first = home.data(host)
    file = home.folder / FILES[host]
    assert first["written"]
    assert first["backup"] is None
    server = _server(file.read_text(encoding="utf-8"), host)
    command = server["command"] if host == "opencode" else [server["command"], *server["args"]]
    assert command == first["command"]
    assert Path(command[0]).is_absolute()
    before = file.read_bytes()
    second = home.data(host, "--write")  # as it had to be asked for once
    assert not second["changed"]
    assert file.read_bytes() == before
    assert home.files() == [FILES[host]]


@on_linux
def test_the_command_that_is_written_starts_this_hindbrain(home: Home) -> None:
    command = home.data("cursor", "--tools", "all")["command"]
    ran = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True, encoding="utf-8")
    assert "hindbrain mcp" in ran.stdout
    assert command[-2:] == ["--tools", "all"]


@on_linux
def test_what_others_have_in_the_file_stays_and_a_backup_is_kept(home: Home) -> None:
    other = '"other": {"command": "x", "env": {"KEY": "s"}}'
    text = f'{{\n    "numStartups": 4,\n    "mcpServers": {{\n        {other}\n    }}\n}}'
    file = home.put(".claude.json", text)
    file.chmod(0o600)
    told = home.data("claude-code")
    assert Path(told["backup"]).read_text(encoding="utf-8") == text
    assert stat.S_IMODE(Path(told["backup"]).stat().st_mode) == 0o600
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    held = json.loads(file.read_text(encoding="utf-8"))
    assert held["numStartups"] == 4
    assert held["mcpServers"]["other"] == {"command": "x", "env": {"KEY": "s"}}
    assert "numStartups" not in told["diff"].replace("\n ", "")


@on_linux
def test_settings_of_our_server_that_its_owner_made_stay(home: Home) -> None:
    file = home.put(
        ".cursor/mcp.json", '{"mcpServers": {"hindbrain": {"command": "old", "env": {"A": "1"}}}}'
    )
    home.data("cursor")
    assert json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["hindbrain"]["env"] == {"A": "1"}
    file = home.put(
        ".codex/config.toml", '[mcp_servers.hindbrain]\ncommand = "old"\nstartup_timeout_sec = 30\n'
    )
    home.data("codex")
    assert (
        tomllib.loads(file.read_text(encoding="utf-8"))["mcp_servers"]["hindbrain"]["startup_timeout_sec"]
        == 30
    )


@on_linux
def test_a_file_with_comments_is_edited_around_them(home: Home) -> None:
    file = home.put(
        ".config/opencode/opencode.jsonc",
        '{\n  // mine\n  "mcp": {\n    "a": {"type": "local"}, // b\n  },\n}\n',
    )
    assert home.data("opencode")["file"] == str(file)
    assert "// mine" in file.read_text(encoding="utf-8")
    assert "// b" in file.read_text(encoding="utf-8")
    file.write_text('{"mcp": {"servers": {"a": {"type": "local", "command": []}}}}', encoding="utf-8")
    home.data("opencode")
    assert json.loads(file.read_text(encoding="utf-8"))["mcp"]["servers"]["hindbrain"]["type"] == "local"


@on_linux
@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("claude-code", "{broken"),
        ("cursor", "[]"),
        ("codex", "= ="),
        ("openclaw", "{mcp: servers} // not even JSON5"),
        ("opencode", '{"mcp": 3}'),
        ("claude-desktop", "\xff"),
    ],
)
def test_a_file_that_can_not_be_read_is_left_as_it_is(home: Home, host: str, text: str) -> None:
    file = home.put(FILES[host], "")
    file.write_bytes(text.encode("latin-1"))
    code, _, err = home.install(host)
    assert code == 1
    assert "hindbrain" in err.partition(":\n")[2]  # what to paste
    assert file.read_bytes() == text.encode("latin-1")
    assert home.files() == [FILES[host]]


@on_linux
def test_a_file_that_is_a_link_stays_one(home: Home) -> None:
    real = home.put("dotfiles/mcp.json", "{}")
    (home.folder / ".cursor").mkdir()
    (home.folder / ".cursor" / "mcp.json").symlink_to(real)
    home.data("cursor")
    assert (home.folder / ".cursor" / "mcp.json").is_symlink()
    assert "hindbrain" in real.read_text(encoding="utf-8")


@on_linux
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_can_not_be_written_is_told(home: Home) -> None:
    file = home.put(".cursor/mcp.json", "{}")
    file.parent.chmod(0o500)
    code, _, _ = home.install("cursor")
    file.parent.chmod(0o700)
    assert code == 1
    assert file.read_text(encoding="utf-8") == "{}"


def test_an_unknown_host_or_tool_set_is_a_usage_mistake(home: Home) -> None:
    assert home.install("emacs")[0] == 2
    assert home.install()[0] == 2
    assert home.install("cursor", "--tools", "everything")[0] == 2
    assert home.files() == []


@pytest.mark.parametrize(
    ("host", "platform", "environ", "wanted"),
    [
        ("claude-desktop", "darwin", {}, "h/Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {"APPDATA": "h/Roaming"}, "h/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {"XDG_CONFIG_HOME": "x"}, "x/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "c"}, "c/.claude.json"),
        ("codex", "linux", {"CODEX_HOME": "c"}, "c/config.toml"),
        ("openclaw", "linux", {"OPENCLAW_STATE_DIR": "s"}, "s/openclaw.json"),
        ("openclaw", "linux", {"OPENCLAW_HOME": "o"}, "o/.openclaw/openclaw.json"),
        ("openclaw", "linux", {"OPENCLAW_CONFIG_PATH": "p.json", "OPENCLAW_STATE_DIR": "s"}, "p.json"),
        ("opencode", "linux", {"XDG_CONFIG_HOME": "x"}, "x/opencode/opencode.json"),
    ],
)
def test_hosts_are_found_where_their_own_settings_say(
    host: str, platform: str, environ: dict[str, str], wanted: str
) -> None:
    assert host_named(host).file(Place(Path("h"), platform, environ)) == Path(wanted)


def test_hosts_with_a_command_of_their_own_are_shown_it() -> None:
    lines = {host.name: host.one_line(["/a b/hindbrain", "mcp"]) for host in HOSTS}
    assert lines["claude-code"] == "claude mcp add --scope user hindbrain -- '/a b/hindbrain' mcp"
    assert lines["codex"] == "codex mcp add hindbrain -- '/a b/hindbrain' mcp"
    assert lines["openclaw"] == "openclaw mcp add hindbrain --command '/a b/hindbrain' --arg mcp"


@pytest.mark.parametrize(
    "words",
    [
        ["bogus"], ["serve", "cursor"], ["serve", "--write"], ["serve", "--dry-run"],
        ["install", "cursor", "--dry-run", "--write"],
        ["uninstall"], ["uninstall", "emacs"], ["--port", "9000"], ["--host", "127.0.0.1"],
        ["--allow-remote", "x:1"], ["token", "--port", "1"], ["--token-file", "x"],
    ],
)  # fmt: skip
def test_options_that_would_be_ignored_are_usage_mistakes(home: Home, words: list[str]) -> None:
    assert main(["mcp", *words, "--vault", str(home.folder)]) == 2


@on_linux
def test_a_file_that_the_host_writes_at_the_same_moment_is_not_overwritten(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = home.put(".cursor/mcp.json", "{}")
    plain = os.fsync

    def meanwhile(fd: int) -> None:
        plain(fd)
        file.write_text('{"by": "the host"}', encoding="utf-8")

    monkeypatch.setattr(os, "fsync", meanwhile)
    assert home.install("cursor")[0] == 1
    assert file.read_text(encoding="utf-8") == '{"by": "the host"}'


_HELD = {
    "claude-code": (
        '{\n  "numStartups": 4,\n  "z": [1,2,   3]\n}',
        '{"mcpServers": {"other": {"command": "x"}}, "a": 1}\n',
    ),
    "claude-desktop": ('\ufeff{\r\n\t"mcpServers": {\r\n\t\t"b": {"command": "y"}\r\n\t}\r\n}\r\n', "{}"),
    "cursor": ('{"mcpServers": {"a": {"command": "1"}, "b": {"command": "2"}}}', '{\n    "x": 1\n}\n'),
    "codex": (
        'model = "o3"\n\n[mcp_servers.other]\ncommand = "x"  # mine\n\n# next\n[profiles.a]\nk = 1\n',
        "# only a comment\n",
    ),
    "openclaw": ("{\n  // mine\n  gateway: {port: 1},\n  mcp: {servers: {a: {command: 'x'}}}\n}\n", "{a: 1}"),
    "opencode": (
        '{\n  // mine\n  "mcp": {\n    "a": {"type": "local"} // b\n  }\n}\n',
        '{"mcp": {"servers": {"a": {"type": "local", "command": []}}}}',
    ),
}


@on_linux
@pytest.mark.parametrize("host", FILES)
def test_uninstalling_takes_out_our_entry_and_no_other_byte(home: Home, host: str) -> None:
    for text in _HELD[host]:
        file = home.put(FILES[host], text)
        home.data(host)
        assert file.read_bytes() != text.encode()
        installed = file.read_bytes()
        code, out, _ = home.uninstall(host, "--dry-run")
        assert code == 0 and "hindbrain" in out and file.read_bytes() == installed
        code, out, _ = home.uninstall(host, "--json")
        told = json.loads(out)
        assert told["written"] and Path(told["backup"]).read_bytes() == installed
        assert file.read_bytes() == text.encode(), host
        code, out, _ = home.uninstall(host, "--json")
        assert code == 0 and not json.loads(out)["changed"]


@on_linux
def test_settings_that_others_wrote_into_our_entry_go_with_it(home: Home) -> None:
    file = home.put(
        ".codex/config.toml",
        'a = 1\n\n[mcp_servers.hindbrain]\ncommand = "h"\nargs = [\n  "mcp", # [x]\n]\n\n'
        '[mcp_servers.hindbrain.env]\nA = "1"\n\n[tui]\nb = 2\n',
    )
    assert home.uninstall("codex")[0] == 0
    assert file.read_text(encoding="utf-8") == "a = 1\n\n[tui]\nb = 2\n"
    written = 'mcp_servers = {hindbrain = {command = "h"}}\n'  # in a form that can't be edited by line
    file.write_text(written, encoding="utf-8")
    code, _, err = home.uninstall("codex")
    assert code == 1 and "by hand" in err and file.read_text(encoding="utf-8") == written


@on_linux
def test_a_host_without_settings_has_nothing_to_uninstall(home: Home) -> None:
    for host in FILES:
        assert home.uninstall(host)[0] == 0
    assert home.files() == []
