"""The verbs of an opened vault: arguments checked once, results that go into JSON as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import UsageError
from hindbrain.context.capture.spool import read_events
from hindbrain.context.messages import Message
from hindbrain.edge.arguments import parse_message
from hindbrain.edge.daemon import verbs
from hindbrain.edge.daemon.verbs import VERBS, answer
from workbench import Vault

SESSION = {"host": "claude-code", "session": "s-1"}


@pytest.fixture
def app(notes: Vault, make_app: Callable[..., App]) -> App:
    opened = make_app(notes.root)
    opened.sync()
    return opened


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("start", {**SESSION, "source": "startup"}),
        ("turn", {**SESSION, "prompt": "at how many degrees is green tea brewed?"}),
        ("turn", {**SESSION, "prompt": "", "keeps": False, "recent": [{"role": "user", "text": "tea"}]}),
        ("failure", {**SESSION, "tool": "Bash", "command": "make tea", "error": "tea: not found"}),
        ("guard", {"tool": "Bash", "arguments": {"command": "ls"}, "cwd": "/"}),
        ("pack", {"query": "green tea", "preset": "compact", "budget": 600}),
        ("search", {"query": "green tea", "k": 1}),
        ("keep", {"event": {"event": "stop", "host": "claude-code", "session": "s-1"}}),
        ("settle", {"deadline_s": 0.1}),
        ("status", {}),
        ("ping", {}),
    ],
)
def test_every_verb_answers_with_plain_values(app: App, verb: str, arguments: dict[str, Any]) -> None:
    assert isinstance(json.loads(json.dumps(answer(app, verb, arguments))), dict)


def test_a_turn_brings_what_the_prompt_is_about(app: App) -> None:
    found = answer(app, "turn", {**SESSION, "prompt": "at how many degrees is green tea brewed?"})
    assert "70 degrees" in str(found["text"])
    assert found["tokens"]


def test_what_is_kept_waits_in_the_spool_and_is_durable_when_it_is_answered(app: App) -> None:
    answer(app, "keep", {"event": {"event": "stop", **SESSION, "answer": "Tea at 70 degrees."}})
    (event,) = read_events(app.state).events
    assert (event.event, event.session, event.answer) == ("stop", "s-1", "Tea at 70 degrees.")


def test_a_shell_command_that_approves_a_memory_is_not_let_through(app: App) -> None:
    asked = {"tool": "Bash", "arguments": {"command": "hindbrain inbox accept 1"}, "cwd": str(app.root)}
    assert answer(app, "guard", asked)["decision"] == "ask"


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("dance", {}),
        ("turn", SESSION),
        ("turn", {**SESSION, "prompt": None}),
        ("turn", {**SESSION, "prompt": "x", "prmopt": "y"}),
        ("turn", {**SESSION, "prompt": "x", "keeps": "yes"}),
        ("turn", {**SESSION, "prompt": "x", "recent": "none"}),
        ("turn", {**SESSION, "prompt": "x", "recent": [{"role": "boss", "text": "x"}]}),
        ("turn", {**SESSION, "prompt": "x", "recent": [{"role": "user", "text": 3}]}),
        ("turn", {**SESSION, "prompt": "x", "recent": [{"role": "user", "text": "x", "mood": "good"}]}),
        ("search", {"query": "x", "k": True}),
        ("search", {"query": "x", "k": 1_000}),
        ("settle", {"deadline_s": float("nan")}),
        ("settle", {"deadline_s": -1}),
        ("pack", {"query": "x", "exclude": [1]}),
        ("guard", {"tool": "Bash", "arguments": []}),
    ],
)
def test_a_wrong_argument_is_a_usage_error(app: App, verb: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        answer(app, verb, arguments)


_value = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.none())


@settings(max_examples=80)
@given(st.sampled_from(sorted(VERBS)), st.dictionaries(st.text(max_size=5) | st.just("prompt"), _value))
def test_whatever_is_sent_a_verb_gets_only_what_it_declares(verb: str, arguments: dict[str, Any]) -> None:
    declared = VERBS[verb]
    try:
        got = verbs.checked(verb, arguments)
    except UsageError:
        return
    assert set(declared.needs) <= set(got) <= {*declared.needs, *declared.may}


def test_a_message_keeps_all_its_fields() -> None:
    message = Message("tool", "boom", "Bash", "c-1", True, 2, False, 1.5, "m-1")
    assert parse_message(json.loads(json.dumps(message._asdict()))) == message
    assert parse_message({"role": "user", "text": "hi", "at": 3}).at == 3


@pytest.mark.promise("P17")
@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("start", {**SESSION, "source": "startup"}),
        ("turn", {**SESSION, "prompt": "green tea"}),
        ("failure", {**SESSION, "tool": "Bash", "command": "make tea", "error": "tea: not found"}),
        ("keep", {"event": {**SESSION, "event": "stop"}}),
    ],
)
def test_an_event_of_a_host_makes_its_session_live_until_it_ends(
    app: App, clock: FakeClock, verb: str, arguments: dict[str, Any]
) -> None:
    answer(app, "search", {"query": "tea"})
    assert app.agent_sessions.live_at(clock.now()) == ""
    answer(app, verb, arguments)
    assert app.agent_sessions.live_at(clock.now() + 600) == "claude-code s-1"
    clock.advance(60)
    answer(app, "keep", {"event": {**SESSION, "event": "session-end"}})
    assert app.agent_sessions.live_at(clock.now() + 600) == ""
