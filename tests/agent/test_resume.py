"""A run that was cut off or waits goes on where it stopped: nothing twice, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agent.run_bench import Bench, Person, texts, tool

from hindbrain.agent.entries import (
    Answered,
    Closed,
    Ended,
    Entry,
    Judged,
    Opened,
    Prepared,
    Returned,
    Started,
)
from hindbrain.agent.record import RunRecord
from hindbrain.agent.run import Limits, RunRequest
from hindbrain.agent.safety.approval import Decision
from hindbrain.agent.tools.tool import ActionTool, Effect, Result
from hindbrain.agent.transcript import Transcript, transcripts
from hindbrain.agent.verify.check import Check
from hindbrain.base.errors import NotFound, UsageError, WriteFailed
from hindbrain.learn.runs.events import RunEnded, ToolExecuted
from hindbrain.memory.tools.tool import Arguments
from hindbrain.models.chat import ChatAnswer, ChatRequest, Image, Usage
from hindbrain.models.chat_fake import calls, says


class Cut(BaseException):
    """Nobody handles it: as if the process were gone."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class Cutter:
    """Lets the process end when a run is about to note, or has noted, the n-th entry of a kind."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def __call__(self, kind: type[Entry], number: int = 1, *, after: bool = False) -> None:
        real = RunRecord.note
        left, gone = number, False

        def note(record: RunRecord, entry: Entry) -> None:
            nonlocal left, gone
            if gone:
                raise WriteFailed("the process is gone")
            left -= isinstance(entry, kind)
            gone = left == 0
            if not gone or after:
                real(record, entry)
            if gone:
                self._patch.setattr(RunRecord, "settle", _gone)
                raise Cut

        self._patch.setattr(RunRecord, "note", note)

    def cut_off(self, bench: Bench, request: RunRequest, approver: Person | None = None) -> str:
        """A run that ends in the middle; its id."""
        with pytest.raises(Cut):
            bench.agent.run(request, approver=approver)
        self._patch.undo()
        (left,) = transcripts(bench.state)
        return left.run


def _gone(_: RunRecord) -> None:
    raise WriteFailed("the process is gone")


@pytest.fixture
def cut_at(monkeypatch: pytest.MonkeyPatch) -> Cutter:
    return Cutter(monkeypatch)


def sending(done: list[str], effect: Effect = "act") -> ActionTool:
    def send(args: Arguments) -> Result:
        done.append(args["what"])
        return Result("sent")

    return tool("send", effect, send)


def executed(bench: Bench, run: str) -> list[str]:
    return [event.name for event in bench.events(run) if isinstance(event, ToolExecuted)]


def test_an_answer_is_not_asked_for_again(bench: Bench, cut_at: Cutter) -> None:
    bench.script(calls("look", what="a")._replace(usage=Usage(10, 0, 1)), "It is a.")
    cut_at(Answered, after=True)
    run = cut_at.cut_off(bench, RunRequest("look"))
    result = bench.agent.resume(run)
    assert (result.end, result.answer, result.iterations) == ("complete", "It is a.", 2)
    assert len(bench.asked) == 2
    assert result.usage == Usage(10, 0, 1)
    assert executed(bench, run) == ["look"]


@pytest.mark.parametrize("effect", ["act", "keep"])
def test_what_may_have_been_done_is_not_repeated_and_the_model_is_told(
    bench: Bench, cut_at: Cutter, effect: Effect
) -> None:
    done: list[str] = []
    bench.tools = (sending(done, effect),)
    bench.script(calls("send", what="letter"), "Sent, or not.")
    cut_at(Returned)
    run = cut_at.cut_off(bench, RunRequest("send it"))
    bench.agent.resume(run)
    assert done == ["letter"]
    (told,) = texts(bench.asked[-1], "tool")
    assert "not known whether this was done" in told
    assert executed(bench, run) == ["send"]


def test_what_was_about_to_begin_is_done_once(bench: Bench, cut_at: Cutter) -> None:
    done: list[str] = []
    bench.tools = (sending(done),)
    bench.script(calls("send", what="letter"), "Sent.")
    cut_at(Started)
    run = cut_at.cut_off(bench, RunRequest("send it"))
    assert done == []
    assert bench.agent.resume(run).end == "complete"
    assert done == ["letter"]


def test_what_only_reads_is_simply_done_again(bench: Bench, cut_at: Cutter) -> None:
    bench.script(calls("look", what="a"), "Seen.")
    cut_at(Returned)
    run = cut_at.cut_off(bench, RunRequest("look"))
    bench.agent.resume(run)
    assert texts(bench.asked[-1], "tool") == ["look: a"]
    assert executed(bench, run) == ["look"]


def test_calls_of_one_answer_go_on_behind_the_last_that_has_a_result(bench: Bench, cut_at: Cutter) -> None:
    done: list[str] = []
    bench.tools = (sending(done),)
    bench.script(says("", *[calls("send", what=name) for name in "abc"]), "Done.")
    cut_at(Returned, 2, after=True)
    run = cut_at.cut_off(bench, RunRequest("send all", allowed=("send",)))
    assert done == ["a", "b"]
    bench.agent.resume(run)
    assert done == ["a", "b", "c"]
    assert len(executed(bench, run)) == 3


def _looks_twice(request: ChatRequest) -> ChatAnswer:
    """Decides by what it sees alone: an answer that nobody kept is given again."""
    looked = len(texts(request, "tool"))
    return calls("look", what=str(looked)) if looked < 2 else says("Done.")


POINTS = [(kind, number) for kind in (Opened, Answered, Returned, Closed) for number in (1, 2)]


@pytest.mark.parametrize(("kind", "number"), [*POINTS, (Prepared, 1), (Judged, 1), (Ended, 1)])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_wherever_it_was_cut_off_the_journal_tells_each_step_once(
    tmp_path: Path, cut_at: Cutter, kind: type[Entry], number: int, after: bool
) -> None:
    whole, bench = Bench(tmp_path / "whole"), Bench(tmp_path / "cut")
    request = RunRequest("look", (Check("file", "there"),))
    for one in (whole, bench):
        (one.workspace / "there").write_text("x", encoding="utf-8")
        one.script(*[_looks_twice] * 9)
    expected = [event._replace(run="") for event in whole.events(whole.agent.run(request).run)]
    cut_at(kind, number, after=after)
    run = cut_at.cut_off(bench, request)
    result = bench.agent.resume(run)
    assert (result.end, result.score, result.iterations) == ("complete", 100, 3)
    assert [event._replace(run="") for event in bench.events(run)] == expected
    assert bench.files() == []


def test_events_that_the_journal_lacks_are_added_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the transcript and the journal."""
    bench.script(calls("look", what="a"), "Seen.")
    real = bench.writer.append_state_line
    lines = 0

    def failing(relative: str, line: str, *, durable: bool) -> None:
        nonlocal lines
        lines += 1
        if lines >= 3:  # RunCreated and IterationStarted are there
            raise Cut
        real(relative, line, durable=durable)

    monkeypatch.setattr(bench.writer, "append_state_line", failing)
    with pytest.raises(Cut):
        bench.agent.run(RunRequest("look"))
    monkeypatch.setattr(bench.writer, "append_state_line", real)
    (left,) = bench.agent.open_runs()
    assert executed(bench, left.run) == []
    assert bench.agent.resume(left.run).end == "complete"
    assert bench.kinds(left.run) == [
        "RunCreated", "IterationStarted", "ToolExecuted", "IterationEnded", "IterationStarted",
        "IterationEnded", "RunEnded",
    ]  # fmt: skip


def test_a_purged_event_is_not_written_again(bench: Bench, cut_at: Cutter) -> None:
    bench.script(calls("look", what="the secret"), "Seen.")
    cut_at(Returned, after=True)
    run = cut_at.cut_off(bench, RunRequest("look at the secret"))
    journal = bench.root / ".hindbrain" / "runs" / run / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"the secret", b""))
    bench.agent.resume(run)
    assert b"the secret" not in journal.read_bytes()
    assert executed(bench, run) == ["look"]


def test_time_use_and_iterations_go_on_counting(bench: Bench, cut_at: Cutter) -> None:
    numbers = iter(range(100))

    def look(_: object) -> Result:
        bench.elapsed += 10
        return Result(f"page {next(numbers)}")

    bench.tools = (tool("look", handler=look),)
    bench.script(*[calls("look", what="on")._replace(usage=Usage(1, 0, 1))] * 9)
    cut_at(Closed, 2, after=True)
    run = cut_at.cut_off(bench, RunRequest("read", limits=Limits(seconds=45)))
    bench.elapsed += 100_000  # in which nobody worked on it
    result = bench.agent.resume(run)
    assert (result.end, result.iterations, result.seconds) == ("fail", 5, 50)
    assert result.usage.tokens == 10


def test_pictures_are_there_after_a_resume(bench: Bench, cut_at: Cutter) -> None:
    bench.tools = (tool("look", handler=lambda _: Result("seen", images=(Image(b"png"),))),)
    bench.script(calls("look", what="screen"), "A window.")
    cut_at(Closed, after=True)
    run = cut_at.cut_off(bench, RunRequest("look"))
    bench.agent.resume(run)
    assert bench.asked[-1].messages[-1].images == (Image(b"png"),)
    assert bench.files() == []


# Waiting for a person


def test_a_run_waits_for_a_person_and_goes_on_when_they_have_answered(bench: Bench) -> None:
    bench.recalled = "web"
    done: list[str] = []
    bench.tools = (sending(done), tool("look"))
    bench.script(says("", calls("look", what="a"), calls("send", what="letter")), "Sent.")
    result = bench.agent.run(RunRequest("send it"))
    assert result.end == "waiting"
    assert bench.learned == []
    assert bench.runs.unfinished() == [result.run]
    (asked,) = bench.agent.waiting()
    assert (asked.run, asked.tool, asked.arguments) == (result.run, "send", {"what": "letter"})
    assert bench.agent.resume(result.run).end == "waiting"  # nobody has answered yet
    assert len(bench.agent.waiting()) == 1
    bench.agent.answer(asked.id, "allow")
    assert bench.agent.resume(result.run).end == "complete"
    assert done == ["letter"]
    assert len(bench.asked) == 2
    assert executed(bench, result.run) == ["look", "send"]


def test_what_was_answered_before_is_not_asked_again_at_the_terminal(bench: Bench) -> None:
    bench.recalled = "web"
    bench.script(calls("write", what="x"), calls("write", what="y"), "Done.")
    run = bench.agent.run(RunRequest("write")).run
    bench.agent.answer(bench.agent.waiting()[0].id, "allow")
    person = Person("deny")
    assert bench.agent.resume(run, approver=person).end == "complete"
    assert [asked.arguments for asked in person.asked] == [{"what": "y"}]
    assert executed(bench, run) == ["write"]


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_what_is_answered_at_the_terminal_waits_no_longer(bench: Bench, decision: Decision) -> None:
    bench.recalled = "web"
    bench.script(calls("write", what="x"), "Done.")
    run = bench.agent.run(RunRequest("write")).run
    assert bench.agent.resume(run, approver=Person(decision)).end == "complete"
    assert bench.agent.waiting() == []
    assert executed(bench, run) == ["write"] * (decision == "allow")


def test_an_approval_is_good_for_one_call(bench: Bench) -> None:
    bench.recalled = "web"
    bench.script(calls("write", what="x"), calls("write", what="x"), "Done.")
    run = bench.agent.run(RunRequest("write")).run
    bench.agent.answer(bench.agent.waiting()[0].id, "allow")
    assert bench.agent.resume(run).end == "waiting"
    assert executed(bench, run) == ["write"]


def test_who_allowed_a_tool_for_the_run_is_not_asked_after_a_resume(bench: Bench, cut_at: Cutter) -> None:
    bench.recalled = "web"
    bench.script(calls("write", what="x"), calls("write", what="y"), "Done.")
    cut_at(Closed, after=True)
    run = cut_at.cut_off(bench, RunRequest("write"), Person("run"))
    person = Person()
    assert bench.agent.resume(run, approver=person).end == "complete"
    assert person.asked == []


def test_an_answered_question_is_not_asked_again_after_a_crash(bench: Bench, cut_at: Cutter) -> None:
    bench.recalled = "web"
    bench.script(calls("write", what="x"), "Done.")
    cut_at(Started)
    run = cut_at.cut_off(bench, RunRequest("write"), Person("allow"))
    person = Person("deny")
    bench.agent.resume(run, approver=person)
    assert person.asked == []
    assert executed(bench, run) == ["write"]


def test_trust_does_not_rise_by_a_resume(bench: Bench, cut_at: Cutter) -> None:
    bench.script(calls("look", what="page"), calls("write", what="x"), "Done.")
    cut_at(Closed, after=True)
    run = cut_at.cut_off(bench, RunRequest("go"))
    person = Person("deny")
    bench.agent.resume(run, approver=person)
    assert [asked.tool for asked in person.asked] == ["write"]


# What can be resumed


def test_only_what_is_left_can_be_resumed(bench: Bench) -> None:
    bench.script("Hello.")
    result = bench.agent.run(RunRequest("greet"))
    assert bench.agent.open_runs() == []
    for name in (result.run, "r-20200101-000000-abcd", "nonsense", "../x"):
        with pytest.raises(NotFound):
            bench.agent.resume(name)


def test_the_beginning_of_an_id_is_enough(bench: Bench, cut_at: Cutter) -> None:
    bench.script("Hello.")
    cut_at(Answered)
    run = cut_at.cut_off(bench, RunRequest("greet"))
    assert bench.agent.resume(run[:-2]).run == run


def test_a_run_that_is_given_up_ends_as_cancelled(bench: Bench) -> None:
    bench.recalled = "web"
    bench.script(calls("write", what="x"))
    run = bench.agent.run(RunRequest("write")).run
    bench.agent.abandon(run)
    assert bench.agent.open_runs() == []
    assert bench.agent.waiting() == []
    assert bench.episode(run).outcome == "cancelled"
    with pytest.raises(NotFound):
        bench.agent.abandon(run)


def test_an_end_that_never_reached_the_journal_reaches_it_with_the_next_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.script("Hello.\nTASK_COMPLETE", "Hello again.\nTASK_COMPLETE")
    real = bench.writer.append_state_line

    def append(relative: str, line: str, *, durable: bool) -> None:
        if "run.complete" in line:
            raise Cut
        real(relative, line, durable=durable)

    monkeypatch.setattr(bench.writer, "append_state_line", append)
    monkeypatch.setattr(RunRecord, "settle", _gone)
    with pytest.raises(Cut):
        bench.agent.run(RunRequest("greet"))
    monkeypatch.undo()
    (left,) = transcripts(bench.state)
    assert bench.runs.unfinished() == [left.run]
    assert bench.agent.open_runs() == []  # nobody can do anything about it any more
    assert bench.agent.run(RunRequest("greet again")).ok
    ends = [event for event in bench.events(left.run) if isinstance(event, RunEnded)]
    assert [event.end for event in ends] == ["complete"]
    assert bench.files() == []


def test_a_transcript_that_a_crash_cut_off_before_its_first_line_is_swept_away(bench: Bench) -> None:
    (bench.state / "agent" / "runs" / "r-20260101-000000-abcd").mkdir(parents=True)
    assert bench.agent.open_runs() == []
    bench.script("Hello.")
    assert bench.agent.run(RunRequest("greet")).ok
    assert bench.files() == []


def test_what_may_have_been_done_when_a_run_is_given_up_stands_in_its_journal(
    bench: Bench, cut_at: Cutter
) -> None:
    done: list[str] = []
    bench.tools = (sending(done),)
    bench.script(calls("send", what="letter"))
    cut_at(Returned)
    run = cut_at.cut_off(bench, RunRequest("send it"))
    bench.agent.abandon(run)
    (action,) = bench.episode(run).actions
    assert (action.name, action.ok) == ("send", False)
    assert "not known" in action.said


def test_a_disk_that_is_full_leaves_a_run_that_can_be_resumed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.script(calls("look", what="a"), "Seen.")
    real = Transcript.append

    def full(transcript: Transcript, *entries: Entry) -> None:
        if isinstance(entries[-1], Returned | Ended):
            raise WriteFailed("no space left")
        real(transcript, *entries)

    monkeypatch.setattr(Transcript, "append", full)
    with pytest.raises(WriteFailed):
        bench.agent.run(RunRequest("look"))
    monkeypatch.undo()
    (left,) = bench.agent.open_runs()
    assert bench.agent.resume(left.run).end == "complete"
    assert executed(bench, left.run) == ["look"]


def test_what_goes_on_elsewhere_can_be_looked_at(bench: Bench) -> None:
    seen: list[tuple[str, int]] = []

    def look(_: object) -> Result:
        seen.extend((one.command, one.iterations) for one in bench.agent.open_runs())
        return Result("seen")

    bench.tools = (tool("look", handler=look),)
    bench.script(calls("look", what="a"), "Done.")
    bench.agent.run(RunRequest("look around"))
    assert seen == [("look around", 1)]


def test_a_run_with_an_empty_command_is_refused_before_anything_is_kept(bench: Bench) -> None:
    with pytest.raises(UsageError):
        bench.agent.run(RunRequest("\n"))
    assert bench.files() == []
