"""How hits look on a terminal: wrapped by columns, highlighted, and harmless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.edge.hit_text import columns, hit_lines, wrap
from hindbrain.edge.output import Output, safe
from hindbrain.edge.when import age_text, span_text
from hindbrain.search.hit import Hit


class _Terminal:
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def isatty(self) -> bool:
        return True


def _hit(text: str, *, terms: tuple[str, ...] = (), path: str = "a.md", heading: str = "") -> Hit:
    return Hit("0" * 16, path, "A", heading, 3, 4, text, "", 1.0, 0.9, {"lexical": 0.9, "date": 0.1}, terms)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Output:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    out = Output()
    out.stdout = _Terminal()  # type: ignore[assignment]
    return out


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_the_words_of_the_query_stand_out_whatever_their_ending(terminal: Output) -> None:
    _, body = hit_lines([_hit("A gardener gardened.", terms=("gardening",))], terminal, explain=False)
    assert re.findall(r"\x1b\[1m(\w+)\x1b\[0m", body) == ["gardener", "gardened"]


def test_a_passage_fits_the_terminal(terminal: Output) -> None:
    lines = list(hit_lines([_hit("word " * 60)], terminal, explain=False))
    assert all(columns(_plain(line)) <= 40 for line in lines[1:])


def test_a_long_passage_is_cut_on_a_terminal_only(terminal: Output) -> None:
    long = _hit("\n".join(map(str, range(100))))
    assert len(list(hit_lines([long], terminal, explain=False))) < 20
    pipe = Output()
    assert len(list(hit_lines([long], pipe, explain=False))) == 101


def test_headings_that_the_first_line_names_are_not_repeated(terminal: Output) -> None:
    lines = [
        _plain(line)
        for line in hit_lines([_hit("# A\n\n## B\n\ntext", heading="A > B")], terminal, explain=False)
    ]
    assert "A > B" in lines[0]
    assert [line.strip() for line in lines[1:]] == ["text"]
    assert "# alone" in list(hit_lines([_hit("# alone")], terminal, explain=False))[1]


def test_colours_can_be_switched_off(terminal: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "".join(hit_lines([_hit("tea", terms=("tea",))], terminal, explain=True))


@given(
    st.text(st.characters(exclude_characters="\n\r\t", exclude_categories=("Cc", "Cs")), max_size=300),
    st.integers(20, 90),
)
def test_wrapping_loses_nothing_but_spaces_and_keeps_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join("".join(lines).split(" ")) == "".join(text.split(" "))
    assert all(columns(line) <= width for line in lines)


@given(st.text(max_size=200))
def test_safe_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    cleaned = safe(text)
    assert len(cleaned) == len(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", cleaned)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0124, "12 ms"), (3, "3 s"), (180, "3 min"), (7_200, "2 h"), (864_000, "10 days")]
)
def test_spans_read_at_a_glance(seconds: float, text: str) -> None:
    assert span_text(seconds) == text


def test_an_index_that_was_never_made_has_no_age() -> None:
    assert "never" in age_text(0, 1_000)
    assert age_text(1_000, 1_240) == "4 min old"
