"""The agent's notes: what is wrong with memories and tasks, and what is mended without asking."""

from __future__ import annotations

from itertools import count

import pytest

from hindbrain.memory.notes.lint_lines import by_id, check_agent_note, is_agents, memory_places, mend
from hindbrain.vault.layout import Layout, built_in
from hindbrain.vault.lint import LintProblem

FACT = "Agent/Memory/fact.md"
HEAD = "---\ntype: memory\ncreated: 2026-01-01\n---\n# Memory: fact\n\n"


@pytest.fixture
def layout() -> Layout:
    return built_in("obsidian", "Agent")


def check(layout: Layout, text: str, path: str = FACT) -> list[LintProblem]:
    data = text.encode()
    return check_agent_note(layout, path, data, by_id(memory_places(layout, path, data)))


def codes(problems: list[LintProblem]) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in problems]


def mended(layout: Layout, text: str, path: str = FACT) -> str:
    numbers = count(1)

    def once(data: bytes) -> bytes:
        return mend(data, path=path, layout=layout, created="2026-05-05", new_id=lambda: f"m-{next(numbers)}")

    after = once(text.encode())
    assert once(after) == after
    return after.decode()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("- A [importance:: 0.8] [source:: user] [created:: 2026-02-20] ^m-a", []),
        ("- A [importance:: 1.5] ^m-a", ["bad_importance"]),
        ("- A [importance:: high] ^m-a", ["bad_importance"]),
        ("- A [importance:: nan] ^m-a", ["bad_importance"]),
        ("- A [source:: somebody] ^m-a", ["unknown_source"]),
        ("- A [created:: yesterday] ^m-a", ["bad_created"]),
        ("- ~~A~~ [superseded:: ^m-gone] ^m-a", ["unknown_superseded"]),
        ("- ~~A~~ [superseded:: B] ^m-a", ["unknown_superseded"]),
        ("- ~~A~~ [superseded:: ^m-b] ^m-a\n- B ^m-b", []),
        ("- A [related:: ^m-b, ^m-c] ^m-a\n- B ^m-b", ["unknown_related"]),
        ("- A typed by hand", ["missing_block_id"]),
        ("```\n- code [importance:: 7]\n```", []),
    ],
)
def test_a_memory_line_that_makes_no_sense_is_named(layout: Layout, line: str, found: list[str]) -> None:
    assert [problem.code for problem in check(layout, HEAD + line + "\n")] == found


def test_an_id_that_two_notes_have_is_named_in_both(layout: Layout) -> None:
    data, other = (HEAD + "- A ^m-a\n").encode(), "Agent/Memory/preference.md"
    places = by_id([*memory_places(layout, FACT, data), *memory_places(layout, other, b"- B\n- C ^m-a\n")])
    [problem] = check_agent_note(layout, FACT, data, places)
    assert (problem.line, problem.code) == (7, "duplicate_memory_id")
    assert repr(other) in problem.message and "line 2" in problem.message


def test_a_task_with_a_status_that_is_none_is_named(layout: Layout) -> None:
    lines = "- [ ] A [status:: in progress]\n- [ ] B [status:: soon]\n- no task [status:: x]\n"
    text = f"---\ntype: tasks\ncreated: 2026-01-01\n---\n# T\n\n{lines}"
    assert codes(check(layout, text, "Agent/Active Tasks.md")) == [(8, "unknown_status")]


def test_a_note_lacks_only_what_its_layout_gives_such_notes(layout: Layout) -> None:
    assert codes(check(layout, "# H\n", "Agent/Known Issues.md")) == [
        (1, "missing_type"),
        (1, "missing_created"),
    ]
    assert codes(check(layout, "# H\n", "Agent/Whatever.md")) == []
    assert codes(check(layout, "text\n", "Agent/Whatever.md")) == [(1, "missing_title")]
    assert codes(check(layout, "---\ntitle: T\n---\ntext\n", "Agent/Whatever.md")) == []


def test_ids_and_properties_are_added_and_nothing_else_changes(layout: Layout) -> None:
    before = (
        "\ufeff# Mine\r\n\r\n- Likes tea  \r\n- B ^m-b\r\n"
        "  - below it\r\n- two\r\n  lines [x:: y]\r\n> - quoted"
    )
    after = mended(layout, before)
    assert after == (
        "\ufeff---\r\ntype: memory\r\ncreated: 2026-05-05\r\n---\r\n"
        "# Mine\r\n\r\n- Likes tea ^m-1  \r\n- B ^m-b\r\n"
        "  - below it\r\n- two\r\n  lines [x:: y] ^m-2\r\n> - quoted"
    )
    assert check(layout, after) == []


def test_bytes_that_are_not_utf_8_survive_a_mending(layout: Layout) -> None:
    data = HEAD.encode() + b"- caf\xe9\n"
    after = mend(data, path=FACT, layout=layout, created="2026-05-05", new_id=lambda: "m-1")
    assert after == HEAD.encode() + b"- caf\xe9 ^m-1\n"


def test_a_broken_frontmatter_keeps_the_lines_below_mendable(layout: Layout) -> None:
    text = "---\na: b: c\n---\n# H\n\n- A\n"
    assert mended(layout, text) == text.replace("- A", "- A ^m-1")
    assert "missing_type" not in {problem.code for problem in check(layout, text)}


def test_what_is_not_the_agents_or_tells_agents_what_to_do_is_left_alone() -> None:
    layout = built_in("openclaw")
    for path in ("SOUL.md", "AGENTS.md", "IDENTITY.md"):
        if is_agents(layout, path):
            assert mended(layout, "- a\n", path) == "- a\n"
    own = built_in("obsidian", "Agent")
    data = b"---\ntags: ['#a']\n---\n- text\n"
    after = mend(data, path="Mine.md", layout=own, created="x", new_id=lambda: "m-1", agents=False)
    assert after == data.replace(b"#a", b"a")
    assert not is_agents(own, "Agents/x.md") and is_agents(own, "Agent/x.md")


@pytest.mark.parametrize("name", ["obsidian", "brain", "openclaw", "para"])
def test_the_first_notes_of_every_layout_are_clean(name: str) -> None:
    layout = built_in(name, "Agent")
    for role in layout.roles:
        names = {"date": "2026-05-05", "category": "fact", "name": "Tea"}
        path = layout.path(role, **names)
        text = layout.first_text(role, today="2026-05-05", **names)
        assert codes(check(layout, text, path)) == [], path
