"""Tasks in a real note, beside what its owner writes there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Ambiguous, NotFound, UsageError, VaultError
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.memory.tasks.task_line import TaskItem
from hindbrain.memory.tasks.task_names import same_aim
from hindbrain.memory.tasks.task_note import read_tasks, with_change, with_new_task
from hindbrain.memory.tasks.tasks import Tasks
from hindbrain.vault.layout import built_in
from hindbrain.vault.parse import split_lines
from workbench import Vault

PATH = "Agent/Active Tasks.md"


@pytest.fixture
def tasks(vault: Vault, make_app: Callable[..., App], clock: FakeClock) -> Tasks:
    app = make_app(vault.root)
    return Tasks(Notebook(vault.root, lambda: app.writer), built_in("obsidian", "Agent"), clock)


def is_one_insertion(before: bytes, after: bytes) -> bool:
    """Is `after` made from `before` by putting bytes in at one place?"""
    same = next((at for at, byte in enumerate(before) if byte != after[at]), len(before))
    return len(after) > len(before) and after[same:].endswith(before[same:])


def text_of(vault: Vault) -> str:
    return (vault.root / PATH).read_text(encoding="utf-8")


def test_the_first_task_makes_the_note(vault: Vault, tasks: Tasks) -> None:
    assert tasks.list() == []
    made = tasks.create("Renew the passport", details="photos\n- two", priority="high", project="Trip").task
    assert (made.status, made.path, made.section) == ("todo", PATH, "Tasks")
    assert text_of(vault).endswith(
        f"## Tasks\n- [ ] **Renew the passport** [priority:: high] #Trip ^{made.id}\n  photos\n  - two\n"
    )
    assert tasks.list() == [made]
    assert made.details == "photos\n- two"
    assert made.citation == f"[[Agent/Active Tasks#^{made.id}]]"


def test_a_task_goes_through_its_life(vault: Vault, tasks: Tasks) -> None:
    made = tasks.create("Write").task
    for status in ("in_progress", "blocked", "todo", "cancelled", "done"):
        assert tasks.update(made.id, status=status).status == status
    done = tasks.find("write")
    assert done.completed == "2026-05-15"
    assert tasks.list() == [] and tasks.list(status="done") == [done] == tasks.list(status="all")
    assert "[status::" not in text_of(vault).partition("\n## ")[2]


def test_notes_stand_below_the_task_with_their_day(vault: Vault, tasks: Tasks) -> None:
    vault.write(PATH, "- [ ] a\n  own line\n- [ ] b\n")
    tasks.update("a", status="todo", notes="[ ] not a task\n- nor this\n# nor this")
    assert text_of(vault) == (
        "- [ ] a\n  own line\n"
        "  - \\[ ] not a task\n    \\- nor this\n    \\# nor this (2026-05-15)\n- [ ] b\n"
    )
    assert [task.title for task in tasks.list()] == ["a", "b"]


def test_nothing_is_written_when_it_is_so_already(vault: Vault, tasks: Tasks) -> None:
    file = vault.write(PATH, "- [X] a")
    before = file.stat().st_mtime_ns
    assert tasks.update("A", status="done").status == "done"
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (b"- [X] a", before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Active\n- [ ] a\n  b\n\n## Done\n- [x] z\n", "## Active\n- [ ] a\n  b\n+\n\n## Done\n- [x] z\n"),
        ("## Done\n- [x] z\n\n## To-do\n", "## Done\n- [x] z\n\n## To-do\n+\n"),
        ("## ✅ Tasks\n## Done\n", "## ✅ Tasks\n+\n\n## Done\n"),
        ("- [ ] a\n\t- [ ] b\n\nProse.\n", "- [ ] a\n\t- [ ] b\n+\n\nProse.\n"),
        ("# Tasks\n\nIntro.\n\n## Home\n- [ ] a\n", "# Tasks\n\nIntro.\n\n+\n\n## Home\n- [ ] a\n"),
        ("# T\n\n## Completed\n- [x] z\n", "# T\n+\n\n## Completed\n- [x] z\n"),
        ("# T\n\nIntro.", "# T\n\nIntro.\n\n+\n"),
        ("---\ntags: [x]\n---\n", "---\ntags: [x]\n---\n\n+\n"),
        ("", "+\n"),
        ("## Tasks\r\n- [ ] a\r\n", "## Tasks\r\n- [ ] a\r\n+\r\n"),
        ("```\n- [ ] code\n```\n- [ ] a\n- [x] b\n", "```\n- [ ] code\n```\n- [ ] a\n+\n- [x] b\n"),
    ],
)  # fmt: skip
def test_a_new_task_goes_where_its_owner_looks_for_it(before: str, after: str) -> None:
    line = "- [ ] **n** ^t-n"
    changed = with_new_task(before.encode(), TaskItem("t-n", "n"), [], "x.md")[0].decode()
    assert changed == after.replace("+", line)


def test_code_that_is_never_closed_is_told_and_nothing_is_written(vault: Vault, tasks: Tasks) -> None:
    vault.write(PATH, "# T\n\n```\ncode\n")
    with pytest.raises(VaultError) as caught:
        tasks.create("x")
    assert caught.value.code == "vault"
    assert text_of(vault) == "# T\n\n```\ncode\n"


def test_boxes_in_code_are_no_tasks(vault: Vault, tasks: Tasks) -> None:
    vault.write(
        PATH, "```\n- [ ] code\n```\n\n    - [ ] indented code\n\n%%\n- [ ] comment\n%%\n\n- [ ] real\n"
    )
    assert [task.title for task in tasks.list()] == ["real"]


def test_tasks_below_headings_and_other_tasks_are_seen(vault: Vault, tasks: Tasks) -> None:
    vault.write(
        PATH,
        "## Home\n- [ ] a #x\n\tnote\n\t- [ ] b\n\t  deep\n\tafter\n"
        "> - [ ] quoted\n\n### Work\n1. [/] c #x/y\n",
    )
    found = tasks.list()
    assert [(task.title, task.section, task.line) for task in found] == [
        ("a", "Home", 2), ("b", "Home", 4), ("quoted", "Home", 7), ("c", "Work", 10),
    ]  # fmt: skip
    assert found[0].details == "note\nafter"
    assert [task.title for task in tasks.list(project="x")] == ["a", "c"]
    assert [task.title for task in tasks.list(project="X/Y")] == ["c"]


# Which task is meant


def test_a_task_is_named_by_id_title_or_nearly_its_title(vault: Vault, tasks: Tasks) -> None:
    made = tasks.create("Renew the passport").task
    tasks.create("Book a flight to Oslo")
    for name in (
        made.id,
        f"^{made.id}",
        "renew THE passport",
        " Renew  the passport. ",
        "Renew the pasport",
        "passport",
    ):
        assert tasks.find(name).id == made.id
    for name in ("Call Ada", "pass", ""):
        with pytest.raises(NotFound) as caught:
            tasks.update(name, status="done")
        assert caught.value.code == "not_found"


def test_two_tasks_of_one_name_are_told_apart_by_what_is_listed(vault: Vault, tasks: Tasks) -> None:
    first = tasks.create("Water the plants").task
    vault.write(PATH, text_of(vault) + "- [ ] water the plants\n- [ ] Water the plants\n")
    before = text_of(vault)
    with pytest.raises(Ambiguous) as caught:
        tasks.update("Water the plants", status="done")
    assert len(caught.value.candidates) == 3
    assert text_of(vault) == before
    lines = [tasks.find(name).line for name in caught.value.candidates]
    assert lines == sorted(set(lines)) and tasks.find(caught.value.candidates[0]).id == first.id
    tasks.update(caught.value.candidates[2], status="done")
    assert text_of(vault) == before.replace(
        "- [ ] Water the plants\n", "- [x] Water the plants [completion:: 2026-05-15]\n"
    )


@pytest.mark.parametrize("words", ["Buy", "buy", "oar", "new oar", "oar buy"])
def test_words_that_begin_or_stand_in_several_titles_are_not_guessed_between(
    vault: Vault, tasks: Tasks, words: str
) -> None:
    vault.write(PATH, "- [ ] Buy rope and an oar, new\n- [ ] Buy new oar\n- [ ] Sell the boat\n")
    before = text_of(vault)
    with pytest.raises(Ambiguous) as caught:
        tasks.update(words, status="done")
    assert caught.value.candidates == ("Buy rope and an oar, new (line 1)", "Buy new oar (line 2)")
    assert text_of(vault) == before


def test_the_only_title_that_has_the_words_is_meant(vault: Vault, tasks: Tasks) -> None:
    vault.write(PATH, "- [ ] Buy rope\n- [ ] Mend the oar\n")
    assert tasks.find("buy").title == "Buy rope"
    assert tasks.find("oar").title == "Mend the oar"
    with pytest.raises(NotFound) as caught:
        tasks.find("the")  # somewhere in a title, and says nothing
    assert caught.value.code == "not_found"


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "1. ", "- [ ] ", "[ ] "])
def test_the_mark_of_a_list_is_no_part_of_a_title(vault: Vault, tasks: Tasks, mark: str) -> None:
    assert tasks.create(f"{mark}Fix the oar").task.title == "Fix the oar"


def test_of_several_the_only_open_one_is_meant(vault: Vault, tasks: Tasks) -> None:
    vault.write(PATH, "- [x] Water the plants\n- [x] Water the plants\n- [ ] Water the plants\n")
    assert tasks.find("water the plants").line == 3


def test_two_that_are_equally_near_are_not_guessed_between(vault: Vault, tasks: Tasks) -> None:
    vault.write(PATH, "- [ ] Review report A\n- [ ] Review report B\n")
    with pytest.raises(Ambiguous):
        tasks.find("Review report")
    with pytest.raises(Ambiguous):
        tasks.find("Review report C")
    vault.write(PATH, "- [ ] Send the invoice to Ada\n- [ ] Send the invoices to Ada\n")
    with pytest.raises(Ambiguous):
        tasks.find("Send the invoce to Ada")
    assert tasks.find("send the invoices to ada").line == 2


def test_lines_that_a_person_reordered_are_still_known(vault: Vault, tasks: Tasks) -> None:
    made = [tasks.create(f"Number {word}").task for word in ("one", "two", "three")]
    head, _, body = text_of(vault).partition("## Tasks\n")
    lines = body.splitlines(keepends=True)
    vault.write(PATH, head + "## Later\n" + "".join(reversed(lines)))
    assert [task.id for task in tasks.list()] == [task.id for task in reversed(made)]
    assert tasks.update(made[1].id, status="done").title == "Number two"


# Bad input


@pytest.mark.parametrize("title", ["", " \n ", "x" * 10_000])
def test_titles_that_are_none_are_refused(vault: Vault, tasks: Tasks, title: str) -> None:
    with pytest.raises(UsageError):
        tasks.create(title)
    assert not (vault.root / PATH).exists()


def test_wrong_words_for_status_and_priority_are_refused(tasks: Tasks) -> None:
    for call in (
        lambda: tasks.create("x", priority="urgent"),
        lambda: tasks.update("x", status="finished"),
        lambda: tasks.list(status="finished"),
        lambda: tasks.create("x", details="y" * 60_000),
    ):
        with pytest.raises(UsageError):
            call()


def test_a_title_full_of_signs_stays_one_task(vault: Vault, tasks: Tasks) -> None:
    title = "a\n- [ ] b **c** `d*` [[E]] #f ^t-g [status:: done] %% <!-- $$ \\"
    made = tasks.create(title, details="# h\n\n- [x] sub ^t-sub\n---\n```\nopen code").task
    assert made.title == "a - [ ] b **c** `d*` [[E]] #f ^t-g [status:: done] %% <!-- $$ \\"
    after = tasks.create("after").task
    assert [task.title for task in tasks.list()] == [made.title, "after"]
    assert after.section == "Tasks"
    assert tasks.update(made.id, status="done").title == made.title


def test_a_note_in_utf_16_is_read_and_not_changed(vault: Vault, tasks: Tasks) -> None:
    data = "- [ ] a\n".encode("utf-16")
    vault.write(PATH, data)
    assert [task.title for task in tasks.list()] == ["a"]
    with pytest.raises(VaultError):
        tasks.update("a", status="done")
    assert (vault.root / PATH).read_bytes() == data


@pytest.mark.parametrize(
    "part", ["#a", "# ", " ", "#1", "*", "`", "[", "(a::", "^a ", "\\", "[[", "-> ", "#a "]
)
def test_a_line_of_any_length_is_read_in_linear_time(vault: Vault, tasks: Tasks, part: str) -> None:
    vault.write(PATH, f"- [ ] x {part * (200_000 // len(part))} z\n- [ ] y\n")
    assert tasks.find("y").line == 2


_LINE = st.sampled_from(
    [b"- [ ] **one** [priority:: high] ^t-one", b"- [/] two", b"\t* [ ] three (blocked)", b"plain \xff text",
     b"", b"# Tasks", b"```", b"  indented", b"---", b"> quote", b"%%", b"| a | b |", b"\xe2\x80\xa8",
     b"- item"]
)  # fmt: skip
_END = st.sampled_from([b"\n", b"\r\n", b"\r"])


@pytest.mark.promise("P5")
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(_LINE, _END), max_size=14),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["todo", "done", "blocked", "in_progress", "cancelled"]),
)
def test_only_the_lines_of_the_task_change(
    lines: list[tuple[bytes, bytes]], bom: bool, final: bool, status: str
) -> None:
    body = b"".join(text + end for text, end in lines)
    data = (b"\xef\xbb\xbf" if bom else b"") + (body if final else body + b"no end")
    for found in read_tasks(data, "x.md"):
        before = data.splitlines(keepends=True) if b"\xe2" not in data else None
        changed = with_change(data, found, status, [], "2026-05-15")[0]
        if before is not None:
            after = changed.splitlines(keepends=True)
            differing = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
            assert differing in ([], [found.start])
    try:
        added = with_new_task(data, TaskItem("t-new", "new"), ["below"], "x.md")[0]
    except VaultError:
        return
    assert is_one_insertion(data, added)


_WRITER = """
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.memory.tasks.tasks import Tasks
from hindbrain.vault.layout import built_in
from hindbrain.vault.write import VaultWriter

root, state, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
with VaultWriter(root, state, SystemClock()) as writer:
    tasks = Tasks(Notebook(root, lambda: writer), built_in("obsidian", "Agent"), SystemClock())
    for number in range(5):
        made = tasks.create(f"task {name} {number}").task
        if number % 2:
            tasks.update(made.id, status="done", notes=f"by {name}")
"""


@pytest.mark.promise("P3")
def test_processes_that_add_and_change_tasks_at_once_lose_nothing(vault: Vault, tmp_path: Path) -> None:
    state = tmp_path / "state-of-writers"
    state.mkdir()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(vault.root), str(state), str(number)], env=os.environ
        )
        for number in range(4)
    ]
    assert [process.wait(timeout=60) for process in running] == [0] * 4
    found = [one.task for one in read_tasks((vault.root / PATH).read_bytes(), PATH)]
    assert {task.title for task in found} == {f"task {a} {b}" for a in range(4) for b in range(5)}
    assert len({task.id for task in found}) == len(found) == 20
    assert sum(task.status == "done" for task in found) == 8
    assert all(task.details for task in found if task.status == "done")


_VAULTS = ("vault_jzhao", "vault_kepano", "vault_obsidian_help", "vault_oldwinter_zh")


@pytest.mark.promise("P5")
def test_tasks_of_real_vaults_change_alone(unpacked: Callable[[str], Path]) -> None:
    changed = 0
    for file in [file for name in _VAULTS for file in sorted(unpacked(name).rglob("*.md"))]:
        data = file.read_bytes()
        if not re.search(rb"\[.\] ", data):
            continue
        before = split_lines(data)
        for found in read_tasks(data, file.name):
            status = "done" if found.task.status != "done" else "todo"
            after = split_lines(with_change(data, found, status, [], "2026-05-15")[0])
            assert [at for at, line in enumerate(after) if line != before[at]] == [found.start]
            assert len(after) == len(before)
            changed += 1
    assert changed > 10


@pytest.mark.promise("P5")
def test_a_task_added_to_a_real_note_leaves_all_other_bytes(unpacked: Callable[[str], Path]) -> None:
    added = 0
    for file in [file for name in _VAULTS for file in sorted(unpacked(name).rglob("*.md"))[::25]]:
        data = file.read_bytes()
        try:
            after = with_new_task(data, TaskItem("t-new", "new"), ["below"], file.name)[0]
        except VaultError:
            continue  # a note that ends in open code, say: told, and left alone
        assert is_one_insertion(data, after)
        added += 1
    assert added > 100


def test_a_task_names_the_day_it_is_due_and_a_twin_without_one_gets_it(vault: Vault, tasks: Tasks) -> None:
    made = tasks.create("Pay the rent", due="2026-06-01", priority="high").task
    assert f"- [ ] **Pay the rent** [priority:: high] [due:: 2026-06-01] ^{made.id}\n" in text_of(vault)
    bare = tasks.create("Call Ada").task
    again = tasks.create("call ada", due="2026-06-02")
    assert (again.is_new, again.task.id, again.task.due) == (False, bare.id, "2026-06-02")
    assert f"- [ ] **Call Ada** [due:: 2026-06-02] ^{bare.id}\n" in text_of(vault)
    assert tasks.create("Call Ada", due="2026-07-01").task.due == "2026-06-02"
    with pytest.raises(UsageError):
        tasks.create("Sow", due="next Friday")


def test_a_task_is_done_on_the_day_that_is_named(vault: Vault, tasks: Tasks) -> None:
    tasks.create("Pay the rent")
    tasks.update("Pay the rent", status="done", on="2026-05-13")
    assert "[completion:: 2026-05-13]" in text_of(vault)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Renew the passport", "please renew my passport!", True),
        ("Run the tests", "Can you run the test?", True),
        ("Den Zahnarzt anrufen", "bitte den Zahnarzt anrufen", True),
        ("Send Ada's report to Bob", "Send Bob's report to Ada", False),
        ("Move the files from a to b", "Move the files to b from a", False),
        ("Renew the passport", "Don't renew the passport", False),
        ("Renew the passport", "Renew the passport of Ada", False),
        ("Fix issue 12", "Fix issue 13", False),
        ("Groceries", "groceries", False),
    ],
)
def test_two_texts_have_the_same_aim_when_only_small_words_differ(one: str, other: str, same: bool) -> None:
    assert same_aim(one, other) is same
    assert same_aim(other, one) is same
