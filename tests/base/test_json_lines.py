"""A log of JSON objects is read as far as it can be: what a crash or somebody damaged costs only itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.json_lines import as_object, read_objects

_VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())
_OBJECTS = st.dictionaries(st.text(), _VALUES)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def test_objects_come_in_the_order_of_their_lines(log: Path) -> None:
    log.write_bytes(b'{"n": 1}\n{"n": 2}\r\n\n{"n": 3}\n')
    assert list(read_objects(log)) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_log_that_is_not_there_tells_nothing(log: Path) -> None:
    assert list(read_objects(log)) == []
    assert list(read_objects(log.parent / "no folder" / log.name)) == []


def test_what_is_there_and_can_not_be_read_is_an_error(log: Path) -> None:
    log.mkdir()
    with pytest.raises(OSError):
        list(read_objects(log))


def test_a_last_line_that_only_lost_its_end_still_tells(log: Path) -> None:
    log.write_bytes(b'{"n": 1}\n{"n": 2}')
    assert list(read_objects(log)) == [{"n": 1}, {"n": 2}]


def test_wherever_a_crash_cuts_the_last_line_the_others_stay(log: Path) -> None:
    last = b'{"text": "\xc3\xa4", "n": [2]}'
    for cut in range(len(last)):
        log.write_bytes(b'{"n": 1}\n' + last[:cut])
        assert list(read_objects(log)) == [{"n": 1}], cut


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" \t",
        b"null",
        b"7",
        b'"text"',
        b'["n", 1]',
        b'{"n": 1} {"n": 2}',
        b'{"n": "\xff"}',  # no UTF-8
        b"\xef\xbb\xbf",
        b"\0\0\0\0",  # what some file systems leave of a line after a power cut
        b'{"n": ' + b"9" * 5_000 + b"}",  # more digits than Python turns into a number
        b'{"a":' * 100_000,  # nested deeper than Python follows
    ],
)
def test_a_line_that_is_no_object_costs_only_itself(log: Path, line: bytes) -> None:
    assert as_object(line) is None
    log.write_bytes(b'{"n": 1}\n' + line + b'\n{"n": 2}\n')
    assert list(read_objects(log)) == [{"n": 1}, {"n": 2}]


def test_half_of_a_surrogate_pair_is_read_as_it_was_written(log: Path) -> None:
    log.write_bytes('{"said": "\ud83d"}\n{"said": "\\ud83d"}\n'.encode("utf-8", "surrogatepass"))
    assert list(read_objects(log)) == [{"said": "\ud83d"}] * 2


@given(told=_OBJECTS)
def test_what_was_written_as_an_object_is_read_as_the_same(told: dict[str, object]) -> None:
    assert as_object(json.dumps(told).encode("ascii")) == told
    assert as_object(json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")) == told
