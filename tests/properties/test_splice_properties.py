"""What holds for every note and every value: a splice changes one property, or nothing at all."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError, VaultError
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Property
from hindbrain.vault.parse import split_lines
from hindbrain.vault.splice import Value, add_to_list, remove_property, set_property

# Lines that mean something in a frontmatter find more than random characters do.
LINES = [
    *("a: 1", "b: 'x' # c", "tags: [a, b]", "tags: a, b", "tags:", "- x", "  - y", "  # note", "# note", ""),
    *("k: |", "  text", "k: >-", '"q": "z"', "'s' : t", "  nested: v", "list:", "  - 'a", "    more"),
    *(
        "a: [x,",
        "  y]",
        "{a: b}",
        "a: *x",
        "a: b: c",
        "\tt: 1",
        "---",
        "...",
        "prose",
        "A: 2",
        "é: ü",
        "a:\x0cb",
    ),
]
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    inside = draw(st.lists(st.sampled_from(LINES), max_size=8))
    end = draw(ENDS)
    body = draw(st.sampled_from(["", "body", "# H\n\ntext\n", "---\nx: y\n---\n"]))
    head = draw(st.sampled_from(["", "\ufeff"])) + end.join(["---", *inside, "---", body])
    return head.encode() + draw(st.sampled_from([b"", b"\xff\xfe", b"\r\n"]))


TEXTS = st.text(max_size=12) | st.sampled_from(
    ["yes", "a: b", "# x", "[[n]]", " s ", "1", "'", '"', "\n", "-", ","]
)
VALUES = (
    TEXTS | st.lists(TEXTS, max_size=3) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
)
KEYS = st.sampled_from(["a", "tags", "k", "list", "new", "q", "s", "é"])


def _read(data: bytes) -> dict[str, Property]:
    return dict(read_frontmatter(NoteLines(data).texts or [""]).properties)


def _span(data: bytes, key: str) -> tuple[int, int]:
    """The lines of the property, from 0; where a new one would stand when there is none."""
    front = read_frontmatter(NoteLines(data).texts or [""])
    for name in (key, *(n for n in front.spans if n.lower() == key.lower())):
        if name in front.spans:
            first, last = front.spans[name]
            return first - 1, last
    at = max(front.last_line - 1, 0)
    return at, at


def _assert_rest_is_same(before: bytes, after: bytes, key: str) -> None:
    first, stop = _span(before, key)
    old, new = split_lines(before), split_lines(after)
    mark = b"\xef\xbb\xbf"
    assert b"".join(new).startswith(b"".join(old[:first])) or before.startswith(mark)
    rest = b"".join(old[stop:])
    assert after.endswith(rest.removeprefix(mark) if not stop else rest)
    assert after.startswith(mark) == before.startswith(mark)


@given(notes(), KEYS, VALUES)
@example(b"---\n---", "a", "x")
@example(b"", "a", "")
@settings(max_examples=400, deadline=None)
def test_setting_a_property_changes_that_property_or_nothing(data: bytes, key: str, value: Value) -> None:
    try:
        after = set_property(data, key, value)
    except (VaultError, UsageError):
        return
    _assert_rest_is_same(data, after, key)
    name = next((n for n in (key, *_read(data)) if n in _read(data) and n.lower() == key.lower()), key)
    written = _read(after)[name]
    if isinstance(value, (str, list)):
        assert written == value
    elif isinstance(value, bool):
        assert written == str(value).lower()
    else:
        assert isinstance(written, str) and float(written) == value
    assert {**_read(data), name: written} == _read(after)
    assert set_property(after, key, value) == after


@example(b"---\ntags: a, b\n---\n", "tags", ["0 0"])
@given(notes(), KEYS, st.lists(TEXTS.filter(bool), max_size=3))
@settings(max_examples=300, deadline=None)
def test_adding_to_a_list_keeps_what_is_in_it(data: bytes, key: str, values: list[str]) -> None:
    try:
        after = add_to_list(data, key, values)
    except (VaultError, UsageError):
        return
    _assert_rest_is_same(data, after, key)
    assert add_to_list(after, key, values) == after
    name = next((n for n in (key, *_read(data)) if n in _read(data) and n.lower() == key.lower()), key)
    others = {n: value for n, value in _read(data).items() if n != name}
    assert {n: value for n, value in _read(after).items() if n != name} == others
    old = _read(data).get(name)
    if isinstance(old, list):
        new = _read(after)[name]
        assert isinstance(new, list) and new[: len(old)] == old


@given(notes(), KEYS)
@settings(max_examples=200, deadline=None)
def test_a_new_property_can_be_taken_away_again(data: bytes, key: str) -> None:
    assume(key not in {name.lower() for name in _read(data)})
    try:
        after = set_property(data, key, "value")
    except (VaultError, UsageError):
        return
    back = remove_property(after, key)
    made = not read_frontmatter(NoteLines(data).texts or [""]).first_line
    assert back == data or (made and _read(back) == {})


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_any_text_survives_as_a_value(text: str) -> None:
    assert _read(set_property(b"---\nx: y\n---\n", "k", text)) == {"x": "y", "k": text}
    assert _read(set_property(b"---\nk: [1]\n---\n", "k", [text])) == {"k": [text]}
