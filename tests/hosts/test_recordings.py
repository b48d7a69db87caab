"""The recordings hang together, and carry nothing of the machine that they were made on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

_RECORDED = Path(__file__).parent / "recorded"
_FILES = sorted(file for file in _RECORDED.rglob("*") if file.suffix in (".json", ".jsonl"))
_PAYLOADS = [file for file in _FILES if file.suffix == ".json" and file.name != "surroundings.json"]
_MACHINE = re.compile(
    r"/tmp\b|/work\b|(?<!<)/root\b|/Users/|/home/(?!ada\b)"
    r"|[0-9a-f]{8}-(?!0000)[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)


def named(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


def test_there_are_recordings_of_both_hosts() -> None:
    assert {file.parent.name for file in _PAYLOADS} == {"claude-code", "codex"}


@pytest.mark.parametrize("file", _FILES, ids=named)
def test_nothing_of_a_machine_is_in_it(file: Path) -> None:
    assert _MACHINE.findall(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("file", _PAYLOADS, ids=named)
def test_a_payload_names_its_event_session_and_folder(file: Path) -> None:
    payload = json.loads(file.read_text(encoding="utf-8"))

    dashed = re.sub(r"(?<!^)([A-Z])", r"-\1", payload["hook_event_name"]).lower()
    assert file.stem == dashed or file.stem.startswith(f"{dashed}-")
    assert payload["session_id"]
    assert payload["cwd"] == "/home/ada/project"


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_payloads_name_a_transcript_that_is_there(host: str) -> None:
    folder = _RECORDED / host
    payload = json.loads((folder / "stop.json").read_text(encoding="utf-8"))
    text = (folder / "transcript-conversation.jsonl").read_text(encoding="utf-8")

    assert payload["session_id"] in text
    assert payload["last_assistant_message"] in text


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_each_event_of_the_order_has_a_payload(host: str) -> None:
    order = (_RECORDED / host / "order.txt").read_text(encoding="utf-8").split()

    assert {file.stem for file in _PAYLOADS if file.parent.name == host} == set(order)
