"""Vaults that other people wrote, through the commands of a first look: nothing fails, no byte changes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli, Ran


def contents(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file())
    return {str(file.relative_to(root)): blake2b(file.read_bytes()).digest() for file in files}


@pytest.fixture
def look(cli: Cli, unpacked: Callable[[str], Path]) -> Callable[[str, list[str]], dict[str, Any]]:
    def run(name: str, questions: list[str]) -> dict[str, Any]:
        """Sync, status, search, lint; the answers by command, the hits by question."""
        root = unpacked(name) / name
        before = contents(root)
        ran: dict[str, Ran] = {
            "sync": cli("sync", "--no-vectors", "--json", vault=root),
            "status": cli("status", "--json", vault=root),
            "lint": cli("lint", "--json", vault=root),
            **{text: cli("search", text, "--keyword", "--json", vault=root) for text in questions},
        }
        for command, answer in ran.items():
            assert answer.code in (0, 1), command
            assert "Traceback" not in answer.err and "internal" not in answer.err, command
        assert contents(root) == before
        return {command: answer.data for command, answer in ran.items()}

    return run


def test_a_long_lived_vault(look: Callable[[str, list[str]], dict[str, Any]]) -> None:
    found = look("vault_aarnphm", ["what's in my attention note?", "lebesgue measure"])
    assert found["sync"]["clean"] and found["sync"]["notes"] > 1_600
    index = found["status"]["index"]
    assert index["left_out_by_code"]["templates_folder"] >= 1
    assert not {row["path"] for row in index["noticed"]} & {row["path"] for row in index["left_out"]}
    for question in ("what's in my attention note?", "lebesgue measure"):
        scores = [hit["score"] for hit in found[question]["hits"]]
        assert len(scores) == 10 and scores == sorted(scores, reverse=True)
    assert found["what's in my attention note?"]["hits"][0]["title"].casefold() == "attention"
    assert not [hit for hit in found["lebesgue measure"]["hits"] if "%%" in hit["text"]]


def test_a_logseq_graph(
    cli: Cli, unpacked: Callable[[str], Path], look: Callable[[str, list[str]], dict[str, Any]]
) -> None:
    found = look("vault_logseq_docs", ["whiteboard action bar color swatch"])
    assert found["sync"]["clean"] and found["sync"]["notes"] == 314
    assert found["lint"]["problems"] == []
    root = unpacked("vault_logseq_docs") / "vault_logseq_docs"
    assert cli("links", "--broken", "--no-sync", "--json", vault=root).data["broken"] == []
    titles = {hit["title"] for hit in found["whiteboard action bar color swatch"]["hits"]}
    assert "Whiteboard/Action Bar/Color swatch" in titles
    assert not [title for title in titles if "___" in title]
