"""A command asks the daemon where one runs, and gets what it would have found itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from daemon_runs import InProcess, wait_until

from encoder_models import write_model
from hindbrain.edge.daemon import client
from hindbrain.edge.main import main
from workbench import Vault


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the daemon has answered; None where it did not."""
    answers: list[Any] = []
    really = client.ask

    def ask(*args: Any, **kwargs: Any) -> Any:
        answers.append(really(*args, **{**kwargs, "timeout_s": 30.0}))
        return answers[-1]

    monkeypatch.setattr(client, "ask", ask)
    return answers


@pytest.fixture
def running(in_process: InProcess, notes: Vault) -> InProcess:
    in_process.start()
    wait_until(lambda: in_process.ask("search", notes.root, {"query": "tea"})["ok"])
    served = in_process.daemon.vaults.served()[0]
    wait_until(lambda: served.serving.keeper.pending_changes() is not None)
    return in_process


def searched(vault: Vault, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    main(["search", "--vault", str(vault.root), "--json", *words])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    for changing in ("took_ms", "index"):
        found.pop(changing, None)
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["green", "tea"],
        ["red sail", "-k", "1", "--semantic", "--passages"],
        ["tea", "--keyword", "--until", "2030-01-01"],
        ["boat", "--profile", "rrf", "--diversity", "0.5", "--since", "2020-01-01"],
        ["nonsense", "--profile", "no-such"],
    ],
)
def test_the_answer_is_the_same_with_and_without_the_daemon(
    running: InProcess, notes: Vault, told: list[Any], capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    asked = searched(notes, capsys, *words)
    assert len(told) == 1
    alone = searched(notes, capsys, "--no-sync", *words)
    assert len(told) == 1  # with --no-sync it is not asked
    assert asked == alone


def test_the_daemon_answers_only_with_the_settings_of_its_caller(
    running: InProcess,
    notes: Vault,
    told: list[Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched(notes, capsys, "green tea")
    assert told.pop() is not None
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")

    assert searched(notes, capsys, "green tea")["mode"] == "keyword"
    assert told == [None]


def test_a_note_made_just_before_is_found_through_the_daemon(
    running: InProcess, notes: Vault, told: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    notes.write("Zeppelin.md", "# Zeppelin\n\nThe zeppelin lands.\n")
    assert searched(notes, capsys, "zeppelin")["hits"][0]["path"] == "Zeppelin.md"
    assert told[0] is not None


def test_a_daemon_that_does_not_answer_is_not_asked_twice(
    notes: Vault, capsys: pytest.CaptureFixture[str], told: list[Any]
) -> None:
    main(["recall", "--vault", str(notes.root), "tea"])
    assert told == [None]
    assert "70 degrees" in capsys.readouterr().out


def why(found: dict[str, Any]) -> set[str]:
    return {signal for hit in found["hits"] for signal in hit["why"]}


def test_only_the_daemon_uses_the_encoder(
    in_process: InProcess,
    notes: Vault,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", str(write_model(tmp_path / "encoder")))
    in_process.start()
    wait_until(lambda: in_process.ask("search", notes.root, {"query": "tea"})["ok"])
    wait_until(lambda: "late" in why(searched(notes, capsys, "green tea sail")))
    alone = searched(notes, capsys, "--no-sync", "green tea sail")
    assert alone["hits"]
    assert "late" not in why(alone)


def test_a_damaged_encoder_costs_a_notice_and_no_hit(
    in_process: InProcess,
    notes: Vault,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    folder = write_model(tmp_path / "encoder")
    (folder / "model.safetensors").write_bytes(b"damaged")
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", str(folder))
    in_process.start()
    wait_until(lambda: in_process.ask("search", notes.root, {"query": "tea"})["ok"])
    wait_until(lambda: "encoder_unusable" in str(searched(notes, capsys, "green tea sail")["notices"]))
    found = searched(notes, capsys, "green tea sail")
    assert {hit["path"] for hit in found["hits"]} == {"Tea.md", "Boats.md"}
