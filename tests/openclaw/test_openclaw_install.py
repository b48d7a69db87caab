"""`hindbrain openclaw install`: each change is shown, made in one write, and what others have there stays."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from claw_bench import FILES, PLAIN, Claw, answering, put_program

from hindbrain.base.config import load_config
from hindbrain.edge.mcp.json5_edit import read_members
from hindbrain.edge.openclaw.plugin_copy import files_in, source_files
from workbench import Vault

posix = pytest.mark.skipif(os.name == "nt", reason="modes and links as POSIX has them")


def without_ours(members: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """`members` with our own taken out by hand, as far as they were not there before."""
    plugins = members.get("plugins", {})
    had = before.get("plugins", {})
    plugins["load"]["paths"] = [
        path for path in plugins["load"]["paths"] if not path.endswith("openclaw/plugin")
    ]
    plugins["slots"].pop("memory")
    plugins["entries"].pop("hindbrain")
    if "allow" in plugins:
        plugins["allow"].remove("hindbrain")
    for name in ("load", "slots", "entries"):
        if name not in had:
            plugins.pop(name)
    if "plugins" not in before:
        members.pop("plugins")
    return members


@pytest.mark.parametrize("kind", FILES)
def test_the_plugin_is_linked_and_everything_else_is_as_it_was(claw: Claw, kind: str) -> None:
    before = read_members(claw.write(FILES[kind]).decode())
    claw.install()
    members = claw.members
    assert str(claw.copy) in members["plugins"]["load"]["paths"]
    assert members["plugins"]["slots"]["memory"] == "hindbrain"
    entry = claw.entry
    assert entry["enabled"] is True
    assert entry["hooks"] == {"allowConversationAccess": True, "allowPromptInjection": True}
    assert entry["config"]["dreaming"]["enabled"] is False
    if "allow" in before.get("plugins", {}):
        assert members["plugins"]["allow"][-1] == "hindbrain"
    left = without_ours(members, before)
    for shape in (left, before):  # what these files say in places of ours
        shape.get("plugins", {}).get("entries", {}).pop("hindbrain", None)
        shape.get("plugins", {}).get("slots", {}).pop("memory", None)
        shape.get("plugins", {}).get("load", {}).pop("paths", None) if kind != "comments and commas" else None
    assert left == before


@pytest.mark.parametrize("kind", FILES)
def test_comments_and_lines_of_others_stay(claw: Claw, kind: str) -> None:
    text = FILES[kind]
    claw.write(text)
    claw.install()
    after = iter(claw.file.read_bytes().decode())
    ours = {"memory-lancedb", '"enabled": false', '"enabled": true'}
    if not any(word in text for word in ours):  # those are replaced
        assert all(char in after for char in text.rstrip())


@pytest.mark.parametrize("kind", FILES)
def test_a_second_time_changes_nothing(claw: Claw, kind: str) -> None:
    claw.write(FILES[kind])
    claw.install()
    before = claw.traces()
    again = claw("install", "--no-start")
    assert (again.code, "already" in again.out) == (0, True)
    assert claw.traces() == before


@pytest.mark.parametrize("form", [(), ("--beside",), ("--mcp",)])
def test_a_dry_run_shows_each_change_and_makes_none(claw: Claw, form: tuple[str, ...]) -> None:
    before = claw.traces()
    planned = claw("install", "--dry-run", "--json", *form)
    assert (planned.code, planned.data["written"], claw.traces()) == (0, False, before)
    made = claw.install(*form)
    for name in ("edits", "settings", "vault", "copies_plugin"):
        assert made[name] == planned.data[name]
    assert not planned.data["plugin_copied"]
    assert made["plugin_copied"] == ("--mcp" not in form)
    words = claw("install", "--dry-run", *form)
    assert words.code == 0


def test_what_the_plugin_is_told_leads_to_us(claw: Claw, vault: Vault) -> None:
    done = claw.install()
    config = claw.entry["config"]
    port = load_config().number("service.port")
    assert config["baseUrl"] == f"http://127.0.0.1:{port}"
    assert port != 0
    token = Path(config["tokenFile"])
    assert token.parent == claw.state
    assert len(token.read_text(encoding="utf-8").strip()) >= 20
    if os.name != "nt":
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert config["vaultPath"] == str(vault.root) == load_config().text("vault.path") == done["vault"]
    assert config["command"][-1] == "up"
    assert config["env"]["HINDBRAIN_CONFIG"] == os.environ["HINDBRAIN_CONFIG"]
    assert all(name.startswith("HINDBRAIN_") for name in config["env"])


def test_the_copy_is_what_the_program_has_and_an_older_one_is_replaced(claw: Claw) -> None:
    claw.install()
    assert files_in(claw.copy) == source_files("slot")
    (claw.copy / "index.js").write_text("// old", encoding="utf-8")
    (claw.copy / "gone.js").write_text("// of an older version", encoding="utf-8")
    assert claw.install()["plugin_copied"]
    assert files_in(claw.copy) == source_files("slot")
    assert [
        path.name for path in claw.copy.parent.iterdir() if "tmp" in path.name or "old" in path.name
    ] == []


def test_a_backup_lies_beside_the_file_and_secrets_stay_in_it(claw: Claw) -> None:
    done = claw.install()
    assert Path(done["backup"]).read_text(encoding="utf-8") == PLAIN
    assert Path(done["backup"]).parent == claw.folder
    ours = b"".join(path.read_bytes() for path in claw.state.rglob("*") if path.is_file())
    assert b"open-sesame" not in ours
    assert "open-sesame" not in claw("install", "--no-start").out + json.dumps(done)


def backups(claw: Claw) -> list[Path]:
    return sorted(claw.folder.glob("openclaw.json.bak-*"))


def test_backups_do_not_pile_up_and_the_first_stays_while_it_is_needed(claw: Claw, tmp_path: Path) -> None:
    foreign = claw.folder / "openclaw.json.bak-mine"
    foreign.write_text("{}", encoding="utf-8")
    first = Path(claw.install()["backup"])
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        claw.install("--vault", str(tmp_path / str(number)))
    assert first.read_text(encoding="utf-8") == PLAIN
    assert len(backups(claw)) == 5  # the first, three others, and one that is not ours
    claw("uninstall")
    assert claw.file.read_text(encoding="utf-8") == PLAIN
    assert len(backups(claw)) == 4
    assert foreign.exists()


@posix
def test_a_token_that_can_not_be_used_is_told_before_anything_is_done(claw: Claw) -> None:
    claw.state.mkdir()
    token = claw.state / "service-token"
    token.write_text("x" * 40, encoding="utf-8")
    token.chmod(0o644)
    for words in (("install", "--no-start"), ("install", "--dry-run")):
        code, message = claw.refused(*words)
        assert (code, f"chmod 600 {token}" in message) == ("config", True)
    token.chmod(0o600)
    claw.install()


def test_what_an_included_file_needs_is_told_as_something_that_works(claw: Claw) -> None:
    claw.write(bad_files()["included plugins"])
    message = claw.refused("install", "--no-start")[1]
    assert "./plugins.json5" in message
    assert "--dry-run" not in message


def test_a_slot_of_another_plugin_is_shown_before_it_is_taken(claw: Claw) -> None:
    claw.write(FILES["slot taken"])
    shown = claw("install", "--dry-run").out
    assert 'plugins.slots.memory: "memory-lancedb" -> "hindbrain"' in shown


def test_the_additive_form_leaves_the_slot_alone(claw: Claw) -> None:
    claw.install("--beside")
    plugins = claw.members["plugins"]
    assert "slots" not in plugins
    assert list(plugins["entries"]) == ["hindbrain-beside"]
    assert plugins["load"]["paths"] == [str(claw.copy.with_name("beside"))]


def test_the_mcp_form_is_one_server_and_keeps_what_its_owner_set(claw: Claw) -> None:
    claw.write('{mcp: {servers: {hindbrain: {env: {A: "1"}}}}}')
    claw.install("--mcp")
    server = claw.members["mcp"]["servers"]["hindbrain"]
    places = {name: os.environ[name] for name in ("HINDBRAIN_CONFIG", "HINDBRAIN_STATE_FOLDER")}
    assert server["env"] == {"A": "1", **places}  # else it would start with other settings than these
    assert "mcp" in server["args"]
    assert "plugins" not in claw.members
    assert not claw.copy.exists()


def test_another_form_takes_the_place_of_the_first(claw: Claw) -> None:
    claw.install()
    claw.install("--beside")
    plugins = claw.members["plugins"]
    assert "slots" not in plugins
    assert list(plugins["entries"]) == ["hindbrain-beside"]
    assert not claw.copy.exists()
    claw.install("--mcp")
    assert "plugins" not in claw.members
    assert load_config().number("service.port") == 0


def test_a_port_that_is_another_program_s_is_not_taken(claw: Claw) -> None:
    config = Path(os.environ["HINDBRAIN_CONFIG"])
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        config.parent.mkdir()
        config.write_text(f"[service]\nport = {port}\n", encoding="utf-8")
        done = claw.install()
        change = next(one for one in done["settings"] if one["name"] == "service.port")
        assert change["before"] == port
        assert change["after"] not in (0, port)
        assert claw.entry["config"]["baseUrl"].endswith(f":{change['after']}")


@posix
def test_a_file_that_is_a_link_stays_one_and_its_target_is_edited(claw: Claw, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text(PLAIN, encoding="utf-8")
    claw.file.unlink()
    claw.file.symlink_to(real)
    claw.install()
    assert claw.file.is_symlink()
    assert "hindbrain" in real.read_text(encoding="utf-8")


def test_without_a_settings_file_one_is_made(claw: Claw) -> None:
    claw.file.unlink()
    assert claw.install()["backup"] is None
    assert list(claw.members) == ["plugins"]


def test_a_profile_has_a_file_of_its_own(claw: Claw, monkeypatch: pytest.MonkeyPatch) -> None:
    other = claw.home / ".openclaw-work" / "openclaw.json"
    other.parent.mkdir()
    other.write_text(PLAIN, encoding="utf-8")
    assert claw.install("--profile", "work")["config_file"] == str(other)
    assert claw.file.read_text(encoding="utf-8") == PLAIN
    assert claw.refused("install", "--profile", "../x")[0] == "usage"
    code, message = claw.refused("install", "--profile", "wrok")
    assert (code, "'wrok'" in message) == ("not_found", True)
    monkeypatch.setenv("OPENCLAW_STATE_DIR", str(claw.folder))
    assert claw.refused("install", "--profile", "work")[0] == "usage"


def test_a_folder_that_is_no_vault_is_named_before_all_in_it_is_shown(claw: Claw, vault: Vault) -> None:
    assert not any("no vault yet" in note for note in claw("install", "--dry-run", "--json").data["notes"])
    planned = claw("install", "--dry-run", "--json", "--vault", str(claw.home)).data
    assert any("no vault yet" in note for note in planned["notes"])


def test_without_the_sdk_of_mcp_no_server_is_written_that_can_not_start(
    claw: Claw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.edge.mcp.sdk.find_spec", lambda _: None)
    code, message = claw.refused("install", "--mcp")
    assert (code, "pip install 'mcp" in message) == ("config", True)


def bad_files() -> dict[str, str]:
    return {
        "no JSON": "{oops",
        "a list": "[1]",
        "included whole": '{"$include": "./all.json5"}',
        "included plugins": '{plugins: {$include: "./plugins.json5"}}',
        "included entries": '{"plugins": {"entries": {"$include": ["./a.json5"]}}}',
        "denied": '{"plugins": {"deny": ["hindbrain"]}}',
        "plugins off": '{"plugins": {"enabled": false}}',
        "gateway elsewhere": '{"gateway": {"mode": "remote", "remote": {"url": "ws://far:1"}}}',
        "paths of another kind": '{"plugins": {"load": {"paths": "x"}}}',
        "plugins of another kind": '{"plugins": []}',
    }


@pytest.mark.parametrize("kind", bad_files())
def test_a_file_that_can_not_be_used_is_left_as_it_is_and_why_is_told(claw: Claw, kind: str) -> None:
    claw.write(bad_files()[kind])
    code, message = claw.refused("install", "--no-start")
    assert code == "config"
    assert str(claw.file) in message


def test_bytes_that_are_no_text_are_left_alone(claw: Claw) -> None:
    claw.file.write_bytes(b'{"a": "\xff"}')
    assert claw.refused("install")[0] == "config"


@posix
def test_a_file_that_is_read_only_stays_as_it_is(claw: Claw) -> None:
    claw.file.chmod(0o444)
    assert "read-only" in claw.refused("install")[1]
    assert claw("install", "--dry-run", "--json").code == 1


def test_a_file_that_another_program_manages_is_left_to_it(
    claw: Claw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCLAW_NIX_MODE", "1")
    assert "OPENCLAW_NIX_MODE" in claw.refused("install")[1]


def test_no_openclaw_at_all_is_told_as_such(claw: Claw, monkeypatch: pytest.MonkeyPatch) -> None:
    claw.file.unlink()
    claw.folder.rmdir()
    monkeypatch.setenv("PATH", os.defpath)
    for action in ("install", "uninstall", "status"):
        assert claw.refused(action)[0] == "not_found"


def test_a_vault_that_is_not_there_is_told_before_anything_is_done(claw: Claw, tmp_path: Path) -> None:
    assert claw.refused("install", "--vault", str(tmp_path / "gone"))[0] == "not_found"
    claw.write('{"plugins": {"entries": {"hindbrain": {"config": {"vaultPath": "/not/mounted"}}}}}')
    told = claw.refused("install")[1]
    assert "/not/mounted" in told
    assert f"vaultPath in {str(claw.file)!r}" in told
    assert "--vault" in claw.refused("install", "--vault", "/not/there")[1]


@pytest.mark.parametrize(
    ("version", "usable"), [("2026.8.30", False), ("2026.9.1", True), ("2027.1.0", True)]
)
def test_the_version_decides_and_is_told(claw: Claw, tmp_path: Path, version: str, usable: bool) -> None:
    put_program(tmp_path / "program", version)
    if usable:
        assert any(version in note for note in claw.install()["notes"])
    else:
        assert version in claw.refused("install")[1]
        claw.install("--mcp")  # needs no plugin API
    assert version in claw("status").out


@pytest.mark.parametrize(
    "words",
    [
        ("status", "--beside"),
        ("uninstall", "--mcp"),
        ("install", "--beside", "--mcp"),
        ("status", "--dry-run"),
    ],
)
def test_options_that_would_be_ignored_are_mistakes(claw: Claw, words: tuple[str, ...]) -> None:
    assert claw.refused(*words)[0] == "usage"


def jobs_database(claw: Claw, *names: str) -> None:
    """The table in which OpenClaw 2026.9 keeps its jobs, as far as it is read."""
    file = claw.folder / "state" / "openclaw.sqlite"
    file.parent.mkdir(exist_ok=True)
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE cron_jobs (job_id TEXT, declaration_key TEXT, name TEXT)")
        for number, name in enumerate(names):
            database.execute("INSERT INTO cron_jobs VALUES (?, NULL, ?)", (f"job-{number}", name))
    database.close()


@posix
def test_the_nightly_job_of_openclaw_is_removed_by_openclaw_s_program(
    claw: Claw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs_database(claw, "Brief", "Memory Dreaming Promotion")
    assert any("openclaw cron rm job-1" in line for line in claw.install()["told"])
    asked = tmp_path / "asked"
    program = tmp_path / "program" / "node_modules" / "openclaw" / "openclaw.mjs"
    program.write_text(f'#!/bin/sh\necho "$OPENCLAW_CONFIG_PATH $@" >> {asked}\n', encoding="utf-8")
    monkeypatch.setattr("hindbrain.edge.openclaw.installing._start", lambda _: [])
    with answering(b'{"ok":true,"status":"live"}') as port:
        monkeypatch.setenv("OPENCLAW_GATEWAY_PORT", str(port))
        told = claw("install", "--json").data["told"]
    assert asked.read_text(encoding="utf-8") == f"{claw.file} cron rm job-1 --json\n"
    assert any("removed the nightly job" in line for line in told)


@pytest.mark.skipif(
    sys.platform == "win32", reason="a daemon is a process of its own there, too; tried on POSIX"
)
def test_with_the_daemon_the_service_answers_with_the_token_of_the_plugin(claw: Claw) -> None:
    import urllib.request

    from hindbrain.edge.daemon import starting

    with socket.socket() as free:  # not the usual one, which tests beside this one try, too
        free.bind(("127.0.0.1", 0))
        settings = Path(os.environ["HINDBRAIN_CONFIG"])
        settings.parent.mkdir()
        settings.write_text(f"[service]\nport = {free.getsockname()[1]}\n", encoding="utf-8")
    try:
        ran = claw("install", "--json")
        assert (ran.code, ran.data["problems"]) == (0, [])
        config = claw.entry["config"]
        token = Path(config["tokenFile"]).read_text(encoding="utf-8").strip()
        request = urllib.request.Request(
            f"{config['baseUrl']}/v1/status", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert json.load(answer)["api"] == 1
        status = claw("status", "--json").data
        assert (status["problems"], status["service"]["daemon"]) == ([], True)
        assert status["service"]["last_asked"] is not None
    finally:
        starting.stop_running(load_config())
