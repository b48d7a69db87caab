"""Work on all cores gives what work in one process gives, also when a child breaks."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hindbrain.index import parallel
from hindbrain.index.parallel import on_all_cores
from hindbrain.index.schema import remove_index
from index_oracle import assert_equals_vault, meaning
from workbench import Bench


def test_answers_come_in_the_order_of_the_jobs() -> None:
    jobs = [(f"a{i}", "b") for i in range(50)]
    assert list(on_all_cores(os.path.join, jobs)) == [os.path.join(*job) for job in jobs]  # noqa: PTH118


def test_no_jobs_give_no_answers() -> None:
    assert list(on_all_cores(os.path.join, [])) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX")
def test_a_child_that_is_killed_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    send = parallel._Child.send
    killed: list[int] = []

    def fragile(self: parallel._Child, function: object, job: tuple[object, ...]) -> None:
        if not killed and self._process is not None:
            killed.append(self._process.pid)
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        send(self, function, job)  # type: ignore[arg-type]

    monkeypatch.setattr(parallel._Child, "send", fragile)
    assert list(on_all_cores(os.path.join, [("a", str(i)) for i in range(20)])) == [
        f"a/{i}" for i in range(20)
    ]
    assert killed


def test_where_no_child_can_be_had_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel.sys, "executable", "/no/such/python")
    assert list(on_all_cores(os.path.join, [("a", "b"), ("a", "c")])) == ["a/b", "a/c"]


def test_who_stops_listening_leaves_no_child_behind() -> None:
    answers = on_all_cores(os.path.join, (("a", str(i)) for i in range(1_000)))
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert _children() == []


def test_a_sync_on_all_cores_makes_the_same_index(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(40):
        bench.vault.write(f"n{i}.md", f"# Note {i}\n\nzebra {i} #tag{i}\n\n[[n{i + 1}]] and more\n")
    bench.vault.write("binary.md", b"\0\1\2" * 100)
    bench.sync()
    alone = meaning(bench.app.index_path)
    remove_index(bench.app.index_path)
    monkeypatch.setattr("hindbrain.index.sync._PARALLEL_FROM", 1)
    monkeypatch.setattr("hindbrain.index.sync._BATCH_NOTES", 7)
    monkeypatch.setattr("hindbrain.index.embed._PARALLEL_FROM", 1)
    monkeypatch.setattr("hindbrain.index.embed._BATCH", 16)
    report = bench.sync()
    assert [(item.path, item.code) for item in report.failed] == [("binary.md", "unreadable")]
    assert meaning(bench.app.index_path) == alone
    bench.vault.remove("binary.md")
    assert_equals_vault(bench.app.index_path, bench.vault.root, all_embedded=True)
    assert _children() == []


def _children() -> list[str]:
    """The processes of `parallel` that this one has; [] where the system does not say."""
    file = Path(f"/proc/self/task/{os.getpid()}/children")
    if not file.exists():
        return []
    found = []
    for pid in file.read_text(encoding="utf-8").split():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if "hindbrain.index.parallel" in command:
            found.append(command)
    return found
