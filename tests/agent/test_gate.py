"""Which calls are carried out at once, which are put before a person, and which never happen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agent.shell_bench import SHELL, TAINTED, ShellBench

from hindbrain.agent.policy_file import AgentPolicy
from hindbrain.agent.safety.approval import grant_of
from hindbrain.agent.safety.command import shell_place
from hindbrain.agent.safety.file_orders import orders_file
from hindbrain.agent.safety.gate import Around, Gate
from hindbrain.agent.safety.literal import orders_command
from hindbrain.agent.safety.taint import Taint
from hindbrain.agent.tools.tool import ActionTool, Effect, Result, plain
from hindbrain.learn.lessons.guarding import Guard
from hindbrain.learn.lessons.guards import stop, write_guards
from hindbrain.memory.tools.tool import Param

CLEAN = Taint()


def _tool(name: str, effect: Effect) -> ActionTool:
    return ActionTool(name, "", (Param("path", "string", ""),), effect, lambda _: Result(""))


WRITE, CLICK, SEND = _tool("write_file", "act"), _tool("click", "act"), _tool("openclaw_send", "act")


@pytest.fixture
def bench(tmp_path: Path) -> ShellBench:
    bench = ShellBench(tmp_path, {"allow": [["ls", "**"]], "deny": [["rm", "**"]]})
    bench.install("ls", "rm", "make", "curl")
    return bench


def _decision(bench: ShellBench, tool: ActionTool, taint: Taint, told: str = "", **arguments: Any) -> str:
    return bench.gate.judge(tool, arguments, command=told, taint=taint).decision


@pytest.mark.parametrize("taint", [CLEAN, TAINTED])
@pytest.mark.parametrize("effect", ["read", "keep"])
def test_reading_and_keeping_are_free(bench: ShellBench, effect: Effect, taint: Taint) -> None:
    assert _decision(bench, _tool("x", effect), taint) == "allow"


@pytest.mark.parametrize("tool", [WRITE, CLICK, SEND])
def test_acting_is_free_only_while_the_owner_alone_has_spoken(bench: ShellBench, tool: ActionTool) -> None:
    assert _decision(bench, tool, CLEAN, "do it") == "allow"
    assert _decision(bench, tool, Taint().heard("agent"), "do it") == "ask"
    assert _decision(bench, tool, TAINTED, "do it") == "ask"


def test_a_file_that_the_command_names_is_written_without_asking(bench: ShellBench) -> None:
    told = "Write a summary of mail.md to out/report.md."
    assert _decision(bench, WRITE, TAINTED, told, path="out/report.md") == "allow"
    for path in ("mail.md", "report.md", "out/report.md.bak", "out/report", "../out/report.md", "a", "to"):
        assert _decision(bench, WRITE, TAINTED, told, path=path) == "ask", path


def test_a_message_is_never_sent_by_what_stands_in_the_command(bench: ShellBench) -> None:
    told = "Write to phone: send hello.txt to phone"
    assert _decision(bench, SEND, TAINTED, told, message="hello.txt", channel="phone") == "ask"


def test_the_shell_asks_even_when_only_the_owner_has_spoken(bench: ShellBench) -> None:
    for taint in (CLEAN, TAINTED):
        tool, settled = bench.checked(argv=["make", "test"])
        assert bench.gate.judge(tool, settled, command="tidy up", taint=taint).decision == "ask"


def test_a_command_that_the_owner_says_to_run_is_run(bench: ShellBench) -> None:
    for told in (
        "run: make test",
        "run make test",
        "Please run `make test` and tell me.",
        'Execute "make test", then stop.',
    ):
        assert bench.judge(told=told, argv=["make", "test"]).decision == "allow", told
    assert bench.judge(told="run make test", argv=["make", "test", "x"]).decision == "ask"


def test_a_command_that_the_owner_says_to_run_is_run_in_the_workspace_and_not_below_it(
    bench: ShellBench,
) -> None:
    """`make test` in a folder that somebody else filled is another program."""
    assert bench.judge(told="run make test", argv=["make", "test"], cwd="src").decision == "ask"


def test_only_an_owner_at_a_terminal_orders_a_program(bench: ShellBench) -> None:
    """A message on a channel may be dictated, forwarded or mistyped on a phone: it is asked about."""
    tool, settled = bench.checked(argv=["make", "test"])
    for at_terminal, decision in ((True, "allow"), (False, "ask")):
        verdict = bench.gate.judge(
            tool, settled, command="run `make test`", taint=TAINTED, at_terminal=at_terminal
        )
        assert verdict.decision == decision


def test_an_order_to_write_a_file_lets_no_other_tool_near_it(bench: ShellBench) -> None:
    told = "write the plan to c.md"
    assert _decision(bench, WRITE, TAINTED, told, path="c.md") == "allow"
    assert _decision(bench, _tool("remove_file", "act"), TAINTED, told, path="c.md") == "ask"


def test_what_rules_allow_can_be_asked_without_a_conversation(bench: ShellBench) -> None:
    assert bench.gate.allows(["ls", "src"])
    for argv in (["make"], ["rm", "x"], ["ls", "-l"], ["no-such-program"], []):
        assert not bench.gate.allows(argv)


def test_a_denying_rule_holds_against_the_command_itself(bench: ShellBench) -> None:
    assert bench.judge(told="run rm x", argv=["rm", "x"]).decision == "deny"


def test_a_grant_for_the_run_covers_the_tool_and_of_the_shell_one_command(bench: ShellBench) -> None:
    judge = bench.gate.judge
    granted = {grant_of("click", {"x": 1})}
    assert judge(CLICK, {"x": 2}, command="", taint=TAINTED, allowed=granted).decision == "allow"
    assert judge(WRITE, {}, command="", taint=TAINTED, allowed=granted).decision == "ask"

    tool, settled = bench.checked(argv=["make", "test"])
    granted = {grant_of(SHELL, plain(settled))}
    assert judge(tool, settled, command="", taint=TAINTED, allowed=granted).decision == "allow"
    for other in (
        {"argv": ["make", "tests"]},
        {"argv": ["make", "test"], "cwd": "src"},
        {"argv": ["curl", "x"]},
    ):
        tool, settled = bench.checked(**other)
        assert judge(tool, settled, command="", taint=TAINTED, allowed=granted).decision == "ask"


def test_allowing_the_shell_for_a_run_does_not_lift_what_is_denied(bench: ShellBench) -> None:
    for argv, decision in ((["make"], "allow"), (["rm", "x"], "deny")):
        tool, settled = bench.checked(argv=argv)
        verdict = bench.gate.judge(tool, settled, command="", taint=TAINTED, allowed={SHELL})
        assert verdict.decision == decision


def test_a_lesson_has_a_person_asked_whatever_else_allows_it(bench: ShellBench, tmp_path: Path) -> None:
    guard = Guard("^l-1", "Bash", "ls .*secrets", "it listed what it should not")
    write_guards(tmp_path, [guard])

    def lesson(tool: str, arguments: Any) -> str:
        found = stop(tmp_path, tool, arguments, at=0.0)
        return found.reason if found else ""

    gate = Gate(bench.policy, Around(shell_place(bench.workspace, bench.path), lesson=lesson))
    for argv, decision in ((["ls", "src"], "allow"), (["ls", "src", "secrets"], "ask")):
        tool, settled = bench.checked(argv=argv)
        verdict = gate.judge(tool, settled, command="", taint=CLEAN, allowed={SHELL})
        assert verdict.decision == decision
    assert "should not" in verdict.why


def test_settings_and_state_are_closed_to_commands(tmp_path: Path) -> None:
    closed = tmp_path / "work" / ".config" / "hindbrain"
    closed.mkdir(parents=True)
    rules = [["cp", "**"], ["cp", "x", "src"], ["ls", "**"]]
    bench = ShellBench(tmp_path, {"allow": rules}, closed=(closed,))
    bench.install("cp", "tee", "sh", "ls")
    (bench.workspace / "alias").symlink_to(closed)
    for argv in (
        ["cp", "x", ".config/hindbrain/agent.toml"],
        ["cp", "x", "alias/agent.toml"],
        ["cp", "x", "src/../.config/hindbrain/agent.toml"],
        ["cp", "x", ".CONFIG/Hindbrain/agent.toml"],
        ["cp", f"--target-directory={closed}", "x"],
        ["cp", f"-t{closed}", "x"],
        ["sh", "-c", f"echo > {closed}/agent.toml"],
        ["tee", str(closed / "agent.toml")],
        ["cp", ".config", "src"],
    ):
        assert bench.outcome(argv) == "deny", argv
    assert bench.outcome(["ls"], cwd="alias") == "deny"
    assert bench.outcome(["cp", "x", "src"]) == "allow"


def test_what_only_the_owner_writes_in_a_vault_is_closed(tmp_path: Path) -> None:
    bench = ShellBench(tmp_path)
    gate = Gate(AgentPolicy(), Around(shell_place(bench.workspace, ""), vault=bench.workspace))
    for path in (".hindbrain/inbox.json", "AGENTS.md", ".HINDBRAIN/x"):
        verdict = gate.judge(WRITE, {"path": path}, command=f"write {path}", taint=CLEAN)
        assert verdict.decision == "deny", path


def test_a_call_that_was_not_settled_is_no_reason_to_fail(bench: ShellBench) -> None:
    for given in ({}, {"argv": ()}, {"argv": ("no-such-program",)}, {"argv": ("ls",), "cwd": ".."}):
        assert bench.gate.judge(bench.tool, given, command="", taint=TAINTED).decision == "deny"


@pytest.mark.parametrize(
    ("told", "argv"),
    [
        ("run git commit", ["git", "commit"]),
        ("Run `git commit -m 'x y'` please", ["git", "commit", "-m", "x y"]),
        ('run `git commit -m "x y"`.', ["git", "commit", "-m", "x y"]),
        ("execute the command: make test", ["make", "test"]),
        ("run “make test” now", ["make", "test"]), ("run make test once", ["make", "test"]),
    ],
)  # fmt: skip
def test_an_order_to_run_is_understood(told: str, argv: list[str]) -> None:
    assert orders_command(told, argv)


@pytest.mark.parametrize(
    ("told", "argv"),
    [
        ("Do not run make test", ["make", "test"]), ("never run `make test`", ["make", "test"]),
        ("make test", ["make", "test"]), ("what does `make test` do?", ["make", "test"]),
        ("don't you run make test", ["make", "test"]), ("run it", ["it;"]),
        ("run make test data through the model", ["make", "test"]), ("RUN MAKE TEST", ["make", "test"]),
        ("rerunmake", ["make"]), ("run make test-all", ["make", "test"]), ("run ls -la /etc", ["ls", "-la"]),
        ("prune make", ["make"]), ("run a\nb", ["a\nb"]), ("run `make test` ", ["make", "test`"]),
        ("run without make test", ["make", "test"]), ("", ["x"]), ("run sh -c ls x", ["sh", "-c", "ls x"]),
        ("run `make test && rm x`", ["make", "test"]), ("run `make` test", ["make"]),
        ("run make test x", ["make", "test x"]), ("run `sh -c ls x`", ["sh", "-c", "ls x"]),
        ("run 'make' 'test'", ["make", "test"]), ("run", ["run"]),
        ("run make deploy once I say so", ["make", "deploy"]),
        ("run make deploy, but only after I confirm", ["make", "deploy"]),
        ("if the tests pass, run make deploy", ["make", "deploy"]),
        ("read a.md, then run make test in the end", ["make", "test"]),
    ],
)  # fmt: skip
def test_what_is_only_mentioned_is_no_order_to_run(told: str, argv: list[str]) -> None:
    assert not orders_command(told, argv)


@pytest.mark.parametrize(
    ("told", "path"),
    [
        ("Summarise notes/a.md", "notes/a.md"), ("write a summary of notes/a.md", "notes/a.md"),
        ("Do not change notes/a.md", "notes/a.md"),
        ("update b.md with what is said in notes/a.md", "notes/a.md"),
        ("write down what you see in the mail", "mail"), ("make a plan from plan.md", "plan.md"),
        ("write a", "a"), ("save xnotes/a.md", "notes/a.md"), ("save notes/a.md.old", "notes/a.md"),
        ("save ../notes/a.md", "notes/a.md"), ("Write it. Then read notes/a.md", "notes/a.md"),
        ("edit nothing without asking, notes/a.md too", "notes/a.md"),
    ],
)  # fmt: skip
def test_what_is_only_mentioned_is_no_order_to_write(told: str, path: str) -> None:
    assert not orders_file(told, path)


@pytest.mark.parametrize(
    ("told", "path"),
    [
        ("Write the result to out/r.md", "out/r.md"), ("create `todo.txt` with three lines", "todo.txt"),
        ("Save it as report.md.", "report.md"), ("fix the typo in src/a.py", "src/a.py"),
        ("update ./a.md", "a.md"), ("Read a.md and write b.md", "b.md"),
        ('append a line to "log/x.txt"', "log/x.txt"), ("create out.md", "./out.md"),
    ],
)  # fmt: skip
def test_an_order_to_write_is_understood(told: str, path: str) -> None:
    assert orders_file(told, path)
