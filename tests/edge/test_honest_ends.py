"""How a run ended, told honestly: what nothing proves is unknown, with a score, and teaches nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_scripts import Stage

from command_runs import Cli
from hindbrain.models.chat_fake import calls
from workbench import Vault

MARK = "\nTASK_COMPLETE"


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(monkeypatch)
    made.nobody()
    return made


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def _run(cli: Cli, command: str, *options: str) -> dict[str, Any]:
    """What the command printed, with the outcome that was recorded."""
    data = cli("run", command, "--no-memory", "--json", *options).data
    episode = next(run for run in cli("runs", "list", "--json").data["runs"] if run["id"] == data["run"])
    return {**data, "outcome": episode["outcome"], "recorded": episode["score"]}


# The mark, the calls, the answer


def test_a_run_that_says_it_is_done_and_did_what_it_says_is_a_success_with_a_score(
    cli: Cli, indexed: Vault, work: Path, stage: Stage
) -> None:
    stage.script(calls("write_file", path="tea.txt", content="green"), f"Green tea is in tea.txt.{MARK}")
    ran = _run(cli, "write green to tea.txt")
    assert (ran["end"], ran["proven"], ran["reason"]) == ("complete", True, "")
    assert (ran["outcome"], ran["score"], ran["recorded"]) == ("success", 100, 100)


def test_a_run_without_the_completion_mark_is_unknown(
    cli: Cli, indexed: Vault, work: Path, stage: Stage
) -> None:
    stage.script("The cheapest flight is LH 123 for 240 EUR.")
    ran = _run(cli, "find the cheapest flight")
    assert (ran["end"], ran["proven"], ran["outcome"]) == ("complete", False, "unknown")
    assert ran["score"] == ran["recorded"] == 50
    assert "mark" in ran["reason"]


def test_a_check_that_holds_needs_no_mark(cli: Cli, indexed: Vault, work: Path, stage: Stage) -> None:
    stage.script(calls("write_file", path="tea.txt", content="green"), "It is there.")
    ran = _run(cli, "write green to tea.txt", "--check", "file: tea.txt")
    assert (ran["proven"], ran["outcome"], ran["score"]) == (True, "success", 100)


def test_the_person_is_told_that_nothing_proves_it(
    cli: Cli, indexed: Vault, work: Path, stage: Stage
) -> None:
    stage.script("The printer hums.")
    ran = cli("run", "print the invoice", "--no-memory")
    assert (ran.code, ran.out) == (0, "The printer hums.\n")
    assert "not proven" in ran.err and "score 50" in ran.err


def test_the_task_log_has_the_score(cli: Cli, indexed: Vault, work: Path, stage: Stage) -> None:
    stage.script(f"It is noon.{MARK}", "It is late.")
    _run(cli, "what time is it?")
    _run(cli, "what day is it?")
    log = "".join(path.read_text(encoding="utf-8") for path in indexed.root.rglob("Task Log.md"))
    assert "**Outcome:** Success (score: 100)" in log
    assert "**Outcome:** Unknown (score: 50)" in log


def test_a_last_call_that_failed_is_no_success_and_an_overcome_failure_costs_little(
    cli: Cli, indexed: Vault, work: Path, stage: Stage
) -> None:
    missing = calls("read_file", path="nowhere.txt")
    stage.script(missing, f"All is read.{MARK}")
    assert _run(cli, "read nowhere.txt")["outcome"] == "unknown"
    stage.script(missing, f"I could not read nowhere.txt.{MARK}")
    failed = _run(cli, "read nowhere.txt")
    assert (failed["outcome"], failed["end"]) == ("failed", "fail")
    (work / "there.txt").write_text("green", encoding="utf-8")
    stage.script(missing, calls("read_file", path="there.txt"), f"It says green.{MARK}")
    mended = _run(cli, "which tea?")
    assert mended["outcome"] == "success" and 80 <= mended["score"] < 100


@pytest.mark.parametrize(
    "answer",
    [
        "I could not print the invoice: there is no printer.",
        "I looked for a printer. Unfortunately I couldn't print the invoice.",
        "I printed one page but could not print the others.",
        "I’m unable to print it.",
        "I couldn't find any printer.",
        "Printing failed to start.",
        "Ich konnte die Rechnung nicht drucken.",
        "Das ist mir leider nicht gelungen.",
        "Je n'ai pas pu imprimer la facture.",
        "Impossible d'ouvrir le fichier.",
        "No pude imprimir la factura.",
        "Non sono riuscito a stampare la fattura.",
        "Não foi possível imprimir a fatura.",
        "Ik kon de factuur niet afdrukken.",
        "Nie udało się wydrukować faktury.",
        "Не удалось распечатать счёт.",
        "Jag kunde inte skriva ut fakturan.",
        "Faturayı yazdıramadım.",
        "无法打印发票。",
        "請求書を印刷できませんでした。",
        "송장을 인쇄하지 못했습니다.",
        "Which printer do you mean?",
        "Please tell me which printer to use.",
    ],
)
def test_giving_up_and_asking_back_are_no_success_in_any_language(
    cli: Cli, indexed: Vault, work: Path, stage: Stage, answer: str
) -> None:
    stage.script(answer + MARK)
    ran = _run(cli, "print the invoice")
    assert (ran["outcome"], ran["proven"], ran["score"]) == ("unknown", False, 50)


@pytest.mark.parametrize(
    "answer",
    [
        "I fixed the test that could not find its file.",
        "Fixed: the importer could not read its file.",
        "I replaced the cable because the printer could not be reached.",
        "I can't find any mistake in it.",
        'The message "could not connect" is gone.',
        "You can't use tabs in YAML; use two spaces.",
        "The table is written. I could not check the prices of 2019.",
        "Ich habe den Test repariert, der seine Datei nicht finden konnte.",
        "J'ai corrigé le test qui ne pouvait pas trouver son fichier.",
        "Arreglé la prueba que no pudo encontrar su archivo.",
        "Исправил тест, которому не удалось найти файл.",
        "修复了无法找到文件的测试。",
        "Done. Shall I do anything else?",
        "It meets on Tuesday. Is that what you wanted to know?",
    ],
)
def test_what_something_else_could_not_do_is_no_giving_up(
    cli: Cli, indexed: Vault, work: Path, stage: Stage, answer: str
) -> None:
    stage.script(answer + MARK)
    assert _run(cli, "repair the suite")["outcome"] == "success"


# The files


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("make a report", "I wrote the report to out/report.md."),
        ("make a report", "The report was saved as `out/report.md`."),
        ("make a report", "Der Bericht wurde in out/report.md gespeichert."),
        ("write a report to report.md", "It is done."),
    ],
)
def test_a_file_that_is_said_to_be_made_must_be_there(
    cli: Cli, indexed: Vault, work: Path, stage: Stage, command: str, answer: str
) -> None:
    stage.script(answer + MARK, answer + MARK)
    ran = _run(cli, command)
    assert (ran["outcome"], ran["proven"]) == ("unknown", False)
    assert "report.md" in ran["reason"] and ran["score"] < 80
    for folder in (work, work / "out"):
        folder.mkdir(exist_ok=True)
        (folder / "report.md").write_text("all is well", encoding="utf-8")
    assert _run(cli, command)["outcome"] == "success"


def test_a_note_of_the_vault_is_found_by_the_name_the_tool_was_given(
    cli: Cli, indexed: Vault, work: Path, stage: Stage
) -> None:
    stage.script(
        calls("vault_write", path="Areas/Garden/Peas.md", content="# Peas\n"), f"I created `Peas.md`.{MARK}"
    )
    ran = _run(cli, "note that peas are sown in March", "--allow", "vault_write")
    assert (ran["outcome"], ran["score"]) == ("success", 100)


@pytest.mark.parametrize(
    "answer",
    [
        "I updated the Node.js version and changed `config.debug` to true.",  # no files of the run
        "I created an account at https://example.com/new/index.html for you.",
        "I deleted out/old.txt and made room.",
        "I wrote no file to out/report.md, as you asked.",
        "The log was written to /var/log/other/system.log.",  # outside: not looked at
        "I saved it to ../elsewhere/report.md.",
    ],
)
def test_names_that_are_no_files_of_the_run_are_not_looked_for(
    cli: Cli, indexed: Vault, work: Path, stage: Stage, answer: str
) -> None:
    stage.script(answer + MARK)
    assert _run(cli, "tidy up")["score"] == 100


# Logs of others


def _imported(cli: Cli, tmp_path: Path, *messages: dict[str, Any]) -> list[str]:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(message) + "\n" for message in messages), encoding="utf-8")
    assert cli("runs", "import", str(log), "--format", "openai", "--json").code == 0
    return [run["outcome"] for run in reversed(cli("runs", "list", "--json").data["runs"])]


def _says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _asks(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_an_imported_run_without_any_mark_is_unknown(cli: Cli, indexed: Vault, tmp_path: Path) -> None:
    assert _imported(cli, tmp_path, _asks("Print the invoice"), _says("It is printed.")) == ["unknown"]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("The invoice is printed.", "success"),
        ("Sorry, I could not print the invoice.", "unknown"),
        ("Leider konnte ich die Rechnung nicht drucken.", "unknown"),
        ("I fixed the driver that could not find its printer.", "success"),
    ],
)
def test_thanks_after_giving_up_is_no_success(
    cli: Cli, indexed: Vault, tmp_path: Path, answer: str, outcome: str
) -> None:
    thanked = _imported(cli, tmp_path, _asks("Print the invoice"), _says(answer), _asks("thanks!"))
    assert thanked == [outcome]


@pytest.mark.parametrize(
    "answer", ["Je n'ai pas pu imprimer la facture.", "No pude imprimir la factura.", "无法打印发票。"]
)
def test_an_imported_run_that_gives_up_after_a_failed_call_has_failed(
    cli: Cli, indexed: Vault, tmp_path: Path, answer: str
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "print", "arguments": "{}"}}
    asked = {"role": "assistant", "content": "", "tool_calls": [call]}
    failed = {"role": "tool", "tool_call_id": "c1", "content": "Error: no printer"}
    assert _imported(cli, tmp_path, _asks("Print the invoice"), asked, failed, _says(answer)) == ["failed"]


# What is unknown teaches nothing

_PLAYED = ("jazz", "blues", "salsa", "tango", "polka", "waltz")


def _journal(end: str) -> str:
    """Six runs of one kind, each with a call that failed, a rejection and calls that worked."""
    lines: list[dict[str, Any]] = []
    for number, style in enumerate(_PLAYED):
        run, at = f"r-20260101-00000{number}-abcd", 1_767_225_600 + 600 * number
        app = "Firefox" if number == 0 else "Spotify"
        lines += [
            {"type": "run.created", "command": f"play some {style} music"},
            {"type": "tool.executed", "name": "open_application", "arguments": {"name": app}, "app": app},
            {"type": "tool.executed", "name": "click", "arguments": {"target": "menu"}, "ok": False,
             "said": "no such menu", "app": app},
            {"type": "verification.rejected", "reason": "nothing is heard", "score": 40},
            {"type": "tool.executed", "name": "press_key", "arguments": {"key": "space"}, "app": app},
            {"type": f"run.{end}", "score": 90, "answer": f"Some {style} is on."},
        ]  # fmt: skip
        for place, line in enumerate(lines[-6:]):
            line.update(v=1, run=run, at=at + place)
    return "".join(json.dumps(line) + "\n" for line in lines)


def _learned(cli: Cli, tmp_path: Path, end: str) -> dict[str, int]:
    log = tmp_path / "journal.jsonl"
    log.write_text(_journal(end), encoding="utf-8")
    assert cli("runs", "import", str(log), "--format", "journal", "--json").data["runs"] == 6
    learned = cli("learn", "--json").data
    counted = {name: learned["recorded"][name] for name in ("issues", "preferences", "apps", "corrections")}
    return {
        **counted,
        "lessons": len(learned["lessons"]["added"]),
        "templates": len(learned["templates"]["added"]),
    }


def test_what_is_unknown_teaches_nothing(cli: Cli, indexed: Vault, tmp_path: Path) -> None:
    assert set(_learned(cli, tmp_path, "unknown").values()) == {0}


def test_the_same_runs_teach_when_their_end_is_known(cli: Cli, indexed: Vault, tmp_path: Path) -> None:
    learned = _learned(cli, tmp_path, "complete")
    taught = [name for name, count in learned.items() if count]
    assert {"issues", "apps", "templates"} <= set(taught)
