"""Taking one change back out of a note that has changed since."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.vault.take_back import take_back

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n"]), max_size=8).map(b"".join)


def test_an_appended_line_in_the_middle_goes_and_what_came_later_stays():
    assert take_back([b"a\n", b"a\nb\n", b"a\nb\nc\n"], 0) == b"a\nc\n"


def test_a_removed_line_comes_back_in_its_place():
    assert take_back([b"a\nb\nc\n", b"a\nc\n", b"a\nc\nd\n"], 0) == b"a\nb\nc\nd\n"


def test_a_changed_line_is_as_it_was_and_its_neighbours_keep_their_later_changes():
    assert take_back([b"a\nb\nc\n", b"a\nB\nc\n", b"A\nB\nC\n"], 0) == b"A\nb\nC\n"


def test_lines_that_were_changed_again_are_not_taken_back():
    assert take_back([b"a\nb\n", b"a\nB\n", b"a\nBB\n"], 0) is None


def test_each_version_on_the_way_helps_to_follow_a_line():
    equal = [b"x\nx\n", b"x\nnew\nx\n", b"x\nnew\nx\nx\n"]
    assert take_back([b"x\n", *equal], 0) == b"x\nnew\nx\n"


def test_a_line_comes_back_among_others_that_went_and_came_back_before_it():
    versions = [b"1\n2\n3\n4\n", b"1\n2\n4\n", b"1\n4\n", b"1\n3\n4\n"]
    assert take_back(versions, 1) == b"1\n2\n3\n4\n"


def test_a_last_line_without_an_end_gets_one_when_others_follow_it():
    assert take_back([b"x", b"x\ny\n", b"x\ny\nz\n"], 0) == b"x\nz\n"
    assert take_back([b"x", b"x\r\ny\r\n", b"x\r\ny\r\nz\r\n"], 0) == b"x\r\nz\r\n"


def test_what_is_no_text_is_left_alone():
    assert take_back([b"\xff\xfea\n", b"\xff\xfeb\n", b"\xff\xfeb\n\n"], 0) is None


@given(LINES, LINES)
@settings(max_examples=200)
def test_without_later_changes_it_gives_the_old_bytes(before, after):
    assert take_back([before, after, after], 0) == before


@given(LINES, LINES, LINES)
@settings(max_examples=200)
def test_every_line_of_the_answer_is_of_one_of_the_versions(before, after, now):
    taken = take_back([before, after, now], 0)
    if taken is not None:
        known = {line.rstrip(b"\r\n") for data in (before, after, now) for line in data.split(b"\n")}
        assert {line.rstrip(b"\r\n") for line in taken.split(b"\n")} <= known
