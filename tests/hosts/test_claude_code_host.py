"""Our plugin in the real Claude Code: what reaches the model, what is kept, that nothing stops the host."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from desk import PLUGIN, Desk, hook_answers, rest, wait_until
from host_programs import ClaudeCode, Programs, kill, run, start
from notes_of_ada import (
    BROKEN_COMMAND,
    CORE,
    FACT,
    KEPT,
    PREFERENCE,
    QUESTION,
    REMEDY,
    UNRELATED,
    furnish,
)
from stub_model import Call, Say, StubModel

pytestmark = pytest.mark.hosts

_FENCED = re.compile(r"<(memory\w*)\b[^>]*>.*?</\1\b[^>]*>", re.DOTALL)


def fenced(text: str) -> str:
    """Only what stands between the marks that say: this is data."""
    return "\n".join(found.group() for found in _FENCED.finditer(text))


def session_of(events: list[dict[str, object]]) -> str:
    return str(next(event["session_id"] for event in events if "session_id" in event))


def tool_results(model: StubModel) -> list[dict[str, object]]:
    """What the model was told of its calls, in the last request."""
    contents = [message["content"] for message in model.steps[-1].messages]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part for part in parts if part["type"] == "tool_result"]


@pytest.fixture
def ada(desk: Desk) -> Desk:
    furnish(desk)
    return desk


def test_a_fact_of_the_vault_is_in_the_request_of_a_prompt_about_it(ada: Desk, model: StubModel) -> None:
    model.script(Say("On the second Tuesday."))

    ran = ada.claude.ask(QUESTION)

    assert ran.code == 0
    assert FACT in fenced(model.steps[0].text)


def test_an_unrelated_prompt_injects_no_note(ada: Desk, model: StubModel) -> None:
    model.script(Say("There once was a badger."))

    ada.claude.ask(UNRELATED)

    text = model.steps[0].text
    assert FACT not in text
    assert "Heron" not in text


def test_the_core_is_in_the_first_request_and_is_not_said_again_when_the_session_is_resumed(
    ada: Desk, model: StubModel
) -> None:
    model.script(Say("Hello."))
    session = session_of(ada.claude.ask("Hello there").events)
    assert model.steps[0].text.count(CORE) == 1

    model.script(Say("Hello again."))
    ada.claude.ask("Hello again", "--resume", session)

    assert model.steps[0].text.count(CORE) == 1


def test_what_is_still_in_the_window_is_not_injected_again(ada: Desk, model: StubModel) -> None:
    model.script(Say("Soon."))
    session = session_of(ada.claude.ask(QUESTION).events)

    model.script(Say("As I said."))
    ada.claude.ask("Remind me: when does the Heron release ship, on which day?", "--resume", session)

    assert model.steps[0].text.count(FACT) == 1


def test_after_a_compaction_core_and_fact_are_injected_again(ada: Desk, model: StubModel) -> None:
    model.script(Say("Soon."))
    session = session_of(ada.claude.ask(QUESTION).events)
    for prompt in ("Good", "Thanks"):  # or there is not enough to compact
        ada.claude.ask(prompt, "--resume", session)
    model.script(Say("Summary: the user asked about a release."))
    ada.claude.ask("/compact", "--resume", session)

    model.script(Say("As I said."))
    ada.claude.ask(QUESTION, "--resume", session)

    assert CORE in model.steps[0].text
    assert model.steps[0].text.count(FACT) == 1


def test_a_preference_is_kept_exactly_once_after_the_session_ended(ada: Desk, model: StubModel) -> None:
    model.script(Say("Noted."))
    session = session_of(ada.claude.ask(PREFERENCE).events)
    assert ada.hindbrain("hook", "settle").code == 0
    assert ada.vault_text().count(KEPT) == 1

    model.script(Say("You are welcome."))
    ada.claude.ask("Thanks", "--resume", session)
    assert ada.hindbrain("hook", "settle").code == 0

    assert ada.vault_text().count(KEPT) == 1


def test_a_preference_is_kept_from_a_transcript_with_garbage_in_it(ada: Desk, model: StubModel) -> None:
    model.script(Say("Noted."))
    ada.claude.ask(PREFERENCE)
    [transcript] = ada.claude.transcripts()
    good = transcript.read_bytes()
    transcript.write_bytes(b'\xff\x00 no JSON\n[[[[\n{"type": 7}\n' + good + b'{"type": "user", "mess')

    ran = ada.hindbrain("hook", "settle")

    assert ran.err  # it says what it passed over
    assert ada.vault_text().count(KEPT) == 1


def test_a_preference_is_kept_when_the_host_is_killed_between_stop_and_the_end(
    ada: Desk, model: StubModel
) -> None:
    model.script(Say("Noted."))
    host = ada.claude
    process = start(
        [part for part in host.command("", "--input-format", "stream-json") if part != ""],
        cwd=ada.place.project,
        environ=host.environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    said = {"type": "user", "message": {"role": "user", "content": PREFERENCE}}
    process.stdin.write(json.dumps(said) + "\n")
    process.stdin.flush()
    for line in process.stdout:  # ends with the process at the latest
        if json.loads(line).get("type") == "result":
            break
    kill(process)
    process.communicate()

    _talk_about_something_else(ada, model)

    assert ada.vault_text().count(KEPT) == 1


def test_a_preference_is_kept_when_the_host_is_killed_in_the_middle_of_a_turn(
    ada: Desk, model: StubModel
) -> None:
    model.script(Call("Bash", {"command": "sleep 8", "description": "Wait"}))  # outlives the host
    host = ada.claude
    process = start(host.command(PREFERENCE), cwd=ada.place.project, environ=host.environ)
    wait_until(lambda: _transcripts_hold(host, "toolu_"), what="the call of the tool in the transcript")
    kill(process)
    process.communicate()
    rest(host.transcripts())

    _talk_about_something_else(ada, model)

    assert ada.vault_text().count(KEPT) == 1


def _transcripts_hold(host: ClaudeCode, text: str) -> bool:
    return any(text in file.read_text(encoding="utf-8") for file in host.transcripts())


def _talk_about_something_else(desk: Desk, model: StubModel) -> None:
    model.script(Say("Hello."))
    assert desk.claude.ask("Hello there").code == 0
    assert desk.hindbrain("hook", "settle").code == 0
    assert desk.hindbrain("hook", "settle").code == 0


def test_a_failed_command_brings_what_the_vault_knows_about_it_into_the_next_request(
    ada: Desk, model: StubModel
) -> None:
    model.script(Call("Bash", {"command": BROKEN_COMMAND, "description": "Deploy"}), Say("It failed."))

    ada.claude.ask("Please go ahead")

    first, second = model.steps
    assert REMEDY not in first.text
    assert REMEDY in fenced(second.text)


def test_the_fix_that_worked_is_there_when_the_same_command_fails_in_another_session(
    ada: Desk, model: StubModel
) -> None:
    project, command = ada.place.project, "sh deploy-otter.sh"
    failing = "test -f port-is-free || { echo 'E88: port 7411 is taken by a stale otterd' >&2; exit 4; }\n"
    (project / "deploy-otter.sh").write_text(failing, encoding="utf-8")
    (project / "evict-otterd.sh").write_text("touch port-is-free\n", encoding="utf-8")
    model.script(
        Call("Bash", {"command": command, "description": "Deploy"}),
        Call("Bash", {"command": "sh evict-otterd.sh --port 7411", "description": "Free the port"}),
        Call("Bash", {"command": command, "description": "Deploy again"}),
        Say("Deployed, after the stale otterd was gone."),
    )
    ada.claude.ask("Deploy the otter")
    assert ada.hindbrain("hook", "settle").code == 0

    (project / "port-is-free").unlink()
    model.script(Call("Bash", {"command": command, "description": "Deploy"}), Say("It failed."))
    ada.claude.ask("Deploy the otter, please")

    assert "evict-otterd.sh --port 7411" in fenced(model.steps[-1].text)


def test_a_command_that_works_brings_nothing(ada: Desk, model: StubModel) -> None:
    model.script(Call("Bash", {"command": "echo fine", "description": "Say so"}), Say("It worked."))

    ada.claude.ask("Please say fine")

    assert fenced(model.steps[1].text) == fenced(model.steps[0].text)


def test_an_agent_does_not_accept_its_own_memories(ada: Desk, model: StubModel) -> None:
    command = "hindbrain inbox accept --all --yes"
    model.script(Call("Bash", {"command": command, "description": "Accept"}), Say("I may not."))

    ran = ada.claude.ask("Accept what waits")

    answered = json.loads(hook_answers(ran, "PreToolUse")[0]["output"])["hookSpecificOutput"]
    assert answered["permissionDecision"] in ("ask", "deny")
    assert tool_results(model)[-1]["is_error"]


def test_another_command_passes_the_guard_untouched(ada: Desk, model: StubModel) -> None:
    model.script(
        Call("Bash", {"command": "hindbrain inbox list", "description": "List"}), Say("Nothing waits.")
    )

    ran = ada.claude.ask("What waits?")

    for answer in hook_answers(ran, "PreToolUse"):
        assert "permissionDecision" not in answer["output"]
    assert not tool_results(model)[-1]["is_error"]


@pytest.mark.parametrize("folder", [PLUGIN, PLUGIN.parent], ids=lambda path: path.name)
def test_the_host_finds_the_plugin_valid(
    folder: Path, programs: Programs, tmp_path: Path, desk: Desk
) -> None:
    if not (folder / ".claude-plugin").is_dir():
        pytest.skip(f"neither a plugin nor a marketplace: {folder.name}")
    ran = run([programs.claude, "plugin", "validate", folder], cwd=tmp_path, environ=desk.claude.environ)
    assert ran.code == 0, ran.out + ran.err


def test_the_plugin_can_be_installed_from_its_marketplace(
    programs: Programs, ada: Desk, model: StubModel
) -> None:
    market = next(
        folder
        for folder in (PLUGIN.parent, PLUGIN.parent.parent, PLUGIN)
        if (folder / ".claude-plugin" / "marketplace.json").exists()
    )
    named = json.loads((market / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))["name"]
    host = ClaudeCode(programs.claude, ada.place, model.url)
    for words in (("marketplace", "add", str(market)), ("install", f"hindbrain@{named}")):
        ran = run([programs.claude, "plugin", *words], cwd=ada.place.project, environ=host.environ)
        assert ran.code == 0, ran.out + ran.err

    model.script(Say("On the second Tuesday."))
    host.ask(QUESTION)

    assert FACT in fenced(model.steps[0].text)


def test_the_vault_around_the_project_wins_over_the_one_in_the_settings(ada: Desk, model: StubModel) -> None:
    own = ada.place.project
    (own / ".obsidian").mkdir()
    (own / "Heron.md").write_text("# Heron\n\nHere the Heron release ships at Candlemas.\n", encoding="utf-8")
    assert ada.hindbrain("sync").code == 0  # a vault that its user has never opened is not taken at its word
    model.script(Say("At Candlemas."))

    ada.claude.ask(QUESTION)

    assert "Candlemas" in model.steps[0].text
    assert FACT not in model.steps[0].text


def test_the_agent_can_ask_the_memory_itself(ada: Desk, model: StubModel) -> None:
    server = "mcp__plugin_hindbrain_hindbrain"
    model.script(
        Call("Bash", {"command": "sleep 2", "description": "Let the server start"}),
        Call(f"{server}__recall", {"topic": "the Heron release"}),
        Say("Found."),
    )

    ada.claude.ask("Look it up yourself", tools=f"Bash,{server}")

    assert FACT in json.dumps(tool_results(model)[-1])
