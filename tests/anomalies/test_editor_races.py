"""A person saves in an editor, which takes no lock, in the same milliseconds in which we write (P4)."""

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from tests.anomalies import oracle
from tests.anomalies.editor import Editor, edit_text
from tests.anomalies.oracle import Ack

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import Busy, NoteChanged, NotFound
from hindbrain.vault.write import VaultWriter

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the editor is forked")


def race(root: Path, state: Path, rounds: int, seed: int) -> Counter[str]:
    """Each round: one save of the editor and one write of ours at once; then both must be somewhere."""
    note = root / "note.md"
    note.write_bytes(b"# start\n")
    chance = random.Random(seed)
    told: Counter[str] = Counter()
    editor = Editor(note, seed + 1)
    try:
        with VaultWriter(root, state, SystemClock()) as writer:
            for number in range(rounds):
                was = note.read_bytes()
                editor.start_saving()
                answer, ack = _write(writer, was, number, chance)
                told[answer] += 1
                editor.wait()
                writer.recover()  # looks again at what was displaced
                _check(root, state, writer, edit_text(number), ack)
                for copy in oracle.conflict_copies(root):
                    told["conflict copies"] += 1
                    copy.unlink()
    finally:
        editor.close()
    oracle.nothing_is_left_over(root, state, pids=[editor.pid])
    assert {path.name for path in root.iterdir()} == {"note.md"}
    return told


def _write(writer: VaultWriter, was: bytes, number: int, chance: random.Random) -> tuple[str, Ack | None]:
    data = b"written by us %d\n" % number
    try:
        if chance.random() < 0.5:
            writer.append_note("note.md", data)
            return "append", Ack("note.md", data)
        if chance.random() < 0.2:
            writer.delete_note("note.md", expected_hash=oracle.sha(was))
            writer.create_note("note.md", was + data)
            return "delete and create", Ack("note.md", data)
        writer.replace_note("note.md", was + data, expected_hash=oracle.sha(was), base=was)
        return "replace", Ack("note.md", data)
    except (NoteChanged, NotFound) as error:
        return error.code, None
    except Busy:
        return "busy", None


def _check(root: Path, state: Path, writer: VaultWriter, edit: bytes, ack: Ack | None) -> None:
    note = root / "note.md"
    texts = [path.read_bytes() for path in (note, *oracle.conflict_copies(root)) if path.exists()]
    lines = edit[: edit.index(b"!") + 1]
    found = any(lines in text for text in texts) or writer.kept(oracle.sha(edit)) is not None
    assert found, f"P4: {lines!r} is nowhere; the note holds {texts!r:.300}"
    if ack is not None and ack.data is not None and not any(ack.data in text for text in texts):
        # The editor has overwritten it, as it may; then a revision holds what we wrote.
        newest = writer.history(limit=2)
        kept = [writer.kept(each.after_hash) for each in newest if each.after_hash]
        assert any(ack.data in data for data in kept if data), "I1: what we acknowledged is nowhere"


@pytest.mark.promise("P4")
def test_no_save_of_an_editor_is_lost_to_a_write_in_the_same_instant(place):
    root, state = place / "vault", place / "state"
    root.mkdir()
    told = race(root, state, 300, seed=1)
    assert told["append"] > 50


@pytest.mark.slow
@pytest.mark.promise("P4")
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_no_save_of_an_editor_is_lost_in_ten_thousand(place, tmp_path, where, capsys):
    folder = place if where == "memory" else tmp_path
    root, state = folder / "vault", folder / "state"
    root.mkdir()
    told = race(root, state, 5_000, seed=7)
    with capsys.disabled():
        print(f"\nP4 on {where}: 5000 edits, 0 lost; {dict(told)}")
