"""P9: any of the changes that were made can be taken back, in any order, and nothing else changes.

The oracle replays the same operations without those that were undone. Operations name the lines they are
about, so that the order in which they happen does not matter to the lines of the others. Time passes: the
changes spread over 30 days, and the daily forgetting of old revisions runs meanwhile.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import NoteChanged, NotFound
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.write import VaultWriter

NOTES = ("a.md", "Folder/b.md", "ünï c.md")
ENDS = {"a.md": "\n", "Folder/b.md": "\r\n", "ünï c.md": "\n"}
START = 12
_DAY_S = 86_400
_KEPT_S = 30 * _DAY_S


class Op(NamedTuple):
    kind: str  # append, change, insert, remove
    note: str
    line: int  # the starting line it is about
    text: str


def starting_text(note: str) -> bytes:
    end = ENDS[note]
    front = ["---", f"title: {note}", "tags: [x]", "---", ""]
    return end.join([*front, *(f"line {i} of {note}" for i in range(START)), ""]).encode()


def planned(dice: random.Random, count: int) -> list[Op]:
    """Each starting line is the business of at most one operation: then any subset can be undone.

    The last one is nobody's: whether a line behind it was appended, or inserted below it, no bytes tell.
    """
    free = [(note, line) for note in NOTES for line in range(START - 1)]
    dice.shuffle(free)
    ops = []
    for number in range(count):
        kind = dice.choice(["append", "append", "change", "insert", "remove"])
        note, line = free.pop() if kind != "append" else (dice.choice(NOTES), 0)
        ops.append(Op(kind, note, line, f"{kind} {number} \U0001f9e0 [x:: {number}] ^b-{number}"))
    return ops


def applied(data: bytes, op: Op) -> bytes:
    end = ENDS[op.note].encode()
    lines = data.split(end)
    target = f"line {op.line} of {op.note}".encode()
    if op.kind == "append":
        return data + op.text.encode() + end
    at = lines.index(target)
    if op.kind == "change":
        lines[at] = target + b" " + op.text.encode()
    elif op.kind == "insert":
        lines.insert(at + 1, op.text.encode())
    else:
        del lines[at]
    return end.join(lines)


def run_history(root: Path, seed: int, count: int) -> None:
    dice = random.Random(seed)
    vault, state = root / f"vault{seed}", root / f"state{seed}"
    for note in NOTES:
        (vault / note).parent.mkdir(parents=True, exist_ok=True)
        (vault / note).write_bytes(starting_text(note))
    ops = planned(dice, count)
    clock = FakeClock(1_778_846_400.0)
    ids = []
    for op in ops:
        with VaultWriter(vault, state, clock) as writer:  # as each command does
            ids.append(perform(writer, vault, op))
        clock.advance((_KEPT_S - 60) / count)
    with VaultWriter(vault, state, clock) as writer:
        undone = dice.sample(range(count), dice.randint(1, count))
        for number in undone:
            writer.undo(ids[number])
        listed = {revision.id for revision in writer.history(limit=1_000)}
    assert listed >= set(ids)
    for note in NOTES:
        expected = starting_text(note)
        for number, op in enumerate(ops):
            if op.note == note and number not in undone:
                expected = applied(expected, op)
        assert (vault / note).read_bytes() == expected, (seed, note)


def perform(writer: VaultWriter, vault: Path, op: Op) -> str:
    data = (vault / op.note).read_bytes()
    if op.kind == "append":
        return writer.append_note(op.note, op.text.encode() + ENDS[op.note].encode()).revision_id
    return writer.replace_note(op.note, applied(data, op), expected_hash=content_hash(data)).revision_id


@pytest.mark.promise("P9")
@pytest.mark.parametrize("seed", range(12))
def test_any_subset_of_changes_can_be_undone_byte_for_byte(tmp_path, seed):
    run_history(tmp_path, seed, 14)


@pytest.mark.slow
@pytest.mark.promise("P9")
@pytest.mark.parametrize("block", range(10))
def test_any_subset_can_be_undone_in_a_thousand_histories(tmp_path, block):
    for seed in range(1_000 + block * 100, 1_100 + block * 100):
        run_history(tmp_path, seed, 24)


@pytest.mark.promise("P9")
def test_a_change_of_30_days_can_be_undone_and_one_of_40_days_is_forgotten(tmp_path):
    """A week is added to the 30 days, so that no wrong clock takes from them."""
    (tmp_path / "vault").mkdir()
    clock = FakeClock(1_778_846_400.0)
    ids = []
    for day in range(60):
        with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
            ids.append(writer.append_note(f"{day}.md", b"one\n").revision_id)
        clock.advance(_DAY_S)
    with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
        for day in range(20):
            with pytest.raises(NotFound):
                writer.undo(ids[day])
        for day in range(30, 60):
            writer.undo(ids[day])
    assert {path.name for path in (tmp_path / "vault").iterdir()} == {f"{day}.md" for day in range(30)}


@pytest.mark.promise("P9")
def test_an_undo_can_be_undone_after_later_changes(tmp_path):
    (tmp_path / "vault").mkdir()
    with VaultWriter(tmp_path / "vault", tmp_path / "state", FakeClock(1_778_846_400.0)) as writer:
        first = writer.append_note("a.md", b"one\n")
        second = writer.append_note("a.md", b"two\n")
        writer.append_note("a.md", b"three\n")
        undo = writer.undo(second.revision_id)
        writer.append_note("a.md", b"four\n")
        assert (tmp_path / "vault/a.md").read_bytes() == b"one\nthree\nfour\n"
        writer.undo(undo.revision_id)
        assert (tmp_path / "vault/a.md").read_bytes() == b"one\ntwo\nthree\nfour\n"
        with pytest.raises(NoteChanged) as refused:
            writer.undo(first.revision_id)
        assert refused.value.code == "conflict"  # it made the note, which holds more by now
