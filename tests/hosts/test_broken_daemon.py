"""A background process that died, hangs or lies: the real host still answers, and is still told the fact."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from desk import Desk, hook_answers, wait_until
from notes_of_ada import FACT, KEPT, PREFERENCE, QUESTION, furnish
from stub_model import Say, StubModel

pytestmark = pytest.mark.hosts


@pytest.fixture
def served(make_desk: Callable[..., Desk]) -> Desk:
    """With the background process running, as it is after the first session of a day."""
    desk = make_desk(daemon=True)
    furnish(desk)
    assert desk.hindbrain("up").code == 0
    return desk


def daemon_pid(desk: Desk) -> int:
    [file] = desk.state.rglob("daemon.json")
    return int(json.loads(file.read_text(encoding="utf-8"))["pid"])


def test_the_fact_comes_from_the_background_process(served: Desk, model: StubModel) -> None:
    model.script(Say("Answered."))

    ran = served.claude.ask(QUESTION)

    assert (ran.code, ran.events[-1]["result"]) == (0, "Answered.")
    assert FACT in model.steps[0].text


def test_the_first_session_starts_the_background_process(
    make_desk: Callable[..., Desk], model: StubModel
) -> None:
    desk = make_desk(daemon=True)
    furnish(desk)
    model.script(Say("Answered."))

    assert desk.claude.ask(QUESTION).code == 0

    assert FACT in model.steps[0].text
    assert desk.hindbrain("up", "status").code == 0


def test_a_preference_is_kept_without_anybody_asking_for_it(served: Desk, model: StubModel) -> None:
    model.script(Say("Noted."))

    assert served.claude.ask(PREFERENCE).code == 0

    wait_until(lambda: KEPT in served.vault_text(), what="the preference in the vault")
    assert served.vault_text().count(KEPT) == 1


@contextmanager
def _killed(desk: Desk) -> Iterator[None]:
    os.kill(daemon_pid(desk), signal.SIGKILL)
    yield


@contextmanager
def _stopped(desk: Desk) -> Iterator[None]:
    pid = daemon_pid(desk)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def _garbage(desk: Desk) -> Iterator[None]:
    [file] = desk.state.rglob("daemon.json")
    good = file.read_bytes()
    file.write_bytes(b'{"kind": "unix", "address": ["\xff')
    try:
        yield
    finally:
        file.write_bytes(good)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("breakage", [_killed, _stopped, _garbage], ids=["killed", "stopped", "garbage"])
def test_the_host_answers_and_is_told_the_fact_without_the_background_process(
    served: Desk, model: StubModel, breakage: Callable[[Desk], Iterator[None]]
) -> None:
    served.place.extra["HINDBRAIN_HOOKS_DAEMON"] = "false"  # or the first hook starts a healthy one
    model.script(Say("Answered."))

    with breakage(served):  # type: ignore[attr-defined]
        ran = served.claude.ask(QUESTION)

    assert (ran.code, ran.events[-1]["result"], ran.err) == (0, "Answered.", "")
    assert FACT in model.steps[0].text
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        assert [answer["outcome"] for answer in hook_answers(ran, event)] == ["success"]
