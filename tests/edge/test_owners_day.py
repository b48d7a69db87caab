"""The day that a person means is the day on their own calendar, at every command."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import hindbrain.app
from command_runs import Cli
from hindbrain.base.clock import FakeClock
from workbench import Vault

# One zone where Greenwich is a day ahead in the evening, and one where it is a day behind in the morning.
EVENING = ("America/Los_Angeles", "2026-03-04 19:00")
MORNING = ("Pacific/Auckland", "2026-03-05 08:00")


class Owner:
    """Somebody who sits in a time zone, with a note for each day of the week around now."""

    def __init__(self, zone: str, wall: str) -> None:
        self.now = datetime.fromisoformat(wall).replace(tzinfo=ZoneInfo(zone)).timestamp()
        self.today = date.fromisoformat(wall[:10])

    def note(self, shift: int) -> str:
        return f"Journal/{self.day(shift)}.md"

    def day(self, shift: int = 0) -> str:
        return (self.today + timedelta(days=shift)).isoformat()


@pytest.fixture(params=[EVENING, MORNING], ids=["los-angeles", "auckland"])
def owner(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, vault: Vault, cli: Cli
) -> Iterator[Owner]:
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone of a process can't be chosen on this system")
    zone, wall = request.param
    found = Owner(zone, wall)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    monkeypatch.setattr(hindbrain.app, "SystemClock", lambda: FakeClock(found.now))
    for shift in range(-3, 4):
        path = vault.write(found.note(shift), f"Meeting with the harbour master, number {shift + 3}.\n")
        os.utime(path, (found.now - 9e6, found.now - 9e6))
    assert cli("init").code == 0
    assert cli("sync").code == 0
    yield found
    monkeypatch.undo()
    time.tzset()


def paths(cli: Cli, *words: str) -> list[str]:
    return [hit["path"] for hit in cli("search", *words, "--json").data["hits"]]


def test_search_understands_today_and_yesterday_as_the_owner(owner: Owner, cli: Cli) -> None:
    assert paths(cli, "which meeting today", "--keyword")[0] == owner.note(0)
    assert paths(cli, "which meeting yesterday")[0] == owner.note(-1)
    found = set(paths(cli, "meeting", "--since", "yesterday"))
    assert found == {owner.note(shift) for shift in range(-1, 4)}
    found = set(paths(cli, "meeting", "--since", "today", "--until", "today"))
    assert found == {owner.note(0)}


def test_a_note_without_a_date_counts_on_the_owners_day_of_its_change(
    owner: Owner, cli: Cli, vault: Vault
) -> None:
    vault.write("Lately.md", "The sextant lies in the drawer.\n", at=owner.now - 3600)
    vault.write("Before.md", "The sextant was lent to Ada.\n", at=owner.now - 86_400)
    assert cli("sync").code == 0
    assert paths(cli, "sextant", "--keyword", "--since", "today") == ["Lately.md"]
    assert paths(cli, "sextant", "--keyword", "--until", "yesterday") == ["Before.md"]


def test_recency_counts_the_owners_days(owner: Owner, cli: Cli) -> None:
    ran = cli("search", "meeting", "--profile", "keyword-recency", "--json")
    why = {hit["path"]: hit["why"]["recency"] for hit in ran.data["hits"]}
    # The steps are: the hour, the day, the week. A note that is only dated begins with its day.
    assert why[owner.note(-1)] == pytest.approx(0.12)
    assert why[owner.note(0)] in (pytest.approx(0.3), pytest.approx(0.21))


def test_what_is_written_carries_the_owners_day(owner: Owner, cli: Cli, vault: Vault) -> None:
    added = cli("daily", "--add", "Painted the hull", "--json").data
    assert added["date"] == owner.day()
    assert owner.day() in added["path"]
    assert cli("daily", "yesterday", "--json").data["date"] == owner.day(-1)
    cli("remember", "The hull is painted blue", "--category", "fact", "--importance", "0.9")
    lines = [
        line
        for note in vault.root.rglob("*.md")
        for line in note.read_text(encoding="utf-8").splitlines()
        if "painted blue" in line
    ]
    assert len(lines) == 1
    assert all(owner.day() in line for line in lines), lines


def test_a_prompt_about_yesterday_gets_yesterdays_note(owner: Owner, cli: Cli) -> None:
    pack = cli("context", "which meeting with the harbour master was yesterday?", "--json").data["pack"]
    excerpts = [one for slot in pack["slots"] for one in slot["excerpts"]]
    assert max(excerpts, key=lambda one: one["score"])["path"] == owner.note(-1)


def test_a_fake_clock_has_a_zone_of_its_own() -> None:
    zone, wall = EVENING
    owner = Owner(zone, wall)
    clock = FakeClock(owner.now, ZoneInfo(zone))
    assert clock.today() == owner.today
    assert f"{clock.local(owner.now - 3600):%H:%M}" == "18:00"
