"""After a run: the log, the day, the present and known issues say what happened, and say it once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from recording_runs import CHROME, Book, do, run

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.pages.desk import Desk
from hindbrain.learn.pages.drafts import DraftNotes
from hindbrain.learn.recording.issues import find_issues
from hindbrain.learn.recording.recorder import Recorded, Recorder
from hindbrain.learn.runs.episode import Episode, Rejection
from hindbrain.memory.notes.own_lines import OwnLines
from hindbrain.vault.parse import parse_note
from workbench import NOW, Vault

OPEN = run(1, "Open Chrome and go to github.com", score=92, iterations=4, actions=CHROME, app="Chrome")
FAILED = run(
    2, "Open github.com", "failed", ago=500, score=45, iterations=6, app="Chrome",
    reason="Wrong element clicked, ended up on bookmark bar",
    actions=(CHROME[0], do("click", "bookmark bar", app="Chrome")),
)  # fmt: skip


@pytest.fixture
def book(vault: Vault, make_app: Callable[..., App]) -> Book:
    return Book(vault, make_app(vault.root))


def again(episode: Episode, number: int, *, later: float = 60) -> Episode:
    return episode._replace(
        run=f"r-{number:04d}", started=episode.started + later, ended=episode.ended + later
    )


def test_the_task_log_reads_as_the_reference_says(book: Book) -> None:
    assert book.record(OPEN).runs == 1
    assert book.body("task_log").endswith(
        "\n## 2026-05-15T11:50:00Z\n"
        '- **Command:** "Open Chrome and go to github.com" ^r-0001\n'
        "- **Outcome:** Success (score: 92)\n"
        "- **Iterations:** 4\n"
        "- **Key actions:** open_application(Chrome), click(URL bar), type_text(github.com), "
        "press_key(return)\n"
        "- **Duration:** 45s\n"
    )
    note = parse_note(book.text("task_log"), stem="Task Log")
    assert note.frontmatter["source"] == "tool" and [one.id for one in note.block_ids] == ["r-0001"]


def test_actions_that_repeat_are_folded_and_the_middle_of_many_is_left_out(book: Book) -> None:
    steps = (*(do("scroll", "down") for _ in range(3)), *(do("click", str(i)) for i in range(40)))
    book.record(OPEN._replace(actions=steps))
    told = next(line for line in book.text("task_log").split("\n") if "Key actions" in line)
    first = ", ".join(f"click({i})" for i in range(11))
    last = ", ".join(f"click({i})" for i in range(28, 40))
    assert told == f"- **Key actions:** scroll(down) x3, {first}, …, {last}"


def test_the_day_has_a_line_for_each_run_among_its_events(book: Book) -> None:
    yesterday = run(3, "Water the plants", ago=86_400, iterations=1)
    book.record(yesterday, OPEN, FAILED)
    assert "\n## Events\n" in book.body("daily", date="2026-05-15")
    body = book.body("daily", date="2026-05-15")
    assert "## Session Start\n- **Time**: 11:50\n- **Context**: Open Chrome and go to github.com" in body
    assert "## Session End\n- **Time**: 1" in body
    assert body.endswith("## Notes for Tomorrow\n- Retry: Open github.com [source:: tool]\n")
    lines = [line for line in body.split("\n") if line.startswith("- [")]
    log = book.desk().path("task_log").removesuffix(".md")
    assert [line.partition("] ")[2] for line in lines] == [
        "`done` Open Chrome and go to github.com (score: 92) (4 iterations) "
        f"[[{log}#^r-0001|log]] [source:: tool] ^r-0001",
        "`failed` Open github.com (score: 45) — Wrong element clicked, ended up on bookmark bar "
        f"(6 iterations) [[{log}#^r-0002|log]] [source:: tool] ^r-0002",
    ]
    assert "^r-0001\n" in book.text("task_log") and "^r-0002\n" in book.text("task_log")
    assert "`done` Water the plants (1 iteration)" in book.body("daily", date="2026-05-14")


def test_what_failed_yesterday_and_works_today_no_longer_remains(book: Book, clock: FakeClock) -> None:
    book.record(FAILED)
    clock.advance(86_400)
    assert "- Retry: Open github.com" in book.body("daily", date="2026-05-15")
    book.record(FAILED, run(4, "Open github.com", ago=600 - 86_400))
    assert "Retry" not in book.body("daily", date="2026-05-15")


def test_what_stands_in_a_daily_note_stays_and_lines_join_its_events(book: Book, vault: Vault) -> None:
    path = book.desk().path("daily", date="2026-05-15")
    vault.write(path, b"# My day\r\n\r\n## Events\r\n- [08:00] got up\r\n\r\n## Evening\r\nread\r\n")
    book.record(OPEN)
    data = (vault.root / path).read_bytes()
    start, _, rest = data.partition(b"## Events\r\n- [08:00] got up\r\n- [")
    assert start.startswith(b"# My day\r\n\r\n## Session Start\r\n- **Time**")
    assert b"^r-0001\r\n\r\n## Session End\r\n" in rest and rest.endswith(b"\r\n\r\n## Evening\r\nread\r\n")


def test_one_write_for_each_note_whatever_the_number_of_runs(book: Book) -> None:
    runs = [run(i, f"Open page {i}.com", ago=6000 - i, iterations=1) for i in range(100)]
    book.record(*runs)
    log = book.desk().path("task_log")
    assert len(book.app.writer.history(log)) == 1
    assert len(book.app.writer.history(book.desk().path("daily", date="2026-05-15"))) == 1


def test_the_status_says_what_was_last_and_what_is_open(book: Book, vault: Vault) -> None:
    path = book.desk().path("status")
    vault.write(path, book.desk().layout.first_text("status", today="2026-05-15") + "\n## Mine\n\nA word.\n")
    cancelled = run(3, "Send the report to Ada", "cancelled", ago=400)
    book.record(FAILED, cancelled, run(4, "Book a table", ago=300, score=88, iterations=2))
    text = book.text("status")
    assert text.endswith("## Mine\n\nA word.\n\n## Last run\n\n" + "\n".join((
        "- **Last active:** 2026-05-15T11:55:45Z",
        '- **Last command:** "Book a table" [source:: tool]',
        "- **Last outcome:** Success (score: 88)",
        '- **Open:** "Send the report to Ada" (cancelled 2026-05-15) [source:: tool]',
        '- **Open:** "Open github.com" (failed 2026-05-15) [source:: tool]',
    )) + "\n")  # fmt: skip
    assert "Nothing has been recorded" not in text
    done = run(5, "Open github.com in Chrome", ago=100)
    book.record(FAILED, cancelled, run(4, "Book a table", ago=300, score=88, iterations=2), done)
    assert "Open github.com" in book.text("status") and "(failed" not in book.text("status")
    assert "(cancelled" in book.text("status") and "A word." in book.text("status")


DAY_S = 86_400.0


def test_recent_actions_are_the_last_five_of_seven_days_with_their_day(book: Book, clock: FakeClock) -> None:
    """What is no longer recent stands in the summary of its day, in a short line with a link."""
    old = run(1, "Open the door", ago=8 * DAY_S, answer="It is open.")
    early = run(2, "Paint the door", ago=6 * DAY_S, answer="It is red.")
    late = run(3, "Close the door", "failed", ago=600, reason="It is stuck")
    book.record(old, early, late)
    assert book.body("recent").endswith(
        "\n## Last 7 days\n\n"
        "1. [Sat 9 May 12:00] Paint the door (success) — It is red. ^r-0002\n"
        "2. [Fri 15 May 11:50] Close the door (failed) — It is stuck ^r-0003\n"
    )
    clock.advance(2 * DAY_S)
    book.record(old, early, late)
    assert book.body("recent").endswith(
        "\n\n1. [Fri 15 May 11:50] Close the door (failed) — It is stuck ^r-0003\n"
    )
    log = book.desk().path("task_log").removesuffix(".md")
    assert book.body("summary").endswith(
        f"\n## Actions of 2026-05-09\n\n- Paint the door (success, [[{log}#^r-0002|12:00]])\n"
    )
    more = [run(n, f"Clean window {n}", started=clock.now() - 700 + n) for n in range(4, 10)]
    book.record(old, early, late, *more)
    listed = [line.rpartition("^")[2] for line in book.body("recent").split("\n") if "^r-" in line]
    assert listed == ["r-0005", "r-0006", "r-0007", "r-0008", "r-0009"]
    before = book.text("summary")
    book.record(old, early, late, *more)
    assert book.text("summary") == before and "r-0003" in before


def test_a_note_of_the_last_two_hours_becomes_one_of_seven_days(book: Book, vault: Vault) -> None:
    first, second = run(1, "Open the door", ago=900), run(2, "Close it", ago=800)
    book.record(first)
    path = book.desk().path("recent")
    former = (
        book.text("recent")
        .replace("## Last 7 days", "## Last 2 hours")
        .replace("[Fri 15 May 11:45]", "[11:45]")
    )
    former = former.replace(
        "The last five runs of the last seven days, the newest last.",
        "What was done in the last two hours, the newest last.",
    )
    vault.write(path, former)
    book.desk().own.note(path, ["## Last 2 hours", "1. [11:45] Open the door (success) ^r-0001"])
    book.record(first, second)
    text = book.text("recent")
    assert "hours" not in text and text.count("## ") == 1
    assert "1. [Fri 15 May 11:45] Open the door (success) ^r-0001\n2. [Fri 15 May 11:46] Close it" in text


def test_a_recent_line_that_its_owner_changed_stays_and_one_that_they_deleted_is_gone(
    book: Book, vault: Vault, clock: FakeClock
) -> None:
    runs = [run(1, "Open the door", ago=900), run(2, "Close it", ago=800), run(3, "Paint it", ago=700)]
    book.record(*runs)
    path = book.desk().path("recent")
    text = book.text("recent").replace("Open the door", "Open the **red** door")
    vault.write(path, "\n".join(line for line in text.split("\n") if "Close it" not in line) + "\nMine.\n")
    clock.advance(7 * DAY_S)
    book.record(*runs)
    assert "Paint it" in book.body("summary") and "Close it" not in book.body("summary")
    left = [line for line in book.body("recent").split("\n") if line.strip()][2:]
    assert left == [
        "## Last 7 days", "1. [Fri 15 May 11:45] Open the **red** door (success) ^r-0001", "Mine.",
    ]  # fmt: skip


def test_a_failure_is_a_known_issue_once_and_counted(book: Book) -> None:
    other = FAILED._replace(run="r-0009", command="Open gitlab.com", started=NOW - 300, ended=NOW - 250)
    assert book.record(FAILED).issues == 1
    name = find_issues([FAILED])[0].id
    assert book.body("issues").partition("## Open\n")[2].partition("## Solved")[0] == (
        "\n### 2026-05-15T11:51:40Z\n"
        f'- **Command:** "Open github.com" [source:: tool] ^{name}\n'
        "- **Score:** 45/100\n"
        "- **Reason:** Wrong element clicked, ended up on bookmark bar [source:: tool]\n"
        "- **Actions:** open_application(Chrome), click(bookmark bar) [source:: tool]\n"
        "- **Lesson:** review needed\n"
        "- **Seen:** once, 2026-05-15\n\n"
    )
    assert book.record(FAILED, other).issues == 0
    assert book.text("issues").count("### ") == 1
    assert "- **Seen:** 2 times, last 2026-05-15" in book.text("issues")


def test_a_rejection_is_an_issue_even_when_the_run_went_well_later(book: Book) -> None:
    rejected = OPEN._replace(rejections=(Rejection("The page did not load", 30),))
    assert book.record(rejected).issues == 1
    assert "- **Score:** 30/100\n- **Reason:** The page did not load" in book.text("issues")


def test_an_issue_tells_what_led_there_and_the_log_what_worked_in_the_end(book: Book) -> None:
    keys = do("press_key", "l", command="true")
    steps = (do("click", "URL bar"), do("type_text", "x"), keys, do("type_text", "x"))
    book.record(OPEN._replace(actions=steps, rejections=(Rejection("Typed into the page", 30, after=2),)))
    assert "- **Actions:** click(URL bar), type_text(x) [source:: tool]\n" in book.text("issues")
    assert "by `press_key(l, command: true)` instead of `click(URL bar)`\n" in book.text("issues")
    assert "- **Key actions:** press_key(l, command: true), type_text(x)\n" in book.text("task_log")


def test_what_a_run_went_on_from_after_a_rejection_is_part_of_how_it_went_well(book: Book) -> None:
    steps = (do("open_application", "Notes"), do("type_text", "x"), do("press_key", "return"))
    book.record(OPEN._replace(actions=steps, rejections=(Rejection("Not sent", 30, after=2),)))
    told = "- **Key actions:** open_application(Notes), type_text(x), press_key(return)\n"
    assert told in book.text("task_log")
    assert "by `press_key(return)`\n" in book.text("issues")


def test_an_issue_that_its_owner_moved_is_counted_where_it_stands_and_their_words_stay(
    book: Book, vault: Vault
) -> None:
    book.record(FAILED)
    path = book.desk().path("issues")
    head, _, rest = book.text("issues").partition("## Open\n")
    entry, _, _ = rest.partition("## Solved")
    mine = entry.strip("\n").replace("- **Lesson:** review needed", "- **Lesson:** use Cmd+L")
    vault.write(path, f"{head}## Open\n\n## Solved\n\n{mine}\n")
    book.record(FAILED, again(FAILED, 7))
    text = book.text("issues")
    assert text.index("## Solved") < text.index("### ") and "use Cmd+L" in text
    assert "- **Seen:** 2 times" in text


def test_a_lesson_is_linked_from_the_issues_it_was_learned_from(book: Book) -> None:
    book.record(OPEN, FAILED)
    lesson = Lesson("l-77", "Use Cmd+L.", ("Open github.com",), evidence=("r-0002",))
    assert book.recorder().name_lessons([OPEN, FAILED], [lesson]) == 1
    assert "- **Lesson:** [[Agent/Learning/Lessons#^l-77]]" in book.text("issues")
    assert book.recorder().name_lessons([OPEN, FAILED], [lesson]) == 0


def test_in_a_brain_vault_issues_stand_in_the_failure_log(vault: Vault, make_app: Callable[..., App]) -> None:
    for name in ("_index.md", "identity/user-profile.md", "tasks/active-tasks.md", "learning/failures.md"):
        vault.write(name, "# A note\n\nMine.\n")
    book = Book(vault, make_app(vault.root))
    book.record(FAILED)
    text = (vault.root / "learning/failures.md").read_text(encoding="utf-8")
    assert text.startswith("# A note\n\nMine.\n\n## Open\n\n### 2026-05-15T11:51:40Z\n")
    assert "Task log" in book.text("task_log") and "^r-0002" in book.text("task_log")


@pytest.mark.parametrize("name", ["obsidian", "openclaw"])
def test_the_same_runs_again_change_no_byte(name: str, vault: Vault, make_app: Callable[..., App]) -> None:
    if name == "openclaw":
        for note in ("SOUL.md", "USER.md", "AGENTS.md", "IDENTITY.md", "MEMORY.md"):
            vault.write(note, f"# {note}\n")
    book = Book(vault, make_app(vault.root))
    assert book.app.memory.layout.name == name
    runs = [OPEN, FAILED, *(again(OPEN, n, later=n) for n in range(10, 20))]
    first = book.record(*runs)
    before = book.files()
    assert first.runs == 12 and not first.problems
    assert book.record(*runs) == Recorded()
    assert book.files() == before


def test_what_the_owner_deletes_does_not_come_back(book: Book, vault: Vault) -> None:
    book.record(OPEN, FAILED)
    kept = {}
    for role, names in (("task_log", {}), ("daily", {"date": "2026-05-15"}), ("issues", {}), ("recent", {})):
        path = book.desk().path(role, **names)
        kept[path] = "".join(
            line
            for line in (vault.root / path).read_text(encoding="utf-8").splitlines(keepends=True)
            if "^" not in line
        )
        vault.write(path, kept[path])
    new = run(5, "Close Chrome", ago=50)
    assert book.record(OPEN, FAILED, again(FAILED, 4), new).issues == 0
    for path in kept:
        text = (vault.root / path).read_text(encoding="utf-8")
        assert "^r-0001" not in text and "^r-0002" not in text and "^i-" not in text


def test_notes_that_the_owner_deleted_whole_come_back_only_with_what_is_new(book: Book, vault: Vault) -> None:
    book.record(OPEN, FAILED)
    vault.remove(book.desk().path("task_log"))
    book.record(OPEN, FAILED, run(5, "Close Chrome", ago=50))
    assert "Close Chrome" in book.text("task_log") and "github" not in book.text("task_log")


def test_a_dry_run_tells_the_same_and_writes_nothing(book: Book, vault: Vault) -> None:
    memory = book.app.memory
    before = book.files()
    drafts = DraftNotes(memory.notebook.find)
    own = OwnLines(vault.root, lambda _name, _line: None)
    desk = Desk(vault.root, drafts, memory.layout, own, memory.today)
    runs = [again(OPEN, n, later=n)._replace(command=f"Open page{n}.com") for n in range(4)]
    runs[0] = runs[0]._replace(actions=(do("open_application", "Safari"),))
    dry = Recorder(desk, memory, book.app.clock, lambda _name, _line: None, dry_run=True).record(runs)
    assert book.files() == before and not memory.pending_items()
    assert dry.runs == 4 and dry.preferences == 1
    assert "+- **Outcome:** Success (score: 92)" in drafts.diff()
    assert book.record(*runs) == dry


def test_a_note_that_can_not_be_changed_is_a_problem_and_is_told_later(book: Book, vault: Vault) -> None:
    path = book.desk().path("task_log")
    vault.write(path, "# Log\n\n```\nnot closed\n")
    recorded = book.record(OPEN)
    assert recorded.runs == 0 and len(recorded.problems) == 1 and path in recorded.problems[0]
    assert "^r-0001" in book.text("daily", date="2026-05-15")
    vault.write(path, "# Log\n")
    daily = book.text("daily", date="2026-05-15")
    assert book.record(OPEN).runs == 1
    assert "^r-0001" in book.text("task_log") and book.text("daily", date="2026-05-15") == daily


def test_runs_of_others_say_so_on_each_of_their_lines(book: Book) -> None:
    book.record(FAILED._replace(source="import"))
    for role, names in (("task_log", {}), ("issues", {}), ("daily", {"date": "2026-05-15"})):
        told = [line for line in book.text(role, **names).split("\n") if "github.com" in line]
        assert told and all("[source:: import]" in line for line in told)


def test_an_issue_that_worked_since_is_solved_and_one_that_comes_again_is_open(
    book: Book, vault: Vault
) -> None:
    def section(name: str) -> str:
        return book.body("issues").partition(f"## {name}\n")[2].partition("\n## ")[0]

    other = run(7, "Send the letter", "failed", ago=500, reason="no stamp")
    book.record(FAILED, other)
    assert "Open github.com" in section("Open") and "Send the letter" in section("Open")
    path = book.desk().path("issues")
    text = (vault.root / path).read_text(encoding="utf-8")
    vault.write(path, text.replace("- **Reason:** Wrong", "- mine: ask Ada\n- **Reason:** Wrong"))
    worked = run(8, "Open github.com", ago=300)
    book.record(FAILED, other, worked)
    assert "Open github.com" not in section("Open") and "Send the letter" in section("Open")
    assert "Open github.com" in section("Solved") and "- mine: ask Ada\n" in section("Solved")
    assert "- **Solved:** 2026-05-15, it worked" in section("Solved")
    book.record(FAILED, other, worked)
    assert book.body("issues").count("**Solved:**") == 1
    again = FAILED._replace(run="r-0009", started=FAILED.started + 500, ended=FAILED.ended + 500)
    book.record(FAILED, other, worked, again)
    assert "Open github.com" in section("Open") and "- mine: ask Ada\n" in section("Open")
    assert "**Solved:**" not in book.body("issues") and "2 times" in section("Open")
