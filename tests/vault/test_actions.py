"""Changes of one action are taken back and brought back together, byte for byte."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.vault.actions import action
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.write import VaultWriter
from workbench import NOW

_NAMES = ("a.md", "b.md", "c.md")
_TEXTS = st.lists(st.sampled_from(["one\n", "two\n", "three\r\n", "\n"]), max_size=4).map("".join)
_STEPS = st.tuples(st.sampled_from(_NAMES), st.sampled_from(["put", "append", "delete"]), _TEXTS)


def _notes(root: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in root.glob("*.md")}


def _make(writer: VaultWriter, root: Path, name: str, op: str, text: str) -> None:
    file = root / name
    data = file.read_bytes() if file.exists() else None
    if op == "append":
        writer.append_note(name, text.encode())
    elif op == "put" and data is None:
        writer.create_note(name, text.encode())
    elif op == "put" and data is not None:
        writer.replace_note(name, text.encode(), expected_hash=content_hash(data))
    elif data is not None:
        writer.delete_note(name, expected_hash=content_hash(data))


@pytest.mark.promise("P9")
@given(st.lists(st.lists(_STEPS, min_size=1, max_size=4), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_actions_are_undone_and_redone_byte_for_byte(actions: list[list[tuple[str, str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, state = Path(folder, "vault"), Path(folder, "state")
        root.mkdir()
        with VaultWriter(root, state, FakeClock(NOW)) as writer:
            states = [_notes(root)]
            for steps in actions:
                known = len(writer.actions())
                with action("test"):
                    for step in steps:
                        _make(writer, root, *step)
                if len(writer.actions()) > known:  # an action that changed nothing is none
                    states.append(_notes(root))
            for expected in reversed(states[:-1]):
                writer.undo_action()
                assert _notes(root) == expected
            with pytest.raises(NotFound):
                writer.undo_action()
            for expected in states[1:]:
                writer.redo_action()
                assert _notes(root) == expected


def test_an_inner_action_is_a_part_of_the_outer_one_unless_it_is_new(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with VaultWriter(tmp_path / "vault", tmp_path / "state", FakeClock(NOW)) as writer:
        with action("run"):
            writer.create_note("a.md", b"a")
            with action("remember"):
                writer.create_note("b.md", b"b")
            with action("run", new=True):
                writer.create_note("c.md", b"c")
        writer.create_note("d.md", b"d")
        listed = [(one.by, [entry.revision.path for entry in one.entries]) for one in writer.actions()]
    assert listed == [("create", ["d.md"]), ("run", ["c.md"]), ("run", ["a.md", "b.md"])]


def test_an_undo_that_was_cut_short_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vault").mkdir()
    with VaultWriter(tmp_path / "vault", tmp_path / "state", FakeClock(NOW)) as writer:
        with action("learn"):
            for name in _NAMES:
                writer.create_note(name, b"x\n")
        take_back, calls = writer._take_back, list[str]()

        def cut_short(*given: object, **options: object) -> object:
            calls.append("")
            if len(calls) > 1:
                raise KeyboardInterrupt
            return take_back(*given, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(writer, "_take_back", cut_short)
        with pytest.raises(KeyboardInterrupt):
            writer.undo_action()
        monkeypatch.undo()
        assert len(_notes(tmp_path / "vault")) == 2
        assert not writer.undo_action().failed
        assert _notes(tmp_path / "vault") == {}


def test_what_is_older_than_a_month_is_forgotten_with_its_undo(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    clock = FakeClock(NOW)
    with VaultWriter(tmp_path / "vault", tmp_path / "state", clock) as writer:
        writer.create_note("a.md", b"a")
        undone = writer.undo_action().action
        clock.advance(31 * 86_400)
        writer.create_note("b.md", b"b")
        writer._revisions.prune(30, now=clock.now())
        assert [one.entries[0].revision.path for one in writer.actions()] == ["b.md"]
        with pytest.raises(HindbrainError):
            writer.redo_action(undone)
