"""What a run found can be asked for in another session, whichever host it ran in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

# `benchmarks` is no part of the installed package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import run_answers

from hindbrain.edge.main import main
from hindbrain.vault.layout import LAYOUTS, load_layout
from workbench import Vault

FLIGHT = "Sure! The cheapest flight is **LH 123** at 9:40 for 240 EUR.\n\nLet me know if I should book it."
ROOF = "Dachbau Meier is the cheapest with 18,400 EUR; Krause asks for 23,050."


def log_of(*turns: tuple[str, str, str]) -> str:
    """A log of an OpenAI client: what was asked, the tool that was called, and the answer."""
    messages: list[dict[str, object]] = []
    for at, (asked, tool, answer) in enumerate(turns):
        call = {"id": str(at), "function": {"name": tool, "arguments": '{"query": "offers"}'}}
        messages += [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": str(at), "content": "found"},
            {"role": "assistant", "content": answer},
        ]
    return json.dumps({"messages": messages}) + "\n"


@pytest.fixture(params=LAYOUTS)
def worked(
    request: pytest.FixtureRequest, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Vault:
    """A vault whose agent has found a flight and compared quotes, in each layout."""
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "builtin")
    log = tmp_path / "log.jsonl"
    log.write_text(
        log_of(
            ("find the cheapest flight from Berlin to Rome on May 3", "web_search", FLIGHT),
            ("compare the three quotes for the new roof", "read_mail", ROOF),
            ("thank you, that is all I need", "wait", "You're welcome!"),
        ),
        encoding="utf-8",
    )
    run = ["--vault", str(vault.root)]
    assert main(["init", str(vault.root), "--layout", str(request.param)]) == 0
    assert main(["runs", "import", str(log), *run]) == 0
    assert main(["learn", *run]) == 0
    return vault


def asked(vault: Vault, prompt: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    main(["context", prompt, "--vault", str(vault.root)])
    return capsys.readouterr().out


def test_a_question_gets_what_the_run_found(worked: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    flight = asked(worked, "which flight did you find?", capsys)
    assert "LH 123" in flight and "Meier" not in flight
    roof = asked(worked, "who made the best offer for the roof?", capsys)
    assert "18,400 EUR" in roof and "LH 123" not in roof


def test_recall_tells_a_run_once(worked: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["recall", "which flight did you find?", "--vault", str(worked.root)]) == 0
    told = capsys.readouterr().out
    assert told.count("LH 123") == 1 and "earlier runs" in told
    assert main(["recall", "which flight did you find?", "--vault", str(worked.root), "--json"]) == 0
    (run, *_) = json.loads(capsys.readouterr().out)["runs"]
    assert run["command"].startswith("find the cheapest flight") and "240 EUR" in run["answer"]


def test_a_task_log_that_can_not_be_read_is_named(
    worked: Vault, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = worked.root / load_layout(worked.root).path("task_log")
    log.replace(tmp_path / "elsewhere.md")
    log.symlink_to(tmp_path / "elsewhere.md")  # out of the vault, where nothing is read
    capsys.readouterr()
    assert main(["recall", "which flight did you find?", "--vault", str(worked.root), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"] == [] and any(log.name in notice for notice in found["notices"])


@pytest.mark.promise("P36")
def test_answers_are_found_by_a_paraphrase(tmp_path: Path) -> None:
    """All pairs of `benchmarks.run_answers`."""
    pairs = run_answers.read_pairs()
    with run_answers.worked(tmp_path, pairs, encodes=False) as app:
        found = [
            any(run.answer == pair.answer for run in app.memory.recall(pair.question).runs) for pair in pairs
        ]
    assert len(found) == 100 and sum(found) >= 80


@pytest.mark.parametrize("prompt", ["refactor this function", "sounds good", "write a haiku about autumn"])
def test_other_prompts_do_not_get_it(worked: Vault, prompt: str, capsys: pytest.CaptureFixture[str]) -> None:
    got = asked(worked, prompt, capsys)
    assert "LH 123" not in got and "Meier" not in got


def test_notes_tell_it_in_one_line_each(worked: Vault) -> None:
    told = [
        line
        for path in worked.root.rglob("*.md")
        for line in path.read_text("utf-8").splitlines()
        if "LH 123" in line
    ]
    assert any(line.startswith("- **Result:** The cheapest flight is LH 123 at 9:40") for line in told)
    assert any(" — The cheapest flight is LH 123" in line and line.startswith("- [") for line in told)
    assert not any("Let me know" in line or "Sure!" in line for line in told)


def test_a_secret_in_an_answer_is_not_kept(vault: Vault, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    key = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
    answer = f"The key is {key}, set in May."
    log.write_text(log_of(("look up the key of the map service", "read_file", answer)), encoding="utf-8")
    run = ["--vault", str(vault.root)]
    assert main(["runs", "import", str(log), *run]) == 0
    assert main(["learn", *run]) == 0
    kept = [
        path for path in vault.root.rglob("*") if path.is_file() and key in path.read_text("utf-8", "replace")
    ]
    assert kept == []
