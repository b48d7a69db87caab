"""Message logs of OpenAI and Anthropic clients become runs, each conversation once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindbrain.learn.importing.chats import runs_of_chats, runs_of_messages
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.sniffing import sniff
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.events import Event
from hindbrain.learn.runs.folding import fold_all

TRANSCRIPTS = Path(__file__).parents[1] / "context" / "transcripts"
SYSTEM = {"role": "system", "content": "You help."}
ASKED = {"role": "user", "content": "Book a flight to Seattle"}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "k1", "type": "function", "function": {"name": "book", "arguments": '{"to": "SEA"}'}}
    ],
}
ANSWERED = {"role": "tool", "tool_call_id": "k1", "content": "Error: no seats"}
SORRY = {"role": "assistant", "content": "I could not book it."}
THANKED = {"role": "user", "content": "Then book a train to Portland"}


def folded(runs: list[list[Event]]) -> list[Episode]:
    return list(fold_all(event for run in runs for event in run))


def chats(path: Path, format: str = "openai") -> list[Episode]:
    return folded(list(runs_of_chats(Log(path), format)))


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_openai_messages():
    run = folded(list(runs_of_messages(Log(TRANSCRIPTS / "openai.jsonl"), "openai")))[0]
    assert (run.command, run.host, run.source) == ("Book a flight", "openai", "import")
    assert [(a.name, a.arguments, a.ok) for a in run.actions] == [("book", (("to", "SEA"),), False)]


def test_a_conversation_that_is_told_again_by_each_request_is_taken_once(tmp_path):
    messages = [SYSTEM, ASKED, CALLED, ANSWERED, SORRY, THANKED]
    requests = [{"messages": messages[:n]} for n in (2, 4, 6)]
    runs = chats(lines(tmp_path / "a.jsonl", *requests))
    assert [run.command for run in runs] == [ASKED["content"], THANKED["content"]]
    assert (runs[0].outcome, runs[0].reason) == ("failed", "Error: no seats")


def test_two_conversations_that_take_turns_stay_two(tmp_path):
    other = [SYSTEM, {"role": "user", "content": "Water the plants"}]
    log = lines(
        tmp_path / "a.jsonl", {"messages": [SYSTEM, ASKED]}, {"messages": other},
        {"messages": [SYSTEM, ASKED, CALLED, ANSWERED]}, {"messages": [*other, SORRY]},
    )  # fmt: skip
    assert sorted(run.command for run in chats(log)) == ["Book a flight to Seattle", "Water the plants"]


def test_the_answer_beside_a_request_belongs_to_it(tmp_path):
    openai = {"request": {"messages": [ASKED]}, "response": {"choices": [{"message": CALLED}]}}
    assert [a.name for a in chats(lines(tmp_path / "a.jsonl", openai))[0].actions] == ["book"]
    called = {"content": [{"type": "tool_use", "id": "t", "name": "book", "input": {"to": "SEA"}}]}
    anthropic = {"request": {"system": "You help.", "messages": [ASKED]}, "response": called}
    log = lines(tmp_path / "b.jsonl", anthropic)
    assert sniff(log) == "anthropic"
    assert [a.arguments for a in chats(log, "anthropic")[0].actions] == [(("to", "SEA"),)]


def test_anthropic_blocks_are_paired_by_id(tmp_path):
    called = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t", "name": "book", "input": {"to": "SEA"}}],
    }
    told = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "no seats"}
    log = lines(
        tmp_path / "a.jsonl", {"messages": [ASKED, called, {"role": "user", "content": [told]}, SORRY]}
    )
    assert sniff(log) == "anthropic"
    run = chats(log, "anthropic")[0]
    assert (run.actions[0].ok, run.actions[0].said, run.outcome) == (False, "no seats", "failed")


def test_a_list_of_messages_in_one_document(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([SYSTEM, ASKED, CALLED, ANSWERED, SORRY], indent=1), encoding="utf-8")
    assert sniff(path) == "openai"
    assert [run.command for run in folded(list(runs_of_messages(Log(path), "openai")))] == [ASKED["content"]]


def test_messages_of_several_conversations_by_their_names(tmp_path):
    log = lines(
        tmp_path / "a.jsonl", {**ASKED, "conversation_id": "one"}, {**SORRY, "conversation_id": "one"},
        {**ASKED, "conversation_id": "two"}, {**SORRY, "conversation_id": "two"},
    )  # fmt: skip
    runs = folded(list(runs_of_messages(Log(log), "openai")))
    assert [run.session for run in runs] == ["one", "two"]
    assert len({run.run for run in runs}) == 2


def test_the_same_wish_in_two_conversations_without_names_are_two_runs(tmp_path):
    one = lines(tmp_path / "a.jsonl", ASKED, CALLED, ANSWERED, SORRY)
    two = lines(tmp_path / "b.jsonl", ASKED, SORRY)
    ids = {run[0].run for log in (one, two) for run in runs_of_messages(Log(log), "openai")}
    assert len(ids) == 2


def test_a_log_that_has_grown_tells_its_old_runs_under_their_old_ids(tmp_path):
    messages = [SYSTEM, ASKED, CALLED, ANSWERED, SORRY, THANKED, {"role": "assistant", "content": "Done."}]
    before = chats(lines(tmp_path / "a.jsonl", {"messages": messages[:5], "created": 1_700_000_000}))
    after = chats(lines(tmp_path / "b.jsonl", {"messages": messages, "created": 1_700_000_900}))
    assert [run.run for run in before] == [run.run for run in after][:1]
    assert after[-1].ended == 1_700_000_900


@pytest.mark.parametrize("wrong", [{"a": 1}, {"messages": []}, {"messages": "x"}, {"messages": [3]}])
def test_what_is_no_request_is_named_and_costs_only_itself(tmp_path, wrong):
    log = Log(lines(tmp_path / "a.jsonl", wrong, {"messages": [ASKED, SORRY]}))
    assert len(list(runs_of_chats(log, "openai"))) == 1
    assert log.problems[0].startswith("a.jsonl:1: ")


CALL_ITEM = {"type": "function_call", "call_id": "k1", "name": "book", "arguments": '{"to": "SEA"}'}
RESULT_ITEM = {"type": "function_call_output", "call_id": "k1", "output": "Error: no seats"}
SORRY_ITEM = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I could not book it."}],
}


def test_openai_responses(tmp_path):
    first = {"model": "m", "instructions": "You help.", "input": [ASKED], "output": [CALL_ITEM]}
    second = {
        "request": {"model": "m", "input": [ASKED, CALL_ITEM, RESULT_ITEM]},
        "response": {"output": [SORRY_ITEM]},
    }
    log = lines(tmp_path / "a.jsonl", first, second)
    assert sniff(log) == "openai"
    (run,) = chats(log)
    assert (run.command, run.outcome, run.reason) == (ASKED["content"], "failed", "Error: no seats")
    assert [(a.name, a.arguments, a.ok) for a in run.actions] == [("book", (("to", "SEA"),), False)]
    assert run.answer == "I could not book it."


def test_openai_responses_with_a_plain_input_and_as_items(tmp_path):
    log = lines(tmp_path / "a.jsonl", {"model": "m", "input": ASKED["content"], "output": [SORRY_ITEM]})
    assert sniff(log) == "openai"
    assert [run.command for run in chats(log)] == [ASKED["content"]]
    items = lines(tmp_path / "b.jsonl", ASKED, CALL_ITEM, RESULT_ITEM, SORRY_ITEM)
    assert sniff(items) == "openai"
    (run,) = folded(list(runs_of_messages(Log(items), "openai")))
    assert [(a.name, a.ok) for a in run.actions] == [("book", False)]


def test_a_stream_of_nested_messages(tmp_path):
    told = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "no seats"}
    called = [{"type": "tool_use", "id": "t", "name": "book", "input": {"to": "SEA"}}]
    log = lines(
        tmp_path / "a.jsonl",
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "user", "message": ASKED, "session_id": "s"},
        {"type": "assistant", "message": {"role": "assistant", "content": called}, "session_id": "s"},
        {"type": "user", "message": {"role": "user", "content": [told]}, "session_id": "s"},
        {"type": "assistant", "message": SORRY, "session_id": "s"},
        {"type": "result", "subtype": "success", "session_id": "s"},
    )
    assert sniff(log) == "anthropic"
    read = Log(log)
    (run,) = folded(list(runs_of_messages(read, "anthropic")))
    assert (run.command, run.session, run.outcome) == (ASKED["content"], "s", "failed")
    assert read.problems == ()
