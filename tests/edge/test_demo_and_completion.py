"""`hindbrain demo` and `hindbrain completion`."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.edge.choices import options_of, words_of
from hindbrain.edge.commands import NAMES
from hindbrain.edge.commands.demo import QUESTIONS
from hindbrain.edge.main import main
from hindbrain.edge.shell_scripts import SHELLS


def test_the_demo_answers_its_questions_and_leaves_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ran = cli.bare("demo")
    assert ran.code == 0
    assert all(question in ran.out for question, _, _ in QUESTIONS)
    assert "why:" in ran.out
    assert "Lessons.md" in ran.out and "do not" in ran.out  # what the agent learned, and where it stands
    assert not list(tmp_path.glob("hindbrain-demo-*"))
    assert not (tmp_path / "state").exists()


@pytest.fixture(scope="module")
def demo() -> Any:
    """What it says with settings that lead nowhere."""
    nowhere = {"PROVIDER": "openai", "BASE_URL": "http://127.0.0.1:9", "MODEL": "none"}
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(io.StringIO()) as shown:
        for part, (name, value) in itertools.product(("CHAT", "EMBEDDING"), nowhere.items()):
            patched.setenv(f"HINDBRAIN_{part}_{name}", value)
        assert main(("demo", "--json")) == 0
    return json.loads(shown.getvalue())


def test_the_demo_ignores_the_settings(demo: Any) -> None:
    assert demo["as_expected"] == len(QUESTIONS)
    assert demo["story"]["as_expected"] is True
    assert demo["story"]["lesson"] and demo["story"]["runs"][-1]["recalled"]


def test_the_first_question_shares_no_word_with_its_answer(demo: Any) -> None:
    assert demo["answers"][0]["hits"][0]["terms"] == []


def test_the_sample_can_be_kept(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "sample"
    assert cli.bare("demo", "--keep", str(target)).code == 0
    assert (target / "Home.md").exists()
    assert cli.bare("demo", "--keep", str(target), "--json").error == "usage"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_knows_every_command(cli: Cli, shell: str) -> None:
    script = cli.bare("completion", shell).out
    assert all(name in script for name in NAMES)
    assert "keyword" in script
    program = shutil.which(shell)
    if program:
        subprocess.run([program, "-n"], input=script, text=True, check=True, encoding="utf-8")


def test_every_choice_can_be_typed_without_quotes() -> None:
    values = [option.value for name in NAMES for option in options_of(name) if option.value]
    values += [word.value for name in NAMES for word in words_of(name)]
    choices = [choice for value in values for choice in value.choices]
    assert "claude-code" in choices and "openclaw" in choices
    assert [choice for choice in choices if not re.fullmatch(r"[\w.-]+", choice)] == []


# What is typed, the last word unfinished, and some of what is offered for it; "" when nothing is.
_TYPED = [
    ("sea", "search"),
    ("search --keyw", "--keyword"),
    ("doctor --f", "--fix"),
    ("completion f", "fish"),
    ("task ", "list add done start block cancel reopen"),
    ("task re", "reopen"),
    ("task add --priority ", "high medium low"),
    ("task list --status in", "in_progress"),
    ("task --status do", "done"),
    ("task add Rope --prio", "--priority"),
    ("note ap", "append"),
    ("inbox ", "list accept refuse edit"),
    ("inbox accept --y", "--yes"),
    ("mcp ", "serve install uninstall token"),
    ("mcp install cu", "cursor"),
    ("mcp install --tools core cu", "cursor"),
    ("mcp --tools ", "core vault openclaw all"),
    ("mcp serve cu", ""),
    ("init --layout o", "obsidian openclaw"),
    ("remember --category p", "preference pattern project"),
    ("remember --source w", "web"),
    ("remember --tag ", ""),
    ("daily y", "yesterday"),
    ("config search.pro", "search.profile"),
    ("config --unset search.pro", "search.profile"),
    ("search --para ar", "area archive"),
    ("links --br", "--broken"),
    ("run --check x --no-w", "--no-wait"),  # the same option takes a value here and none there
    ("lint --check --js", "--json"),
    ("runs resume --un", "--unattended"),
    ("approve --d", "--deny --debug"),
]


def _typed(*more: tuple[str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("typed", "offered"), [*_TYPED, *more])


def _bash_offers(script: str, words: list[str], folder: Path) -> list[str]:
    quoted = " ".join(f"'{word}'" for word in ["hindbrain", *words])
    call = f'COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _hindbrain; printf "%s\\n" "${{COMPREPLY[@]}}"'
    command = ["bash", "-c", f"{script}\n{call}"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, encoding="utf-8")
    assert ran.stderr == ""
    return [line for line in ran.stdout.splitlines() if line]


_needs_bash = pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")


@_needs_bash
@_typed(
    ("--vault x doctor --f", "--fix"),
    ("--vault x task ad", "add"),
    ("--json task --project task sta", "start"),
    ("runs --limit 5 res", "resume"),
    ("task add --priority = h", "high"),  # bash takes --priority=h apart
    ("task add --priority =", "high medium low"),
    ("task --priority = high ad", "add"),
)
def test_bash_completes(cli: Cli, tmp_path: Path, typed: str, offered: str) -> None:
    script = cli.bare("completion", "bash").out
    assert _bash_offers(script, typed.split(" "), tmp_path) == offered.split()


@_needs_bash
@pytest.mark.parametrize("typed", ["--vault my", "init my", "init --layout my", "demo --keep my"])
def test_bash_completes_folders_whose_name_has_a_space(cli: Cli, tmp_path: Path, typed: str) -> None:
    (tmp_path / "my notes").mkdir()
    assert _bash_offers(cli.bare("completion", "bash").out, typed.split(), tmp_path) == ["my notes"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@_typed(
    ("--vault x doctor --f", "--fix"),
    ("--vault x task ad", "add"),
    ("task add --priority=h", "--priority=high"),
)
def test_fish_completes(cli: Cli, tmp_path: Path, typed: str, offered: str) -> None:
    script = tmp_path / "hindbrain.fish"
    script.write_text(cli.bare("completion", "fish").out, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    command = ["fish", "--no-config", "-c", f"source {script}; complete -C 'hindbrain {typed}'"]
    ran = subprocess.run(
        command, cwd=tmp_path / "empty", capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert ran.stderr == ""
    assert {line.partition("\t")[0] for line in ran.stdout.splitlines()} == set(offered.split())


# A terminal of its own, in which TAB writes down what is offered and then ends the shell.
_ZSH_INSIDE = """\
autoload -Uz compinit
compinit -D -u
source hindbrain.zsh
compadd() {
    local -a found
    [[ " $* " == *" -"[OAD]" "* ]] || { builtin compadd -A found "$@"; print -rl -- $found >> offered }
    builtin compadd "$@"
}
offer() { zle complete-here; exit }
zle -C complete-here complete-word _main_complete
zle -N offer
bindkey '^I' offer
"""
_ZSH_OUTSIDE = """\
zmodload zsh/zpty
zpty inside zsh -f -i
zpty -w inside 'source ./inside.zsh'
zpty -w -n inside "hindbrain $1"$'\\t'
while zpty -r inside line; do :; done
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@_typed(("task add --priority=h", "high"))
def test_zsh_completes(cli: Cli, tmp_path: Path, typed: str, offered: str) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "hindbrain.zsh").write_text(cli.bare("completion", "zsh").out, encoding="utf-8")
    (folder / "inside.zsh").write_text(_ZSH_INSIDE, encoding="utf-8")
    command = ["zsh", "-f", "-c", _ZSH_OUTSIDE, "zsh", typed]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60)
    found = (folder / "offered").read_text(encoding="utf-8").split() if (folder / "offered").exists() else []
    own = {
        "hindbrain.zsh",
        "inside.zsh",
        "offered",
    }  # of this test; zsh offers files where it knows no better
    assert {word for word in found if word not in own} == set(offered.split())
