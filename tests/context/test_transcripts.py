"""Transcripts are read as the conversation that a person had, from any offset, whatever is in them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.context.capture.tool_calls import files_changed
from hindbrain.context.capture.transcripts import lines
from hindbrain.context.capture.transcripts.reading import READERS, Read, read_transcript, sniff
from hindbrain.context.capture.transcripts.wrappers import said_by_person

HERE = Path(__file__).parent / "transcripts"
RECORDED = Path(__file__).parents[1] / "hosts" / "recorded"


def told(read: Read) -> list[tuple[str, str, str]]:
    return [(message.role, message.tool, message.text) for message in read.messages]


def test_claude_code():
    read = read_transcript(HERE / "claude.jsonl")
    assert told(read) == [
        ("user", "", "We use SQLite for the cache."),
        ("assistant", "", "I will run the tests."),
        ("assistant", "Bash", "pytest -q"),
        ("tool", "Bash", "Exit code 1\nboom"),
        ("user", "", "the failing test"),
        ("system", "", "This session is being continued from a previous conversation. Summary: SQLite."),
        ("assistant", "mcp__hindbrain__recall", '{"topic": "cache"}'),
        ("tool", "mcp__hindbrain__recall", ""),
        ("user", "", "Look at this"),
    ]
    result = read.messages[3]
    assert (result.failed, result.call, result.images) == (True, "t1", 1)
    assert read.messages[-1].images == 1
    assert read.messages[0].at == 1778835601.0
    assert len({message.id for message in read.messages}) == len(read.messages)


def test_codex():
    read = read_transcript(HERE / "codex.jsonl")
    assert [(role, tool, text.split("\n")[0]) for role, tool, text in told(read)] == [
        ("user", "", "Run the tests"),
        ("assistant", "shell", "npm test"),
        ("tool", "shell", "npm error missing script"),
        ("assistant", "apply_patch", "*** Begin Patch"),
        ("tool", "apply_patch", "Success"),
        ("assistant", "local_shell", "npm test"),
        ("tool", "local_shell", "all good"),
        ("assistant", "", "The script was missing."),
        ("system", "", "Tests run."),
    ]
    assert [message.failed for message in read.messages if message.role == "tool"] == [True, False, False]
    assert files_changed(read.messages[3]) == ("package.json",)


@pytest.mark.parametrize("name", ["gemini.json", "gemini.jsonl"])
def test_gemini(name):
    read = read_transcript(HERE / name)
    assert told(read)[:2] == [("user", "", "List the files"), ("assistant", "", "Here they are.")]
    assert sniff(HERE / name) == "gemini"
    if name == "gemini.json":
        assert told(read)[2][1:] == ("run_shell_command", "ls nowhere")
        assert read.messages[3].failed
        assert read.whole


def test_cursor():
    read = read_transcript(HERE / "cursor.jsonl")
    assert told(read) == [
        ("user", "", "Rename it"),
        ("assistant", "", "Renamed."),
        ("assistant", "Shell", "git mv a.py b.py"),
    ]


def test_openclaw():
    read = read_transcript(HERE / "openclaw.jsonl")
    assert told(read) == [
        ("user", "", "Remind me on Friday"),
        ("assistant", "exec", "date"),
        ("tool", "exec", "date: not found"),
    ]
    assert read.messages[2].failed


def test_logs_of_model_clients():
    read = read_transcript(HERE / "openai.jsonl")
    assert [message.role for message in read.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert read.messages[2].text == '{"to": "SEA"}'
    assert read.messages[3].tool == "book"


def test_the_host_is_told_by_what_is_in_the_file():
    expected = {"claude": "claude-code", "codex": "codex", "gemini": "gemini", "cursor": "cursor",
                "openclaw": "openclaw", "openai": "own"}  # fmt: skip
    assert {path.stem: sniff(path) for path in sorted(HERE.iterdir())} == expected
    assert sniff(HERE / "nothing.jsonl") == ""


RECORDINGS = sorted(RECORDED.glob("*/transcript-*.jsonl"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_recordings_of_the_real_programs_hold_nothing_that_hosts_or_hooks_said(path):
    read = read_transcript(path)
    assert sniff(path) == path.parent.name
    assert read.problems == ()
    assert read.stop == path.stat().st_size
    assert {message.role for message in read.messages} <= {"user", "assistant", "tool", "system"}
    said = "\n".join(message.text for message in read.messages)
    assert "Recorded context of" not in said
    assert "<command-name>" not in said
    assert "environment_context" not in said
    if "agent" in path.stem:  # a subagent's own file: nobody spoke there
        assert read.messages == ()


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_recorded_conversation_is_what_the_person_and_the_agent_said(host):
    path = RECORDED / host / "transcript-conversation.jsonl"
    if not path.exists():
        pytest.skip("no recordings of the real hosts here")
    messages = read_transcript(path).messages
    spoken = [message.text for message in messages if message.role == "user"]
    assert spoken[0].startswith("Add a lint target to the Makefile. I prefer tabs")
    assert "Does the Makefile have a lint target?" in spoken
    failed = [message for message in messages if message.failed and message.tool in ("Bash", "exec_command")]
    assert "No rule to make target 'lint'" in failed[0].text
    commands = {
        message.call: message.text for message in messages if message.role == "assistant" and message.tool
    }
    assert commands[failed[0].call] == "make lint"


def test_reading_goes_on_from_where_it_stopped(tmp_path):
    data = (HERE / "claude.jsonl").read_bytes()
    whole = read_transcript(HERE / "claude.jsonl").messages
    path = tmp_path / "t.jsonl"
    for cut in range(0, len(data), 97):
        path.write_bytes(data[:cut])
        first = read_transcript(path, host="claude-code")
        assert first.stop <= cut
        assert data[: first.stop].endswith(b"\n") or first.stop == 0
        path.write_bytes(data)
        second = read_transcript(path, host="claude-code", start=first.stop)
        # A result that is read without its call does not know its tool's name; all else is the same.
        found = [(message.role, message.text, message.id) for message in first.messages + second.messages]
        expected = [(message.role, message.text, message.id) for message in whole]
        assert [one for one in found if not one[1].startswith("1 memory")] == [
            one for one in expected if one[1]
        ] or (found == expected)


def test_a_piece_is_no_longer_than_asked_for(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        "".join(f'{{"role":"user","content":"number {n}"}}\n' for n in range(1000)), encoding="utf-8"
    )
    start, seen = 0, []
    while True:
        read = read_transcript(path, start=start, most_bytes=5_000)
        seen += [message.text for message in read.messages]
        start = read.stop
        if not read.more:
            break
        assert len(read.messages) < 200
    assert seen == [f"number {n}" for n in range(1000)]


def test_what_is_no_record_is_counted_and_passed_over(tmp_path):
    deep = b"[" * 100_000 + b"]" * 100_000
    lines_ = [
        b'{"role":"user","content":"one"}', b"\x00\xff\xfe garbage \x80", deep, b'{"role":', b"42", b"null",
        b"",
        b'{"role":"user","content":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
        b'{"role":"user","content":"half a \\ud83d character and a \\u0000 NUL"}',
        "{\"role\":\"user\",\"content\":\"caf\xe9\"}".encode("latin-1"),
        b'{"role":7,"content":[1,null,{"type":9}],"message":[]}', b'{"type":"user","message":"text"}',
        b'{"role":"user","content":"two"}',
    ]  # fmt: skip
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\n".join(lines_) + b"\n")
    for host in ("", "claude-code", "codex", "gemini", "cursor", "unheard-of"):
        read = read_transcript(path, host=host)
        assert read.stop == path.stat().st_size
        for message in read.messages:
            message.text.encode("utf-8")
            assert "\0" not in message.text
    read = read_transcript(path)
    texts = [message.text for message in read.messages]
    assert texts[0] == "one"
    assert texts[-1] == "two"
    assert read.skipped >= 4
    assert read.problems


def test_a_line_that_no_host_writes_is_passed_over_without_holding_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lines.whole_lines, "__kwdefaults__", {"longest": 1_000})
    path = tmp_path / "t.jsonl"
    record = b'{"role":"user","content":"before"}\n'
    path.write_bytes(
        record
        + b'{"role":"user","content":"'
        + b"x" * 5_000_000
        + b'"}\n'
        + record.replace(b"before", b"after")
    )
    read = read_transcript(path)
    assert [message.text for message in read.messages] == ["before", "after"]
    assert read.skipped == 1
    # One that has no end is left behind, too, and its rest the next time.
    path.write_bytes(record + b'{"role":"user","content":"' + b"x" * 5_000_000)
    read = read_transcript(path)
    assert read.stop == path.stat().st_size
    with open(path, "ab") as file:
        file.write(b'yyy"}\n' + record)
    again = read_transcript(path, start=read.stop)
    assert [message.text for message in again.messages] == ["before"]


def test_a_document_that_is_being_written_waits(tmp_path):
    data = (HERE / "gemini.json").read_bytes()
    path = tmp_path / "s.json"
    path.write_bytes(data[:-20])
    read = read_transcript(path, host="gemini")
    assert (read.messages, read.stop) == ((), 0)
    assert read.problems


def test_a_file_that_cannot_be_read_is_a_problem_and_no_message(tmp_path):
    for path in (tmp_path / "missing.jsonl", tmp_path):
        read = read_transcript(path)
        assert read.messages == ()
        assert read.problems
    shorter = tmp_path / "t.jsonl"
    shorter.write_bytes(b"{}\n")
    assert read_transcript(shorter, start=100).problems


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in folders there")
def test_a_pipe_does_not_make_the_reader_wait(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert read_transcript(path).problems


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain words", "plain words"),
        ("a < b and <unknown>x</unknown>", "a < b and <unknown>x</unknown>"),
        ("<system-reminder>x</system-reminder>", ""),
        ("before <system-reminder>x\ny</system-reminder> after", "before  after"),
        ("what does <system-reminder> mean?", "what does <system-reminder> mean?"),
        ("<command-name>/compact</command-name>\n<command-args>keep it</command-args>", ""),
        ("<bash-input>ls</bash-input><bash-stdout>a</bash-stdout>", ""),
        ("UserPromptSubmit hook additional context: <memory>x</memory>", ""),
        ("SessionStart:startup hook success: x", ""),
        ("[Request interrupted by user for tool use]", ""),
        ('<memory_context source="a">You like tea</memory_context>\nI like coffee', "I like coffee"),
        ("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>do</INSTRUCTIONS>", ""),
    ],
)
def test_only_what_a_person_said_is_theirs(text, said):
    assert said_by_person(text) == said


def test_a_megabyte_of_tags_that_are_never_closed_is_read_in_one_pass():
    text = "<system-reminder> " * 50_000  # with a search for each tag's end this would take minutes
    assert said_by_person(text) == text.strip()


def test_what_was_said_in_another_folder_can_be_left_out():
    read = read_transcript(HERE / "claude.jsonl", wanted=lambda cwd: cwd != "/home/ada/app")
    assert read.messages == ()
    assert read.elsewhere == 9


NAMES = (
    "type role message content payload text tool_calls toolCalls uuid id timestamp input output name "
    "messages $set call_id is_error cwd action"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES.split()), inner, max_size=6)
    ),
    max_leaves=15,
)
TYPES = st.sampled_from(
    ["user", "assistant", "response_item", "gemini", "message", "compacted", "turn_context", 3]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TYPES, JSON, JSON), max_size=5))
def test_no_shape_of_record_breaks_any_reader(records):
    made = [{"type": kind, "message": one, "payload": other, "content": one} for kind, one, other in records]
    for make in sorted(set(READERS.values()), key=repr):
        reader = make()
        for record in (*made, *(one for _, one, _ in records if isinstance(one, dict))):
            for message in reader.take(record):
                assert message.role in ("user", "assistant", "tool", "system")
                message.text.encode("utf-8")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(tmp_path, data):
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    read = read_transcript(path)
    assert 0 <= read.stop <= len(data)


def test_runs_of_another_kind_of_agent_are_read(unpacked):
    folder = unpacked("runs_tau_bench")
    [path] = folder.rglob("gpt-4o-airline.json")
    read = read_transcript(path)
    assert read.problems == ()
    roles = [message.role for message in read.messages]
    assert roles.count("user") > 100
    assert roles.count("tool") > 100
    assert all(message.tool for message in read.messages if message.role == "tool")


@pytest.mark.slow
def test_a_hundred_megabytes_are_read_in_pieces_without_being_held(tmp_path):
    import tracemalloc

    path = tmp_path / "t.jsonl"
    line = (json.dumps({"role": "user", "content": "x" * 10_000}) + "\n").encode()
    with open(path, "wb") as file:
        for _ in range(10_000):
            file.write(line)
    tracemalloc.start()
    start, count = 0, 0
    while True:
        read = read_transcript(path, start=start, most_bytes=1_000_000)
        start, count = read.stop, count + len(read.messages)
        if not read.more:
            break
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 10_000
    assert peak < 20_000_000
