"""What a person sees at a terminal with the real Claude Code: answers, notices, questions of the guard."""

from __future__ import annotations

import json
import os

import pytest
from desk import Desk
from notes_of_ada import FACT, QUESTION, furnish
from stub_model import Call, Say, StubModel
from terminal import at_terminal

pytestmark = [pytest.mark.hosts, pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")]


@pytest.fixture
def ada(desk: Desk) -> Desk:
    """Past the questions that the host asks whoever starts it for the first time."""
    furnish(desk)
    home = desk.place.home / ".claude"
    home.mkdir(exist_ok=True)
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
        "projects": {str(desk.place.project): trusted},
    }
    (home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
    desk.place.extra["TERM"] = "xterm-256color"
    return desk


def interactive(desk: Desk) -> list[str]:
    plugin = str(desk.claude.plugins[0])
    return [str(desk.programs.claude), "--plugin-dir", plugin, "--allowedTools", "Bash"]


def test_the_person_gets_an_answer_that_knows_the_vault(ada: Desk, model: StubModel) -> None:
    model.script(Say("On the second Tuesday, Ada."))

    with at_terminal(interactive(ada), cwd=ada.place.project, environ=ada.claude.environ) as terminal:
        terminal.wait_for("? for shortcuts")
        terminal.wait_for_quiet()
        terminal.type(QUESTION)
        terminal.wait_for_quiet()
        terminal.type("\r")
        terminal.wait_for("On the second Tuesday, Ada.")

    assert FACT in model.steps[0].text


def test_the_person_is_told_that_there_is_no_vault(ada: Desk, model: StubModel) -> None:
    ada.config.write_text("", encoding="utf-8")

    with at_terminal(interactive(ada), cwd=ada.place.project, environ=ada.claude.environ) as terminal:
        terminal.wait_for("SessionStart:startup says")
        terminal.wait_for("vault")


def test_the_person_is_asked_before_an_agent_accepts_its_own_memories(ada: Desk, model: StubModel) -> None:
    command = "hindbrain inbox accept --all --yes"
    model.script(Call("Bash", {"command": command, "description": "Accept"}), Say("Very well."))

    with at_terminal(interactive(ada), cwd=ada.place.project, environ=ada.claude.environ) as terminal:
        terminal.wait_for("? for shortcuts")
        terminal.wait_for_quiet()
        terminal.type("Accept what waits")
        terminal.wait_for_quiet()
        terminal.type("\r")
        terminal.wait_for("Do you want to proceed?")
        assert len(model.steps) == 1
        terminal.type("\x1b")  # no
        terminal.wait_for_quiet()

    assert len(model.steps) == 1  # the turn ended there: nothing was run, and nothing was told to the model
