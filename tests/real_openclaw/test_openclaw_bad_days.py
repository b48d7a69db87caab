"""What goes wrong on some days: OpenClaw keeps answering, it is said once, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
from tests.real_openclaw.completions_stub import Asked, Call, Reply, Say
from tests.real_openclaw.gateway_process import wait_until
from tests.real_openclaw.notes_of_noor import FACT, QUESTION, furnish
from tests.real_openclaw.record import Record
from tests.real_openclaw.rig import Rig
from tests.real_openclaw.turns import asked, settled

pytestmark = pytest.mark.openclaw
_PART = "Bad days"


def kill_daemon(rig: Rig) -> None:
    pid = rig.hindbrain_json("up", "status")["pid"]
    os.kill(int(pid), signal.SIGKILL)


@contextlib.contextmanager
def held_down(rig: Rig) -> Iterator[None]:
    """The service is gone, and its port is taken, so that it can't come back by itself."""
    kill_daemon(rig)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wait_until(lambda: is_bound(taken, rig.service_port), what="the end of the service")
        yield
    rig.hindbrain("up")
    wait_until(lambda: is_up(rig), what="the service")


def is_bound(taken: socket.socket, port: int) -> bool:
    try:
        taken.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True


def is_up(rig: Rig) -> bool:
    rig.hindbrain("up", "status")  # which makes a daemon look at its port again, now
    return bool(rig.hindbrain_json("openclaw", "status")["service"]["serves"])


def has_hits(rig: Rig) -> bool:
    return bool(rig.gateway.invoke("memory_search", query="spare key of the workshop").get("results"))


def test_a_service_that_is_killed_in_mid_turn_costs_neither_the_turn_nor_what_was_said(
    ours: Rig, record: Record
) -> None:
    session = "agent:main:killed"

    def killed(_: Asked) -> Reply:
        kill_daemon(ours)
        return Call("memory_search", {"query": "spare key of the workshop"})

    said = "I prefer the brass key for the cabinet, always."
    ours.model.script(killed, Say("Answered all the same."))
    assert ours.gateway.ask(said, session=session) == "Answered all the same."
    told = json.loads(ours.model.steps[-1].tool_results[-1])
    assert told.get("results") or told.get("unavailable")  # back in time, or told as what it is
    wait_until(lambda: is_up(ours), what="the service")
    wait_until(lambda: has_hits(ours), what="hits of the service that is back")
    assert FACT in asked(ours, QUESTION, session=session).said
    wait_until(lambda: settled(ours, "brass key"), what="what was said in that turn")
    asked(ours, "Thanks", session=session)
    assert ours.hindbrain("hook", "settle").code == 0
    assert ours.vault_text().count("brass key") == 1
    record.shown(_PART, "the service was killed in mid-turn: the turn was answered")
    record.shown(_PART, "and what was said in it was in the vault when the service was back, once")


def test_a_service_that_stays_away_is_said_once_and_turns_go_on(ours: Rig, record: Record) -> None:
    session = "agent:main:away"
    warnings = len(warned(ours))
    with held_down(ours):
        first = asked(ours, QUESTION, session=session)
        second = asked(ours, "I prefer felt over silk for the pendulum, always.", session=session)
        third = asked(ours, QUESTION, session=session)
        for request in (first, second, third):
            assert FACT not in request.text
        assert len(warned(ours)) == warnings + 1
        assert ours.hindbrain_json("openclaw", "status")["problems"]
    wait_until(lambda: has_hits(ours), what="hits of the service that is back")
    assert FACT in asked(ours, QUESTION, session=session).said
    wait_until(lambda: settled(ours, "felt over silk"), what="what was said meanwhile")
    assert ours.vault_text().count("felt over silk") == 1
    record.shown(_PART, "the service stayed away for three turns: each was answered, one warning in the log")
    record.shown(_PART, "`hindbrain openclaw status` said so; what was said meanwhile was caught up, once")


def warned(rig: Rig) -> list[str]:
    """The lines of the gateway's log in which our plugin warns."""
    lines = []
    for line in rig.gateway.logged("indbrain"):
        with contextlib.suppress(ValueError):
            about = json.loads(line).get("_meta", {})
            if about.get("logLevelName") in ("WARN", "ERROR"):
                lines.append(line)
    return lines


def test_a_vault_that_is_unmounted_is_no_empty_memory_and_is_back_when_it_is_mounted(
    ours: Rig, record: Record
) -> None:
    session = "agent:main:unmounted"
    away = ours.vault.with_name("unmounted")
    ours.vault.rename(away)
    try:
        request = asked(ours, QUESTION, session=session)
        assert FACT not in request.text
        tool = ours.gateway.invoke("memory_search", query="spare key of the workshop")
        assert tool["unavailable"] is True
        assert str(ours.vault) in tool["error"]
        assert ours.hindbrain_json("openclaw", "status")["problems"]
        assert not ours.vault.exists()  # nobody made an empty one in its place
    finally:
        away.rename(ours.vault)
    wait_until(lambda: has_hits(ours), what="hits of the vault that is back")
    assert FACT in asked(ours, QUESTION, session=session).said
    record.shown(
        _PART, "the vault was unmounted: turns were answered, the search said so, nothing was made anew"
    )
    record.shown(_PART, "mounted again, it was OpenClaw's memory again, without a restart")


def test_a_plugin_folder_that_was_deleted_leaves_openclaw_alive_and_is_named(
    make_rig: Callable[..., AbstractContextManager[Rig]], record: Record
) -> None:
    with make_rig() as rig:
        furnish(rig)
        assert rig.hindbrain("openclaw", "install").code == 0
        shutil.rmtree(rig.state / "openclaw" / "plugin")
        rig.gateway.start()
        assert asked(rig, "Hello", answer="Still here.")
        state = rig.hindbrain_json("openclaw", "status")
        assert any(str(rig.state / "openclaw" / "plugin") in problem["what"] for problem in state["problems"])
        assert rig.hindbrain("openclaw", "install").code == 0
        rig.gateway.stop()
        rig.gateway.start()
        assert FACT in asked(rig, QUESTION).said
    record.shown(
        _PART, "the plugin's folder was deleted: OpenClaw answered, status named it, install mended it"
    )
