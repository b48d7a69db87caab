"""What a person does not want remembered, and how their deletions are noticed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import VaultError
from hindbrain.memory.forgetting.fingerprint import fingerprint
from hindbrain.memory.forgetting.ledger import Ledger
from hindbrain.memory.forgetting.tombstones import Tombstones
from hindbrain.vault.items.item import MemoryItem
from hindbrain.vault.write import VaultWriter
from workbench import Vault

FACT = "Prefers window seats on very long flights"
PATH = "Memory/fact.md"


@pytest.fixture
def writer(vault: Vault, tmp_path: Path, clock: FakeClock) -> Iterator[VaultWriter]:
    with VaultWriter(vault.root, tmp_path / "state", clock) as writer:
        yield writer


@pytest.fixture
def stones(vault: Vault, writer: VaultWriter, clock: FakeClock) -> Tombstones:
    return Tombstones(vault.root, lambda: writer, clock)


@pytest.fixture
def ledger(vault: Vault, writer: VaultWriter, clock: FakeClock, stones: Tombstones) -> Ledger:
    return Ledger(vault.root, lambda: writer, stones, clock)


def item(number: int, text: str = FACT, path: str = PATH) -> MemoryItem:
    return MemoryItem(f"m-{number:06}", text, path=path)


def test_a_forgotten_text_is_known_again_in_other_clothes(stones: Tombstones) -> None:
    stones.add(FACT, why="forgotten")
    in_other_order = "On very long flights prefers window seats"
    for text in (FACT, FACT.upper(), f"  {FACT}!  ", FACT.replace(" ", "\n"), in_other_order):
        assert stones.covers(text), text
    assert not stones.covers("Prefers aisle seats on very long flights")


def test_few_words_in_another_order_may_say_something_else(stones: Tombstones) -> None:
    stones.add("Ann owes Bob", why="forgotten")
    assert not stones.covers("Bob owes Ann")


def test_what_a_stranger_said_is_known_again_when_it_is_reworded(stones: Tombstones) -> None:
    stones.add(FACT, why="forgotten")
    page = "The Lisbon office opens in May 2027 near the river and has room for forty"
    stones.add(page, why="refused", reworded=True)
    assert stones.covers("As I hear, the Lisbon office opens in May 2027 near the river and is big")
    assert not stones.covers("The Porto office opens in June 2027 near the sea and has a bar")
    assert not stones.covers(f"{FACT} over the sea")  # the owner's own words leave no such trace
    assert stones.lift(page)
    assert not stones.covers("As I hear, the Lisbon office opens in May 2027 near the river and is big")


def test_the_log_never_holds_the_text(vault: Vault, stones: Tombstones) -> None:
    stones.add(FACT, why="deleted")
    assert b"window" not in (vault.root / ".hindbrain/tombstones.jsonl").read_bytes()


def test_two_vaults_make_different_hashes_of_one_text() -> None:
    assert fingerprint(FACT, "one") != fingerprint(FACT, "two")


def test_another_process_sees_a_stone_at_once_and_its_lifting_too(
    vault: Vault, writer: VaultWriter, clock: FakeClock, stones: Tombstones
) -> None:
    other = Tombstones(vault.root, lambda: writer, clock)
    assert not other.covers(FACT)
    stones.add(FACT, why="refused")
    assert other.covers(FACT)
    assert other.lift(FACT.lower())
    assert not stones.covers(FACT)
    assert not stones.lift(FACT)


def test_a_damaged_line_costs_only_itself(vault: Vault, stones: Tombstones) -> None:
    stones.add(FACT, why="deleted")
    log = vault.root / ".hindbrain/tombstones.jsonl"
    log.write_bytes(b'{"broken\n[1]\n\xff\n' + log.read_bytes() + b'{"torn')
    assert stones.covers(FACT)
    assert stones.damaged == 4


def test_a_log_that_cannot_be_read_is_not_an_empty_one(vault: Vault, stones: Tombstones) -> None:
    (vault.root / ".hindbrain/tombstones.jsonl").mkdir(parents=True)
    with pytest.raises(VaultError):
        stones.covers(FACT)


def test_logs_of_two_machines_that_were_joined_both_count(
    vault: Vault, tmp_path: Path, clock: FakeClock
) -> None:
    lines = []
    for name, text in (("a", FACT), ("b", "Has a sister in Lisbon since last May")):
        root = tmp_path / name
        root.mkdir()
        with VaultWriter(root, tmp_path / f"state-{name}", clock) as writer:
            Tombstones(root, lambda w=writer: w, clock).add(text, why="deleted")  # type: ignore[misc]
        lines.append((root / ".hindbrain/tombstones.jsonl").read_bytes())
    vault.write(".hindbrain/tombstones.jsonl", b"".join(lines))
    with VaultWriter(vault.root, tmp_path / "state", clock) as writer:
        joined = Tombstones(vault.root, lambda: writer, clock)
        assert joined.covers(FACT)
        assert joined.covers("has a sister in lisbon since last may")


@given(st.text(max_size=60))
def test_a_fingerprint_does_not_mind_case_and_space(text: str) -> None:
    spaced = f" {text} ".replace(" ", "  ")
    assert fingerprint(text, "s").exact == fingerprint(spaced, "s").exact


# Deletions by hand


def test_a_line_that_a_person_deletes_is_not_learned_again(ledger: Ledger, stones: Tombstones) -> None:
    ledger.note_stored([item(1), item(2, "Has a dog called Rex")])
    deleted = ledger.notice([item(2, "Has a dog called Rex")], {PATH})
    assert deleted == ["m-000001"]
    assert stones.covers(FACT)
    assert not stones.covers("Has a dog called Rex")
    assert ledger.notice([item(2, "Has a dog called Rex")], {PATH}) == []


def test_a_line_that_moved_to_another_note_is_not_deleted(ledger: Ledger, stones: Tombstones) -> None:
    ledger.note_stored([item(1)])
    assert ledger.notice([item(1, path="Memory/preference.md")], {PATH, "Memory/preference.md"}) == []
    assert not stones.covers(FACT)
    assert ledger.notice([], {"Memory/preference.md"}) == ["m-000001"]


def test_a_note_that_is_gone_or_could_not_be_read_deletes_nothing(ledger: Ledger, stones: Tombstones) -> None:
    ledger.note_stored([item(1)])
    assert ledger.notice([], set()) == []
    assert ledger.notice([], {PATH}, complete=False) == []
    assert len(stones) == 0


def test_a_note_that_lost_everything_at_once_deletes_nothing(ledger: Ledger, stones: Tombstones) -> None:
    """An editor truncates a file before it writes it."""
    ledger.note_stored([item(number, f"Fact number {number}") for number in range(5)])
    assert ledger.notice([], {PATH}) == []
    assert len(stones) == 0


def test_a_line_that_comes_back_is_wanted_again(ledger: Ledger, stones: Tombstones) -> None:
    ledger.note_stored([item(1), item(2, "Has a dog called Rex")])
    ledger.notice([item(2, "Has a dog called Rex")], {PATH})
    assert stones.covers(FACT)
    ledger.notice([item(1), item(2, "Has a dog called Rex")], {PATH})
    assert not stones.covers(FACT)
    assert ledger.notice([item(2, "Has a dog called Rex")], {PATH}) == ["m-000001"]


def test_what_was_edited_by_hand_is_forgotten_in_its_last_words(ledger: Ledger, stones: Tombstones) -> None:
    ledger.note_stored([item(1)])
    ledger.notice([item(1, "Prefers aisle seats these days")], {PATH})
    ledger.notice([], {PATH})
    assert stones.covers("prefers aisle seats these days")


def test_what_was_taken_away_on_purpose_leaves_no_stone(ledger: Ledger, stones: Tombstones) -> None:
    ledger.note_stored([item(1)])
    ledger.note_gone(["m-000001", "m-unknown"])
    assert ledger.notice([], {PATH}) == []
    assert len(stones) == 0


def test_lines_without_an_id_are_not_followed(ledger: Ledger) -> None:
    ledger.note_stored([item(1)._replace(id="")])
    assert ledger.notice([], {PATH}) == []


def test_the_ledger_holds_no_text_and_one_line_for_a_batch(vault: Vault, ledger: Ledger) -> None:
    items = [item(number, f"{FACT} {number}") for number in range(400)]
    ledger.note_stored(items)
    ledger.note_stored(items)
    data = (vault.root / ".hindbrain/memories.jsonl").read_bytes()
    assert data.count(b"\n") == 1
    assert b"window" not in data


def test_a_ledger_of_a_newer_version_is_no_reason_to_fail(vault: Vault, ledger: Ledger) -> None:
    vault.write(".hindbrain/memories.jsonl", '{"stored":[["m-1"],{"x":1}],"gone":["m-9"]}\n{"stored":7}\n')
    ledger.note_stored([item(1)])
    assert ledger.notice([], {PATH}) == ["m-000001"]
