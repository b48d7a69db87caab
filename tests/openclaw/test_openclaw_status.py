"""`hindbrain openclaw status`: how it stands, and each thing that is wrong with what to do about it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claw_bench import Claw, answering, put_program

from hindbrain.edge.main import main
from hindbrain.edge.mcp.json5_edit import append_item, set_member
from hindbrain.edge.service.record import Record
from hindbrain.edge.settings_file import change_settings
from workbench import Vault

ENTRY = ("plugins", "entries", "hindbrain")
NO_DAEMON = "the daemon does not answer"


def set_to(claw: Claw, path: tuple[str, ...], value: Any) -> None:
    claw.file.write_text(set_member(claw.file.read_text(encoding="utf-8"), path, value), encoding="utf-8")


def settings(**changes: Any) -> None:
    named = {name.replace("_", ".", 1): value for name, value in changes.items()}
    change_settings(Path(os.environ["HINDBRAIN_CONFIG"]), named)


def moved_plugin(claw: Claw) -> None:
    claw.copy.rename(claw.copy.with_name("elsewhere"))


def other_token(claw: Claw) -> None:
    (claw.home / "token").write_text("x" * 40, encoding="utf-8")
    (claw.home / "token").chmod(0o600)
    set_to(claw, (*ENTRY, "config", "tokenFile"), str(claw.home / "token"))


def second_copy(claw: Claw) -> None:
    shutil.copytree(claw.copy, claw.home / "mine")
    text = append_item(
        claw.file.read_text(encoding="utf-8"), ("plugins", "load", "paths"), str(claw.home / "mine")
    )
    claw.file.write_text(text, encoding="utf-8")


def word(name: str, value: Any) -> Callable[[Claw], None]:
    """A word in the plugin's own settings is set to something else."""
    return member((*ENTRY, "config", *name.split(".")), value)


def member(path: tuple[str, ...], value: Any) -> Callable[[Claw], None]:
    return lambda claw: set_to(claw, path, value)


FAULTS: dict[str, tuple[Callable[[Claw], None], str]] = {
    "slot taken since": (member(("plugins", "slots", "memory"), "memory-lancedb"), "lancedb"),
    "not linked": (member(("plugins", "load", "paths"), []), "load.paths"),
    "moved": (moved_plugin, "is gone"),
    "of another version": (lambda claw: put(claw.copy / "index.js", "//"), "not the one of this program"),
    "a second copy": (second_copy, "another copy"),
    "not allowed": (member(("plugins", "allow"), ["browser"]), "plugins.allow"),
    "denied": (member(("plugins", "deny"), ["hindbrain"]), "switched off"),
    "switched off": (member((*ENTRY, "enabled"), False), "switched off"),
    "hooks not granted": (member((*ENTRY, "hooks"), {}), "allowConversationAccess"),
    "dreaming on": (word("dreaming.enabled", True), "dreaming"),
    "another address": (word("baseUrl", "http://127.0.0.1:9"), ":9"),
    "service off": (lambda _: settings(service_port=0), "service.port is 0"),
    "another token": (other_token, "is not that of the service"),
    "token gone": (lambda claw: (claw.state / "service-token").unlink(), "is not there"),
    "no token told": (word("tokenFile", ""), "no token file"),
    "vault gone": (word("vaultPath", "/not/mounted"), "/not/mounted' (vaultPath in openclaw.json)"),
    "no address told": (word("baseUrl", None), "the plugin is told no address"),
    "words differ": (word("excludeFolders", ["4-Archive"]), "vault.exclude"),
    "word of another kind": (word("embedding", {"provider": "llama"}), "embedding.provider"),
}
MENDED_BY_HAND = ("denied", "vault gone", "word of another kind", "a second copy")


def put(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_told_with_what_to_do(claw: Claw, fault: str) -> None:
    claw.install()
    assert [what for what in claw.problems() if not what.startswith(NO_DAEMON)] == []
    make, told = FAULTS[fault]
    make(claw)
    assert any(told in what for what in claw.problems())
    assert told in claw("status").out


@pytest.mark.skipif(os.name == "nt", reason="modes as POSIX has them")
def test_a_token_that_others_can_read_is_told(claw: Claw) -> None:
    claw.install()
    token = claw.state / "service-token"
    token.chmod(0o644)
    problems = claw("status", "--json").data["problems"]
    told = [one for one in problems if not one["what"].startswith(NO_DAEMON)]
    assert [("read by others" in one["what"], one["next"]) for one in told] == [(True, f"chmod 600 {token}")]


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in MENDED_BY_HAND])
def test_installing_again_mends_what_it_says_it_mends(claw: Claw, fault: str) -> None:
    claw.install()
    FAULTS[fault][0](claw)
    claw.install()
    assert [what for what in claw.problems() if not what.startswith(NO_DAEMON)] == []


def test_the_gateway_is_looked_for_at_its_port(claw: Claw, monkeypatch: pytest.MonkeyPatch) -> None:
    claw.install()
    with answering(b'{"ok":true,"status":"live"}') as port:
        monkeypatch.setenv("OPENCLAW_GATEWAY_PORT", str(port))
        assert claw("status", "--json").data["gateway"] == {"port": port, "answers": True, "told": ""}
    assert claw("status", "--json").data["gateway"]["answers"] is False
    with answering(b"<html>") as port:
        monkeypatch.setenv("OPENCLAW_GATEWAY_PORT", str(port))
        gateway = claw("status", "--json").data["gateway"]
        assert (gateway["answers"], "not an OpenClaw gateway" in gateway["told"]) == (False, True)


def test_nothing_is_wrong_where_nothing_is_installed(claw: Claw) -> None:
    data = claw("status", "--json").data
    assert (data["installed"], data["slot"], data["problems"]) == (None, "memory-core", [])
    assert "hindbrain openclaw install" in claw("status").out


@pytest.mark.parametrize("form", ["--beside", "--mcp"])
def test_each_form_is_known_again(claw: Claw, form: str) -> None:
    claw.install(form)
    data = claw("status", "--json").data
    assert data["installed"] == form.lstrip("-")
    assert [one for one in data["problems"] if not one["what"].startswith(NO_DAEMON)] == []
    assert claw("status").code == 0


def test_a_version_that_became_too_old_or_unknown_is_told(claw: Claw, tmp_path: Path) -> None:
    claw.install()
    put_program(tmp_path / "program", "2026.7.1")
    assert any("too old" in what for what in claw.problems())
    put_program(tmp_path / "program", "2099.1.1")
    assert "was not tried" in claw("status").out


def test_looking_changes_nothing(claw: Claw, vault: Vault) -> None:
    claw.install()
    before = claw.traces()
    claw("status")
    assert claw.traces() == before


def daemon_says(monkeypatch: pytest.MonkeyPatch, record: Record) -> None:
    service = {"url": "http://127.0.0.1:1/v1", "port": 1, "problem": "", **record.data()}
    state = {"running": True, "answers": True, "service": service}
    monkeypatch.setattr("hindbrain.edge.openclaw.looking.daemon_state", lambda _: state)


def test_a_request_that_failed_is_told_until_one_like_it_went_well(
    claw: Claw, monkeypatch: pytest.MonkeyPatch
) -> None:
    claw.install()
    record = Record()
    for route in ("search", "card"):
        record.failed(route, "not_found", f"no vault for {route}")
    for route, told in (("search", "no vault for card"), ("card", "")):
        record.went_well(route)
        daemon_says(monkeypatch, record)
        assert [what.rpartition(": ")[2] for what in claw.problems()] == ([told] if told else [])


def test_stopping_the_daemon_tells_that_the_plugin_starts_it_again(
    claw: Claw, capsys: pytest.CaptureFixture[str]
) -> None:
    for installed in (False, True):
        if installed:
            claw.install()
        capsys.readouterr()
        assert main(["up", "stop"]) == 0
        assert ("starts it again" in capsys.readouterr().err) is installed


def test_a_gateway_that_goes_on_with_an_older_plugin_is_told(
    claw: Claw, monkeypatch: pytest.MonkeyPatch
) -> None:
    claw.install()
    record = Record()
    ours = claw("status", "--json").data["plugin"]["ours"]
    for agent, is_told in (
        (f"hindbrain-openclaw/{ours}", False),
        ("hindbrain-openclaw/0.0.1", True),
        ("curl/8", False),
    ):
        record.asked(agent)
        daemon_says(monkeypatch, record)
        assert any("runs version 0.0.1" in what for what in claw.problems()) is is_told
