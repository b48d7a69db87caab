import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hindbrain.base.errors import Busy
from hindbrain.vault.lock import FileLock

HOLDER = """
import sys
from pathlib import Path
from hindbrain.vault.lock import FileLock
with FileLock(Path(sys.argv[1])).held(5):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "a.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_lock_held_by_another_process_is_busy_after_the_timeout(tmp_path, holder):
    with pytest.raises(Busy) as raised, FileLock(tmp_path / "a.lock").held(0.05):
        pass
    assert raised.value.code == "busy"


def test_the_lock_of_a_killed_holder_is_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    with FileLock(tmp_path / "a.lock").held(5):
        pass


def test_a_waiter_gets_the_lock_when_the_holder_leaves(tmp_path, holder):
    got = threading.Event()

    def wait() -> None:
        with FileLock(tmp_path / "a.lock").held(30):
            got.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    holder.communicate("")
    waiter.join(30)
    assert got.is_set()


def test_two_threads_exclude_each_other(tmp_path):
    lock = FileLock(tmp_path / "a.lock")
    inside, most = 0, 0
    count = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with lock.held(30):
                with count:
                    inside += 1
                    most = max(most, inside)
                with count:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_the_lock_file_is_never_deleted(tmp_path):
    path = tmp_path / "a.lock"
    with FileLock(path).held(0):
        first = path.stat().st_ino
    with FileLock(path).held(0):
        assert path.stat().st_ino == first


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_stopped_holder_still_holds(tmp_path, holder):
    os.kill(holder.pid, signal.SIGSTOP)
    with pytest.raises(Busy), FileLock(tmp_path / "a.lock").held(0):
        pass


def test_one_who_gave_up_waiting_never_comes_to_hold_the_lock(tmp_path, holder):
    with pytest.raises(Busy), FileLock(tmp_path / "a.lock").held(0.05):
        pass
    holder.communicate()  # it leaves, and the lock goes to whoever still waits
    with FileLock(tmp_path / "a.lock").held(30):
        pass


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who waits for a lock")
def test_who_comes_first_is_served_first(tmp_path):
    lock = FileLock(tmp_path / "a.lock")
    served = []

    def wait(number: int) -> None:
        with lock.held(30):
            served.append(number)

    def waiting() -> int:
        inode = f":{(tmp_path / 'a.lock').stat().st_ino} "
        return sum(
            "->" in line and inode in line
            for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines()
        )

    with lock.held(1):
        threads = [threading.Thread(target=wait, args=(number,)) for number in range(8)]
        for number, thread in enumerate(threads):
            thread.start()
            while waiting() <= number:
                pass
    for thread in threads:
        thread.join()
    assert served == list(range(8))
