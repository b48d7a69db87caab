"""The lines of the inbox note: written, read, taken away, and nothing else touched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.memory.inbox.inbox_note import (
    Proposal,
    add_lines,
    change_text,
    one_line,
    read_line,
    read_lines,
    render,
    take_lines,
)
from hindbrain.vault.items.category import CATEGORIES
from hindbrain.vault.origin import SOURCES

NOTE = "# Inbox\n\nHelp.\n\n- [ ] remember: Likes tea [source:: web] ^p-aaaa\n- [ ] buy milk\n\nEnd"

texts = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("[]():\\^ p-::"), min_size=1, max_size=60
).map(one_line)


@given(texts.filter(bool), st.sampled_from(CATEGORIES), st.sampled_from(SOURCES), st.floats(0, 1))
@settings(max_examples=300)
def test_a_line_says_what_was_proposed(text: str, category: str, source: str, importance: float) -> None:
    importance = round(importance, 3)
    proposal = Proposal("p-abc123", text, category, importance, source, "third-party text", ("travel", "eu"))
    line = read_line(render(proposal))
    assert line is not None
    assert line.proposal == proposal
    assert line.mark == "waiting"


@pytest.mark.parametrize(
    "text",
    [
        "Likes tea [source:: user]",
        "x (category:: fact)",
        "ends with ^p-zzzz",
        "[importance:: 1] [x]",
        r"a [b\:: c]",
    ],
)
def test_a_proposed_text_cannot_pass_for_a_field_of_ours(text: str) -> None:
    line = read_line(render(Proposal("p-abc123", text, source="web")))
    assert line is not None
    assert (line.proposal.text, line.proposal.source, line.proposal.id) == (text, "web", "p-abc123")


@pytest.mark.parametrize(
    ("raw", "mark"),
    [
        ("- [x] remember: tea", "accepted"),
        ("* [X] Remember:   tea", "accepted"),
        ("  + [-] remember: tea", "refused"),
        ("3. [ ] remember: tea", "waiting"),
        ("- [?] remember: tea", "waiting"),
    ],
)
def test_boxes_are_read_as_people_type_them(raw: str, mark: str) -> None:
    line = read_line(raw)
    assert line is not None
    assert (line.mark, line.proposal.text) == (mark, "tea")


@pytest.mark.parametrize("raw", ["- remember: tea", "- [ ] tea", "remember: tea", "- [xx] remember: tea", ""])
def test_other_lines_are_no_proposals(raw: str) -> None:
    assert read_line(raw) is None


def test_what_a_person_moved_or_spoiled_is_read_as_well_as_it_can_be() -> None:
    line = read_line(
        "- [x] remember: [source:: web] Likes tea ^p-aaaa a lot [importance:: high] [category:: x]"
    )
    assert line is not None
    assert line.proposal == Proposal("p-aaaa", "Likes tea a lot", "fact", 0.5, "web", "", (), "")


def test_a_line_with_two_sources_has_the_lesser_trust() -> None:
    line = read_line("- [x] remember: tea [source:: web] [source:: user]")
    assert line is not None
    assert line.proposal.source == "web"


def test_lines_in_code_are_examples() -> None:
    data = b"```\n- [x] remember: an example\n```\n- [x] remember: real\n"
    assert [line.proposal.text for line in read_lines(data, "Inbox.md")] == ["real"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_adding_and_taking_leaves_every_other_byte(start: str, end: str) -> None:
    before = (start + NOTE.replace("\n", end)).encode() + b"\xff\xfe bad"
    new = render(Proposal("p-bbbb", "Has a dog"))
    added = add_lines(before, [new], "Inbox.md")
    assert [line.proposal.id for line in read_lines(added, "Inbox.md")] == ["p-aaaa", "p-bbbb"]
    assert added.replace(new.encode() + end.encode(), b"", 1) == before
    mine = [line for line in read_lines(added, "Inbox.md") if line.proposal.id == "p-bbbb"]
    assert take_lines(added, mine, "Inbox.md") == before


def test_a_note_without_a_final_line_end_gets_one_before_a_new_line() -> None:
    assert add_lines(b"# Inbox", ["- x"], "Inbox.md") == b"# Inbox\n\n- x\n"


def test_what_stands_beneath_a_line_is_not_orphaned() -> None:
    data = b"- [x] remember: tea\n  - from Ann\n- [-] remember: milk\n\tno\n- [x] remember: bread\n"
    left = take_lines(data, read_lines(data, "Inbox.md"), "Inbox.md")
    assert left == b"- [x] remembered: tea\n  - from Ann\n- [-] refused: milk\n\tno\n"
    assert read_lines(left, "Inbox.md") == []


def test_a_line_that_was_edited_meanwhile_is_not_taken() -> None:
    read = read_lines(b"- [x] remember: tea ^p-aaaa\n", "Inbox.md")
    now = b"new first line\n- [x] remember: green tea ^p-aaaa\n"
    assert take_lines(now, read, "Inbox.md") == now


def test_a_line_that_moved_is_found() -> None:
    read = read_lines(b"- [x] remember: tea ^p-aaaa\n", "Inbox.md")
    assert take_lines(b"new\n\n- [x] remember: tea ^p-aaaa\n", read, "Inbox.md") == b"new\n\n"


def test_a_corrected_text_keeps_the_fields_and_the_rest() -> None:
    data = NOTE.encode()
    changed = change_text(data, read_lines(data, "x")[0], "Likes [green:: x] tea", "Inbox.md")
    line = read_lines(changed, "x")[0]
    assert line.proposal == Proposal("p-aaaa", "Likes [green:: x] tea", source="web")
    lines, before = changed.splitlines(), data.splitlines()
    assert lines[:4] + lines[5:] == before[:4] + before[5:]
