"""What hosts send is understood, and what they get is valid, whatever they send."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.hooks.host_answers import parsed

from hindbrain.edge.hooks.answers import Answer, rendered
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import GUARD, HOSTS, KEEP, Event, Host, host_named
from hindbrain.edge.hooks.journal import read_calls
from hindbrain.edge.hooks.payloads import Malformed, parse, understand

EVENTS = [(host, event) for host in HOSTS for event in host.events]
_IDS = [f"{host.name}-{event.name}" for host, event in EVENTS]
_RECORDED = Path(__file__).parents[1] / "hosts" / "recorded"


def _named(host: str, event: str) -> tuple[Host, Event]:
    found = host_named(host)
    assert found is not None
    there = found.event(event)
    assert there is not None
    return found, there


def _payloads() -> list[tuple[str, str, Path]]:
    """(host, event, file) of what the real programs sent, where it is an event that we answer."""
    found = []
    for host in HOSTS:
        here = Path(__file__).with_name("recorded") / host.name
        for file in sorted([*(_RECORDED / host.name).glob("*.json"), *here.glob("*.json")]):
            names = [event.name for event in host.events if file.stem.startswith(event.name)]
            if names:
                found.append((host.name, max(names, key=len), file))
    return found


def _exchange(host: Host, event: Event, data: bytes) -> tuple[Answer, dict[str, Any]]:
    """The answer of one event and what the host reads, as `main` makes them."""
    doing = Doing(host, event, time.monotonic())
    answer = doing.answer(lambda: data)
    output = rendered(host, event, answer) + "\n"
    doing.finish(answer)
    return answer, parsed(host, event, output)


def _sent(**payload: object) -> bytes:
    return json.dumps(payload).encode()


@pytest.mark.parametrize(
    ("host_name", "name", "file"), _payloads(), ids=lambda value: getattr(value, "stem", value)
)
def test_every_recorded_payload_is_understood(host_name: str, name: str, file: Path) -> None:
    host, event = _named(host_name, name)
    payload = parse(file.read_bytes())
    assert payload["hook_event_name"] == event.there
    request = understand(host, event, payload)
    assert request.session == payload["session_id"]
    assert request.cwd == "/home/ada/project"
    if event.verb == KEEP:
        assert request.verb == KEEP
        assert request.arguments["transcript"] == payload["transcript_path"]
    if name == "stop":
        said = payload.get("last_assistant_message") or payload["prompt_response"]
        assert request.arguments["last_assistant_message"] == said
    if name == "session-start":
        assert request.arguments["source"] == payload["source"]
    if name == "user-prompt-submit":
        assert request.arguments["prompt"] == payload["prompt"]


def test_a_failed_command_of_claude_code_is_what_memory_is_asked_for() -> None:
    host, event = _named("claude-code", "post-tool-use-failure")
    request = understand(
        host, event, parse((_RECORDED / "claude-code/post-tool-use-failure.json").read_bytes())
    )
    assert request.verb == "failure"
    assert request.arguments["command"] == "make lint"
    assert "No rule to make target" in str(request.arguments["error"])


def test_a_failed_command_of_gemini_is_what_memory_is_asked_for() -> None:
    host, event = _named("gemini", "post-tool-use")
    file = Path(__file__).with_name("recorded") / "gemini" / "post-tool-use-failed.json"
    request = understand(host, event, parse(file.read_bytes()))
    assert (request.verb, request.arguments["command"]) == ("failure", "make lint")


def test_a_command_that_went_well_asks_for_nothing() -> None:
    for name in ("claude-code", "codex"):
        host, event = _named(name, "post-tool-use")
        assert (
            understand(host, event, parse((_RECORDED / name / "post-tool-use.json").read_bytes())).verb == ""
        )


def test_codex_tells_no_exit_code_and_it_is_found_in_its_record() -> None:
    host, event = _named("codex", "post-tool-use")
    record = _RECORDED / "codex" / "transcript-conversation.jsonl"
    for call, verb in (("call_0001", ""), ("call_0002", "failure"), ("call_0003", "")):
        payload = {
            "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": call,
            "tool_response": "something was printed", "transcript_path": str(_as_rollout(record)),
        }  # fmt: skip
        assert understand(host, event, payload).verb == verb, call


def _as_rollout(record: Path) -> Path:
    import tempfile

    copy = Path(tempfile.mkdtemp()) / "rollout-x.jsonl"
    copy.write_bytes(record.read_bytes())
    return copy


@pytest.mark.parametrize(
    ("response", "fails"),
    [
        ({"exit_code": 1, "output": "boom"}, True),
        ({"exitCode": 0, "stdout": "fine"}, False),
        ('{"exitCode": 2, "stdout": "boom"}', True),
        ({"is_error": True, "content": "boom"}, True),
        ({"error": {"message": "boom"}}, True),
        ({"llmContent": "Output: x\nExit Code: 127"}, True),
        ({"llmContent": "Output: x\nExit Code: 0"}, False),
        ({"stdout": "..F\nFAILED tests/test_a.py::test_b - AssertionError\n", "stderr": ""}, True),
        ({"stdout": "=== 2 failed, 3 passed in 0.1s ===", "stderr": ""}, True),
        ({"stdout": "3 passed", "stderr": "warning: 0 failed"}, False),
        ({"stdout": "", "stderr": ""}, False),
        ("all good", False),
        (None, False),
        (["odd"], False),
        ({"exit_code": True, "output": "x"}, False),
    ],
)
def test_a_failure_is_seen_whatever_a_host_wraps_it_in(response: object, fails: bool) -> None:
    host, event = _named("gemini", "post-tool-use")
    payload = {
        "tool_name": "run_shell_command",
        "tool_input": {"command": "pytest"},
        "tool_response": response,
    }
    assert (understand(host, event, payload).verb == "failure") is fails


def test_what_a_search_shows_is_no_failure() -> None:
    host, event = _named("claude-code", "post-tool-use")
    shown = {"stdout": "Traceback (most recent call last):\nValueError: x", "stderr": ""}
    payload = {"tool_name": "Bash", "tool_input": {"command": "cat crash.log"}, "tool_response": shown}
    assert understand(host, event, payload).verb == ""


def test_what_the_person_interrupted_is_no_failure() -> None:
    host, event = _named("claude-code", "post-tool-use-failure")
    payload = {"tool_name": "Bash", "tool_input": {"command": "x"}, "error": "stopped", "is_interrupt": True}
    assert understand(host, event, payload).verb == ""


def test_a_helper_agent_has_a_key_of_its_own() -> None:
    host, event = _named("claude-code", "post-tool-use-failure")
    payload = {"session_id": "s", "agent_id": "a1", "error": "boom", "tool_input": {"command": "x"}}
    assert understand(host, event, payload).session == "s/a1"


def test_a_host_without_a_record_has_its_words_kept() -> None:
    host, event = _named("opencode", "stop")
    payload = {"session_id": "s", "prompt": "use tabs", "last_assistant_message": "done"}
    kept = understand(host, event, payload).arguments
    assert (kept["prompt"], kept["last_assistant_message"]) == ("use tabs", "done")
    host, event = _named("cursor", "user-prompt-submit")
    assert (
        understand(host, event, {"conversation_id": "c", "prompt": "use tabs"}).arguments["prompt"]
        == "use tabs"
    )
    recorded = {"conversation_id": "c", "prompt": "x", "transcript_path": "/t"}
    kept = understand(host, event, recorded).arguments  # the record may come late, or never
    assert (kept["event"], kept["prompt"], kept["transcript"]) == ("prompt", "x", "/t")
    host, event = _named("cursor", "after-response")
    assert understand(host, event, {"conversation_id": "c", "text": "x", "transcript_path": "/t"}).verb == ""


@pytest.mark.promise("P18")
@pytest.mark.parametrize("host", [host for host in HOSTS if host.event("user-prompt-submit")])
def test_what_a_helper_agent_is_told_is_not_kept_as_the_words_of_a_person(host: Host) -> None:
    payload = {"session_id": "s", "agent_id": "a1", "prompt": "I prefer tabs, always."}
    for name in ("user-prompt-submit", "stop"):
        event = host.event(name)
        assert event is not None
        arguments = understand(host, event, payload).arguments
        assert not arguments.get("said") and (event.verb != "keep" or not arguments.get("prompt"))


def test_of_a_very_long_prompt_the_beginning_and_the_end_are_taken() -> None:
    host, event = _named("claude-code", "user-prompt-submit")
    prompt = understand(host, event, {"prompt": "first" + "x" * 5_000_000 + "last"}).arguments["prompt"]
    assert isinstance(prompt, str)
    assert prompt.startswith("first") and prompt.endswith("last") and len(prompt) < 250_000


# What comes out


def test_what_is_relevant_reaches_the_model(synced: Any) -> None:
    for host in (one for one in HOSTS if one.name != "cursor"):
        name = "user-prompt-submit"
        event = host.event(name)
        assert event is not None
        data = _sent(session_id="s", cwd=str(synced.root), prompt="which port has the kite server?")
        answer, _ = _exchange(host, event, data)
        assert "7421" in answer.text and "three hours" not in answer.text


def test_an_unrelated_prompt_gets_nothing(synced: Any) -> None:
    host, event = _named("claude-code", "user-prompt-submit")
    _, output = _exchange(
        host, event, _sent(session_id="s", cwd=str(synced.root), prompt="write a haiku on moss")
    )
    assert output == {}


def test_an_empty_prompt_gets_nothing(synced: Any) -> None:
    host, event = _named("claude-code", "user-prompt-submit")
    for prompt in ("", "  \n"):
        assert _exchange(host, event, _sent(session_id="s", cwd=str(synced.root), prompt=prompt))[1] == {}


def test_a_stop_is_one_event_in_the_spool(synced: Any) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.capture.spool import read_events

    host, event = _named("claude-code", "stop")
    data = _sent(
        session_id="s", cwd=str(synced.root), transcript_path="/t.jsonl", last_assistant_message="done"
    )
    assert _exchange(host, event, data)[1] == {}
    kept = read_events(build_app(load_config(), synced.root, warm=False).state).events
    assert [(one.event, one.session, one.transcript, one.answer) for one in kept] == [
        ("stop", "s", "/t.jsonl", "done")
    ]


def test_a_beginning_is_noted_so_that_a_session_that_is_killed_is_found_again(synced: Any) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config
    from hindbrain.context.capture.spool import read_events

    host, event = _named("codex", "session-start")
    _exchange(
        host, event, _sent(session_id="s", cwd=str(synced.root), transcript_path="/t.jsonl", source="startup")
    )
    kept = read_events(build_app(load_config(), synced.root, warm=False).state).events
    assert [(one.event, one.session, one.transcript) for one in kept] == [("session-start", "s", "/t.jsonl")]


def test_a_failed_command_recalls_what_is_known(synced: Any) -> None:
    host, event = _named("claude-code", "post-tool-use-failure")
    data = _sent(
        session_id="s", cwd=str(synced.root), tool_name="Bash", tool_input={"command": "kitectl reload"},
        error="Exit code 1\nkite server: cannot bind port",
    )  # fmt: skip
    assert "7421" in _exchange(host, event, data)[0].text


@pytest.mark.parametrize(("host", "event"), [pair for pair in EVENTS if pair[1].verb == GUARD])
def test_a_guarded_call_is_asked_about_or_refused(host: Host, event: Event, surroundings: Path) -> None:
    data = _sent(
        session_id="s", cwd="/", tool_name="Bash", tool_input={"command": "hindbrain inbox accept 1"}
    )
    assert _exchange(host, event, data)[1]
    data = _sent(session_id="s", cwd="/", command="hindbrain inbox accept 1")
    assert _exchange(host, event, data)[1]
    assert (
        _exchange(host, event, _sent(session_id="s", tool_name="Bash", tool_input={"command": "ls"}))[1] == {}
    )


def test_a_lesson_with_a_guard_has_a_person_asked(synced: Any) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config

    note = synced.root / "No force.md"
    note.write_text(
        '---\ntype: lesson\nguard: "Bash: git push .*--force"\n---\n# Never force a push\n', encoding="utf-8"
    )
    app = build_app(load_config(), synced.root, warm=False)
    app.sync()
    app.learning.learn()
    app.close()
    host, event = _named("claude-code", "pre-tool-use")

    def asked(command: str) -> str:
        call = {"tool_name": "Bash", "tool_input": {"command": command}}
        return _exchange(host, event, _sent(session_id="s", cwd=str(synced.root), **call))[0].ask

    assert "Never force a push" in asked("git push --force")
    assert asked("git push") == ""


def test_settings_that_were_broken_do_not_switch_the_guard_off(surroundings: Path, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[vault\n", encoding="utf-8")
    host, event = _named("claude-code", "pre-tool-use")
    data = _sent(
        session_id="s", cwd="/", tool_name="Bash", tool_input={"command": "hindbrain inbox accept 1"}
    )
    assert _exchange(host, event, data)[0].ask


def test_text_that_the_host_would_cut_is_left_out_whole() -> None:
    host, event = _named("codex", "user-prompt-submit")
    assert rendered(host, event, Answer(text="x" * (host.longest + 1))) == "{}"
    assert "xx" in rendered(host, event, Answer(text="x" * host.longest))


# Whatever comes in


@pytest.mark.promise("P29")
def test_without_a_vault_the_person_is_told_once_a_session(surroundings: Path) -> None:
    host, event = _named("claude-code", "user-prompt-submit")
    first = _exchange(host, event, _sent(session_id="a", cwd="/", prompt="hello there"))[1]
    second = _exchange(host, event, _sent(session_id="a", cwd="/", prompt="hello again"))[1]
    other = _exchange(host, event, _sent(session_id="b", cwd="/", prompt="hello there"))[1]
    assert "systemMessage" in first and second == {} and "systemMessage" in other
    calls = read_calls(surroundings)
    assert [call.outcome for call in calls] == ["failed"] * 3
    assert all(call.note.startswith("not_found") for call in calls)


@pytest.mark.promise("P29")
def test_a_vault_that_is_not_there_is_told(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HINDBRAIN_VAULT_PATH", str(tmp_path / "unmounted"))
    for name in ("session-start", "user-prompt-submit", "stop"):
        host, event = _named("claude-code", name)
        answer, _ = _exchange(host, event, _sent(session_id=name, cwd="/", prompt="hello"))
        assert answer.told and not answer.text
    assert all(call.note.startswith("not_found") for call in read_calls(surroundings))
    assert not (tmp_path / "unmounted").exists()


@pytest.mark.promise("P18")
def test_a_folder_that_only_looks_like_a_vault_is_neither_heard_nor_given_anything(
    synced: Any, surroundings: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cloned = tmp_path / "cloned"
    (cloned / ".obsidian").mkdir(parents=True)
    (cloned / "Kite.md").write_text("# Kite\n\nThe kite server has port 6666.\n", encoding="utf-8")
    host, event = _named("claude-code", "user-prompt-submit")
    sent = _sent(session_id="s", cwd=str(cloned), prompt="which port has the kite server?")
    answer, _ = _exchange(host, event, sent)
    assert answer.told and not answer.text  # nobody has set a vault
    monkeypatch.setenv("HINDBRAIN_VAULT_PATH", str(synced.root))
    answer, _ = _exchange(host, event, sent)
    assert "7421" in answer.text and "6666" not in answer.text
    host, event = _named("claude-code", "stop")
    _exchange(host, event, _sent(session_id="s", cwd=str(cloned), transcript_path="/t"))
    assert sorted(path.name for path in cloned.rglob("*")) == [".obsidian", "Kite.md"]


@pytest.mark.promise("P29")
def test_a_state_folder_that_can_not_be_written_is_told_and_stops_nothing(
    synced: Any, surroundings: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the state folder should be", encoding="utf-8")
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    host, event = _named("claude-code", "stop")
    data = _sent(session_id="s", cwd=str(synced.root), transcript_path="/t")
    assert "systemMessage" in _exchange(host, event, data)[1]
    assert _exchange(host, event, data)[1] == {}


def test_a_full_disk_is_told_and_stops_nothing(synced: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hindbrain.context.capture.spool.append_event", full)
    host, event = _named("codex", "session-end")
    answer, _ = _exchange(host, event, _sent(session_id="s", cwd=str(synced.root)))
    assert "No space left" in answer.told


@pytest.mark.parametrize("settings", ["[vault\n", "[search]\nk = 99999\n", "[gone]\nlong_ago = 1\n"])
def test_settings_that_can_not_be_used_are_told_and_stop_nothing(
    surroundings: Path, tmp_path: Path, settings: str
) -> None:
    (tmp_path / "config.toml").write_text(settings, encoding="utf-8")
    told = ""
    for host, event in EVENTS:
        if event.verb in (KEEP, GUARD):
            continue
        data = _sent(session_id=f"{host.name}", cwd="/", prompt="x", error="boom", source="startup")
        answer, _ = _exchange(host, event, data)
        assert answer.text == ""
        told += answer.told
    assert {call.note.partition(":")[0] for call in read_calls(surroundings)} == {"config"}
    assert "config.toml" in told


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"   ",
        b"null",
        b"[]",
        b"3",
        b'"x"',
        b"{",
        b"\xff\xfe{}",
        b"\0",
        b"{}{}",
        b"[" * 100_000,
        b'{"a":' * 5_000,
    ],
)
@pytest.mark.parametrize(("host", "event"), EVENTS, ids=_IDS)
def test_what_is_no_payload_gets_a_valid_answer(
    host: Host, event: Event, data: bytes, surroundings: Path
) -> None:
    with pytest.raises(Malformed):
        parse(data)
    answer, _ = _exchange(host, event, data)
    assert answer.text == "" and answer.ask == ""
    assert read_calls(surroundings)[-1].outcome == "failed"


_FIELDS = (
    "session_id", "conversation_id", "transcript_path", "cwd", "workspace_roots", "hook_event_name", "prompt",
    "source", "tool_name", "tool_input", "tool_response", "tool_output", "error", "is_interrupt", "command",
    "last_assistant_message", "prompt_response", "agent_id", "tool_use_id", "text",
)  # fmt: skip
_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12),
        st.sampled_from(["\0", "\ud800", "/", "..", "~", "a" * 3_000, '{"command": "ls"}', "Exit code: 1"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*_FIELDS, "exit_code", "content", "stdout"]), inner, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=st.sampled_from(EVENTS), payload=st.dictionaries(st.sampled_from(_FIELDS), _VALUES, max_size=8))
def test_any_object_gets_a_valid_answer(
    pair: tuple[Host, Event], payload: dict[str, object], surroundings: Path
) -> None:
    host, event = pair
    _exchange(host, event, json.dumps(payload).encode("utf-8", "surrogatepass"))


@settings(max_examples=60, deadline=None)
@given(
    pair=st.sampled_from(EVENTS),
    answer=st.builds(Answer, text=st.text(max_size=30), ask=st.text(max_size=30), told=st.text(max_size=30)),
)
def test_any_answer_is_rendered_validly(pair: tuple[Host, Event], answer: Answer) -> None:
    host, event = pair
    if event.verb != GUARD or not answer.ask.strip():
        answer = Answer(answer.text, told=answer.told)
    parsed(host, event, rendered(host, event, answer) + "\n")


def test_a_prompt_gets_what_a_note_says_now(synced: Any, surroundings: Path) -> None:
    host, event = _named("claude-code", "user-prompt-submit")
    prompt = _sent(session_id="s", cwd=str(synced.root), prompt="which port has the kite server?")
    synced.edit("Kite.md", "7421", "9000")
    synced.write("Kites/Server room.md", "# Kite server room\n\nThe kite server stands in room 12.\n")

    answer, _ = _exchange(host, event, prompt)

    assert "9000" in answer.text and "room 12" in answer.text
    assert "7421" not in answer.text


def test_a_skill_that_a_prompt_calls_by_its_name_is_looked_for(synced: Any, surroundings: Path) -> None:
    host, event = _named("claude-code", "user-prompt-submit")

    def told(prompt: str, session: str) -> str:
        return _exchange(host, event, _sent(session_id=session, cwd=str(synced.root), prompt=prompt))[0].text

    assert "7421" in told("/kite-reload now", "a")
    for number, prompt in enumerate(("/compact", "/clear", "/model", "/tmp", "thanks")):
        assert not told(prompt, f"b{number}"), prompt
