"""What a run has noted is there afterwards, and nobody but its owner can read it."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.entries import (
    Advised,
    Answered,
    Begun,
    Closed,
    Decided,
    Ended,
    Entry,
    Judged,
    Opened,
    Prepared,
    Returned,
    Started,
    as_json,
    entry_of,
)
from hindbrain.agent.run import Limits, RunRequest
from hindbrain.agent.tools.tool import Result
from hindbrain.agent.transcript import Transcript, transcripts
from hindbrain.agent.verify.check import Check, Verdict
from hindbrain.base.errors import NotFound, WriteFailed
from hindbrain.models.chat import ChatAnswer, ChatMessage, Image, ToolCall, Usage

SCREEN = Image(b"\x89PNG first")
OTHER = Image(b"\x89PNG second", "image/jpeg")
CALL = ToolCall("c1", "write", {"path": "a.txt", "lines": ["ä", "☕"], "deep": {"n": 1.5, "none": None}})
REQUEST = RunRequest(
    "write a.txt",
    checks=(Check("file", "a.txt"), Check("text", "a.txt", "☕")),
    limits=Limits(iterations=3, cost=0.5),
    history=(ChatMessage("user", "hi", (SCREEN,)), ChatMessage("assistant", "yes", calls=(CALL,))),
    session="s",
    allowed=("write",),
)
ENTRIES: list[Entry] = [
    Begun(REQUEST, 1.5),
    Prepared("You are.", "Now.", ("^m-1",), 12, "user", (Check("file", "b", skill="Skills/x.md"),), 2.0, 0.5),
    Opened(1, 3.0, 1.0),
    Answered(
        ChatAnswer("I write.", (CALL, ToolCall("c2", "x", {}, "{bad")), "calls", Usage(10, 2, 3, 0.01)), 4.0
    ),
    Decided("c1", "abc", "run", "write", 5.0),
    Started("c1", 6.0),
    Returned("c1", Result("ok", False, (SCREEN, OTHER), "Notes", "web"), at=7.0),
    Judged(False, 40, ("no title", "no end"), "mend it", at=8.0),
    Judged(True, None, at=8.0),
    Advised("try something else", 9.0),
    Closed(10.0, 3.25),
    Ended("fail", "the limit", blameless=True, at=11.0),
]


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "state", "r-20260515-120000-abcd")


def file_of(transcript: Transcript, tmp_path: Path) -> Path:
    return tmp_path / "state" / "agent" / "runs" / transcript.run / "transcript.jsonl"


def test_what_was_noted_is_read_again_as_it_was(transcript: Transcript) -> None:
    for entry in ENTRIES:
        transcript.append(entry)
    assert transcript.entries() == ENTRIES


def test_a_picture_is_kept_once_in_a_file_of_its_own(transcript: Transcript, tmp_path: Path) -> None:
    for number in range(3):
        transcript.append(Returned(f"c{number}", Result("", images=(SCREEN,))))
    file = file_of(transcript, tmp_path)
    pictures = [path for path in file.parent.iterdir() if path != file]
    assert [path.read_bytes() for path in pictures] == [SCREEN.data]
    assert [path.suffix for path in pictures] == [".png"]


def test_a_picture_that_is_gone_costs_only_itself(transcript: Transcript, tmp_path: Path) -> None:
    transcript.append(Returned("c1", Result("seen", images=(SCREEN,))))
    for path in file_of(transcript, tmp_path).parent.glob("*.png"):
        path.unlink()
    assert transcript.entries() == [Returned("c1", Result("seen"))]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such mode there")
def test_only_its_owner_can_read_it(transcript: Transcript, tmp_path: Path) -> None:
    transcript.append(Returned("c1", Result("secret", images=(SCREEN,))))
    for path in file_of(transcript, tmp_path).parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_check_that_is_a_program_is_kept_without_it(transcript: Transcript) -> None:
    check = Check("custom", "report", custom=lambda: Verdict("report", 100))
    transcript.append(Begun(RunRequest("go", (check,))))
    (begun,) = transcript.entries()
    assert isinstance(begun, Begun)
    assert begun.request.checks == (Check("custom", "report"),)


@pytest.mark.parametrize("kept", [1, 10, -2])
def test_a_torn_line_spoils_neither_what_stands_before_it_nor_what_comes_after(
    transcript: Transcript, tmp_path: Path, kept: int
) -> None:
    transcript.append(Opened(1))
    file = file_of(transcript, tmp_path)
    whole = file.read_bytes()
    transcript.append(Started("c1"))
    torn = file.read_bytes()[len(whole) :][:kept]
    file.write_bytes(whole + torn)
    assert transcript.entries() == [Opened(1)]
    transcript.append(Closed())
    assert transcript.entries() == [Opened(1), Closed()]


def test_lines_of_a_newer_version_are_passed_over(transcript: Transcript, tmp_path: Path) -> None:
    transcript.append(Opened(1))
    with file_of(transcript, tmp_path).open("ab") as file:
        file.write(b'{"type":"dreamt"}\n[]\n7\n{"type":"opened","number":"two"}\n{"type":"returned"}\n\xff\n')
    transcript.append(Closed())
    assert transcript.entries() == [Opened(1), Closed()]


def test_what_is_over_leaves_nothing(transcript: Transcript, tmp_path: Path) -> None:
    transcript.append(Returned("c1", Result("", images=(SCREEN,))))
    assert [one.run for one in transcripts(tmp_path / "state")] == [transcript.run]
    transcript.remove()
    transcript.remove()
    assert transcripts(tmp_path / "state") == []
    with pytest.raises(NotFound):
        transcript.entries()


@pytest.mark.parametrize("run", ["", "..", "r-../x", "r-A", "/etc", "r-a/b", "imported"])
def test_only_an_id_of_ours_names_a_transcript(tmp_path: Path, run: str) -> None:
    with pytest.raises(NotFound):
        Transcript(tmp_path, run)


def test_a_folder_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("a file", encoding="utf-8")
    with pytest.raises(WriteFailed):
        Transcript(tmp_path, "r-1").append(Opened(1))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.text(), st.dictionaries(st.text(), JSON, max_size=4), st.text(), st.booleans())
def test_whatever_a_model_says_comes_back(
    text: str, arguments: dict[str, object], result: str, failed: bool
) -> None:
    said = Answered(ChatAnswer(text, (ToolCall("c", "t", arguments),)), 1.0)
    came = Returned("c", Result(result, failed))
    for entry in (said, came):
        assert entry_of(as_json(entry), lambda _: b"") == entry
