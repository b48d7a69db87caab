"""What is forgotten for good is in no journal and in no cache of runs any more; what was done stays."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import VaultError
from hindbrain.learn.runs.events import (
    Event,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
    to_line,
)
from hindbrain.learn.runs.purging import purge_runs
from hindbrain.learn.runs.store import RunStore
from hindbrain.memory.forgetting.traces import Traces
from hindbrain.vault.write import VaultWriter
from workbench import NOW, Vault

SECRET = "Ada moves to Lund in spring"
holds = Traces("m-1", [SECRET]).retold_in


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def writer(vault: Vault, state: Path, clock: FakeClock) -> Iterator[VaultWriter]:
    with VaultWriter(vault.root, state, clock) as writer:
        yield writer


def run_of(run: str, text: str) -> list[Event]:
    return [
        RunCreated(run, NOW, f"tell Bob that {text}"),
        ToolExecuted(run, NOW, "send_mail", {"to": "Bob", "body": {"parts": [text]}}, ok=False, said=text),
        VerificationRejected(run, NOW, text, 10),
        RunEnded(run, NOW + 1, "fail", reason=text),
    ]


def packed(events: list[Event]) -> bytes:
    return gzip.compress("".join(to_line(event) + "\n" for event in events).encode())


@pytest.mark.promise("P22")
def test_the_words_go_from_every_journal_and_from_the_cache(
    vault: Vault, state: Path, writer: VaultWriter
) -> None:
    store = RunStore(vault.root, state, lambda: writer)
    for event in run_of("r-1", SECRET):
        store.journal("r-1").add(event)
    store.add_imported("tau", [run_of("i-1", SECRET), run_of("i-2", "it rains")])
    runs = vault.root / ".hindbrain" / "runs"
    (runs / "cold").mkdir()
    (runs / "cold" / "2024.jsonl.gz").write_bytes(packed(run_of("r-0", SECRET)))
    (runs / "r-2").mkdir()
    torn = b'{"v":1,"run":"r-2","at":1,"type":"run.created","command":"' + SECRET.encode()
    (runs / "r-2" / "journal.jsonl").write_bytes(torn)
    assert len(store.episodes()) == 4
    untouched = store.episode("i-2")

    assert purge_runs(vault.root, state, writer, holds) == 4

    for file in [*runs.rglob("*"), *state.rglob("*")]:
        if file.is_file():
            data = file.read_bytes()
            data = gzip.decompress(data) if file.suffix == ".gz" else data
            assert b"Lund" not in data, file
    assert [(episode.run, episode.outcome) for episode in store.episodes()] == [
        ("i-1", "failed"), ("i-2", "failed"), ("r-0", "failed"), ("r-1", "failed"),
    ]  # fmt: skip
    assert store.episode("r-1").command == ""
    assert store.episode("r-1").actions[0].shown == 'send_mail(Bob, body: {"parts":[""]})'
    assert store.episode("i-2") == untouched
    assert purge_runs(vault.root, state, writer, holds) == 0


def test_a_journal_that_can_not_be_looked_into_is_told(
    vault: Vault, state: Path, writer: VaultWriter
) -> None:
    cold = vault.root / ".hindbrain" / "runs" / "cold"
    cold.mkdir(parents=True)
    for damaged in (b"no archive", packed(run_of("r-0", SECRET))[:-20]):
        (cold / "2024.jsonl.gz").write_bytes(damaged)
        with pytest.raises(VaultError):
            purge_runs(vault.root, state, writer, holds)
