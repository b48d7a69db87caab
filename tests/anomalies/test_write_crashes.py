"""The long forms of P1 and P2: kills and errors at the kernel's own calls (strace), power cuts on ext4."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.anomalies import oracle
from tests.anomalies.oracle import Ack
from tests.anomalies.scenarios import SCENARIOS, Scenario, build
from tests.anomalies.test_write_anomalies import fresh, judge

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import HindbrainError
from hindbrain.vault.write import VaultWriter

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="strace and loop mounts are Linux's"),
]
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

CHANGING = (
    "openat,write,fsync,renameat2,rename,renameat,linkat,unlinkat,unlink,mkdirat,mkdir,fchmod,ftruncate,fcntl"
)
KILLS = 1_000
CUTS = 200


def run_traced(act: Callable[[], str], inject: str) -> tuple[int, str]:
    """Run `act` in a child that strace holds from its first call on. Returns (pid, answer, "" if killed)."""
    go_reader, go = os.pipe()
    answer, answer_writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go)
            os.read(go_reader, 1)
            told = act()
            os.writev(answer_writer, [told.encode()])  # not one of the calls that are struck
        finally:
            os._exit(0)
    os.close(go_reader)
    os.close(answer_writer)
    calls = inject.partition(":")[0]
    command = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={inject}"]
    tracer = subprocess.Popen([*command, "-p", str(pid)], stderr=subprocess.DEVNULL)
    while "TracerPid:\t0" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8"):
        assert tracer.poll() is None, "strace could not attach"
        time.sleep(0.001)  # nothing tells when strace has attached
    os.close(go)
    with open(answer, "rb") as told_by_child:
        told = told_by_child.read().decode()
    os.waitpid(pid, 0)
    tracer.wait()
    return pid, told


def act_on(folder: Path, scenario: Scenario) -> Callable[[], str]:
    def act() -> str:
        try:
            with VaultWriter(folder / "vault", folder / "state", SystemClock()) as writer:
                scenario.act(writer)
        except HindbrainError as error:
            return error.code
        except Exception as error:  # noqa: BLE001 - the parent must tell it from a kill
            return f"unexpected {error!r}"
        return "ok"

    return act


def strike_everywhere(place: Path, inject: str, at_least: int) -> dict[str, int]:
    """Strike at the first, second, ... call of every scenario until it comes through, over and over."""
    told_count: dict[str, int] = {}
    templates = {each.name: place / f"template-{index}" for index, each in enumerate(SCENARIOS)}
    for scenario in SCENARIOS:
        build(templates[scenario.name], scenario)
    strikes = 0
    while strikes < at_least:
        for scenario in SCENARIOS:
            number = harmless = 0
            while harmless < 6:  # errors of some calls do no harm; six of them in a row: none was struck
                number += 1
                sandbox = fresh(templates[scenario.name], place / "run")
                pid, told = run_traced(act_on(place / "run", scenario), f"{inject}:when={number}")
                assert told or "signal" in inject, "the child died of an error"
                assert not told.startswith("unexpected"), told
                judge(place / "run", sandbox, scenario, templates[scenario.name], told, pid)
                told_count[told or "killed"] = told_count.get(told or "killed", 0) + 1
                harmless = harmless + 1 if told == "ok" else 0
                strikes += told != "ok"
    return told_count


@needs_strace
@pytest.mark.promise("P1")
@pytest.mark.promise("P2")
def test_a_thousand_kills_at_the_kernels_calls_lose_nothing(place, capsys):
    told = strike_everywhere(place, f"{CHANGING}:signal=KILL", KILLS)
    assert told["killed"] >= KILLS
    with capsys.disabled():
        print(f"\nP1 kills: {told}, 0 lost, 0 torn")


@needs_strace
@pytest.mark.promise("P2")
@pytest.mark.parametrize("name", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("call", ["write", "fsync", "openat", "renameat2", "unlinkat", "fchmod"])
def test_an_error_of_any_kernel_call_tears_nothing(place, name, call, capsys):
    told = strike_everywhere(place, f"{call}:error={name}", 1)
    with capsys.disabled():
        print(f"\nP2 {call} {name}: {told}, 0 torn")


@contextlib.contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-o", "loop", str(image), str(folder)], capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        pytest.skip(f"no loop mounts here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def image(place: Path) -> Path:
    if shutil.which("mkfs.ext4") is None or os.geteuid() != 0:
        pytest.skip("power cuts need mkfs.ext4 and root")
    path = place / "disk.img"
    with path.open("wb") as file:
        file.truncate(24 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(path)], check=True)
    return path


def cut_power(image: Path, place: Path, cuts: int) -> int:
    """Write, and at the moment of the ack copy the disk. Returns how many acknowledged writes are lost."""
    lost = 0
    acks: list[Ack] = []
    note = b"# Log\n"
    with mounted(image, place / "disk") as disk:
        (disk / "vault").mkdir(exist_ok=True)
        with VaultWriter(disk / "vault", disk / "state", SystemClock()) as writer:
            written = writer.append_note("note.md", note)
            for number in range(cuts):
                path = "note.md" if number % 3 else f"folder {number}/new.md"
                if number % 3 == 0:
                    note = b"new %d\n" % number
                    writer.create_note(path, note)
                    acks = [Ack(path, note)]
                else:
                    note = b"# Log %d\n" % number + b"x" * (number * 37 % 9000)
                    written = writer.replace_note(path, note, expected_hash=written.hash)
                    acks = [Ack(path, note)]
                shutil.copyfile(image, place / "cut.img")
                lost += not _survived(place, acks)
    return lost


def _survived(place: Path, acks: list[Ack]) -> bool:
    with mounted(place / "cut.img", place / "after") as disk:
        with VaultWriter(disk / "vault", disk / "state", SystemClock()) as writer:
            # Stricter than I1: nobody else wrote, so it must be the note itself.
            there = [(disk / "vault" / ack.path) for ack in acks]
            if any(not n.is_file() or n.read_bytes() != a.data for n, a in zip(there, acks, strict=True)):
                return False
            assert writer.history(limit=1)[0].path == acks[-1].path
        oracle.nothing_is_left_over(disk / "vault", disk / "state")
        return True


@pytest.mark.promise("P1")
def test_two_hundred_power_cuts_at_the_ack_lose_nothing(image, place, capsys):
    assert cut_power(image, place, CUTS) == 0
    with capsys.disabled():
        print(f"\nP1 power cuts: {CUTS} cuts, 0 lost")


def test_the_power_cut_test_notices_a_missing_fsync(image, place, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert cut_power(image, place, 6) > 0


def test_the_kill_really_kills(place):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    pid, told = run_traced(lambda: str(os.open("/dev/null", os.O_RDONLY)), "openat:signal=KILL:when=1")
    assert told == ""
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
