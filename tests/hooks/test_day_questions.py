"""Questions about days and open work, by the real prompt hook, `context` and `search`, in every layout."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path

import pytest
from host_session import Session

from hindbrain.base.clock import SystemClock
from hindbrain.edge.main import main
from hindbrain.vault.layout import load_layout

EVENTS = (
    "Checked 23 new emails", "Moved the standup to Thursday", "Refactored the error handling of Alpha",
    "Ran the health check", "Sent Sarah the deployment plan", "Ordered a new dock",
    "Tried the Twilio sandbox", "Cleaned the downloads folder", "Wrote the release notes",
    "Paired with Jordan on the parser", "Closed the billing ticket",
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands, so that no midnight comes between a note and the question."""
    moment = time.time()
    monkeypatch.setattr(SystemClock, "now", lambda _: moment)


def _day(back: int) -> str:
    return (SystemClock().today() - timedelta(days=back)).isoformat()


def _write_day(session: Session, back: int, *lines: str) -> str:
    path = load_layout(session.vault.root).path("daily", date=_day(back))
    text = "".join(f"- [09:{at:02}] {line}\n" for at, line in enumerate(lines))
    session.vault.write(path, f"# Daily Log: {_day(back)}\n\n## Events\n\n{text}")
    return path


@pytest.fixture
def week(started: Session) -> Session:
    _write_day(started, 1, *EVENTS)
    _write_day(started, 2, "`done` Rotated the keys (score: 92) (4 iterations) ^r-20260513-090000-7f3k")
    _write_day(started, 20, "Long ago the roof was mended")
    started.run("sync")
    return started


def test_what_was_done_yesterday_is_told_with_its_day(
    week: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    for prompt in ("what did we do yesterday?", "What happened yesterday", "yesterday?"):
        told = week.ask(prompt)
        assert all(line in told for line in EVENTS), told
        assert _day(1) in told and "roof" not in told and "Tomatoes" not in told
    assert "Rotated the keys" in week.ask("recap the day before yesterday")
    assert "Rotated the keys" not in week.ask("what did we do yesterday?")
    capsys.readouterr()
    for command in (("context",), ("search", "-k", "20")):
        main(
            [command[0], "--vault", str(week.vault.root), "what did we do yesterday?", *command[1:], "--json"]
        )
        answer = json.loads(capsys.readouterr().out)
        text = answer["text"] if "text" in answer else "\n".join(hit["text"] for hit in answer["hits"])
        assert all(line in text for line in EVENTS), command
        assert _day(1) in json.dumps(answer)


def test_weeks_and_weekdays_are_told_newest_first_within_the_budget(week: Session) -> None:
    told = week.ask("what did we do in the last 3 days?")
    assert "billing ticket" in told and "Rotated the keys" in told and "roof" not in told
    weekday = (SystemClock().today() - timedelta(days=1)).strftime("%A")
    assert "billing ticket" in week.ask(f"What did we work on last {weekday}?")


@pytest.mark.parametrize(
    "prompt", ["see you tomorrow", "have a nice day", "what did Ada say about the boat yesterday?", "ok"]
)
def test_other_prompts_get_no_day(week: Session, prompt: str) -> None:
    assert "billing ticket" not in week.ask(prompt)


def test_a_day_without_a_note_gets_nothing(week: Session) -> None:
    assert "09:0" not in week.ask("what did we do 5 days ago?")


def test_what_is_open_is_told_with_what_an_update_needs(
    started: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    started.run("task", "add", "Sweep the yard", "--priority", "low")
    started.run("task", "add", "Varnish the mast")
    started.run("task", "add", "Renew the passport", "--priority", "high")
    started.run("task", "add", "Buy rope")
    started.run("task", "done", "Buy rope")
    tasks = started.vault.root / started.path("tasks")
    text = tasks.read_text(encoding="utf-8")
    started.vault.write(
        started.path("tasks"), text.rstrip("\n") + "\n- [ ] Pay the mooring [due:: 2026-06-01]\n"
    )
    for told in (started.ask("what is still open?"), started.ask("Which tasks are left?"), started.start()):
        lines = [line.strip() for line in told.splitlines() if line.startswith(" - ")]
        assert [line.split(" (")[0].split(" ^")[0] for line in lines] == [
            "- Renew the passport", "- Pay the mooring", "- Varnish the mast", "- Sweep the yard",
        ]  # fmt: skip
        assert "(high) ^t-" in lines[0] and "due 2026-06-01" in lines[1] and "(low) ^t-" in lines[3]
    named = started.ask("what is still open?").partition("^t-")[2][:8].split()[0]
    capsys.readouterr()
    started.run("task", "start", f"^t-{named}")
    assert "Renew the passport" in capsys.readouterr().out
    assert "Renew the passport" not in started.ask("open the door")


def test_open_boxes_of_the_agents_own_notes_are_open_too(
    started: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the tasks: those of memories, of the last days and for today; not the owner's in other notes."""
    started.run("task", "add", "Renew the passport")
    memory = next(iter(load_layout(started.vault.root).notes_of("memory", started.vault.root)), "")
    memory = memory or load_layout(started.vault.root).path("memory", category="fact")
    started.vault.write(
        memory, "# Memory\n\n## Recurring tasks\n\n### Daily\n- [ ] Check the mail\n- [x] Feed the cat\n"
    )
    path = _write_day(started, 1, "Sent Sarah the plan")
    text = (started.vault.root / path).read_text(encoding="utf-8")
    text += "- [ ] Answer Jordan\n- [ ] Renew the passport\n\n"
    text += "## Notes for Tomorrow\n\n- Order a dock\n- [x] Call Ada\n"
    started.vault.write(path, text)
    old = _write_day(started, 20, "Long ago")
    started.vault.write(old, "- [ ] Mend the roof\n")
    started.vault.write("Garden.md", "- [ ] Water the tomatoes\n")
    before = {file: file.read_bytes() for file in started.vault.root.rglob("*.md")}
    capsys.readouterr()
    main(["context", "--vault", str(started.vault.root), "what is still open?"])
    for told in (started.ask("what is still open?"), capsys.readouterr().out):
        wanted = ["Renew the passport", "Check the mail", "Answer Jordan", "Order a dock"]
        assert [told.count(one) for one in wanted] == [1] * 4
        assert sorted(wanted, key=told.index) == wanted
        assert memory in told and path in told
        for other in ("Feed the cat", "Call Ada", "roof", "tomatoes"):
            assert other not in told
    assert before == {file: file.read_bytes() for file in started.vault.root.rglob("*.md")}


def _run_id(back: int) -> str:
    """Of a run that began at noon, UTC, so many days ago."""
    return f"r-{_day(back).replace('-', '')}-120000-7f3k"


def test_recent_actions_are_told_with_their_day_and_for_seven_days(started: Session) -> None:
    """Where no daily note tells runs, the note of recent actions does; it may be older than it says."""
    note = "# Recent Actions (last 2 hours)\n\nWhat was done in the last two hours, the newest last.\n\n"
    note += f"## Last 2 hours\n\n1. [14:30] Opened Firefox (success) ^{_run_id(9)}\n"
    note += f"2. [14:30] Opened Chrome (success) ^{_run_id(2)}\n"
    note += (
        f"3. [14:35] Created a repository (success)\n\n## {_day(3)}\n\n4. [09:00] Wrote a mail (success)\n"
    )
    note += f"\n## {_day(20)}\n\n5. [09:00] Sold the car (success)\n"
    started.vault.write(started.path("recent"), note)
    told = started.start()
    assert f"2. [{_day(2)} 14:30] Opened Chrome (success)\n" in told
    assert "3. [14:35] Created a repository (success)\n" in told  # no day is invented
    assert f"## {_day(3)}\n 4. [09:00] Wrote a mail (success)\n" in told
    assert "two hours" not in told and "2 hours" not in told
    assert "Firefox" not in told and "Sold the car" not in told
    _write_day(started, 1, "Sent Sarah the plan")
    told = started.start()
    assert "Sent Sarah" in told and _day(1) in told and "Chrome" not in told


def test_recent_runs_are_the_last_five_of_seven_days_when_they_are_read(started: Session) -> None:
    def ran(back: int, *names: str) -> None:
        _write_day(
            started, back, *(f"`done` {name} — found {name} (1 iteration) ^r-{back}" for name in names)
        )

    ran(8, "old errand")
    ran(6, "long errand")
    ran(1, "first errand", "second errand")
    ran(0)
    told = started.start()
    day = SystemClock().today() - timedelta(days=6)
    assert f"- {day:%a} {day.day} {day:%b} 09:00 long errand (done) — found long errand" in told
    assert "old errand" not in told
    assert [told.count(name) for name in ("first errand (done)", "second errand (done)")] == [1, 1]
    ran(0, "third errand", "fourth errand", "fifth errand")
    told = started.start()
    assert "long errand" not in told
    names = ("first", "second", "third", "fourth", "fifth")
    places = [told.index(f"{name} errand (done)") for name in names]
    assert places == sorted(places)


def test_the_last_day_is_told_though_a_line_of_it_is_too_long(started: Session) -> None:
    """Neither an earlier day with shorter lines nor the present state takes its place."""
    _write_day(started, 2, "Mended the roof")
    _write_day(
        started, 1, "Sent Sarah the plan", "Wrote down " + "all that was said about the harbour " * 200
    )
    state = "".join(f"- The boat is on the slip, part {n} of the long refit\n" for n in range(80))
    started.vault.write(started.path("status"), f"# Status\n\n## Now\n{state}")
    told = started.start()
    assert "Sent Sarah" in told and "roof" not in told and "harbour" not in told and "the slip" in told


def test_the_present_state_is_told_as_its_note_says(started: Session) -> None:
    path = started.path("status")
    first = (
        (started.vault.root / path).read_text(encoding="utf-8")
        if (started.vault.root / path).exists()
        else "# Status\n"
    )
    started.vault.write(path, f"{first}\n## Now\n- The boat is on the slip\n")
    told = started.start()
    assert " ## Now\n - The boat is on the slip\n" in told and "Nothing has been recorded" not in told
    assert Path(path).name in told
