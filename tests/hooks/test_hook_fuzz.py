"""Whatever a host sends, at whichever event: the hook answers, and what is said afterwards is captured."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.edge.hooks.answers import rendered
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import HOSTS, Event, Host
from hindbrain.edge.hooks.journal import LOG_FILE, Call, read_calls
from workbench import Vault

FIELDS = (
    "session_id", "conversation_id", "transcript_path", "agent_transcript_path", "cwd", "workspace_roots",
    "prompt", "source", "agent_id", "last_assistant_message", "prompt_response", "text", "tool_name",
    "tool_input", "tool_response", "tool_output", "tool_use_id", "error", "error_message", "is_interrupt",
    "command",
)  # fmt: skip
HOSTILE = (
    "a\0b", "\0", "\ud83d", "\udc80/x", "/tmp/\ud83d\0", "x" * 300_000, " " * 100_000, "/", "/dev/null",
    "/proc/self/mem", "rollout\0", "../..", "<memory>" * 5_000, "Exit code: " + "9" * 5_000, '{"a":' * 2_000,
    "I prefer tabs\ud83d\0 in Makefiles, always.", "\u202e\ufeff", "C:\\\\aux", "~root", "${HOME}",
)  # fmt: skip
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=()), max_size=10)
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
CALLS = [(host, event) for host in HOSTS for event in host.events]
RAN = next((host, event) for host, event in CALLS if event.name == "post-tool-use")
PREFERENCE = "I prefer tabs over spaces in Makefiles, always."


def call(host: Host, event: Event, payload: object) -> Doing:
    """What the program does with a payload, but for the processes that it starts."""
    doing = Doing(host, event, time.monotonic())
    answer = doing.answer(lambda: json.dumps(payload).encode())
    assert isinstance(json.loads(rendered(host, event, answer)), dict)
    doing._keep_beginning()
    doing._write_down("ok", answer)
    return doing


def settled(root: Path) -> Any:
    app = build_app(load_config(), root, warm=False)
    caught = app.context.catch_up(deadline_s=60.0)
    app.close()
    return caught


@pytest.mark.promise("P14")
def test_whatever_hosts_send_a_good_session_is_captured_afterwards(synced: Vault, tmp_path: Path) -> None:
    @settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from(CALLS),
        st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6) | VALUES,
    )
    @example(RAN, {"tool_response": "Exit code: " + "9" * 5_000, "tool_input": {"command": "make"}})
    @example(CALLS[0], {"transcript_path": "a\0b", "session_id": "s"})
    @example(
        CALLS[1], {"prompt": "I prefer tabs.\ud83d", "session_id": "\ud83d\0", "transcript_path": "\ud83d"}
    )
    def fuzz(called: tuple[Host, Event], payload: Any) -> None:
        doing = call(*called, payload)
        assert not doing.note.startswith("internal"), doing.note

    fuzz()
    for _ in range(3):
        settled(synced.root)
    _assert_captured(synced, tmp_path)


@pytest.mark.promise("P14")
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("value", ["a\0b", "\ud83d", "x" * 300_000, 7, ["a"], {"a": 1}, None, True])
def test_one_field_that_is_wrong_at_every_event_stops_no_other_session(
    host: Host, value: object, synced: Vault, tmp_path: Path
) -> None:
    good = {
        "session_id": "bad",
        "cwd": str(synced.root),
        "transcript_path": "/none",
        "prompt": "Hello there.",
    }
    for name in good:
        for event in host.events:
            doing = call(host, event, {**good, name: value})
            assert not doing.note.startswith("internal"), doing.note
    settled(synced.root)
    _assert_captured(synced, tmp_path)


def _assert_captured(vault: Vault, folder: Path) -> None:
    record = folder / "good.jsonl"
    said = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "good",
        "message": {"role": "user", "content": PREFERENCE},
    }
    record.write_text(json.dumps(said) + "\n", encoding="utf-8")
    host = HOSTS[0]
    for name in ("user-prompt-submit", "stop"):
        event = host.event(name)
        assert event is not None
        place = {"session_id": "good", "cwd": str(vault.root), "transcript_path": str(record)}
        assert not call(host, event, {**place, "prompt": PREFERENCE}).note
    settled(vault.root)
    text = "\n".join(file.read_text(encoding="utf-8") for file in vault.root.rglob("*.md"))
    assert text.count("tabs over spaces in Makefiles") == 1


@pytest.mark.promise("P14")
@pytest.mark.parametrize(
    "line",
    ["", "5", "[]", '"host"', '{"host": 1, "event": 2}', '{"host": "a", "event": "b", "at": "x"}',
     f'{{"host": "a", "event": "b", "at": {10**400}}}', '{"host": "a", "event": "b", "at": NaN}',
     '{"host": "a", "event": "b", "note": ["x"]}', "\0", "{" * 5_000],
)  # fmt: skip
def test_a_line_of_the_log_that_makes_no_sense_hides_no_other(tmp_path: Path, line: str) -> None:
    whole = json.dumps(Call("codex", "stop", at=1.0)._asdict())
    (tmp_path / LOG_FILE).write_text(f"{whole}\n{line}\n{whole}\n", encoding="utf-8")
    assert [call.host for call in read_calls(tmp_path)] == ["codex", "codex"]
