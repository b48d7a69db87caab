"""`hindbrain recall`: the order, the doubt and the encoder, as a person sees them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from encoder_models import write_model
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.edge.main import main
from workbench import Vault

Recall = Callable[..., dict[str, Any]]
KNOWN = (
    "Drives a 2017 Skoda Octavia diesel",
    "Works as a project manager at the bridge office",
    "Daughter Mila is allergic to hazelnuts",
    "Is a vegetarian",
    "Drinks coffee black",
    "Plays badminton on Tuesdays",
)


@pytest.fixture
def recall(vault: Vault, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Recall:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "builtin")
    vault.write("Chrome.md", "# Chrome\n\nThe browser on the old laptop.\n")
    for text in KNOWN:
        assert main(["remember", text, "--vault", str(vault.root)]) == 0

    def recalled(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        assert main(["recall", *words, "--vault", str(vault.root), "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return recalled


def texts(found: dict[str, Any]) -> list[str]:
    return [memory["text"] for memory in found["memories"]]


@pytest.mark.parametrize(
    "topic", ["which office do I work for", "what can my kid not eat", "coffee", "wash the car on Sunday"]
)
def test_the_likeliest_comes_first_and_doubt_is_said(recall: Recall, topic: str) -> None:
    found = recall(topic)
    likely = [memory["confidence"] for memory in found["memories"]]
    assert likely == sorted(likely, reverse=True)
    if any(notice.startswith("nothing_close") for notice in found["notices"]):
        assert max(likely) < 0.75


def test_a_note_that_may_well_answer_is_not_pushed_out_by_guesses(recall: Recall) -> None:
    assert [hit["path"] for hit in recall("Chrome", "-k", "2")["passages"]] == ["Chrome.md"]


def test_other_notes_alone_are_said_to_be_no_memory(recall: Recall) -> None:
    found = recall("the browser on the old laptop", "-k", "1")
    assert not found["memories"] and found["passages"]
    assert any(notice.startswith("nothing_close") for notice in found["notices"])


@pytest.mark.parametrize("topic", ["what do you know about me", "everything you remember"])
def test_who_asks_for_everything_gets_the_most_important(recall: Recall, topic: str) -> None:
    found = recall(topic)
    assert set(texts(found)) == set(KNOWN) and not found["notices"]


def test_a_person_gets_the_encoders_judgement_where_it_has_read_the_memories(
    recall: Recall, vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", str(write_model(tmp_path / "encoder")))
    by_table = recall("my car and my tax")
    app = build_app(load_config(), vault.root, warm=True)  # as the daemon does
    app.encodes = "when idle"
    app.memory.fits("my car and my tax")
    while app.encode_pending(60.0):
        pass
    app.close()
    by_encoder = recall("my car and my tax")
    assert by_encoder["memories"] != by_table["memories"]
