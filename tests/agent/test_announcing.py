"""The owner is told what happened: once, together, also after the receiver was down; nothing of any note."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.agent.http_listener import Listener, listening

from hindbrain.agent.announcing import APART_S, HELD_S, Announcing, Waiting
from hindbrain.agent.channels.outbox import Outbox
from hindbrain.agent.events import (
    CONSOLIDATED,
    SYNC_COMPLETE,
    consolidation_figures,
    joined,
    line,
    sync_figures,
)
from hindbrain.agent.policy_file import parse_policy
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Busy
from hindbrain.index.sync import SyncReport
from hindbrain.learn.consolidation.consolidator import Consolidated
from hindbrain.learn.consolidation.proof import Proof
from hindbrain.vault.lock import FileLock
from workbench import NOW

VAULT = Path("/home/mara/Notes")
FIGURES = {"files": 725, "modified": 3, "deleted": 1, "durationMs": 1200}
Make = Callable[..., Announcing]


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


@pytest.fixture
def make(tmp_path: Path, clock: FakeClock) -> Make:
    """As a process would: from what the owner's file says now."""

    def made(events: dict[str, list[str]], **channels: dict[str, Any]) -> Announcing:
        policy = parse_policy({"events": events, "channels": channels})
        return Announcing(tmp_path / "state", VAULT, policy, clock)

    return made


def bodies(listener: Listener) -> list[dict[str, Any]]:
    return [dict(posted.body) for posted in listener.posted]


def test_an_address_is_posted_the_figures_and_nothing_else(make: Make, listener: Listener) -> None:
    announcing = make({SYNC_COMPLETE: [f"{listener.url}/memory"]})
    announcing.note(SYNC_COMPLETE, FIGURES)
    assert listener.posted == []  # noting waits for no network
    announcing.send()
    (body,) = bodies(listener)
    key = body.pop("id")
    assert body == {
        "event": "sync-complete",
        "at": "2026-05-15T12:00:00+00:00",
        "provider": "hindbrain",
        "vaultPath": str(VAULT),
        "files": 725,
        "modified": 3,
        "deleted": 1,
        "durationMs": 1200,
        "together": 1,
    }
    assert key and listener.posted[0].path == "/memory"
    announcing.send()
    assert len(listener.posted) == 1 and announcing.waiting() == 0


def test_a_channel_gets_one_line_for_a_person(make: Make, listener: Listener) -> None:
    announcing = make({CONSOLIDATED: ["phone"]}, phone={"kind": "webhook", "address": listener.url})
    announcing.note(CONSOLIDATED, {"facts": 4, "archived": 2, "problems": 0, "durationMs": 10})
    announcing.send()
    (body,) = bodies(listener)
    assert "\n" not in body["text"] and "4" in body["text"] and VAULT.name in body["text"]


def test_each_target_of_an_event_is_told_and_no_other(make: Make, listener: Listener) -> None:
    announcing = make(
        {SYNC_COMPLETE: [f"{listener.url}/a", "phone"], CONSOLIDATED: [f"{listener.url}/b"]},
        phone={"kind": "webhook", "address": f"{listener.url}/phone"},
    )
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    assert sorted(posted.path for posted in listener.posted) == ["/a", "/phone"]


def test_many_syncs_of_a_minute_are_told_together(make: Make, listener: Listener, clock: FakeClock) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    for files in (726, 727, 728):
        clock.advance(10)
        announcing.note(SYNC_COMPLETE, {"files": files, "modified": 1, "deleted": 0, "durationMs": 20})
        assert 0 < announcing.send() <= 30
    assert len(listener.posted) == 1
    clock.advance(APART_S)
    announcing.send()
    told = bodies(listener)[1]
    assert (told["files"], told["modified"], told["together"], told["durationMs"]) == (728, 3, 3, 60)
    assert len(listener.posted) == 2


def test_it_waits_for_the_rest_of_what_happened_but_not_for_ever(
    make: Make, listener: Listener, clock: FakeClock
) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    announcing.note(SYNC_COMPLETE, FIGURES, ready=False)
    announcing.send()
    assert listener.posted == []
    announcing.note(SYNC_COMPLETE, {})
    announcing.send()
    assert bodies(listener)[0]["together"] == 1
    clock.advance(APART_S)
    announcing.note(SYNC_COMPLETE, FIGURES, ready=False)
    clock.advance(HELD_S / 2)
    announcing.note(SYNC_COMPLETE, FIGURES, ready=False)
    clock.advance(HELD_S / 2)
    announcing.send()
    assert bodies(listener)[1]["together"] == 2


def test_what_is_ready_when_nothing_waits_is_no_event(make: Make, listener: Listener) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    announcing.note(SYNC_COMPLETE, {})
    announcing.send()
    assert listener.posted == [] and announcing.waiting() == 0


def test_a_receiver_that_is_down_is_told_when_it_is_back_and_costs_no_room(
    make: Make, listener: Listener, tmp_path: Path, clock: FakeClock
) -> None:
    events = {SYNC_COMPLETE: [listener.url]}
    listener.status = 503
    for _ in range(20):
        announcing = make(events)  # a new process each time
        announcing.note(SYNC_COMPLETE, FIGURES)
        announcing.send()
        clock.advance(APART_S)
    kept = [file for file in (tmp_path / "state" / "agent").rglob("*.json") if file.is_file()]
    assert len(kept) == 2  # the message that is under way, and all the rest together
    assert announcing.waiting() == 2 and len(announcing.problems()) == 1
    listener.status = 200
    listener.posted.clear()
    clock.advance(3_600)
    announcing.send()
    clock.advance(APART_S)
    announcing.send()
    assert [body["together"] for body in bodies(listener)] == [1, 19]
    assert announcing.problems() == [] and announcing.waiting() == 0


@pytest.mark.promise("P29")
def test_a_problem_says_who_was_not_told_and_keeps_the_path_of_an_address(make: Make) -> None:
    with listening() as gone:
        address = f"{gone.url}/secret-path"
    announcing = make({SYNC_COMPLETE: [address]})
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    (problem,) = announcing.problems()
    assert "127.0.0.1" in problem and "secret-path" not in problem


class Killed(Exception):
    """The process ended here."""


class Short(Announcing):
    """One whose process is killed between the receiver's answer and our note of it."""

    def _change(self, *_: object) -> None:
        raise Killed


def test_a_kill_after_the_post_tells_it_no_second_time(
    make: Make, listener: Listener, tmp_path: Path, clock: FakeClock
) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    announcing.note(SYNC_COMPLETE, FIGURES)
    short = Short(tmp_path / "state", VAULT, parse_policy({"events": {SYNC_COMPLETE: [listener.url]}}), clock)
    with pytest.raises(Killed):
        short.send()
    announcing.send()
    assert len(listener.posted) == 1 and announcing.waiting() == 0


@pytest.mark.promise("P29")
def test_what_a_receiver_refuses_is_given_up_and_said_until_the_next_one_arrives(
    make: Make, listener: Listener, clock: FakeClock, tmp_path: Path
) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    listener.status = 400
    for _ in range(2):
        announcing.note(SYNC_COMPLETE, FIGURES)
        announcing.send()
        clock.advance(APART_S)
    assert len(listener.posted) == 2 and len(announcing.problems()) == 1 and announcing.waiting() == 0
    assert list((tmp_path / "state" / "agent" / "posts").glob("*.json")) == []
    listener.status = 200
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    assert announcing.problems() == []


def test_quiet_hours_keep_a_channel_quiet_and_are_no_trouble(
    make: Make, listener: Listener, clock: FakeClock
) -> None:
    now = datetime.fromtimestamp(NOW)
    quiet = f"{now:%H}:00-{(now.hour + 1) % 24:02}:00"
    announcing = make(
        {CONSOLIDATED: ["phone"]}, phone={"kind": "webhook", "address": listener.url, "quiet": quiet}
    )
    announcing.note(CONSOLIDATED, {"facts": 1})
    announcing.send()
    assert listener.posted == [] and announcing.problems() == [] and announcing.waiting() == 1
    clock.advance(3_600)
    announcing.send()
    assert len(listener.posted) == 1


@pytest.mark.promise("P29")
def test_a_channel_that_can_not_be_made_is_a_problem_and_keeps_no_other_from_being_told(
    make: Make, listener: Listener, tmp_path: Path
) -> None:
    lost = {"kind": "webhook", "address": listener.url, "token_file": str(tmp_path / "gone")}
    announcing = make({SYNC_COMPLETE: ["phone", f"{listener.url}/other"]}, phone=lost)
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    assert [posted.path for posted in listener.posted] == ["/other"]
    assert len(announcing.problems()) == 1 and announcing.waiting() == 1


def test_what_the_owner_no_longer_wants_is_dropped(
    make: Make, listener: Listener, tmp_path: Path, clock: FakeClock
) -> None:
    quiet = {"kind": "webhook", "address": listener.url, "quiet": "00:00-23:59"}
    announcing = make({SYNC_COMPLETE: ["phone"]}, phone=quiet)
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    other = make({CONSOLIDATED: [listener.url]}, phone=quiet)
    other.send()
    assert other.waiting() == 0 and Outbox(tmp_path / "state", {}, clock).waiting() == []


def test_a_clock_that_was_set_back_keeps_nobody_waiting(
    make: Make, listener: Listener, clock: FakeClock
) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    clock.advance(-86_400)
    announcing.note(SYNC_COMPLETE, FIGURES)
    clock.advance(APART_S)
    announcing.send()
    assert len(listener.posted) == 2


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"event": 1}', "x" * 100])
def test_a_damaged_file_is_made_anew(make: Make, listener: Listener, tmp_path: Path, damage: str) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    announcing.note(SYNC_COMPLETE, FIGURES)
    (file,) = (tmp_path / "state" / "agent" / "events").glob("*.json")
    file.write_text(damage, encoding="utf-8")
    announcing.send()
    announcing.note(SYNC_COMPLETE, FIGURES)
    announcing.send()
    assert len(listener.posted) == 1


def test_one_process_sends_at_a_time_and_all_may_note(make: Make, listener: Listener, tmp_path: Path) -> None:
    announcing = make({SYNC_COMPLETE: [listener.url]})
    with FileLock(tmp_path / "state" / "agent" / "events-sending.lock").held(0):
        announcing.note(SYNC_COMPLETE, FIGURES)
        with pytest.raises(Busy):
            announcing.send()
    announcing.send()
    assert len(listener.posted) == 1


def test_the_file_holds_counts_and_the_names_of_receivers_alone(make: Make, tmp_path: Path) -> None:
    make({SYNC_COMPLETE: ["http://127.0.0.1:9/x"]}).note(SYNC_COMPLETE, FIGURES)
    (file,) = (tmp_path / "state" / "agent" / "events").glob("*.json")
    assert set(json.loads(file.read_text(encoding="utf-8"))) == set(Waiting._fields)


def test_a_sync_is_told_in_the_words_of_the_reference() -> None:
    report = SyncReport(2, indexed=1, removed=2)
    assert sync_figures(report, files=9, seconds=0.25) == {
        "files": 9, "modified": 1, "deleted": 2, "durationMs": 250,
    }  # fmt: skip


def test_a_consolidation_that_did_nothing_is_no_news_and_one_that_failed_is() -> None:
    assert consolidation_figures(Consolidated(seconds=3.0)) == {}
    failed = consolidation_figures(Consolidated(problems=("Diary.md would have lost the line 'x'",)))
    assert failed["problems"] == 1
    assert "Diary" not in line(CONSOLIDATED, failed, VAULT, times=1)
    done = consolidation_figures(Consolidated(facts=2, archived=1, proof=Proof(changes=3), seconds=1.5))
    assert (done["facts"], done["changes"], done["durationMs"]) == (2, 3, 1500)


def test_figures_are_summed_but_the_number_of_notes_is_the_latest() -> None:
    assert joined({"files": 9, "deleted": 2}, {"files": 7, "modified": 1}) == {
        "files": 7, "deleted": 2, "modified": 1,
    }  # fmt: skip
    assert joined({"files": 9}, {}) == {"files": 9}
