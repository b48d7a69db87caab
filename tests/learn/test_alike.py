"""Commands that ask for the same are alike, whatever they fill in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.alike import grouped, masked, parts_of, rarity_of, vectors_of, words_of
from hindbrain.models.fake import FakeEmbedder


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("open https://github.com/a/b?c=1 now", "open <url> now"),
        ("send an email to eve@example.org", "send an email to <email>"),
        ('write "buy milk" into ~/notes/todo.md', "write <text> into <path>"),
        ("cancel reservation HXDUBJ12 for 3 people", "cancel reservation <id> for <n> people"),
        ("search the web for {text}", "search the web for <text>"),
        ("it's what I don't want", "it's what I don't want"),
    ],
)
def test_what_varies_is_masked(command: str, plain: str) -> None:
    assert masked(command) == plain


def test_the_parts_of_a_command_are_what_it_names() -> None:
    assert parts_of("mail eve@example.org about https://lwn.net, twice 12") == {
        "eve@example.org",
        "https://lwn.net",
    }
    assert parts_of("search the web for {text}") == frozenset()


@pytest.mark.parametrize("embedder", [None, FakeEmbedder()])
def test_commands_that_differ_in_what_they_fill_in_are_alike(embedder: FakeEmbedder | None) -> None:
    rows = vectors_of(
        ["open github.com in Chrome", "open lwn.net in Chrome", "book a table for two"], embedder
    )
    near = rows @ rows.T
    assert near[0, 1] > 0.9 and near[0, 2] < 0.3


def test_words_count_by_what_they_tell() -> None:
    commands = ["change my flight to Rome", "change my flight to Oslo", "change my seat in the flight"] * 5
    commands += ["change the flight, downgrade it to economy", "change the flight, cancel the insurance"]
    plain = vectors_of(commands, None)
    telling = vectors_of(commands, None, rarity=rarity_of(commands))
    assert telling[-1] @ telling[-2] < plain[-1] @ plain[-2]


def test_groups_do_not_change_with_what_comes_later() -> None:
    commands = ["open a.com in Chrome", "send a mail to Bo", "open b.com in Chrome", "send a mail to Ann"]
    rows = vectors_of(commands, None)
    assert grouped(rows, 0.6) == [[0, 2], [1, 3]]
    assert grouped(rows[:3], 0.6) == [[0, 2], [1]]
    assert grouped(rows[:0], 0.6) == []


@given(st.lists(st.text(max_size=60), max_size=8))
def test_any_texts_give_vectors_of_length_one_or_zero(texts: list[str]) -> None:
    rows = vectors_of(texts, None, rarity=rarity_of(texts))
    assert rows.shape[0] == len(texts)
    for text, row in zip(texts, rows, strict=True):
        length = float(row @ row)
        assert abs(length - (1.0 if words_of(text) else 0.0)) < 1e-4
