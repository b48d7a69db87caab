"""The daemon as its user has it: processes that are started, killed, stopped in their tracks, and raced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from daemon_runs import PATIENCE_S, Daemons, halt, wait_until

from hindbrain.base.config import load_config
from hindbrain.edge.daemon import client, starting
from hindbrain.edge.daemon.address import ADDRESS_FILE, LOG_FILE
from workbench import Vault

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


def _up(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hindbrain", "up", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, encoding="utf-8")


def _data(ran: subprocess.CompletedProcess[str]) -> Any:
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def _gone(pid: int) -> bool:
    """Has the process ended? One that nobody has waited for yet counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def test_up_starts_it_a_second_up_adds_a_vault_and_stop_ends_it(
    notes: Vault, tmp_path: Path, daemons: Daemons
) -> None:
    other = tmp_path / "other"
    (other / ".obsidian").mkdir(parents=True)
    assert _data(_up("status", "--json"))["running"] is False
    first = _data(_up("--vault", str(notes.root), "--json"))
    daemons.also(first["pid"])
    assert first["started"] is True
    second = _data(_up("--vault", str(other), "--json"))
    assert (second["started"], second["pid"]) == (False, first["pid"])
    status = _data(_up("status", "--json"))
    assert [vault["path"] for vault in status["vaults"]] == [str(notes.root), str(other)]
    assert Path(status["log"]).read_text(encoding="utf-8")
    assert _data(_up("stop", "--json")) == {"stopped": True}
    wait_until(lambda: _gone(first["pid"]))
    assert _data(_up("stop", "--json")) == {"stopped": False}
    assert {path.name for path in daemons.folder.iterdir()} == {"daemon.lock", LOG_FILE}


def test_what_is_said_to_a_person_names_process_vault_place_and_log(notes: Vault, daemons: Daemons) -> None:
    ran = _up("--vault", str(notes.root))
    daemons.also(daemons.pid)
    assert ran.returncode == 0
    address = daemons.address
    assert address is not None
    for part in (str(address.pid), str(notes.root), address.place, str(daemons.folder / LOG_FILE)):
        assert part in ran.stdout
    assert _up("stop").returncode == 0


def test_a_vault_that_is_not_there_is_an_error_and_starts_nothing(tmp_path: Path, daemons: Daemons) -> None:
    ran = _up("--vault", str(tmp_path / "gone"), "--json")
    assert (ran.returncode, json.loads(ran.stdout)["error"]["code"]) == (1, "not_found")
    assert daemons.address is None


@pytest.mark.parametrize(
    "words", [("stop", "--foreground"), ("--idle-minutes", "-1"), ("--idle-minutes", "nan")]
)
def test_options_that_make_no_sense_are_usage_errors(words: tuple[str, ...]) -> None:
    assert _up(*words, "--json").returncode == 2


def test_ten_that_start_at_once_make_one_daemon(notes: Vault, daemons: Daemons) -> None:
    command = [sys.executable, "-m", "hindbrain", "up", "--vault", str(notes.root), "--json"]
    racing = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(10)]
    answers = [json.loads(one.communicate(timeout=60)[0]) for one in racing]
    pids = {answer["pid"] for answer in answers}
    for pid in pids:
        daemons.also(pid)
    assert len(pids) == 1
    assert [answer["started"] for answer in answers].count(True) == 1
    assert _up("stop").returncode == 0


def test_a_second_one_in_the_foreground_is_refused(daemons: Daemons) -> None:
    first = daemons.start()
    second = daemons.start()
    assert second.wait(PATIENCE_S) == 1
    assert daemons.pid == first.pid


def test_one_that_is_killed_in_the_middle_of_a_request_keeps_nobody_waiting(
    notes: Vault, tmp_path: Path, daemons: Daemons
) -> None:
    process, sign, answers = daemons.start_slow(), tmp_path / "sign", []

    def ask() -> None:
        answers.append(client.ask(daemons.folder, "block", notes.root, {"sign": str(sign)}, timeout_s=600))

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(sign.exists)
    process.kill()
    asking.join(PATIENCE_S)
    assert answers == [None]
    assert (daemons.folder / ADDRESS_FILE).exists()  # stale, and harmless:
    assert client.ask(daemons.folder, "ping", notes.root, {}, timeout_s=600) is None
    assert _data(_up("status", "--json"))["running"] is False
    assert _data(_up("stop", "--json")) == {"stopped": False}
    process.wait(PATIENCE_S)
    again = daemons.start()
    assert daemons.ask("ping")["result"]["pid"] == again.pid


def test_one_that_hangs_is_given_up_at_the_time_out_and_not_killed(notes: Vault, daemons: Daemons) -> None:
    process = daemons.start()
    daemons.ask("ping", notes.root)
    halt(process)
    for prompt in ("short", "x" * 5_000_000):  # more than the system's buffers take
        began = time.monotonic()
        asked = {"query": prompt}
        assert client.request(daemons.folder, "search", notes.root, asked, timeout_s=0.2) is None
        assert time.monotonic() - began < PATIENCE_S
    status = _data(_up("status", "--json"))
    assert (status["running"], status["answers"], status["pid"]) == (True, False, process.pid)
    process.send_signal(signal.SIGCONT)
    wait_until(lambda: client.request(daemons.folder, "ping", notes.root, {}, timeout_s=1))


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_with_nothing_left(notes: Vault, daemons: Daemons, name: int) -> None:
    process = daemons.start()
    daemons.ask("ping", notes.root)
    process.send_signal(name)
    assert process.wait(PATIENCE_S) == 0
    assert {path.name for path in daemons.folder.iterdir()} == {"daemon.lock"}


def test_it_ends_by_itself_when_nobody_asks(daemons: Daemons) -> None:
    process = daemons.start("--idle-minutes", "0.002")
    assert process.wait(PATIENCE_S) == 0
    assert daemons.address is None


def test_a_log_that_can_not_be_written_stops_nothing(notes: Vault, daemons: Daemons) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        process = daemons.start(stderr=full)
    assert daemons.ask("ping", notes.root)["ok"]
    assert daemons.ask("dance", notes.root)["code"] == "usage"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) in (0, 120)  # 120: Python's own flush at the end


def test_a_daemon_that_can_not_start_is_told_with_the_reason(daemons: Daemons, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "daemon").write_text("a file where a folder should be", encoding="utf-8")
    ran = _up("--json")
    assert (ran.returncode, json.loads(ran.stdout)["error"]["code"]) == (1, "write_failed")


def test_what_a_hook_starts_keeps_no_pipe_of_its_host_open(notes: Vault, daemons: Daemons) -> None:
    program = (
        "from hindbrain.base.config import load_config\n"
        "from hindbrain.edge.daemon.starting import start_in_background\n"
        "print(start_in_background(load_config(), idle_minutes=5))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, encoding="utf-8"
    )
    assert ran.stdout == "True\n"  # the pipe was closed, though the daemon goes on
    daemons.also(wait_until(lambda: daemons.pid))
    assert daemons.pid not in (0, os.getpid())
    assert starting.stop_running(load_config())


def test_relative_places_in_the_settings_hold_in_the_background(
    notes: Vault, daemons: Daemons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", "state")
    assert _data(_up("--vault", "vault", "--json"))["started"] is True
    daemons.also(daemons.pid)
    assert daemons.ask("ping", notes.root)["ok"]
    assert _up("stop").returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_who_finds_a_daemon_may_end_it_at_once(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from hindbrain.edge.daemon import running\n"
        "class Slow(running.Daemon):\n"
        "    def __init__(self, here, **settings):\n"  # its address is there: it can be found
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        super().__init__(here, **settings)\n"
        "running.Daemon = Slow\n"
        "print(running.run_here(Path(sys.argv[1]), idle_minutes=5))"
    )
    folder = tmp_path / "state" / "daemon"
    ran = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        encoding="utf-8",
    )
    assert (ran.returncode, ran.stdout) == (0, "signal 15\n"), ran.stderr
    assert {path.name for path in folder.iterdir()} == {"daemon.lock"}
