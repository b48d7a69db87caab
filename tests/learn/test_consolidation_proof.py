"""The proof that no line of anybody else is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.consolidation.proof import Change, Proof, prove

MEMORY = b"# Memory: fact\n\n- Likes tea [importance:: 0.5] [source:: agent] ^m-00000001\n"


def judged(
    changes: Sequence[Change],
    now: Mapping[str, bytes] | None = None,
    *,
    ours: Sequence[str] = (),
    vouching: Sequence[str] = (),
) -> Proof:
    if now is None:
        last = {change.path: change.after for change in changes}
        now = {path: data for path, data in last.items() if data is not None}
    return prove(changes, ours=lambda _, line: line in ours, now=now.get, vouching=vouching)


def test_a_line_that_is_gone_is_named_with_its_note() -> None:
    proof = judged([Change("a.md", b"one\ntwo\n", b"one\n")])
    assert not proof.holds
    assert [(lost.path, lost.line) for lost in proof.lost] == [("a.md", "two")]


def test_a_line_may_move_into_another_note() -> None:
    proof = judged([Change("b.md", None, b"two\n"), Change("a.md", b"one\ntwo\n", b"one\n")])
    assert proof.holds
    assert proof.moved == 1


def test_a_note_that_moved_twice_is_not_lost() -> None:
    data = b"one\ntwo\n"
    moves = [
        Change("b.md", None, data), Change("a.md", data, None),
        Change("c.md", None, data), Change("b.md", data, None),
    ]  # fmt: skip
    assert judged(moves).holds


def test_a_copy_that_is_gone_again_vouches_for_nothing() -> None:
    moves = [Change("b.md", None, b"two\n"), Change("a.md", b"one\ntwo\n", b"one\n")]
    assert not judged(moves, {"a.md": b"one\n"}).holds


def test_a_line_that_stood_twice_must_come_in_twice() -> None:
    moves = [Change("b.md", None, b"two\n"), Change("a.md", b"two\n\ntwo\n", None)]
    assert not judged(moves, {"b.md": b"two\n"}).holds


def test_our_own_lines_and_blank_ones_may_go() -> None:
    assert judged([Change("a.md", b"one\n\n- ours\n\n", b"one\n")], ours=["- ours"]).holds


def test_other_blanks_and_other_line_ends_are_no_loss() -> None:
    assert judged([Change("a.md", b"one  two\r\nthree\r\n", b"one two\nthree\n")]).holds


def test_a_memory_may_get_other_fields_or_be_struck_through() -> None:
    other = MEMORY.replace(b"0.5", b"0.8")
    struck = MEMORY.replace(b"Likes tea", b"~~Likes tea~~").replace(
        b"^m-00000001", b"[superseded:: ^m-00000002] ^m-00000001"
    )
    assert judged([Change("m.md", MEMORY, other)]).holds
    assert judged([Change("m.md", MEMORY, struck)]).holds


def test_a_memory_may_say_more_but_not_something_else() -> None:
    assert judged([Change("m.md", MEMORY, MEMORY.replace(b"tea", b"green tea"))]).holds
    assert not judged([Change("m.md", MEMORY, MEMORY.replace(b"tea", b"coffee"))]).holds


def test_the_owners_own_words_are_not_reworded() -> None:
    own = MEMORY.replace(b"agent", b"user")
    assert not judged([Change("m.md", own, own.replace(b"tea", b"green tea"))]).holds


def test_a_copy_that_was_there_before_vouches_when_it_is_named() -> None:
    gone = [Change("a.md", b"one\n", None)]
    now = {"archive.md": b"one\n"}
    assert not judged(gone, now).holds
    assert judged(gone, now, vouching=["archive.md"]).holds


def test_a_line_that_was_put_back_is_not_lost() -> None:
    assert judged([Change("a.md", b"one\ntwo\n", b"one\n")], {"a.md": b"one\ntwo\n"}).holds


_LINES = st.lists(st.sampled_from(["- a", "- b", "text", "# head", "", "- c ^m-00000009"]), max_size=8)


@given(_LINES, _LINES, st.data())
def test_whatever_moves_whole_is_proved_and_whatever_vanishes_is_not(
    first: list[str], second: list[str], data: st.DataObject
) -> None:
    notes = {f"{n}.md": "\n".join(lines).encode() for n, lines in enumerate((first, second))}
    changes = [Change(f"Archive/{path}", None, held) for path, held in notes.items()]
    changes += [Change(path, held, None) for path, held in notes.items()]
    assert judged(changes).holds
    lines = [line for line in (*first, *second) if line]
    if lines:
        lost = data.draw(st.sampled_from(lines))
        torn = [
            change._replace(after=change.after.replace(lost.encode(), b"other", 1))
            if change.after is not None and lost.encode() in change.after.split(b"\n")
            else change
            for change in changes
        ]
        assert not judged(torn).holds
