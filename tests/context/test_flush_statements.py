"""A flush file as models type it becomes statements that each can be understood alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.context.flush.statements import Statement, statements_of


def told(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in statements_of(text)]


def test_bullets_say_their_kind_in_front_or_by_their_heading() -> None:
    text = """\
---
tags: [x]
---
# Memory flush 2026-05-15

- Decision: the gateway stays on port 18789
- **Preference:** short answers in the morning
- Fact: Anna Berg leads the migration
- To do: renew the certificate

## Decisions
1. Postgres 16 replaces MySQL

## Open tasks
* [ ] book the train
* [x] the visa was sent
"""
    assert told(text) == [
        ("Decision", "the gateway stays on port 18789"),
        ("Preference", "short answers in the morning"),
        ("", "Anna Berg leads the migration"),
        ("To do", "renew the certificate"),
        ("Decision", "Postgres 16 replaces MySQL"),
        ("To do", "book the train"),
        ("Done", "the visa was sent"),
    ]


def test_a_heading_that_tells_and_a_line_with_a_colon_go_in_front() -> None:
    text = (
        "## 14:30 - Notes\n- The cat is called Mia\n\n"
        "## Acme migration\n- Servers:\n  - alpha is retired\n- done on Friday\n"
    )
    assert told(text) == [
        ("", "The cat is called Mia"),
        ("", "Acme migration: Servers: alpha is retired"),
        ("", "Acme migration: done on Friday"),
    ]


def test_paragraphs_quotes_tables_and_code_are_not_lost() -> None:
    text = (
        "The lease ends\nin June.\n\n> Anna said the code is fine\n\n"
        "| who | when |\n|---|---|\n| Ben | May |\n\n```sh\nmake release\n```\n"
    )
    assert told(text) == [
        ("", "The lease ends in June."),
        ("", "Anna said the code is fine"),
        ("", "who | when"),
        ("", "Ben | May"),
        ("", "`make release`"),
    ]


def test_what_says_nothing_is_no_statement() -> None:
    assert told("") == []
    assert told("NO_REPLY\n") == []
    assert told("# 2026-05-15\n\n---\n\n- \n- ~~gone~~\n<!-- hidden -->\n%% hidden %%\n") == []


def test_the_same_words_are_one_statement() -> None:
    assert told("- The cat is called Mia\n- the cat is called mia\n- [[Cats|The cat]] is called Mia\n") == [
        ("", "The cat is called Mia")
    ]


def test_a_very_long_statement_is_taken_apart_and_nothing_of_it_is_lost() -> None:
    sentences = [f"Sentence number {n} tells something of its own." for n in range(100)]
    parts = statements_of("- " + " ".join(sentences))
    assert len(parts) > 3
    assert " ".join(part.text for part in parts) == " ".join(sentences)


@given(st.text(max_size=400))
def test_any_text_gives_lines(text: str) -> None:
    for one in statements_of(text):
        assert isinstance(one, Statement)
        assert one.text == " ".join(one.text.split())
        assert one.text
