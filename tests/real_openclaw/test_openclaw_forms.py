"""The three forms, one after the other, at a gateway that runs all the while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.real_openclaw.completions_stub import Call, Say
from tests.real_openclaw.gateway_process import wait_until
from tests.real_openclaw.notes_of_noor import FACT, QUESTION, furnish
from tests.real_openclaw.record import Record
from tests.real_openclaw.rig import Rig
from tests.real_openclaw.turns import asked

pytestmark = pytest.mark.openclaw
_PART = "Forms"
_KEY_NOTE = "Places/Workshop.md"
_QUERY = "spare key of the workshop"
_RECALL = "mcp:hindbrain:hindbrain__recall"


@pytest.fixture(scope="module")
def running(make_rig: Callable[..., AbstractContextManager[Rig]]) -> Iterator[Rig]:
    with make_rig() as rig:
        furnish(rig)
        rig.gateway.start()
        yield rig


@pytest.fixture
def before(running: Rig) -> Iterator[bytes]:
    """openclaw.json as it is before a form is installed, and as uninstall must leave it."""
    config = running.gateway.config.read_bytes()
    yield config
    gone = running.hindbrain("openclaw", "uninstall")
    assert gone.code == 0, gone
    assert running.gateway.config.read_bytes() == config


def searched(rig: Rig, **arguments: object) -> dict[str, Any]:
    """Empty while the gateway changes its plugins: then it has no such tool for a moment."""
    try:
        return rig.gateway.invoke("memory_search", query=_QUERY, **arguments)
    except AssertionError:
        return {}


def provider(rig: Rig) -> str:
    return str(searched(rig).get("provider", ""))


def notes(rig: Rig, corpus: str) -> list[str]:
    return [hit["path"] for hit in searched(rig, corpus=corpus).get("results", ())]


def test_a_running_gateway_takes_the_slot_up_and_gives_it_back_without_a_restart(
    running: Rig, before: bytes, record: Record
) -> None:
    wait_until(lambda: dreaming_jobs(running), what="the nightly job of OpenClaw's own memory")
    installed = running.hindbrain("openclaw", "install")
    assert installed.code == 0, installed
    wait_until(lambda: provider(running) == "hindbrain", what="our hits")
    assert FACT in asked(running, QUESTION).said
    assert not dreaming_jobs(running)
    assert running.hindbrain("openclaw", "uninstall").code == 0
    wait_until(lambda: provider(running) not in ("", "hindbrain"), what="OpenClaw's own memory")
    assert FACT not in asked(running, QUESTION, session="agent:main:after").text
    record.shown(_PART, "install and uninstall at a running gateway: taken up and given back, no restart")
    record.shown(_PART, "the nightly job of OpenClaw's own memory was removed")


def dreaming_jobs(rig: Rig) -> list[str]:
    found = rig.gateway.rpc("cron.list", includeDisabled=True)["jobs"]
    return [job["id"] for job in found if "Dreaming" in job["name"]]


def test_beside_openclaws_own_memory_the_vault_is_one_more_corpus(
    running: Rig, before: bytes, record: Record
) -> None:
    assert running.hindbrain("openclaw", "install", "--beside").code == 0
    wait_until(lambda: _KEY_NOTE in notes(running, "wiki"), what="the vault as a corpus")
    assert _KEY_NOTE in notes(running, "all")
    assert _KEY_NOTE not in notes(running, "memory")
    got = running.gateway.invoke("memory_get", path=_KEY_NOTE, corpus="wiki")
    assert FACT in got["text"]
    assert FACT not in asked(running, QUESTION, session="agent:main:beside").text
    assert provider(running) not in ("", "hindbrain")
    record.shown(
        _PART, "--beside: memory_search corpus=wiki and corpus=all found the note, its own memory stayed"
    )


def test_over_mcp_the_vault_is_found_when_the_model_looks(
    running: Rig, before: bytes, record: Record
) -> None:
    assert running.hindbrain("openclaw", "install", "--mcp").code == 0
    wait_until(lambda: _RECALL in tools_found(running), what="our tools", timeout_s=120)
    running.model.script(Call("tool_call", {"id": _RECALL, "args": {"topic": _QUERY}}), Say("Found."))
    running.gateway.ask("Look it up.", session="agent:main:mcp")
    assert FACT in running.model.steps[-1].tool_results[-1]
    record.shown(_PART, "--mcp: the model found the tool by tool search, and the note with it")


def tools_found(rig: Rig) -> str:
    rig.model.script(Call("tool_search", {"query": "hindbrain recall memories"}), Say("I see them."))
    rig.gateway.ask("Which tools are there?", session="agent:main:mcp")
    return rig.model.steps[-1].tool_results[-1]
