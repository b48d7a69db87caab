"""A line is changed, and no byte of the others."""

from __future__ import annotations

import pytest

from hindbrain.base.errors import VaultError
from hindbrain.vault.lines import NoteLines


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"no end",
        b"a\nb\r\nc\rd",
        b"\xef\xbb\xbfa\nb\n",
        b"bad \xff\xfe bytes\n\x00\n",
        "form\x0cfeed and \u2028 stay\n".encode(),
    ],
)
def test_reading_and_writing_back_changes_nothing(data: bytes) -> None:
    assert NoteLines(data).data() == data


def test_a_replaced_line_keeps_its_own_end() -> None:
    note = NoteLines(b"\xef\xbb\xbfone\r\ntwo\nthree\xff")
    note.replace(0, "ONE")
    assert note.data() == b"\xef\xbb\xbfONE\r\ntwo\nthree\xff"
    note.replace(2, "3")
    assert note.data() == b"\xef\xbb\xbfONE\r\ntwo\n3"


def test_an_inserted_line_ends_as_the_line_before_it() -> None:
    note = NoteLines(b"one\r\ntwo\nthree")
    note.insert(1, ["a"])
    note.insert(3, ["b", "c"])
    assert note.data() == b"one\r\na\r\ntwo\nb\nc\nthree"


def test_a_line_at_the_end_stands_on_a_line_of_its_own() -> None:
    note = NoteLines(b"one\r\ntwo")
    note.insert(2, ["three"])
    assert note.data() == b"one\r\ntwo\r\nthree\r\n"
    empty = NoteLines(b"")
    empty.insert(0, ["first"])
    assert empty.data() == b"first\n"


def test_a_line_before_the_first_stays_behind_the_byte_order_mark() -> None:
    note = NoteLines(b"\xef\xbb\xbfone\rtwo\r")
    note.insert(0, ["zero"])
    assert note.data() == b"\xef\xbb\xbfzero\rone\rtwo\r"


def test_removed_lines_take_their_ends_with_them() -> None:
    note = NoteLines(b"one\r\ntwo\nthree\nfour")
    note.remove(1, 3)
    assert note.data() == b"one\r\nfour"


def test_the_end_that_most_lines_have_is_used_where_no_neighbour_tells() -> None:
    assert NoteLines(b"a\r\nb\r\nc\n").end == "\r\n"
    assert NoteLines(b"a\nb\nc\r\n").end == "\n"
    assert NoteLines(b"alone").end == "\n"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused(codec: str) -> None:
    with pytest.raises(VaultError) as raised:
        NoteLines("\ufeffa\n".encode(codec))
    assert raised.value.code == "vault"
