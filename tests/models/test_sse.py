"""Server-sent events, however they are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.models.sse import Event, EventReader

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n"
    b"event: greeting\r\nid: 7\r\ndata: good\r\ndata:  morning \r\n\r\n"
    b"retry: 10\n\n"
    b"data:{}\n\n\n"
    b"data\r\r"
    b"event: lonely\n\n"
    b"data: gr\xc3\xbcn\n\n"
)
EVENTS = [Event("good\n morning ", "greeting"), Event("{}"), Event(""), Event("grün")]


def read(pieces: list[bytes]) -> list[Event]:
    reader = EventReader()
    found = [event for piece in pieces for event in reader.feed(piece)]
    return found + reader.close()


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_events_are_the_same_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(places)]
    assert read(pieces) == EVENTS


def test_a_last_event_without_its_blank_line_counts_and_half_a_line_does_not() -> None:
    assert read([b"data: one\n\ndata: two\nda"]) == [Event("one"), Event("two")]
    assert read([b"data: one\n\ndata: tw"]) == [Event("one")]
