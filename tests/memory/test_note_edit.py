"""Changes of memories in a note touch the lines of those memories and no other byte."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain.memory.items.note_edit import Add, Remove, Reword, Step, Strike, edit_note
from hindbrain.vault.items.item import MemoryItem, parse_items
from hindbrain.vault.lines import NoteLines

NOTE = (
    "---\nx: 1 # kept\n---\n# Memory\n\nSome text.\n\n"
    "- One ^m-1\n  goes on\n  - below\n* Two\n- Three ^m-3\n\nEnd"
)


def edited(data: str, *steps: Step, category: str = "fact") -> str:
    return edit_note(data.encode(), steps, path="Memory/fact.md", category=category).data.decode()


def item(memory_id: str, text: str, **other: object) -> MemoryItem:
    return MemoryItem(memory_id, text)._replace(**other)  # type: ignore[arg-type]


def test_a_memory_goes_with_everything_below_it() -> None:
    assert edited(NOTE, Remove(item("m-1", "One"))) == NOTE.replace("- One ^m-1\n  goes on\n  - below\n", "")


def test_a_line_without_an_id_is_found_by_its_words() -> None:
    assert edited(NOTE, Remove(item("", "Two", line=11))) == NOTE.replace("* Two\n", "")


def test_other_words_take_the_place_of_all_the_old_ones() -> None:
    after = edited(NOTE, Reword(item("m-1", "One goes on"), "Other"))
    assert after == NOTE.replace("- One ^m-1\n  goes on\n", "- Other ^m-1\n")


def test_every_line_of_the_words_is_struck_through_and_what_is_below_stays() -> None:
    after = edited(NOTE, Strike(item("m-1", "One goes on"), "m-3"))
    struck = "- ~~One~~ [superseded:: ^m-3] ^m-1\n  ~~goes on~~\n  - below\n"
    assert after == NOTE.replace("- One ^m-1\n  goes on\n  - below\n", struck)


def test_new_lines_follow_the_last_memory() -> None:
    after = edited(NOTE, Add(item("m-4", "Four")), Add(item("m-5", "Five")))
    four, five = (
        f"- {name} [importance:: 0.5] [source:: user] ^m-{n}\n" for n, name in ((4, "Four"), (5, "Five"))
    )
    assert after == NOTE.replace("- Three ^m-3\n", f"- Three ^m-3\n{four}{five}")


def test_the_same_steps_a_second_time_change_nothing() -> None:
    steps: list[Step] = [
        Add(item("m-4", "Four")),
        Strike(item("m-3", "Three"), "m-4"),
        Reword(item("m-1", "One goes on"), "Other", 0.9, "agent"),
    ]
    once = edited(NOTE, *steps)
    assert edited(once, *steps) == once


def test_a_memory_that_is_not_there_is_told() -> None:
    done = edit_note(NOTE.encode(), [Remove(item("m-9", "Nine"))], path="", category="fact")
    assert (done.data.decode(), done.done) == (NOTE, (False,))


def test_what_is_there_already_is_not_added_again() -> None:
    done = edit_note(NOTE.encode(), [Add(item("m-9", "THREE", source="agent"))], path="", category="fact")
    assert (done.data.decode(), done.twins["m-9"].id) == (NOTE, "m-3")
    exact = Add(item("m-9", "Three", source="web"), exactly=True, fields=(("approved", "2026-05-15"),))
    assert "[source:: web] [approved:: 2026-05-15] ^m-9" in edited(NOTE, exact)


def test_a_memory_that_was_corrected_meanwhile_is_not_added_a_second_time() -> None:
    assert edited(NOTE, Add(item("m-3", "Tree"))) == NOTE


def test_what_replaces_a_line_may_be_there_already() -> None:
    after = edited(NOTE, Add(item("m-9", "Three")), Strike(item("m-1", "One goes on"), "m-9"))
    assert "[superseded:: ^m-3] ^m-1" in after and "m-9" not in after


def test_a_note_without_a_memory_gets_its_first_one_at_the_end() -> None:
    line = "- One [importance:: 0.5] [source:: user] ^m-1\n"
    assert edited("# Memory\n\n", Add(item("m-1", "One"))) == f"# Memory\n\n{line}"
    assert edited("# Memory", Add(item("m-1", "One"))) == f"# Memory\n\n{line}"
    assert edited("", Add(item("m-1", "One"))) == line


_LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ["", "- Hand made", "  below", "* Starred ^m-1", "## Facts", "text", "```", "> q",
             "- [ ] Task ^m-2", "\t- deep"]
        ),
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=10),
    ),
    max_size=12,
)  # fmt: skip
_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@settings(max_examples=300, deadline=None)
@given(_LINES, _ENDS, st.booleans(), st.sampled_from(["fact", ""]))
def test_adding_leaves_every_other_byte_in_its_order(
    texts: list[str], end: str, closed: bool, category: str
) -> None:
    data = (end.join(texts) + (end if closed else "")).encode()
    after = edit_note(data, [Add(item("m-new", "Fresh words"))], path="", category=category).data
    before_lines, after_lines = NoteLines(data).texts, NoteLines(after).texts
    added = [line for line in after_lines if "^m-new" in line]
    assert len(added) == 1
    left = iter(after_lines)
    assert all(any(line == other for other in left) for line in before_lines)
    extra = len(after_lines) - len(before_lines)
    assert extra <= 5  # the line, and blank lines or a heading around it


@settings(max_examples=300, deadline=None)
@example(texts=["- Hand made", "\\"], end="\n", pick=0)
@given(_LINES, _ENDS, st.integers(0, 5))
def test_a_change_of_one_memory_leaves_the_others_as_they_were(texts: list[str], end: str, pick: int) -> None:
    data = end.join(texts).encode()
    items = parse_items(NoteLines(data).texts, path="", category="fact")
    if not items:
        return
    target = items[pick % len(items)]
    after = edit_note(data, [Strike(target, "m-9")], path="", category="fact").data
    now = parse_items(NoteLines(after).texts, path="", category="fact")
    assert [one.text for one in now] == [one.text for one in items]
    assert sum(one != other for one, other in zip(now, items, strict=True)) <= 1
    assert after.count(end.encode()) == data.count(end.encode())
