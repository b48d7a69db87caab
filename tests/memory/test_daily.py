"""Daily notes: sessions and events in their sections, whatever else a person wrote that day."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import UsageError, VaultError
from hindbrain.memory.daily.daily import Daily, OpenNote, Session
from hindbrain.memory.daily.daily_note import EVENTS, add_block, add_items
from hindbrain.memory.notes.notebook import Notebook
from hindbrain.memory.notes.own_lines import OwnLines
from hindbrain.vault.layout import Layout, built_in, load_layout
from hindbrain.vault.parse import parse_note
from workbench import Vault

PATH = "Agent/Daily/2026-05-15.md"


@pytest.fixture(autouse=True)
def in_rome(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Noon in Greenwich is two in the afternoon here."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process can't be chosen on this system")
    monkeypatch.setenv("TZ", "Europe/Rome")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def make_daily(vault: Vault, make_app: Callable[..., App], clock: FakeClock) -> Callable[[Layout], Daily]:
    app = make_app(vault.root)
    own = OwnLines(vault.root, lambda name, line: app.writer.append_state_line(name, line))
    return lambda layout: Daily(Notebook(vault.root, lambda: app.writer), layout, clock, lambda: own)


@pytest.fixture
def daily(make_daily: Callable[[Layout], Daily]) -> Daily:
    return make_daily(built_in("obsidian", "Agent"))


def body(vault: Vault, path: str = PATH) -> str:
    """The note without its frontmatter."""
    text = (vault.root / path).read_text(encoding="utf-8")
    return text.rpartition("---\n")[2] if text.startswith("---") else text


def test_a_day_reads_as_the_reference_says(vault: Vault, daily: Daily, clock: FakeClock) -> None:
    began = clock.now()
    daily.log_session(Session(began, context="Morning routine"))
    clock.advance(60)
    daily.add_event("Mail", {"Action": "Checked 23 mails", "Summary": "3 are\nimportant"})
    clock.advance(3_600)
    daily.add_event("Calendar", {})
    clock.advance(600)
    daily.log_session(Session(began, clock.now()), remaining=[OpenNote("Call Ada"), OpenNote("ask", "tool")])
    assert body(vault) == (
        "# Daily Log: 2026-05-15\n\n"
        "## Session Start\n- **Time**: 14:00\n- **Context**: Morning routine\n\n"
        "## Events\n\n### 14:01 - Mail\n- **Action**: Checked 23 mails\n- **Summary**: 3 are important\n\n"
        "### 15:01 - Calendar\n\n"
        "## Session End\n- **Time**: 15:11\n- **Duration**: 1h 11m\n\n"
        "## Notes for Tomorrow\n- Call Ada\n- ask [source:: tool]\n"
    )
    note = parse_note((vault.root / PATH).read_text(encoding="utf-8"), stem="2026-05-15")
    assert not note.problems and note.date == "2026-05-15"


def test_lines_of_runs_stand_together_before_the_events_with_headings(vault: Vault, daily: Daily) -> None:
    daily.add_line("`done` open the door (score: 92) — it is open (4 iterations)")
    daily.add_event("Mail", {"Action": "x"})
    logged = daily.add_line("`failed` close it")
    assert logged.text == "- [14:00] `failed` close it"
    assert body(vault) == (
        "# Daily Log: 2026-05-15\n\n## Events\n"
        "- [14:00] `done` open the door (score: 92) — it is open (4 iterations)\n"
        "- [14:00] `failed` close it\n\n"
        "### 14:00 - Mail\n- **Action**: x\n"
    )


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "1. "])
def test_the_mark_of_a_list_is_no_part_of_a_line(daily: Daily, mark: str) -> None:
    assert daily.add_line(f"{mark}Ada steered").text.endswith("] Ada steered")


def test_the_day_is_the_owner_s_and_not_that_of_greenwich(
    vault: Vault, daily: Daily, clock: FakeClock
) -> None:
    clock.advance(10.5 * 3_600)  # half past midnight here, half past ten there
    assert daily.path() == "Agent/Daily/2026-05-16.md"
    assert daily.add_line("x").path == "Agent/Daily/2026-05-16.md"
    assert daily.add_line("x", at=clock.now() - 3_600).path == PATH


def test_a_session_over_midnight_knows_how_long_it_was(vault: Vault, daily: Daily, clock: FakeClock) -> None:
    clock.advance(9 * 3_600)
    daily.log_session(Session(clock.now(), clock.now() + 2 * 3_600))
    assert "## Session Start\n- **Time**: 23:00\n" in body(vault) and "Session End" not in body(vault)
    after = body(vault, "Agent/Daily/2026-05-16.md")
    assert "## Session End\n- **Time**: 01:00\n- **Duration**: 2h 0m\n" in after
    assert "Session Start" not in after


def test_a_day_has_one_start_and_one_end_which_moves(vault: Vault, daily: Daily, clock: FakeClock) -> None:
    now = clock.now()
    daily.log_session(Session(now + 60, now + 1_800), remaining=[OpenNote("Call Ada"), OpenNote("Write")])
    daily.log_session(Session(now + 3_600, now + 7_260), settled=["Write"])
    daily.log_session(Session(now, now + 3_600))  # heard of late
    assert body(vault) == (
        "# Daily Log: 2026-05-15\n\n## Session Start\n- **Time**: 14:01\n\n"
        "## Session End\n- **Time**: 16:01\n- **Duration**: 2h 0m\n\n## Notes for Tomorrow\n- Call Ada\n"
    )
    clock.advance(3 * 86_400)
    assert daily.notes_for_today() == (PATH, ["- Call Ada"])


@pytest.mark.promise("P5")
def test_a_note_that_a_person_wrote_is_extended_and_never_rearranged(
    vault: Vault, daily: Daily, clock: FakeClock
) -> None:
    before = "\ufeff# Friday\r\n\r\n## Gratitude\r\n\r\ntea\r\n\r\n# Log\r\n- woke up"
    vault.write(PATH, before)
    daily.add_line("x")
    daily.log_session(Session(clock.now()))
    daily.add_event("Mail", {})
    after = (vault.root / PATH).read_bytes().decode()
    assert after == (
        before + "\r\n\r\n## Session Start\r\n- **Time**: 14:00\r\n\r\n## Events\r\n- [14:00] x\r\n\r\n"
        "### 14:00 - Mail\r\n"
    )


def test_events_go_to_the_end_of_their_section_wherever_it_stands(vault: Vault, daily: Daily) -> None:
    vault.write(PATH, "# Day\n### Events\n\n#### 08:00 - Tea\n- good\n\n\n### After\ntext\n")
    daily.add_event("Mail", {"A": "b"})
    assert body(vault) == (
        "# Day\n### Events\n\n#### 08:00 - Tea\n- good\n\n#### 14:00 - Mail\n- **A**: b\n"
        "\n\n### After\ntext\n"
    )


def test_headings_in_code_are_no_sections(vault: Vault, daily: Daily) -> None:
    vault.write(PATH, "```\n## Events\n```\n")
    daily.add_line("x")
    assert body(vault) == "```\n## Events\n```\n\n## Events\n- [14:00] x\n"


def test_code_that_is_never_closed_is_told_and_nothing_is_written(vault: Vault, daily: Daily) -> None:
    vault.write(PATH, "# Day\n\n```\ncode\n")
    with pytest.raises(VaultError):
        daily.add_line("x")
    assert body(vault) == "# Day\n\n```\ncode\n"


def test_openclaw_keeps_its_days_where_they_are(vault: Vault, make_daily: Callable[[Layout], Daily]) -> None:
    vault.write("memory/MEMORY.md", "x")
    vault.write("memory/daily/2026-05-14.md", "# there")
    vault.write("memory/2026-05-15.md", "# here")
    daily = make_daily(load_layout(vault.root))
    assert daily.path("2026-05-14") == "memory/daily/2026-05-14.md"
    assert daily.path() == "memory/2026-05-15.md"  # a second note of the day would hide one of them
    assert daily.path(date(2026, 5, 16)) == "memory/daily/2026-05-16.md"
    daily.add_line("x")
    assert body(vault, "memory/2026-05-15.md").startswith("# here\n\n## Events\n")


@pytest.mark.parametrize("day", ["2026-13-01", "tomorrow", "", "2026-05-15/../x", "20260515"])
def test_a_day_that_is_none_is_refused(daily: Daily, day: str) -> None:
    with pytest.raises(UsageError):
        daily.path(day)


@pytest.mark.parametrize("text", ["", " \n", "x" * 10_000])
def test_lines_that_are_none_are_refused(vault: Vault, daily: Daily, text: str) -> None:
    with pytest.raises(UsageError):
        daily.add_line(text)
    with pytest.raises(UsageError):
        daily.add_event(text, {})
    assert not (vault.root / PATH).exists()


_LINES = st.sampled_from(
    [
        "# Day",
        "## Events",
        "### 08:00 - Tea",
        "text",
        "",
        "- item",
        "```",
        "## Session End",
        "%%",
        "> q",
        "\x85",
    ]
)


@pytest.mark.promise("P5")
@settings(max_examples=150, deadline=None)
@given(st.lists(_LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_every_line_that_was_there_stays(lines: list[str], end: str, final: bool, block: bool) -> None:
    data = (end.join(lines) + (end if final else "")).encode() + b"\xff"
    try:
        after = (
            add_block(data, EVENTS, "NEW", ["- **K**: v"], "x")
            if block
            else add_items(data, EVENTS, ["- NEW"], "x")
        )
    except VaultError:
        return
    assert b"NEW" in after
    same = next((at for at, byte in enumerate(data) if byte != after[at]), len(data))
    assert after[same:].endswith(data[same:])  # made by putting bytes in at one place
