"""Going back: what was there before is there again."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from tests.real_openclaw.gateway_process import wait_until
from tests.real_openclaw.notes_of_noor import FACT, QUESTION, furnish
from tests.real_openclaw.record import Record
from tests.real_openclaw.rig import Rig
from tests.real_openclaw.turns import asked

pytestmark = pytest.mark.openclaw
_PART = "Going back"
_OWN = "The orrery of Antwerp has eleven moons"


def test_uninstall_restores_the_config_byte_for_byte_and_openclaws_own_memory_answers_again(
    make_rig: Callable[..., AbstractContextManager[Rig]], record: Record
) -> None:
    with make_rig() as rig:
        furnish(rig)
        rig.gateway.workspace.mkdir(parents=True)
        (rig.gateway.workspace / "MEMORY.md").write_text(f"# Memory\n\n- {_OWN}\n", encoding="utf-8")
        # As a person writes it, with a comment and a comma too many.
        config = rig.gateway.config.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
        rig.gateway.config.write_text(f"// mine\n{config},\n}}\n", encoding="utf-8")
        before = rig.gateway.config.read_bytes()

        assert rig.hindbrain("openclaw", "install").code == 0
        installed = rig.gateway.config.read_bytes()
        assert installed != before
        assert rig.hindbrain("openclaw", "install").code == 0
        assert rig.gateway.config.read_bytes() == installed  # twice is once
        rig.gateway.start()
        assert FACT in asked(rig, QUESTION).said

        gone = rig.hindbrain("openclaw", "uninstall")
        assert gone.code == 0, gone
        assert rig.gateway.config.read_bytes() == before
        rig.gateway.stop()
        rig.gateway.start()
        assert FACT not in asked(rig, QUESTION, session="agent:main:later").text
        wait_until(lambda: own_memory_answers(rig), what="OpenClaw's own memory")
        assert rig.gateway.config.read_bytes() == before
        assert FACT in rig.vault_text()  # the vault stays
    record.shown(
        _PART, "`hindbrain openclaw uninstall`: openclaw.json byte for byte as it was, with its comment"
    )
    record.shown(_PART, "OpenClaw's own memory answered memory_search again; the vault was untouched")


def own_memory_answers(rig: Rig) -> bool:
    answer = rig.gateway.invoke("memory_search", query="orrery of Antwerp")
    return answer["provider"] != "hindbrain" and "eleven moons" in json.dumps(answer["results"])
