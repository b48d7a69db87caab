"""A person's word on disk: for exactly one call, once, and not for ever."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.shell_bench import SHELL, ShellBench

from hindbrain.agent.safety.approval import Asked, Decision, call_digest
from hindbrain.agent.safety.waiting import Waiting, WaitingApprover
from hindbrain.agent.tools.tool import plain
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import NotFound, UsageError, VaultError

_DAY_S = 86_400.0


def _asked(id: str = "a-7f3k2a", run: str = "r1", tool: str = SHELL, **arguments: Any) -> Asked:
    return Asked(id, run, tool, arguments or {"argv": ["make", "test"], "cwd": "/w"}, "make test", "no rule")


@pytest.fixture
def waiting(tmp_path: Path, clock: FakeClock) -> Waiting:
    return Waiting(tmp_path / "state", clock)


def test_nobody_there_means_that_it_waits(waiting: Waiting) -> None:
    approver = WaitingApprover(waiting)
    assert approver.decide(_asked()) == "wait"
    assert approver.decide(_asked()) == "wait"
    (question,) = waiting.pending()
    assert (question.asked.id, question.asked.shown, question.asked.why) == (
        "a-7f3k2a",
        "make test",
        "no rule",
    )


@pytest.mark.parametrize("decision", ["allow", "run", "deny"])
def test_an_answer_is_found_by_the_call_it_is_about(
    waiting: Waiting, tmp_path: Path, clock: FakeClock, decision: Decision
) -> None:
    WaitingApprover(waiting).decide(_asked())
    Waiting(tmp_path / "state", clock).answer("a-7f3k2a", decision, "me at the terminal")
    assert waiting.pending() == []
    later = Waiting(tmp_path / "state", clock)
    assert WaitingApprover(later).decide(_asked(id="a-other")) == decision


@pytest.mark.promise("P26")
def test_an_approval_holds_once(waiting: Waiting) -> None:
    approver = WaitingApprover(waiting)
    approver.decide(_asked())
    waiting.answer("a-7f3k2a", "allow", "me")
    assert approver.decide(_asked()) == "allow"
    assert approver.decide(_asked()) == "wait"
    assert len(waiting.pending()) == 1


@pytest.mark.promise("P26")
@pytest.mark.parametrize(
    "other",
    [
        _asked(run="r2"), _asked(tool="write_file"), _asked(argv=["make", "tests"], cwd="/w"),
        _asked(argv=["make"], cwd="/w"), _asked(argv=["make", "test"], cwd="/"),
        _asked(argv=["make test"], cwd="/w"), _asked(argv=["make", "test", ""], cwd="/w"),
        _asked(argv=["make", "test"]), _asked(argv=["make", "test"], cwd="/w", timeout_s=600),
        _asked(argv="make test", cwd="/w"), _asked(argv=["make", "te\u0455t"], cwd="/w"),
        _asked(argv=["test", "make"], cwd="/w"), _asked(argv=["MAKE", "test"], cwd="/w"),
    ],
)  # fmt: skip
def test_an_approval_is_not_replayed_for_another_call(waiting: Waiting, other: Asked) -> None:
    approver = WaitingApprover(waiting)
    approver.decide(_asked())
    waiting.answer("a-7f3k2a", "allow", "me")
    assert approver.decide(other._replace(id="a-other")) == "wait"
    assert approver.decide(_asked()) == "allow"


@pytest.mark.promise("P26")
def test_what_is_bound_names_the_program_the_folder_and_the_time(tmp_path: Path) -> None:
    bench = ShellBench(tmp_path)
    bench.install("tool")
    digests = set()
    calls: list[dict[str, Any]] = [
        {"argv": ["tool"]},
        {"argv": ["tool"], "cwd": "src"},
        {"argv": ["tool"], "timeout_s": 5},
        {"argv": ["tool", ""]},
        {"argv": [str(bench.bin / "tool")]},
    ]
    for call in calls:
        digests.add(call_digest("r1", SHELL, plain(bench.checked(**call)[1])))
    assert len(digests) == len(calls)
    same: list[dict[str, Any]] = [
        {"command": "tool"},
        {"argv": ["tool"], "cwd": "."},
        {"argv": ["tool"], "timeout_s": 60},
    ]
    assert {call_digest("r1", SHELL, plain(bench.checked(**call)[1])) for call in same} < digests
    bench.put(tmp_path / "first" / "tool")
    bench.bin = tmp_path / "first"
    assert call_digest("r1", SHELL, plain(bench.checked(argv=["tool"])[1])) not in digests


_words = st.lists(st.text(max_size=6), max_size=4)


@pytest.mark.promise("P26")
@given(_words, _words)
def test_two_commands_have_one_digest_only_if_they_are_the_same(one: list[str], other: list[str]) -> None:
    digests = [call_digest("r1", SHELL, {"argv": words, "cwd": "/w"}) for words in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


def test_a_question_is_for_a_week(waiting: Waiting, clock: FakeClock) -> None:
    waiting.ask(_asked())
    clock.advance(7 * _DAY_S - 1)
    assert len(waiting.pending()) == 1
    clock.advance(1)
    assert waiting.pending() == []
    with pytest.raises(NotFound):
        waiting.answer("a-7f3k2a", "allow", "me")


def test_an_answer_that_was_not_used_within_the_week_is_none(waiting: Waiting, clock: FakeClock) -> None:
    waiting.ask(_asked())
    waiting.answer("a-7f3k2a", "allow", "me")
    clock.advance(7 * _DAY_S)
    assert WaitingApprover(waiting).decide(_asked()) == "wait"
    assert len(waiting.pending()) == 1


def test_an_answer_stands(waiting: Waiting) -> None:
    waiting.ask(_asked())
    waiting.answer("a-7f3k2a", "deny", "me")
    with pytest.raises(UsageError):
        waiting.answer("a-7f3k2a", "allow", "somebody")
    assert waiting.use(_asked()) == "deny"


def test_what_is_unknown_can_not_be_answered(waiting: Waiting) -> None:
    with pytest.raises(NotFound):
        waiting.answer("a-nothing", "allow", "me")
    waiting.ask(_asked())
    with pytest.raises(UsageError):
        waiting.answer("a-7f3k2a", "wait", "me")


@pytest.mark.parametrize("id", ["../../evil", "a-../x", "", "a-", "A-7F3K2A", "a-7f3k2a.json/x"])
def test_an_id_is_no_path(waiting: Waiting, tmp_path: Path, id: str) -> None:
    with pytest.raises(UsageError):
        waiting.ask(_asked(id=id))
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_only_the_owner_can_read_what_waits(waiting: Waiting, tmp_path: Path) -> None:
    waiting.ask(_asked())
    waiting.answer("a-7f3k2a", "allow", "me")
    (file,) = (tmp_path / "state" / "agent" / "approvals").glob("*")
    assert file.name == "a-7f3k2a.json" and stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.promise("P26")
def test_a_file_that_was_changed_or_torn_is_no_approval(waiting: Waiting, tmp_path: Path) -> None:
    waiting.ask(_asked())
    waiting.answer("a-7f3k2a", "allow", "me")
    file = tmp_path / "state" / "agent" / "approvals" / "a-7f3k2a.json"
    told = json.loads(file.read_bytes())
    other = _asked(argv=["rm", "-rf", "/"], cwd="/w")
    for changed in (
        json.dumps({**told, "arguments": other.arguments}),
        json.dumps({**told, "run": "r2"}),
        json.dumps({**told, "decision": "yes"}),
        file.read_text(encoding="ascii")[:-20],
        "",
        "[]",
        "null",
        "[" * 100_000,
    ):
        file.write_text(changed, encoding="ascii")
        for asked in (_asked(), other, _asked(run="r2")):
            assert waiting.use(asked) == "wait"
        assert waiting.pending() == []


def test_a_copy_under_another_name_is_no_second_approval(waiting: Waiting, tmp_path: Path) -> None:
    waiting.ask(_asked())
    waiting.answer("a-7f3k2a", "allow", "me")
    file = tmp_path / "state" / "agent" / "approvals" / "a-7f3k2a.json"
    file.with_name("a-copy.json").write_bytes(file.read_bytes())
    approver = WaitingApprover(waiting)
    assert [approver.decide(_asked()), approver.decide(_asked())] == ["allow", "wait"]


def test_the_owner_is_told_of_what_waits(waiting: Waiting) -> None:
    told: list[str] = []
    WaitingApprover(waiting, lambda question: told.append(question.asked.shown)).decide(_asked())
    assert told == ["make test"]


def test_a_folder_that_can_not_be_read_is_told_and_an_old_question_that_stays_does_no_harm(
    waiting: Waiting, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.ask(_asked())
    clock.advance(7 * _DAY_S)
    with monkeypatch.context() as refused:
        refused.setattr(Path, "unlink", _refuse)
        waiting.ask(_asked(id="a-other", run="r2"))
    assert [one.asked.id for one in waiting.pending()] == ["a-other"]
    folder = tmp_path / "state" / "agent" / "approvals"
    folder.rename(folder.with_name("away"))
    folder.write_text("no folder", encoding="utf-8")
    for ask in (waiting.pending, lambda: waiting.use(_asked()), lambda: waiting.ask(_asked())):
        with pytest.raises(VaultError, match="approvals"):
            ask()


def _refuse(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")
