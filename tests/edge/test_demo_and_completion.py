"""`hindbrain demo` and `hindbrain completion`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from command_runs import Cli

from hindbrain.edge.commands import NAMES
from hindbrain.edge.commands.demo import QUESTIONS
from hindbrain.edge.shell_scripts import SHELLS


def test_the_demo_answers_its_questions_and_leaves_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ran = cli.bare("demo")
    assert ran.code == 0
    assert all(question in ran.out for question, _, _ in QUESTIONS)
    assert "why:" in ran.out
    assert not list(tmp_path.glob("hindbrain-demo-*"))
    assert not (tmp_path / "state").exists()


def test_the_demo_ignores_the_settings(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_BASE_URL", "http://127.0.0.1:9")
    assert cli.bare("demo", "--json").data["as_expected"] == len(QUESTIONS)


def test_the_first_question_shares_no_word_with_its_answer(cli: Cli) -> None:
    hit = cli.bare("demo", "--json").data["answers"][0]["hits"][0]
    assert hit["terms"] == []


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
        subprocess.run([program, "-n"], input=script, text=True, check=True)


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="needs bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["sea"], ["search"]),
        (["search", "--keyw"], ["--keyword"]),
        (["--vault", "x", "doctor", "--f"], ["--fix"]),
        (["completion", "f"], ["fish"]),
    ],
)
def test_bash_completes(cli: Cli, words: list[str], found: list[str]) -> None:
    script = cli.bare("completion", "bash").out
    typed = " ".join(["hindbrain", *words])
    call = f'COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _hindbrain; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ran = subprocess.run(["bash", "-c", f"{script}\n{call}"], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == found
