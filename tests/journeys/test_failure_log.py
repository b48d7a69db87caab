"""The failure log of the reference documents: an entry is never a lesson; a line typed by hand is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from journey_doors import CommandLine

# The entry of the reference's `recordVerificationRejection`, as it is appended to learning/failures.md, with
# the failures that it names as examples.
LOG = """# Failure Log

## 2026-02-19T09:12:00Z
- **Command:** Open Chrome and go to github
- **Score:** 45/100
- **Reason:** Wrong element clicked, ended up on bookmark bar
- **Lesson:** Review needed

## 2026-02-20T14:30:00Z
- **Command:** Navigate to github.com in Chrome
- **Score:** 38/100
- **Reason:** URL bar not focused, typed into page
"""
ONE_LINE = "- **Go to github** failed after 6 iterations: Clicked address bar but missed, hit tab bar\n"
TYPED = "- In Terminal, always check pwd before running git commands\n"
BOLD = "- **Chrome:** always use Cmd+L to focus the URL bar\n"
# What an earlier version wrote into .hindbrain/layout.toml: the failure log was the note of lessons.
OLD_BRAIN = """base = "brain"
folder = ""

[roles]
home = "_index.md"
profile = "identity/user-profile.md"
preferences = "identity/preferences.md"
tasks = "tasks/active-tasks.md"
task_log = "tasks/task-log.md"
templates = "tasks/task-templates/{name}.md"
apps = "knowledge/apps/{name}.md"
contacts = "knowledge/contacts.md"
projects = "knowledge/projects.md"
locations = "knowledge/locations.md"
memory = "knowledge/memory/{category}.md"
lessons = "learning/failures.md"
corrections = "learning/corrections.md"
patterns = "learning/patterns.md"
recent = "context/recent-actions.md"
summary = "context/daily-summary.md"
daily = "context/daily/{date}.md"
inbox = "context/inbox.md"
archive = "archive/{name}.md"
"""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _lessons(hb: CommandLine) -> list[str]:
    hb("learn")
    return [lesson["text"] for lesson in hb.data("lessons", "--all")["lessons"]]


@pytest.mark.parametrize("heading", ["# ", "## ", "### "])
@pytest.mark.parametrize("note", ["learning/failures.md", "learning/lessons.md"])
def test_an_entry_of_the_log_is_no_lesson_and_a_typed_line_is(
    hb: CommandLine, note: str, heading: str
) -> None:
    hb("init", "--layout", "brain")
    log = LOG.replace("## ", heading)
    _write(hb.root / note, log.replace("\n\n", f"\n\n{TYPED}{BOLD}{ONE_LINE}\n", 1))
    assert set(_lessons(hb)) == {TYPED.strip("- \n"), BOLD.strip("- \n")}
    assert (hb.root / note).read_text(encoding="utf-8").count("Score:** 45/100") == 1


@pytest.mark.parametrize("layout", ["obsidian", "openclaw"])
def test_a_log_in_the_note_of_lessons_is_no_lesson_in_other_layouts(hb: CommandLine, layout: str) -> None:
    hb("init", "--layout", layout)
    note = "Learning/Lessons.md" if layout == "obsidian" else "learning/lessons.md"
    _write(hb.root / note, f"{LOG}\n## Lessons\n\n{TYPED}")
    assert _lessons(hb) == [TYPED.strip("- \n")]


@pytest.mark.parametrize(
    ("layout", "note"),
    [("brain", "learning/failures.md"), ("openclaw", "learning/issues.md"), ("obsidian", "Known Issues.md")],
)
def test_what_was_logged_warns_before_the_same_command(hb: CommandLine, layout: str, note: str) -> None:
    hb("init", "--layout", layout)
    assert "<avoid_mistakes>" not in hb("context", "--preset", "agent", "Open Chrome and go to github").out
    _write(hb.root / note, LOG)
    pack = hb("context", "--preset", "agent", "Open Chrome and go to github").out
    assert "ended up on bookmark bar" in pack and "45/100" not in pack


def test_a_vault_with_the_old_table_keeps_its_places_and_works(hb: CommandLine) -> None:
    hb("init", "--layout", "brain")
    (hb.root / ".hindbrain/layout.toml").write_text(OLD_BRAIN, encoding="utf-8")
    (hb.root / "learning/lessons.md").unlink()
    _write(hb.root / "learning/failures.md", f"# Failures\n\n{TYPED}\n{LOG.partition('# Failure Log')[2]}")
    assert _lessons(hb) == [TYPED.strip("- \n")]
    pack = hb("context", "--preset", "agent", "Open Chrome and go to github").out
    assert "ended up on bookmark bar" in pack
    hb("consolidate")
    assert not (hb.root / "learning/lessons.md").exists()
