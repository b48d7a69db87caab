"""Our hooks in the real Codex: what reaches the model, what is kept, and that nothing stops the host."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from desk import PLUGIN, Desk, rest, wait_until
from host_programs import kill, run, start
from notes_of_ada import BROKEN_COMMAND, CORE, FACT, KEPT, PREFERENCE, QUESTION, REMEDY, UNRELATED, furnish
from stub_model import Call, Say, StubModel

pytestmark = pytest.mark.hosts

_MOST_TOKENS = (
    2_500  # of one hook's context; Codex cuts what is longer and leaves the whole in the temp folder
)


@pytest.fixture
def ada(desk: Desk) -> Desk:
    """With our hooks as our own command installs them."""
    furnish(desk)
    assert desk.codex.home.is_dir()
    ran = desk.hindbrain("hook", "install", "codex")
    assert ran.code == 0, ran
    return desk


def session_of(events: list[dict[str, object]]) -> str:
    return str(next(event["thread_id"] for event in events if event["type"] == "thread.started"))


def answer_of(events: list[dict[str, object]]) -> str:
    said = [event["item"] for event in events if event["type"] == "item.completed"]
    return next(
        str(item["text"]) for item in said if isinstance(item, dict) and item["type"] == "agent_message"
    )


def injected(desk: Desk) -> list[str]:
    """What hooks said to the model, as the rollouts mark it."""
    found = []
    for file in desk.codex.transcripts():
        for line in file.read_text(encoding="utf-8").splitlines():
            payload = json.loads(line)["payload"]
            about = payload.get("internal_chat_message_metadata_passthrough") or {}
            if "hooks.additional_context" in about.get("content_item_kinds", ()):
                found += [part["text"] for part in payload["content"]]
    return found


def test_a_fact_of_the_vault_is_in_the_request_of_a_prompt_about_it(ada: Desk, model: StubModel) -> None:
    model.script(Say("On the second Tuesday."))

    ran = ada.codex.ask(QUESTION)

    assert (ran.code, answer_of(ran.events)) == (0, "On the second Tuesday.")
    [text] = [text for text in injected(ada) if FACT in text]
    assert text in model.steps[0].text
    assert re.search(r"<memory\w*\b[^>]*>.*</memory", text, re.DOTALL)


def test_an_unrelated_prompt_injects_no_note(ada: Desk, model: StubModel) -> None:
    model.script(Say("There once was a badger."))

    ada.codex.ask(UNRELATED)

    assert "Heron" not in model.steps[0].text


def test_core_and_fact_are_said_once_in_a_resumed_session(ada: Desk, model: StubModel) -> None:
    model.script(Say("Soon."))
    session = session_of(ada.codex.ask(QUESTION).events)
    assert model.steps[0].text.count(CORE) == 1

    model.script(Say("As I said."))
    ada.codex.ask("Remind me: when does the Heron release ship, on which day?", resume=session)

    assert model.steps[0].text.count(CORE) == 1
    assert model.steps[0].text.count(FACT) == 1


def test_a_preference_is_kept_exactly_once_after_the_session_ended(ada: Desk, model: StubModel) -> None:
    model.script(Say("Noted."))
    session = session_of(ada.codex.ask(PREFERENCE).events)
    assert ada.hindbrain("hook", "settle").code == 0
    assert ada.vault_text().count(KEPT) == 1

    model.script(Say("You are welcome."))
    ada.codex.ask("Thanks", resume=session)
    assert ada.hindbrain("hook", "settle").code == 0

    assert ada.vault_text().count(KEPT) == 1


def test_a_preference_is_kept_when_the_host_is_killed_in_the_middle_of_a_turn(
    ada: Desk, model: StubModel
) -> None:
    model.script(Call("exec_command", {"cmd": "sleep 60", "yield_time_ms": 50_000}))
    host = ada.codex
    process = start(host.command(PREFERENCE), cwd=ada.place.project, environ=host.environ)
    assert process.stdin is not None
    process.stdin.close()
    wait_until(
        lambda: any("call_0001" in file.read_text(encoding="utf-8") for file in host.transcripts()),
        what="the call of the tool in the rollout",
    )
    kill(process)
    process.wait(timeout=20)
    rest(host.transcripts())

    model.script(Say("Hello."))
    assert host.ask("Hello there").code == 0
    assert ada.hindbrain("hook", "settle").code == 0

    assert ada.vault_text().count(KEPT) == 1


def test_a_failed_command_brings_what_the_vault_knows_about_it_into_the_next_request(
    ada: Desk, model: StubModel
) -> None:
    model.script(Call("exec_command", {"cmd": BROKEN_COMMAND}), Say("It failed."))

    ada.codex.ask("Please go ahead")

    first, second = model.steps
    assert REMEDY not in first.text
    assert REMEDY in second.text


def test_an_agent_does_not_accept_its_own_memories(ada: Desk, model: StubModel) -> None:
    model.script(Call("exec_command", {"cmd": "hindbrain inbox accept --all --yes"}), Say("I may not."))

    ran = ada.codex.ask("Accept what waits")

    assert (ran.code, answer_of(ran.events)) == (0, "I may not.")
    assert not [event for event in ran.events if event.get("item", {}).get("type") == "command_execution"]


def test_untrusted_hooks_are_skipped_without_a_word_and_our_installation_says_what_to_do(
    ada: Desk, model: StubModel
) -> None:
    model.script(Say("Answered."))

    ran = ada.codex.ask(QUESTION, trusted=False)

    assert (ran.code, answer_of(ran.events)) == (0, "Answered.")
    assert FACT not in model.steps[0].text
    installed = ada.hindbrain("hook", "install", "codex")
    assert "trust" in (installed.out + installed.err).lower()


def test_hooks_that_the_person_trusted_run_and_a_second_installation_does_not_lose_the_trust(
    ada: Desk, model: StubModel
) -> None:
    assert ada.codex.trust_hooks() > 0
    assert ada.hindbrain("hook", "install", "codex").code == 0
    model.script(Say("Answered."))

    ada.codex.ask(QUESTION, trusted=False)

    assert FACT in model.steps[0].text


def test_our_installation_does_not_lose_the_trust_in_the_hooks_of_others(
    make_desk: Callable[..., Desk], model: StubModel
) -> None:
    desk = make_desk()
    furnish(desk)
    theirs = {"type": "command", "command": "echo Words of another hook.", "timeout": 3}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [theirs]}]}}
    (desk.codex.home / "hooks.json").write_text(json.dumps(hooks), encoding="utf-8")
    assert desk.codex.trust_hooks() == 1

    assert desk.hindbrain("hook", "install", "codex").code == 0

    model.script(Say("Answered."))
    desk.codex.ask(QUESTION, trusted=False)
    assert "Words of another hook." in model.steps[0].text


def test_what_is_injected_stays_below_the_limit_of_the_host(ada: Desk, model: StubModel) -> None:
    for number in range(40):
        ada.write(
            f"Long/Heron {number}.md",
            f"# Heron release {number}\n\n" + f"Heron release ships step {number}. " * 400,
        )
    assert ada.hindbrain("sync").code == 0
    model.script(Say("Answered."))

    ada.codex.ask("Tell me all about when the Heron release ships, step by step")

    found = injected(ada)
    assert any("Heron" in text for text in found)
    for text in found:
        assert "truncated output" not in text
        assert len(text) / 4 < _MOST_TOKENS


def test_installing_twice_changes_nothing_and_taking_out_leaves_what_others_have(ada: Desk) -> None:
    file = ada.codex.home / "hooks.json"
    before = file.read_bytes()
    assert ada.hindbrain("hook", "install", "codex").code == 0
    assert file.read_bytes() == before

    assert ada.hindbrain("hook", "uninstall", "codex").code == 0
    assert not file.exists() or "hindbrain" not in file.read_text(encoding="utf-8")


def _no_hook(desk: Desk) -> None:
    (desk.bin / "hindbrain-hook").unlink()


def _no_vault(desk: Desk) -> None:
    desk.config.write_text("", encoding="utf-8")


def _no_place_for_state(desk: Desk) -> None:
    (desk.folder / "in-the-way").write_text("", encoding="utf-8")
    desk.place.extra["HINDBRAIN_STATE_FOLDER"] = str(desk.folder / "in-the-way" / "state")


_BROKEN: dict[str, Callable[[Desk], None]] = {
    "no hook": _no_hook,
    "no vault": _no_vault,
    "no place for state": _no_place_for_state,
}


@pytest.mark.parametrize("breakage", _BROKEN.values(), ids=_BROKEN.keys())
def test_the_host_answers_whatever_is_broken(
    ada: Desk, model: StubModel, breakage: Callable[[Desk], None]
) -> None:
    breakage(ada)
    model.script(Call("exec_command", {"cmd": BROKEN_COMMAND}), Say("Answered."))

    ran = ada.codex.ask(QUESTION)

    assert (ran.code, answer_of(ran.events)) == (0, "Answered.")
    assert all(text.startswith("<memory") for text in injected(ada))  # no word of what went wrong


def test_the_plugin_can_be_installed_from_our_marketplace(desk: Desk, model: StubModel) -> None:
    furnish(desk)
    host = desk.codex
    for words in (("marketplace", "add", str(PLUGIN.parent)), ("add", "hindbrain@hindbrain")):
        ran = run([host.program, "plugin", *words], cwd=desk.place.project, environ=host.environ)
        assert ran.code == 0, ran.out + ran.err
    model.script(Say("Answered."))

    assert host.ask(QUESTION).code == 0

    assert FACT in model.steps[0].text


def test_the_hooks_file_has_only_what_the_host_knows(ada: Desk) -> None:
    written = json.loads((ada.codex.home / "hooks.json").read_text(encoding="utf-8"))

    assert set(written) <= {"hooks", "description"}
    assert all(
        handler["timeout"] <= 3 for group in written["hooks"]["SessionEnd"] for handler in group["hooks"]
    )
