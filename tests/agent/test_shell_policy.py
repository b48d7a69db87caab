"""Which commands run without a person: what the owner's rules say, and nothing that merely looks like it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.shell_bench import ALLOW, SHELL, TAINTED, ShellBench
from tests.agent.shell_bypasses import ATTEMPTS, BENIGN, FAMILIES
from tests.agent.wildcard_bypasses import ATTEMPTS as UNCOVERED
from tests.agent.wildcard_bypasses import EVERYDAY, generous_rules

from hindbrain.agent.policy_file import parse_policy
from hindbrain.agent.safety.argv import find_program, search_folders, shown_words, split_command
from hindbrain.agent.safety.command import shell_place
from hindbrain.agent.safety.programs import is_runner
from hindbrain.agent.safety.shell_policy import rule_problem
from hindbrain.agent.tools.shell import Shell
from hindbrain.base.errors import ConfigError, UsageError

_TEETH = ("curl", "touch", "id", "own-link", "rm", "tee", "hindbrain")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> ShellBench:
    """Everything that an attempt names is installed: none fails because a program happens to be missing."""
    folder = tmp_path_factory.mktemp("shell")
    bench = ShellBench(folder)
    named = [attempt[0] for _, attempt in ATTEMPTS if isinstance(attempt, list)]
    named += [rule[0] for rule in ALLOW]
    names = {name for name in named if name.strip(" \n") and "/" not in name}
    bench.install(*names, *_TEETH)
    (bench.bin / "own-link").unlink()
    (bench.bin / "own-link").symlink_to(bench.put(bench.workspace / "git"))
    bench.put(bench.workspace / "src" / "git")
    bench.put(bench.workspace / "ls")
    (folder / "secret").write_text("s", encoding="utf-8")
    (bench.workspace / "leads-out").symlink_to(folder)
    return bench


@pytest.mark.promise("P26")
def test_no_bypass_is_run_without_a_person(bench: ShellBench) -> None:
    assert len(ATTEMPTS) >= 200
    allowed = [(family, attempt) for family, attempt in ATTEMPTS if bench.outcome(attempt) == "allow"]
    assert allowed == []


@pytest.mark.promise("P26")
def test_the_bypasses_have_teeth(bench: ShellBench) -> None:
    """Most would pass a policy that looks for the words of a rule in the line."""

    def naive(attempt: str | list[str]) -> bool:
        line = attempt if isinstance(attempt, str) else " ".join(attempt)
        allowed = [" ".join(word for word in rule if "*" not in word) for rule in ALLOW]
        return any(begin in line for begin in allowed)

    assert sum(naive(attempt) for _, attempt in ATTEMPTS) >= 200


@pytest.mark.promise("P26")
def test_what_the_rules_allow_runs_without_a_person(bench: ShellBench) -> None:
    assert len(BENIGN) >= 40
    assert [attempt for attempt in BENIGN if bench.outcome(attempt) != "allow"] == []


@pytest.fixture(scope="module")
def generous(tmp_path_factory: pytest.TempPathFactory) -> ShellBench:
    """An owner who allows every program of the table with any options."""
    folder = tmp_path_factory.mktemp("generous")
    bench = ShellBench(folder, {"allow": generous_rules()})
    bench.install(*{argv[0] for argv in [*UNCOVERED, *EVERYDAY]})
    (bench.workspace / "other").mkdir()
    (folder / "secret").write_text("s", encoding="utf-8")
    (bench.workspace / "leads-out").symlink_to(folder)
    return bench


@pytest.mark.promise("P26")
def test_a_wildcard_stands_for_nothing_that_is_not_known_to_be_harmless(generous: ShellBench) -> None:
    assert len(UNCOVERED) >= 250
    assert [argv for argv in UNCOVERED if generous.outcome(argv) == "allow"] == []


@pytest.mark.promise("P26")
def test_everyday_commands_need_no_question_under_generous_rules(generous: ShellBench) -> None:
    assert len(EVERYDAY) >= 60
    assert [argv for argv in EVERYDAY if generous.outcome(argv) != "allow"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="programs and links of POSIX")
@pytest.mark.promise("P26")
def test_what_needs_no_question_shows_nothing_that_lies_behind_a_link(tmp_path: Path) -> None:
    """With the real programs, as far as they are installed."""
    bench = ShellBench(tmp_path, {"allow": generous_rules()})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("hunter2\n", encoding="utf-8")
    for name, target in (("folder", "outside"), ("file", "outside/secret"), ("src/file", "outside/secret")):
        (bench.workspace / name).symlink_to(tmp_path / target)
    walks = ["grep -r .", "grep -rn hunter2 .", "grep -rn hunter2 src", "rg hunter2", "rg --hidden hunter2 ."]
    walks += ["find . -type f", "fd secret", "ls -laR", "tree -a", "du -a .", "git grep hunter2"]
    shell = Shell(shell_place(bench.workspace, os.environ["PATH"]), os.environ)
    ran = 0
    for argv in [*map(str.split, walks), *EVERYDAY]:
        if bench.outcome(argv) == "allow":
            ran += 1
            output = shell.run(argv, timeout_s=10).output
            assert "hunter2" not in output.replace(" ".join(argv), "") and "folder/secret" not in output, argv
    assert ran > 60


def test_an_unknown_program_is_named_word_by_word_and_only_for_the_workspace_itself(tmp_path: Path) -> None:
    bench = ShellBench(tmp_path, {"allow": [["coverage", "report"], ["git", "pull"], ["coverage", "--**"]]})
    bench.install("coverage", "git")
    for argv in (["coverage", "report"], ["git", "pull"]):
        assert (bench.outcome(argv), bench.outcome(argv, cwd="src")) == ("allow", "ask")
    assert bench.outcome(["coverage", "html"]) == "ask"


def test_an_option_that_the_owner_names_does_not_turn_a_wildcard_into_more(tmp_path: Path) -> None:
    """`sort -o *` would let the agent choose the file that is overwritten."""
    rules = [["sort", "-o", "**"], ["find", ".", "-exec", "**"], ["git", "log", "--output", "*"]]
    bench = ShellBench(tmp_path, {"allow": rules})
    bench.install("sort", "find", "git")
    for argv in (
        ["sort", "-o", "x", "y"],
        ["find", ".", "-exec", "id", "x"],
        ["git", "log", "--output", "x"],
    ):
        assert bench.outcome(argv) == "ask", argv


def test_the_person_is_told_which_rule_was_near(generous: ShellBench) -> None:
    assert "grep" in generous.judge(argv=["grep", "-R", "x", "."]).why


def test_an_empty_policy_asks_about_everything(bench: ShellBench) -> None:
    empty = ShellBench(bench.bin.parent, {"allow": []})
    assert {empty.outcome(attempt) for attempt in BENIGN} == {"ask"}


def test_our_own_deciding_commands_are_refused_even_when_a_rule_allows_them(bench: ShellBench) -> None:
    ours = [attempt for attempt in FAMILIES["our own program"] if isinstance(attempt, list)]
    rules = ShellBench(bench.bin.parent, {"allow": ours})
    assert {rules.outcome(attempt) for attempt in ours} == {"deny"}


def test_reading_with_our_own_program_is_a_matter_of_the_rules(bench: ShellBench) -> None:
    rules = ShellBench(bench.bin.parent, {"allow": [["hindbrain", "search", "config run"]]})
    assert rules.outcome(["hindbrain", "search", "config run"]) == "allow"
    assert rules.outcome(["hindbrain", "status"]) == "ask"


@pytest.mark.parametrize(
    "argv",
    [
        ["rm", "x"], ["rm", "-rf", "/"], ["/bin/rm", "x"], ["RM", "x"], ["rm.exe", "x"], ["sudo", "rm", "x"],
        ["env", "A=1", "rm", "-r", "x"], ["sh", "-c", "ls; rm x"], ["bash", "-c", "cd / && (rm x)"],
        ["xargs", "rm"], ["find", ".", "-exec", "rm", "{}", ";"], ["timeout", "5", "rm", "x"],
        ["sudo", "sh", "-c", "rm x"], ["git", "push", "origin"], ["busybox", "rm", "x"],
        ["sudo", "-u", "me", "git", "push"],
    ],
)  # fmt: skip
def test_a_denying_rule_holds_for_every_way_to_say_it(bench: ShellBench, argv: list[str]) -> None:
    bench.install("RM", "rm.exe")
    assert bench.outcome(argv) == "deny"


def test_a_denying_rule_follows_a_link_to_its_program(bench: ShellBench) -> None:
    (bench.workspace / "tidy").unlink(missing_ok=True)
    (bench.workspace / "tidy").symlink_to(bench.bin / "rm")
    assert bench.outcome(["./tidy", "x"]) == "deny"


def test_denying_goes_before_allowing(bench: ShellBench) -> None:
    both = ShellBench(bench.bin.parent, {"allow": [["ls", "**"]], "deny": [["ls", "src", "**"]]})
    assert both.outcome(["ls", "README.md"]) == "allow"
    assert both.outcome(["ls", "src"]) == "deny"


def test_a_rule_for_a_runner_holds_in_the_workspace_itself_only(bench: ShellBench) -> None:
    assert bench.outcome(["make", "test"]) == "allow"
    assert bench.outcome(["make", "test"], cwd="src") == "ask"
    assert bench.outcome(["git", "status"], cwd="src") == "allow"


def test_a_folder_outside_the_workspace_is_refused(bench: ShellBench) -> None:
    for cwd in ("..", "/", "leads-out", "src/../.."):
        assert bench.outcome(["git", "status"], cwd=cwd) == "unsafe_path"


def test_a_program_by_its_whole_path_is_the_one_on_path(bench: ShellBench) -> None:
    assert bench.outcome([str(bench.bin / "git"), "status"]) == "allow"
    assert bench.outcome([str(bench.workspace / "git"), "status"]) == "ask"
    elsewhere = bench.put(bench.bin.parent / "elsewhere" / "git")
    assert bench.outcome([str(elsewhere), "status"]) == "ask"


def test_programs_are_not_looked_for_where_the_agent_or_everybody_can_write(tmp_path: Path) -> None:
    work, safe, loose = tmp_path / "work", tmp_path / "safe", tmp_path / "loose"
    for folder in (work / "bin", safe, loose):
        folder.mkdir(parents=True)
    loose.chmod(0o777)
    path = ":".join((str(work / "bin"), ".", "", "bin", str(loose), str(tmp_path / "gone"), str(safe)))
    assert search_folders(path, work) == (str(safe),)


def test_the_first_folder_on_path_has_the_program(tmp_path: Path) -> None:
    bench = ShellBench(tmp_path)
    bench.install("git")
    second = bench.put(tmp_path / "second" / "git")
    assert find_program("git", [str(bench.bin), str(second.parent)], "/") == str(bench.bin / "git")
    assert find_program("git", [str(second.parent), str(bench.bin)], "/") == str(second)
    assert find_program("no-such-program", [str(bench.bin)], "/") == ""


@pytest.mark.parametrize(
    "rule",
    [
        [], [""], ["*"], ["**"], ["git", "**", "x"], ["git", "--**", "x"], ["python", "**"],
        ["python3.12", "*"], ["sh", "-c", "*"], ["env", "**"], ["git", "**"], ["git", "-c", "**"],
        ["git", "submodule", "**"], ["make", "**"], ["./tool", "x"], ["bin/tool"],
        ["x86_64-linux-gnu-gcc", "**"], ["sudo", "ls", "**"], ["npm", "--**"], ["sed", "**"],
    ],
)  # fmt: skip
def test_a_rule_that_would_allow_too_much_is_refused_when_it_is_read(rule: list[str]) -> None:
    with pytest.raises(ConfigError):
        parse_policy({"shell": {"allow": [rule]}})


def test_a_denying_rule_may_name_any_program() -> None:
    assert rule_problem(["python", "**"], allows=False) == ""
    assert parse_policy({"shell": {"deny": [["git", "**"]]}}).shell.deny == (("git", "**"),)


def test_a_rule_with_a_runner_in_it_that_names_every_word_is_taken() -> None:
    parse_policy({"shell": {"allow": [["sh", "-c", "make && make test"], ["env", "A=1", "make"]]}})


def test_versions_and_endings_do_not_hide_a_runner() -> None:
    for name in (
        "python3",
        "python3.12",
        "/usr/bin/Python",
        "bash.exe",
        "lua5.4",
        "clang-17",
        "x.sh",
        "x.BAT",
    ):
        assert is_runner(name), name
    for name in ("ls", "git", "head", "sha256sum", "md5sum"):
        assert not is_runner(name), name


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5))
def test_a_text_is_either_split_as_a_shell_would_or_refused(words: list[str]) -> None:
    for text in (" ".join(words), shlex.join(words)):
        try:
            found = split_command(text)
        except UsageError:
            continue
        assert list(found) == shlex.split(text)


@given(st.text(alphabet="ab '\"\\$`;|&<>(){}[]*?!~#\n=", min_size=1, max_size=20))
def test_no_text_with_shell_syntax_is_split(text: str) -> None:
    try:
        found = split_command(text)
    except UsageError:
        return
    outside = "".join(part for at, part in enumerate(text.replace('"', "'").split("'")) if at % 2 == 0)
    assert not set(outside) & set("\\$`;|&<>(){}[]*?!#\n")
    assert "".join(found)


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_what_a_person_is_shown_hides_nothing(words: list[str]) -> None:
    shown = shown_words(words)
    assert shown.isprintable()
    assert shown_words([*words, "x"]) != shown


def test_two_commands_are_never_shown_alike() -> None:
    pairs = [
        (["a b"], ["a", "b"]),
        (["a\u202e"], ["a"]),
        (["a\nb"], ["a", "b"]),
        (["a", ""], ["a"]),
        (["$'a'"], ["a"]),
    ]
    for one, other in pairs:
        assert shown_words(one) != shown_words(other)


def test_the_person_is_told_of_letters_that_look_like_others(bench: ShellBench) -> None:
    tool, settled = bench.checked(argv=["git", "st\u0430tus"])
    assert "CYRILLIC SMALL LETTER A" in tool.shown(settled)
    assert bench.gate.judge(tool, settled, command="", taint=TAINTED).decision == "ask"
    assert tool.name == SHELL
