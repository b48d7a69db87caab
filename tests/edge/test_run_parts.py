"""What the agent's commands are made of: the stream of words, the person who is asked, Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.run import RunResult, Said
from hindbrain.agent.safety.approval import Asked, Decision
from hindbrain.base.errors import Cancelled
from hindbrain.edge.agent_runs.asking import QUESTION, TerminalApprover
from hindbrain.edge.agent_runs.ending import end_line, learned_lines, waiting_lines
from hindbrain.edge.agent_runs.interrupts import Interrupts
from hindbrain.edge.agent_runs.streaming import Stream
from hindbrain.edge.agent_runs.telling import Telling
from hindbrain.edge.agent_runs.working import reply_text
from hindbrain.edge.output import Output
from hindbrain.learn.lessons.book import LessonsWritten
from hindbrain.learn.service import Learned
from hindbrain.models.chat import Usage

TOKEN = "TASK_COMPLETE"
ASKED = Asked("a-7f3k2a", "r-1", "write_file", {"path": "a.txt"}, "Make the file 'a.txt'", "it acts")


def _streamed(pieces: list[str]) -> str:
    shown: list[str] = []
    stream = Stream(shown.append, TOKEN)
    for piece in pieces:
        stream.take(piece)
    stream.end()
    return "".join(shown)


@given(
    st.lists(
        st.sampled_from(["TASK", "_COMPLETE", "\n", " ", "TASK_COMPLETE", "done", "T", "é"]), max_size=12
    )
)
def test_the_stream_shows_every_line_but_the_token_however_it_is_cut(pieces: list[str]) -> None:
    lines = "".join(pieces).split("\n")
    kept = [line for line in lines if line.strip() != TOKEN]
    shown = _streamed(pieces).split("\n")
    assert [line for line in shown if line.strip()] == [line for line in kept if line.strip()]


def test_words_are_shown_as_they_come_and_not_held_back_to_the_end_of_their_line() -> None:
    shown: list[str] = []
    stream = Stream(shown.append, TOKEN)
    stream.take("Take")
    assert shown == ["Take"]
    stream.take(" care")
    assert shown == ["Take", " care"]


def test_what_a_model_says_can_not_move_the_cursor() -> None:
    assert "\x1b" not in _streamed(["\x1b[2J gone"])


# The person


class Nobody:
    def decide(self, asked: Asked) -> Decision:  # noqa: ARG002
        return "wait"


def _decide(*lines: str | type[BaseException]) -> tuple[str, Interrupts, list[str]]:
    questions: list[str] = []
    rest = iter(lines)

    def read(question: str) -> str:
        questions.append(question)
        line = next(rest)
        if isinstance(line, str):
            return line
        raise line

    interrupts = Interrupts()
    try:
        decision: str = TerminalApprover(Output(), interrupts, Nobody(), read).decide(ASKED)
    except Cancelled as error:
        decision = error.code
    return decision, interrupts, questions


@pytest.mark.parametrize(
    ("typed", "decision"),
    [("y", "allow"), ("YES ", "allow"), ("a", "run"), ("always", "run"), ("n", "deny"), ("No", "deny")],
)
def test_a_person_says_yes_always_or_no(typed: str, decision: str) -> None:
    assert _decide(typed)[0] == decision


def test_nothing_but_a_clear_word_is_an_answer() -> None:
    decision, _, questions = _decide("", "yeah", "allow", "yy", "n")
    assert (decision, questions) == ("deny", [QUESTION] * 5)


def test_when_nobody_is_there_after_all_it_waits() -> None:
    assert _decide(EOFError)[0] == "wait"


def test_ctrl_c_at_the_question_ends_the_run() -> None:
    decision, interrupts, _ = _decide(KeyboardInterrupt)
    assert decision == "cancelled"
    assert interrupts.asked()


def _questioned(capsys: pytest.CaptureFixture[str], shown: str) -> list[str]:
    asked = ASKED._replace(shown=shown)
    TerminalApprover(Output(), Interrupts(), Nobody(), lambda _: "n").decide(asked)
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("content", ["\n" * 60 + "last", "x" * 5_000])
def test_a_question_that_fills_the_screen_says_again_what_and_where(
    capsys: pytest.CaptureFixture[str], content: str
) -> None:
    lines = _questioned(capsys, f"Make the file 'a.txt' with:\n{content}")
    assert lines[0].startswith("? Make the file 'a.txt' with:")
    assert lines[-1].startswith("? Make the file 'a.txt' with:")


def test_a_question_that_fits_on_the_screen_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _questioned(capsys, "Make the file 'a.txt' with:\n" + "x\n" * 10)
    assert [line for line in lines if "a.txt" in line] == lines[:1]


def test_a_first_line_without_end_leaves_its_beginning_and_its_end_above_the_question(
    capsys: pytest.CaptureFixture[str],
) -> None:
    last = _questioned(capsys, "begins" + "x" * 9_000 + "ends\nfolder: /tmp")[-1]
    assert last.startswith("? begins") and "ends (" in last and len(last) < 500


def test_characters_that_nobody_sees_are_written_out_and_visible_ones_are_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = "\n".join(
        _questioned(
            capsys, "Make 'a'\n\tpay\u200bpal \u202egnp \u2066x\ufe01 \x1b[2J é ☕ 日本 ⚠\ufe0f x\ufe0f"
        )
    )
    assert "pay<U+200B>pal <U+202E>gnp <U+2066>x<U+FE01> <U+001B>[2J é ☕ 日本 ⚠\ufe0f x<U+FE0F>" in shown
    assert "\n  \tpay" in shown
    (line,) = [
        line for line in reply_text(_result(end="waiting"), [ASKED._replace(shown="a\u200bb")]).split("\n")
        if line.startswith("a")
    ]  # fmt: skip
    assert line == "a<U+200B>b"


def test_all_of_what_would_be_done_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 5_000
    asked = ASKED._replace(shown="", arguments={"content": f"{long}\nlast line\x1b[2J"})
    TerminalApprover(Output(), Interrupts(), Nobody(), lambda _: "n").decide(asked)
    shown = capsys.readouterr().err
    assert long in shown and "last line" in shown
    assert "\x1b" not in shown


# Ctrl-C


@pytest.fixture
def interrupt() -> Iterator[Callable[[], None]]:
    before = signal.getsignal(signal.SIGINT)
    yield lambda: signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before  # whoever catches gives it back


def test_the_first_ctrl_c_asks_for_the_end_and_the_second_ends(interrupt: Callable[[], None]) -> None:
    told: list[int] = []
    with Interrupts(lambda: told.append(1)).caught() as interrupts:
        assert not interrupts.asked()
        interrupt()
        assert interrupts.asked() and told == [1]
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_ctrl_c_breaks_off_a_question_at_once(interrupt: Callable[[], None]) -> None:
    with Interrupts().caught() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.at_a_question():
            interrupt()
        assert interrupts.asked()


def test_ctrl_c_in_the_midst_of_another_word_does_not_break_the_run(interrupt: Callable[[], None]) -> None:
    for trouble in (RuntimeError("reentrant call"), BrokenPipeError()):

        def told(trouble: Exception = trouble) -> None:
            raise trouble

        with Interrupts(told).caught() as interrupts:
            interrupt()
            assert interrupts.asked()


# Telling


def _told(capsys: pytest.CaptureFixture[str], *said: Said, brief: bool = False) -> list[str]:
    telling = Telling(Output(), brief=brief)
    for one in said:
        telling(one)
    telling.close()
    return capsys.readouterr().err.splitlines()


def test_each_step_is_one_line_and_only_a_failure_gets_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _told(
        capsys,
        Said("memory", "Lessons\nTea > Brewing"),
        Said("text", "I look"),
        Said("call", "read_file(path=a.txt)"),
        Said("result", "hello\nworld", {"failed": False}),
        Said("call", "read_file(path=b.txt)"),
        Said("result", "error (not_found): no 'b.txt'", {"failed": True}),
        Said("rejected", "file: out.txt is not there"),
    )
    assert lines == [
        "memory Lessons",
        "memory Tea > Brewing",
        "· read_file(path=a.txt)",
        "· read_file(path=b.txt)",
        "✗ error (not_found): no 'b.txt'",
        "not accepted: file: out.txt is not there",
    ]


def test_the_same_step_again_and_again_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    step, fine = Said("call", "list_files()"), Said("result", "a.txt", {"failed": False})
    lines = _told(capsys, *[step, fine] * 50, Said("call", "read_file(path=a)"), fine, step, fine)
    assert lines == ["· list_files()", "· list_files()  x 49 more", "· read_file(path=a)", "· list_files()"]
    broken = Said("result", "error", {"failed": True})
    assert _told(capsys, step, step, broken, step) == [
        "· list_files()", "· list_files()  x 1 more", "✗ error", "· list_files()",
    ]  # fmt: skip


def test_a_question_comes_after_the_steps_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    telling = Telling(Output())
    for said in (*[Said("call", "list_files()")] * 3, Said("approval", "Make the file 'a'")):
        telling(said)
    assert capsys.readouterr().err.splitlines()[-1] == "· list_files()  x 2 more"


def test_in_brief_what_was_recalled_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert _told(capsys, Said("memory", "Lessons\nTea"), brief=True) == ["memory Lessons, Tea"]


def test_a_long_step_is_cut_and_can_not_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = _told(capsys, Said("call", "write_file(\x1b[31m" + "x" * 500 + "\nsecond)"))
    assert len(line) <= 100 and "\x1b" not in line


def test_what_it_waits_for_is_told_in_one_line() -> None:
    (line,) = waiting_lines(
        [ASKED._replace(shown="Make the file 'a.txt' with:\n\x1b[2J" + "x" * 500)], Output()
    )
    assert line.startswith("waits for you (a-7f3k2a): Make the file 'a.txt' with: ")
    assert len(line) <= 100 and "\x1b" not in line


def _result(**told: Any) -> RunResult:
    return RunResult(**{"run": "r-1", "command": "do it", "end": "fail", **told})


def test_that_it_was_cancelled_is_said_once() -> None:
    result = _result(end="cancelled", reason="the run 'r-1' was cancelled")
    assert end_line(result, Output()) == "cancelled · r-1"
    assert reply_text(result, ()) == "That was cancelled."


class Lessons:
    """Where lessons stand."""

    def lesson_places(self) -> dict[str, tuple[str, str]]:
        return {"l-7f3k2a9q": ("For tasks like 'hello': " + "look first " * 40, "Learning/Lessons.md")}


def test_the_line_of_a_lesson_is_cut_and_names_the_note_that_has_all_of_it() -> None:
    learned = Learned(lessons=LessonsWritten(added=("l-7f3k2a9q",)))
    (line,) = learned_lines(learned, Lessons())  # type: ignore[arg-type]
    assert len(line) <= 160
    assert line.endswith("… (Learning/Lessons.md#^l-7f3k2a9q)")


def test_the_end_is_one_line_with_what_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    result = RunResult(
        "r-1", "do it", "fail", score=40, reason="the limit\nwas reached", iterations=1,
        usage=Usage(1_000, 0, 200, 0.01), seconds=4,
    )  # fmt: skip
    line = end_line(result, Output())
    assert (
        line == "failed: the limit was reached · score 40 · 1 iteration · 1,200 tokens · $0.0100 · 4 s · r-1"
    )
