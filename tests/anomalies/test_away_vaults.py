"""A vault that is not there is not looked into, is not replaced by a new one, and gets nothing written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.app import state_of
from hindbrain.base.config import load_config
from hindbrain.context.capture.spool import count_waiting
from hindbrain.edge.daemon.vaults import Vaults
from hindbrain.edge.hooks.answers import Answer
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main
from hindbrain.vault.discover import read_vault_id

pytestmark = pytest.mark.promise("P8", "P29")

Leave = Callable[[Path], None]
COMMANDS = (
    ("search", "tea"),
    ("recall", "tea"),
    ("read", "Tea.md"),
    ("remember", "The dinghy has a blue sail."),
    ("task", "add", "Mend the sail"),
    ("inbox",),
    ("sync",),
    ("status",),
    ("history",),
    ("context", "tea"),
    ("init",),
)


def _moved(root: Path) -> None:
    root.rename(root.with_name("elsewhere"))


def _mount_point(root: Path) -> None:
    _moved(root)
    root.mkdir()


def _stray_file(root: Path) -> None:
    _mount_point(root)
    (root / "lost+found").mkdir()


def _other_vault(root: Path) -> None:
    _mount_point(root)
    (root / ".hindbrain").mkdir()
    (root / ".hindbrain" / "vault-id").write_text("another-vault\n", encoding="utf-8")
    (root / "Other.md").write_text("# Other\n\nTea of somebody else.\n", encoding="utf-8")


def _half_synced(root: Path) -> None:
    _moved(root)
    shutil.copytree(root.with_name("elsewhere"), root)
    (root / ".hindbrain" / "vault-id").rename(root / ".hindbrain" / ".vault-id.icloud")


def _no_longer_a_folder(root: Path) -> None:
    _moved(root)
    root.write_text("a file", encoding="utf-8")


WAYS = (_moved, _mount_point, _stray_file, _other_vault, _half_synced, _no_longer_a_folder)


@pytest.fixture(autouse=True)
def own_settings(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(place / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(place / "state"))
    monkeypatch.setenv("HINDBRAIN_VAULT_PATH", str(place / "vault"))
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def root(place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A vault that was opened: with an id, an index and a memory."""
    root = place / "vault"
    root.mkdir()
    (root / "Tea.md").write_text("# Tea\n\nGreen tea is brewed at 70 degrees.\n", encoding="utf-8")
    assert main(["init", str(root)]) == 0
    assert main(["remember", "--vault", str(root), "The dinghy has a red sail."]) == 0
    assert main(["sync", "--vault", str(root)]) == 0
    return root


@pytest.fixture
def bare(place: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A vault of Obsidian that was opened and never given an id."""
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    (root / "Tea.md").write_text("# Tea\n\nGreen tea is brewed at 70 degrees.\n", encoding="utf-8")
    assert main(["sync", "--vault", str(root)]) == 0
    return root


def _files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root.parent)) for path in (root, *root.rglob("*")))


def _code(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The code of the error with which a command ends; "" when it does not fail."""
    capsys.readouterr()
    ended = main([*words, "--json"])
    out = capsys.readouterr().out
    return str(json.loads(out)["error"]["code"]) if ended else ""


@pytest.mark.parametrize("leave", WAYS)
def test_no_command_takes_the_place_of_an_absent_vault_for_a_vault(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, leave: Leave
) -> None:
    leave(root)
    before = _files(root) if root.exists() else []
    monkeypatch.chdir(place)
    for words in COMMANDS:
        named = (words[0], "--vault", str(root), *words[1:])
        assert _code(capsys, *named) == "vault_away", words
        if words[0] != "init":
            assert _code(capsys, *words) == "vault_away", words
    assert main(["doctor", "--json"]) == 1
    findings = {one["name"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["vault"]["state"] == "wrong" and "(vault_away)" in findings["vault"]["detail"]
    assert main(["doctor", "--fix"]) == 1
    assert (_files(root) if root.exists() else []) == before


@pytest.mark.parametrize("leave", (_moved, _mount_point, _stray_file))
def test_a_vault_without_an_id_is_known_by_its_folder(
    bare: Path, capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    leave(bare)
    before = _files(bare) if bare.exists() else []
    for words in COMMANDS:
        assert _code(capsys, words[0], "--vault", str(bare), *words[1:]) == "vault_away", words
    assert (_files(bare) if bare.exists() else []) == before
    _come_back(bare)
    assert _code(capsys, "search", "tea") == ""


def test_a_vault_that_its_owner_empties_stays_a_vault(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (bare / "Tea.md").unlink()
    (bare / ".obsidian").rmdir()
    assert _code(capsys, "remember", "The dinghy has a red sail.") == ""


def _come_back(root: Path) -> None:
    if root.is_dir():
        shutil.rmtree(root)
    root.unlink(missing_ok=True)
    root.with_name("elsewhere").rename(root)


@pytest.mark.parametrize("leave", WAYS)
def test_what_happens_meanwhile_waits_and_is_taken_in_when_the_vault_is_back(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str], leave: Leave
) -> None:
    state = state_of(load_config(), root)
    leave(root)
    prompt, note = _hook(place, "user-prompt-submit", prompt="how hot is green tea brewed?")
    assert note.startswith("vault_away") and prompt.told and not prompt.text
    transcript = place / "transcript.jsonl"
    transcript.write_text(json.dumps(_USER_LINE) + "\n", encoding="utf-8")
    _, note = _hook(place, "stop", transcript_path=str(transcript))
    assert not note and count_waiting(state) == 2  # the prompt, and the end of the turn
    assert state_of(load_config(), root) == state
    _come_back(root)
    assert "70 degrees" in _hook(place, "user-prompt-submit", prompt="how hot is green tea brewed?")[0].text
    _hook(place, "stop", transcript_path=str(transcript))
    assert main(["hook", "settle"]) == 0
    assert count_waiting(state) == 0


_USER_LINE = {
    "type": "user",
    "sessionId": "s",
    "uuid": "u1",
    "timestamp": "2026-01-01T10:00:00Z",
    "message": {"role": "user", "content": "Remember that the boat is moored at pier nine."},
}


def _hook(place: Path, name: str, **payload: Any) -> tuple[Answer, str]:
    host = host_named("claude-code")
    assert host is not None
    event = host.event(name)
    assert event is not None
    doing = Doing(host, event, time.monotonic())
    sent = json.dumps({"session_id": "s", "cwd": str(place), **payload}).encode()
    answer = doing.answer(lambda: sent)
    doing.finish(answer)
    return answer, doing.note


@pytest.fixture
def vaults(place: Path) -> Iterator[Vaults]:
    made = Vaults(place / "state", lambda _: False, lambda _: False)
    yield made
    made.close(10.0)


@pytest.mark.parametrize("leave", WAYS)
def test_a_process_that_has_the_vault_open_writes_nothing_in_its_place(
    root: Path, vaults: Vaults, leave: Leave
) -> None:
    served = vaults.served_at(str(root))
    assert served.serving.submit(lambda app: app.memory.status().total).result() == 1
    leave(root)
    before = _files(root) if root.exists() else []
    for _ in range(2):
        asked = served.serving.submit(lambda app: app.memory.remember("The cat is called Ada."))
        assert getattr(asked.exception(), "code", "") == "vault_away"
        with pytest.raises(Exception) as refused:
            vaults.served_at(str(root))
        assert getattr(refused.value, "code", "") == "vault_away"
    assert (_files(root) if root.exists() else []) == before
    _come_back(root)
    assert vaults.served_at(str(root)) is served
    assert served.serving.submit(lambda app: app.memory.status().total).result() == 1


def test_the_status_of_hooks_names_the_vault_that_is_away(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _mount_point(root)
    capsys.readouterr()
    assert main(["hook", "status", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["vault"], shown["away"]) == (str(root), True)


def test_a_vault_that_may_not_be_read_is_away(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def denied(path: Any = ".") -> Any:
        if not isinstance(path, int) and os.fspath(path).startswith(str(root)):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", denied)
    monkeypatch.setattr("hindbrain.vault.binding.read_vault_id", lambda _: "")
    assert _code(capsys, "remember", "The dinghy has a blue sail.") == "vault_away"
    assert _code(capsys, "search", "tea") == "vault_away"


def test_a_folder_between_a_vault_and_its_absent_inner_vault_is_not_the_outer_one(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / ".obsidian").mkdir()
    _mount_point(root)
    monkeypatch.delenv("HINDBRAIN_VAULT_PATH")
    monkeypatch.chdir(root)
    assert _code(capsys, "remember", "The dinghy has a blue sail.") == "vault_away"


def test_its_owner_may_make_a_new_vault_in_the_place_of_an_absent_one(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = read_vault_id(root)
    _mount_point(root)
    assert _code(capsys, "init", str(root), "--new") == ""
    assert read_vault_id(root) not in ("", old)
    assert _code(capsys, "remember", "The dinghy has a blue sail.") == ""
    away = root.with_name("elsewhere")  # the old one is still itself, wherever it is
    capsys.readouterr()
    assert main(["recall", "dinghy", "--vault", str(away)]) == 0
    assert "red sail" in capsys.readouterr().out


def test_another_vault_may_take_the_place_if_its_owner_says_so(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _other_vault(root)
    assert _code(capsys, "init", str(root), "--new") == ""
    assert read_vault_id(root) == "another-vault"
    assert _code(capsys, "search", "tea") == ""


def test_a_vault_that_lost_only_our_folder_gets_its_id_back(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id_ = read_vault_id(root)
    shutil.rmtree(root / ".hindbrain")
    assert _code(capsys, "search", "tea") == "vault_away"
    assert _code(capsys, "init", str(root)) == ""
    assert read_vault_id(root) == id_
    assert _code(capsys, "search", "tea") == ""


def test_vaults_that_are_moved_and_swapped_by_their_owner_are_found(
    root: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = place / "other"
    assert main(["init", str(other), "--layout", "obsidian"]) == 0
    moved = place / "moved"
    root.rename(moved)
    assert _code(capsys, "search", "tea", "--vault", str(moved)) == ""
    other.rename(root)  # the place is free: the vault that was there is elsewhere
    assert _code(capsys, "search", "tea", "--vault", str(root)) == ""
    assert _code(capsys, "search", "tea", "--vault", str(moved)) == ""


_IN_A_NAMESPACE = """
import json, subprocess, sys
disk, root = sys.argv[1:]
def mount(): subprocess.run(["mount", "--bind", disk, root], check=True)
def run(*words):
    command = [sys.executable, "-m", "hindbrain", words[0], "--vault", root, *words[1:], "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(words[0], json.loads(done.stdout)["error"]["code"] if done.returncode else "ok")
mount()
run("init"); run("sync"); run("remember", "The dinghy has a red sail.")
subprocess.run(["umount", root], check=True)
run("remember", "The dinghy has a blue sail."); run("search", "dinghy"); run("sync")
mount()
run("sync"); run("search", "dinghy")
"""


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="needs namespaces")
def test_a_disk_that_is_unmounted_leaves_no_new_vault_in_its_mount_point(place: Path) -> None:
    disk, root = place / "disk", place / "mnt"
    disk.mkdir()
    root.mkdir()
    (disk / "Tea.md").write_text("# Tea\n\nGreen tea.\n", encoding="utf-8")
    command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", _IN_A_NAMESPACE]
    done = subprocess.run(
        [*command, str(disk), str(root)], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode and "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.returncode == 0, done.stderr
    away = ["remember vault_away", "search vault_away", "sync vault_away"]
    assert done.stdout.splitlines() == [
        "init ok", "sync ok", "remember ok", *away, "sync ok", "search ok",
    ]  # fmt: skip
    assert not list(root.iterdir())
