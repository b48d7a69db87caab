"""What hooks, daemon and capture do where nobody looks on is seen in `status`, `doctor` and `hook`."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config, state_folder
from hindbrain.context.capture import troubles
from hindbrain.context.capture.places import ASIDE, LOCK
from hindbrain.context.capture.spool import FOLDER, append_event
from hindbrain.edge.daemon.address import LOCK_FILE
from hindbrain.edge.daemon.starting import folder_of
from hindbrain.edge.hooks.journal import Call, write_down
from hindbrain.vault.lock import FileLock
from workbench import Vault


@pytest.fixture
def state(indexed: Vault) -> Path:
    with closing(build_app(load_config(), indexed.root, warm=False)) as app:
        return app.state


def _finding(cli: Cli, name: str) -> dict[str, Any]:
    found = cli("doctor", "--json").data["findings"]
    return dict(next(finding for finding in found if finding["name"] == name))


def _wait(state: Path, *, since_s: float = 0.0) -> None:
    """One event, that old."""
    append_event(state, {"event": "stop", "host": "codex", "session": "s"})
    (event,) = (state / FOLDER).glob("*.json")
    event.rename(event.with_name(f"{int((time.time() - since_s) * 1e9):020d}-00.json"))


@pytest.mark.promise("P29")
def test_an_event_that_nobody_comes_for_is_doubtful_and_a_fresh_one_is_not(cli: Cli, state: Path) -> None:
    _wait(state)
    assert _finding(cli, "capture")["state"] == "ok"
    assert cli("status", "--json").data["conversations"]["waiting"] == 1
    (state / FOLDER).rename(state / "moved")
    _wait(state, since_s=7_200)
    found = _finding(cli, "capture")
    assert found["state"] == "doubtful" and "hindbrain hook settle" in found["detail"]


@pytest.mark.promise("P29")
def test_what_could_not_be_kept_is_seen(cli: Cli, state: Path) -> None:
    (state / ASIDE).mkdir()
    (state / ASIDE / "s-0.json").write_text("{}", encoding="utf-8")
    (state / FOLDER).mkdir()
    (state / FOLDER / "1-00.bad").write_text("?", encoding="utf-8")
    found = _finding(cli, "capture")
    assert found["state"] == "doubtful" and str(state / ASIDE) in found["detail"]
    told = cli("status", "--json").data["conversations"]
    assert (told["aside"], told["unreadable"], told["waiting"]) == (1, 1, 0)
    assert str(state / ASIDE) in cli("status").out and str(state / ASIDE) in cli("hook").out


@pytest.mark.promise("P29")
def test_hooks_that_failed_today_are_doubtful_and_older_ones_are_not(cli: Cli, state: Path) -> None:
    folder = state_folder(load_config())
    write_down(folder, Call("codex", "stop", "s", "failed", note="disk: full", at=time.time() - 2 * 86_400))
    write_down(folder, Call("codex", "stop", "s", "kept"))
    assert _finding(cli, "hooks")["state"] == "ok"
    write_down(folder, Call("codex", "stop", "s", "late"))
    found = _finding(cli, "hooks")
    assert found["state"] == "doubtful" and "late" in found["detail"]
    assert cli("status", "--json").data["hooks"]["failures_today"] == 1


@pytest.mark.promise("P29")
def test_a_daemon_that_runs_and_does_not_answer_is_doubtful(cli: Cli, state: Path) -> None:
    assert _finding(cli, "daemon")["state"] == "ok"
    folder = folder_of(load_config())
    folder.mkdir(parents=True)
    with FileLock(folder / LOCK_FILE).held(0):
        assert _finding(cli, "daemon")["state"] == "doubtful"
        assert cli("status", "--json").data["daemon"]["answers"] is False


@pytest.mark.promise("P29")
def test_trouble_of_the_last_catching_up_stays_until_one_goes_well(
    cli: Cli, state: Path, tmp_path: Path
) -> None:
    record = tmp_path / "record.jsonl"
    said = {"role": "user", "content": "I prefer pytest over unittest."}
    record.write_text(json.dumps(said) + "\nno record\n", encoding="utf-8")
    append_event(state, {"event": "stop", "host": "own", "session": "s", "transcript": str(record)})
    assert cli("hook", "settle").code == 1
    assert _finding(cli, "capture")["state"] == "doubtful"
    assert cli("hook", "settle").code == 0  # nothing to do tells nothing
    assert troubles.read_troubles(state) is not None
    with record.open("a") as file:
        file.write(json.dumps({**said, "content": "I prefer tabs over spaces."}) + "\n")
    append_event(state, {"event": "stop", "host": "own", "session": "s", "transcript": str(record)})
    assert cli("hook", "settle").code == 0
    assert troubles.read_troubles(state) is None and _finding(cli, "capture")["state"] == "ok"


def test_a_damaged_file_of_troubles_is_a_trouble(state: Path) -> None:
    (state / troubles.FILE).write_text('{"at": {}}', encoding="utf-8")
    assert troubles.read_troubles(state) is not None


def test_settling_waits_for_another_process_and_says_so_when_it_is_not_done_in_time(
    cli: Cli, state: Path
) -> None:
    _wait(state)
    with FileLock(state / LOCK).held(0):
        ran = cli("hook", "settle", "--seconds", "0.3", "--json")
    assert (ran.code, ran.data["more"], ran.data["messages"]) == (0, True, 0)
