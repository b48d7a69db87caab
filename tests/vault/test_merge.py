from hypothesis import given
from hypothesis import strategies as st

from hindbrain.vault.merge import merge

BASE = b"---\na: 1\nb: 2\n---\none\ntwo\nthree\nfour\nfive\n"
LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d"]), max_size=12).map(b"".join)


def test_edits_that_lie_apart_are_merged():
    ours, theirs = BASE.replace(b"one", b"ONE"), BASE.replace(b"five", b"FIVE")
    assert merge(BASE, ours, theirs) == BASE.replace(b"one", b"ONE").replace(b"five", b"FIVE")


def test_edits_of_neighbouring_lines_are_not_merged():
    assert merge(BASE, BASE.replace(b"two", b"TWO"), BASE.replace(b"three", b"THREE")) is None


def test_two_edits_of_the_frontmatter_are_not_merged():
    assert merge(BASE, BASE.replace(b"a: 1", b"a: 9"), BASE.replace(b"b: 2", b"b: 2\nc: 3")) is None


def test_two_additions_at_the_end_are_not_merged():
    assert merge(BASE, BASE + b"ours\n", BASE + b"theirs\n") is None


def test_the_same_edit_on_both_sides_is_not_merged():
    """Each may have meant it in addition to the other's: a counter that both raise from 4 to 5."""
    both = BASE.replace(b"three", b"3")
    assert merge(BASE, both.replace(b"one", b"ONE"), both) is None
    assert merge(BASE, both, both) is None


def test_line_ends_and_byte_order_marks_survive_a_merge():
    base = b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\nfour"
    merged = merge(base, base.replace(b"one", b"1"), base.replace(b"four", b"4"))
    assert merged == b"\xef\xbb\xbf1\r\ntwo\r\nthree\r\n4"


def test_bytes_that_are_no_text_are_not_merged():
    assert merge(b"a\n\0\nb\n", b"A\n\0\nb\n", b"a\n\0\nB\n") is None


@given(LINES, LINES)
def test_a_side_that_changed_nothing_yields_the_other(base, side):
    assert merge(base, side, base) == side
    assert merge(base, base, side) == side


@given(LINES, LINES, LINES)
def test_a_merge_does_not_depend_on_the_order_of_the_sides(base, ours, theirs):
    assert merge(base, ours, theirs) == merge(base, theirs, ours)


@given(LINES, st.integers(0, 12), st.integers(0, 12), LINES, LINES)
def test_every_line_of_a_merge_comes_from_one_of_the_three(base, one, two, ours, theirs):
    merged = merge(base, base[:one] + ours, theirs + base[two:])
    if merged is not None:
        known = {*base.split(b"\n"), *(base[:one] + ours).split(b"\n"), *(theirs + base[two:]).split(b"\n")}
        assert set(merged.split(b"\n")) <= known
