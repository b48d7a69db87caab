"""One line, one task: what is written is read again, and what people type is understood."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.memory.tasks.task_line import (
    MAX_TITLE,
    PRIORITIES,
    STATUSES,
    TaskItem,
    clean_title,
    project_tag,
    read_task,
    render_task,
    with_status,
)
from hindbrain.memory.tasks.task_note import read_tasks
from hindbrain.vault.items.item_text import fold

TODAY = "2026-05-15"


def test_a_new_task_reads_as_the_format_says() -> None:
    task = TaskItem("t-abc123", "Renew the passport", priority="high", project="travel")
    assert render_task(task) == "- [ ] **Renew the passport** [priority:: high] #travel ^t-abc123"


@pytest.mark.parametrize(
    ("line", "title", "status", "priority", "project"),
    [
        ("- [ ] buy milk", "buy milk", "todo", "medium", ""),
        ("* [X] buy milk", "buy milk", "done", "medium", ""),
        ("+ [x] buy milk", "buy milk", "done", "medium", ""),
        ("1. [/] buy milk", "buy milk", "in_progress", "medium", ""),
        ("\t- [-] buy milk", "buy milk", "cancelled", "medium", ""),
        ("> - [ ] buy milk", "buy milk", "todo", "medium", ""),
        ("- [!] buy milk", "buy milk", "todo", "medium", ""),
        ("- [ ] **buy milk** [high] #home (in_progress)", "buy milk", "in_progress", "high", "home"),
        ("- [ ] **buy milk** [low] (blocked)", "buy milk", "blocked", "low", ""),
        ("- [ ] **buy** milk today", "buy milk today", "todo", "medium", ""),
        ("- [ ] buy milk [status:: blocked]", "buy milk", "blocked", "medium", ""),
        ("- [x] buy milk [status:: blocked]", "buy milk", "done", "medium", ""),
        ("- [ ] buy milk (status:: in progress)", "buy milk", "in_progress", "medium", ""),
        ("- [ ] buy milk [priority:: HIGH]", "buy milk", "todo", "high", ""),
        ("- [ ] buy milk [priority:: urgent]", "buy milk", "todo", "medium", ""),
        ("- [ ] buy milk ⏫ 📅 2026-05-20", "buy milk", "todo", "high", ""),
        ("- [ ] ask about #rust first", "ask about #rust first", "todo", "medium", "rust"),
        ("- [ ] issue #42", "issue #42", "todo", "medium", ""),
        ("- [ ] see [[A/B|b]] and [c](x.md)", "see [[A/B|b]] and [c](x.md)", "todo", "medium", ""),
        ("- [ ] run `rm [high] ^x`", "run `rm [high] ^x`", "todo", "medium", ""),
    ],
)  # fmt: skip
def test_what_people_type_is_understood(
    line: str, title: str, status: str, priority: str, project: str
) -> None:
    task = read_task(line)
    assert task is not None
    assert (task.title, task.status, task.priority, task.project) == (title, status, priority, project)


@pytest.mark.parametrize(
    "line", ["- buy milk", "[ ] buy milk", "- [ ]", "- [ ]   ", "- [] x", "text - [ ] x", ""]
)
def test_a_line_without_a_box_or_words_is_no_task(line: str) -> None:
    assert read_task(line) is None


_TOKENS = st.sampled_from(
    ["**", "*", "`", "``", "\\", "%%", "<!--", "-->", "$$", "[[x]]", " ^t-x", "#tag", " (blocked)", "[x:: y]",
     "[high]", "a", "b ", " ", "- [ ] ", "✅ 2026-01-01", "~~", "===", "\n"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(st.lists(_TOKENS, max_size=8).map("".join), st.text(max_size=40)),
    st.sampled_from(STATUSES),
    st.sampled_from(PRIORITIES),
    st.sampled_from(["", "travel", "work/boat", "Größe"]),
)
def test_whatever_the_title_it_is_read_as_it_was_given(
    title: str, status: str, priority: str, project: str
) -> None:
    try:
        clean = clean_title(title)
        clean.encode()
    except (UsageError, UnicodeEncodeError):
        return
    task = TaskItem("t-abc", clean, status, priority, project, completed=TODAY if status == "done" else "")
    after = "- [ ] **next** [priority:: low] ^t-next\n"
    found = [one.task for one in read_tasks(f"{render_task(task)}\n{after}".encode(), "x.md")]
    assert [one.id for one in found] == ["t-abc", "t-next"]
    assert found[0]._replace(path="", line=0) == task


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from("*`\\[]()#^%$<!-> ab🔼"), max_size=30),
    st.lists(st.sampled_from(STATUSES), min_size=1, max_size=4),
)
def test_a_line_typed_by_hand_keeps_its_words_through_any_change_of_status(
    text: str, states: list[str]
) -> None:
    line = f"- [ ] {fold(text)}"
    task = read_task(line)
    if task is None:
        return
    for status in states:
        line = with_status(line, status, TODAY)
        now = read_task(line)
        assert now is not None
        assert (now.title, now.status, now.id, now.project) == (task.title, status, task.id, task.project)


@pytest.mark.parametrize(
    ("line", "status", "expected"),
    [
        ("- [ ] milk", "done", "- [x] milk [completion:: 2026-05-15]"),
        ("- [ ] milk ^t-1", "done", "- [x] milk [completion:: 2026-05-15] ^t-1"),
        ("- [x] milk [completion:: 2020-01-01] ^t-1", "todo", "- [ ] milk ^t-1"),
        ("\t* [ ] milk  ", "in_progress", "\t* [/] milk  "),
        ("- [ ] milk", "blocked", "- [ ] milk [status:: blocked]"),
        ("- [ ] milk [status:: blocked] #x ^t-1", "in_progress", "- [/] milk #x ^t-1"),
        ("- [ ] **milk** [high] (blocked)", "cancelled", "- [-] **milk** [high]"),
        ("> - [ ] milk", "done", "> - [x] milk [completion:: 2026-05-15]"),
        ("- [ ] **a (blocked) [status:: x]** x", "todo", "- [ ] **a (blocked) [status:: x]** x"),
    ],
)
def test_only_the_signs_of_the_status_change(line: str, status: str, expected: str) -> None:
    assert with_status(line, status, TODAY) == expected


@pytest.mark.parametrize("title", ["", "   ", "\n\t", "\0", "x" * (MAX_TITLE + 1), "x" * 10_000])
def test_a_title_that_is_none_is_refused(title: str) -> None:
    with pytest.raises(UsageError):
        clean_title(title)


def test_a_title_over_several_lines_becomes_one() -> None:
    assert clean_title(" buy\r\n  milk\u2028now ") == "buy milk now"


@pytest.mark.parametrize(
    ("project", "tag"),
    [("", ""), ("travel", "travel"), ("#travel", "travel"), ("My Trip!", "My-Trip"), ("2026", "project-2026"),
     ("work/boat", "work/boat"), ("C++", "C"), ("größe", "größe"), ("日本", "日本")],
)  # fmt: skip
def test_a_project_is_a_tag_that_obsidian_reads(project: str, tag: str) -> None:
    assert project_tag(project) == tag
    if tag:
        task = read_task(f"- [ ] x #{tag}")
        assert task is not None and task.project == tag


def test_a_project_without_a_letter_is_refused() -> None:
    with pytest.raises(UsageError):
        project_tag("!!!")


@pytest.mark.parametrize("status", STATUSES)
def test_whose_word_a_task_is_survives_every_change(status: str) -> None:
    line = render_task(TaskItem("t-abc123", "Call [source:: user] Ada", project="home", source="web"))
    assert line.endswith(" #home [source:: web] ^t-abc123")
    again = read_task(with_status(line, status, TODAY))
    assert again is not None
    assert (again.source, again.status, again.title) == ("web", status, "Call [source:: user] Ada")


def test_a_task_that_names_no_source_of_ours_says_nothing_of_it() -> None:
    for line in ("- [ ] buy milk", "- [ ] read it [source:: Times]"):
        task = read_task(line)
        assert task is not None and task.source == ""
