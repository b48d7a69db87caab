"""A failed command becomes a query, and what later made it work is bound to it; noise is not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.context.capture.commands import understand_command
from hindbrain.context.capture.error_text import normalised, query_for, understand_failure
from hindbrain.context.capture.failures import FailureTracker, Fix, explanation
from hindbrain.context.capture.fix_text import fix_line, importance_of
from hindbrain.context.messages import Message


class Session:
    """A conversation as a test tells it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def run(self, command: str, output: str = "", *, ok: bool = True, tool: str = "Bash") -> Session:
        call = f"c{len(self.messages)}"
        self.messages.append(Message("assistant", command, tool, call))
        self.messages.append(Message("tool", output, tool, call, failed=not ok))
        return self

    def fail(self, command: str, output: str) -> Session:
        return self.run(command, f"Exit code 1\n{output}", ok=False)

    def edit(self, path: str, *, ok: bool = True) -> Session:
        call = f"c{len(self.messages)}"
        arguments = json.dumps({"file_path": path, "old_string": "a", "new_string": "b"})
        self.messages.append(Message("assistant", arguments, "Edit", call))
        self.messages.append(Message("tool", "done", "Edit", call, failed=not ok))
        return self

    def say(self, text: str) -> Session:
        self.messages.append(Message("assistant", text))
        return self

    def fixes(self) -> list[Fix]:
        return FailureTracker().feed(self.messages)

    def lines(self) -> list[str]:
        return [fix_line(fix) for fix in self.fixes()]


NO_MODULE = """Traceback (most recent call last):
  File "/home/ada/project/tests/test_api.py", line 3, in <module>
    import httpx
ModuleNotFoundError: No module named 'httpx'
"""


def test_an_import_error_is_bound_to_the_installation_that_solved_it():
    session = Session().fail("pytest tests/test_api.py", NO_MODULE)
    session.say("The problem is that httpx is not installed in this environment.")
    session.run("pip install -e '.[dev]'").run("pytest tests/test_api.py -q", "3 passed")
    assert session.lines() == [
        "`pytest tests/test_api.py` failed with `ModuleNotFoundError: No module named 'httpx'`; fixed by: "
        "ran `pip install -e '.[dev]'` (The problem is that httpx is not installed in this environment)"
    ]


def test_npm_peer_conflict_is_solved_by_another_option():
    error = "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\n"
    session = Session().fail("npm install", error).run("npm install --legacy-peer-deps", "added 200 packages")
    assert session.lines() == [
        "`npm install` failed with `npm error ERESOLVE unable to resolve dependency tree`; fixed by: ran "
        "`npm install --legacy-peer-deps` instead"
    ]


def test_cargo_build_is_solved_by_a_system_package():
    error = (
        "   Compiling openssl-sys v0.9.99\n"
        "error: failed to run custom build command for `openssl-sys v0.9.99`\n"
        "error: could not compile `app`\n"
    )
    session = Session().fail("cargo build --release", error)
    session.run("ls target").run("sudo apt-get install -y libssl-dev", "done")
    session.run("cargo build --release", "Finished")
    [line] = session.lines()
    assert "ran `sudo apt-get install -y libssl-dev`" in line
    assert "openssl-sys" in line
    assert "ls target" not in line


def test_git_push_is_solved_by_pulling_first():
    error = (
        "To github.com:ada/app.git\n ! [rejected]        main -> main (fetch first)\n"
        "error: failed to push some refs to 'github.com:ada/app.git'\n"
    )
    session = Session().fail("git push origin main", error).run("git status", "clean")
    session.run("git pull --rebase origin main", "ok").run("git push origin main", "ok")
    [line] = session.lines()
    assert line.startswith("`git push origin main` failed with `error: failed to push some refs")
    assert line.endswith("fixed by: ran `git pull --rebase origin main`")


def test_docker_build_is_solved_by_an_edit_of_its_file():
    error = 'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 127'
    session = Session().fail("docker build -t app .", error)
    session.edit("/home/ada/app/deploy/docker/Dockerfile").run("docker build -t app .", "naming to app")
    [line] = session.lines()
    assert line.endswith("fixed by: edited `deploy/docker/Dockerfile`")


def test_a_script_without_rights_is_solved_by_giving_them():
    error = "/bin/bash: line 1: ./deploy.sh: Permission denied"
    session = Session().fail("./deploy.sh staging", error)
    session.run("chmod +x deploy.sh").run("./deploy.sh staging", "ok")
    assert session.lines()[0].endswith("fixed by: ran `chmod +x deploy.sh`")


def test_a_command_that_needs_root():
    error = "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)"
    session = Session().fail("apt-get install -y jq", error).run("sudo apt-get install -y jq", "ok")
    assert session.lines()[0].endswith("ran `sudo apt-get install -y jq` instead")


def test_a_variable_before_the_tests():
    error = (
        "E   ModuleNotFoundError: No module named 'app'\nFAILED tests/test_a.py::test_b - ModuleNotFoundError"
    )
    session = Session().fail("pytest tests", error).run("PYTHONPATH=src pytest tests", "2 passed")
    assert session.lines()[0].endswith("ran `PYTHONPATH=src pytest tests` instead")


def test_what_is_done_in_the_line_of_the_next_attempt_counts():
    session = Session().fail("make lint", "make: *** No rule to make target 'lint'.  Stop.")
    session.run("printf 'lint:\\n\\truff check\\n' >> Makefile && make lint", "ok")
    assert ">> Makefile`" in session.lines()[0]


def test_a_flaky_command_has_no_fix():
    session = Session().fail("pytest tests/test_net.py", "E  TimeoutError: timed out")
    session.run("git diff").run("sleep 5").run("pytest tests/test_net.py", "1 passed")
    assert session.fixes() == []


def test_another_tail_of_the_same_command_is_no_fix():
    session = Session().fail(
        "pytest tests 2>&1 | tail -5", "E  TimeoutError: timed out\n=== 1 failed in 3s ==="
    )
    assert session.run("pytest tests 2>&1 | tail -40", "5 passed").fixes() == []


def test_two_failures_at_once_are_each_bound_to_their_own_success():
    session = Session().fail("pytest", "E   ModuleNotFoundError: No module named 'yaml'")
    session.fail("npm run build", "sh: 1: vite: not found")
    session.run("npm ci", "ok").run("npm run build", "ok")
    session.run("pip install pyyaml", "ok").run("pytest", "9 passed")
    lines = session.lines()
    assert len(lines) == 2
    assert lines[0].startswith("`npm run build`")
    assert lines[0].endswith("ran `npm ci`")
    assert lines[1].startswith("`pytest`")
    assert lines[1].endswith("fixed by: ran `pip install pyyaml`")


def test_one_step_may_solve_two_failures():
    session = Session().fail("pytest", "E   ModuleNotFoundError: No module named 'app'")
    session.fail("mypy src", "error: Cannot find module named 'app'").run("pip install -e .")
    session.run("mypy src", "ok").run("pytest", "ok")
    assert [line.rpartition("; ")[2] for line in session.lines()] == ["fixed by: ran `pip install -e .`"] * 2


def test_what_did_not_help_is_not_the_fix():
    error = "Error: listen EADDRINUSE: address already in use :::3000"
    session = Session().fail("npm start", error).run("rm -rf node_modules").fail("npm start", error)
    session.run("fuser -k 3000/tcp").run("npm start", "listening")
    [fix] = session.fixes()
    assert [step.what for step in fix.steps] == ["fuser -k 3000/tcp"]
    assert [step.what for step in fix.in_vain] == ["rm -rf node_modules"]
    assert fix.times == 2


def test_one_error_after_another_are_solved_each_by_its_own_step():
    session = (
        Session().fail("pytest", "E   ModuleNotFoundError: No module named 'yaml'").run("pip install pyyaml")
    )
    session.fail("pytest", "E   ModuleNotFoundError: No module named 'rich'").run("pip install rich")
    session.run("pytest", "ok")
    cures = {fix.failure.error: [step.what for step in fix.steps] for fix in session.fixes()}
    assert cures == {
        "ModuleNotFoundError: No module named 'yaml'": ["pip install pyyaml"],
        "ModuleNotFoundError: No module named 'rich'": ["pip install rich"],
    }


def test_what_an_agent_breaks_and_mends_while_it_writes_code_is_no_known_issue():
    session = (
        Session().edit("src/a.py").fail("pytest", "E   AssertionError: assert 1 == 2\nFAILED t.py::test_a")
    )
    assert session.edit("src/a.py").run("pytest", "ok").fixes() == []


def test_a_test_that_failed_before_anything_was_changed_is_one():
    session = Session().fail(
        "pytest", "E   AssertionError: assert 1 == 2\nFAILED tests/t.py::test_a - Assertion"
    )
    session.edit("/home/ada/project/src/a.py").run("pytest tests/t.py::test_a", "1 passed")
    [fix] = session.fixes()
    assert fix.failure.test == "tests/t.py::test_a"
    assert importance_of(fix) < 0.5


def test_an_edit_that_did_not_happen_is_no_step():
    session = Session().fail("pytest", "E   ValueError: no").edit("src/a.py", ok=False).run("pytest", "ok")
    assert session.fixes() == []


def test_another_command_that_works_is_not_the_one_that_failed():
    session = Session().fail("pytest tests/a.py", "E   ValueError: no").edit("src/a.py")
    assert session.run("pytest tests/b.py", "ok").fixes() == []
    assert Session().fail("npm run build", "Error: x").run("npm ci").run("npm run lint").fixes() == []


@pytest.mark.parametrize(
    ("command", "output", "failed"),
    [
        ("grep -rn TODO src", "", True),
        ("cat build.log", "Traceback (most recent call last):\nValueError: x", False),
        ("git diff --exit-code", "diff --git", True),
        ("ls /nowhere", "ls: cannot access '/nowhere': No such file or directory", True),
        ("rm -rf build", "The user doesn't want to proceed with this tool use.", True),
        ("pytest -q", "12 passed, 1 warning", False),
        ("python serve.py", "ERROR: retrying\nValueError: handled\nlistening", False),
    ],
)
def test_these_are_no_failures(command, output, failed):
    session = Session().run(command, output, ok=not failed).run("pip install x").run(command, "fine")
    assert session.fixes() == []


def test_a_pipe_does_not_hide_a_failure():
    output = "FAILED tests/test_a.py::test_b - ValueError: x\n=== 1 failed, 3 passed in 0.1s ==="
    session = Session().run("cd app && pytest 2>&1 | tail -5", output)
    session.run("pip install -e .").run("cd app && pytest 2>&1 | tail -5", "=== 4 passed in 0.1s ===")
    [fix] = session.fixes()
    assert fix.failure.error == "FAILED tests/test_a.py::test_b - ValueError: x"


def test_a_day_of_work_between_is_a_fix_only_where_somebody_says_what_it_was():
    def long(session: Session) -> Session:
        for number in range(10):
            session.edit(f"src/part{number}.py")
        return session

    error = "Error: Cannot find module './parts'"
    assert long(Session().fail("node app.js", error)).run("node app.js", "ok").fixes() == []
    session = long(Session().fail("node app.js", error)).say("It failed because the parts were not exported.")
    assert session.run("node app.js", "ok").fixes()[0].why == "It failed because the parts were not exported."


def test_a_failure_is_remembered_from_one_capture_to_the_next():
    session = Session().fail("cargo test", "error[E0433]: failed to resolve: use of undeclared crate `serde`")
    session.run("cargo add serde").run("cargo test", "ok")
    for cut in range(len(session.messages)):
        first = FailureTracker()
        found = first.feed(session.messages[:cut])
        state = json.loads(json.dumps(first.state()))
        found += FailureTracker(state).feed(session.messages[cut:])
        assert len(found) == 1, cut


def test_a_damaged_state_costs_no_more_than_itself():
    damaged: list[dict[str, Any]] = [
        {"open": 3},
        {"open": [[1]], "calls": {"a": 1}},
        {"calls": []},
        {"edited": "x", "open": None},
    ]
    for state in damaged:
        assert FailureTracker(state).feed(Session().fail("make", "make: *** [all] Error 1").messages) == []


def test_equal_failures_have_equal_signatures():
    one = understand_failure(
        "pytest tests/a.py", "E   OSError: [Errno 28] /tmp/pytest-of-ada/pytest-12/x0 at 0x7f3a12 after 1.23s"
    )
    other = understand_failure(
        "cd /home/bob && pytest tests/a.py -q",
        "E   OSError: [Errno 28] /tmp/pytest-of-bob/pytest-9/x1 at 0x7ffe after 9.1s",
    )
    assert one.signature == other.signature
    assert one.signature != understand_failure("pytest tests/a.py", "E   KeyError: 'x'").signature


def test_the_query_names_program_and_error_and_no_noise():
    query = query_for("Bash", "cd /srv/app && uv run pytest tests/test_api.py -x 2>&1 | tail -20", NO_MODULE)
    assert query.split() == ["pytest", "ModuleNotFoundError", "No", "module", "named", "httpx"]
    assert query_for("Bash", "make", "") == ""
    pull = query_for(
        "Bash", "make image", "ERROR: failed to solve: python:3.13-slim: connection reset by peer"
    )
    assert pull == "make image ERROR failed to solve python slim connection reset by peer"
    assert "WebFetch" in query_for("WebFetch", "", "Error: getaddrinfo ENOTFOUND example.org")


def test_backticks_in_a_command_do_not_end_the_line_early():
    [fix] = (
        Session().fail("./run `date`", "Error: bad ``value``").run("chmod +x run").run("./run `date`").fixes()
    )
    line = fix_line(fix)
    assert line.startswith("`` ./run `date` `` failed with ")
    assert line.endswith("fixed by: ran `chmod +x run`")


@pytest.mark.parametrize(
    ("text", "name", "plain"),
    [
        (
            "cd /x && FOO=1 timeout 60 .venv/bin/pytest -q 2>&1 | tail",
            "pytest",
            "FOO=1 timeout 60 .venv/bin/pytest -q",
        ),
        ("python3 -m pytest tests", "pytest", "python3 -m pytest tests"),
        ("npm run build -- --mode prod", "npm run build", "npm run build -- --mode prod"),
        ('git commit -m "a; b && c | d"', "git commit", 'git commit -m "a; b && c | d"'),
        ("cat <<'EOF' > a.py\nimport os; os.x()\nEOF\npython a.py", "python", "python a.py"),
        ("echo 'unbalanced", "echo", "echo 'unbalanced"),
        ("", "", ""),
        ("   ", "", ""),
    ],
)
def test_commands_are_understood_by_what_matters_in_them(text, name, plain):
    command = understand_command(text)
    assert (command.name, command.plain) == (name, plain)


def test_a_reason_is_a_sentence_that_gives_one():
    assert explanation("Let me look. The issue was a missing comma in the config. Done!") == (
        "The issue was a missing comma in the config."
    )
    assert explanation("All tests pass now.") == ""
    assert explanation("Is it because of the cache?") == ""


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["run", "edit", "say"]), st.text(max_size=60), st.text(max_size=80), st.booleans()
        )
    )
)
def test_whatever_is_run_and_printed_nothing_breaks(steps: Iterable[tuple[str, str, str, bool]]):
    session = Session()
    for kind, one, other, ok in steps:
        if kind == "run":
            session.run(one, other, ok=ok)
        elif kind == "edit":
            session.edit(one, ok=ok)
        else:
            session.say(one)
    for fix in session.fixes():
        assert "\n" not in fix_line(fix)


@given(st.text(max_size=200))
def test_a_normalised_line_is_one_line(line: str):
    assert "\n" not in normalised(line)
