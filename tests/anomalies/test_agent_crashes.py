"""A run that is killed at any call goes on afterwards: no step that was told is lost, nothing is done twice.

What was told to whoever looked on, and what the tools did, stands in logs outside of the vault and the state
folder, which only the test writes.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("faults are injected through fork and kill", allow_module_level=True)

from tests.agent.run_bench import Bench, texts, tool
from tests.anomalies import oracle
from tests.anomalies.killer import (
    CHANGES_FILES,
    NEVER,
    Faults,
    error_faults,
    kill,
    kill_in_the_middle,
    run_forked,
)

from hindbrain.agent.run import RunRequest, Said
from hindbrain.agent.tools.tool import Result
from hindbrain.agent.transcript import transcripts
from hindbrain.base.errors import HindbrainError
from hindbrain.learn.runs.events import IterationEnded, IterationStarted, RunCreated, RunEnded, ToolExecuted
from hindbrain.memory.tools.tool import Arguments
from hindbrain.models.chat import ChatAnswer, ChatRequest, Image
from hindbrain.models.chat_fake import calls, says

STEPS = (("look", "1"), ("do", "2"), ("look", "3"), ("do", "4"), ("do", "5"))
REQUEST = RunRequest("do it all", allowed=("do",))
Strike = Callable[..., None]
_open, _write, _close = os.open, os.write, os.close  # the test's own logs are no part of what is struck


class Box:
    """A vault and its state folder, with the test's logs beside them."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True)
        self.bench = Bench(folder / "bench", tools=(tool("look", handler=_look), tool("do", "act", self._do)))
        self.bench.script(*[_next_step] * 30)

    def run(self) -> None:
        self.bench.agent.run(REQUEST, self._hear)

    def go_on(self) -> str:
        """Finish what is left of the run, as its owner would; its id, "" when it had not even begun."""
        left = self.bench.agent.open_runs()
        if left:
            assert self.bench.agent.resume(left[0].run, self._hear).end == "complete"
            return left[0].run
        # Over, or never begun: the next run clears up what is left, whatever it is about.
        known = [one.run for one in transcripts(self.bench.state)]
        known += [episode.run for episode in self.bench.runs.episodes()]
        self.bench.script("Hello.", "Hello.")
        assert self.bench.agent.run(RunRequest("greet")).ok
        begun = [run for run in known if self.bench.runs.knows(run)]
        return begun[0] if begun else ""

    def told(self, log: str) -> list[str]:
        file = self.logs / log
        return file.read_text(encoding="utf-8").split() if file.exists() else []

    def _do(self, args: Arguments) -> Result:
        self._note("done", args["what"])
        return Result(f"did {args['what']}")

    def _hear(self, said: Said) -> None:
        if said.kind == "result":
            self._note("acknowledged", str(said.data["call"]))

    def _note(self, log: str, word: str) -> None:
        fd = _open(self.logs / log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        _write(fd, f"{word}\n".encode())
        _close(fd)


def _look(args: Arguments) -> Result:
    return Result(f"saw {args['what']}", images=(Image(f"png {args['what']}".encode()),))


def _next_step(request: ChatRequest) -> ChatAnswer:
    """Decides by what it sees alone. The ids of calls are those of the steps."""
    number = len(texts(request, "tool"))
    if number == len(STEPS):
        return says("All of it is done.\nTASK_COMPLETE")
    name, what = STEPS[number]
    answer = calls(name, what=what)
    return answer._replace(calls=(answer.calls[0]._replace(id=f"step-{what}"),))


def judge(box: Box, run: str) -> None:
    acknowledged, done = box.told("acknowledged"), Counter(box.told("done"))
    assert set(done.values()) <= {1}, f"done twice: {done}"
    assert box.bench.files() == []
    if not run:
        assert not acknowledged
        assert not done
        return
    events = box.bench.events(run)
    executed = [event for event in events if isinstance(event, ToolExecuted)]
    assert [(event.name, event.arguments["what"]) for event in executed] == list(STEPS)
    assert {f"step-{event.arguments['what']}" for event in executed} >= set(acknowledged)
    # What the journal calls done was; of what it does not know, the model was told so.
    assert {event.arguments["what"] for event in executed if event.ok and event.name == "do"} <= set(done)
    assert sum(not event.ok for event in executed) <= 2  # at most one for each kill
    for kind in (IterationStarted, IterationEnded):
        assert [event.number for event in events if isinstance(event, kind)] == [1, 2, 3, 4, 5, 6]
    assert [type(event) for event in (events[0], events[-1])] == [RunCreated, RunEnded]
    assert sum(isinstance(event, RunCreated | RunEnded) for event in events) == 2
    assert box.bench.runs.passed_over() <= 2  # torn lines


def points(folder: Path, act: Callable[[Box], object]) -> list[int]:
    """Which calls change something."""
    box, faults = Box(folder), Faults(NEVER, kill)
    with faults.active():
        act(box)
    return [at for at, name in enumerate(faults.calls, 1) if name in CHANGES_FILES]


def killed(box: Box, act: Callable[[], object], at: int, strike: Strike) -> bool:
    def dying() -> None:
        with Faults(at, strike).active():
            act()

    return not run_forked(dying)[1]


def kill_at_each(place: Path, every: int, strike: Strike) -> int:
    found = points(place / "dry", Box.run)
    assert len(found) > 100
    found = [*found[:10], *found[10:-10:every], *found[-10:]]  # most goes on at both ends
    for at in found:
        box = Box(place / "box")
        assert killed(box, box.run, at, strike)
        judge(box, box.go_on())
        oracle.nothing_is_left_over(box.bench.root, box.bench.state)
    return len(found)


@pytest.mark.promise("P1")
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle], ids=["kill", "half-write"])
def test_a_run_that_is_killed_anywhere_goes_on_and_does_nothing_twice(place: Path, strike: Strike) -> None:
    assert kill_at_each(place, 17, strike) > 30


@pytest.mark.slow
@pytest.mark.promise("P1")
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle], ids=["kill", "half-write"])
def test_a_run_that_is_killed_at_every_single_call_goes_on(place: Path, strike: Strike) -> None:
    kill_at_each(place, 1, strike)


def kill_twice(place: Path, first_every: int, second_every: int) -> None:
    first = points(place / "dry", Box.run)
    second = len(first)
    for at in first[first_every // 2 :: first_every]:
        for again in range(3, second, second_every):
            box = Box(place / "box")
            assert killed(box, box.run, at, kill_in_the_middle)
            left = box.bench.agent.open_runs()
            if left:
                killed(
                    box,
                    lambda box=box, run=left[0].run: box.bench.agent.resume(run, box._hear),  # type: ignore[misc]
                    again,
                    kill,
                )
            judge(box, box.go_on())


def test_one_that_is_killed_again_while_it_is_resumed_goes_on_all_the_same(place: Path) -> None:
    kill_twice(place, 97, 61)


def cut_power(box: Box, at: int, losing: tuple[str, ...]) -> bool:
    """Die at the n-th sync; what was not synced of files so called is gone. False: it came to its end."""
    real, count = os.fsync, 0

    def fsync(fd: int) -> None:
        nonlocal count
        count += 1
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        real(fd)
        stat = os.fstat(fd)
        box._note("synced", f"{stat.st_ino}:{stat.st_size}")

    def dying() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            box.run()

    if run_forked(dying)[1]:
        return False
    synced = {int(ino): int(size) for ino, size in (word.split(":") for word in box.told("synced"))}
    for file in (found for name in losing for found in box.bench.folder.rglob(name)):
        os.truncate(file, synced.get(file.stat().st_ino, 0))
    return True


@pytest.mark.promise("P1")
@pytest.mark.skipif(sys.platform != "linux", reason="others sync in another way")
@pytest.mark.parametrize(
    "losing",
    [("journal.jsonl", "transcript.jsonl"), ("journal.jsonl",), ("transcript.jsonl",)],
    ids=["both", "journal", "transcript"],
)
def test_a_power_cut_loses_no_step_that_was_told(place: Path, losing: tuple[str, ...]) -> None:
    at = 1
    while cut_power(box := Box(place / "box"), at, losing):
        judge(box, box.go_on())
        at += 2
    assert at > 20


def fail_at_each(place: Path, every: int, number: int) -> set[str]:
    ends: set[str] = set()
    for at in range(1, calls_of(place / "dry"), every):
        box = Box(place / "box")
        told = ""
        try:
            with error_faults(at, number).active():
                box.run()
        except HindbrainError as error:
            told = error.code
        for left in box.bench.agent.open_runs():
            box.bench.agent.resume(left.run, box._hear)
        (run,) = [episode.run for episode in box.bench.runs.episodes()] or [""]
        done = Counter(box.told("done"))
        assert set(done.values()) <= {1}, f"call {at}: done twice: {done}"
        events = box.bench.events(run) if run else []
        executed = [event.arguments["what"] for event in events if isinstance(event, ToolExecuted)]
        assert executed == sorted(set(executed)), f"call {at}"
        assert {word.removeprefix("step-") for word in box.told("acknowledged")} <= set(executed)
        assert set(done) <= set(executed), f"call {at}: done, and the journal does not know"
        assert sum(isinstance(event, RunEnded) for event in events) == bool(run)
        assert told or [event.end for event in events if isinstance(event, RunEnded)] == ["complete"]
        ends.add(told)
    return ends


def calls_of(folder: Path) -> int:
    faults = error_faults(NEVER, 0)
    with faults.active():
        Box(folder).run()
    return len(faults.calls)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["disk full", "I/O error"])
def test_an_error_of_the_disk_is_told_and_the_run_has_an_end_or_goes_on(place: Path, number: int) -> None:
    assert "write_failed" in fail_at_each(place, 29, number)


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["disk full", "I/O error"])
def test_an_error_of_the_disk_at_every_single_call_is_told(place: Path, number: int) -> None:
    assert {"", "write_failed", "write_unknown"} <= fail_at_each(place, 1, number)


@pytest.mark.slow
def test_one_that_is_killed_again_anywhere_while_it_is_resumed_goes_on(place: Path) -> None:
    kill_twice(place, 23, 17)
