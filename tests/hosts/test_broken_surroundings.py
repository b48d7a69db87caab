"""Whatever of ours is missing or broken: the real Claude Code answers, and its person is told."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from desk import Desk, hook_answers
from host_programs import run
from notes_of_ada import BROKEN_COMMAND, QUESTION, furnish
from stub_model import Call, Say, StubModel

pytestmark = pytest.mark.hosts


@pytest.fixture
def ada(desk: Desk) -> Desk:
    furnish(desk)
    return desk


def _no_hook(desk: Desk) -> None:
    (desk.bin / "hindbrain-hook").unlink()


def _no_vault(desk: Desk) -> None:
    desk.config.write_text("", encoding="utf-8")


def _vault_gone(desk: Desk) -> None:
    desk.vault.rename(desk.folder / "unmounted")


def _broken_index(desk: Desk) -> None:
    found = [file for file in desk.state.rglob("*") if file.is_file() and file.suffix in (".db", ".sqlite")]
    assert found, "where is the index?"
    for file in found:
        file.write_bytes(b"this is no database " * 500)


def _no_place_for_state(desk: Desk) -> None:
    # A file where the folder should be stops root too, which a read-only folder does not.
    (desk.folder / "in-the-way").write_text("", encoding="utf-8")
    desk.place.extra["HINDBRAIN_STATE_FOLDER"] = str(desk.folder / "in-the-way" / "state")


def _broken_config(desk: Desk) -> None:
    desk.config.write_text("[vault\npath = ", encoding="utf-8")


_BROKEN: dict[str, Callable[[Desk], None]] = {
    "no vault": _no_vault,
    "vault gone": _vault_gone,
    "broken index": _broken_index,
    "no place for state": _no_place_for_state,
    "broken config": _broken_config,
}


@pytest.mark.parametrize("breakage", _BROKEN.values(), ids=_BROKEN.keys())
def test_the_host_answers_whatever_is_broken_and_the_person_is_told_once_of_each_thing(
    ada: Desk, model: StubModel, breakage: Callable[[Desk], None]
) -> None:
    breakage(ada)
    model.script(
        Call("Bash", {"command": BROKEN_COMMAND, "description": "Deploy"}),
        Call("Bash", {"command": "echo fine", "description": "Say so"}),
        Say("Answered."),
    )

    ran = ada.claude.ask(QUESTION)

    assert ran.code == 0
    assert ran.events[-1]["result"] == "Answered."
    assert ran.err == ""
    told = []
    for event in (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
    ):
        for answer in hook_answers(ran, event):
            assert (answer["outcome"], answer["exit_code"]) == ("success", 0), answer
            said = json.loads(answer["stdout"]) if answer["stdout"].strip() else {}
            told += [said["systemMessage"]] if "systemMessage" in said else []
    assert told
    assert len(told) == len(set(told)) <= 3, told


def test_the_host_answers_when_our_program_is_not_on_the_path_and_says_so_itself(
    ada: Desk, model: StubModel
) -> None:
    _no_hook(ada)
    model.script(Say("Answered."))

    ran = ada.claude.ask(QUESTION)

    assert (ran.code, ran.events[-1]["result"]) == (0, "Answered.")
    assert "hindbrain-hook" in ran.err


def test_a_hook_that_fails_leaves_nothing_of_itself_in_the_prompt(ada: Desk, model: StubModel) -> None:
    _broken_config(ada)
    model.script(Say("Answered."))

    ada.claude.ask(QUESTION)

    text = model.steps[0].text
    assert "hook additional context" not in text
    assert "Traceback" not in text


@pytest.mark.parametrize("size", [0, 2_000_000], ids=["empty", "2 MB"])
def test_the_host_answers_a_prompt_of_any_size(ada: Desk, model: StubModel, size: int) -> None:
    line = "the quick brown fox looks for the heron release and does not find it\n"
    model.script(Say("Answered."))
    host = ada.claude

    command = [part for part in host.command("") if part != ""]
    text = (line * (size // len(line))) or " \n"
    ran = run(command, cwd=ada.place.project, environ=host.environ, stdin=text)

    assert [answer["outcome"] for answer in hook_answers(ran, "SessionStart")] == ["success"]
    if size:  # the host itself refuses a prompt without words
        assert (ran.code, ran.events[-1]["result"]) == (0, "Answered.")
        assert [answer["outcome"] for answer in hook_answers(ran, "UserPromptSubmit")] == ["success"]
